/* hdf5_write.h - results as an HDF5 file. */
#ifndef CMD_HDF5_WRITE_H
#define CMD_HDF5_WRITE_H
#include "files/file.h"

void cmd_hdf5_write(const char *path, const char *aside, const cmd_results *results);
/* All but the elements, and where they begin; false: they cannot be put there. */
bool cmd_hdf5_begin(const char *path, const char *aside, const cmd_results *results,
                    int64_t *place);
#endif
