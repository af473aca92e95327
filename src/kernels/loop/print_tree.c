/* print_tree.c - loop trees as text for people, a line a statement:
 *
 *     body
 *       serial i0 from lo to hi
 *         begin f0
 *         serial i1 to 3000
 *           r0 = load f32 s0[i1 + 3000*i0]
 *           step f0 cell 0, lane i1, line 0: r0
 *         merge blocks f0 cell 0
 *
 * Fields. An array of the tree with `fold` -1 holds elements, any other one states of that fold. */
#include "kernels/loop/print_tree.h"
#include <inttypes.h>

static const char *const stmt_names[] = {
#define RD_STMT(name, text) text,
#include "kernels/loop/statements.def"
};

static const char *const reducer_names[RD_N_REDUCERS] = {
#define RD_REDUCE_ROW(name, ...) [RD_RED_##name] = #name,
#include "core/reducers.def"
};

static const char *const part_names[]  = { "head", "body", "tail" };
static const char *const place_names[] = {
    "registers", "local", "task", "team", "block", "device"
};

/* ---- Folds ----------------------------------------------------------------------------------- */
/* Adds which array has the partial results (nodes) of a statement about them: " to a3", " in a3",
 * " from a3". True: the statement has nothing else to say of its fold. */
static bool add_nodes(rd_text *to, const rd_stmt *s)
{
    const char   *word = s->kind == RD_S_STORE_PARTIALS                                  ? "to"
                         : s->kind == RD_S_BUILD_TREE                                    ? "in"
                         : s->kind == RD_S_COMBINE_PARTIALS || s->kind == RD_S_LOOK_BACK ? "from"
                                                                                         : NULL;
    const int32_t array =
        s->kind == RD_S_BUILD_TREE || s->kind == RD_S_COMBINE_PARTIALS ? s->store : s->arg;

    if (word)
        rd_text_add(to, " %s a%" PRId32, word, array);
    return word && s->kind != RD_S_LOOK_BACK;
}

/* Adds " f0 cell i0, lane 0, line i1": the fold's number and the positions of the cell
 * (accumulator) or element. Of a BEGIN: " f0: sum f32, 3000 cells of 1 lanes". " at ..": what is
 * added to a state's subscript (more). */
static void add_fold(rd_text *to, const rd_schedule *t, const rd_stmt *s)
{
    const rd_fold *f = &t->p->fold[s->fold];

    rd_text_add(to, " f%" PRId32, s->fold);
    if (add_nodes(to, s))
        return;
    if (s->kind == RD_S_BEGIN)
        rd_text_add(to, ": %s %s, %" PRId64 " cells of %" PRId32 " lanes",
                    reducer_names[f->reducer], rd_dtype_name(f->type), f->n_cell, f->lanes);
    if (s->kind == RD_S_BEGIN || s->kind == RD_S_LOOK_BACK || s->kind == RD_S_SCAN_BLOCKS) {
        rd_text_add(to, s->at.n ? ", step " : "");
        if (s->at.n)
            rd_linear_text(to, t, &s->at);
        return;
    }
    rd_text_add(to, " cell ");
    rd_linear_text(to, t, &s->fold_at.cell);
    if (s->fold_at.state_offset.n || s->fold_at.state_offset.offset) {
        rd_text_add(to, " at ");
        rd_linear_text(to, t, &s->fold_at.state_offset);
    }
    if (s->kind == RD_S_STEP || s->kind == RD_S_PREFIX || s->kind == RD_S_SCAN_RESULT ||
        s->kind == RD_S_PUSH_IF_LAST || s->kind == RD_S_PUSH_IF_NEW ||
        s->kind == RD_S_CUT_AT_BLOCK || s->kind == RD_S_LOAD_STATES ||
        s->kind == RD_S_STORE_STATES || s->kind == RD_S_SWITCH_STATE) {
        rd_text_add(to, ", lane ");
        rd_linear_text(to, t, &s->fold_at.lane);
        rd_text_add(to, ", line ");
        rd_linear_text(to, t, &s->fold_at.lane_line);
    }
}

/* Adds the operands of a step, each if it is there: ": r3, by r5, where r0, label r4". */
static void add_operands(rd_text *to, const rd_stmt *s)
{
    const struct {
        const char *name;
        int32_t     value;
    } operand[] = {
        { ":", s->x }, { ", by", s->weight }, { ", where", s->mask }, { ", label", s->label }
    };

    for (int k = 0; k < 4; k++)
        if (operand[k].value >= 0)
            rd_text_add(to, "%s r%" PRId32, operand[k].name, operand[k].value);
}

/* Adds "r5, r6 = ", the values that a statement makes; nothing if there are none. */
static void add_results(rd_text *to, const rd_stmt *s)
{
    for (int32_t k = 0; k < s->n_value; k++)
        rd_text_add(to, "%sr%" PRId32, k ? ", " : "", s->value + k);
    rd_text_add(to, s->n_value ? " = " : "");
}

/* ---- Statements ------------------------------------------------------------------------------ */
/* Adds "exit from i1 by f0 cell 0, states 64, every 16": the loop's axis, the states that are
 * tested, and in how many rounds one test is made. */
static void add_exit(rd_text *to, const rd_schedule *t, const rd_stmt *s)
{
    rd_text_add(to, "exit from i%" PRId32 " by", rd_loop_of(t, s->arg)->axis);
    add_fold(to, t, s);
    rd_text_add(to, ", states ");
    rd_linear_text(to, t, &s->count);
    if (s->every)
        rd_text_add(to, ", every %" PRId32, s->every);
}

/* Adds what a SORT takes: "sort 0 from 8*i0 to 4*i0, strip i1, 64 of it, state i0, by fronts". */
static void add_sort(rd_text *to, const rd_schedule *t, const rd_stmt *s)
{
    rd_text_add(to, "sort %" PRId32 " from ", s->arg);
    rd_linear_text(to, t, &s->at);
    rd_text_add(to, " to ");
    rd_linear_text(to, t, &s->fold_at.index);
    if (!t->p->sorting[s->arg].most)
        return;
    rd_text_add(to, ", strip ");
    rd_linear_text(to, t, &s->fold_at.lane);
    rd_text_add(to, ", ");
    rd_linear_text(to, t, &s->count);
    rd_text_add(to, " of it, state ");
    rd_linear_text(to, t, &s->fold_at.cell);
    rd_text_add(to, "%s", s->fronts ? ", by fronts" : "");
}

/* Adds what a FRONT is made of: "front of sort 0 from 8*i0, place m1 of the strip, state i0". */
static void add_front(rd_text *to, const rd_schedule *t, const rd_stmt *s)
{
    rd_text_add(to, "front of sort %" PRId32 " from ", s->arg);
    rd_linear_text(to, t, &s->at);
    rd_text_add(to, ", place ");
    rd_linear_text(to, t, &s->fold_at.lane);
    rd_text_add(to, " of the strip, state ");
    rd_linear_text(to, t, &s->fold_at.cell);
}

/* Adds a search: "r5 = lower bound from r2 to r3 of s0[i1], 4 apart: i0". */
static void add_lower_bound(rd_text *to, const rd_schedule *t, const rd_stmt *s)
{
    rd_text_add(to, "r%" PRId32 " = lower bound from r%" PRId32 " to r%" PRId32 " of ", s->value,
                s->x, s->weight);
    rd_memory_text(to, t, s->slot, s->store, &s->at);
    rd_text_add(to, ", %" PRId32 " apart: ", s->arg);
    rd_linear_text(to, t, &s->count);
}

/* Adds a statement of a fold: "step f0 cell i0, lane 0, line i1: r3", "push if last all f0 ..".
 * A statement that moves states also names their array. */
static void add_of_fold(rd_text *to, const rd_schedule *t, const rd_stmt *s)
{
    add_results(to, s);
    rd_text_add(to, "%s%s", stmt_names[s->kind], s->all_cells ? " all" : "");
    add_fold(to, t, s);
    add_operands(to, s);
    if (s->kind == RD_S_LOAD_STATES || s->kind == RD_S_STORE_STATES ||
        s->kind == RD_S_SWITCH_STATE) {
        rd_text_add(to, ", a%" PRId32 " at ", s->arg);
        rd_linear_text(to, t, &s->at);
    }
}

/* Adds one line, without indentation and newline: "s1[i0] = r2", "prefetch 64 from s0[i0 + 512]".
 * s0 is the program's memory, a0 an array of the tree. What is not a case is a statement of a
 * fold. */
static void add_statement(rd_text *to, const rd_schedule *t, const rd_stmt *s)
{
    switch (s->kind) {
    case RD_S_PART: rd_text_add(to, "%s", part_names[s->arg]); break;
    case RD_S_LOOP: rd_loop_text(to, t, &t->loop[s->arg]); break;
    case RD_S_IF: rd_text_add(to, "%s r%" PRId32, s->unless ? "unless" : "if", s->x); break;
    case RD_S_LET: rd_let_text(to, t, s->value); break;
    case RD_S_STORE:
        rd_memory_text(to, t, s->slot, s->store, &s->at);
        rd_text_add(to, " = r%" PRId32, s->x);
        if (s->vector_width)
            rd_text_add(to, " by %" PRId32, s->vector_width);
        break;
    case RD_S_ARRAY: rd_text_add(to, "array a%" PRId32, s->store); break;
    case RD_S_BARRIER: rd_text_add(to, "barrier"); break;
    case RD_S_IF_LAST:
        rd_text_add(to, "if last of ranges of i%" PRId32, rd_loop_of(t, s->arg)->axis);
        break;
    case RD_S_CUT_AT_RUN:
        rd_text_add(to, "cut at run of ");
        rd_memory_text(to, t, s->slot, s->store, &s->at);
        break;
    case RD_S_LOWER_BOUND: add_lower_bound(to, t, s); break;
    case RD_S_PREFETCH:
        rd_text_add(to, "prefetch ");
        rd_linear_text(to, t, &s->count);
        rd_text_add(to, " from ");
        rd_memory_text(to, t, s->slot, s->store, &s->at);
        break;
    case RD_S_SORT: add_sort(to, t, s); break;
    case RD_S_FRONT: add_front(to, t, s); break;
    case RD_S_EXIT: add_exit(to, t, s); break;
    default: add_of_fold(to, t, s);
    }
}

/* Adds the line of a statement, indented by its depth, then the lines of its body. */
static void add_body(rd_text *to, const rd_schedule *t, int32_t stmt, int depth)
{
    rd_text_add(to, "%*s", 2 * depth, "");
    add_statement(to, t, &t->stmt[stmt]);
    rd_text_add(to, "\n");
    for (int32_t s = t->stmt[stmt].first; s >= 0; s = t->stmt[s].next)
        add_body(to, t, s, depth + 1);
}

/* Adds a line for each array of the tree: its strides, extent and memory.  "a0: states of f0, cells
 * 1 apart, lanes 1 apart, 3000 in task". "seen by a byte": the flag that says whether a state has
 * met an element is a byte. "4 a thread": each thread has so many lanes or elements. */
static void add_stores(rd_text *to, const rd_schedule *t)
{
    for (int32_t k = 0; k < t->n_store; k++) {
        const rd_tree_array *a = &t->store[k];

        rd_text_add(to, "a%" PRId32 ": ", k);
        if (a->fold >= 0)
            rd_text_add(
                to, "states of f%" PRId32 ", cells %" PRId64 " apart, lanes %" PRId64 " apart%s",
                a->fold, a->cell_stride, a->lane_stride,
                a->cells && t->fold[a->fold].emit.seen ? ", seen by a byte" : "");
        else
            rd_text_add(to, "%s", rd_dtype_name(a->type));
        if (a->per_thread)
            rd_text_add(to, ", %" PRId32 " a thread", a->per_thread);
        if (a->copies > 1)
            rd_text_add(to, ", %" PRId32 " copies", a->copies);
        rd_text_add(to, ", %" PRId64 " in %s\n", a->extent, place_names[a->storage]);
    }
}

/* Writes the arrays of a tree, then its three parts; empty parts are left out. */
void rd_schedule_text(rd_text *to, const rd_schedule *t)
{
    add_stores(to, t);
    for (int k = 0; k < RD_N_PARTS; k++)
        if (t->stmt[t->part[k]].first >= 0)
            add_body(to, t, t->part[k], /*depth=*/0);
}
