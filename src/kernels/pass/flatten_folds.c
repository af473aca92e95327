/* flatten_folds.c - The pass flatten_folds flattens folds of a few interleaved columns: the loop
 * then reads memory contiguously.
 *
 *     serial i1 by 64, starts m2, stops m3 {          array a5; load states f0 cell i0, a5 at i0
 *       serial i0 to 7 {                              serial i1 by 64, starts m2, stops m3 {
 *         vector i1 from m2 to m3 {                     vector i1 from m2 to m3, flat {
 *           r0 = load s0[i0 + 7*i1]                       unroll i0 to 7 {
 *           step f0 cell i0, lane i1 - m2: r0 } } }         r0 = load ..; step a5 .. } } }
 *                                                     store states f0 cell i0, a5 at i0
 *
 * The array holds a lane of all columns, then the next lane, so states are in the order of
 * elements. The text of a flat loop is one loop over all elements of the strip (loop
 * collapsing), without strided loads.
 *
 * A column is a fold of its own: a cell (accumulator) for each of some neighbouring elements of a
 * row.  A lane is one of the states of a cell, to which rows go in turn.
 *
 * Fields. A step has values `weight`, `mask` and `label`, -1 where the fold has no weights, mask or
 * groups. A bound has n parts, of which the greatest or the least counts; one with by > 1 is
 * rounded to a multiple.
 *
 * Words. A loop by call is one call of a function in the text. A slot is a buffer that a program
 * reads or writes. */
#include "kernels/loop/facts.h"
#include "kernels/pass/fission_points.h"
#include "kernels/pass/pass.h"
#include "kernels/pass/state_copies.h"

/* With fewer rows than these strips have, copies of states cost more than they gain. */
enum { FEWEST_STRIPS = 4 };

/* The loops that are flattened.  `strips`, `across` and `vector` are statements: the loop over
 * strips (ranges) of rows, the loop over columns, and the vector loop over the rows of a strip. */
typedef struct flat_columns {
    int32_t strips, across, vector;
    int32_t row, column; /* axes */
    int64_t n;           /* columns */
} flat_columns;

/* ---- Which loops ----------------------------------------------------------------------------- */
/* True if `stmt` is a statement (not -1), and a loop of this kind. */
static bool is_loop(const rd_schedule *t, int32_t stmt, rd_for_kind kind)
{
    return stmt >= 0 && t->stmt[stmt].kind == RD_S_LOOP && rd_loop_of(t, stmt)->kind == kind;
}

/* True if the loop visits all columns, which are 2 to 16, from index 0 upwards, and holds one
 * statement. Its bound `from` must be the constant 0: one part, not rounded (by <= 1), no terms. */
static bool is_over_columns(const rd_schedule *t, int32_t stmt)
{
    const rd_for *loop = rd_loop_of(t, stmt);

    return loop->step == 1 && loop->extent > 1 && loop->extent <= RD_FLAT_COLUMNS &&
           !loop->backwards && rd_is_number(&loop->from, 0) &&
           t->p->axis_extent[loop->axis] == loop->extent &&
           t->stmt[stmt].first == t->stmt[stmt].last;
}

/* Fills *c. True if the vector loop is the only statement of a serial loop over a few columns,
 * which stands in a serial loop over strips (strip >= 0) of the same rows. A loop by call (one
 * call in the generated C) has no body of its own in the generated C. There are enough rows for 4
 * strips, so that copying the states (accumulators) pays. */
static bool find_column_loops(const rd_schedule *t, int32_t vector, flat_columns *c)
{
    *c = (flat_columns){ .vector = vector, .across = t->stmt[vector].parent };
    if (!is_loop(t, vector, RD_FOR_VECTOR) || rd_loop_of(t, vector)->by_call ||
        !is_loop(t, c->across, RD_FOR_SERIAL) || !is_over_columns(t, c->across))
        return false;
    c->strips = t->stmt[c->across].parent;
    if (!is_loop(t, c->strips, RD_FOR_SERIAL) || rd_loop_of(t, c->strips)->strips_number < 0)
        return false;
    c->row    = rd_loop_of(t, vector)->axis;
    c->column = rd_loop_of(t, c->across)->axis;
    c->n      = rd_loop_of(t, c->across)->extent;
    return rd_loop_of(t, c->strips)->axis == c->row && c->row != c->column &&
           t->p->axis_extent[c->row] >= FEWEST_STRIPS * rd_loop_of(t, c->strips)->step;
}

/* ---- Which statements ------------------------------------------------------------------------ */
/* True if elements are contiguous over rows and columns: columns are adjacent in memory (by = 1),
 * and a row begins n elements behind the one before. Or all rounds read one element (by = 0). An
 * address that depends on a value (axis < 0) is neither, as memory holds its index. */
static bool is_contiguous(const rd_schedule *t, const flat_columns *c, const rd_linear *at)
{
    const int64_t by = rd_linear_coef(t, at, c->column);

    for (int32_t k = 0; k < at->n; k++)
        if (t->term[at->first + k].axis < 0)
            return false;
    return (by == 0 || by == 1) && rd_linear_coef(t, at, c->row) == c->n * by;
}

/* True if the flat loop can compute the value: vectors can, it cannot fail, and its loads are
 * contiguous. A load must be from the program's memory (slot >= 0), and not of f16, whose elements
 * another loop converts strip by strip. */
static bool can_flatten_value(const rd_schedule *t, const flat_columns *c, int32_t stmt)
{
    const rd_tree_value *let = &t->let[t->stmt[stmt].value];

    switch (let->kind) {
    case RD_I_LOAD: return let->slot >= 0 && let->type != RD_F16 && is_contiguous(t, c, &let->at);
    case RD_I_CONST: return true;
    case RD_I_MAP:
    case RD_I_CAST:
    case RD_I_SELECT: return !rd_stmt_needs_fission(t, stmt);
    default: return false;
    }
}

/* True if the step's lane (partial accumulator) is index of the row - first index of its strip (a
 * range that vector loops visit), and a strip has as many rows as the fold has lanes. So each row
 * of a strip has a lane of its own. `wraps`: the lane would be that number modulo the lanes. */
static bool has_lane_of_row(const rd_schedule *t, const flat_columns *c, const rd_stmt *s)
{
    const rd_for *strips = rd_loop_of(t, c->strips);

    return !s->wraps && strips->step == t->fold[s->fold].lanes && s->fold_at.lane.n == 2 &&
           s->fold_at.lane.offset == 0 && rd_linear_coef(t, &s->fold_at.lane, c->row) == 1 &&
           rd_linear_coef(t, &s->fold_at.lane, strips->start_mark) == -1;
}

/* True if the step is the fold's only statement in the loop over strips (ranges of rows), apart
 * from an early exit that tests all states of all columns. Their order changes, which does not
 * matter to such an exit. It stands directly in the loop over strips, where copy_states() finds it,
 * and tests the fold's first array (`store`). The number of states that it tests (`count`) is
 * constant, without terms (n == 0): columns times lanes. The fold has no cells beyond these columns
 * (n_cell), as flattening copies only theirs. */
static bool has_only_full_exit(const rd_schedule *t, const flat_columns *c, int32_t step)
{
    const int32_t fold = t->stmt[step].fold;

    for (int32_t k = rd_next_stmt(t, c->strips, c->strips); k >= 0;
         k         = rd_next_stmt(t, k, c->strips)) {
        const rd_stmt *s = &t->stmt[k];

        if (s->fold == fold && k != step &&
            (s->kind != RD_S_EXIT || s->parent != c->strips || s->store != fold || s->count.n ||
             s->count.offset != c->n * t->fold[fold].lanes || t->p->fold[fold].n_cell != c->n))
            return false;
    }
    return true;
}

/* True if the fold is a plain reduction over the rows with a cell (accumulator) for each column: no
 * scan, no groups, no user's reducer, no reducer of places (argmin).  The column moves only the
 * cell, and the row only the lane. The loop over strips (ranges that vector loops visit) must be
 * the fold's own loop of steps (along), and `state_offset`, an offset of states, must be 0. Its
 * states must be in the fold's first array (store == fold), with lanes side by side.
 * rd_stmt_needs_fission() is true for a step that takes exponentials, which a function does for a
 * whole strip. `lane_line` is the step's number, which neither axis may move. */
static bool can_flatten_step(const rd_schedule *t, const flat_columns *c, int32_t stmt)
{
    const rd_stmt      *s = &t->stmt[stmt];
    const rd_loop_fold *f = &t->fold[s->fold];
    const rd_fold      *p = &t->p->fold[s->fold]; /* as the program has it */

    return s->store == s->fold && s->label < 0 && !p->scan && !p->n_group && !p->user &&
           !rd_reducer_places(p->reducer) && !rd_stmt_needs_fission(t, stmt) &&
           has_lane_of_row(t, c, s) && rd_linear_coef(t, &s->fold_at.cell, c->column) &&
           !rd_linear_coef(t, &s->fold_at.cell, c->row) &&
           !rd_linear_coef(t, &s->fold_at.lane_line, c->column) &&
           !rd_linear_coef(t, &s->fold_at.lane_line, c->row) && s->fold_at.state_offset.n == 0 &&
           rd_loop_of(t, c->strips)->program_loop == f->step_loop &&
           t->store[s->fold].lane_stride == 1 && has_only_full_exit(t, c, stmt);
}

/* True if the vector loop reads values that another loop of the strip makes, such as a mask of its
 * rows. Those will come through an array with an element for each row (pass/scalar_expand.c); the
 * flat loop would need them once for each row and column. */
static bool has_strip_operands(const rd_schedule *t, const flat_columns *c)
{
    for (int32_t value = 0; value < t->n_let; value++) {
        const int32_t maker = t->let[value].made_by;

        if (maker >= 0 && rd_stands_in(t, maker, c->strips) && !rd_stands_in(t, maker, c->vector) &&
            rd_is_read_in(t, value, c->vector))
            return true;
    }
    return false;
}

/* True if all statements of the vector loop can be flattened, and one of them is a step of a fold.
 */
static bool can_flatten(const rd_schedule *t, const flat_columns *c)
{
    bool has_step = false;

    if (has_strip_operands(t, c))
        return false;
    for (int32_t s = t->stmt[c->vector].first; s >= 0; s = t->stmt[s].next) {
        const bool is_step = t->stmt[s].kind == RD_S_STEP;

        if (is_step ? !can_flatten_step(t, c, s)
                    : t->stmt[s].kind != RD_S_LET || !can_flatten_value(t, c, s))
            return false;
        has_step |= is_step;
    }
    return has_step;
}

/* ---- The loops ------------------------------------------------------------------------------- */
/* Makes a loop over columns with one statement of `kind`: LOAD_STATES copies the states of a
 * column's cell (accumulator) into the array, from subscript `column` on, and STORE_STATES back.
 * It stands nowhere yet. */
static int32_t make_copies(rd_schedule *t, const flat_columns *c, int32_t step, rd_stmt_kind kind,
                           int32_t array)
{
    const rd_for across = *rd_loop_of(t, c->across);
    rd_stmt      copy   = rd_copy_of_states(&t->stmt[step], kind, array);
    int32_t      made, loop;

    copy.at = rd_linear_plus_axis(t, rd_linear_of(0), /*coef=*/1, c->column);
    made    = rd_add_stmt(t, &copy);
    loop    = rd_add_loop(t, &across);
    if (!t->failed)
        rd_append(t, loop, made);
    return loop;
}

/* Declares the array, and copies the states (accumulators) of the step's fold into it before the
 * strips (ranges that vector loops visit), and back behind them. The step and early exits use the
 * array. Lane l of a column is element l * n + column, so that states lie in the order of
 * elements. */
static void copy_states(rd_schedule *t, const flat_columns *c, int32_t step)
{
    const int32_t       fold = t->stmt[step].fold, lanes = t->fold[fold].lanes;
    const rd_tree_array store = { .storage     = RD_IN_LOCAL,
                                  .type        = t->store[fold].type,
                                  .fold        = fold,
                                  .extent      = c->n * lanes,
                                  .lane_stride = c->n };
    const int32_t       array = rd_add_store(t, &store);

    if (t->failed)
        return;
    rd_put_before(t, rd_add_declaration(t, array), c->strips);
    rd_put_before(t, make_copies(t, c, step, RD_S_LOAD_STATES, array), c->strips);
    rd_put_behind(t, make_copies(t, c, step, RD_S_STORE_STATES, array), c->strips);
    for (int32_t k = t->stmt[c->strips].first; k >= 0; k = t->stmt[k].next)
        if (t->stmt[k].fold == fold && t->stmt[k].kind == RD_S_EXIT)
            t->stmt[k].store = array;
    t->stmt[step].store = array;
    t->stmt[step].fold_at.state_offset =
        rd_linear_plus_axis(t, rd_linear_of(0), /*coef=*/1, c->column);
}

/* Interchanges the two inner loops: the loop over columns moves into the vector loop over rows, is
 * unrolled there, and takes its statements. `flattened` tells the generated C to write both as one
 * loop over adjacent memory. */
static void interchange_loops(rd_schedule *t, const flat_columns *c)
{
    rd_take_out(t, c->vector);
    rd_put_before(t, c->vector, c->across);
    rd_take_out(t, c->across);
    while (t->stmt[c->vector].first >= 0) {
        const int32_t s = t->stmt[c->vector].first;

        rd_take_out(t, s);
        rd_append(t, c->across, s);
    }
    rd_append(t, c->vector, c->across);
    t->loop[t->stmt[c->across].arg].kind      = RD_FOR_UNROLL;
    t->loop[t->stmt[c->vector].arg].flattened = true;
}

/* Copies the states (accumulators) of all steps, and interchanges the loops. */
static void flatten(rd_schedule *t, const flat_columns *c)
{
    for (int32_t s = t->stmt[c->vector].first; s >= 0 && !t->failed; s = t->stmt[s].next)
        if (t->stmt[s].kind == RD_S_STEP)
            copy_states(t, c, s);
    if (!t->failed)
        interchange_loops(t, c);
}

/* The pass: puts the loop over a few interleaved columns into the vector loop over rows, where
 * folds allow it, so that the two read memory contiguously, as one loop. */
void rd_pass_flatten_folds(rd_schedule *t, const rd_target *target)
{
    flat_columns c;

    (void)target;
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0 && !t->failed; s = rd_next_stmt(t, s, t->part[k]))
            if (find_column_loops(t, s, &c) && can_flatten(t, &c))
                flatten(t, &c);
}
