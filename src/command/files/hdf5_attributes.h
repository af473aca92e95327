/* hdf5_attributes.h - what is said about a dataset: attributes, scales of its axes. */
#ifndef CMD_HDF5_ATTRIBUTES_H
#define CMD_HDF5_ATTRIBUTES_H
#include "files/file.h"
#include "files/hdf5_api.h"

typedef struct cmd_hdf5_object {
    const cmd_hdf5_api *h5;
    hid_t               id;
} cmd_hdf5_object;

/* A text attribute; NULL: none. */
const char *cmd_hdf5_text(const cmd_hdf5_api *h5, hid_t object, const char *name);
/* cmd_numbers, of a cmd_hdf5_object. */
int cmd_hdf5_numbers(void *user, const char *name, cmd_exact **at, rd_dtype *type);
/* Names and coordinates of axes, of the scales that are attached. */
void cmd_hdf5_scales(const cmd_hdf5_api *h5, hid_t file, hid_t set, cmd_variable *v);
#endif
