/* compose.c - maps composed of other maps; they fuse as those do. */
#include "core/float_env.h"
#include "expr/complex.h"
#include "expr/maps.h"
#include <math.h>
#include <stdlib.h>

/* True if x is a real float. */
static bool is_float(const rd_expr *x)
{
    return rd_dtype_kind(x->type) == RD_KIND_FLOAT;
}

/* max(x, 0); bools stay as they are. */
rd_expr *rd_relu(rd_expr *x)
{
    if (!rd_operands("rd_relu", 1, &x))
        return NULL;
    return x->type == RD_BOOL ? x : map_2(RD_OP_maximum, "rd_relu", x, rd_int(x->ctx, 0));
}

/* sin(pi x) / (pi x), and 1 at 0.  There the divisor is 1, or the derivative would be NaN. */
rd_expr *rd_sinc(rd_expr *x)
{
    const char *call = "rd_sinc";

    if (x && rd_dtype_is_narrow_float(x->type)) /* an angle in 16 bits is too rough */
        return rd_cast_to(rd_sinc(rd_cast_to(x, RD_F32)), x->type);
    if (!x)
        return NULL;
    rd_expr *angle   = map_2(RD_OP_mul, call, x, rd_num(x->ctx, 3.141592653589793));
    rd_expr *is_zero = map_2(RD_OP_eq, call, angle, rd_int(x->ctx, 0));
    rd_expr *divisor = map_where(call, is_zero, rd_int(x->ctx, 1), angle);
    rd_expr *wave    = map_2(RD_OP_div, call, map_1(RD_OP_sin, call, angle), divisor);

    return map_where(call, is_zero, rd_int(x->ctx, 1), wave);
}

/* Replaces NaN by 0 and infinities by the largest finite numbers of the type; a complex x part by
 * part.  Ints stay as they are. */
rd_expr *rd_nan_to_num(rd_expr *x)
{
    const char *call = "rd_nan_to_num";

    if (x && rd_is_complex(x))
        return rd_complex_of(rd_nan_to_num(x->in[0]), rd_nan_to_num(x->in[1]), call);
    if (!x || !is_float(x))
        return x;
    const double most = rd_dtype_largest(x->type);
    rd_expr     *low  = map_2(RD_OP_maximum, call, x, rd_num(x->ctx, -most));
    rd_expr     *kept = map_2(RD_OP_minimum, call, low, rd_num(x->ctx, most));

    return map_where(call, map_1(RD_OP_isnan, call, x), rd_int(x->ctx, 0), kept);
}

/* Casts ints to f64, so that differences do not wrap, and narrow floats to f32, so that they round
 * less. */
static rd_expr *widen(rd_expr *x)
{
    return rd_dtype_is_narrow_float(x->type) ? rd_cast_to(x, RD_F32)
           : is_float(x) || rd_is_complex(x) ? x
                                             : rd_as_real(x, RD_F64);
}

/* True where |x - y| <= atol + rtol |y| and y is finite, or where they are equal. */
rd_expr *rd_isclose(rd_expr *x, rd_expr *y, double rtol, double atol)
{
    const char *call = "rd_isclose";

    if (!x || !y)
        return NULL;
    x = widen(x);
    y = widen(y);
    if (!x || !y)
        return NULL;
    rd_expr *relative = map_2(RD_OP_mul, call, rd_num(y->ctx, rtol), map_1(RD_OP_abs, call, y));
    rd_expr *bound    = map_2(RD_OP_add, call, rd_num(y->ctx, atol), relative);
    rd_expr *distance = map_1(RD_OP_abs, call, map_2(RD_OP_sub, call, x, y));
    rd_expr *is_near  = map_2(RD_OP_and, call, map_1(RD_OP_isfinite, call, y),
                              map_2(RD_OP_le, call, distance, bound));

    return map_2(RD_OP_or, call, map_2(RD_OP_eq, call, x, y), is_near);
}

/* Computes 10^n at run time, in rdim's rounding mode; `volatile` prevents constant folding. */
static double power_of_ten(int n)
{
    const rd_float_env env      = rd_float_env_begin();
    volatile int       exponent = n;
    volatile double    power    = pow(10, exponent);

    rd_float_env_end(env);
    return power;
}

/* Rounds to so many decimals: scales by a power of ten, rounds, and scales back.  Ints stay as they
 * are, and negative decimals of them are refused. */
rd_expr *rd_round_to(rd_expr *x, int decimals)
{
    const char *call = "rd_round_to";

    if (!x)
        return NULL;
    if (rd_is_complex(x))
        return rd_complex_of(rd_round_to(x->in[0], decimals), rd_round_to(x->in[1], decimals),
                             call);
    if (!is_float(x) && decimals >= 0)
        return x;
    if (!is_float(x))
        return rd_fail(x->ctx, RD_ERR_TYPE, "%s: %d decimals of %s; say rd_cast to a float type",
                       call, decimals, rd_dtype_name(x->type));
    const int most = x->type == RD_F64 ? 300 : 38; /* 10^39 is infinite in f32 */
    if (decimals > most || decimals < -most)
        return rd_fail(x->ctx, RD_ERR_ARGUMENT, "%s: %d decimals of %s, -%d to %d are taken", call,
                       decimals, rd_dtype_name(x->type), most, most);
    if (rd_dtype_is_narrow_float(x->type)) /* 10^5 is infinite in f16 */
        return rd_cast_to(rd_round_to(rd_cast_to(x, RD_F32), decimals), x->type);
    rd_expr    *power = rd_num(x->ctx, power_of_ten(abs(decimals)));
    const rd_op to    = decimals < 0 ? RD_OP_div : RD_OP_mul,
                from  = decimals < 0 ? RD_OP_mul : RD_OP_div;

    return map_2(from, call, map_1(RD_OP_round, call, map_2(to, call, x, power)), power);
}
