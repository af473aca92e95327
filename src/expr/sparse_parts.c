/* sparse_parts.c - public calls for the parts of sparse expressions, and rd_dense().
 *
 * Words. The origin of an axis is its first index, 0 unless the caller says another. The fill of a
 * sparse array is its value where nothing is stored. */
#include "expr/complex.h"
#include "expr/origin.h"
#include "expr/sparse.h"

/* Makes x dense; a complex x part by part. */
rd_expr *rd_dense(rd_expr *x)
{
    if (!rd_operands("rd_dense", 1, &x))
        return NULL;
    if (rd_is_complex(x) && rd_is_sparse(x))
        return rd_complex_of(rd_real_dense(x->in[0]), rd_real_dense(x->in[1]), "rd_dense");
    return rd_real_dense(x);
}

/* True if x is sparse, also if it is complex or a product that is not listed yet. */
bool rd_is_sparse(const rd_expr *x)
{
    return x && (rd_has_pattern(x) || rd_is_later(x) ||
                 (rd_is_complex(x) && (rd_has_pattern(x->in[0]) || rd_has_pattern(x->in[1]))));
}

/* True if the operand *at is sparse and real.  A product that is computed on demand is computed
 * first, and *at replaced.  False after recording what is wrong. */
static bool is_sparse_for(const char *call, rd_expr **at)
{
    if (!rd_operands(call, 1, at))
        return false;
    rd_expr *const x = *at = rd_listed(*at);
    if (!x)
        return false;
    if (!rd_has_pattern(x))
        rd_fail(x->ctx, RD_ERR_TYPE, "%s: the operand is %s, and no sparse one of real numbers",
                call, rd_expr_kind_name(x->kind));
    return rd_has_pattern(x);
}

/* The values at the stored positions (nonzeros), along a new first axis.  Axes that have no
 * coordinates follow it, with x's origins (first indices). */
rd_expr *rd_stored(rd_expr *x)
{
    int64_t origin[RD_MAX_RANK] = { 0 };
    int     n                   = 1; /* axes of the result so far */

    if (!is_sparse_for("rd_stored", &x))
        return NULL;
    for (int a = 0; a < x->rank; a++)
        if (rd_coord_of_axis(x, a) < 0)
            origin[n++] = rd_origin(x, a);
    return rd_with_origins(rd_values_of(x), origin);
}

/* The index along an axis of each stored position (nonzero), counted from x's origin there. */
rd_expr *rd_stored_at(rd_expr *x, int axis)
{
    static const char call[] = "rd_stored_at";
    int               found, k;

    if (!is_sparse_for(call, &x) || (found = rd_axis(x, axis, call)) < 0)
        return NULL;
    if ((k = rd_coord_of_axis(x, found)) < 0)
        return rd_fail(x->ctx, RD_ERR_AXIS, "%s: all of axis %d is stored, the pattern lacks it",
                       call, axis);
    return rd_indices_of(x->in[2 + k], x, found);
}

/* Makes x with other values at its stored positions; the fill (the value elsewhere) is cast to
 * their type. */
rd_expr *rd_stored_as(rd_expr *x, rd_expr *values)
{
    static const char call[] = "rd_stored_as";

    if (!is_sparse_for(call, &x) || !rd_operands(call, 2, (rd_expr *const[]){ x, values }))
        return NULL;
    const rd_expr *const old = rd_values_of(x);
    if (rd_is_sparse(values) || rd_is_complex(values))
        return rd_fail(x->ctx, RD_ERR_TYPE, "%s: values are %s, they must be dense and real", call,
                       rd_expr_kind_name(values->kind));
    rd_expr *const stored = rd_stored(x);
    if (!stored || !rd_ranges_meet(call, 2, (rd_expr *const[]){ stored, values }))
        return NULL;
    /* A cast to its own type makes a weak number strong. */
    values = rd_with_origins(rd_cast_to(values, values->type), /*origin=*/NULL);
    values = values ? rd_broadcast_to(values, old->rank, old->extent, call) : NULL;
    return values ? rd_sparse_with(x, values, rd_cast_to(rd_fill_of(x), values->type)) : NULL;
}
