/* hdf5_list.h - lists the datasets of an HDF5 file. */
#ifndef CMD_HDF5_LIST_H
#define CMD_HDF5_LIST_H
#include "files/file.h"
#include "files/hdf5_api.h"

/* Adds the datasets of all groups to the file's variables; `id` is the open file. */
void cmd_hdf5_list(cmd_file *file, hid_t id);
#endif
