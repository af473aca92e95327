/* One long row that is put in order is a single step, which hears amid it that the run is cancelled. */
#define _GNU_SOURCE
#include "core/stop.h"
#include "isa.h"
#include "values.h"
#include <stdatomic.h>
#include <string.h>

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
static atomic_int looks;     /* looks at the flags since the run began, of all threads */
static int        cancel_at; /* the look that cancels; 0: none */

static void count_and_cancel(void)
{
    if (atomic_fetch_add(&looks, 1) + 1 == cancel_at)
        rd_cancel(ctx);
}

/* Evaluates y, which is cancelled at the look `at`, and returns the number of all looks. */
static int looks_of(rd_expr *y, int32_t threads, int at, rd_status *status)
{
    const rd_eval_opts opts = { .threads = threads };
    rd_array           out;

    memset(&out, 0, sizeof out);
    atomic_store(&looks, 0);
    cancel_at = at;
    rd_stop_on_look(count_and_cancel);
    *status = rd_eval_many(ctx, RD_RESULTS({ y, &out }), &opts);
    rd_stop_on_look(NULL);
    rd_array_free(&out);
    return atomic_load(&looks);
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

/* A row of n elements looks at least once in 2^15 of them. Cancelled at any look, each thread ends
 * at the next one. */
static void hears(rd_expr *y, int64_t n, int32_t threads, const char *isa, int k)
{
    rd_status status;
    const int whole = looks_of(y, threads, 0, &status);

    ck_assert_msg(status == RD_OK, "%s", rd_error_text(ctx));
    ck_assert_msg(whole >= n >> 15, "%s, row %d: %d looks", isa, k, whole);
    for (int quarter = 0; quarter < 4; quarter++) {
        const int at = 1 + quarter * (whole - 1) / 4, seen = looks_of(y, threads, at, &status);

        ck_assert_msg(status == RD_ERR_CANCELLED && seen < at + threads,
                      "%s, row %d: cancelled at look %d of %d, %d looks: %s", isa, k, at, whole,
                      seen, rd_error_text(ctx));
        ck_assert(strstr(rd_error_text(ctx), "cancelled"));
        rd_error_clear(ctx);
    }
}

START_TEST(a_long_row_hears)
{
    fill();
    for (int isa = 0; isa < isa_count(); isa++) {
        const int64_t  n = isa == ISA_SCALAR ? MOST / 8 : MOST;
        rd_expr *const d = rd_wrap(ctx, wide, RD_SHAPE(n)), *f = rd_wrap(ctx, narrow, RD_SHAPE(n));

        isa_begin(ctx, isa);
        for (int k = 0; k < ASKED; k++)
            hears(asked[k](k % 2 ? f : d), n, 1, isa_name(isa), k);
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
    (void)looks_of(rd_sort(rd_wrap(ctx, wide, RD_SHAPE(MOST)), 0), 1, 2, &status);
    ck_assert_int_eq(status, RD_ERR_CANCELLED);
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
    hears(rd_argsort(rd_wrap(ctx, wide, RD_SHAPE(ROWS, ROW)), 1), MOST, 2, "2 threads", 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { a_long_row_hears, the_next_row_is_right, rows_of_several_tasks };

    return run_suite("cancel_rows", tests, COUNT(tests));
}
