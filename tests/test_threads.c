/* The bits of a result depend on neither tasks nor threads; contexts and plans do not disturb each
 * other.
 *
 * Runs under the thread sanitizer, built without OpenMP: its threads are then the test's own. */
#include "core/threads.h"
#include "eval/run/team.h"
#include "isa.h"
#include "kernels/cpu/jit/tier.h"
#include "values.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* ---- Numbers whose sums round differently in every order ------------------------------------- */
static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static int random_from(uint64_t *state, int least, int most)
{
    const int k = (int)((random_next(state) >> 20) % (uint64_t)(most - least + 1));

    return least + k;
}

enum { MOST = 40000, ROOM = 66000 };
static double data[ROOM];
static float  narrow[ROOM];

static void fill_data(uint64_t seed)
{
    for (int i = 0; i < ROOM; i++) {
        data[i]   = ldexp((double)(int64_t)(random_next(&seed) >> 11) - 0x1p52,
                          random_from(&seed, -60, -44));
        narrow[i] = (float)data[i];
    }
}

/* ---- Expressions ----------------------------------------------------------------------------- */
/* One body a line. */
/* clang-format off */
/* An associative reducer that does not commute and shows every order: a hash of the elements in C
 * order. */
RD_REDUCER(polynomial, double, int64_t, 1, (uint64_t hash, power;), (s->hash = 0; s->power = 1;),
           (s->hash = s->hash * 0x9e3779b97f4a7c15u + (uint64_t)(int64_t)x;
            s->power *= 0x9e3779b97f4a7c15u;),
           (a->hash = a->hash * b->power + b->hash; a->power *= b->power;),
           (y[0] = (int64_t)s->hash;))

/* Sums that round: mean and sum of squares in a state that is merged. */
RD_REDUCER(welford, double, double, 2, (double n, mean, m2;), (s->n = s->mean = s->m2 = 0;),
           (double d = x - s->mean; s->n += 1; s->mean += d / s->n; s->m2 += d * (x - s->mean);),
           (
               double n = a->n + b->n, d = b->mean - a->mean; if (b->n > 0) {
                   a->mean += d * b->n / n;
                   a->m2 += b->m2 + d * d * a->n * b->n / n;
                   a->n = n;
               }),
           (y[0] = s->mean; y[1] = s->m2;))
/* clang-format on */

/* A reduction of the operand's own kind, by number. */
static rd_expr *reduced(rd_expr *x, rd_dims dims, int kind)
{
    rd_expr *some = rd_gt(x, rd_num(ctx, 0));

    switch (kind) {
    case 0: return rd_sum(x, dims);
    case 1: return rd_mean(x, dims);
    case 2: return rd_var(x, dims, .ddof = 1);
    case 3: return rd_logsumexp(rd_map(x, "x / 50"), dims);
    case 4: return rd_min(rd_where(rd_gt(x, rd_num(ctx, 200)), rd_num(ctx, NAN), x), dims);
    case 5: return rd_argmax(rd_floor(x), dims);
    case 6: return rd_prod(rd_map(x, "1 + x / 1000"), dims);
    case 7: return rd_reduce(x, polynomial, dims);
    case 8: return rd_reduce(x, welford, dims);
    case 9: return rd_sum(x, dims, .accuracy = RD_COMPENSATED);
    case 10: return rd_mean(x, dims, .where = some, .weights = rd_abs(x));
    case 11: return rd_norm(x, dims);
    case 12: return rd_any(rd_gt(x, rd_num(ctx, 255)), dims);
    case 13: return rd_sum(x, dims, .accuracy = RD_SERIAL);
    default: return rd_max(x, dims, .skip_nan = true);
    }
}
enum { KINDS = 15 };

/* What is made of the reduction: itself, two of them at once, an operand of a map or a scan. */
static rd_expr *around(rd_expr *x, rd_dims dims, int kind, int shape)
{
    rd_expr *y    = reduced(x, dims, kind);
    rd_dims  keep = dims;

    keep.flags |= RD_DIMS_KEEP;
    switch (shape) {
    case 0: return y;
    case 1: return rd_sub(y, rd_sum(y, RD_ALL));
    case 2: return rd_add(x, rd_mean(x, keep));
    case 3: return rd_scan(rd_sub(x, rd_max(x, keep)), "sum", RD_DIMS(-1));
    case 4: return rd_add(rd_flip(y, RD_ALL), y);
    default: return rd_sum(rd_mul(x, rd_var(x, keep)), RD_ALL);
    }
}
enum { SHAPES = 6 };

/* Shapes of up to MOST points whose extents are odd, 1, or many blocks of the combine tree. */
static rd_shape random_shape(uint64_t *state)
{
    static const int extents[] = { 1, 2, 3, 7, 31, 64, 65, 100, 129, 1000, 4097, 20000 };
    rd_shape         shape     = { .n = random_from(state, 1, 4) };
    int64_t          points    = 1;

    for (int a = 0; a < shape.n; a++) {
        do
            shape.at[a] = extents[random_from(state, 0, (int)COUNT(extents) - 1)];
        while (points * shape.at[a] > MOST);
        points *= shape.at[a];
    }
    return shape;
}

static rd_dims random_dims(uint64_t *state, int rank)
{
    rd_dims dims = { 0 };

    for (int a = 0; a < rank; a++)
        if (random_from(state, 0, 1))
            dims.axis[dims.n++] = a;
    return dims.n ? dims : RD_DIMS(0);
}

/* A leaf of either float type, dense, Fortran's, or transposed. */
static rd_expr *random_operand(uint64_t *state, rd_shape shape)
{
    const int order = random_from(state, 0, 1);
    rd_expr  *x     = random_from(state, 0, 1) ? rd_wrap(ctx, data, shape, .order = order)
                                               : rd_wrap(ctx, narrow, shape, .order = order);

    return random_from(state, 0, 3) ? x : rd_transpose(x);
}

/* ---- The same bits --------------------------------------------------------------------------- */
static int64_t bytes_of(const rd_expr *y)
{
    return rd_points(y->rank, y->extent) * rd_dtype_size(y->type);
}

static void run_as(rd_expr *y, void *out, const rd_eval_opts *opts, int64_t task_grains,
                   rd_run_stats *stats)
{
    rd_array into = { .data = out, .type = y->type, .shape = rd_shape_of(y) };
    rd_plan *plan = rd_plan_make(ctx, (rd_exprs){ 0 }, RD_RESULTS({ y, &into }), opts);

    ck_assert_msg(plan, "%s", rd_error_text(ctx));
    isa_share(plan, task_grains);
    memset(out, 0xa5, (size_t)bytes_of(y));
    ck_assert_msg(rd_plan_execute(plan, NULL, NULL, NULL, stats) == RD_OK, "%s",
                  rd_error_text(ctx));
    rd_plan_free(plan);
}

static void same_bits(const void *first, const void *other, const rd_expr *y, const char *what,
                      int number, int seed)
{
    const int64_t size = rd_dtype_size(y->type);
    int64_t       i    = 0;

    if (memcmp(first, other, (size_t)bytes_of(y)) == 0)
        return;
    while (memcmp((const char *)first + i * size, (const char *)other + i * size, (size_t)size) ==
           0)
        i++;
    ck_abort_msg("seed %d, %s %d: element %lld is %.17g, not %.17g\n%s", seed, what, number,
                 (long long)i, get(other, y->type, i), get(first, y->type, i),
                 rd_explain(ctx, RD_RESULTS({ (rd_expr *)y, NULL }), NULL));
}

static int most_tasks; /* of all runs */

static void compare_runs(rd_expr *y, int seed)
{
    static const int grains[] = { 1, 2, 3, 4, 7 }, threads[] = { 2, 3, 5 };
    char        *first = malloc((size_t)bytes_of(y) + 1), *other = malloc((size_t)bytes_of(y) + 1);
    rd_run_stats stats;

    for (int traversal = RD_TRAVERSE_AUTO; traversal <= RD_TRAVERSE_LAZY; traversal++) {
        const rd_eval_opts one = { .threads = 1, .traversal = (rd_traversal)traversal };

        run_as(y, traversal == RD_TRAVERSE_AUTO ? first : other, &one, 0, &stats);
        if (traversal != RD_TRAVERSE_AUTO)
            same_bits(first, other, y, "traversal", traversal, seed);
        for (size_t k = 0; k < COUNT(grains); k++) {
            run_as(y, other, &one, grains[k], &stats);
            same_bits(first, other, y, "grains", grains[k], seed);
            most_tasks = stats.tasks > most_tasks ? stats.tasks : most_tasks;
        }
    }
    for (size_t k = 0; k < COUNT(threads); k++) {
        run_as(y, other, &(rd_eval_opts){ .threads = threads[k] }, 0, &stats);
        same_bits(first, other, y, "threads", threads[k], seed);
    }
    free(first);
    free(other);
}

/* The thread sanitizer is slow, and tasks run one after the other there: what it looks at is side
 * by side. */
#ifdef __SANITIZE_THREAD__
enum { SEEDS = 4, PER_SEED = 2, JOINED = 3 };
#else
enum { SEEDS = 20, PER_SEED = 2, JOINED = KINDS };
#endif

START_TEST(tasks_change_no_bit)
{
    uint64_t state = 0x9e3779b97f4a7c15u * (uint64_t)(_i + 1);

    fill_data(state);
    for (int k = 0; k < PER_SEED; k++) {
        const rd_mark  mark  = rd_ctx_mark(ctx);
        const rd_shape shape = random_shape(&state);
        rd_expr       *x     = random_operand(&state, shape);
        const rd_dims  dims  = random_dims(&state, shape.n);
        rd_expr       *y =
            around(x, dims, (_i * PER_SEED + k) % KINDS, random_from(&state, 0, SHAPES - 1));

        ck_assert_msg(y, "seed %d, %d: %s", _i, k, rd_error_text(ctx));
        compare_runs(y, _i * PER_SEED + k);
        rd_ctx_release(ctx, mark);
    }
}
END_TEST

/* Every reducer over all of a matrix, where tasks share the reduced axis: partial trees are
 * joined. */
START_TEST(joined_trees_change_no_bit)
{
    static const rd_shape shapes[] = {
        { 1, 0, { 30001 } },    { 2, 0, { 700, 20 } },   { 2, 0, { 2001, 3 } },
        { 2, 0, { 130, 129 } }, { 3, 0, { 70, 5, 33 } },
    };

    fill_data(7);
    most_tasks = 0;
    for (size_t k = 0; k < COUNT(shapes); k++) {
        rd_expr *x = rd_wrap(ctx, data, shapes[k]);

        compare_runs(reduced(x, RD_ALL, _i), 100 + (int)k);
        compare_runs(reduced(x, RD_DIMS(0), _i), 200 + (int)k);
    }
    ck_assert_msg(_i == 13 || most_tasks > 8, "at most %d tasks", most_tasks);
}
END_TEST

/* Every reducer where kept axes go inside reduced ones: short rows that adjoin, panels that hold a
 * whole row, runs too short to stream, few long rows; and maps beside them. */
START_TEST(kept_axes_inside_change_no_bit)
{
    static const struct {
        rd_shape shape;
        rd_dims  dims;
    } cases[] = {
        { { 2, 0, { 5003, 5 } }, { .n = 1, .axis = { 0 } } },
        { { 2, 0, { 1001, 37 } }, { .n = 1, .axis = { 0 } } },
        { { 3, 0, { 18, 12, 70 } }, { .n = 2, .axis = { 0, 1 } } },
        { { 3, 0, { 20, 13, 100 } }, { .n = 2, .axis = { 0, 2 } } },
        { { 3, 0, { 7, 130, 3 } }, { .n = 1, .axis = { 1 } } },
        { { 2, 0, { 2, 33000 } }, { .n = 1, .axis = { 1 } } },
    };

    fill_data(13);
    for (size_t k = 0; k < COUNT(cases); k++) {
        compare_runs(around(rd_wrap(ctx, data, cases[k].shape), cases[k].dims, _i, 0),
                     300 + (int)k);
        if (k < 2)
            compare_runs(around(rd_wrap(ctx, narrow, cases[k].shape), cases[k].dims, _i, 0),
                         400 + (int)k);
    }
    compare_runs(rd_sub(rd_wrap(ctx, data, RD_SHAPE(2, 33000)), rd_wrap(ctx, data, RD_SHAPE(2, 1))),
                 500);
}
END_TEST

/* ---- Tasks that begin within a block --------------------------------------------------------- */
enum { PAIRS = 301, BINS = 40 };

/* Counts and extremes by a label of each pair: their blocks are longer than all rows. */
static rd_expr *by_label(int kind)
{
    rd_expr *x = rd_wrap(ctx, narrow, RD_SHAPE(PAIRS, 1)),
            *y = rd_wrap(ctx, narrow + 500, RD_SHAPE(1, PAIRS)), *far = rd_abs(rd_sub(x, y)),
            *bin          = rd_bins(far, BINS, 0, 200),
            *some         = rd_where(rd_gt(far, rd_num(ctx, 190)), rd_num(ctx, NAN), far);
    const rd_exprs by     = RD_EXPRS(bin);
    const rd_shape groups = RD_SHAPE(BINS);

    switch (kind) {
    case 0: return rd_histogram(far, BINS, 0, 200, NULL);
    case 1: return rd_min(some, RD_ALL, .by = by, .groups = groups);
    case 2:
        return rd_max(rd_cast(far, RD_I32), RD_ALL, .by = by, .groups = groups,
                      .initial = rd_int(ctx, 0));
    case 3: return rd_sum(rd_cast(far, RD_I64), RD_ALL, .by = by, .groups = groups);
    case 4: return rd_any(rd_gt(far, rd_num(ctx, 3)), RD_ALL, .by = by, .groups = groups);
    default: return rd_argmin(some, RD_ALL, .by = by, .groups = groups);
    }
}

/* A count of rows beside what each row is made into, as of an image's edge beside its middle. */
static rd_expr *beside_rows(void)
{
    rd_expr *x    = rd_wrap(ctx, data, RD_SHAPE(130, 300));
    rd_expr *edge = rd_slice(x, ":, 0"), *inner = rd_slice(x, ":, 1:");

    return rd_add(rd_sum(rd_gt(edge, rd_num(ctx, 10)), RD_ALL),
                  rd_sum(rd_gt(inner, rd_num(ctx, 10)), RD_ALL));
}

/* Into how many tasks the largest stage can be cut. */
static int64_t shares_of(rd_expr *y)
{
    rd_plan          *plan = rd_plan_make(ctx, (rd_exprs){ 0 }, RD_RESULTS({ y, NULL }), NULL);
    const rd_program *most = NULL;
    int64_t           shares;

    ck_assert_msg(plan && plan->n_stage, "%s", rd_error_text(ctx));
    for (int s = 0; s < plan->n_stage; s++)
        most = most && most->work > plan->program[s].work ? most : &plan->program[s];
    shares = rd_program_shares(most, most->grain);
    rd_plan_free(plan);
    return shares;
}

/* Whole blocks of these are few, or one; any grouping gives the same bits, by tiles and compiled. */
START_TEST(loose_folds_are_shared)
{
    static const char *const modes[] = { "off", "sync" };

    fill_data(17);
    for (size_t m = 0; m < COUNT(modes); m++) {
        rd_tier_force(modes[m]);
        for (int k = 0; k < 7; k++) {
            rd_expr *const y = k < 6 ? by_label(k) : beside_rows();

            ck_assert_msg(y, "%d: %s", k, rd_error_text(ctx));
            ck_assert_msg(shares_of(y) >= (k < 6 ? 16 : 4), "%d: %d tasks at most", k,
                          (int)shares_of(y));
            compare_runs(y, 600 + k);
        }
    }
    rd_tier_force(NULL);
}
END_TEST

/* Each task would have states of all groups, more than it has elements. */
START_TEST(many_groups_are_one_task)
{
    rd_expr *const bin = rd_cast(rd_abs(rd_wrap(ctx, data, RD_SHAPE(30000))), RD_I64);

    fill_data(19);
    ck_assert_int_eq(shares_of(rd_bincount(RD_EXPRS(bin), RD_SHAPE(20000), NULL)), 1);
}
END_TEST

/* The mean of each row of columns in order: a fold along the columns would make them one task. */
START_TEST(rows_of_columns_in_order)
{
    fill_data(23);
    rd_expr *const y = rd_mean(rd_sort(rd_wrap(ctx, narrow, RD_SHAPE(2640, 25)), 0), RD_DIMS(1));

    ck_assert_msg(y, "%s", rd_error_text(ctx));
    ck_assert_int_eq(shares_of(y), 25);
    compare_runs(y, 700);
}
END_TEST

/* ---- Contexts side by side ------------------------------------------------------------------- */
enum { THREADS = 4, ROUNDS = 12, ROWS = 60, COLUMNS = 333 };

static rd_expr *workload(rd_ctx *c, const double *x)
{
    rd_expr *leaf = rd_wrap(c, x, RD_SHAPE(ROWS, COLUMNS)),
            *e    = rd_exp(rd_sub(leaf, rd_max(leaf, RD_KEEP(1))));

    return rd_scan(rd_div(e, rd_sum(e, RD_KEEP(1))), "sum", RD_DIMS(0));
}

typedef struct worker {
    int       number;
    bool      wrong;
    rd_plan  *plan;
    pthread_t thread;
    double    want[ROWS * COLUMNS], found[ROWS * COLUMNS];
} worker;

static worker workers[THREADS];

static void start_and_join(void *(*work)(void *))
{
    for (int k = 0; k < THREADS; k++)
        ck_assert(pthread_create(&workers[k].thread, NULL, work, &workers[k]) == 0);
    for (int k = 0; k < THREADS; k++)
        pthread_join(workers[k].thread, NULL);
    for (int k = 0; k < THREADS; k++)
        ck_assert_msg(!workers[k].wrong, "thread %d", k);
}

/* Thread k works on the data from element k on. */
static void want_all(void)
{
    fill_data(11);
    for (int k = 0; k < THREADS; k++) {
        workers[k] = (worker){ .number = k };
        ck_assert(rd_eval(ctx, workload(ctx, data + k),
                          RD_INTO(workers[k].want, RD_SHAPE(ROWS, COLUMNS))) == RD_OK);
    }
}

static void *own_context(void *argument)
{
    worker *w = argument;

    for (int round = 0; round < ROUNDS; round++) {
        rd_ctx *c = rd_ctx_new(&(rd_ctx_opts){ .threads = 2 });

        memset(w->found, 0, sizeof w->found);
        w->wrong |= rd_eval(c, workload(c, data + w->number),
                            RD_INTO(w->found, RD_SHAPE(ROWS, COLUMNS))) != RD_OK ||
                    memcmp(w->want, w->found, sizeof w->want) != 0;
        /* A failure of one is none of the others. */
        w->wrong |= rd_slice(rd_num(c, 1), "9") != NULL || rd_error(c) != RD_ERR_AXIS;
        rd_ctx_free(c);
    }
    return NULL;
}

START_TEST(contexts_side_by_side)
{
    want_all();
    start_and_join(own_context);
    ck_assert_int_eq(rd_error(ctx), RD_OK);
}
END_TEST

/* ---- One plan on several threads ------------------------------------------------------------- */
static void *run_plan(void *argument)
{
    worker *w = argument;

    for (int round = 0; round < ROUNDS; round++) {
        memset(w->found, 0, sizeof w->found);
        w->wrong |= rd_plan_run(w->plan, (const void *[]){ data + w->number },
                                (void *[]){ w->found }) != RD_OK ||
                    memcmp(w->want, w->found, sizeof w->want) != 0;
    }
    return NULL;
}

static rd_plan *plan_workload(int32_t threads)
{
    rd_array     layout = { .type = RD_F64, .shape = RD_SHAPE(ROWS, COLUMNS) };
    rd_expr     *in = rd_input(ctx, "x", &layout), *e = rd_exp(rd_sub(in, rd_max(in, RD_KEEP(1))));
    rd_expr     *y    = rd_scan(rd_div(e, rd_sum(e, RD_KEEP(1))), "sum", RD_DIMS(0));
    rd_eval_opts opts = { .threads = threads };

    return rd_plan_new(ctx, RD_EXPRS(in), RD_RESULTS({ y, &layout }), &opts);
}

START_TEST(one_plan_on_threads)
{
    static const int32_t counts[] = { 0, 1, 3 };

    want_all();
    for (size_t k = 0; k < COUNT(counts); k++) {
        rd_plan *plan = plan_workload(counts[k]);

        ck_assert_msg(plan, "%s", rd_error_text(ctx));
        for (int t = 0; t < THREADS; t++)
            workers[t].plan = plan;
        start_and_join(run_plan);
        rd_plan_free(plan);
    }
}
END_TEST

/* Nests come while threads run the plan that waits for them, and contexts make others. */
START_TEST(nests_come_meanwhile)
{
    rd_plan      *plan;
    rd_tier_stats stats;

    want_all();
    rd_tier_force("async");
    rd_tier_hurry(true);
    plan = plan_workload(1);
    ck_assert_msg(plan, "%s", rd_error_text(ctx));
    for (int t = 0; t < THREADS; t++)
        workers[t].plan = plan;
    for (int k = 0; k < 3; k++) { /* from the store, if it is there; compiled; called */
        start_and_join(k % 2 ? own_context : run_plan);
        rd_tier_wait();
    }
    start_and_join(run_plan);
    rd_plan_free(plan);
    stats = rd_tier_stats_now();
    ck_assert_int_gt(stats.compiled + stats.stored, 0);
    ck_assert_int_eq(stats.failed, 0);
    rd_tier_hurry(false);
    rd_tier_force(NULL);
}
END_TEST

/* All runs fail, of which one records the sentence; and all warn. */
static const char *refuse(void *user, int64_t n, const void *const *in, void *out)
{
    (void)user;
    memset(out, 0, (size_t)n * sizeof(double));
    return *(const double *)in[0] >= 0 ? "no number is good enough" : "not even a negative one";
}

static void *run_failing(void *argument)
{
    worker *w = argument;

    for (int round = 0; round < ROUNDS; round++)
        w->wrong |= rd_plan_run(w->plan, (const void *[]){ data }, (void *[]){ w->found }) !=
                    RD_ERR_CALLBACK;
    return NULL;
}

START_TEST(failures_on_threads)
{
    rd_fn f = {
        .size = sizeof f, .name = "refuse", .arity = 1, .in = RD_F64, .out = RD_F64, .block = refuse
    };
    rd_array layout = { .type = RD_F64, .shape = RD_SHAPE(ROWS, COLUMNS) };
    rd_expr *in     = rd_input(ctx, "x", &layout);
    rd_plan *plan   = rd_plan_new(ctx, RD_EXPRS(in), RD_RESULTS({ rd_map(in, &f), &layout }), NULL);

    fill_data(3);
    for (int t = 0; t < THREADS; t++)
        workers[t] = (worker){ .number = t, .plan = plan };
    start_and_join(run_failing);
    ck_assert(rd_error(ctx) == RD_ERR_CALLBACK && strstr(rd_error_text(ctx), "no"));
    rd_plan_free(plan);
}
END_TEST

/* ---- Inside the caller's parallel region ----------------------------------------------------- */
START_TEST(inside_a_parallel_region)
{
    want_all();
#pragma omp parallel for num_threads(THREADS) schedule(static, 1)
    for (int k = 0; k < THREADS; k++)
        own_context(&workers[k]);
    for (int k = 0; k < THREADS; k++)
        ck_assert_msg(!workers[k].wrong, "thread %d", k);
}
END_TEST

#ifdef _OPENMP
/* A team is started once one thread has done a millisecond of work that it could have shared, and is
 * there from then on; one thread stays out of it while a compiler is at work.  Little work has no team. */
START_TEST(a_team_comes_late)
{
    enum { MANY = 1000 };
    const double part = 5e6;
    const int    all  = omp_get_num_procs();

    rd_team_share_all(false);
    ck_assert_int_eq(rd_thread_count_now(ctx, 2, 1e3, MANY), 1);
    ck_assert_int_eq(rd_thread_count_now(ctx, 2, part, MANY), 1);
    ck_assert_int_eq(rd_thread_count_now(ctx, 2, part, MANY), 2);
    ck_assert_int_eq(rd_thread_count_now(ctx, 2, part, MANY), 2);
    ck_assert_int_eq(rd_thread_count_now(ctx, 2, 1e3, MANY), 1);
    rd_threads_leave_one(true);
    ck_assert_int_eq(rd_thread_count_now(ctx, 2, part, MANY), all == 2 ? 1 : 2);
    rd_threads_leave_one(false);
    ck_assert_int_eq(rd_thread_count_now(ctx, 2, part, MANY), 2);
    rd_team_share_all(true);
    ck_assert_int_eq(rd_thread_count_now(ctx, 2, 1e3, MANY), 2);
}
END_TEST
#endif

/* ---- Threads that are not there -------------------------------------------------------------- */
enum { APART = 4000 };
static double sums[APART], alone[APART];

static rd_expr *sums_of(rd_ctx *in)
{
    rd_expr *x = rd_wrap(in, data, RD_SHAPE(APART, 100), .strides = RD_STRIDES(10, 1));

    fill_data(7);
    return rd_sum(x, RD_DIMS(1));
}

static rd_status eval_on(rd_expr *y, double *out, int threads)
{
    const rd_eval_opts opts = { .size = sizeof opts, .threads = threads };

    return rd_eval_many(ctx, RD_RESULTS({ y, RD_INTO(out, RD_SHAPE(APART)) }), &opts);
}

static bool sums_are_right(rd_expr *y, int threads)
{
    memset(sums, -1, sizeof sums);
    return eval_on(y, sums, threads) == RD_OK && memcmp(sums, alone, sizeof sums) == 0;
}

/* The number of threads that are said to be taken instead of this number, 0: none are. */
static int taken_of(rd_expr *y, int threads)
{
    const rd_eval_opts opts = { .size = sizeof opts, .threads = threads };
    const char        *text = rd_explain(ctx, RD_RESULTS({ y, NULL }), &opts);
    int                n = 0, of = 0;

    ck_assert_ptr_nonnull(text);
    text = strstr(text, "\nthreads: ");
    ck_assert(!text || (sscanf(text, " threads: %d of %d: ", &n, &of) == 2 && of == threads));
    return n;
}

/* A number that no system has is cut, and the program goes on. */
START_TEST(more_than_there_are)
{
    rd_expr *y = sums_of(ctx);

    ck_assert_int_eq(eval_on(y, alone, 1), RD_OK);
    ck_assert(sums_are_right(y, 100000));
    ck_assert_int_eq(taken_of(y, 2), 0);
#ifdef _OPENMP
    ck_assert_int_gt(taken_of(y, 100000), 0);
    ck_assert_int_le(taken_of(y, 100000), 1024);
#endif
}
END_TEST

static void *nothing(void *unused)
{
    return unused;
}

/* So does one whose user may have no more threads. */
START_TEST(none_to_be_had)
{
    const struct rlimit none = { 0, 0 };
    rd_expr            *y    = sums_of(ctx);
    pthread_t           thread;

    ck_assert_int_eq(eval_on(y, alone, 1), RD_OK);
    if (SANITIZED) /* looking for leaks takes a thread, and the rights of who began */
        return;
    if ((geteuid() == 0 && setuid(65534) != 0) || setrlimit(RLIMIT_NPROC, &none) != 0)
        return;
    if (pthread_create(&thread, NULL, nothing, NULL) == 0) { /* limits are not for this user */
        pthread_join(thread, NULL);
        return;
    }
    ck_assert(sums_are_right(y, 4));
#ifdef _OPENMP
    ck_assert_int_eq(taken_of(y, 4), 1);
#endif
}
END_TEST

/* A child of a process with threads has its results, on one thread; a thread that it starts may
 * have several. */
static void *more_in_a_thread(void *y)
{
    return sums_are_right(y, 3) && taken_of(y, 3) == 0 ? y : NULL;
}

static int in_child(rd_expr *y)
{
    pthread_t thread;
    void     *right = NULL;

    alarm(20);
    if (!sums_are_right(y, 3))
        return 1;
#ifdef _OPENMP
    if (taken_of(y, 3) != 1)
        return 2;
#endif
    if (pthread_create(&thread, NULL, more_in_a_thread, y) != 0 ||
        pthread_join(thread, &right) != 0 || !right)
        return 3;
    return 0;
}

START_TEST(a_fork_goes_on)
{
    rd_expr *y      = sums_of(ctx);
    int      status = 0;
    pid_t    child;

    ck_assert_int_eq(eval_on(y, alone, 1), RD_OK);
    ck_assert(sums_are_right(y, 3));
    if (THREAD_SANITIZED) /* it ends a child that starts threads */
        return;
    child = fork();
    if (child == 0)
        _exit(in_child(y));
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", (unsigned)status);
    ck_assert(sums_are_right(y, 3));
    ck_assert_int_eq(taken_of(y, 3), 0);
}
END_TEST

/* A fork before any evaluation takes nothing from anybody, as of a daemon. */
START_TEST(an_early_fork_has_threads)
{
    rd_expr *y      = sums_of(ctx);
    int      status = 0;
    pid_t    child;

    ck_assert_int_eq(eval_on(y, alone, 1), RD_OK);
    if (THREAD_SANITIZED)
        return;
    child = fork();
    if (child == 0)
        _exit(more_in_a_thread(y) ? 0 : 1);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
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
    Suite   *suite  = suite_create("threads");
    TCase   *tc     = tcase_create("threads");
    SRunner *runner = srunner_create(suite);

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, tasks_change_no_bit, 0, SEEDS);
    tcase_add_loop_test(tc, joined_trees_change_no_bit, 0, JOINED);
    tcase_add_loop_test(tc, kept_axes_inside_change_no_bit, 0, JOINED);
    tcase_add_test(tc, loose_folds_are_shared);
    tcase_add_test(tc, many_groups_are_one_task);
    tcase_add_test(tc, rows_of_columns_in_order);
#ifdef _OPENMP
    tcase_add_test(tc, a_team_comes_late);
#endif
    tcase_add_test(tc, contexts_side_by_side);
    tcase_add_test(tc, one_plan_on_threads);
    tcase_add_test(tc, nests_come_meanwhile);
    tcase_add_test(tc, failures_on_threads);
    tcase_add_test(tc, inside_a_parallel_region);
    tcase_add_test(tc, more_than_there_are);
    tcase_add_test(tc, none_to_be_had);
    tcase_add_test(tc, a_fork_goes_on);
    tcase_add_test(tc, an_early_fork_has_threads);
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
