/* lanes.c - functions of the text that make one node of those of a cell's lanes:
 *
 *     static inline void merge_lanes0(double *w0)
 *     {
 *         INDEPENDENT for (int l = 0; l < 32; l++) merge0(&w0[l], &w0[l + 32]);
 *         INDEPENDENT for (int l = 0; l < 16; l++) merge0(&w0[l], &w0[l + 16]);
 *         .. }
 *
 * The order in which lanes merge decides bits: program.h says that halves merge.
 *
 * A cell is an accumulator of a fold; it has a state for each lane, and elements go to the lanes in
 * turn.  A node is the state of a block that has ended.  f->lanes are the lanes that can have
 * elements, of->lanes all of them. */
#include "kernels/print/fold_functions.h"
#include <stdio.h>

/* Adds the merge of lanes (partial accumulators of one result) in halves, for each half from
 * of->lanes / 2 down to 1:
 *
 *     INDEPENDENT for (int l = 0; l < 32; l++) merge0(&w0[l], &w0[l + 32]);
 *
 * Lanes behind f->lanes can have no element and are left out: `lanes` is the number that are left
 * to merge. function: what takes two lanes, "merge", "pick" or "add". name: "w" or "t", the arrays
 * of states. */
static void add_halving(rd_text *to, const rd_print_fold *f, int number, const char *function,
                        char name)
{
    for (int half = f->emit.fold->lanes / 2, lanes = f->lanes; half > 0; half /= 2) {
        if (lanes <= half)
            continue;
        rd_text_add(to, "    INDEPENDENT for (int l = 0; l < %d; l++) %s%d(", lanes - half,
                    function, number);
        for (int k = 0; k < f->emit.n_state; k++)
            rd_text_add(to, "&%c%d[l], ", name, k);
        for (int k = 0; k < f->emit.n_state; k++)
            rd_text_add(to, "%s&%c%d[l + %d]", k ? ", " : "", name, k, half);
        rd_text_add(to, ");\n");
        lanes = half;
    }
}

/* Adds the merge of lanes (partial accumulators) of logsumexp, which are pairs of a scale m and a
 * sum of exp(x - m). The lane of the greatest scale is picked into t; one call takes the
 * exponentials of the differences of scales; each sum is multiplied by its own, and the sums add
 * up:
 *
 *     e[l] = apart0(&w0[l], &w1[l], t0, t1); rd_exp_strip_f32(e, 32); align0(..); add0(..);
 *
 * pick0() keeps the pair of the greater scale, apart0() is the difference of scales, and align0()
 * multiplies the sum. */
static void add_scaled_lanes(rd_text *to, const rd_print_fold *f, int number)
{
    const int whole = (f->lanes + 15) / 16 * 16; /* lanes, as whole vectors of any width */

    for (int k = 0; k < f->emit.n_state; k++)
        rd_text_add(to, "    %s t%d[%d] LINES;\n", rd_node_type(&f->emit, k), k, f->lanes);
    rd_text_add(to, "    INDEPENDENT for (int l = 0; l < %d; l++) {", f->lanes);
    for (int k = 0; k < f->emit.n_state; k++)
        rd_text_add(to, " t%d[l] = w%d[l];", k, k);
    rd_text_add(to, " }\n");
    add_halving(to, f, number, "pick", 't');
    rd_text_add(to,
                "    %s e[%d] LINES = { 0 };\n"
                "    INDEPENDENT for (int l = 0; l < %d; l++) e[l] = apart%d(",
                rd_node_type(&f->emit, /*k=*/0), whole, f->lanes, number);
    rd_add_each(to, &f->emit, "&w%d[l]");
    rd_text_add(to, ", ");
    rd_add_each(to, &f->emit, "t%d");
    rd_text_add(to, ");\n    rd_exp_strip_%s(e, %d);\n", rd_state_elem(&f->emit), f->lanes);
    rd_text_add(to, "    INDEPENDENT for (int l = 0; l < %d; l++) align%d(", f->lanes, number);
    rd_add_each(to, &f->emit, "&w%d[l]");
    rd_text_add(to, ", ");
    rd_add_each(to, &f->emit, "t%d");
    rd_text_add(to, ", e[l]);\n");
    add_halving(to, f, number, "add", 'w');
}

/* Adds "static inline void merge_lanes0(double *w0) { .. }": the nodes (results of finished
 * blocks) of all lanes of one accumulator become one node, in w0[0]. */
static void add_merge_lanes(rd_text *to, const rd_print_fold *f, int number)
{
    rd_text_add(to, "static inline void merge_lanes%d(", number);
    rd_add_parameters(to, &f->emit, /*nodes=*/true, "", 'w');
    rd_text_add(to, ")\n{\n");
    if (rd_aligns_lanes(&f->emit))
        add_scaled_lanes(to, f, number);
    else
        add_halving(to, f, number, "merge", 'w');
    rd_text_add(to, "}\n");
}

/* Adds the merge of the lanes of logsumexp for n neighbouring accumulators. The lanes of
 * accumulator c lie `stride` apart in w; they are collected into t, where lanes behind the last
 * one are identities, and merge_lanes0() merges t to w[c]. */
static void add_scaled_cells(rd_text *to, const rd_print_fold *f, int number)
{
    rd_text_add(to, "    for (int64_t c = 0; c < n; c++) {\n");
    for (int k = 0; k < f->emit.n_state; k++)
        rd_text_add(to, "        %s t%d[%d] LINES;\n", rd_node_type(&f->emit, k), k, f->lanes);
    rd_text_add(to, "        for (int l = 0; l < %d; l++) {\n            begin%d(", f->lanes,
                number);
    rd_add_each(to, &f->emit, "&t%d[l]");
    rd_text_add(to, ");\n            if (l >= lanes) continue;\n");
    for (int k = 0; k < f->emit.n_state; k++)
        rd_text_add(to, "            t%d[l] = w%d[l * stride + c];\n", k, k);
    rd_text_add(to, "        }\n        merge_lanes%d(", number);
    rd_add_each(to, &f->emit, "t%d");
    rd_text_add(to, ");\n");
    for (int k = 0; k < f->emit.n_state; k++)
        rd_text_add(to, "        w%d[c] = t%d[0];\n", k, k);
    rd_text_add(to, "    }\n");
}

/* Adds the loop that turns `count` states of open blocks into nodes, the results of finished
 * blocks, such as f32 sums into f64: "INDEPENDENT for (..; l < 64; ..) { block0(&s0[l]); w0[l] =
 * s0[l]; }". */
static void add_block_loop(rd_text *to, const rd_print_fold *f, int number, const char *count)
{
    rd_text_add(to, "    INDEPENDENT for (int64_t l = 0; l < %s; l++) {\n        block%d(", count,
                number);
    rd_add_each(to, &f->emit, "&s%d[l]");
    rd_text_add(to, ");\n");
    for (int k = 0; k < f->emit.n_state; k++)
        rd_text_add(to, "        w%d[l] = s%d[l];\n", k, k);
    rd_text_add(to, "    }\n");
}

/* Adds "static inline void lane_nodes0(states, nodes)": in a fold of one block, the states of
 * all lanes (partial accumulators) become nodes, the results of finished blocks. */
static void add_lane_nodes(rd_text *to, const rd_print_fold *f, int number)
{
    char count[20];

    snprintf(count, sizeof count, "%d", f->lanes);
    rd_text_add(to, "static inline void lane_nodes%d(", number);
    rd_add_parameters(to, &f->emit, /*nodes=*/false, "", 's');
    rd_text_add(to, ", ");
    rd_add_parameters(to, &f->emit, /*nodes=*/true, "", 'w');
    rd_text_add(to, ")\n{\n");
    add_block_loop(to, f, number, count);
    rd_text_add(to, "}\n");
}

/* Adds "static inline void merge_cells0(states, nodes, lanes, stride, n)" for n neighbouring
 * accumulators. Their states become nodes (results of finished blocks), and the nodes of all
 * lanes become one, in w[0 .. n-1]. Lane k of accumulator c lies at k * stride + c. */
static void add_merge_cells(rd_text *to, const rd_print_fold *f, int number)
{
    rd_text_add(to, "static inline void merge_cells%d(", number);
    rd_add_parameters(to, &f->emit, /*nodes=*/false, "", 's');
    rd_text_add(to, ", ");
    rd_add_parameters(to, &f->emit, /*nodes=*/true, "", 'w');
    rd_text_add(to, ", int lanes, int64_t stride, int64_t n)\n{\n");
    add_block_loop(to, f, number, "(lanes - 1) * stride + n");
    if (rd_aligns_lanes(&f->emit)) {
        add_scaled_cells(to, f, number);
        rd_text_add(to, "}\n");
        return;
    }
    rd_text_add(to,
                "    for (int half = %d; half > 0; half /= 2)\n"
                "        for (int lane = 0; lane < half && lane + half < lanes; lane++)\n"
                "            INDEPENDENT for (int64_t l = 0; l < n; l++) ",
                f->emit.fold->lanes / 2);
    rd_text_add(to, "merge%d(", number);
    rd_add_each(to, &f->emit, "&w%d[lane * stride + l]");
    rd_text_add(to, ", ");
    rd_add_each(to, &f->emit, "&w%d[(lane + half) * stride + l]");
    rd_text_add(to, ");\n}\n");
}

/* Prints those of the three functions of lanes (partial accumulators) that `which` names by bits
 * RD_PRINT_.. number: the fold's, with which their names end. */
void rd_print_lane_functions(rd_text *to, const rd_print_fold *f, int number, uint32_t which)
{
    if (which & RD_PRINT_MERGE_LANES)
        add_merge_lanes(to, f, number);
    if (which & RD_PRINT_LANE_NODES)
        add_lane_nodes(to, f, number);
    if (which & RD_PRINT_MERGE_CELLS)
        add_merge_cells(to, f, number);
}
