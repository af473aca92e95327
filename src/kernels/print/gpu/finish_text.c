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

/* The lane of the cell (accumulator) that is the thread's l-th one: "(4 * t + l)"; "(RD_TEAM * l +
 * t)" if a thread's elements lie a team apart (width 1). `width`: adjacent elements that a thread
 * takes at once. */
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
/* Prints "{ float a0 = s0_0[l]; block0(&a0); x0 = a0; }": the node of the last block of lane l. */
static void print_last_block(rd_printing *n, const rd_stmt *s, const char *at)
{
    const rd_emit_fold *f    = &n->fold[s->fold].of;
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

/* Prints "while (rows-- > 0) under0(&x0, w0_0[rows * 4 + at]);": the nodes of earlier blocks are
 * merged into x, the last ones first.  The thread that has the lane (partial accumulator) has
 * counted its blocks. */
static void print_rows(rd_printing *n, const rd_stmt *s, const char *at, const char *lane)
{
    const rd_emit_fold *f     = &n->fold[s->fold].of;
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

/* Adds the subscript of the cell's first lane in a row of partials: "(int64_t)(i0) * 16", plus the
 * offset `more` of a neighbour's states. */
static void add_cell(rd_printing *n, rd_text *to, const rd_stmt *s)
{
    rd_text_add(to, "(int64_t)(");
    rd_print_linear(n, to, &s->of.cell);
    rd_text_add(to, ") * %" PRId64, n->t->store[s->store].cell_stride);
    if (s->of.more.n || s->of.more.offset) {
        rd_text_add(to, " + ");
        rd_print_linear(n, to, &s->of.more);
    }
}

/* Prints x0, x1 ..: the node of all that lane `lane` has met: from combined partials in a block
 * tile, or in the device's memory; else from its last block, and the blocks before. Lanes that are
 * divided among threads (per_thread) are named by the thread's own number. */
static void print_node(rd_printing *n, const rd_stmt *s, const char *lane)
{
    const rd_emit_fold *f  = &n->fold[s->fold].of;
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
/* Adds "words[z + 1 * 16 + l]": word k of a lane (partial accumulator) in the team's shared
 * memory. */
static void add_word(rd_text *to, const rd_emit_fold *f, int k, const char *lane)
{
    rd_text_add(to, "words[z + %d * %" PRId32 " + %s]", k, f->fold->lanes, lane);
}

/* Adds the loads of a lane's state from shared memory, from word `from` on: " float a0 =
 * rd_float_of(words[..]);" for each number of the state. */
static void load_words(rd_text *to, const rd_emit_fold *f, char name, int from, const char *lane)
{
    for (int k = 0; k < f->n_state; k++) {
        rd_text_add(to, " %s %c%d = rd_%s_of(", rd_node_type(f, k), name, k, rd_node_type(f, k));
        add_word(to, f, from + k, lane);
        rd_text_add(to, ");");
    }
}

/* Adds the stores of a lane's state to shared memory, from word `from` on: " words[..] =
 * rd_word_of_float(a0);" for each number of the state. */
static void store_words(rd_text *to, const rd_emit_fold *f, char name, int from, const char *lane)
{
    for (int k = 0; k < f->n_state; k++) {
        rd_text_add(to, " ");
        add_word(to, f, from + k, lane);
        rd_text_add(to, " = rd_word_of_%s(%c%d);", rd_node_type(f, k), name, k);
    }
}

/* Prints the tree of merges over lanes (partial accumulators) by the team's threads: lane l takes
 * lane l + half, for half = lanes/2 .. 1. `from`: the first word of a state.
 *
 *     for (int half = 8; half > 0; half /= 2) {
 *         for (int l = t; l < half; l += RD_TEAM) {.. merge0(..); ..} RD_SYNC_TEAM } */
static void merge_by_team(rd_printing *n, const rd_stmt *s, const char *function, int from)
{
    const rd_emit_fold *f    = &n->fold[s->fold].of;
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

/* Adds "align0(states, of one lane, exp(distance between them));" for names by the formats `lane`
 * and `one`. */
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

/* Prints merges of states that share an exponent (RD_LANES_ROW): all lanes (partial accumulators)
 * are scaled to the greatest one, and then added. */
static void align_by_team(rd_printing *n, const rd_stmt *s)
{
    const rd_emit_fold *f    = &n->fold[s->fold].of;
    rd_text             line = { 0 };

    merge_by_team(n, s, "pick", f->n_state);
    rd_text_add(&line, "for (int l = t; l < %" PRId32 "; l += RD_TEAM) {", f->fold->lanes);
    load_words(&line, f, 'a', 0, "l");
    load_words(&line, f, 'b', f->n_state, "0");
    add_align(&line, f, s->fold, "&a%d", "&b%d");
    store_words(&line, f, 'a', 0, "l");
    rd_print_line(n, "%s } RD_SYNC_TEAM", line.at);
    rd_text_end(&line, n->to);
    merge_by_team(n, s, "add", 0);
}

/* ---- Results --------------------------------------------------------------------------------- */
/* Prints "finish0(nodes, &r1);" for nodes (results of blocks) by a format that takes their
 * number. */
static void finish(rd_printing *n, const rd_stmt *s, const char *format)
{
    const rd_emit_fold *f    = &n->fold[s->fold].of;
    rd_text             line = { 0 };

    rd_add_each(&line, f, format);
    for (int32_t k = 0; k < f->fold->n_out; k++)
        rd_text_add(&line, ", &r%" PRId32, s->value + k);
    rd_print_line(n, "finish%" PRId32 "(%s);", s->fold, line.at);
    rd_text_end(&line, n->to);
}

/* Prints the end of a fold with lanes (partial accumulators) that are distributed over the team:
 * through shared memory, from which all threads then load the result. */
static void finish_by_team(rd_printing *n, const rd_stmt *s)
{
    const rd_emit_fold *f = &n->fold[s->fold].of;
    char                ours[32];
    const char         *lane = lane_of(n, s->store, ours);
    rd_text             line = { 0 };

    rd_print_line(n, "RD_UNROLL for (int l = 0; l < %" PRId32 "; l++) {",
                  rd_lanes_in_array(n, s->store));
    n->indent++;
    print_node(n, s, "l");
    store_words(&line, f, 'x', 0, lane);
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
        merge_by_team(n, s, "merge", 0);
    load_words(&line, f, 'x', 0, "0");
    rd_print_line(n, "%s", line.at + 1);
    rd_text_end(&line, n->to);
    finish(n, s, "&x%d");
    rd_print_line(n, "RD_SYNC_TEAM");
}

/* Prints "for half: for l: merge0(&y0[l], &y0[l + half]);" over arrays of one thread, y0 or by
 * another name. */
static void merge_lanes(rd_printing *n, const rd_stmt *s, const char *function, char name)
{
    const rd_emit_fold *f    = &n->fold[s->fold].of;
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

/* Prints merges of states that share an exponent, as align_by_team() does, for one thread:
 *
 *     float g0[16]; .. pick0(..); align0(..); add0(..); */
static void align_alone(rd_printing *n, const rd_stmt *s)
{
    const rd_emit_fold *f     = &n->fold[s->fold].of;
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

/* Prints the end of a fold if one thread has all lanes of a cell (accumulator); a fold of one lane
 * needs no merge. */
static void finish_alone(rd_printing *n, const rd_stmt *s)
{
    const rd_emit_fold *f     = &n->fold[s->fold].of;
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

/* Prints the end of a fold by its team or by one thread, and declares its results before:
 *
 *     float r1; { .. finish0(&x0, &r1); } */
void rd_print_thread_finish(rd_printing *n, const rd_stmt *s)
{
    rd_text line = { 0 };

    rd_print_results(&line, s, n->fold[s->fold].of.fold);
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
