/* What is too much for one plan is planned in parts: hundreds of concatenated arrays, nested
 * windows, reductions of reductions.  Each is compared with itself made step by step, by one
 * evaluation a level. */
#define _DEFAULT_SOURCE
#include "eval/plan.h"
#include "values.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 64 };

/* ---- Levels ---------------------------------------------------------------------------------- */
static double  first[N], factor[N], small[N];
static int64_t places[N];

static void fill(void)
{
    for (int i = 0; i < N; i++) {
        first[i]  = 1 + i % 7;
        factor[i] = 0.25 + 0.0625 * (i % 9);
        small[i]  = i % 5;
        places[i] = (i * 29 + 3) % N;
    }
}

static rd_expr *of(double *x)
{
    return rd_wrap(ctx, x, RD_SHAPE(N));
}

/* Values stay small whole numbers where sums are in it, so that any order of adding is right. */
static rd_expr *reduced(rd_expr *e)
{
    return rd_remainder(rd_add(of(small), rd_sum(e, RD_KEEP(0))), rd_num(ctx, 1021));
}

static rd_expr *windows(rd_expr *e)
{
    rd_expr *longer = rd_concat(0, RD_EXPRS(e, rd_slice(e, ":2")));

    return rd_remainder(rd_sum(rd_window(longer, 0, 3, 1), RD_DIMS(-1)), rd_num(ctx, 1021));
}

static rd_expr *twice(rd_expr *e)
{
    return rd_remainder(rd_sub(rd_add(e, e), rd_sum(rd_slice(e, "::2"), RD_KEEP(0))),
                        rd_num(ctx, 509));
}

static rd_expr *scanned(rd_expr *e)
{
    return rd_remainder(rd_scan(rd_add(e, of(small)), "sum", RD_DIMS(0), .reverse = true),
                        rd_num(ctx, 251));
}

static rd_expr *taken(rd_expr *e)
{
    rd_expr *index = rd_wrap(ctx, places, RD_SHAPE(N));

    return rd_add(rd_flip(rd_take(e, 0, index), RD_ALL), rd_max(e, RD_KEEP(0)));
}

/* A product and a sum are rounded once, wherever the cut is. */
static rd_expr *contracted(rd_expr *e)
{
    return rd_add(rd_mul(e, of(factor)), rd_sub(rd_num(ctx, 1), rd_max(e, RD_KEEP(0))));
}

static rd_expr *reshaped(rd_expr *e)
{
    rd_expr *turned = rd_transpose(rd_reshape(e, RD_SHAPE(4, 16)));

    return rd_add(rd_reshape(turned, RD_SHAPE(N)), rd_min(e, RD_KEEP(0)));
}

static const struct {
    const char *what;
    rd_expr *(*level)(rd_expr *e);
    int levels;
} chains[] = {
    { "reductions of reductions", reduced, 1600 }, { "nested windows", windows, 200 },
    { "what is read twice", twice, 400 },          { "backward scans of scans", scanned, 200 },
    { "takes and extremes", taken, 300 },          { "products and sums", contracted, 300 },
    { "turned reshapes", reshaped, 300 },
};

START_TEST(levels)
{
    rd_expr *e = of(first);
    double   want[N], next[N], got[N];

    fill();
    memcpy(want, first, sizeof want);
    for (int k = 0; k < chains[_i].levels; k++) {
        const rd_mark mark = rd_ctx_mark(ctx);

        ck_assert_msg(rd_eval(ctx, chains[_i].level(of(want)), RD_INTO(next, RD_SHAPE(N))) == RD_OK,
                      "%s", rd_error_text(ctx));
        memcpy(want, next, sizeof want);
        rd_ctx_release(ctx, mark);
    }
    for (int k = 0; k < chains[_i].levels; k++)
        e = chains[_i].level(e);
    for (int k = 0; k < 2; k++) {
        memset(got, 0, sizeof got);
        ck_assert_msg(rd_eval(ctx, e, RD_INTO(got, RD_SHAPE(N))) == RD_OK, "%s: %s",
                      chains[_i].what, rd_error_text(ctx));
        ck_assert_msg(memcmp(got, want, sizeof got) == 0, "%s: %g, not %g", chains[_i].what, got[0],
                      want[0]);
    }
}
END_TEST

/* ---- Concatenations -------------------------------------------------------------------------- */
START_TEST(many_parts)
{
    const int n = (int[]){ 2, 48, 49, 64, 65, 100, 1000, 3000 }[_i];
    float    *x = calloc((size_t)n * 6, sizeof *x), *y = calloc((size_t)n * 6, sizeof *y), sum[2];
    rd_expr **part = calloc((size_t)n, sizeof *part), *all, *rows;

    ck_assert(x && y && part);
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < 6; i++)
            x[6 * k + i] = (float)((6 * k + i) % 1009);
        part[k] = rd_wrap(ctx, x + 6 * k, RD_SHAPE(3, 2));
    }
    all = rd_concat(0, (rd_exprs){ part, n });
    ck_assert_msg(rd_eval(ctx, all, RD_INTO(y, RD_SHAPE(3 * n, 2))) == RD_OK, "%d: %s", n,
                  rd_error_text(ctx));
    ck_assert(memcmp(x, y, (size_t)n * 6 * sizeof *x) == 0);
    rows = rd_sum(rd_slice(all, "::-2"), RD_DIMS(0));
    ck_assert_msg(rd_eval(ctx, rows, RD_INTO(sum, RD_SHAPE(2))) == RD_OK, "%s", rd_error_text(ctx));
    for (int c = 0; c < 2; c++) {
        double want = 0;

        for (int r = 3 * n - 1; r >= 0; r -= 2)
            want += x[2 * r + c];
        ck_assert(sum[c] == (float)want);
    }
    ck_assert(rd_at(ctx, all, RD_INDEX(3 * n - 1, 1)) == x[6 * n - 1]);
    free(x);
    free(y);
    free(part);
}
END_TEST

/* Types promote over all parts at once. */
START_TEST(many_parts_of_types)
{
    static const int8_t   a[2] = { -1, 2 };
    static const uint16_t b[2] = { 60000, 7 };
    rd_expr              *part[70];

    for (int k = 0; k < 70; k++)
        part[k] = k < 69 ? rd_wrap(ctx, a, RD_SHAPE(2)) : rd_wrap(ctx, b, RD_SHAPE(2));
    rd_array out = { 0 };
    ck_assert_int_eq(rd_eval(ctx, rd_concat(0, (rd_exprs){ part, 70 }), &out), RD_OK);
    ck_assert_int_eq(out.type, RD_I32);
    ck_assert_int_eq(((int32_t *)out.data)[0], -1);
    ck_assert_int_eq(((int32_t *)out.data)[138], 60000);
    rd_array_free(&out);
}
END_TEST

/* ---- Results --------------------------------------------------------------------------------- */
/* More than one nest has axes for, each over what others still read. */
START_TEST(many_results_over_their_inputs)
{
    enum { MANY = 60, MOST = MANY + 4 };
    static float x[MANY][MOST * 3], want[MANY][MOST * 3];
    rd_result    results[MANY];
    rd_array     out[MANY];

    for (int k = 0; k < MANY; k++)
        for (int i = 0; i < MOST * 3; i++)
            x[k][i] = (float)((k * 31 + i * 7) % 101);
    for (int k = 0; k < MANY; k++) {
        const int n = 4 + k, o = (k + 1) % MANY;
        rd_expr  *e = rd_wrap(ctx, x[k], RD_SHAPE(n, 3)), *m = rd_wrap(ctx, x[o], RD_SHAPE(4, 3));

        for (int r = 0; r < n; r++)
            for (int c = 0; c < 3; c++)
                want[k][c * n + r] = x[k][3 * r + c] * x[o][c];
        e      = rd_transpose(rd_mul(e, rd_slice(m, "0")));
        out[k] = (rd_array){ .data = x[(k + 7) % MANY], .type = RD_F32, .shape = RD_SHAPE(3, n) };
        results[k] = (rd_result){ e, &out[k] };
    }
    ck_assert_msg(rd_eval_many(ctx, (rd_results){ results, MANY }, NULL) == RD_OK, "%s",
                  rd_error_text(ctx));
    for (int k = 0; k < MANY; k++)
        ck_assert_msg(memcmp(x[(k + 7) % MANY], want[k], (size_t)(4 + k) * 3 * sizeof(float)) == 0,
                      "result %d", k);
}
END_TEST

/* ---- Plans ----------------------------------------------------------------------------------- */
enum { LEVELS = 200 };

static rd_plan *plan_of(rd_expr *x, double *y, const rd_eval_opts *opts)
{
    rd_expr *e = x;

    for (int k = 0; k < LEVELS; k++)
        e = windows(e);
    return rd_plan_new(ctx, RD_EXPRS(x), RD_RESULTS({ e, RD_INTO(y, RD_SHAPE(N)) }), opts);
}

static void expect_windows(const double *x, const double *y)
{
    double a[N], b[N];

    memcpy(a, x, sizeof a);
    for (int k = 0; k < LEVELS; k++) {
        for (int i = 0; i < N; i++)
            b[i] = fmod(a[i] + (i + 1 < N ? a[i + 1] : a[i + 1 - N]) +
                            (i + 2 < N ? a[i + 2] : a[i + 2 - N]),
                        1021);
        memcpy(a, b, sizeof a);
    }
    for (int i = 0; i < N; i++)
        ck_assert_msg(a[i] == y[i], "%d: %g, not %g", i, y[i], a[i]);
}

typedef struct running {
    const rd_plan *plan;
    double         x[N], y[N];
    rd_status      status;
} running;

static void *run(void *user)
{
    running    *r     = user;
    const void *in[]  = { r->x };
    void       *out[] = { r->y };

    for (int k = 0; k < 20 && r->status == RD_OK; k++)
        r->status = rd_plan_run(r->plan, in, out);
    return NULL;
}

/* One plan on several threads, each with its own memory between the parts. */
START_TEST(plans_of_parts)
{
    enum { THREADS = 3 };
    double   y[N];
    rd_plan *plan =
        plan_of(rd_input(ctx, "x", &(rd_array){ .type = RD_F64, .shape = RD_SHAPE(N) }), y, NULL);
    running   of_thread[THREADS];
    pthread_t thread[THREADS];

    ck_assert_msg(plan && plan->parts && plan->parts->n > 1, "%s", rd_error_text(ctx));
    for (int t = 0; t < THREADS; t++) {
        of_thread[t] = (running){ .plan = plan };
        for (int i = 0; i < N; i++)
            of_thread[t].x[i] = (i * (t + 3)) % 11;
        ck_assert(pthread_create(&thread[t], NULL, run, &of_thread[t]) == 0);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(thread[t], NULL);
        ck_assert_int_eq(of_thread[t].status, RD_OK);
        expect_windows(of_thread[t].x, of_thread[t].y);
    }
    ck_assert_int_eq(rd_plan_run(plan, NULL, NULL), RD_ERR_ARGUMENT);
    rd_plan_free(plan);
}
END_TEST

/* Values between parts lie where others lay that nobody reads any more; they count. */
START_TEST(memory_between_parts)
{
    enum { LONG = 1 << 16, LEVELS_OF_512_KIB = 300 };
    double *x = calloc(LONG, sizeof *x);

    for (int k = 0; k < 2; k++) {
        const rd_status want = k ? RD_ERR_MEMORY : RD_OK;
        rd_ctx         *own =
            rd_ctx_new(&(rd_ctx_opts){ .memory_limit = k ? 1 << 20 : 32 << 20, .threads = 1 });
        rd_expr *e = rd_wrap(own, x, RD_SHAPE(LONG));
        double   y = 0;

        for (int n = 0; n < LEVELS_OF_512_KIB; n++)
            e = rd_add(rd_scan(rd_flip(e, RD_ALL), "max", RD_DIMS(0)), rd_num(own, 1));
        ck_assert_msg(rd_eval(own, rd_max(e, RD_ALL), RD_INTO(&y, RD_SCALAR)) == want, "%s",
                      rd_error_text(own));
        ck_assert(y == (k ? 0 : LEVELS_OF_512_KIB));
        rd_ctx_free(own);
    }
    free(x);
}
END_TEST

START_TEST(parts_explained)
{
    rd_expr    *e = of(first);
    const char *text;

    for (int k = 0; k < LEVELS; k++)
        e = windows(e);
    text = rd_explain(ctx, RD_RESULTS({ e, NULL }), NULL);
    ck_assert_msg(text, "%s", rd_error_text(ctx));
    ck_assert(strstr(text, "too much for one plan: "));
    ck_assert(strstr(text, "-- part 1\n"));
}
END_TEST

typedef struct told {
    int    calls;
    double done;
    bool   backwards;
} told;

static int tell(void *user, double done, double left)
{
    told *t = user;

    t->calls++;
    t->backwards |= done < t->done || done > 1 || !(left >= 0);
    t->done = done;
    return 0;
}

/* Told of all parts as of one evaluation. */
START_TEST(progress_of_parts)
{
    enum { LONG = 1 << 16 };
    double            *x    = calloc(LONG, sizeof *x), y;
    told               t    = { 0 };
    const rd_eval_opts opts = { .progress = tell, .user = &t, .threads = 1 };
    rd_expr           *e    = rd_wrap(ctx, x, RD_SHAPE(LONG));

    for (int k = 0; k < 80; k++)
        e = rd_add(rd_scan(rd_sin(rd_sin(rd_sin(rd_sin(e)))), "max", RD_DIMS(0)),
                   rd_sum(rd_tanh(rd_broadcast(rd_max(e, RD_ALL), RD_SHAPE(1 << 20))), RD_KEEP(0)));
    e = rd_sum(e, RD_ALL);
    ck_assert_msg(rd_eval_many(ctx, RD_RESULTS({ e, RD_INTO(&y, RD_SCALAR) }), &opts) == RD_OK,
                  "%s", rd_error_text(ctx));
    ck_assert(!t.backwards && (t.calls == 0 || t.done == 1));
    free(x);
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
    Suite   *suite  = suite_create("parts");
    TCase   *tc     = tcase_create("parts");
    SRunner *runner = srunner_create(suite);

    tcase_add_checked_fixture(tc, begin, end);
    tcase_add_test(tc, plans_of_parts);
    if (!THREAD_SANITIZED) { /* these run on one thread */
        tcase_add_loop_test(tc, levels, 0, COUNT(chains));
        tcase_add_loop_test(tc, many_parts, 0, 8);
        tcase_add_test(tc, many_parts_of_types);
        tcase_add_test(tc, many_results_over_their_inputs);
        tcase_add_test(tc, memory_between_parts);
        tcase_add_test(tc, parts_explained);
        tcase_add_test(tc, progress_of_parts);
    }
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
