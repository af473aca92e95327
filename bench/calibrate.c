/* calibrate.c - --calibrate: what the library's cost model knows of this machine, measured and kept
 * where the library looks for it.
 *
 * The library shows none of this, so the benchmark has the parts of it that measure, too. */
#include "bench.h"
#include "kernels/cpu/calibrate/calibrate.h"
#include "kernels/cpu/cpu.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Nanoseconds of a run that does nearly nothing: the least of many short counts. */
static double ns_of_run(void)
{
    enum { N = 16, COUNTS = 200, TIMES = 500 };
    double         x[N] = { 1 }, y[N], least = INFINITY;
    rd_ctx *const  ctx    = rd_ctx_new(&(rd_ctx_opts){ .size = sizeof(rd_ctx_opts), .threads = 1 });
    rd_array       out    = { .data = y, .type = RD_F64, .shape = { .n = 1, .at = { N } } };
    rd_result      result = { rd_neg(rd_wrap(ctx, x, RD_SHAPE(N))), &out };
    rd_plan *const plan   = rd_plan_new(ctx, (rd_exprs){ 0 }, (rd_results){ &result, 1 }, NULL);

    for (int k = 0; plan && k < COUNTS; k++) {
        const double begun = bench_now();

        for (int t = 0; t < TIMES; t++)
            (void)rd_plan_run(plan, NULL, NULL);
        least = fmin(least, 1e9 * (bench_now() - begun) / TIMES);
    }
    rd_plan_free(plan);
    rd_ctx_free(ctx);
    return least;
}

static void print(const rd_speeds *s, const bool *measured)
{
    const rd_speeds usual = rd_speeds_usual(s->vector);

    printf("%-14s %10s %10s %-12s %s\n", "name", "default", "measured", "unit", "how");
    for (int k = 0; k < RD_N_SPEEDS; k++) {
        const rd_speed_row *row = &rd_speed_table[k];

        printf("%-14s %10.4g ", row->name, usual.row[k]);
        if (measured[k])
            printf("%10.4g", s->row[k]);
        else
            printf("%10s", "-");
        printf(" %-12s %s\n", row->unit, row->how);
    }
}

bool bench_calibrate(const bench_options *o)
{
    rd_speeds       s                     = rd_speeds_usual(rd_cpu_vector());
    const char     *why                   = "";
    bool            measured[RD_N_SPEEDS] = { false };
    const double    begun                 = bench_now();
    const rd_speeds usual                 = s;

    if (rd_speeds_load(&s))
        for (int k = 0; k < RD_N_SPEEDS; k++)
            measured[k] = s.row[k] != usual.row[k];
    setenv("RDIM_TIER1", "sync", 0); /* the run that is measured has code */
    if (!rd_calibrate(&s, measured, o->threads[o->n_threads - 1], &why)) {
        fprintf(stderr, "rdim-bench: --calibrate: %s\n", why);
        return false;
    }
    const double run = ns_of_run();

    if (isfinite(run) && (!measured[RD_SPEED_run] || run < s.run)) {
        s.run                  = run;
        measured[RD_SPEED_run] = true;
    }
    print(&s, measured);
    printf("measured in %.1f s", bench_now() - begun);
    if (!rd_speeds_save(&s)) {
        printf("; not kept, as there is no directory for it\n");
        return false;
    }
    printf(", and kept\n");
    return true;
}
