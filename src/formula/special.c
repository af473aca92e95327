/* special.c - functions of scipy.special that formulas compose of operators. */
#include "formula/made.h"
#include <math.h>

/* Returns `product`, x times a logarithm of y, but 0 where x is 0 and y is not NaN, whatever
 * that logarithm is, as in SciPy. NULL after an error. `none`: x is 0; `zero`: and y is not NaN. */
static rd_expr *zero_where_x_is_zero(rd_expr *x, rd_expr *y, rd_expr *product)
{
    rd_expr *none = x ? rd_eq(x, rd_int(x->ctx, 0)) : NULL;
    rd_expr *zero = none && y ? rd_and(none, rd_not(rd_isnan(y))) : NULL;

    return zero && product ? rd_where(zero, rd_int(x->ctx, 0), product) : NULL;
}

/* Builds x log(y); 0 where x is 0. */
rd_expr *rd_formula_xlogy(rd_expr *x, rd_expr *y)
{
    return zero_where_x_is_zero(x, y, rd_mul(x, rd_log(y)));
}

/* Builds x log(1 + y); 0 where x is 0. */
rd_expr *rd_formula_xlog1py(rd_expr *x, rd_expr *y)
{
    return zero_where_x_is_zero(x, y, rd_mul(x, rd_log1p(y)));
}

/* Builds -x log(x); 0 for 0, and -infinity for negative x. `part` is -x log(x), and `none` that
 * with -infinity for negative x. NULL after an error. */
rd_expr *rd_formula_entr(rd_expr *x)
{
    rd_expr *zero = x ? rd_int(x->ctx, 0) : NULL;
    rd_expr *part = x ? rd_neg(rd_mul(x, rd_log(x))) : NULL;
    rd_expr *none = x ? rd_where(rd_lt(x, zero), rd_num(x->ctx, -HUGE_VAL), part) : NULL;

    return x ? rd_where(rd_eq(x, zero), zero, none) : NULL;
}

/* Builds log(x / (1 - x)). Around x = 1/2, where the result is 0, the quotient is near 1 and its
 * rounding would show. There 2x - 1 is exact, and logit(x) is 2 atanh(2x - 1). `centred` is 2x -
 * 1, and `near` its atanh; `far` is the quotient's logarithm. `close`: |2x - 1| is 0.5 at most.
 * NULL after an error. */
static rd_expr *logit(rd_expr *x)
{
    if (!x)
        return NULL;
    rd_expr *one     = rd_int(x->ctx, 1);
    rd_expr *centred = rd_sub(rd_add(x, x), one);
    rd_expr *near    = rd_atanh(centred);
    rd_expr *far     = rd_log(rd_div(x, rd_sub(one, x)));
    rd_expr *close   = rd_le(rd_abs(centred), rd_num(x->ctx, 0.5));

    return near ? rd_where(close, rd_add(near, near), far) : NULL;
}

/* Builds logit(x); halves are computed in f32, ints in f64. The ints include bools. NULL after
 * an error. */
rd_expr *rd_formula_logit(rd_expr *x)
{
    if (!x)
        return NULL;
    if (rd_dtype_is_narrow_float(x->type)) { /* a quotient rounded to 16 bits is inaccurate */
        rd_expr *y = logit(rd_cast(x, RD_F32));

        return y ? rd_cast(y, x->type) : NULL;
    }
    /* 1 - x of ints may wrap */
    return logit(rd_dtype_kind(x->type) < RD_KIND_FLOAT ? rd_cast(x, RD_F64) : x);
}
