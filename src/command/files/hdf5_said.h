/* hdf5_said.h - reads all attributes and the layout of a dataset or a group. */
#ifndef CMD_HDF5_SAID_H
#define CMD_HDF5_SAID_H
#include "files/file.h"
#include "files/hdf5_api.h"

/* Reads all about `object`: a dataset, or, if not `is_set`, a group. */
cmd_said *cmd_hdf5_said(const cmd_hdf5_api *h5, const char *path, hid_t object, bool is_set);
/* Reads the elements of a dataset of text, as pointers. */
const void *cmd_hdf5_texts(const cmd_hdf5_api *h5, const char *path, hid_t set,
                           const cmd_variable *v);
#endif
