/* finish_text.c - ends of folds in a kernel: the states of all lanes are merged into one, and its
 * results are computed.  Threads that have the lanes of a cell exchange them through shared
 * memory; else one thread has all lanes of the cell:
 *
 *     for (int l = 0; l < 4; l++) { ... y0[l] = x0; }
 *     for (int half = 2; half > 0; half /= 2)
 *         for (int l = 0; l < half; l++) merge0(&y0[l], &y0[l + half]);
 *     finish0(y0, &r1);
 *
 * A cell is an accumulator of a fold; it has a state for each lane, and elements go to the lanes in
 * turn.  A node is the state of an ended block; a partial is the node that one range of a split
 * loop leaves.  per_thread is the number of lanes that each thread of a team has; 0: one thread has
 * all. */
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>
#include <stdio.h>

/* Returns the lane (one of a cell's partial accumulators, to which elements go in turn) that is
 * the thread's l-th one. Thread t has adjacent lanes, "(4 * t + l)"; or, if a thread takes
 * single elements (width 1), lanes that lie a team apart, "(RD_TEAM * l + t)". The text is
 * written to `to`. */
static const char *lane_of(const rd_printing *n, int32_t store, char to[32])
{
    const int32_t lanes = n->t->store[store].per_thread;

    if (n->kernel->width == 1)
        snprintf(to, 32, lanes > 1 ? "(RD_TEAM * l + t)" : "t");
    else
        snprintf(to, 32, "(%" PRId32 " * t + l)", lanes);
    return to;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */
/* Prints how the open block of a lane (partial accumulator) becomes a node x, by block0() on a
 * copy of its state: "{ float a0 = s0_0[l]; block0(&a0); x0 = a0; }". A block is 64 steps of a
 * fold, a leaf of the combine tree; `at`: the subscript of the state (accumulator). */
static void print_last_block(rd_printing *n, const rd_stmt *s, const char *at)
{
    const rd_emit_fold *f    = &n->fold[s->fold].emit;
    rd_text             line = { 0 }, states = { 0 };

    rd_text_add(&line, "{");
    for (int k = 0; k < f->n_state; k++)
        rd_text_add(&line, " %s a%d = s%" PRId32 "_%d[%s];", rd_state_type(f, k), k, s->store, k,
                    at);
    rd_add_each(&states, f, "&a%d");
    rd_text_add(&line, " block%" PRId32 "(%s);", s->fold, states.at);
    for (int k = 0; k < f->n_state; k++)
        rd_text_add(&line, " x%d = a%d;", k, k);
    rd_print_line(n, "%s }", line.at);
    rd_text_end(&line, n->to);
    rd_text_end(&states, n->to);
}

/* Prints how the nodes (partial results in the combine tree) of a lane's earlier blocks are merged
 * into x from the right, the last row first: "while (rows-- > 0) under0(&x0, w0_0[rows * 4 +
 * at]);". A row of w has a node for each lane (partial accumulator) of each cell. The number of
 * rows follows from the blocks that the lane's `owner`, a thread, has counted. rd_nodes(0, b) is
 * how many nodes the first b blocks have left. */
static void print_rows(rd_printing *n, const rd_stmt *s, const char *at, const char *lane)
{
    const rd_emit_fold *f     = &n->fold[s->fold].emit;
    const int64_t       pitch = rd_cells_in_array(n, s->store) * rd_lanes_in_array(n, s->store);
    rd_text             line = { 0 }, counter = { 0 };

    const int32_t width = n->kernel->width;
    char          owner[48];

    snprintf(owner, sizeof owner, width > 1 ? "%s / %" PRId32 : "%s %% %" PRId32, lane,
             width > 1 ? width : n->kernel->team);
    rd_print_block_counter_of(n, &counter, s, owner);
    rd_print_line(n, "int64_t rows = rd_nodes(0, %s);", counter.at);
    rd_text_add(&line, "while (rows-- > 0) under%" PRId32 "(", s->fold);
    rd_add_each(&line, f, "&x%d");
    for (int k = 0; k < f->n_state; k++)
        rd_text_add(&line, ", w%" PRId32 "_%d[rows * %" PRId64 " + %s]", s->store, k, pitch, at);
    rd_print_line(n, "%s);", line.at);
    rd_text_end(&line, n->to);
    rd_text_end(&counter, n->to);
}

/* Adds the subscript of the cell's first lane in a row of partials: "(int64_t)(i0) * 16". A cell
 * is an output element with its accumulators; `fold_at.state_offset` is added for states of a
 * neighbour in a coarsened item. */
static void add_cell(rd_printing *n, rd_text *to, const rd_stmt *s)
{
    rd_text_add(to, "(int64_t)(");
    rd_print_linear(n, to, &s->fold_at.cell);
    rd_text_add(to, ") * %" PRId64, n->t->store[s->store].cell_stride);
    if (s->fold_at.state_offset.n || s->fold_at.state_offset.offset) {
        rd_text_add(to, " + ");
        rd_print_linear(n, to, &s->fold_at.state_offset);
    }
}

/* Prints x0, x1 ..: the node (partial result in the combine tree) of all that a lane (partial
 * accumulator) has met. In a block tile the backend gives the combined partial. States in
 * RD_IN_DEVICE are partials of ranges, which are combined here. Else it is the node of the open
 * block, merged with those of earlier blocks. `lane` is the lane's name in the text, "l"; where
 * threads have lanes of their own (per_thread > 0) and partials are meant, the thread's l-th lane
 * is named. combine->of is the backend's own data, which it gets back. */
static void print_node(rd_printing *n, const rd_stmt *s, const char *lane)
{
    const rd_emit_fold *f  = &n->fold[s->fold].emit;
    rd_text             at = { 0 };

    for (int k = 0; k < f->n_state; k++)
        rd_print_line(n, "%s x%d;", rd_node_type(f, k), k);
    if (n->kernel->block_tiles) {
        char ours[32];

        n->kernel->combine->node(n->kernel->combine->of, n, s->fold,
                                 n->t->store[s->store].per_thread ? lane_of(n, s->store, ours)
                                                                  : lane);
        return;
    }
    if (n->t->store[s->store].storage == RD_IN_DEVICE) {
        char ours[32];

        add_cell(n, &at, s);
        rd_text_add(&at, " + %s",
                    n->t->store[s->store].per_thread && !rd_has_lanes_in_team(n, s->fold)
                        ? lane_of(n, s->store, ours)
                        : lane);
        rd_print_combined_node(n, s, at.at);
        rd_text_end(&at, n->to);
        return;
    }
    rd_print_first_state(n, &at, s);
    rd_text_add(&at, " + %s", lane);
    print_last_block(n, s, at.at);
    if (rd_has_tree(n, s->fold))
        print_rows(n, s, at.at, lane);
    rd_text_end(&at, n->to);
}

/* ---- Words of shared memory ------------------------------------------------------------------ */
/* Adds the word of shared memory with number k of a lane's state, which is n_state numbers:
 * "words[z + 1 * 16 + l]". z is where the team's words begin; a number of a state has a word for
 * each lane (partial accumulator). */
static void add_word(rd_text *to, const rd_emit_fold *f, int k, const char *lane)
{
    rd_text_add(to, "words[z + %d * %" PRId32 " + %s]", k, f->fold->lanes, lane);
}

/* Adds loads of the n_state numbers of a lane's state from shared memory to variables a0, a1 ..
 * (by `name`): " float a0 = rd_float_of(words[..]);". `from`: the first number's place, as two
 * states can lie behind each other. */
static void load_words(rd_text *to, const rd_emit_fold *f, char name, int from, const char *lane)
{
    for (int k = 0; k < f->n_state; k++) {
        rd_text_add(to, " %s %c%d = rd_%s_of(", rd_node_type(f, k), name, k, rd_node_type(f, k));
        add_word(to, f, from + k, lane);
        rd_text_add(to, ");");
    }
}

/* Adds stores of the n_state numbers of a lane's state (variables a0, a1 .., by `name`) to
 * shared memory: " words[..] = rd_word_of_float(a0);". `from`: the first number's place. */
static void store_words(rd_text *to, const rd_emit_fold *f, char name, int from, const char *lane)
{
    for (int k = 0; k < f->n_state; k++) {
        rd_text_add(to, " ");
        add_word(to, f, from + k, lane);
        rd_text_add(to, " = rd_word_of_%s(%c%d);", rd_node_type(f, k), name, k);
    }
}

/* Prints a tree reduction over the lanes (partial accumulators) in shared memory, by the team's
 * threads: lane l takes lane l + half, for half = lanes/2 .. 1. `function` merges two states;
 * `from`: the first number's place.
 *
 *     for (int half = 8; half > 0; half /= 2) {
 *         for (int l = t; l < half; l += RD_TEAM) {.. merge0(..); ..} RD_SYNC_TEAM } */
static void merge_by_team(rd_printing *n, const rd_stmt *s, const char *function, int from)
{
    const rd_emit_fold *f    = &n->fold[s->fold].emit;
    rd_text             line = { 0 };

    load_words(&line, f, 'a', from, "l");
    load_words(&line, f, 'b', from, "l + half");
    rd_text_add(&line, " ");
    rd_print_merge(&line, f, s->fold, function);
    store_words(&line, f, 'a', from, "l");
    rd_print_line(
        n,
        "for (int half = %" PRId32
        "; half > 0; half /= 2) { for (int l = t; l < half; l += RD_TEAM) {%s } RD_SYNC_TEAM }",
        f->fold->lanes / 2, line.at);
    rd_text_end(&line, n->to);
}

/* Adds "align0(state, reference, exp(distance between their exponents));", which scales a state
 * (accumulator) to the exponent of the reference. `lane` and `one` are formats for the variables
 * of both. */
static void add_align(rd_text *to, const rd_emit_fold *f, int32_t number, const char *lane,
                      const char *one)
{
    rd_text_add(to, " align%" PRId32 "(", number);
    rd_add_each(to, f, lane);
    rd_text_add(to, ", ");
    rd_add_each(to, f, one);
    rd_text_add(to, ", rd_math_exp_%s(apart%" PRId32 "(", rd_state_elem(f), number);
    rd_add_each(to, f, lane);
    rd_text_add(to, ", ");
    rd_add_each(to, f, one);
    rd_text_add(to, ")));");
}

/* Prints the merge of lanes (partial accumulators) whose states (accumulators) share an
 * exponent, as of a log-sum-exp. The team picks the state of greatest exponent (from a second
 * copy of all states), scales all lanes to it, and adds them. */
static void align_by_team(rd_printing *n, const rd_stmt *s)
{
    const rd_emit_fold *f    = &n->fold[s->fold].emit;
    rd_text             line = { 0 };

    merge_by_team(n, s, "pick", f->n_state);
    rd_text_add(&line, "for (int l = t; l < %" PRId32 "; l += RD_TEAM) {", f->fold->lanes);
    load_words(&line, f, 'a', /*from=*/0, "l");
    load_words(&line, f, 'b', f->n_state, "0");
    add_align(&line, f, s->fold, "&a%d", "&b%d");
    store_words(&line, f, 'a', /*from=*/0, "l");
    rd_print_line(n, "%s } RD_SYNC_TEAM", line.at);
    rd_text_end(&line, n->to);
    merge_by_team(n, s, "add", /*from=*/0);
}

/* ---- Results --------------------------------------------------------------------------------- */
/* Prints "finish0(nodes, &r1);", which computes the results of a cell (output element) from its
 * merged state. `format` names the variables of the state by their number: "&x%d". */
static void finish(rd_printing *n, const rd_stmt *s, const char *format)
{
    const rd_emit_fold *f    = &n->fold[s->fold].emit;
    rd_text             line = { 0 };

    rd_add_each(&line, f, format);
    for (int32_t k = 0; k < f->fold->n_out; k++)
        rd_text_add(&line, ", &r%" PRId32, s->value + k);
    rd_print_line(n, "finish%" PRId32 "(%s);", s->fold, line.at);
    rd_text_end(&line, n->to);
}

/* Prints the end of a fold whose lanes (partial accumulators) are distributed over the team's
 * threads. Each thread stores its lanes' nodes to shared memory; the team merges them there;
 * then all threads load the merged state (accumulator) and compute the results. */
static void finish_by_team(rd_printing *n, const rd_stmt *s)
{
    const rd_emit_fold *f = &n->fold[s->fold].emit;
    char                ours[32];
    const char         *lane = lane_of(n, s->store, ours);
    rd_text             line = { 0 };

    rd_print_line(n, "RD_UNROLL for (int l = 0; l < %" PRId32 "; l++) {",
                  rd_lanes_in_array(n, s->store));
    n->indent++;
    print_node(n, s, "l");
    store_words(&line, f, 'x', /*from=*/0, lane);
    if (rd_aligns_lanes(f))
        store_words(&line, f, 'x', f->n_state, lane);
    rd_print_line(n, "%s", line.at + 1);
    rd_text_end(&line, n->to);
    n->indent--;
    rd_print_line(n, "}");
    rd_print_line(n, "RD_SYNC_TEAM");
    if (rd_aligns_lanes(f))
        align_by_team(n, s);
    else
        merge_by_team(n, s, "merge", /*from=*/0);
    load_words(&line, f, 'x', /*from=*/0, "0");
    rd_print_line(n, "%s", line.at + 1);
    rd_text_end(&line, n->to);
    finish(n, s, "&x%d");
    rd_print_line(n, "RD_SYNC_TEAM");
}

/* Prints a tree reduction over lanes (partial accumulators) that one thread has in arrays y0, y1
 * .. (by `name`): "for half: for l: merge0(&y0[l], &y0[l + half]);". */
static void merge_lanes(rd_printing *n, const rd_stmt *s, const char *function, char name)
{
    const rd_emit_fold *f    = &n->fold[s->fold].emit;
    rd_text             line = { 0 };

    for (int k = 0; k < f->n_state; k++)
        rd_text_add(&line, "&%c%d[l], ", name, k);
    for (int k = 0; k < f->n_state; k++)
        rd_text_add(&line, "%s&%c%d[l + half]", k ? ", " : "", name, k);
    rd_print_line(n,
                  "for (int half = %" PRId32
                  "; half > 0; half /= 2) for (int l = 0; l < half; l++) %s%" PRId32 "(%s);",
                  f->fold->lanes / 2, function, s->fold, line.at);
    rd_text_end(&line, n->to);
}

/* Prints the merge of lanes (partial accumulators) whose states (accumulators) share an
 * exponent, by one thread. g, a copy of all states, is reduced to the one of greatest exponent;
 * y is scaled to that and added.
 *
 *     float g0[16]; .. pick0(..); align0(..); add0(..); */
static void align_alone(rd_printing *n, const rd_stmt *s)
{
    const rd_emit_fold *f     = &n->fold[s->fold].emit;
    const int32_t       lanes = f->fold->lanes;
    rd_text             line  = { 0 };

    for (int k = 0; k < f->n_state; k++)
        rd_print_line(n,
                      "%s g%d[%" PRId32 "]; for (int l = 0; l < %" PRId32 "; l++) g%d[l] = y%d[l];",
                      rd_node_type(f, k), k, lanes, lanes, k, k);
    merge_lanes(n, s, "pick", 'g');
    rd_text_add(&line, "for (int l = 0; l < %" PRId32 "; l++)", lanes);
    add_align(&line, f, s->fold, "&y%d[l]", "g%d");
    rd_print_line(n, "%s", line.at);
    rd_text_end(&line, n->to);
    merge_lanes(n, s, "add", 'y');
}

/* Prints the end of a fold if one thread has all lanes of a cell (its partial accumulators):
 * their nodes go to arrays y, and are merged there. A fold of one lane needs no merge. */
static void finish_alone(rd_printing *n, const rd_stmt *s)
{
    const rd_emit_fold *f     = &n->fold[s->fold].emit;
    const int32_t       lanes = f->fold->lanes;

    if (lanes == 1) {
        print_node(n, s, "0");
        finish(n, s, "&x%d");
        return;
    }
    for (int k = 0; k < f->n_state; k++)
        rd_print_line(n, "%s y%d[%" PRId32 "];", rd_node_type(f, k), k, lanes);
    rd_print_line(n, "for (int l = 0; l < %" PRId32 "; l++) {", lanes);
    n->indent++;
    print_node(n, s, "l");
    for (int k = 0; k < f->n_state; k++)
        rd_print_line(n, "y%d[l] = x%d;", k, k);
    n->indent--;
    rd_print_line(n, "}");
    if (rd_aligns_lanes(f))
        align_alone(n, s);
    else
        merge_lanes(n, s, "merge", 'y');
    finish(n, s, "y%d");
}

/* Prints the end of a fold, and before it the declaration of its results:
 *
 *     float r1; { .. finish0(&x0, &r1); }
 *
 * Lanes that are distributed over threads, and not all in the team's memory, are merged by the
 * team; else one thread sees all lanes (partial accumulators). States in the team's memory need
 * a barrier first, as other threads may have written them. */
void rd_print_thread_finish(rd_printing *n, const rd_stmt *s)
{
    rd_text line = { 0 };

    rd_print_results(&line, s, n->fold[s->fold].emit.fold);
    rd_print_line(n, "%s", line.at + 1);
    rd_text_end(&line, n->to);
    rd_print_line(n, "{");
    n->indent++;
    if (n->t->store[s->store].storage == RD_IN_TEAM && !n->kernel->per_thread)
        rd_print_line(n, "RD_SYNC_TEAM");
    if (n->t->store[s->store].per_thread && !rd_has_lanes_in_team(n, s->store) &&
        !rd_has_lanes_in_team(n, s->fold))
        finish_by_team(n, s);
    else
        finish_alone(n, s);
    n->indent--;
    rd_print_line(n, "}");
}
