/* interleave_blocks_loops.c - Builds the loops in which blocks of a user's reducer run
 * interleaved: see interleave_blocks.c for the whole.
 *
 * A block is a number of steps of a fold (b->steps), n of which run side by side.  b->row is the
 * length of a short row of elements; 0: all elements are in one row.  m0 (b->first), m1
 * (b->number) and m2 (b->at) are marks: the first index of all blocks, the number of a block, and
 * of a step in it.
 *
 * Words. A loop by call is one call of a function in the text. */
#include "kernels/loop/facts.h"
#include "kernels/pass/interleave_blocks.h"
#include "kernels/pass/state_copies.h"
#include "kernels/pass/strip_arrays.h"

/* ---- Parts ----------------------------------------------------------------------------------- */
/* Adds "serial m3 to 4" at the end of a body, and returns it: a loop from 0 to `rounds` over an
 * axis that the pass has added (m3). It has no marks (start_mark, stop_mark -1), and comes from no
 * loop of the program (program_loop -1). */
static int32_t add_loop(rd_interleaving *b, int32_t body, rd_for_kind kind, int32_t axis,
                        int64_t rounds)
{
    const rd_for  loop = rd_rounds_from(kind, axis, rd_linear_of(0), rounds);
    const int32_t made = rd_add_loop(b->t, &loop);

    rd_append(b->t, body, made);
    return made;
}

/* Adds an array like *store, with its ARRAY statement (declaration) at the end of the body;
 * returns its number. */
static int32_t add_array(rd_interleaving *b, int32_t body, const rd_tree_array *store)
{
    const int32_t array = rd_add_store(b->t, store);

    rd_append(b->t, body, rd_add_declaration(b->t, array));
    return array;
}

/* Returns the position coef * index of the axis. */
static rd_linear axis_times(rd_interleaving *b, int64_t coef, int32_t axis)
{
    return rd_linear_plus_axis(b->t, rd_linear_of(0), coef, axis);
}

/* Returns a LOAD of "a1[64 * m1 + m2]": the element at row * by + column, where row and column are
 * axes. */
static rd_tree_value load_at(rd_interleaving *b, int32_t store, int64_t by, int32_t row,
                             int32_t column)
{
    return rd_load_of(b->t, store,
                      rd_linear_plus_axis(b->t, axis_times(b, /*coef=*/1, column), by, row));
}

/* Returns the index at which block m1 starts: m0 + 64 * m1, with 64 steps of a block. If there are
 * rows: 64 * m1, as the position counts from the start of row m0. */
static rd_linear block_start(rd_interleaving *b)
{
    return rd_linear_plus_axis(b->t, b->row ? rd_linear_of(0) : axis_times(b, /*coef=*/1, b->first),
                               b->steps, b->number);
}

/* Returns a position of the step with the index of an element put in. If there are rows, the index
 * counts from the first row's start and may go beyond the end of that row; rows are contiguous, so
 * the row axis stands still at the first row, m0. */
static rd_linear with_index(rd_interleaving *b, rd_linear at, rd_linear index)
{
    if (b->row)
        at = rd_linear_with(b->t, at, b->axis, axis_times(b, /*coef=*/1, b->first));
    return rd_linear_with(b->t, at, b->inner, index);
}

/* Makes a loop visit n indices from a position on. It comes from no loop of the program any more
 * (program_loop -1). */
static void set_range(rd_for *loop, rd_linear from, int64_t n)
{
    loop->from         = rd_edge_of(from);
    loop->to           = rd_edge_of(from);
    loop->program_loop = -1;
    loop->extent       = n;
    loop->to.part[0].at.offset += n;
}

/* Adds the loop that packs the operands of all steps, one behind the other: "vector i0 from m0 to
 * m0 + 512 { r0 = ..; a1[i0 - m0] = r0 }". It is a copy of the loop over steps, with a STORE in
 * place of the STEP. b->first is m0. If there are rows (b->row elements each), the copy visits one
 * row, and a loop over rows stands around it. An element is stored at its index less m0; if there
 * are rows, at (row - m0) * b->row + its index in the row. */
static void pack_elements(rd_interleaving *b, int32_t body)
{
    rd_schedule    *t     = b->t;
    const int32_t   made  = rd_stmt_copy(t, b->loop);
    const rd_linear first = axis_times(b, /*coef=*/1, b->first);
    rd_stmt         store = rd_stmt_of(RD_S_STORE);
    rd_for          rows  = *rd_loop_of(t, b->top);

    if (t->failed)
        return;
    if (b->row) {
        set_range(&rows, first, b->n * b->steps / b->row); /* so many whole rows */
        const int32_t over = rd_add_loop(t, &rows);

        rd_append(t, body, over);
        body = over;
    }
    rd_append(t, body, made);
    if (t->failed)
        return;
    set_range(&t->loop[t->stmt[made].arg], b->row ? rd_linear_of(0) : first,
              b->row ? b->row : b->n * b->steps);
    t->loop[t->stmt[made].arg].kind = RD_FOR_VECTOR;
    store.store                     = b->rows;
    store.type                      = t->store[b->rows].type;
    store.x                         = t->stmt[t->stmt[made].last].x;
    store.at                        = rd_linear_plus(t, axis_times(b, b->row ? b->row : 1, b->axis),
                                                     -(b->row ? b->row : 1), first);
    if (b->row)
        store.at = rd_linear_plus_axis(t, store.at, /*coef=*/1, b->inner);
    rd_take_out(t, t->stmt[made].last);
    rd_append(t, made, rd_add_stmt(t, &store));
}

/* Adds the loop that transposes the packed operands, so that those of one step are adjacent:
 * "vector m1 to 8, by call { serial m2 to 64 { a2[8*m2 + m1] = a1[64*m1 + m2] } }".  The generated
 * C has a function for elements of 4 bytes or more; others are copied by two serial loops. */
static void transpose_elements(rd_interleaving *b, int32_t body)
{
    rd_schedule   *t     = b->t;
    const rd_dtype type  = t->store[b->rows].type;
    const bool     call  = rd_register_size(type) >= 4;
    const int32_t around = add_loop(b, body, call ? RD_FOR_VECTOR : RD_FOR_SERIAL, b->number, b->n),
                  loop   = add_loop(b, around, RD_FOR_SERIAL, b->at, b->steps);
    rd_stmt             store = rd_stmt_of(RD_S_STORE);
    const rd_tree_value let   = load_at(b, b->rows, b->steps, b->number, b->at);

    if (t->failed)
        return;
    t->loop[t->stmt[around].arg].by_call = call;
    store.store                          = b->elements;
    store.type                           = type;
    store.x                              = rd_add_value(t, loop, &let);
    store.at = rd_linear_plus_axis(t, axis_times(b, /*coef=*/1, b->number), b->n, b->at);
    rd_append(t, loop, rd_add_stmt(t, &store));
}

/* Adds a statement of `kind`, LOAD_STATES or STORE_STATES, for the state of block `number`: it
 * copies between the fold's state and element `number` of the array of states. */
static void add_copy(rd_interleaving *b, int32_t body, rd_stmt_kind kind)
{
    rd_stmt s = rd_copy_of_states(&b->t->stmt[b->step], kind, b->states);

    s.at = axis_times(b, /*coef=*/1, b->number);
    rd_append(b->t, body, rd_add_stmt(b->t, &s));
}

/* Adds the loops over steps and blocks: "serial m2 to 64 { vector m1 to 8 { step f0 a3: a2[..] }
 * }". Each block steps into a state (accumulator) of its own (`state_offset` is added to the
 * state's subscript), and neighbouring rounds are independent, unlike steps of one block. */
static void take_steps(rd_interleaving *b, int32_t body)
{
    rd_schedule        *t      = b->t;
    const int32_t       around = add_loop(b, body, RD_FOR_SERIAL, b->at, b->steps);
    const int32_t       vector = add_loop(b, around, RD_FOR_VECTOR, b->number, b->n);
    const rd_linear     index  = rd_linear_plus_axis(t, block_start(b), /*coef=*/1, b->at);
    const rd_tree_value let    = load_at(b, b->elements, b->n, b->at, b->number);
    rd_stmt             step   = t->stmt[b->step];

    step.x                    = rd_add_value(t, vector, &let);
    step.store                = b->states;
    step.fold_at.lane         = with_index(b, step.fold_at.lane, index);
    step.fold_at.lane_line    = with_index(b, step.fold_at.lane_line, index);
    step.fold_at.index        = with_index(b, step.fold_at.index, index);
    step.fold_at.state_offset = axis_times(b, /*coef=*/1, b->number);
    rd_append(t, vector, rd_add_stmt(t, &step));
}

/* Adds the loop that ends the blocks (runs of a fold's steps) in order: "serial m1 to 8 { store
 * states f0, a3 at m1; push if last f0 .. }". STORE_STATES copies the state of block m1 from array
 * a3, where take_steps() has left it, to the fold's own state. PUSH_IF_LAST, with the positions of
 * the block's last step, then sends that state to the combine tree as the block's result. It takes
 * no element, so x is -1. */
static void finish_blocks(rd_interleaving *b, int32_t body)
{
    rd_schedule  *t      = b->t;
    const int32_t around = add_loop(b, body, RD_FOR_SERIAL, b->number, b->n);
    rd_linear     last   = block_start(b);
    rd_stmt       ends   = t->stmt[b->step];

    last.offset += b->steps - 1;
    ends.kind              = RD_S_PUSH_IF_LAST;
    ends.x                 = -1;
    ends.fold_at.lane      = with_index(b, ends.fold_at.lane, last);
    ends.fold_at.lane_line = with_index(b, ends.fold_at.lane_line, last);
    ends.fold_at.index     = with_index(b, ends.fold_at.index, last);
    add_copy(b, around, RD_S_STORE_STATES);
    rd_append(t, around, rd_add_stmt(t, &ends));
}

/* ---- All together ---------------------------------------------------------------------------- */
/* Puts an empty loop over n blocks at a time before the loop over single blocks, which keeps the
 * tail. `border` is the end, rounded down to whole rounds from the start on; there one loop ends
 * and the other begins. `width`: indices of a round, which are rows if there are rows. Returns the
 * new loop's statement. */
static int32_t put_loop(rd_interleaving *b)
{
    rd_schedule       *t      = b->t;
    const rd_for       top    = *rd_loop_of(t, b->top);
    const int64_t      width  = b->n * b->steps / (b->row ? b->row : 1);
    const rd_edge_part border = rd_whole_rounds(&top, width);
    const int32_t made = add_loop(b, t->stmt[b->top].parent, RD_FOR_SERIAL, b->axis, /*rounds=*/0);
    rd_for       *loop;

    rd_take_out(t, made);
    rd_put_before(t, made, b->top);
    if (t->failed)
        return made;
    loop                                      = &t->loop[t->stmt[made].arg];
    loop->start_mark                          = b->first;
    loop->from                                = top.from;
    loop->to                                  = top.to;
    loop->to.part[0]                          = border;
    loop->step                                = width;
    loop->extent                              = top.extent >= 0 ? top.extent / width : -1;
    t->loop[t->stmt[b->top].arg].from.part[0] = border;
    return made;
}

/* Builds the loop over n blocks. Its body packs and transposes the elements, copies the states
 * (accumulators) of the blocks in, takes the steps of all blocks side by side, and finishes the
 * blocks in order. Arrays: `rows` has the elements block by block, `elements` step by step,
 * `states` a state for each block. */
void rd_interleave_blocks(rd_interleaving *b)
{
    rd_schedule        *t        = b->t;
    const rd_tree_array elements = { .storage = RD_IN_LOCAL,
                                     .type    = t->let[t->stmt[b->step].x].type,
                                     .fold    = -1,
                                     .extent  = b->n * b->steps },
                        states   = { .storage = RD_IN_LOCAL, .fold = b->fold, .extent = b->n };
    int32_t body;

    b->axis   = rd_loop_of(t, b->top)->axis;
    b->inner  = rd_loop_of(t, b->loop)->axis;
    b->first  = rd_add_mark(t);
    b->number = rd_add_mark(t);
    b->at     = rd_add_mark(t);
    body      = put_loop(b);
    if (t->failed)
        return;
    b->rows     = add_array(b, body, &elements);
    b->elements = add_array(b, body, &elements);
    b->states   = add_array(b, body, &states);
    pack_elements(b, body);
    transpose_elements(b, body);
    add_copy(b, add_loop(b, body, RD_FOR_VECTOR, b->number, b->n), RD_S_LOAD_STATES);
    take_steps(b, body);
    finish_blocks(b, body);
}
