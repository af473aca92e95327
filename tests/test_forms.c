/* test_forms.c - what explain says of forms and costs is what is there, and the strict mode refuses
 * what it warns of. */
#define _XOPEN_SOURCE 700 /* setenv */
#include "kernels/cpu/jit/tier.h"
#include "suite.h"
#include <math.h>
#include <rdim.h>

enum { ROWS = 20000, COLUMNS = 20 };

static rd_ctx *ctx;
static float   data[ROWS * COLUMNS];

static void begin(void)
{
    unsetenv("RDIM_STRICT");
    rd_tier_force("off");
    ctx = rd_ctx_new(&(rd_ctx_opts){ .size = sizeof(rd_ctx_opts), .threads = 1 });
}

static void end(void)
{
    rd_ctx_free(ctx);
}

static rd_expr *table(void)
{
    return rd_wrap(ctx, data, RD_SHAPE(ROWS, COLUMNS));
}

RD_REDUCER(my_sum, float, float, 1, (double v;), (s->v = 0;), (s->v += x;), (a->v += b->v;),
           (y[0] = (float)s->v;))

/* Tiles take the elements of a scan by a caller's reducer one after the other. */
static rd_expr *own(void)
{
    return rd_scan(table(), my_sum, RD_DIMS(1));
}

static void says(const char *text, const char *part)
{
    ck_assert_msg(text && strstr(text, part), "no \"%s\" in\n%s", part,
                  text ? text : rd_error_text(ctx));
}

static void says_not(const char *text, const char *part)
{
    ck_assert_msg(text && !strstr(text, part), "\"%s\" in\n%s", part,
                  text ? text : rd_error_text(ctx));
}

static const char *explained(rd_expr *y)
{
    return rd_explain(ctx, RD_RESULTS({ y, NULL }), NULL);
}

START_TEST(costs)
{
    const char *text = explained(rd_sum(rd_exp(table()), RD_DIMS(0)));

    says(text, "cost of stage 0: reads 1600000 bytes, writes 80; visits 400020 elements: 800000 "
               "operations, 400000 of them transcendental; about ");
    says(text, " on 1 thread\n");
    says(text, "estimates: memory ");
    text = explained(rd_sub(rd_slice(table(), "2:"), rd_slice(table(), ":-2")));
    says(text,
         "reads 1600000 bytes, writes 1599840; visits 399960 elements: 399960 operations, 0 ");
}
END_TEST

/* ---- What a mask leaves out ------------------------------------------------------------------ */
enum { POINTS = 1000, CLUSTER = 100 };

static rd_expr *pairs_under(rd_expr *mask)
{
    rd_expr *const x = rd_wrap(ctx, data, RD_SHAPE(POINTS));
    rd_expr *const d = rd_sub(rd_expand(x, 1), rd_expand(x, 0));

    return rd_sum(rd_exp(d), RD_DIMS(1), .where = mask);
}

static rd_expr *triangle(void)
{
    rd_expr *const all = rd_expand(rd_wrap(ctx, data, RD_SHAPE(POINTS)), 0);
    rd_expr *const x   = rd_broadcast(all, RD_SHAPE(POINTS, POINTS));

    return rd_le(rd_coord(x, 1), rd_coord(x, 0));
}

/* Of 100 blocks the 10 on the diagonal count. */
static rd_expr *diagonal(void)
{
    int64_t border[POINTS / CLUSTER + 1];
    bool    pair[(POINTS / CLUSTER) * (POINTS / CLUSTER)] = { 0 };

    for (int k = 0; k <= POINTS / CLUSTER; k++)
        border[k] = k * CLUSTER;
    for (int k = 0; k < POINTS / CLUSTER; k++)
        pair[k * (POINTS / CLUSTER + 1)] = true;
    return rd_blocks(ctx, POINTS / CLUSTER, border, POINTS / CLUSTER, border, pair);
}

/* Elements that the longest stage visits. */
static double visited(const char *text)
{
    double most = 0;

    ck_assert_msg(text != NULL, "%s", rd_error_text(ctx));
    for (const char *at = text; (at = strstr(at, "visits ")); at++)
        most = fmax(most, strtod(at + strlen("visits "), NULL));
    return most;
}

/* Compiled loops leave masked-out pairs out, and other forms do not. */
START_TEST(costs_under_masks)
{
    const double all = (double)POINTS * POINTS;

    ck_assert(fabs(visited(explained(pairs_under(triangle()))) / all - 1) < 0.01);
    ck_assert(fabs(visited(explained(pairs_under(diagonal()))) / all - 1) < 0.01);
    rd_tier_force("sync");
    ck_assert(fabs(visited(explained(pairs_under(triangle()))) / all - 0.5) < 0.02);
    ck_assert(fabs(visited(explained(pairs_under(diagonal()))) / all - 0.1) < 0.02);
}
END_TEST

/* ---- Where leaves are read ------------------------------------------------------------------- */
static rd_expr *view_of(int k)
{
    static const int32_t places[7] = { 0 };
    rd_expr             *x         = table();
    rd_expr             *line      = rd_wrap(ctx, data, RD_SHAPE(1000));

    switch (k) {
    case 0: return rd_sub(rd_slice(line, "2:"), rd_slice(line, ":-2"));
    case 1: return rd_sub(rd_slice(x, "2:, :9"), rd_slice(x, ":-2, 3:12"));
    case 2: return rd_slice(x, "::2, ::-1");
    case 3: return rd_slice(x, "7, 3:");
    case 4: return rd_take(x, 0, rd_wrap(ctx, places, RD_SHAPE(7)));
    case 5: return rd_take(x, 1, rd_add(rd_wrap(ctx, places, RD_SHAPE(7)), rd_int(ctx, 1)));
    case 6: return rd_diagonal(rd_slice(x, ":20"), 0, 1, 1);
    case 7: return rd_slice(rd_window(line, 0, 5, 1), ":, ::2");
    case 8:
        return rd_slice(rd_wrap(ctx, data + 19, RD_SHAPE(9, 20), .strides = { 2, 0, { 20, -1 } }),
                        ":, 1:");
    case 9: return rd_slice(rd_wrap(ctx, data, RD_SHAPE(4, 5, 6), .order = 1), "1:, :, ::5");
    case 10: return rd_slice(x, "2:");
    default: return rd_slice(rd_wrap(ctx, data, RD_SHAPE(5, 6, 7)), "1:, :, :");
    }
}

static const char *const read_at[] = {
    "x0[i+2] - x0[i]", "x0[i+2,j] - x0[i,j+3]", "x0[2*i,-j+19]", "x0[7,i+3]",
    "x1[t0,j]",        "x1[i,t0[j]]",           "x0[i,i+1]",     "x0[i+2*j]",
    "x0[i,j+1]",       "x0[i+1,j,5*k]",         "x0[ij+40]",     "x0[ijk+42]",
};

START_TEST(places)
{
    says(explained(view_of(_i)), read_at[_i]);
}
END_TEST

/* ---- Names ----------------------------------------------------------------------------------- */
START_TEST(labels)
{
    rd_expr *x = table(), *file = rd_load(ctx, "examples/data/coads_sst.npy");
    rd_mark  mark;

    ck_assert_msg(file != NULL, "%s", rd_error_text(ctx));
    says(explained(file), "x0: leaf f32 (12, 90, 180) from examples/data/coads_sst.npy\n");
    ck_assert(rd_label(file, "sst") == file);
    says(explained(file), "x0: leaf sst f32 (12, 90, 180) from examples/data/coads_sst.npy\n");
    says(rd_graphviz(ctx, RD_RESULTS({ file, NULL })), "leaf sst f32");
    says(explained(x), "x0: leaf f32 (20000, 20)\n");
    mark = rd_ctx_mark(ctx);
    ck_assert(rd_label(x, "first") && rd_label(x, "table") == x && table() == x);
    says(explained(x), "x0: leaf table f32 (20000, 20)\n");
    ck_assert_int_eq(rd_ctx_release(ctx, mark), RD_OK);
    says(explained(x), "x0: leaf f32 (20000, 20)\n");
}
END_TEST

static void refused(rd_expr *leaf, const char *name, const char *part)
{
    ck_assert(!rd_label(leaf, name) && rd_error(ctx) == RD_ERR_ARGUMENT);
    says(rd_error_text(ctx), part);
    rd_error_clear(ctx);
}

START_TEST(no_labels)
{
    const rd_array layout = { .type = RD_F32, .shape = RD_SHAPE(3) };

    refused(table(), NULL, "rd_label: the name is NULL");
    refused(table(), "", "rd_label: the name is empty");
    refused(rd_neg(table()), "y", "rd_label: \"y\" is for map, not for memory");
    refused(rd_input(ctx, "in", &layout), "y", "which has a name");
    ck_assert(!rd_label(NULL, "y") && rd_error(ctx) == RD_OK);
}
END_TEST

/* ---- Forms ----------------------------------------------------------------------------------- */
/* Sums by label go by a kernel, which is faster than a nest there; those of a pattern's rows by a
 * nest. */
START_TEST(sums_by_label)
{
    enum { EACH = 1000, PLACES = 2000 * EACH };
    static const char kernel[] = "kernels sum by label";
    static int32_t    pos[PLACES / EACH + 1], column[PLACES];
    static float      element[PLACES];

    for (int i = 0; i < PLACES; i++)
        column[i] = i % EACH;
    for (int i = 0; i <= PLACES / EACH; i++)
        pos[i] = i * EACH;
    rd_expr *const       at = rd_wrap(ctx, column, RD_SHAPE(PLACES));
    rd_expr *const       x  = rd_wrap(ctx, element, RD_SHAPE(PLACES));
    const rd_reduce_opts by = {
        .size = sizeof by, .dims = RD_ALL, .by = RD_EXPRS(at), .groups = RD_SHAPE(EACH)
    };

    rd_tier_force("sync");
    says(explained(rd_reduce_name(x, "sum", &by)), kernel);
    says(explained(rd_reduce_name(rd_exp(x), "sum", &by)), kernel);
    says_not(explained(rd_reduce_name(rd_square(x), "sum", &by)), kernel);
    says_not(explained(rd_reduce_name(x, "max", &by)), kernel);
    rd_expr *const rows =
        rd_csr(ctx, RD_SHAPE(PLACES / EACH, EACH), rd_wrap(ctx, pos, RD_SHAPE(PLACES / EACH + 1)),
               at, x, .stored = true);
    says_not(explained(rd_sum(rows, RD_DIMS(1))), kernel);
    says_not(explained(rd_sum(rows, RD_DIMS(0))), kernel);
    rd_expr *const columns = rd_wrap(ctx, element, RD_SHAPE(EACH, 16));
    says(explained(rd_matmul(rows, columns)), "tasks of stage 0: any\n");
    rd_expr *const turned = rd_wrap(ctx, element, RD_SHAPE(PLACES / EACH, 16));
    says(explained(rd_matmul(rd_permute(rows, RD_INDEX(1, 0)), turned)), "tasks of stage 0: one\n");
    rd_tier_force("off");
}
END_TEST

/* Distances of points are compiled, and the rows that they make put in order by the routine, which
 * the compiled loops call; rows that nothing but maps make are left to tiles. */
START_TEST(rows_in_order)
{
    rd_expr *const x = rd_slice(table(), ":2000"), *const d = rd_square(rd_sub(rd_expand(x, 1), x));
    rd_expr *const near = rd_arg_top_k(rd_sum(d, RD_DIMS(2)), 5, 1, .smallest = true);

    rd_tier_force("sync");
    says(explained(near), "form of stage 1: compiled loops");
    says(explained(rd_sort(rd_neg(table()), 0)), "rows are put in order by a routine");
}
END_TEST

START_TEST(slow_forms)
{
    const char *text = explained(own());

    says(text, "form of stage 0: tiles; no compiled loops: the tier is off\n");
    says(text, "warning: stage 0: scan my_sum, a user's reducer runs element by element, on tiles "
               "(400000 of them): its elements follow each other in C order; remedy: "
               "RDIM_TIER1=async or sync");
    rd_tier_force("async");
    text = explained(own());
    says(text, "form of stage 0: compiled loops, compiled once they were missed for ");
    says(text, "; until then tiles\n");
    says(text, "first run: about ");
    says(text, "stage 0 by tiles: element by element; runs that begin once all is compiled");
    says_not(text, "warning:");
    text = explained(rd_sum(table(), RD_ALL, .accuracy = RD_SERIAL));
    says(text, "note: stage 0: serial sum runs element by element");
    says(text, "remedy: leave out .accuracy = RD_SERIAL");
    says_not(explained(rd_sum(table(), RD_ALL)), "note:");
}
END_TEST

START_TEST(few_elements)
{
    says_not(explained(rd_scan(rd_slice(table(), ":100"), my_sum, RD_DIMS(1))), "warning:");
}
END_TEST

START_TEST(strict)
{
    static float sums[ROWS], sums_so_far[ROWS * COLUMNS];

    ck_assert_int_eq(rd_eval(ctx, own(), RD_INTO(sums_so_far, RD_SHAPE(ROWS, COLUMNS))), RD_OK);
    rd_ctx_free(ctx); /* which keeps that plan */
    begin();
    setenv("RDIM_STRICT", "1", 1);
    ck_assert_int_eq(rd_eval(ctx, own(), RD_INTO(sums_so_far, RD_SHAPE(ROWS, COLUMNS))),
                     RD_ERR_LIMIT);
    says(rd_error_text(ctx),
         "rd_eval: RDIM_STRICT: stage 0: scan my_sum, a user's reducer runs element "
         "by element, on tiles");
    says(rd_error_text(ctx), "; remedy: RDIM_TIER1=async or sync");
    rd_error_clear(ctx);
    ck_assert_int_eq(rd_eval(ctx, rd_sum(table(), RD_DIMS(1)), RD_INTO(sums, RD_SHAPE(ROWS))),
                     RD_OK);
    rd_tier_force("async");
    ck_assert_int_eq(rd_eval(ctx, own(), RD_INTO(sums_so_far, RD_SHAPE(ROWS, COLUMNS))), RD_OK);
    setenv("RDIM_STRICT", "0", 1);
}
END_TEST

int main(void)
{
    Suite   *suite = suite_create("forms");
    TCase   *tcase = tcase_create("forms");
    SRunner *runner;
    int      failed;

    tcase_add_checked_fixture(tcase, begin, end);
    tcase_add_test(tcase, costs);
    tcase_add_test(tcase, costs_under_masks);
    tcase_add_loop_test(tcase, places, 0, sizeof read_at / sizeof *read_at);
    tcase_add_test(tcase, labels);
    tcase_add_test(tcase, no_labels);
    tcase_add_test(tcase, sums_by_label);
    tcase_add_test(tcase, slow_forms);
    tcase_add_test(tcase, rows_in_order);
    tcase_add_test(tcase, few_elements);
    tcase_add_test(tcase, strict);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
