/* fill.c - replaces each NaN by the last number before it, or by the next one.
 *
 *     i = scan max of (isnan x ? -1 : position)     y = x gathered at i */
#include "expr/complex.h"
#include "expr/maps.h"
#include "expr/origin.h"

/* True if elements of x's type can be NaN: a float, or a complex number. */
static bool has_nan(const rd_expr *x)
{
    return rd_is_complex(x) || rd_dtype_kind(x->type) == RD_KIND_FLOAT;
}

/* Replaces each NaN by the last element before it that is none: a running maximum of positions of
 * numbers, and a gather there.  Where there is none yet (-1) it gathers the first element, which is
 * then NaN itself.  A gap is filled for at most `limit` elements; 0: always. */
static rd_expr *gather_last(const char *call, rd_expr *x, int axis, int64_t limit)
{
    rd_ctx *const  ctx  = x->ctx;
    rd_expr *const nan  = map_1(RD_OP_isnan, call, x);
    rd_expr *const at   = rd_places(x, axis);
    rd_expr *const seen = map_where(call, nan, rd_int(ctx, -1), at);
    rd_expr *const last = seen ? rd_scan(seen, "max", RD_DIMS(axis)) : NULL;
    rd_expr *const from = map_2(RD_OP_maximum, call, last, rd_int(ctx, 0));
    rd_expr *const y    = from ? rd_take_places_along(x, axis, from) : NULL;

    if (limit == 0) /* a map of x, so that rd_axis_source() finds where the axis comes from */
        return map_where(call, nan, y, x);
    return map_where(
        call, map_2(RD_OP_gt, call, map_2(RD_OP_sub, call, at, last), rd_int(ctx, limit)), x, y);
}

/* Fills NaN forward along an axis, or backward by filling the flipped axis (`back`), for at most
 * `limit` elements of a gap; 0: all. */
static rd_expr *fill(const char *call, rd_expr *x, int axis, int64_t limit, bool back)
{
    rd_expr *y;
    int      a;

    if (!rd_operands(call, 1, &x) || (a = rd_axis(x, axis, call)) < 0)
        return NULL;
    if (limit < 0)
        return rd_fail(x->ctx, RD_ERR_ARGUMENT, "%s: a limit of %lld", call, (long long)limit);
    if (!has_nan(x) || x->extent[a] == 0)
        return x;
    y = rd_with_origins(rd_cast_to(x, x->type), /*origin=*/NULL);
    y = y && back ? rd_flip(y, RD_DIMS(a)) : y;
    y = y ? gather_last(call, y, a, limit) : NULL;
    y = y && back ? rd_flip(y, RD_DIMS(a)) : y;
    return y ? rd_with_origins(y, x->origin) : NULL;
}

/* Replaces NaN by the last element before it along an axis, for at most `limit` elements of a gap;
 * 0: all. */
rd_expr *rd_ffill(rd_expr *x, int axis, int64_t limit)
{
    return fill("rd_ffill", x, axis, limit, /*back=*/false);
}

/* Replaces NaN by the next element behind it along an axis, for at most `limit` elements of a gap;
 * 0: all. */
rd_expr *rd_bfill(rd_expr *x, int axis, int64_t limit)
{
    return fill("rd_bfill", x, axis, limit, /*back=*/true);
}
