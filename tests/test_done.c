/* test_done.c - users' reducers with a test that says of a state that no element behind it counts:
 * what comes out is what comes out without, and what is left is left out. */
#include "isa.h"
#include "suite.h"
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

enum { N = 150000 };

static rd_ctx *ctx;
static float   data[N], weight[N];

/* ---- Reducers -------------------------------------------------------------------------------- */
RD_REDUCER(first_one, float, int64_t, 1, (int64_t at;), (s->at = -1;),
           (if (s->at < 0 && x == 1) s->at = i;), (if (a->at < 0) a->at = b->at;), (y[0] = s->at;),
           (s->at >= 0))
/* No block of 64 decides alone, but what several come to. */
RD_REDUCER(hundredth_one, float, int64_t, 2, (int64_t n; int64_t at[100];), (s->n = 0;),
           (if (s->n < 100 && x == 1) s->at[s->n++] = i;),
           (for (int64_t k = 0; k < b->n && a->n < 100; k++) a->at[a->n++] = b->at[k];),
           (y[0] = s->n; y[1] = s->n == 100 ? s->at[99] : -1;), (s->n == 100))
/* In any order. */
RD_REDUCER_COMMUTES(some, float, int32_t, 1, (int32_t some;), (s->some = 0;), (s->some |= x == 1;),
                    (a->some |= b->some;), (y[0] = s->some;), (s->some))
/* The sum of w as far as x is below 1, which makes bits of its blocks. */
RD_REDUCER2(sum_until, float, float, float, 1, (float sum; int32_t over;),
            (s->sum = 0; s->over = 0;), (s->over |= x == 1; s->sum += s->over ? 0 : w;),
            (if (!a->over) {
                a->sum += b->sum;
                a->over = b->over;
            }),
            (y[0] = s->sum;), (s->over))

static const rd_reducer *const reducers[] = { first_one, hundredth_one, some };

/* ---- Without and with ------------------------------------------------------------------------ */
typedef struct answer {
    char at[1 << 15];
} answer;

static rd_expr *reduced(const rd_reducer *r, rd_expr *e, rd_expr *of, const rd_reduce_opts *opts)
{
    return r->step2 ? rd_reduce2_user(e, of, r, opts) : rd_reduce_user(e, r, opts);
}

static answer answer_of(rd_expr *y, int threads, const char *what)
{
    answer         a     = { { 0 } };
    const rd_shape shape = rd_shape_of(y);
    int64_t        n     = 1;
    rd_eval_opts   opts  = { .backend = RD_BACKEND_CPU, .threads = threads };
    rd_array       into  = { .data = a.at, .type = rd_type_of(y), .shape = shape };

    for (int k = 0; k < shape.n; k++)
        n *= shape.at[k];
    ck_assert(n * rd_dtype_size(into.type) <= (int64_t)sizeof a.at);
    ck_assert_msg(rd_eval_many(ctx, RD_RESULTS({ y, &into }), &opts) == RD_OK, "%s: %s", what,
                  rd_error_text(ctx));
    return a;
}

/* A strict fold has no merge. */
static void agrees(const rd_reducer *of, rd_expr *e, rd_expr *second, const rd_reduce_opts *opts,
                   bool strict, int isa, int threads)
{
    rd_reducer with = *of, without;
    char       what[120];

    if (strict)
        with.merge = NULL;
    without      = with;
    without.done = NULL;
    snprintf(what, sizeof what, "%s%s, %s, %d threads", of->name, strict ? ", strict" : "",
             isa_name(isa), threads);
    const answer a = answer_of(reduced(&with, e, second, opts), threads, what),
                 b = answer_of(reduced(&without, e, second, opts), threads, what);

    ck_assert_msg(memcmp(&a, &b, sizeof a) == 0, "%s", what);
}

static void all_agree(rd_expr *e, rd_expr *second, const rd_reduce_opts *opts, int isa, int threads)
{
    for (int strict = 0; strict < 2; strict++) {
        for (int k = 0; k < COUNT(reducers); k++)
            agrees(reducers[k], e, NULL, opts, strict, isa, threads);
        agrees(sum_until, e, second, opts, strict, isa, threads);
    }
}

/* Ones from `at` on, `apart` apart; none if at < 0. */
static void fill(int64_t n, int64_t at, int64_t apart)
{
    for (int64_t k = 0; k < n; k++) {
        data[k]   = (float)(k * 7 % 13) / 13;
        weight[k] = (float)(k % 1009) / 31;
    }
    for (int64_t k = at; at >= 0 && k < n; k += apart)
        data[k] = 1;
}

/* ---- Tests ----------------------------------------------------------------------------------- */
static const struct {
    int64_t n, at, apart;
} rows[] = {
    { 0, -1, 1 },        { 1, 0, 1 },         { 64, 63, 1 },      { 1100, 0, 1 },
    { 1100, 1099, 1 },   { 1025, -1, 1 },     { 5000, 64, 3 },    { 5000, 4097, 1 },
    { 70000, 4095, 40 }, { 70000, 69999, 1 }, { N, 66000, 1000 }, { N, -1, 1 },
};

/* One row, at every set of kernels and by the reference. */
START_TEST(one_row)
{
    const int64_t        n       = rows[_i].n;
    const rd_reduce_opts all     = { .size = sizeof all, .dims = RD_ALL };
    rd_expr *const       e       = rd_wrap(ctx, data, RD_SHAPE(n));
    rd_reduce_opts       some_of = all;

    fill(n, rows[_i].at, rows[_i].apart);
    some_of.where = rd_gt(rd_wrap(ctx, weight, RD_SHAPE(n)), rd_num(ctx, 3));
    for (int isa = 0; isa<isa_count(); isa += isa_count()> 2 ? isa_count() - 1 : 1) {
        isa_begin(ctx, isa);
        for (int threads = THREAD_SANITIZED ? 3 : 1; threads < 4; threads += 2) {
            all_agree(e, rd_wrap(ctx, weight, RD_SHAPE(n)), &all, isa, threads);
            all_agree(e, rd_wrap(ctx, weight, RD_SHAPE(n)), &some_of, isa, threads);
        }
        isa_end(ctx);
    }
}
END_TEST

/* Rows, columns, slices, and both axes that cannot be one. */
START_TEST(two_axes)
{
    enum { ROWS = 30, COLUMNS = 2500 };
    const rd_dims  dims[]  = { RD_DIMS(0), RD_DIMS(1), RD_ALL };
    rd_expr *const whole[] = { rd_wrap(ctx, data, RD_SHAPE(ROWS, COLUMNS)),
                               rd_wrap(ctx, weight, RD_SHAPE(ROWS, COLUMNS)) };

    fill((int64_t)ROWS * COLUMNS, 1700, 1900);
    for (int k = 0; k < 2 * COUNT(dims); k++) {
        rd_expr *e = whole[0], *second = whole[1];

        if (k / COUNT(dims)) {
            e      = rd_slice_axis(rd_transpose(e), 0, 1, COLUMNS, 2);
            second = rd_slice_axis(rd_transpose(second), 0, 1, COLUMNS, 2);
        }
        const rd_reduce_opts opts = { .size = sizeof opts, .dims = dims[k % COUNT(dims)] };

        for (int threads = THREAD_SANITIZED ? 3 : 1; threads < 4; threads += 2)
            for (int strict = 0; strict < 2; strict++) {
                agrees(first_one, e, NULL, &opts, strict, isa_count() - 1, threads);
                agrees(sum_until, e, second, &opts, strict, isa_count() - 1, threads);
            }
    }
}
END_TEST

/* ---- What is left out ------------------------------------------------------------------------ */
static atomic_int_least64_t stepped;

static void counts_step(void *s, int64_t n, const void *from, int64_t stride, int64_t i)
{
    atomic_fetch_add(&stepped, n);
    first_one->step(s, n, from, stride, i);
}

static rd_reducer counting(void)
{
    rd_reducer r = *first_one;

    r.step = counts_step;
    memset(r.code, 0, sizeof r.code);
    return r;
}

START_TEST(leaves_out)
{
    const rd_reducer r = counting();

    fill(N, 3, N);
    for (int isa = 0; isa < isa_count(); isa++) {
        isa_begin(ctx, isa);
        stepped = 0;
        const answer a =
            answer_of(rd_reduce(rd_wrap(ctx, data, RD_SHAPE(N)), &r, RD_ALL), 1, "first");

        ck_assert_int_eq(*(const int64_t *)(const void *)a.at, 3);
        ck_assert_msg(stepped < N / 8, "%s: %d steps", isa_name(isa), (int)stepped);
        isa_end(ctx);
    }
}
END_TEST

/* What may report something is looked at to the end: the same is said as without a test. */
START_TEST(reports)
{
    static int32_t at[N];
    int64_t        y;

    fill(N, 3, N);
    for (int k = 0; k < N; k++)
        at[k] = k;
    at[N - 5] = N;
    ck_assert(rd_eval(ctx,
                      rd_reduce(rd_take(rd_wrap(ctx, data, RD_SHAPE(N)), 0,
                                        rd_wrap(ctx, at, RD_SHAPE(N))),
                                first_one, RD_ALL),
                      RD_INTO(&y, RD_SCALAR)) == RD_ERR_AXIS);
    rd_error_clear(ctx);
}
END_TEST

/* Scans and groups do not ask; and two reducers that differ in the test alone are two. */
START_TEST(elsewhere)
{
    enum { FEW = 3000 };
    static int64_t y[2][FEW];
    static int32_t label[FEW];
    rd_reducer     without = *first_one;
    rd_expr *const e       = rd_wrap(ctx, data, RD_SHAPE(FEW));

    without.done = NULL;
    fill(FEW, 700, 900);
    for (int k = 0; k < FEW; k++)
        label[k] = k % 4;
    for (int k = 0; k < 2; k++) {
        rd_array scanned = { .data = y[k], .type = RD_I64, .shape = RD_SHAPE(FEW) };

        ck_assert(rd_eval(ctx, rd_scan(e, k ? &without : first_one, RD_DIMS(0)), &scanned) ==
                  RD_OK);
    }
    ck_assert_mem_eq(y[0], y[1], sizeof y[0]);
    for (int k = 0; k < 2; k++) {
        rd_array grouped = { .data = y[k], .type = RD_I64, .shape = RD_SHAPE(4) };

        ck_assert_msg(rd_eval(ctx,
                              rd_reduce(e, k ? &without : first_one, RD_ALL,
                                        .by     = RD_EXPRS(rd_wrap(ctx, label, RD_SHAPE(FEW))),
                                        .groups = RD_SHAPE(4)),
                              &grouped) == RD_OK,
                      "%s", rd_error_text(ctx));
    }
    ck_assert_mem_eq(y[0], y[1], 4 * sizeof(int64_t));
    ck_assert_ptr_ne(rd_reduce(e, first_one, RD_ALL), rd_reduce(e, &without, RD_ALL));
    ck_assert_ptr_eq(rd_reduce(e, first_one, RD_ALL), rd_reduce(e, first_one, RD_ALL));
}
END_TEST

static void begin(void)
{
    ctx = rd_ctx_new(NULL);
}

static void end(void)
{
    rd_ctx_free(ctx);
}

int main(void)
{
    Suite   *suite  = suite_create("done");
    TCase   *tc     = tcase_create("done");
    SRunner *runner = srunner_create(suite);
    int      failed;

    tcase_add_checked_fixture(tc, begin, end);
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, one_row, 0, COUNT(rows));
    tcase_add_test(tc, two_axes);
    tcase_add_test(tc, leaves_out);
    tcase_add_test(tc, reports);
    tcase_add_test(tc, elsewhere);
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
