/* What is asked for is all that is read: elements loaded are counted, and pages around them are
 * forbidden. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "core/machine_memory.h"
#include "eval/plan.h"
#include "values.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- Expressions of a matrix, and the part of them that is asked for ------------------------- */
typedef rd_expr *build(rd_expr *x);

static rd_expr *sum_rows(rd_expr *x)
{
    return rd_sum(x, RD_DIMS(1));
}

static rd_expr *sum_columns(rd_expr *x)
{
    return rd_sum(rd_transpose(x), RD_DIMS(0));
}

static rd_expr *mean_rows(rd_expr *x)
{
    return rd_mean(rd_square(x), RD_DIMS(1));
}

static rd_expr *var_rows(rd_expr *x)
{
    return rd_var(x, RD_DIMS(1));
}

static rd_expr *argmax_rows(rd_expr *x)
{
    return rd_argmax(x, RD_DIMS(1));
}

static rd_expr *logsumexp_rows(rd_expr *x)
{
    return rd_logsumexp(x, RD_DIMS(1));
}

static rd_expr *softmax(rd_expr *x)
{
    rd_expr *e = rd_exp(rd_sub(x, rd_max(x, RD_KEEP(1))));

    return rd_div(e, rd_sum(e, RD_KEEP(1)));
}

static rd_expr *centred(rd_expr *x)
{
    return rd_sub(x, rd_mean(x, RD_KEEP(1)));
}

static rd_expr *cumsum(rd_expr *x)
{
    return rd_scan(x, "sum", RD_DIMS(1));
}

static rd_expr *window_max(rd_expr *x)
{
    return rd_max(rd_window(x, 1, 3, 1), RD_DIMS(-1));
}

static rd_expr *centred_cumsum(rd_expr *x)
{
    return rd_scan(centred(x), "sum", RD_DIMS(1), .reverse = true);
}

static rd_expr *reshaped(rd_expr *x)
{
    const rd_shape s = rd_shape_of(x);

    return rd_sum(rd_reshape(rd_exp(x), RD_SHAPE(s.at[0], 2, s.at[1] / 2)), RD_DIMS(2));
}

static rd_expr *joined(rd_expr *x)
{
    return rd_sum(rd_concat(0, RD_EXPRS(x, rd_neg(x))), RD_DIMS(1));
}

static rd_expr *joined_rows(rd_expr *x)
{
    return rd_sum(rd_concat(1, RD_EXPRS(x, rd_neg(x))), RD_DIMS(1));
}

static rd_expr *where_rows(rd_expr *x)
{
    return rd_sum(x, RD_DIMS(1), .where = rd_gt(x, rd_max(rd_abs(x), RD_KEEP(1))));
}

/* How often each element of the row may be loaded: once for each pass over it. */
static const struct {
    const char *what;
    build      *build;
    int         loads;
} rows[] = {
    { "sum", sum_rows, 1 },
    { "sum over 0", sum_columns, 1 },
    { "mean of squares", mean_rows, 1 },
    { "var", var_rows, 2 },
    { "argmax", argmax_rows, 1 },
    { "logsumexp", logsumexp_rows, 2 },
    { "softmax", softmax, 4 },
    { "x - mean(x)", centred, 2 },
    { "cumsum", cumsum, 1 },
    { "reverse cumsum of x - mean(x)", centred_cumsum, 2 },
    { "max of windows of 3", window_max, 3 },
    { "sum of a reshape", reshaped, 1 },
    { "sum where", where_rows, 2 },
    { "sum of rows joined", joined_rows, 4 }, /* both parts, stored, and read again */
    { "sum of a concatenation", joined, 1 },
};

/* BETWEEN: a reduction that tasks share is an array of one element until the next stage reads
 * it. */
enum { ROW = 5, BETWEEN = 2 };

static const rd_traversal orders[] = { RD_TRAVERSE_AUTO, RD_TRAVERSE_GREEDY, RD_TRAVERSE_LAZY };

/* Elements that evaluating the results loads. */
static int64_t loads_of(rd_results results, const rd_eval_opts *opts)
{
    rd_plan     *plan  = rd_plan_make(ctx, (rd_exprs){ 0 }, results, opts);
    rd_run_stats stats = { 0 };

    ck_assert_msg(plan && rd_plan_execute(plan, NULL, NULL, NULL, &stats) == RD_OK, "%s",
                  rd_error_text(ctx));
    rd_plan_free(plan);
    return stats.loads;
}

static int64_t loads_of_one(rd_expr *y, rd_traversal traversal)
{
    static double memory[1 << 16];
    rd_array      out  = { .data = memory, .type = rd_type_of(y), .shape = rd_shape_of(y) };
    rd_eval_opts  opts = { .traversal = traversal };

    return loads_of(RD_RESULTS({ y, &out }), &opts);
}

static double *numbers(int64_t n)
{
    double *x = malloc((size_t)n * sizeof *x);

    for (int64_t i = 0; i < n; i++)
        x[i] = (double)(i * 7 % 31);
    return x;
}

/* ---- One row, counted ------------------------------------------------------------------------ */
START_TEST(one_row)
{
    enum { COLUMNS = 300, FEW = 10, MANY = 400 };
    double  *data = numbers(MANY * COLUMNS);
    rd_expr *few  = rd_wrap(ctx, data, RD_SHAPE(FEW, COLUMNS)),
            *many = rd_wrap(ctx, data, RD_SHAPE(MANY, COLUMNS));

    for (size_t k = 0; k < COUNT(rows); k++)
        for (size_t o = 0; o < COUNT(orders); o++) {
            const int64_t a = loads_of_one(rd_select(rows[k].build(few), 0, ROW), orders[o]);
            const int64_t b = loads_of_one(rd_select(rows[k].build(many), 0, ROW), orders[o]);

            ck_assert_msg(a == b, "%s, traversal %d: %d loads of 10 rows, %d of 400", rows[k].what,
                          (int)orders[o], (int)a, (int)b);
            ck_assert_msg(b <= rows[k].loads * COLUMNS + BETWEEN,
                          "%s, traversal %d: %d loads of a row of %d", rows[k].what, (int)orders[o],
                          (int)b, COLUMNS);
        }
    free(data);
}
END_TEST

/* Not of a concatenation along the same axis: an index may point into any part, so it is stored. */
START_TEST(one_row_by_a_take)
{
    enum { COLUMNS = 300, FEW = 10, MANY = 400 };
    static const int64_t which[2] = { ROW, 2 };
    double              *data     = numbers(MANY * COLUMNS);
    rd_expr             *i        = rd_wrap(ctx, which, RD_SHAPE(2));
    rd_expr             *few      = rd_wrap(ctx, data, RD_SHAPE(FEW, COLUMNS)),
            *many                 = rd_wrap(ctx, data, RD_SHAPE(MANY, COLUMNS));

    for (size_t k = 0; k < COUNT(rows) && rows[k].build != joined; k++) {
        const int64_t a = loads_of_one(rd_take(rows[k].build(few), 0, i), RD_TRAVERSE_AUTO);
        const int64_t b = loads_of_one(rd_take(rows[k].build(many), 0, i), RD_TRAVERSE_AUTO);

        ck_assert_msg(a == b, "%s: %d loads of 10 rows, %d of 400", rows[k].what, (int)a, (int)b);
    }
    free(data);
}
END_TEST

START_TEST(one_element)
{
    enum { COLUMNS = 64, ALL = 500 };
    static double memory;
    double       *data = numbers(ALL * COLUMNS);
    rd_expr      *x    = rd_wrap(ctx, data, RD_SHAPE(ALL, COLUMNS));
    rd_array      out  = { .data = &memory, .type = RD_F64 };

    rd_expr *maps   = rd_add(rd_transpose(rd_mul(x, x)), rd_num(ctx, 1));
    rd_expr *window = rd_sum(rd_window(rd_exp(x), 0, 3, 1), RD_DIMS(-1));
    ck_assert_int_le(loads_of(RD_RESULTS({ rd_slice(maps, "7, 9"), &out }), NULL), 2);
    ck_assert_int_le(loads_of(RD_RESULTS({ rd_slice(window, "7, 9"), &out }), NULL), 3);
    ck_assert_int_le(
        loads_of(RD_RESULTS({ rd_slice(rd_mean(window, RD_DIMS(1)), "9"), &out }), NULL),
        3 * COLUMNS + BETWEEN);
    free(data);
}
END_TEST

START_TEST(one_row_of_pair_sums)
{
    enum { POINTS = 200, D = 3 };
    double *data = numbers(2 * POINTS * D);
    int64_t loads[2];

    for (int k = 0; k < 2; k++) {
        const int64_t m = k ? POINTS : 20;
        rd_expr      *x = rd_wrap(ctx, data, RD_SHAPE(m, D)),
                *y      = rd_wrap(ctx, data + POINTS, RD_SHAPE(POINTS, D));
        rd_expr *d2     = rd_sum(rd_square(rd_sub(rd_expand(x, 1), rd_expand(y, 0))), RD_DIMS(-1));
        rd_expr *s      = rd_sum(rd_exp(rd_neg(d2)), RD_DIMS(1));

        loads[k] = loads_of_one(rd_select(s, 0, ROW), RD_TRAVERSE_AUTO);
    }
    ck_assert_int_eq(loads[0], loads[1]);
    ck_assert_int_le(loads[1], 2 * POINTS * D + BETWEEN);
    free(data);
}
END_TEST

/* ---- The first of bools ----------------------------------------------------------------------- */
/* Whatever the order of memory, the place is that of a loop that breaks; along memory no more is read
 * than what is looked at together. */
START_TEST(first_of_bools)
{
    enum { ROWS = 1024, COLUMNS = 512, N = ROWS * COLUMNS, TOGETHER = 70000 };
    static const int64_t at[] = { 0, 1, 63, 64, 100000, 262143, 300001, N - 1, N };
    static bool          x[N];

    for (size_t k = 0; k < COUNT(at); k++) {
        for (int64_t i = 0; i < N; i++)
            x[i] = i == at[k] || (i > at[k] && i % 3 == 0);
        int64_t        last = -1, out = -1, first = at[k] < N ? at[k] : 0, column_first = 0;
        const rd_shape shape = RD_SHAPE(ROWS, COLUMNS);
        rd_expr *const m = rd_wrap(ctx, x, shape), *const turned = rd_transpose(m);
        rd_expr *const y      = rd_argmax(m, RD_ALL);
        rd_array       result = { .data = &out, .type = RD_I64 };

        for (int64_t i = N; i-- > 0;)
            last = x[i] ? i : last;
        ck_assert_int_eq(last < 0 ? 0 : last, first);
        for (int64_t i = N; i-- > 0;)
            column_first = x[i % ROWS * COLUMNS + i / ROWS] ? i : column_first;
        const int64_t loads = loads_of(RD_RESULTS({ y, &result }), &(rd_eval_opts){ .threads = 1 });

        ck_assert_int_eq(out, first);
        ck_assert_msg(loads <= (at[k] < N ? at[k] + TOGETHER : N), "%d loads, the first is %d",
                      (int)loads, (int)at[k]);
        loads_of(RD_RESULTS({ rd_argmin(rd_not(m), RD_ALL), &result }), NULL);
        ck_assert_int_eq(out, first);
        loads_of(RD_RESULTS({ rd_argmax(turned, RD_ALL), &result }), NULL);
        ck_assert_int_eq(out, column_first);
        loads_of(RD_RESULTS({ rd_argmax(rd_flip(rd_reshape(m, RD_SHAPE(N)), RD_DIMS(0)), RD_ALL),
                              &result }),
                 NULL);
        ck_assert_int_eq(out, at[k] == N ? 0 : x[N - 1] ? 0 : x[N - 2] ? 1 : 2);
        loads_of(RD_RESULTS({ rd_argmax(m, RD_ALL, .where = rd_gt(rd_coord(m, 0), rd_int(ctx, 2))),
                              &result }),
                 NULL);
        int64_t masked = 3 * COLUMNS;

        while (masked < N && !x[masked])
            masked++;
        ck_assert_int_eq(out, masked < N ? masked : 3 * COLUMNS);
    }
}
END_TEST

/* ---- Larger than memory ----------------------------------------------------------------------- */
/* What is read from a file that memory does not keep is read in its order, once a pass: rows, not panels
 * of columns; the bits are the same. */
START_TEST(larger_than_memory)
{
    enum { ROWS = 300, COLUMNS = 40000 };
    static float   y[2][COLUMNS];
    float         *x = malloc(sizeof *x * ROWS * COLUMNS);
    rd_expr *const m = rd_wrap(ctx, x, RD_SHAPE(ROWS, COLUMNS));
    const char    *text[2];

    for (int64_t i = 0; i < ROWS * COLUMNS; i++)
        x[i] = (float)(i * 7919 % 10007) / 100;
    for (int k = 0; k < 2; k++) {
        rd_expr *const mean = rd_mean(m, RD_DIMS(0));
        rd_array       out  = { .data = y[k], .type = RD_F32, .shape = RD_SHAPE(COLUMNS) };

        rd_machine_memory_is(k ? 1 << 20 : 0);
        text[k] = rd_explain(ctx, RD_RESULTS({ mean, NULL }), NULL);
        loads_of(RD_RESULTS({ mean, &out }), NULL);
    }
    rd_machine_memory_is(0);
    ck_assert_ptr_nonnull(strstr(text[0], "panel"));
    ck_assert_msg(!strstr(text[1], "panel") && strstr(text[1], "stage 0: parallel blocks of"), "%s",
                  text[1]);
    ck_assert_int_eq(memcmp(y[0], y[1], sizeof y[0]), 0);
    free(x);
}
END_TEST

/* Of a megabyte nobody asks how much memory there is, unless a test has said that it is little. */
START_TEST(half_of_memory)
{
    ck_assert(!rd_is_half_of_memory(1e6) && rd_is_half_of_memory(1e18));
    rd_machine_memory_is(1 << 20);
    ck_assert(rd_is_half_of_memory(1e6) && !rd_is_half_of_memory(1e5));
    rd_machine_memory_is(0);
}
END_TEST

/* But partial results of many millions of columns are a memory of their own. */
START_TEST(larger_than_memory_in_panels)
{
    enum { ROWS = 4, COLUMNS = 40 << 20 };
    float         *x    = malloc(sizeof *x * ROWS * COLUMNS); /* nobody reads it */
    rd_expr *const mean = rd_mean(rd_wrap(ctx, x, RD_SHAPE(ROWS, COLUMNS)), RD_DIMS(0));
    const char    *text;

    rd_machine_memory_is(1 << 20);
    text = rd_explain(ctx, RD_RESULTS({ mean, NULL }), NULL);
    rd_machine_memory_is(0);
    ck_assert_msg(strstr(text, "panel") != NULL, "%s", text);
    free(x);
}
END_TEST

/* ---- One row, all others forbidden ----------------------------------------------------------- */
START_TEST(forbidden_pages)
{
    enum { PAGES = 9 };
    const size_t  page    = (size_t)sysconf(_SC_PAGESIZE);
    const int64_t columns = (int64_t)(page / sizeof(double));
    char         *memory  = mmap(NULL, PAGES * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    rd_expr      *x;

    ck_assert(memory != MAP_FAILED &&
              mprotect(memory + ROW * page, page, PROT_READ | PROT_WRITE) == 0);
    for (int64_t j = 0; j < columns; j++)
        ((double *)(void *)(memory + ROW * page))[j] = (double)(j % 11);
    x = rd_wrap(ctx, (double *)(void *)memory, RD_SHAPE(PAGES, columns));
    for (size_t k = 0; k < COUNT(rows); k++)
        for (size_t o = 0; o < COUNT(orders); o++)
            ck_assert(loads_of_one(rd_select(rows[k].build(x), 0, ROW), orders[o]) > 0);
    munmap(memory, PAGES * page);
}
END_TEST

/* Operands of which nothing is asked. */
START_TEST(forbidden_operands)
{
    const size_t page     = (size_t)sysconf(_SC_PAGESIZE);
    char        *memory   = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    double       there[4] = { 1, 2, 3, 4 };
    rd_expr     *bad      = rd_wrap(ctx, (double *)(void *)memory, RD_SHAPE(4)),
            *good         = rd_wrap(ctx, there, RD_SHAPE(4));

    ck_assert_int_eq(
        loads_of_one(rd_slice(rd_concat(0, RD_EXPRS(bad, good)), "4:"), RD_TRAVERSE_AUTO), 4);
    ck_assert_int_eq(loads_of_one(rd_coord(rd_exp(bad), 0), RD_TRAVERSE_AUTO), 0);
    munmap(memory, page);
}
END_TEST

/* ---- Shared: computed once ------------------------------------------------------------------- */
enum { SHARED_ROWS = 20, SHARED_COLUMNS = 500, INPUT = SHARED_ROWS * SHARED_COLUMNS };

static rd_expr *neighbours(rd_expr *x)
{
    rd_expr *r = rd_sum(rd_exp(x), RD_DIMS(1));

    return rd_sub(rd_slice(r, "1:"), rd_slice(r, ":-1"));
}

static rd_expr *outer_differences(rd_expr *x)
{
    rd_expr *r = rd_mean(x, RD_DIMS(1));

    return rd_sub(rd_expand(r, 1), rd_expand(r, 0));
}

static rd_expr *reversed_sum(rd_expr *x)
{
    rd_expr *r = rd_sum(x, RD_DIMS(1));

    return rd_add(r, rd_flip(r, RD_DIMS(0)));
}

static rd_expr *windows_of_sums(rd_expr *x)
{
    return rd_sum(rd_window(rd_sum(x, RD_DIMS(1)), 0, 3, 1), RD_DIMS(-1));
}

static rd_expr *taken_twice(rd_expr *x)
{
    rd_expr *r = rd_sum(x, RD_DIMS(1)), *i = rd_coord(r, 0);

    return rd_add(rd_take(r, 0, i), rd_take(r, 0, rd_sub(rd_int(ctx, SHARED_ROWS - 1), i)));
}

static rd_expr *used_twice(rd_expr *x)
{
    rd_expr *r = rd_sum(x, RD_DIMS(1));

    return rd_mul(rd_sqrt(r), rd_exp(r));
}

/* `passes` over the input; what is read from arrays between stages comes to at most `between`
 * elements. */
static const struct {
    const char *what;
    build      *build;
    int         passes, between;
} shared[] = {
    { "r[1:] - r[:-1]", neighbours, 1, 2 * SHARED_ROWS },
    { "r[i] - r[j]", outer_differences, 1, 2 * SHARED_ROWS *SHARED_ROWS },
    { "r + flip(r)", reversed_sum, 1, 2 * SHARED_ROWS },
    { "windows of r", windows_of_sums, 1, 3 * SHARED_ROWS },
    { "r taken twice", taken_twice, 1, 2 * SHARED_ROWS },
    { "sqrt(r) exp(r)", used_twice, 1, 0 },
    { "x - mean(x)", centred, 2, 0 },
};

START_TEST(shared_once)
{
    double  *data = numbers(INPUT);
    rd_expr *x    = rd_wrap(ctx, data, RD_SHAPE(SHARED_ROWS, SHARED_COLUMNS));

    for (size_t k = 0; k < COUNT(shared); k++) {
        const int64_t loads = loads_of_one(shared[k].build(x), RD_TRAVERSE_AUTO);

        ck_assert_msg(loads >= shared[k].passes * INPUT &&
                          loads <= shared[k].passes * INPUT + shared[k].between,
                      "%s: %d loads of %d elements", shared[k].what, (int)loads, INPUT);
    }
    free(data);
}
END_TEST

START_TEST(shared_by_results)
{
    static double means[SHARED_ROWS], spread[SHARED_ROWS], anomalies[INPUT];
    double       *data = numbers(INPUT);
    rd_expr      *x    = rd_wrap(ctx, data, RD_SHAPE(SHARED_ROWS, SHARED_COLUMNS)),
            *m         = rd_mean(x, RD_DIMS(1));

    /* The mean is an output as well as an operand; reading the output back counts too. */
    ck_assert_int_le(
        loads_of(RD_RESULTS({ m, RD_INTO(means, RD_SHAPE(SHARED_ROWS)) },
                            { rd_sub(x, rd_expand(m, 1)),
                              RD_INTO(anomalies, RD_SHAPE(SHARED_ROWS, SHARED_COLUMNS)) }),
                 NULL),
        2 * INPUT + SHARED_ROWS);
    ck_assert_msg(
        loads_of(RD_RESULTS({ m, RD_INTO(means, RD_SHAPE(SHARED_ROWS)) },
                            { rd_max(x, RD_DIMS(1)), RD_INTO(spread, RD_SHAPE(SHARED_ROWS)) }),
                 NULL) == INPUT,
        "two reductions of one input are one pass");
    ck_assert_msg(loads_of(RD_RESULTS({ m, RD_INTO(means, RD_SHAPE(SHARED_ROWS)) },
                                      { m, RD_INTO(spread, RD_SHAPE(SHARED_ROWS)) }),
                           NULL) <= INPUT + SHARED_ROWS,
                  "one expression asked for twice is computed once");
    free(data);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        one_row,         one_row_by_a_take,  one_element,    one_row_of_pair_sums,
        first_of_bools,  larger_than_memory, half_of_memory, larger_than_memory_in_panels,
        forbidden_pages, forbidden_operands, shared_once,    shared_by_results
    };

    return run_suite("lazy", tests, COUNT(tests));
}
