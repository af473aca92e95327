/* Outputs that overlap inputs, each other, or themselves; and what lies between their elements. */
#include "expr/expr.h"
#include "values.h"

#include <stdlib.h>
#include <string.h>

/* ---- One block of memory: an expression of its first elements goes to other elements of it --- */
enum { SIDE = 16, CELLS = SIDE * SIDE, START = 40, BLOCK = 4 * CELLS };

typedef rd_expr *build(rd_expr *x);

static rd_expr *negated(rd_expr *x)
{
    return rd_neg(x);
}

static rd_expr *transposed(rd_expr *x)
{
    return rd_transpose(x);
}

static rd_expr *reversed(rd_expr *x)
{
    return rd_flip(x, RD_ALL);
}

static rd_expr *plus_transposed(rd_expr *x)
{
    return rd_add(x, rd_transpose(x));
}

static rd_expr *softmax(rd_expr *x)
{
    rd_expr *e = rd_exp(rd_sub(x, rd_max(x, RD_KEEP(-1))));

    return rd_div(e, rd_sum(e, RD_KEEP(-1)));
}

static rd_expr *anomaly(rd_expr *x)
{
    return rd_sub(x, rd_mean(x, RD_DIMS(0)));
}

static rd_expr *anomaly_of_all(rd_expr *x)
{
    return rd_sub(x, rd_mean(x, RD_ALL));
}

static rd_expr *summed(rd_expr *x)
{
    return rd_sum(x, RD_DIMS(0));
}

static rd_expr *summed_rows(rd_expr *x)
{
    return rd_sum(x, RD_DIMS(1));
}

static rd_expr *cumulated(rd_expr *x)
{
    return rd_scan(x, "sum", RD_DIMS(1));
}

static rd_expr *cumulated_back(rd_expr *x)
{
    return rd_scan(rd_square(x), "sum", RD_DIMS(0), .reverse = true, .exclusive = true);
}

/* Element i of the result is there before element i of x is read. */
static rd_expr *cumulated_before(rd_expr *x)
{
    return rd_scan(x, "sum", RD_DIMS(0), .exclusive = true);
}

static rd_expr *neighbours(rd_expr *x)
{
    return rd_sum(rd_window(x, 1, 3, 1), RD_DIMS(-1));
}

static rd_expr *rotated(rd_expr *x)
{
    return rd_concat(0, RD_EXPRS(rd_slice(x, "5:"), rd_slice(x, ":5")));
}

static rd_expr *taken(rd_expr *x)
{
    return rd_take(x, 0,
                   rd_remainder(rd_mul(rd_squeeze(rd_coord(x, 0), RD_DIMS(1)), rd_int(ctx, 7)),
                                rd_int(ctx, SIDE)));
}

static rd_expr *reshaped(rd_expr *x)
{
    return rd_reshape(rd_transpose(x), RD_SHAPE(SIDE, SIDE));
}

static const struct {
    const char *what;
    build      *build;
} expressions[] = {
    { "-x", negated },
    { "transpose", transposed },
    { "flip", reversed },
    { "x + transpose", plus_transposed },
    { "softmax", softmax },
    { "x - mean(x, 0)", anomaly },
    { "x - mean(x)", anomaly_of_all },
    { "sum over 0", summed },
    { "sum over 1", summed_rows },
    { "cumsum", cumulated },
    { "reverse cumsum", cumulated_back },
    { "cumsum before", cumulated_before },
    { "sums of neighbours", neighbours },
    { "rotation", rotated },
    { "take", taken },
    { "reshape", reshaped },
};

/* Strides by the last axis and the one before, and where element 0 goes; relative to x, at START
 * and dense. */
static const struct {
    const char *what;
    int64_t     at, row, step;
} places[] = {
    { "in place", 0, SIDE, 1 },
    { "one later", 1, SIDE, 1 },
    { "one earlier", -1, SIDE, 1 },
    { "one row later", SIDE, SIDE, 1 },
    { "one row earlier", -SIDE, SIDE, 1 },
    { "apart", CELLS, SIDE, 1 },
    { "backwards", CELLS - 1, -SIDE, -1 },
    { "rows backwards", (SIDE - 1) * SIDE, -SIDE, 1 },
    { "first axis fastest", 0, 1, SIDE },
    { "padded rows", 0, SIDE + 3, 1 },
    { "every other", 0, 2 * SIDE, 2 },
    { "every other, backwards", 2 * CELLS, -2 * SIDE, -2 },
};

static const rd_eval_opts ways[] = {
    { .threads = 1 },
    { .traversal = RD_TRAVERSE_GREEDY, .threads = 3 },
    { .traversal = RD_TRAVERSE_LAZY },
};

static void fill(double *block)
{
    for (int i = 0; i < BLOCK; i++)
        block[i] = (double)((i * 37 + i / 5) % 101) / 8;
}

/* Strides of the output in elements; a place has two axes, a row has its steps. */
static rd_array output_at(double *block, rd_expr *y, size_t place)
{
    rd_array out = { .data  = block + START + places[place].at,
                     .type  = RD_F64,
                     .shape = rd_shape_of(y) };

    out.strides = out.shape.n == 1 ? RD_STRIDES(places[place].step)
                                   : RD_STRIDES(places[place].row, places[place].step);
    return out;
}

static int64_t element_at(const rd_array *out, int64_t i)
{
    const int64_t columns = out->shape.at[out->shape.n - 1];

    return out->shape.n == 1 ? i * out->strides.at[0]
                             : i / columns * out->strides.at[0] + i % columns * out->strides.at[1];
}

static int64_t elements(const rd_array *a)
{
    return a->shape.n == 1 ? a->shape.at[0] : a->shape.at[0] * a->shape.at[1];
}

/* The block as it must be afterwards: the results where the output says, all else untouched. */
static void expect_block(const double *want_values, const double *found, const rd_array *out,
                         const char *what, const char *where)
{
    static double want[BLOCK];

    fill(want);
    for (int64_t i = 0; i < elements(out); i++)
        want[(double *)out->data - found + element_at(out, i)] = want_values[i];
    for (int i = 0; i < BLOCK; i++)
        ck_assert_msg(want[i] == found[i], "%s, %s: element %d of the block is %g, not %g", what,
                      where, i - START, found[i], want[i]);
}

START_TEST(overlaps)
{
    static double block[BLOCK];
    rd_expr *x = rd_wrap(ctx, block + START, RD_SHAPE(SIDE, SIDE)), *y = expressions[_i].build(x);
    rd_array fresh = { 0 };

    fill(block);
    ck_assert_msg(rd_eval(ctx, y, &fresh) == RD_OK, "%s", rd_error_text(ctx));
    for (size_t p = 0; p < COUNT(places); p++)
        for (size_t w = 0; w < COUNT(ways); w++) {
            rd_array out = output_at(block, y, p);

            fill(block);
            ck_assert_msg(rd_eval_many(ctx, RD_RESULTS({ y, &out }), &ways[w]) == RD_OK,
                          "%s, %s: %s", expressions[_i].what, places[p].what, rd_error_text(ctx));
            expect_block(fresh.data, block, &out, expressions[_i].what, places[p].what);
        }
    rd_array_free(&fresh);
}
END_TEST

/* The same by a plan whose pointers overlap only when it runs. */
START_TEST(overlaps_at_run)
{
    static double block[BLOCK];
    rd_array      layout = { .type = RD_F64, .shape = RD_SHAPE(SIDE, SIDE) }, fresh = { 0 };
    rd_expr      *in = rd_input(ctx, "x", &layout), *y = expressions[_i].build(in);

    fill(block);
    ck_assert(rd_eval(ctx, expressions[_i].build(rd_wrap(ctx, block + START, RD_SHAPE(SIDE, SIDE))),
                      &fresh) == RD_OK);
    for (size_t p = 0; p < COUNT(places); p++) {
        rd_array out = output_at(block, y, p), planned = out;
        rd_plan *plan = (planned.data = NULL,
                         rd_plan_new(ctx, RD_EXPRS(in), RD_RESULTS({ y, &planned }), NULL));

        fill(block);
        ck_assert_msg(plan &&
                          rd_plan_run(plan, (const void *[]){ block + START }, &out.data) == RD_OK,
                      "%s", rd_error_text(ctx));
        expect_block(fresh.data, block, &out, expressions[_i].what, places[p].what);
        rd_plan_free(plan);
    }
    rd_array_free(&fresh);
}
END_TEST

/* Two operands of which the output overlaps each a little, and an operand that overlaps the
 * other. */
START_TEST(overlaps_two_inputs)
{
    enum { N = 200 };
    double x[4 * N], want[N];

    for (int shift = -N; shift <= N; shift += N / 4)
        for (int second = 0; second <= N; second += N / 2) {
            for (int i = 0; i < 4 * N; i++)
                x[i] = i % 29;
            for (int i = 0; i < N; i++)
                want[i] = x[N + i] - 2 * x[N + second + i];
            rd_expr *a = rd_wrap(ctx, x + N, RD_SHAPE(N)),
                    *b = rd_wrap(ctx, x + N + second, RD_SHAPE(N));
            ck_assert(rd_eval(ctx, rd_map2(a, b, "x - 2 * y"),
                              RD_INTO(x + N + shift, RD_SHAPE(N))) == RD_OK);
            ck_assert_msg(memcmp(x + N + shift, want, sizeof want) == 0,
                          "output %d, second operand %d later", shift, second);
        }
}
END_TEST

/* Equal addresses of another type: the bytes of an element are read after half of them have been
 * written. */
START_TEST(overlaps_another_type)
{
    enum { N = 300 };
    static double memory[2 * N];
    float        *narrow = (float *)(void *)memory;
    double        want[N];

    for (int i = 0; i < N; i++)
        want[i] = 3 * (double)(narrow[i] = (float)(i % 41));
    rd_expr *x = rd_wrap(ctx, narrow, RD_SHAPE(N));
    ck_assert(rd_eval(ctx, rd_mul(x, rd_num(ctx, 3)), RD_INTO(memory, RD_SHAPE(N))) == RD_OK);
    ck_assert(memcmp(memory, want, sizeof want) == 0);
    rd_expr *y = rd_cast(rd_wrap(ctx, memory, RD_SHAPE(N)), RD_F32);
    ck_assert(rd_eval(ctx, y, RD_INTO(narrow, RD_SHAPE(N))) == RD_OK);
    for (int i = 0; i < N; i++)
        ck_assert((double)narrow[i] == want[i]);
}
END_TEST

/* ---- In place without a copy ----------------------------------------------------------------- */
enum { LARGE = 1 << 18 };

static int64_t peak_of(rd_expr *y, double *out, rd_shape shape)
{
    const int64_t held = rd_memory_now(ctx);

    rd_memory_reset_peak(ctx);
    ck_assert_msg(rd_eval(ctx, y, RD_INTO(out, shape)) == RD_OK, "%s", rd_error_text(ctx));
    return rd_memory_peak(ctx) - held;
}

/* Planning takes some 300 KiB, a copy would take 2 MiB more. */
START_TEST(in_place_without_a_copy)
{
    const int64_t size = LARGE * (int64_t)sizeof(double), plans = 640 << 10;
    double       *block = calloc(LARGE + 1, sizeof *block);
    rd_expr      *x     = rd_wrap(ctx, block, RD_SHAPE(512, LARGE / 512)),
            *y          = rd_wrap(ctx, block + 1, RD_SHAPE(LARGE));

    ck_assert_int_lt(peak_of(rd_add(rd_exp(x), rd_num(ctx, 1)), block, RD_SHAPE(512, LARGE / 512)),
                     plans);
    ck_assert_int_lt(peak_of(rd_mul(x, x), block, RD_SHAPE(512, LARGE / 512)), plans);
    /* One element later there has to be one: were it written in order, all would become the first
     * element.  With RDIM_BACKEND=cuda it is on the GPU. */
    const char *const backend = getenv("RDIM_BACKEND");
    const int64_t     peak =
        peak_of(rd_neg(rd_wrap(ctx, block, RD_SHAPE(LARGE))), block + 1, RD_SHAPE(LARGE));

    ck_assert((backend && strcmp(backend, "cuda") == 0) || peak >= size);
    /* Beside the input there need not be. */
    ck_assert_int_lt(peak_of(rd_neg(rd_slice(y, ":100")), block + 50000, RD_SHAPE(100)), plans);
    free(block);
}
END_TEST

/* ---- Several results ------------------------------------------------------------------------- */
START_TEST(results_over_each_other)
{
    enum { N = 64 };
    static const int shifts[] = { 0, 1, N / 2, N - 1, N, -1, -N / 2 };

    for (size_t k = 0; k < COUNT(shifts); k++)
        for (int fresh = 0; fresh < 2; fresh++) {
            double   x[N], block[4 * N], want[4 * N];
            rd_expr *in;

            for (int i = 0; i < 4 * N; i++)
                block[i] = want[i] = i + 0.5;
            /* The operand is memory of its own, or the first result's. */
            in = fresh ? rd_wrap(ctx, x, RD_SHAPE(N)) : rd_wrap(ctx, block + N, RD_SHAPE(N));
            for (int i = 0; i < N; i++)
                x[i] = block[N + i];
            for (int i = 0; i < N; i++)
                want[N + i] = -x[i];
            for (int i = 0; i < N; i++)
                want[N + shifts[k] + i] = x[i] * x[N - 1 - i];
            ck_assert(rd_eval_many(ctx,
                                   RD_RESULTS({ rd_neg(in), RD_INTO(block + N, RD_SHAPE(N)) },
                                              { rd_mul(in, rd_flip(in, RD_DIMS(0))),
                                                RD_INTO(block + N + shifts[k], RD_SHAPE(N)) }),
                                   NULL) == RD_OK);
            for (int i = 0; i < 4 * N; i++)
                ck_assert_msg(block[i] == want[i],
                              "second result %d later: element %d is %g, not %g", shifts[k], i - N,
                              block[i], want[i]);
        }
}
END_TEST

/* The mean goes where the first row was, of which the anomaly is to be taken. */
START_TEST(results_over_their_input)
{
    enum { R = 6, C = 10 };
    double x[R * C], m[C], anomalies[R * C];

    for (int i = 0; i < R * C; i++)
        x[i] = i * i % 23;
    rd_expr *leaf = rd_wrap(ctx, x, RD_SHAPE(R, C)), *mean = rd_mean(leaf, RD_DIMS(0));
    ck_assert(rd_eval(ctx, mean, RD_INTO(m, RD_SHAPE(C))) == RD_OK);
    ck_assert(rd_eval(ctx, rd_sub(leaf, mean), RD_INTO(anomalies, RD_SHAPE(R, C))) == RD_OK);
    ck_assert(rd_eval_many(ctx,
                           RD_RESULTS({ rd_sub(leaf, mean), RD_INTO(x, RD_SHAPE(R, C)) },
                                      { mean, RD_INTO(x, RD_SHAPE(C)) }),
                           NULL) == RD_OK);
    ck_assert_msg(memcmp(x, m, sizeof m) == 0, "the second result is on top");
    ck_assert(memcmp(x + C, anomalies + C, sizeof anomalies - sizeof m) == 0);
}
END_TEST

/* ---- Outputs over themselves ----------------------------------------------------------------- */
static const struct {
    rd_shape   shape;
    rd_strides strides;
    bool       apart;
} layouts[] = {
    { { 1, 0, { 4 } }, { 1, 0, { 0 } }, false },
    { { 1, 0, { 1 } }, { 1, 0, { 0 } }, true },
    { { 1, 0, { 4 } }, { 1, 0, { -3 } }, true },
    { { 2, 0, { 3, 4 } }, { 2, 0, { 3, 1 } }, false },
    { { 2, 0, { 3, 4 } }, { 2, 0, { 4, 0 } }, false },
    { { 2, 0, { 3, 4 } }, { 2, 0, { -4, 1 } }, true },
    { { 2, 0, { 3, 4 } }, { 2, 0, { -3, 1 } }, false },
    { { 2, 0, { 3, 4 } }, { 2, 0, { 3, -1 } }, false },
    { { 2, 0, { 3, 4 } }, { 2, 0, { 1, 3 } }, true },
    { { 2, 0, { 3, 4 } }, { 2, 0, { 1, 2 } }, false },
    { { 2, 0, { 2, 3 } }, { 2, 0, { 3, 2 } }, true }, /* 0 2 4 and 3 5 7: interleaved */
    { { 2, 0, { 3, 2 } }, { 2, 0, { 2, 3 } }, true }, /* 0 3, 2 5, 4 7 */
    { { 2, 0, { 4, 2 } }, { 2, 0, { 2, 3 } }, true },
    { { 2, 0, { 4, 3 } }, { 2, 0, { 2, 3 } }, false }, /* 3 times 2 is 2 times 3 */
    { { 3, 0, { 2, 2, 2 } }, { 3, 0, { 1, 2, 4 } }, true },
    { { 3, 0, { 2, 2, 2 } }, { 3, 0, { 1, 2, 3 } }, false },
    { { 3, 0, { 2, 1, 2 } }, { 3, 0, { 1, 0, 2 } }, true },
    { { 2, 0, { 0, 4 } }, { 2, 0, { 0, 0 } }, true }, /* no element, no overlap */
};

/* Do two elements share an address?  Every pair is tried. */
static bool apart(const rd_shape *shape, const rd_strides *strides)
{
    int64_t at[64], n = 0, points = 1;

    for (int a = 0; a < shape->n; a++)
        points *= shape->at[a];
    for (int64_t i = 0; i < points; i++, n++) {
        at[n] = 0;
        for (int64_t a = shape->n - 1, rest = i; a >= 0; rest /= shape->at[a--])
            at[n] += rest % shape->at[a] * strides->at[a];
        for (int64_t k = 0; k < n; k++)
            if (at[k] == at[n])
                return false;
    }
    return true;
}

START_TEST(outputs_over_themselves)
{
    double         memory[100];
    const rd_shape shape = layouts[_i].shape;
    rd_expr       *y     = rd_broadcast(rd_num(ctx, 7), shape);
    rd_array       out   = {
                .data = memory + 50, .type = RD_F64, .shape = shape, .strides = layouts[_i].strides
    };
    rd_status status;

    ck_assert_msg(apart(&shape, &layouts[_i].strides) == layouts[_i].apart, "row %d of the table",
                  _i);
    status = rd_eval(ctx, y, &out);
    ck_assert_msg(status == (layouts[_i].apart ? RD_OK : RD_ERR_ARGUMENT), "row %d: %s: %s", _i,
                  rd_status_name(status), rd_error_text(ctx));
    ck_assert_msg(layouts[_i].apart || strstr(rd_error_text(ctx), "overlap"), "%s",
                  rd_error_text(ctx));
}
END_TEST

static void setup(void)
{
    ctx = rd_ctx_new(NULL);
}

static void teardown(void)
{
    rd_ctx_free(ctx);
}

int main(void)
{
    Suite   *suite  = suite_create("alias");
    TCase   *tc     = tcase_create("alias");
    SRunner *runner = srunner_create(suite);

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, overlaps, 0, (int)COUNT(expressions));
    tcase_add_loop_test(tc, overlaps_at_run, 0, (int)COUNT(expressions));
    tcase_add_test(tc, overlaps_two_inputs);
    tcase_add_test(tc, overlaps_another_type);
    tcase_add_test(tc, in_place_without_a_copy);
    tcase_add_test(tc, results_over_each_other);
    tcase_add_test(tc, results_over_their_input);
    tcase_add_loop_test(tc, outputs_over_themselves, 0, (int)COUNT(layouts));
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
