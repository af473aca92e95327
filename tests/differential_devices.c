/* differential_devices.c - a device gives the bits of the scalar interpreter; CUDA does however many
 * threads there are and in whatever order they run. */
#define _XOPEN_SOURCE 700 /* setenv */
#include "differential.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct trial {
    random_pool  *pool;
    rd_backend    backend;
    const wanted *w;
    int           n;
    rd_text      *report;
    rd_expr      *in[RANDOM_BLOCKS];
    const void   *data[RANDOM_BLOCKS];
    int           n_in;
} trial;

static rd_plan *plan_for(const trial *t, rd_array *out, rd_backend backend)
{
    const rd_eval_opts opts = { .backend = backend, .deterministic = true };
    rd_result          results[MOST_RESULTS];

    for (int i = 0; i < t->n; i++)
        results[i] = (rd_result){ t->w[i].x, &out[i] };
    return rd_plan_make(t->pool->ctx, (rd_exprs){ t->in, t->n_in }, (rd_results){ results, t->n },
                        &opts);
}

static bool run(const trial *t, const rd_plan *plan, const rd_array *out, const char *how)
{
    for (int i = 0; i < t->n; i++)
        memset(out[i].data, 0xa5, (size_t)t->w[i].n * (size_t)rd_dtype_size(t->w[i].x->type));
    if (rd_plan_execute(plan, t->data, NULL, NULL, NULL) == RD_OK)
        return true;
    rd_text_add(t->report, "%s: %s\n", how, rd_error_text(t->pool->ctx));
    rd_error_clear(t->pool->ctx);
    return false;
}

static bool reference(const trial *t, rd_array *out)
{
    rd_plan *plan;
    bool     ok;

    isa_begin(t->pool->ctx, ISA_SCALAR);
    plan = plan_for(t, out, RD_BACKEND_CPU);
    isa_end(t->pool->ctx);
    ok = plan && run(t, plan, out, "scalar");
    if (plan)
        rd_plan_free(plan);
    return ok;
}

/* Expressions with C functions are refused, those that sort, and on CUDA groups, with a sentence that
 * says so. */
static bool is_refused(const trial *t)
{
    static const char *const cuda[]   = { "is C code", "sorts rows", "to groups", NULL };
    static const char *const opencl[] = { "user's function",
                                          "sorts rows",
                                          "user's reducer",
                                          "of states and scratch",
                                          "lanes along several axes",
                                          "a fold without elements",
                                          NULL };
    const char *const       *why      = t->backend == RD_BACKEND_CUDA ? cuda : opencl;
    bool                     refused  = false;

    for (; *why && rd_error(t->pool->ctx) == RD_ERR_DEVICE; why++)
        refused |= strstr(rd_error_text(t->pool->ctx), *why) != NULL;

    if (!refused)
        rd_text_add(t->report, "device: %s\n", rd_error_text(t->pool->ctx));
    rd_error_clear(t->pool->ctx);
    return refused;
}

static bool on_gpu(const trial *t, const rd_array *first, rd_array *out, int threads,
                   differential_stats *stats)
{
    char     how[40];
    rd_plan *plan;
    bool     ok;

    snprintf(how, sizeof how, "%d", threads);
    setenv("RDIM_CUDA_THREADS", how, 1);
    plan = plan_for(t, out, t->backend);
    if (!plan) {
        stats->refused++;
        return is_refused(t);
    }
    snprintf(how, sizeof how, "a device for %d threads", threads);
    ok = run(t, plan, out, how);
    for (int i = 0; ok && i < t->n; i++)
        ok = differential_same(&t->w[i], i, &first[i], "scalar", &out[i], how, t->report);
    stats->on_gpu += ok;
    rd_plan_free(plan);
    return ok;
}

static bool compare(random_pool *pool, rd_backend backend, const wanted *w, int n,
                    differential_stats *stats, rd_text *report)
{
    static const int threads[] = { 1, 256, 1 << 20 };
    const int        runs      = backend == RD_BACKEND_CUDA ? 3 : 1;
    trial            t = { .pool = pool, .backend = backend, .w = w, .n = n, .report = report };
    rd_array         first[MOST_RESULTS], out[MOST_RESULTS];
    bool             ok;

    t.n_in = differential_inputs(pool, t.in, t.data);
    for (int i = 0; i < n; i++) {
        first[i] = differential_dense(w[i].x);
        out[i]   = differential_dense(w[i].x);
    }
    ok = reference(&t, first);
    for (int k = 0; ok && k < runs; k++)
        ok = on_gpu(&t, first, out, threads[k], stats);
    for (int i = 0; i < n; i++) {
        free(first[i].data);
        free(out[i].data);
    }
    return ok;
}

bool differential_cuda(random_pool *pool, const wanted *w, int n, differential_stats *stats,
                       rd_text *report)
{
    return compare(pool, RD_BACKEND_CUDA, w, n, stats, report);
}

bool differential_opencl(random_pool *pool, const wanted *w, int n, differential_stats *stats,
                         rd_text *report)
{
    return compare(pool, RD_BACKEND_OPENCL, w, n, stats, report);
}
