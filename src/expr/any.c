/* any.c - views and conversions of operands of any kind: plain (real and dense), sparse, or
 * complex.  An operand is *weak* if it is a number without a type of its own: it takes the type of
 * the operands beside it.
 *
 * Words. The origin of an axis is its first index, 0 unless the caller says another. */
#include "expr/complex.h"
#include "expr/plain.h"
#include "expr/sparse.h"

/* ---- Views ----------------------------------------------------------------------------------- */
/* Makes the view of x with these extents, numbers (offsets, then coefficients) and origins (first
 * indices of axes; NULL: all 0).  The parts of a complex x are viewed separately. */
rd_expr *rd_view(rd_expr *x, int rank, const int64_t *extent, const int64_t *number,
                 const int64_t *origin)
{
    if (!x)
        return NULL;
    return rd_is_complex(x) ? rd_complex_view(x, rank, extent, number, origin)
                            : rd_real_view(x, rank, extent, number, origin);
}

/* Makes the view that v describes as a node.  NULL after recording for `call` that it is too
 * large. */
rd_expr *rd_affine_view(rd_expr *x, const rd_affine *v, const char *call)
{
    int64_t number[RD_VIEW_NUMBERS];

    return rd_affine_numbers(v, x, call, number) ? rd_view(x, v->rank, v->extent, number, v->origin)
                                                 : NULL;
}

/* Broadcasts x to a shape, or returns x if it has that shape.  NULL after recording for `call` that
 * it does not fit. */
rd_expr *rd_broadcast_to(rd_expr *x, int rank, const int64_t *extent, const char *call)
{
    int64_t number[RD_VIEW_NUMBERS], origin[RD_MAX_RANK];

    if (!x || rd_has_shape(x, rank, extent))
        return x;
    return rd_broadcast_numbers(x, rank, extent, call, number, origin)
               ? rd_view(x, rank, extent, number, origin)
               : NULL;
}

/* Makes x whose axes begin at these indices (origins); NULL: all at 0.  Returns x if it has them
 * already. */
rd_expr *rd_with_origins(rd_expr *x, const int64_t *origin)
{
    rd_affine v;

    return x && rd_affine_from(&v, x, origin) ? rd_affine_view(x, &v, "rd_reindex") : x;
}

/* Replaces all operands by ones whose axes begin at index 0; those that are NULL stay NULL.  False
 * after a failure. */
bool rd_from_0(int n, rd_expr **x)
{
    bool ok = true;

    for (int k = 0; k < n; k++)
        if (x[k])
            ok &= (x[k] = rd_with_origins(x[k], /*origin=*/NULL)) != NULL;
    return ok;
}

/* ---- Conversions ----------------------------------------------------------------------------- */
/* Casts x to a type.  A weak number (a plain constant, which takes the type of operands beside it)
 * becomes strong, even if it has the type.  Otherwise an x of the type is returned as it is. */
rd_expr *rd_cast_to(rd_expr *x, rd_dtype type)
{
    if (!x || (x->type == type && !rd_is_weak(x)))
        return x;
    return rd_is_complex(x) || rd_dtype_is_complex(type) ? rd_complex_cast(x, type)
                                                         : rd_real_cast(x, type);
}

/* Casts x to a type, but refuses for `call` a weak int (a plain constant) that the type cannot
 * hold. */
rd_expr *rd_fit_to(rd_expr *x, rd_dtype type, const char *call)
{
    return x && rd_fits(x, type, call) ? rd_cast_to(x, type) : NULL;
}

/* Casts x to the float type `real`.  A weak real number (a plain constant) becomes a weak float, so
 * that other operands still decide its type. */
rd_expr *rd_as_real(rd_expr *x, rd_dtype real)
{
    return x && rd_is_weak(x) && !rd_is_complex(x)
               ? rd_num(x->ctx, rd_word_to_double(x->as.number->value, x->type))
               : rd_cast_to(x, real);
}

/* Casts x to a type: the public call, which checks the operand and the type. */
rd_expr *rd_cast(rd_expr *x, rd_dtype type)
{
    if (!rd_operands("rd_cast", 1, &x))
        return NULL;
    if (!rd_dtype_ok(type))
        return rd_fail(x->ctx, RD_ERR_TYPE, "rd_cast: %s is not a type of this release",
                       rd_dtype_name(type));
    return rd_cast_to(x, type);
}
