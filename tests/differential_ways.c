/* differential_ways.c - running results, comparing them with the oracle and with each other. */
#include "differential.h"
#include "dirt.h"
#include "eval/plan.h"
#include <stdlib.h>
#include <string.h>

wanted wanted_of(random_pool *pool, rd_expr *x)
{
    wanted w = { .x = x, .n = random_points(x) };

    w.value = calloc((size_t)w.n + 1, sizeof *w.value);
    random_values(pool, x, w.value);
    return w;
}

void wanted_free(wanted *w)
{
    free(w->value);
}

/* "[2, 0, 5]" of the element i in C order */
static void index_text(rd_text *report, const rd_expr *x, int64_t i)
{
    int64_t at[RD_MAX_RANK];

    for (int a = x->rank - 1; a >= 0; a--) {
        at[a] = i % x->extent[a];
        i /= x->extent[a];
    }
    for (int a = 0; a < x->rank; a++)
        rd_text_add(report, "%s%lld", a ? ", " : "[", (long long)at[a]);
    rd_text_add(report, x->rank ? "]" : "[]");
}

bool differential_compare(const wanted *w, const rd_array *found, rd_text *report)
{
    char    why[ORACLE_WHY];
    int64_t wrong = 0;

    for (int64_t i = 0; i < w->n; i++) {
        if (oracle_matches(&w->value[i], (char *)found->data + report_offset(found, i), found->type,
                           why))
            continue;
        if (wrong++ < 4) {
            rd_text_add(report, "element ");
            index_text(report, w->x, i);
            rd_text_add(report, ": %s\n", why);
        }
    }
    if (wrong)
        rd_text_add(report, "%lld of %lld elements wrong\n", (long long)wrong, (long long)w->n);
    return wrong == 0;
}

/* ---- Running --------------------------------------------------------------------------------- */

int differential_inputs(random_pool *pool, rd_expr **in, const void **data)
{
    int n = 0;

    for (int i = 0; i < pool->n_block; i++)
        if (pool->block[i].input) {
            in[n]     = pool->block[i].leaf;
            data[n++] = pool->block[i].layout.data;
        }
    return n;
}

static rd_status run_plan(random_pool *pool, rd_results results, const rd_eval_opts *opts)
{
    rd_expr    *in[RANDOM_BLOCKS];
    const void *data[RANDOM_BLOCKS];
    void       *out[MOST_RESULTS] = { NULL };
    const int   n                 = differential_inputs(pool, in, data);
    rd_status   status;
    rd_plan    *plan;

    plan = rd_plan_new(pool->ctx, (rd_exprs){ in, n }, results, opts);
    if (!plan)
        return rd_error(pool->ctx);
    for (int i = 0; i < results.n; i++)
        out[i] = results.at[i].out->data;
    status = rd_plan_run(plan, data, random_once(pool, 2) ? out : NULL);
    rd_plan_free(plan);
    return status;
}

bool differential_run(random_pool *pool, rd_results results, const rd_eval_opts *opts, bool by_plan,
                      rd_text *report)
{
    rd_status status;

    if (by_plan || pool->inputs)
        status = run_plan(pool, results, opts);
    else if (results.n == 1 && opts->traversal == RD_TRAVERSE_AUTO && opts->threads == 0)
        status = rd_eval(pool->ctx, results.at[0].expr, results.at[0].out);
    else
        status = rd_eval_many(pool->ctx, results, opts);
    if (status == RD_OK)
        return true;
    rd_text_add(report, "%s: %s\n", rd_status_name(status), rd_error_text(pool->ctx));
    rd_error_clear(pool->ctx);
    return false;
}

/* ---- The same bits every way ----------------------------------------------------------------- */

static const struct {
    const char  *name;
    rd_eval_opts opts;
    bool         apart; /* folds of different axes share no loops */
} ways[] = {
    { "auto, 1 thread", { .traversal = RD_TRAVERSE_AUTO, .threads = 1 }, false },
    { "auto, 3 threads", { .traversal = RD_TRAVERSE_AUTO, .threads = 3 }, false },
    { "greedy, 1 thread", { .traversal = RD_TRAVERSE_GREEDY, .threads = 1 }, false },
    { "greedy, 3 threads", { .traversal = RD_TRAVERSE_GREEDY, .threads = 3 }, false },
    { "lazy, 1 thread", { .traversal = RD_TRAVERSE_LAZY, .threads = 1 }, false },
    { "lazy, 3 threads", { .traversal = RD_TRAVERSE_LAZY, .threads = 3 }, false },
    { "auto, 2 threads, apart", { .traversal = RD_TRAVERSE_AUTO, .threads = 2 }, true },
};
enum { N_WAYS = sizeof ways / sizeof *ways };

rd_array differential_dense(const rd_expr *x)
{
    rd_array a = { .type = x->type, .shape.n = x->rank };

    memcpy(a.shape.at, x->extent, (size_t)x->rank * sizeof *x->extent);
    a.data = dirty_memory(random_points(x) * rd_dtype_size(x->type) + 1);
    return a;
}

/* Finds the first element that differs. */
static bool same_bits(const rd_array *a, const rd_array *b, int64_t n, int64_t *where)
{
    const size_t size = (size_t)rd_dtype_size(a->type);

    if (memcmp(a->data, b->data, (size_t)n * size) == 0)
        return true;
    for (*where = 0; *where < n; ++*where) {
        const char *p = (char *)a->data + (size_t)*where * size,
                   *q = (char *)b->data + (size_t)*where * size;

        if (memcmp(p, q, size) != 0 &&
            !(isnan(oracle_load(p, a->type).v) && isnan(oracle_load(q, b->type).v)))
            return false;
    }
    return true;
}

bool differential_same(const wanted *w, int result, const rd_array *a, const char *how_a,
                       const rd_array *b, const char *how_b, rd_text *report)
{
    const int size = rd_dtype_size(w->x->type);
    int64_t   i;
    char      text_a[ORACLE_WHY], text_b[ORACLE_WHY];

    if (same_bits(a, b, w->n, &i))
        return true;
    oracle_value v = oracle_load((char *)a->data + i * size, w->x->type),
                 u = oracle_load((char *)b->data + i * size, w->x->type);
    oracle_text(&v, text_a);
    oracle_text(&u, text_b);
    rd_text_add(report, "result %d, element ", result);
    index_text(report, w->x, i);
    rd_text_add(report, ": %s with %s, but %s with %s\n", text_a, how_a, text_b, how_b);
    return false;
}

/* One way into `out`; against the oracle if it is the first, else against the first. */
static bool one_way(random_pool *pool, const wanted *w, int n, int way, rd_array *first,
                    rd_array *out, rd_text *report)
{
    rd_result results[MOST_RESULTS];
    bool      ok;

    for (int i = 0; i < n; i++) {
        out[i]     = differential_dense(w[i].x);
        results[i] = (rd_result){ w[i].x, &out[i] };
    }
    rd_force_recompute(ways[way].apart);
    ok = differential_run(pool, (rd_results){ results, n }, &ways[way].opts, false, report);
    rd_force_recompute(0);
    for (int i = 0; ok && i < n; i++) {
        if (way > 0)
            ok = differential_same(&w[i], i, &first[i], ways[0].name, &out[i], ways[way].name,
                                   report);
        else if (!(ok = differential_compare(&w[i], &out[i], report)))
            rd_text_add(report, "in result %d\n", i);
    }
    if (!ok)
        rd_text_add(report, "dense outputs, %s, %s\n", ways[way].name, isa_name(pool->isa));
    return ok;
}

void wanted_together(random_pool *pool, wanted *w, int n)
{
    const rd_eval_opts opts = { .threads = 1 };
    rd_array           out[MOST_RESULTS];
    rd_result          results[MOST_RESULTS];
    rd_status          status;

    if (!pool->large)
        return;
    for (int i = 0; i < n; i++) {
        out[i]     = differential_dense(w[i].x);
        results[i] = (rd_result){ w[i].x, &out[i] };
    }
    isa_begin(pool->ctx, ISA_SCALAR);
    status = rd_eval_many(pool->ctx, (rd_results){ results, n }, &opts);
    isa_end(pool->ctx);
    for (int i = 0; i < n; i++) {
        const int size = rd_dtype_size(w[i].x->type);

        for (int64_t k = 0; status == RD_OK && k < w[i].n; k++)
            w[i].value[k] = oracle_load((char *)out[i].data + k * size, w[i].x->type);
        free(out[i].data);
    }
}

/* A clone in a context of its own has the bits of the first way. */
static bool of_clone(const wanted *w, const rd_array *first, rd_text *report)
{
    rd_ctx *const ctx = rd_ctx_new(NULL);
    rd_array      out = differential_dense(w->x);
    bool          ok  = rd_eval(ctx, rd_clone(ctx, w->x), &out) == RD_OK;

    if (!ok)
        rd_text_add(report, "of a clone: %s\n", rd_error_text(ctx));
    ok = ok && differential_same(w, 0, first, ways[0].name, &out, "a clone", report);
    free(out.data);
    rd_ctx_free(ctx);
    return ok;
}

bool differential_ways(random_pool *pool, const wanted *w, int n, rd_text *report)
{
    rd_array first[MOST_RESULTS], out[MOST_RESULTS];
    bool     ok;

    isa_begin(pool->ctx, pool->isa);
    ok = one_way(pool, w, n, 0, NULL, first, report);

    for (int way = 1; ok && way < N_WAYS; way++) {
        ok = one_way(pool, w, n, way, first, out, report);
        for (int i = 0; i < n; i++)
            free(out[i].data);
    }
    if (n == 1 && !pool->inputs && ok)
        ok = of_clone(w, first, report) && differential_numbers(w, first, ways[0].name, report);
    for (int i = 0; i < n; i++)
        free(first[i].data);
    isa_end(pool->ctx);
    return ok;
}
