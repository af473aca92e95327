/* thread_states.c - states of folds in a kernel, and their steps:
 *
 *     float s0_0[4]; double w0_0[12]; int64_t b0[1];
 *     RD_UNROLL for (int64_t k = 0; k < 4; k += 1) { begin0(&s0_0[k]); }
 *     while (b0[0] < (i1) / 64) { push0(&s0_0[0], w0_0, 4, 1, 4, 0, b0[0], 0); b0[0]++; }
 *     step0(&s0_0[0 + i], r3, 1, i1);
 *
 * s has the states of the blocks at hand, one for each cell and lane of the thread. w has the
 * rows of nodes of the combine tree, and b the number of the block of each cell.  A thread pushes
 * all lanes of a cell that it has.
 *
 * A cell is an accumulator of a fold; it has a state for each lane, to which elements go in turn.
 * A block is 64 steps of the fold.  per_thread is the number of lanes that each thread of a team
 * has; 0: a thread has all. */
#include "core/combine_tree.h"
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>

/* Returns bytes rounded up to a multiple of 16, where the next array in memory begins. */
static int64_t room_of(int64_t bytes)
{
    return (bytes + 15) / 16 * 16;
}

/* ---- Declarations ---------------------------------------------------------------------------- */
/* Prints the declaration of an array `name` of `count` elements of `bytes` each. A local array
 * is "float s0_0[4];"; one in global memory is a pointer, "float *const s0_0 = (float *)(own +
 * 64);", `at` bytes into the thread's memory, or into the team's, "ours". Returns the byte
 * behind it. */
static int64_t declare(rd_printing *n, int32_t store, const char *type, const char *name,
                       int64_t count, int64_t bytes, int64_t at)
{
    const rd_tree_array *a = &n->t->store[store];

    if (a->storage == RD_IN_LOCAL)
        rd_print_line(n, "%s %s[%" PRId64 "];", type, name, count);
    else
        rd_print_line(n, "%s *const %s = (%s *)(%s + %" PRId64 ");", type, name, type,
                      a->storage == RD_IN_TEAM ? "ours" : "own", at);
    return at + room_of(count * bytes);
}

/* Prints the declaration of an array of `count` elements for each of the n_state numbers of a
 * state, an accumulator (or of a node, the result of blocks, with `nodes`), named by a letter:
 * "s0_0", "s0_1". Returns the byte behind them. */
static int64_t declare_each(rd_printing *n, int32_t store, char letter, bool nodes, int64_t count,
                            int64_t at)
{
    const rd_emit_fold *f = &n->fold[n->t->store[store].fold].emit;

    for (int k = 0; k < f->n_state; k++) {
        rd_text name = { 0 };

        rd_text_add(&name, "%c%" PRId32 "_%d", letter, store, k);
        at = declare(n, store, nodes ? rd_node_type(f, k) : rd_state_type(f, k), name.at, count,
                     f->bytes, at);
        rd_text_end(&name, n->to);
    }
    return at;
}

/* Prints the arrays of a scan beside its states. These are p, the fold of all blocks before; e,
 * nodes of the open block, if prefixes go by a tree of `levels`. A running sum of floats (pair)
 * has a second word of p, and words w. Returns the byte behind them: "float p0_0[4]; float
 * e0_0[28]; double w0[64];". */
static int64_t declare_before(rd_printing *n, int32_t store, int64_t cells, int64_t at)
{
    const rd_loop_fold *f       = &n->t->fold[n->t->store[store].fold];
    const int           n_state = n->fold[n->t->store[store].fold].emit.n_state;
    rd_text             name    = { 0 };

    at = declare_each(n, store, 'p', /*nodes=*/false, cells, at);
    if (f->hi_lo_sums) {
        rd_text_add(&name, "p%" PRId32 "_%d", store, n_state);
        at = declare(n, store, rd_state_type(&n->fold[n->t->store[store].fold].emit, /*k=*/0),
                     name.at, cells, n->fold[n->t->store[store].fold].emit.bytes, at);
        rd_text_end(&name, n->to);
    }
    if (f->levels)
        at = declare_each(n, store, 'e', /*nodes=*/false, f->levels * cells, at);
    if (f->hi_lo_sums) {
        rd_text_add(&name, "w%" PRId32, store);
        at = declare(n, store, "double", name.at, f->n_words * cells, (int64_t)sizeof(double), at);
        rd_text_end(&name, n->to);
    }
    return at;
}

/* Prints the declarations of a fold's states: "float s0_0[4]; double w0_0[12]; int64_t b0[1];".
 * s: states, a number for each cell (output element) and lane (partial accumulator); w: nodes of
 * finished blocks, node_rows rows of them; b: the number of each cell's open block. A scan has
 * its prefix instead of w. A fold of one block needs neither w nor b. `at` counts bytes of
 * global memory, and has no effect for local arrays. */
void rd_print_thread_states(rd_printing *n, const rd_stmt *s)
{
    const rd_tree_array *a     = &n->t->store[s->store];
    const bool           scan  = n->t->p->fold[a->fold].scan;
    const int64_t        cells = rd_cells_in_array(n, s->store),
                  states       = cells * rd_lanes_in_array(n, s->store);
    int64_t at = declare_each(n, s->store, 's', /*nodes=*/false, states, a->byte_offset);
    rd_text b  = { 0 };

    if (scan)
        at = declare_before(n, s->store, cells, at);
    else if (rd_has_tree(n, a->fold))
        at = declare_each(n, s->store, 'w', /*nodes=*/true, a->node_rows * states, at);
    else
        return;
    rd_text_add(&b, "b%" PRId32, s->store);
    declare(n, s->store, "int64_t", b.at, cells * rd_block_counters_of(n, s->store),
            (int64_t)sizeof(int64_t), at);
    rd_text_end(&b, n->to);
}

/* Prints a loop over `count` elements of an array: "RD_UNROLL for (int64_t k = 0; k < 4; k += 1)
 * { .. }". Threads of a team share the team's array. Loops over few local variables are
 * unrolled, so that these stay in registers; the copies for several points count as one. */
static void print_for_each(rd_printing *n, int32_t store, int64_t count, const char *what)
{
    const int64_t copies = n->t->store[store].copies ? n->t->store[store].copies : 1;
    const bool    few =
        n->t->store[store].storage == RD_IN_LOCAL && count <= n->kernel->unrolled * copies;
    const bool team = rd_is_team_uniform(n, store);
    rd_text    many = { 0 };

    rd_print_number(n, &many, count);
    rd_print_line(n, "%s for (int64_t k = %s; k < %s; k += %s) { %s }",
                  few ? "RD_UNROLL" : "RD_UNROLL_FEW", team ? "t" : "0", many.at,
                  team ? "RD_TEAM" : "1", what);
    rd_text_end(&many, n->to);
}

/* Prints how all states (accumulators) of an array begin: "RD_UNROLL for (..) {
 * begin0(&s0_0[k]); }". `name`: 's', or 'p' for a scan's prefix. A running sum of floats (pair)
 * also has a second word of p and words w; they begin as -0, which changes no sum. */
static void begin_each(rd_printing *n, const rd_stmt *s, char name)
{
    const int64_t states = rd_cells_in_array(n, s->store) * rd_lanes_in_array(n, s->store);
    const bool    pair   = n->t->fold[s->fold].hi_lo_sums && name == 'p';
    rd_text       begin  = { 0 };

    rd_text_add(&begin, "begin%" PRId32 "(", s->fold);
    rd_print_state_addresses(&begin, &n->fold[s->fold], name, s->store, "k");
    rd_text_add(&begin, ");");
    if (pair)
        rd_text_add(&begin, " p%" PRId32 "_%d[k] = -0.0F;", s->store,
                    n->fold[s->fold].emit.n_state);
    print_for_each(n, s->store, states, begin.at);
    rd_text_end(&begin, n->to);
    if (!pair)
        return;
    rd_text_add(&begin, "w%" PRId32 "[k] = -0.0;", s->store);
    print_for_each(n, s->store, n->t->fold[s->fold].n_words * states, begin.at);
    rd_text_end(&begin, n->to);
}

/* Prints a barrier if all threads of a team run this for states (accumulators) in the team's
 * memory, as each writes a part of them. */
static void print_team_barrier(rd_printing *n, int32_t store)
{
    if (rd_is_team_uniform(n, store))
        rd_print_line(n, "RD_SYNC_TEAM");
}

/* Prints where a range (part of a split loop) begins, as a number of blocks: "const int64_t
 * from0 = edge0(q, range);", or "(m0) / 64" for a scan whose beginning names its first step
 * (`at`). Returns false if the fold does not begin in a range; then nothing is printed. */
static bool print_first_block(rd_printing *n, const rd_stmt *s)
{
    const bool scan = s->at.n > 0, ranged = scan || rd_has_partials(n, s->fold);
    rd_text    block = { 0 };

    rd_text_add(&block, scan ? "(" : "edge%" PRId32 "(q, range)", s->fold);
    if (scan) {
        rd_print_linear(n, &block, &s->at);
        rd_text_add(&block, ") / %d", RD_TREE_STEPS);
    }
    if (ranged)
        rd_print_line(n, "const int64_t from%" PRId32 " = %s;", s->fold, block.at);
    rd_text_end(&block, n->to);
    return ranged;
}

/* Prints how a fold begins: states are empty, and the number of the open block (64 steps) of
 * each cell (output element) is 0, or the first block of the range: "b0[k] = from0;". Memory of
 * a thread or team has its declaration here; local arrays have been declared before. */
void rd_print_begin_states(rd_printing *n, const rd_stmt *s)
{
    const bool scan  = n->t->p->fold[s->fold].scan;
    rd_text    begin = { 0 };
    bool       ranged;

    if (n->t->store[s->store].storage != RD_IN_LOCAL)
        rd_print_thread_states(n, s);
    ranged = print_first_block(n, s);
    print_team_barrier(n, s->store);
    begin_each(n, s, 's');
    if (scan)
        begin_each(n, s, 'p');
    if (scan || rd_has_tree(n, s->fold)) {
        rd_text_add(&begin, ranged ? "b%" PRId32 "[k] = from%" PRId32 ";" : "b%" PRId32 "[k] = 0;",
                    s->store, s->fold);
        print_for_each(n, s->store,
                       rd_cells_in_array(n, s->store) * rd_block_counters_of(n, s->store),
                       begin.at);
    }
    print_team_barrier(n, s->store);
    rd_text_end(&begin, n->to);
}

/* ---- Subscripts ------------------------------------------------------------------------------ */
/* True if the position is the constant 0, so that nothing is added. */
static bool is_nothing(const rd_linear *at)
{
    return at->n == 0 && at->offset == 0;
}

/* Adds a position times a stride: "(i0) * 4". */
static void add_times(rd_printing *n, rd_text *to, const rd_linear *at, int64_t stride)
{
    rd_text_add(to, "(");
    rd_print_linear(n, to, at);
    rd_text_add(to, ") * %" PRId64, stride);
}

/* Adds the subscript of the first state (accumulator) of a cell (output element): "(i0) * 4 + i1
 * - m0". cell_stride counts all lanes (partial accumulators) of the fold, of which a thread's
 * array may have only some (lanes_here). `fold_at.state_offset` is added for a neighbour's states
 * in a coarsened item. */
void rd_print_first_state(rd_printing *n, rd_text *to, const rd_stmt *s)
{
    const rd_tree_array *a          = &n->t->store[s->store];
    const int32_t        lanes_here = rd_lanes_in_array(n, s->store);

    if (is_nothing(&s->fold_at.cell))
        rd_text_add(to, "0");
    else
        add_times(n, to, &s->fold_at.cell,
                  a->cell_stride / n->t->p->fold[s->fold].lanes * lanes_here);
    if (is_nothing(&s->fold_at.state_offset))
        return;
    rd_text_add(to, " + ");
    rd_print_linear(n, to, &s->fold_at.state_offset);
}

/* Adds the number of a cell's open block: "b0[(i0) * 1]". If lanes (partial accumulators) are
 * distributed over threads but lie in the team's memory, each thread has a counter: "b0[(i0) *
 * 32 + t]". `fold_at.state_offset`, an offset of states, selects a neighbour in a coarsened item;
 * divided by the lanes, it is an offset of cells (output elements). */
void rd_print_block_counter_of(rd_printing *n, rd_text *to, const rd_stmt *s, const char *thread)
{
    const int32_t lanes = n->t->p->fold[s->fold].lanes;

    if (rd_has_lanes_in_team(n, s->store)) {
        rd_text_add(to, "b%" PRId32 "[(", s->store);
        rd_print_linear(n, to, &s->fold_at.cell);
        rd_text_add(to, ") * %" PRId32 " + %s]", rd_block_counters_of(n, s->store), thread);
        return;
    }

    rd_text_add(to, "b%" PRId32 "[", s->store);
    if (is_nothing(&s->fold_at.cell))
        rd_text_add(to, "0");
    else
        add_times(n, to, &s->fold_at.cell, n->t->store[s->store].cell_stride / lanes);
    if (!is_nothing(&s->fold_at.state_offset)) {
        rd_text_add(to, " + (");
        rd_print_linear(n, to, &s->fold_at.state_offset);
        rd_text_add(to, ") / %" PRId32, lanes);
    }
    rd_text_add(to, "]");
}

/* Adds the number of the open block (64 steps) of a cell, an output element, for this thread:
 * "b0[(i0) * 32 + t]". */
void rd_print_block_counter(rd_printing *n, rd_text *to, const rd_stmt *s)
{
    rd_print_block_counter_of(n, to, s, "t");
}

/* Adds the element's lane (partial accumulator) to a subscript. Of a thread's own lanes it is " +
 * i"; in the team's memory " + (4 * t + i)", or " + (RD_TEAM * i + t)" if a thread's elements lie a
 * team apart. A thread with all lanes computes it from the element's position: " + (i1) % 64". A
 * thread with one lane adds nothing. */
static void add_lane(rd_printing *n, rd_text *to, const rd_stmt *s)
{
    const rd_tree_array *a     = &n->t->store[s->store];
    const int32_t        lanes = n->t->p->fold[s->fold].lanes;

    if (rd_has_lanes_in_team(n, s->store)) {
        if (n->kernel->width > 1)
            rd_text_add(to, " + (%" PRId32 " * t + i)", n->kernel->width);
        else
            rd_text_add(to, a->per_thread > 1 ? " + (RD_TEAM * i + t)" : " + t");
        return;
    }
    if (lanes == 1 || (a->per_thread == 1))
        return;
    if (a->per_thread) {
        rd_text_add(to, " + i");
        return;
    }
    rd_text_add(to, " + (");
    rd_print_linear(n, to, &s->fold_at.lane);
    rd_text_add(to, ") %% %" PRId32, lanes);
}

/* ---- Steps ----------------------------------------------------------------------------------- */
/* Prints how a state (accumulator) takes an element: "step0(&s0_0[0 + i], r3, 1, i1);". If all
 * threads of a team run this for a state of the team, only thread 0 takes the element. Scans
 * with a state for each element (per_element), and log-sum-exps, may have another text. */
void rd_print_thread_step(rd_printing *n, int32_t stmt)
{
    const rd_stmt *s  = &n->t->stmt[stmt];
    rd_text        at = { 0 }, states = { 0 };

    if (n->t->store[s->store].per_element) {
        rd_print_scan_tile_step(n, s);
        return;
    }
    if (n->kernel->block_tiles) /* a thread has the states of its columns, or of its lanes */
        rd_text_add(&at, "i");
    else {
        rd_print_first_state(n, &at, s);
        add_lane(n, &at, s);
    }
    rd_print_state_addresses(&states, &n->fold[s->fold], 's', s->store, at.at);
    if (!rd_print_step_by_strategy(n, stmt, states.at)) {
        rd_print_begin_line(n);
        rd_text_add(n->to, rd_is_team_uniform(n, s->store) ? "if (t == 0)" : "");
        rd_print_add_step(n, n->to, s, states.at);
        rd_text_add(n->to, "\n");
    }
    rd_text_end(&at, n->to);
    rd_text_end(&states, n->to);
}
