/* why_no_nest.c - why a program has no compiled nest, by settings or because another strategy is
 * faster. */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/jit/tier.h"
#include "kernels/cpu/nest/nest.h"

/* Returns the reason against a compiled nest (the loops as one C function), before one is tried: a
 * setting, or a faster strategy.  NULL: there is none. */
const char *rd_cpu_why_no_nest(const rd_program *p)
{
    const rd_nest_use use = rd_nest_use_now();

    if (p->product || rd_cpu_is_scalar())
        return p->product ? "a product" : "the reference is asked for";
    if (use == RD_NEST_NEVER)
        return "RDIM_CODEGEN says never";
    return use == RD_NEST_IF_BEST ? rd_cpu_why_tiles(p) : NULL;
}

/* True if the program could be a compiled nest, but nothing may be compiled. */
bool rd_cpu_is_nest_off(const rd_program *p)
{
    return !p->nest && !p->whole && !rd_cpu_why_no_nest(p) && rd_tier_is_off();
}
