/* choices.c - what was chosen for a prepared program, and from which alternatives, for reports.
 * All alternatives give the same bits. */
#include "kernels/cpu/calibrate/calibrate.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/nest/nest.h"
#include "kernels/cpu/tile/plan/tile_plan.h"
#include <math.h>

/* Predicts the time of a program as compiled loops, or on tiles, by the measured speeds of this
 * machine; 0 ns: unknown.  Tiles have the memory traffic and the start of loops, other computing,
 * and no loops that begin and end (`entries`).  With one thread the program runs as a whole.
 * False: no memory. */
bool rd_cpu_price(const rd_program *p, rd_form_kind kind, int threads, rd_get_fn *get, void *pool,
                  rd_price *price)
{
    const rd_speeds *s = rd_speeds_here();

    if (!rd_program_price(p, /*whole=*/threads == 1, s, threads, get, pool, price))
        return false;
    if (kind == RD_FORM_TILES && price->ns > 0) {
        price->compute = rd_tile_compute_ns(p, p->code, s) / threads;
        price->entries = 0;
        price->ns      = price->start + fmax(price->compute, price->memory);
    }
    return true;
}

/* For reports: lists what was chosen for a program, up to `most` choices: compiled loops or tiles,
 * then the strips of its loops.  Returns how many; -1: no memory.  Products and the reference have
 * no choices. */
int32_t rd_cpu_choices(const rd_program *p, rd_get_fn *get, void *pool, rd_alternatives *at,
                       int32_t most)
{
    int32_t n = 0;

    if (p->product || rd_cpu_is_scalar() || most < 1)
        return 0;
    if (p->code && !rd_cpu_compare_strategies(p, get, pool, &at[n++]))
        return -1;
    return p->nest || p->whole ? rd_nest_choices(p, rd_cpu_vector(), get, pool, at, n, most) : n;
}
