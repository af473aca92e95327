/* test_loop_meets.c - what is said of loop trees beside what tiles (cpu/tile/plan/forms.c) and threads
 * of GPUs (cuda/strategy.c) say of the same programs, and how often values are made.
 *
 * They agree, but where it is meant:
 * - A tile's run of one lane is taken step by step by a kernel: STEPS, or ANY.
 * - Tiles say nothing of users' reducers, labels, and elements that go one by one. */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/jit/tier.h"
#include "kernels/cpu/nest/draft.h"
#include "kernels/cpu/tile/plan/tile_plan.h"
#include "kernels/cuda/strategy.h"
#include "kernels/loop/facts.h"
#include "loop_programs.h"
#include "suite.h"
#include <math.h>
#include <stdio.h>

/* How often something was compared, so that no comparison is empty. */
typedef struct tally {
    int programs, trees, rows, rounds, forms, spread;
} tally;

static rd_schedule *loop_tree_of(const rd_program *p, bool whole, void *pool, const char **why)
{
    const rd_loop_fold *fold;

    *why = "no memory";
    fold = rd_loop_folds_of(p, whole, loop_pool_get, pool, why);
    return fold && !*why ? rd_schedule_build(p, fold, whole) : NULL;
}

static int32_t loop_stmt_of(const rd_schedule *t, int32_t loop)
{
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = rd_next_stmt(t, t->part[k], t->part[k]); s >= 0;
             s         = rd_next_stmt(t, s, t->part[k]))
            if (t->stmt[s].kind == RD_S_LOOP && rd_loop_of(t, s)->program_loop == loop)
                return s;
    return -1;
}

/* ---- What does not agree ---------------------------------------------------------------------- */
static void add_text(rd_text *to, const rd_program *p, const rd_schedule *t)
{
    rd_program_text(to, p);
    rd_schedule_text(to, t);
}

static void differs(const char *what, const rd_program *p, const rd_schedule *t,
                    const char *sentence, int32_t number)
{
    rd_text text = { 0 };

    add_text(&text, p, t);
    ck_abort_msg("%s: %s, %d\n%.4000s", what, sentence, (int)number, text.at);
}

/* ---- Forms of tiles, threads of GPUs ---------------------------------------------------------- */
/* What an older answer allows of rd_mapping_of(), as bits. */
#define BIT(meet) (1 << RD_MAPS_##meet)

static void expect(const rd_program *p, const rd_schedule *t, int32_t fold, int32_t loop,
                   int allowed, const char *old, const char *what)
{
    const rd_mapping meet = rd_mapping_of(t, fold, loop);
    char             sentence[128];

    snprintf(sentence, sizeof sentence, "fold %d meets by %s, and by %s", (int)fold,
             rd_mapping_name(meet), old);
    if (!(allowed >> meet & 1))
        differs(what, p, t, sentence, rd_loop_of(t, loop)->axis);
}

/* A run of one lane is taken step by step in a kernel.  Users' reducers, labels, and elements that
 * have places of their own go one by one, so that tiles say nothing of them. */
static void compare_forms(const rd_program *p, const rd_schedule *t, const char *what, tally *count)
{
    const rd_tile_code *code      = p->code;
    const int           allowed[] = { [RD_FOLD_LANES]    = BIT(LANES),
                                      [RD_FOLD_COLUMNS]  = BIT(CELLS) | BIT(SAME),
                                      [RD_FOLD_CHANNELS] = BIT(CELLS),
                                      [RD_FOLD_ALONG]    = BIT(STEPS) };

    for (int32_t k = 0; k < p->n_fold; k++) {
        const rd_tile_fold *f       = &code->fold[k];
        const int32_t       step    = rd_tile_inst_of(p, f->fold->scan ? RD_I_SCAN : RD_I_STEP, k);
        const int           ordered = f->fold->scan ? BIT(STEPS) : BIT(STEPS) | BIT(ANY);
        const rd_loop      *row, *col;

        rd_tile_loops_around(p, code, step, &row, &col);
        if (!col || f->users || f->grouped || f->mapping == RD_FOLD_ELEMENTS)
            continue;
        expect(p, t, k, loop_stmt_of(t, (int32_t)(col - p->loop)),
               f->mapping == RD_FOLD_LANES && f->fold->lanes == 1 ? ordered : allowed[f->mapping],
               "tiles", what);
        count->forms++;
    }
}

/* Neighbouring threads of a loop that is spread have lanes, cells, or a fold each. */
static void compare_spread(const rd_program *p, const rd_schedule *t, const char *what, void *pool,
                           tally *count)
{
    const rd_cuda_limits limits = { .threads = 100000, .shared = 48 << 10 };
    rd_cuda_strategy     s;

    ck_assert(rd_cuda_choose_strategy(&s, p, &limits, loop_pool_get, pool));
    for (int32_t loop = 0; loop < p->n_loop && !s.why; loop++)
        for (int32_t k = 0; k < p->n_fold && s.distributed[loop]; k++) {
            const rd_cuda_fold *f  = &s.fold[k];
            const bool          in = rd_cuda_within(p, f->step, loop);

            expect(p, t, k, loop_stmt_of(t, loop),
                   f->threads_are_lanes && in    ? BIT(LANES)
                   : f->threads_have_cells && in ? BIT(CELLS)
                                                 : BIT(NOT) | BIT(SAME) | BIT(CELLS),
                   "threads", what);
            count->spread++;
        }
}

/* ---- Rounds ----------------------------------------------------------------------------------- */
/* How often each value is made, by all tasks; of rows of which memory says where they begin there is
 * but a mean. */
static void compare_rounds(const rd_program *p, const rd_schedule *t, const char *what,
                           tally *count)
{
    for (int32_t i = 0; i < p->n_inst; i++) {
        double old, new;
        bool   row = false;

        for (int32_t k = p->inst[i].loop; k >= 0; k = p->loop[k].parent)
            row |= rd_is_sparse_row(&p->loop[k]);
        if (row || !rd_inst_makes(p, &p->inst[i]))
            continue;
        old = rd_program_times(p, i);
        new = rd_rounds_of(t, t->let[p->inst[i].dst].made_by);
        if (fabs(old - new) > 1e-9 * old)
            differs(what, p, t, "is made at other times", p->inst[i].dst);
        count->rounds++;
    }
}

/* ---- Programs --------------------------------------------------------------------------------- */
static void compare(const rd_program *p, const rd_program *of, bool whole, const char *what,
                    tally *count)
{
    rd_ctx      *ctx     = rd_ctx_new(NULL);
    rd_pool     *pool    = rd_pool_new(ctx);
    const bool   by_rows = p != of;
    const char  *why;
    rd_schedule *t = loop_tree_of(p, whole, pool, &why);

    count->trees += t != NULL;
    if (t && !whole)
        compare_rounds(p, t, what, count);
    if (t && p->code && !whole && !by_rows)
        compare_forms(p, t, what, count);
    if (t && !whole && !by_rows)
        compare_spread(p, t, what, pool, count);
    rd_schedule_free(t);
    rd_pool_free(pool);
    rd_ctx_free(ctx);
}

static void see(const rd_program *p, const char *what, void *user)
{
    tally            *count   = user;
    rd_ctx           *ctx     = rd_ctx_new(NULL);
    rd_pool          *pool    = rd_pool_new(ctx);
    const rd_program *by_rows = NULL;

    count->programs++;
    compare(p, p, false, what, count);
    compare(p, p, true, what, count);
    ck_assert(rd_nest_sparse_rows(p, loop_pool_get, pool, &by_rows));
    if (by_rows) {
        count->rows++;
        compare(by_rows, p, false, what, count);
    }
    rd_pool_free(pool);
    rd_ctx_free(ctx);
}

static void begin(void)
{
    rd_tier_force("off");
}

static void say(const char *of, const tally *c)
{
    printf("%s: %d programs, %d trees; %d of rows, %d rounds; %d forms, %d spread\n", of,
           c->programs, c->trees, c->rows, c->rounds, c->forms, c->spread);
}

START_TEST(random_programs)
{
    tally count = { 0 };

    for (int k = 0; k < 40; k++)
        loop_programs_of_seed((uint64_t)(_i * 40 + k), see, &count);
    say("random", &count);
    ck_assert_int_gt(count.trees, 400);
    ck_assert_int_gt(count.rounds, 400);
}
END_TEST

START_TEST(cases)
{
    tally count = { 0 };

    loop_programs_of_cases(see, &count);
    say("cases", &count);
    ck_assert_int_gt(count.rounds, 100);
    ck_assert_int_gt(count.forms, 90);
}
END_TEST

START_TEST(folds)
{
    tally count = { 0 };

    loop_programs_of_folds(see, &count);
    say("folds", &count);
    ck_assert_int_gt(count.forms, 100);
    ck_assert_int_gt(count.spread, 20);
}
END_TEST

START_TEST(rows)
{
    tally count = { 0 };

    loop_programs_of_rows(see, &count);
    say("rows", &count);
    ck_assert_int_ge(count.rows, 2);
}
END_TEST

static Suite *suite(void)
{
    Suite *s  = suite_create("loop_meets");
    TCase *tc = tcase_create("meets");

    tcase_set_timeout(tc, 600);
    tcase_add_checked_fixture(tc, begin, NULL);
    tcase_add_loop_test(tc, random_programs, 0, 10);
    tcase_add_test(tc, cases);
    tcase_add_test(tc, folds);
    tcase_add_test(tc, rows);
    suite_add_tcase(s, tc);
    return s;
}

int main(void)
{
    SRunner *runner = srunner_create(suite());
    int      failed;

    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
