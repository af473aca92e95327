/* netcdf_said.h - reads all attributes and the layout of a NetCDF variable. */
#ifndef CMD_NETCDF_SAID_H
#define CMD_NETCDF_SAID_H
#include "files/file.h"
#include "files/netcdf_api.h"

/* Reads all about a variable of a group, or, for NC_GLOBAL, about the group. An attribute that
 * cannot be read is left out with a warning. */
cmd_said *cmd_netcdf_said(const cmd_netcdf_api *nc, const char *path, int group, int variable);
/* Reads the elements of a variable of type NC_STRING, as pointers to texts. */
const void *cmd_netcdf_texts(const cmd_netcdf_api *nc, const char *path, int group, int variable,
                             const rd_shape *shape);
#endif
