/* grib_api.c - loads ecCodes and looks up its functions. */
#if RDIM_ECCODES
#include "files/grib_api.h"
#include "base.h"
#include <dlfcn.h>

static cmd_grib_api api;
static bool         loaded;

/* Keeps ecCodes silent: this program reports failures itself, with the path. */
static void say_nothing(const codes_context *context, int level, const char *sentence)
{
    (void)context;
    (void)level;
    (void)sentence;
}

/* Loads the library once, and looks up each function by its name. */
const cmd_grib_api *cmd_grib_load(const char *path)
{
    static const char *const names[] = {
#define CMD_NAME(name) #name,
        CMD_GRIB_CALLS(CMD_NAME)
#undef CMD_NAME
    };
    void **const at = (void **)&api; /* all members are pointers to functions, as POSIX has them */

    if (loaded)
        return &api;
    void *file = dlopen(RDIM_ECCODES_NAME, RTLD_NOW | RTLD_LOCAL);
    if (!file)
        file = dlopen(RDIM_ECCODES_FILE, RTLD_NOW | RTLD_LOCAL);
    if (!file)
        cmd_fail("%s: GRIB files need the library %s, which is not installed here", path,
                 RDIM_ECCODES_NAME);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        at[k] = dlsym(file, names[k]);
        if (!at[k])
            cmd_fail("%s: %s has no %s", path, RDIM_ECCODES_NAME, names[k]);
    }
    api.codes_context_set_logging_proc(api.codes_context_get_default(), say_nothing);
    loaded = true;
    return &api;
}
#else
typedef int cmd_no_grib_api;
#endif
