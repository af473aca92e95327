/* rolling_narrow.c - rolling sums of narrow ints, in the narrowest type that holds them.
 *
 * Sums of bytes are i64 and their means f64, so that any number of elements fits.  But a window
 * says how many there are.  A byte holds each sum of 101 bools, and a vector has eight times as
 * many bytes as f64.  All these sums are exact in either type, so no bit changes. */
#include "expr/rolling.h"

/* The bool or int expression of which x is a cast; NULL: x is no such cast. */
static const rd_expr *narrow_operand(const rd_expr *x)
{
    const rd_expr *operand = x->kind == RD_EXPR_MAP && x->op == RD_OP_cast ? x->in[0] : x;
    const rd_kind  kind    = rd_dtype_kind(operand->type);

    return operand != x && (kind == RD_KIND_BOOL || kind == RD_KIND_INT || kind == RD_KIND_UINT)
               ? operand
               : NULL;
}

/* The number of bits of whole numbers that the type holds exactly: the significand of a float. */
static int room_of(rd_dtype type)
{
    return type == RD_F32 ? 24 : type == RD_F64 ? 53 : 8 * rd_dtype_size(type);
}

/* Returns the operand of a rolling sum.  Ints that were cast to a wide type are cast to the
 * narrowest type that can hold a sum of n of them instead: an element's bits plus log2 n bits must
 * fit.  Any other r->x stays as it is. */
rd_expr *rd_rolling_narrowed(const rd_rolling *r)
{
    static const rd_dtype with_sign[] = { RD_I8, RD_I16, RD_I32 },
                          without[]   = { RD_U8, RD_U16, RD_U32 };
    const rd_expr *of                 = rd_rolling_adds(r) ? narrow_operand(r->x) : NULL;
    int            bits               = 0;

    if (!of || rd_dtype_is_narrow_float(r->x->type))
        return r->x;
    bits = of->type == RD_BOOL ? 1 : 8 * rd_dtype_size(of->type);
    for (int64_t n = r->n - 1; n; n >>= 1)
        bits++;
    for (int k = 0; k < 3 && bits <= room_of(r->x->type); k++) {
        const rd_dtype to = rd_dtype_kind(of->type) == RD_KIND_INT ? with_sign[k] : without[k];

        if (bits <= room_of(to) && rd_dtype_size(to) < rd_dtype_size(r->x->type))
            return rd_cast_to(r->x->in[0], to);
    }
    return r->x;
}
