/* hdf5_said.h - all that an HDF5 file says about a dataset, or about itself. */
#ifndef CMD_HDF5_SAID_H
#define CMD_HDF5_SAID_H
#include "files/file.h"
#include "files/hdf5_api.h"

/* `object`: a dataset, or, if not `is_set`, a group. */
cmd_said *cmd_hdf5_said(const cmd_hdf5_api *h5, const char *path, hid_t object, bool is_set);
/* Elements that are texts, as pointers. */
const void *cmd_hdf5_texts(const cmd_hdf5_api *h5, const char *path, hid_t set,
                           const cmd_variable *v);
#endif
