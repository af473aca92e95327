/* test_loops_faults.c - loop trees with a fault each: the check finds all of them.
 *
 * A row plants its fault in a tree that holds.  The sentence that the check gives must have the
 * row's words, so that a fault is not found by chance. */
#include "kernels/cpu/simd/simd.h"
#include "kernels/pass/pass.h"
#include "kernels/pass/strip_at.h"
#include "loop_trees.h"
#include "suite.h"

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

typedef void fault(rd_schedule *t);

/* ---- Parts of trees --------------------------------------------------------------------------- */
static rd_stmt *find(rd_schedule *t, rd_stmt_kind kind, int n)
{
    const int32_t s = loop_find(t, kind, n);

    ck_assert_int_ge(s, 0);
    return &t->stmt[s];
}

static rd_for *over(rd_schedule *t, int32_t axis)
{
    const int32_t s = loop_over(t, axis);

    ck_assert_int_ge(s, 0);
    return &t->loop[t->stmt[s].arg];
}

/* The axis of steps of the fold, or of its cells: the last one around its first step that moves
 * them. */
static int32_t axis_of(const rd_schedule *t, const rd_linear *at)
{
    int32_t found = -1;

    for (int32_t k = 0; k < at->n; k++)
        if (t->term[at->first + k].axis >= 0 && t->term[at->first + k].axis < t->p->n_axis)
            found = t->term[at->first + k].axis;
    ck_assert_int_ge(found, 0);
    return found;
}

static int32_t step_axis(rd_schedule *t)
{
    const rd_stmt *s = find(t, RD_S_STEP, 0);

    return axis_of(t, s->fold_at.lane_line.n ? &s->fold_at.lane_line : &s->fold_at.lane);
}

static void drop(rd_schedule *t, rd_stmt_kind kind)
{
    const int32_t s = loop_find(t, kind, 0);

    ck_assert_int_ge(s, 0);
    rd_take_out(t, s);
}

/* The first of a kind goes before, or behind, a statement. */
static void move(rd_schedule *t, rd_stmt_kind kind, int32_t to, bool behind)
{
    const int32_t s = loop_find(t, kind, 0);

    ck_assert(s >= 0 && to >= 0);
    rd_take_out(t, s);
    if (behind)
        rd_put_behind(t, s, to);
    else
        rd_put_before(t, s, to);
}

/* ---- Blocks and nodes ------------------------------------------------------------------------- */
static void no_ends(rd_schedule *t)
{
    while (loop_find(t, RD_S_PUSH_IF_LAST, 0) >= 0)
        drop(t, RD_S_PUSH_IF_LAST);
}

static void ends_before_step(rd_schedule *t)
{
    move(t, RD_S_PUSH_IF_LAST, loop_find(t, RD_S_STEP, 0), false);
}

static void push_each_time(rd_schedule *t)
{
    find(t, RD_S_PUSH_IF_LAST, 0)->kind = RD_S_PUSH;
}

static void no_rest(rd_schedule *t)
{
    drop(t, RD_S_MERGE_BLOCKS);
}

static void no_lanes(rd_schedule *t)
{
    drop(t, RD_S_MERGE_LANES);
}

static void rest_behind_finish(rd_schedule *t)
{
    move(t, RD_S_MERGE_BLOCKS, loop_find(t, RD_S_FINISH, 0), true);
}

static void begin_in_loop(rd_schedule *t)
{
    move(t, RD_S_BEGIN, loop_find(t, RD_S_STEP, 0), false);
}

static void begin_before_rows(rd_schedule *t)
{
    move(t, RD_S_BEGIN, loop_find(t, RD_S_LOOP, 0), false);
}

static void no_begin(rd_schedule *t)
{
    drop(t, RD_S_BEGIN);
}

static void no_cut(rd_schedule *t)
{
    const rd_target target = { .vector = 64 };

    rd_pass_block_ranges(t, &target);
    drop(t, RD_S_CUT_AT_BLOCK);
}

static void late_cut(rd_schedule *t)
{
    const rd_target target = { .vector = 64 };

    rd_pass_block_ranges(t, &target);
    find(t, RD_S_CUT_AT_BLOCK, 0)->fold_at.lane_line.offset -= 1;
}

static void early_cut(rd_schedule *t)
{
    const rd_target target = { .vector = 64 };

    rd_pass_block_ranges(t, &target);
    find(t, RD_S_CUT_AT_BLOCK, 0)->fold_at.lane_line.offset += 1;
}

/* ---- Steps ------------------------------------------------------------------------------------ */
static void other_element(rd_schedule *t)
{
    find(t, RD_S_STEP, 1)->x = find(t, RD_S_STEP, 0)->x;
}

static void step_twice(rd_schedule *t)
{
    const int32_t s = loop_find(t, RD_S_STEP, 0);

    rd_put_behind(t, rd_stmt_copy(t, s), s);
}

static void no_step(rd_schedule *t)
{
    drop(t, RD_S_STEP);
}

static void no_mask(rd_schedule *t)
{
    find(t, RD_S_STEP, 0)->mask = -1;
}

static void no_weight(rd_schedule *t)
{
    find(t, RD_S_STEP, 0)->weight = -1;
}

static void other_label(rd_schedule *t)
{
    const rd_tree_value seven = { .kind    = RD_I_CONST,
                                  .type    = RD_I64,
                                  .word    = { .i64 = 1 },
                                  .slot    = -1,
                                  .store   = -1,
                                  .made_by = t->n_stmt };
    rd_stmt             let   = *find(t, RD_S_STEP, 0);
    const int32_t       step  = loop_find(t, RD_S_STEP, 0);

    let.kind    = RD_S_LET;
    let.value   = rd_add_let(t, &seven);
    let.n_value = 1;
    rd_put_before(t, rd_add_stmt(t, &let), step);
    t->stmt[step].label = let.value;
}

static void no_label(rd_schedule *t)
{
    find(t, RD_S_STEP, 0)->label = -1;
}

static void next_cell(rd_schedule *t)
{
    find(t, RD_S_STEP, 0)->fold_at.cell.offset += 1;
}

static void one_cell(rd_schedule *t)
{
    find(t, RD_S_STEP, 0)->fold_at.cell = rd_linear_of(0);
}

static void other_cell_finishes(rd_schedule *t)
{
    rd_stmt *rest = find(t, RD_S_MERGE_BLOCKS, 0), *finish = find(t, RD_S_FINISH, 0);

    rest->fold_at.cell = finish->fold_at.cell = rd_linear_of(1);
}

static void next_lane(rd_schedule *t)
{
    find(t, RD_S_STEP, 0)->fold_at.lane.offset += 1;
}

static void one_lane(rd_schedule *t)
{
    rd_stmt *s = find(t, RD_S_STEP, 0);

    s->fold_at.lane = rd_linear_of(0);
}

static void other_states(rd_schedule *t)
{
    find(t, RD_S_STEP, 0)->store = find(t, RD_S_STEP, 1)->store;
}

static void other_place(rd_schedule *t)
{
    find(t, RD_S_STEP, 0)->fold_at.index.offset += 1;
}

static void more_in_states(rd_schedule *t)
{
    find(t, RD_S_STEP, 0)->fold_at.state_offset = rd_linear_of(1);
}

/* ---- Loops ------------------------------------------------------------------------------------ */
static void lost_last(rd_schedule *t)
{
    over(t, step_axis(t))->to.part[0].at.offset -= 1;
}

static void lost_first(rd_schedule *t)
{
    over(t, step_axis(t))->from.part[0].at.offset += 1;
}

static void one_more(rd_schedule *t)
{
    over(t, step_axis(t))->to.part[0].at.offset += 1;
}

static void every_other(rd_schedule *t)
{
    over(t, step_axis(t))->step = 2;
}

/* No block ends in the vector loop, which is another fault. */
static void vector_of_steps(rd_schedule *t)
{
    while (loop_find(t, RD_S_PUSH_IF_LAST, 0) >= 0)
        drop(t, RD_S_PUSH_IF_LAST);
    over(t, step_axis(t))->kind = RD_FOR_VECTOR;
}

static void vector_of_prefixes(rd_schedule *t)
{
    drop(t, RD_S_PUSH_IF_LAST);
    over(t, axis_of(t, &find(t, RD_S_PREFIX, 0)->fold_at.lane_line))->kind = RD_FOR_VECTOR;
}

static void backwards(rd_schedule *t)
{
    over(t, step_axis(t))->backwards = true;
}

static void forwards(rd_schedule *t)
{
    over(t, axis_of(t, &find(t, RD_S_PREFIX, 0)->fold_at.lane_line))->backwards = false;
}

/* The loops over two axes of steps change places. */
static void interchanged(rd_schedule *t)
{
    const rd_stmt *s = find(t, RD_S_STEP, 0);
    int32_t        loops[2], n = 0;

    for (int32_t k = s->parent; k >= 0 && n < 2; k = t->stmt[k].parent)
        if (t->stmt[k].kind == RD_S_LOOP &&
            rd_linear_coef(t, &s->fold_at.lane_line, rd_loop_of(t, k)->axis))
            loops[n++] = k;
    ck_assert_int_eq(n, 2);
    const int32_t arg     = t->stmt[loops[0]].arg;
    t->stmt[loops[0]].arg = t->stmt[loops[1]].arg;
    t->stmt[loops[1]].arg = arg;
}

/* Strips of 7, the last of which goes over the end. */
static void long_strip(rd_schedule *t)
{
    const int32_t loop  = loop_over(t, step_axis(t));
    rd_for        strip = *rd_loop_of(t, loop);

    strip.step       = 7;
    strip.start_mark = rd_add_mark(t);
    strip.extent     = -1;
    rd_put_loop_around(t, loop, loop, &strip);
    t->loop[t->stmt[loop].arg].from =
        rd_edge_of(rd_linear_plus_axis(t, rd_linear_of(0), 1, strip.start_mark));
    t->loop[t->stmt[loop].arg].to =
        rd_edge_of(rd_linear_plus_axis(t, rd_linear_of(7), 1, strip.start_mark));
}

/* ---- Values and memory ------------------------------------------------------------------------ */
static void load_before_loop(rd_schedule *t)
{
    const int32_t s = loop_let(t, RD_I_LOAD);

    while (t->stmt[s].parent >= 0 && t->stmt[t->stmt[s].parent].kind == RD_S_LOOP) {
        const int32_t loop = t->stmt[s].parent;

        rd_take_out(t, s);
        rd_put_before(t, s, loop);
    }
}

static void store_behind_loop(rd_schedule *t)
{
    const int32_t s = loop_find(t, RD_S_STORE, 0), loop = t->stmt[s].parent;

    rd_take_out(t, s);
    rd_put_behind(t, s, loop);
}

static void store_before_value(rd_schedule *t)
{
    const int32_t s = loop_find(t, RD_S_STORE, 0);

    move(t, RD_S_STORE, t->stmt[t->stmt[s].parent].first, false);
}

static void no_store(rd_schedule *t)
{
    drop(t, RD_S_STORE);
}

static void next_element(rd_schedule *t)
{
    t->let[t->stmt[loop_let(t, RD_I_LOAD)].value].at.offset += 1;
}

static void stored_beside(rd_schedule *t)
{
    find(t, RD_S_STORE, 0)->at.offset += 1;
}

static void turned_operands(rd_schedule *t)
{
    for (int n = 0, s; (s = loop_find(t, RD_S_LET, n)) >= 0; n++) {
        const rd_tree_value *let = &t->let[t->stmt[s].value];
        int32_t             *in  = &t->operand[let->first];

        if (let->kind == RD_I_MAP && let->op == RD_OP_sub) {
            const int32_t first = in[0];

            in[0] = in[1];
            in[1] = first;
            return;
        }
    }
    ck_abort_msg("there is no difference");
}

static void made_twice(rd_schedule *t)
{
    const int32_t s    = loop_let(t, RD_I_LOAD);
    const rd_stmt same = t->stmt[s];

    rd_put_behind(t, rd_add_stmt(t, &same), s);
}

static void broken_link(rd_schedule *t)
{
    find(t, RD_S_STORE, 0)->prev = -1;
}

/* ---- Arrays of the tree ----------------------------------------------------------------------- */
typedef struct crossing {
    int32_t array, store, load, first; /* statements; the loop that stores */
} crossing;

/* The loop becomes two: what the store of the program needs crosses by an array. */
static crossing divided(rd_schedule *t)
{
    const int32_t       out = loop_find(t, RD_S_STORE, 0), loop = t->stmt[out].parent;
    const rd_for        l     = *rd_loop_of(t, loop);
    const int32_t       value = t->stmt[out].x;
    const rd_tree_array a     = { .storage = RD_IN_LOCAL,
                                  .type    = t->let[value].type,
                                  .fold    = -1,
                                  .extent  = t->p->axis_extent[l.axis] };
    crossing            c     = { .first = loop };
    rd_stmt             made  = t->stmt[out];
    rd_tree_value       again = { .kind  = RD_I_LOAD,
                                  .type  = a.type,
                                  .from  = a.type,
                                  .slot  = -1,
                                  .store = rd_add_store(t, &a),
                                  .at    = rd_linear_plus_axis(t, rd_linear_of(0), 1, l.axis) };

    made.slot  = -1;
    made.store = again.store;
    made.at    = again.at;
    made.type  = a.type;
    c.store    = rd_add_stmt(t, &made);
    rd_put_before(t, c.store, out);
    made.kind = RD_S_ARRAY;
    c.array   = rd_add_stmt(t, &made);
    rd_put_before(t, c.array, loop);
    made.kind     = RD_S_LET;
    made.n_value  = 1;
    again.made_by = t->n_stmt;
    made.value    = rd_add_let(t, &again);
    c.load        = rd_add_stmt(t, &made);
    rd_take_out(t, out);
    rd_put_behind(t, out, loop);
    t->stmt[out].x = made.value;
    rd_put_before(t, c.load, out);
    rd_put_loop_around(t, c.load, out, &l);
    return c;
}

static void divided_right(rd_schedule *t)
{
    divided(t);
}

static void subscript_beside(rd_schedule *t)
{
    const crossing c = divided(t);

    t->let[t->stmt[c.load].value].at.offset += 1;
}

static void subscript_fixed(rd_schedule *t)
{
    const crossing c = divided(t);

    t->let[t->stmt[c.load].value].at = rd_linear_of(3);
}

static void array_too_small(rd_schedule *t)
{
    const crossing c = divided(t);

    t->store[t->stmt[c.store].store].extent -= 1;
}

static void array_not_declared(rd_schedule *t)
{
    rd_take_out(t, divided(t).array);
}

static void load_before_store(rd_schedule *t)
{
    const crossing c = divided(t);

    rd_take_out(t, c.first);
    rd_put_behind(t, c.first, t->stmt[c.load].parent);
}

/* All rounds of a vector loop share one element, through which it goes from store to load. */
static void shared_element(rd_schedule *t)
{
    const crossing c    = divided(t);
    const int32_t  loop = c.first, second = t->stmt[c.load].parent;

    t->let[t->stmt[c.load].value].at = t->stmt[c.store].at = rd_linear_of(0);
    t->loop[t->stmt[loop].arg].kind                        = RD_FOR_VECTOR;
    for (int32_t s = t->stmt[second].first, next; s >= 0; s = next) {
        next = t->stmt[s].next;
        rd_take_out(t, s);
        rd_append(t, loop, s);
    }
    rd_take_out(t, second);
}

/* ---- Trees after all passes ------------------------------------------------------------------- */
static int32_t of_kind(const rd_schedule *t, rd_for_kind kind)
{
    for (int n = 0, s; (s = loop_find(t, RD_S_LOOP, n)) >= 0; n++)
        if (rd_loop_of(t, s)->kind == kind)
            return s;
    ck_abort_msg("there is no such loop");
}

static rd_for *first_of(rd_schedule *t, rd_for_kind kind)
{
    return &t->loop[t->stmt[of_kind(t, kind)].arg];
}

static void no_rest_of_strips(rd_schedule *t)
{
    rd_take_out(t, of_kind(t, RD_FOR_ONCE));
}

static void strips_once_more(rd_schedule *t)
{
    rd_for *rest = first_of(t, RD_FOR_ONCE);

    rest->width        = 0;
    rest->from.part[0] = (rd_edge_part){ .at = rd_linear_of(0) };
}

static void other_width(rd_schedule *t)
{
    first_of(t, RD_FOR_ONCE)->width += 1;
}

static void border_up(rd_schedule *t)
{
    first_of(t, RD_FOR_ONCE)->width                 = 0;
    first_of(t, RD_FOR_ONCE)->from.part[0].round_up = true;
}

static void few_states(rd_schedule *t)
{
    t->store[find(t, RD_S_STEP, 0)->store].extent -= 1;
}

static void not_declared(rd_schedule *t)
{
    drop(t, RD_S_ARRAY);
}

static void lane_of_strip(rd_schedule *t)
{
    find(t, RD_S_STEP, 1)->fold_at.lane.offset += 1;
}

static void ends_one_before(rd_schedule *t)
{
    find(t, RD_S_PUSH_IF_LAST, 0)->fold_at.lane.offset -= 1;
}

static void vectors_of_strips(rd_schedule *t)
{
    first_of(t, RD_FOR_SERIAL)->kind = RD_FOR_VECTOR;
}

/* ---- Vector loops by call --------------------------------------------------------------------- */
static rd_stmt *by_call(rd_schedule *t, rd_stmt_kind kind)
{
    for (int n = 0, s; (s = loop_find(t, kind, n)) >= 0; n++)
        if (rd_is_by_call(t, t->stmt[s].parent))
            return &t->stmt[s];
    ck_abort_msg("no function does such a statement");
}

/* The pass `block_ends` takes cells of which each has a state between its neighbours' for one run of them. */
static void cells_lie_apart(rd_schedule *t)
{
    rd_tree_array *states = &t->store[by_call(t, RD_S_PUSH_IF_LAST)->store];

    states->cell_stride *= 2;
    states->extent *= 2;
}

static void steps_end_together(rd_schedule *t)
{
    rd_stmt      *ends = by_call(t, RD_S_PUSH_IF_LAST);
    const int32_t axis = rd_loop_of(t, ends->parent)->axis;

    ends->fold_at.lane_line = rd_linear_plus_axis(t, ends->fold_at.lane_line, 1, axis);
}

/* The pass `distribute` leaves ends of blocks in a vector loop, for whose elements each would be one call. */
static void ends_by_element(rd_schedule *t)
{
    t->loop[t->stmt[by_call(t, RD_S_PUSH_IF_LAST)->parent].arg].by_call = false;
}

/* The pass `fuse_exponentials` takes the step of another fold for what makes elements. */
static void step_beside_powers(rd_schedule *t)
{
    const int32_t behind = by_call(t, RD_S_STEP)->parent, step = t->stmt[behind].last;
    const int32_t loop = t->stmt[behind].next;

    ck_assert(rd_is_vector(t, loop) && rd_is_step(t, t->stmt[loop].last));
    for (int32_t s = t->stmt[loop].first, next; s >= 0; s = next) {
        next = t->stmt[s].next;
        rd_take_out(t, s);
        rd_put_before(t, s, step);
    }
    rd_take_out(t, loop);
}

/* ... or a fetch, which no function does. */
static void fetch_beside_powers(rd_schedule *t)
{
    rd_stmt fetch = rd_stmt_of(RD_S_PREFETCH);

    fetch.slot = 0;
    fetch.type = RD_F32;
    rd_put_before(t, rd_add_stmt(t, &fetch), loop_find(t, RD_S_STEP, 0));
}

/* ---- Rows that go together ------------------------------------------------------------------- */
/* A row begins with the states of another one. */
static void rows_share_states(rd_schedule *t)
{
    for (int n = 0, s; (s = loop_find(t, RD_S_LOAD_STATES, n)) >= 0; n++)
        if (t->stmt[s].fold_at.state_offset.offset) {
            t->stmt[s].fold_at.state_offset.offset = 0;
            return;
        }
    ck_abort_msg("no rows go together");
}

/* What stands behind the loop in each row takes the states of the next one. */
static void states_of_next_row(rd_schedule *t)
{
    rd_stmt *rest = find(t, RD_S_MERGE_BLOCKS, 0);

    rest->fold_at.state_offset.offset += 64;
}

/* ---- Blocks beside each other --------------------------------------------------------------------- */
static rd_for *around(rd_schedule *t, rd_stmt_kind kind)
{
    return &t->loop[t->stmt[find(t, kind, 0)->parent].arg];
}

static void blocks_backwards(rd_schedule *t)
{
    around(t, RD_S_STORE_STATES)->backwards = true;
}

static void states_stay(rd_schedule *t)
{
    drop(t, RD_S_LOAD_STATES);
}

static void states_of_next(rd_schedule *t)
{
    find(t, RD_S_STEP, 0)->fold_at.state_offset.offset += 1;
}

static void states_of_first(rd_schedule *t)
{
    find(t, RD_S_STEP, 0)->fold_at.state_offset = rd_linear_of(0);
}

static void vectors_of_steps(rd_schedule *t)
{
    t->loop[t->stmt[t->stmt[find(t, RD_S_STEP, 0)->parent].parent].arg].kind = RD_FOR_VECTOR;
}

static void no_end_of_each(rd_schedule *t)
{
    drop(t, RD_S_PUSH_IF_LAST);
}

/* ---- Labels ------------------------------------------------------------------------------------- */
static void one_group_ends(rd_schedule *t)
{
    rd_stmt *ends = find(t, RD_S_PUSH_IF_LAST, 0);

    ends->all_cells    = false;
    ends->fold_at.cell = rd_linear_of(1);
}

static void no_turn(rd_schedule *t)
{
    drop(t, RD_S_SWITCH_STATE);
}

static void turn_behind_step(rd_schedule *t)
{
    move(t, RD_S_SWITCH_STATE, loop_find(t, RD_S_STEP, 0), true);
}

static void no_way_back(rd_schedule *t)
{
    drop(t, RD_S_STORE_STATES);
}

static void back_before_step(rd_schedule *t)
{
    move(t, RD_S_STORE_STATES, loop_find(t, RD_S_STEP, 0), false);
}

static void run_of_others(rd_schedule *t)
{
    t->store[find(t, RD_S_SWITCH_STATE, 0)->arg].one_label = false;
}

/* ---- Early exits ------------------------------------------------------------------------------ */
static void looks_at_few(rd_schedule *t)
{
    find(t, RD_S_EXIT, 0)->count = rd_linear_of(1);
}

static void looks_beside(rd_schedule *t)
{
    find(t, RD_S_EXIT, 0)->fold_at.cell.offset += 1;
}

static void leaves_all_rows(rd_schedule *t)
{
    rd_stmt *exit = find(t, RD_S_EXIT, 0);

    exit->arg = t->stmt[exit->arg].parent;
    while (t->stmt[t->stmt[exit->arg].parent].kind == RD_S_LOOP)
        exit->arg = t->stmt[exit->arg].parent;
}

static void leaves_written_out(rd_schedule *t)
{
    t->loop[t->stmt[find(t, RD_S_EXIT, 0)->arg].arg].kind = RD_FOR_UNROLL;
}

/* ---- Pieces ----------------------------------------------------------------------------------- */
/* The loop whose ends numbers of the row are. */
static int32_t first_piece(const rd_schedule *t)
{
    for (int k = 0, s; (s = loop_find(t, RD_S_LOOP, k)) >= 0; k++) {
        const rd_linear *to = &rd_loop_of(t, s)->to.part[0].at;

        if (to->n == 1 && t->term[to->first].axis < 0)
            return s;
    }
    ck_abort_msg("there is no such piece");
}

static void no_first_piece(rd_schedule *t)
{
    rd_take_out(t, first_piece(t));
}

static void find_makes_nothing(rd_schedule *t)
{
    find(t, RD_S_LOWER_BOUND, 0)->n_value = 0;
}

static void asks_the_same(rd_schedule *t)
{
    find(t, RD_S_IF, 0)->unless = true;
}

/* ---- What is large ---------------------------------------------------------------------------- */
static void part_too_long(rd_schedule *t)
{
    t->loop[t->stmt[find(t, RD_S_PREFETCH, 0)->parent].arg].step += 1;
}

static void fetch_of_nothing(rd_schedule *t)
{
    find(t, RD_S_PREFETCH, 0)->slot = -1;
}

static void fetch_of_mark(rd_schedule *t)
{
    find(t, RD_S_PREFETCH, 0)->count = rd_linear_plus_axis(t, rd_linear_of(0), 1, rd_add_mark(t));
}

static int32_t stream_in(const rd_schedule *t)
{
    for (int n = 0, s; (s = loop_find(t, RD_S_LOOP, n)) >= 0; n++)
        if (rd_loop_of(t, s)->nontemporal)
            return s;
    ck_abort_msg("nothing goes past the caches");
}

static void no_stream(rd_schedule *t)
{
    rd_take_out(t, stream_in(t));
}

static void stream_before_array(rd_schedule *t)
{
    const int32_t s = stream_in(t), filled = t->stmt[s].prev;

    rd_take_out(t, filled);
    rd_put_behind(t, filled, s);
}

/* ---- The table -------------------------------------------------------------------------------- */
typedef struct row {
    const char      *what;
    loop_expression *make;
    fault           *plant;
    const char      *words; /* of the sentence; NULL: the tree holds */
} row;

static const row built[] = {
    /* clang-format off */
    { "no end of blocks",               loop_masked_mean, no_ends,            "takes an element of block 1 in block 0" },
    { "a block ends before its step",   loop_masked_mean, ends_before_step,   "takes an element of block 0 behind it" },
    { "each step is a block",           loop_masked_mean, push_each_time,     "takes an element of block 0 behind it" },
    { "no rest",                        loop_masked_mean, no_rest,            "has not come to rest" },
    { "lanes stay apart",               loop_rows,        no_lanes,           "has not come to one lane" },
    { "rest comes behind the results",  loop_masked_mean, rest_behind_finish, "has not come to rest" },
    { "each step begins anew",          loop_softmax,     begin_in_loop,      "is not what the program says" },
    { "all rows begin once",            loop_softmax,     begin_before_rows,  "has come to one lane" },
    { "no beginning",                   loop_softmax,     no_begin,           "has not begun" },
    { "no cut",                         loop_pair_sums, no_cut,             "takes an element of block 1 in block 0" },
    { "a late cut",                     loop_pair_sums, late_cut,           "takes an element of block 1 in block 0" },
    { "an early cut",                   loop_pair_sums, early_cut,          "takes an element of block 1 in block 0" },
    { "an element of another fold",            loop_masked_mean, other_element,      "is not what the program says" },
    { "a step twice",                   loop_rows,        step_twice,         "is not what the program says" },
    { "no step",                        loop_rows,        no_step,            "is not what the program says" },
    { "no mask",                        loop_masked_max,  no_mask,            "is not what the program says" },
    { "no weight",                      loop_weighted,    no_weight,          "has weights" },
    { "another label",                  loop_by_label,    other_label,        "is not what the program says" },
    { "no label",                       loop_by_label,    no_label,           "has groups" },
    { "the next cell",                  loop_masked_mean, next_cell,          "there is no cell" },
    { "one cell of all",                loop_masked_mean, one_cell,           "takes an element of block 0 behind it" },
    { "another cell finishes",          loop_masked_mean, other_cell_finishes, "has come to rest" },
    { "the next lane",                  loop_rows,        next_lane,          "takes an element of block 1 in block 0" },
    { "one lane of all",                loop_rows,        one_lane,           "takes an element of block 0 behind it" },
    { "states of another fold",         loop_masked_mean, other_states,       "has no states of f" },
    { "another place",                  loop_masked_max,  other_place,        "is not what the program says" },
    { "a state beside",                 loop_masked_mean, more_in_states,     "there is no cell 39" },
    { "the last element is lost",       loop_pair_sums,   lost_last,          "is not what the program says" },
    { "the first element is lost",      loop_pair_sums,   lost_first,         "is not what the program says" },
    { "one element more",               loop_pair_sums,   one_more,           "rounds, and says 200" },
    { "every other element",            loop_pair_sums,   every_other,        "takes an element of block 1 in block 0" },
    { "a vector loop of steps",         loop_masked_mean, vector_of_steps,    "moves its steps and is a vector loop" },
    { "a vector loop of prefixes",      loop_running_sum, vector_of_prefixes, "moves its steps and is a vector loop" },
    { "backwards",                      loop_masked_mean, backwards,          "from the last one to the first" },
    { "a reverse scan forwards",        loop_reverse,     forwards,           "from the last one to the first" },
    { "loops change places",            loop_two_axes,    interchanged,       "greater stride than the one around it" },
    { "a strip goes over the end",      loop_pair_sums,   long_strip,         "step 200 of 200" },
    { "a load before its loop",         loop_masked_mean, load_before_loop,   "no loop around binds" },
    { "a store behind its loop",        loop_map,         store_behind_loop,  "is out of scope" },
    { "a store before its value",       loop_map,         store_before_value, "is not made before it is read" },
    { "no store",                       loop_map,         no_store,           "nothing is stored" },
    { "the next element",               loop_map,         next_element,       "is not what the program says" },
    { "stored beside",                  loop_map,         stored_beside,      "is not what the program says" },
    { "operands in another order",      loop_map,         turned_operands,    "is not what the program says" },
    { "a value made twice",             loop_map,         made_twice,         "is made twice" },
    { "a broken link",                  loop_map,         broken_link,        "links are not those" },
    { "an array between two loops",     loop_map,         divided_right,      NULL },
    { "the array's next element",       loop_map,         subscript_beside,   "which has 100" },
    { "one element of the array",       loop_map,         subscript_fixed,    "is not what the program says" },
    { "an array too small",             loop_map,         array_too_small,    "which has 99" },
    { "an array that is not declared",  loop_map,         array_not_declared, "is not declared" },
    { "loads before stores",            loop_map,         load_before_store,  "which nothing stored" },
    { "vectors share an element",       loop_map,         shared_element,     "is not what the program says" },
    { "an exit looks at few columns",   loop_any_column,  looks_at_few,       "leaves out a step of cell" },
    { "an exit leaves all rows",        loop_any_row,   leaves_all_rows,    "leaves out what is stored" },
    { "an exit leaves what is written out", loop_any_row, leaves_written_out, "leaves a loop that is written out" },
    /* clang-format on */
};

static const row passed[] = {
    /* clang-format off */
    { "the rest of strips is lost",     loop_softmax,     no_rest_of_strips,  "is not what the program says" },
    { "strips come twice",              loop_softmax,     strips_once_more,   "rounds, and says" },
    { "a round has another width",      loop_softmax,     other_width,        "has 6 indices, and says 7" },
    { "a border is rounded up",         loop_softmax,     border_up,          "is not what the program says" },
    { "an array has few states",        loop_softmax,     few_states,         "are state 63 of 63" },
    { "states are not declared",        loop_softmax,     not_declared,       "is not declared" },
    { "rows share states",              loop_nearest,     rows_share_states,  "is not what the program says" },
    { "states of the next row",         loop_nearest,     states_of_next_row, "has not come to rest" },
    { "another lane of a strip",        loop_rows,        lane_of_strip,      "is not what the program says" },
    { "ends one element before",        loop_rows,        ends_one_before,    "takes an element of block 1 in block 0" },
    { "an exit looks at one column",    loop_any_column,  looks_at_few,       "leaves out a step of cell" },
    { "an exit looks at others",        loop_any_column,  looks_beside,       "leaves out a step of cell 0" },
    { "an exit leaves all rows", loop_any_row,     leaves_all_rows,    "leaves out what is stored" },
    { "the first piece is lost",        loop_ranges_of_rows, no_first_piece,  "is not what the program says" },
    { "a range is found for nobody",    loop_pairs_of_blocks, find_makes_nothing, "makes 0 values, not 1" },
    { "a vector loop of rows",          loop_masked_mean, vectors_of_strips,  "moves its steps and is a vector loop" },
    { "rows of a mask are left out",    loop_some_rows,   asks_the_same,      "is not what the program says" },
    { "few groups end",                 loop_block_of_groups, one_group_ends, "there is no cell 3 of 3" },
    { "no other label comes",           loop_user_by_label, no_turn,          "states at hand are not those of cell" },
    { "another label comes late",       loop_user_by_label, turn_behind_step, "states at hand are not those of cell" },
    { "the last run stays",             loop_user_by_label, no_way_back,      "are in a1, not a0" },
    { "a run goes back and is used",    loop_user_by_label, back_before_step,   "states at hand are not those of cell" },
    { "a run of all labels",            loop_user_by_label, run_of_others,    "is no array of a run" },
    { "blocks go up backwards",         loop_user,        blocks_backwards,   "ends behind block 31" },
    { "states do not come near",        loop_user,        states_stay,        "has not begun" },
    { "states of the next block",       loop_user,        states_of_next,     "there is no cell 0 of 1" },
    { "all blocks by one state",        loop_user,        states_of_first,    "moves its steps and is a vector loop" },
    { "a vector loop of a block's steps", loop_user,      vectors_of_steps,   "moves its steps and is a vector loop" },
    { "blocks beside do not end",       loop_user,        no_end_of_each,     "takes an element of block 32 in block 31" },
    { "ends by call of cells apart",    loop_masked_mean, cells_lie_apart,    "do not lie side by side" },
    { "ends by call of several steps",  loop_masked_mean, steps_end_together, "elements of several steps" },
    { "ends by element",                loop_masked_mean, ends_by_element,    "ends blocks element by element" },
    { "a step beside one by powers",    loop_log_and_sum, step_beside_powers, "and not the last of its loop" },
    { "a fetch beside a step by powers", loop_log_and_sum, fetch_beside_powers, "makes no element of the step" },
    /* clang-format on */
};

static const row large[] = {
    /* clang-format off */
    { "the rest of parts is lost",      loop_sum_columns, no_rest_of_strips,  "is not what the program says" },
    { "a part is too long",             loop_sum_columns, part_too_long,      "has 65 indices, and says 64" },
    { "fetches of no memory",           loop_sum_columns, fetch_of_nothing,   "of both kinds of memory, or of none" },
    { "fetches up to no mark",          loop_sum_columns, fetch_of_mark,      "is no mark of a loop around" },
    { "nothing past the caches",        loop_map,         no_stream,          "nothing is stored" },
    { "past the caches too early",      loop_map,         stream_before_array, "which nothing stored" },
    /* clang-format on */
};

typedef loop_tree maker(rd_ctx *ctx, loop_expression *make, bool whole);

static void look(rd_ctx *ctx, const row *r, maker *make, bool whole)
{
    loop_tree  tree = make(ctx, r->make, whole);
    rd_text    why  = { 0 };
    rd_verdict verdict;

    ck_assert_msg(tree.t != NULL, "%s: %s", r->what, tree.why);
    verdict = rd_schedule_check(tree.t, RD_MOST_VISITS, &why);
    ck_assert_msg(verdict != RD_TREE_FAILS, "%s, before: %s", r->what, why.at);
    rd_text_free(&why);
    why = (rd_text){ 0 };
    r->plant(tree.t);
    ck_assert(!tree.t->failed);
    verdict = rd_schedule_check(tree.t, RD_MOST_VISITS, &why);
    if (r->words)
        ck_assert_msg(verdict == RD_TREE_FAILS && why.at && strstr(why.at, r->words), "%s: %s",
                      r->what, why.at ? why.at : "it is not found");
    else
        ck_assert_msg(verdict == RD_TREE_HOLDS, "%s: %s", r->what, why.at);
    rd_text_free(&why);
    loop_tree_free(&tree);
}

static void look_at_both(const row *r, maker *make)
{
    rd_ctx *ctx = rd_ctx_new(NULL);

    look(ctx, r, make, false);
    look(ctx, r, make, true);
    rd_ctx_free(ctx);
}

START_TEST(as_built)
{
    look_at_both(&built[_i], loop_tree_of_expression);
}
END_TEST

START_TEST(after_passes)
{
    look_at_both(&passed[_i], loop_tree_of_passed);
}
END_TEST

static loop_tree tree_of_large(rd_ctx *ctx, loop_expression *make, bool whole)
{
    loop_tree tree;

    rd_force_large(1);
    rd_prefetches_rows_behind = true;
    tree                      = loop_tree_of_passed(ctx, make, whole);
    rd_force_large(0);
    return tree;
}

START_TEST(after_passes_if_large)
{
    look_at_both(&large[_i], tree_of_large);
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("faults of loop trees");
    TCase   *tc     = tcase_create("planted");
    SRunner *runner = srunner_create(suite);

    tcase_add_loop_test(tc, as_built, 0, COUNT(built));
    tcase_add_loop_test(tc, after_passes, 0, COUNT(passed));
    tcase_add_loop_test(tc, after_passes_if_large, 0, COUNT(large));
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
