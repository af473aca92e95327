/* test_loop_facts.c - what is said of loop trees beside what some of their rounds do. */
#include "core/text_buffer.h"
#include "kernels/loop/facts.h"
#include "loop_programs.h"
#include "loop_walk.h"
#include "suite.h"
#include <stdio.h>

typedef struct tally {
    int trees, strips, loops, moves, unknown, pairs, touched, careful, together, apart, fissions,
        not_fissions;
    int interchanges, not_interchanges, fusions, meets[RD_MAPS_MIXED + 1];
} tally;

static void differs(const char *what, const rd_schedule *t, int32_t loop, const char *sentence)
{
    rd_text text = { 0 };

    rd_schedule_text(&text, t);
    ck_abort_msg("%s: loop over i%d: %s\n%.3500s", what, (int)rd_loop_of(t, loop)->axis, sentence,
                 text.at);
}

/* ---- Moves ------------------------------------------------------------------------------------ */
static bool same_inside(const touch *a, const touch *b)
{
    return a->stmt == b->stmt && a->which == b->which && a->depth == b->depth &&
           memcmp(a->inside, b->inside, (size_t)a->depth * sizeof *a->inside) == 0;
}

static void check_move(const walk *w, const touch *a, const touch *b, const char *what, tally *c)
{
    rd_access     access[2];
    rd_stride     move;
    const int32_t n = rd_accesses_of(w->t, a->stmt, access);

    if (a->which < 0 || a->which >= n || !same_inside(a, b) || a->round == b->round)
        return;
    move = rd_position_stride(w->t, w->loop, a->stmt, &access[a->which].at);
    c->moves++;
    c->unknown += !move.known;
    if (move.known && a->known && b->at - a->at != move.by * (b->round - a->round))
        differs(what, w->t, w->loop, "an address moves by another number");
}

/* ---- Touches ---------------------------------------------------------------------------------- */
static void check_touch(const walk *w, const touch *a, const touch *b, const char *what, tally *c)
{
    const bool conflict = walk_conflict(w, a, b);
    rd_access  x[2], y[2];
    bool       said;

    if (a->which < 0 || b->which < 0 || (!a->writes && !b->writes))
        return;
    rd_accesses_of(w->t, a->stmt, x);
    rd_accesses_of(w->t, b->stmt, y);
    said = a->round == b->round ? rd_may_touch_within(w->t, w->loop, &x[a->which], &y[b->which])
                                : rd_may_touch_across(w->t, w->loop, &x[a->which], &y[b->which]);
    c->pairs++;
    c->touched += conflict;
    c->careful += said && !conflict;
    if (conflict && !said)
        differs(what, w->t, w->loop, "two accesses touch the same element, and are said not to");
}

/* How the loop that is walked meets each fold, and how many rounds may go side by side. */
enum { MOST_FOLDS = 32 };
static rd_mapping meets[MOST_FOLDS];
static int64_t    beside;

static void find_meets(const rd_schedule *t, int32_t loop)
{
    ck_assert_int_le(t->p->n_fold, MOST_FOLDS);
    beside = INT64_MAX;
    for (int32_t k = 0; k < t->p->n_fold; k++) {
        meets[k] = rd_mapping_of(t, k, loop);
        if (meets[k] == RD_MAPS_LANES && t->p->fold[k].lanes < beside)
            beside = t->p->fold[k].lanes;
    }
}

/* Which is no matter where a fold begins and ends in each round: its states are the round's own. */
static bool needs_order(const walk *w, const touch *a, const touch *b)
{
    const int32_t fold = w->t->stmt[a->stmt].fold;

    return walk_conflict(w, a, b) && (a->which >= 0 || meets[fold] != RD_MAPS_SAME);
}

/* ---- Order ------------------------------------------------------------------------------------ */
static void check_together(const walk *w, const touch *a, const touch *b, const char *what)
{
    if (b->round - a->round < beside && needs_order(w, a, b))
        differs(what, w->t, w->loop, "rounds may go together that need an order");
}

static bool stands_in(const rd_schedule *t, int32_t stmt, int32_t body)
{
    return stmt == body || rd_stands_in(t, stmt, body);
}

/* Is it part of the loop's body from `at` on? */
static bool is_later(const rd_schedule *t, int32_t stmt, int32_t at)
{
    for (int32_t s = at; s >= 0; s = t->stmt[s].next)
        if (stands_in(t, stmt, s))
            return true;
    return false;
}

static void check_fission(const walk *w, int32_t at, const char *what, tally *c)
{
    const bool may = rd_may_fission(w->t, w->loop, at, NULL);

    c->fissions += may;
    c->not_fissions += !may;
    for (int32_t i = 0; i < w->n && may; i++)
        for (int32_t k = i + 1; k < w->n; k++)
            if (is_later(w->t, w->touch[i].stmt, at) && !is_later(w->t, w->touch[k].stmt, at) &&
                needs_order(w, &w->touch[i], &w->touch[k]))
                differs(what, w->t, w->loop, "a loop may become two that need an order");
}

static void check_interchange(const walk *w, const char *what, tally *c)
{
    const int32_t inner = w->t->stmt[w->loop].first;
    bool          may;

    if (inner < 0 || w->t->stmt[inner].kind != RD_S_LOOP || w->t->stmt[inner].next >= 0)
        return;
    may = rd_may_interchange(w->t, w->loop, inner, NULL);
    c->interchanges += may;
    c->not_interchanges += !may;
    for (int32_t i = 0; i < w->n && may; i++)
        for (int32_t k = i + 1; k < w->n; k++)
            if (w->touch[i].round < w->touch[k].round &&
                w->touch[i].inside[0] > w->touch[k].inside[0] &&
                needs_order(w, &w->touch[i], &w->touch[k]))
                differs(what, w->t, w->loop, "loops may change places that need an order");
}

/* ---- Folds ------------------------------------------------------------------------------------ */
static void check_meet(const walk *w, const touch *a, const touch *b, const char *what)
{
    const rd_stmt *s    = &w->t->stmt[a->stmt];
    const rd_fold *f    = s->fold >= 0 ? &w->t->p->fold[s->fold] : NULL;
    const bool     same = f && a->at == b->at && a->lane == b->lane;
    rd_mapping     meet;

    if (!f || a->lane < 0 || b->lane < 0 || w->t->stmt[b->stmt].fold != s->fold ||
        a->round == b->round || !a->known || !b->known)
        return;
    meet = meets[s->fold];
    if (meet == RD_MAPS_NOT)
        differs(what, w->t, w->loop, "a fold is met, and said not to be");
    if (meet == RD_MAPS_CELLS && a->at == b->at)
        differs(what, w->t, w->loop, "two rounds meet one cell");
    if (meet == RD_MAPS_LANES && same && b->round - a->round < f->lanes)
        differs(what, w->t, w->loop, "two rounds meet one lane");
    if (meet == RD_MAPS_STEPS && same && b->step <= a->step)
        differs(what, w->t, w->loop, "steps do not rise");
    if (meet == RD_MAPS_BLOCKS && a->at == b->at && b->step / f->steps <= a->step / f->steps)
        differs(what, w->t, w->loop, "two rounds meet one block");
}

/* ---- Trees ------------------------------------------------------------------------------------ */
static void check_loop(const rd_schedule *t, int32_t loop, const char *what, tally *c)
{
    static walk w;
    const bool  together = rd_may_be_parallel(t, loop, NULL);

    if (t->stmt[loop].first < 0 || !walk_loop(&w, t, loop))
        return;
    find_meets(t, loop);
    c->loops++;
    c->together += together;
    c->apart += !together;
    for (int32_t k = 0; k < t->p->n_fold; k++)
        c->meets[meets[k]]++;
    for (int32_t i = 0; i < w.n; i++)
        for (int32_t k = i + 1; k < w.n; k++) {
            const touch *a = &w.touch[i], *b = &w.touch[k];

            check_move(&w, a, b, what, c);
            check_touch(&w, a, b, what, c);
            check_meet(&w, a, b, what);
            if (together && a->round != b->round)
                check_together(&w, a, b, what);
        }
    for (int32_t at = t->stmt[t->stmt[loop].first].next; at >= 0; at = t->stmt[at].next)
        check_fission(&w, at, what, c);
    check_interchange(&w, what, c);
}

static void check_tree(const rd_schedule *t, const char *what, tally *c)
{
    c->trees++;
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = rd_next_stmt(t, t->part[k], t->part[k]); s >= 0;
             s         = rd_next_stmt(t, s, t->part[k]))
            if (t->stmt[s].kind == RD_S_LOOP)
                check_loop(t, s, what, c);
}

/* The same of the tree with strips of a few elements around each body that may have them: their loops
 * begin and end at marks, and bind an axis again. */
static void check_strips(const rd_schedule *t, const char *what, tally *c)
{
    enum { STRIP = 3 };

    for (int32_t s = 0; s < t->n_stmt; s++)
        for (int32_t axis = 0; axis < t->p->n_axis; axis++) {
            rd_schedule *strips;

            if (t->stmt[s].first < 0 || !rd_may_enclose(t, s, axis, NULL))
                continue;
            strips = rd_schedule_copy(t);
            ck_assert_int_ge(rd_enclose_in_loop(strips, s, axis, STRIP), 0);
            c->strips++;
            check_tree(strips, what, c);
            rd_schedule_free(strips);
        }
}

/* A loop within another one over the same axis, by ranges of so many indices. */
static int32_t strip_mine(rd_schedule *t, int32_t loop, int64_t step)
{
    rd_for around = *rd_loop_of(t, loop), *inner;

    around.step       = step;
    around.start_mark = rd_add_mark(t);
    around.stop_mark  = rd_add_mark(t);
    around.extent     = (around.extent - 1) / step + 1;
    inner             = &t->loop[t->stmt[loop].arg];
    inner->from       = rd_edge_of(rd_linear_plus_axis(t, rd_linear_of(0), 1, around.start_mark));
    inner->to         = rd_edge_of(rd_linear_plus_axis(t, rd_linear_of(0), 1, around.stop_mark));
    return rd_put_loop_around(t, loop, loop, &around);
}

/* Ranges of steps are whole blocks if they are as long, and else are not. */
static void check_ranges(const rd_schedule *t, const char *what, tally *c)
{
    static const int64_t steps[] = { 64, 96, 4096 };

    for (int32_t s = 0; s < t->n_stmt; s++)
        for (int k = 0; k < 3; k++) {
            rd_schedule *ranges;

            if (t->stmt[s].kind != RD_S_LOOP || rd_loop_of(t, s)->step != 1 ||
                rd_loop_of(t, s)->backwards || rd_loop_of(t, s)->extent <= steps[k])
                continue;
            ranges = rd_schedule_copy(t);
            check_loop(ranges, strip_mine(ranges, s, steps[k]), what, c);
            rd_schedule_free(ranges);
        }
}

static void see(const rd_program *p, const char *what, void *user)
{
    rd_ctx             *ctx  = rd_ctx_new(NULL);
    rd_pool            *pool = rd_pool_new(ctx);
    const char         *why  = NULL;
    const rd_loop_fold *fold = rd_loop_folds_of(p, false, loop_pool_get, pool, &why);
    rd_schedule        *t    = fold && !why ? rd_schedule_build(p, fold, false) : NULL;

    if (t)
        check_tree(t, what, user);
    if (t)
        check_ranges(t, what, user);
    if (t && p->n_loop < 8)
        check_strips(t, what, user);
    rd_schedule_free(t);
    rd_pool_free(pool);
    rd_ctx_free(ctx);
}

static void say(const char *of, const tally *c)
{
    printf(
        "%s: %d trees, %d by strips, %d loops; %d moves, %d unknown; %d pairs, %d touch, %d by caution; %d "
        "together, %d not; %d fissions, %d not; %d interchanges, %d not;",
        of, c->trees, c->strips, c->loops, c->moves, c->unknown, c->pairs, c->touched, c->careful,
        c->together, c->apart, c->fissions, c->not_fissions, c->interchanges, c->not_interchanges);
    for (int k = 0; k <= RD_MAPS_MIXED; k++)
        printf(" %s %d", rd_mapping_name((rd_mapping)k), c->meets[k]);
    printf("\n");
}

START_TEST(random_programs)
{
    tally c = { 0 };

    for (int k = 0; k < 8; k++)
        loop_programs_of_seed((uint64_t)(5000 + _i * 8 + k), see, &c);
    say("random", &c);
    ck_assert_int_gt(c.together, 20);
    ck_assert_int_gt(c.apart, 10);
}
END_TEST

START_TEST(cases)
{
    tally c = { 0 };

    loop_programs_of_cases(see, &c);
    say("cases", &c);
    ck_assert_int_gt(c.together, 100);
}
END_TEST

START_TEST(folds)
{
    tally c = { 0 };

    loop_programs_of_folds(see, &c);
    say("folds", &c);
    ck_assert_int_gt(c.together, 100);
    ck_assert_int_gt(c.meets[RD_MAPS_BLOCKS], 20);
}
END_TEST

static Suite *suite(void)
{
    Suite *s  = suite_create("loop_facts");
    TCase *tc = tcase_create("facts");

    tcase_set_timeout(tc, 600);
    tcase_add_loop_test(tc, random_programs, 0, 10);
    tcase_add_test(tc, cases);
    tcase_add_test(tc, folds);
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
