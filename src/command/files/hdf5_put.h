/* hdf5_put.h - writes attributes of an HDF5 file. */
#ifndef CMD_HDF5_PUT_H
#define CMD_HDF5_PUT_H
#include "files/attributes.h"
#include "files/hdf5_api.h"

/* Makes the HDF5 type of elements; -1: HDF5 has none. The caller closes it by H5Tclose(). */
hid_t cmd_hdf5_made_type(const cmd_hdf5_api *h5, cmd_kind kind, rd_dtype type);
/* Writes attributes. One that the library refuses is left out with a warning. */
void cmd_hdf5_put_attributes(const cmd_hdf5_api *h5, const char *path, hid_t object,
                             const cmd_attributes *all);
/* Writes an attribute of that type and space, and closes both; < 0: it could not be written. */
herr_t cmd_hdf5_put(const cmd_hdf5_api *h5, hid_t object, const char *name, hid_t type, hid_t space,
                    const void *from);
/* Writes an attribute of one text with a zero at its end; < 0: it could not be written. */
herr_t cmd_hdf5_put_text(const cmd_hdf5_api *h5, hid_t object, const char *name, const char *text);
#endif
