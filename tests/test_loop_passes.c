/* test_loop_passes.c - what passes make of loops that are large, or are left early: the trees have it,
 * and mean their programs. */
#include "kernels/cpu/simd/simd.h"
#include "kernels/pass/substrips.h"
#include "kernels/pass/pass.h"
#include "kernels/pass/strip_at.h"
#include "loop_trees.h"
#include "suite.h"

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

typedef bool looks(const rd_schedule *t);

/* ---- Parts of trees --------------------------------------------------------------------------- */
static const rd_for *loop_at(const rd_schedule *t, int32_t stmt)
{
    return stmt >= 0 && t->stmt[stmt].kind == RD_S_LOOP ? rd_loop_of(t, stmt) : NULL;
}

/* Is there a statement of the kind of which this is true? */
typedef bool asks(const rd_schedule *t, int32_t stmt);

static bool any(const rd_schedule *t, rd_stmt_kind kind, asks *is)
{
    for (int n = 0, s; (s = loop_find(t, kind, n)) >= 0; n++)
        if (is(t, s))
            return true;
    return false;
}

static bool all(const rd_schedule *t, rd_stmt_kind kind, asks *is)
{
    for (int n = 0, s; (s = loop_find(t, kind, n)) >= 0; n++)
        if (!is(t, s))
            return false;
    return loop_find(t, kind, 0) >= 0;
}

/* ---- Early exits ------------------------------------------------------------------------------ */
static bool asks_now_and_then(const rd_schedule *t, int32_t exit)
{
    return t->stmt[exit].every == 16;
}

static bool looks_at_strip(const rd_schedule *t, int32_t exit)
{
    return t->stmt[exit].count.n == 2;
}

static bool leaves_what_follows(const rd_schedule *t, int32_t exit)
{
    const rd_stmt *s = &t->stmt[exit];

    return t->stmt[s->parent].next == s->arg && loop_at(t, s->arg);
}

static bool stands_in_four(const rd_schedule *t, int32_t exit)
{
    return loop_at(t, t->stmt[exit].parent)->step == 4;
}

static bool exits_of_rows(const rd_schedule *t)
{
    return all(t, RD_S_EXIT, asks_now_and_then) && all(t, RD_S_EXIT, looks_at_strip);
}

static bool exits_of_four_rows(const rd_schedule *t)
{
    return exits_of_rows(t) && all(t, RD_S_EXIT, stands_in_four) &&
           all(t, RD_S_EXIT, leaves_what_follows);
}

static bool exits_nowhere(const rd_schedule *t)
{
    return loop_find(t, RD_S_EXIT, 0) < 0 && loop_find(t, RD_S_STEP, 1) >= 0;
}

static bool exits_of_strips(const rd_schedule *t)
{
    return all(t, RD_S_EXIT, asks_now_and_then) && all(t, RD_S_EXIT, leaves_what_follows) &&
           !any(t, RD_S_EXIT, looks_at_strip);
}

/* A loop of one round around all pieces. */
static bool leaves_all_pieces(const rd_schedule *t, int32_t exit)
{
    const rd_for *loop = loop_at(t, t->stmt[exit].arg);

    return loop->kind == RD_FOR_ONCE && rd_stands_in(t, t->stmt[exit].parent, t->stmt[exit].arg);
}

static bool exits_of_pieces(const rd_schedule *t)
{
    return all(t, RD_S_EXIT, asks_now_and_then) && all(t, RD_S_EXIT, leaves_all_pieces) &&
           loop_find(t, RD_S_EXIT, 1) >= 0;
}

/* Ends are numbers of the row. */
static bool is_piece(const rd_schedule *t, int32_t loop)
{
    const rd_linear *to = &rd_loop_of(t, loop)->to.part[0].at;

    return to->n == 1 && t->term[to->first].axis < 0;
}

static bool has_pieces(const rd_schedule *t)
{
    return any(t, RD_S_LOOP, is_piece);
}

/* ---- Lists ------------------------------------------------------------------------------------ */
static bool is_for_block(const rd_schedule *t, int32_t find)
{
    const rd_for *loop = loop_at(t, t->stmt[find].parent);

    return loop && loop->kind == RD_FOR_BLOCK && t->stmt[find].count.n > 0;
}

static bool finds_ranges_of_blocks(const rd_schedule *t)
{
    return all(t, RD_S_LOWER_BOUND, is_for_block) && loop_find(t, RD_S_LOWER_BOUND, 1) >= 0;
}

/* ---- What is large ---------------------------------------------------------------------------- */
static bool is_stream(const rd_schedule *t, int32_t loop)
{
    return rd_loop_of(t, loop)->nontemporal && t->stmt[t->stmt[loop].last].kind == RD_S_STORE &&
           t->stmt[t->stmt[loop].last].slot >= 0;
}

static bool is_part(const rd_schedule *t, int32_t loop)
{
    return rd_loop_of(t, loop)->substrip && rd_loop_of(t, loop)->step == RD_SUBSTRIP;
}

static bool is_stream_of_part(const rd_schedule *t, int32_t loop)
{
    return is_stream(t, loop) && is_part(t, t->stmt[loop].parent);
}

static bool is_array_of_part(const rd_schedule *t, int32_t array)
{
    const rd_tree_array *a = &t->store[t->stmt[array].store];

    return a->fold >= 0 || a->extent <= RD_SUBSTRIP;
}

static bool has_streams(const rd_schedule *t)
{
    return any(t, RD_S_LOOP, is_stream);
}

static bool has_streams_of_parts(const rd_schedule *t)
{
    return any(t, RD_S_LOOP, is_stream_of_part) && all(t, RD_S_ARRAY, is_array_of_part);
}

static bool has_parts(const rd_schedule *t)
{
    return any(t, RD_S_LOOP, is_part) && all(t, RD_S_ARRAY, is_array_of_part);
}

/* Of four rows so many elements as one has in a part. */
static bool is_ahead(const rd_schedule *t, int32_t fetch)
{
    const rd_stmt *s    = &t->stmt[fetch];
    const rd_for  *part = loop_at(t, s->parent), *rest = loop_at(t, t->stmt[s->parent].next);

    return s->count.n == 0 && part && part->substrip && part->width == part->step &&
           s->count.offset == 4 * part->width && rest && rest->substrip &&
           rest->kind == RD_FOR_ONCE;
}

static bool is_line_ahead(const rd_schedule *t, int32_t fetch)
{
    return is_ahead(t, fetch) && loop_at(t, t->stmt[fetch].parent)->width == 64;
}

static bool is_half_line_ahead(const rd_schedule *t, int32_t fetch)
{
    return is_ahead(t, fetch) && loop_at(t, t->stmt[fetch].parent)->width == 32;
}

static bool is_of_strip(const rd_schedule *t, int32_t fetch)
{
    return t->stmt[fetch].count.n == 2;
}

static bool fetches_lines(const rd_schedule *t)
{
    return all(t, RD_S_PREFETCH, is_line_ahead);
}

static bool fetches_half_lines(const rd_schedule *t)
{
    return all(t, RD_S_PREFETCH, is_half_line_ahead);
}

static bool fetches_strips(const rd_schedule *t)
{
    return all(t, RD_S_PREFETCH, is_of_strip);
}

static bool fetches_nothing(const rd_schedule *t)
{
    return loop_find(t, RD_S_PREFETCH, 0) < 0 && !any(t, RD_S_LOOP, is_stream);
}

/* ---- States of folds -------------------------------------------------------------------------- */
static bool is_beside(const rd_schedule *t, int32_t loop)
{
    const rd_stmt *step = &t->stmt[t->stmt[loop].last];

    return loop_at(t, loop)->kind == RD_FOR_VECTOR && step->kind == RD_S_STEP &&
           rd_linear_coef(t, &step->fold_at.state_offset, loop_at(t, loop)->axis) == 1 &&
           rd_linear_coef(t, &step->fold_at.lane_line, loop_at(t, loop)->axis) == 64;
}

static bool turns_columns(const rd_schedule *t)
{
    return any(t, RD_S_LOOP, rd_is_transpose);
}

static bool has_blocks_beside(const rd_schedule *t)
{
    return any(t, RD_S_LOOP, is_beside) && any(t, RD_S_LOOP, rd_is_transpose);
}

/* One state comes near just before the loop of its steps. */
static bool comes_alone(const rd_schedule *t, int32_t near)
{
    const int32_t loop = t->stmt[near].next;

    return t->store[t->stmt[near].arg].extent == 1 && loop >= 0 && loop_at(t, loop) &&
           t->stmt[t->stmt[loop].last].store == t->stmt[near].arg;
}

static bool has_one_alone(const rd_schedule *t)
{
    return any(t, RD_S_LOAD_STATES, comes_alone);
}

static bool turns_to_array(const rd_schedule *t, int32_t turn)
{
    return t->store[t->stmt[turn].arg].one_label &&
           t->stmt[t->stmt[turn].next].store == t->stmt[turn].arg;
}

static bool has_runs(const rd_schedule *t)
{
    return all(t, RD_S_SWITCH_STATE, turns_to_array);
}

/* One loop takes all steps that go in turn, behind the vectors that make their labels. */
static bool goes_in_turn(const rd_schedule *t, int32_t loop)
{
    const rd_for *l = loop_at(t, loop);
    int           n = 0;

    for (int32_t s = t->stmt[loop].first; s >= 0; s = t->stmt[s].next)
        n += t->stmt[s].kind == RD_S_STEP && t->stmt[s].label >= 0;
    return l->kind == RD_FOR_VECTOR && l->in_order && n == 2 && t->stmt[loop].next < 0 &&
           rd_is_vector(t, t->stmt[loop].prev) && !loop_at(t, t->stmt[loop].prev)->in_order;
}

static bool has_turns(const rd_schedule *t)
{
    return any(t, RD_S_LOOP, goes_in_turn);
}

/* Columns of one label in vectors: no run of theirs is long. */
static bool has_no_runs(const rd_schedule *t)
{
    return loop_find(t, RD_S_SWITCH_STATE, 0) < 0;
}

static bool is_of_four(const rd_schedule *t, int32_t loop)
{
    const rd_for *l = loop_at(t, loop);

    return l->kind == RD_FOR_VECTOR && l->by_call && l->extent == 4;
}

static bool has_fours(const rd_schedule *t)
{
    return any(t, RD_S_LOOP, is_of_four);
}

/* Without a step of the loop under the mask. */
static bool lacks_steps(const rd_schedule *t, int32_t stmt)
{
    const uint64_t steps = RD_KIND_BIT(RD_S_STEP);

    return t->stmt[stmt].unless &&
           rd_count_kinds(t, stmt, steps) < rd_count_kinds(t, t->stmt[stmt].prev, steps);
}

static bool asks_before_rows(const rd_schedule *t)
{
    return any(t, RD_S_IF, lacks_steps);
}

static bool is_of_all(const rd_schedule *t, int32_t ends)
{
    return t->stmt[ends].all_cells;
}

static bool ends_all(const rd_schedule *t)
{
    return all(t, RD_S_PUSH_IF_LAST, is_of_all);
}

static bool is_call(const rd_schedule *t, int32_t ends)
{
    return rd_is_by_call(t, t->stmt[ends].parent);
}

static bool ends_by_call(const rd_schedule *t)
{
    return all(t, RD_S_PUSH_IF_LAST, is_call);
}

static bool is_only_strip(const rd_schedule *t, int32_t loop)
{
    const int32_t inside = t->stmt[loop].first;

    return loop_at(t, loop)->kind == RD_FOR_ONCE && loop_at(t, inside) &&
           loop_at(t, inside)->kind == RD_FOR_SERIAL;
}

/* In one task there are no strips but that. */
static bool stands_around_rows(const rd_schedule *t)
{
    return t->whole || any(t, RD_S_LOOP, is_only_strip);
}

/* A vector loop between two that are none, which take its elements by arrays. */
static bool is_of_rounds(const rd_schedule *t, int32_t loop)
{
    const rd_tree_value *let = rd_let_of(t, t->stmt[loop].first);

    return rd_is_vector(t, loop) && t->stmt[loop].parent >= 0 && let && let->store >= 0 &&
           loop_at(t, t->stmt[loop].parent) && loop_at(t, t->stmt[loop].parent)->step == 64;
}

static bool has_functions_of_rows(const rd_schedule *t)
{
    return any(t, RD_S_LOOP, is_of_rounds);
}

static bool goes_both_ways(const rd_schedule *t, int32_t loop)
{
    return rd_loop_of(t, loop)->flattened && loop_at(t, t->stmt[loop].first);
}

static bool is_flat(const rd_schedule *t)
{
    return any(t, RD_S_LOOP, goes_both_ways) && loop_find(t, RD_S_LOAD_STATES, 0) >= 0 &&
           loop_find(t, RD_S_STORE_STATES, 0) >= 0;
}

static bool is_not_flat(const rd_schedule *t)
{
    return !any(t, RD_S_LOOP, goes_both_ways);
}

/* From three times where the strip begins to three times where it ends, and by neighbours. */
static bool goes_over_colours(const rd_schedule *t, int32_t loop)
{
    const rd_for    *l    = rd_loop_of(t, loop);
    const rd_linear *from = &l->from.part[0].at;

    return l->kind == RD_FOR_VECTOR && l->axis >= t->p->n_axis && from->n == 1 &&
           t->term[from->first].coef == 3;
}

static bool has_colours(const rd_schedule *t)
{
    return any(t, RD_S_LOOP, goes_over_colours);
}

static bool copies_groups(const rd_schedule *t, int32_t loop)
{
    return rd_is_by_call(t, loop) && loop_at(t, t->stmt[loop].first);
}

static bool has_groups(const rd_schedule *t)
{
    return has_colours(t) && any(t, RD_S_LOOP, copies_groups);
}

/* Windows are read again, so they are strips of 64. */
static bool is_wide(const rd_schedule *t, int32_t loop)
{
    return rd_loop_of(t, loop)->strips_number >= 0 && rd_loop_of(t, loop)->step > 64;
}

static bool has_no_wide_strips(const rd_schedule *t)
{
    return !any(t, RD_S_LOOP, is_wide);
}

static bool checks_index(const rd_schedule *t, int32_t stmt)
{
    return t->let[t->stmt[stmt].value].kind == RD_I_INDEX && rd_is_by_call(t, t->stmt[stmt].parent);
}

static bool has_lookups(const rd_schedule *t)
{
    return any(t, RD_S_LET, checks_index);
}

/* Where 32 bytes are no vector. */
static bool is_array_of_bools(const rd_schedule *t, int32_t array)
{
    return t->stmt[array].fold < 0 && t->store[t->stmt[array].store].type == RD_BOOL;
}

static bool has_no_bools(const rd_schedule *t)
{
    return loop_find(t, RD_S_ARRAY, 1) >= 0 && !any(t, RD_S_ARRAY, is_array_of_bools);
}

/* ---- The table -------------------------------------------------------------------------------- */
static const struct {
    const char      *what;
    loop_expression *make;
    looks           *has;
    bool             large; /* as if no array fit the caches */
} rows[] = {
    { "rows that are left early", loop_any_column, exits_of_rows, true },
    { "rows that go together and are left early", loop_any_column, exits_of_four_rows, false },
    { "a row that is left early", loop_any_row, exits_of_strips, false },
    { "few rows beside each other", loop_any_few, exits_nowhere, false },
    { "pieces that are left early", loop_max_below, exits_of_pieces, false },
    { "ranges of rows", loop_ranges_of_rows, has_pieces, false },
    { "ranges of a list", loop_pairs_of_blocks, finds_ranges_of_blocks, false },
    { "stores past the caches", loop_map, has_streams, true },
    { "long stores past the caches", loop_sum_columns, has_streams_of_parts, true },
    { "nothing large", loop_scaled_columns, fetches_nothing, false },
    { "long rows of several loops", loop_sines_of_columns, has_parts, false },
    { "rows that go together", loop_sum_columns, fetches_lines, true },
    { "rows of states of two numbers", loop_max_columns, fetches_half_lines, true },
    { "rows of doubles and masks", loop_some_of_columns, fetches_lines, true },
    { "few columns", loop_few_columns, is_flat, false },
    { "few columns, the greatest", loop_max_few_columns, is_flat, false },
    { "columns of short rows", loop_rows_of_ten, turns_columns, false },
    { "many columns", loop_sum_columns, is_not_flat, false },
    { "columns with a factor each", loop_scaled_few_columns, has_colours, false },
    { "each second row", loop_second_few_columns, has_groups, false },
    { "rows that are read twice", loop_softmax, fetches_strips, true },
    { "further along a row", loop_rows, fetches_strips, true },
    { "blocks of a user's reducer", loop_user, has_blocks_beside, false },
    { "blocks of short rows", loop_user_rows, has_blocks_beside, false },
    { "the state of a user's reducer", loop_user, has_one_alone, false },
    { "runs of labels", loop_user_by_label, has_runs, false },
    { "columns of one label", loop_by_label, has_no_runs, false },
    { "labels that are computed", loop_histogram, has_turns, false },
    { "blocks of all groups", loop_block_of_groups, ends_all, false },
    { "blocks of products of columns", loop_products_of_columns, ends_by_call, false },
    { "the only strip of columns", loop_many_labels, stands_around_rows, false },
    { "extremes of long rows", loop_long_rows, has_fours, false },
    { "functions of rows", loop_functions_of_rows, has_functions_of_rows, false },
    { "windows", loop_filter, has_no_wide_strips, false },
    { "rows of a table", loop_scores, has_lookups, false },
    { "bools of few elements", loop_chosen_powers, has_no_bools, false },
    { "a mask of whole rows", loop_some_rows, asks_before_rows, false },
    { "a mask of columns beside rows", loop_some_columns, asks_before_rows, false },
};

/* No shadow run goes by lists, which memory has. */
static bool may_be(rd_verdict verdict, int k)
{
    return verdict == (rows[k].make == loop_pairs_of_blocks ? RD_TREE_SKIPPED : RD_TREE_HOLDS);
}

static void look(rd_ctx *ctx, int k, bool whole)
{
    loop_tree        tree = loop_tree_of_passed(ctx, rows[k].make, whole);
    rd_text          why  = { 0 };
    const rd_verdict verdict =
        tree.t ? rd_schedule_check(tree.t, RD_MOST_VISITS, &why) : RD_TREE_FAILS;
    const bool has = tree.t && rows[k].has(tree.t);

    rd_text_add(&why, "\n");
    if (tree.t && (!may_be(verdict, k) || !has))
        rd_schedule_text(&why, tree.t);
    ck_assert_msg(tree.t && may_be(verdict, k) && has, "%s%s: %s", rows[k].what,
                  whole ? ", whole" : "", tree.t ? why.at : tree.why);
    rd_text_free(&why);
    loop_tree_free(&tree);
}

START_TEST(passed)
{
    rd_ctx *ctx = rd_ctx_new(NULL);

    rd_force_large(rows[_i].large);
    look(ctx, _i, false);
    look(ctx, _i, true);
    rd_force_large(0);
    rd_ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("passes of loop trees");
    TCase   *tc     = tcase_create("structure");
    SRunner *runner = srunner_create(suite);

    rd_prefetches_rows = rd_prefetches_rows_behind = true;
    tcase_add_loop_test(tc, passed, 0, COUNT(rows));
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
