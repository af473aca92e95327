/* hdf5_attributes.h - attributes of a dataset, and the dimension scales of its axes. */
#ifndef CMD_HDF5_ATTRIBUTES_H
#define CMD_HDF5_ATTRIBUTES_H
#include "files/file.h"
#include "files/hdf5_api.h"

/* An open object of the library. */
typedef struct cmd_hdf5_object {
    const cmd_hdf5_api *h5;
    hid_t               id;
} cmd_hdf5_object;

/* An attribute that is one text; NULL: there is none. */
const char *cmd_hdf5_text(const cmd_hdf5_api *h5, hid_t object, const char *name);
/* A function of type cmd_numbers (packing.h); `user` is a cmd_hdf5_object. */
int cmd_hdf5_numbers(void *user, const char *name, cmd_exact **at, rd_dtype *type);
/* True if the dataset is a NetCDF dimension without coordinates, and so without elements. */
bool cmd_hdf5_is_bare(const cmd_hdf5_api *h5, hid_t set);
/* Names the axes after the dimension scales that are attached. */
void cmd_hdf5_name_axes(const cmd_hdf5_api *h5, hid_t set, cmd_variable *v);
/* Reads the coordinates of the axes from their scales. */
void cmd_hdf5_coordinates(const cmd_hdf5_api *h5, hid_t set, cmd_variable *v);
#endif
