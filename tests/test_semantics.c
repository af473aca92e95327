/* docs/semantics.md on numbers: types, NaN in maps, integers.  The page names for each rule the
 * test that shows it. */
#include "values.h"

#include <math.h>
#include <string.h>

/* Rows of maps: one operator on one or two numbers of a type. */
typedef struct map_row {
    const char *what;
    rd_expr *(*one)(rd_expr *);
    rd_expr *(*two)(rd_expr *, rd_expr *);
    rd_dtype type;
    double   x, y;
    rd_dtype want_type;
    double   want;
} map_row;

static void check_maps(const map_row *row, size_t n)
{
    for (; n--; row++) {
        rd_expr *x = leaf(row->type, VALUES(row->x));
        expect(row->what, row->one ? row->one(x) : row->two(x, leaf(row->type, VALUES(row->y))),
               row->want_type, VALUES(row->want));
        forget_leaves();
    }
}

/* ---- Types ----------------------------------------------------------------------------------- */
enum { TYPES = 13 };
static const rd_dtype types[TYPES] = { RD_BOOL, RD_I8,  RD_I16, RD_I32, RD_I64, RD_U8,  RD_U16,
                                       RD_U32,  RD_U64, RD_F32, RD_F64, RD_F16, RD_BF16 };
static const char     type_names[] = "B   i8  i16 i32 i64 u8  u16 u32 u64 f32 f64 f16 bf  ";

/* numpy.result_type, NumPy 2; bf16 by the same reasons */
static const char *const promotions[TYPES] = {
    "B   i8  i16 i32 i64 u8  u16 u32 u64 f32 f64 f16 bf  ",
    "i8  i8  i16 i32 i64 i16 i32 i64 f64 f32 f64 f16 bf  ",
    "i16 i16 i16 i32 i64 i16 i32 i64 f64 f32 f64 f32 f32 ",
    "i32 i32 i32 i32 i64 i32 i32 i64 f64 f64 f64 f64 f64 ",
    "i64 i64 i64 i64 i64 i64 i64 i64 f64 f64 f64 f64 f64 ",
    "u8  i16 i16 i32 i64 u8  u16 u32 u64 f32 f64 f16 bf  ",
    "u16 i32 i32 i32 i64 u16 u16 u32 u64 f32 f64 f32 f32 ",
    "u32 i64 i64 i64 i64 u32 u32 u32 u64 f64 f64 f64 f64 ",
    "u64 f64 f64 f64 f64 u64 u64 u64 u64 f64 f64 f64 f64 ",
    "f32 f32 f32 f64 f64 f32 f32 f64 f64 f32 f64 f32 f32 ",
    "f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 ",
    "f16 f16 f32 f64 f64 f16 f32 f64 f64 f32 f64 f16 f32 ",
    "bf  bf  f32 f64 f64 bf  f32 f64 f64 f32 f64 f32 bf  ",
};

static rd_dtype named_type(const char *name)
{
    for (int t = 0; t < TYPES; t++)
        if (memcmp(name, type_names + 4 * t, 4) == 0)
            return types[t];
    ck_abort_msg("no type %.4s", name);
}

START_TEST(promotion)
{
    for (int i = 0; i < TYPES; i++)
        for (int j = 0; j < TYPES; j++) {
            rd_expr *x = leaf(types[i], VALUES(0)), *y = leaf(types[j], VALUES(1));
            expect(promotions[i], rd_maximum(x, y), named_type(promotions[i] + 4 * j), VALUES(1));
            forget_leaves();
        }
}
END_TEST

/* The six comparisons of two ints, as bits. */
static unsigned compared(__int128 a, __int128 b)
{
    return (unsigned)(a == b) | (a != b) << 1 | (a < b) << 2 | (a <= b) << 3 | (a > b) << 4 |
           (a >= b) << 5;
}

/* Of rows x and columns y, either of which may be the u64. */
static void expect_compared(rd_expr *x, rd_expr *y, int rows, int cols, const unsigned *want)
{
    static const struct {
        const char *what;
        rd_expr *(*map)(rd_expr *, rd_expr *);
    } maps[] = { { "eq", rd_eq }, { "ne", rd_ne }, { "lt", rd_lt },
                 { "le", rd_le }, { "gt", rd_gt }, { "ge", rd_ge } };

    for (size_t k = 0; k < COUNT(maps); k++) {
        bool      out[64];
        rd_status status =
            rd_eval(ctx, maps[k].map(rd_expand(x, 1), y), RD_INTO(out, RD_SHAPE(rows, cols)));

        ck_assert_msg(status == RD_OK, "%s: %s", maps[k].what, rd_error_text(ctx));
        for (int i = 0; i < rows * cols; i++)
            ck_assert_msg(out[i] == (want[i] >> k & 1), "%s, row %d, column %d: %d", maps[k].what,
                          i / cols, i % cols, out[i]);
    }
}

START_TEST(ints_compared)
{
    enum { N = 7 };
    static const int64_t  x[N]     = { 0, -1, 1, INT64_MAX, INT64_MIN, (1LL << 53) + 1, -7 };
    static const uint64_t y[N]     = { 0,          UINT64_MAX,    1, INT64_MAX, 1ULL << 63,
                                       1ULL << 53, UINT64_MAX - 6 };
    static const int8_t   small[N] = { 0, -1, 1, 127, -128, 5, -7 };
    unsigned              want[N * N], back[N * N], narrow[N * N];

    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            want[i * N + k]   = compared(x[i], y[k]);
            back[k * N + i]   = compared(y[k], x[i]);
            narrow[i * N + k] = compared(small[i], y[k]);
        }
    rd_expr *a = rd_wrap(ctx, x, RD_SHAPE(N)), *b = rd_wrap(ctx, y, RD_SHAPE(N));
    expect_compared(a, b, N, N, want);
    expect_compared(b, a, N, N, back);
    expect_compared(rd_wrap(ctx, small, RD_SHAPE(N)), b, N, N, narrow);
    ck_assert(rd_type_of(rd_add(a, b)) == RD_F64);

    /* beside floats both are f64 */
    rd_expr *f = leaf(RD_F64, VALUES(0x1p53));
    expect("2^53 + 1 and 2^53", rd_eq(rd_select(a, 0, 5), f), RD_BOOL, VALUES(1));
    expect("2^63 - 1 and 2^63", rd_lt(rd_select(a, 0, 3), leaf(RD_F32, VALUES(0x1p63))), RD_BOOL,
           VALUES(0));
}
END_TEST

START_TEST(weak_numbers)
{
    static const struct {
        const char *what;
        bool        is_int;
        double      number;
        rd_dtype    partner, want; /* RD_AUTO: RD_ERR_TYPE */
    } rows[] = {
        { "0.5 meets f32", false, 0.5, RD_F32, RD_F32 },
        { "0.5 meets f64", false, 0.5, RD_F64, RD_F64 },
        { "0.5 meets i32", false, 0.5, RD_I32, RD_F64 },
        { "0.5 meets u8", false, 0.5, RD_U8, RD_F64 },
        { "2.0 meets i32", false, 2, RD_I32, RD_F64 },
        { "int 1 meets u8", true, 1, RD_U8, RD_U8 },
        { "int 1 meets f32", true, 1, RD_F32, RD_F32 },
        { "int 300 meets u16", true, 300, RD_U16, RD_U16 },
        { "int 300 meets u8", true, 300, RD_U8, RD_AUTO },
        { "int -1 meets u8", true, -1, RD_U8, RD_AUTO },
        { "int 128 meets i8", true, 128, RD_I8, RD_AUTO },
        { "0.5 meets f16", false, 0.5, RD_F16, RD_F16 },
        { "0.5 meets bf16", false, 0.5, RD_BF16, RD_BF16 },
        { "int 3 meets f16", true, 3, RD_F16, RD_F16 },
    };

    for (size_t k = 0; k < COUNT(rows); k++) {
        rd_expr *number =
            rows[k].is_int ? rd_int(ctx, (int64_t)rows[k].number) : rd_num(ctx, rows[k].number);
        rd_expr *y = rd_add(leaf(rows[k].partner, VALUES(3)), number);
        if (rows[k].want == RD_AUTO)
            expect_error(rows[k].what, y, RD_ERR_TYPE);
        else
            expect(rows[k].what, y, rows[k].want, VALUES(3 + rows[k].number));
    }
    expect("a number alone", rd_num(ctx, 2), RD_F64, VALUES(2));
    expect("an int alone", rd_int(ctx, 2), RD_I64, VALUES(2));
}
END_TEST

START_TEST(weak_int_bits)
{
    const int64_t big = (INT64_C(1) << 53) + 1;
    int64_t       y   = 0;

    ck_assert(rd_eval(ctx, rd_add(rd_int(ctx, big), leaf(RD_I64, VALUES(0))),
                      RD_INTO(&y, RD_SHAPE(1))) == RD_OK);
    ck_assert(y == big);
}
END_TEST

START_TEST(bool_and_int_maps)
{
    static const map_row rows[] = {
        { "true + true", NULL, rd_add, RD_BOOL, 1, 1, RD_I64, 2 },
        { "-true", rd_neg, NULL, RD_BOOL, 1, 0, RD_I64, -1 },
        { "true * true", NULL, rd_mul, RD_BOOL, 1, 1, RD_I64, 1 },
        { "max of bools", NULL, rd_maximum, RD_BOOL, 0, 1, RD_BOOL, 1 },
        { "sqrt of an int", rd_sqrt, NULL, RD_I32, 9, 0, RD_F64, 3 },
        { "exp of a bool", rd_exp, NULL, RD_BOOL, 0, 0, RD_F64, 1 },
        { "hypot of bytes", NULL, rd_hypot, RD_U8, 3, 4, RD_F64, 5 },
        { "int / int", NULL, rd_div, RD_I32, 1, 2, RD_F64, 0.5 },
        { "int / 0", NULL, rd_div, RD_I32, 1, 0, RD_F64, INFINITY },
        { "f32 / f32", NULL, rd_div, RD_F32, 1, 2, RD_F32, 0.5 },
    };
    check_maps(rows, COUNT(rows));
}
END_TEST

/* Each operation in f32, then rounded to 16 bits. */
START_TEST(halves)
{
    static const map_row rows[] = {
        { "2048 + 1", NULL, rd_add, RD_F16, 2048, 1, RD_F16, 2048 },
        { "2050 + 1", NULL, rd_add, RD_F16, 2050, 1, RD_F16, 2052 },
        { "1 / 3", NULL, rd_div, RD_F16, 1, 3, RD_F16, 0x1.554p-2 },
        { "1 / 3 in bf16", NULL, rd_div, RD_BF16, 1, 3, RD_BF16, 0x1.56p-2 },
        { "60000 + 60000", NULL, rd_add, RD_F16, 60000, 60000, RD_F16, INFINITY },
        { "60000 + 60000 in bf16", NULL, rd_add, RD_BF16, 59904, 59904, RD_BF16, 119808 },
        { "sqrt", rd_sqrt, NULL, RD_F16, 2, 0, RD_F16, 0x1.6ap0 },
        { "2^-24 / 2", NULL, rd_div, RD_F16, 0x1p-24, 2, RD_F16, 0 },
        { "comparison", NULL, rd_lt, RD_F16, 1, 1 + 0x1p-10, RD_BOOL, 1 },
    };
    const double number[] = { 0.1, 2048, 2049, 70000 };

    check_maps(rows, COUNT(rows));
    expect("a number", rd_mul(leaf(RD_F16, VALUES(1)), rd_num(ctx, 0.1)), RD_F16,
           VALUES(0x1.998p-4));
    expect("from f64", rd_cast(leaf(RD_F64, number, 4), RD_F16), RD_F16,
           VALUES(0x1.998p-4, 2048, 2048, INFINITY));
    expect("from f64 to bf16", rd_cast(leaf(RD_F64, number, 4), RD_BF16), RD_BF16,
           VALUES(0x1.9ap-4, 2048, 2048, 70144));
    /* Between two roundings: 1 + 2^-11 is a tie, and as f32 the number would be one. */
    expect("rounded once", rd_cast(leaf(RD_F64, VALUES(1 + 0x1p-11 + 0x1p-40)), RD_F16), RD_F16,
           VALUES(1 + 0x1p-10));
}
END_TEST

/* Too large is above 464, half way to what the next number would be. */
START_TEST(float_of_8_bits)
{
    static const map_row rows[] = {
        { "16 + 1", NULL, rd_add, RD_F8, 16, 1, RD_F8, 16 },
        { "18 + 1", NULL, rd_add, RD_F8, 18, 1, RD_F8, 20 },
        { "1 / 3", NULL, rd_div, RD_F8, 1, 3, RD_F8, 0.34375 },
        { "448 + 16", NULL, rd_add, RD_F8, 448, 16, RD_F8, 448 },
        { "448 + 32", NULL, rd_add, RD_F8, 448, 32, RD_F8, NAN },
        { "1 / 0", NULL, rd_div, RD_F8, 1, 0, RD_F8, NAN },
        { "2^-9 / 2", NULL, rd_div, RD_F8, 0x1p-9, 2, RD_F8, 0 },
        { "comparison", NULL, rd_lt, RD_F8, 1, 1.125, RD_BOOL, 1 },
    };
    const double number[] = { 0.1, 464, 465, INFINITY, -0x1p-10, 1e300 };
    rd_expr     *x;

    check_maps(rows, COUNT(rows));
    x = leaf(RD_F8, VALUES(448, 448, -448));
    expect("from f64", rd_cast(leaf(RD_F64, number, 6), RD_F8), RD_F8,
           VALUES(0.1015625, 448, NAN, NAN, -0.0, NAN));
    expect("a number", rd_mul(leaf(RD_F8, VALUES(1)), rd_num(ctx, 0.1)), RD_F8, VALUES(0.1015625));
    expect_error("a large number", rd_lt(x, rd_num(ctx, 1000)), RD_ERR_TYPE);
    expect_error("a large int", rd_add(x, rd_int(ctx, 480)), RD_ERR_TYPE);
    expect_error("infinity", rd_minimum(x, rd_num(ctx, INFINITY)), RD_ERR_TYPE);
    expect("a sum", rd_sum(x, RD_ALL), RD_F8, VALUES(448));
    expect("a large sum", rd_sum(rd_abs(x), RD_ALL), RD_F8, VALUES(NAN));
    expect("kept in f32", rd_sum(rd_abs(x), RD_ALL, .type = RD_F32), RD_F32, VALUES(1344));
    expect("nothing to choose", rd_max(x, RD_ALL, .where = rd_gt(x, x)), RD_F8, VALUES(NAN));
    expect("mean", rd_mean(x, RD_ALL), RD_F8, VALUES(144));
    expect("sorted", rd_sort(leaf(RD_F8, VALUES(2, NAN, -448, 448, 0)), 0), RD_F8,
           VALUES(-448, 0, 2, 448, NAN));
    expect("beside f16", rd_add(x, leaf(RD_F16, VALUES(1))), RD_F16, VALUES(449, 449, -447));
    expect("beside u8", rd_add(x, leaf(RD_U8, VALUES(1))), RD_F32, VALUES(449, 449, -447));
}
END_TEST

START_TEST(casts)
{
    static const struct {
        const char *what;
        rd_dtype    from;
        double      x;
        rd_dtype    to;
        double      want;
    } rows[] = {
        { "truncates", RD_F64, 2.9, RD_I32, 2 },
        { "towards 0", RD_F32, -2.5, RD_I8, -2 },
        { "wraps", RD_F64, 300, RD_U8, 44 },
        { "wraps below 0", RD_F64, -129, RD_I8, 127 },
        { "cut to 64 bits without sign", RD_F64, -1, RD_U8, 0 },
        { "NaN", RD_F64, NAN, RD_I32, 0 },
        { "too large for 64 bits", RD_F64, 1e30, RD_I64, 9223372036854775807.0 },
        { "cut to 64 bits, then wrapped", RD_F64, 1e30, RD_I32, -1 },
        { "too small", RD_F64, -INFINITY, RD_I64, -9223372036854775808.0 },
        { "ints wrap", RD_I32, 65537, RD_I16, 1 },
        { "signed to unsigned", RD_I8, -1, RD_U32, 4294967295 },
        { "to bool", RD_F32, 0.5, RD_BOOL, 1 },
        { "NaN to bool", RD_F32, NAN, RD_BOOL, 1 },
        { "-0.0 to bool", RD_F32, -0.0, RD_BOOL, 0 },
        { "256 to bool", RD_I32, 256, RD_BOOL, 1 },
        { "bool to float", RD_BOOL, 1, RD_F32, 1 },
        { "-0.0 to a wider float", RD_F32, -0.0, RD_F64, -0.0 },
        { "rounds to nearest", RD_F64, 16777217, RD_F32, 16777216 },
    };

    for (size_t k = 0; k < COUNT(rows); k++) {
        expect(rows[k].what, rd_cast(leaf(rows[k].from, VALUES(rows[k].x)), rows[k].to), rows[k].to,
               VALUES(rows[k].want));
        forget_leaves();
    }
}
END_TEST

START_TEST(rounding)
{
    static const map_row rows[] = {
        { "round 0.5", rd_round, NULL, RD_F64, 0.5, 0, RD_F64, 0 },
        { "round 1.5", rd_round, NULL, RD_F32, 1.5, 0, RD_F32, 2 },
        { "round -2.5", rd_round, NULL, RD_F64, -2.5, 0, RD_F64, -2 },
        { "floor", rd_floor, NULL, RD_F64, -1.5, 0, RD_F64, -2 },
        { "ceil keeps -0", rd_ceil, NULL, RD_F64, -0.5, 0, RD_F64, -0.0 },
        { "trunc", rd_trunc, NULL, RD_F32, -1.5, 0, RD_F32, -1 },
        { "ints pass", rd_round, NULL, RD_I16, 7, 0, RD_I16, 7 },
        { "bools pass", rd_floor, NULL, RD_BOOL, 1, 0, RD_BOOL, 1 },
    };
    check_maps(rows, COUNT(rows));
}
END_TEST

/* ---- NaN and -0.0 ---------------------------------------------------------------------------- */
START_TEST(nan_in_maps)
{
    static const map_row rows[] = {
        { "minimum(NaN, 1)", NULL, rd_minimum, RD_F32, NAN, 1, RD_F32, NAN },
        { "minimum(1, NaN)", NULL, rd_minimum, RD_F32, 1, NAN, RD_F32, NAN },
        { "maximum(1, NaN)", NULL, rd_maximum, RD_F64, 1, NAN, RD_F64, NAN },
        { "sign(NaN)", rd_sign, NULL, RD_F64, NAN, 0, RD_F64, NAN },
        { "NaN == NaN", NULL, rd_eq, RD_F64, NAN, NAN, RD_BOOL, 0 },
        { "NaN != NaN", NULL, rd_ne, RD_F64, NAN, NAN, RD_BOOL, 1 },
        { "NaN < 1", NULL, rd_lt, RD_F64, NAN, 1, RD_BOOL, 0 },
        { "NaN >= 1", NULL, rd_ge, RD_F32, NAN, 1, RD_BOOL, 0 },
        { "isnan", rd_isnan, NULL, RD_F32, NAN, 0, RD_BOOL, 1 },
        { "isfinite", rd_isfinite, NULL, RD_F32, NAN, 0, RD_BOOL, 0 },
        { "not NaN", rd_not, NULL, RD_F64, NAN, 0, RD_BOOL, 0 },
        { "NaN and true", NULL, rd_and, RD_F64, NAN, 1, RD_BOOL, 1 },
        { "isnan of an int", rd_isnan, NULL, RD_I32, 5, 0, RD_BOOL, 0 },
    };
    check_maps(rows, COUNT(rows));
}
END_TEST

START_TEST(negative_zero)
{
    static const map_row rows[] = {
        { "-(0.0)", rd_neg, NULL, RD_F32, 0.0, 0, RD_F32, -0.0 },
        { "-0.0 * 1", NULL, rd_mul, RD_F64, -0.0, 1, RD_F64, -0.0 },
        { "-0.0 + -0.0", NULL, rd_add, RD_F32, -0.0, -0.0, RD_F32, -0.0 },
        { "-0.0 + 0.0", NULL, rd_add, RD_F32, -0.0, 0.0, RD_F32, 0.0 },
        { "sqrt(-0.0)", rd_sqrt, NULL, RD_F64, -0.0, 0, RD_F64, -0.0 },
        { "abs(-0.0)", rd_abs, NULL, RD_F64, -0.0, 0, RD_F64, 0.0 },
    };
    check_maps(rows, COUNT(rows));
    expect("sum of nothing", rd_sum(leaf(RD_F64, NULL, 0), RD_ALL), RD_F64, VALUES(0.0));
    expect("a view", rd_flip(leaf(RD_F32, VALUES(-0.0, 1)), RD_DIMS(0)), RD_F32, VALUES(1, -0.0));
}
END_TEST

/* ---- Functions ------------------------------------------------------------------------------- */
START_TEST(functions)
{
    static const map_row rows[] = {
        { "asin(2)", rd_asin, NULL, RD_F32, 2, 0, RD_F32, NAN },
        { "acos(1)", rd_acos, NULL, RD_F64, 1, 0, RD_F64, 0 },
        { "atan(-0.0)", rd_atan, NULL, RD_F32, -0.0, 0, RD_F32, -0.0 },
        { "cosh of an int", rd_cosh, NULL, RD_I32, 0, 0, RD_F64, 1 },
        { "acosh(0.5)", rd_acosh, NULL, RD_F64, 0.5, 0, RD_F64, NAN },
        { "atanh(-1)", rd_atanh, NULL, RD_F32, -1, 0, RD_F32, -INFINITY },
        { "exp10(2)", rd_exp10, NULL, RD_F16, 2, 0, RD_F16, 100 },
        { "log10(0)", rd_log10, NULL, RD_F64, 0, 0, RD_F64, -INFINITY },
        { "cbrt(-8)", rd_cbrt, NULL, RD_F32, -8, 0, RD_F32, -2 },
        { "erfc(-inf)", rd_erfc, NULL, RD_F64, -INFINITY, 0, RD_F64, 2 },
        { "erfinv(1)", rd_erfinv, NULL, RD_F32, 1, 0, RD_F32, INFINITY },
        { "digamma(0)", rd_digamma, NULL, RD_F32, 0, 0, RD_F32, -INFINITY },
        { "digamma of an int", rd_digamma, NULL, RD_I32, -3, 0, RD_F64, NAN },
        { "ndtr(-inf)", rd_ndtr, NULL, RD_F64, -INFINITY, 0, RD_F64, 0 },
        { "sigmoid(-inf)", rd_sigmoid, NULL, RD_F32, -INFINITY, 0, RD_F32, 0 },
        { "silu(-inf)", rd_silu, NULL, RD_F64, -INFINITY, 0, RD_F64, -0.0 },
        { "gelu(-inf)", rd_gelu, NULL, RD_F32, -INFINITY, 0, RD_F32, -0.0 },
        { "softplus(1000)", rd_softplus, NULL, RD_F16, 1000, 0, RD_F16, 1000 },
        { "relu(NaN)", rd_relu, NULL, RD_F32, NAN, 0, RD_F32, NAN },
        { "relu of ints", rd_relu, NULL, RD_I8, -3, 0, RD_I8, 0 },
        { "sinc(0)", rd_sinc, NULL, RD_F64, 0, 0, RD_F64, 1 },
        { "nan_to_num(NaN)", rd_nan_to_num, NULL, RD_F32, NAN, 0, RD_F32, 0 },
        { "nan_to_num(-inf)", rd_nan_to_num, NULL, RD_F16, -INFINITY, 0, RD_F16, -65504 },
        { "nan_to_num of ints", rd_nan_to_num, NULL, RD_I8, 3, 0, RD_I8, 3 },
        { "logaddexp(-inf, -inf)", NULL, rd_logaddexp, RD_F32, -INFINITY, -INFINITY, RD_F32,
          -INFINITY },
        { "fmin(1, NaN)", NULL, rd_fmin, RD_F32, 1, NAN, RD_F32, 1 },
        { "fmax(NaN, 1)", NULL, rd_fmax, RD_F64, NAN, 1, RD_F64, 1 },
        { "fmax of ints", NULL, rd_fmax, RD_U8, 3, 4, RD_U8, 4 },
        { "copysign(3, -0.0)", NULL, rd_copysign, RD_F32, 3, -0.0, RD_F32, -3 },
        { "heaviside(0, 0.5)", NULL, rd_heaviside, RD_F64, 0, 0.5, RD_F64, 0.5 },
        { "nextafter(0, 1)", NULL, rd_nextafter, RD_F64, 0, 1, RD_F64, 0x1p-1074 },
        { "ldexp(3, 4)", NULL, rd_ldexp, RD_F32, 3, 4, RD_F32, 48 },
        { "fraction(12)", rd_fraction, NULL, RD_F64, 12, 0, RD_F64, 0.75 },
        { "exponent(12)", rd_exponent, NULL, RD_F32, 12, 0, RD_F32, 4 },
        { "isinf", rd_isinf, NULL, RD_F32, -INFINITY, 0, RD_BOOL, 1 },
        { "signbit(-0.0)", rd_signbit, NULL, RD_F64, -0.0, 0, RD_BOOL, 1 },
        { "signbit of an int", rd_signbit, NULL, RD_I16, -1, 0, RD_BOOL, 1 },
        { "sign(-0.0)", rd_sign, NULL, RD_F32, -0.0, 0, RD_F32, -0.0 },
        { "reciprocal(-0.0)", rd_reciprocal, NULL, RD_F32, -0.0, 0, RD_F32, -INFINITY },
        { "deg2rad(180)", rd_deg2rad, NULL, RD_F64, 180, 0, RD_F64, 3.141592653589793 },
        { "rad2deg of an int", rd_rad2deg, NULL, RD_I32, 0, 0, RD_F64, 0 },
    };
    rd_expr *x, *y;

    check_maps(rows, COUNT(rows));
    x = leaf(RD_F64, VALUES(1, 1, INFINITY, NAN, -1e9));
    y = leaf(RD_F64, VALUES(1 + 1e-6, 1.1, INFINITY, NAN, -1e9 + 1));
    expect("close", rd_isclose(x, y, 1e-5, 1e-8), RD_BOOL, VALUES(1, 0, 1, 0, 1));
    x = leaf(RD_U8, VALUES(3, 250));
    y = leaf(RD_U8, VALUES(4, 3));
    expect("ints that are close", rd_isclose(x, y, 0, 1), RD_BOOL, VALUES(1, 0));
    x = leaf(RD_F64, VALUES(0.125, -2.675, 1250));
    expect("two decimals", rd_round_to(x, 2), RD_F64, VALUES(0.12, -2.68, 1250));
    expect("hundreds", rd_round_to(x, -2), RD_F64, VALUES(0, -0.0, 1200));
    x = leaf(RD_I32, VALUES(15));
    expect("decimals of ints", rd_round_to(x, 1), RD_I32, VALUES(15));
    ck_assert_ptr_null(rd_round_to(x, -1));
    ck_assert_int_eq(rd_error(ctx), RD_ERR_TYPE);
    rd_error_clear(ctx);
    x = leaf(RD_F32, VALUES(1.5));
    expect("the most decimals", rd_round_to(x, 38), RD_F32, VALUES(1.5));
    ck_assert_ptr_null(rd_round_to(x, 39));
    ck_assert_int_eq(rd_error(ctx), RD_ERR_ARGUMENT);
    rd_error_clear(ctx);
    ck_assert_ptr_null(rd_nextafter(leaf(RD_F16, VALUES(1)), rd_num(ctx, 2)));
    ck_assert_int_eq(rd_error(ctx), RD_ERR_TYPE);
    rd_error_clear(ctx);
}
END_TEST

/* ---- Bits ------------------------------------------------------------------------------------ */
START_TEST(bits)
{
    static const map_row rows[] = {
        { "-2 & 7", NULL, rd_bit_and, RD_I8, -2, 7, RD_I8, 6 },
        { "1 | 2 in bytes", NULL, rd_bit_or, RD_U8, 1, 2, RD_U8, 3 },
        { "true ^ true", NULL, rd_bit_xor, RD_BOOL, 1, 1, RD_BOOL, 0 },
        { "~true", rd_bit_not, NULL, RD_BOOL, 1, 0, RD_BOOL, 0 },
        { "~1 in bytes", rd_bit_not, NULL, RD_U8, 1, 0, RD_U8, 254 },
        { "1 << 31", NULL, rd_shift_left, RD_I32, 1, 31, RD_I32, -2147483648.0 },
        { "1 << 32", NULL, rd_shift_left, RD_I32, 1, 32, RD_I32, 0 },
        { "1 << -1", NULL, rd_shift_left, RD_I32, 1, -1, RD_I32, 0 },
        { "true << true", NULL, rd_shift_left, RD_BOOL, 1, 1, RD_I64, 2 },
        { "-8 >> 1", NULL, rd_shift_right, RD_I16, -8, 1, RD_I16, -4 },
        { "-8 >> 16", NULL, rd_shift_right, RD_I16, -8, 16, RD_I16, -1 },
        { "8 >> -1", NULL, rd_shift_right, RD_I16, 8, -1, RD_I16, 0 },
        { "bits of -1", rd_popcount, NULL, RD_I8, -1, 0, RD_U8, 8 },
        { "bits of 7", rd_popcount, NULL, RD_U64, 7, 0, RD_U64, 3 },
        { "gcd", NULL, rd_gcd, RD_I32, -12, 18, RD_I32, 6 },
        { "gcd(0, 0)", NULL, rd_gcd, RD_I64, 0, 0, RD_I64, 0 },
        { "lcm", NULL, rd_lcm, RD_U8, 4, 6, RD_U8, 12 },
        { "lcm(3, 0)", NULL, rd_lcm, RD_I32, 3, 0, RD_I32, 0 },
    };
    rd_expr *none, *x;

    check_maps(rows, COUNT(rows));
    none = leaf(RD_U8, NULL, 0);
    x    = leaf(RD_I8, VALUES(12, 10, -1));
    expect("and of nothing", rd_bits_and(none, RD_ALL), RD_U8, VALUES(255));
    expect("xor of nothing", rd_bits_xor(none, RD_ALL), RD_U8, VALUES(0));
    expect("and", rd_bits_and(x, RD_ALL), RD_I8, VALUES(8));
    expect("xor so far", rd_scan(x, "bits_xor", RD_DIMS(0)), RD_I8, VALUES(12, 6, -7));
    expect("or, one left out", rd_bits_or(x, RD_ALL, .where = rd_ge(x, rd_int(ctx, 0))), RD_I8,
           VALUES(14));
    ck_assert_ptr_null(rd_bit_and(x, leaf(RD_F32, VALUES(1, 2, 3))));
    ck_assert_int_eq(rd_error(ctx), RD_ERR_TYPE);
    rd_error_clear(ctx);
}
END_TEST

/* ---- Integers -------------------------------------------------------------------------------- */
START_TEST(ints_wrap)
{
    static const map_row rows[] = {
        { "127 + 1", NULL, rd_add, RD_I8, 127, 1, RD_I8, -128 },
        { "3 - 5 in bytes", NULL, rd_sub, RD_U8, 3, 5, RD_U8, 254 },
        { "200 * 2 in bytes", NULL, rd_mul, RD_U8, 200, 2, RD_U8, 144 },
        { "-(-128)", rd_neg, NULL, RD_I8, -128, 0, RD_I8, -128 },
        { "abs(-128)", rd_abs, NULL, RD_I8, -128, 0, RD_I8, -128 },
        { "-1 in bytes", rd_neg, NULL, RD_U8, 1, 0, RD_U8, 255 },
        { "square", rd_square, NULL, RD_I16, 256, 0, RD_I16, 0 },
        { "2^31 + 2^31", NULL, rd_add, RD_U32, 2147483648, 2147483648, RD_U32, 0 },
        { "3^5 in i8", NULL, rd_pow, RD_I8, 3, 5, RD_I8, -13 },
        { "-128 // -1", NULL, rd_floordiv, RD_I8, -128, -1, RD_I8, -128 },
    };
    static const int64_t ends[] = { INT64_MAX, INT64_MIN };
    int64_t              y[2];

    check_maps(rows, COUNT(rows));
    rd_expr *x = rd_wrap(ctx, ends, RD_SHAPE(2));
    ck_assert(rd_eval(ctx, rd_add(x, rd_int(ctx, 1)), RD_INTO(y, RD_SHAPE(2))) == RD_OK);
    ck_assert(y[0] == INT64_MIN && y[1] == INT64_MIN + 1);
    ck_assert(rd_eval(ctx, rd_sum(rd_concat(0, RD_EXPRS(x, x)), RD_ALL), RD_INTO(y, RD_SCALAR)) ==
              RD_OK);
    ck_assert(y[0] == -2);
}
END_TEST

/* What rd_pow() makes; the public header has no line for it. */
rd_expr *rd_pow_half(rd_expr *x, rd_expr *y);

static double distance_in_ulps(rd_dtype type, double got, long double want)
{
    const int digits = type == RD_F32 ? 24 : 53, least = type == RD_F32 ? -125 : -1021;
    int       exponent;

    frexpl(want, &exponent);
    return (double)(fabsl(got - want) / ldexpl(1, (exponent < least ? least : exponent) - digits));
}

/* Of numbers whose powers are all sizes, subnormal ones among them.  The results of long double are
 * off by a thousandth of an ulp of f64. */
static void check_powers(rd_dtype type, double y, double most)
{
    enum { N = 96 };
    const double range = (type == RD_F32 ? 148 : 1073) / fabs(y);
    double       x[N];

    for (int i = 0; i < N; i++) {
        const double at = exp2(range * (2 * (i + 0.5) / N - 1) * 0.99);

        x[i] = type == RD_F32 ? (double)(float)at : at;
    }
    for (int i = 0; i < N; i++) {
        const long double want = powl((long double)x[i], (long double)y);
        rd_expr          *z    = rd_pow(leaf(type, VALUES(x[i])), rd_num(ctx, y));
        double            got[1];

        ck_assert(rd_eval(ctx, rd_cast(z, RD_F64), RD_INTO(got, RD_SHAPE(1))) == RD_OK);
        if (isfinite(got[0]))
            ck_assert_msg(distance_in_ulps(type, got[0], want) <= most, "%a to the power %g: %a",
                          x[i], y, got[0]);
        forget_leaves();
    }
}

START_TEST(powers_by_constants)
{
    static const double exponents[] = {
        3, 4, 7, 8, 12, -2, -3, -12, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5
    };

    for (size_t k = 0; k < COUNT(exponents); k++) {
        check_powers(RD_F32, exponents[k], 0.51);
        check_powers(RD_F64, exponents[k], 1.5);
    }
    rd_expr *x = leaf(RD_F32, VALUES(3)), *n = leaf(RD_I16, VALUES(3));
    ck_assert_ptr_eq(rd_pow(x, rd_num(ctx, 1)), x);
    ck_assert_ptr_eq(rd_pow(x, rd_num(ctx, 2)), rd_square(x));
    ck_assert_ptr_eq(rd_pow(x, rd_num(ctx, -1)), rd_reciprocal(x));
    ck_assert_ptr_ne(rd_pow(x, rd_num(ctx, 9)), rd_pow_half(x, rd_num(ctx, 9)));
    ck_assert_ptr_eq(rd_pow(n, rd_int(ctx, 3)), rd_mul(n, rd_square(n)));
    ck_assert_ptr_eq(rd_pow(x, rd_num(ctx, -1.5)), rd_pow_half(x, rd_num(ctx, -1.5)));
    ck_assert_ptr_eq(rd_map_text(x, "x ^ -1.5"), rd_pow_half(x, rd_num(ctx, -1.5)));
    ck_assert_ptr_eq(rd_map_text(x, "pow(x, 0.5)"), rd_pow_half(x, rd_num(ctx, 0.5)));
    expect("ints wrap", rd_pow(n, rd_int(ctx, 11)), RD_I16, VALUES(-19461));
}
END_TEST

START_TEST(int_division)
{
    static const map_row rows[] = {
        { "7 // 2", NULL, rd_floordiv, RD_I32, 7, 2, RD_I32, 3 },
        { "-7 // 2", NULL, rd_floordiv, RD_I32, -7, 2, RD_I32, -4 },
        { "7 // -2", NULL, rd_floordiv, RD_I32, 7, -2, RD_I32, -4 },
        { "-7 % 2", NULL, rd_remainder, RD_I32, -7, 2, RD_I32, 1 },
        { "7 % -2", NULL, rd_remainder, RD_I32, 7, -2, RD_I32, -1 },
        { "-128 % -1", NULL, rd_remainder, RD_I8, -128, -1, RD_I8, 0 },
        { "-7.5 // 2", NULL, rd_floordiv, RD_F64, -7.5, 2, RD_F64, -4 },
        { "-7.5 % 2", NULL, rd_remainder, RD_F64, -7.5, 2, RD_F64, 0.5 },
        { "2^-1", NULL, rd_pow, RD_I32, 2, -1, RD_I32, 0 },
        { "(-1)^-3", NULL, rd_pow, RD_I32, -1, -3, RD_I32, -1 },
        { "2^10", NULL, rd_pow, RD_I32, 2, 10, RD_I32, 1024 },
    };
    check_maps(rows, COUNT(rows));
    ck_assert_uint_eq(rd_warnings(ctx), 0);
}
END_TEST

START_TEST(int_by_zero)
{
    static const map_row rows[] = {
        { "7 // 0", NULL, rd_floordiv, RD_I32, 7, 0, RD_I32, 0 },
        { "7 % 0", NULL, rd_remainder, RD_U8, 7, 0, RD_U8, 0 },
    };
    for (size_t k = 0; k < COUNT(rows); k++) {
        check_maps(&rows[k], 1);
        ck_assert_msg(rd_warnings(ctx) == RD_WARN_INT_DIVIDE && rd_error(ctx) == RD_OK, "%s",
                      rows[k].what);
        expect("sticky", leaf(RD_I32, VALUES(1)), RD_I32, VALUES(1));
        ck_assert_uint_eq(rd_warnings(ctx), RD_WARN_INT_DIVIDE);
        rd_error_clear(ctx);
        ck_assert_uint_eq(rd_warnings(ctx), 0);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        promotion,       ints_compared, weak_numbers, weak_int_bits, bool_and_int_maps,  halves,
        float_of_8_bits, casts,         rounding,     nan_in_maps,   negative_zero,      ints_wrap,
        int_division,    int_by_zero,   bits,         functions,     powers_by_constants
    };

    return run_suite("semantics", tests, COUNT(tests));
}
