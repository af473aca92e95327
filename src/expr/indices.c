/* indices.c - calls that take or give indices of an axis, which begin at its origin. */
#include "expr/maps.h"
#include "expr/origin.h"

/* Lets the axes of x begin at other indices, `first`; no element moves. */
rd_expr *rd_reindex(rd_expr *x, rd_index first)
{
    static const char call[] = "rd_reindex";

    if (!rd_operands(call, 1, &x) || !rd_origin_ok(x->ctx, call, &first, x->rank))
        return NULL;
    return rd_with_origins(x, first.at);
}

/* Converts indices of an axis to positions from 0, by subtracting its first index (origin).  If
 * that is 0, they stay as they are.  Otherwise they become u64, so that an index below the origin
 * is a huge position, which is outside. */
rd_expr *rd_places_of(const char *call, const rd_expr *x, int axis, rd_expr *index)
{
    const rd_kind kind  = rd_dtype_kind(index->type);
    const int64_t first = rd_origin(x, axis);

    if (!first || (kind != RD_KIND_INT && kind != RD_KIND_UINT)) /* other types are refused later */
        return index;
    if (index->type == RD_U64) /* clamped: an index beyond int64_t is outside, not negative */
        index = map_2(RD_OP_minimum, call, index, rd_cast_to(rd_int(x->ctx, INT64_MAX), RD_U64));
    index = map_2(RD_OP_sub, call, rd_cast_to(index, RD_I64), rd_int(x->ctx, first));
    return rd_cast_to(index, RD_U64);
}

/* Resolves the axis, converts the indices to positions from 0, and gathers by the function
 * `take`. */
static rd_expr *gather(const char *call, rd_expr *x, int axis, rd_expr *index,
                       rd_expr *take(rd_expr *, int, rd_expr *))
{
    int a;

    if (!rd_operands(call, 2, (rd_expr *[]){ x, index }) || (a = rd_axis(x, axis, call)) < 0)
        return NULL;
    return take(x, a, rd_places_of(call, x, a, index));
}

/* Gathers elements at indices along an axis; the axes of the index replace the axis. */
rd_expr *rd_take(rd_expr *x, int axis, rd_expr *index)
{
    return gather("rd_take", x, axis, index, rd_take_places);
}

/* Gathers elements at indices along an axis; the index has x's rank and says for each row which
 * elements to take. */
rd_expr *rd_take_along(rd_expr *x, int axis, rd_expr *index)
{
    return gather("rd_take_along", x, axis, index, rd_take_places_along);
}

/* The index along an axis as an expression: i64, with extent 1 along all other axes. */
rd_expr *rd_coord(rd_expr *x, int axis)
{
    int      a;
    rd_expr *places;

    if (!rd_operands("rd_coord", 1, &x) || (a = rd_axis(x, axis, "rd_coord")) < 0)
        return NULL;
    places = rd_places(x, a);
    return rd_indices_of(places, x, a);
}

/* Converts positions along an axis of x to its indices, by adding its origin. x NULL: they stay as
 * they are. */
rd_expr *rd_indices_of(rd_expr *places, const rd_expr *x, int axis)
{
    const int64_t first = x ? rd_origin(x, axis) : 0;

    return first ? rd_add(places, rd_int(x->ctx, first)) : places;
}
