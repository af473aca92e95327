/* netcdf_write.h - results as a NetCDF-4 file. */
#ifndef CMD_NETCDF_WRITE_H
#define CMD_NETCDF_WRITE_H
#include "files/file.h"

void cmd_netcdf_write(const char *path, const char *aside, const cmd_results *results);
#endif
