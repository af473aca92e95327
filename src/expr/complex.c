/* complex.c - complex expressions as pairs of real ones: nodes, views, casts, parts.  A *part* is
 * the real or the imaginary one; in[0] and in[1] of a COMPLEX node are its parts.
 *
 * Words. The origin of an axis is its first index, 0 unless the caller says another. */
#include "expr/complex.h"
#include "expr/origin.h"
#include "expr/sparse.h"

/* ---- Nodes ----------------------------------------------------------------------------------- */
/* True if any of the operands is complex; operands may be NULL. */
bool rd_any_complex(int n, rd_expr *const *x)
{
    for (int k = 0; k < n; k++)
        if (x[k] && rd_is_complex(x[k]))
            return true;
    return false;
}

/* Makes the node re + i im.  Both parts get one type, one shape, the same origins (first indices of
 * axes), and one pattern of stored positions if either is sparse.  NULL if a part is NULL, or after
 * recording for `call` that the shapes do not fit. */
rd_expr *rd_complex_of(rd_expr *re, rd_expr *im, const char *call)
{
    rd_expr *in[] = { re, im };
    int      rank;
    int64_t  extent[RD_MAX_RANK], origin[RD_MAX_RANK];

    if (!re || !im)
        return NULL;
    /* A weak part (a plain number) takes the type of the other. */
    if (re->weak != im->weak) {
        const rd_dtype part = re->weak ? im->type : re->type;

        in[0] = rd_real_cast(re, part);
        in[1] = rd_real_cast(im, part);
    }
    if (!in[0] || !in[1] || !rd_common_shape(call, 2, in, &rank, extent))
        return NULL;
    for (int k = 0; k < 2; k++)
        if (!(in[k] = rd_real_broadcast(in[k], rank, extent, call)))
            return NULL;
    rd_origins_of_all(2, in, origin);
    for (int k = 0; k < 2; k++) /* a part that repeats along an axis had no origin there */
        if (!(in[k] = rd_real_from(in[k], origin)))
            return NULL;
    if (!rd_sparse_alike(call, in))
        return NULL;
    return rd_node(&(rd_expr){ .ctx    = re->ctx,
                               .kind   = RD_EXPR_COMPLEX,
                               .type   = rd_dtype_of_parts(in[0]->type),
                               .weak   = in[0]->weak && in[1]->weak,
                               .rank   = rank,
                               .n_in   = 2,
                               .extent = extent,
                               .in     = in },
                   /*facts=*/NULL, 0);
}

/* True if an operand is complex, after recording for `call` that it takes real numbers alone. */
bool rd_refuse_complex(const char *call, int n, rd_expr *const *x)
{
    for (int k = 0; k < n; k++)
        if (x[k] && rd_is_complex(x[k])) {
            rd_fail(x[k]->ctx, RD_ERR_TYPE,
                    "%s: operand %d is %s, and it takes real numbers alone: rd_real(), rd_imag() "
                    "and rd_abs() are",
                    call, k, rd_dtype_name(x[k]->type));
            return true;
        }
    return false;
}

/* Makes the same view of the real and the imaginary part of x: `number` has offsets, then
 * coefficients. */
rd_expr *rd_complex_view(rd_expr *x, int rank, const int64_t *extent, const int64_t *number,
                         const int64_t *origin)
{
    return rd_complex_of(rd_real_view(x->in[0], rank, extent, number, origin),
                         rd_real_view(x->in[1], rank, extent, number, origin), "rd_view");
}

/* ---- Conversions ----------------------------------------------------------------------------- */
/* Casts a real x to a complex type; the imaginary part is the number 0. */
static rd_expr *real_as_complex(rd_expr *x, rd_dtype type)
{
    const rd_dtype part = rd_dtype_part(type);

    return rd_complex_of(rd_real_cast(x, part), rd_number(x->ctx, part, (rd_word){ 0 }), "rd_cast");
}

/* Casts a real x to a complex type, or a complex x to another complex type, part by part.  A cast
 * to bool is true where a part is not 0; any other real type is an error. */
rd_expr *rd_complex_cast(rd_expr *x, rd_dtype type)
{
    if (!rd_is_complex(x))
        return real_as_complex(x, type);
    if (rd_dtype_is_complex(type)) {
        const rd_dtype part = rd_dtype_part(type);

        return rd_complex_of(rd_real_cast(x->in[0], part), rd_real_cast(x->in[1], part), "rd_cast");
    }
    if (type == RD_BOOL)
        return rd_real_map(
            RD_OP_or, "rd_cast", 2,
            (rd_expr *const[]){ rd_real_cast(x->in[0], type), rd_real_cast(x->in[1], type) });
    return rd_fail(x->ctx, RD_ERR_TYPE,
                   "rd_cast: %s to %s would lose the imaginary part; say rd_real()",
                   rd_dtype_name(x->type), rd_dtype_name(type));
}

/* ---- Parts ----------------------------------------------------------------------------------- */
/* Returns the real part of x; a real x is its own. */
rd_expr *rd_real(rd_expr *x)
{
    if (!rd_operands("rd_real", 1, &x))
        return NULL;
    return rd_is_complex(x) ? x->in[0] : x;
}

/* Returns the imaginary part of x; for a real x zeros of x's shape, type and origins. */
rd_expr *rd_imag(rd_expr *x)
{
    if (!rd_operands("rd_imag", 1, &x))
        return NULL;
    if (rd_is_complex(x))
        return x->in[1];
    rd_expr *zero = rd_number(x->ctx, x->type, (rd_word){ 0 });
    zero          = zero ? rd_real_broadcast(zero, x->rank, x->extent, "rd_imag") : NULL;
    return rd_real_from(zero, x->origin);
}
