/* use.c - whether programs are compiled: RDIM_CODEGEN. */
#include "core/environment.h"
#include "kernels/cpu/nest/nest.h"
#include <string.h>

static const char *forced; /* by tests; NULL: nothing */

/* For tests: forces the rule by which programs are compiled; NULL: RDIM_CODEGEN decides. */
void rd_nest_force(const char *use)
{
    forced = use;
}

/* Returns the rule that says which programs are compiled: what tests have forced, else what
 * RDIM_CODEGEN says.  Default: where nothing faster is known. */
rd_nest_use rd_nest_use_now(void)
{
    const char *asked = forced ? forced : rd_environment(RD_ENV_RDIM_CODEGEN);

    if (asked && strcmp(asked, "always") == 0)
        return RD_NEST_ALWAYS;
    return asked && strcmp(asked, "never") == 0 ? RD_NEST_NEVER : RD_NEST_IF_BEST;
}
