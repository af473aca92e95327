/* differential_outputs.c - outputs of every kind: fresh, the caller's with any strides between
 * guards, in place. */
#include "differential.h"
#include <stdlib.h>
#include <string.h>

enum { GUARD = 64, PATTERN = 0xa5 };

typedef struct output {
    rd_array array;
    bool     fresh, in_place;
    char    *memory, *before; /* what surrounds the output, and its bytes before the run */
    int64_t  bytes;
} output;

/* ---- Making outputs -------------------------------------------------------------------------- */

static rd_dtype wider_type(random_pool *pool, rd_dtype type)
{
    const rd_dtype wider = random_type(pool);

    return random_once(pool, 6) && rd_dtype_safe(type, wider) ? wider : type;
}

/* Axes in any order in memory, spread, padded, reversed; no element twice. */
static void any_strides(random_pool *pool, rd_array *a)
{
    int     order[RD_MAX_RANK];
    int64_t step = random_once(pool, 3) ? 2 : 1;

    for (int k = 0; k < a->shape.n; k++) {
        const int j = (int)random_below(pool, k + 1);
        order[k]    = order[j];
        order[j]    = k;
    }
    a->strides.n = a->shape.n;
    for (int k = 0; k < a->shape.n; k++) {
        a->strides.at[order[k]] = random_once(pool, 4) ? -step : step;
        step *= a->shape.at[order[k]] > 0 ? a->shape.at[order[k]] : 1;
        step += random_once(pool, 3) ? random_below(pool, 4) : 0;
    }
}

/* Offsets of the lowest byte and after the highest byte of the elements. */
static void byte_range(const rd_array *a, int64_t n, int64_t *lo, int64_t *hi)
{
    *lo = *hi = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = report_offset(a, i), end = at + rd_dtype_size(a->type);
        *lo = at < *lo ? at : *lo;
        *hi = end > *hi ? end : *hi;
    }
}

static void guarded(random_pool *pool, output *out, int64_t n)
{
    int64_t lo, hi;

    if (out->array.shape.n > 0 && random_once(pool, 2))
        any_strides(pool, &out->array);
    else
        out->array.order = random_once(pool, 3);
    byte_range(&out->array, n, &lo, &hi);
    out->bytes  = hi - lo + 2 * GUARD;
    out->memory = malloc((size_t)out->bytes);
    memset(out->memory, PATTERN, (size_t)out->bytes);
    out->array.data = out->memory + GUARD - lo;
}

/* The memory of a leaf the result may be read from, if one is large enough: at its start, dense. */
static bool in_place(random_pool *pool, output *out, int64_t n)
{
    const int     size  = rd_dtype_size(out->array.type);
    random_block *block = &pool->block[random_below(pool, pool->n_block)];

    if (block->bytes < n * size || n == 0)
        return false;
    out->in_place   = true;
    out->memory     = block->memory;
    out->bytes      = block->bytes;
    out->array.data = out->memory + size * random_below(pool, (block->bytes - n * size) / size + 1);
    return true;
}

static output output_for(random_pool *pool, const wanted *w, bool may_be_fresh,
                         bool may_be_in_place)
{
    output out = { .array = { .type = wider_type(pool, w->x->type), .shape.n = w->x->rank } };

    memcpy(out.array.shape.at, w->x->extent, (size_t)w->x->rank * sizeof *w->x->extent);
    if (may_be_fresh && random_once(pool, 3)) {
        out.fresh = true;
        memset(&out.array, 0, sizeof out.array);
    } else if (!may_be_in_place || !in_place(pool, &out, w->n))
        guarded(pool, &out, w->n);
    if (!out.fresh) {
        out.before = malloc((size_t)out.bytes);
        memcpy(out.before, out.memory, (size_t)out.bytes);
    }
    return out;
}

/* Puts back what was in place, frees the rest. */
static void output_free(output *out)
{
    if (out->in_place)
        memcpy(out->memory, out->before, (size_t)out->bytes);
    else if (!out->fresh)
        free(out->memory);
    free(out->before);
    if (out->fresh)
        rd_array_free(&out->array);
}

/* ---- Checking them --------------------------------------------------------------------------- */

/* Bytes that belong to no element must be as before. */
static bool untouched(const output *out, int64_t n, rd_text *report)
{
    const int size = rd_dtype_size(out->array.type);
    char     *own  = calloc((size_t)out->bytes + 1, 1);
    int64_t   at   = 0;

    for (int64_t i = 0; i < n; i++)
        memset(own + ((char *)out->array.data - out->memory) + report_offset(&out->array, i), 1,
               (size_t)size);
    while (at < out->bytes && (own[at] || out->memory[at] == out->before[at]))
        at++;
    free(own);
    if (at < out->bytes)
        rd_text_add(report, "byte %lld beside the output was written\n",
                    (long long)(at - ((char *)out->array.data - out->memory)));
    return at == out->bytes;
}

static bool fresh_is_right(const wanted *w, const rd_array *a, rd_text *report)
{
    bool ok = a->type == w->x->type && a->shape.n == w->x->rank && (uintptr_t)a->data % 64 == 0;

    for (int k = 0; ok && k < w->x->rank; k++)
        ok = a->shape.at[k] == w->x->extent[k];
    if (!ok)
        rd_text_add(report, "fresh memory has another type, shape or alignment\n");
    return ok;
}

static void describe(rd_text *report, const output *out, int i)
{
    rd_text_add(report, "in result %d, %s, %s, order %d, strides", i,
                out->fresh      ? "fresh memory"
                : out->in_place ? "over the memory of a leaf"
                                : "memory of the caller",
                rd_dtype_name(out->array.type), (int)out->array.order);
    for (int k = 0; k < out->array.strides.n; k++)
        rd_text_add(report, " %lld", (long long)out->array.strides.at[k]);
    rd_text_add(report, "\n");
}

static bool outputs_are_right(const wanted *w, const output *out, int n, rd_text *report)
{
    for (int i = 0; i < n; i++) {
        const bool ok = (!out[i].fresh || fresh_is_right(&w[i], &out[i].array, report)) &&
                        differential_compare(&w[i], &out[i].array, report) &&
                        (out[i].fresh || untouched(&out[i], w[i].n, report));
        if (!ok) {
            describe(report, &out[i], i);
            return false;
        }
    }
    return true;
}

/* ---- Single elements ------------------------------------------------------------------------- */

/* In large pools values are exact, and what is selected from may be decided otherwise than the
 * whole. */
static bool elements_are_right(random_pool *pool, const wanted *w, rd_text *report)
{
    const int64_t i     = random_below(pool, w->n);
    int64_t       rest  = i;
    rd_index      index = { .n = w->x->rank };
    char          why[ORACLE_WHY];
    double        v;

    for (int a = w->x->rank - 1; a >= 0; a--) {
        index.at[a] = rest % w->x->extent[a];
        rest /= w->x->extent[a];
    }
    v = rd_at(pool->ctx, w->x, index);
    if (rd_error(pool->ctx)) {
        rd_text_add(report, "rd_at: %s\n", rd_error_text(pool->ctx));
        rd_error_clear(pool->ctx);
        return false;
    }
    if (oracle_matches(&w->value[i], &v, RD_F64, why))
        return true;
    rd_text_add(report, "rd_at of element %lld in C order: %s\n", (long long)i, why);
    return false;
}

/* ---------------------------------------------------------------------------------------------- */

bool differential_outputs(random_pool *pool, const wanted *w, int n, differential_stats *stats,
                          rd_text *report)
{
    const bool   by_plan = pool->inputs || random_once(pool, 5);
    int          over    = random_once(pool, 6) ? (int)random_below(pool, n) : -1;
    rd_eval_opts opts    = { .traversal = (rd_traversal)random_below(pool, 3),
                             .threads   = (int32_t)random_below(pool, 4) };
    output       out[MOST_RESULTS];
    rd_result    results[MOST_RESULTS];
    bool         ok;

    for (int i = 0; i < n; i++) {
        out[i]     = output_for(pool, &w[i], !by_plan, i == over);
        results[i] = (rd_result){ w[i].x, &out[i].array };
        stats->in_place += out[i].in_place;
    }
    stats->by_plan += by_plan;
    isa_begin(pool->ctx, pool->isa);
    ok = differential_run(pool, (rd_results){ results, n }, &opts, by_plan, report) &&
         outputs_are_right(w, out, n, report);
    if (!ok)
        rd_text_add(report, "%s, traversal %d, threads %d, %s%s\n", by_plan ? "by plan" : "at once",
                    (int)opts.traversal, (int)opts.threads, isa_name(pool->isa),
                    pool->inputs ? ", with inputs" : "");
    for (int i = 0; i < n; i++)
        output_free(&out[i]);
    if (ok && !pool->inputs && !pool->large && random_once(pool, 4) && w[0].n > 0)
        ok = elements_are_right(pool, &w[0], report);
    isa_end(pool->ctx);
    return ok;
}
