/* One long row that is put in order is a single step, which hears amid it that the run is cancelled. */
#define _GNU_SOURCE
#include "isa.h"
#include "values.h"
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

/* ---- What is asked of a row ------------------------------------------------------------------ */
static rd_expr *in_order(rd_expr *x)
{
    return rd_sort(x, 0);
}

static rd_expr *falling(rd_expr *x)
{
    return rd_sort(x, 0, .descending = true);
}

static rd_expr *places(rd_expr *x)
{
    return rd_argsort(x, 0);
}

static rd_expr *many_of_it(rd_expr *x)
{
    return rd_top_k(x, rd_shape_of(x).at[0] / 8, 0);
}

static rd_expr *places_of_many(rd_expr *x)
{
    return rd_arg_top_k(x, rd_shape_of(x).at[0] / 8, 0);
}

static rd_expr *five_quantiles(rd_expr *x)
{
    return rd_quantiles(x, RD_QS(0.1, 0.3, 0.5, 0.7, 0.9), RD_ALL);
}

static rd_expr *taken_in_order(rd_expr *x)
{
    return rd_take(x, 0, rd_argsort(x, 0));
}

static rd_expr *(*const asked[])(rd_expr *x) = { in_order,      falling,        places,
                                                 many_of_it,    places_of_many, five_quantiles,
                                                 taken_in_order };
enum { ASKED = sizeof asked / sizeof *asked };

/* ---- Who cancels ----------------------------------------------------------------------------- */
typedef struct canceller {
    rd_ctx     *ctx;
    double      at; /* seconds of this process's time on processors */
    atomic_bool over;
} canceller;

/* Whatever else the machine does. */
static double now(void)
{
    struct timespec at;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static void *cancel_then(void *user)
{
    canceller *const c = user;

    while (!atomic_load(&c->over) && now() < c->at)
        nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
    if (!atomic_load(&c->over))
        rd_cancel(c->ctx);
    return NULL;
}

static double spent(rd_expr *y, int32_t threads, double cancel_after, rd_status *status)
{
    const rd_eval_opts opts  = { .threads = threads };
    const double       begun = now();
    canceller          c     = { .ctx = ctx, .at = begun + cancel_after };
    rd_array           out;
    pthread_t          thread;
    double             taken;

    memset(&out, 0, sizeof out);
    pthread_create(&thread, NULL, cancel_then, &c);
    *status = rd_eval_many(ctx, RD_RESULTS({ y, &out }), &opts);
    taken   = now() - begun;
    atomic_store(&c.over, true);
    pthread_join(thread, NULL);
    rd_array_free(&out);
    return taken;
}

/* ---- Rows ------------------------------------------------------------------------------------ */
enum { MOST = 1 << 21 };
static double wide[MOST];
static float  narrow[MOST];

static void fill(void)
{
    for (int i = 0; i < MOST; i++) {
        const double x = (double)((uint32_t)i * 2654435761U) - 2e9;

        wide[i]   = i % 1000 == 0 ? -0.0 : x;
        narrow[i] = (float)wide[i];
    }
}

/* Cancelled in the first quarter it does not come to the second half.  Who cancels may come late, as everything
 * may on a busy machine: then it is tried again. */
static void hears(rd_expr *y, int32_t threads, const char *isa, int k)
{
    rd_status status;
    double    cancelled = INFINITY, whole = 0;

    for (int turn = 0; turn < 200 && !(cancelled < 0.6 * whole); turn++) {
        whole = spent(y, threads, INFINITY, &status);
        if (status == RD_ERR_CANCELLED) { /* the turn before had ended when it was cancelled */
            rd_error_clear(ctx);
            continue;
        }
        ck_assert_msg(status == RD_OK, "%s", rd_error_text(ctx));
        cancelled = spent(y, threads, whole / 4, &status);
        ck_assert(status == RD_ERR_CANCELLED || status == RD_OK);
        if (status == RD_OK)
            cancelled = INFINITY;
        else
            ck_assert(strstr(rd_error_text(ctx), "cancelled"));
        rd_error_clear(ctx);
    }
    ck_assert_msg(cancelled < 0.6 * whole, "%s, row %d: %g s of %g s", isa, k, cancelled, whole);
}

START_TEST(a_long_row_hears)
{
    fill();
    for (int isa = 0; isa < isa_count(); isa++) {
        const int64_t  n = isa == ISA_SCALAR ? MOST / 8 : MOST;
        rd_expr *const d = rd_wrap(ctx, wide, RD_SHAPE(n)), *f = rd_wrap(ctx, narrow, RD_SHAPE(n));

        isa_begin(ctx, isa);
        for (int k = 0; k < ASKED; k++)
            hears(asked[k](k % 2 ? f : d), 1, isa_name(isa), k);
        isa_end(ctx);
    }
}
END_TEST

/* The context goes on, and so does a row that was left. */
START_TEST(the_next_row_is_right)
{
    static double y[MOST];
    rd_status     status;

    fill();
    (void)spent(rd_sort(rd_wrap(ctx, wide, RD_SHAPE(MOST)), 0), 1, 1e-3, &status);
    rd_error_clear(ctx);
    ck_assert(rd_eval(ctx, rd_sort(rd_wrap(ctx, wide, RD_SHAPE(MOST)), 0),
                      RD_INTO(y, RD_SHAPE(MOST))) == RD_OK);
    for (int i = 1; i < MOST; i++)
        ck_assert(y[i - 1] <= y[i]);
}
END_TEST

/* A task that ends a row sees the cancel first, and takes it: rows of other tasks hear all the same. */
START_TEST(rows_of_several_tasks)
{
    enum { ROWS = 3, ROW = MOST / ROWS };

    fill();
    hears(rd_argsort(rd_wrap(ctx, wide, RD_SHAPE(ROWS, ROW)), 1), 2, "2 threads", 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { a_long_row_hears, the_next_row_is_right, rows_of_several_tasks };

    return run_suite("cancel_rows", tests, COUNT(tests));
}
