/* map_numbers.c - constant folding of operators on weak numbers; the result is a weak number. */
#include "core/extremes.h"
#include "core/float_env.h"
#include "core/float_parts.h"
#include "expr/plain.h"
#include <math.h>

/* These names give the C expressions of ops.def a meaning in double.  Rows that the kernels alone
 * define, and operators of bits or ints, give NAN: rd_map_of_numbers() does not fold them. */
#define minimum                    rd_math_minimum_f64
#define fraction                   rd_math_fraction_f64
#define exponent                   rd_math_exponent_f64
#define pow_half(a, b)             NAN /* rd_pow() folds powers of numbers */
#define T                          double
#define maximum                    rd_math_maximum_f64
#define RD_F(f)                    f
#define FOLD_ARITH(code, ...)      code
#define FOLD_SAME(code, ...)       code
#define FOLD_FLOAT(code, ...)      code
#define FOLD_ROUND(code, ...)      code
#define FOLD_COMPARE(code, ...)    code
#define FOLD_TEST(code, ...)       code
#define FOLD_LOGIC(code, int_code) int_code
#define FOLD_BITS(code, ...)       NAN
#define FOLD_INTS(code, ...)       NAN
#define FOLD_COUNT(code, ...)      NAN
#define TERM_NONE(code)            code
#define TERM_UNIT(code)            code
#define TERM_LIBM(code)            code
#define TERM_OURS(code)            code
#define TERM_HARD(code)            code
#define TERM_ROWS(code)            NAN /* the kernels compute these */
#define TERM_OWN(code)             NAN
#define FOLD(name, n, rule, cost, by, of_c, code, ...) \
    if (op == RD_OP_##name)                            \
        return FOLD_##rule(TERM_##by(code), __VA_ARGS__);

/* Computes an operator of numbers a, b, c by the C expression in its row of ops.def, in double.
 * NAN for rows without an expression that is exact here.  The macros RD_OP and RD_TEST expand each
 * row of the table, included here, to: if (op == ...) return expression. */
static double fold_double(rd_op op, double a, double b, double c)
{
#define RD_OP   FOLD
#define RD_TEST FOLD
#include "core/ops.def"
    return NAN;
}
#undef RD_F
#undef minimum
#undef maximum
#undef fraction
#undef exponent
#undef pow_half
#undef T

/* Makes a weak number (it takes the type of the operands beside it) of the joint type of the
 * operands, i64 or f64. */
static rd_expr *weak_number(rd_ctx *ctx, rd_dtype type, double value)
{
    return type == RD_I64 ? rd_int(ctx, (int64_t)value) : rd_num(ctx, value);
}

/* Folds an operator of weak numbers, whose joint type is `type`, to a weak number; NULL if that
 * could be inexact.  Ints are computed in double, too, up to 2^53.  Only pow can turn ints into a
 * float: 10 ^ -3 of two numbers is a fraction, as the author means. */
rd_expr *rd_map_of_numbers(rd_op op, rd_dtype type, int n, rd_expr *const *x)
{
    const double      exact            = 9007199254740992.0; /* 2^53 */
    const rd_op_info *info             = &rd_op_table[op];
    const bool        floats           = rd_dtype_kind(type) == RD_KIND_FLOAT;
    double            v[RD_MOST_ARITY] = { 0 };

    /* only the kernels define the rounding or the bits of these */
    if (info->by == RD_BY_ROWS || info->by == RD_BY_OWN || op == RD_OP_ldexp ||
        op == RD_OP_pow_half || rd_op_of_ints(info->rule))
        return NULL;
    for (int i = 0; i < n; i++) {
        v[i] = rd_word_to_double(x[i]->as.number->value, x[i]->type);
        if (x[i]->type == RD_I64 && !(fabs(v[i]) < exact))
            return NULL;
        if (info->rule == RD_RULE_LOGIC)
            v[i] = v[i] != 0;
    }
    const rd_float_env env = rd_float_env_begin(); /* the default rounding mode */
    const double       y   = fold_double(op, v[0], v[1], v[2]);

    rd_float_env_end(env);
    if (rd_gives_bool(info->rule))
        return rd_number(x[0]->ctx, RD_BOOL, rd_word_from_int(y != 0, RD_BOOL));
    if (!floats && !(fabs(y) < exact))
        return NULL;
    return weak_number(x[0]->ctx, floats || y != trunc(y) ? RD_F64 : RD_I64, y);
}
