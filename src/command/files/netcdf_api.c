/* netcdf_api.c - loads libnetcdf and looks up its functions; maps its types. */
#if RDIM_NETCDF
#include "files/netcdf_api.h"
#include "base.h"
#include <dlfcn.h>

static cmd_netcdf_api api;
static bool           loaded;

/* Loads the library once, and looks up each function by its name. */
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

/* Ends the program with the library's reason if `status` is a failure; `doing` says what failed. */
void cmd_netcdf_check(const char *path, const char *doing, int status)
{
    if (status != NC_NOERR)
        cmd_fail("%s: %s: %s", path, doing, api.strerror(status));
}

/* NetCDF's types of numbers, and their element types. */
static const struct {
    nc_type  type;
    rd_dtype element;
} types[] = { { NC_BYTE, RD_I8 },    { NC_UBYTE, RD_U8 },   { NC_SHORT, RD_I16 },
              { NC_USHORT, RD_U16 }, { NC_INT, RD_I32 },    { NC_UINT, RD_U32 },
              { NC_INT64, RD_I64 },  { NC_UINT64, RD_U64 }, { NC_FLOAT, RD_F32 },
              { NC_DOUBLE, RD_F64 } };

/* Finds the element type of a NetCDF type; RD_AUTO: it is no type of numbers. */
rd_dtype cmd_netcdf_element(nc_type type)
{
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (types[k].type == type)
            return types[k].element;
    return RD_AUTO;
}

/* Finds the NetCDF type of an element type; NC_NAT: there is none, as for bools, halves and complex
 * numbers. */
nc_type cmd_netcdf_type(rd_dtype type)
{
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (types[k].element == type)
            return types[k].type;
    return NC_NAT;
}
#else
typedef int cmd_no_netcdf;
#endif
