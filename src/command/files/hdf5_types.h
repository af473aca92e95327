/* hdf5_types.h - maps HDF5 types to element types. */
#ifndef CMD_HDF5_TYPES_H
#define CMD_HDF5_TYPES_H
#include "files/file.h"
#include "files/hdf5_api.h"

/* The element type that fits a type of HDF5. */
typedef struct cmd_hdf5_type {
    rd_dtype    type;  /* RD_AUTO: no element type fits */
    bool        as_is; /* true if the bytes in the file can be used without conversion */
    const char *why;   /* with RD_AUTO, the reason: "its elements are texts" */
} cmd_hdf5_type;

/* Finds an element type that holds each value exactly, or none. The layout that the file states
 * decides: size, precision, sign, and the bit fields of floats. */
cmd_hdf5_type cmd_hdf5_type_of(const cmd_hdf5_api *h5, hid_t stored);
/* The type of a dataset's elements. */
cmd_hdf5_type cmd_hdf5_type_of_set(const cmd_hdf5_api *h5, hid_t set);
/* HDF5's native type for an element type; -1: there is none. */
hid_t cmd_hdf5_native_type(const cmd_hdf5_api *h5, rd_dtype type);
/* The type to which the HDF5 library converts stored elements; the caller closes it by
 * H5Tclose(). */
hid_t cmd_hdf5_memory_type(const cmd_hdf5_api *h5, hid_t stored);
#endif
