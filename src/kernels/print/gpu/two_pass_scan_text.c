/* two_pass_scan_text.c - scans in two passes over ranges:  RD_S_STORE_PARTIALS, RD_S_BUILD_TREE and
 * RD_S_LOOK_BACK.  The nodes of an item lie level by level, as rd_nodes_below() counts them; the
 * partials of ranges are level 0:
 *
 *     double *const d1_0 = (double *)(nodes + 0);                       RD_S_STORE_PARTIALS
 *     RD_UNROLL_FEW for (int64_t c = 0; c < 4; c++) {
 *         turn0(&s0_0[c], &p0_0[c], &p0_1[c], b0[c] - from0, &w0[c], 4);
 *         d1_0[(range) * 4 + c] = w0[q.N[3] + c];
 *     }
 *
 * An item is a unit of work.  A range is a part of its scan, and a node the result of one range or
 * of 2^level of them.  A cell is an accumulator.  `hi_lo_sums`: the scan is a running sum of
 * floats, and its node is one double.
 *
 * Words. A fold is a reduction or a scan. */
#include "core/combine_tree.h"
#include "kernels/loop/facts.h"
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>

/* ---- Nodes ----------------------------------------------------------------------------------- */
/* Returns how many numbers a node has (the fold of one range, or of 2^level ranges): one for a
 * running sum of floats (`hi_lo_sums`), else those of a state. */
static int n_numbers(const rd_printing *n, int32_t fold)
{
    return n->t->fold[fold].hi_lo_sums ? 1 : n->fold[fold].emit.n_state;
}

/* Returns the C type of number k of a node, which has one or more numbers (the fold of one or
 * more ranges). It is double for a running sum of floats (`hi_lo_sums`), else that of the state. */
static const char *type_of(const rd_printing *n, int32_t fold, int k)
{
    return n->t->fold[fold].hi_lo_sums ? "double" : rd_state_type(&n->fold[fold].emit, k);
}

/* Returns the bytes of one array of nodes (folds of ranges), a node for each range or inner node
 * of the tree and each cell. Arrays begin at multiples of 16. */
static int64_t bytes_of(const rd_printing *n, int32_t partials)
{
    return (n->t->store[partials].node_rows * rd_cells_in_array(n, partials) *
                (int64_t)sizeof(double) +
            15) /
           16 * 16;
}

/* Prints a pointer to the array of each number that a node consists of: "double *const d1_0 =
 * (double *)(nodes + 0);". The nodes (partial results in the combine tree) of an item's ranges
 * (parts of a split loop), and of the tree above them, lie in global memory. */
static void declare_nodes(rd_printing *n, int32_t fold, int32_t partials)
{
    for (int k = 0; k < n_numbers(n, fold); k++)
        rd_print_line(n, "%s%s *const d%" PRId32 "_%d = (%s%s *)(nodes + %" PRId64 ");",
                      n->dialect->memory, type_of(n, fold, k), partials, k, n->dialect->memory,
                      type_of(n, fold, k),
                      n->t->store[partials].byte_offset + k * bytes_of(n, partials));
}

/* Begins a loop over the cells of a fold (output elements that an item computes): "RD_UNROLL_FEW
 * for (int64_t c = 0; c < 4; c++) {". */
static void open_cells(rd_printing *n, int32_t partials)
{
    rd_text line = { 0 };

    rd_text_add(&line, "RD_UNROLL_FEW for (int64_t c = 0; c < ");
    rd_print_number(n, &line, rd_cells_in_array(n, partials));
    rd_text_add(&line, "; c++) {");
    rd_print_open(n, line.at);
    rd_text_end(&line, n->to);
}

/* Adds number k of node `place` for cell c (an output element of the item): "d1_0[(place) * 4 +
 * c]". Nodes are rows of cells. */
static void add_node(rd_printing *n, rd_text *to, int32_t partials, int k, const char *place)
{
    rd_text_add(to, "d%" PRId32 "_%d[(%s) * ", partials, k, place);
    rd_print_number(n, to, rd_cells_in_array(n, partials));
    rd_text_add(to, " + c]");
}

/* Adds word `word` of cell c of a running sum, whose words are rows of cells: "w0[(2 * level) *
 * 4 + c]". kernels/math/prefix_sums.h keeps two words for each level of its tree. */
static void add_word(rd_printing *n, rd_text *to, int32_t store, const char *word)
{
    rd_text_add(to, "w%" PRId32 "[(%s) * ", store, word);
    rd_print_number(n, to, rd_cells_in_array(n, store));
    rd_text_add(to, " + c]");
}

/* Returns the loop over ranges (`split_reduction`) around a statement. */
static const rd_for *ranges_around(const rd_printing *n, const rd_stmt *s)
{
    int32_t loop = s->parent;

    while (n->t->stmt[loop].kind != RD_S_LOOP || !rd_loop_of(n->t, loop)->split_reduction)
        loop = n->t->stmt[loop].parent;
    return rd_loop_of(n->t, loop);
}

/* Returns the number of binary digits of x: 5 has 3. */
static int32_t bits_of(int64_t x)
{
    int32_t bits = 0;

    for (; x > 0; x /= 2)
        bits++;
    return bits;
}

/* Returns the level of a range (part of a split loop) as a node of the combine tree: a range is
 * 2^level blocks of 64 steps. */
static int32_t level_of(const rd_for *ranges)
{
    return bits_of(ranges->step / RD_TREE_STEPS) - 1;
}

/* ---- STORE_PARTIALS -------------------------------------------------------------------------- */
/* Prints how a range (part of a split loop) stores its partial: its last block of 64 steps ends
 * ("turn0(..);"), then p, the fold of all its blocks, goes to the range's node: "d1_0[(range) * 4 +
 * c] = p0_0[c];". Of a running sum of floats (`hi_lo_sums`) the node is the second word (2 * level
 * + 1) of the range's own level, which the last block of a whole range has made. */
void rd_print_store_scan_partial(rd_printing *n, const rd_stmt *s)
{
    const int32_t partials = s->arg;

    rd_print_open(n, "{");
    declare_nodes(n, s->fold, partials);
    open_cells(n, partials);
    rd_print_end_scan_block(n, s, "c");
    for (int k = 0; k < n_numbers(n, s->fold); k++) {
        rd_text node = { 0 }, word = { 0 }, what = { 0 };

        add_node(n, &node, partials, k, "range");
        if (n->t->fold[s->fold].hi_lo_sums) {
            rd_text_add(&word, "%" PRId32, 2 * level_of(ranges_around(n, s)) + 1);
            add_word(n, &what, s->store, word.at);
        } else
            rd_text_add(&what, "p%" PRId32 "_%d[c]", s->store, k);
        rd_print_line(n, "%s = %s;", node.at, what.at);
        rd_text_end(&node, n->to);
        rd_text_end(&word, n->to);
        rd_text_end(&what, n->to);
    }
    rd_print_close(n);
    rd_print_close(n);
}

/* ---- LOOK_BACK ------------------------------------------------------------------------------- */
/* Prints "for (int level = 3; level >= 0; level--) {": the levels of nodes (partial results in the
 * combine tree) above the ranges (parts of a split loop), the largest nodes first. The highest
 * level is the highest bit that a range's number can have. */
static void open_levels(rd_printing *n, const rd_for *ranges)
{
    rd_text line = { 0 };

    rd_text_add(&line, "for (int level = %" PRId32 "; level >= 0; level--) {",
                bits_of(ranges->extent - 1) - 1);
    rd_print_open(n, line.at);
    rd_text_end(&line, n->to);
}

/* Prints the lookup of a level's node (partial result in the combine tree) for the prefix of
 * `range`. The ranges (parts of a split loop) before it are covered by one node of 2^level
 * ranges for each bit of its number, as 6 = 4 + 2.
 *
 *     if (!(range >> level & 1)) continue;
 *     const int64_t at = rd_nodes_below(n_range, level) + (range >> level) - 1; */
static void find_node_of_level(rd_printing *n)
{
    rd_print_line(n, "if (!(range >> level & 1)) continue;");
    rd_print_line(n, "const int64_t at = rd_nodes_below(%s, level) + (range >> level) - 1;",
                  n->kernel->combine->count);
}

/* Prints how a word of a running sum is set: "w0[(2 * (level + 4)) * 4 + c] = all;". Levels
 * count from single blocks, and ranges (parts of a split loop) are nodes (partial results in the
 * combine tree) of level `first`. `more`: "" for the first word of a level, " + 1" for the
 * second one. */
static void keep_word(rd_printing *n, int32_t store, int32_t first, const char *more,
                      const char *what)
{
    rd_text word = { 0 }, at = { 0 };

    rd_text_add(&word, "2 * (level + %" PRId32 ")%s", first, more);
    add_word(n, &at, store, word.at);
    rd_print_line(n, "%s = %s;", at.at, what);
    rd_text_end(&word, n->to);
    rd_text_end(&at, n->to);
}

/* Prints how the words of a running sum (kernels/math/prefix_sums.h) become what they would be
 * if one thread had come to this range (part of a split loop) block by block. A level's first
 * word is the sum of larger nodes (partial results in the combine tree) before it, its second
 * word its node. Levels below a range have no node yet. */
static void resume_sum(rd_printing *n, const rd_stmt *s)
{
    const rd_for *ranges = ranges_around(n, s);
    const int32_t first = level_of(ranges), second = n->fold[s->fold].emit.n_state;
    rd_text       node = { 0 }, word = { 0 };

    rd_print_line(n, "double all = -0.0;");
    open_levels(n, ranges);
    keep_word(n, s->store, first, "", "all");
    find_node_of_level(n);
    add_node(n, &node, s->arg, /*k=*/0, "at");
    rd_print_line(n, "const double node = %s;", node.at);
    keep_word(n, s->store, first, " + 1", "node");
    rd_print_line(n, "all = all + node;");
    rd_print_close(n);
    add_word(n, &word, s->store, "2 * level");
    rd_print_line(n, "for (int level = 0; level < %" PRId32 "; level++) %s = all;", first, word.at);
    rd_print_line(n, "rd_prefix_sum_%s(all, &p%" PRId32 "_0[c], &p%" PRId32 "_%d[c]);",
                  rd_dtype_class(n->t->p->fold[s->fold].type) == RD_CLASS_f32 ? "f32" : "f64",
                  s->store, s->store, second);
    rd_text_end(&node, n->to);
    rd_text_end(&word, n->to);
}

/* Prints the prefix of a fold that is no running sum of floats: the nodes (partial results in the
 * combine tree) that cover all earlier ranges (parts of a split loop) are merged, the largest, and
 * so the leftmost, first.
 *
 *     if (some) merge0(&p0_0[c], &b0); else { p0_0[c] = b0; } */
static void resume_state(rd_printing *n, const rd_stmt *s)
{
    const rd_emit_fold *f     = &n->fold[s->fold].emit;
    rd_text             nodes = { 0 }, copies = { 0 }, merge = { 0 };

    rd_text_add(&merge, "if (some) merge%" PRId32 "(", s->fold);
    rd_print_state_addresses(&merge, &n->fold[s->fold], 'p', s->store, "c");
    rd_text_add(&merge, ", ");
    rd_add_each(&merge, f, "&b%d");
    for (int k = 0; k < f->n_state; k++) {
        rd_text_add(&nodes, "%s b%d = ", type_of(n, s->fold, k), k);
        add_node(n, &nodes, s->arg, k, "at");
        rd_text_add(&nodes, "; ");
        rd_text_add(&copies, " p%" PRId32 "_%d[c] = b%d;", s->store, k, k);
    }
    rd_print_line(n, "bool some = false;");
    open_levels(n, ranges_around(n, s));
    find_node_of_level(n);
    rd_print_line(n, "%s", nodes.at);
    rd_print_line(n, "%s);", merge.at);
    rd_print_line(n, "else {%s }", copies.at);
    rd_print_line(n, "some = true;");
    rd_print_close(n);
    rd_text_end(&nodes, n->to);
    rd_text_end(&copies, n->to);
    rd_text_end(&merge, n->to);
}

/* Prints how a range (part of a split loop) loads the fold of all earlier ranges from their
 * nodes, for each cell (output element). The first range has nothing before it. */
void rd_print_load_prefix(rd_printing *n, const rd_stmt *s)
{
    rd_print_open(n, "if (range > 0) {");
    declare_nodes(n, s->fold, s->arg);
    open_cells(n, s->arg);
    (n->t->fold[s->fold].hi_lo_sums ? resume_sum : resume_state)(n, s);
    rd_print_close(n);
    rd_print_close(n);
}

/* ---- BUILD_TREE ------------------------------------------------------------------------------ */
/* Prints how a thread makes cell c of node `at` from the two nodes (partial results in the
 * combine tree) of the level below. A running sum of floats (`hi_lo_sums`) adds them, other folds
 * merge.
 *
 *     d1_0[(at) * 4 + c] = a0; */
void rd_print_build_tree(rd_printing *n, const rd_stmt *s)
{
    const int32_t fold = s->fold, partials = s->store;
    rd_text       merge = { 0 };

    declare_nodes(n, fold, partials);
    for (int k = 0; k < n_numbers(n, fold); k++) {
        rd_text a = { 0 }, b = { 0 };

        add_node(n, &a, partials, k, "below");
        add_node(n, &b, partials, k, "below + 1");
        rd_print_line(n, "%s a%d = %s, b%d = %s;", type_of(n, fold, k), k, a.at, k, b.at);
        rd_text_end(&a, n->to);
        rd_text_end(&b, n->to);
    }
    rd_print_merge(&merge, &n->fold[fold].emit, fold, "merge");
    rd_print_line(n, "%s", n->t->fold[fold].hi_lo_sums ? "a0 = a0 + b0;" : merge.at);
    for (int k = 0; k < n_numbers(n, fold); k++) {
        rd_text at = { 0 };

        add_node(n, &at, partials, k, "at");
        rd_print_line(n, "%s = a%d;", at.at, k);
        rd_text_end(&at, n->to);
    }
    rd_text_end(&merge, n->to);
}
