/* test_sparse_pieces.c - rows of so many places that folds take them in pieces: as dense ones, and
 * bits on any number of threads. */
#include "core/dtype.h"
#include "kernels/cpu/jit/tier.h"
#include "values.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* A row of three pieces, none, a few places, one piece, and one place more. */
enum { ROWS = 5, COLUMNS = 80000, LONG = 32768 };
static const int64_t length[ROWS] = { 2 * LONG + 5, 0, 3, LONG, LONG + 1 };
enum { PLACES = 2 * LONG + 5 + 3 + LONG + LONG + 1 };

static int32_t pos[ROWS + 1], crd[PLACES];
static double  stored[PLACES], full[ROWS * COLUMNS], beside[COLUMNS * 3];
static uint8_t there[ROWS * COLUMNS];

/* Whole numbers, so that sums are exact in any order; or such as each order rounds another way. */
static void make(bool whole)
{
    int64_t p = 0;

    memset(full, 0, sizeof full);
    memset(there, 0, sizeof there);
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t k = 0; k < length[i]; k++, p++) {
            const int64_t j = k * COLUMNS / length[i];

            crd[p]    = (int32_t)j;
            stored[p] = whole ? (double)(p * 13 % 17 - 8) : sin((double)p);

            full[i * COLUMNS + j]  = stored[p];
            there[i * COLUMNS + j] = 1;
        }
        pos[i + 1] = (int32_t)p;
    }
    for (int64_t k = 0; k < COLUMNS * 3; k++)
        beside[k] = whole ? (double)(k % 5 - 1) : cos((double)k);
}

static rd_expr *row_of(const void *data, rd_dtype type, int64_t n)
{
    return rd_leaf(ctx, &(rd_array){ .in = data, .type = type, .shape = RD_SHAPE(n) });
}

static rd_expr *matrix(rd_dtype type, bool only_stored)
{
    return rd_csr(ctx, RD_SHAPE(ROWS, COLUMNS), row_of(pos, RD_I32, ROWS + 1),
                  row_of(crd, RD_I32, PLACES), rd_cast(row_of(stored, RD_F64, PLACES), type),
                  .stored = only_stored);
}

static rd_expr *plane(const void *data, rd_dtype type, rd_dtype as)
{
    const rd_array array = { .in = data, .type = type, .shape = RD_SHAPE(ROWS, COLUMNS) };

    return rd_cast(rd_leaf(ctx, &array), as);
}

static void evaluate(rd_expr *y, int threads, rd_array *out)
{
    const rd_eval_opts o = { .threads = threads };

    ck_assert_msg(y && rd_eval_many(ctx, RD_RESULTS({ y, out }), &o) == RD_OK, "%s",
                  rd_error_text(ctx));
}

static int64_t results_of(const rd_array *a)
{
    int64_t n = 1;

    for (int k = 0; k < a->shape.n; k++)
        n *= a->shape.at[k];
    return n;
}

/* How the pieces are taken; nothing of what they are compared with is compiled. */
static const char *mode = "off";

static void expect_same(const char *what, rd_expr *got, rd_expr *want)
{
    rd_array a = { 0 }, b = { 0 };

    rd_tier_force(mode);
    evaluate(got, 2, &a);
    rd_tier_force("off");
    evaluate(want, 1, &b);
    ck_assert_msg(a.type == b.type && results_of(&a) == results_of(&b), "%s: another type or shape",
                  what);
    for (int64_t i = 0; i < results_of(&a); i++) {
        const double x = get(a.in, a.type, i), y = get(b.in, b.type, i);

        ck_assert_msg(x == y || (x != x && y != y), "%s: [%d] is %g, not %g", what, (int)i, x, y);
    }
    rd_array_free(&a);
    rd_array_free(&b);
}

static const char *const names[] = { "sum",   "prod", "min",  "max",      "any",    "all",
                                     "count", "mean", "norm", "bits_xor", "bits_or" };

static void compare(const char *name, rd_dtype type, bool only_stored, bool skip_nan)
{
    const bool     extreme = !strcmp(name, "min") || !strcmp(name, "max");
    rd_reduce_opts o       = { .size = sizeof o, .dims = RD_DIMS(1), .skip_nan = skip_nan };
    rd_reduce_opts dense   = o;
    char           what[80];

    if (extreme || !strcmp(name, "bits_xor")) /* a row has no place */
        o.initial = dense.initial = rd_cast(rd_int(ctx, 3), type);
    dense.where = only_stored ? plane(there, RD_BOOL, RD_BOOL) : NULL;
    snprintf(what, sizeof what, "%s of %s%s%s", name, rd_dtype_name(type),
             only_stored ? ", stored" : "", skip_nan ? ", no NaN" : "");
    expect_same(what, rd_reduce_name(matrix(type, only_stored), name, &o),
                rd_reduce_name(plane(full, RD_F64, type), name, &dense));
}

static void compare_all(size_t n_type)
{
    static const rd_dtype types[] = { RD_F64, RD_I8, RD_F32, RD_I32, RD_BOOL };

    make(true);
    for (size_t k = 0; k < COUNT(names); k++)
        for (size_t t = 0; t < n_type && t < COUNT(types); t++) {
            if (rd_dtype_kind(types[t]) == RD_KIND_FLOAT && !strncmp(names[k], "bits", 4))
                continue;
            compare(names[k], types[t], true, false);
            compare(names[k], types[t], false, false);
        }
}

START_TEST(as_dense_rows)
{
    compare_all(SIZE_MAX);
}
END_TEST

START_TEST(as_dense_rows_compiled)
{
    mode = "sync";
    compare_all(2);
}
END_TEST

/* Powers of two of both signs, whose products are exact; 0 where they must be found. */
START_TEST(products_of_places)
{
    make(true);
    for (int64_t i = 0, p = 0; i < ROWS; i++)
        for (int64_t k = 0; k < length[i]; k++, p++)
            stored[p] = full[i * COLUMNS + k * COLUMNS / length[i]] = k % 2               ? -0.5
                                                                      : k + 1 < length[i] ? 2
                                                                                          : 4;
    compare("prod", RD_F64, true, false);
    compare("prod", RD_F32, true, false);
}
END_TEST

/* What a sum is told beside: a mask, a beginning, a type, how exact. */
START_TEST(keywords)
{
    make(true);
    rd_expr *const x = matrix(RD_F32, true), *const d = plane(full, RD_F64, RD_F32);
    rd_expr *const all  = plane(there, RD_BOOL, RD_BOOL);
    rd_expr *const some = rd_lt(rd_coord(d, 1), rd_int(ctx, COLUMNS / 3));
    rd_expr *const two  = rd_cast(rd_int(ctx, 2), RD_F32);

    expect_same("where", rd_sum(x, RD_DIMS(1), .where = some),
                rd_sum(d, RD_DIMS(1), .where = rd_and(some, all)));
    expect_same("initial", rd_sum(x, RD_DIMS(1), .initial = two),
                rd_sum(d, RD_DIMS(1), .initial = two));
    expect_same("f64", rd_sum(x, RD_DIMS(1), .type = RD_F64),
                rd_sum(d, RD_DIMS(1), .type = RD_F64));
    expect_same("i32", rd_sum(x, RD_DIMS(1), .type = RD_I32),
                rd_sum(d, RD_DIMS(1), .type = RD_I32));
    expect_same("wide", rd_sum(x, RD_DIMS(1), .accuracy = RD_WIDE), rd_sum(d, RD_DIMS(1)));
    expect_same("kept", rd_sum(x, RD_KEEP(1)), rd_sum(d, RD_KEEP(1)));
}
END_TEST

/* Rows (i, j) of a cube. */
START_TEST(rows_of_a_cube)
{
    static const int32_t one[2] = { 0, 1 }, top[2] = { 0, ROWS }, fibre[ROWS] = { 0, 1, 2, 3, 4 };
    const rd_array array = { .in = full, .type = RD_F64, .shape = RD_SHAPE(1, ROWS, COLUMNS) };

    make(true);
    rd_expr *const cube = rd_sparse(
        ctx, RD_SHAPE(1, ROWS, COLUMNS),
        RD_LEVELS(
            { RD_LEVEL_COMPRESSED, 0, row_of(one, RD_I32, 2), row_of(one, RD_I32, 1) },
            { RD_LEVEL_COMPRESSED, 1, row_of(top, RD_I32, 2), row_of(fibre, RD_I32, ROWS) },
            { RD_LEVEL_COMPRESSED, 2, row_of(pos, RD_I32, ROWS + 1), row_of(crd, RD_I32, PLACES) }),
        row_of(stored, RD_F64, PLACES), .stored = true);
    expect_same("a cube", rd_sum(cube, RD_DIMS(2)), rd_sum(rd_leaf(ctx, &array), RD_DIMS(2)));
    expect_same("its planes", rd_max(cube, RD_DIMS(1, 2)),
                rd_max(rd_leaf(ctx, &array), RD_DIMS(1, 2)));
}
END_TEST

/* A NaN and infinities of both signs, in pieces of their own: they meet where pieces do. */
START_TEST(no_numbers)
{
    static const char *const of[] = { "sum", "min", "max", "any", "mean" };

    make(true);
    for (int k = 0; k < 3; k++) {
        const int64_t p = k * LONG + 4;

        stored[p] = full[p * COLUMNS / length[0]] = k == 0 ? INFINITY : k == 1 ? NAN : -INFINITY;
    }
    for (size_t k = 0; k < COUNT(of); k++)
        for (int skip = 0; skip < 2; skip++) {
            compare(of[k], RD_F64, true, skip);
            compare(of[k], RD_F32, true, skip);
        }
}
END_TEST

START_TEST(products_of_long_rows)
{
    make(true);
    for (int only_stored = 0; only_stored < 2; only_stored++) {
        rd_expr *const vector = row_of(beside, RD_F64, COLUMNS);
        rd_expr *const three  = rd_leaf(
             ctx, &(rd_array){ .in = beside, .type = RD_F64, .shape = RD_SHAPE(COLUMNS, 3) });
        rd_expr *const a = matrix(RD_F64, only_stored), *const d = plane(full, RD_F64, RD_F64);

        expect_same("a vector", rd_matmul(a, vector), rd_matmul(d, vector));
        expect_same("three columns", rd_matmul(a, three), rd_matmul(d, three));
        expect_same("a scale", rd_mul(rd_matmul(a, vector), rd_num(ctx, 2)),
                    rd_mul(rd_matmul(d, vector), rd_num(ctx, 2)));
    }
}
END_TEST

/* What each order rounds another way: sums of f32 and f64, exactly the same. */
START_TEST(bits_of_any_threads)
{
    static const char *const modes[] = { "off", "sync" };
    static const rd_dtype    types[] = { RD_F32, RD_F64 };

    make(false);
    for (size_t t = 0; t < COUNT(types); t++) {
        char first[ROWS * sizeof(double)];
        bool some = false;

        for (size_t m = 0; m < COUNT(modes); m++) {
            rd_tier_force(modes[m]);
            for (int threads = 1; threads <= 4; threads++) {
                rd_array out = { 0 };

                evaluate(rd_matmul(matrix(types[t], true),
                                   rd_cast(row_of(beside, RD_F64, COLUMNS), types[t])),
                         threads, &out);
                const size_t bytes = ROWS * (size_t)rd_dtype_size(out.type);
                if (!some)
                    memcpy(first, out.in, bytes);
                some = true;
                ck_assert_msg(!memcmp(first, out.in, bytes), "%s, %d threads, tier %s",
                              rd_dtype_name(types[t]), threads, modes[m]);
                rd_array_free(&out);
            }
        }
    }
}
END_TEST

/* A sum has two folds; what cannot be put together again, such as a variance, or must go in order,
 * one. */
START_TEST(two_folds)
{
    make(true);
    rd_expr *const x = matrix(RD_F64, true);

    ck_assert_msg(times_in(plan_text(rd_sum(x, RD_DIMS(1))), "<- sum(") == 2, "%s",
                  plan_text(rd_sum(x, RD_DIMS(1))));
    ck_assert(times_in(plan_text(rd_sum(x, RD_DIMS(1), .accuracy = RD_SERIAL)), "<- sum(") == 1);
    ck_assert(times_in(plan_text(rd_sum(x, RD_DIMS(0))), "<- sum(") == 1);
    ck_assert(times_in(plan_text(rd_var(x, RD_DIMS(1))), "<- moments(") == 1);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        as_dense_rows, as_dense_rows_compiled, products_of_places,  keywords, rows_of_a_cube,
        no_numbers,    products_of_long_rows,  bits_of_any_threads, two_folds
    };

    return run_suite("sparse pieces", tests, COUNT(tests));
}
