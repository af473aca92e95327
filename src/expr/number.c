/* number.c - constants, and the places along an axis as an expression.
 *
 * Words. A weak number takes the type of the operands beside it; a strong one keeps its own. */
#include "expr/origin.h"

/* Makes the NUMBER node of a constant.  A weak one takes the type of the operands beside it, a
 * strong one keeps its own. */
static rd_expr *number_node(rd_ctx *ctx, rd_dtype type, bool weak, rd_word value)
{
    rd_number_facts facts = { .value = { .u64 = 0 } };

    /* The class f32 leaves half of the word undefined, so only the member f32 is copied. */
    if (rd_dtype_class(type) == RD_CLASS_f32)
        facts.value.f32 = value.f32;
    else
        facts.value = value;
    return rd_node(&(rd_expr){ .ctx = ctx, .kind = RD_EXPR_NUMBER, .type = type, .weak = weak },
                   &facts, sizeof facts);
}

/* Makes a strong constant, which keeps its type beside other operands. */
rd_expr *rd_number(rd_ctx *ctx, rd_dtype type, rd_word value)
{
    return number_node(ctx, type, /*weak=*/false, value);
}

/* Makes a weak float, which takes the type of the float operands beside it. */
rd_expr *rd_num(rd_ctx *ctx, double value)
{
    return ctx ? number_node(ctx, RD_F64, /*weak=*/true, (rd_word){ .f64 = value }) : NULL;
}

/* Makes a weak int, which takes the type of the operands beside it. */
rd_expr *rd_int(rd_ctx *ctx, int64_t value)
{
    return ctx ? number_node(ctx, RD_I64, /*weak=*/true, (rd_word){ .i64 = value }) : NULL;
}

/* Makes the COORD node: positions 0, 1, ...  (not indices) along an axis of x, and extent 1 along
 * the others. */
rd_expr *rd_places(rd_expr *x, int axis)
{
    int64_t       extent[RD_MAX_RANK], origin[RD_MAX_RANK] = { 0 };
    rd_axis_facts facts = { 0 };
    int           found;

    if (!rd_operands("rd_coord", 1, &x) || (found = rd_axis(x, axis, "rd_coord")) < 0)
        return NULL;
    for (int a = 0; a < x->rank; a++)
        extent[a] = a == found ? x->extent[a] : 1;
    facts.axis    = found;
    origin[found] = rd_origin(x, found);
    return rd_node(&(rd_expr){ .ctx    = x->ctx,
                               .kind   = RD_EXPR_COORD,
                               .type   = RD_I64,
                               .rank   = x->rank,
                               .extent = extent,
                               .origin = origin[found] ? origin : NULL },
                   &facts, sizeof facts);
}
