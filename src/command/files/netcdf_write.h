/* netcdf_write.h - results as a NetCDF-4 file. */
#ifndef CMD_NETCDF_WRITE_H
#define CMD_NETCDF_WRITE_H
#include "files/file.h"

void cmd_netcdf_write(const char *path, const char *aside, const cmd_results *results);
/* All but the elements, and where they begin; false: they cannot be put there. */
bool cmd_netcdf_begin(const char *path, const char *aside, const cmd_results *results,
                      int64_t *place);
#endif
