/* Evaluations that share a plan, and those that must not; and that plans kept for later stay few
 * and harmless. */
#include "eval/cache/cache.h"
#include "kernels/cpu/jit/tier.h"
#include "values.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 40, COLUMNS = 30, N = ROWS * COLUMNS };

static float x[N], y[N], out[N];

static void setup(void)
{
    ctx = rd_ctx_new(NULL);
    for (int i = 0; i < N; i++) {
        x[i]   = (float)((i * 7) % 101) / 8;
        y[i]   = (float)((i * 5) % 89) / 4;
        out[i] = -1;
    }
}

static void teardown(void)
{
    ck_assert_msg(rd_error(ctx) == RD_OK, "%s", rd_error_text(ctx));
    rd_ctx_free(ctx);
}

/* Evaluations so far that made a plan. */
static int64_t made(void)
{
    return rd_cache_stats_of(ctx).made;
}

static float total(const float *p, int n, int step)
{
    float sum = 0;

    for (int i = 0; i < n; i++)
        sum += p[i * step];
    return sum; /* exact: multiples of 1/8 */
}

static float eval_scalar(rd_expr *e)
{
    float value = NAN;

    ck_assert_msg(rd_eval(ctx, e, RD_INTO(&value, RD_SCALAR)) == RD_OK, "%s", rd_error_text(ctx));
    return value;
}

/* ---- Shared ---------------------------------------------------------------------------------- */
START_TEST(same_expression)
{
    rd_expr *e = rd_sum(rd_wrap(ctx, x, RD_SHAPE(N)), RD_ALL);

    for (int k = 0; k < 5; k++)
        ck_assert_float_eq(eval_scalar(e), total(x, N, 1));
    ck_assert_int_eq(made(), 1);
    ck_assert_int_eq(rd_cache_stats_of(ctx).same, 4);
    x[3] += 1; /* data is read anew */
    ck_assert_float_eq(eval_scalar(e), total(x, N, 1));
}
END_TEST

START_TEST(slices_share)
{
    rd_expr *m = rd_wrap(ctx, x, RD_SHAPE(ROWS, COLUMNS));

    for (int i = 0; i < ROWS; i++)
        ck_assert_float_eq(eval_scalar(rd_sum(rd_select(m, 0, i), RD_ALL)),
                           total(x + i * COLUMNS, COLUMNS, 1));
    ck_assert_int_eq(made(), 1);
    for (int j = COLUMNS; j-- > 0;)
        ck_assert_float_eq(eval_scalar(rd_sum(rd_select(m, 1, j), RD_ALL)),
                           total(x + j, ROWS, COLUMNS));
    ck_assert_int_eq(made(), 2);
}
END_TEST

static rd_expr *part(rd_expr *v, int64_t from, int64_t to)
{
    char text[48];

    snprintf(text, sizeof text, "%lld:%lld", (long long)from, (long long)to);
    return rd_slice(v, text);
}

/* Differences of slices of one array: what counts is how far they are apart. */
START_TEST(slices_apart)
{
    rd_expr *v = rd_wrap(ctx, x, RD_SHAPE(N));

    for (int i = 0; i < 20; i++)
        for (int d = 0; d < 3; d++) {
            rd_expr *e = rd_sub(part(v, i + d, i + d + 10), part(v, i, i + 10));

            ck_assert(rd_eval(ctx, e, RD_INTO(out, RD_SHAPE(10))) == RD_OK);
            for (int k = 0; k < 10; k++)
                ck_assert_float_eq(out[k], x[i + d + k] - x[i + k]);
        }
    ck_assert_int_eq(made(), 3);
}
END_TEST

/* A slice next to its whole array, which begins at 0 wherever the slice does. */
START_TEST(slice_and_whole)
{
    rd_expr *v = rd_wrap(ctx, x, RD_SHAPE(10)), *w = rd_wrap(ctx, y, RD_SHAPE(10));

    for (int i = 0; i < 10; i++)
        for (int order = 0; order < 2; order++) {
            rd_expr *e = order ? rd_add(v, rd_select(v, 0, i)) : rd_add(rd_select(v, 0, i), v);

            ck_assert(rd_eval(ctx, e, RD_INTO(out, RD_SHAPE(10))) == RD_OK);
            for (int k = 0; k < 10; k++)
                ck_assert_float_eq(out[k], x[k] + x[i]);
            ck_assert(rd_eval(ctx, rd_add(w, rd_select(v, 0, i)), RD_INTO(out, RD_SHAPE(10))) ==
                      RD_OK);
            for (int k = 0; k < 10; k++)
                ck_assert_float_eq(out[k], y[k] + x[i]);
        }
}
END_TEST

START_TEST(other_memory)
{
    for (int k = 0; k < 8; k++) {
        rd_expr *a = rd_wrap(ctx, x + k, RD_SHAPE(100)),
                *b = rd_wrap(ctx, y + 3 * k, RD_SHAPE(100));

        ck_assert(rd_eval(ctx, rd_mul(a, b), RD_INTO(out + k, RD_SHAPE(100))) == RD_OK);
        for (int i = 0; i < 100; i++)
            ck_assert_float_eq(out[k + i], x[k + i] * y[3 * k + i]);
    }
    ck_assert_int_eq(made(), 1);
    /* One array twice is another expression than two arrays. */
    ck_assert(rd_eval(ctx, rd_square(rd_wrap(ctx, x, RD_SHAPE(100))),
                      RD_INTO(out, RD_SHAPE(100))) == RD_OK);
    ck_assert(rd_eval(ctx, rd_mul(rd_wrap(ctx, x, RD_SHAPE(100)), rd_wrap(ctx, x, RD_SHAPE(100))),
                      RD_INTO(out, RD_SHAPE(100))) == RD_OK);
    ck_assert_int_ge(made(), 2);
}
END_TEST

/* ---- Not shared ------------------------------------------------------------------------------ */
static float twice(float a)
{
    return 2 * a;
}

static float thrice(float a)
{
    return 3 * a;
}

typedef rd_expr *variant(rd_expr *v);

static rd_expr *plus_1(rd_expr *v)
{
    return rd_add(v, rd_num(ctx, 1));
}

static rd_expr *plus_2(rd_expr *v)
{
    return rd_add(v, rd_num(ctx, 2));
}

static rd_expr *minus_1(rd_expr *v)
{
    return rd_sub(v, rd_num(ctx, 1));
}

static rd_expr *reversed(rd_expr *v)
{
    return rd_add(rd_flip(v, RD_DIMS(0)), rd_num(ctx, 1));
}

static rd_expr *cast(rd_expr *v)
{
    return rd_cast(rd_cast(v, RD_I32), RD_F32);
}

static rd_expr *cast_8(rd_expr *v)
{
    return rd_cast(rd_cast(v, RD_I8), RD_F32);
}

static rd_expr *doubled(rd_expr *v)
{
    return rd_map_f32(v, twice);
}

static rd_expr *tripled(rd_expr *v)
{
    return rd_map_f32(v, thrice);
}

static rd_expr *cumulated(rd_expr *v)
{
    return rd_scan(v, "sum", RD_DIMS(0));
}

static rd_expr *cumulated_back(rd_expr *v)
{
    return rd_scan(v, "sum", RD_DIMS(0), .reverse = true);
}

static rd_expr *cumulated_max(rd_expr *v)
{
    return rd_scan(v, "max", RD_DIMS(0));
}

static rd_expr *taken(rd_expr *v)
{
    return rd_take(v, 0, rd_cast(v, RD_I64));
}

static rd_expr *joined(rd_expr *v)
{
    return rd_slice(rd_concat(0, RD_EXPRS(v, rd_neg(v))), "3:13");
}

static rd_expr *joined_later(rd_expr *v)
{
    return rd_slice(rd_concat(0, RD_EXPRS(v, rd_neg(v))), "10:20");
}

static variant *const variants[] = { plus_1,        plus_2,  minus_1, reversed,    cast,
                                     cast_8,        doubled, tripled, cumulated,   cumulated_back,
                                     cumulated_max, taken,   joined,  joined_later };

/* Each variant after all others, in one context and in a fresh one: same bits. */
START_TEST(variants_differ)
{
    float small[10], want[10], got[10];

    for (int i = 0; i < 10; i++)
        small[i] = (float)((i * 3) % 10);
    for (int round = 0; round < 2; round++)
        for (size_t k = 0; k < COUNT(variants); k++) {
            rd_ctx  *here  = ctx;
            rd_mark  mark  = rd_ctx_mark(ctx);
            rd_ctx  *fresh = rd_ctx_new(NULL);
            rd_expr *e     = variants[k](rd_wrap(ctx, small, RD_SHAPE(10)));

            ck_assert_msg(rd_eval(ctx, e, RD_INTO(got, RD_SHAPE(10))) == RD_OK, "%s",
                          rd_error_text(ctx));
            ck_assert(rd_ctx_release(ctx, mark) == RD_OK);
            ctx = fresh;
            ck_assert(rd_eval(ctx, variants[k](rd_wrap(ctx, small, RD_SHAPE(10))),
                              RD_INTO(want, RD_SHAPE(10))) == RD_OK);
            ctx = here;
            rd_ctx_free(fresh);
            ck_assert_msg(memcmp(want, got, sizeof want) == 0, "variant %zu, round %d", k, round);
        }
    ck_assert_int_eq(made(), COUNT(variants));
}
END_TEST

START_TEST(layouts_differ)
{
    double wide[10];
    int    whole[10];

    for (int i = 0; i < 10; i++) {
        wide[i]  = i + 0.5;
        whole[i] = i * i;
    }
    for (int round = 0; round < 2; round++) {
        rd_array strided = {
            .in = x, .type = RD_F32, .shape = RD_SHAPE(10), .strides = RD_STRIDES(3)
        };
        rd_array back = {
            .in = x + 9, .type = RD_F32, .shape = RD_SHAPE(10), .strides = RD_STRIDES(-1)
        };
        double sum;

        ck_assert_float_eq(eval_scalar(rd_sum(rd_wrap(ctx, x, RD_SHAPE(10)), RD_ALL)),
                           total(x, 10, 1));
        ck_assert_float_eq(eval_scalar(rd_sum(rd_leaf(ctx, &strided), RD_ALL)), total(x, 10, 3));
        ck_assert_float_eq(eval_scalar(rd_sum(rd_leaf(ctx, &back), RD_ALL)), total(x, 10, 1));
        ck_assert_float_eq(eval_scalar(rd_sum(rd_wrap(ctx, x, RD_SHAPE(11)), RD_ALL)),
                           total(x, 11, 1));
        ck_assert(rd_eval(ctx, rd_sum(rd_wrap(ctx, wide, RD_SHAPE(10)), RD_ALL),
                          RD_INTO(&sum, RD_SCALAR)) == RD_OK);
        ck_assert_double_eq(sum, 50);
        ck_assert(rd_eval(ctx, rd_sum(rd_wrap(ctx, x, RD_SHAPE(10)), RD_ALL),
                          RD_INTO(&sum, RD_SCALAR)) == RD_OK);
        ck_assert_double_eq(sum, (double)total(x, 10, 1));
        ck_assert(rd_at(ctx, rd_sum(rd_wrap(ctx, whole, RD_SHAPE(10)), RD_ALL), RD_SCALAR) == 285);
    }
    ck_assert_int_le(made(), 8);
}
END_TEST

START_TEST(outputs_differ)
{
    rd_expr *e = rd_add(rd_wrap(ctx, x, RD_SHAPE(4, 5)), rd_num(ctx, 1));
    double   wide[20];

    for (int round = 0; round < 3; round++) {
        rd_array turned = {
            .data = out + 100, .type = RD_F32, .order = 1, .shape = RD_SHAPE(4, 5)
        };
        rd_array spread = { .data    = out + 200,
                            .type    = RD_F32,
                            .shape   = RD_SHAPE(4, 5),
                            .strides = RD_STRIDES(10 + round, 2) };
        rd_array fresh  = { 0 };

        ck_assert(rd_eval(ctx, e, RD_INTO(out + round, RD_SHAPE(4, 5))) == RD_OK);
        ck_assert(rd_eval(ctx, e, &turned) == RD_OK && rd_eval(ctx, e, &spread) == RD_OK);
        ck_assert(rd_eval(ctx, e, &fresh) == RD_OK &&
                  rd_eval(ctx, e, RD_INTO(wide, RD_SHAPE(4, 5))) == RD_OK);
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 5; k++) {
                float want = x[i * 5 + k] + 1;

                ck_assert(out[round + i * 5 + k] == want && out[100 + k * 4 + i] == want);
                ck_assert(out[200 + i * (10 + round) + 2 * k] == want);
                ck_assert(((float *)fresh.data)[i * 5 + k] == want &&
                          wide[i * 5 + k] == (double)want);
            }
        rd_array_free(&fresh);
    }
    ck_assert_int_eq(made(), 6); /* dense C, Fortran, f64, and three strides */
}
END_TEST

/* A layout that is refused is refused also when its expression has a plan. */
START_TEST(refusals_stay)
{
    rd_expr *e = rd_neg(rd_wrap(ctx, x, RD_SHAPE(4)));

    for (int k = 0; k < 2; k++)
        ck_assert(rd_eval(ctx, e, RD_INTO(out, RD_SHAPE(4))) == RD_OK);
    ck_assert(rd_eval(ctx, e, RD_INTO(out, RD_SHAPE(5))) == RD_ERR_SHAPE);
    rd_error_clear(ctx);
    ck_assert(
        rd_eval(ctx, e,
                &(rd_array){ .data = (char *)out + 1, .type = RD_F32, .shape = RD_SHAPE(4) }) ==
        RD_ERR_ARGUMENT);
    rd_error_clear(ctx);
    ck_assert(rd_eval(ctx, e, &(rd_array){ .type = RD_F32, .shape = RD_SHAPE(4) }) ==
              RD_ERR_ARGUMENT);
    rd_error_clear(ctx);
    for (int order = 2; order > 0; order = order < 1 << 20 ? order * 2 : -1) {
        ck_assert(
            rd_eval(
                ctx, e,
                &(rd_array){ .data = out, .type = RD_F32, .order = order, .shape = RD_SHAPE(4) }) ==
            RD_ERR_ARGUMENT);
        rd_error_clear(ctx);
    }
    ck_assert(
        rd_eval(ctx, e, &(rd_array){ .data = out, .type = (rd_dtype)99, .shape = RD_SHAPE(4) }) ==
        RD_ERR_TYPE);
    rd_error_clear(ctx);
    ck_assert(rd_eval(ctx, rd_neg(rd_input(ctx, "v", RD_INTO(x, RD_SHAPE(4)))),
                      RD_INTO(out, RD_SHAPE(4))) == RD_ERR_ARGUMENT);
    rd_error_clear(ctx);
}
END_TEST

/* ---- Overlaps -------------------------------------------------------------------------------- */
/* Each of these on a copy: the plan of one evaluation runs with other overlaps in the next. */
START_TEST(overlaps_of_each_run)
{
    enum { M = 64 };
    float memory[3 * M], want[M];

    rd_tier_force("off"); /* or the first plan were for 64 runs */
    for (int from = 0; from <= M; from += 8)
        for (int to = 0; to <= M; to += 8) {
            rd_mark  mark = rd_ctx_mark(ctx);
            rd_expr *v    = rd_wrap(ctx, memory + from, RD_SHAPE(M));

            memcpy(memory, x, sizeof memory);
            for (int i = 0; i < M; i++)
                want[i] = memory[from + i] + memory[from + M - 1 - i];
            ck_assert(rd_eval(ctx, rd_add(v, rd_flip(v, RD_DIMS(0))),
                              RD_INTO(memory + to, RD_SHAPE(M))) == RD_OK);
            ck_assert_msg(memcmp(memory + to, want, sizeof want) == 0, "from %d to %d", from, to);
            ck_assert(rd_ctx_release(ctx, mark) == RD_OK);
        }
    ck_assert_int_eq(made(), 1);
}
END_TEST

static float squares[40 * 30000];

static void square_often(int64_t rows)
{
    for (int run = 0; run < 200; run++) {
        rd_expr *const row = rd_wrap(ctx, x, RD_SHAPE(40));
        rd_expr *const all = rd_square(rd_broadcast(row, RD_SHAPE(rows, 40)));

        ck_assert_int_eq(rd_eval(ctx, all, RD_INTO(squares, RD_SHAPE(rows, 40))), RD_OK);
        for (int64_t i = 0; i < rows * 40; i += 39)
            ck_assert(squares[i] == x[i % 40] * x[i % 40]);
    }
}

/* A program's first plan is brief: it has no code.  One that has it follows after 64 runs, or once runs
 * have worked for as long as the text of the code takes, and stays.  What is larger is brief as well while a
 * process has done little; then it has one plan, and so has what looks for code at once. */
START_TEST(brief_plans)
{
    rd_tier_force("async");
    square_often(1);
    ck_assert_int_eq(made(), 2);
    square_often(1000);
    ck_assert_int_eq(made(), 4);
    square_often(30000);
    ck_assert_int_eq(made(), 6);
    ck_assert(rd_tier_spares(8e6)); /* others do some work */
    square_often(29000);
    ck_assert_int_eq(made(), 7);
    rd_tier_hurry(true);
    square_often(2);
    rd_tier_hurry(false);
    ck_assert_int_eq(made(), 8);
    rd_tier_wait();
}
END_TEST

/* Rows of one array into rows of it: in place, to others, and where both are. */
START_TEST(rows_into_rows)
{
    float memory[ROWS * COLUMNS], want[COLUMNS];

    rd_tier_force("off"); /* or the first plan were for 64 runs */
    for (int from = 0; from < ROWS; from += 3)
        for (int to = 0; to < ROWS; to += 3) {
            rd_expr *m = rd_wrap(ctx, memory, RD_SHAPE(ROWS, COLUMNS));
            rd_expr *e = rd_scan(rd_select(m, 0, from), "sum", RD_DIMS(0));

            memcpy(memory, x, sizeof memory);
            for (int j = 0; j < COLUMNS; j++)
                want[j] = (j ? want[j - 1] : 0) + memory[from * COLUMNS + j];
            ck_assert(rd_eval(ctx, e, RD_INTO(memory + to * COLUMNS, RD_SHAPE(COLUMNS))) == RD_OK);
            ck_assert_msg(memcmp(memory + to * COLUMNS, want, sizeof want) == 0, "from %d to %d",
                          from, to);
            ck_assert(memcmp(memory, x, (size_t)to * sizeof want) == 0);
        }
    ck_assert_int_eq(made(), 1);
}
END_TEST

/* ---- Numbers --------------------------------------------------------------------------------- */
/* f64 of 8 elements: (x - a) (x - b) / c, and -x where that is below a. */
static void of_numbers(rd_ctx *c, const double *number, double *to)
{
    static const double at[8] = { -2, -0.5, 0, 0.25, 1, 3, 1e300, NAN };
    const rd_mark       mark  = rd_ctx_mark(c);
    rd_expr *const      v     = rd_wrap(c, at, RD_SHAPE(8));
    rd_expr *const      a = rd_num(c, number[0]), *b = rd_num(c, number[1]);
    rd_expr *const      q = rd_div(rd_mul(rd_sub(v, a), rd_sub(v, b)), rd_num(c, number[2]));
    rd_expr *const      e = rd_where(rd_lt(q, rd_num(c, number[0])), rd_neg(v), q);

    ck_assert_msg(rd_eval(c, e, RD_INTO(to, RD_SHAPE(8))) == RD_OK, "%s", rd_error_text(c));
    ck_assert(rd_ctx_release(c, mark) == RD_OK);
}

/* Other numbers, the same plan, and the bits that a plan of their own gives.  Whether two of them are
 * equal, 0 or 1 is known to the plan. */
START_TEST(numbers_share)
{
    static const double value[] = { 0.5, -3, 2, INFINITY, NAN, 5e-324, 1e308, 0, -0.0, 1, 0.5 };
    const int           n       = COUNT(value);
    double              number[3], want[8], got[8];

    for (int i = 0; i < n * n * n; i++) {
        rd_ctx *const fresh = rd_ctx_new(NULL);

        number[0] = value[i % n];
        number[1] = value[i / n % n];
        number[2] = value[i / n / n];
        of_numbers(fresh, number, want);
        of_numbers(ctx, number, got);
        rd_ctx_free(fresh);
        for (int k = 0; k < 8; k++)
            ck_assert_msg(memcmp(&want[k], &got[k], 8) == 0 || (isnan(want[k]) && isnan(got[k])),
                          "%g %g %g, element %d: %a, but %a", number[0], number[1], number[2], k,
                          want[k], got[k]);
    }
    /* 5 ways in which three numbers are equal, and 3 sorts of each: that is the most, twice each */
    ck_assert_int_lt(made(), 2 * 5 * 27);
}
END_TEST

/* Two plans for any number of numbers, by f32 and f64 alike; a third for the runs after the first 64. */
START_TEST(numbers_in_a_loop)
{
    double sum;

    rd_tier_force("async");
    for (int k = 0; k < 500; k++) {
        const rd_mark mark = rd_ctx_mark(ctx);
        rd_expr      *v    = rd_wrap(ctx, x, RD_SHAPE(64));
        rd_expr      *e    = rd_sum(rd_mul(v, rd_num(ctx, 0.125 * (k + 9))), RD_ALL);

        if (k % 2)
            e = rd_sum(rd_mul(rd_cast(v, RD_F64), rd_num(ctx, 0.125 * (k + 9))), RD_ALL);
        ck_assert_int_eq(rd_eval(ctx, rd_cast(e, RD_F64), RD_INTO(&sum, RD_SCALAR)), RD_OK);
        ck_assert_double_eq(sum, 0.125 * (k + 9) * (double)total(x, 64, 1));
        ck_assert(rd_ctx_release(ctx, mark) == RD_OK);
    }
    ck_assert_int_le(made(), 2 * 3);
    rd_tier_wait();
}
END_TEST

/* Products hang on the exponent: each has plans of its own, whatever numbers are beside it. */
START_TEST(exponents_stay)
{
    for (int k = 0; k < 20; k++) {
        const double power = k % 2 ? 3 : 2.5;
        rd_expr     *v     = rd_select(rd_wrap(ctx, x, RD_SHAPE(8)), 0, 3);
        rd_expr     *z     = rd_mul(rd_pow(v, rd_num(ctx, power)), rd_num(ctx, k + 5));
        const double want  = (k + 5) * pow((double)x[3], power);

        ck_assert_double_eq_tol((double)eval_scalar(z), want, 1e-6 * fabs(want));
    }
    ck_assert_int_eq(made(), 2 * 2);
}
END_TEST

/* Expressions that stay: their numbers are read where their nodes have them. */
START_TEST(numbers_of_kept_nodes)
{
    rd_expr *e[20];

    for (int k = 0; k < 20; k++)
        e[k] = rd_sum(rd_mul(rd_wrap(ctx, x, RD_SHAPE(8)), rd_num(ctx, k + 2)), RD_ALL);
    for (int round = 0; round < 3; round++)
        for (int k = 0; k < 20; k++)
            ck_assert_float_eq(eval_scalar(e[k]), (float)(k + 2) * total(x, 8, 1));
    ck_assert_int_eq(made(), 2);
}
END_TEST

/* Ints, too, of each type, where they are compared, added and multiplied: "labels == k". */
START_TEST(ints_share)
{
    static const rd_dtype types[] = {
        RD_I8, RD_U8, RD_I16, RD_U16, RD_I32, RD_U32, RD_I64, RD_U64
    };
    int64_t count[2];

    for (int k = 0; k < 800; k++) {
        const rd_mark  mark = rd_ctx_mark(ctx);
        const rd_dtype type = types[k % COUNT(types)];
        const int      at   = k / 8;
        rd_expr *const of   = rd_cast(rd_wrap(ctx, x, RD_SHAPE(N)), type);
        rd_expr *const twos = rd_eq(rd_mul(of, rd_int(ctx, 2)), rd_int(ctx, at));
        rd_expr *const both =
            rd_concat(0, RD_EXPRS(rd_count(rd_eq(of, rd_int(ctx, at)), RD_KEEP(0)),
                                  rd_count(twos, RD_KEEP(0))));
        int64_t want[2] = { 0, 0 };

        for (int i = 0; i < N; i++) {
            want[0] += (int)x[i] == at;
            want[1] += 2 * (int)x[i] == at;
        }
        ck_assert_msg(rd_eval(ctx, both, RD_INTO(count, RD_SHAPE(2))) == RD_OK, "%s",
                      rd_error_text(ctx));
        ck_assert_msg(memcmp(count, want, sizeof want) == 0, "%s, %d: %lld %lld",
                      rd_dtype_name(type), at, (long long)count[0], (long long)count[1]);
        ck_assert(rd_ctx_release(ctx, mark) == RD_OK);
    }
    ck_assert_int_le(made(), 8 * 6);
}
END_TEST

/* ---- Marks and memory ------------------------------------------------------------------------ */
/* After a release other expressions stand where the old ones stood. */
START_TEST(released_nodes)
{
    for (int k = 0; k < 50; k++) {
        rd_mark  mark = rd_ctx_mark(ctx);
        rd_expr *v    = rd_wrap(ctx, k % 3 ? x : y, RD_SHAPE(N));
        rd_expr *e    = k % 2 ? rd_sum(v, RD_ALL) : rd_max(v, RD_ALL);
        float    want = -1;

        for (int i = 0; i < N; i++)
            want = fmaxf(want, (k % 3 ? x : y)[i]);
        ck_assert_float_eq(eval_scalar(e), k % 2 ? total(k % 3 ? x : y, N, 1) : want);
        ck_assert_float_eq(eval_scalar(e), k % 2 ? total(k % 3 ? x : y, N, 1) : want);
        ck_assert(rd_ctx_release(ctx, mark) == RD_OK);
    }
    ck_assert_int_eq(made(), 2);
}
END_TEST

/* Plans know by which int they divide, so each k has a plan of its own. */
static rd_expr *over_int(rd_ctx *c, int k)
{
    rd_expr *const whole = rd_cast(rd_wrap(c, x, RD_SHAPE(8)), RD_I32);

    return rd_cast(rd_floordiv(whole, rd_int(c, k + 1)), RD_F32);
}

START_TEST(many_plans_are_bounded)
{
    int64_t held = 0;

    for (int k = 0; k < 3000; k++) {
        rd_mark mark = rd_ctx_mark(ctx);

        ck_assert(rd_eval(ctx, over_int(ctx, k), RD_INTO(out, RD_SHAPE(8))) == RD_OK);
        ck_assert_float_eq(out[3], (float)((int)x[3] / (k + 1)));
        ck_assert(rd_ctx_release(ctx, mark) == RD_OK);
        ck_assert_int_le(rd_cache_stats_of(ctx).plans, RD_CACHE_PLANS);
        held = k == 200 ? rd_memory_now(ctx) : held;
        ck_assert_msg(k < 200 || rd_memory_now(ctx) < held + (64 << 10), "%d: %lld bytes", k,
                      (long long)rd_memory_now(ctx));
    }
    ck_assert_int_eq(made(), 3000);
}
END_TEST

/* Plans give way to what is asked for. */
START_TEST(plans_give_way)
{
    const int64_t limit = 2 << 20;
    rd_ctx       *old = ctx, *c = rd_ctx_new(&(rd_ctx_opts){ .memory_limit = limit });
    rd_array      large = { 0 };

    for (int k = 0; k < 60; k++)
        ck_assert(rd_eval(c, over_int(c, k), RD_INTO(out, RD_SHAPE(8))) == RD_OK);
    ctx = c;
    ck_assert_int_gt(rd_cache_stats_of(c).plans, 50);
    ck_assert_msg(rd_eval(c,
                          rd_broadcast(rd_wrap(c, x, RD_SHAPE(1, 8)),
                                       RD_SHAPE((limit - (400 << 10)) / 32, 8)),
                          &large) == RD_OK,
                  "%s", rd_error_text(c));
    ck_assert_int_le(rd_cache_stats_of(c).plans, 1);
    rd_array_free(&large);
    ck_assert_float_eq(eval_scalar(rd_sum(rd_wrap(c, x, RD_SHAPE(N)), RD_ALL)), total(x, N, 1));
    ctx = old;
    rd_ctx_free(c);
}
END_TEST

/* What is kept between loops may have more bytes than a number counts. */
START_TEST(kept_values_that_overflow)
{
    const int64_t n = (int64_t)1 << 60;
    rd_expr      *v = rd_broadcast(rd_wrap(ctx, x, RD_SHAPE(2, 1)), RD_SHAPE(2, n));
    rd_expr      *w = rd_cos(rd_add(rd_cast(v, RD_F64), rd_cast(rd_coord(v, 1), RD_F64)));
    rd_expr      *e = rd_scan(w, "sum", RD_DIMS(1));
    rd_expr      *s = rd_sum(rd_div(e, rd_sum(e, RD_KEEP(1))), RD_DIMS(1));
    double        sums[2];

    ck_assert(
        !rd_plan_new(ctx, (rd_exprs){ 0 }, RD_RESULTS({ s, RD_INTO(sums, RD_SHAPE(2)) }), NULL));
    ck_assert_msg(rd_error(ctx) == RD_ERR_MEMORY &&
                      strstr(rd_error_text(ctx), "rd_plan_new: no memory"),
                  "%s", rd_error_text(ctx));
    rd_error_clear(ctx);
}
END_TEST

/* ---- Callbacks ------------------------------------------------------------------------------- */
/* The name of a function, in messages, is that of the expression that is evaluated. */
static const char *refuse(void *user, int64_t n, const void *const *in, void *result)
{
    (void)n;
    (void)in;
    (void)result;
    return user;
}

START_TEST(callbacks_by_name_and_data)
{
    static const char *const names[]        = { "first", "second" };
    static char              sentence[2][8] = { "one", "two" };

    for (int k = 0; k < 8; k++) {
        rd_mark mark = rd_ctx_mark(ctx);
        char    name[16];
        int     who = k % 2, what = k / 2 % 2;
        rd_fn   f = {
              .size = sizeof f, .arity = 1, .name = name, .block = refuse, .user = sentence[what]
        };

        f.in = f.out = RD_F32;
        strcpy(name, names[who]);
        ck_assert(rd_eval(ctx, rd_map_fn(rd_wrap(ctx, x, RD_SHAPE(4)), &f),
                          RD_INTO(out, RD_SHAPE(4))) == RD_ERR_CALLBACK);
        ck_assert_msg(strstr(rd_error_text(ctx), name) &&
                          strstr(rd_error_text(ctx), sentence[what]),
                      "%s", rd_error_text(ctx));
        rd_error_clear(ctx);
        ck_assert(rd_ctx_release(ctx, mark) == RD_OK);
    }
}
END_TEST

/* ---- Several runs of one plan at once -------------------------------------------------------- */
typedef struct at_once {
    const rd_plan *plan;
    float          in[256], out[16];
    int            wrong;
} at_once;

static void *run_often(void *user)
{
    at_once *r = user;

    for (int k = 0; k < 2000; k++) {
        const void *in[] = { r->in };
        void       *to[] = { r->out };

        if (k % 50 == 0)
            rd_reclaim(ctx); /* as an allocation that fails does */
        memset(r->out, 0, sizeof r->out);
        r->wrong += rd_plan_run(r->plan, in, to) != RD_OK;
        for (int i = 0; i < 16; i++)
            r->wrong += r->out[i] != total(r->in + 16 * i, 16, 1) - total(r->in, 256, 1);
    }
    return NULL;
}

/* A stage's array and partial results lie in the memory that a plan keeps: each run has its own.
 * Meanwhile the context's own thread evaluates, and all of them drop its plans. */
START_TEST(runs_at_once)
{
    enum { THREADS = 4 };
    static at_once r[THREADS];
    rd_expr       *v = rd_input(ctx, "v", RD_INTO(x, RD_SHAPE(16, 16)));
    rd_expr       *e = rd_sub(rd_sum(v, RD_DIMS(1)), rd_sum(v, RD_ALL));
    rd_plan       *plan =
        rd_plan_new(ctx, RD_EXPRS(v), RD_RESULTS({ e, RD_INTO(out, RD_SHAPE(16)) }), NULL);
    pthread_t thread[THREADS];

    ck_assert(plan);
    for (int t = 0; t < THREADS; t++) {
        r[t].plan = plan;
        for (int i = 0; i < 256; i++)
            r[t].in[i] = (float)((i * (t + 3)) % 50);
        ck_assert(pthread_create(&thread[t], NULL, run_often, &r[t]) == 0);
    }
    for (int k = 0; k < 300; k++) {
        ck_assert_float_eq(eval_scalar(rd_sum(rd_wrap(ctx, x, RD_SHAPE(1 + k % 100)), RD_ALL)),
                           total(x, 1 + k % 100, 1));
        if (k % 10 == 0)
            rd_reclaim(ctx);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(thread[t], NULL);
        ck_assert_int_eq(r[t].wrong, 0);
    }
    rd_plan_free(plan);
}
END_TEST

enum { POINTS = 1000, CLUSTERS = 10 };

/* Sums of pairs under a block mask, over rows. */
static void sum_blocks(rd_ctx *of, const bool *pair, float *sums)
{
    int64_t        border[CLUSTERS + 1];
    rd_expr *const a = rd_wrap(of, x, RD_SHAPE(POINTS)), *const b =
                                                             rd_wrap(of, y, RD_SHAPE(POINTS));
    rd_expr *const d = rd_exp(rd_neg(rd_square(rd_sub(rd_expand(a, 1), rd_expand(b, 0)))));
    rd_expr       *is;

    for (int k = 0; k <= CLUSTERS; k++)
        border[k] = k * POINTS / CLUSTERS;
    is = rd_blocks(of, CLUSTERS, border, CLUSTERS, border, pair);
    ck_assert_int_eq(
        rd_eval(of, rd_sum(d, RD_DIMS(0), .where = is), RD_INTO(sums, RD_SHAPE(POINTS))), RD_OK);
}

/* Where the ranges of columns begin depends on the mask, and a plan keeps it. */
START_TEST(block_masks_in_turn)
{
    bool    one[CLUSTERS * CLUSTERS], many[CLUSTERS * CLUSTERS];
    float   first[POINTS], then[POINTS], alone[POINTS];
    rd_ctx *other = rd_ctx_new(NULL);

    for (int k = 0; k < CLUSTERS * CLUSTERS; k++) {
        one[k]  = k % CLUSTERS == k / CLUSTERS;
        many[k] = (k % CLUSTERS + k / CLUSTERS) % 2 == 0;
    }
    rd_tier_force("sync");
    sum_blocks(ctx, one, first);
    sum_blocks(ctx, many, then);
    sum_blocks(other, many, alone);
    rd_tier_force(NULL);
    ck_assert_mem_eq(then, alone, sizeof then);
    ck_assert_mem_ne(then, first, sizeof then);
    rd_ctx_free(other);
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("plan_cache");
    TCase   *tc     = tcase_create("plan_cache");
    SRunner *runner = srunner_create(suite);

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, same_expression);
    tcase_add_test(tc, slices_share);
    tcase_add_test(tc, slices_apart);
    tcase_add_test(tc, slice_and_whole);
    tcase_add_test(tc, other_memory);
    tcase_add_test(tc, variants_differ);
    tcase_add_test(tc, layouts_differ);
    tcase_add_test(tc, outputs_differ);
    tcase_add_test(tc, refusals_stay);
    tcase_add_test(tc, overlaps_of_each_run);
    tcase_add_test(tc, rows_into_rows);
    tcase_add_test(tc, brief_plans);
    tcase_add_test(tc, numbers_share);
    tcase_add_test(tc, ints_share);
    tcase_add_test(tc, numbers_in_a_loop);
    tcase_add_test(tc, numbers_of_kept_nodes);
    tcase_add_test(tc, exponents_stay);
    tcase_add_test(tc, released_nodes);
    tcase_add_test(tc, many_plans_are_bounded);
    tcase_add_test(tc, plans_give_way);
    tcase_add_test(tc, kept_values_that_overflow);
    tcase_add_test(tc, callbacks_by_name_and_data);
    tcase_add_test(tc, block_masks_in_turn);
    tcase_add_test(tc, runs_at_once);
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
