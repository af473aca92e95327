/* strip_folds.c - Distributes the statements of folds in a strip, and says where the states of
 * the strip's elements are.
 *
 * A cell is an accumulator of a fold, and has one state for each lane; elements go to the lanes in
 * turn.  In c->strips->fold, `cells` and `lanes` say whether neighbours of a strip are cells or
 * lanes; `begins`: the fold begins in the strip; `ends_in_round`: it also ends in one round of a
 * vector loop.  c->inside is the number of loops over the strips' axis around the statement. */
#include "kernels/loop/facts.h"
#include "kernels/pass/strip_body.h"

/* ---- States ---------------------------------------------------------------------------------- */
/* Gives each element of the strip states of its own, if the fold begins in the strip.  They are
 * adjacent in an array, or variables if the fold also ends in the same round of a vector loop.  An
 * element has one cell (accumulator), or several if the cell also depends on other axes. The
 * subscript of a state is cell * lanes * width + lane * width + element. A cell that moves with the
 * strips' axis alone (n_add == 1) is one for each element; with other axes, rd_cells_of_element()
 * counts them. */
static void resize_states(rd_strip_mining *c, const rd_stmt *begin)
{
    const rd_fold_in_strip *f     = &c->strips->fold[begin->fold];
    const rd_fold          *fold  = &c->t->p->fold[begin->fold];
    rd_tree_array          *store = &c->t->store[begin->store];
    const int64_t lanes = c->t->fold[begin->fold].lanes, width = f->ends_in_round ? 1 : c->r->width;
    const bool    cell_moves = rd_coef(&fold->cell, c->r->axis) != 0;
    const int64_t cells      = !cell_moves ? fold->n_cell
                               : fold->cell.n_add == 1
                                   ? 1
                                   : rd_cells_of_element(c->t, begin->fold, c->r->axis);

    if (!f->begins)
        return;
    store->extent      = (f->ends_in_round ? 1 : cells) * lanes * width;
    store->cell_stride = lanes * width;
    store->lane_stride = width;
    store->storage     = f->ends_in_round ? RD_IN_REGISTERS : RD_IN_TASK;
}

/* Adds a value in the strip before the open vector loop, so that it is made once, and returns its
 * number; 0: no memory. */
static int32_t add_value(rd_strip_mining *c, int32_t body, const rd_tree_value *let)
{
    const int32_t made = rd_add_made(c->t, let);

    if (c->t->failed)
        return 0;
    rd_to_strip(c, body, made);
    return c->t->stmt[made].value;
}

/* Adds "r9 = remainder(m0, 64)", the lane (partial accumulator) of the strip's first element, m0,
 * and returns r9. Coordinate, constant and operator read no memory (slot -1). */
static int32_t first_lane(rd_strip_mining *c, int32_t body, int32_t lanes)
{
    rd_tree_value place  = { .kind  = RD_I_COORD,
                             .type  = RD_I64,
                             .from  = RD_I64,
                             .slot  = -1,
                             .store = -1 },
                  number = place, remainder = place;
    int32_t operand[2];

    place.at        = rd_axis_plus(c->t, c->start, /*offset=*/0);
    number.kind     = RD_I_CONST;
    number.word     = (rd_word){ .i64 = lanes };
    operand[0]      = add_value(c, body, &place);
    operand[1]      = add_value(c, body, &number);
    remainder.kind  = RD_I_MAP;
    remainder.op    = RD_OP_remainder;
    remainder.n     = 2;
    remainder.first = rd_add_operands(c->t, operand, /*n=*/2);
    return add_value(c, body, &remainder);
}

/* Sets the lane, the cell (accumulator) and the offset `state_offset` of the state that a statement
 * of a fold is about. A lane is the element's number in the strip (a range that vector loops
 * visit), plus the strip's first lane if a strip has fewer elements than there are lanes. In a fold
 * that begins in the strip each element has its own state: `state_offset` is its number.
 * rd_cell_of_element() numbers the cells of one element, without the strips' axis. A lane that is
 * set here is below the number of lanes, so it needs no modulo (`wraps`). */
void rd_set_state(rd_strip_mining *c, int32_t body, rd_stmt *s)
{
    const rd_fold_in_strip *f     = &c->strips->fold[s->fold];
    const int32_t           lanes = c->t->p->fold[s->fold].lanes;

    if (f->lanes && s->kind == RD_S_STEP) {
        rd_linear lane = c->r->one_state ? rd_linear_of(0) : rd_element_of_strip(c);

        if (c->r->one_state)
            c->t->store[s->store].lanes = 1;
        else if (lanes > c->r->width)
            lane = rd_linear_plus_value(c->t, lane, /*coef=*/1, first_lane(c, body, lanes));
        s->fold_at.lane = lane;
        s->wraps        = false;
    }
    if (!f->begins)
        return;
    if (f->ends_in_round)
        s->fold_at.cell = rd_linear_of(0);
    else if (rd_linear_coef(c->t, &s->fold_at.cell, c->r->axis))
        s->fold_at.cell = rd_cell_of_element(c->t, s->fold, c->r->axis, s->fold_at.cell);
    if (!f->ends_in_round)
        s->fold_at.state_offset = rd_element_of_strip(c);
}

/* ---- Statements ------------------------------------------------------------------------------ */
/* True if the states (accumulators) that are finished differ along the strip, so that each element
 * has results. So the statement is in a loop over the strip's axis, and the cell (accumulator)
 * moves with the axis. Or the fold begins in the strip (begins), where each element has a cell. */
static bool is_finish_varying(const rd_strip_mining *c, const rd_stmt *s)
{
    return c->inside &&
           (rd_linear_coef(c->t, &s->fold_at.cell, c->r->axis) || c->strips->fold[s->fold].begins);
}

/* Puts a BEGIN into the strip. If the fold begins and ends in one round of a vector loop (inner),
 * it goes into the vector loop, behind a declaration of its state (accumulator) as a variable.
 * Else it resets the states of all elements, alone between vector loops. */
static void distribute_begin(rd_strip_mining *c, int32_t body, int32_t stmt)
{
    const bool inner = c->strips->fold[c->t->stmt[stmt].fold].ends_in_round;
    rd_stmt    array = c->t->stmt[stmt];

    resize_states(c, &array);
    if (!inner) {
        rd_put_alone(c, body, stmt);
        return;
    }
    array.kind = RD_S_ARRAY;
    rd_to_vector(c, body, rd_add_stmt(c->t, &array));
    rd_to_vector(c, body, stmt);
}

/* True if the fold has no combine tree and one lane (partial accumulator), so that its end merges
 * nothing. */
static bool is_finished_at_once(const rd_strip_mining *c, int32_t fold)
{
    return c->t->fold[fold].tree_rows == 0 && c->t->fold[fold].lanes == 1;
}

/* Puts a merge of blocks (runs of a fold's steps) or of lanes (partial accumulators) into the
 * strip: alone if it is the same for all elements; in the vector loop if states are variables
 * (inner) or nothing is merged; else in a loop by call, one function for all elements. */
static void distribute_tail(rd_strip_mining *c, int32_t body, int32_t stmt)
{
    rd_stmt    s      = c->t->stmt[stmt];
    const bool varies = is_finish_varying(c, &s);

    rd_set_state(c, body, &s);
    c->t->stmt[stmt] = s;
    if (!varies)
        rd_put_alone(c, body, stmt);
    else if (c->strips->fold[s.fold].ends_in_round || is_finished_at_once(c, s.fold))
        rd_to_vector(c, body, stmt);
    else
        rd_to_call(c, body, stmt);
}

/* Puts a FINISH (results of a cell) into the vector loop if results differ along the strip, else
 * alone, and notes in c->varies which it is. */
static void distribute_finish(rd_strip_mining *c, int32_t body, int32_t stmt)
{
    rd_stmt    finish = c->t->stmt[stmt];
    const bool varies = is_finish_varying(c, &finish);

    rd_set_state(c, body, &finish);
    c->t->stmt[stmt] = finish;
    for (int32_t k = 0; k < finish.n_value; k++)
        c->varies[finish.value + k] = varies;
    if (varies)
        rd_to_vector(c, body, stmt);
    else
        rd_put_alone(c, body, stmt);
}

/* True if the step can join the open vector loop. A prefix of a scan by the tree (levels > 0)
 * takes all elements in one call, before which the loop may only hold values. */
static bool can_join_open_loop(const rd_strip_mining *c, int32_t stmt)
{
    const rd_stmt *s = &c->t->stmt[stmt];

    if (s->kind != RD_S_PREFIX || !c->t->fold[s->fold].levels || c->open < 0)
        return true;
    for (int32_t k = c->t->stmt[c->open].first; k >= 0; k = c->t->stmt[k].next)
        if (c->t->stmt[k].kind != RD_S_LET)
            return false;
    return true;
}

/* Puts a step into the vector loop: neighbours step into lanes or cells (accumulators) of their
 * own. A step that must go in order goes into the loop of serial steps. */
static void distribute_step(rd_strip_mining *c, int32_t body, int32_t stmt)
{
    rd_stmt s = c->t->stmt[stmt];

    if (c->strips->fold[s.fold].in_order) {
        rd_to_in_order_loop(c, body, stmt);
        return;
    }
    if (!can_join_open_loop(c, stmt))
        c->open = -1;
    rd_set_state(c, body, &s);
    c->t->stmt[stmt] = s;
    for (int32_t k = 0; k < s.n_value; k++)
        c->varies[s.value + k] = true;
    rd_to_vector(c, body, stmt);
}

/* Puts a PUSH_IF_LAST (ends the block of a cell): as a loop by call (one call in the generated C)
 * for all cells (accumulators) of the strip (a range that vector loops visit); or alone, if
 * neighbours are no cells, or one statement ends the blocks (runs of a fold's steps) of all cells
 * (`all_cells`). */
static void distribute_ends(rd_strip_mining *c, int32_t body, int32_t stmt)
{
    rd_stmt s = c->t->stmt[stmt];

    rd_set_state(c, body, &s);
    c->t->stmt[stmt] = s;
    if (c->inside && c->strips->fold[s.fold].cells && !s.all_cells)
        rd_to_call(c, body, stmt);
    else
        rd_put_alone(c, body, stmt);
}

/* Returns the step of the fold in the loop, if each element of the strip (a range that vector
 * loops visit) has one state, adjacent to the next one's; else -1. An exit can then test them as
 * one run. So the fold has one lane, neighbours are cells (accumulators), and no loop between over
 * another axis moves the cell. */
static int32_t step_of_strip(const rd_strip_mining *c, int32_t loop, int32_t fold)
{
    const rd_schedule *t    = c->t;
    int32_t            step = loop;

    while (step >= 0 && (t->stmt[step].kind != RD_S_STEP || t->stmt[step].fold != fold))
        step = rd_next_stmt(t, step, loop);
    if (step < 0 || t->fold[fold].lanes > 1 || !c->strips->fold[fold].cells ||
        t->store[t->stmt[step].store].cell_stride *
                    rd_linear_coef(t, &t->stmt[step].fold_at.cell, c->r->axis) +
                rd_linear_coef(t, &t->stmt[step].fold_at.state_offset, c->r->axis) !=
            1)
        return -1;
    for (int32_t s = t->stmt[step].parent; s != loop; s = t->stmt[s].parent)
        if (t->stmt[s].kind == RD_S_LOOP && rd_loop_of(t, s)->axis != c->r->axis &&
            rd_linear_coef(t, &t->stmt[step].fold_at.cell, rd_loop_of(t, s)->axis))
            return -1;
    return step;
}

/* Moves an early exit from a loop over another axis behind the row: it then asks whether all
 * elements of the strip (a range that vector loops visit) are decided. It tests the states
 * (accumulators) from that of the strip's first index on, stop - start of them. It is dropped if
 * the fold ends within a round (inner), or its states are no such run. */
static void exit_behind_row(rd_strip_mining *c, int32_t body, int32_t stmt)
{
    rd_schedule    *t     = c->t;
    rd_stmt         s     = t->stmt[stmt];
    const int32_t   step  = step_of_strip(c, s.arg, s.fold);
    const rd_linear first = rd_axis_plus(t, c->start, /*offset=*/0);

    if (step < 0 || c->strips->fold[s.fold].ends_in_round)
        return;
    s.fold_at.cell = rd_linear_with(t, t->stmt[step].fold_at.cell, c->r->axis, first);
    s.fold_at.state_offset =
        rd_linear_with(t, t->stmt[step].fold_at.state_offset, c->r->axis, first);
    s.count = rd_linear_plus_axis(t, rd_axis_plus(t, c->stop, /*offset=*/0), /*coef=*/-1, c->start);
    t->stmt[stmt] = s;
    rd_put_alone(c, body, stmt);
}

/* Puts an early exit from a loop over another axis behind its row. An exit from the strips' own
 * loop goes behind the strip (a range that vector loops visit), if there are several strips of a
 * fold that begins outside of them; else it is dropped, as nothing is left to be skipped. */
static void distribute_exit(rd_strip_mining *c, int32_t body, int32_t stmt)
{
    const rd_stmt *s = &c->t->stmt[stmt];

    if (rd_loop_of(c->t, s->arg)->axis != c->r->axis)
        exit_behind_row(c, body, stmt);
    else if (!c->strips->fold[s->fold].begins && !c->r->around && !c->r->single)
        rd_put_alone(c, body, stmt);
}

/* Puts a statement of a fold, by its kind; steps and prefixes are the default. */
void rd_put_fold_stmt(rd_strip_mining *c, int32_t body, int32_t stmt)
{
    switch (c->t->stmt[stmt].kind) {
    case RD_S_BEGIN: distribute_begin(c, body, stmt); break;
    case RD_S_PUSH_IF_LAST: distribute_ends(c, body, stmt); break;
    case RD_S_MERGE_BLOCKS:
    case RD_S_MERGE_LANES: distribute_tail(c, body, stmt); break;
    case RD_S_FINISH: distribute_finish(c, body, stmt); break;
    case RD_S_EXIT: distribute_exit(c, body, stmt); break;
    default: distribute_step(c, body, stmt);
    }
}
