/* test_semantics_random.c - random numbers: the vectors of their paper's authors, the same element wherever
 * it is read, and the distributions. */
#include "core/dtype.h"
#include "kernels/math/math_random.h"
#include "values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Bits ------------------------------------------------------------------------------------- */
/* Random123's kat_vectors: four words of a counter, two of a key, four of the block. */
START_TEST(known_answers)
{
    static const uint32_t rows[][10] = {
        { 0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 },
        { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d,
          0x41c83b0e, 0xa20bc7c6, 0x6d5451fd },
        { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09,
          0x94fdcceb, 0x5001e420, 0x24126ea1 },
    };

    for (size_t k = 0; k < COUNT(rows); k++) {
        const uint32_t       *r = rows[k];
        const rd_philox_block x = { r[0], r[1], r[2], r[3] };
        const rd_philox_block y = rd_philox_4x32(x, r[4], r[5]);

        ck_assert_msg(y.a == r[6] && y.b == r[7] && y.c == r[8] && y.d == r[9], "row %d", (int)k);
    }
}
END_TEST

/* An element is word `index` of the stream, in C order of the shape. */
START_TEST(words)
{
    static uint64_t got[2 * 3 * 35], part[2 * 3];
    rd_expr        *x = rd_random_bits(ctx, 0x123456789abcdef0, RD_SHAPE(2, 3, 35));

    ck_assert(rd_eval(ctx, x, RD_INTO(got, RD_SHAPE(2, 3, 35))) == RD_OK);
    for (uint64_t i = 0; i < COUNT(got); i++)
        ck_assert_uint_eq(got[i], rd_philox_u64(i, 0x123456789abcdef0));
    ck_assert(rd_eval(ctx, rd_permute(rd_slice(x, "..., 7"), RD_INDEX(1, 0)),
                      RD_INTO(part, RD_SHAPE(3, 2))) == RD_OK);
    for (uint64_t i = 0; i < COUNT(part); i++)
        ck_assert_uint_eq(part[i], got[i % 2 * 105 + i / 2 * 35 + 7]);
    /* far along: the upper half of the counter counts */
    ck_assert(rd_eval(ctx, rd_slice(rd_random_bits(ctx, 5, RD_SHAPE(INT64_C(1) << 40)), "-1"),
                      RD_INTO(part, RD_SCALAR)) == RD_OK);
    ck_assert_uint_eq(part[0], rd_philox_u64((UINT64_C(1) << 40) - 1, 5));
    /* neighbours that are of one block or of two, in front of a few that are left */
    for (int64_t first = (INT64_C(1) << 33) - 40; first < (INT64_C(1) << 33) - 37; first++)
        for (int64_t step = -3; step < 4; step += step == -1 ? 2 : 1) {
            rd_expr      *row = rd_random_bits(ctx, 5, RD_SHAPE(INT64_C(1) << 40));
            const int64_t end = first + COUNT(got) * step;

            ck_assert(rd_eval(ctx, rd_slice_axis(row, 0, first, end, step),
                              RD_INTO(got, RD_SHAPE(COUNT(got)))) == RD_OK);
            for (int64_t i = 0; i < (int64_t)COUNT(got); i++)
                ck_assert_uint_eq(got[i], rd_philox_u64((uint64_t)(first + i * step), 5));
        }
    ck_assert_ptr_eq(x, rd_random_bits(ctx, 0x123456789abcdef0, RD_SHAPE(2, 3, 35)));
    ck_assert_ptr_ne(x, rd_random_bits(ctx, 0x123456789abcdef1, RD_SHAPE(2, 3, 35)));
}
END_TEST

/* ---- Where an element is read ------------------------------------------------------------------ */
typedef rd_expr      *draw(rd_ctx *ctx, uint64_t key, rd_shape shape, rd_dtype type);
static draw *const    draws[] = { rd_random_uniform, rd_random_normal, rd_random_exponential };
static const rd_dtype types[] = { RD_F64, RD_F32, RD_F16, RD_BF16 };

/* Bytes of a result, by some threads. */
static void bytes_of(rd_expr *x, int threads, rd_array *out)
{
    const rd_eval_opts opts = { .size = sizeof opts, .threads = threads };

    *out = (rd_array){ 0 };
    ck_assert_msg(rd_eval_many(ctx, RD_RESULTS({ x, out }), &opts) == RD_OK, "%s",
                  rd_error_text(ctx));
}

START_TEST(same_elements)
{
    for (size_t d = 0; d < COUNT(draws); d++)
        for (size_t t = 0; t < COUNT(types); t++) {
            rd_expr *x = draws[d](ctx, 7, RD_SHAPE(301, 77), types[t]);
            rd_array all, again;

            bytes_of(x, 1, &all);
            bytes_of(rd_permute(rd_permute(x, RD_INDEX(1, 0)), RD_INDEX(1, 0)), 3, &again);
            ck_assert_int_eq(all.type, types[t]);
            ck_assert(!memcmp(all.data, again.data, (size_t)(301 * 77 * rd_dtype_size(types[t]))));
            rd_array_free(&again);
            bytes_of(rd_slice(x, "299::-7, 76"), 2, &again);
            for (int64_t i = 0; i < 43; i++)
                ck_assert(get(again.data, types[t], i) ==
                          get(all.data, types[t], (299 - 7 * i) * 77 + 76));
            rd_array_free(&again);
            rd_array_free(&all);
        }
}
END_TEST

/* ---- Distributions ------------------------------------------------------------------------------ */
enum { MANY = 200000, BINS = 50 };

/* Moments within six deviations of theirs, and as many in each of 50 bins of equal chance. */
static void check_draws(const char *what, rd_expr *x, double mean, double variance, double fourth,
                        double (*chance)(double below))
{
    rd_array out;
    double   sum = 0, square = 0, chi = 0;
    int      bin[BINS] = { 0 };

    bytes_of(x, 1, &out);
    for (int64_t i = 0; i < MANY; i++) {
        const double v = get(out.data, out.type, i);
        int          b = (int)(chance(v) * BINS);

        sum += v;
        square += (v - mean) * (v - mean);
        bin[b < BINS ? b : BINS - 1]++;
    }
    for (int b = 0; b < BINS; b++)
        chi += pow(bin[b] - (double)MANY / BINS, 2) / ((double)MANY / BINS);
    rd_array_free(&out);
    ck_assert_msg(fabs(sum / MANY - mean) < 6 * sqrt(variance / MANY), "%s: mean %g", what,
                  sum / MANY);
    ck_assert_msg(fabs(square / MANY - variance) < 6 * sqrt((fourth - variance * variance) / MANY),
                  "%s: variance %g", what, square / MANY);
    ck_assert_msg(chi > 15 && chi < 110, "%s: chi square %g of 49", what, chi);
}

static double below_uniform(double x)
{
    return x;
}

static double below_normal(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

static double below_exponential(double x)
{
    return -expm1(-x);
}

static double below_1000(double x)
{
    return x / 1000;
}

START_TEST(distributions)
{
    for (uint64_t key = 0; key < 2; key++)
        for (size_t t = 0; t < 2; t++) {
            const rd_shape s = RD_SHAPE(MANY);

            check_draws("uniform", rd_random_uniform(ctx, key, s, types[t]), 0.5, 1 / 12.0,
                        1 / 80.0, below_uniform);
            check_draws("normal", rd_random_normal(ctx, key, s, types[t]), 0, 1, 3, below_normal);
            check_draws("exponential", rd_random_exponential(ctx, key, s, types[t]), 1, 1, 9,
                        below_exponential);
        }
    check_draws("integers", rd_random_integers(ctx, 3, RD_SHAPE(MANY), 0, 1000), 499.5,
                999999 / 12.0, 1e12 / 80, below_1000);
}
END_TEST

/* Neighbours have nothing in common: f64 takes them from one angle. */
START_TEST(neighbours)
{
    rd_expr     *x = rd_random_normal(ctx, 11, RD_SHAPE(MANY), RD_F64);
    rd_expr     *y = rd_slice(x, "1:"), *z = rd_slice(x, ":-1");
    const double r   = rd_at(ctx, rd_mean(rd_mul(y, z), RD_ALL), RD_SCALAR);
    const double r_2 = rd_at(ctx, rd_mean(rd_mul(rd_square(y), rd_square(z)), RD_ALL), RD_SCALAR);

    ck_assert_msg(fabs(r) < 6 / sqrt(MANY), "correlation %g", r);
    ck_assert_msg(fabs(r_2 - 1) < 6 * sqrt(8.0 / MANY), "of squares %g", r_2);
}
END_TEST

/* ---- Ends of ranges, refusals ------------------------------------------------------------------ */
START_TEST(whole_numbers)
{
    static const struct {
        int64_t low, high;
    } rows[] = { { -3, 4 }, { 5, 6 }, { INT64_MIN, INT64_MAX }, { -1, INT64_C(1) << 33 } };
    static int64_t y[1000];

    for (size_t k = 0; k < COUNT(rows); k++) {
        const int64_t  low = rows[k].low;
        const uint64_t n   = (uint64_t)rows[k].high - (uint64_t)low;

        ck_assert(rd_eval(ctx, rd_random_integers(ctx, 9, RD_SHAPE(1000), low, rows[k].high),
                          RD_INTO(y, RD_SHAPE(1000))) == RD_OK);
        for (uint64_t i = 0; i < 1000; i++) {
            const unsigned __int128 product = (unsigned __int128)rd_philox_u64(i, 9) * n;

            ck_assert_uint_eq((uint64_t)y[i], (uint64_t)low + (uint64_t)(product >> 64));
        }
    }
    expect_error("none", rd_random_integers(ctx, 1, RD_SHAPE(2), 3, 3), RD_ERR_ARGUMENT);
}
END_TEST

START_TEST(permutations)
{
    enum { N = 1000 };
    rd_expr *p = rd_permutation(ctx, 3, N), *i = rd_coord(p, 0),
            *m = rd_reshape(i, RD_SHAPE(250, 4));
    rd_array all;

    expect("all of them", rd_all(rd_eq(rd_sort(p, 0), i), RD_ALL), RD_BOOL, VALUES(1));
    ck_assert_ptr_eq(p, rd_argsort(rd_random_bits(ctx, 3, RD_SHAPE(N)), 0));
    ck_assert_ptr_ne(p, rd_permutation(ctx, 4, N));
    bytes_of(p, 1, &all);
    double moved = 0;
    for (int64_t k = 0; k < N; k++)
        moved += fabs(get(all.data, all.type, k) - (double)k);
    rd_array_free(&all);
    /* of mean n^2 / 3 and deviation about n^1.5 / 7 */
    ck_assert_msg(fabs(moved - N * (N / 3.)) < 30000, "moved by %g in all", moved);
    expect("nothing", rd_permutation(ctx, 1, 0), RD_I64, NULL, 0);
    expect("one", rd_permutation(ctx, 1, 1), RD_I64, VALUES(0));
    ck_assert_ptr_eq(rd_shuffle(m, 0, 9), rd_take(m, 0, rd_permutation(ctx, 9, 250)));
    expect("rows stay", rd_all(rd_eq(rd_sort(rd_shuffle(m, -1, 9), 1), m), RD_ALL), RD_BOOL,
           VALUES(1));
    expect_error("less than nothing", rd_permutation(ctx, 1, -1), RD_ERR_SHAPE);
    expect_error("axis", rd_shuffle(m, 2, 9), RD_ERR_AXIS);
}
END_TEST

START_TEST(random_refusals)
{
    expect_error("type", rd_random_normal(ctx, 1, RD_SHAPE(2), RD_I32), RD_ERR_TYPE);
    expect_error("no type", rd_random_uniform(ctx, 1, RD_SHAPE(2), RD_AUTO), RD_ERR_TYPE);
    expect_error("shape", rd_random_bits(ctx, 1, RD_SHAPE(2, -1)), RD_ERR_SHAPE);
    expect_error("size", rd_random_bits(ctx, 1, RD_SHAPE(INT64_MAX, 3)), RD_ERR_SHAPE);
    ck_assert(!rd_random_bits(NULL, 1, RD_SHAPE(2)));
    expect("scalar", rd_floor(rd_random_uniform(ctx, 1, RD_SCALAR, RD_F32)), RD_F32, VALUES(0));
    expect("empty", rd_random_uniform(ctx, 1, RD_SHAPE(3, 0), RD_F32), RD_F32, NULL, 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { known_answers, words,         same_elements, distributions,
                                   neighbours,    whole_numbers, permutations,  random_refusals };

    return run_suite("semantics_random", tests, COUNT(tests));
}
