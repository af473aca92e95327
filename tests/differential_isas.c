/* differential_isas.c - every interpreter of this machine, alone and sharing its work, gives the
 * scalar one's bits. */
#include "differential.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All plans run as one task first.  Shares of few grains put the seams of tasks inside what was one
 * tile. */
static const struct {
    const char *name;
    int32_t     threads;
    int64_t     grains;
    bool        steps; /* short ones */
} shares[] = {
    { "1 thread", 1, 0, false },
    { "2 threads", 2, 0, false },
    { "3 threads", 3, 0, false },
    { "tasks of 1 grain", 1, 1, false },
    { "tasks of 2 grains", 1, 2, false },
    { "tasks of 3 grains", 1, 3, false },
    { "tasks of 70 grains", 1, 70, false },
    { "steps", 1, 0, true },
    { "2 threads in steps", 2, 0, true },
};
enum { N_SHARES = sizeof shares / sizeof *shares };

typedef struct trial {
    random_pool  *pool;
    const wanted *w;
    int           n;
    rd_text      *report;
    rd_array      first[MOST_RESULTS], out[MOST_RESULTS];
    rd_expr      *in[RANDOM_BLOCKS];
    const void   *data[RANDOM_BLOCKS];
    int           n_in;
} trial;

static rd_plan *plan_for(trial *t, rd_array *out, int isa)
{
    const rd_eval_opts opts = { .traversal = (rd_traversal)(t->pool->state % 3), .threads = 1 };
    rd_result          results[MOST_RESULTS];
    rd_plan           *plan;

    for (int i = 0; i < t->n; i++)
        results[i] = (rd_result){ t->w[i].x, &out[i] };
    isa_begin(t->pool->ctx, isa);
    plan = rd_plan_make(t->pool->ctx, (rd_exprs){ t->in, t->n_in }, (rd_results){ results, t->n },
                        &opts);
    isa_end(t->pool->ctx);
    if (!plan)
        rd_text_add(t->report, "%s: %s\n", isa_name(isa), rd_error_text(t->pool->ctx));
    return plan;
}

static bool run(trial *t, rd_plan *plan, rd_array *out, int isa, int share)
{
    rd_run_stats stats;

    for (int i = 0; i < t->n; i++)
        memset(out[i].data, 0xa5, (size_t)t->w[i].n * (size_t)rd_dtype_size(t->w[i].x->type));
    plan->threads = shares[share].threads;
    isa_share(plan, shares[share].grains);
    isa_step(plan, shares[share].steps);
    if (rd_plan_execute(plan, t->data, NULL, NULL, &stats) == RD_OK)
        return true;
    rd_text_add(t->report, "%s, %s: %s\n", isa_name(isa), shares[share].name,
                rd_error_text(t->pool->ctx));
    rd_error_clear(t->pool->ctx);
    return false;
}

/* The sets of kernels run as one task and, in turn, in one other way, all ways in large pools; so
 * does the reference in its turn, which is slow. */
static bool wants(const trial *t, int isa, int share)
{
    const uint64_t turn = t->pool->state >> 8;

    if (isa == ISA_SCALAR && turn % (uint64_t)isa_count() != 0)
        return false;
    return share == 0 || (t->pool->large && isa != ISA_SCALAR) ||
           (uint64_t)(share - 1) == (turn / 4 + (uint64_t)isa) % (N_SHARES - 1);
}

static bool one_isa(trial *t, int isa, isa_programs *programs)
{
    rd_plan *plan = wants(t, isa, 0) ? plan_for(t, t->out, isa) : NULL;
    bool     ok   = plan || !wants(t, isa, 0);

    for (int share = 0; ok && share < N_SHARES; share++) {
        char how[80];

        if (!wants(t, isa, share))
            continue;
        snprintf(how, sizeof how, "%s, %s", isa_name(isa), shares[share].name);
        ok = run(t, plan, t->out, isa, share);
        for (int i = 0; ok && i < t->n; i++)
            ok = differential_same(&t->w[i], i, &t->first[i], "scalar, 1 thread", &t->out[i], how,
                                   t->report);
    }
    if (plan && isa != ISA_SCALAR)
        isa_count_programs(plan, programs);
    if (plan)
        rd_plan_free(plan);
    return ok;
}

static bool reference(trial *t)
{
    rd_plan   *plan = plan_for(t, t->first, ISA_SCALAR);
    const bool ok   = plan && run(t, plan, t->first, ISA_SCALAR, 0);

    if (plan)
        rd_plan_free(plan);
    return ok;
}

bool differential_isas(random_pool *pool, const wanted *w, int n, isa_programs *programs,
                       rd_text *report)
{
    trial t = { .pool = pool, .w = w, .n = n, .report = report };
    bool  ok;

    t.n_in = differential_inputs(pool, t.in, t.data);
    for (int i = 0; i < n; i++) {
        t.first[i] = differential_dense(w[i].x);
        t.out[i]   = differential_dense(w[i].x);
    }
    ok = reference(&t);
    for (int isa = 0; ok && isa < isa_count(); isa++)
        ok = one_isa(&t, isa, programs);
    for (int i = 0; i < n; i++) {
        free(t.first[i].data);
        free(t.out[i].data);
    }
    return ok;
}
