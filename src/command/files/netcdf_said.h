/* netcdf_said.h - what a NetCDF file says beside numbers. */
#ifndef CMD_NETCDF_SAID_H
#define CMD_NETCDF_SAID_H
#include "files/file.h"
#include "files/netcdf_api.h"

/* All about a variable of a group, or, of NC_GLOBAL, about the group.  An attribute that cannot be read is
 * left out with a warning. */
cmd_said *cmd_netcdf_said(const cmd_netcdf_api *nc, const char *path, int group, int variable);
/* Elements of a variable of type NC_STRING, as pointers to texts. */
const void *cmd_netcdf_texts(const cmd_netcdf_api *nc, const char *path, int group, int variable,
                             const rd_shape *shape);
#endif
