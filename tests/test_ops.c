/* test_ops.c - the scalar code of operators, through programs of a few instructions. */
#include "kernels/cpu/reference/op_functions.h"
#include "programs.h"
#include "suite.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

/* op(a, b, c) of one type, stored as `out`. */
static void apply(const rd_inst *map, rd_dtype type, const rd_word *operand, rd_dtype out,
                  void *result, uint32_t *warnings)
{
    builder     b;
    void *const slot[] = { result };

    builder_init(&b, 0, NULL);
    for (int32_t k = 0; k < 3; k++)
        builder_add(&b,
                    (rd_inst){ .kind = RD_I_CONST, .type = type, .dst = k, .value = operand[k] });
    builder_add(&b, *map);
    builder_store(&b, map->dst, 0, out, -1, 0, 0);
    const rd_task task = run_program(builder_done(&b), slot);
    ck_assert_int_eq(task.status, RD_OK);
    *warnings = task.warnings;
}

static rd_inst map_of(rd_op op, rd_dtype type, bool test)
{
    const int arity = rd_op_table[op].arity;

    return (rd_inst){ .kind = RD_I_MAP,
                      .op   = op,
                      .type = test ? RD_BOOL : type,
                      .from = type,
                      .dst  = 3,
                      .b    = arity > 1 ? 1 : -1,
                      .c    = arity > 2 ? 2 : -1 };
}

/* ---- Which operators have code for which types ----------------------------------------------- */
static const struct {
    rd_op       op;
    bool        test;
    const char *float_code, *int_code;
} rows[] = {
#define RD_OP(name, n, rule, cost, by, of_c, float_code, ...) \
    { RD_OP_##name, false, #float_code, #__VA_ARGS__ },
#define RD_TEST(name, n, rule, cost, by, of_c, float_code, ...) \
    { RD_OP_##name, true, #float_code, #__VA_ARGS__ },
#include "core/ops.def"
};

START_TEST(op_has_code)
{
    for (rd_class class = 0; class < RD_N_CLASS; class ++) {
        const bool  real = class == RD_CLASS_f32 || class == RD_CLASS_f64;
        const char *code = real ? rows[_i].float_code : rows[_i].int_code;
        ck_assert_msg((rd_op_code(rows[_i].op, class) != NULL) == (strcmp(code, "RD_NO") != 0),
                      "%s of class %d", rd_op_table[rows[_i].op].name, (int)class);
    }
}
END_TEST

/* Ints keep to their type, whatever the operands; the sanitizers see that nothing is undefined. */
START_TEST(op_of_extremes)
{
    static const rd_dtype types[]   = { RD_BOOL, RD_I8,  RD_I16, RD_I32, RD_I64, RD_U8,
                                        RD_U16,  RD_U32, RD_U64, RD_F32, RD_F64 };
    static const double   numbers[] = { 0,    1,    -1,    2,        0.5,       127,
                                        -128, 1e30, -1e30, INFINITY, -INFINITY, NAN };

    for (int t = 0; t < COUNT(types); t++) {
        if (!rd_op_code(rows[_i].op, rd_dtype_class(types[t])))
            continue;
        for (int k = 0; k < COUNT(numbers) * COUNT(numbers); k++) {
            const rd_word a =
                rd_word_convert((rd_word){ .f64 = numbers[k / COUNT(numbers)] }, RD_F64, types[t]);
            const rd_word b =
                rd_word_convert((rd_word){ .f64 = numbers[k % COUNT(numbers)] }, RD_F64, types[t]);
            const rd_word operands[] = { a, b, a };
            const rd_inst map        = map_of(rows[_i].op, types[t], rows[_i].test);
            uint32_t      warnings;
            rd_word       y = { .u64 = 0 };

            apply(&map, types[t], operands, RD_U64, &y, &warnings); /* the register as it is */
            if (rows[_i].test)
                ck_assert_uint_le(y.u64, 1);
            else if (rd_dtype_kind(types[t]) != RD_KIND_FLOAT)
                ck_assert_uint_eq(rd_op_wrap(y, types[t]).u64, y.u64);
        }
    }
}
END_TEST

/* ---- Floats ---------------------------------------------------------------------------------- */
static const struct {
    rd_op  op;
    double a, b, want; /* exact in both types */
} float_cases[] = {
    { RD_OP_floordiv, 7, 2, 3 },
    { RD_OP_floordiv, -7, 2, -4 },
    { RD_OP_floordiv, 7, -2, -4 },
    { RD_OP_floordiv, -7, -2, 3 },
    { RD_OP_floordiv, 1, 0.1, 9 },
    { RD_OP_floordiv, 1, 0, INFINITY },
    { RD_OP_floordiv, -1, 0, -INFINITY },
    { RD_OP_floordiv, 1, -0.0, -INFINITY },
    { RD_OP_floordiv, 0, 0, NAN },
    { RD_OP_floordiv, -0.0, 1, -0.0 },
    { RD_OP_floordiv, 0, -1, -0.0 },
    { RD_OP_floordiv, 1, INFINITY, 0 },
    { RD_OP_floordiv, -1, INFINITY, -1 },
    { RD_OP_floordiv, 1, -INFINITY, -1 },
    { RD_OP_floordiv, INFINITY, 1, NAN },
    { RD_OP_floordiv, NAN, 1, NAN },
    { RD_OP_floordiv, 1, NAN, NAN },
    { RD_OP_remainder, 7, 2, 1 },
    { RD_OP_remainder, -7, 2, 1 },
    { RD_OP_remainder, 7, -2, -1 },
    { RD_OP_remainder, -7, -2, -1 },
    { RD_OP_remainder, 6, -2, -0.0 },
    { RD_OP_remainder, -6, 2, 0 },
    { RD_OP_remainder, -0.0, 1, 0 },
    { RD_OP_remainder, 1, 0, NAN },
    { RD_OP_remainder, 1, INFINITY, 1 },
    { RD_OP_remainder, -1, INFINITY, INFINITY },
    { RD_OP_remainder, 1, -INFINITY, -INFINITY },
    { RD_OP_remainder, INFINITY, 1, NAN },
    { RD_OP_remainder, 5.5, 0.25, 0 },
    { RD_OP_pow, -2, 3, -8 },
    { RD_OP_pow, 2, -1, 0.5 },
    { RD_OP_pow, NAN, 0, 1 },
    { RD_OP_pow, 1, NAN, 1 },
    { RD_OP_pow, -8, 0.5, NAN },
    { RD_OP_pow, 0, -1, INFINITY },
    { RD_OP_pow_half, -2, 3, -8 },
    { RD_OP_pow_half, -2, -3, -0.125 },
    { RD_OP_pow_half, 4, 0.5, 2 },
    { RD_OP_pow_half, 4, -1.5, 0.125 },
    { RD_OP_pow_half, 4, 2.5, 32 },
    { RD_OP_pow_half, 2, 16, 65536 },
    { RD_OP_pow_half, 4, -15.5, 0x1p-31 },
    { RD_OP_pow_half, -8, 1.5, NAN },
    { RD_OP_pow_half, NAN, -0.5, NAN },
    { RD_OP_pow_half, -0.0, 3, -0.0 },
    { RD_OP_pow_half, -0.0, -3, -INFINITY },
    { RD_OP_pow_half, -0.0, 0.5, 0 },
    { RD_OP_pow_half, -0.0, 1.5, 0 },
    { RD_OP_pow_half, -0.0, -0.5, INFINITY },
    { RD_OP_pow_half, INFINITY, -1.5, 0 },
    { RD_OP_pow_half, INFINITY, 2.5, INFINITY },
    { RD_OP_pow_half, -INFINITY, 3, -INFINITY },
    { RD_OP_pow_half, -INFINITY, -3, -0.0 },
    { RD_OP_pow_half, -INFINITY, 0.5, INFINITY },
    { RD_OP_pow_half, -INFINITY, -1.5, 0 },
    { RD_OP_sign, 3, 0, 1 },
    { RD_OP_sign, -INFINITY, 0, -1 },
    { RD_OP_sign, -0.0, 0, -0.0 },
    { RD_OP_sign, NAN, 0, NAN },
    { RD_OP_neg, 0, 0, -0.0 },
    { RD_OP_abs, -0.0, 0, 0 },
    { RD_OP_minimum, 1, 2, 1 },
    { RD_OP_minimum, NAN, 1, NAN },
    { RD_OP_minimum, 1, NAN, NAN },
    { RD_OP_maximum, 1, 2, 2 },
    { RD_OP_maximum, NAN, 1, NAN },
    { RD_OP_maximum, 1, NAN, NAN },
    { RD_OP_maximum, -INFINITY, -1, -1 },
    { RD_OP_round, 0.5, 0, 0 },
    { RD_OP_round, 1.5, 0, 2 },
    { RD_OP_round, 2.5, 0, 2 },
    { RD_OP_round, -0.5, 0, -0.0 },
    { RD_OP_trunc, -1.5, 0, -1 },
    { RD_OP_floor, -1.5, 0, -2 },
    { RD_OP_ceil, -0.5, 0, -0.0 },
    { RD_OP_sqrt, -1, 0, NAN },
    { RD_OP_log, 0, 0, -INFINITY },
    { RD_OP_log1p, -1, 0, -INFINITY },
    { RD_OP_log2, 8, 0, 3 },
    { RD_OP_exp, -INFINITY, 0, 0 },
    { RD_OP_expm1, -INFINITY, 0, -1 },
    { RD_OP_tanh, INFINITY, 0, 1 },
    { RD_OP_erf, -INFINITY, 0, -1 },
    { RD_OP_erf, -0.0, 0, -0.0 },
    { RD_OP_hypot, INFINITY, NAN, INFINITY },
    { RD_OP_hypot, 3, -4, 5 },
    { RD_OP_atan2, 0, 1, 0 },
    { RD_OP_sigmoid, INFINITY, 0, 1 },
    { RD_OP_sigmoid, -INFINITY, 0, 0 },
    { RD_OP_sigmoid, 0, 0, 0.5 },
    { RD_OP_sigmoid, NAN, 0, NAN },
    { RD_OP_silu, -INFINITY, 0, -0.0 },
    { RD_OP_silu, INFINITY, 0, INFINITY },
    { RD_OP_silu, -0.0, 0, -0.0 },
    { RD_OP_softplus, -INFINITY, 0, 0 },
    { RD_OP_softplus, INFINITY, 0, INFINITY },
    { RD_OP_softplus, NAN, 0, NAN },
    { RD_OP_gelu, -INFINITY, 0, -0.0 },
    { RD_OP_gelu, -0.0, 0, -0.0 },
    { RD_OP_gelu, INFINITY, 0, INFINITY },
    { RD_OP_erfc, INFINITY, 0, 0 },
    { RD_OP_erfc, -INFINITY, 0, 2 },
    { RD_OP_erfc, 0, 0, 1 },
    { RD_OP_erfinv, 1, 0, INFINITY },
    { RD_OP_erfinv, -1, 0, -INFINITY },
    { RD_OP_erfinv, -0.0, 0, -0.0 },
    { RD_OP_erfinv, 1.5, 0, NAN },
    { RD_OP_asin, 2, 0, NAN },
    { RD_OP_asin, -0.0, 0, -0.0 },
    { RD_OP_acos, 1, 0, 0 },
    { RD_OP_acos, -INFINITY, 0, NAN },
    { RD_OP_atan, -0.0, 0, -0.0 },
    { RD_OP_sinh, -INFINITY, 0, -INFINITY },
    { RD_OP_sinh, -0.0, 0, -0.0 },
    { RD_OP_cosh, -INFINITY, 0, INFINITY },
    { RD_OP_cosh, -0.0, 0, 1 },
    { RD_OP_asinh, -INFINITY, 0, -INFINITY },
    { RD_OP_asinh, -0.0, 0, -0.0 },
    { RD_OP_acosh, 1, 0, 0 },
    { RD_OP_acosh, 0.5, 0, NAN },
    { RD_OP_acosh, INFINITY, 0, INFINITY },
    { RD_OP_atanh, 1, 0, INFINITY },
    { RD_OP_atanh, -1, 0, -INFINITY },
    { RD_OP_atanh, -0.0, 0, -0.0 },
    { RD_OP_atanh, 2, 0, NAN },
    { RD_OP_exp2, 10, 0, 1024 },
    { RD_OP_exp2, -INFINITY, 0, 0 },
    { RD_OP_exp2, -149, 0, 0x1p-149 },
    { RD_OP_exp10, 3, 0, 1000 },
    { RD_OP_exp10, -INFINITY, 0, 0 },
    { RD_OP_exp10, 400, 0, INFINITY },
    { RD_OP_log10, 1000, 0, 3 },
    { RD_OP_log10, -0.0, 0, -INFINITY },
    { RD_OP_log10, -1, 0, NAN },
    { RD_OP_log10, INFINITY, 0, INFINITY },
    { RD_OP_cbrt, -27, 0, -3 },
    { RD_OP_cbrt, -0.0, 0, -0.0 },
    { RD_OP_cbrt, -INFINITY, 0, -INFINITY },
    { RD_OP_reciprocal, -0.0, 0, -INFINITY },
    { RD_OP_reciprocal, 4, 0, 0.25 },
    { RD_OP_logaddexp, -INFINITY, -INFINITY, -INFINITY },
    { RD_OP_logaddexp, INFINITY, -INFINITY, INFINITY },
    { RD_OP_logaddexp, NAN, 1, NAN },
    { RD_OP_logaddexp, 1, NAN, NAN },
    { RD_OP_logaddexp, 100, -1000, 100 },
    { RD_OP_tgamma, 5, 0, 24 },
    { RD_OP_tgamma, -0.0, 0, -INFINITY },
    { RD_OP_tgamma, -2, 0, NAN },
    { RD_OP_tgamma, -INFINITY, 0, NAN },
    { RD_OP_tgamma, INFINITY, 0, INFINITY },
    { RD_OP_tgamma, -1000.5, 0, -0.0 },
    { RD_OP_lgamma, 1, 0, 0 },
    { RD_OP_lgamma, 2, 0, 0 },
    { RD_OP_lgamma, -3, 0, INFINITY },
    { RD_OP_lgamma, -INFINITY, 0, INFINITY },
    { RD_OP_lgamma, NAN, 0, NAN },
    { RD_OP_digamma, 0, 0, -INFINITY },
    { RD_OP_digamma, -0.0, 0, INFINITY },
    { RD_OP_digamma, -3, 0, NAN },
    { RD_OP_digamma, -INFINITY, 0, NAN },
    { RD_OP_digamma, INFINITY, 0, INFINITY },
    { RD_OP_digamma, NAN, 0, NAN },
    { RD_OP_digamma, -0x1p-100, 0, 0x1p100 },
    { RD_OP_ndtr, 0, 0, 0.5 },
    { RD_OP_ndtr, INFINITY, 0, 1 },
    { RD_OP_ndtr, -INFINITY, 0, 0 },
    { RD_OP_ndtr, NAN, 0, NAN },
    { RD_OP_copysign, 3, -0.0, -3 },
    { RD_OP_copysign, -INFINITY, 1, INFINITY },
    { RD_OP_copysign, 0, -2, -0.0 },
    { RD_OP_nextafter, 1, 1, 1 },
    { RD_OP_nextafter, 0, -0.0, -0.0 },
    { RD_OP_nextafter, NAN, 1, NAN },
    { RD_OP_nextafter, INFINITY, INFINITY, INFINITY },
    { RD_OP_ldexp, 3, 4, 48 },
    { RD_OP_ldexp, 1, -149, 0x1p-149 },
    { RD_OP_ldexp, INFINITY, -3000, INFINITY },
    { RD_OP_ldexp, -0.0, 5, -0.0 },
    { RD_OP_ldexp, 1, 3000, INFINITY },
    { RD_OP_ldexp, -1, -3000, -0.0 },
    { RD_OP_ldexp, NAN, 1, NAN },
    { RD_OP_ldexp, 1, NAN, NAN },
    { RD_OP_ldexp, 0x1p-149, 149, 1 },
    { RD_OP_ldexp, 0x1p127, -276, 0x1p-149 },
    { RD_OP_fraction, -12, 0, -0.75 },
    { RD_OP_fraction, 0x1p-149, 0, 0.5 },
    { RD_OP_fraction, -0.0, 0, -0.0 },
    { RD_OP_fraction, INFINITY, 0, INFINITY },
    { RD_OP_exponent, -12, 0, 4 },
    { RD_OP_exponent, 0x1p-149, 0, -148 },
    { RD_OP_exponent, 0, 0, 0 },
    { RD_OP_exponent, -INFINITY, 0, 0 },
    { RD_OP_heaviside, -2, 0.5, 0 },
    { RD_OP_heaviside, 0, 0.5, 0.5 },
    { RD_OP_heaviside, -0.0, 0.5, 0.5 },
    { RD_OP_heaviside, 3, 0.5, 1 },
    { RD_OP_heaviside, NAN, 0.5, NAN },
    { RD_OP_fmin, 1, NAN, 1 },
    { RD_OP_fmin, NAN, 1, 1 },
    { RD_OP_fmin, NAN, NAN, NAN },
    { RD_OP_fmin, -1, 2, -1 },
    { RD_OP_fmax, NAN, -3, -3 },
    { RD_OP_fmax, -3, NAN, -3 },
    { RD_OP_fmax, -INFINITY, 1, 1 },
    { RD_OP_fmod, -0.0, 1, -0.0 },
    { RD_OP_fmod, -7, 2, -1 },
    { RD_OP_fmod, 7, -2, 1 },
    { RD_OP_div, 1, -0.0, -INFINITY },
};

static bool same(double x, double y)
{
    return isnan(x) ? isnan(y) : x == y && signbit(x) == signbit(y);
}

START_TEST(op_of_floats)
{
    for (int narrow = 0; narrow < 2; narrow++) {
        const rd_dtype type       = narrow ? RD_F32 : RD_F64;
        const rd_word  operands[] = { rd_word_from_double(float_cases[_i].a, type),
                                      rd_word_from_double(float_cases[_i].b, type),
                                      { .u64 = 0 } };
        const rd_inst  map        = map_of(float_cases[_i].op, type, false);
        uint32_t       warnings;
        rd_word        y = { .u64 = 0 };

        apply(&map, type, operands, type, &y, &warnings);
        ck_assert_uint_eq(warnings, 0);
        const double got = narrow ? (double)y.f32 : y.f64;
        ck_assert_msg(same(got, float_cases[_i].want), "%s %s(%g, %g) = %g, not %g",
                      rd_dtype_name(type), rd_op_table[float_cases[_i].op].name, float_cases[_i].a,
                      float_cases[_i].b, got, float_cases[_i].want);
    }
}
END_TEST

/* floordiv and remainder belong together, as NumPy's, and the remainder is never the divisor. */
START_TEST(neighbours)
{
    static const double x64[] = { 0, 1, -1, 0x1p-1074, 0x1.fffffffffffffp1023, -0x1p-1022, 0.1 },
                        y64[] = { -1, 0, INFINITY, -INFINITY, 1 };
    uint32_t warnings         = 0;

    for (int i = 0; i < COUNT(x64); i++)
        for (int j = 0; j < COUNT(y64); j++) {
            const rd_word a = { .f64 = x64[i] }, b = { .f64 = y64[j] };
            const float   x = (float)x64[i], y = (float)y64[j];
            rd_word       next, c = { .u64 = 0 }, d = { .u64 = 0 };

            c.f32 = x;
            d.f32 = y;
            rd_op_code(RD_OP_nextafter, RD_CLASS_f64)(&next, &a, &b, NULL, &warnings);
            ck_assert(same(next.f64, nextafter(x64[i], y64[j])));
            rd_op_code(RD_OP_nextafter, RD_CLASS_f32)(&next, &c, &d, NULL, &warnings);
            ck_assert(same((double)next.f32, (double)nextafterf(x, y)));
        }
}
END_TEST

START_TEST(divmod_agree)
{
    srand(1);
    for (int k = 0; k < 2000; k++) {
        const double  x = (rand() - RAND_MAX / 2) / 1e7, d = (rand() % 201 - 100) / 16.0;
        const rd_word a = { .f64 = x }, b = { .f64 = d };
        rd_word       whole, rest;
        uint32_t      warnings = 0;

        if (d == 0)
            continue;
        rd_op_code(RD_OP_floordiv, RD_CLASS_f64)(&whole, &a, &b, NULL, &warnings);
        rd_op_code(RD_OP_remainder, RD_CLASS_f64)(&rest, &a, &b, NULL, &warnings);
        ck_assert(whole.f64 == floor(whole.f64) && fabs(rest.f64) < fabs(d) && rest.f64 * d >= 0);
        ck_assert_double_eq_tol(whole.f64 * d + rest.f64, x, 1e-12);
    }
}
END_TEST

START_TEST(fma_rounds_once)
{
    const rd_word single[] = { { .f32 = 1 + 0x1p-12F }, { .f32 = 1 - 0x1p-12F }, { .f32 = -1 } };
    const rd_word twice[]  = { { .f64 = 1 + 0x1p-30 }, { .f64 = 1 - 0x1p-30 }, { .f64 = -1 } };
    rd_word       y        = { .u64 = 0 };
    uint32_t      warnings;

    rd_inst map = map_of(RD_OP_fma, RD_F32, false);
    apply(&map, RD_F32, single, RD_F32, &y, &warnings);
    ck_assert(y.f32 == -0x1p-24F);
    map = map_of(RD_OP_fma, RD_F64, false);
    apply(&map, RD_F64, twice, RD_F64, &y, &warnings);
    ck_assert(y.f64 == -0x1p-60);
}
END_TEST

/* ---- Tests ----------------------------------------------------------------------------------- */
static const struct {
    rd_op  op;
    double a, b;
    bool   want;
} test_cases[] = {
    { RD_OP_eq, NAN, NAN, false },
    { RD_OP_ne, NAN, NAN, true },
    { RD_OP_lt, NAN, 1, false },
    { RD_OP_ge, NAN, 1, false },
    { RD_OP_eq, 0, -0.0, true },
    { RD_OP_lt, -0.0, 0, false },
    { RD_OP_le, 1, 1, true },
    { RD_OP_gt, INFINITY, 1e30, true },
    { RD_OP_isnan, NAN, 0, true },
    { RD_OP_isnan, INFINITY, 0, false },
    { RD_OP_isfinite, INFINITY, 0, false },
    { RD_OP_isfinite, 1, 0, true },
    { RD_OP_isfinite, NAN, 0, false },
    { RD_OP_isinf, -INFINITY, 0, true },
    { RD_OP_isinf, NAN, 0, false },
    { RD_OP_isinf, 1e308, 0, false },
    { RD_OP_signbit, -0.0, 0, true },
    { RD_OP_signbit, 0, 0, false },
    { RD_OP_signbit, -INFINITY, 0, true },
};

START_TEST(op_of_tests)
{
    const rd_word operands[] = { { .f64 = test_cases[_i].a },
                                 { .f64 = test_cases[_i].b },
                                 { .u64 = 0 } };
    const rd_inst map        = map_of(test_cases[_i].op, RD_F64, true);
    uint32_t      warnings;
    rd_word       y = { .u64 = 77 };

    apply(&map, RD_F64, operands, RD_U64, &y, &warnings);
    ck_assert_uint_eq(y.u64, test_cases[_i].want);
}
END_TEST

/* ---- Ints ------------------------------------------------------------------------------------ */
enum { WARN = RD_WARN_INT_DIVIDE };
static const struct {
    rd_op    op;
    rd_dtype type;
    int64_t  a, b, want; /* unsigned: the same 64 bits */
    uint32_t warnings;
} int_cases[] = {
    { RD_OP_floordiv, RD_I64, 7, 2, 3, 0 },
    { RD_OP_floordiv, RD_I64, -7, 2, -4, 0 },
    { RD_OP_floordiv, RD_I64, 7, -2, -4, 0 },
    { RD_OP_floordiv, RD_I64, -7, -2, 3, 0 },
    { RD_OP_floordiv, RD_I64, 6, -3, -2, 0 },
    { RD_OP_floordiv, RD_I64, 7, 0, 0, WARN },
    { RD_OP_floordiv, RD_I64, INT64_MIN, -1, INT64_MIN, 0 },
    { RD_OP_floordiv, RD_I64, -1, INT64_MIN, 0, 0 },
    { RD_OP_floordiv, RD_I64, 1, INT64_MIN, -1, 0 },
    { RD_OP_floordiv, RD_I8, -128, -1, -128, 0 },
    { RD_OP_floordiv, RD_U64, -1, -1, 1, 0 },
    { RD_OP_floordiv, RD_U64, -1, 2, INT64_MAX, 0 },
    { RD_OP_floordiv, RD_U8, 200, 0, 0, WARN },
    { RD_OP_remainder, RD_I64, 7, 2, 1, 0 },
    { RD_OP_remainder, RD_I64, -7, 2, 1, 0 },
    { RD_OP_remainder, RD_I64, 7, -2, -1, 0 },
    { RD_OP_remainder, RD_I64, -7, -2, -1, 0 },
    { RD_OP_remainder, RD_I64, 6, -3, 0, 0 },
    { RD_OP_remainder, RD_I64, 5, 0, 0, WARN },
    { RD_OP_remainder, RD_I64, INT64_MIN, -1, 0, 0 },
    { RD_OP_remainder, RD_I64, 1, INT64_MIN, INT64_MIN + 1, 0 },
    { RD_OP_remainder, RD_I64, INT64_MIN, INT64_MAX, INT64_MAX - 1, 0 },
    { RD_OP_remainder, RD_U64, 5, -1, 5, 0 },
    { RD_OP_remainder, RD_U16, 5, 0, 0, WARN },
    { RD_OP_pow, RD_I64, 2, 10, 1024, 0 },
    { RD_OP_pow, RD_I64, -3, 3, -27, 0 },
    { RD_OP_pow, RD_I64, 2, 64, 0, 0 },
    { RD_OP_pow, RD_I64, -2, 63, INT64_MIN, 0 },
    { RD_OP_pow, RD_I64, 0, 0, 1, 0 },
    { RD_OP_pow, RD_I64, 2, -1, 0, 0 },
    { RD_OP_pow, RD_I64, 1, -5, 1, 0 },
    { RD_OP_pow, RD_I64, -1, -5, -1, 0 },
    { RD_OP_pow, RD_I64, -1, -4, 1, 0 },
    { RD_OP_pow, RD_I64, -1, INT64_MIN, 1, 0 },
    { RD_OP_pow, RD_I64, 0, -1, 0, WARN },
    { RD_OP_pow, RD_I8, 2, 7, -128, 0 },
    { RD_OP_pow, RD_U8, 2, 8, 0, 0 },
    { RD_OP_pow, RD_U64, 3, 41, (int64_t)0xfa2a1cf67b5fb863u, 0 },
    { RD_OP_add, RD_I8, 127, 1, -128, 0 },
    { RD_OP_add, RD_U8, 255, 1, 0, 0 },
    { RD_OP_add, RD_I64, INT64_MAX, 1, INT64_MIN, 0 },
    { RD_OP_sub, RD_U8, 0, 1, 255, 0 },
    { RD_OP_sub, RD_U64, 0, 1, -1, 0 },
    { RD_OP_mul, RD_I16, 300, 300, 24464, 0 },
    { RD_OP_mul, RD_I64, INT64_MIN, -1, INT64_MIN, 0 },
    { RD_OP_square, RD_I32, 65536, 0, 0, 0 },
    { RD_OP_neg, RD_I8, -128, 0, -128, 0 },
    { RD_OP_neg, RD_U8, 1, 0, 255, 0 },
    { RD_OP_abs, RD_I64, INT64_MIN, 0, INT64_MIN, 0 },
    { RD_OP_abs, RD_U64, -1, 0, -1, 0 },
    { RD_OP_sign, RD_I32, -9, 0, -1, 0 },
    { RD_OP_sign, RD_U64, -1, 0, 1, 0 },
    { RD_OP_minimum, RD_I64, -1, 1, -1, 0 },
    { RD_OP_minimum, RD_U64, -1, 1, 1, 0 },
    { RD_OP_maximum, RD_U64, -1, 1, -1, 0 },
    { RD_OP_floor, RD_I32, -5, 0, -5, 0 },
    { RD_OP_bit_and, RD_I8, -2, 7, 6, 0 },
    { RD_OP_bit_and, RD_U64, -1, 255, 255, 0 },
    { RD_OP_bit_or, RD_I64, INT64_MIN, 1, INT64_MIN + 1, 0 },
    { RD_OP_bit_or, RD_BOOL, 0, 1, 1, 0 },
    { RD_OP_bit_xor, RD_I16, -1, 1, -2, 0 },
    { RD_OP_bit_xor, RD_BOOL, 1, 1, 0, 0 },
    { RD_OP_bit_not, RD_U8, 1, 0, 254, 0 },
    { RD_OP_bit_not, RD_I32, 0, 0, -1, 0 },
    { RD_OP_bit_not, RD_U64, 0, 0, -1, 0 },
    { RD_OP_shift_left, RD_I8, 1, 7, -128, 0 },
    { RD_OP_shift_left, RD_I8, 1, 8, 0, 0 },
    { RD_OP_shift_left, RD_U8, 255, 1, 254, 0 },
    { RD_OP_shift_left, RD_I64, -1, 63, INT64_MIN, 0 },
    { RD_OP_shift_left, RD_I64, -1, 64, 0, 0 },
    { RD_OP_shift_left, RD_I64, 1, -1, 0, 0 },
    { RD_OP_shift_left, RD_I32, 1, -32, 0, 0 },
    { RD_OP_shift_left, RD_U64, 1, -1, 0, 0 },
    { RD_OP_shift_right, RD_I8, -128, 7, -1, 0 },
    { RD_OP_shift_right, RD_I8, -128, 100, -1, 0 },
    { RD_OP_shift_right, RD_I8, 127, 8, 0, 0 },
    { RD_OP_shift_right, RD_I64, -5, 1, -3, 0 },
    { RD_OP_shift_right, RD_I64, -5, -1, -1, 0 },
    { RD_OP_shift_right, RD_I64, 5, -1, 0, 0 },
    { RD_OP_shift_right, RD_I64, INT64_MIN, 64, -1, 0 },
    { RD_OP_shift_right, RD_U64, -1, 63, 1, 0 },
    { RD_OP_shift_right, RD_U64, -1, 64, 0, 0 },
    { RD_OP_shift_right, RD_U32, 0xffffffff, 31, 1, 0 },
    { RD_OP_popcount, RD_U8, 255, 0, 8, 0 },
    { RD_OP_popcount, RD_U64, -1, 0, 64, 0 },
    { RD_OP_popcount, RD_U64, INT64_MIN, 0, 1, 0 },
    { RD_OP_popcount, RD_U32, 0, 0, 0, 0 },
    { RD_OP_popcount, RD_BOOL, 1, 0, 1, 0 },
    { RD_OP_gcd, RD_I64, 12, -18, 6, 0 },
    { RD_OP_gcd, RD_I64, 0, -7, 7, 0 },
    { RD_OP_gcd, RD_I64, 0, 0, 0, 0 },
    { RD_OP_gcd, RD_I64, INT64_MIN, 0, INT64_MIN, 0 },
    { RD_OP_gcd, RD_I64, INT64_MIN, 6, 2, 0 },
    { RD_OP_gcd, RD_I8, -128, -128, -128, 0 },
    { RD_OP_gcd, RD_U64, -1, 5, 5, 0 },
    { RD_OP_philox, RD_U64, 0, 0, (int64_t)0xe169c58d6627e8d5, 0 },
    { RD_OP_philox, RD_U64, 1, 0, (int64_t)0x9b00dbd8bc57ac4c, 0 },
    { RD_OP_lcm, RD_I64, 4, -6, 12, 0 },
    { RD_OP_lcm, RD_I64, 0, 0, 0, 0 },
    { RD_OP_lcm, RD_I64, 0, 5, 0, 0 },
    { RD_OP_lcm, RD_U8, 128, 6, 128, 0 },
    { RD_OP_lcm, RD_I64, INT64_MIN, -1, INT64_MIN, 0 },
    { RD_OP_and, RD_BOOL, 1, 1, 1, 0 },
    { RD_OP_or, RD_BOOL, 1, 0, 1, 0 },
    { RD_OP_xor, RD_BOOL, 1, 1, 0, 0 },
    { RD_OP_not, RD_BOOL, 0, 0, 1, 0 },
};

START_TEST(op_of_ints)
{
    const rd_word operands[] = { { .i64 = int_cases[_i].a },
                                 { .i64 = int_cases[_i].b },
                                 { .u64 = 0 } };
    const rd_inst map        = map_of(int_cases[_i].op, int_cases[_i].type, false);
    uint32_t      warnings;
    rd_word       y = { .u64 = 77 };

    apply(&map, int_cases[_i].type, operands, RD_U64, &y, &warnings);
    ck_assert_int_eq(y.i64, int_cases[_i].want);
    ck_assert_uint_eq(warnings, int_cases[_i].warnings);
}
END_TEST

/* Order is the type's, not the bits'. */
START_TEST(int_order)
{
    const rd_word operands[] = { { .i64 = -1 }, { .i64 = 1 }, { .u64 = 0 } };
    rd_word       y          = { .u64 = 77 };
    uint32_t      warnings;

    rd_inst map = map_of(RD_OP_lt, RD_I8, true);
    apply(&map, RD_I8, operands, RD_U64, &y, &warnings);
    ck_assert_uint_eq(y.u64, 1);
    map = map_of(RD_OP_lt, RD_U64, true);
    apply(&map, RD_U64, operands, RD_U64, &y, &warnings);
    ck_assert_uint_eq(y.u64, 0);
}
END_TEST

/* ---- Casts ----------------------------------------------------------------------------------- */
static const struct {
    double   x;
    rd_dtype from, to;
    double   want;
} casts[] = {
    { 300, RD_F64, RD_U8, 44 },          { NAN, RD_F32, RD_I32, 0 },
    { -1.5, RD_F64, RD_I64, -1 },        { 0.5, RD_F64, RD_BOOL, 1 },
    { NAN, RD_F64, RD_BOOL, 1 },         { 0, RD_F32, RD_BOOL, 0 },
    { -1, RD_I64, RD_U8, 255 },          { 200, RD_U8, RD_I8, -56 },
    { -1, RD_I8, RD_F32, -1 },           { 16777217, RD_I64, RD_F32, 16777216 },
    { 1e300, RD_F64, RD_F32, INFINITY },
};

START_TEST(cast)
{
    const rd_inst map = {
        .kind = RD_I_CAST, .type = casts[_i].to, .from = casts[_i].from, .dst = 3
    };
    const rd_word x          = rd_word_from_double(casts[_i].x, casts[_i].from);
    const rd_word operands[] = { x, x, x };
    uint32_t      warnings;
    char          y[8];

    apply(&map, casts[_i].from, operands, casts[_i].to, y, &warnings);
    ck_assert(rd_word_to_double(rd_word_load(y, casts[_i].to), casts[_i].to) == casts[_i].want);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ops");
    TCase *ops   = tcase_create("ops");

    tcase_add_loop_test(ops, op_has_code, 0, COUNT(rows));
    tcase_add_loop_test(ops, op_of_extremes, 0, COUNT(rows));
    tcase_add_loop_test(ops, op_of_floats, 0, COUNT(float_cases));
    tcase_add_test(ops, neighbours);
    tcase_add_test(ops, divmod_agree);
    tcase_add_test(ops, fma_rounds_once);
    tcase_add_loop_test(ops, op_of_tests, 0, COUNT(test_cases));
    tcase_add_loop_test(ops, op_of_ints, 0, COUNT(int_cases));
    tcase_add_test(ops, int_order);
    tcase_add_loop_test(ops, cast, 0, COUNT(casts));
    suite_add_tcase(suite, ops);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
