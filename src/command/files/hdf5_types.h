/* hdf5_types.h - which of our types the elements of an HDF5 file are. */
#ifndef CMD_HDF5_TYPES_H
#define CMD_HDF5_TYPES_H
#include "files/file.h"
#include "files/hdf5_api.h"

typedef struct cmd_hdf5_type {
    rd_dtype    type;  /* RD_AUTO: none of ours */
    bool        as_is; /* the bytes in the file are that type's, in this machine's order */
    const char *why;   /* of RD_AUTO: "its elements are texts" */
} cmd_hdf5_type;

/* Finds a type of ours that holds each value exactly, or none.  The layout that the file states decides:
 * size, precision, sign, and the fields of floats. */
cmd_hdf5_type cmd_hdf5_type_of(const cmd_hdf5_api *h5, hid_t stored);
/* The type of a dataset's elements. */
cmd_hdf5_type cmd_hdf5_type_of_set(const cmd_hdf5_api *h5, hid_t set);
/* This machine's type of ours; -1: HDF5 has none. */
hid_t cmd_hdf5_native_type(const cmd_hdf5_api *h5, rd_dtype type);
/* The type to which the HDF5 library converts stored elements; the caller closes it by H5Tclose(). */
hid_t cmd_hdf5_memory_type(const cmd_hdf5_api *h5, hid_t stored);
#endif
