/* stored.c - rd_eval_sparse(): stores a sparse result as index arrays, level by level, and
 * values.
 *
 * A pattern's coordinates are known when its node is made, so index arrays are built from them.
 * Only values are evaluated.
 *
 * A level is how one axis is stored: dense (every index), compressed (pos says where each
 * parent's entries begin, crd their coordinates), or coordinates (one crd for each stored
 * place).  A place is a stored element of the pattern.  An entry is one coordinate of a level. */
#include "expr/array.h"
#include "expr/complex.h"
#include "expr/origin.h"
#include "expr/sparse.h"
#include "eval/request.h"
#include <inttypes.h>
#include <string.h>

static const char call[] = "rd_eval_sparse";

/* The state of storing one array. */
typedef struct storing {
    rd_ctx *ctx;
    /* the real and the imaginary part, with one pattern; im is NULL if x is real */
    rd_expr         *x, *im;
    rd_sparse_array *out;
    int32_t          n_coord; /* number of levels of the pattern; dense ones follow */
    int64_t         *parent;  /* by element: its entry in the levels so far */
    int64_t         *number;  /* work space for the entries of the next level */
    int64_t          before;  /* number of positions in the levels so far */
} storing;

/* The number of stored elements of the pattern. */
static int64_t places_of(const storing *s)
{
    return rd_values_of(s->x)->extent[0];
}

/* ---- Levels ---------------------------------------------------------------------------------- */
/* Chooses how each axis is stored (its level) if the caller did not: the first axis of the pattern
 * dense, the others compressed, as CSR is for a matrix. Axes that the pattern lacks follow, all
 * dense. rd_coord_of_axis() is the number of the pattern's coordinates along an axis, -1: it has
 * none. A pattern of one axis is compressed, as there must be a list. */
static void choose_levels(storing *s)
{
    rd_sparse_array *out   = s->out;
    const bool       asked = out->n_level > 0;

    for (int a = 0; a < s->x->rank && !asked; a++)
        if (rd_coord_of_axis(s->x, a) >= 0) {
            const bool first = out->n_level == 0 && s->n_coord > 1;

            out->level[out->n_level++] =
                (rd_stored_level){ .kind = first ? RD_LEVEL_DENSE : RD_LEVEL_COMPRESSED,
                                   .axis = a };
        }
    for (int a = 0; a < s->x->rank && out->n_level < s->x->rank; a++)
        if (rd_coord_of_axis(s->x, a) < 0)
            out->level[out->n_level++] = (rd_stored_level){ .kind = RD_LEVEL_DENSE, .axis = a };
}

/* The set of axes that the pattern must have: those whose level is compressed or coordinates, and
 * those before one. A matrix without requested levels becomes CSR, which needs both axes. Dense
 * levels at the end need no pattern. */
static uint64_t pattern_axes(const storing *s)
{
    const rd_sparse_array *out  = s->out;
    int                    last = out->n_level;
    uint64_t               axes = out->n_level == 0 && s->x->rank == 2 ? 3 : 0;

    while (last > 0 && out->level[last - 1].kind == RD_LEVEL_DENSE)
        last--;
    for (int k = 0; k < last; k++)
        if (out->level[k].axis >= 0 && out->level[k].axis < s->x->rank)
            axes |= (uint64_t)1 << out->level[k].axis;
    return axes;
}

/* Gives the pattern the axes that its levels need (see pattern_axes()); both parts of a complex
 * array get the same pattern. False after a failure. rd_sparse_along() makes a pattern with
 * these axes. */
static bool have_axes(storing *s)
{
    const uint64_t axes = pattern_axes(s);

    s->x  = rd_sparse_along(s->x, axes, call);
    s->im = s->x && s->im ? rd_sparse_along(s->im, axes, call) : s->im;
    if (!s->x || rd_error(s->ctx) != RD_OK)
        return false;
    s->n_coord = rd_coords_of(s->x);
    return true;
}

/* Records why the requested level k (the way in which one axis is stored) is not valid; returns
 * false. */
static bool refuse_level(const storing *s, int k, const char *why)
{
    rd_fail(s->ctx, RD_ERR_ARGUMENT, "%s: level %d is of axis %d and kind %d: %s", call, k,
            (int)s->out->level[k].axis, (int)s->out->level[k].kind, why);
    return false;
}

/* True if the requested levels are valid; else records why one is not. There is one level per
 * axis. The n_coord axes of the pattern come first; axes behind them are stored whole, so they are
 * dense. `seen` are the axes that have a level. The last level of the pattern is never dense,
 * and behind coordinates only coordinates follow. */
static bool levels_ok(const storing *s)
{
    const rd_sparse_array *out  = s->out;
    uint64_t               seen = 0;

    if (out->n_level != s->x->rank) {
        rd_fail(s->ctx, RD_ERR_ARGUMENT, "%s: %d levels for %d axes, there must be as many", call,
                (int)out->n_level, s->x->rank);
        return false;
    }
    for (int k = 0; k < out->n_level; k++) {
        const rd_stored_level *l    = &out->level[k];
        const bool             last = k + 1 >= s->n_coord;

        if (l->axis < 0 || l->axis >= s->x->rank || seen >> l->axis & 1)
            return refuse_level(s, k, "each axis has one level");
        seen |= (uint64_t)1 << l->axis;
        if ((unsigned)l->kind > RD_LEVEL_COORDINATES)
            return refuse_level(s, k, "kinds are those of enum rd_level_kind");
        if ((k < s->n_coord) != (rd_coord_of_axis(s->x, l->axis) >= 0))
            return refuse_level(s, k, "axes that are stored whole come last");
        if (k >= s->n_coord && l->kind != RD_LEVEL_DENSE)
            return refuse_level(s, k, "it is stored whole, so it must be dense");
        if (k < s->n_coord && last && l->kind == RD_LEVEL_DENSE)
            return refuse_level(s, k, "the last level of a pattern is compressed, or coordinates");
        if (k < s->n_coord && !last && l->kind == RD_LEVEL_COORDINATES &&
            l[1].kind != RD_LEVEL_COORDINATES)
            return refuse_level(s, k, "behind coordinates come coordinates");
    }
    return true;
}

/* ---- Index arrays ---------------------------------------------------------------------------- */
/* Element p of a leaf of int32 or int64 coordinates. */
static int64_t index_at(const rd_expr *row, int64_t p)
{
    const void *data = row->as.leaf->data;

    return row->type == RD_I32 ? ((const int32_t *)data)[p] : ((const int64_t *)data)[p];
}

/* Allocates an index array of n ints up to `most`, as int32 if they fit, else int64; false after
 * recording RD_ERR_MEMORY. */
static bool make_row(const storing *s, int64_t n, int64_t most, rd_indices *row)
{
    row->type = most <= INT32_MAX ? RD_I32 : RD_I64;
    row->n    = n;
    row->data = rd_array_memory(s->ctx, n * rd_dtype_size(row->type), &row->owner);
    if (row->data)
        return true;
    *row = (rd_indices){ 0 };
    rd_fail(s->ctx, RD_ERR_MEMORY, "%s: no memory for a row of %" PRId64 " indices", call, n);
    return false;
}

/* Stores an index as element `at` of an index array. */
static void put(const rd_indices *row, int64_t at, int64_t index)
{
    if (row->type == RD_I32)
        ((int32_t *)row->data)[at] = (int32_t)index;
    else
        ((int64_t *)row->data)[at] = index;
}

/* True if each stored element has an entry of its own at level k: it is the pattern's last level,
 * or coordinates follow. */
static bool lists_all(const storing *s, int k)
{
    return k + 1 == s->n_coord || s->out->level[k + 1].kind == RD_LEVEL_COORDINATES;
}

/* The coordinates of all stored elements along the axis of level k. */
static const rd_expr *coord_of(const storing *s, int k)
{
    return s->x->in[2 + rd_coord_of_axis(s->x, s->out->level[k].axis)];
}

/* True if stored element p begins a new entry (coordinate) at level k: its parent entry or its
 * coordinate is not that of the element before, or each element has an entry of its own. */
static bool is_new(const storing *s, int k, const rd_expr *coord, int64_t p)
{
    return p == 0 || lists_all(s, k) || s->parent[p] != s->parent[p - 1] ||
           index_at(coord, p) != index_at(coord, p - 1);
}

/* True if the stored elements behind a dense level are exactly one for each of its indices, in
 * order, as a coordinate level needs there; else records the error. */
static bool one_each(const storing *s, int k)
{
    const int64_t n   = places_of(s);
    bool          fit = n == s->before;

    for (int64_t p = 0; p < n && fit; p++)
        fit = s->parent[p] == p;
    return fit || refuse_level(s, k,
                               "behind a dense level, coordinates are one for each of its indices, "
                               "and this pattern has not one place for each; compressed levels "
                               "have any number");
}

/* Builds the index arrays of level k: crd (coordinates) and, of a compressed level, pos (where
 * each parent's entries begin, as a CSR row pointer). s->parent becomes the entry of each element,
 * for the next level. False on failure. s->before is the number of parents; pos has one begin
 * for each and the end. Parents without entries begin where the next one does. */
static bool make_entries(storing *s, int k)
{
    rd_stored_level     *l      = &s->out->level[k];
    const rd_expr *const coord  = coord_of(s, k);
    const bool           begins = l->kind == RD_LEVEL_COMPRESSED;
    const int64_t        n      = places_of(s);
    /* entries; parents that have a begin; the current entry */
    int64_t count = 0, upto = 0, entry = -1;

    if (!begins && k > 0 && l[-1].kind == RD_LEVEL_DENSE && !one_each(s, k))
        return false;
    for (int64_t p = 0; p < n; p++)
        count += is_new(s, k, coord, p);
    if (!make_row(s, count, s->x->extent[l->axis], &l->crd) ||
        (begins && !make_row(s, s->before + 1, count, &l->pos)))
        return false;
    for (int64_t p = 0; p < n; p++) {
        if (is_new(s, k, coord, p)) {
            put(&l->crd, ++entry, index_at(coord, p));
            for (; begins && upto <= s->parent[p]; upto++)
                put(&l->pos, upto, entry);
        }
        s->number[p] = entry;
    }
    for (; begins && upto <= s->before; upto++)
        put(&l->pos, upto, count);
    int64_t *const parent = s->parent;
    s->parent             = s->number;
    s->number             = parent;
    s->before             = count;
    return true;
}

/* Numbers the entries of dense level k, which has no arrays: parent times extent plus coordinate.
 * False after recording that there are too many. s->before counts the entries of the levels so
 * far, and s->parent[p] is the entry of place p; coord_of() are its coordinates. */
static bool make_dense(storing *s, int k)
{
    const int64_t extent = s->x->extent[s->out->level[k].axis], n = places_of(s);

    s->before = rd_points(2, (const int64_t[]){ s->before, extent });
    if (s->before < 0) {
        rd_fail(s->ctx, RD_ERR_SHAPE, "%s: the places of level %d are too many", call, k);
        return false;
    }
    for (int64_t p = 0; p < n; p++)
        s->parent[p] = s->parent[p] * extent + index_at(coord_of(s, k), p);
    return true;
}

/* Builds the index arrays of all levels of the pattern, from the outermost on. False on failure.
 * places_of() counts the stored places; the memory is freed here. */
static bool make_levels(storing *s)
{
    const int64_t  n    = places_of(s);
    int64_t *const room = rd_alloc(s->ctx, (2 * n + 1) * (int64_t)sizeof *room);
    bool           ok   = room != NULL;

    s->parent = room; /* zeros: one position before the first level */
    s->number = room ? room + n : NULL;
    s->before = 1; /* entries of the levels so far: one root */
    for (int k = 0; ok && k < s->n_coord; k++)
        ok = s->out->level[k].kind == RD_LEVEL_DENSE ? make_dense(s, k) : make_entries(s, k);
    rd_free(s->ctx, room);
    return ok;
}

/* ---- Elements in the order of the levels ----------------------------------------------------- */
/* Sorts the stored elements by coordinates in the order of the levels' axes, unless the pattern
 * has that order. False on failure. `as` is a pattern with the wanted order of axes; both parts
 * of a complex array take it. */
static bool order_places(storing *s)
{
    rd_expr *coord[RD_MAX_RANK];
    int64_t  axis[RD_MAX_RANK];
    bool     same = true;

    for (int k = 0; k < s->n_coord; k++) {
        axis[k]  = s->out->level[k].axis;
        coord[k] = s->x->in[2 + rd_coord_of_axis(s->x, (int)axis[k])];
        same &= axis[k] == s->x->as.sparse->axis[k];
    }
    if (same)
        return true;
    const rd_expr *as = rd_sparse_node(rd_values_of(s->x), /*fill=*/NULL, s->x->rank, s->x->extent,
                                       s->n_coord, coord, axis);
    s->x              = as ? rd_sparse_ordered(as, s->x, call) : NULL;
    s->im             = s->x && s->im ? rd_sparse_ordered(as, s->im, call) : s->im;
    return s->x && rd_error(s->ctx) == RD_OK;
}

/* ---- Values and fill ------------------------------------------------------------------------- */
/* Evaluates the values of all stored elements as one row; both parts of a complex array as complex
 * numbers. False on failure. */
static bool store_values(const storing *s)
{
    rd_expr *const values =
        s->im ? rd_complex_of(rd_values_of(s->x), rd_values_of(s->im), call) : rd_values_of(s->x);
    rd_expr *const row =
        values ? rd_reshape(values, RD_SHAPE(rd_points(values->rank, values->extent))) : NULL;

    return row && rd_eval_for(s->ctx, call, row, &s->out->values) == RD_OK;
}

/* True if the fill value is certainly 0 everywhere: a product with 0 whose other factors are all
 * finite, which is found by evaluating them, or a sum of such. rd_at() is 1 if all elements are
 * finite (a bool). */
static bool is_zero(const storing *s, rd_expr *fill)
{
    if (fill->kind == RD_EXPR_VIEW)
        return is_zero(s, fill->in[0]);
    if (fill->kind != RD_EXPR_MAP || rd_zero_of(fill) == RD_NO_ZERO)
        return false;
    if (fill->op == RD_OP_add || fill->op == RD_OP_cast)
        return is_zero(s, fill->in[0]) && (fill->n_in < 2 || is_zero(s, fill->in[1]));
    const rd_reduce_opts all = { .size = sizeof all, .dims = RD_ALL };
    rd_expr *const       one = rd_reduce_name(rd_isfinite(rd_slim(fill)), "all", &all);

    return one && rd_at(s->ctx, one, (rd_index){ 0 }) == 1;
}

/* The single fill value of a part (real or imaginary). A fill that varies along an axis is an
 * error, unless it is 0 everywhere. NULL after recording it. rd_slim() leaves out axes along
 * which the fill does not differ; what is left with extent 1 is selected. */
static rd_expr *one_fill(const storing *s, const rd_expr *part)
{
    rd_expr *fill = rd_slim(rd_fill_of(part));
    char     shape[RD_SHAPE_TEXT];

    for (int a = 0; fill && a < fill->rank; a++)
        if (fill->extent[a] > 1 && is_zero(s, fill))
            return rd_number(s->ctx, fill->type, rd_word_from_int(0, fill->type));
        else if (fill->extent[a] > 1)
            return rd_fail(s->ctx, RD_ERR_TYPE,
                           "%s: what is not stored differs from place to place, it has shape %s; "
                           "rd_stored() has what is stored, and rd_dense() all",
                           call, rd_shape_text(fill->rank, fill->extent, shape));
    while (fill && fill->rank > 0)
        fill = rd_select_place(fill, /*axis=*/0, /*place=*/0);
    return fill;
}

/* Evaluates the fill, the value of all elements that are not stored. An array without a fill
 * (`stored`) has no other elements. False on failure. one_fill() is the fill of a part as one
 * number. */
static bool store_fill(const storing *s)
{
    rd_expr *fill;

    s->out->stored = !rd_fill_of(s->x);
    if (s->out->stored || rd_points(s->x->rank, s->x->extent) == 0)
        return true;
    fill = one_fill(s, s->x);
    if (s->im && fill)
        fill = rd_complex_of(fill, one_fill(s, s->im), call);
    return fill && rd_eval_for(s->ctx, call, fill, &s->out->fill) == RD_OK;
}

/* ---- Public functions ------------------------------------------------------------------------ */
/* Frees an index row. */
static void free_row(rd_indices *row)
{
    rd_array_free(&(rd_array){ .data = row->data, .owner = row->owner });
    *row = (rd_indices){ 0 };
}

/* The public call: frees all arrays of a sparse result. */
void rd_sparse_array_free(rd_sparse_array *array)
{
    if (!array)
        return;
    for (int k = 0; k < RD_MAX_RANK; k++) {
        free_row(&array->level[k].pos);
        free_row(&array->level[k].crd);
    }
    rd_array_free(&array->values);
    rd_array_free(&array->fill);
    memset(array, 0, sizeof *array);
}

/* True if the arguments of rd_eval_sparse() are valid: a sparse expression of this context, and an
 * output without arrays, which would be lost. Else records what is wrong. */
static bool is_asked(rd_ctx *ctx, rd_expr *y, const rd_sparse_array *out)
{
    if (!y || !out)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: the %s is NULL", call, y ? "output" : "expression");
    else if (y->ctx != ctx)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: the expression is of another context", call);
    else if (!rd_is_sparse(y))
        rd_fail(ctx, RD_ERR_TYPE,
                "%s: the expression is dense (%s); rd_eval() is for these, and a mask of what is "
                "wanted for rd_nonzero()",
                call, rd_expr_kind_name(y->kind));
    else if (out->values.data || out->fill.data || out->level[0].crd.data || out->level[0].pos.data)
        rd_fail(ctx, RD_ERR_ARGUMENT,
                "%s: the output has an array already; rd_sparse_array_free() makes it empty", call);
    else if (out->n_level < 0 || out->n_level > RD_MAX_RANK)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: %d levels", call, (int)out->n_level);
    else
        return true;
    return false;
}

/* Stores levels (index arrays), values and fill of y in the output; false after recording the
 * failure. A complex y has two parts with one pattern. rd_listed() lists the places of a
 * product that has not done so yet. The steps choose levels, check them, sort the places, and
 * make arrays. */
static bool store(storing *s, rd_expr *y)
{
    const bool pair = rd_is_complex(y);

    s->x  = rd_listed(pair ? y->in[0] : y);
    s->im = pair ? y->in[1] : NULL;
    if (!s->x || !have_axes(s))
        return false;
    choose_levels(s);
    s->out->shape = rd_shape_of(y);
    if (y->origin)
        s->out->origin = rd_origin_of(y);
    return levels_ok(s) && order_places(s) && make_levels(s) && store_values(s) && store_fill(s);
}

/* The public call: evaluates a sparse array and stores it as index arrays and values.  After a
 * failure the output asks for what it asked before.  store() fills `out`, whose arrays are the
 * caller's to free; `asked` is a copy of what it asked. */
rd_status rd_eval_sparse(rd_ctx *ctx, rd_expr *y, rd_sparse_array *out)
{
    storing s = { .ctx = ctx, .out = out };

    if (!ctx || rd_error(ctx) != RD_OK)
        return ctx ? rd_error(ctx) : RD_ERR_ARGUMENT;
    if (!is_asked(ctx, y, out))
        return rd_error(ctx);
    const rd_mark         mark  = rd_ctx_mark(ctx);
    const rd_sparse_array asked = *out;

    if (!store(&s, y)) {
        rd_sparse_array_free(out);
        *out = asked;
    }
    rd_ctx_release(ctx, mark);
    return rd_error(ctx);
}

/* Makes a leaf that owns an index array from then on; NULL: there is none, or a failure. */
static rd_expr *adopt_row(rd_ctx *ctx, rd_indices *row)
{
    rd_array array = { .data  = row->data,
                       .type  = row->type,
                       .owner = row->owner,
                       .shape = { .n = 1, .at = { row->n } } };

    row->owner = NULL;
    return array.data ? rd_adopt(ctx, &array) : NULL;
}

/* The public call: makes a sparse leaf that owns the arrays. Rows and values belong to the leaf
 * from then on; `trusted` spares the checks, as rd_eval_sparse() made them. */
rd_expr *rd_adopt_sparse(rd_ctx *ctx, rd_sparse_array *array)
{
    rd_level       level[RD_MAX_RANK];
    rd_sparse_opts opts = { .size = sizeof opts, .trusted = true };

    if (!ctx || !array || array->n_level < 1 || array->n_level > RD_MAX_RANK)
        return ctx ? rd_fail(ctx, RD_ERR_ARGUMENT,
                             "rd_adopt_sparse: there is no array that rd_eval_sparse() has filled")
                   : NULL;
    for (int k = 0; k < array->n_level; k++)
        level[k] = (rd_level){ .kind = array->level[k].kind,
                               .axis = array->level[k].axis,
                               .pos  = adopt_row(ctx, &array->level[k].pos),
                               .crd  = adopt_row(ctx, &array->level[k].crd) };
    opts.shape  = array->shape;
    opts.levels = (rd_levels){ level, array->n_level };
    opts.values = rd_adopt(ctx, &array->values);
    opts.fill   = array->fill.data ? rd_adopt(ctx, &array->fill) : NULL;
    opts.stored = array->stored;
    opts.origin = array->origin;
    return opts.values ? rd_sparse_of(ctx, &opts) : NULL;
}
