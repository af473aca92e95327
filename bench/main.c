/* main.c - every case that is asked for, for every number of threads. */
#include "bench.h"
#include <math.h>
#include <stdio.h>

static bool wanted(const bench_case *c, const char *dtype, const bench_options *o)
{
    return bench_listed(o->rows, c->row) && bench_listed(o->cases, c->name) &&
           bench_listed(o->dtypes, dtype);
}

/* The types a case runs in: f32 and f64, or f32 only, or its own. */
static int types_of(const bench_case *c, rd_dtype *types)
{
    types[0] = c->type ? c->type : RD_F32;
    types[1] = RD_F64;
    return c->type || c->only_f32 ? 1 : 2;
}

/* @return false when the library failed or its answer is not the hand loop's. */
static bool one(const bench_case *c, rd_dtype type, const bench_options *o, const hand_isa *hand,
                const bench_limits *limits)
{
    bench_result r;

    if (!bench_run(c, type, o, hand, limits, &r))
        return false;
    bench_report(&r, o);
    if (isnan(r.error) || r.error <= r.tolerance)
        return true;
    fprintf(stderr, "rdim-bench: WRONG: %s %s %s: error %.3g, allowed %.3g\n", c->row, c->name,
            bench_type_name(type), r.error, r.tolerance);
    return false;
}

static bool all(const bench_options *o, const hand_isa *hand, const bench_limits *limits)
{
    bool     ok = true;
    rd_dtype types[2];

    for (const bench_case *const *table = bench_tables(); *table; table++)
        for (const bench_case *c = *table; c->row; c++)
            for (int k = 0; k < types_of(c, types); k++)
                if (wanted(c, bench_type_name(types[k]), o))
                    ok = one(c, types[k], o, hand, limits) && ok;
    return ok;
}

/* --list and --explain: nothing is measured; --first and --by-turns: no more than what they say. */
static bool tell(const bench_options *o)
{
    bool     ok = true;
    rd_dtype types[2];

    for (const bench_case *const *table = bench_tables(); *table; table++)
        for (const bench_case *c = *table; c->row; c++)
            for (int k = 0; k < types_of(c, types); k++)
                if (!wanted(c, bench_type_name(types[k]), o))
                    continue;
                else if (o->first)
                    ok = bench_print_first(c, types[k], o) && ok;
                else if (o->by_turns)
                    ok = bench_by_turns(c, types[k], o) && ok;
                else if (o->explain)
                    bench_explain(c, types[k], o);
                else
                    printf("%-4s %-20s %s\n", c->row, c->name, bench_type_name(types[k]));
    return ok;
}

int main(int argc, char **argv)
{
    const hand_isa *hand = hand_loops();
    bench_options   o;
    int             status = bench_options_read(&o, argc, argv);
    bool            ok     = true;

    if (status >= 0)
        return status;
    if (o.list || o.explain || o.first || o.by_turns)
        return tell(&o) ? 0 : 1;
    if (o.calibrate)
        return bench_calibrate(&o) ? 0 : 1;
    if (o.growth)
        return bench_growth(&o, hand) ? 0 : 1;
    for (int k = 0; k < o.n_threads; k++) {
        const bench_limits limits = bench_limits_measure(hand, o.threads[k], o.scale);

        bench_report_limits(&limits, hand, &o);
        ok = all(&o, hand, &limits) && ok;
    }
    bench_report_means(&o);
    return ok ? 0 : 1;
}
