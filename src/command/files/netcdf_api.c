/* netcdf_api.c - libnetcdf, loaded. */
#if RDIM_NETCDF
#include "files/netcdf_api.h"
#include "base.h"
#include <dlfcn.h>

static cmd_netcdf_api api;
static bool           loaded;

const cmd_netcdf_api *cmd_netcdf_load(const char *path)
{
    static const char *const names[] = {
#define CMD_NAME(name) "nc_" #name,
        CMD_NETCDF_CALLS(CMD_NAME)
#undef CMD_NAME
    };
    void **const at = (void **)&api; /* all members are pointers to functions, as POSIX has them */

    if (loaded)
        return &api;
    void *file = dlopen(RDIM_NETCDF_NAME, RTLD_NOW | RTLD_LOCAL);
    if (!file)
        file = dlopen(RDIM_NETCDF_FILE, RTLD_NOW | RTLD_LOCAL);
    if (!file)
        cmd_fail("%s: NetCDF files need the library %s, which is not installed here", path,
                 RDIM_NETCDF_NAME);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        at[k] = dlsym(file, names[k]);
        if (!at[k])
            cmd_fail("%s: %s has no %s", path, RDIM_NETCDF_NAME, names[k]);
    }
    *(void **)&api.set_alignment = dlsym(file, "nc_set_alignment");
    loaded                       = true;
    return &api;
}

void cmd_netcdf_check(const char *path, const char *doing, int status)
{
    if (status != NC_NOERR)
        cmd_fail("%s: %s: %s", path, doing, api.strerror(status));
}
#else
typedef int cmd_no_netcdf;
#endif
