/* arrange.c - arrays made of other arrays by views, concatenations and maps: padding, repeats,
 * stacks, grids, triangles, differences, Kronecker products.
 *
 *     rd_roll(x, axis, 1)  ->  concat(axis, x[-1:], x[:-1]) */
#include "expr/lists.h"
#include "expr/maps.h"
#include "expr/origin.h"
#include <string.h>

/* The slice start:stop of one axis, by positions. */
static rd_expr *slice(rd_expr *x, int axis, int64_t start, int64_t stop)
{
    return rd_slice_places(x, axis, start, stop, /*step=*/1);
}

/* Broadcasts x along an axis of extent 1. */
static rd_expr *broadcast_axis(rd_expr *x, int axis, int64_t extent)
{
    rd_shape shape = rd_shape_of(x);

    if (!x)
        return NULL;
    shape.at[axis] = extent;
    return rd_broadcast(x, shape);
}

/* ---- Borders --------------------------------------------------------------------------------- */
/* Maps index i, which lies outside an axis of n elements, to the index of the element that the
 * padding repeats there.  `mode`: the edge, the axis again (wrap), or mirrored with its end once
 * (reflect) or twice (symmetric). */
static rd_expr *pad_index(const char *call, rd_pad_mode mode, rd_expr *i, int64_t n)
{
    rd_ctx *ctx = i ? i->ctx : NULL;

    if (mode == RD_PAD_EDGE)
        return rd_clip(i, rd_int(ctx, 0), rd_int(ctx, n - 1));
    if (mode == RD_PAD_WRAP)
        return map_2(RD_OP_remainder, call, i, rd_int(ctx, n));
    /* A triangle wave: indices of three elements continue as 0 1 2 1 with reflection (period 4),
     * or as 0 1 2 2 1 0 with symmetry (period 6). */
    const int64_t end_repeats = mode == RD_PAD_REFLECT ? 0 : 1;
    const int64_t period      = n > 1 || end_repeats ? 2 * (n - 1) + 2 * end_repeats : 1;
    rd_expr      *at          = map_2(RD_OP_remainder, call, i, rd_int(ctx, period));

    return map_2(RD_OP_minimum, call, at,
                 map_2(RD_OP_sub, call, rd_int(ctx, period - end_repeats), at));
}

/* True if padding of `extent` elements beside an axis of n can be a view: one element broadcast
 * (edge), or a slice that repeats no element. */
static bool is_padding_view(int64_t extent, int64_t n, rd_pad_mode mode)
{
    return mode == RD_PAD_EDGE || extent + (mode == RD_PAD_REFLECT) < n;
}

/* Makes padding of `extent` elements in front of x, or behind it, as a view of x: the edge
 * broadcast, a slice of the other end (wrap), or a flipped slice of this end.  With RD_PAD_REFLECT
 * that leaves out the end itself (`skipped` is 1). */
static rd_expr *view_as_padding(rd_expr *x, int axis, bool front, int64_t extent, rd_pad_mode mode)
{
    const int64_t n = x->extent[axis], skipped = mode == RD_PAD_REFLECT;

    if (mode == RD_PAD_EDGE)
        return broadcast_axis(front ? slice(x, axis, 0, 1) : slice(x, axis, n - 1, n), axis,
                              extent);
    if (mode == RD_PAD_WRAP)
        return front ? slice(x, axis, n - extent, n) : slice(x, axis, 0, extent);
    return rd_flip(front ? slice(x, axis, skipped, skipped + extent)
                         : slice(x, axis, n - skipped - extent, n - skipped),
                   RD_DIMS(axis));
}

/* Makes `extent` elements of padding along an axis; the first continues the axis at index `start`
 * (negative: in front).  A constant (`value`) is broadcast; other modes are views of x, or gather
 * elements of it. */
static rd_expr *make_padding(const char *call, rd_expr *x, int axis, int64_t start, int64_t extent,
                             rd_pad_mode mode, rd_expr *value)
{
    /* The constant; for other modes only an array of the padding's extent, for its indices. */
    rd_expr *y = broadcast_axis(
        mode == RD_PAD_CONSTANT ? slice(value, axis, 0, 1) : slice(x, axis, 0, 1), axis, extent);
    rd_expr *i;

    if (mode == RD_PAD_CONSTANT || !x || !y)
        return y;
    if (is_padding_view(extent, x->extent[axis], mode))
        return view_as_padding(x, axis, start < 0, extent, mode);
    i = rd_reshape(rd_places(y, axis), RD_SHAPE(extent));
    i = map_2(RD_OP_add, call, i, rd_int(y->ctx, start));
    return rd_take_places(x, axis, pad_index(call, mode, i, x->extent[axis]));
}

/* Casts the constant `value` (NULL: 0) to x's type and broadcasts it to x's shape, with extent 1
 * along the axis. */
static rd_expr *padding_value(const char *call, rd_expr *x, int axis, rd_expr *value)
{
    rd_shape shape = rd_shape_of(x);

    shape.at[axis] = 1;
    value          = rd_fit_to(value ? value : rd_int(x->ctx, 0), x->type, call);
    return value ? rd_broadcast_to(value, shape.n, shape.at, call) : NULL;
}

/* Pads one axis by `before` and `after` elements: concatenates padding, x and padding.  `value` is
 * for RD_PAD_CONSTANT; NULL: 0. */
rd_expr *rd_pad(rd_expr *x, int axis, int64_t before, int64_t after, rd_pad_mode mode,
                rd_expr *value)
{
    static const char call[] = "rd_pad";
    rd_expr          *all[3];
    int               found, n = 0;
    char              text[RD_SHAPE_TEXT];

    if (!rd_operands(call, 1, &x) || (value && !rd_operands(call, 2, (rd_expr *[]){ x, value })) ||
        (found = rd_axis(x, axis, call)) < 0)
        return NULL;
    if (before < 0 || after < 0 || mode < RD_PAD_CONSTANT || mode > RD_PAD_WRAP)
        return rd_fail(x->ctx, RD_ERR_ARGUMENT,
                       "%s: %lld elements before, %lld after, mode %d: none may be negative, and "
                       "modes end with RD_PAD_WRAP",
                       call, (long long)before, (long long)after, (int)mode);
    if (mode != RD_PAD_CONSTANT && x->extent[found] == 0 && (before || after))
        return rd_fail(x->ctx, RD_ERR_SHAPE,
                       "%s: axis %d of shape %s has no element to repeat, say RD_PAD_CONSTANT",
                       call, found, rd_shape_text(x->rank, x->extent, text));
    x = rd_cast_to(x, x->type);
    if (x && mode == RD_PAD_CONSTANT && !(value = padding_value(call, x, found, value)))
        return NULL;
    if (before)
        all[n++] = make_padding(call, x, found, -before, before, mode, value);
    all[n++] = x;
    if (after)
        all[n++] = make_padding(call, x, found, x ? x->extent[found] : 0, after, mode, value);
    return rd_concat(found, (rd_exprs){ all, n });
}

/* Moves elements by `shift` positions along an axis; those that leave at the end come in at the
 * begin.  It concatenates two slices, and `first` is the position of the element that becomes the
 * first. */
rd_expr *rd_roll(rd_expr *x, int axis, int64_t shift)
{
    int found;

    if (!rd_operands("rd_roll", 1, &x) || (found = rd_axis(x, axis, "rd_roll")) < 0)
        return NULL;
    const int64_t n = x->extent[found], first = n ? (n - shift % n) % n : 0;
    if (first == 0)
        return x;
    return rd_concat(found, RD_EXPRS(slice(x, found, first, n), slice(x, found, 0, first)));
}

/* ---- Copies ---------------------------------------------------------------------------------- */
/* True if a number of repeats is not negative.  False after recording it for `call`. */
static bool check_times(const char *call, const rd_expr *x, int64_t times)
{
    if (times >= 0)
        return true;
    rd_fail(x->ctx, RD_ERR_ARGUMENT, "%s: %lld times", call, (long long)times);
    return false;
}

/* Repeats x along an axis: each element `times` times (`each`), or the whole axis again.  It
 * inserts a broadcast axis behind or before this axis and merges both. */
static rd_expr *repeat_axis(const char *call, rd_expr *x, int axis, int64_t times, bool each)
{
    rd_shape shape = rd_shape_of(x);
    char     text[RD_SHAPE_TEXT];

    if (!x || times == 1)
        return x;
    if (__builtin_mul_overflow(shape.at[axis], times, &shape.at[axis]) ||
        rd_points(shape.n, shape.at) < 0)
        return rd_fail(x->ctx, RD_ERR_SHAPE, "%s: shape %s %lld times along axis %d overflows",
                       call, rd_shape_text(x->rank, x->extent, text), (long long)times, axis);
    const int place = each ? axis + 1 : axis;

    return rd_reshape(broadcast_axis(rd_expand(x, place), place, times), shape);
}

/* Repeats each element `times` times along an axis. */
rd_expr *rd_repeat(rd_expr *x, int axis, int64_t times)
{
    int found;

    if (!rd_operands("rd_repeat", 1, &x) || (found = rd_axis(x, axis, "rd_repeat")) < 0 ||
        !check_times("rd_repeat", x, times))
        return NULL;
    return repeat_axis("rd_repeat", x, found, times, /*each=*/true);
}

/* Repeats x as a whole along each axis, times.at[a] times.  The list is for the last axes of x; if
 * x has fewer axes, it gets leading ones. */
rd_expr *rd_tile(rd_expr *x, rd_shape times)
{
    if (!rd_operands("rd_tile", 1, &x))
        return NULL;
    if (times.n < 0 || times.n > RD_MAX_RANK)
        return rd_fail(x->ctx, RD_ERR_SHAPE, "rd_tile: %d axes, possible are 0 to %d", (int)times.n,
                       RD_MAX_RANK);
    while (x && x->rank < times.n)
        x = rd_expand(x, 0);
    for (int a = 0; x && a < times.n; a++) {
        if (!check_times("rd_tile", x, times.at[a]))
            return NULL;
        x = repeat_axis("rd_tile", x, x->rank - times.n + a, times.at[a], /*each=*/false);
    }
    return x;
}

/* ---- Lists ----------------------------------------------------------------------------------- */
/* Joins parts of one shape along a new axis: each part gets the axis with extent 1, then they are
 * concatenated. */
rd_expr *rd_stack(int axis, rd_exprs parts)
{
    rd_expr **wider;
    rd_expr  *y = NULL;
    bool      ok;

    if (!rd_list_ok(/*ctx=*/NULL, "rd_stack", "parts", parts.at, parts.n, /*least=*/1) ||
        !rd_operands("rd_stack", parts.n, parts.at))
        return NULL;
    rd_ctx *ctx = parts.at[0]->ctx;
    if (!(wider = rd_alloc(ctx, (int64_t)sizeof *wider * parts.n)))
        return NULL;
    ok = true;
    for (int k = 0; ok && k < parts.n; k++)
        ok = (wider[k] = rd_expand(parts.at[k], axis)) != NULL;
    if (ok)
        y = rd_concat(axis, (rd_exprs){ wider, parts.n });
    rd_free(ctx, wider);
    return y;
}

/* Splits an axis into n parts with extents that differ by at most one, longer ones first: 7 in 3 is
 * 3, 2, 2.  It fills in `parts`; NULL for each part that failed, and false then. */
bool rd_split(rd_expr *x, int axis, int32_t n, rd_expr **parts)
{
    int  found;
    bool ok = true;

    for (int k = 0; parts && k < n; k++)
        parts[k] = NULL;
    if (!rd_operands("rd_split", 1, &x) || (found = rd_axis(x, axis, "rd_split")) < 0)
        return false;
    if (n < 1) {
        rd_fail(x->ctx, RD_ERR_ARGUMENT, "rd_split: %d parts, at least 1 is needed", (int)n);
        return false;
    }
    if (!rd_list_ok(x->ctx, "rd_split", "parts", parts, n, 1))
        return false;
    const int64_t each = x->extent[found] / n, more = x->extent[found] % n;
    for (int64_t k = 0, start = 0; k < n; k++) {
        const int64_t stop = start + each + (k < more);

        ok &= (parts[k] = slice(x, found, start, stop)) != NULL;
        start = stop;
    }
    return ok;
}

/* Makes the coordinate grids of n rows: reshapes each row along its own axis and broadcasts it to
 * the shape of all.  False after a failure. */
bool rd_meshgrid(rd_exprs in, rd_expr **grids)
{
    rd_shape shape = { .n = in.n };
    bool     ok    = true;

    /* Without a list the count may be arbitrary, so at most RD_MAX_RANK entries are cleared. */
    for (int k = 0; grids && k < in.n && (in.at || k < RD_MAX_RANK); k++)
        grids[k] = NULL;
    if (!rd_list_ok(NULL, "rd_meshgrid", "rows", in.at, in.n, 1) ||
        !rd_operands("rd_meshgrid", in.n, in.at) ||
        !rd_list_ok(in.at[0]->ctx, "rd_meshgrid", "grids", grids, in.n, 1))
        return false;
    for (int k = 0; k < in.n; k++) {
        if (in.n > RD_MAX_RANK || in.at[k]->rank > 1) {
            rd_fail(in.at[k]->ctx, RD_ERR_SHAPE,
                    "rd_meshgrid: operand %d of %d has rank %d; rows of numbers are taken, up to "
                    "%d",
                    k, (int)in.n, in.at[k]->rank, RD_MAX_RANK);
            return false;
        }
        shape.at[k] = in.at[k]->rank ? in.at[k]->extent[0] : 1;
    }
    for (int k = 0; k < in.n; k++) {
        rd_shape own = { .n = in.n };

        for (int a = 0; a < in.n; a++)
            own.at[a] = a == k ? shape.at[a] : 1;
        ok &= (grids[k] = rd_broadcast(rd_reshape(in.at[k], own), shape)) != NULL;
    }
    return ok;
}

/* ---- Matrices -------------------------------------------------------------------------------- */
/* Keeps elements where (column - row) compares true with k, in the last two axes; others become
 * 0. */
static rd_expr *triangle(const char *call, rd_op compares, rd_expr *x, int64_t k)
{
    char text[RD_SHAPE_TEXT];

    if (!rd_operands(call, 1, &x))
        return NULL;
    if (x->rank < 2)
        return rd_fail(x->ctx, RD_ERR_SHAPE, "%s: shape %s is no matrix", call,
                       rd_shape_text(x->rank, x->extent, text));
    rd_expr *right = map_2(RD_OP_sub, call, rd_places(x, -1), rd_places(x, -2));
    rd_expr *keeps = map_2(compares, call, right, rd_int(x->ctx, k));
    rd_expr *zero  = rd_fit_to(rd_int(x->ctx, 0), x->type, call); /* bools stay bools */

    return rd_map_op(RD_OP_where, call, 3, (rd_expr *const[]){ keeps, x, zero });
}

/* Keeps the elements on and below diagonal k of each matrix; others become 0. */
rd_expr *rd_tril(rd_expr *x, int64_t k)
{
    return triangle("rd_tril", RD_OP_le, x, k);
}

/* Keeps the elements on and above diagonal k of each matrix; others become 0. */
rd_expr *rd_triu(rd_expr *x, int64_t k)
{
    return triangle("rd_triu", RD_OP_ge, x, k);
}

/* Makes an n x m matrix of ones on and below diagonal k, and zeros above it. */
rd_expr *rd_tri(rd_ctx *ctx, int64_t n, int64_t m, int64_t k, rd_dtype type)
{
    return rd_tril(rd_broadcast(rd_cast(rd_int(ctx, 1), type), RD_SHAPE(n, m)), k);
}

/* Gives x `rank` axes by leading ones of extent 1, then adds an axis of extent 1 after each axis,
 * or before each: (3, 4) becomes (3, 1, 4, 1) or (1, 3, 1, 4). */
static rd_expr *interleave_axes(rd_expr *x, int rank, bool after)
{
    while (x && x->rank < rank)
        x = rd_expand(x, 0);
    for (int a = 0; x && a < rank; a++)
        x = rd_expand(x, 2 * a + after);
    return x;
}

/* Kronecker product: multiplies all pairs of elements, then merges each two axes into one. */
rd_expr *rd_kron(rd_expr *x, rd_expr *y)
{
    rd_expr *const operands[] = { x, y };
    rd_shape       shape;

    if (!rd_operands("rd_kron", 2, operands))
        return NULL;
    const int rank = x->rank > y->rank ? x->rank : y->rank;
    if (2 * rank > RD_MAX_RANK)
        return rd_fail(x->ctx, RD_ERR_SHAPE, "rd_kron: rank %d, at most %d is possible", rank,
                       RD_MAX_RANK / 2);
    rd_expr *products = map_2(RD_OP_mul, "rd_kron", interleave_axes(x, rank, /*after=*/true),
                              interleave_axes(y, rank, /*after=*/false));
    if (!products)
        return NULL;
    shape = (rd_shape){ .n = rank };
    for (int a = 0; a < rank; a++)
        shape.at[a] = products->extent[2 * a] * products->extent[2 * a + 1];
    return rd_reshape(products, shape);
}

/* Subtracts adjacent elements along an axis, n times; for bools the result says whether they
 * differ. */
rd_expr *rd_diff(rd_expr *x, int axis, int32_t n)
{
    static const char call[] = "rd_diff";
    int               found;

    if (!rd_operands(call, 1, &x) || (found = rd_axis(x, axis, call)) < 0)
        return NULL;
    if (n < 0)
        return rd_fail(x->ctx, RD_ERR_ARGUMENT, "%s: %d times", call, (int)n);
    for (; x && n > 0; n--) {
        const rd_op op = x->type == RD_BOOL ? RD_OP_ne : RD_OP_sub;

        x = map_2(op, call, slice(x, found, 1, RD_OPEN), slice(x, found, 0, -1));
    }
    return x;
}
