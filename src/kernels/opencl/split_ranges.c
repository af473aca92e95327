/* split_ranges.c - see split_ranges.h.  edge0 counts the blocks before a range.  Partials
 * lie by fold, number of a state, range and row: each row has all states.
 *
 * A range is a part of the program's loop.  A fold is a reduction; its partials are nodes of its
 * combine tree.
 *
 *     #define edge0(q, range) LESS((range) * 64, 4096)
 *     n0_0[(range * 14 + row) * 64 + s] = w0_0[row * 64 + s];
 *
 * Fields. A loop's `program_loop` is the number of the program's loop that it comes from, -1: none.
 *
 * Words. A lane is one of the accumulators of a cell, to which elements go in turn. */
#include "kernels/opencl/split_ranges.h"
#include "core/combine_tree.h"
#include "kernels/loop/facts.h"
#include <inttypes.h>

/* ---- Which loop ------------------------------------------------------------------------------ */
/* True if a statement, or one in its body, takes an element into a fold (a reduction). */
static bool has_steps(const rd_schedule *t, int32_t stmt)
{
    for (int32_t s = stmt; s >= 0; s = rd_next_stmt(t, s, stmt))
        if (t->stmt[s].kind == RD_S_STEP)
            return true;
    return false;
}

/* Returns the only loop at the top that takes elements of folds; before it only values and the
 * beginnings of folds stand, which each range can repeat. -1: there is no such loop. */
static int32_t only_loop(const rd_schedule *t)
{
    int32_t only = -1;

    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->stmt[t->part[k]].first; s >= 0; s = t->stmt[s].next) {
            const rd_stmt_kind kind = t->stmt[s].kind;

            if (kind == RD_S_LOOP && has_steps(t, s)) {
                if (only >= 0)
                    return -1;
                only = s;
            } else if (only < 0 && kind != RD_S_LET && kind != RD_S_BEGIN)
                return -1;
        }
    return only;
}

/* Returns how many steps of a fold an index of the loop is worth; or elements of the lane
 * position, if lanes (partial accumulators) lie along the axis. *block gets the length of one
 * block of the combine tree in the same unit: 64 steps, or 64 elements for each lane. */
static int64_t each_of(const rd_fold *f, int32_t axis, int64_t *block)
{
    const int64_t lane = rd_coef(&f->lane, axis);

    *block = RD_TREE_STEPS * (lane && f->lanes > 1 ? f->lanes : 1);
    return lane ? lane : rd_coef(&f->lane_line, axis) * rd_rows_of_lanes(f);
}

/* True if a fold begins outside of all loops. All ranges take part in it, so it has partials
 * (nodes that ranges leave). */
static bool begins_at_top(const rd_schedule *t, int32_t fold)
{
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->stmt[t->part[k]].first; s >= 0; s = t->stmt[s].next)
            if (t->stmt[s].kind == RD_S_BEGIN && t->stmt[s].fold == fold)
                return true;
    return false;
}

/* Returns the smallest number of indices that is whole blocks of the combine tree for all folds
 * that ranges (parts of a split loop) share: the least common multiple. 0: such a fold has a
 * single block, or does not move along the axis, so ranges cannot share it. */
static int64_t grain_of(const rd_schedule *t, int32_t axis)
{
    int64_t grain = 1;

    for (int32_t k = 0; k < t->p->n_fold; k++) {
        const rd_fold *f = &t->p->fold[k];
        int64_t        block, each = each_of(f, axis, &block), indices;

        if (!begins_at_top(t, k))
            continue;
        if (f->n_block < 2 || f->steps != RD_TREE_STEPS || each <= 0)
            return 0;
        indices = block / rd_common_divisor(block, each);
        grain   = grain / rd_common_divisor(grain, indices) * indices;
    }
    return grain;
}

/* Returns the loop of a program's only work item that is split into ranges, -1: none. *range
 * gets the indices of a range: whole blocks (64 steps) of all folds, doubled until there are at
 * most 1024 ranges. Scratch would have to be shared by ranges, so a program with scratch
 * (temporary memory) is refused. */
int32_t rd_cl_split_of(const rd_schedule *t, int64_t *range)
{
    enum { MOST = 1024 };
    const int32_t loop   = t->p->n_scratch || t->p->n_fold > RD_GPU_MOST_FOLDS ? -1 : only_loop(t);
    const rd_for *l      = loop >= 0 ? rd_loop_of(t, loop) : NULL;
    const int64_t grain  = l && l->program_loop >= 0 && !l->backwards ? grain_of(t, l->axis) : 0;
    const int64_t extent = l ? l->extent : 0;

    if (grain == 0 || extent <= grain)
        return -1;
    for (*range = grain; (extent + *range - 1) / *range > MOST;)
        *range *= 2;
    return extent > *range ? loop : -1;
}

/* ---- Edges ----------------------------------------------------------------------------------- */
/* Returns the loop over ranges that the passes have made (`split_reduction`); NULL: there is
 * none. */
static const rd_for *ranges_of(const rd_schedule *t)
{
    for (int32_t k = 0; k < t->n_for; k++)
        if (t->loop[k].split_reduction)
            return &t->loop[k];
    return NULL;
}

/* Returns how many blocks of a fold's combine tree a range (part of a split loop) has. */
static int64_t blocks_of(const rd_schedule *t, int32_t fold)
{
    int64_t       block;
    const int64_t per_index = each_of(&t->p->fold[fold], ranges_of(t)->axis, &block);

    return ranges_of(t)->step * per_index / block;
}

/* Adds a macro for each fold with several blocks (64 steps each), which counts the blocks before
 * a range: "#define edge0(q, range) LESS((range) * 64, 4096)". q is unused; it is there as in
 * CUDA. */
void rd_cl_print_edges(rd_text *to, const rd_schedule *t)
{
    for (int32_t k = 0; k < t->p->n_fold && ranges_of(t); k++)
        if (begins_at_top(t, k) || t->p->fold[k].n_block > 1)
            rd_text_add(
                to, "#define edge%" PRId32 "(q, range) LESS((range) * %" PRId64 ", %" PRId64 ")\n",
                k, blocks_of(t, k), t->p->fold[k].n_block);
}

/* ---- Nodes ----------------------------------------------------------------------------------- */
/* Returns the most nodes that a range (part of a split loop) leaves for each state. These are
 * two for each binary digit of its number of blocks, as a range may begin and end within a node
 * of the combine tree. */
static int64_t rows_of(const rd_schedule *t, int32_t fold)
{
    int64_t bits = 0;

    for (int64_t k = blocks_of(t, fold); k > 0; k /= 2)
        bits++;
    return 2 * bits;
}

/* Returns the states (accumulators) of a fold: a state for each lane (partial accumulator) of
 * each result. */
static int64_t states_of(const rd_schedule *t, int32_t fold)
{
    return t->store[fold].extent;
}

/* Declares pointers to a fold's partials (nodes that ranges leave), one for each of the n_state
 * numbers of a state: "__global double *const n0_0 = (__global double *)(nodes + 0);". Those of
 * the folds before it come first. */
static void declare_nodes(rd_printing *n, const rd_cl_ranges *r, int32_t fold)
{
    const rd_emit_fold *f  = &n->fold[fold].emit;
    int64_t             at = 0;

    for (int32_t k = 0; k < fold; k++)
        at += n->fold[k].emit.n_state * r->n * rows_of(n->t, k) * states_of(n->t, k) * 8;
    for (int k = 0; k < f->n_state; k++)
        rd_print_line(n,
                      "__global %s *const n%" PRId32 "_%d = (__global %s *)(nodes + %" PRId64 ");",
                      rd_node_type(f, k), fold, k, rd_node_type(f, k),
                      at + k * r->n * rows_of(n->t, fold) * states_of(n->t, fold) * 8);
}

/* Returns the bytes of all folds' partial results: 8 bytes for each range (part of a split
 * loop), row, state and number of a state. A state (accumulator) is n_state numbers, such as sum
 * and count. */
static int64_t bytes_of(const rd_printing *n, const rd_cl_ranges *r)
{
    int64_t bytes = 0;

    for (int32_t k = 0; k < n->t->p->n_fold; k++)
        bytes += n->fold[k].emit.n_state * r->n * rows_of(n->t, k) * states_of(n->t, k) * 8;
    return bytes;
}

/* Adds a loop over cells (output elements) that ends the blocks which the range has begun, and
 * pushes them as nodes of the combine tree:
 *
 *     for (int64_t c = 0; c < 1; c++)
 *         while (b0[c] < edge0(q, range + 1)) { push0(&s0_0[c * 64], w0_0, ..); b0[c]++; } */
static void end_blocks(rd_printing *n, int32_t fold)
{
    const rd_emit_fold *f     = &n->fold[fold].emit;
    const int32_t       lanes = f->fold->lanes;
    rd_text             line = { 0 }, at = { 0 };

    rd_text_add(&at, "c * %" PRId32, lanes);
    rd_text_add(&line, "while (b%" PRId32 "[c] < edge%" PRId32 "(q, range + 1)) { push%" PRId32 "(",
                fold, fold, fold);
    rd_print_state_addresses(&line, &n->fold[fold], 's', fold, at.at);
    for (int k = 0; k < f->n_state; k++)
        rd_text_add(&line, ", w%" PRId32 "_%d", fold, k);
    rd_print_line(n, "for (int64_t c = 0; c < %" PRId64 "; c++)", states_of(n->t, fold) / lanes);
    rd_print_line(n,
                  "    %s, %" PRId32 ", 1, %" PRId64 ", %s, b%" PRId32 "[c], from%" PRId32
                  "); b%" PRId32 "[c]++; }",
                  line.at, lanes, states_of(n->t, fold), at.at, fold, fold, fold);
    rd_text_free(&line);
    rd_text_free(&at);
}

/* Callback of the printer at the end of a range: adds the text that stores a fold's nodes of the
 * combine tree that cover the range (part of a split loop), for the last kernel. w0_0 are the
 * nodes in variables, n0_0 the partials of all ranges; a row has a node for each of 64 states
 * (accumulators) here.
 *
 *     const int64_t rows = rd_nodes(from0, edge0(q, range + 1));
 *     for (int64_t row = 0; row < rows; row++) for (int64_t s = 0; s < 64; s++)
 *         n0_0[(range * 14 + row) * 64 + s] = w0_0[row * 64 + s]; */
static void leave_nodes(void *of, rd_printing *n, int32_t fold)
{
    rd_cl_ranges *const r      = of;
    const int64_t       states = states_of(n->t, fold);

    r->n     = ranges_of(n->t)->extent;
    r->bytes = bytes_of(n, r);
    end_blocks(n, fold);
    rd_print_line(n, "{");
    n->indent++;
    declare_nodes(n, r, fold);
    rd_print_line(n,
                  "const int64_t rows = rd_nodes(from%" PRId32 ", edge%" PRId32 "(q, range + 1));",
                  fold, fold);
    for (int k = 0; k < n->fold[fold].emit.n_state; k++)
        rd_print_line(n,
                      "for (int64_t row = 0; row < rows; row++) for (int64_t s = 0; s < %" PRId64
                      "; s++) n%" PRId32 "_%d[(range * %" PRId64 " + row) * %" PRId64
                      " + s] = w%" PRId32 "_%d[row * %" PRId64 " + s];",
                      states, fold, k, rows_of(n->t, fold), states, fold, k, states);
    n->indent--;
    rd_print_line(n, "}");
}

/* Adds the combine of one state s. The nodes (partial results in the combine tree) of one range
 * (part of a split loop) after the other are pushed onto a stack l0. On it each rises, merging
 * with its left siblings. Then the rest of the stack is merged from the right. start, end:
 * blocks; above: the level of the node at `start`.
 *
 *     double l0[26];
 *     int64_t end = 0;
 *     for (int64_t k = 0; k < 64; k++) {
 *         .. l0[to] = n0_0[..]; rise0(l0, 1, 0, to, start, above, 0); ..
 *     }
 *     double x0 = l0[rows];
 *     while (rows-- > 0) under0(&x0, l0[rows]);
 *     o0[s] = x0; */
static void print_state(rd_printing *n, int32_t fold, const char *name)
{
    const rd_emit_fold *f    = &n->fold[fold].emit;
    const int64_t       rows = 2 * n->t->fold[fold].tree_rows + 2;
    rd_text             rise = { 0 }, under = { 0 };

    rd_add_each(&rise, f, "l%d");
    rd_text_add(&under, "under%" PRId32 "(", fold);
    rd_add_each(&under, f, "&x%d");
    for (int k = 0; k < f->n_state; k++) {
        rd_print_line(n, "%s l%d[%" PRId64 "];", rd_node_type(f, k), k, rows);
        rd_text_add(&under, ", l%d[rows]", k);
    }
    rd_print_line(n, "int64_t end = 0;");
    rd_print_line(n, "for (int64_t k = 0; k < %" PRId64 "; k++) {", ranges_of(n->t)->extent);
    rd_print_line(n, "    int64_t start = end;");
    rd_print_line(n, "    end = edge%" PRId32 "(q, k + 1);", fold);
    rd_print_line(n, "    for (int64_t row = 0; start < end; row++) {");
    rd_print_line(n, "        const int above = rd_node_level(start, end);");
    rd_print_line(n, "        const int64_t to = rd_nodes(0, start);");
    for (int k = 0; k < f->n_state; k++)
        rd_print_line(
            n, "        l%d[to] = n%" PRId32 "_%d[(k * %" PRId64 " + row) * %" PRId64 " + s];", k,
            fold, k, rows_of(n->t, fold), states_of(n->t, fold));
    rd_print_line(n, "        rise%" PRId32 "(%s, 1, 0, to, start, above, 0);", fold, rise.at);
    rd_print_line(n, "        start += (int64_t)1 << above;");
    rd_print_line(n, "    }");
    rd_print_line(n, "}");
    rd_print_line(n, "int64_t rows = rd_nodes(0, end) - 1;");
    for (int k = 0; k < f->n_state; k++)
        rd_print_line(n, "%s x%d = l%d[rows];", rd_node_type(f, k), k, k);
    rd_print_line(n, "while (rows-- > 0) %s);", under.at);
    for (int k = 0; k < f->n_state; k++)
        rd_print_line(n, "%s%d[s] = x%d;", name, k, k);
    rd_text_free(&rise);
    rd_text_free(&under);
}

/* Callback of the printer in the last kernel: declares arrays `name` with all states
 * (accumulators) of a fold, and combines them from the nodes of all ranges:
 *
 *     double o0[64];
 *     for (int64_t s = 0; s < 64; s++) {
 *         .. o0[s] = the combined state ..
 *     } */
static void declare_final_row(void *of, rd_printing *n, int32_t fold, const char *name)
{
    const rd_emit_fold *f = &n->fold[fold].emit;

    declare_nodes(n, of, fold);
    for (int k = 0; k < f->n_state; k++)
        rd_print_line(n, "%s %s%d[%" PRId64 "];", rd_node_type(f, k), name, k,
                      states_of(n->t, fold));
    rd_print_line(n, "for (int64_t s = 0; s < %" PRId64 "; s++) {", states_of(n->t, fold));
    n->indent++;
    print_state(n, fold, name);
    n->indent--;
    rd_print_line(n, "}");
}

/* Returns the callbacks by which the printer stores and combines partials (nodes that ranges
 * leave). A further kernel of one item combines them, so no counters are needed. `one`: it gets
 * one combined node (partial result in the combine tree) of each lane (partial accumulator). */
rd_kernel_combine rd_cl_range_callbacks(rd_cl_ranges *ranges)
{
    return (rd_kernel_combine){ .of    = ranges,
                                .leave = leave_nodes,
                                .rows  = declare_final_row,
                                .one   = true,
                                .count = "RD_RANGES" };
}
