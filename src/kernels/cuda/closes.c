/* closes.c - ends of folds: what their lanes come to becomes results.  Threads that have the lanes
 * of a fold exchange them through shared memory; else one thread has all lanes of a cell. */
#include "kernels/cuda/text.h"
#include <inttypes.h>
#include <stdio.h>

/* Is what its lanes come to exchanged by the threads of a team? */
static bool is_exchanged(const rd_cuda_fold *f)
{
    return f->lanes && !f->cells;
}

int32_t rd_cuda_shared_words(const rd_cuda_shape *s)
{
    int32_t most = 0;

    for (int32_t k = 0; k < s->p->n_fold; k++) {
        const rd_cuda_fold *f = &s->fold[k];
        const int32_t words = f->of.fold->lanes * f->of.n_state * (rd_goes_by_lane(&f->of) ? 2 : 1);

        if (is_exchanged(f) && words > most)
            most = words;
    }
    return most;
}

/* "under0(&x0, w0_0[..]);" for each row of nodes on the left: of all ranges' rows, or of the
 * thread's or the team's arrays.  `at`: the lane's place in a row. */
static void meet_rows(rd_cuda_text *t, const rd_cuda_fold *f, const char *at, int64_t pitch)
{
    const int32_t number = rd_cuda_fold_number(t->s, f);
    rd_text       line   = { 0 };

    rd_text_add(&line, "while (rows-- > 0) under%" PRId32 "(", number);
    rd_add_each(&line, &f->of, "&x%d");
    for (int k = 0; k < f->of.n_state; k++)
        if (rd_cuda_is_joined(t, f))
            rd_text_add(&line, ", RD_IN_ROW(w%" PRId32 "_%d, rows)[%s]", number, k, at);
        else
            rd_text_add(&line, ", w%" PRId32 "_%d[rows * %" PRId64 " + %s]", number, k, pitch, at);
    rd_cuda_line(t, "%s);", line.at ? line.at : "");
    rd_text_free(&line);
}

/* The node of a lane that ranges have left: the last row, and those on its left. */
static void add_joined_node(rd_cuda_text *t, const rd_cuda_fold *f, const char *lane)
{
    const int32_t number = rd_cuda_fold_number(t->s, f);
    rd_text       at     = { 0 };

    rd_text_add(&at, "c%" PRId32 " * (int64_t)%" PRId32 " + %s", number, f->of.fold->lanes, lane);
    rd_cuda_line(t, "int64_t rows = rd_nodes(0, edge%" PRId32 "(q, q.head.n_range)) - 1;", number);
    for (int k = 0; k < f->of.n_state; k++)
        rd_cuda_line(t, "x%d = RD_IN_ROW(w%" PRId32 "_%d, rows)[%s];", k, number, k,
                     at.at ? at.at : "");
    meet_rows(t, f, at.at ? at.at : "", 0);
    rd_text_free(&at);
}

/* "int64_t rows = rd_nodes(0, b0[c0]);": of the blocks before the one at hand. */
static void declare_number_of_rows(rd_cuda_text *t, const rd_cuda_fold *f, const char *lane)
{
    const int32_t number  = rd_cuda_fold_number(t->s, f);
    rd_text       counter = { 0 };
    char          owner[48];

    snprintf(owner, sizeof owner, t->s->wide > 1 ? "%s / %" PRId32 : "%s %% %" PRId32, lane,
             t->s->wide > 1 ? t->s->wide : t->s->team);
    rd_cuda_add_counter(&counter, f, number, is_exchanged(f) ? "t" : owner);
    rd_cuda_line(t, "int64_t rows = rd_nodes(0, %s);", counter.at ? counter.at : "");
    rd_text_free(&counter);
}

/* The node of the block at hand. */
static void add_last_block(rd_cuda_text *t, const rd_cuda_fold *f, const char *lane)
{
    const int32_t number = rd_cuda_fold_number(t->s, f);
    rd_text       line = { 0 }, states = { 0 };

    rd_text_add(&line, "{");
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(&line, " %s a%d = s%" PRId32 "_%d[c%" PRId32 " * %" PRId32 " + %s];",
                    rd_state_type(&f->of, k), k, number, k, number,
                    f->home == RD_HOME_TEAM ? f->of.fold->lanes : f->here, lane);
    rd_add_each(&states, &f->of, "&a%d");
    rd_text_add(&line, " block%" PRId32 "(%s);", number, states.at ? states.at : "");
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(&line, " x%d = a%d;", k, k);
    rd_cuda_line(t, "%s }", line.at ? line.at : "");
    rd_text_free(&line);
    rd_text_free(&states);
}

/* x0, x1 ..: the node of what a lane has met.  `lane`: which of those in the states' arrays. */
static void add_node(rd_cuda_text *t, const rd_cuda_fold *f, const char *lane)
{
    const bool    team = f->home == RD_HOME_TEAM;
    const int32_t row  = team ? f->of.fold->lanes : f->here;
    char          ours[32];
    /* which lane of the cell */
    const char *global = is_exchanged(f) ? rd_cuda_lane_of(t, f, ours) : lane;
    rd_text     at     = { 0 };

    for (int k = 0; k < f->of.n_state; k++)
        rd_cuda_line(t, "%s x%d;", rd_node_type(&f->of, k), k);
    if (t->s->cross[0] >= 0) {
        rd_cuda_take_met(t, rd_cuda_fold_number(t->s, f), global);
        return;
    }
    if (rd_cuda_is_joined(t, f)) {
        add_joined_node(t, f, global);
        return;
    }
    add_last_block(t, f, lane);
    if (!f->tree)
        return;
    declare_number_of_rows(t, f, lane);
    rd_text_add(&at, "c%" PRId32 " * (int64_t)%" PRId32 " + %s", rd_cuda_fold_number(t->s, f), row,
                team ? global : lane);
    meet_rows(t, f, at.at ? at.at : "", f->n_cell * row);
    rd_text_free(&at);
}

/* " z[...]" of a word of a lane in shared memory. */
static void add_word(rd_text *to, const rd_cuda_fold *f, int k, const char *lane)
{
    rd_text_add(to, "words[z + %d * %" PRId32 " + %s]", k, f->of.fold->lanes, lane);
}

static void take_words(rd_text *to, const rd_cuda_fold *f, char name, int from, const char *lane)
{
    for (int k = 0; k < f->of.n_state; k++) {
        rd_text_add(to, " %s %c%d = rd_%s_of(", rd_node_type(&f->of, k), name, k,
                    rd_node_type(&f->of, k));
        add_word(to, f, from + k, lane);
        rd_text_add(to, ");");
    }
}

static void put_words(rd_text *to, const rd_cuda_fold *f, char name, int from, const char *lane)
{
    for (int k = 0; k < f->of.n_state; k++) {
        rd_text_add(to, " ");
        add_word(to, f, from + k, lane);
        rd_text_add(to, " = rd_word_of_%s(%c%d);", rd_node_type(&f->of, k), name, k);
    }
}

/* Lane l takes lane l + h for h = lanes/2 .. 1, by the team: words from `from` on. */
static void exchange(rd_cuda_text *t, const rd_cuda_fold *f, const char *function, int from)
{
    const int32_t number = rd_cuda_fold_number(t->s, f);
    rd_text       line   = { 0 };

    take_words(&line, f, 'a', from, "l");
    take_words(&line, f, 'b', from, "l + half");
    rd_text_add(&line, " ");
    rd_cuda_add_merge(&line, f, number, function);
    put_words(&line, f, 'a', from, "l");
    rd_cuda_line(t,
                 "for (int half = %" PRId32
                 "; half > 0; half /= 2) { for (int l = t; l < half; l += RD_TEAM) {%s } RD_MEET }",
                 f->of.fold->lanes / 2, line.at ? line.at : "");
    rd_text_free(&line);
}

/* All are scaled to the one that they go by, and add up (RD_LANES_ROW). */
static void align(rd_cuda_text *t, const rd_cuda_fold *f)
{
    const int32_t number = rd_cuda_fold_number(t->s, f);
    const int     n      = f->of.n_state;
    rd_text       line   = { 0 };

    exchange(t, f, "pick", n);
    rd_text_add(&line, "for (int l = t; l < %" PRId32 "; l += RD_TEAM) {", f->of.fold->lanes);
    take_words(&line, f, 'a', 0, "l");
    take_words(&line, f, 'b', n, "0");
    rd_text_add(&line, " align%" PRId32 "(", number);
    rd_add_each(&line, &f->of, "&a%d");
    rd_text_add(&line, ", ");
    rd_add_each(&line, &f->of, "&b%d");
    rd_text_add(&line, ", rd_math_exp_%s(apart%" PRId32 "(", rd_state_elem(&f->of), number);
    rd_add_each(&line, &f->of, "&a%d");
    rd_text_add(&line, ", ");
    rd_add_each(&line, &f->of, "&b%d");
    rd_text_add(&line, ")));");
    put_words(&line, f, 'a', 0, "l");
    rd_cuda_line(t, "%s } RD_MEET", line.at ? line.at : "");
    rd_text_free(&line);
    exchange(t, f, "add", 0);
}

static void declare_results(rd_cuda_text *t, const rd_inst *inst)
{
    const rd_fold *fold = &t->s->p->fold[inst->arg];
    rd_text        line = { 0 };

    for (int32_t k = 0; k < fold->n_out; k++)
        rd_text_add(&line, "%s r%" PRId32 "; ", rd_result_type(fold), inst->dst + k);
    rd_cuda_line(t, "%s", line.at ? line.at : "");
    rd_text_free(&line);
}

/* "finish0(nodes, &r1);" of nodes by a format that takes their number. */
static void finish(rd_cuda_text *t, const rd_inst *inst, const char *format)
{
    const rd_cuda_fold *f    = &t->s->fold[inst->arg];
    rd_text             line = { 0 };

    rd_add_each(&line, &f->of, format);
    for (int32_t k = 0; k < f->of.fold->n_out; k++)
        rd_text_add(&line, ", &r%" PRId32, inst->dst + k);
    rd_cuda_line(t, "finish%" PRId32 "(%s);", inst->arg, line.at ? line.at : "");
    rd_text_free(&line);
}

/* Each thread has two of the lanes, or one: through shared memory. */
static void close_by_team(rd_cuda_text *t, const rd_inst *inst)
{
    const rd_cuda_fold *f = &t->s->fold[inst->arg];
    char                ours[32];
    const char         *lane = rd_cuda_lane_of(t, f, ours);
    rd_text             line = { 0 };

    rd_cuda_line(t, "RD_UNROLL for (int l = 0; l < %" PRId32 "; l++) {", f->here);
    t->indent++;
    add_node(t, f, "l");
    put_words(&line, f, 'x', 0, lane);
    if (rd_goes_by_lane(&f->of))
        put_words(&line, f, 'x', f->of.n_state, lane);
    rd_cuda_line(t, "%s", line.at ? line.at : "");
    rd_text_free(&line);
    t->indent--;
    rd_cuda_line(t, "}");
    rd_cuda_line(t, "RD_MEET");
    if (rd_goes_by_lane(&f->of))
        align(t, f);
    else
        exchange(t, f, "merge", 0);
    take_words(&line, f, 'x', 0, "0");
    rd_cuda_line(t, "%s", line.at ? line.at : "");
    rd_text_free(&line);
    finish(t, inst, "&x%d");
    rd_cuda_line(t, "RD_MEET");
}

/* "for half: for l: merge0(&x0[l], ..)" of all lanes in arrays of the thread. */
static void halve(rd_cuda_text *t, const rd_cuda_fold *f, const char *function, char name)
{
    const int32_t number = rd_cuda_fold_number(t->s, f);
    rd_text       line   = { 0 };

    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(&line, "&%c%d[l], ", name, k);
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(&line, "%s&%c%d[l + half]", k ? ", " : "", name, k);
    rd_cuda_line(t,
                 "for (int half = %" PRId32
                 "; half > 0; half /= 2) for (int l = 0; l < half; l++) %s%" PRId32 "(%s);",
                 f->of.fold->lanes / 2, function, number, line.at ? line.at : "");
    rd_text_free(&line);
}

static void align_alone(rd_cuda_text *t, const rd_cuda_fold *f)
{
    const int32_t number = rd_cuda_fold_number(t->s, f);
    rd_text       line   = { 0 };

    for (int k = 0; k < f->of.n_state; k++)
        rd_cuda_line(t,
                     "%s g%d[%" PRId32 "]; for (int l = 0; l < %" PRId32 "; l++) g%d[l] = y%d[l];",
                     rd_node_type(&f->of, k), k, f->of.fold->lanes, f->of.fold->lanes, k, k);
    halve(t, f, "pick", 'g');
    rd_text_add(&line, "for (int l = 0; l < %" PRId32 "; l++) align%" PRId32 "(", f->of.fold->lanes,
                number);
    rd_add_each(&line, &f->of, "&y%d[l]");
    rd_text_add(&line, ", ");
    rd_add_each(&line, &f->of, "g%d");
    rd_text_add(&line, ", rd_math_exp_%s(apart%" PRId32 "(", rd_state_elem(&f->of), number);
    rd_add_each(&line, &f->of, "&y%d[l]");
    rd_text_add(&line, ", ");
    rd_add_each(&line, &f->of, "g%d");
    rd_cuda_line(t, "%s)));", line.at ? line.at : "");
    rd_text_free(&line);
    halve(t, f, "add", 'y');
}

/* One thread has all lanes. */
static void close_alone(rd_cuda_text *t, const rd_inst *inst)
{
    const rd_cuda_fold *f     = &t->s->fold[inst->arg];
    const int32_t       lanes = f->of.fold->lanes;

    if (lanes == 1) {
        add_node(t, f, "0");
        finish(t, inst, "&x%d");
        return;
    }
    for (int k = 0; k < f->of.n_state; k++)
        rd_cuda_line(t, "%s y%d[%" PRId32 "];", rd_node_type(&f->of, k), k, lanes);
    rd_cuda_line(t, "for (int l = 0; l < %" PRId32 "; l++) {", lanes);
    t->indent++;
    add_node(t, f, "l");
    for (int k = 0; k < f->of.n_state; k++)
        rd_cuda_line(t, "y%d[l] = x%d;", k, k);
    t->indent--;
    rd_cuda_line(t, "}");
    if (rd_goes_by_lane(&f->of))
        align_alone(t, f);
    else
        halve(t, f, "merge", 'y');
    finish(t, inst, "y%d");
}

void rd_cuda_close(rd_cuda_text *t, const rd_inst *inst)
{
    const rd_cuda_fold *f = &t->s->fold[inst->arg];

    declare_results(t, inst);
    rd_cuda_line(t, "{");
    t->indent++;
    if (f->home == RD_HOME_TEAM && t->spread < 0)
        rd_cuda_line(t, "RD_MEET");
    rd_cuda_declare_cell(t, inst->arg);
    if (is_exchanged(f))
        close_by_team(t, inst);
    else
        close_alone(t, inst);
    t->indent--;
    rd_cuda_line(t, "}");
}
