/* test_alternatives.c - which of several ways is taken, what is told of the others, and which loops of
 * programs become strips: structure, and no times. */
#include "kernels/loop/alternatives.h"
#include "kernels/loop/regions.h"
#include "loop_programs.h"
#include "rdim.h"
#include "suite.h"
#include <math.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

/* ---- Which ------------------------------------------------------------------------------------ */
enum { MOST = 12 };
static const struct {
    const char *what;
    int         n;
    double      ns[MOST];
    int32_t     want; /* the `what` of the one that is taken: its place in ns */
} choices[] = {
    { "one", 1, { 7 }, 0 },
    { "the cheaper one", 2, { 7, 3 }, 1 },
    { "the first of equal ones", 3, { 7, 3, 3 }, 1 },
    { "one with a price", 2, { (double)NAN, 3 }, 1 },
    { "the first without a price", 2, { (double)NAN, (double)NAN }, 0 },
    { "the last of many", 12, { 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1 }, 11 },
    { "the first of many", 12, { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 }, 0 },
};

static rd_alternatives offered(int k)
{
    rd_alternatives a = { 0 };

    for (int i = 0; i < choices[k].n; i++)
        rd_offer(&a, (rd_alternative){ "way", choices[k].ns[i], i, true });
    return a;
}

START_TEST(cheapest)
{
    rd_alternatives a = offered(_i);

    ck_assert_msg(rd_take_cheapest(&a)->what == choices[_i].want, "%s: %d", choices[_i].what,
                  a.at[a.taken].what);
    ck_assert_int_le(a.n, RD_MOST_ALTERNATIVES);
    ck_assert_ptr_null(a.rule);
}
END_TEST

START_TEST(by_rule)
{
    rd_alternatives a = offered(1);

    ck_assert_int_eq(rd_take_by_rule(&a, 0, "it was measured")->what, 0);
    ck_assert_int_eq(a.taken, 0);
    ck_assert_str_eq(a.rule, "it was measured");
    ck_assert_int_eq(rd_take_cheapest(&a)->what, 1);
    ck_assert_ptr_null(a.rule);
}
END_TEST

/* ---- In words --------------------------------------------------------------------------------- */
START_TEST(words)
{
    rd_alternatives a    = { 0 };
    rd_text         text = { 0 };

    rd_offer(&a, (rd_alternative){ "strips along axis", 30e3, 0, true });
    rd_offer(&a, (rd_alternative){ "strips along axis", 12e3, 1, true });
    rd_offer(&a, (rd_alternative){ "tiles", 7.5e6, -1, false });
    rd_offer(&a, (rd_alternative){ "the reference", (double)NAN, -1, false });
    rd_take_cheapest(&a);
    rd_alternatives_text(&text, &a);
    ck_assert_str_eq(text.at, "strips along axis 1, 12 us; not strips along axis 0, 30 us; not "
                              "tiles, 7.5 ms; not the reference");
    rd_text_free(&text);
    rd_take_by_rule(&a, 2, "kernels sum by label");
    rd_alternatives_text(&text, &a);
    ck_assert_str_eq(text.at,
                     "tiles, 7.5 ms; not strips along axis 0, 30 us; not strips along axis 1, 12 "
                     "us; not the reference; by a rule: kernels sum by label");
    rd_text_free(&text);
}
END_TEST

/* ---- Strips ----------------------------------------------------------------------------------- */
/* Nothing runs, so an array may be larger than its memory. */
static rd_expr *array_of(rd_ctx *ctx, rd_shape shape, rd_strides strides)
{
    static double  memory[8];
    const rd_array array = { .data = memory, .type = RD_F32, .shape = shape, .strides = strides };

    return rd_leaf(ctx, &array);
}

static rd_expr *row_sums(rd_ctx *ctx)
{
    return rd_sum(array_of(ctx, RD_SHAPE(300, 2000), (rd_strides){ 0 }), RD_DIMS(1));
}

static rd_expr *column_sums(rd_ctx *ctx)
{
    return rd_sum(array_of(ctx, RD_SHAPE(300, 2000), (rd_strides){ 0 }), RD_DIMS(0));
}

static rd_expr *map(rd_ctx *ctx)
{
    return rd_exp(array_of(ctx, RD_SHAPE(30, 2000), (rd_strides){ 0 }));
}

static rd_expr *few_places(rd_ctx *ctx)
{
    return rd_neg(array_of(ctx, RD_SHAPE(1), (rd_strides){ 0 }));
}

static const struct {
    const char *what;
    rd_expr *(*build)(rd_ctx *ctx);
    int32_t n;      /* regions                                 */
    double  extent; /* of the first one's axis                 */
    bool    around; /* does it stand around loops?              */
} regions[] = {
    { "sums of rows: lanes", row_sums, 1, 2000, false },
    { "sums of columns: cells", column_sums, 2, 2000, true },
    { "a map", map, 1, 60000, false },
    { "one element", few_places, 0, 0, false },
};

static void see_regions(const rd_program *p, const char *what, void *user)
{
    const int           k    = *(const int *)user;
    const rd_speeds     s    = rd_speeds_usual(64);
    const char         *why  = NULL;
    rd_ctx *const       ctx  = rd_ctx_new(NULL);
    rd_pool *const      pool = rd_pool_new(ctx);
    const rd_loop_fold *fold = rd_loop_folds_of(p, true, loop_pool_get, pool, &why);
    rd_schedule *const  t    = rd_schedule_build(p, fold, true);
    rd_regions          r;

    ck_assert_ptr_nonnull(t);
    ck_assert(rd_regions_of(t, &s, true, &r));
    ck_assert_msg(r.n == regions[k].n, "%s: %d regions", what, (int)r.n);
    for (int32_t i = 0; i < r.n; i++) {
        ck_assert_int_eq(r.at[i].of.at[r.at[i].of.taken].what, r.at[i].axis);
        for (int32_t j = 0; j < r.at[i].of.n; j++)
            ck_assert_msg(r.at[i].of.at[j].ns >= r.at[i].of.at[r.at[i].of.taken].ns,
                          "%s: a cheaper region is not taken", what);
    }
    if (r.n) {
        ck_assert_int_eq(p->axis_extent[r.at[0].axis], (int64_t)regions[k].extent);
        ck_assert_msg(r.at[0].top_is_body == regions[k].around, "%s", what);
    }
    rd_regions_free(&r);
    rd_schedule_free(t);
    rd_pool_free(pool);
    rd_ctx_free(ctx);
}

START_TEST(strips)
{
    rd_ctx *const ctx = rd_ctx_new(NULL);
    rd_expr      *y   = regions[_i].build(ctx);
    int           k   = _i;

    ck_assert_msg(y != NULL, "%s", rd_error_text(ctx));
    loop_programs_of(ctx, (rd_exprs){ 0 }, (rd_exprs){ &y, 1 }, RD_TRAVERSE_AUTO, regions[_i].what,
                     see_regions, &k);
    rd_ctx_free(ctx);
}
END_TEST

/* ---- Explain ---------------------------------------------------------------------------------- */
START_TEST(told)
{
    rd_ctx *const     ctx = rd_ctx_new(&(rd_ctx_opts){ .size = sizeof(rd_ctx_opts), .threads = 1 });
    rd_expr *const    y   = column_sums(ctx);
    const char *const text = rd_explain(ctx, RD_RESULTS({ y, NULL }), NULL);

    ck_assert_msg(text && strstr(text, "choice in stage 0: "), "%s",
                  text ? text : rd_error_text(ctx));
    ck_assert_msg(strstr(text, "; not ") != NULL, "%s", text);
    rd_ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("alternatives");
    TCase   *tc     = tcase_create("alternatives");
    SRunner *runner = srunner_create(suite);
    int      failed;

    tcase_add_loop_test(tc, cheapest, 0, COUNT(choices));
    tcase_add_test(tc, by_rule);
    tcase_add_test(tc, words);
    tcase_add_loop_test(tc, strips, 0, COUNT(regions));
    tcase_add_test(tc, told);
    tcase_set_timeout(tc, 60);
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
