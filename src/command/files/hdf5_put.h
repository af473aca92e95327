/* hdf5_put.h - what is said about objects of an HDF5 file that is written. */
#ifndef CMD_HDF5_PUT_H
#define CMD_HDF5_PUT_H
#include "files/attributes.h"
#include "files/hdf5_api.h"

/* The type of elements; -1: HDF5 has none.  The caller closes it by H5Tclose(). */
hid_t cmd_hdf5_made_type(const cmd_hdf5_api *h5, cmd_kind kind, rd_dtype type);
/* One that the library does not take is left out with a warning. */
void cmd_hdf5_put_attributes(const cmd_hdf5_api *h5, const char *path, hid_t object,
                             const cmd_attributes *all);
/* An attribute of that type and space, which it closes; < 0: it could not be written. */
herr_t cmd_hdf5_put(const cmd_hdf5_api *h5, hid_t object, const char *name, hid_t type, hid_t space,
                    const void *from);
herr_t cmd_hdf5_put_text(const cmd_hdf5_api *h5, hid_t object, const char *name, const char *text);
#endif
