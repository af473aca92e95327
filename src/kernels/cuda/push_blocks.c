/* push_blocks.c - the text by which a range pushes the blocks that it has begun, as nodes of the
 * combine tree (program.h).
 *
 * Arrays of a fold: s has the states of the current blocks, one for each cell and lane; w has the
 * rows of its tree; b has the number of each cell's block.  A thread that has several lanes of a
 * cell pushes these together.  A lane that has taken no element has the reducer's identity.
 *
 * A cell is one result of a fold with the state that it has so far; a lane is one of its partial
 * accumulators.  A block is 64 steps of a lane.
 *
 * Words. A team is the threads that do one item of work. */
#include "kernels/cuda/kernel_frame.h"
#include <inttypes.h>
#include <stdio.h>

/* Adds the addresses of a fold's state (accumulator) with subscript `at`: "&s0_0[at],
 * &s0_1[at]". A state is n_state numbers, each in an array of its own; `name` is the arrays'
 * letter. */
void rd_cuda_states(rd_text *to, const rd_cuda_fold *f, int32_t number, const char *name,
                    const char *at)
{
    for (int k = 0; k < f->emit.n_state; k++)
        rd_text_add(to, "%s&%s%" PRId32 "_%d[%s]", k ? ", " : "", name, number, k, at);
}

/* Returns the number of a fold in the program. */
int32_t rd_cuda_fold_number(const rd_cuda_strategy *s, const rd_cuda_fold *f)
{
    return (int32_t)(f - s->fold);
}

/* Writes the lane (one of a cell's partial accumulators) that is number l of this thread. These
 * are adjacent lanes if a thread has vectors, "(4 * t + l)"; else lanes a team's threads apart,
 * "(RD_TEAM * l + t)"; or the thread's only lane, "t". */
const char *rd_cuda_lane_of(const rd_cuda_text *t, const rd_cuda_fold *f, char to[32])
{
    if (t->s->width > 1)
        snprintf(to, 32, "(%" PRId32 " * t + l)", t->s->width);
    else
        snprintf(to, 32, f->emit.fold->lanes > t->s->team ? "(RD_TEAM * l + t)" : "t");
    return to;
}

/* Returns the text of this thread's first lane (partial accumulator): "4 * t" if a thread has
 * four adjacent ones. Widths are 1, 2, 4 and 8; the other texts are never used. */
static const char *first_lane(const rd_cuda_text *t)
{
    static const char *const first[] = { "t", "t", "2 * t", "", "4 * t", "", "", "", "8 * t" };

    return first[t->s->width];
}

/* Returns the distance between two lanes (partial accumulators) of a thread: 1 if they are
 * adjacent, else a team's threads. */
static int32_t lanes_apart(const rd_cuda_text *t)
{
    return t->s->width > 1 ? 1 : t->s->team;
}

/* Adds the arguments of push() that say which lanes (partial accumulators) of a cell, an output
 * element, it pushes: ", 4, 1, 4, c0 * (int64_t)4".
 *
 *     4                  lanes that this thread pushes (f->thread_lanes)
 *     1                  distance from one to the next
 *     4                  states in a row of the tree: all lanes of all cells
 *     c0 * (int64_t)4    the first lane of the cell, and of this thread if threads share lanes */
static void add_lanes_of_push(rd_text *to, const rd_cuda_text *t, const rd_cuda_fold *f)
{
    const int32_t number = rd_cuda_fold_number(t->s, f);
    const int32_t lanes  = f->emit.fold->lanes;
    const bool    team   = f->storage == RD_STORAGE_TEAM; /* a row has all lanes of the cell   */
    const bool    shared = team && f->threads_are_lanes;  /* lanes of other threads lie between */
    const int32_t row    = team ? lanes : f->thread_lanes;

    rd_text_add(to, ", %d, %d, %" PRId64 ", c%" PRId32 " * (int64_t)%" PRId32 "%s%s",
                (int)f->thread_lanes, shared ? (int)lanes_apart(t) : 1, f->n_cell * row, number,
                row, shared ? " + " : "", shared ? first_lane(t) : "");
}

/* Adds the first arguments of push(): the states of a cell (output element) and the rows of its
 * nodes (partial results in the combine tree), "&s0_0[c0 * 4], w0_0". If threads share a cell's
 * lanes (partial accumulators) in the team's memory, this thread's first lane is added. */
static void add_arrays_of_push(rd_text *to, const rd_cuda_text *t, const rd_cuda_fold *f)
{
    const int32_t number = rd_cuda_fold_number(t->s, f);
    const bool    shared = f->threads_are_lanes && f->storage == RD_STORAGE_TEAM;
    rd_text       first  = { 0 };

    rd_text_add(&first, "c%" PRId32 " * %" PRId32 "%s%s", number,
                f->storage == RD_STORAGE_TEAM ? f->emit.fold->lanes : f->thread_lanes,
                shared ? " + " : "", shared ? first_lane(t) : "");
    rd_cuda_states(to, f, number, "s", first.at ? first.at : "");
    for (int k = 0; k < f->emit.n_state; k++)
        rd_text_add(to, ", w%" PRId32 "_%d", number, k);
    rd_text_end(&first, t->print.to);
}

/* Adds the number of a cell's open block: "b0[c0]"; or "b0[c0 * 32 + t]" if the team's threads
 * share the cell's lanes in memory, as each thread then counts for itself. A cell is an output
 * element with its accumulators. */
static void add_counter(rd_text *to, const rd_cuda_fold *f, int32_t number)
{
    if (rd_cuda_counters(f) > 1)
        rd_text_add(to, "b%" PRId32 "[c%" PRId32 " * %d + t]", number, number, rd_cuda_counters(f));
    else
        rd_text_add(to, "b%" PRId32 "[c%" PRId32 "]", number, number);
}

/* Adds the loop that ends all blocks of a cell (output element) before block `block`, and pushes
 * them up the combine tree as nodes. The last argument of push() is the first block of the
 * range: from0 in a split loop (f->split >= 0), else 0:
 *
 *     while (b0[c0] < edge0(q, range + 1)) { push0(&s0_0[c0 * 4], w0_0, 4, 1, 4, c0 * (int64_t)4,
 *                                                  b0[c0], from0); b0[c0]++; } */
void rd_cuda_end_blocks_before(rd_cuda_text *t, const rd_cuda_fold *f, const char *block)
{
    const int32_t number = rd_cuda_fold_number(t->s, f);
    rd_text       line   = { 0 };

    rd_text_add(&line, "while (");
    add_counter(&line, f, number);
    rd_text_add(&line, " < %s) { push%" PRId32 "(", block, number);
    add_arrays_of_push(&line, t, f);
    add_lanes_of_push(&line, t, f);
    rd_text_add(&line, ", ");
    add_counter(&line, f, number);
    rd_text_add(&line, f->split >= 0 ? ", from%" PRId32 : ", 0", number);
    rd_text_add(&line, "); ");
    add_counter(&line, f, number);
    rd_text_add(&line, "++; }");
    rd_print_line(&t->print, "%s", line.at ? line.at : "");
    rd_text_end(&line, t->print.to);
}
