/* interleave_blocks.c - The pass interleave_blocks runs several blocks of a user's reducer side
 * by side, for instruction-level parallelism.
 *
 * A block is folded from the left: each step waits for the one before. Blocks are independent,
 * so some of them become the rounds of a vector loop. Their elements are packed first; each
 * round takes the next element of every block; then the blocks are pushed to the tree in order.
 *
 *     block i0 from lo to hi {       serial i0 from lo to hi down to lo + 512 k by 512, starts m0 {
 *       cut at block f0 ..             vector i0 from m0 to m0 + 512 { r0 = ..; a1[i0 - m0] = r0 }
 *       serial i0 {                    vector m1 to 8, by call {
 *         r0 = ..                        serial m2 to 64 { a2[8*m2 + m1] = a1[64*m1 + m2] } }
 *         step f0: r0 }                vector m1 to 8 { load states f0, a3 at m1 }
 *       push if last f0 .. }           serial m2 to 64 { vector m1 to 8 { step f0 a3: a2[..] } }
 *                                      serial m1 to 8 {
 *                                        store states f0, a3 at m1; push if last f0 .. } }
 *                                    block i0 from hi down to lo + 512 k to hi { as before }
 *
 * If the steps go along short rows that do not follow each other in memory, the pass strip-mines
 * the loop around the block loop instead. The first array then holds some of these rows, one
 * behind the other.
 *
 * A user's reducer is one of functions that the caller has given.  A value is a LET; a cell is an
 * accumulator; the tree merges the results of blocks pairwise.
 *
 * Fields. A loop's `program_loop` is the number of the program's loop that it comes from, -1: none.
 * A bound has n parts, of which the greatest or the least counts; one with by > 1 is rounded to a
 * multiple.
 *
 * Words. A fold is a reduction or a scan. */
#include "kernels/pass/interleave_blocks.h"
#include "kernels/loop/facts.h"
#include "kernels/pass/pass.h"

/* ---- Which ----------------------------------------------------------------------------------- */
/* Returns the number of blocks (runs of a fold's steps) to interleave: twice as many as a vector
 * holds numbers, so that two vectors overlap their latencies. 1 if no vectors can be made of the
 * reducer's numbers. `widest`: bytes of its widest number, 0: no vectors. */
static int64_t interleaved_block_count(const rd_schedule *t, const rd_target *target, int32_t fold)
{
    const rd_emit_fold *f      = &t->fold[fold].emit;
    const int           widest = f->user ? rd_user_widest(f) : 0;

    return widest ? 2 * (int64_t)(target->vector / widest) : 1;
}

/* True if the statement makes a value that may be computed in any order, and also where it was not
 * before: no user's call and no checked index, which could end the run. */
static bool is_value(const rd_schedule *t, int32_t stmt)
{
    const rd_stmt *s = &t->stmt[stmt];

    return s->kind == RD_S_LET && t->let[s->value].kind != RD_I_CALL &&
           t->let[s->value].kind != RD_I_INDEX;
}

/* Returns the step that ends the loop's body, if all statements before it are values; else -1. */
static int32_t last_step(const rd_schedule *t, int32_t loop)
{
    const int32_t last = t->stmt[loop].last;

    for (int32_t s = t->stmt[loop].first; s >= 0 && s != last; s = t->stmt[s].next)
        if (!is_value(t, s))
            return -1;
    return last >= 0 && t->stmt[last].kind == RD_S_STEP ? last : -1;
}

/* Fills the statements of *b. True if the block loop holds three statements of one fold:
 * CUT_AT_BLOCK, a serial loop of the program (of >= 0) that ends with a step, and PUSH_IF_LAST
 * (`ends`), which sends the block's result to the combine tree. */
static bool find_loops(rd_interleaving *b)
{
    const rd_schedule *t   = b->t;
    const int32_t      cut = t->stmt[b->block].first;

    b->ends = t->stmt[b->block].last;
    b->loop = cut >= 0 ? t->stmt[cut].next : -1;
    if (b->loop < 0 || t->stmt[cut].kind != RD_S_CUT_AT_BLOCK ||
        t->stmt[b->loop].kind != RD_S_LOOP || t->stmt[b->loop].next != b->ends ||
        t->stmt[b->ends].kind != RD_S_PUSH_IF_LAST ||
        rd_loop_of(t, b->loop)->kind != RD_FOR_SERIAL || rd_loop_of(t, b->loop)->program_loop < 0)
        return false;
    b->step = last_step(t, b->loop);
    b->fold = b->step >= 0 ? t->stmt[b->step].fold : -1;
    return b->fold >= 0 && t->stmt[cut].fold == b->fold && t->stmt[b->ends].fold == b->fold;
}

/* True if the fold is a user's without weights (w < 0), mask and labels, with one lane along one
 * axis (mixed: along several), and its steps in the loop go into one cell (accumulator). The block
 * loop goes upwards between two positions. */
static bool can_interleave(const rd_interleaving *b)
{
    const rd_schedule  *t    = b->t;
    const rd_loop_fold *f    = &t->fold[b->fold];
    const rd_stmt      *s    = &t->stmt[b->step];
    const rd_for       *loop = rd_loop_of(t, b->loop);

    return f->emit.user && s->weight < 0 && s->mask < 0 && s->label < 0 && f->lanes == 1 &&
           !f->several_lane_axes && rd_goes_up(rd_loop_of(t, b->block)) &&
           !rd_linear_coef(t, &s->fold_at.cell, loop->axis);
}

/* True if all steps go along one loop with at least n blocks, whose range starts at the start of a
 * block. Sets top, the loop to be strip-mined, and row = 0, which stands for this case. b->steps
 * are the steps of one block. */
static bool is_one_row(rd_interleaving *b)
{
    const rd_schedule *t = b->t;

    b->top = b->block;
    b->row = 0;
    return rd_trips(t->p, rd_loop_of(t, b->loop)->program_loop) >= b->n * b->steps &&
           rd_begins_with_block(t, b->fold, b->block, &t->stmt[b->step].fold_at);
}

/* ---- Rows ------------------------------------------------------------------------------------ */
/* Returns the greatest common divisor of two numbers, by Euclid's algorithm. */
static int64_t gcd(int64_t a, int64_t b)
{
    return b ? gcd(b, a % b) : a;
}

/* Returns the number of blocks that are interleaved, at least `want`, such that they are a whole
 * number of rows: a multiple of row / gcd(row, steps). It is also a multiple of 8, so that vectors
 * are full, if the elements then fit into an array of 4096. 0: not even the smallest number fits.
 */
static int64_t blocks_of_rows(int64_t row, int64_t steps, int64_t want)
{
    enum { VECTOR = 8, MOST = 4096 };
    const int64_t least = row / gcd(row, steps), whole = least / gcd(least, VECTOR) * VECTOR,
                  by = whole * steps <= MOST ? whole : least /* n is a multiple */,
                  n  = (want + by - 1) / by * by;

    return n * steps <= MOST ? n : 0;
}

/* Returns the serial loop of the program around the block loop, if its body is the block loop
 * alone, upwards over single indices (no marks); -1 if there is none. */
static int32_t loop_over_rows(const rd_schedule *t, int32_t block)
{
    const int32_t s    = t->stmt[block].parent;
    const rd_for *loop = t->stmt[s].kind == RD_S_LOOP ? rd_loop_of(t, s) : NULL;

    return loop && t->stmt[s].first == block && t->stmt[s].last == block &&
                   loop->kind == RD_FOR_SERIAL && loop->step == 1 && loop->program_loop >= 0 &&
                   loop->start_mark < 0 && loop->stop_mark < 0 && rd_goes_up(loop)
               ? s
               : -1;
}

/* Returns how far an element's step number moves with an index of the axis. The number is outer *
 * (rows of lanes) + the lane position, as the fold has one lane (state). */
static int64_t step_stride(const rd_interleaving *b, int32_t axis)
{
    const rd_fold_at *at = &b->t->stmt[b->step].fold_at;

    return rd_linear_coef(b->t, &at->lane_line, axis) * rd_rows_of_lanes(&b->t->p->fold[b->fold]) +
           rd_linear_coef(b->t, &at->lane, axis);
}

/* True if each row continues the row before: step numbers rise by 1 along a row and by `row` from
 * row to row, and so do the flat indices of elements. All rows go into one cell (accumulator). */
static bool has_contiguous_rows(const rd_interleaving *b)
{
    const rd_fold_at *at = &b->t->stmt[b->step].fold_at;

    return step_stride(b, b->inner) == 1 && step_stride(b, b->axis) == b->row &&
           rd_linear_coef(b->t, &at->index, b->axis) ==
               b->row * rd_linear_coef(b->t, &at->index, b->inner) &&
           !rd_linear_coef(b->t, &at->cell, b->axis);
}

/* True if steps go along short rows of a known length, [0, row), and some whole number of rows is a
 * whole number of blocks. There are enough rows, and the first one starts at the start of a block.
 * Sets top, row, axis, inner and n for the loop over rows. `from` and `to` are the bounds of a row,
 * constants without terms. `first` has the positions of a row's first element, at index 0 of the
 * inner axis. */
static bool is_rows_of_blocks(rd_interleaving *b)
{
    rd_schedule   *t    = b->t;
    const rd_edge *from = &rd_loop_of(t, b->block)->from, *to = &rd_loop_of(t, b->block)->to;
    rd_fold_at     first = t->stmt[b->step].fold_at;

    b->top = loop_over_rows(t, b->block);
    b->row = to->part[0].at.offset;
    if (b->top < 0 || from->part[0].at.n || from->part[0].at.offset || to->part[0].at.n ||
        b->row < 1)
        return false;
    b->axis  = rd_loop_of(t, b->top)->axis;
    b->inner = rd_loop_of(t, b->loop)->axis;
    b->n     = blocks_of_rows(b->row, b->steps, b->n);
    if (!b->n || !has_contiguous_rows(b) ||
        rd_trips(t->p, rd_loop_of(t, b->top)->program_loop) < b->n * b->steps / b->row)
        return false;
    first.lane      = rd_linear_with(t, first.lane, b->inner, rd_linear_of(0));
    first.lane_line = rd_linear_with(t, first.lane_line, b->inner, rd_linear_of(0));
    return rd_begins_with_block(t, b->fold, b->top, &first);
}

/* ---- All together ---------------------------------------------------------------------------- */
/* The pass: runs several blocks of a user's reducer side by side, as rounds of a vector loop, since
 * steps of one block wait for each other.  Two blocks (b.n) would gain nothing: half of a vector
 * would be empty. */
void rd_pass_interleave_blocks(rd_schedule *t, const rd_target *target)
{
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0 && !t->failed; s = rd_next_stmt(t, s, t->part[k])) {
            rd_interleaving b = { .t = t, .block = s };

            if (t->stmt[s].kind != RD_S_LOOP || rd_loop_of(t, s)->kind != RD_FOR_BLOCK ||
                !find_loops(&b))
                continue;
            b.n     = interleaved_block_count(t, target, b.fold);
            b.steps = t->p->fold[b.fold].steps;
            if (b.n > 2 && can_interleave(&b) && (is_one_row(&b) || is_rows_of_blocks(&b)))
                rd_interleave_blocks(&b);
        }
}
