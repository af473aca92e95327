/* sort.c - sorting, top-k and quantiles.  A SORT node works on rows along the last axis; views
 * bring the rows there and back.
 *
 * Words. The origin of an axis is its first index, 0 unless the caller says another. */
#include "expr/complex.h"
#include "expr/lists.h"
#include "expr/origin.h"
#include "expr/quantiles.h"
#include "expr/reduce.h"
#include <string.h>

/* ---- The node -------------------------------------------------------------------------------- */
/* Makes the SORT node of x, which sorts rows along the last axis: n_out results for each row.
 * `facts` says what they are: sorted values, their positions, or quantiles with n_q numbers q
 * behind the struct. */
static rd_expr *sort_node(rd_expr *x, int64_t n_out, rd_dtype type, const rd_sort_facts *facts)
{
    int64_t      extent[RD_MAX_RANK];
    const size_t size = sizeof *facts + (size_t)facts->n_q * sizeof *facts->q;

    memcpy(extent, x->extent, (size_t)x->rank * sizeof *extent);
    extent[x->rank - 1] = n_out;
    return rd_node(&(rd_expr){ .ctx    = x->ctx,
                               .kind   = RD_EXPR_SORT,
                               .type   = type,
                               .rank   = x->rank,
                               .n_in   = 1,
                               .extent = extent,
                               .in     = &x },
                   facts, size);
}

/* ---- Sorting, the first k -------------------------------------------------------------------- */
/* One of the four sorting calls while it is built. */
typedef struct sort_call {
    const char  *call;  /* for failures */
    rd_sort_what what;  /* values, or their places */
    bool         first; /* top-k: the greatest k come first, unless .smallest */
    int64_t      k;     /* top-k: how many elements */
} sort_call;

/* True if x is real and only the option of this call is given: top-k (s->first) takes .smallest, a
 * sort .descending.  False after recording what is wrong. */
static bool opts_ok(rd_expr *x, const sort_call *s, const rd_sort_opts *o)
{
    if (s->first ? o->descending : o->smallest)
        rd_fail(x->ctx, RD_ERR_ARGUMENT, "%s: %s is not taken here", s->call,
                s->first ? ".descending" : ".smallest");
    else
        return !rd_refuse_complex(s->call, 1, (rd_expr *const[]){ x });
    return false;
}

/* True if top-k asks for no more elements than the axis has, or if the call is no top-k.  False
 * after recording it. */
static bool count_ok(const rd_expr *x, const sort_call *s, int axis)
{
    char shape[RD_SHAPE_TEXT];

    if (!s->first || (s->k >= 0 && s->k <= x->extent[axis]))
        return true;
    rd_fail(x->ctx, RD_ERR_ARGUMENT, "%s: %lld elements of axis %d, shape %s", s->call,
            (long long)s->k, axis, rd_shape_text(x->rank, x->extent, shape));
    return false;
}

/* ---- One long row ---------------------------------------------------------------------------- */
/* The first few of one long row are the first few of those of its chunks, equal ones by chunk and
 * place.  Chunks are rows: they come in strips, and threads share them.  How many there are follows
 * from the length alone, and so do all bits. */
enum { LEAST_CHUNK = 1 << 16, MOST_CHUNKS = 64, LEAST_CHUNKS = 4, TIMES_FIRST = 64 };

/* True if the elements of x lie in memory as they are: x is a leaf, or views and reshapes of
 * one. */
static bool is_in_memory(const rd_expr *x)
{
    while (x->kind == RD_EXPR_VIEW || x->kind == RD_EXPR_RESHAPE)
        x = x->in[0];
    return x->kind == RD_EXPR_LEAF;
}

/* The number of chunks into which top-k cuts x, if it is a single long row along its last axis, so
 * that threads can share it; else 0.  It is worth it for 4 or more chunks of 2^16 elements or more,
 * and k of at most 1/64 of a chunk.  Positions in an array in memory need no chunks, as they are
 * found without storing values. */
static int64_t chunks_of(const rd_expr *x, int64_t k, const rd_sort_facts *facts)
{
    const int64_t n = x->extent[x->rank - 1], fitting = n / LEAST_CHUNK;
    const int64_t chunks = fitting < MOST_CHUNKS ? fitting : MOST_CHUNKS;
    bool          one    = x->rank < RD_MAX_RANK && !x->origin && k > 0 &&
               !(facts->what == RD_SORT_PLACES && is_in_memory(x));

    for (int a = 0; a < x->rank - 1; a++)
        one &= x->extent[a] == 1;
    return one && chunks >= LEAST_CHUNKS && k <= n / TIMES_FIRST / chunks ? chunks : 0;
}

/* The first k elements of each chunk (a row along the last axis), or all of a shorter chunk, joined
 * to one row.  With RD_SORT_PLACES it makes their positions in the whole row: position in the chunk
 * + from + length * number of the chunk. */
static rd_expr *first_of_chunks(rd_expr *chunks, int64_t k, rd_sort_facts facts, rd_sort_what what,
                                int64_t from, int64_t length)
{
    rd_ctx *const ctx   = chunks ? chunks->ctx : NULL;
    const int     last  = chunks ? chunks->rank - 1 : 0;
    rd_shape      shape = { .n = last };
    rd_expr      *y;

    if (!chunks)
        return NULL;
    k          = k < chunks->extent[last] ? k : chunks->extent[last];
    facts.what = (int32_t)what;
    y          = sort_node(chunks, k, what == RD_SORT_PLACES ? RD_I64 : chunks->type, &facts);
    if (what == RD_SORT_PLACES && y)
        y = rd_add(rd_add(y, rd_int(ctx, from)),
                   rd_mul(rd_coord(y, last - 1), rd_int(ctx, length)));
    if (!y)
        return NULL;
    memcpy(shape.at, y->extent, (size_t)last * sizeof *shape.at);
    shape.at[last - 1] *= k;
    return rd_reshape(y, shape);
}

/* The first k elements of all chunks of a long row, and of the shorter rest behind them, as one
 * row; with RD_SORT_PLACES their positions in x.  The first k of x are among them. */
static rd_expr *candidates(rd_expr *x, int64_t chunks, int64_t k, rd_sort_facts facts,
                           rd_sort_what what)
{
    const int      last = x->rank - 1;
    const int64_t  n = x->extent[last], length = n / chunks, covered = chunks * length;
    rd_expr *const whole = rd_slice_places(x, last, 0, covered, 1);
    rd_expr *const first = first_of_chunks(whole ? rd_window(whole, last, length, length) : NULL, k,
                                           facts, what, /*from=*/0, length);
    rd_expr       *rest;

    if (covered == n || !first)
        return first;
    rest = rd_slice_places(x, last, covered, n, 1);
    rest =
        first_of_chunks(rest ? rd_expand(rest, last) : NULL, k, facts, what, covered, /*length=*/0);
    return rest ? rd_concat(last, RD_EXPRS(first, rest)) : NULL;
}

/* The first k elements of one long row, or their positions: the first k of each chunk are
 * collected, and the first k of these found.  For positions, a second list holds the position of
 * each collected element, and is read there. */
static rd_expr *first_of_long_row(rd_expr *x, int64_t chunks, int64_t k, const rd_sort_facts *facts)
{
    const int      last  = x->rank - 1;
    rd_expr *const first = candidates(x, chunks, k, *facts, RD_SORT_VALUES);
    rd_expr *const which =
        first ? sort_node(first, k, facts->what == RD_SORT_PLACES ? RD_I64 : x->type, facts) : NULL;

    if (facts->what == RD_SORT_VALUES || !which)
        return which;
    return rd_take_along(candidates(x, chunks, k, *facts, RD_SORT_PLACES), last, which);
}

/* Sorts all of each row along the last axis, or (RD_SORT_PLACES) finds the positions that sort
 * it. */
static rd_expr *sort_rows(rd_expr *x, const rd_sort_facts *facts)
{
    return x ? sort_node(x, x->extent[x->rank - 1],
                         facts->what == RD_SORT_PLACES ? RD_I64 : x->type, facts)
             : NULL;
}

/* The first k elements of each row in order, or (RD_SORT_PLACES) their positions.  A single long
 * row is cut into chunks. */
static rd_expr *first_of_rows(rd_expr *x, int64_t k, const rd_sort_facts *facts)
{
    const int64_t chunks = x ? chunks_of(x, k, facts) : 0;

    if (!x)
        return NULL;
    return chunks ? first_of_long_row(x, chunks, k, facts)
                  : sort_node(x, k, facts->what == RD_SORT_PLACES ? RD_I64 : x->type, facts);
}

/* ---- All together ---------------------------------------------------------------------------- */
/* Makes one of the four sorting calls: checks the options, moves the axis to the end, sorts rows,
 * and moves it back.  Positions become indices of the axis, which may begin at an origin other than
 * 0.  Top-k drops that origin, as its elements are others. */
static rd_expr *build_sorted(rd_expr *x, const sort_call *s, const rd_sort_opts *opts)
{
    rd_sort_opts  o     = { 0 };
    rd_sort_facts facts = { .what = (int32_t)s->what };
    rd_expr      *operand;
    int           axis;

    if (!rd_operands(s->call, 1, &x))
        return NULL;
    if (!opts)
        return rd_fail(x->ctx, RD_ERR_ARGUMENT, "%s: the options are NULL", s->call);
    memcpy(&o, opts, opts->size && opts->size < sizeof o ? opts->size : sizeof o);
    x    = rd_cast_to(x, x->type); /* a weak number becomes strong */
    axis = x && opts_ok(x, s, &o) ? rd_axis(x, o.axis, s->call) : -1;
    if (axis < 0 || !count_ok(x, s, axis))
        return NULL;
    facts.descending = s->first ? !o.smallest : o.descending;
    operand          = x;
    x                = rd_move_axis(x, axis, x->rank - 1);
    x                = s->first ? first_of_rows(x, s->k, &facts) : sort_rows(x, &facts);
    x                = x ? rd_move_axis(x, x->rank - 1, axis) : NULL;
    if (s->what == RD_SORT_PLACES)
        x = rd_indices_of(x, operand, axis);
    return s->first ? x : rd_with_origins(x, operand->origin);
}

/* Sorts x along an axis, ascending unless .descending. */
rd_expr *rd_sort_by(rd_expr *x, const rd_sort_opts *opts)
{
    return build_sorted(x, &(sort_call){ .call = "rd_sort", .what = RD_SORT_VALUES }, opts);
}

/* The indices along an axis that sort x there; equal elements keep their order. */
rd_expr *rd_argsort_by(rd_expr *x, const rd_sort_opts *opts)
{
    return build_sorted(x, &(sort_call){ .call = "rd_argsort", .what = RD_SORT_PLACES }, opts);
}

/* The first k elements in order along an axis. */
rd_expr *rd_top_k_by(rd_expr *x, int64_t k, const rd_sort_opts *opts)
{
    return build_sorted(
        x, &(sort_call){ .call = "rd_top_k", .what = RD_SORT_VALUES, .first = true, .k = k }, opts);
}

/* The indices of the first k elements in order along an axis. */
rd_expr *rd_arg_top_k_by(rd_expr *x, int64_t k, const rd_sort_opts *opts)
{
    return build_sorted(
        x, &(sort_call){ .call = "rd_arg_top_k", .what = RD_SORT_PLACES, .first = true, .k = k },
        opts);
}

/* ---- Quantiles ------------------------------------------------------------------------------- */
/* A call for quantiles while it is built. */
typedef struct quantiles {
    rd_folding         f;        /* operand, axes, mask, labels */
    const char        *call;     /* for failures */
    rd_qs              q;        /* from 0 to 1 */
    bool               several;  /* one result for each q, along a new first axis */
    bool               skip_nan; /* NaN take no part */
    rd_quantile_method method;
    rd_expr           *weights; /* NULL: all weigh the same */
} quantiles;

/* True if the method is one of the enum and all q are from 0 to 1.  False after recording what is
 * wrong. */
static bool asked_ok(const quantiles *z)
{
    rd_ctx *ctx = z->f.x->ctx;

    if ((unsigned)z->method > RD_NORMAL_UNBIASED) {
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: .method is %d, not one of enum rd_quantile_method",
                z->call, (int)z->method);
        return false;
    }
    if (!rd_list_ok(ctx, z->call, "quantiles", z->q.at, z->q.n, /*least=*/0))
        return false;
    for (int k = 0; k < z->q.n; k++)
        if (!(z->q.at[k] >= 0 && z->q.at[k] <= 1)) {
            rd_fail(ctx, RD_ERR_ARGUMENT, "%s: quantile %g, possible are 0 to 1", z->call,
                    z->q.at[k]);
            return false;
        }
    return true;
}

/* True if there are no weights, or they are real and fit the other keywords.  A weight is how often
 * an element counts, so only RD_INVERTED_CDF has a meaning for it. */
static bool weights_ok(const quantiles *z)
{
    if (!z->weights)
        return true;
    if (!rd_operands(z->call, 2, (rd_expr *[]){ z->f.x, z->weights }) ||
        rd_refuse_complex(z->call, 1, &z->weights))
        return false;
    if (z->method != RD_INVERTED_CDF)
        rd_fail(z->f.x->ctx, RD_ERR_ARGUMENT,
                "%s: with .weights the method is RD_INVERTED_CDF alone, and must be said", z->call);
    else if (z->f.label)
        rd_fail(z->f.x->ctx, RD_ERR_ARGUMENT, "%s: .weights and .by together are not taken",
                z->call);
    else
        return true;
    return false;
}

/* Reads the options of a call for quantiles; false after recording what is wrong.  Keywords that
 * reductions share (axes, mask, groups) are checked as theirs are.  Without groups the sort itself
 * skips NaN, so .skip_nan is passed on only with .by. */
static bool begin(quantiles *z, const rd_quantile_opts *opts)
{
    rd_quantile_opts o = { 0 };

    if (!rd_operands(z->call, 1, &z->f.x) || rd_refuse_complex(z->call, 1, &z->f.x))
        return false;
    if (!opts) {
        rd_fail(z->f.x->ctx, RD_ERR_ARGUMENT, "%s: the options are NULL", z->call);
        return false;
    }
    memcpy(&o, opts, opts->size && opts->size < sizeof o ? opts->size : sizeof o);
    z->method   = o.method;
    z->skip_nan = o.skip_nan;
    z->weights  = o.weights;
    return rd_folding_begin(&z->f,
                            &(rd_reduce_opts){ .size     = sizeof(rd_reduce_opts),
                                               .dims     = o.dims,
                                               .where    = o.where,
                                               .skip_nan = o.skip_nan && o.by.n != 0,
                                               .by       = o.by,
                                               .groups   = o.groups },
                            /*takes=*/0) &&
           asked_ok(z) && weights_ok(z);
}

/* Replaces the elements that the mask leaves out by NaN, which the sort is told to skip. */
static rd_expr *masked_operand(const quantiles *z, rd_expr *x)
{
    rd_expr *nan = rd_number(x->ctx, x->type, rd_word_from_double(NAN, x->type));

    return nan ? rd_map_op(RD_OP_where, z->call, 3, (rd_expr *const[]){ z->f.where, x, nan })
               : NULL;
}

/* For each result, true if an element that the mask lets through is NaN. */
static rd_expr *has_nan(const quantiles *z, rd_expr *x)
{
    rd_expr *nan = rd_map_op(RD_OP_isnan, z->call, 1, &x);

    nan = nan ? rd_map_op(RD_OP_and, z->call, 2, (rd_expr *const[]){ z->f.where, nan }) : NULL;
    return nan ? rd_reduce_name(
                     nan, "any",
                     &(rd_reduce_opts){ .size = sizeof(rd_reduce_opts), .dims = z->f.opts.dims })
               : NULL;
}

/* Allocates the facts of the SORT node for quantiles, with q.n numbers behind them; the caller
 * frees them. */
static rd_sort_facts *quantile_facts(const quantiles *z)
{
    rd_sort_facts *facts =
        rd_alloc(z->f.x->ctx, (int64_t)(sizeof *facts + (size_t)z->q.n * sizeof *facts->q));

    if (!facts)
        return NULL;
    facts->what     = RD_SORT_QUANTILES;
    facts->skip_nan = z->skip_nan || z->f.where;
    facts->method   = (int32_t)z->method;
    facts->n_q      = z->q.n;
    for (int k = 0; k < z->q.n; k++)
        facts->q[k] = z->q.at[k] + 0; /* + 0 makes 0 of -0 */
    return facts;
}

/* Moves the axis of the q, which is the last one of y, to the front, or drops it if there is one q.
 * Puts back the reduced axes with extent 1 if asked to (keepdims). */
static rd_expr *results_in_place(const quantiles *z, rd_expr *y)
{
    const bool keep = z->f.opts.dims.flags & RD_DIMS_KEEP;

    y = z->several ? rd_move_axis(y, y->rank - 1, 0) : rd_select_place(y, y->rank - 1, 0);
    for (int a = 0; y && keep && a < z->f.x->rank; a++)
        if (z->f.bits >> a & 1)
            y = rd_expand(y, a + z->several); /* behind the axis of q */
    return y;
}

/* Makes quantiles by group label.  The axis of the q stands behind those of groups, and is moved to
 * the front, or dropped if there is one q. */
static rd_expr *quantiles_by_label(const quantiles *z, rd_dtype type)
{
    rd_expr *y = rd_quantiles_by_label(&z->f, type, z->method, z->q);

    if (!z->several && y)
        return rd_folding_as_seen(&z->f, rd_select_place(y, /*axis=*/-1, 0));
    y = rd_folding_as_seen(&z->f, y);
    return y ? rd_move_axis(y, y->rank - 1, 0) : NULL;
}

/* Makes quantiles in one of three ways: by group label, with weights, or of sorted rows.  Rows with
 * a mask get NaN for masked elements, which the sort skips.  So without .skip_nan a result is set
 * to NaN afterwards if a NaN takes part. */
static rd_expr *build_quantiles(quantiles *z, const rd_quantile_opts *opts)
{
    rd_expr       *x, *y, *nan = NULL;
    rd_sort_facts *facts;

    if (!begin(z, opts))
        return NULL;
    x                   = z->f.x;
    const rd_dtype type = rd_dtype_kind(x->type) == RD_KIND_FLOAT ? x->type : RD_F64;
    if (z->f.label)
        return quantiles_by_label(z, type);
    if (z->weights) {
        y = rd_quantiles_weighted(&z->f, z->weights, z->skip_nan, type, z->q);
        y = rd_folding_origins(&z->f, y);
        return y ? results_in_place(z, y) : NULL;
    }
    if (z->f.where) {
        if (!(x = rd_cast_to(x, type)) || (!z->skip_nan && !(nan = has_nan(z, x))) ||
            !(x = masked_operand(z, x)))
            return NULL;
    }
    x     = rd_folding_rows(&z->f, x); /* reduced axes as one last axis */
    facts = x ? quantile_facts(z) : NULL;
    y     = facts ? sort_node(x, z->q.n, type, facts) : NULL;
    rd_free(z->f.x->ctx, facts);
    y = rd_folding_origins(&z->f, y);
    y = y ? results_in_place(z, y) : NULL;
    if (!y || !nan)
        return y;
    x = rd_number(y->ctx, type, rd_word_from_double(NAN, type));
    return x ? rd_map_op(RD_OP_where, z->call, 3, (rd_expr *const[]){ nan, x, y }) : NULL;
}

/* Quantiles of rows, one for each q, along a new first axis. */
rd_expr *rd_quantiles_by(rd_expr *x, rd_qs q, const rd_quantile_opts *opts)
{
    static const char call[] = "rd_quantiles";

    return build_quantiles(
        &(quantiles){ .f = { .call = call, .x = x }, .call = call, .q = q, .several = true }, opts);
}

/* Makes one quantile, without an axis of results. */
static rd_expr *one_quantile(const char *call, rd_expr *x, double q, const rd_quantile_opts *opts)
{
    return build_quantiles(
        &(quantiles){ .f = { .call = call, .x = x }, .call = call, .q = { &q, 1 } }, opts);
}

/* The quantile q along axes. */
rd_expr *rd_quantile_by(rd_expr *x, double q, const rd_quantile_opts *opts)
{
    return one_quantile("rd_quantile", x, q, opts);
}

/* The median along axes. */
rd_expr *rd_median_by(rd_expr *x, const rd_quantile_opts *opts)
{
    return one_quantile("rd_median", x, 0.5, opts);
}
