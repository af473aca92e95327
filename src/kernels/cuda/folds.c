/* folds.c - folds in a kernel: states and trees (program.h) of a thread, a team, or a range.
 *
 * Arrays of a fold: s, the states of the blocks at hand, one for each cell and lane; w, the rows of
 * its tree, or the words of a running sum (kernels/math/so_far.h); b, which block each cell is at.
 * A thread that has several lanes of a cell moves them on together.  Lanes that have met no element
 * have identities. */
#include "kernels/cuda/text.h"
#include "core/tree.h"
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>
#include <stdio.h>

void rd_cuda_states(rd_text *to, const rd_cuda_fold *f, int32_t number, const char *name,
                    const char *at)
{
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to, "%s&%s%" PRId32 "_%d[%s]", k ? ", " : "", name, number, k, at);
}

/* ---- Functions ------------------------------------------------------------------------------- */
void rd_cuda_add_merge(rd_text *to, const rd_cuda_fold *f, int32_t number, const char *function)
{
    rd_print_merge(to, &f->of, number, function);
}

void rd_cuda_fold_functions(rd_cuda_text *t, int32_t number)
{
    const rd_cuda_fold *f = &t->s->fold[number];

    if (f->tree)
        rd_print_node_functions(t->to, &f->of, number);
    if (f->cut >= 0)
        rd_cuda_range_functions(t, number);
}

/* ---- Declarations ---------------------------------------------------------------------------- */
int32_t rd_cuda_fold_number(const rd_cuda_shape *s, const rd_cuda_fold *f)
{
    return (int32_t)(f - s->fold);
}

/* Arrays of `count` for each number of a state: in the thread, or from `at` of its home on.  Where
 * the next ones begin. */
static int64_t declare_arrays(rd_cuda_text *t, const rd_cuda_fold *f, const char *name, bool nodes,
                              int64_t count, int n_array, int64_t at)
{
    const int32_t number = rd_cuda_fold_number(t->s, f);

    for (int k = 0; k < n_array; k++) {
        const int   of   = k < f->of.n_state ? k : 0; /* the second word of a running sum */
        const char *type = nodes ? rd_node_type(&f->of, of) : rd_state_type(&f->of, of);

        if (f->home == RD_HOME_LOCAL)
            rd_cuda_line(t, "%s %s%" PRId32 "_%d[%" PRId64 "];", type, name, number, k, count);
        else
            rd_cuda_line(t, "%s *const %s%" PRId32 "_%d = (%s *)(%s + %" PRId64 ");", type, name,
                         number, k, type, f->home == RD_HOME_OWN ? "own" : "ours", at);
        at += rd_cuda_room(count * f->of.bytes);
    }
    return at;
}

bool rd_cuda_is_joined(const rd_cuda_text *t, const rd_cuda_fold *f)
{
    return f->cut >= 0 && (t->part == RD_PART_END || f->cut < t->cut);
}

/* Of eight bytes each. */
static int64_t declare_array(rd_cuda_text *t, const rd_cuda_fold *f, const char *type, char name,
                             int64_t count, int64_t at)
{
    const int32_t number = rd_cuda_fold_number(t->s, f);

    if (f->home == RD_HOME_LOCAL)
        rd_cuda_line(t, "%s %c%" PRId32 "[%" PRId64 "];", type, name, number, count);
    else
        rd_cuda_line(t, "%s *const %c%" PRId32 " = (%s *)(%s + %" PRId64 ");", type, name, number,
                     type, f->home == RD_HOME_OWN ? "own" : "ours", at);
    return at + rd_cuda_room(8 * count);
}

static void declare(rd_cuda_text *t, const rd_cuda_fold *f)
{
    int64_t at = f->at;

    if (rd_cuda_is_joined(t, f)) { /* the rows of all ranges' group */
        char name[16];

        snprintf(name, sizeof name, "w%" PRId32 "_", rd_cuda_fold_number(t->s, f));
        rd_cuda_declare_rows(t, rd_cuda_fold_number(t->s, f), name,
                             "rd_row_of(q.head, (int)q.head.n_level - 1, 0)");
        return;
    }
    at = declare_arrays(t, f, "s", false, f->states, f->of.n_state, at);
    if (f->tree)
        at = declare_arrays(t, f, "w", true, f->room * f->states, f->of.n_state, at);
    if (f->of.fold->scan) {
        at = declare_arrays(t, f, "p", false, f->states, f->of.n_state + f->pair, at);
        if (f->levels)
            at = declare_arrays(t, f, "e", false, f->levels * f->states, f->of.n_state, at);
    }
    if (f->pair)
        at = declare_array(t, f, "double", 'w', f->n_words * f->states, at);
    if (f->tree || f->of.fold->scan)
        declare_array(t, f, "int64_t", 'b', f->n_cell * rd_cuda_counters(f), at);
}

/* ---- Beginnings ------------------------------------------------------------------------------ */
/* "for (int64_t k = 0; k < n; k += 1)": all of an array; a team's, by its threads. */
static void for_each(rd_cuda_text *t, const rd_cuda_fold *f, int64_t n, const char *what)
{
    const bool team  = f->home == RD_HOME_TEAM && t->spread < 0;
    rd_text    count = { 0 };

    rd_cuda_number(t, &count, n);
    rd_cuda_line(t, "%s for (int64_t k = %s; k < %s; k += %s) { %s }",
                 f->home == RD_HOME_LOCAL && n <= t->s->choice.unrolled * f->abreast
                     ? "RD_UNROLL"
                     : "RD_UNROLL_FEW",
                 team ? "t" : "0", count.at ? count.at : "", team ? "RD_TEAM" : "1", what);
    rd_text_free(&count);
}

static void begin_states(rd_cuda_text *t, const rd_cuda_fold *f, const char *name)
{
    const int32_t number = rd_cuda_fold_number(t->s, f);
    rd_text       begin  = { 0 };

    rd_text_add(&begin, "begin%" PRId32 "(", number);
    rd_cuda_states(&begin, f, number, name, "k");
    rd_text_add(&begin, ");");
    if (f->pair && *name == 'p')
        rd_text_add(&begin, " p%" PRId32 "_%d[k] = -0.0F;", number, f->of.n_state);
    for_each(t, f, f->states, begin.at ? begin.at : "");
    if (f->pair && *name == 'p') {
        char words[32];

        snprintf(words, sizeof words, "w%" PRId32 "[k] = -0.0;", number);
        for_each(t, f, f->n_words * f->states, words);
    }
    rd_text_free(&begin);
}

static void begin_blocks(rd_cuda_text *t, const rd_cuda_fold *f)
{
    const int32_t number = rd_cuda_fold_number(t->s, f);
    rd_text       begin  = { 0 };

    rd_text_add(&begin,
                f->cut >= 0 || t->s->scanned ? "b%" PRId32 "[k] = from%" PRId32 ";"
                                             : "b%" PRId32 "[k] = 0;",
                number, number);
    for_each(t, f, f->n_cell * rd_cuda_counters(f), begin.at ? begin.at : "");
    rd_text_free(&begin);
}

void rd_cuda_start(rd_cuda_text *t, int32_t number)
{
    const rd_cuda_fold *f    = &t->s->fold[number];
    const bool          team = f->home == RD_HOME_TEAM && t->spread < 0;

    declare(t, f);
    if (rd_cuda_is_joined(t, f))
        return;
    if (f->cut >= 0)
        rd_cuda_line(t, "const int64_t from%" PRId32 " = edge%" PRId32 "(q, range);", number,
                     number);
    if (t->s->scanned)
        rd_cuda_line(t, "const int64_t from%" PRId32 " = lo / %d;", number, RD_TREE_STEPS);
    if (team)
        rd_cuda_line(t, "RD_MEET");
    begin_states(t, f, "s");
    if (f->of.fold->scan)
        begin_states(t, f, "p");
    if (f->tree || f->of.fold->scan)
        begin_blocks(t, f);
    if (t->part == RD_PART_GO_ON)
        rd_cuda_resume_scan(t, number);
    if (team)
        rd_cuda_line(t, "RD_MEET");
}

/* ---- Elements -------------------------------------------------------------------------------- */
const char *rd_cuda_lane_of(const rd_cuda_text *t, const rd_cuda_fold *f, char to[32])
{
    if (t->s->wide > 1)
        snprintf(to, 32, "(%" PRId32 " * t + l)", t->s->wide);
    else
        snprintf(to, 32, f->of.fold->lanes > t->s->team ? "(RD_TEAM * l + t)" : "t");
    return to;
}

/* Which lane of the cell the element is in, of those in the arrays. */
static void declare_lane(rd_cuda_text *t, const rd_cuda_fold *f)
{
    const int32_t number = rd_cuda_fold_number(t->s, f);
    const int32_t lanes  = f->of.fold->lanes;
    const bool    along  = f->lanes && t->lane;
    rd_text       lane   = rd_cuda_position(t, &f->of.fold->lane);
    char          ours[32];

    if (along && f->home == RD_HOME_TEAM)
        rd_cuda_line(t, "const int64_t l%" PRId32 " = %s;", number, rd_cuda_lane_of(t, f, ours));
    else if (along)
        rd_cuda_line(t, "const int l%" PRId32 " = %s;", number, f->here > 1 ? "l" : "0");
    else if (lanes > 1)
        rd_cuda_line(t, "const int64_t l%" PRId32 " = (%s) %% %" PRId32 ";", number,
                     lane.at ? lane.at : "", lanes);
    rd_text_free(&lane);
}

/* Elements side by side have cells of their own. */
void rd_cuda_declare_cell(rd_cuda_text *t, int32_t number)
{
    const rd_cuda_fold *f    = &t->s->fold[number];
    rd_text             cell = rd_cuda_position(t, &f->of.fold->cell);

    if (t->s->cross[0] >= 0) /* the columns of a thread; of one that ends, nothing is at hand */
        rd_cuda_line(t, "const int c%" PRId32 " = %s;", number,
                     f->lanes || t->part == RD_PART_END ? "0" : "l");
    else if (f->abreast > 1)
        rd_cuda_line(t, "const int c%" PRId32 " = ((int)(%s) * %" PRId32 " + e) * %" PRId32 " + l;",
                     number, cell.at ? cell.at : "", f->abreast, t->s->wide);
    else if (t->s->strip >= 0)
        rd_cuda_line(t, "const int64_t c%" PRId32 " = (%s) * %" PRId32 " + l;", number,
                     cell.at ? cell.at : "", t->s->wide);
    else if (f->n_cell > 1)
        rd_cuda_line(t, "const int64_t c%" PRId32 " = %s;", number, cell.at ? cell.at : "");
    else
        rd_cuda_line(t, "const int c%" PRId32 " = 0;", number);
    rd_text_free(&cell);
}

rd_text rd_cuda_step_of(rd_cuda_text *t, const rd_cuda_fold *f)
{
    const rd_fold *fold  = f->of.fold;
    rd_text        outer = rd_cuda_position(t, &fold->outer);
    rd_text        lane  = rd_cuda_position(t, &fold->lane);
    rd_text        rows = { 0 }, step = { 0 };

    rd_cuda_number(t, &rows, (fold->lane_extent + fold->lanes - 1) / fold->lanes);
    rd_text_add(&step, "(%s) * %s + (%s) / %" PRId32, outer.at ? outer.at : "",
                rows.at ? rows.at : "", lane.at ? lane.at : "", fold->lanes);
    rd_text_free(&outer);
    rd_text_free(&lane);
    rd_text_free(&rows);
    return step;
}

bool rd_cuda_has_moved(const rd_cuda_text *t, int32_t number)
{
    return number < 64 && t->moved >> number & 1;
}

void rd_cuda_declare_place(rd_cuda_text *t, const rd_inst *inst)
{
    const rd_cuda_fold *f = &t->s->fold[inst->arg];

    rd_cuda_declare_cell(t, inst->arg);
    declare_lane(t, f);
    if ((f->tree && !rd_cuda_has_moved(t, inst->arg)) || f->of.fold->scan) {
        rd_text step = rd_cuda_step_of(t, f);

        rd_cuda_line(t, "const int64_t p%" PRId32 " = %s;", inst->arg, step.at ? step.at : "");
        rd_text_free(&step);
    }
}

/* "c0 * 2 + l0": of a state in its array. */
static rd_text state_at(const rd_cuda_text *t, const rd_cuda_fold *f)
{
    const int32_t number = rd_cuda_fold_number(t->s, f);
    const int32_t lanes  = f->home == RD_HOME_TEAM ? f->of.fold->lanes : f->here;
    rd_text       at     = { 0 };

    rd_text_add(&at, f->n_cell > 1 ? "c%" PRId32 " * %" PRId32 : "0", number, lanes);
    if (f->of.fold->lanes > 1)
        rd_text_add(&at, " + l%" PRId32, number);
    return at;
}

/* Which lane of a cell is the first of this thread's, and how far apart they are. */
static const char *first_lane(const rd_cuda_text *t)
{
    static const char *const first[] = { "t", "t", "2 * t", "", "4 * t", "", "", "", "8 * t" };

    return first[t->s->wide];
}

static int32_t lanes_apart(const rd_cuda_text *t)
{
    return t->s->wide > 1 ? 1 : t->s->team;
}

/* The arguments of push() that say which lanes: all of the cell that this thread moves on. */
static void add_lanes_of_push(rd_text *to, const rd_cuda_text *t, const rd_cuda_fold *f)
{
    const int32_t number = rd_cuda_fold_number(t->s, f);
    const int32_t lanes  = f->of.fold->lanes;
    const bool    team   = f->home == RD_HOME_TEAM; /* rows have all lanes of the cell, */
    const bool    shared = team && f->lanes;        /* others' between ours             */
    const int32_t row    = team ? lanes : f->here;

    rd_text_add(to, ", %d, %d, %" PRId64 ", c%" PRId32 " * (int64_t)%" PRId32 "%s%s", (int)f->here,
                shared ? (int)lanes_apart(t) : 1, f->n_cell * row, number, row, shared ? " + " : "",
                shared ? first_lane(t) : "");
}

/* "&s0_0[first lane of the cell that is this thread's], ..., w0_0": of push(). */
static void add_arrays_of_push(rd_text *to, const rd_cuda_text *t, const rd_cuda_fold *f)
{
    const int32_t number = rd_cuda_fold_number(t->s, f);
    const bool    shared = f->lanes && f->home == RD_HOME_TEAM;
    rd_text       first  = { 0 };

    rd_text_add(&first, "c%" PRId32 " * %" PRId32 "%s%s", number,
                f->home == RD_HOME_TEAM ? f->of.fold->lanes : f->here, shared ? " + " : "",
                shared ? first_lane(t) : "");
    rd_cuda_states(to, f, number, "s", first.at ? first.at : "");
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to, ", w%" PRId32 "_%d", number, k);
    rd_text_free(&first);
}

void rd_cuda_add_counter(rd_text *to, const rd_cuda_fold *f, int32_t number, const char *thread)
{
    if (rd_cuda_counters(f) > 1)
        rd_text_add(to, "b%" PRId32 "[c%" PRId32 " * %d + %s]", number, number, rd_cuda_counters(f),
                    thread);
    else
        rd_text_add(to, "b%" PRId32 "[c%" PRId32 "]", number, number);
}

void rd_cuda_move_on(rd_cuda_text *t, const rd_cuda_fold *f, const char *block)
{
    const int32_t number = rd_cuda_fold_number(t->s, f);
    rd_text       line   = { 0 };

    rd_text_add(&line, "while (");
    rd_cuda_add_counter(&line, f, number, "t");
    rd_text_add(&line, " < %s) { push%" PRId32 "(", block, number);
    add_arrays_of_push(&line, t, f);
    add_lanes_of_push(&line, t, f);
    rd_text_add(&line, ", ");
    rd_cuda_add_counter(&line, f, number, "t");
    rd_text_add(&line, f->cut >= 0 ? ", from%" PRId32 : ", 0", number);
    rd_text_add(&line, "); ");
    rd_cuda_add_counter(&line, f, number, "t");
    rd_text_add(&line, "++; }");
    rd_cuda_line(t, "%s", line.at ? line.at : "");
    rd_text_free(&line);
}

void rd_cuda_add_step(rd_cuda_text *t, const rd_inst *inst, const char *states)
{
    const rd_cuda_fold *f      = &t->s->fold[inst->arg];
    rd_text             place  = rd_cuda_position(t, &f->of.fold->index);
    rd_text             weight = { 0 }, line = { 0 };

    rd_text_add(&weight, f->of.weighted ? "r%" PRId32 : "1", inst->b);
    rd_text_add(&line, "step%" PRId32 "(%s, r%" PRId32 ", %s, %s", inst->arg, states, inst->a,
                weight.at, place.at ? place.at : "");
    if (f->of.masked)
        rd_text_add(&line, ", r%" PRId32, inst->c);
    if (rd_takes_power(&f->of))
        rd_text_add(&line, ", rd_math_exp_%s(exponent%" PRId32 "(%s, r%" PRId32 ", %s))",
                    rd_state_elem(&f->of), inst->arg, states, inst->a, weight.at);
    rd_cuda_line(t, "%s);", line.at ? line.at : "");
    rd_text_free(&place);
    rd_text_free(&weight);
    rd_text_free(&line);
}

void rd_cuda_step(rd_cuda_text *t, const rd_inst *inst)
{
    const rd_cuda_fold *f   = &t->s->fold[inst->arg];
    const bool          one = f->home == RD_HOME_TEAM && t->spread < 0 && t->s->team > 1;
    rd_text             at = state_at(t, f), states = { 0 }, block = { 0 };

    rd_cuda_line(t, one ? "if (t == 0) {" : "{");
    t->indent++;
    rd_cuda_declare_place(t, inst);
    if (f->tree && !rd_cuda_has_moved(t, inst->arg)) {
        rd_text_add(&block, "p%" PRId32 " / %d", inst->arg, RD_TREE_STEPS);
        rd_cuda_move_on(t, f, block.at ? block.at : "");
    }
    rd_cuda_states(&states, f, inst->arg, "s", at.at ? at.at : "");
    (t->steps == RD_STEPS_NEAR ? rd_cuda_add_near
     : t->steps == RD_STEPS_WAIT && rd_cuda_waits(t, inst)
         ? rd_cuda_add_waiting
         : rd_cuda_add_step)(t, inst, states.at ? states.at : "");
    t->indent--;
    rd_cuda_line(t, "}");
    rd_text_free(&at);
    rd_text_free(&states);
    rd_text_free(&block);
}
