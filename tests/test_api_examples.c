/* The short programs a user would write first, with small data and the numbers they must give. */
#include "values.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

static void check_ok(rd_status status)
{
    ck_assert_msg(status == RD_OK && rd_error(ctx) == RD_OK, "%s: %s", rd_status_name(status),
                  rd_error_text(ctx));
}

static void check_near(const char *what, double got, double want)
{
    ck_assert_msg(fabs(got - want) <= 1e-6 * fmax(1, fabs(want)), "%s: %.9g, not %.9g", what, got,
                  want);
}

/* ---- Climate: five results of one array with holes ------------------------------------------- */
enum { MONTHS = 2, LATITUDES = 3, LONGITUDES = 2, CELLS = LATITUDES * LONGITUDES };

static const float sst[MONTHS][LATITUDES][LONGITUDES] = {
    { { 10, 12 }, { 20, NAN }, { NAN, 4 } },
    { { 14, 12 }, { 26, NAN }, { 8, 6 } },
};

static const char *area_weight = "cos((x - 1) * pi / 3)"; /* of three latitudes: 1/2, 1, 1/2 */

START_TEST(climate)
{
    static const float want_mean[CELLS] = { 12, 12, 23, NAN, 8, 5 },
                       want_sd[CELLS]   = { 2, 0, 3, NAN, 0, 1 };
    static const int want_month[CELLS]  = { 1, 0, 1, -1, 1, 1 };
    float            mean[CELLS], sd[CELLS], anomaly[MONTHS * CELLS];
    double           global[MONTHS];
    rd_array         warmest = { 0 }; /* fresh memory */

    rd_expr *x    = rd_wrap(ctx, sst, RD_SHAPE(MONTHS, LATITUDES, LONGITUDES));
    rd_expr *m    = rd_mean(x, RD_DIMS(0), .skip_nan = true);
    rd_expr *area = rd_map(rd_coord(x, 1), area_weight);
    check_ok(rd_eval_many(
        ctx,
        RD_RESULTS({ m, RD_INTO(mean, RD_SHAPE(LATITUDES, LONGITUDES)) },
                   { rd_std(x, RD_DIMS(0), .skip_nan = true),
                     RD_INTO(sd, RD_SHAPE(LATITUDES, LONGITUDES)) },
                   { rd_sub(x, m), RD_INTO(anomaly, RD_SHAPE(MONTHS, LATITUDES, LONGITUDES)) },
                   { rd_mean(x, RD_DIMS(1, 2), .skip_nan = true, .weights = area, .type = RD_F64),
                     RD_INTO(global, RD_SHAPE(MONTHS)) },
                   { rd_argmax(x, RD_DIMS(0), .skip_nan = true), &warmest }),
        NULL));

    const int64_t *month = warmest.data;
    for (int k = 0; k < CELLS; k++) {
        ck_assert(k == 3 ? isnan(mean[k]) && isnan(sd[k])
                         : mean[k] == want_mean[k] && sd[k] == want_sd[k]);
        ck_assert_int_eq(month[k], want_month[k]);
    }
    ck_assert(anomaly[0] == -2 && anomaly[CELLS + 2] == 3 && isnan(anomaly[4]) &&
              anomaly[CELLS + 4] == 0);
    check_near("first month", global[0], (5 + 6 + 20 + 2) / 2.5);
    check_near("second month", global[1], (7 + 6 + 26 + 4 + 3) / 3.0);
    rd_array_free(&warmest);
}
END_TEST

/* ---- One row, one element -------------------------------------------------------------------- */
START_TEST(one_row)
{
    enum { TIMES = 5, ROWS = 4, COLUMNS = 7 };
    static double data[TIMES][ROWS][COLUMNS];
    double        row[COLUMNS];

    for (int t = 0; t < TIMES; t++)
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++)
                data[t][i][j] = (t + i + j) * (t + i + j);
    rd_expr *x = rd_wrap(ctx, &data[0][0][0], RD_SHAPE(TIMES, ROWS, COLUMNS));
    rd_expr *y = rd_sum(rd_map(x, sqrt), RD_DIMS(0)); /* of the roots: 10 + 5 (i + j) */

    check_ok(rd_eval(ctx, rd_slice(y, "2, :"), RD_INTO(row, RD_SHAPE(COLUMNS))));
    for (int j = 0; j < COLUMNS; j++)
        ck_assert(row[j] == 10 + 5 * (2 + j));
    ck_assert(rd_at(ctx, y, RD_INDEX(3, 4)) == 45);
}
END_TEST

/* ---- A kernel sum over pairs ----------------------------------------------------------------- */
RD_FN2(rbf, d2, h, exp(-d2 / (h * h)))

START_TEST(gaussian_pairs)
{
    enum { M = 3, N = 4, D = 3 };
    static const float px[M][D] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 1 } };
    static const float py[N][D] = { { 0, 0, 0 }, { 0.5F, 0, 0 }, { 0, 0.5F, 0.5F }, { 1, 1, 1 } };
    static const float pb[N]    = { 1, -2, 3, 0.5F };
    float              out[M];

    rd_expr *x  = rd_expand(rd_wrap(ctx, &px[0][0], RD_SHAPE(M, D)), 1);
    rd_expr *y  = rd_expand(rd_wrap(ctx, &py[0][0], RD_SHAPE(N, D)), 0);
    rd_expr *b  = rd_wrap(ctx, pb, RD_SHAPE(N));
    rd_expr *d2 = rd_sum(rd_square(rd_sub(x, y)), RD_DIMS(-1));
    rd_expr *k  = rd_map2(d2, rd_num(ctx, 0.5), rbf);
    check_ok(rd_eval(ctx, rd_sum(rd_mul(k, b), RD_DIMS(1)), RD_INTO(out, RD_SHAPE(M))));

    for (int i = 0; i < M; i++) {
        double want = 0;
        for (int j = 0; j < N; j++) {
            double d = 0;
            for (int c = 0; c < D; c++)
                d += pow((double)px[i][c] - (double)py[j][c], 2);
            want += exp(-d / 0.25) * (double)pb[j];
        }
        check_near("kernel sum", (double)out[i], want);
    }
}
END_TEST

/* ---- Nearest neighbours, each left out of its own search ------------------------------------- */
START_TEST(leave_one_out)
{
    static const uint8_t pixels[5][2] = { { 0, 0 }, { 1, 0 }, { 9, 9 }, { 9, 8 }, { 2, 1 } };
    static const uint8_t labels[5]    = { 3, 3, 7, 7, 8 };

    rd_expr *p    = rd_cast(rd_wrap(ctx, &pixels[0][0], RD_SHAPE(5, 2)), RD_F32);
    rd_expr *l    = rd_wrap(ctx, labels, RD_SHAPE(5));
    rd_expr *d2   = rd_sum(rd_square(rd_sub(rd_expand(p, 1), rd_expand(p, 0))), RD_DIMS(-1));
    rd_expr *near = rd_argmin(d2, RD_DIMS(1), .where = rd_ne(rd_coord(d2, 0), rd_coord(d2, 1)));

    /* The fifth is nearest to the second, which has another label. */
    check_near("share", rd_at(ctx, rd_mean(rd_eq(rd_take(l, 0, near), l), RD_ALL), RD_SCALAR), 0.8);
    check_ok(rd_error(ctx));
}
END_TEST

/* ---- Reducers of one's own ------------------------------------------------------------------- */
/* One body a line. */
/* clang-format off */
RD_REDUCER(count_nonzeros, double, int64_t, 1, (int64_t n;), (s->n = 0;), (s->n += x != 0;),
           (a->n += b->n;), (y[0] = s->n;))

RD_REDUCER(welford, double, double, 2, (double n, mean, m2;), (s->n = s->mean = s->m2 = 0;),
           (double d = x - s->mean; s->n += 1; s->mean += d / s->n; s->m2 += d * (x - s->mean);),
           (
               double n = a->n + b->n, d = b->mean - a->mean; if (b->n > 0) {
                   a->mean += d * b->n / n;
                   a->m2 += b->m2 + d * d * a->n * b->n / n;
                   a->n = n;
               }),
           (y[0] = s->mean; y[1] = s->m2 / s->n;))
/* clang-format on */

START_TEST(own_reducers)
{
    enum { ROWS = 30, COLUMNS = 200 };
    static float data[ROWS][COLUMNS];
    int64_t      count[ROWS];
    double       moments[2], sum = 0, squares = 0;

    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            data[i][j] = j < 5 * i ? (float)(j % 17) + 1 : 0;
            sum += (double)data[i][j];
            squares += (double)data[i][j] * (double)data[i][j];
        }
    rd_expr *x = rd_wrap(ctx, &data[0][0], RD_SHAPE(ROWS, COLUMNS));
    check_ok(rd_eval_many(
        ctx,
        RD_RESULTS({ rd_reduce(x, count_nonzeros, RD_DIMS(1)), RD_INTO(count, RD_SHAPE(ROWS)) },
                   { rd_reduce(x, welford, RD_ALL), RD_INTO(moments, RD_SHAPE(2)) }),
        NULL));
    for (int i = 0; i < ROWS; i++)
        ck_assert_int_eq(count[i], 5 * i);
    sum /= ROWS * COLUMNS;
    check_near("mean", moments[0], sum);
    check_near("variance", moments[1], squares / (ROWS * COLUMNS) - sum * sum);
}
END_TEST

/* ---- Functions of one's own, four ways ------------------------------------------------------- */
RD_FN1(softsign, x, x / (1 + abs(x)))

static float cube(float x)
{
    return x * x * x;
}

static const char *look_up(void *user, int64_t n, const void *const *in, void *out)
{
    const double *table = user, *x = in[0];
    double       *y = out;

    for (int64_t i = 0; i < n; i++) {
        if (!(x[i] >= 0 && x[i] < 4))
            return "look_up: index outside 0..3";
        y[i] = table[(int)x[i]];
    }
    return NULL;
}

START_TEST(own_functions)
{
    static const float data[4]  = { 0, 1, 2, 3 };
    double             table[4] = { 100, 200, 300, 400 }, y[4];
    rd_fn              by_table = { .size  = sizeof by_table,
                                    .name  = "look_up",
                                    .arity = 1,
                                    .in    = RD_F64,
                                    .out   = RD_F64,
                                    .block = look_up,
                                    .user  = table };

    rd_expr *x   = rd_wrap(ctx, data, RD_SHAPE(4));
    rd_expr *sum = rd_add(rd_map(x, softsign), rd_map(x, cube));
    sum          = rd_add(rd_add(sum, rd_map(x, "x > 1 ? x : 0.5 * x")), rd_map(x, &by_table));
    check_ok(rd_eval(ctx, sum, RD_INTO(y, RD_SHAPE(4))));
    for (int k = 0; k < 4; k++)
        check_near("sum of four", y[k],
                   k / (1.0 + k) + k * k * k + (k > 1 ? k : 0.5 * k) + table[k]);

    ck_assert(rd_eval(ctx, rd_map(rd_neg(x), &by_table), RD_INTO(y, RD_SHAPE(4))) ==
              RD_ERR_CALLBACK);
    ck_assert(strstr(rd_error_text(ctx), "index outside 0..3"));
}
END_TEST

/* ---- Softmax --------------------------------------------------------------------------------- */
START_TEST(softmax)
{
    static const float in[2][3] = { { 1, 2, 3 }, { 1000, 1000, 998 } };
    float              out[2][3];

    rd_expr *x = rd_wrap(ctx, &in[0][0], RD_SHAPE(2, 3));
    rd_expr *e = rd_exp(rd_sub(x, rd_max(x, RD_KEEP(-1))));
    check_ok(rd_eval(ctx, rd_div(e, rd_sum(e, RD_KEEP(-1))), RD_INTO(&out[0][0], RD_SHAPE(2, 3))));

    const double first = exp(-2) + exp(-1) + 1, second = 2 + exp(-2);
    for (int k = 0; k < 3; k++) {
        check_near("first row", (double)out[0][k], exp(k - 2) / first);
        check_near("second row", (double)out[1][k], (k < 2 ? 1 : exp(-2)) / second);
    }
}
END_TEST

/* ---- Plan once, run on new pointers, from several threads ------------------------------------ */
enum { HEIGHT = 6, WIDTH = 5, CHANNELS = 3, FRAMES = 8 };

typedef struct job {
    const rd_plan *plan;
    uint8_t        frame[HEIGHT][WIDTH][CHANNELS];
    double         rgb[CHANNELS];
    rd_status      status;
} job;

static void *run_job(void *p)
{
    job *j    = p;
    j->status = rd_plan_run(j->plan, (const void *[]){ j->frame }, (void *[]){ j->rgb });
    return NULL;
}

static rd_plan *plan_means(double *rgb)
{
    rd_mark  mark = rd_ctx_mark(ctx);
    rd_expr *x    = rd_input(ctx, "frame",
                             &(rd_array){ .type = RD_U8, .shape = RD_SHAPE(HEIGHT, WIDTH, CHANNELS) });
    rd_expr *mean = rd_mean(x, RD_DIMS(0, 1));
    rd_plan *plan =
        rd_plan_new(ctx, RD_EXPRS(x), RD_RESULTS({ mean, RD_INTO(rgb, RD_SHAPE(CHANNELS)) }), NULL);

    check_ok(rd_ctx_release(ctx, mark)); /* the plan needs no node */
    return plan;
}

START_TEST(frames)
{
    static job jobs[FRAMES];
    pthread_t  thread[FRAMES];
    double     rgb[CHANNELS];
    rd_plan   *plan = plan_means(rgb);

    ck_assert(plan);
    for (int f = 0; f < FRAMES; f++) {
        jobs[f].plan = plan;
        for (int k = 0; k < HEIGHT * WIDTH; k++)
            for (int c = 0; c < CHANNELS; c++)
                jobs[f].frame[k / WIDTH][k % WIDTH][c] = (uint8_t)(20 * f + 30 * c + k);
        ck_assert(pthread_create(&thread[f], NULL, run_job, &jobs[f]) == 0);
    }
    for (int f = 0; f < FRAMES; f++) {
        pthread_join(thread[f], NULL);
        check_ok(jobs[f].status);
        for (int c = 0; c < CHANNELS; c++)
            check_near("mean", jobs[f].rgb[c], 20 * f + 30 * c + (HEIGHT * WIDTH - 1) / 2.0);
    }
    check_ok(rd_plan_run(plan, (const void *[]){ jobs[1].frame }, NULL));
    check_near("as planned", rgb[0], jobs[1].rgb[0]);
    rd_plan_free(plan);
}
END_TEST

/* ---- Errors: build without checks, look once ------------------------------------------------- */
START_TEST(errors)
{
    static const float data[4][5] = { { 1, 2, 3, 4, 5 } };
    rd_array           out        = { 0 };

    rd_expr *x = rd_wrap(ctx, &data[0][0], RD_SHAPE(4, 5));
    rd_expr *y = rd_sqrt(rd_sum(x, RD_DIMS(2)));
    ck_assert(rd_eval(ctx, y, &out) == RD_ERR_AXIS);
    ck_assert(strstr(rd_error_text(ctx), "sum") && strstr(rd_error_text(ctx), "(4, 5)"));
    ck_assert_str_eq(rd_status_name(rd_error(ctx)), "RD_ERR_AXIS");
    ck_assert(!out.data);
    rd_error_clear(ctx);

    check_ok(rd_eval(ctx, rd_sum(x, RD_DIMS(1)), &out));
    ck_assert(out.shape.n == 1 && out.shape.at[0] == 4 && ((float *)out.data)[0] == 15);
    rd_array_free(&out);
}
END_TEST

/* ---- Fortran input, output into a field of records ------------------------------------------- */
struct record {
    float id, weight, total;
};

START_TEST(fortran)
{
    enum { N = 2, M = 3 };
    static const double a[N * M] = { 1, 2, 10, 20, 100, 200 }; /* a(N, M), first axis fastest */
    struct record       r[N]     = { { 1, 0.5F, 0 }, { 2, 0.25F, 0 } };
    const int64_t       step     = sizeof *r / sizeof r->total;

    rd_expr *x = rd_wrap(ctx, a, RD_SHAPE(N, M), .order = 1);
    rd_expr *y = rd_cast(rd_sum(x, RD_DIMS(1)), RD_F32);
    check_ok(rd_eval(ctx, y, RD_INTO(&r[0].total, RD_SHAPE(N), .strides = RD_STRIDES(step))));
    ck_assert(r[0].total == 111 && r[1].total == 222);
    ck_assert(r[0].id == 1 && r[0].weight == 0.5F && r[1].id == 2 && r[1].weight == 0.25F);
}
END_TEST

/* ---- What will be run ------------------------------------------------------------------------ */
START_TEST(explained)
{
    static const float data[6];
    rd_array           out = { 0 };

    rd_expr    *y     = rd_std(rd_wrap(ctx, data, RD_SHAPE(2, 3)), RD_DIMS(1));
    const char *text  = rd_explain(ctx, RD_RESULTS({ y, &out }), NULL);
    const char *graph = rd_graphviz(ctx, RD_RESULTS({ y, NULL }));
    ck_assert(text && text[0] && graph && strstr(graph, "digraph"));
    ck_assert_msg(!out.data, "explaining evaluates nothing");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { climate,      one_row,       gaussian_pairs, leave_one_out,
                                   own_reducers, own_functions, softmax,        frames,
                                   errors,       fortran,       explained };

    return run_suite("api_examples", tests, COUNT(tests));
}
