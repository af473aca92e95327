/* begin_blocks_text.c - before an element of a new block is taken, the states of earlier blocks
 * are pushed as nodes:
 *
 *     while (b0[0] < (i1) / 64) { push0(&s0_0[0], w0_0, 4, 1, 4, 0, b0[0], 0); b0[0]++; }
 *
 * A cell is an accumulator of a fold; it has a state for each lane.  A block is 64 steps of the
 * fold: when it ends, its result is pushed as a node of the combine tree.  b0 counts the blocks of
 * a cell that have ended. */
#include "core/combine_tree.h"
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>

/* Adds the number of an element's block (64 steps of the fold): "(i1) / 64". */
void rd_print_block_of(rd_printing *n, rd_text *to, const rd_stmt *s)
{
    rd_text_add(to, "(");
    rd_print_step_number(n, to, s);
    rd_text_add(to, ") / %d", RD_TREE_STEPS);
}

/* Prints how all blocks before block `block` end for a cell (output element): "while (b0[0] <
 * block) { push0(..); b0[0]++; }". b0 is the number of the cell's open block, and push0() makes
 * its states nodes of the combine tree, for the lanes (partial accumulators) that this thread
 * has. In the team's memory these lie a team apart if a thread takes single elements. The tree
 * begins at the range's first block, from0, if ranges (parts of a split loop) leave partials,
 * else at block 0. */
void rd_print_push_blocks(rd_printing *n, const rd_stmt *s, const char *block)
{
    const int32_t lanes = rd_lanes_in_array(n, s->store), width = n->kernel->width;
    const bool    in_team = rd_has_lanes_in_team(n, s->store);
    rd_text       counter = { 0 }, at = { 0 }, line = { 0 };

    rd_print_block_counter(n, &counter, s);
    rd_print_first_state(n, &at, s);
    if (in_team)
        rd_text_add(&at, width > 1 ? " + %" PRId32 " * t" : " + t", width);
    rd_text_add(&line, "while (%s < %s) { push%" PRId32 "(", counter.at, block, s->fold);
    rd_print_state_addresses(&line, &n->fold[s->fold], 's', s->store, at.at);
    for (int k = 0; k < n->fold[s->fold].emit.n_state; k++)
        rd_text_add(&line, ", w%" PRId32 "_%d", s->store, k);
    rd_text_add(&line, ", %" PRId32 ", %" PRId32 ", %" PRId64 ", %s, %s, ",
                in_team ? n->t->store[s->store].per_thread : lanes,
                in_team && width == 1 ? n->kernel->team : 1, rd_cells_in_array(n, s->store) * lanes,
                at.at, counter.at);
    rd_text_add(&line, rd_has_partials(n, s->fold) ? "from%" PRId32 : "0", s->fold);
    rd_print_line(n, "%s); %s++; }", line.at, counter.at);
    rd_text_end(&counter, n->to);
    rd_text_end(&at, n->to);
    rd_text_end(&line, n->to);
}

/* Prints how all cells (output elements), which have one lane (partial accumulator) each, begin
 * a block. m4 is the block's first index:
 *
 *     RD_UNROLL for (int c = 0; c < 4; c++)
 *         while (b0[c] < (m4) / 64) { push0(&s0_0[c], ..); b0[c]++; } */
static void print_opens_all(rd_printing *n, const rd_stmt *s)
{
    const int64_t cells = rd_cells_in_array(n, s->store);
    rd_text       block = { 0 }, line = { 0 };

    rd_print_block_of(n, &block, s);
    rd_text_add(&line, "while (b%" PRId32 "[c] < %s) { push%" PRId32 "(", s->store, block.at,
                s->fold);
    rd_print_state_addresses(&line, &n->fold[s->fold], 's', s->store, "c");
    for (int k = 0; k < n->fold[s->fold].emit.n_state; k++)
        rd_text_add(&line, ", w%" PRId32 "_%d", s->store, k);
    rd_text_add(&line, ", 1, 1, %" PRId64 ", c, b%" PRId32 "[c], ", cells, s->store);
    rd_text_add(&line, rd_has_partials(n, s->fold) ? "from%" PRId32 : "0", s->fold);
    rd_print_line(n, "RD_UNROLL for (int c = 0; c < %" PRId64 "; c++)", cells);
    rd_print_line(n, "    %s); b%" PRId32 "[c]++; }", line.at, s->store);
    rd_text_end(&block, n->to);
    rd_text_end(&line, n->to);
}

/* Prints a PUSH_IF_NEW: before an element of a new block is taken, earlier blocks (64 steps
 * each) end; of all cells (`all_cells`), or of one. A batch of rounds has done this once before its
 * elements, as a bit of block_begun says. If all threads of a team run the same, thread 0 does
 * it. A scan ends its blocks in its own way. */
void rd_print_begin_block(rd_printing *n, const rd_stmt *s)
{
    rd_text block = { 0 };

    if (s->all_cells) {
        print_opens_all(n, s);
        return;
    }
    if (s->fold < 64 && n->kernel->block_begun >> s->fold & 1)
        return;
    rd_print_block_of(n, &block, s);
    if (rd_is_team_uniform(n, s->store))
        rd_print_line(n, "if (t == 0)");
    (n->t->p->fold[s->fold].scan ? rd_print_end_scan_blocks : rd_print_push_blocks)(n, s, block.at);
    rd_text_end(&block, n->to);
}
