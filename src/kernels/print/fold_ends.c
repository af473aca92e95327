/* fold_ends.c - ends of reductions as text: states of a cell become nodes, one a lane; the nodes
 * of all lanes become one; and that one becomes the cell's results.
 *
 *     merge_tree0(&s0_0[0], tree0, 64, 0, 64, N0, 0);
 *     merge_lanes0(&w9_0[0]);
 *     float r5; finish0(&w9_0[0], &r5);
 *
 * A cell is an accumulator of a fold, and a lane one of its states; elements go to the lanes in
 * turn.  A node is a state without a block at hand.  room > 0: the fold has a combine tree of so
 * many rows.
 *
 * Fields. A fold has `user` if its reducer is the caller's own. n->vector is the vector loop whose
 * body is printed, -1: none. */
#include "kernels/print/print.h"
#include <inttypes.h>
#include <string.h>

/* Declares the nodes (results of finished blocks) of all lanes (partial accumulators) of one
 * accumulator, for MERGE_BLOCKS statement 9: "double w9_0[64] LINES;". */
static void declare_nodes(rd_printing *n, int32_t stmt)
{
    const rd_print_fold *f = &n->fold[n->t->stmt[stmt].fold];

    for (int k = 0; k < f->emit.n_state; k++)
        rd_print_line(n, "%s w%" PRId32 "_%d[%" PRId32 "] LINES;", rd_node_type(&f->emit, k), stmt,
                      k, f->lanes);
}

/* Prints "merge_tree0(&s0_0[0], tree0, 64, 0, 64, N0, 0);": all blocks become one node (result)
 * for each lane, a partial accumulator, in the first row of the combine tree. The last arguments
 * are the number of steps and the first block; if tasks share the fold (split), f0[1] and f0[0]
 * have them. at: the subscript of the first state. */
static void call_merge_tree(rd_printing *n, const rd_stmt *s, const char *at)
{
    rd_text line = { 0 };

    rd_text_add(&line, "merge_tree%" PRId32 "(", s->fold);
    rd_print_block_arguments(n, &line, s, at);
    rd_text_add(&line, ", ");
    if (n->t->fold[s->fold].split)
        rd_text_add(&line, "f%" PRId32 "[1], f%" PRId32 "[0]);", s->fold, s->fold);
    else {
        rd_print_number(n, &line, n->t->fold[s->fold].steps);
        rd_text_add(&line, ", 0);");
    }
    rd_print_line(n, "%s", line.at);
    rd_text_end(&line, n->to);
}

/* Prints the call of merge_tree0(), and the copy of the tree's first row, which holds the nodes
 * (results of all blocks) of the lanes, to w9: "for (int l = 0; l < 64; l++) w9_0[l] =
 * node0_0(tree0, 0, 64)[0 + l];". */
static void nodes_of_tree(rd_printing *n, int32_t stmt, const char *at)
{
    const rd_stmt       *s   = &n->t->stmt[stmt];
    const rd_print_fold *f   = &n->fold[s->fold];
    rd_text              row = { 0 };

    call_merge_tree(n, s, at);
    rd_print_number(n, &row, f->states);
    for (int k = 0; k < f->emit.n_state; k++)
        rd_print_line(n,
                      "for (int l = 0; l < %" PRId32 "; l++) w%" PRId32 "_%d[l] = node%" PRId32
                      "_%d(tree%" PRId32 ", 0, %s)[%s + l];",
                      f->lanes, stmt, k, s->fold, k, s->fold, row.at, at);
    rd_text_end(&row, n->to);
}

/* Prints "lane_nodes0(&s0_0[0], &w9_0[0]);": in a fold of one block the states of all lanes
 * (partial accumulators) become nodes, the results of finished blocks, such as f32 sums in f64.
 * at: the subscript of the first state. */
static void nodes_of_block(rd_printing *n, int32_t stmt, const char *at)
{
    const rd_stmt       *s    = &n->t->stmt[stmt];
    const rd_print_fold *f    = &n->fold[s->fold];
    rd_text              line = { 0 };

    rd_text_add(&line, "lane_nodes%" PRId32 "(", s->fold);
    rd_print_state_addresses(&line, f, 's', rd_states_at(n, s), at);
    rd_text_add(&line, ", ");
    rd_print_state_addresses(&line, f, 'w', stmt, "0");
    rd_print_line(n, "%s);", line.at);
    rd_text_end(&line, n->to);
}

/* Prints one call that makes the nodes (results of finished blocks) of all neighbouring
 * accumulators of a vector loop.
 *
 * With several blocks the nodes are in the first row of the combine tree:
 *
 *     merge_tree0(..); const double *const w9_0 = node0_0(tree0, 0, N0) + m4;
 *
 * With one block they are in arrays:
 *
 *     double w9_0[64] LINES; merge_cells0(&s0_0[m4], &w9_0[0], 1, 64, n4); */
static void nodes_of_cells(rd_printing *n, int32_t stmt, const char *at)
{
    const rd_stmt       *s     = &n->t->stmt[stmt];
    const rd_print_fold *f     = &n->fold[s->fold];
    const rd_tree_array *store = &n->t->store[s->store];
    rd_text              line = { 0 }, row = { 0 };

    if (f->tree_rows) {
        call_merge_tree(n, s, at);
        rd_print_number(n, &row, f->states);
        for (int k = 0; k < f->emit.n_state; k++)
            rd_print_line(n,
                          "const %s *const w%" PRId32 "_%d = node%" PRId32 "_%d(tree%" PRId32
                          ", 0, %s) + %s;",
                          rd_node_type(&f->emit, k), stmt, k, s->fold, k, s->fold, row.at, at);
    } else {
        for (int k = 0; k < f->emit.n_state; k++)
            rd_print_line(n, "%s w%" PRId32 "_%d[%" PRId64 "] LINES;", rd_node_type(&f->emit, k),
                          stmt, k, store->extent);
        rd_text_add(&line, "merge_cells%" PRId32 "(", s->fold);
        rd_print_state_addresses(&line, f, 's', rd_states_at(n, s), at);
        rd_text_add(&line, ", ");
        rd_print_state_addresses(&line, f, 'w', stmt, "0");
        rd_text_add(&line, ", %" PRId32 ", %" PRId64 ", ", f->lanes, store->lane_stride);
        rd_print_count(n, &line, n->vector);
        rd_print_line(n, "%s);", line.at);
    }
    rd_text_end(&line, n->to);
    rd_text_end(&row, n->to);
}

/* Prints how a state in memory becomes a node (result of a block) in a round of a vector loop:
 * "float b9_0[1] = { s0_0[i] }; block0(&b9_0[0]); w9_0[0] = b9_0[0];". block0() works on a copy,
 * because other rounds read and write the neighbours of the state. */
static void node_of_copy(rd_printing *n, int32_t stmt, const char *at)
{
    const rd_stmt       *s    = &n->t->stmt[stmt];
    const rd_print_fold *f    = &n->fold[s->fold];
    rd_text              line = { 0 };

    for (int k = 0; k < f->emit.n_state; k++)
        rd_print_line(n, "%s b%" PRId32 "_%d[1] = { s%" PRId32 "_%d[%s] };",
                      rd_state_type(&f->emit, k), stmt, k, rd_states_at(n, s), k, at);
    rd_text_add(&line, "block%" PRId32 "(", s->fold);
    rd_print_state_addresses(&line, f, 'b', stmt, "0");
    rd_print_line(n, "%s);", line.at);
    for (int k = 0; k < f->emit.n_state; k++)
        rd_print_line(n, "w%" PRId32 "_%d[0] = b%" PRId32 "_%d[0];", stmt, k, stmt, k);
    rd_text_end(&line, n->to);
}

/* Prints how one state in a variable becomes a node, the result of a block: "block0(&s0_0[0]);
 * double w9_0[1] = { s0_0[0] };". */
static void node_of_state(rd_printing *n, int32_t stmt)
{
    const rd_stmt       *s    = &n->t->stmt[stmt];
    const rd_print_fold *f    = &n->fold[s->fold];
    rd_text              line = { 0 };

    rd_text_add(&line, "block%" PRId32 "(", s->fold);
    rd_print_state_addresses(&line, f, 's', rd_states_at(n, s), "0");
    rd_print_line(n, "%s);", line.at);
    for (int k = 0; k < f->emit.n_state; k++)
        rd_print_line(n, "%s w%" PRId32 "_%d[1] = { s%" PRId32 "_%d[0] };",
                      rd_node_type(&f->emit, k), stmt, k, rd_states_at(n, s), k);
    rd_text_end(&line, n->to);
}

/* Prints how the nodes (results of finished blocks) of all lanes, the partial accumulators of a
 * result, come to w9_0. The form depends on where states and nodes lie. In this order: all
 * accumulators of a vector loop by call (n->at_first_element), a state in a variable, a combine
 * tree (room rows), one lane in memory, the lanes of a single block. */
void rd_print_lane_nodes(rd_printing *n, int32_t stmt)
{
    const rd_stmt *s  = &n->t->stmt[stmt];
    rd_text        at = { 0 };

    rd_print_cell_subscript(n, &at, s);
    if (n->at_first_element) {
        nodes_of_cells(n, stmt, at.at);
        rd_text_end(&at, n->to);
        return;
    }
    if (rd_is_one_state(n, s) && !n->fold[s->fold].tree_rows) {
        node_of_state(n, stmt);
        rd_text_end(&at, n->to);
        return;
    }
    declare_nodes(n, stmt);
    if (n->fold[s->fold].tree_rows)
        nodes_of_tree(n, stmt, at.at);
    else if (n->vector >= 0 && n->fold[s->fold].lanes == 1 &&
             n->t->store[s->store].storage != RD_IN_REGISTERS)
        node_of_copy(n, stmt, at.at);
    else
        nodes_of_block(n, stmt, at.at);
    rd_text_end(&at, n->to);
}

/* Returns the nearest MERGE_BLOCKS statement of the fold before this one, in the same body or
 * inside of a statement there; -1 if there is none. Its number is in the names of the nodes,
 * w9_0. */
static int32_t lane_nodes_in(const rd_printing *n, int32_t stmt, int32_t fold)
{

    for (int32_t s = n->t->stmt[stmt].prev; s >= 0; s = n->t->stmt[s].prev)
        for (int32_t k = s; k >= 0; k = rd_next_stmt(n->t, k, s))
            if (n->t->stmt[k].kind == RD_S_MERGE_BLOCKS && n->t->stmt[k].fold == fold)
                return k;
    return -1;
}

/* Returns the MERGE_BLOCKS statement that makes the nodes of the statement's fold, before it in
 * the same body, or else before the vector loop that holds it. */
static int32_t lane_nodes_before(const rd_printing *n, int32_t stmt)
{
    const int32_t nodes = lane_nodes_in(n, stmt, n->t->stmt[stmt].fold);

    return nodes >= 0 ? nodes : lane_nodes_in(n, n->t->stmt[stmt].parent, n->t->stmt[stmt].fold);
}

/* Prints "merge_lanes0(&w9_0[0]);": the nodes (results of blocks) of all lanes, the partial
 * accumulators of a result, become one. In a vector loop by call (n->at_first_element)
 * merge_cells0() has done so already. */
void rd_print_merge_lanes(rd_printing *n, int32_t stmt)
{
    const rd_stmt *s    = &n->t->stmt[stmt];
    rd_text        line = { 0 };

    if (n->at_first_element)
        return;
    rd_text_add(&line, "merge_lanes%" PRId32 "(", s->fold);
    rd_print_state_addresses(&line, &n->fold[s->fold], 'w', lane_nodes_before(n, stmt), "0");
    rd_print_line(n, "%s);", line.at);
    rd_text_end(&line, n->to);
}

/* Prints "float r5; finish0(&w9_0[0], &r5);": the node (merged state) of an accumulator becomes its
 * results, values from s->value on. If another vector loop made the nodes, w9_0 has a node for each
 * round i. Results of another type than the fold's, but for int64_t places, have no text: n->why
 * says so. */
void rd_print_finish(rd_printing *n, int32_t stmt)
{
    const rd_stmt *s    = &n->t->stmt[stmt];
    const rd_fold *f    = &n->t->p->fold[s->fold];
    rd_text        line = { 0 };

    if (f->out != f->type && !f->user && strcmp(rd_result_type(f), "int64_t") != 0)
        n->why = "a result of another type than its fold's";
    rd_print_results(&line, s, f);
    rd_text_add(&line, " finish%" PRId32 "(", s->fold);
    rd_print_state_addresses(&line, &n->fold[s->fold], 'w', lane_nodes_before(n, stmt),
                             n->t->stmt[lane_nodes_before(n, stmt)].parent != s->parent ? "i"
                                                                                        : "0");
    for (int32_t k = 0; k < f->n_out; k++)
        rd_text_add(&line, ", &r%" PRId32, s->value + k);
    rd_print_line(n, "%s);", line.at + 1);
    rd_text_end(&line, n->to);
}
