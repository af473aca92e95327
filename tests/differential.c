/* differential.c - one seed from its pool to the verdict, and the search for the smallest part that fails. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "differential.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Distinct nodes of the pool, late ones preferred. */
static int choose_results(random_pool *pool, wanted *w)
{
    const int64_t asked = 1 + random_below(pool, MOST_RESULTS);
    int           n     = 0;

    for (int64_t k = 0; k < asked; k++) {
        rd_expr *x = k ? random_pick(pool)->x : pool->node[pool->n_node - 1 - random_below(pool, 2) % pool->n_node].x;
        bool new   = true;
        for (int i = 0; i < n; i++)
            new &= w[i].x != x;
        if (new)
            w[n++] = wanted_of(pool, x);
    }
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

bool differential_trial(uint64_t seed, differential_stats *stats, rd_text *report)
{
    rd_ctx      *ctx  = rd_ctx_new(NULL);
    random_pool *pool = random_pool_new(ctx, seed);
    wanted       w[MOST_RESULTS];
    const int    n  = choose_results(pool, w);
    bool         ok = pool->complaint[0] == 0;

    count(stats, pool, w, n);
    if (!ok)
        rd_text_add(report, "%s\n", pool->complaint);
    ok = ok && differential_ways(pool, w, n, report) && differential_outputs(pool, w, n, stats, report);
    if (!ok)
        describe(report, pool, w, n);
    for (int i = 0; i < n; i++)
        wanted_free(&w[i]);
    random_pool_free(pool);
    rd_ctx_free(ctx);
    return ok;
}

/* ---- Shrinking --------------------------------------------------------------------------------------------- */

enum { TEXT_SIZE = 1 << 16, SECONDS = 30 };

/* Writes the report of one expression alone to `text`; runs in a process of its own. */
static bool try_alone(random_pool *pool, rd_expr *x, char *text)
{
    wanted  w      = wanted_of(pool, x);
    rd_text report = { 0 };
    bool    ok;

    snprintf(text, TEXT_SIZE, "crashed or hung\n");
    alarm(SECONDS);
    ok = differential_ways(pool, &w, 1, &report);
    snprintf(text, TEXT_SIZE, "%s", report.at ? report.at : "");
    if (!ok) {
        const char *explain = rd_explain(pool->ctx, (rd_results){ (const rd_result[]){ { x, NULL } }, 1 }, NULL);
        rd_text_add(&report, "explain:\n%s\n", explain ? explain : rd_error_text(pool->ctx));
        snprintf(text, TEXT_SIZE, "%s", report.at);
    }
    rd_text_free(&report);
    wanted_free(&w);
    return ok;
}

static bool holds_alone(random_pool *pool, rd_expr *x, char *text)
{
    int         status = 0;
    const pid_t child  = fork();

    if (child == 0)
        _exit(try_alone(pool, x, text) ? 0 : 1);
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

bool differential_shrink(uint64_t seed, rd_text *report)
{
    rd_ctx      *ctx  = rd_ctx_new(NULL);
    random_pool *pool = random_pool_new(ctx, seed);
    char        *text = mmap(NULL, TEXT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    wanted       w[MOST_RESULTS];
    rd_expr     *root[MOST_RESULTS], **list;
    const int    n  = choose_results(pool, w);
    bool         ok = true;

    for (int i = 0; i < n; i++)
        root[i] = w[i].x;
    const int nodes = report_nodes(root, n, &list);
    for (int i = 0; i < nodes && ok; i++)
        if (!holds_alone(pool, list[i], text)) {
            ok = false;
            rd_text_add(report, "the smallest part that fails alone (%d of %d nodes):\n", i + 1, nodes);
            report_tree(report, list[i]);
            rd_text_add(report, "%s", text);
        }
    if (ok)
        rd_text_add(report, "no part fails alone\n");
    free(list);
    for (int i = 0; i < n; i++)
        wanted_free(&w[i]);
    munmap(text, TEXT_SIZE);
    random_pool_free(pool);
    rd_ctx_free(ctx);
    return ok;
}
