/* differential_shrink.c - from a failing seed to the smallest expressions that fail: first the
 * least node that fails alone, then operands replaced by leaves that hold their values, as long as
 * it still fails. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "differential.h"
#include "dirt.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT_SIZE = 1 << 16, SECONDS = 20, MOST_LEAVES = 1000 };

typedef struct search {
    random_pool *pool;
    rd_expr     *root[MOST_RESULTS];
    int          n;
    char        *text; /* shared with the processes: what the last failure said */
    void        *leaf[MOST_LEAVES];
    int          n_leaf;
} search;

/* ---- Trying ---------------------------------------------------------------------------------- */

static bool try_here(random_pool *pool, rd_expr *const *root, int n, char *text)
{
    wanted       w[MOST_RESULTS];
    rd_result    results[MOST_RESULTS];
    rd_text      report   = { 0 };
    isa_programs programs = { 0 };
    const char  *explain;

    snprintf(text, TEXT_SIZE, "crashed or hung\n");
    alarm(SECONDS);
    for (int i = 0; i < n; i++) {
        w[i]       = wanted_of(pool, root[i]);
        results[i] = (rd_result){ root[i], NULL };
    }
    wanted_together(pool, w, n);
    if (differential_ways(pool, w, n, &report) && differential_isas(pool, w, n, &programs, &report))
        return true;
    snprintf(text, TEXT_SIZE, "%s", report.at);
    explain = rd_explain(pool->ctx, (rd_results){ results, n }, NULL);
    rd_text_add(&report, "explain:\n%s\n", explain ? explain : rd_error_text(pool->ctx));
    snprintf(text, TEXT_SIZE, "%s", report.at);
    return false;
}

static bool fails(const search *s, rd_expr *const *root, int n)
{
    int         status = 0;
    const pid_t child  = fork();

    if (child == 0)
        _exit(try_here(s->pool, root, n, s->text) ? 0 : 1);
    return child < 0 || waitpid(child, &status, 0) != child || status != 0;
}

/* ---- Rebuilding ------------------------------------------------------------------------------ */

/* A dense leaf with the values the oracle has for x; NULL if some are unsure. */
static rd_expr *leaf_with_values(search *s, rd_expr *x)
{
    rd_array  layout = { .type = x->type, .shape.n = x->rank };
    const int size   = rd_dtype_size(x->type);
    wanted    w      = wanted_of(s->pool, x);
    bool      sure   = s->n_leaf < MOST_LEAVES;

    memcpy(layout.shape.at, x->extent, (size_t)x->rank * sizeof *x->extent);
    layout.data = calloc((size_t)w.n + 1, (size_t)size);
    for (int64_t i = 0; i < w.n; i++) {
        sure &= !w.value[i].unsure;
        oracle_store((char *)layout.data + i * size, x->type, &w.value[i]);
    }
    wanted_free(&w);
    if (!sure) {
        free(layout.data);
        return NULL;
    }
    s->leaf[s->n_leaf++] = layout.data;
    return rd_leaf(s->pool->ctx, &layout);
}

/* x with `by` in place of `part`. */
static rd_expr *with(rd_expr *x, const rd_expr *part, rd_expr *by)
{
    rd_expr *in[8];
    bool     changed = false;

    if (x == part)
        return by;
    for (int k = 0; k < x->n_in; k++) {
        in[k] = x->in[k] ? with(x->in[k], part, by) : NULL;
        changed |= in[k] != x->in[k];
    }
    if (!changed)
        return x;
    rd_expr copy = *x;
    copy.in      = in;
    return rd_node(&copy, x->as.any, x->as_size);
}

/* ---- Searching ------------------------------------------------------------------------------- */

static bool least_alone(search *s, rd_text *report)
{
    rd_expr **list;
    const int nodes = report_nodes(s->root, s->n, &list);
    bool      found = false;

    for (int i = 0; i < nodes && !found; i++)
        if (fails(s, &list[i], 1)) {
            rd_text_add(report, "node %d of %d fails alone\n", i + 1, nodes);
            s->root[0] = list[i];
            s->n       = 1;
            found      = true;
        }
    free(list);
    return found;
}

/* Fewer results, if no single expression fails. */
static void drop_results(search *s)
{
    rd_expr *fewer[MOST_RESULTS];

    for (int i = 0; i < s->n && s->n > 1; i++) {
        memcpy(fewer, s->root, sizeof fewer);
        memmove(fewer + i, fewer + i + 1, (size_t)(s->n - i - 1) * sizeof *fewer);
        if (fails(s, fewer, s->n - 1)) {
            memcpy(s->root, fewer, sizeof fewer);
            s->n--;
            i--;
        }
    }
}

/* One operand, as near to the roots as possible, made a leaf.  False if none can be. */
static bool cut(search *s)
{
    rd_expr **list, *fewer[MOST_RESULTS];
    const int nodes = report_nodes(s->root, s->n, &list);
    bool      found = false;

    for (int i = nodes - 1; i >= 0 && !found; i--) {
        rd_expr *x = list[i], *leaf = NULL;
        bool     inner = x->n_in > 0;
        for (int k = 0; k < s->n; k++)
            inner &= x != s->root[k];
        if (!inner || !(leaf = leaf_with_values(s, x)))
            continue;
        for (int k = 0; k < s->n; k++)
            fewer[k] = with(s->root[k], x, leaf);
        if ((found = fails(s, fewer, s->n)))
            memcpy(s->root, fewer, sizeof *fewer * (size_t)s->n);
    }
    free(list);
    return found;
}

bool differential_shrink(uint64_t seed, rd_text *report)
{
    rd_ctx *ctx = dirty_context(true);
    search  s   = { .pool = random_pool_new(ctx, seed) };
    wanted  w[MOST_RESULTS];
    bool    ok;

    s.text = mmap(NULL, TEXT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    s.n    = differential_results(s.pool, w);
    for (int i = 0; i < s.n; i++) {
        s.root[i] = w[i].x;
        wanted_free(&w[i]);
    }
    ok = !least_alone(&s, report) && !fails(&s, s.root, s.n);
    if (ok)
        rd_text_add(
            report,
            "dense outputs do not fail: look at the kind of memory and the options above\n");
    else {
        drop_results(&s);
        while (cut(&s))
            continue;
        fails(&s, s.root, s.n); /* for its report */
        for (int i = 0; i < s.n; i++)
            report_tree(report, s.root[i]);
        rd_text_add(report, "%s", s.text);
    }
    for (int i = 0; i < s.n_leaf; i++)
        free(s.leaf[i]);
    munmap(s.text, TEXT_SIZE);
    random_pool_free(s.pool);
    rd_ctx_free(ctx);
    return ok;
}
