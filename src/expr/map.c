/* map.c - elementwise operators: which type they work in, conversions, broadcasting, and numbers of
 * weak type. */
#include "core/float_env.h"
#include "core/extremes.h"
#include "core/parts.h"
#include "expr/origin.h"
#include "expr/complex.h"
#include "expr/maps.h"
#include "expr/sparse.h"
#include <assert.h>
#include <inttypes.h>
#include <math.h>

enum { MAX_ARITY = 3 };

static bool is_float(rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_FLOAT;
}

static bool is_weak(const rd_expr *x)
{
    return (x->kind == RD_EXPR_NUMBER || x->kind == RD_EXPR_COMPLEX) && x->weak;
}

/* The type of operands together.  Weak numbers count only where the strong ones cannot hold their
 * kind; all weak (then *weak), they are i64, or f64 with a float among them. */
static rd_dtype joint_type(int n, rd_expr *const *x, bool *weak)
{
    rd_dtype strong = RD_AUTO, number = RD_AUTO;

    for (int i = 0; i < n; i++) {
        rd_dtype *type = is_weak(x[i]) ? &number : &strong;
        *type          = *type ? rd_dtype_promote(*type, x[i]->type) : x[i]->type;
    }
    *weak = !strong;
    if (!strong || !number || rd_dtype_is_complex(strong))
        return strong ? strong : number;
    if (rd_dtype_is_complex(number))
        return rd_dtype_of_parts(is_float(strong) ? strong : RD_F64);
    if (is_float(strong))
        return strong;
    if (is_float(number))
        return RD_F64;
    return strong == RD_BOOL ? RD_I64 : strong;
}

/* The unsigned type of as many bits: to count them, without those by which a sign is extended. */
static rd_dtype unsigned_of(rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_INT ? (rd_dtype)(type - RD_I8 + RD_U8) : type;
}

static rd_dtype operand_type(rd_rule rule, rd_dtype type)
{
    if (rule == RD_RULE_LOGIC)
        return RD_BOOL;
    if (rule == RD_RULE_ARITH && type == RD_BOOL)
        return RD_I64;
    if (rule == RD_RULE_INTS && type == RD_BOOL)
        return RD_I64;
    if (rule == RD_RULE_COUNT)
        return unsigned_of(type);
    return rule == RD_RULE_FLOAT && !is_float(type) ? RD_F64 : type;
}

static bool gives_bool(rd_rule rule)
{
    return rule == RD_RULE_COMPARE || rule == RD_RULE_TEST || rule == RD_RULE_LOGIC;
}

/* ---- Maps of weak numbers -------------------------------------------------------------------- */
#define minimum                    rd_math_minimum_f64
#define fraction                   rd_math_fraction_f64
#define exponent                   rd_math_exponent_f64
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
#define TERM_ROWS(code)            NAN /* these are in the kernels */
#define TERM_OWN(code)             NAN
#define FOLD(name, n, rule, cost, by, of_c, code, ...) \
    if (op == RD_OP_##name)                            \
        return FOLD_##rule(TERM_##by(code), __VA_ARGS__);

/* The float code of the operator's row, in double. */
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
#undef T

static rd_expr *weak_number(rd_ctx *ctx, rd_dtype type, double value)
{
    return type == RD_I64 ? rd_int(ctx, (int64_t)value) : rd_num(ctx, value);
}

/* Ints are computed in double as well, and given up (NULL: the map becomes strong) where that could
 * be inexact.  Only pow can leave the ints: 10 ^ -3 of two numbers is a fraction, as whoever writes
 * it means. */
static rd_expr *fold_numbers(rd_op op, rd_dtype type, int n, rd_expr *const *x)
{
    const double      exact        = 9007199254740992.0; /* 2^53 */
    const rd_op_info *info         = &rd_op_table[op];
    double            v[MAX_ARITY] = { 0 };

    /* their rounding, or their bits, are written once, in the kernels */
    if (info->by == RD_BY_ROWS || info->by == RD_BY_OWN || op == RD_OP_ldexp ||
        rd_op_of_ints(info->rule))
        return NULL;
    for (int i = 0; i < n; i++) {
        v[i] = rd_word_to_double(x[i]->as.number->value, x[i]->type);
        if (x[i]->type == RD_I64 && !(fabs(v[i]) < exact))
            return NULL;
        if (info->rule == RD_RULE_LOGIC)
            v[i] = v[i] != 0;
    }
    const rd_float_env env = rd_float_env_begin();
    const double       y   = fold_double(op, v[0], v[1], v[2]);

    rd_float_env_end(env);
    if (gives_bool(info->rule))
        return rd_number(x[0]->ctx, RD_BOOL, rd_word_from_int(y != 0, RD_BOOL));
    if (!is_float(type) && !(fabs(y) < exact))
        return NULL;
    return weak_number(x[0]->ctx, is_float(type) || y != trunc(y) ? RD_F64 : RD_I64, y);
}

/* ---- Conversions ----------------------------------------------------------------------------- */
rd_expr *rd_cast_to(rd_expr *x, rd_dtype type)
{
    if (!x || (x->type == type && !is_weak(x)))
        return x;
    if (rd_is_complex(x) || rd_dtype_is_complex(type))
        return rd_complex_cast(x, type);
    if (rd_has_pattern(x))
        return rd_sparse_cast(x, type);
    if (x->kind == RD_EXPR_NUMBER) {
        const rd_float_env env   = rd_float_env_begin();
        const rd_word      value = rd_word_convert(x->as.number->value, x->type, type);

        rd_float_env_end(env);
        return rd_number(x->ctx, type, value);
    }
    /* A number seen with a shape stays a number seen with a shape. */
    if (x->kind == RD_EXPR_VIEW && x->in[0]->kind == RD_EXPR_NUMBER) {
        rd_expr *number = rd_cast_to(x->in[0], type);
        number          = number ? rd_broadcast_to(number, x->rank, x->extent, "rd_cast") : NULL;
        return rd_with_origins(number, x->origin);
    }
    return rd_node(&(rd_expr){ .ctx    = x->ctx,
                               .kind   = RD_EXPR_MAP,
                               .type   = type,
                               .op     = RD_OP_cast,
                               .rank   = x->rank,
                               .n_in   = 1,
                               .extent = x->extent,
                               .in     = &x },
                   NULL, 0);
}

rd_expr *rd_fit_to(rd_expr *x, rd_dtype type, const char *call)
{
    if (x && is_weak(x) && x->type == RD_I64 && type != RD_BOOL &&
        rd_dtype_kind(type) < RD_KIND_FLOAT) {
        int64_t value = x->as.number->value.i64;
        rd_word there = rd_word_convert(x->as.number->value, RD_I64, type);
        bool    lost  = rd_word_convert(there, type, RD_I64).i64 != value;

        if (lost || (value < 0 && rd_dtype_kind(type) == RD_KIND_UINT))
            return rd_fail(x->ctx, RD_ERR_TYPE,
                           "%s: the number %" PRId64 " does not fit the type %s it meets", call,
                           value, rd_dtype_name(type));
    }
    return rd_cast_to(x, type);
}

rd_expr *rd_as_real(rd_expr *x, rd_dtype real)
{
    return x && is_weak(x) && !rd_is_complex(x)
               ? rd_num(x->ctx, rd_word_to_double(x->as.number->value, x->type))
               : rd_cast_to(x, real);
}

rd_expr *rd_cast(rd_expr *x, rd_dtype type)
{
    if (!rd_operands("rd_cast", 1, &x))
        return NULL;
    if (!rd_dtype_ok(type))
        return rd_fail(x->ctx, RD_ERR_TYPE, "rd_cast: %s is not a type of this release",
                       rd_dtype_name(type));
    return rd_cast_to(x, type);
}

/* ---- Nodes ----------------------------------------------------------------------------------- */
static rd_expr *map_node(rd_op op, rd_dtype type, const char *call, int n, rd_expr *const *x)
{
    rd_expr *in[MAX_ARITY];
    int      rank;
    int64_t  extent[RD_MAX_RANK];

    if (!rd_common_shape(call, n, x, &rank, extent))
        return NULL;
    for (int i = 0; i < n; i++)
        if (!(in[i] = rd_broadcast_to(x[i], rank, extent, call)))
            return NULL;
    return rd_node(&(rd_expr){ .ctx    = x[0]->ctx,
                               .kind   = RD_EXPR_MAP,
                               .type   = type,
                               .op     = op,
                               .rank   = rank,
                               .n_in   = n,
                               .extent = extent,
                               .in     = in },
                   NULL, 0);
}

static rd_expr *where_op(const char *call, rd_expr *const *x)
{
    bool     weak;
    rd_dtype type = joint_type(2, x + 1, &weak);

    if (rd_dtype_is_complex(type))
        return rd_complex_map(RD_OP_where, call, 3, x);
    if (rd_any_pattern(3, x))
        return rd_sparse_map(RD_OP_where, RD_RULE_SPECIAL, call, 3, x);
    rd_expr *in[3] = { rd_cast_to(x[0], RD_BOOL), rd_fit_to(x[1], type, call),
                       rd_fit_to(x[2], type, call) };

    return in[0] && in[1] && in[2] ? map_node(RD_OP_where, type, call, 3, in) : NULL;
}

static bool is_two(const rd_expr *x)
{
    return x->kind == RD_EXPR_NUMBER && rd_word_to_double(x->as.number->value, x->type) == 2;
}

bool rd_operands(const char *call, int n, rd_expr *const *x)
{
    for (int i = 0; i < n; i++)
        if (!x[i])
            return false;
    return rd_same_ctx(call, n, x);
}

rd_dtype rd_rule_type(rd_rule rule, int n, rd_expr *const *x)
{
    bool weak;

    return operand_type(rule, joint_type(n, x, &weak));
}

rd_expr *rd_map_rule(rd_op op, rd_rule rule, const char *call, int n, rd_expr *const *x)
{
    rd_expr *in[MAX_ARITY], *folded;
    bool     weak;

    assert(n >= 1 && n <= MAX_ARITY);
    if (!rd_operands(call, n, x))
        return NULL;
    if (rd_any_complex(n, x))
        return rd_complex_map(op, call, n, x);
    rd_dtype type = joint_type(n, x, &weak);
    if (rule == RD_RULE_ROUND && !is_float(type))
        return x[0];
    if (rd_op_of_ints(rule) && is_float(type))
        return rd_fail(x[0]->ctx, RD_ERR_TYPE, "%s: operands come to %s, and it takes ints alone",
                       call, rd_dtype_name(type));
    if (rd_any_pattern(n, x))
        return rd_sparse_map(op, rule, call, n, x);
    if (rule == RD_RULE_COMPARE && rd_is_beside_u64(x))
        return rd_compare_ints(op, call, x);
    if (op == RD_OP_bit_not && type == RD_BOOL) /* it is one bit */
        return map_node(RD_OP_not, type, call, 1, x);
    type = operand_type(rule, type);
    if (op == RD_OP_nextafter && rd_dtype_is_half(type))
        return rd_fail(x[0]->ctx, RD_ERR_TYPE,
                       "%s: neighbours of %s, which is done in f32, are not "
                       "known",
                       call, rd_dtype_name(type));
    if (weak && (folded = fold_numbers(op, type, n, x)))
        return folded;
    for (int i = 0; i < n; i++)
        if (!(in[i] = rd_fit_to(x[i], type, call)))
            return NULL;
    /* The same value, rounded once, at a twentieth of the cost; x^2 is what people write. */
    if (op == RD_OP_pow && is_two(in[1]))
        return map_node(RD_OP_square, type, call, 1, in);
    return map_node(op, gives_bool(rule) ? RD_BOOL : type, call, n, in);
}

rd_expr *rd_map_op(rd_op op, const char *call, int n, rd_expr *const *x)
{
    if (op == RD_OP_where)
        return rd_operands(call, n, x) ? where_op(call, x) : NULL;
    assert(rd_op_table[op].rule != RD_RULE_SPECIAL && rd_op_table[op].arity == n);
    return rd_map_rule(op, rd_op_table[op].rule, call, n, x);
}

/* ---- Public functions ------------------------------------------------------------------------ */
/* Rows like the others, which the public header leaves to rd_map(x, fmod) and to the evaluator. */
rd_expr *rd_fmod(rd_expr *x, rd_expr *y);

#define PUBLIC_1(name)                                      \
    rd_expr *rd_##name(rd_expr *x)                          \
    {                                                       \
        return rd_map_op(RD_OP_##name, "rd_" #name, 1, &x); \
    }
#define PUBLIC_2(name)                                                              \
    rd_expr *rd_##name(rd_expr *x, rd_expr *y)                                      \
    {                                                                               \
        return rd_map_op(RD_OP_##name, "rd_" #name, 2, (rd_expr *const[]){ x, y }); \
    }
#define PUBLIC_3(name)
#define RD_OP(name, arity, ...)   PUBLIC_##arity(name)
#define RD_TEST(name, arity, ...) PUBLIC_##arity(name)
#include "core/ops.def"

rd_expr *rd_where(rd_expr *cond, rd_expr *yes, rd_expr *no)
{
    return rd_map_op(RD_OP_where, "rd_where", 3, (rd_expr *const[]){ cond, yes, no });
}

rd_expr *rd_clip(rd_expr *x, rd_expr *lo, rd_expr *hi)
{
    rd_expr *raised = rd_map_op(RD_OP_maximum, "rd_clip", 2, (rd_expr *const[]){ x, lo });

    return rd_map_op(RD_OP_minimum, "rd_clip", 2, (rd_expr *const[]){ raised, hi });
}
