/* differential.c - one seed from its pool to the verdict. */
#include "differential.h"
#include "dirt.h"
#include <stdlib.h>

int differential_results(random_pool *pool, wanted *w)
{
    const int64_t asked = 1 + random_below(pool, MOST_RESULTS);
    int           n     = 0;

    for (int64_t k = 0; k < asked; k++) {
        rd_expr *x = k ? random_pick(pool)->x
                       : pool->node[pool->n_node - 1 - random_below(pool, 2) % pool->n_node].x;
        bool new   = true;
        for (int i = 0; i < n; i++)
            new &= w[i].x != x;
        if (new)
            w[n++] = wanted_of(pool, x);
    }
    wanted_together(pool, w, n);
    return n;
}

static void count(differential_stats *stats, const random_pool *pool, const wanted *w, int n)
{
    rd_expr *root[MOST_RESULTS], **list;

    for (int i = 0; i < n; i++) {
        root[i] = w[i].x;
        stats->elements += w[i].n;
        for (int64_t k = 0; k < w[i].n; k++) {
            stats->unsure += w[i].value[k].unsure;
            stats->bounded += w[i].value[k].err > 0;
        }
    }
    const int nodes = report_nodes(root, n, &list);
    for (int i = 0; i < nodes; i++)
        stats->kind[list[i]->kind]++;
    free(list);
    stats->seeds++;
    stats->results += n;
    stats->dropped += pool->dropped;
    for (int i = 0; i < RANDOM_STATUSES; i++)
        stats->refused += pool->refused[i];
}

static void describe(rd_text *report, random_pool *pool, const wanted *w, int n)
{
    rd_result   results[MOST_RESULTS];
    const char *explain;

    for (int i = 0; i < n; i++) {
        rd_text_add(report, "result %d:\n", i);
        report_tree(report, w[i].x);
        results[i] = (rd_result){ w[i].x, NULL };
    }
    explain = rd_explain(pool->ctx, (rd_results){ results, n }, NULL);
    rd_text_add(report, "explain:\n%s\n", explain ? explain : rd_error_text(pool->ctx));
}

typedef bool check_fn(random_pool *pool, const wanted *w, int n, differential_stats *stats,
                      rd_text *report);

static bool trial(uint64_t seed, check_fn *check, differential_stats *stats, rd_text *report)
{
    rd_ctx      *ctx  = dirty_context(true);
    random_pool *pool = random_pool_new(ctx, seed);
    wanted       w[MOST_RESULTS];
    const int    n  = differential_results(pool, w);
    bool         ok = pool->complaint[0] == 0;

    count(stats, pool, w, n);
    if (!ok)
        rd_text_add(report, "%s\n", pool->complaint);
    ok = ok && check(pool, w, n, stats, report);
    if (!ok)
        describe(report, pool, w, n);
    for (int i = 0; i < n; i++)
        wanted_free(&w[i]);
    random_pool_free(pool);
    rd_ctx_free(ctx);
    return ok;
}

static bool holds_on_cpu(random_pool *pool, const wanted *w, int n, differential_stats *stats,
                         rd_text *report)
{
    return differential_ways(pool, w, n, report) &&
           differential_outputs(pool, w, n, stats, report) &&
           differential_isas(pool, w, n, &stats->programs, report);
}

bool differential_trial(uint64_t seed, differential_stats *stats, rd_text *report)
{
    return trial(seed, holds_on_cpu, stats, report);
}

bool differential_cuda_trial(uint64_t seed, differential_stats *stats, rd_text *report)
{
    return trial(seed, differential_cuda, stats, report);
}

bool differential_opencl_trial(uint64_t seed, differential_stats *stats, rd_text *report)
{
    return trial(seed, differential_opencl, stats, report);
}
