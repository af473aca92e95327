/* cairo_api.c - loads libcairo at run time. */
#if RDIM_CAIRO
#include "plot/cairo_api.h"
#include "base.h"
#include <dlfcn.h>

/* Loads libcairo and all functions of CMD_CAIRO_CALLS, or ends the program. */
const cmd_cairo_api *cmd_cairo_load(void)
{
    static cmd_cairo_api     api;
    static const char *const names[] = {
#define CMD_NAME(name) "cairo_" #name,
        CMD_CAIRO_CALLS(CMD_NAME)
#undef CMD_NAME
    };
    void **const at = (void **)&api; /* all members are pointers to functions, as POSIX has them */
    void        *file = dlopen(RDIM_CAIRO_NAME, RTLD_NOW | RTLD_LOCAL);

    if (!file)
        file = dlopen(RDIM_CAIRO_FILE, RTLD_NOW | RTLD_LOCAL);
    if (!file)
        cmd_fail("--plot: pictures need the library %s, which is not installed here",
                 RDIM_CAIRO_NAME);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        at[k] = dlsym(file, names[k]);
        if (!at[k])
            cmd_fail("--plot: %s has no %s", RDIM_CAIRO_NAME, names[k]);
    }
    return &api;
}
#else
typedef int cmd_no_cairo;
#endif
