/* docs/semantics.md, rule by rule: the page names for each rule the test of this file that shows it. */
#include <rdim.h>

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a)    (sizeof(a) / sizeof *(a))
#define VALUES(...) ((const double[]){ __VA_ARGS__ }), (int)(sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double))

/* ---- Typed memory from doubles, and results back as doubles ------------------------------------------------- */
enum { POOL = 64, MOST = 16 };
static rd_ctx *ctx;
static int64_t pool[POOL][MOST]; /* of leaves: must outlive the evaluation */
static int     pool_used;

static void setup(void)
{
    ctx       = rd_ctx_new(NULL);
    pool_used = 0;
}

static void teardown(void)
{
    rd_ctx_free(ctx);
}

static void put(void *p, rd_dtype type, int64_t i, double v)
{
    switch (type) {
    case RD_BOOL: ((bool *)p)[i] = v != 0; break;
    case RD_I8: ((int8_t *)p)[i] = (int8_t)v; break;
    case RD_I16: ((int16_t *)p)[i] = (int16_t)v; break;
    case RD_I32: ((int32_t *)p)[i] = (int32_t)v; break;
    case RD_I64: ((int64_t *)p)[i] = (int64_t)v; break;
    case RD_U8: ((uint8_t *)p)[i] = (uint8_t)v; break;
    case RD_U16: ((uint16_t *)p)[i] = (uint16_t)v; break;
    case RD_U32: ((uint32_t *)p)[i] = (uint32_t)v; break;
    case RD_U64: ((uint64_t *)p)[i] = (uint64_t)v; break;
    case RD_F32: ((float *)p)[i] = (float)v; break;
    case RD_F64: ((double *)p)[i] = v; break;
    default: ck_abort_msg("type %d", (int)type);
    }
}

static double get(const void *p, rd_dtype type, int64_t i)
{
    switch (type) {
    case RD_BOOL: return ((const bool *)p)[i];
    case RD_I8: return ((const int8_t *)p)[i];
    case RD_I16: return ((const int16_t *)p)[i];
    case RD_I32: return ((const int32_t *)p)[i];
    case RD_I64: return (double)((const int64_t *)p)[i];
    case RD_U8: return ((const uint8_t *)p)[i];
    case RD_U16: return ((const uint16_t *)p)[i];
    case RD_U32: return ((const uint32_t *)p)[i];
    case RD_U64: return (double)((const uint64_t *)p)[i];
    case RD_F32: return (double)((const float *)p)[i];
    case RD_F64: return ((const double *)p)[i];
    default: ck_abort_msg("type %d", (int)type);
    }
}

static rd_expr *leaf_shape(rd_dtype type, rd_shape shape, const double *v, int n)
{
    int64_t *p = pool[pool_used++];

    ck_assert(n <= MOST && pool_used < POOL);
    for (int i = 0; i < n; i++)
        put(p, type, i, v[i]);
    return rd_leaf(ctx, &(rd_array){ .in = p, .type = type, .shape = shape });
}

/* leaf(RD_F32, VALUES(1, 2, 3)): a row of numbers in that type. */
static rd_expr *leaf(rd_dtype type, const double *v, int n)
{
    return leaf_shape(type, RD_SHAPE(n), v, n);
}

/* Equal, where NaN equals NaN and 0 differs from -0. */
static bool same(double a, double b)
{
    return isnan(a) || isnan(b) ? isnan(a) && isnan(b) : a == b && !signbit(a) == !signbit(b);
}

static int64_t elements(rd_shape shape)
{
    int64_t n = 1;
    for (int i = 0; i < shape.n; i++)
        n *= shape.at[i];
    return n;
}

/* y has the type and, in C order, the values; rank 0 and 1 are asked element by element as well. */
static void expect(const char *what, rd_expr *y, rd_dtype type, const double *want, int n)
{
    rd_array out = { 0 };

    ck_assert_msg(rd_eval(ctx, y, &out) == RD_OK, "%s: %s", what, rd_error_text(ctx));
    ck_assert_msg(out.type == type && rd_type_of(y) == type, "%s: type %d, not %d", what, (int)out.type, (int)type);
    ck_assert_msg(elements(out.shape) == n, "%s: %d elements, not %d", what, (int)elements(out.shape), n);
    for (int i = 0; i < n; i++) {
        const double got = get(out.data, out.type, i);
        ck_assert_msg(same(got, want[i]), "%s: element %d is %.17g, not %.17g", what, i, got, want[i]);
        if (out.shape.n < 2) {
            const double at = rd_at(ctx, y, out.shape.n ? RD_INDEX(i) : RD_SCALAR);
            ck_assert_msg(same(at, want[i]), "%s: rd_at %d is %.17g, not %.17g", what, i, at, want[i]);
        }
    }
    rd_array_free(&out);
}

/* The constructor failed so, with a sentence. */
static void expect_error(const char *what, const rd_expr *y, rd_status want)
{
    const rd_status got = rd_error(ctx);

    ck_assert_msg(!y, "%s: a node", what);
    ck_assert_msg(got == want, "%s: %s, not %s", what, rd_status_name(got), rd_status_name(want));
    ck_assert_msg(rd_error_text(ctx)[0], "%s: no sentence", what);
    rd_error_clear(ctx);
}

static void expect_shape(const char *what, const rd_expr *y, rd_shape want)
{
    const rd_shape got = rd_shape_of(y);

    ck_assert_msg(got.n == want.n, "%s: rank %d, not %d: %s", what, got.n, want.n, rd_error_text(ctx));
    for (int i = 0; i < want.n; i++)
        ck_assert_msg(got.at[i] == want.at[i], "%s: extent %d is %d", what, i, (int)got.at[i]);
}

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
        expect(row->what, row->one ? row->one(x) : row->two(x, leaf(row->type, VALUES(row->y))), row->want_type,
               VALUES(row->want));
        pool_used = 0;
    }
}

/* Rows of reductions of all of a vector. */
typedef struct reduce_row {
    const char *reducer;
    rd_dtype    want_type;
    double      want;
} reduce_row;

/* ---- Types ---------------------------------------------------------------------------------------------------- */
enum { TYPES = 11 };
static const rd_dtype types[TYPES] = { RD_BOOL, RD_I8,  RD_I16, RD_I32, RD_I64, RD_U8,
                                       RD_U16,  RD_U32, RD_U64, RD_F32, RD_F64 };
static const char     type_names[] = "B   i8  i16 i32 i64 u8  u16 u32 u64 f32 f64 ";

/* numpy.result_type, NumPy 2 */
static const char *const promotions[TYPES] = {
    "B   i8  i16 i32 i64 u8  u16 u32 u64 f32 f64 ", "i8  i8  i16 i32 i64 i16 i32 i64 f64 f32 f64 ",
    "i16 i16 i16 i32 i64 i16 i32 i64 f64 f32 f64 ", "i32 i32 i32 i32 i64 i32 i32 i64 f64 f64 f64 ",
    "i64 i64 i64 i64 i64 i64 i64 i64 f64 f64 f64 ", "u8  i16 i16 i32 i64 u8  u16 u32 u64 f32 f64 ",
    "u16 i32 i32 i32 i64 u16 u16 u32 u64 f32 f64 ", "u32 i64 i64 i64 i64 u32 u32 u32 u64 f64 f64 ",
    "u64 f64 f64 f64 f64 u64 u64 u64 u64 f64 f64 ", "f32 f32 f32 f64 f64 f32 f32 f64 f64 f32 f64 ",
    "f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 ",
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
            pool_used = 0;
        }
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
        { "0.5 meets f32", false, 0.5, RD_F32, RD_F32 },   { "0.5 meets f64", false, 0.5, RD_F64, RD_F64 },
        { "0.5 meets i32", false, 0.5, RD_I32, RD_F64 },   { "0.5 meets u8", false, 0.5, RD_U8, RD_F64 },
        { "2.0 meets i32", false, 2, RD_I32, RD_F64 },     { "int 1 meets u8", true, 1, RD_U8, RD_U8 },
        { "int 1 meets f32", true, 1, RD_F32, RD_F32 },    { "int 300 meets u16", true, 300, RD_U16, RD_U16 },
        { "int 300 meets u8", true, 300, RD_U8, RD_AUTO }, { "int -1 meets u8", true, -1, RD_U8, RD_AUTO },
        { "int 128 meets i8", true, 128, RD_I8, RD_AUTO },
    };

    for (size_t k = 0; k < COUNT(rows); k++) {
        rd_expr *number = rows[k].is_int ? rd_int(ctx, (int64_t)rows[k].number) : rd_num(ctx, rows[k].number);
        rd_expr *y      = rd_add(leaf(rows[k].partner, VALUES(3)), number);
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

    ck_assert(rd_eval(ctx, rd_add(rd_int(ctx, big), leaf(RD_I64, VALUES(0))), RD_INTO(&y, RD_SHAPE(1))) == RD_OK);
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

START_TEST(refused_types)
{
    static const rd_dtype refused[] = { RD_F16, RD_BF16, RD_C64, RD_C128 };

    for (size_t k = 0; k < COUNT(refused); k++) {
        expect_error("cast", rd_cast(leaf(RD_F32, VALUES(1)), refused[k]), RD_ERR_TYPE);
        expect_error("leaf", leaf_shape(refused[k], RD_SHAPE(1), NULL, 0), RD_ERR_TYPE);
    }
}
END_TEST

START_TEST(result_types)
{
    static const struct {
        const char *reducer;
        rd_dtype    in, want;
    } rows[] = {
        { "sum", RD_BOOL, RD_I64 },   { "sum", RD_I8, RD_I64 },    { "sum", RD_I64, RD_I64 },
        { "sum", RD_U8, RD_U64 },     { "sum", RD_U32, RD_U64 },   { "sum", RD_F32, RD_F32 },
        { "sum", RD_F64, RD_F64 },    { "prod", RD_I16, RD_I64 },  { "prod", RD_U16, RD_U64 },
        { "mean", RD_I32, RD_F64 },   { "mean", RD_BOOL, RD_F64 }, { "mean", RD_F32, RD_F32 },
        { "var", RD_U8, RD_F64 },     { "std", RD_F32, RD_F32 },   { "norm", RD_I32, RD_F64 },
        { "min", RD_I8, RD_I8 },      { "max", RD_U8, RD_U8 },     { "max", RD_F32, RD_F32 },
        { "argmax", RD_F32, RD_I64 }, { "count", RD_F32, RD_I64 }, { "any", RD_F32, RD_BOOL },
        { "all", RD_I32, RD_BOOL },
    };

    for (size_t k = 0; k < COUNT(rows); k++) {
        const rd_expr *y = rd_reduce(leaf(rows[k].in, VALUES(0, 1)), rows[k].reducer, RD_ALL);
        ck_assert_msg(rd_type_of(y) == rows[k].want, "%s of type %d: %d", rows[k].reducer, (int)rows[k].in,
                      (int)rd_type_of(y));
        pool_used = 0;
    }
    expect("bytes", rd_sum(leaf(RD_U8, VALUES(255, 255, 255)), RD_ALL), RD_U64, VALUES(765));
    expect("asked for", rd_sum(leaf(RD_F32, VALUES(1, 2)), RD_ALL, .type = RD_F64), RD_F64, VALUES(3));
}
END_TEST

/* A million times 0.1f: a plain loop in f32 is wrong in the third digit. */
START_TEST(accuracy)
{
    enum { N = 1 << 20 };
    float       *x = malloc(N * sizeof *x), plain = 0;
    const double exact = (double)0.1F * N, ulp = ldexp(1, -7); /* of f32 from 2^16 to 2^17 */

    for (int i = 0; i < N; i++)
        plain += x[i] = 0.1F;
    rd_expr *y = rd_wrap(ctx, x, RD_SHAPE(N));
    ck_assert(fabs((double)plain - exact) > 50);
    ck_assert(fabs(rd_at(ctx, rd_sum(y, RD_ALL), RD_SCALAR) - exact) <= 4 * ulp);
    ck_assert(fabs(rd_at(ctx, rd_sum(y, RD_ALL, .accuracy = RD_COMPENSATED), RD_SCALAR) - exact) <= ulp);
    ck_assert(fabs(rd_at(ctx, rd_sum(y, RD_ALL, .accuracy = RD_WIDE), RD_SCALAR) - exact) <= ulp);
    ck_assert(rd_at(ctx, rd_sum(y, RD_ALL, .accuracy = RD_SERIAL), RD_SCALAR) == (double)plain);
    ck_assert_msg(rd_error(ctx) == RD_OK, "%s", rd_error_text(ctx));
    free(x);
}
END_TEST

/* ---- NaN -------------------------------------------------------------------------------------------------------- */
static void check_reductions(const reduce_row *row, size_t n, rd_expr *x, bool skip_nan)
{
    for (; n--; row++)
        expect(row->reducer, rd_reduce(x, row->reducer, RD_ALL, .skip_nan = skip_nan), row->want_type,
               VALUES(row->want));
}

START_TEST(nan_carried)
{
    static const reduce_row rows[] = {
        { "min", RD_F32, NAN },  { "max", RD_F32, NAN },       { "argmin", RD_I64, 1 }, { "argmax", RD_I64, 1 },
        { "sum", RD_F32, NAN },  { "prod", RD_F32, NAN },      { "mean", RD_F32, NAN }, { "var", RD_F32, NAN },
        { "norm", RD_F32, NAN }, { "logsumexp", RD_F32, NAN },
    };
    check_reductions(rows, COUNT(rows), leaf(RD_F32, VALUES(3, NAN, 1, NAN)), false);
}
END_TEST

START_TEST(nan_is_true)
{
    static const reduce_row rows[] = { { "any", RD_BOOL, 1 }, { "all", RD_BOOL, 1 }, { "count", RD_I64, 2 } };

    check_reductions(rows, COUNT(rows), leaf(RD_F64, VALUES(NAN, NAN)), false);
}
END_TEST

START_TEST(nan_skipped)
{
    static const reduce_row rows[] = {
        { "min", RD_F64, 1 },   { "max", RD_F64, 3 },  { "argmin", RD_I64, 2 }, { "argmax", RD_I64, 0 },
        { "sum", RD_F64, 4 },   { "prod", RD_F64, 3 }, { "mean", RD_F64, 2 },   { "var", RD_F64, 1 },
        { "count", RD_I64, 2 }, { "any", RD_BOOL, 1 },
    };
    check_reductions(rows, COUNT(rows), leaf(RD_F64, VALUES(3, NAN, 1, NAN)), true);
}
END_TEST

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

/* ---- Nothing to reduce -------------------------------------------------------------------------------------------- */
START_TEST(empty_reductions)
{
    static const reduce_row rows[] = {
        { "sum", RD_F32, 0 },   { "prod", RD_F32, 1 },
        { "any", RD_BOOL, 0 },  { "all", RD_BOOL, 1 },
        { "count", RD_I64, 0 }, { "mean", RD_F32, NAN },
        { "var", RD_F32, NAN }, { "std", RD_F32, NAN },
        { "norm", RD_F32, 0 },  { "logsumexp", RD_F32, -INFINITY },
    };
    check_reductions(rows, COUNT(rows), leaf(RD_F32, NULL, 0), false);
}
END_TEST

START_TEST(empty_extremes)
{
    static const char *const names[] = { "min", "max", "argmin", "argmax" };
    rd_expr                 *none = leaf(RD_F32, NULL, 0), *no_rows = leaf_shape(RD_F32, RD_SHAPE(0, 0), NULL, 0);

    for (size_t k = 0; k < COUNT(names); k++) {
        expect_error(names[k], rd_reduce(none, names[k], RD_ALL), RD_ERR_EMPTY);
        expect_shape("empty result", rd_reduce(no_rows, names[k], RD_DIMS(1)), RD_SHAPE(0));
    }
    expect("min with initial", rd_min(none, RD_ALL, .initial = rd_num(ctx, 5)), RD_F32, VALUES(5));
    expect("max with initial", rd_max(none, RD_ALL, .initial = rd_num(ctx, 5)), RD_F32, VALUES(5));
}
END_TEST

START_TEST(emptied_by_data)
{
    static const struct {
        const char *reducer;
        double      want;
    } rows[] = {
        { "min", NAN }, { "max", NAN }, { "argmin", -1 }, { "argmax", -1 }, { "mean", NAN }, { "var", NAN },
        { "sum", 0 },   { "prod", 1 },  { "count", 0 },   { "any", 0 },     { "all", 1 },    { "logsumexp", -INFINITY },
    };
    rd_expr *nans = leaf(RD_F64, VALUES(NAN, NAN)), *x = leaf(RD_F64, VALUES(1, 2)), *no = leaf(RD_BOOL, VALUES(0, 0));

    for (size_t k = 0; k < COUNT(rows); k++) {
        rd_expr *skipped = rd_reduce(nans, rows[k].reducer, RD_ALL, .skip_nan = true);
        rd_expr *masked  = rd_reduce(x, rows[k].reducer, RD_ALL, .where = no);
        expect(rows[k].reducer, skipped, rd_type_of(skipped), VALUES(rows[k].want));
        expect(rows[k].reducer, masked, rd_type_of(masked), VALUES(rows[k].want));
    }
    rd_expr *ints = leaf(RD_I32, VALUES(7, 8)), *five = rd_int(ctx, 5);
    expect("min of masked ints", rd_min(ints, RD_ALL, .where = no, .initial = five), RD_I32, VALUES(5));
    ck_assert_msg(!rd_min(ints, RD_ALL, .where = no), "ints need .initial: no NaN to answer with");
}
END_TEST

START_TEST(initial_is_an_element)
{
    rd_expr *x = leaf(RD_I32, VALUES(1, 2, 3)), *ten = rd_int(ctx, 10);

    expect("sum", rd_sum(x, RD_ALL, .initial = ten), RD_I64, VALUES(16));
    expect("prod", rd_prod(x, RD_ALL, .initial = ten), RD_I64, VALUES(60));
    expect("min", rd_min(x, RD_ALL, .initial = ten), RD_I32, VALUES(1));
    expect("max", rd_max(x, RD_ALL, .initial = ten), RD_I32, VALUES(10));
    expect_error("mean", rd_mean(x, RD_ALL, .initial = ten), RD_ERR_ARGUMENT);
}
END_TEST

/* ---- Reductions ------------------------------------------------------------------------------------------------------ */
START_TEST(ties)
{
    rd_expr *x = leaf(RD_I32, VALUES(2, 7, 1, 7, 1));
    rd_expr *m = leaf_shape(RD_F32, RD_SHAPE(2, 2, 3), VALUES(0, 5, 1, 5, 2, 0, 3, 9, 9, 9, 0, 0));

    expect("argmax", rd_argmax(x, RD_ALL), RD_I64, VALUES(1));
    expect("argmin", rd_argmin(x, RD_ALL), RD_I64, VALUES(2));
    expect("flat", rd_argmax(m, RD_ALL), RD_I64, VALUES(7));
    expect("flat in the reduced dims", rd_argmax(m, RD_DIMS(1, 2)), RD_I64, VALUES(1, 1));
    expect("whatever their order", rd_argmax(m, RD_DIMS(2, 1)), RD_I64, VALUES(1, 1));
    expect("outer and inner dims", rd_argmax(m, RD_DIMS(0, 2)), RD_I64, VALUES(4, 3));
    expect("0 and -0 tie", rd_argmin(leaf(RD_F64, VALUES(0.0, -0.0)), RD_ALL), RD_I64, VALUES(0));
}
END_TEST

START_TEST(dims)
{
    static const struct {
        const char *what;
        rd_dims     dims;
        rd_shape    want;
    } rows[] = {
        { "one", { 1, 0, { 1 } }, { 2, 0, { 2, 4 } } },
        { "from the end", { 1, 0, { -1 } }, { 2, 0, { 2, 3 } } },
        { "any order", { 2, 0, { 2, 0 } }, { 1, 0, { 3 } } },
        { "all", { 0, RD_DIMS_EXCEPT, { 0 } }, { 0, 0, { 0 } } },
        { "none", { 0, 0, { 0 } }, { 3, 0, { 2, 3, 4 } } },
        { "all but one", { 1, RD_DIMS_EXCEPT, { -3 } }, { 1, 0, { 2 } } },
        { "kept", { 2, RD_DIMS_KEEP, { 0, 2 } }, { 3, 0, { 1, 3, 1 } } },
        { "all kept", { 0, RD_DIMS_EXCEPT | RD_DIMS_KEEP, { 0 } }, { 3, 0, { 1, 1, 1 } } },
    };
    static float x[24];
    rd_expr     *y = rd_wrap(ctx, x, RD_SHAPE(2, 3, 4));

    for (size_t k = 0; k < COUNT(rows); k++)
        expect_shape(rows[k].what, rd_sum(y, rows[k].dims), rows[k].want);
    expect_error("not there", rd_sum(y, RD_DIMS(3)), RD_ERR_AXIS);
    expect_error("not there, from the end", rd_sum(y, RD_DIMS(-4)), RD_ERR_AXIS);
    expect_error("twice", rd_sum(y, RD_DIMS(0, 0)), RD_ERR_AXIS);
    expect_error("twice, named differently", rd_sum(y, RD_DIMS(0, -3)), RD_ERR_AXIS);
    expect("empty set", rd_sum(leaf(RD_F32, VALUES(1, 2)), RD_NONE), RD_F32, VALUES(1, 2));
}
END_TEST

START_TEST(where_and_weights)
{
    rd_expr *x = leaf(RD_F64, VALUES(1, 2, 3, 4)), *ends = leaf(RD_F64, VALUES(1, 0, 0, 1));
    rd_expr *m = leaf_shape(RD_F64, RD_SHAPE(2, 2), VALUES(1, 2, 3, 5)), *first = leaf(RD_BOOL, VALUES(1, 0));

    expect("where", rd_sum(x, RD_ALL, .where = rd_gt(x, rd_num(ctx, 2))), RD_F64, VALUES(7));
    expect("where broadcasts", rd_sum(m, RD_DIMS(0), .where = first), RD_F64, VALUES(4, 0));
    expect("index of all elements", rd_argmin(x, RD_ALL, .where = rd_gt(x, rd_num(ctx, 2))), RD_I64, VALUES(2));
    expect("mean", rd_mean(x, RD_ALL, .weights = ends), RD_F64, VALUES(2.5));
    expect("var", rd_var(x, RD_ALL, .weights = ends), RD_F64, VALUES(2.25));
    expect("var, ddof of weights", rd_var(x, RD_ALL, .weights = ends, .ddof = 1), RD_F64, VALUES(4.5));
    expect("var, ddof", rd_var(leaf(RD_F64, VALUES(1, 3)), RD_ALL, .ddof = 1), RD_F64, VALUES(2));
    expect("var of one, ddof 1", rd_var(leaf(RD_F64, VALUES(1)), RD_ALL, .ddof = 1), RD_F64, VALUES(NAN));
    expect_error("weights of a sum", rd_sum(x, RD_ALL, .weights = ends), RD_ERR_ARGUMENT);
    expect_error("where that does not fit", rd_sum(x, RD_ALL, .where = first), RD_ERR_SHAPE);
}
END_TEST

START_TEST(norms)
{
    rd_expr *x = leaf(RD_F64, VALUES(3, -4));

    expect("2", rd_norm(x, RD_ALL), RD_F64, VALUES(5));
    expect("1", rd_norm(x, RD_ALL, .p = 1), RD_F64, VALUES(7));
    expect("infinity", rd_norm(x, RD_ALL, .p = INFINITY), RD_F64, VALUES(4));
    expect_error("3", rd_norm(x, RD_ALL, .p = 3), RD_ERR_ARGUMENT);
}
END_TEST

START_TEST(logsumexp_range)
{
    rd_expr *x = leaf(RD_F64, VALUES(-INFINITY, 1000)), *none = leaf(RD_F64, VALUES(-INFINITY, -INFINITY));

    expect("no overflow", rd_logsumexp(x, RD_ALL), RD_F64, VALUES(1000));
    expect("all -inf", rd_logsumexp(none, RD_ALL), RD_F64, VALUES(-INFINITY));
    expect("inf", rd_logsumexp(leaf(RD_F64, VALUES(1, INFINITY)), RD_ALL), RD_F64, VALUES(INFINITY));
}
END_TEST

START_TEST(scans)
{
    rd_expr *x = leaf(RD_F64, VALUES(1, 2, 4)), *b = leaf(RD_I8, VALUES(100, 100, 100));

    expect("to here", rd_scan(x, "sum", RD_DIMS(0)), RD_F64, VALUES(1, 3, 7));
    expect("before", rd_scan(x, "sum", RD_DIMS(0), .exclusive = true), RD_F64, VALUES(0, 1, 3));
    expect("from the end", rd_scan(x, "sum", RD_DIMS(0), .reverse = true), RD_F64, VALUES(7, 6, 4));
    expect("both", rd_scan(x, "prod", RD_DIMS(0), .exclusive = true, .reverse = true), RD_F64, VALUES(8, 4, 1));
    expect("max", rd_scan(leaf(RD_F64, VALUES(1, 3, 2)), "max", RD_DIMS(0)), RD_F64, VALUES(1, 3, 3));
    expect("ints are widened", rd_scan(b, "sum", RD_DIMS(0)), RD_I64, VALUES(100, 200, 300));
}
END_TEST

/* ---- Integers ---------------------------------------------------------------------------------------------------------- */
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
    ck_assert(rd_eval(ctx, rd_sum(rd_concat(0, RD_EXPRS(x, x)), RD_ALL), RD_INTO(y, RD_SCALAR)) == RD_OK);
    ck_assert(y[0] == -2);
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
        ck_assert_msg(rd_warnings(ctx) == RD_WARN_INT_DIVIDE && rd_error(ctx) == RD_OK, "%s", rows[k].what);
        expect("sticky", leaf(RD_I32, VALUES(1)), RD_I32, VALUES(1));
        ck_assert_uint_eq(rd_warnings(ctx), RD_WARN_INT_DIVIDE);
        rd_error_clear(ctx);
        ck_assert_uint_eq(rd_warnings(ctx), 0);
    }
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
        pool_used = 0;
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

/* ---- Shapes and views ---------------------------------------------------------------------------------------------------- */
START_TEST(broadcasting)
{
    rd_expr *row = leaf(RD_I32, VALUES(1, 2, 3)), *column = leaf_shape(RD_I32, RD_SHAPE(2, 1), VALUES(10, 20));
    rd_expr *none = leaf_shape(RD_I32, RD_SHAPE(0, 1), NULL, 0);

    expect("from the last axis", rd_add(row, column), RD_I32, VALUES(11, 12, 13, 21, 22, 23));
    expect_shape("with extent 0", rd_add(row, none), RD_SHAPE(0, 3));
    expect_error("3 and 2", rd_add(row, leaf(RD_I32, VALUES(1, 2))), RD_ERR_SHAPE);
    expect("clip", rd_clip(row, rd_int(ctx, 2), leaf(RD_I32, VALUES(2))), RD_I32, VALUES(2, 2, 2));
}
END_TEST

START_TEST(slices)
{
    static const struct {
        const char *text;
        int         n;
        double      want[10];
    } rows[] = {
        { "2:5", 3, { 2, 3, 4 } },
        { "-3:", 3, { 7, 8, 9 } },
        { "::-4", 3, { 9, 5, 1 } },
        { "7:100", 3, { 7, 8, 9 } },
        { "8:2", 0, { 0 } },
        { "100:", 0, { 0 } },
        { "3", 1, { 3 } },
        { "-1", 1, { 9 } },
        { "5:2:-1", 3, { 5, 4, 3 } },
        { "1:8:3, new", 3, { 1, 4, 7 } },
        { "..., 2:4", 2, { 2, 3 } },
    };
    rd_expr *x = leaf(RD_I32, VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));

    for (size_t k = 0; k < COUNT(rows); k++)
        expect(rows[k].text, rd_slice(x, rows[k].text), RD_I32, rows[k].want, rows[k].n);
    expect_shape("new", rd_slice(x, "new, 1:3, new"), RD_SHAPE(1, 2, 1));
    expect_error("outside", rd_slice(x, "10"), RD_ERR_AXIS);
    expect_error("outside, from the end", rd_slice(x, "-11"), RD_ERR_AXIS);
    expect_error("too many parts", rd_slice(x, "1, 2"), RD_ERR_AXIS);
    expect_error("no slice", rd_slice(x, "1:x"), RD_ERR_TEXT);
    expect("range is cut too", rd_range(x, 0, 8, 100, 1), RD_I32, VALUES(8, 9));
    expect("open range", rd_range(x, 0, RD_OPEN, RD_OPEN, -4), RD_I32, VALUES(9, 5, 1));
}
END_TEST

START_TEST(slice_of_a_result)
{
    rd_expr *m    = leaf_shape(RD_F64, RD_SHAPE(2, 3), VALUES(1, 2, 3, 10, 20, 30));
    rd_expr *sums = rd_sum(rd_square(m), RD_DIMS(0));

    expect("all", sums, RD_F64, VALUES(101, 404, 909));
    expect("a part", rd_slice(sums, "::-2"), RD_F64, VALUES(909, 101));
    ck_assert(rd_at(ctx, sums, RD_INDEX(1)) == 404);
}
END_TEST

START_TEST(take)
{
    rd_expr *x = leaf(RD_F64, VALUES(10, 11, 12)), *i = leaf(RD_I8, VALUES(2, -3, 2));
    rd_array out = { 0 };

    expect("from the end too", rd_take(x, 0, i), RD_F64, VALUES(12, 10, 12));
    expect_error("by floats", rd_take(x, 0, x), RD_ERR_TYPE);
    ck_assert(rd_eval(ctx, rd_take(x, 0, leaf(RD_I64, VALUES(0, 3))), &out) == RD_ERR_AXIS);
    ck_assert(!out.data && rd_error(ctx) == RD_ERR_AXIS);
}
END_TEST

START_TEST(windows)
{
    rd_expr *x = leaf(RD_I32, VALUES(1, 2, 3, 4, 5));

    expect("overlapping", rd_sum(rd_window(x, 0, 3, 1), RD_DIMS(-1)), RD_I64, VALUES(6, 9, 12));
    expect_shape("with a step", rd_window(x, 0, 2, 2), RD_SHAPE(2, 2));
    expect_shape("too long", rd_window(x, 0, 6, 1), RD_SHAPE(0, 6));
    expect_error("of nothing", rd_window(x, 0, 0, 1), RD_ERR_ARGUMENT);
}
END_TEST

START_TEST(zero_extents)
{
    rd_expr *x = leaf_shape(RD_F32, RD_SHAPE(0, 3), NULL, 0);

    expect("over the empty axis", rd_sum(x, RD_DIMS(0)), RD_F32, VALUES(0, 0, 0));
    expect("beside it", rd_sum(x, RD_DIMS(1)), RD_F32, NULL, 0);
    expect("a map", rd_exp(x), RD_F32, NULL, 0);
    expect_error("negative", leaf_shape(RD_F32, RD_SHAPE(-1), NULL, 0), RD_ERR_SHAPE);
}
END_TEST

/* ---- Outputs ---------------------------------------------------------------------------------------------------------------- */
START_TEST(output_types)
{
    static const struct {
        rd_dtype from, to;
        bool     allowed;
    } rows[] = {
        { RD_F32, RD_F64, true },  { RD_I32, RD_F64, true },  { RD_U8, RD_F32, true },  { RD_U8, RD_I16, true },
        { RD_BOOL, RD_U8, true },  { RD_U32, RD_I64, true },  { RD_I16, RD_F32, true }, { RD_F64, RD_F32, false },
        { RD_I32, RD_F32, false }, { RD_I8, RD_U8, false },   { RD_U8, RD_I8, false },  { RD_F32, RD_I64, false },
        { RD_I64, RD_I32, false }, { RD_U8, RD_BOOL, false },
    };

    for (size_t k = 0; k < COUNT(rows); k++) {
        int64_t         y   = 0;
        rd_array        out = { .data = &y, .type = rows[k].to, .shape = RD_SHAPE(1) };
        const rd_status got = rd_eval(ctx, leaf(rows[k].from, VALUES(1)), &out);

        ck_assert_msg(got == (rows[k].allowed ? RD_OK : RD_ERR_TYPE), "row %d: %s", (int)k, rd_status_name(got));
        ck_assert(!rows[k].allowed || get(&y, rows[k].to, 0) == 1);
        rd_error_clear(ctx);
    }
}
END_TEST

START_TEST(output_layout)
{
    rd_expr *m = leaf_shape(RD_F64, RD_SHAPE(2, 3), VALUES(0, 1, 2, 3, 4, 5));
    double   y[12];

    ck_assert(rd_eval(ctx, m, RD_INTO(y, RD_SHAPE(2, 3), .order = 1)) == RD_OK);
    ck_assert(y[0] == 0 && y[1] == 3 && y[2] == 1 && y[5] == 5);
    ck_assert(rd_eval(ctx, m, RD_INTO(y + 5, RD_SHAPE(2, 3), .strides = RD_STRIDES(-3, -1))) == RD_OK);
    ck_assert(y[5] == 0 && y[4] == 1 && y[0] == 5);
    y[1] = -1;
    ck_assert(rd_eval(ctx, m, RD_INTO(y, RD_SHAPE(2, 3), .strides = RD_STRIDES(6, 2))) == RD_OK);
    ck_assert(y[0] == 0 && y[1] == -1 && y[10] == 5);
    ck_assert(rd_eval(ctx, m, RD_INTO(y, RD_SHAPE(6))) == RD_ERR_SHAPE);
}
END_TEST

START_TEST(fresh_output)
{
    rd_expr *x   = leaf(RD_F32, VALUES(1, 2, 3));
    rd_array out = { 0 };

    ck_assert(rd_eval(ctx, rd_exp(x), &out) == RD_OK);
    ck_assert(out.data && (uintptr_t)out.data % 64 == 0 && out.type == RD_F32 && out.shape.n == 1);
    rd_array_free(&out);
    ck_assert(!out.data && out.type == RD_AUTO);
    ck_assert(rd_eval(ctx, rd_take(x, 0, leaf(RD_I64, VALUES(9))), &out) != RD_OK);
    ck_assert_msg(!out.data && !out.owner, "on failure a zeroed output stays zeroed");
}
END_TEST

START_TEST(output_over_input)
{
    double   y[6] = { 0, 1, 2, 3, 4, 5 };
    rd_expr *x    = rd_wrap(ctx, y, RD_SHAPE(6));

    ck_assert(rd_eval(ctx, rd_flip(x, RD_DIMS(0)), RD_INTO(y, RD_SHAPE(6))) == RD_OK);
    ck_assert(y[0] == 5 && y[1] == 4 && y[4] == 1 && y[5] == 0);
    ck_assert(rd_eval(ctx, rd_slice(x, ":-1"), RD_INTO(y + 1, RD_SHAPE(5))) == RD_OK);
    ck_assert(y[0] == 5 && y[1] == 5 && y[2] == 4 && y[5] == 1);
    ck_assert(rd_eval(ctx, rd_sub(x, rd_max(x, RD_ALL)), RD_INTO(y, RD_SHAPE(6))) == RD_OK);
    ck_assert(y[0] == 0 && y[1] == 0 && y[2] == -1 && y[5] == -4);
}
END_TEST

START_TEST(output_over_itself)
{
    double   y[8] = { 0 };
    rd_expr *m    = leaf_shape(RD_F64, RD_SHAPE(2, 3), VALUES(0, 1, 2, 3, 4, 5));

    ck_assert(rd_eval(ctx, m, RD_INTO(y, RD_SHAPE(2, 3), .strides = RD_STRIDES(1, 1))) == RD_ERR_ARGUMENT);
    rd_error_clear(ctx);
    ck_assert(rd_eval(ctx, m, RD_INTO(y, RD_SHAPE(2, 3), .strides = RD_STRIDES(3, 0))) == RD_ERR_ARGUMENT);
    rd_error_clear(ctx);
    /* Strides that interleave without meeting are none of that. */
    ck_assert(rd_eval(ctx, m, RD_INTO(y, RD_SHAPE(2, 3), .strides = RD_STRIDES(1, 2))) == RD_OK);
    ck_assert(y[0] == 0 && y[1] == 3 && y[4] == 2 && y[5] == 5);
    /* An input may: a window over caller memory. */
    rd_expr *w = rd_wrap(ctx, y, RD_SHAPE(5, 2), .strides = RD_STRIDES(1, 1));
    expect("input", rd_sum(w, RD_DIMS(1)), RD_F64, VALUES(3, 4, 5, 6, 7));
}
END_TEST

START_TEST(results_over_each_other)
{
    double   y[4] = { 0 };
    rd_expr *a = leaf(RD_F64, VALUES(1, 2, 3)), *b = leaf(RD_F64, VALUES(7, 8, 9));

    ck_assert(rd_eval_many(ctx, RD_RESULTS({ a, RD_INTO(y, RD_SHAPE(3)) }, { b, RD_INTO(y + 1, RD_SHAPE(3)) }), NULL) ==
              RD_OK);
    ck_assert(y[0] == 1 && y[1] == 7 && y[2] == 8 && y[3] == 9);
    ck_assert(rd_eval_many(ctx, RD_RESULTS({ b, RD_INTO(y + 1, RD_SHAPE(3)) }, { a, RD_INTO(y, RD_SHAPE(3)) }), NULL) ==
              RD_OK);
    ck_assert(y[0] == 1 && y[1] == 2 && y[2] == 3 && y[3] == 9);
}
END_TEST

/* Neither threads nor the traversal nor other results of the call may show in the bits. */
START_TEST(same_bits)
{
    enum { N = 300, M = 333 };
    static float x[N * M], want[N + M + 1], got[N + M + 1];

    for (int i = 0; i < N * M; i++)
        x[i] = (float)((i * 7919) % 10007) / 3001;
    rd_expr *e = rd_exp(rd_wrap(ctx, x, RD_SHAPE(N, M)));
    for (int k = 0; k < 9; k++) {
        float          *y      = k ? got : want;
        rd_eval_opts    opts   = { .size = sizeof opts, .threads = 1 + k % 3, .traversal = (rd_traversal)(k / 3) };
        const rd_status status = rd_eval_many(ctx,
                                              RD_RESULTS({ rd_sum(e, RD_DIMS(1)), RD_INTO(y, RD_SHAPE(N)) },
                                                         { rd_mean(e, RD_DIMS(0)), RD_INTO(y + N, RD_SHAPE(M)) },
                                                         { rd_std(e, RD_ALL), RD_INTO(y + N + M, RD_SCALAR) }),
                                              &opts);
        ck_assert_msg(status == RD_OK, "%s", rd_error_text(ctx));
        ck_assert_msg(memcmp(y, want, sizeof want) == 0, "%d threads, traversal %d", opts.threads, (int)opts.traversal);
    }
    ck_assert(rd_eval(ctx, rd_mean(e, RD_DIMS(0)), RD_INTO(got, RD_SHAPE(M))) == RD_OK);
    ck_assert(memcmp(got, want + N, M * sizeof *got) == 0);
}
END_TEST

/* ---- Errors ------------------------------------------------------------------------------------------------------------------ */
START_TEST(errors_stay)
{
    rd_expr *x = leaf(RD_F64, VALUES(4, 9));
    double   y[2];

    rd_expr *bad = rd_sqrt(rd_sum(x, RD_DIMS(2)));
    ck_assert(!bad && rd_error(ctx) == RD_ERR_AXIS && strstr(rd_error_text(ctx), "sum"));
    (void)rd_slice(x, "?"); /* another failure: the first stays */
    ck_assert(rd_error(ctx) == RD_ERR_AXIS);
    ck_assert(rd_eval(ctx, x, RD_INTO(y, RD_SHAPE(2))) == RD_ERR_AXIS);
    ck_assert(isnan(rd_at(ctx, x, RD_INDEX(0))));
    rd_error_clear(ctx);
    ck_assert(rd_error(ctx) == RD_OK && rd_error_text(ctx)[0] == 0);
    expect("after a clear", rd_sqrt(x), RD_F64, VALUES(2, 3));
    ck_assert_str_eq(rd_status_name(RD_ERR_AXIS), "RD_ERR_AXIS");
}
END_TEST

START_TEST(failed_keyword)
{
    rd_expr *x = leaf(RD_F64, VALUES(4, 9));
    double   y = 0;

    rd_expr *sum = rd_sum(x, RD_ALL, .where = rd_gt(x, rd_slice(x, "9")));
    ck_assert(rd_eval(ctx, sum, RD_INTO(&y, RD_SCALAR)) == RD_ERR_AXIS);
    ck_assert(y == 0);
}
END_TEST

START_TEST(null_in_null_out)
{
    rd_array out = { 0 };

    ck_assert(!rd_exp(rd_slice(rd_sum(NULL, RD_ALL), "1")));
    ck_assert(rd_shape_of(NULL).n == -1 && rd_type_of(NULL) == RD_AUTO);
    ck_assert(rd_eval(ctx, NULL, &out) != RD_OK && !out.data);
    ck_assert(rd_error(NULL) == RD_ERR_MEMORY);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { promotion,
                                   weak_numbers,
                                   weak_int_bits,
                                   bool_and_int_maps,
                                   refused_types,
                                   result_types,
                                   accuracy,
                                   nan_carried,
                                   nan_is_true,
                                   nan_skipped,
                                   nan_in_maps,
                                   empty_reductions,
                                   empty_extremes,
                                   emptied_by_data,
                                   initial_is_an_element,
                                   ties,
                                   dims,
                                   where_and_weights,
                                   norms,
                                   logsumexp_range,
                                   scans,
                                   ints_wrap,
                                   int_division,
                                   int_by_zero,
                                   casts,
                                   rounding,
                                   negative_zero,
                                   broadcasting,
                                   slices,
                                   slice_of_a_result,
                                   take,
                                   windows,
                                   zero_extents,
                                   output_types,
                                   output_layout,
                                   fresh_output,
                                   output_over_input,
                                   output_over_itself,
                                   results_over_each_other,
                                   same_bits,
                                   errors_stay,
                                   failed_keyword,
                                   null_in_null_out };
    Suite             *suite   = suite_create("semantics");
    TCase             *tcase   = tcase_create("semantics");

    tcase_add_checked_fixture(tcase, setup, teardown);
    for (size_t k = 0; k < COUNT(tests); k++)
        tcase_add_test(tcase, tests[k]);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
