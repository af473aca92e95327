/* test_loops.c - loop trees of programs that people know: as text, copied, checked, and changed in
 * ways that keep what they mean. */
#include "cases.h"
#include "kernels/pass/pass.h"
#include "loop_trees.h"
#include "suite.h"

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

static rd_ctx *ctx;

static void setup(void)
{
    ctx = rd_ctx_new(NULL);
}

static void teardown(void)
{
    rd_ctx_free(ctx);
}

static void must_hold(const rd_schedule *t, const char *what)
{
    rd_text          why     = { 0 };
    const rd_verdict verdict = rd_schedule_check(t, RD_MOST_VISITS, &why);

    if (verdict != RD_TREE_HOLDS) {
        rd_text_add(&why, "\n");
        rd_schedule_text(&why, t);
    }
    ck_assert_msg(verdict == RD_TREE_HOLDS, "%s: %s", what, why.at);
    rd_text_free(&why);
}

/* ---- Text ------------------------------------------------------------------------------------- */
static const struct {
    const char      *what;
    loop_expression *make;
    const char      *text;
} pinned[] = {
    /* clang-format off */
    { "masked mean over a strided axis", loop_masked_mean,
      "a0: states of f0, cells 1 apart, lanes 1 apart, 40 in task\n"
      "a1: states of f1, cells 1 apart, lanes 1 apart, 40 in task\n"
      "head\n"
      "  begin f0: sum f32, 40 cells of 1 lanes\n"
      "  begin f1: sum f32, 40 cells of 1 lanes\n"
      "  r2 = number f32 0\n"
      "body\n"
      "  serial i1 from lo to hi\n"
      "    serial i0 to 40\n"
      "      r0 = load bool s1[i0 + 40*i1]\n"
      "      r1 = load f32 s0[i0 + 40*i1]\n"
      "      r3 = choice f32 r0, r1, r2\n"
      "      step f0 cell i0, lane 0, line i1: r3\n"
      "      push if last f0 cell i0, lane 0, line i1\n"
      "      r4 = f32 of bool r0\n"
      "      step f1 cell i0, lane 0, line i1: r4\n"
      "      push if last f1 cell i0, lane 0, line i1\n"
      "tail\n"
      "  serial i0 to 40\n"
      "    merge blocks f0 cell i0\n"
      "    r5 = finish f0 cell i0\n"
      "    s2[i0] = r5\n"
      "  serial i0 to 40\n"
      "    merge blocks f1 cell i0\n"
      "    r6 = finish f1 cell i0\n"
      "    s3[i0] = r6\n" },
    { "softmax of rows", loop_softmax,
      "a0: states of f0, cells 64 apart, lanes 1 apart, 64 in task\n"
      "a1: states of f1, cells 64 apart, lanes 1 apart, 64 in task\n"
      "body\n"
      "  serial i0 from lo to hi\n"
      "    begin f0: max f32, 1 cells of 64 lanes\n"
      "    serial i1 to 70\n"
      "      r0 = load f32 s0[70*i0 + i1]\n"
      "      step f0 cell 0, lane i1, line 0: r0\n"
      "    merge blocks f0 cell 0\n"
      "    merge lanes f0 cell 0\n"
      "    r1 = finish f0 cell 0\n"
      "    begin f1: sum f32, 1 cells of 64 lanes\n"
      "    serial i1 to 70\n"
      "      r2 = load f32 s0[70*i0 + i1]\n"
      "      r3 = sub f32 r2, r1\n"
      "      r4 = exp f32 r3\n"
      "      s2[i1] = r4\n"
      "      step f1 cell 0, lane i1, line 0: r4\n"
      "    merge blocks f1 cell 0\n"
      "    merge lanes f1 cell 0\n"
      "    r5 = finish f1 cell 0\n"
      "    serial i1 to 70\n"
      "      r6 = load f32 s2[i1]\n"
      "      r7 = div f32 r6, r5\n"
      "      s1[70*i0 + i1] = r7\n" },
    { "running sum of rows", loop_running_sum,
      "a0: states of f0, cells 1 apart, lanes 1 apart, 1 in task\n"
      "body\n"
      "  serial i0 from lo to hi\n"
      "    begin f0: sum f32, 1 cells of 1 lanes\n"
      "    serial i1 to 300\n"
      "      r0 = load f32 s0[300*i0 + i1]\n"
      "      r1 = prefix f0 cell 0, lane 0, line i1: r0\n"
      "      push if last f0 cell 0, lane 0, line i1\n"
      "      s1[300*i0 + i1] = r1\n" },
    { "sums over pairs", loop_pair_sums,
      "a0: states of f0, cells 1 apart, lanes 1 apart, 20 in task\n"
      "body\n"
      "  serial i0 from lo to hi by 20, starts m0, stops m1\n"
      "    begin f0: sum f32, 20 cells of 1 lanes\n"
      "    serial i1 to 200\n"
      "      r1 = load f32 s0[i1]\n"
      "      serial i0 from m0 to m1\n"
      "        r0 = load f32 s1[i0]\n"
      "        r2 = sub f32 r0, r1\n"
      "        r3 = square f32 r2\n"
      "        r4 = neg f32 r3\n"
      "        r5 = exp f32 r4\n"
      "        step f0 cell i0 - m0, lane 0, line i1: r5\n"
      "        push if last f0 cell i0 - m0, lane 0, line i1\n"
      "    serial i0 from m0 to m1\n"
      "      merge blocks f0 cell i0 - m0\n"
      "      r6 = finish f0 cell i0 - m0\n"
      "      s2[i0] = r6\n" },
    /* clang-format on */
};

START_TEST(texts)
{
    loop_tree tree = loop_tree_of_expression(ctx, pinned[_i].make, false);
    rd_text   text = { 0 };

    ck_assert_msg(tree.t != NULL, "%s: %s", pinned[_i].what, tree.why);
    rd_schedule_text(&text, tree.t);
    ck_assert_msg(text.at && strcmp(text.at, pinned[_i].text) == 0, "%s:\n%s", pinned[_i].what,
                  text.at);
    must_hold(tree.t, pinned[_i].what);
    rd_text_free(&text);
    loop_tree_free(&tree);
}
END_TEST

/* ---- Copies ----------------------------------------------------------------------------------- */
static loop_expression *const known[] = { loop_masked_mean,   loop_softmax,     loop_running_sum,
                                          loop_pair_sums,     loop_rows,        loop_two_axes,
                                          loop_by_label,      loop_masked_max,  loop_map,
                                          loop_weighted,      loop_reverse,     loop_any_column,
                                          loop_any_row,       loop_short_pairs, loop_user,
                                          loop_user_by_label, loop_long_rows,   loop_many_labels,
                                          loop_nearest,       loop_label_rows,  loop_histogram };

START_TEST(copies_of_trees)
{
    loop_tree    tree = loop_tree_of_expression(ctx, known[_i], _i % 2 == 0);
    rd_schedule *copy = rd_schedule_copy(tree.t);
    rd_text      a = { 0 }, b = { 0 };

    ck_assert(tree.t && copy);
    rd_schedule_text(&a, tree.t);
    rd_schedule_text(&b, copy);
    ck_assert_str_eq(a.at, b.at);
    rd_take_out(copy, loop_find(copy, RD_S_LOOP, 0));
    b.n = 0;
    rd_schedule_text(&b, tree.t);
    ck_assert_str_eq(a.at, b.at);
    must_hold(tree.t, "a tree whose copy has changed");
    rd_text_free(&a);
    rd_text_free(&b);
    rd_schedule_free(copy);
    loop_tree_free(&tree);
}
END_TEST

START_TEST(all_passes_keep_the_meaning)
{
    loop_tree tree = loop_tree_of_passed(ctx, known[_i / 2], _i % 2 == 0);

    ck_assert_msg(tree.t || strstr(tree.why, "a long scan"), "%s", tree.why);
    if (tree.t)
        must_hold(tree.t, "a tree after all passes");
    loop_tree_free(&tree);
}
END_TEST

/* The first loop over the axis of steps, or of cells, that stands innermost. */
static int32_t innermost(const rd_schedule *t)
{
    int32_t found = -1;

    for (int n = 0, s; (s = loop_find(t, RD_S_LOOP, n)) >= 0 && found < 0; n++) {
        bool holds_loops = false;

        for (int32_t k = t->stmt[s].first; k >= 0; k = t->stmt[k].next)
            holds_loops |= t->stmt[k].kind == RD_S_LOOP;
        found = holds_loops ? -1 : s;
    }
    return found;
}

/* The loop is copied: the first one visits up to 7 indices, the copy the others. */
static void divide(rd_schedule *t)
{
    const int32_t loop = innermost(t), copy = rd_stmt_copy(t, loop);
    rd_for *const first = &t->loop[t->stmt[loop].arg], *const second = &t->loop[t->stmt[copy].arg];
    rd_linear middle = first->from.part[0].at;

    ck_assert(loop >= 0 && !t->failed);
    middle.offset += 7;
    if (first->backwards) {
        rd_edge_add(&second->to, middle);
        rd_edge_add(&first->from, middle);
    } else {
        rd_edge_add(&first->to, middle);
        rd_edge_add(&second->from, middle);
    }
    rd_put_behind(t, copy, loop);
}

/* ---- Changes that keep what a tree means ------------------------------------------------------ */
static rd_linear axis_plus(rd_schedule *t, int32_t axis, int64_t offset)
{
    return rd_linear_plus_axis(t, rd_linear_of(offset), 1, axis);
}

/* Strips of the loop; its own rounds are those of one. */
static void strip(rd_schedule *t, int64_t step, rd_for_kind kind)
{
    const int32_t loop  = innermost(t);
    rd_for        outer = *rd_loop_of(t, loop);

    outer.step       = step;
    outer.extent     = -1;
    outer.start_mark = rd_add_mark(t);
    outer.stop_mark  = rd_add_mark(t);
    rd_put_loop_around(t, loop, loop, &outer);
    rd_for *inner = &t->loop[t->stmt[loop].arg];
    inner->from   = rd_edge_of(axis_plus(t, outer.start_mark, 0));
    inner->to     = rd_edge_of(axis_plus(t, outer.stop_mark, 0));
    inner->kind   = kind;
    inner->extent = step;
}

static void strips(rd_schedule *t)
{
    strip(t, 7, RD_FOR_SERIAL);
}

static void unrolled_strips(rd_schedule *t)
{
    strip(t, 4, RD_FOR_UNROLL);
}

static void jammed_strips(rd_schedule *t)
{
    strip(t, 4, RD_FOR_JAM);
}

static void vectors(rd_schedule *t)
{
    strip(t, 16, RD_FOR_VECTOR);
}

/* Aligned strips: the first one ends at a multiple of 8, by an edge that is rounded up. */
static void aligned(rd_schedule *t)
{
    const int32_t loop  = innermost(t);
    rd_for        outer = *rd_loop_of(t, loop);
    rd_edge_part *part  = &outer.from.part[0];

    part->multiple   = 8;
    part->base       = part->at;
    outer.step       = 8;
    outer.extent     = -1;
    outer.start_mark = rd_add_mark(t);
    rd_edge ends     = rd_edge_of(axis_plus(t, outer.start_mark, 8));
    rd_edge_add(&ends, outer.to.part[0].at);
    rd_put_loop_around(t, loop, loop, &outer);
    t->loop[t->stmt[loop].arg].from = rd_edge_of(axis_plus(t, outer.start_mark, 0));
    t->loop[t->stmt[loop].arg].to   = ends;
}

/* Two rows at once: copies of the outer loop's body stand inside the inner loop. */
static void jammed_rows(rd_schedule *t)
{
    const int32_t loop  = loop_find(t, RD_S_LOOP, 0);
    rd_for        outer = *rd_loop_of(t, loop);

    outer.step       = 2;
    outer.extent     = -1;
    outer.start_mark = rd_add_mark(t);
    outer.stop_mark  = rd_add_mark(t);
    rd_put_loop_around(t, loop, loop, &outer);
    rd_for *inner = &t->loop[t->stmt[loop].arg];
    inner->from   = rd_edge_of(axis_plus(t, outer.start_mark, 0));
    inner->to     = rd_edge_of(axis_plus(t, outer.stop_mark, 0));
    inner->kind   = RD_FOR_JAM;
    inner->extent = 2;
}

/* Cells outside, steps inside. */
static void cells_outside(rd_schedule *t)
{
    const int32_t outer = loop_find(t, RD_S_LOOP, 0), inner = loop_find(t, RD_S_LOOP, 1);
    const int32_t loop = t->stmt[outer].arg;

    t->stmt[outer].arg = t->stmt[inner].arg;
    t->stmt[inner].arg = loop;
}

static void blocks(rd_schedule *t)
{
    const rd_target target = { .vector = 64 };

    rd_pass_block_ranges(t, &target);
    ck_assert_int_ge(loop_find(t, RD_S_CUT_AT_BLOCK, 0), 0);
}

/* Blocks end apart from the vector loop. */
static void vectors_of_blocks(rd_schedule *t)
{
    blocks(t);
    vectors(t);
}

static const struct {
    const char      *what;
    loop_expression *make;
    void (*change)(rd_schedule *t);
} changes[] = {
    { "a mean's loop in two", loop_masked_mean, divide },
    { "softmax's loop in two", loop_softmax, divide },
    { "a scan's loop in two", loop_running_sum, divide },
    { "a reverse scan's loop in two", loop_reverse, divide },
    { "labels' loop in two", loop_by_label, divide },
    { "a map's loop in two", loop_map, divide },
    { "strips of cells", loop_masked_mean, strips },
    { "strips of lanes", loop_rows, strips },
    { "strips of a scan", loop_running_sum, strips },
    { "aligned strips", loop_pair_sums, aligned },
    { "unrolled cells", loop_masked_mean, unrolled_strips },
    { "unrolled steps", loop_running_sum, unrolled_strips },
    { "jammed cells", loop_masked_mean, jammed_strips },
    { "jammed lanes", loop_softmax, jammed_strips },
    { "vectors of cells", loop_masked_mean, vectors_of_blocks },
    { "vectors of lanes", loop_softmax, vectors },
    { "vectors of a map", loop_map, vectors },
    { "vectors of pairs", loop_pair_sums, vectors_of_blocks },
    { "two rows at once", loop_masked_mean, jammed_rows },
    { "cells outside", loop_masked_mean, cells_outside },
    { "blocks of rows", loop_masked_mean, blocks },
    { "blocks of lanes", loop_rows, blocks },
    { "blocks of a scan", loop_running_sum, blocks },
    { "blocks of a reverse scan", loop_reverse, blocks },
    { "blocks of pairs", loop_pair_sums, blocks },
};

START_TEST(changed)
{
    for (int whole = changes[_i].change == cells_outside; whole < 2; whole++) {
        loop_tree tree = loop_tree_of_expression(ctx, changes[_i].make, whole);

        ck_assert_msg(tree.t != NULL, "%s: %s", changes[_i].what, tree.why);
        changes[_i].change(tree.t);
        ck_assert(!tree.t->failed);
        must_hold(tree.t, changes[_i].what);
        loop_tree_free(&tree);
    }
}
END_TEST

/* ---- The expressions of test_cases.c ---------------------------------------------------------- */
static case_build *const cases[] = { case_softmax_rows,
                                     case_layer_norm,
                                     case_var,
                                     case_var_two_passes,
                                     case_centering,
                                     case_sums_both_ways,
                                     case_sum_transposed,
                                     case_gaussian,
                                     case_k_means,
                                     case_argmin_take,
                                     case_logsumexp,
                                     case_softmax_short,
                                     case_softmax_tall,
                                     case_max_of_cumsum,
                                     case_windows,
                                     case_narrow_windows,
                                     case_contraction,
                                     case_weights_over_i,
                                     case_weights_over_j,
                                     case_unrelated,
                                     case_mean_reshaped,
                                     case_argmax_reshaped,
                                     case_any,
                                     case_masked_sum,
                                     case_struct_reducer,
                                     case_mirrored,
                                     case_running_rows,
                                     case_symmetric,
                                     case_nearest_image,
                                     case_nearest_total,
                                     case_mean_color,
                                     case_sum_outer,
                                     case_sum_ends,
                                     case_sum_middle,
                                     case_few_rows,
                                     case_centred_rows,
                                     case_covariance,
                                     case_running_columns,
                                     case_permuted,
                                     case_reversed_axes,
                                     case_scaled_results,
                                     case_forces,
                                     case_wide_pairs,
                                     case_computed_weights,
                                     case_expanded_distance,
                                     case_mean_distance,
                                     case_scaled_total,
                                     case_gaussian_of_many,
                                     case_rolled_rows,
                                     case_padded_columns,
                                     case_joined_rows,
                                     case_pair_blocks,
                                     case_rolling_sum,
                                     case_rolling_max,
                                     case_above_median,
                                     case_sorted_columns,
                                     case_few_nearest };

/* Small ones are run; of large ones the form and the order are looked at.  Sanitizers take a
 * quarter of the small ones, as a run takes ten times as long. */
START_TEST(designed)
{
    if (SANITIZED && _i % 2 && _i / 2 % 4)
        return;
    case_world *w               = case_world_new(_i % 2);
    rd_expr    *y[CASE_RESULTS] = { NULL };
    rd_array    out[CASE_RESULTS];
    rd_result   result[CASE_RESULTS];
    const int   n      = cases[_i / 2](w, y);
    loop_counts counts = { 0 };
    rd_text     report = { 0 };

    for (int k = 0; k < n; k++) {
        out[k]    = (rd_array){ 0 };
        result[k] = (rd_result){ y[k], &out[k] };
    }
    rd_plan *plan =
        loop_plan(w->ctx, (rd_exprs){ w->input, w->n_input }, (rd_results){ result, n });
    ck_assert_msg(plan != NULL, "%s", rd_error_text(w->ctx));
    ck_assert_msg(loop_plan_holds(w->ctx, plan, &counts, &report), "%s", report.at);
    ck_assert_int_gt(counts.holds + counts.skipped + counts.refused, 0);
    rd_text_free(&report);
    case_world_free(w);
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("loops");
    TCase   *tc     = tcase_create("loop trees");
    SRunner *runner = srunner_create(suite);

    tcase_set_timeout(tc, 0);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, texts, 0, COUNT(pinned));
    tcase_add_loop_test(tc, all_passes_keep_the_meaning, 0, 2 * COUNT(known));
    tcase_add_loop_test(tc, copies_of_trees, 0, COUNT(known));
    tcase_add_loop_test(tc, changed, 0, COUNT(changes));
    tcase_add_loop_test(tc, designed, 0, 2 * COUNT(cases));
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
