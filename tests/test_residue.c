/* test_residue.c - what runs element by element, and for which reason: of tiles, and of loop trees after all
 * passes, which stand for the text that is compiled of them. */
#include "kernels/print/tree_residue.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/jit/tier.h"
#include "kernels/cpu/nest/nest.h"
#include "kernels/loop/check.h"
#include "loop_programs.h"
#include "rdim.h"
#include "suite.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

/* ---- Programs --------------------------------------------------------------------------------- */
enum { ROWS = 900, COLUMNS = 77, MOST = 4 };

/* Nothing runs, so an array may be larger than its memory. */
static rd_expr *array_of(rd_ctx *ctx, rd_dtype type, rd_shape shape)
{
    static double  memory[8];
    const rd_array array = { .data = memory, .type = type, .shape = shape };

    return rd_leaf(ctx, &array);
}

static rd_expr *table(rd_ctx *ctx)
{
    return array_of(ctx, RD_F32, RD_SHAPE(ROWS, COLUMNS));
}

static rd_expr *row(rd_ctx *ctx)
{
    return array_of(ctx, RD_F32, RD_SHAPE(ROWS * COLUMNS));
}

/* Results of one program: how many. */
typedef int build(rd_ctx *ctx, rd_expr *y[MOST]);

static int map(rd_ctx *ctx, rd_expr *y[MOST])
{
    y[0] = rd_exp(table(ctx));
    return 1;
}

static int sums(rd_ctx *ctx, rd_expr *y[MOST])
{
    y[0] = rd_sum(table(ctx), RD_DIMS(1));
    return 1;
}

static int extremes_so_far(rd_ctx *ctx, rd_expr *y[MOST])
{
    y[0] = rd_scan(row(ctx), "max", RD_DIMS(0));
    return 1;
}

static int serial_sum(rd_ctx *ctx, rd_expr *y[MOST])
{
    y[0] = rd_sum(row(ctx), RD_ALL, .accuracy = RD_SERIAL);
    return 1;
}

static int serial_sums(rd_ctx *ctx, rd_expr *y[MOST])
{
    y[0] = rd_sum(table(ctx), RD_DIMS(1), .accuracy = RD_SERIAL);
    return 1;
}

static int sums_by_label(rd_ctx *ctx, rd_expr *y[MOST])
{
    rd_expr *const label = array_of(ctx, RD_I32, RD_SHAPE(ROWS * COLUMNS));

    y[0] = rd_sum(row(ctx), RD_ALL, .by = RD_EXPRS(label), .groups = RD_SHAPE(500));
    return 1;
}

static int gathered(rd_ctx *ctx, rd_expr *y[MOST])
{
    rd_expr *const place = array_of(ctx, RD_I32, RD_SHAPE(ROWS * COLUMNS));

    y[0] = rd_neg(rd_take(row(ctx), 0, place));
    return 1;
}

static int divided(rd_ctx *ctx, rd_expr *y[MOST])
{
    rd_expr *const x = array_of(ctx, RD_I32, RD_SHAPE(ROWS, COLUMNS));

    y[0] = rd_floordiv(x, array_of(ctx, RD_I32, RD_SHAPE(ROWS, COLUMNS)));
    return 1;
}

/* Rows of 77 begin with any lane of the maximum of all. */
static int greatest_of_shares(rd_ctx *ctx, rd_expr *y[MOST])
{
    rd_expr *const x = rd_add(rd_abs(table(ctx)), rd_num(ctx, 1));

    y[0] = rd_max(rd_div(x, rd_expand(rd_sum(x, RD_DIMS(1)), 1)), RD_ALL);
    return 1;
}

/* Of floats it hangs on lanes whether 0 or -0 comes. */
static int extremes_of_floats(rd_ctx *ctx, rd_expr *y[MOST])
{
    y[0] = rd_min(table(ctx), RD_ALL);
    y[1] = rd_max(table(ctx), RD_DIMS(1));
    return 2;
}

static int extremes_of_both(rd_ctx *ctx, rd_expr *y[MOST])
{
    rd_expr *const x = rd_cast(table(ctx), RD_I32);

    y[0] = rd_min(x, RD_ALL);
    y[1] = rd_max(x, RD_DIMS(1));
    return 2;
}

static int counts_of_all(rd_ctx *ctx, rd_expr *y[MOST])
{
    rd_expr *const x = table(ctx);

    y[0] = rd_count(rd_gt(x, rd_max(x, RD_DIMS(0))), RD_ALL);
    return 1;
}

/* One sum goes along the loop in order, and the sines it takes do not. */
static int sums_of_sines(rd_ctx *ctx, rd_expr *y[MOST])
{
    rd_expr *const x = rd_sin(array_of(ctx, RD_F32, RD_SHAPE(19, 14, 11)));

    for (int k = 0; k < 3; k++)
        y[k] = rd_sum(x, RD_DIMS(k));
    return 3;
}

static int greatest_exponentials(rd_ctx *ctx, rd_expr *y[MOST])
{
    y[0] = rd_scan(rd_exp(row(ctx)), "max", RD_DIMS(0));
    return 1;
}

/* What reads the results so far stays behind them, and the sines do not. */
static int sines_beside_sums_so_far(rd_ctx *ctx, rd_expr *y[MOST])
{
    rd_expr *const x = rd_slice(row(ctx), ":100");

    y[0] = rd_scan(x, "sum", RD_DIMS(0));
    y[1] = rd_sum(rd_sin(x), RD_ALL, .accuracy = RD_SERIAL);
    return 2;
}

static int weighted_by_label(rd_ctx *ctx, rd_expr *y[MOST])
{
    rd_expr *const label = array_of(ctx, RD_I32, RD_SHAPE(ROWS * COLUMNS));

    y[0] = rd_sum(rd_log(row(ctx)), RD_ALL, .by = RD_EXPRS(label), .groups = RD_SHAPE(500));
    return 1;
}

/* ---- What they leave -------------------------------------------------------------------------- */
#define WHY(name) (UINT64_C(1) << RD_RESIDUE_##name)

static const struct {
    const char *what;
    build      *of;
    uint64_t    nest, tiles; /* reasons */
    const char *vectors;     /* what no reason names, NULL: is not asked */
} cases[] = {
    { "map", map, 0, 0, NULL },
    { "sums", sums, 0, 0, NULL },
    { "extremes so far", extremes_so_far, WHY(scan), 0, NULL },
    { "serial sum", serial_sum, WHY(order), WHY(order), NULL },
    { "serial sums", serial_sums, 0, 0, NULL },
    { "sums by label", sums_by_label, WHY(label) | WHY(refused), WHY(label), NULL },
    { "gathered", gathered, 0, WHY(gather), NULL },
    { "divided", divided, WHY(divides), WHY(divides), NULL },
    { "greatest of shares", greatest_of_shares, WHY(refused), 0, NULL },
    { "extremes of both", extremes_of_both, 0, 0, NULL },
    { "extremes of floats", extremes_of_floats, WHY(refused), 0, NULL },
    { "counts of all", counts_of_all, 0, 0, NULL },
    { "sums of sines", sums_of_sines, WHY(rows) | WHY(beside), 0, "sin (" },
    { "greatest exponentials", greatest_exponentials, WHY(scan), 0, "exp (" },
    { "sines beside sums so far", sines_beside_sums_so_far, WHY(scan) | WHY(order), WHY(order),
      "sin (" },
    { "weighted by label", weighted_by_label, WHY(label), WHY(label), "log (" },
};

/* Reasons for a tenth of the time or more, and their sums. */
typedef struct found {
    uint64_t nest, tiles;
    double   operations;
    rd_text  said;
} found;

static uint64_t reasons(const rd_residue *r)
{
    uint64_t why = 0;

    for (int k = 0; k < RD_N_RESIDUE; k++)
        if (r->part[k].ns > 0.1 * r->ns)
            why |= UINT64_C(1) << k;
    return why;
}

static void see(const rd_program *p, const char *what, void *user)
{
    rd_ctx *const   ctx   = rd_ctx_new(NULL);
    rd_pool *const  pool  = rd_pool_new(ctx);
    const rd_speeds s     = rd_speeds_usual(64);
    found *const    f     = user;
    rd_residue      r     = { 0 };
    const char     *why   = NULL;
    rd_text         wrong = { 0 };
    rd_schedule    *t     = rd_nest_schedule(p, 64, false, loop_pool_get, pool, NULL, &why);

    ck_assert_msg(t && rd_schedule_residue(t, &s, &r), "%s: %s", what, why);
    ck_assert_msg(rd_schedule_check(t, RD_FEW_VISITS, &wrong) != RD_TREE_FAILS, "%s: %s", what,
                  wrong.at);
    rd_text_free(&wrong);
    f->nest |= reasons(&r);
    f->operations += r.operations;
    rd_residue_lines(&f->said, &r);
    rd_schedule_free(t);
    if (p->code) {
        ck_assert(rd_cpu_residue(p, RD_FORM_TILES, loop_pool_get, pool, &r));
        f->tiles |= reasons(&r);
        rd_residue_lines(&f->said, &r);
    }
    rd_pool_free(pool);
    rd_ctx_free(ctx);
}

static found look(build *of, const char *what)
{
    rd_ctx *const ctx = rd_ctx_new(NULL);
    rd_expr      *y[MOST];
    const int     n = of(ctx, y);
    found         f = { 0 };

    for (int k = 0; k < n; k++)
        ck_assert_msg(y[k] != NULL, "%s: %s", what, rd_error_text(ctx));
    loop_programs_of(ctx, (rd_exprs){ 0 }, (rd_exprs){ y, n }, RD_TRAVERSE_AUTO, what, see, &f);
    rd_ctx_free(ctx);
    return f;
}

START_TEST(what_is_left)
{
    found f;

    rd_tier_force("off");
    rd_nest_force("always"); /* of no program tiles alone are known */
    f = look(cases[_i].of, cases[_i].what);
    ck_assert_msg(f.operations > 0, "%s: nothing was counted", cases[_i].what);
    ck_assert_msg(f.nest == cases[_i].nest, "%s: compiled loops leave %llx:\n%s", cases[_i].what,
                  (unsigned long long)f.nest, f.said.at ? f.said.at : "");
    ck_assert_msg(f.tiles == cases[_i].tiles, "%s: tiles leave %llx:\n%s", cases[_i].what,
                  (unsigned long long)f.tiles, f.said.at ? f.said.at : "");
    ck_assert_msg(!cases[_i].vectors || !f.said.at || !strstr(f.said.at, cases[_i].vectors), "%s",
                  f.said.at);
    rd_text_free(&f.said);
}
END_TEST

/* ---- What is said ------------------------------------------------------------------------------ */
START_TEST(what_explain_says)
{
    rd_ctx *const ctx = rd_ctx_new(NULL);
    rd_expr      *y[MOST];
    const char   *text;

    rd_tier_force("off");
    sums_by_label(ctx, y);
    text = rd_explain(ctx, RD_RESULTS({ y[0], NULL }), NULL);
    ck_assert_msg(
        text && strstr(text, "\nscalar in stage 0: ") &&
            strstr(text, ": sum (69300 of 69800 operations, ") &&
            strstr(text, ": which cell takes an element is known when its label is read\n"),
        "%s", text ? text : rd_error_text(ctx));
    map(ctx, y);
    text = rd_explain(ctx, RD_RESULTS({ y[0], NULL }), NULL);
    ck_assert_msg(text && !strstr(text, "scalar in stage"), "%s", text);
    rd_ctx_free(ctx);
}
END_TEST

/* The dearest reason first, with its dearest operation. */
START_TEST(sums_of_reasons)
{
    rd_residue r    = { 0 };
    rd_text    text = { 0 };

    rd_residue_add(&r, RD_N_RESIDUE, "add", 1000, 100);
    rd_residue_add(&r, RD_RESIDUE_label, "sum", 10, 20);
    rd_residue_add(&r, RD_RESIDUE_rows, "var", 30, 300);
    rd_residue_add(&r, RD_RESIDUE_rows, "max", 60, 400);
    ck_assert(rd_residue_operations(&r) == 100 && r.operations == 1100);
    ck_assert(rd_residue_ns(&r) == 720 && r.ns == 820 && rd_residue_ours(&r) == 700);
    rd_residue_text(&text, &r);
    ck_assert_str_eq(text.at, "max (90 of 1100 operations, 0.7 us): its steps follow each other, "
                              "and other rows or blocks could go beside them; sum (10 of 1100 "
                              "operations, 0.02 us): which cell takes an element is known when "
                              "its label is read");
    rd_text_free(&text);
}
END_TEST

int main(void)
{
    Suite   *suite = suite_create("residue");
    TCase   *tcase = tcase_create("residue");
    SRunner *runner;
    int      failed;

    tcase_add_loop_test(tcase, what_is_left, 0, COUNT(cases));
    tcase_add_test(tcase, what_explain_says);
    tcase_add_test(tcase, sums_of_reasons);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
