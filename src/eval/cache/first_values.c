/* first_values.c - finds small values that are evaluated first, and evaluates in that order.
 *
 * An operand of attention may be a projection of others, and its gradient may go on to weights of
 * the projection.  Then results are no sums over rows of the weights, but what they are made of is. */
#include "eval/cache/first_values.h"
#include "eval/cache/cache.h"
#include "eval/expr_pieces.h"
#include "expr/origin.h"
#include <string.h>

/* How many times fewer elements than the largest array a small value has. */
enum { SMALL = 16 };

/* ---- Which ----------------------------------------------------------------------------------- */
/* A cut for which values are looked for; marks: which nodes the large parts read, or are read. */
typedef struct search {
    const rd_cuts   *c;
    rd_first_values *f;
    double           small; /* the most elements of a small value */
    bool             fits;  /* all values are small, and few */
} search;

static int label(const search *s, const rd_expr *x)
{
    return s->c->at[rd_cuts_index(s->c, x)].axis[0];
}

static double points(const rd_expr *x)
{
    return (double)rd_points(x->rank, x->extent);
}

static bool comes_in_blocks(int l)
{
    return l >= 0 || l == RD_CUT_ADDED;
}

/* Adds a value to a list, once. */
static void add(search *s, rd_expr **list, int *n, rd_expr *x)
{
    for (int k = 0; k < *n; k++)
        if (list[k] == x)
            return;
    if (*n == RD_MOST_CUT_RESULTS || points(x) > s->small) {
        s->fits = false;
        return;
    }
    list[(*n)++] = x;
}

/* Notes operands of a reader: small ones of what is large, and what comes in blocks of what does
 * not. */
static void note_operands(search *s, const rd_expr *reader)
{
    const int  l     = label(s, reader);
    const bool large = comes_in_blocks(l) || points(reader) > s->small;

    for (int k = 0; k < reader->n_in; k++) {
        rd_expr *const x   = reader->in[k];
        const int      own = x ? label(s, x) : RD_CUT_NOWHERE;

        if (l == RD_CUT_BROKEN && comes_in_blocks(own) && points(x) <= s->small)
            add(s, s->f->from, &s->f->n_from, x); /* large ones are computed again */
        else if (x && own == RD_CUT_NOWHERE && large && points(x) <= s->small &&
                 !rd_pieces_are_cheap(x))
            add(s, s->f->before, &s->f->n_before, x);
    }
}

/* Adds results that come in blocks to the values from which others are made. */
static void note_results(search *s)
{
    rd_first_values *const f = s->f;

    for (int k = 0; k < f->n_from; k++)
        f->result[k] = -1;
    for (int r = 0; r < f->results.n; r++) {
        rd_expr *const x = f->results.at[r].expr;
        int            k = 0;

        if (!comes_in_blocks(label(s, x)))
            continue;
        while (k < f->n_from && f->from[k] != x)
            k++;
        if (k == f->n_from)
            add(s, f->from, &f->n_from, x);
        if (s->fits)
            f->result[k] = r;
    }
}

/* Tries the cut that nodes are labelled for. */
static bool find_values(search *s)
{
    rd_first_values *const f = s->f;

    f->n_before = f->n_from = 0;
    f->bytes                = 0;
    s->fits                 = true;
    for (int64_t i = 0; i < s->c->list.n && s->fits; i++)
        note_operands(s, s->c->list.at[i]);
    if (s->fits)
        note_results(s);
    for (int k = 0; k < f->n_before; k++)
        f->bytes += rd_cuts_bytes(f->before[k]);
    for (int k = 0; k < f->n_from; k++)
        f->bytes += f->result[k] < 0 ? rd_cuts_bytes(f->from[k]) : 0;
    return s->fits && f->n_from > 0 && f->bytes > 0;
}

/* Tries the axes of a large value, the longest one first. */
static bool find_along(search *s, int64_t from, int64_t least)
{
    const rd_expr *const x     = s->c->list.at[from];
    uint64_t             tried = 0;

    for (int n = 0; n < x->rank; n++) {
        int axis = -1;

        for (int a = 0; a < x->rank; a++)
            if (!(tried >> a & 1) && x->extent[a] >= least &&
                (axis < 0 || x->extent[a] > x->extent[axis]))
                axis = a;
        if (axis < 0)
            return false;
        tried |= (uint64_t)1 << axis;
        (void)rd_cuts_label(s->c, 0, from, axis);
        if (find_values(s))
            return true;
    }
    return false;
}

bool rd_first_find(rd_first_values *f, rd_ctx *ctx, rd_results results, double largest)
{
    enum { LEAST = 128 };
    rd_cuts c;
    search  s     = { .c = &c, .f = f, .small = largest / 4 / SMALL };
    bool    found = false;

    *f = (rd_first_values){ .ctx = ctx, .results = results };
    if (results.n <= RD_MOST_CUT_RESULTS && rd_cuts_begin(&c, ctx, results)) {
        for (int64_t i = 0, tries = 0; i < c.list.n && tries < RD_CUT_TRIES && !found; i++)
            if (rd_cuts_may_begin(c.list.at[i], largest / 8)) {
                found = find_along(&s, i, LEAST);
                tries++;
            }
    } else if (results.n > RD_MOST_CUT_RESULTS) {
        return false;
    }
    rd_cuts_end(&c);
    return found;
}

bool rd_first_has(const rd_first_values *f, int r)
{
    for (int k = 0; k < f->n_from; k++)
        if (f->result[k] == r)
            return true;
    return false;
}

/* ---- Expressions of what was evaluated ------------------------------------------------------- */
/* Value k: those before, then those from. */
static rd_expr *value(const rd_first_values *f, int k)
{
    return k < f->n_before ? f->before[k] : f->from[k - f->n_before];
}

/* The result that value k is; NULL: none. */
static const rd_result *result_of(const rd_first_values *f, int k)
{
    return k >= f->n_before && f->result[k - f->n_before] >= 0
               ? &f->results.at[f->result[k - f->n_before]]
               : NULL;
}

/* The memory of value k: the result's, or dense memory. */
static rd_array array_of(const rd_first_values *f, int k, void *memory)
{
    const rd_result *const r     = result_of(f, k);
    const rd_expr *const   x     = value(f, k);
    rd_array               array = { .type = x->type, .data = memory };

    array.shape = rd_shape_of(x);
    if (x->origin)
        array.origin = rd_origin_of(x);
    if (r) {
        array.data    = r->out->data;
        array.strides = r->out->strides;
        array.order   = r->out->order;
    }
    return array;
}

/* x with leaves in place of the first n values. */
static rd_expr *replaced(const rd_first_values *f, rd_expr *x, int n, void *const *memory)
{
    rd_replacement with[2 * RD_MOST_CUT_RESULTS];

    for (int k = 0; k < n; k++) {
        const rd_array array = array_of(f, k, memory[k]);

        with[k] = (rd_replacement){ value(f, k), rd_leaf_of(f->ctx, &array, "rd_eval") };
        if (!with[k].to)
            return NULL;
    }
    return rd_clone_with(f->ctx, x, n, with);
}

rd_expr *rd_first_from(const rd_first_values *f, int k, void *const *memory)
{
    return replaced(f, f->from[k], f->n_before, memory);
}

rd_expr *rd_first_rest(const rd_first_values *f, int r, void *const *memory)
{
    return replaced(f, f->results.at[r].expr, f->n_before + f->n_from, memory);
}

/* ---- Runs ------------------------------------------------------------------------------------ */
/* Allocates memory of all values that are no results.  False: there is none. */
static bool allocate(const rd_first_values *f, void **memory)
{
    for (int k = 0; k < f->n_before + f->n_from; k++)
        if (!result_of(f, k) &&
            !(memory[k] = rd_alloc_work(f->ctx, (int64_t)rd_cuts_bytes(value(f, k)) + 64)))
            return false;
    return true;
}

/* Evaluates values from first to end, made of values before. */
static rd_status run_values(const rd_first_values *f, void *const *memory, int first, int end,
                            const rd_eval_opts *opts)
{
    rd_result result[RD_MOST_CUT_RESULTS];
    rd_array  out[RD_MOST_CUT_RESULTS];

    for (int k = first; k < end; k++) {
        rd_expr *const x = first ? rd_first_from(f, k - first, memory) : value(f, k);

        if (!x)
            return rd_error(f->ctx);
        out[k - first]    = array_of(f, k, memory[k]);
        result[k - first] = (rd_result){ x, &out[k - first] };
    }
    return first < end ? rd_cache_run(f->ctx, (rd_results){ result, end - first }, opts) : RD_OK;
}

/* Evaluates results that are no values. */
static rd_status run_rest(const rd_first_values *f, void *const *memory, const rd_eval_opts *opts)
{
    rd_result result[RD_MOST_CUT_RESULTS];
    int       n = 0;

    for (int r = 0; r < f->results.n; r++) {
        rd_expr *const x = rd_first_has(f, r) ? NULL : rd_first_rest(f, r, memory);

        if (x)
            result[n++] = (rd_result){ x, f->results.at[r].out };
        else if (!rd_first_has(f, r))
            return rd_error(f->ctx);
    }
    return n ? rd_cache_run(f->ctx, (rd_results){ result, n }, opts) : RD_OK;
}

bool rd_first_run(const rd_first_values *f, const rd_eval_opts *opts, rd_status *status)
{
    const rd_mark mark                            = rd_ctx_mark(f->ctx);
    const int     n                               = f->n_before + f->n_from;
    void         *memory[2 * RD_MOST_CUT_RESULTS] = { NULL };
    const bool    ran                             = allocate(f, memory);
    rd_eval_opts  quiet                           = *opts;

    quiet.progress = NULL; /* of values that take little time */
    if (ran) {
        *status = run_values(f, memory, 0, f->n_before, &quiet);
        if (*status == RD_OK)
            *status = run_values(f, memory, f->n_before, n, opts);
        if (*status == RD_OK)
            *status = run_rest(f, memory, &quiet);
    }
    for (int k = 0; k < n; k++)
        rd_free_work(f->ctx, memory[k]);
    (void)rd_ctx_release(f->ctx, mark);
    return ran;
}
