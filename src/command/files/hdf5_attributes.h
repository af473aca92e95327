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
/* Is it a dimension of NetCDF's that has no coordinates, and so no elements? */
bool cmd_hdf5_is_bare(const cmd_hdf5_api *h5, hid_t set);
/* Names of axes, those of the scales that are attached, and their coordinates. */
void cmd_hdf5_name_axes(const cmd_hdf5_api *h5, hid_t set, cmd_variable *v);
void cmd_hdf5_coordinates(const cmd_hdf5_api *h5, hid_t set, cmd_variable *v);
#endif
