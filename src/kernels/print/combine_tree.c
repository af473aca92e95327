/* combine_tree.c - functions of the text for folds of several blocks. Finished blocks become
 * nodes of a combine tree (kernels/program.h), in rows of a task's state; and the trees of tasks
 * are joined. The combine tree is not the loop tree, which is the schedule.
 *
 *     static NOINLINE void push0(states, tree, .., block, from)          a block becomes a node
 *     static NOINLINE void merge_tree0(states, tree, .., steps, from)    all nodes become one
 *
 * A state is an accumulator while it takes elements, a node what a finished block leaves.  A row
 * holds nodes of equal level, one for each cell and lane.  A number k of a state lies in an array
 * of its own: s0_k, a_k. */
#include "kernels/print/fold_functions.h"
#include "core/bytes.h"
#include <inttypes.h>

/* Adds "static inline double *node0_0(char *tree, int64_t row, int64_t states)" for each number
 * k of a state. It finds numbers k of the nodes (results of finished blocks) in a row of the
 * combine tree. A row has an array of `states` numbers for each k, and each array begins with a
 * cache line of 64 bytes. */
static void add_node_rows(rd_text *to, const rd_print_fold *f, int number)
{
    for (int k = 0; k < f->emit.n_state; k++)
        rd_text_add(
            to,
            "static inline %s *node%d_%d(char *tree, int64_t row, int64_t states)\n{\n"
            "    return (%s *)(tree + (row * %d + %d) * ((states * %d + 63) / 64 * 64));\n}\n",
            rd_node_type(&f->emit, k), number, k, rd_node_type(&f->emit, k), f->emit.n_state, k,
            (int)f->emit.bytes);
}

/* Adds the function that merges row + 1 of the combine tree into the row before, for nodes (results
 * of finished blocks) at .. at + n - 1. Then adds append0(), which calls it as long as the last two
 * rows are the left and right half of one node, as the carry of a binary counter goes up.
 *
 *     static void merge_rows0(char *tree, int64_t states, int64_t at, int64_t n, int64_t row)
 *     {
 *         double *const a0 = node0_0(tree, row, states) + at, *const b0 = ..row + 1..;
 *         INDEPENDENT for (int64_t l = 0; l < n; l++) merge0(&a0[l], &b0[l]);
 *     }
 *
 * rd_right(): the node is the right half of one whose left half the task has, too. */
static void add_merge_rows(rd_text *to, const rd_print_fold *f, int number)
{
    rd_text_add(to,
                "static void merge_rows%d(char *tree, int64_t states, int64_t at, int64_t n, "
                "int64_t row)\n{\n",
                number);
    for (int k = 0; k < f->emit.n_state; k++)
        rd_text_add(to,
                    "    %s *const a%d = node%d_%d(tree, row, states) + at, "
                    "*const b%d = node%d_%d(tree, row + 1, states) + at;\n",
                    rd_node_type(&f->emit, k), k, number, k, k, number, k);
    rd_text_add(to, "    INDEPENDENT for (int64_t l = 0; l < n; l++) merge%d(", number);
    rd_add_each(to, &f->emit, "&a%d[l]");
    rd_text_add(to, ", ");
    rd_add_each(to, &f->emit, "&b%d[l]");
    rd_text_add(to, ");\n}\n");
    rd_text_add(
        to,
        "/* The node behind the last, of 2^level blocks from `start` on: it merges with siblings "
        "on its left. */\n"
        "static void append%d(char *tree, int64_t states, int64_t at, int64_t n, int64_t start, "
        "int level, int64_t from)\n{\n"
        "    for (int64_t row = rd_nodes(from, start); rd_right(start, level, from); level++) {\n"
        "        merge_rows%d(tree, states, at, n, --row);\n"
        "        start -= INT64_C(1) << level;\n    }\n}\n",
        number, number);
}

/* Adds push0(), which ends block number `block`: the states of n neighbours become nodes (results
 * of finished blocks) in a new last row of the tree, and the states begin again. `from` is the
 * task's first block.
 *
 *     static NOINLINE void push0(float *s0, char *tree, .., int64_t block, int64_t from)
 *     {
 *         double *const a0 = node0_0(tree, row, states) + at;
 *         INDEPENDENT for (..; l < n; ..) { block0(&s0[l]); a0[l] = s0[l]; begin0(&s0[l]); }
 *         append0(tree, states, at, n, block, 0, from);
 *     }
 *
 * rd_nodes() is how many nodes the blocks from `from` to `block` have left, so the new one gets
 * that row. */
static void add_push(rd_text *to, const rd_print_fold *f, int number)
{
    rd_text_add(to, "static NOINLINE void push%d(", number);
    rd_add_parameters(to, &f->emit, /*nodes=*/false, "", 's');
    rd_text_add(
        to, ", char *tree, int64_t states, int64_t at, int64_t n, int64_t block, int64_t from)\n{\n"
            "    const int64_t row = rd_nodes(from, block);\n");
    for (int k = 0; k < f->emit.n_state; k++)
        rd_text_add(to, "    %s *const a%d = node%d_%d(tree, row, states) + at;\n",
                    rd_node_type(&f->emit, k), k, number, k);
    rd_text_add(to, "    INDEPENDENT for (int64_t l = 0; l < n; l++) {\n        block%d(", number);
    rd_add_each(to, &f->emit, "&s%d[l]");
    rd_text_add(to, ");\n");
    for (int k = 0; k < f->emit.n_state; k++)
        rd_text_add(to, "        a%d[l] = s%d[l];\n", k, k);
    rd_text_add(to, "        begin%d(", number);
    rd_add_each(to, &f->emit, "&s%d[l]");
    rd_text_add(to, ");\n    }\n    append%d(tree, states, at, n, block, 0, from);\n}\n", number);
}

/* Adds merge_tree0(): all rows of nodes (results of finished blocks) become one, in row 0, from the
 * last row on.
 *
 *     static NOINLINE void merge_tree0(.., int64_t steps, int64_t from)
 *     {
 *         if (steps & 63 || steps == 0) push0(..);
 *         for (row = number of rows - 2; row >= 0; row--) merge_rows0(tree, states, at, n, row);
 *     }
 *
 * The open block is pushed first, if it has steps (steps & 63), or if the whole fold has none,
 * so that there is at least one node. */
static void add_merge_tree(rd_text *to, const rd_print_fold *f, int number)
{
    rd_text_add(to, "static NOINLINE void merge_tree%d(", number);
    rd_add_parameters(to, &f->emit, /*nodes=*/false, "", 's');
    rd_text_add(
        to,
        ", char *tree, int64_t states, int64_t at, int64_t n, int64_t steps, int64_t from)\n{\n"
        "    if (steps & %" PRId64 " || steps == 0)\n        push%d(",
        (INT64_C(1) << f->shift) - 1, number);
    rd_add_each(to, &f->emit, "s%d");
    rd_text_add(to,
                ", tree, states, at, n, steps >> %d, from);\n"
                "    for (int64_t row = rd_nodes(from, (steps + %" PRId64
                ") >> %d) - 2; row >= 0; row--)\n"
                "        merge_rows%d(tree, states, at, n, row);\n}\n",
                f->shift, (INT64_C(1) << f->shift) - 1, f->shift, number);
}

/* Prints the functions of a combine tree, if the fold has one: f->tree_rows is its number of rows,
 * 0 of a fold of one block or a scan. */
void rd_print_combine_functions(rd_text *to, const rd_print_fold *f, int number)
{
    if (!f->tree_rows)
        return;
    add_node_rows(to, f, number);
    add_merge_rows(to, f, number);
    add_push(to, f, number);
    add_merge_tree(to, f, number);
}

/* Returns the byte offset of array k, which holds number k of each state, from the first such
 * array of the fold. Each array has the discard states too, which take elements of no group, and
 * begins with a cache line. */
static int state_offset(const rd_print_fold *f, int k)
{
    return (int)(k * rd_lines((f->states + f->discard) * f->emit.bytes));
}

/* Adds the join of two tasks that share a fold of one block: "merge0(a0, b0)" for each state,
 * where a is of the task `into`, b of the task `next` behind it. */
static void add_join_states(rd_text *to, const rd_print_fold *f, int number)
{
    rd_text_add(to, "    for (int64_t l = 0; l < %d; l++) {\n", (int)f->states);
    for (int k = 0; k < f->emit.n_state; k++)
        rd_text_add(to,
                    "        %s *const a%d = (%s *)(into + %d + %d) + l, *const b%d = (%s *)(next "
                    "+ %d + %d) + l;\n",
                    rd_state_type(&f->emit, k), k, rd_state_type(&f->emit, k), (int)f->current,
                    state_offset(f, k), k, rd_state_type(&f->emit, k), (int)f->current,
                    state_offset(f, k));
    rd_text_add(to, "        merge%d(", number);
    rd_add_each(to, &f->emit, "a%d");
    rd_text_add(to, ", ");
    rd_add_each(to, &f->emit, "b%d");
    rd_text_add(to, ");\n    }\n");
}

/* Adds the begin of a join of two tasks' trees: names, and "if (b[1] & 63) push0(s0, other,
 * ..);", where b[1] is the step behind the last one of the task `next`. Its last block may have
 * begun and not ended, so it is pushed. Earlier tasks have no such block, because tasks begin at
 * a multiple of whole blocks. */
static void add_last_block(rd_text *to, const rd_print_fold *f, int number)
{
    const int     states   = (int)f->states;
    const int64_t in_block = INT64_C(1) << f->shift;

    rd_text_add(to,
                "    {\n        int64_t *const a = (int64_t *)(into + %d), *const b = (int64_t "
                "*)(next + %d);\n",
                (int)f->facts, (int)f->facts);
    rd_text_add(to, "        char *const tree = into + %d, *const other = next + %d;\n",
                (int)f->tree, (int)f->tree);
    for (int k = 0; k < f->emit.n_state; k++)
        rd_text_add(to, "        %s *const s%d = (%s *)(next + %d + %d);\n",
                    rd_state_type(&f->emit, k), k, rd_state_type(&f->emit, k), (int)f->current,
                    state_offset(f, k));
    rd_text_add(to,
                "        const int64_t end = (b[1] + %" PRId64
                ") >> %d;\n        if (b[1] & %" PRId64 ")\n"
                "            push%d(",
                in_block - 1, f->shift, in_block - 1, number);
    rd_add_each(to, &f->emit, "s%d");
    rd_text_add(to, ", other, %d, 0, %d, b[1] >> %d, b[0]);\n", states, states, f->shift);
}

/* Adds the join of two trees: rows of nodes of the task `next` follow those of the task `into`, and
 * each merges with its left siblings there, as if one task had pushed all blocks.
 *
 *     for (int64_t start = b[0], row = 0; start < end; row++) { .. append0(..); } a[1] = end << 6;
 *
 * The last block has been pushed already, so a[1], the number of steps, is rounded up to whole
 * blocks, and merge_tree0() does not push it again. rd_node_level() is the level of the node that
 * begins at block `start`, rd_nodes() the row that it gets. */
static void add_join_rows(rd_text *to, const rd_print_fold *f, int number)
{
    const int states = (int)f->states;

    add_last_block(to, f, number);
    rd_text_add(to, "        for (int64_t start = b[0], row = 0; start < end; row++) {\n"
                    "            const int     level = rd_node_level(start, end);\n"
                    "            const int64_t to    = rd_nodes(a[0], start);\n");
    for (int k = 0; k < f->emit.n_state; k++)
        rd_text_add(to,
                    "            for (int64_t l = 0; l < %d; l++) node%d_%d(tree, to, %d)[l] = "
                    "node%d_%d(other, row, %d)[l];\n",
                    states, number, k, states, number, k, states);
    rd_text_add(to,
                "            append%d(tree, %d, 0, %d, start, level, a[0]);\n"
                "            start += INT64_C(1) << level;\n        }\n        a[1] = end << %d;\n"
                "    }\n",
                number, states, states, f->shift);
}

/* Prints the join of a fold that two tasks share: of their combine trees, or of their states if
 * the fold is one block (room 0). The next task's results follow those of the task before it. */
void rd_print_join(rd_text *to, const rd_print_fold *f, int number)
{
    if (f->tree_rows)
        add_join_rows(to, f, number);
    else
        add_join_states(to, f, number);
}
