/* call_types.c - NumPy's rules of casting, and its round() of ints. */
#include "calls.h"
#include <string.h>

/* ---- Casting ---------------------------------------------------------------------------------- */
/* Does each value of a type have its like in another one?  Then the other one is where both meet. */
static bool is_safe(rd_ctx *ctx, rd_dtype from, rd_dtype to)
{
    rd_expr *const one = rd_cast(rd_int(ctx, 0), from), *const other = rd_cast(rd_int(ctx, 0), to);
    rd_expr *const both = rd_where(rd_cast(rd_int(ctx, 1), RD_BOOL), one, other);

    return both && rd_type_of(both) == to;
}

static bool is_allowed(rd_ctx *ctx, rd_dtype from, rd_dtype to, const char *rule)
{
    if (strcmp(rule, "unsafe") == 0 || from == to)
        return true;
    if (strcmp(rule, "same_kind") == 0)
        return rdpy_kind(from) <= rdpy_kind(to);
    return strcmp(rule, "safe") == 0 && is_safe(ctx, from, to);
}

rd_expr *rdpy_cast(const rdpy_call *A, rd_expr *x, rd_dtype type, const char *rule)
{
    static const char *const names[] = { "no", "equiv", "safe", "same_kind", "unsafe", NULL };
    const char *const        asked   = A->text ? A->text : rule;

    if (!x || rdpy_choice(A, names, 0) < 0)
        return NULL;
    if (type == RD_AUTO || is_allowed(A->ctx, rd_type_of(x), type, asked))
        return type == RD_AUTO ? x : rd_cast(x, type);
    PyErr_Format(PyExc_TypeError, "rdim.%s: cannot cast from %S to %S by the rule casting='%s'",
                 A->name, rdpy_dtype_object(rd_type_of(x)), rdpy_dtype_object(type), asked);
    return NULL;
}

/* ---- Rounding --------------------------------------------------------------------------------- */
/* To the nearest multiple of 10^digits, of two the one that is even times that.  Ints of 64 bits have no more than
 * 10^18; a result that the type does not hold wraps. */
static rd_expr *rounded_int(rd_ctx *ctx, rd_expr *x, int digits)
{
    const rd_dtype type = rd_type_of(x);
    rd_expr       *f    = rd_int(ctx, 1), *q, *twice, *up;

    for (int k = 0; k < digits; k++)
        f = rd_mul(f, rd_int(ctx, 10));
    f     = rd_cast(f, type == RD_U64 ? RD_U64 : RD_I64);
    x     = rd_cast(x, type == RD_U64 ? RD_U64 : RD_I64);
    q     = rd_floordiv(x, f);
    twice = rd_mul(rd_sub(x, rd_mul(q, f)), rd_int(ctx, 2));
    up    = rd_or(rd_gt(twice, f),
                  rd_and(rd_eq(twice, f), rd_ne(rd_bit_and(q, rd_int(ctx, 1)), rd_int(ctx, 0))));
    return rd_cast(rd_mul(rd_add(q, rd_cast(up, rd_type_of(x))), f), type);
}

/* round(x, decimals): ints have none behind the point. */
rd_expr *rdpy_rounded(rdpy_call *A)
{
    enum { MOST_DIGITS = 18 };
    rd_expr *const x        = A->x[0];
    const int      decimals = (int)A->i[1];

    if (!x || rd_type_of(x) >= RD_F16 || rd_type_of(x) == RD_BOOL)
        return decimals ? rd_round_to(x, decimals) : rd_round(x);
    if (decimals >= 0)
        return x;
    if (decimals >= -MOST_DIGITS)
        return rounded_int(A->ctx, x, -decimals);
    return rdpy_refuse(PyExc_ValueError,
                       "rdim.%s: decimals is %d; ints have at most %d digits to round", A->name,
                       decimals, MOST_DIGITS);
}
