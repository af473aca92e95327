/* combine_blocks.c - the inter-block combine of block tiles (block_tile.c): nodes of tiles become
 * nodes of groups of RD_FAN tiles, then of groups of groups, and at last results.
 *
 * Nodes of all columns lie side by side, once for each tile down the rows and for each group
 * above. Nodes of the lanes of all rows lie likewise, for tiles along the columns.
 *
 * A block of threads stores the nodes of its tile, and increments the atomic counter of its
 * group: one counter for the columns, one for the rows.  The last block of the group combines the
 * group's nodes by twos, as the combine tree does, and goes on with the group above.  The last
 * block of all groups finishes the folds.  So no block waits, and the order of arrival changes no
 * bit.  The last group of an axis may be short: a node without a sibling is its parent.
 *
 * A fold is a reduction; its lanes are partial accumulators that take elements in turn.  A node
 * is a finished block in a fold's combine tree.
 *
 * Words. A team is the threads that do one item of work. */
#include "core/combine_tree.h"
#include "kernels/cuda/kernel_frame.h"
#include <inttypes.h>
#include <stdio.h>

/* Returns one of the two loops of a block tile (a reduction along both axes): 0 is the loop over
 * rows, 1 the loop over columns. */
static const rd_loop *loop_of(const rd_cuda_text *t, int k)
{
    return &t->s->p->loop[t->s->tile_loop[k]];
}

/* Returns how many lanes (partial accumulators to which elements go in turn) the fold has for
 * each result. */
static int64_t lanes_of(const rd_cuda_fold *f)
{
    return f->emit.fold->lanes;
}

/* True if a fold's nodes (results of tiles) lie in global memory: those of columns, and those of
 * rows that are longer than one tile. Lanes of a row that is one tile end in shared memory.
 * threads_are_lanes: the fold reduces rows. */
static bool has_memory_nodes(const rd_cuda_text *t, const rd_cuda_fold *f)
{
    return !f->threads_are_lanes || t->s->n_block_tile[1] > 1;
}

/* Returns the length of a row of nodes (results of a tile's columns, or of the lanes of its
 * rows): a node for each column of the array, or for each lane of each row. Each tile along the
 * other axis, and each group of tiles, has such a row. */
static int64_t node_pitch(const rd_cuda_text *t, const rd_cuda_fold *f)
{
    return loop_of(t, f->threads_are_lanes ? 0 : 1)->extent * lanes_of(f);
}

/* ---- Groups ---------------------------------------------------------------------------------- */
/* Declares pointers to a fold's nodes (partial results in the combine tree) in global memory,
 * one for each of the n_state numbers of a state (such as sum and count):
 *
 *     double *const w0_0 = (double *)(nodes + 0);
 *     double *const w0_1 = (double *)(nodes + 524288); */
static void declare_nodes_of(rd_cuda_text *t, int32_t number)
{
    const rd_cuda_fold *f = &t->s->fold[number];

    for (int j = 0; has_memory_nodes(t, f) && j < f->emit.n_state; j++) {
        rd_text at = { 0 };

        rd_print_number(&t->print, &at, f->node_at + j * f->node_bytes);
        rd_print_line(&t->print, "%s *const w%" PRId32 "_%d = (%s *)(nodes + %s);",
                      rd_node_type(&f->emit, j), number, j, rd_node_type(&f->emit, j),
                      at.at ? at.at : "");
        rd_text_end(&at, t->print.to);
    }
}

/* Adds the function that merges `many` rows of nodes, from row `from` on, into row `to`, at
 * positions [first, end) of a row. All threads of a block call it; each merges the nodes of some
 * positions pairwise, as the combine tree does:
 *
 *     static void combine0(const rd_call &q, char *nodes, int64_t from, int many, int64_t to,
 *                          int64_t first, int64_t end)
 *     {
 *         double *const w0_0 = (double *)(nodes + 0);
 *         RD_ONE_BY_ONE for (int64_t s = first + threadIdx.x; s < end; s += RD_THREADS) {
 *             double f0[RD_FAN];
 *             RD_UNROLL for (int k = 0; k < RD_FAN; k++)
 *                 if (k < many) f0[k] = w0_0[(from + k) * 4096 + s];
 *             RD_UNROLL for (int half = 1; half < RD_FAN; half *= 2)
 *                 RD_UNROLL for (int k = 0; k + half < RD_FAN; k += 2 * half)
 *                     if (k + half < many) merge0(&f0[k], &f0[k + half]);
 *             w0_0[to * 4096 + s] = f0[0];
 *         }
 *     } */
static void add_combine(rd_cuda_text *t, int32_t number)
{
    const rd_cuda_fold *f     = &t->s->fold[number];
    rd_text             pitch = { 0 }, merge = { 0 };

    rd_print_number(&t->print, &pitch, node_pitch(t, f));
    rd_text_add(&merge, "merge%" PRId32 "(", number);
    rd_add_each(&merge, &f->emit, "&f%d[k]");
    rd_text_add(&merge, ", ");
    rd_add_each(&merge, &f->emit, "&f%d[k + half]");
    rd_print_line(&t->print,
                  "static void combine%" PRId32 "(const rd_call &q, char *nodes, int64_t from, "
                  "int many, int64_t to, int64_t first, int64_t end)",
                  number);
    rd_print_line(&t->print, "{");
    t->print.indent++;
    declare_nodes_of(t, number);
    rd_print_line(
        &t->print,
        "RD_ONE_BY_ONE for (int64_t s = first + threadIdx.x; s < end; s += RD_THREADS) {");
    t->print.indent++;
    for (int j = 0; j < f->emit.n_state; j++) {
        rd_print_line(&t->print, "%s f%d[RD_FAN];", rd_node_type(&f->emit, j), j);
        rd_print_line(&t->print,
                      "RD_UNROLL for (int k = 0; k < RD_FAN; k++) if (k < many) f%d[k] = w%" PRId32
                      "_%d[(from + k) * %s + s];",
                      j, number, j, pitch.at ? pitch.at : "");
    }
    rd_print_line(&t->print, "RD_UNROLL for (int half = 1; half < RD_FAN; half *= 2)");
    rd_print_line(&t->print, "    RD_UNROLL for (int k = 0; k + half < RD_FAN; k += 2 * half)");
    rd_print_line(&t->print, "        if (k + half < many) %s);", merge.at ? merge.at : "");
    for (int j = 0; j < f->emit.n_state; j++)
        rd_print_line(&t->print, "w%" PRId32 "_%d[to * %s + s] = f%d[0];", number, j,
                      pitch.at ? pitch.at : "", j);
    rd_print_close_blocks(&t->print, 2);
    rd_text_end(&pitch, t->print.to);
    rd_text_end(&merge, t->print.to);
}

/* Adds combine0, combine1, .., which merge nodes of tiles, for all folds that have nodes
 * (partial results in the combine tree) in global memory. */
void rd_cuda_combine_functions(rd_cuda_text *t)
{
    for (int32_t k = 0; k < t->s->p->n_fold; k++)
        if (has_memory_nodes(t, &t->s->fold[k]))
            add_combine(t, k);
}

/* ---- A block tile ---------------------------------------------------------------------------- */
/* Returns the lanes of a row (partial accumulators), which are the columns that a team takes at
 * a time: `width` for each of its threads. */
static int32_t lanes_of_rows(const rd_cuda_strategy *s)
{
    return s->team * s->width;
}

/* Declares shared memory for the states of all lanes (partial accumulators) of a tile's 64 rows,
 * an array for each of the n_state numbers of a row fold's state: "RD_SHARED(float, h1_0,
 * 4096);". */
void rd_cuda_declare_lanes(rd_cuda_text *t)
{
    for (int32_t k = 0; k < t->s->p->n_fold; k++)
        for (int j = 0; t->s->fold[k].threads_are_lanes && j < t->s->fold[k].emit.n_state; j++)
            rd_print_line(&t->print, "RD_SHARED(%s, h%" PRId32 "_%d, %" PRId32 ");",
                          rd_state_type(&t->s->fold[k].emit, j), k, j,
                          RD_TREE_STEPS * lanes_of_rows(t->s));
}

/* Declares which block tile a block of threads does, p0 and p1 along the two loops, and the
 * tile's bounds. Tiles along a row are the lowest digit of the number of work, then those down
 * the rows, then items:
 *
 *     uint64_t rest = (uint64_t)work;
 *     const int64_t p1 = (int64_t)RD_REST(rest, q.N[0]), lo1 = p1 * 4096;
 *     const int64_t hi1 = RD_LESS(lo1 + 4096, q.N[1]);
 *     rest = RD_QUOTIENT(rest, q.N[0]);
 *     .. the same of p0, lo0, hi0 ..
 *     const int64_t item = (int64_t)rest; */
void rd_cuda_declare_block_tile(rd_cuda_text *t)
{
    rd_print_line(&t->print, "uint64_t rest = (uint64_t)work;");
    for (int k = 2; k-- > 0;) {
        const int64_t size = k ? (int64_t)RD_TREE_STEPS * lanes_of_rows(t->s) : RD_TREE_STEPS;
        rd_text       n = { 0 }, extent = { 0 };

        rd_print_number(&t->print, &n, t->s->n_block_tile[k]);
        rd_print_number(&t->print, &extent, loop_of(t, k)->extent);
        rd_print_line(&t->print,
                      "const int64_t p%d = (int64_t)RD_REST(rest, %s), lo%d = p%d * %" PRId64 ";",
                      k, n.at ? n.at : "", k, k, size);
        rd_print_line(&t->print, "const int64_t hi%d = RD_LESS(lo%d + %" PRId64 ", %s);", k, k,
                      size, extent.at ? extent.at : "");
        rd_print_line(&t->print, "rest = RD_QUOTIENT(rest, %s);", n.at ? n.at : "");
        rd_text_end(&n, t->print.to);
        rd_text_end(&extent, t->print.to);
    }
    rd_print_line(&t->print, "const int64_t item = (int64_t)rest;");
}

/* Declares an item's nodes (partial results in the combine tree) and its counters of finished
 * tiles in global memory, and pointers to the nodes of each fold:
 *
 *     char *const nodes = (char *)q.head.nodes + item * q.N[2];
 *     uint32_t *const counters = (uint32_t *)q.head.counters + item * q.head.item_counters;
 *     double *const w0_0 = (double *)(nodes + 0); */
void rd_cuda_declare_nodes(rd_cuda_text *t)
{
    rd_text bytes = { 0 };

    rd_print_number(&t->print, &bytes, t->s->node_bytes);
    rd_print_line(&t->print, "char *const nodes = (char *)q.head.nodes + item * %s;",
                  bytes.at ? bytes.at : "");
    rd_print_line(&t->print, "uint32_t *const counters = (uint32_t *)q.head.counters + item * "
                             "q.head.item_counters;");
    for (int32_t k = 0; k < t->s->p->n_fold; k++)
        declare_nodes_of(t, k);
    rd_text_end(&bytes, t->print.to);
}

/* Stores the nodes (partial results in the combine tree) of a team's columns, once the team has
 * done all rows of the tile: each thread ends the block of its `width` columns. v1 is the team's
 * first column, hi1 the end of the tile.
 *
 *     RD_UNROLL for (int l = 0; l < 4; l++) {
 *         const int64_t i1 = v1 + 4 * t + l;
 *         block0(&s0_0[l]);
 *         if (i1 < hi1) {
 *             w0_0[p0 * 4096 + i1] = s0_0[l];
 *         }
 *     } */
void rd_cuda_leave_columns(rd_cuda_text *t, int32_t number)
{
    const rd_cuda_fold *f     = &t->s->fold[number];
    const int32_t       axis  = loop_of(t, 1)->axis;
    rd_text             pitch = { 0 }, states = { 0 };

    rd_print_number(&t->print, &pitch, node_pitch(t, f));
    rd_cuda_states(&states, f, number, "s", "l");
    rd_print_line(&t->print, "RD_UNROLL for (int l = 0; l < %" PRId32 "; l++) {", t->s->width);
    t->print.indent++;
    rd_print_line(&t->print, "const int64_t i%" PRId32 " = v%" PRId32 " + %" PRId32 " * t + l;",
                  axis, axis, t->s->width);
    rd_print_line(&t->print, "block%" PRId32 "(%s);", number, states.at ? states.at : "");
    rd_print_line(&t->print, "if (i%" PRId32 " < hi1) {", axis);
    t->print.indent++;
    for (int j = 0; j < f->emit.n_state; j++)
        rd_print_line(&t->print, "w%" PRId32 "_%d[p0 * %s + i%" PRId32 "] = s%" PRId32 "_%d[l];",
                      number, j, pitch.at ? pitch.at : "", axis, number, j);
    rd_print_close_blocks(&t->print, 2);
    rd_text_end(&pitch, t->print.to);
    rd_text_end(&states, t->print.to);
}

/* Copies the state of a row's lane (partial accumulator) from shared memory to variables, and
 * ends its block of 64 steps, so that they hold a node: "float a0 = h1_0[k]; block1(&a0);". */
static void take_lane(rd_cuda_text *t, int32_t number, const char *at)
{
    const rd_cuda_fold *f      = &t->s->fold[number];
    rd_text             states = { 0 };

    for (int j = 0; j < f->emit.n_state; j++)
        rd_print_line(&t->print, "%s a%d = h%" PRId32 "_%d[%s];", rd_state_type(&f->emit, j), j,
                      number, j, at);
    rd_add_each(&states, &f->emit, "&a%d");
    rd_print_line(&t->print, "block%" PRId32 "(%s);", number, states.at ? states.at : "");
    rd_text_end(&states, t->print.to);
}

/* Stores the nodes (partial results in the combine tree) of the lanes (partial accumulators) of
 * all rows of a tile, by all threads of the block. The rows' lanes lie in shared memory, 64 of
 * them a row here; lo0 and hi0 are the tile's rows.
 *
 *     for (int k = (int)threadIdx.x; k < (int)(hi0 - lo0) * 64; k += RD_THREADS) {
 *         float a0 = h1_0[k];
 *         block1(&a0);
 *         w1_0[p1 * 524288 + lo0 * 64 + k] = a0;
 *     } */
void rd_cuda_leave_rows(rd_cuda_text *t, int32_t number)
{
    const rd_cuda_fold *f     = &t->s->fold[number];
    rd_text             pitch = { 0 };

    rd_print_number(&t->print, &pitch, node_pitch(t, f));
    rd_print_line(&t->print,
                  "for (int k = (int)threadIdx.x; k < (int)(hi0 - lo0) * %" PRId64
                  "; k += RD_THREADS) {",
                  lanes_of(f));
    t->print.indent++;
    take_lane(t, number, "k");
    for (int j = 0; j < f->emit.n_state; j++)
        rd_print_line(&t->print, "w%" PRId32 "_%d[p1 * %s + lo0 * %" PRId64 " + k] = a%d;", number,
                      j, pitch.at ? pitch.at : "", lanes_of(f), j);
    rd_print_close(&t->print);
    rd_text_end(&pitch, t->print.to);
}

/* Adds the combine of tiles along one loop: the last block of threads of each group of tiles
 * merges the group's nodes (partial results in the combine tree), and goes on with the group
 * above. `first`: the text of how many counters stand before those of this loop. Then is0 tells
 * whether this block is the last of all, and from0 is the row of the final node:
 *
 *     int64_t from0 = 0;
 *     bool    is0 = true;
 *     uint32_t *counter0 = counters + p1 * 9;
 *     for (int64_t n = 128, at = p0; is0 && n > 1;) {
 *         const int64_t group = at / RD_FAN, before = group * RD_FAN;
 *         const int64_t many = RD_LESS(n - before, RD_FAN);
 *         is0 = rd_is_last_block(&counter0[group], many, came);
 *         if (is0) combine0(q, nodes, from0 + before, (int)many, from0 + n + group, lo1, hi1);
 *         from0 += n;
 *         n = (n + RD_FAN - 1) / RD_FAN;
 *         counter0 += n;
 *         at = group;
 *     }
 *     __syncthreads(); */
static void combine_along(rd_cuda_text *t, int along, const char *first)
{
    char    lanes[16] = "";
    rd_text n         = { 0 };

    if (along)
        snprintf(lanes, sizeof lanes, " * %" PRId32, lanes_of_rows(t->s));
    rd_print_number(&t->print, &n, t->s->n_block_tile[along]);
    rd_print_line(&t->print, "int64_t from%d = 0;", along);
    rd_print_line(&t->print, "bool    is%d = true;", along);
    rd_print_line(&t->print, "uint32_t *counter%d = counters + %s;", along, first);
    rd_print_line(&t->print, "for (int64_t n = %s, at = p%d; is%d && n > 1;) {", n.at ? n.at : "",
                  along, along);
    t->print.indent++;
    rd_print_line(&t->print, "const int64_t group = at / RD_FAN, before = group * RD_FAN;");
    rd_print_line(&t->print, "const int64_t many = RD_LESS(n - before, RD_FAN);");
    rd_print_line(&t->print, "is%d = rd_is_last_block(&counter%d[group], many, came);", along,
                  along);
    for (int32_t k = 0; k < t->s->p->n_fold; k++)
        if (t->s->fold[k].threads_are_lanes == (along == 1))
            rd_print_line(&t->print,
                          "if (is%d) combine%" PRId32
                          "(q, nodes, from%d + before, (int)many, from%d + "
                          "n + group, lo%d%s, hi%d%s);",
                          along, k, along, along, !along, lanes, !along, lanes);
    rd_print_line(&t->print, "from%d += n;", along);
    rd_print_line(&t->print, "n = (n + RD_FAN - 1) / RD_FAN;");
    rd_print_line(&t->print, "counter%d += n;", along);
    rd_print_line(&t->print, "at = group;");
    rd_print_close(&t->print);
    rd_print_line(&t->print, "__syncthreads();");
    rd_text_end(&n, t->print.to);
}

/* ---- Combined nodes -------------------------------------------------------------------------- */
/* Adds the text that sets x0, x1, .. to the combined node (partial result in the combine tree)
 * of a column, or of lane `lane` of a row. It comes from the final row of nodes in global
 * memory, "x0 = w0_0[from0 * 4096 + i1];"; or, if a row is one tile, from the row's lanes
 * (partial accumulators) in shared memory. */
void rd_cuda_take_combined(rd_cuda_text *t, int32_t number, const char *lane)
{
    const rd_cuda_fold *f  = &t->s->fold[number];
    rd_text             at = { 0 }, pitch = { 0 };

    rd_print_number(&t->print, &pitch, node_pitch(t, f));
    if (!f->threads_are_lanes)
        rd_text_add(&at, "from0 * %s + i%" PRId32, pitch.at ? pitch.at : "", loop_of(t, 1)->axis);
    else if (has_memory_nodes(t, f))
        rd_text_add(&at, "from1 * %s + i%" PRId32 " * %" PRId64 " + %s", pitch.at ? pitch.at : "",
                    loop_of(t, 0)->axis, lanes_of(f), lane);
    else
        rd_text_add(&at, "row * %" PRId64 " + %s", lanes_of(f), lane);
    if (!has_memory_nodes(t, f))
        take_lane(t, number, at.at ? at.at : "");
    for (int j = 0; j < f->emit.n_state; j++)
        if (has_memory_nodes(t, f))
            rd_print_line(&t->print, "x%d = w%" PRId32 "_%d[%s];", j, number, j,
                          at.at ? at.at : "");
        else
            rd_print_line(&t->print, "x%d = a%d;", j, j);
    rd_text_end(&at, t->print.to);
    rd_text_end(&pitch, t->print.to);
}

/* Returns the text of how many counters stand before those of this tile's groups: "p1 * 9".
 * Groups of tiles down the rows have counters for each of n_block_tile[1] columns of tiles, and
 * come first; behind all of them stand those along a row (`along` 1). */
static rd_text counters_before(rd_cuda_text *t, int along)
{
    const int64_t columns = rd_cuda_groups_of(t->s, t->s->n_block_tile[0]),
                  rows    = rd_cuda_groups_of(t->s, t->s->n_block_tile[1]);
    rd_text text          = { 0 };

    if (along) {
        rd_print_number(&t->print, &text, t->s->n_block_tile[1] * columns);
        rd_text_add(&text, " + ");
    }
    rd_text_add(&text, "p%d * ", !along);
    rd_print_number(&t->print, &text, along ? rows : columns);
    return text;
}

/* Adds the combine of the nodes (partial results in the combine tree) of all tiles along a loop
 * (`along`: 0 down the rows, 1 along a row). It is done by the last block of threads of each
 * group. Then follows "if (is0)": true in the last block of all. */
void rd_cuda_combine_blocks(rd_cuda_text *t, int along)
{
    rd_text before = counters_before(t, along);

    combine_along(t, along, before.at ? before.at : "");
    rd_print_line(&t->print, "if (is%d)", along);
    rd_text_end(&before, t->print.to);
}
