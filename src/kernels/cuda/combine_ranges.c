/* combine_ranges.c - the text that stores the partials of a range and combines those of all
 * ranges.
 *
 * Partials are nodes of the combine tree, in rows.  A team stores the nodes of its range and
 * increments the atomic counter of its group.  The last team of RD_FAN ranges combines their
 * nodes, in the order of positions, and goes on with the counter of the group above (rd_is_last
 * in cuda_prelude.cuh).  So no team waits, and the order of arrival changes no bit.
 *
 * A range is a part of a long loop, done by a team: the threads of one work item.  A fold is a
 * reduction, a cell one of its results, a lane a partial accumulator. */
#include "kernels/cuda/kernel_frame.h"
#include "core/combine_tree.h"
#include <inttypes.h>

/* Returns how many nodes (partial results in the combine tree) a fold has in a row of partials:
 * one for each lane (partial accumulator) of each cell (output element). */
static int64_t states_of(const rd_cuda_fold *f)
{
    return f->n_cell * f->emit.fold->lanes;
}

/* Declares pointers to the nodes (partial results in the combine tree) of a fold in row `row` of
 * partials, one for each of the n_state numbers of a state (such as sum and count): "double
 * *const w0 = (double *)(nodes + (row) * RD_ROW + 0);". RD_ROW: bytes of a row, in which each
 * fold's nodes begin at f->node_at. `name`: the pointers' letter, "w" or "o". */
void rd_cuda_declare_rows(rd_cuda_text *t, int32_t number, const char *name, const char *row)
{
    const rd_cuda_fold *f  = &t->s->fold[number];
    int64_t             at = f->node_at;

    for (int k = 0; k < f->emit.n_state; k++) {
        rd_print_line(&t->print, "%s *const %s%d = (%s *)(nodes + (%s) * RD_ROW + %" PRId64 ");",
                      rd_node_type(&f->emit, k), name, k, rd_node_type(&f->emit, k), row, at);
        at += rd_cuda_room(states_of(f) * f->emit.bytes);
    }
}

/* ---- Functions of a fold --------------------------------------------------------------------- */
/* Adds the function that counts the blocks of the combine tree (64 steps each) before a range
 * (part of a split loop), at most all that there are:
 *
 *     static inline int64_t edge0(const rd_call &q, int64_t range)
 *     {
 *         return RD_LESS(range * 64, 4096);
 *     } */
static void add_edge(rd_cuda_text *t, int32_t number)
{
    const rd_cuda_fold *f    = &t->s->fold[number];
    rd_text             each = { 0 }, all = { 0 };

    rd_print_number(&t->print, &each, f->blocks);
    rd_print_number(&t->print, &all, f->emit.fold->n_block);
    rd_text_add(t->print.to,
                "static inline int64_t edge%" PRId32 "(const rd_call &q, int64_t range)\n{\n"
                "    return RD_LESS(range * %s, %s);\n}\n",
                number, each.at ? each.at : "", all.at ? all.at : "");
    rd_text_end(&each, t->print.to);
    rd_text_end(&all, t->print.to);
}

/* Adds a copy of a node, a partial result that consists of n_state numbers (such as sum and
 * count): "w0[s] = f0[k];". `to` and `from` are printf formats of both sides, which take the
 * index of the number. */
static void copy_node(rd_cuda_text *t, const rd_cuda_fold *f, const char *to, const char *from)
{
    rd_text line = { 0 };

    for (int k = 0; k < f->emit.n_state; k++) {
        rd_text_add(&line, k ? " " : "");
        rd_text_add(&line, to, k);
        rd_text_add(&line, " = ");
        rd_text_add(&line, from, k);
        rd_text_add(&line, ";");
    }
    rd_print_line(&t->print, "%s", line.at ? line.at : "");
    rd_text_end(&line, t->print.to);
}

/* Declares an array of `count` nodes (partial results in the combine tree) for each of the
 * n_state numbers of a state: "double f0[RD_FAN];". */
static void declare_nodes(rd_cuda_text *t, const rd_cuda_fold *f, char name, const char *count)
{
    for (int k = 0; k < f->emit.n_state; k++)
        rd_print_line(&t->print, "%s %c%d[%s];", rd_node_type(&f->emit, k), name, k, count);
}

/* Adds the body of join0 (it combines the partials of a group) if each member of a group is
 * exactly one node of the combine tree. Pairs of nodes are merged, then pairs of pairs; f0 are
 * the members' nodes. The last member of all may be shorter: its nodes are stored behind the
 * others. `whole`: members that are one node; w0, o0: rows of the group, and of its first
 * member, `each` rows apart; s: the lane (partial accumulator) of a cell (output element).
 *
 *     const int whole = (int)RD_LESS(n, all / blocks - first);
 *     RD_ONE_BY_ONE for (int64_t s = t; s < 64; s += RD_TEAM) {
 *         int64_t row = 0;
 *         double f0[RD_FAN];
 *         .. f0[k] = the k-th member's node, for k < whole ..
 *         RD_UNROLL for (int half = 1; half < RD_FAN; half *= 2)
 *             RD_UNROLL for (int k = 0; k + half < RD_FAN; k += 2 * half)
 *                 if (k + 2 * half <= whole) merge0(&f0[k], &f0[k + half]);
 *         .. RD_IN_ROW(w0, row)[s] = f0[k], for each binary digit of whole ..
 *         .. the rows of the last member ..
 *     } */
static void join_aligned(rd_cuda_text *t, int32_t number)
{
    const rd_cuda_fold *f     = &t->s->fold[number];
    rd_text             merge = { 0 };

    rd_text_add(&merge, "merge%" PRId32 "(", number);
    rd_add_each(&merge, &f->emit, "&f%d[k]");
    rd_text_add(&merge, ", ");
    rd_add_each(&merge, &f->emit, "&f%d[k + half]");
    rd_print_line(&t->print, "const int whole = (int)RD_LESS(n, all / blocks - first);");
    rd_print_line(&t->print, "RD_ONE_BY_ONE for (int64_t s = t; s < %" PRId64 "; s += RD_TEAM) {",
                  states_of(f));
    t->print.indent++;
    rd_print_line(&t->print, "int64_t row = 0;");
    declare_nodes(t, f, 'f', "RD_FAN");
    rd_print_line(&t->print, "RD_UNROLL for (int k = 0; k < RD_FAN; k++)");
    rd_print_line(&t->print, "    if (k < whole) {");
    t->print.indent += 2;
    copy_node(t, f, "f%d[k]", "RD_IN_ROW(o%d, k * each)[s]");
    t->print.indent--;
    rd_print_line(&t->print, "}");
    t->print.indent--;
    rd_print_line(&t->print, "RD_UNROLL for (int half = 1; half < RD_FAN; half *= 2)");
    rd_print_line(&t->print, "    RD_UNROLL for (int k = 0; k + half < RD_FAN; k += 2 * half)");
    rd_print_line(&t->print, "        if (k + 2 * half <= whole) %s);", merge.at ? merge.at : "");
    rd_print_line(&t->print, "RD_UNROLL for (int half = RD_FAN; half > 0; half /= 2)");
    rd_print_line(&t->print, "    RD_UNROLL for (int k = 0; k < RD_FAN; k += 2 * half)");
    rd_print_line(&t->print, "        if ((whole & half) && (whole & -2 * half) == k) {");
    t->print.indent += 3;
    copy_node(t, f, "RD_IN_ROW(w%d, row)[s]", "f%d[k]");
    rd_print_line(&t->print, "row++;");
    t->print.indent--;
    rd_print_line(&t->print, "}");
    t->print.indent -= 2;
    rd_print_line(&t->print, "if (whole < n) {");
    t->print.indent++;
    rd_print_line(&t->print, "const int64_t rows = rd_nodes((first + whole) * blocks, all);");
    rd_print_line(&t->print, "for (int64_t k = 0; k < rows; k++, row++) {");
    t->print.indent++;
    copy_node(t, f, "RD_IN_ROW(w%d, row)[s]", "RD_IN_ROW(o%d, whole * each + k)[s]");
    rd_print_close_blocks(&t->print, 3);
    rd_text_end(&merge, t->print.to);
}

/* Adds the body of join0 (it combines the partials of a group) if members of a group begin or
 * end within a node of the combine tree. The nodes of one member after the other are pushed onto
 * a stack l0, and each rises: it merges with its left siblings. start, end: blocks; above: the
 * level of the node at `start`.
 *
 *     const int64_t begin = RD_LESS(first * blocks, all);
 *     RD_ONE_BY_ONE for (int64_t s = t; s < 64; s += RD_TEAM) {
 *         int64_t end = begin;
 *         double l0[26];
 *         for (int64_t k = 0; k < n; k++) {
 *             int64_t start = end;
 *             end = RD_LESS((first + k + 1) * blocks, all);
 *             for (int64_t row = k * each; start < end; row++) {
 *                 .. l0[to] = the member's next node; rise0(l0, 1, 0, to, start, above, begin); ..
 *             }
 *         }
 *         .. RD_IN_ROW(w0, row)[s] = l0[row], for all rows ..
 *     } */
static void join_any(rd_cuda_text *t, int32_t number)
{
    const rd_cuda_fold *f     = &t->s->fold[number];
    rd_text             count = { 0 }, line = { 0 };

    rd_text_add(&count, "%d", 2 * rd_cuda_bits(f->emit.fold->n_block) + 2);
    rd_print_line(&t->print, "const int64_t begin = RD_LESS(first * blocks, all);");
    rd_print_line(&t->print, "RD_ONE_BY_ONE for (int64_t s = t; s < %" PRId64 "; s += RD_TEAM) {",
                  states_of(f));
    t->print.indent++;
    rd_print_line(&t->print, "int64_t end = begin;");
    declare_nodes(t, f, 'l', count.at ? count.at : "");
    rd_print_line(&t->print, "for (int64_t k = 0; k < n; k++) {");
    t->print.indent++;
    rd_print_line(&t->print, "int64_t start = end;");
    rd_print_line(&t->print, "end = RD_LESS((first + k + 1) * blocks, all);");
    rd_print_line(&t->print, "for (int64_t row = k * each; start < end; row++) {");
    t->print.indent++;
    rd_print_line(&t->print, "const int     above = rd_node_level(start, end);");
    rd_print_line(&t->print, "const int64_t to    = rd_nodes(begin, start);");
    copy_node(t, f, "l%d[to]", "RD_IN_ROW(o%d, row)[s]");
    rd_add_each(&line, &f->emit, "l%d");
    rd_print_line(&t->print, "rise%" PRId32 "(%s, 1, 0, to, start, above, begin);", number,
                  line.at ? line.at : "");
    rd_print_line(&t->print, "start += (int64_t)1 << above;");
    rd_print_close_blocks(&t->print, 2);
    rd_print_line(&t->print, "const int64_t rows = rd_nodes(begin, end);");
    rd_print_line(&t->print, "for (int64_t row = 0; row < rows; row++) {");
    t->print.indent++;
    copy_node(t, f, "RD_IN_ROW(w%d, row)[s]", "l%d[row]");
    rd_print_close_blocks(&t->print, 2);
    rd_text_end(&count, t->print.to);
    rd_text_end(&line, t->print.to);
}

/* Adds join0, which combines the partials of a group `at` of level `level`, done by a team (the
 * threads of an item). Its n members, from `first` on, are ranges (parts of a split loop) or
 * groups of the level below, and cover `blocks` blocks of the tree each.
 *
 *     static void join0(const rd_call &q, char *nodes, int level, int64_t at,
 *                       int64_t blocks, int t)
 *     {
 *         const int64_t first = at * RD_FAN, all = edge0(q, q.head.n_range);
 *         ..
 *     } */
static void add_join(rd_cuda_text *t, int32_t number)
{
    rd_print_line(&t->print,
                  "static void join%" PRId32
                  "(const rd_call &q, char *nodes, int level, int64_t at, "
                  "int64_t blocks, int t)",
                  number);
    rd_print_line(&t->print, "{");
    t->print.indent++;
    rd_print_line(&t->print,
                  "const int64_t first = at * RD_FAN, all = edge%" PRId32 "(q, q.head.n_range);",
                  number);
    rd_print_line(&t->print, "const int64_t each = q.head.level[level - 1].rows;");
    rd_print_line(&t->print,
                  "const int64_t n = RD_LESS(q.head.level[level - 1].n - first, RD_FAN);");
    rd_cuda_declare_rows(t, number, "w", "rd_row_of(q.head, level, at)");
    rd_cuda_declare_rows(t, number, "o", "rd_row_of(q.head, level - 1, first)");
    (t->s->fold[number].aligned ? join_aligned : join_any)(t, number);
    t->print.indent--;
    rd_print_line(&t->print, "}");
}

/* Adds the functions of a fold that takes its elements in a split loop: edge0, which counts
 * blocks (64 steps each) before a range, and join0, which combines partials (nodes that ranges
 * leave). */
void rd_cuda_range_functions(rd_cuda_text *t, int32_t number)
{
    add_edge(t, number);
    add_join(t, number);
}

/* ---- A range --------------------------------------------------------------------------------- */
/* Adds the text that ends all blocks (64 steps) that a range has begun, for all cells (output
 * elements), so that only nodes of the combine tree are left. Threads that own lanes (partial
 * accumulators) do so for each cell; else the threads share the cells. States in the team's
 * memory need barriers. With states (accumulators) of several neighbours in registers (strip >=
 * 0) the loop is unrolled, so that subscripts are constant:
 *
 *     for (int64_t c0 = 0; c0 < 1; c0 += 1)
 *         while (b0[c0] < edge0(q, range + 1)) { push0(..); b0[c0]++; } */
static void end_blocks(rd_cuda_text *t, int32_t number)
{
    const rd_cuda_fold *f       = &t->s->fold[number];
    const bool          in_team = f->storage == RD_STORAGE_TEAM && t->s->team > 1;
    rd_text             cells = { 0 }, block = { 0 };

    rd_print_number(&t->print, &cells, f->n_cell);
    rd_text_add(&block, "edge%" PRId32 "(q, range + 1)", number);
    if (in_team)
        rd_print_line(&t->print, "RD_SYNC_TEAM");
    rd_print_line(
        &t->print, "%s for (int64_t c%" PRId32 " = %s; c%" PRId32 " < %s; c%" PRId32 " += %s)",
        f->storage == RD_STORAGE_LOCAL && t->s->neighbour_axis >= 0 ? "RD_UNROLL" : "", number,
        in_team && !f->threads_are_lanes ? "t" : "0", number, cells.at ? cells.at : "", number,
        in_team && !f->threads_are_lanes ? "RD_TEAM" : "1");
    t->print.indent++;
    rd_cuda_end_blocks_before(t, f, block.at ? block.at : "");
    t->print.indent--;
    if (in_team)
        rd_print_line(&t->print, "RD_SYNC_TEAM");
    rd_text_end(&cells, t->print.to);
    rd_text_end(&block, t->print.to);
}

/* Adds the copy of a range's nodes (partial results in the combine tree) to global memory, if
 * each thread has lanes (partial accumulators) of its own in variables w0_0. o0 is the range's
 * row of partials, c a cell (output element):
 *
 *     for (int64_t row = 0; row < rows; row++) for (int64_t c = 0; c < 1; c++)
 *         RD_UNROLL for (int l = 0; l < 4; l++) {
 *             RD_IN_ROW(o0, row)[c * 64 + (4 * t + l)] = w0_0[row * 4 + c * 4 + l];
 *         } */
static void store_lanes(rd_cuda_text *t, const rd_cuda_fold *f)
{
    const int32_t number = rd_cuda_fold_number(t->s, f), lanes = f->emit.fold->lanes;
    char          ours[32];
    rd_text       to = { 0 }, from = { 0 };

    rd_text_add(&to, "RD_IN_ROW(o%%d, row)[c * %" PRId32 " + %s]", lanes,
                rd_cuda_lane_of(t, f, ours));
    rd_text_add(&from, "w%" PRId32 "_%%d[row * %" PRId64 " + c * %" PRId32 " + l]", number,
                f->n_cell * f->thread_lanes, f->thread_lanes);
    rd_print_line(&t->print,
                  "for (int64_t row = 0; row < rows; row++) for (int64_t c = 0; c < %" PRId64
                  "; c++) RD_UNROLL for (int l = 0; l < %" PRId32 "; l++) {",
                  f->n_cell, f->thread_lanes);
    t->print.indent++;
    copy_node(t, f, to.at ? to.at : "", from.at ? from.at : "");
    t->print.indent--;
    rd_print_line(&t->print, "}");
    rd_text_end(&to, t->print.to);
    rd_text_end(&from, t->print.to);
}

/* Adds the copy of a range's nodes (partial results in the combine tree) to global memory, if
 * all threads have the same nodes, or the team has them. The threads share the nodes of a row.
 *
 *     for (int64_t row = 0; row < rows; row++) for (int64_t s = t; s < 8; s += RD_TEAM) {
 *         RD_IN_ROW(o0, row)[s] = w0_0[row * 8 + s];
 *     } */
static void store_all(rd_cuda_text *t, const rd_cuda_fold *f)
{
    rd_text from = { 0 };

    rd_text_add(&from, "w%" PRId32 "_%%d[row * %" PRId64 " + s]", rd_cuda_fold_number(t->s, f),
                states_of(f));
    rd_print_line(&t->print,
                  "for (int64_t row = 0; row < rows; row++) for (int64_t s = t; s < %" PRId64
                  "; s += RD_TEAM) {",
                  states_of(f));
    t->print.indent++;
    copy_node(t, f, "RD_IN_ROW(o%d, row)[s]", from.at ? from.at : "");
    rd_print_close(&t->print);
    rd_text_end(&from, t->print.to);
}

/* Adds the text that ends the blocks which a range (part of a split loop) has begun, and stores
 * the range's partials. These are nodes of the combine tree that cover the range, in rows of
 * global memory.
 *
 *     for (int64_t c0 = 0; ..) while (b0[c0] < edge0(q, range + 1)) { push0(..); b0[c0]++; }
 *     {
 *         double *const o0 = (double *)(nodes + (rd_row_of(q.head, 0, range)) * RD_ROW + 0);
 *         const int64_t rows = rd_nodes(from0, edge0(q, range + 1));
 *         .. RD_IN_ROW(o0, row)[..] = w0_0[..] ..
 *     } */
void rd_cuda_leave_nodes(rd_cuda_text *t, int32_t number)
{
    const rd_cuda_fold *f = &t->s->fold[number];

    end_blocks(t, number);
    rd_print_line(&t->print, "{");
    t->print.indent++;
    rd_cuda_declare_rows(t, number, "o", "rd_row_of(q.head, 0, range)");
    rd_print_line(&t->print,
                  "const int64_t rows = rd_nodes(from%" PRId32 ", edge%" PRId32 "(q, range + 1));",
                  number, number);
    (f->threads_are_lanes && f->storage != RD_STORAGE_TEAM ? store_lanes : store_all)(t, f);
    t->print.indent--;
    rd_print_line(&t->print, "}");
}

/* ---- Groups ---------------------------------------------------------------------------------- */
/* Adds the combine of ranges. A team (the threads of an item) that has stored its partials adds
 * 1 to its group's counter. The last one of the group joins the partials of all folds of the
 * split loop, and goes on with the group above. The statement behind the text runs in the last
 * team of all:
 *
 *     uint32_t *const counters = (uint32_t *)q.head.counters + item * q.head.item_counters;
 *     int64_t at = range, span = 1;
 *     int     level = 1;
 *     for (; level < q.head.n_level; level++, span *= RD_FAN) {
 *         const int64_t group = at / RD_FAN, before = group * RD_FAN;
 *         if (!rd_is_last<RD_TEAM>(&counters[q.head.level[level].counter + group],
 *                 RD_LESS(q.head.level[level - 1].n - before, RD_FAN), t)) break;
 *         join0(q, nodes, level, group, span * 64, t);
 *         at = group;
 *     }
 *     RD_SYNC_TEAM
 *     if (level == q.head.n_level) */
void rd_cuda_combine_ranges(rd_cuda_text *t, int32_t split)
{
    rd_print_line(&t->print, "uint32_t *const counters = (uint32_t *)q.head.counters + item * "
                             "q.head.item_counters;");
    rd_print_line(&t->print, "int64_t at = range, span = 1;");
    rd_print_line(&t->print, "int     level = 1;");
    rd_print_line(&t->print, "for (; level < q.head.n_level; level++, span *= RD_FAN) {");
    t->print.indent++;
    rd_print_line(&t->print, "const int64_t group = at / RD_FAN, before = group * RD_FAN;");
    rd_print_line(&t->print,
                  "if (!rd_is_last<RD_TEAM>(&counters[q.head.level[level].counter + group],");
    rd_print_line(&t->print,
                  "        RD_LESS(q.head.level[level - 1].n - before, RD_FAN), t)) break;");
    for (int32_t k = 0; k < t->s->p->n_fold; k++)
        if (t->s->fold[k].split == split) {
            rd_text blocks = { 0 };

            rd_print_number(&t->print, &blocks, t->s->fold[k].blocks);
            rd_print_line(&t->print, "join%" PRId32 "(q, nodes, level, group, span * %s, t);", k,
                          blocks.at ? blocks.at : "");
            rd_text_end(&blocks, t->print.to);
        }
    rd_print_line(&t->print, "at = group;");
    t->print.indent--;
    rd_print_line(&t->print, "}");
    rd_print_line(&t->print, "RD_SYNC_TEAM");
    rd_print_line(&t->print, "if (level == q.head.n_level)");
}
