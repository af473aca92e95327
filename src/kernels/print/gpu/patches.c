/* patches.c - what a block of threads does with a patch (pass/gpu/patches.c).
 *
 * Rows are i1, columns i0.  Each team has the columns of one step of the rows' lanes, and takes a few rows
 * of them at each turn: the first ones, the next ones ... all 64.  Then it leaves their nodes and takes
 * columns further on.  It is one turn behind the team before it, whose columns are one step before its own;
 * so the states of a row's lanes, in shared memory, come to it as that one has left them:
 *
 *     turn      0        1        2        3
 *     team 0    rows 0   rows 8   rows 16  rows 24  ..      of columns   0 .. 63
 *     team 1             rows 0   rows 8   rows 16  ..      of columns  64 .. 127
 *     team 2                      rows 0   rows 8   ..      of columns 128 .. 191
 *
 * Between turns all threads of the block meet.  Nodes, and who comes last, are the backend's. */
#include "core/combine_tree.h"
#include "kernels/loop/facts.h"
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>

enum { ROWS, COLUMNS };

static void open_brace(rd_printing *n, const char *line)
{
    rd_print_line(n, "%s", line);
    n->indent++;
}

static void close_brace(rd_printing *n)
{
    n->indent--;
    rd_print_line(n, "}");
}

static rd_text text_of(rd_printing *n, const rd_edge *edge)
{
    rd_text text = { 0 };

    rd_print_linear(n, &text, &edge->part[0].at);
    return text;
}

static int32_t loop_in(const rd_printing *n, int32_t body)
{
    int32_t s = n->t->stmt[body].first;

    while (s >= 0 && n->t->stmt[s].kind != RD_S_LOOP)
        s = n->t->stmt[s].next;
    return s;
}

/* ---- Turns ------------------------------------------------------------------------------------ */
/* A thread's elements of row `u`. */
static void print_row(rd_printing *n, int32_t rows)
{
    rd_print_round(n, rows, "u");
    rd_print_line(n, "const int place = (first + u) * %" PRId64 " + %" PRId32 " * t;",
                  rd_lanes_of_row(n), n->kernel->wide);
    rd_print_declare_at_hand(n, true);
    rd_print_take_lanes(n);
    rd_print_body(n, rows);
    rd_print_put_lanes(n);
}

/* Rows that are all there: their loads go ahead. */
static void print_whole_rows(rd_printing *n, int32_t rows)
{
    const int32_t ahead = rd_loop_of(n->t, rows)->ahead;

    n->kernel->form  = RD_ROUND_TOGETHER;
    n->kernel->moved = UINT64_MAX; /* all of a patch is one block */
    rd_print_declare_takes(n, rows, ahead);
    rd_print_takes(n, rows, ahead);
    rd_print_line(n, "RD_UNROLL for (int u = 0; u < %" PRId32 "; u++) {", ahead);
    n->indent++;
    print_row(n, rows);
    close_brace(n);
    n->kernel->form  = RD_ROUND_ALONE;
    n->kernel->moved = 0;
}

static void print_rows_in_part(rd_printing *n, int32_t rows)
{
    const rd_for *l  = rd_loop_of(n->t, rows);
    rd_text       to = text_of(n, &l->to);

    rd_print_line(n,
                  "RD_ONE_BY_ONE for (int u = 0; u < %" PRId32 " && v%" PRId32 " + u < %s; u++) {",
                  l->ahead, l->axis, to.at);
    n->indent++;
    print_row(n, rows);
    close_brace(n);
    rd_text_end(&to, n->to);
}

static void leave_columns(rd_printing *n, int32_t groups)
{
    for (int32_t s = n->t->stmt[groups].first; s >= 0; s = n->t->stmt[s].next)
        if (n->t->stmt[s].kind == RD_S_LEAVE)
            rd_print_leave(n, &n->t->stmt[s]);
}

/* "v1", "v0", "m5": where the rows and columns of this turn begin. */
static void declare_turn(rd_printing *n, const rd_for *groups, const rd_for *rows)
{
    rd_text down = text_of(n, &rows->from), along = text_of(n, &groups->from), start = { 0 };

    rd_print_axis(n, &start, groups->start);
    rd_print_line(n, "const int     first = own %% %d * %" PRId32 ";", RD_TREE_STEPS / rows->ahead,
                  rows->ahead);
    rd_print_line(n, "const int64_t v%" PRId32 " = %s + first;", rows->axis, down.at);
    rd_print_line(
        n, "const int64_t v%" PRId32 " = %s + (int64_t)group * %" PRId64 ", %s = v%" PRId32 ";",
        groups->axis, along.at, groups->step, start.at, groups->axis);
    rd_text_end(&down, n->to);
    rd_text_end(&along, n->to);
    rd_text_end(&start, n->to);
}

/* A turn of a team that has something to do. */
static void print_turn(rd_printing *n, int32_t stmt)
{
    const int32_t inside = loop_in(n, stmt);
    const rd_for *groups = rd_loop_of(n->t, stmt), *rows = rd_loop_of(n->t, inside);
    rd_text       down = text_of(n, &rows->to), along = text_of(n, &groups->to);

    declare_turn(n, groups, rows);
    open_brace(n, "if (first == 0) {");
    rd_print_begin_columns(n);
    close_brace(n);
    rd_print_line(n, "if (v%" PRId32 " + %" PRId32 " <= %s && v%" PRId32 " + %" PRId64 " <= %s) {",
                  rows->axis, rows->ahead, down.at, groups->axis, groups->step, along.at);
    n->indent++;
    print_whole_rows(n, inside);
    n->indent--;
    open_brace(n, "} else {");
    print_rows_in_part(n, inside);
    close_brace(n);
    rd_print_line(n, "if (first == %" PRId32 ") {", RD_TREE_STEPS - rows->ahead);
    n->indent++;
    leave_columns(n, stmt);
    close_brace(n);
    rd_text_end(&down, n->to);
    rd_text_end(&along, n->to);
}

static void print_turns(rd_printing *n, int32_t stmt)
{
    const rd_for *groups = rd_loop_of(n->t, stmt);
    const int32_t turns  = RD_TREE_STEPS / rd_loop_of(n->t, loop_in(n, stmt))->ahead;
    rd_text       from = text_of(n, &groups->from), to = text_of(n, &groups->to);

    n->kernel->rounds = loop_in(n, stmt);
    rd_print_line(n, "RD_MEET_BLOCK");
    rd_print_line(n, "const int groups = (int)((%s - %s + %" PRId64 ") / %" PRId64 ");", to.at,
                  from.at, groups->step - 1, groups->step);
    rd_print_line(
        n, "const int turns = (groups + RD_TEAMS - 1) / RD_TEAMS * %" PRId32 " + RD_TEAMS - 1;",
        turns);
    rd_print_declare_at_hand(n, false);
    open_brace(n, "RD_ONE_BY_ONE for (int turn = 0; turn < turns; turn++) {");
    rd_print_line(n, "const int own = turn - team, group = own / %" PRId32 " * RD_TEAMS + team;",
                  turns);
    open_brace(n, "if (own >= 0 && group < groups) {");
    print_turn(n, stmt);
    close_brace(n);
    rd_print_line(n, "RD_MEET_BLOCK");
    close_brace(n);
    n->kernel->rounds = -1;
    rd_text_end(&from, n->to);
    rd_text_end(&to, n->to);
}

/* ---- Ends ------------------------------------------------------------------------------------- */
/* A row to a team. */
static void print_rows(rd_printing *n, int32_t stmt)
{
    const rd_for *l    = rd_loop_of(n->t, stmt);
    rd_text       from = text_of(n, &l->from), to = text_of(n, &l->to);

    rd_print_line(n, "for (int row = team; row < (int)(%s - %s); row += RD_TEAMS) {", to.at,
                  from.at);
    n->indent++;
    rd_print_line(n, "const int64_t i%" PRId32 " = %s + row;", l->axis, from.at);
    rd_print_body(n, stmt);
    close_brace(n);
    rd_text_end(&from, n->to);
    rd_text_end(&to, n->to);
}

/* A column to a thread, of which neighbours have neighbours. */
static void print_columns(rd_printing *n, int32_t stmt)
{
    const rd_for *l    = rd_loop_of(n->t, stmt);
    rd_text       from = text_of(n, &l->from), to = text_of(n, &l->to);

    rd_print_line(n,
                  "for (int64_t i%" PRId32 " = %s + threadIdx.x; i%" PRId32 " < %s; i%" PRId32
                  " += RD_THREADS) {",
                  l->axis, from.at, l->axis, to.at, l->axis);
    n->indent++;
    n->kernel->threads = true;
    rd_print_body(n, stmt);
    n->kernel->threads = false;
    close_brace(n);
    rd_text_end(&from, n->to);
    rd_text_end(&to, n->to);
}

/* ---- All of a patch --------------------------------------------------------------------------- */
static bool print_loop(rd_printing *n, int32_t stmt)
{
    const rd_for *l = rd_loop_of(n->t, stmt);

    if (l->in_turns)
        print_turns(n, stmt);
    else if (l->by_team)
        print_rows(n, stmt);
    else if (l->by_block)
        print_columns(n, stmt);
    else
        return false;
    return true;
}

static bool print_last(rd_printing *n, int32_t stmt)
{
    n->kernel->along = rd_loop_of(n->t, n->t->stmt[stmt].arg)->axis == n->kernel->patch[COLUMNS];
    rd_print_last(n, stmt);
    return true;
}

bool rd_print_in_patch(rd_printing *n, int32_t stmt)
{
    const rd_stmt *s = &n->t->stmt[stmt];

    switch (s->kind) {
    case RD_S_LOOP: return print_loop(n, stmt);
    case RD_S_LAST: return print_last(n, stmt);
    case RD_S_JOIN: return true;
    case RD_S_BEGIN: rd_print_begin_lanes(n, s->fold); return true;
    default: return false;
    }
}

/* "const int64_t m1 = lo0, m2 = hi0;" */
void rd_print_range_of_patch(rd_printing *n, const rd_for *loop)
{
    const int which = loop->axis == n->kernel->patch[COLUMNS];
    rd_text   start = { 0 }, stop = { 0 };

    rd_print_axis(n, &start, loop->start);
    rd_print_axis(n, &stop, loop->stop);
    rd_print_line(n, "const int64_t %s = lo%d, %s = hi%d;", start.at, which, stop.at, which);
    rd_text_end(&start, n->to);
    rd_text_end(&stop, n->to);
}
