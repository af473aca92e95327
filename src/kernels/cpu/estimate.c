/* estimate.c - the predicted time of a program that is not prepared yet; plans are compared by
 * it. */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/jit/tier.h"
#include "kernels/cpu/nest/nest.h"
#include "kernels/cpu/product/product.h"
#include "kernels/cpu/tile/plan/tile_plan.h"
#include <math.h>

/* Predicts the nanoseconds of a program in a form of execution, on one thread, by rough speeds. */
static double by_form(const rd_program *p, rd_form_kind kind)
{
    const rd_work cost = rd_program_work(p, /*bounded=*/false);

    return 1e9 * rd_cpu_seconds(p, &cost, kind, /*slow=*/NULL, /*threads=*/1);
}

/* Returns the predicted time of compiled loops (alternative 0) if they are allowed and chosen; else
 * of tiles (1).  A price of NAN means that there is no loop tree.  The environment may force loops
 * (ALWAYS) or forbid them (NEVER, or the tier is off). */
static double ns_of_strategies(const rd_alternatives *a)
{
    const rd_nest_use use   = rd_nest_use_now();
    const double      loops = a->at[0].ns, tiles = a->at[1].ns;

    if (use == RD_NEST_NEVER || rd_tier_is_off() || isnan(loops))
        return tiles;
    return use == RD_NEST_ALWAYS ? loops : a->at[a->taken].ns;
}

/* Predicts a program that tiles cannot run: compiled loops, run as a whole by one thread, at the
 * usual speeds of such a processor.  The reference runs it if no loops can be compiled (price 0) or
 * they are switched off (never).  False: no memory. */
static bool without_tiles(const rd_program *p, rd_get_fn *get, void *pool, double *ns)
{
    const bool never = rd_nest_use_now() == RD_NEST_NEVER || rd_tier_is_off();
    rd_speeds  s     = rd_speeds_usual(rd_cpu_vector());
    rd_price   loops;

    if (!rd_program_price(p, /*whole=*/true, &s, /*threads=*/1, get, pool, &loops))
        return false;
    *ns = loops.ns > 0 && !never ? loops.ns : by_form(p, RD_FORM_REFERENCE);
    return true;
}

/* Plans the program (a copy) for each strategy in turn, and predicts the time of the one that would
 * run.  False: no memory.  Memory from `get` holds what is planned, and is the caller's to
 * release. */
static bool ns_of_program(rd_program *p, rd_get_fn *get, void *pool, double *ns)
{
    const rd_simd  *simd = rd_cpu_simd();
    rd_alternatives a;

    p->code    = NULL;
    p->product = NULL;
    p->nest = p->whole = NULL;
    if (!rd_product_prepare(p, simd, get, pool))
        return false;
    if (p->product) {
        *ns = by_form(p, RD_FORM_PRODUCT);
        return true;
    }
    if (rd_tile_prepare(p, simd, get, pool) == RD_TILE_NO_MEMORY)
        return false;
    if (!p->code)
        return without_tiles(p, get, pool, ns);
    if (!rd_cpu_compare_strategies(p, get, pool, &a))
        return false;
    *ns = ns_of_strategies(&a);
    return true;
}

/* Predicts the nanoseconds of the program, once it is compiled, on one thread; plans are compared
 * by it.  False: no memory. */
bool rd_cpu_estimate(const rd_program *p, rd_get_fn *get, void *pool, double *ns)
{
    rd_program copy = *p;

    if (rd_cpu_is_scalar()) {
        *ns = by_form(p, RD_FORM_REFERENCE);
        return true;
    }
    return ns_of_program(&copy, get, pool, ns);
}
