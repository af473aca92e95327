/* netcdf_write.h - writes results as a NetCDF-4 file. */
#ifndef CMD_NETCDF_WRITE_H
#define CMD_NETCDF_WRITE_H
#include "files/file.h"

/* Writes results to the temporary file `aside`, which will become `path`. */
void cmd_netcdf_write(const char *path, const char *aside, const cmd_results *results);
/* Writes all but the elements, and sets the offset of each result. False: the elements cannot be
 * put there. */
bool cmd_netcdf_begin(const char *path, const char *aside, const cmd_results *results,
                      int64_t *place);
#endif
