/* test_least.c - the first few of a row, which a bound and one pass find, or which come in strips: by
 * each set of kernels the bits of the reference, and of the whole row in order. */
#include "core/dtype.h"
#include "isa.h"
#include "values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 9, MOST = 5003 };

static const rd_dtype types[]   = { RD_F32, RD_F64, RD_F16, RD_I8, RD_U16, RD_I64 };
static const int64_t  lengths[] = { 127, 128, 191, 300, 1024, MOST }, few[] = { 1, 5, 8, 17, 32 };

/* What the rows hold: one kind each. */
static double element(int row, int64_t i, int64_t n)
{
    const double wild = (double)(i * 7919 % 1009 - 500) / 4;

    switch (row) {
    case 0: return wild;
    case 1: return (double)(n - i) / 64; /* falls            */
    case 2: return (double)i / 64;       /* rises            */
    case 3: return 3;                    /* all are equal    */
    case 4: return (double)(i % 5);      /* many are         */
    case 5: return i % 3 ? wild : NAN;
    case 6: return i % 40 ? NAN : wild;                  /* few are numbers  */
    case 7: return i % 2 ? -0. : i % 3 ? 0. : 1;         /* signs of zeros   */
    default: return i % 64 == 3 ? -(double)i / 64 : 100; /* all in one run   */
    }
}

static void *rows_of(rd_dtype type, int64_t n)
{
    const bool floats = rd_dtype_kind(type) == RD_KIND_FLOAT;
    char      *x      = malloc((size_t)(ROWS * n * rd_dtype_size(type)));

    for (int64_t k = 0; k < ROWS * n; k++) {
        const double e = element((int)(k / n), k % n, n);

        rd_word_store(x + k * rd_dtype_size(type), type,
                      rd_word_from_double(floats     ? e
                                          : isnan(e) ? 0
                                                     : rint(e),
                                          type));
    }
    return x;
}

static rd_array evaluate_on(int isa, rd_expr *y)
{
    rd_array out = { 0 };

    isa_begin(ctx, isa);
    ck_assert_msg(rd_eval(ctx, y, &out) == RD_OK, "%s", rd_error_text(ctx));
    isa_end(ctx);
    return out;
}

static void check(rd_expr *y, rd_dtype type, int64_t n, int64_t k, const char *what)
{
    rd_array want = evaluate_on(ISA_SCALAR, y);

    for (int isa = 1; isa < isa_count(); isa++) {
        rd_array got = evaluate_on(isa, y);

        ck_assert_msg(memcmp(got.in, want.in, (size_t)(ROWS * k * rd_dtype_size(got.type))) == 0,
                      "%s %s: %d of %d, %s", rd_dtype_name(type), what, (int)k, (int)n,
                      isa_name(isa));
        rd_array_free(&got);
    }
    rd_array_free(&want);
}

static void check_lengths(rd_dtype type, int64_t n)
{
    void          *x = rows_of(type, n);
    const rd_array a = { .type = type, .shape = RD_SHAPE(ROWS, n), .in = x };

    for (size_t k = 0; k < COUNT(few); k++)
        for (int way = 0; way < 2; way++) {
            rd_expr *y = rd_leaf(ctx, &a);

            check(rd_top_k(y, few[k], 1, .smallest = way), type, n, few[k], "values");
            check(rd_arg_top_k(y, few[k], 1, .smallest = way), type, n, few[k], "places");
        }
    free(x);
}

START_TEST(first_few)
{
    for (size_t k = 0; k < COUNT(types); k++)
        for (size_t l = 0; l < COUNT(lengths); l++)
            check_lengths(types[k], lengths[l]);
}
END_TEST

/* ---- Rows in strips -------------------------------------------------------------------------- */
/* Rows so long are made strip by strip; they are read backwards, as rows that lie in memory are read
 * there. */
static int64_t long_of(rd_dtype type)
{
    return (128 << 10) / rd_dtype_size(type) + 1003;
}

static const rd_dtype in_strips[] = { RD_F32, RD_F64, RD_I8,  RD_U8,  RD_I16,  RD_U16, RD_I32,
                                      RD_U32, RD_I64, RD_U64, RD_F16, RD_BF16, RD_F8 };
static const int64_t  kept[]      = { 1, 7, 64, 1000 };

static bool takes_strips(rd_expr *y, rd_dtype type)
{
    rd_array out = { 0 };
    char     loop[40];

    snprintf(loop, sizeof loop, ":%d by %d", (int)long_of(type), 4096 / rd_dtype_size(type));
    return strstr(rd_explain(ctx, RD_RESULTS({ y, &out }), NULL), loop) != NULL;
}

/* Compares the first k of sorted rows, which were sorted whole, with what strips find. */
static void check_strips(rd_expr *y, rd_expr *whole, rd_dtype type, int64_t k, const char *what)
{
    rd_array want = evaluate_on(isa_count() - 1, rd_slice_axis(whole, 1, 0, k, 1));

    ck_assert_msg(takes_strips(y, type), "%s %s of %d", rd_dtype_name(type), what, (int)k);
    /* The reference moves all that it keeps for each element: with many it is slow. */
    for (int isa = k > 64; isa < isa_count(); isa++) {
        rd_array got = evaluate_on(isa, y);

        ck_assert_msg(memcmp(got.in, want.in, (size_t)(ROWS * k * rd_dtype_size(got.type))) == 0,
                      "%s %s: %d of a row in strips, %s", rd_dtype_name(type), what, (int)k,
                      isa_name(isa));
        rd_array_free(&got);
    }
    rd_array_free(&want);
}

static void check_type_in_strips(rd_dtype type, bool way)
{
    const rd_mark  mark   = rd_ctx_mark(ctx);
    void          *x      = rows_of(type, long_of(type));
    const rd_array a      = { .type = type, .shape = RD_SHAPE(ROWS, long_of(type)), .in = x };
    rd_expr       *y      = rd_flip(rd_leaf(ctx, &a), RD_DIMS(1));
    rd_array       values = { 0 }, places = { 0 };

    ck_assert(rd_eval_many(ctx,
                           RD_RESULTS({ rd_sort(y, 1, .descending = !way), &values },
                                      { rd_argsort(y, 1, .descending = !way), &places }),
                           NULL) == RD_OK);
    for (size_t k = 0; k < COUNT(kept); k++) {
        check_strips(rd_top_k(y, kept[k], 1, .smallest = way), rd_leaf(ctx, &values), type, kept[k],
                     "values");
        check_strips(rd_arg_top_k(y, kept[k], 1, .smallest = way), rd_leaf(ctx, &places), type,
                     kept[k], "places");
    }
    rd_array_free(&values);
    rd_array_free(&places);
    free(x);
    rd_ctx_release(ctx, mark);
}

START_TEST(strips)
{
    for (size_t k = 0; k < COUNT(in_strips); k++)
        for (int way = 0; way < 2; way++)
            check_type_in_strips(in_strips[k], way);
}
END_TEST

/* ---- Rows of pairs --------------------------------------------------------------------------- */
/* Distances of points, with values and places in one evaluation: of several types, by one thread and
 * by four, where the row is a strip or some, and ends amid one. */
static const struct {
    rd_dtype type;
    int64_t  rows, n, dims, k;
} pairs[] = {
    { RD_F32, 37, 4096, 3, 1 },      { RD_F32, 37, 4099, 3, 5 },  { RD_F32, 16, 5003, 3, 20 },
    { RD_F32, 9, 9001, 50, 33 },     { RD_F32, 1, 20000, 2, 40 }, { RD_F32, 19, 20000, 17, 1000 },
    { RD_F64, 21, 4801, 3, 6 },      { RD_F64, 8, 4096, 50, 64 }, { RD_F16, 17, 4096, 3, 5 },
    { RD_F16, 5, 7001, 9, 100 },     { RD_F8, 9, 4096, 3, 3 },    { RD_F8, 3, 8193, 3, 70 },
    { RD_BF16, 11, 5000, 3, 12 },    { RD_I32, 13, 6007, 3, 9 },  { RD_F32, 2, 600001, 3, 5 },
    { RD_F32, 1, 1000003, 1, 1000 },
};

/* Points on a coarse grid, so that many distances are equal; one coordinate is NaN. */
static rd_array points(int64_t n, int64_t dims, uint32_t seed)
{
    float *x = malloc((size_t)(n * dims) * sizeof *x);

    for (int64_t k = 0; k < n * dims; k++) {
        seed = seed * 1664525 + 1013904223;
        x[k] = (float)(seed >> 24) / 64;
    }
    x[n * dims / 2] = n > 40 ? NAN : x[n * dims / 2];
    return (rd_array){ .type = RD_F32, .shape = RD_SHAPE(n, dims), .in = x };
}

static rd_expr *distances(const rd_array *a, const rd_array *b, rd_dtype type)
{
    return rd_cast(
        rd_sum(rd_square(rd_sub(rd_expand(rd_leaf(ctx, a), 1), rd_expand(rd_leaf(ctx, b), 0))),
               RD_DIMS(2)),
        type);
}

/* Compares the first of each row with the first of the whole row in order. */
static void check_rows(int which, const rd_array *got, const rd_array *want, const char *what)
{
    const int64_t size = rd_dtype_size(got->type), k = pairs[which].k;

    for (int64_t r = 0; r < pairs[which].rows; r++)
        ck_assert_msg(memcmp((const char *)got->in + r * k * size,
                             (const char *)want->in + r * pairs[which].n * size,
                             (size_t)(k * size)) == 0,
                      "case %d: %s, %d of %d pairs, row %d, %s", which,
                      rd_dtype_name(pairs[which].type), (int)k, (int)pairs[which].n, (int)r, what);
}

/* Evaluates values and places together, and places alone. */
static void check_pairs(int which, rd_expr *values, rd_expr *places, const rd_array *want,
                        int threads)
{
    const rd_eval_opts opts   = { .size = sizeof opts, .threads = threads };
    rd_array           got[3] = { { .order = 0 }, { .order = 0 }, { .order = 0 } };

    ck_assert_msg(rd_eval_many(ctx, RD_RESULTS({ values, &got[0] }, { places, &got[1] }), &opts) ==
                      RD_OK,
                  "%s", rd_error_text(ctx));
    ck_assert(rd_eval_many(ctx, RD_RESULTS({ places, &got[2] }), &opts) == RD_OK);
    check_rows(which, &got[0], &want[0], threads > 1 ? "values, 4 threads" : "values");
    check_rows(which, &got[1], &want[1], threads > 1 ? "places, 4 threads" : "places");
    check_rows(which, &got[2], &want[1], threads > 1 ? "places alone, 4 threads" : "places alone");
    for (int r = 0; r < 3; r++)
        rd_array_free(&got[r]);
}

static void check_both_ways(int which, rd_expr *d, rd_expr *stored)
{
    const int64_t k = pairs[which].k;

    for (int way = 0; way < 2; way++) {
        rd_array       want[2] = { { .order = 0 }, { .order = 0 } };
        rd_expr *const sorted  = rd_sort(d, 1, .descending = !way),
                       *order  = rd_argsort(d, 1, .descending = !way);

        ck_assert(rd_eval(ctx, rd_sort(stored, 1, .descending = !way), &want[0]) == RD_OK);
        ck_assert(rd_eval(ctx, rd_argsort(stored, 1, .descending = !way), &want[1]) == RD_OK);
        for (int threads = 1; threads <= 4; threads += 3)
            check_pairs(which, rd_top_k(d, k, 1, .smallest = way),
                        rd_arg_top_k(d, k, 1, .smallest = way), want, threads);
        check_pairs(which, rd_slice_axis(sorted, 1, 0, k, 1), rd_slice_axis(order, 1, 0, k, 1),
                    want, 1);
        rd_array_free(&want[0]);
        rd_array_free(&want[1]);
    }
}

START_TEST(rows_of_pairs)
{
    for (int k = 0; k < (int)COUNT(pairs); k++) {
        const rd_mark  mark = rd_ctx_mark(ctx);
        const rd_array a    = points(pairs[k].rows, pairs[k].dims, 17),
                       b    = points(pairs[k].n, pairs[k].dims, 5);
        rd_expr *const d    = distances(&a, &b, pairs[k].type);
        rd_array       all  = { 0 };

        ck_assert_msg(rd_eval(ctx, d, &all) == RD_OK, "%s", rd_error_text(ctx));
        check_both_ways(k, d, rd_leaf(ctx, &all));
        rd_array_free(&all);
        free((void *)(uintptr_t)a.in);
        free((void *)(uintptr_t)b.in);
        rd_ctx_release(ctx, mark);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { first_few, strips, rows_of_pairs };

    return run_suite("least", tests, COUNT(tests));
}
