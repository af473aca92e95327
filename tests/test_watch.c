/* Long evaluations: told how far they are, cancelled, and on files larger than memory. */
#define _DEFAULT_SOURCE
#include "core/clock.h"
#include "core/machine_memory.h"
#include "eval/plan.h"
#include "eval/run/watch.h"
#include "isa.h"
#include "kernels/cpu/product/blas.h"
#include "values.h"
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/vfs.h>
#include <unistd.h>

/* ---- What is asked for ----------------------------------------------------------------------- */
/* One number read over and over: long, in no memory. */
static rd_expr *long_sum(int64_t n)
{
    static const double one = 1;
    return rd_sum(rd_sqrt(rd_wrap(ctx, &one, RD_SHAPE(n, 1000), .strides = RD_STRIDES(0, 0))),
                  RD_ALL);
}

typedef struct told {
    int       calls, stop_at;
    unsigned  sleep;                /* seconds of the first call */
    bool      elsewhere, backwards; /* on another thread; less than before */
    double    done, left;
    pthread_t thread;
} told;

static int tell(void *user, double done, double left)
{
    told *t = user;

    t->elsewhere |= !pthread_equal(pthread_self(), t->thread);
    t->backwards |= done < t->done || done < 0 || done > 1 || !(left >= 0);
    t->done = done;
    t->left = left;
    if (t->calls == 0 && t->sleep)
        sleep(t->sleep);
    return ++t->calls == t->stop_at;
}

static rd_status eval_told(rd_expr *y, double *out, told *t, int32_t threads)
{
    const rd_eval_opts opts = { .progress = tell, .user = t, .threads = threads };

    t->thread = pthread_self();
    return rd_eval_many(ctx, RD_RESULTS({ y, RD_INTO(out, RD_SCALAR) }), &opts);
}

/* ---- Progress -------------------------------------------------------------------------------- */
/* The rows of a sum that is told of more than `calls` times. Nothing is compiled, as the same sum
 * would then take far less time as soon as its compiled loop is there. */
static int64_t lasting(told *t, int32_t threads, int calls)
{
    setenv("RDIM_CODEGEN", "never", 1);
    for (int64_t n = 1 << 15;; n *= 2) {
        double y = 0;

        *t = (told){ 0 };
        ck_assert_msg(eval_told(long_sum(n), &y, t, threads) == RD_OK, "%s", rd_error_text(ctx));
        ck_assert(y == 1e3 * (double)n);
        if (t->calls > calls)
            return n;
        ck_assert(n < INT64_C(1) << 40);
    }
}

START_TEST(progress_grows_to_1)
{
    for (int threads = 1; threads <= 3; threads++) {
        told t;

        lasting(&t, threads, 2);
        ck_assert(!t.elsewhere && !t.backwards);
        ck_assert(t.done == 1 && t.left == 0);
    }
}
END_TEST

START_TEST(short_ones_tell_nothing)
{
    told   t = { 0 };
    double y;

    ck_assert(eval_told(long_sum(1), &y, &t, 1) == RD_OK);
    ck_assert(t.calls == 0 && y == 1000);
}
END_TEST

START_TEST(progress_of_plans)
{
    const rd_eval_opts opts = { .progress = tell,
                                .user     = &(told){ .thread = pthread_self(), .stop_at = 1 } };
    told               t;
    double             y;
    rd_plan           *plan =
        rd_plan_new(ctx, (rd_exprs){ 0 },
                    RD_RESULTS({ long_sum(lasting(&t, 1, 4)), RD_INTO(&y, RD_SCALAR) }), &opts);

    ck_assert(rd_plan_run(plan, NULL, NULL) == RD_ERR_CANCELLED);
    rd_plan_free(plan);
}
END_TEST

/* What is too much for one plan is several, which are told of as one, and cancelled. */
START_TEST(progress_of_parts)
{
    enum { PIECES = 120 };
    static const double row[PIECES + 4] = { 1, 2, 3, 4, 5 };
    told                t;
    const int64_t       n = lasting(&t, 1, 4);
    rd_expr            *piece[PIECES], *x = rd_wrap(ctx, row, RD_SHAPE(PIECES + 4));
    double              y[PIECES];

    for (int k = 0; k < PIECES; k++)
        piece[k] = rd_reshape(
            k == 50 ? long_sum(n) : rd_sum(rd_slice_axis(x, 0, k, k + 3, 1), RD_ALL), RD_SHAPE(1));
    rd_expr *const     all  = rd_concat(0, (rd_exprs){ piece, PIECES });
    const rd_eval_opts opts = { .progress = tell, .user = &t, .threads = 1 };
    rd_plan *const     plan =
        rd_plan_new(ctx, (rd_exprs){ 0 }, RD_RESULTS({ all, RD_INTO(y, RD_SHAPE(PIECES)) }), &opts);

    ck_assert_msg(plan && plan->parts, "%s", plan ? "one plan" : rd_error_text(ctx));
    t = (told){ .thread = pthread_self() };
    ck_assert_msg(rd_plan_run(plan, NULL, NULL) == RD_OK, "%s", rd_error_text(ctx));
    ck_assert(t.calls > 1 && !t.elsewhere && !t.backwards && t.done == 1 && t.left == 0);
    ck_assert(y[0] == 6 && y[1] == 9 && y[50] == 1e3 * (double)n && y[PIECES - 1] == 0);
    t = (told){ .thread = pthread_self(), .stop_at = 1 };
    ck_assert(rd_plan_run(plan, NULL, NULL) == RD_ERR_CANCELLED && t.calls == 1);
    rd_plan_free(plan);
}
END_TEST

/* A plan that is kept tells who asks, not who asked first. */
START_TEST(kept_plans_tell_who_asks)
{
    told          t, other = { 0 };
    const int64_t n      = lasting(&t, 1, 4);
    const int     before = t.calls;
    double        y;

    ck_assert(eval_told(long_sum(n), &y, &other, 1) == RD_OK);
    ck_assert(other.calls > 0 && t.calls == before);
}
END_TEST

/* ---- Cancelling ------------------------------------------------------------------------------ */
START_TEST(progress_cancels)
{
    for (int threads = 1; threads <= 2; threads++) {
        told    t;
        int64_t n = lasting(&t, threads, 4);
        double  y;

        t = (told){ .stop_at = 1 };
        ck_assert(eval_told(long_sum(n), &y, &t, threads) == RD_ERR_CANCELLED);
        ck_assert(t.calls == 1 && t.done < 1);
        ck_assert(strstr(rd_error_text(ctx), "cancelled"));
        rd_error_clear(ctx);
        t = (told){ 0 };
        ck_assert(eval_told(long_sum(n), &y, &t, threads) == RD_OK);
        ck_assert(y == 1e3 * (double)n);
    }
}
END_TEST

START_TEST(the_next_one_is_cancelled)
{
    const float one = 1;
    float       y   = 0;

    rd_cancel(NULL);
    rd_cancel(ctx);
    rd_cancel(ctx);
    ck_assert(rd_eval(ctx, rd_neg(rd_wrap(ctx, &one, RD_SHAPE(1))), RD_INTO(&y, RD_SHAPE(1))) ==
              RD_ERR_CANCELLED);
    rd_error_clear(ctx);
    ck_assert(rd_eval(ctx, rd_neg(rd_wrap(ctx, &one, RD_SHAPE(1))), RD_INTO(&y, RD_SHAPE(1))) ==
              RD_OK);
    ck_assert(y == -1);
}
END_TEST

/* Before it runs, whatever it consists of. */
START_TEST(the_next_run_is_cancelled)
{
    static const float ones[4] = { 1, 1, 1, 1 };
    float              y[4]    = { 0 };
    rd_plan *const     plan    = rd_plan_new(
               ctx, (rd_exprs){ 0 },
               RD_RESULTS({ rd_neg(rd_wrap(ctx, ones, RD_SHAPE(4))), RD_INTO(y, RD_SHAPE(4)) }), NULL);

    ck_assert_msg(plan, "%s", rd_error_text(ctx));
    rd_cancel(ctx);
    ck_assert(rd_plan_run(plan, NULL, NULL) == RD_ERR_CANCELLED && y[0] == 0);
    rd_error_clear(ctx);
    ck_assert(rd_plan_run(plan, NULL, NULL) == RD_OK && y[0] == -1 && y[3] == -1);
    rd_plan_free(plan);
}
END_TEST

static atomic_llong  called;
static const int64_t CANCEL_AT = 100000;

static void on_signal(int number)
{
    (void)number;
    rd_cancel(ctx);
}

static float count_and_cancel(float x)
{
    if (atomic_fetch_add(&called, 1) == CANCEL_AT)
        raise(SIGUSR1);
    return x;
}

/* From a signal handler, amid tasks of several threads: the others stop as well. */
START_TEST(signals_cancel)
{
    enum { ROWS = 1 << 20, ROW = 1000 };
    static float data[ROWS + ROW];
    rd_expr     *x = rd_wrap(ctx, data, RD_SHAPE(ROWS, ROW), .strides = RD_STRIDES(1, 1));
    rd_expr     *y = rd_map(x, count_and_cancel);

    signal(SIGUSR1, on_signal);
    for (int threads = 1; threads <= 3; threads++) {
        const rd_eval_opts opts = { .threads = threads };
        double             sum;

        atomic_store(&called, 0);
        ck_assert(rd_eval_many(
                      ctx,
                      RD_RESULTS({ rd_sum(y, RD_ALL, .type = RD_F64), RD_INTO(&sum, RD_SCALAR) }),
                      &opts) == RD_ERR_CANCELLED);
        ck_assert(atomic_load(&called) > CANCEL_AT &&
                  atomic_load(&called) < (int64_t)ROWS * ROW / 2);
        rd_error_clear(ctx);
    }
}
END_TEST

/* A library's calls cannot be stopped: a sum of many products, or along many steps, is many calls,
 * which begin at whole blocks for tasks and may end between two calls. */
START_TEST(products_are_cancelled)
{
    enum { N = 128, MOST_PARTS = 1 << 13 };
    static double x[N * N + MOST_PARTS], y[N * N];
    rd_status     got = rd_blas_name() ? RD_OK : RD_ERR_CANCELLED;

    for (int parts = 256; got == RD_OK; parts *= 2) {
        told               t    = { .stop_at = 1, .thread = pthread_self() };
        const rd_eval_opts opts = { .progress = tell, .user = &t, .threads = 1 };
        rd_expr *a = rd_wrap(ctx, x, RD_SHAPE(parts, N, N), .strides = RD_STRIDES(1, N, 1));

        ck_assert_int_le(parts, MOST_PARTS);
        got = rd_eval_many(
            ctx, RD_RESULTS({ rd_einsum("bik,bkj->ij", a, a), RD_INTO(y, RD_SHAPE(N, N)) }), &opts);
        ck_assert(got == RD_OK || (t.calls == 1 && t.done < 1));
    }
    ck_assert_int_eq(got, RD_ERR_CANCELLED);
    rd_error_clear(ctx);
}
END_TEST

START_TEST(long_products_are_many_calls)
{
    enum { M = 2048, K = 30000 };
    static float   x[1], y[1]; /* nobody reads them */
    rd_expr       *a = rd_wrap(ctx, x, RD_SHAPE(M, K)), *b = rd_wrap(ctx, x, RD_SHAPE(K, M));
    rd_plan *const plan = rd_plan_new(
        ctx, (rd_exprs){ 0 }, RD_RESULTS({ rd_matmul(a, b), RD_INTO(y, RD_SHAPE(M, M)) }), NULL);
    const rd_program *const p = plan ? &plan->program[0] : NULL;

    ck_assert_msg(p, "%s", rd_error_text(ctx));
    if (rd_blas_name()) {
        ck_assert(p->product && p->step == 1);
        ck_assert_int_ge(p->grain, K / 2500);
        ck_assert_int_eq(p->axis_extent[p->root] % p->grain, 0);
    }
    rd_plan_free(plan);
}
END_TEST

/* ---- Users' functions ------------------------------------------------------------------------ */
enum { SLOW = 1 << 20 };
static const int64_t SLOW_CANCEL_AT = 5000;

/* Two microseconds; one of the first calls cancels. */
static double slowly(double x)
{
    const double begun = rd_seconds();

    if (atomic_fetch_add(&called, 1) == SLOW_CANCEL_AT)
        rd_cancel(ctx);
    while (rd_seconds() - begun < 2e-6)
        ;
    return x;
}

static const char *slow_block(void *user, int64_t n, const void *const *in, void *out)
{
    const double *x = in[0];
    double       *y = out;

    (void)user;
    for (int64_t i = 0; i < n; i++)
        y[i] = slowly(x[i]);
    return NULL;
}

RD_REDUCER(slow_sum, double, double, 1, (double s;), (s->s = 0;), (s->s += slowly(x);),
           (a->s += b->s;), (y[0] = s->s;))

static rd_expr *slow_case(rd_expr *x, int k)
{
    static const rd_fn by_block = { .size  = sizeof by_block,
                                    .name  = "slow",
                                    .arity = 1,
                                    .in    = RD_F64,
                                    .out   = RD_F64,
                                    .block = slow_block };
    rd_expr           *rows     = rd_reshape(x, RD_SHAPE(SLOW / 64, 64));

    switch (k) {
    case 0: return rd_map(x, slowly);
    case 1: return rd_map(x, &by_block);
    case 2: return rd_reduce(x, slow_sum, RD_ALL);
    case 3: return rd_reduce(rows, slow_sum, RD_DIMS(1));
    case 4: return rd_scan(rd_map(x, slowly), "sum", RD_DIMS(0), .reverse = true);
    default: return rd_sum(rd_map(rows, slowly), RD_DIMS(0));
    }
}

/* They may take any time: what has some thousand elements runs in steps, which are timed. */
START_TEST(slow_functions_are_cancelled)
{
    static double x[SLOW];

    for (int threads = 1; threads <= 2; threads++)
        for (int k = 0; k < 6; k++) {
            const rd_eval_opts opts = { .threads = threads };
            rd_array           out  = { 0 };

            atomic_store(&called, 0);
            ck_assert_int_eq(
                rd_eval_many(ctx,
                             RD_RESULTS({ slow_case(rd_wrap(ctx, x, RD_SHAPE(SLOW)), k), &out }),
                             &opts),
                RD_ERR_CANCELLED);
            ck_assert_msg(atomic_load(&called) < 40000, "case %d on %d threads: %lld calls", k,
                          threads, (long long)atomic_load(&called));
            rd_error_clear(ctx);
        }
}
END_TEST

/* It had ended before anybody saw it; the next one is none of its business. */
START_TEST(short_ones_are_cancelled)
{
    const double x[4] = { 1, 2, 3, 4 };
    double       y[4] = { 0 };
    rd_expr     *e    = rd_map(rd_wrap(ctx, x, RD_SHAPE(4)), slowly);

    for (int k = 0; k < 3; k++) {
        atomic_store(&called, SLOW_CANCEL_AT);
        ck_assert_int_eq(rd_eval(ctx, e, RD_INTO(y, RD_SHAPE(4))), RD_ERR_CANCELLED);
        rd_error_clear(ctx);
        ck_assert_int_eq(rd_eval(ctx, e, RD_INTO(y, RD_SHAPE(4))), RD_OK);
        ck_assert(y[3] == 4);
    }
}
END_TEST

static double as_it_is(double x)
{
    return x;
}

static void fill_by_isa(int isa, rd_expr *y, double *out, int64_t n)
{
    rd_plan *plan;

    isa_begin(ctx, isa);
    plan = rd_plan_new(ctx, (rd_exprs){ 0 }, RD_RESULTS({ y, RD_INTO(out, RD_SHAPE(n)) }), NULL);
    ck_assert_msg(plan, "%s", rd_error_text(ctx));
    ck_assert_int_eq(rd_plan_run(plan, NULL, NULL), RD_OK);
    rd_plan_free(plan);
    isa_end(ctx);
}

/* Scans that run backwards in steps, which users' functions bring about, have the bits of those that
 * run at once. */
START_TEST(backwards_in_steps)
{
    enum { N = 100003 };
    static double     x[N], once[N], steps[N];
    static const bool exclusive[] = { false, true };

    for (int i = 0; i < N; i++)
        x[i] = sin(i) * 1e3;
    rd_expr *e = rd_wrap(ctx, x, RD_SHAPE(N));
    for (int k = 0; k < 2 * isa_count(); k++) {
        rd_expr *a = rd_scan(e, "sum", RD_DIMS(0), .reverse = true, .exclusive = exclusive[k % 2]);
        rd_expr *b = rd_scan(rd_map(e, as_it_is), "sum", RD_DIMS(0), .reverse = true,
                             .exclusive = exclusive[k % 2]);

        fill_by_isa(0, a, once, N);
        fill_by_isa(k / 2, b, steps, N);
        ck_assert(memcmp(once, steps, sizeof once) == 0);
    }
}
END_TEST

/* ---- Plans ----------------------------------------------------------------------------------- */
static double when_cancelled;

static void on_alarm(int number)
{
    (void)number;
    when_cancelled = rd_seconds();
    rd_cancel(ctx);
}

/* Whether it is planned or runs when that comes. */
START_TEST(planning_is_cancelled)
{
    static double    x[1000], y[1000];
    struct itimerval soon = { .it_value = { 0, 50000 } };
    rd_status        got  = RD_OK;

    signal(SIGALRM, on_alarm);
    for (int n = 2000; got == RD_OK; n *= 2) {
        rd_expr *e = rd_wrap(ctx, x, RD_SHAPE(1000));

        ck_assert_int_lt(n, 1 << 24);
        for (int k = 0; k < n; k++)
            e = rd_add(e, rd_exp(e));
        when_cancelled = rd_seconds() + 1e9;
        setitimer(ITIMER_REAL, &soon, NULL);
        got = rd_eval(ctx, e, RD_INTO(y, RD_SHAPE(1000)));
    }
    ck_assert_int_eq(got, RD_ERR_CANCELLED);
    ck_assert_msg(rd_seconds() - when_cancelled < 2, "went on for %g s",
                  rd_seconds() - when_cancelled);
}
END_TEST

/* ---- Files larger than memory ---------------------------------------------------------------- */
/* What the library takes the machine's memory for, so that files need not be larger than that. */
static const int64_t MEMORY = INT64_C(1) << 30;

static int64_t most_memory(void)
{
    struct rusage use;

    getrusage(RUSAGE_SELF, &use);
    return (int64_t)use.ru_maxrss * 1024;
}

/* Where a file may have holes: those of one in memory become memory as they are read. */
static const char *place_of_files(void)
{
    enum { TMPFS = 0x01021994 };
    const char   *place = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
    struct statfs facts;

    return statfs(place, &facts) == 0 && facts.f_type == TMPFS ? "." : place;
}

enum { COLUMNS = 1 << 20 };

/* Row r is 0, but in its last column r: all else is holes. */
static void write_sparse(const char *path, int64_t rows)
{
    char      header[128];
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600), begin = 10;

    ck_assert(fd >= 0);
    memset(header, ' ', sizeof header);
    memcpy(header, "\x93NUMPY\x01\x00\x76\x00", (size_t)begin);
    const int n               = snprintf(header + begin, sizeof header - (size_t)begin,
                                         "{'descr': '<f4', 'fortran_order': False, 'shape': (%lld, %d), }",
                                         (long long)rows, COLUMNS);
    header[begin + n]         = ' ';
    header[sizeof header - 1] = '\n';
    ck_assert(pwrite(fd, header, sizeof header, 0) == (ssize_t)sizeof header);
    ck_assert(ftruncate(fd, (off_t)((int64_t)sizeof header + 4 * rows * COLUMNS)) == 0);
    for (int64_t r = 0; r < rows; r++) {
        const float last = (float)r;
        ck_assert(pwrite(fd, &last, sizeof last,
                         (off_t)((int64_t)sizeof header + 4 * ((r + 1) * COLUMNS - 1))) ==
                  (ssize_t)sizeof last);
    }
    ck_assert(close(fd) == 0);
}

/* The thread sanitizer keeps notes of all that is read, larger than that: no file is large for
 * it. */
#ifdef __SANITIZE_THREAD__
enum { NOTES = 1 };
#else
enum { NOTES = 0 };
#endif

/* So much of the memory as a file, all of it read: the process grows by less than `most`. */
static void read_large(double size, int64_t most, int32_t threads, unsigned seconds)
{
    const int64_t before = most_memory();
    /* by sanitizers it takes three times as long; a file of less than a fourth is not large */
    const double  part    = SANITIZED && size > 1 ? size / 4 : size;
    const int64_t rows    = NOTES ? 16 : (int64_t)(part * (double)MEMORY) / 4 / COLUMNS;
    float        *maximum = malloc((size_t)rows * sizeof *maximum);
    char          path[300];
    double        sum;
    told          t = { .thread = pthread_self(), .sleep = NOTES ? 0 : seconds };

    snprintf(path, sizeof path, "%s/rdim_watch_%ld.npy", place_of_files(), (long)getpid());
    write_sparse(path, rows);
    rd_machine_memory_is(MEMORY);
    rd_expr *x = rd_load(ctx, path);
    unlink(path);
    ck_assert_msg(x && maximum, "%s", rd_error_text(ctx));
    const rd_eval_opts opts = { .progress = tell, .user = &t, .threads = threads };
    const rd_status    got =
        rd_eval_many(ctx,
                     RD_RESULTS({ rd_max(x, RD_DIMS(1)), RD_INTO(maximum, RD_SHAPE(rows)) },
                                { rd_sum(x, RD_ALL, .type = RD_F64), RD_INTO(&sum, RD_SCALAR) }),
                     &opts);
    ck_assert_msg(got == RD_OK, "%s", rd_error_text(ctx));
    for (int64_t r = 0; r < rows; r++)
        ck_assert(maximum[r] == (float)r);
    ck_assert(sum == (double)(rows * (rows - 1) / 2));
    ck_assert(NOTES || (t.calls > 1 && !t.backwards && t.done == 1));
    ck_assert_msg(NOTES || most_memory() - before < most, "%lld of %lld bytes",
                  (long long)(most_memory() - before), (long long)most);
    free(maximum);
}

/* Twice the memory (half of it by sanitizers) in an eighth of it. */
START_TEST(files_larger_than_memory)
{
    read_large(2, MEMORY / 8, 0, 0);
}
END_TEST

/* Enough for its pages to be given back, while the calling thread is kept by who listens: in two
 * seconds the other one reads some gigabytes. */
START_TEST(files_while_one_listens)
{
    read_large(4, MEMORY / 2, 2, 2);
}
END_TEST

/* ---- Parts of panels --------------------------------------------------------------------------- */
enum { POINTS = 1797, FEATURES = 64 };
static uint8_t at[POINTS][FEATURES];

static float least_of(int i)
{
    float least = INFINITY;

    for (int k = 0; k < POINTS; k++) {
        float sum = 0;

        for (int f = 0; f < FEATURES; f++)
            sum += (float)((at[i][f] - at[k][f]) * (at[i][f] - at[k][f])); /* exact */
        least = k != i && sum < least ? sum : least;
    }
    return least;
}

static int64_t longest_step(const rd_plan *plan)
{
    int64_t most = 0;

    for (int s = 0; s < plan->n_stage; s++)
        if (plan->program[s].work > 4 * RD_STEP_WORK)
            most = plan->program[s].step > most ? plan->program[s].step : most;
    return most;
}

/* One panel holds all points, whose number is no multiple of anything: it is cut all the same, so
 * that it can be cancelled and taken up.  A total behind it is a stage of its own. */
START_TEST(panels_run_in_parts)
{
    static float least[POINTS];
    float        farthest = 0, want = 0;

    for (int i = 0; i < POINTS * FEATURES; i++)
        at[i / FEATURES][i % FEATURES] = (uint8_t)((unsigned)i * 2654435761U >> 28);
    rd_expr *x      = rd_cast(rd_wrap(ctx, &at[0][0], RD_SHAPE(POINTS, FEATURES)), RD_F32);
    rd_expr *d      = rd_sum(rd_square(rd_sub(rd_expand(x, 1), rd_expand(x, 0))), RD_DIMS(-1));
    rd_expr *others = rd_ne(rd_coord(d, 0), rd_coord(d, 1));
    rd_expr *y      = rd_min(d, RD_DIMS(1), .where = others);
    rd_plan *plan   = rd_plan_new(ctx, (rd_exprs){ 0 },
                                  RD_RESULTS({ y, RD_INTO(least, RD_SHAPE(POINTS)) },
                                             { rd_max(y, RD_ALL), RD_INTO(&farthest, RD_SCALAR) }),
                                  NULL);

    ck_assert_msg(plan, "%s", rd_error_text(ctx));
    ck_assert_int_ge(longest_step(plan), 1);
    ck_assert_int_le(longest_step(plan), 512);
    ck_assert_int_eq(rd_plan_run(plan, NULL, NULL), RD_OK);
    for (int i = 0; i < POINTS; i += i % 512 == 511 ? 1 : 127)
        ck_assert(least[i] == least_of(i));
    for (int i = 0; i < POINTS; i++)
        want = least[i] > want ? least[i] : want;
    ck_assert(farthest == want);
    rd_plan_free(plan);
}
END_TEST

/* A step of rows that strips go along is whole strips, though fewer rows would be work enough. */
START_TEST(steps_are_whole_strips)
{
    enum { N = 700 };
    static float   x[1], y[1]; /* nobody reads them */
    rd_expr *const a = rd_wrap(ctx, x, RD_SHAPE(N, N));
    rd_expr *const d = rd_abs(rd_sub(rd_expand(a, 2), rd_expand(a, 0)));
    rd_plan *const plan =
        rd_plan_new(ctx, (rd_exprs){ 0 },
                    RD_RESULTS({ rd_sum(d, RD_DIMS(1)), RD_INTO(y, RD_SHAPE(N, N)) }), NULL);

    ck_assert_msg(plan, "%s", rd_error_text(ctx));
    ck_assert_int_gt(longest_step(plan), 0);
    ck_assert_int_eq(longest_step(plan) % 64, 0);
    rd_plan_free(plan);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        progress_grows_to_1,       short_ones_tell_nothing,      progress_of_plans,
        progress_of_parts,         kept_plans_tell_who_asks,     progress_cancels,
        the_next_one_is_cancelled, the_next_run_is_cancelled,    signals_cancel,
        products_are_cancelled,    long_products_are_many_calls, slow_functions_are_cancelled,
        short_ones_are_cancelled,  backwards_in_steps,           planning_is_cancelled,
        files_larger_than_memory,  files_while_one_listens,      panels_run_in_parts,
        steps_are_whole_strips
    };

    return run_suite("watch", tests, COUNT(tests));
}
