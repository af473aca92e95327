/* block_tile_text.c - the text of a block tile (pass/gpu/block_tile.c), by all threads of a
 * block.
 *
 * Rows are i1, columns i0.  A team has the columns of one step of the rows' lanes, and takes a
 * few rows of them in each turn, from the first rows to the last of 64.  Then it stores the
 * partials of its columns, and takes columns further on.  Teams run as a wavefront: each is one
 * turn behind the team whose columns come before its own.  So it finds the states of a row's
 * lanes in shared memory as that team has left them:
 *
 *     turn      0        1        2        3
 *     team 0    rows 0   rows 8   rows 16  rows 24  ..      of columns   0 .. 63
 *     team 1             rows 0   rows 8   rows 16  ..      of columns  64 .. 127
 *     team 2                      rows 0   rows 8   ..      of columns 128 .. 191
 *
 * A barrier of the block stands between turns.  The backend stores partials, and finds out which
 * tile ends last.
 *
 * A lane is one of the states of a row, to which its elements go in turn.  A partial is what a tile
 * leaves of a fold, for the last tile to combine.  m0 to m4 are marks: variables with where a tile,
 * or a turn, begins and ends. */
#include "core/combine_tree.h"
#include "kernels/loop/facts.h"
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>

enum { ROWS, COLUMNS };

/* Returns the position of a bound as text, "m0 + 64": of its first part, which is its only one
 * here. The caller frees the text. */
static rd_text text_of(rd_printing *n, const rd_edge *edge)
{
    rd_text text = { 0 };

    rd_print_linear(n, &text, &edge->part[0].at);
    return text;
}

/* Returns the first loop of a body, a statement; -1: there is none. */
static int32_t loop_in(const rd_printing *n, int32_t body)
{
    int32_t s = n->t->stmt[body].first;

    while (s >= 0 && n->t->stmt[s].kind != RD_S_LOOP)
        s = n->t->stmt[s].next;
    return s;
}

/* ---- Turns ----------------------------------------------------------------------------------- */
/* Prints what a thread does for row `u` of a turn (the few rows that a team takes between two
 * barriers). It loads its lanes of the row, the partial accumulators to which elements go in
 * turn, from shared memory; takes its elements; and stores the lanes back.
 *
 *     const int place = (first + u) * 64 + 4 * t;
 *     float s1_0[4]; .. step1(&s1_0[i], r0, 1, i1); ..
 *
 * `place` is the first of them in shared memory; `first`, the first row of the turn in the tile. */
static void print_row(rd_printing *n, int32_t rows)
{
    rd_print_round(n, rows, "u");
    rd_print_line(n, "const int place = (first + u) * %" PRId64 " + %" PRId32 " * t;",
                  rd_lanes_of_row(n), n->kernel->width);
    rd_print_declare_tile_states(n, /*rows=*/true);
    rd_print_load_row_lanes(n);
    rd_print_body(n, rows);
    rd_print_store_row_lanes(n);
}

/* Prints all rows of a turn as one batch, whose loads are issued first; they must all be there.
 * block_begun: bits of folds whose steps need not ask whether a block of the combine tree
 * begins; here all, as a tile is one block of each fold. */
static void print_whole_rows(rd_printing *n, int32_t rows)
{
    const int32_t ahead = rd_loop_of(n->t, rows)->prefetched;

    n->kernel->strategy    = RD_ROUND_BATCHED;
    n->kernel->block_begun = UINT64_MAX;
    rd_print_declare_vector_loads(n, rows, ahead);
    rd_print_vector_loads(n, rows, ahead);
    rd_print_line(n, "RD_UNROLL for (int u = 0; u < %" PRId32 "; u++) {", ahead);
    n->indent++;
    print_row(n, rows);
    rd_print_close(n);
    n->kernel->strategy    = RD_ROUND_SINGLE;
    n->kernel->block_begun = 0;
}

/* Prints the rows of a turn one after the other, at the tile's edge, where some rows or columns
 * are missing. v1 is the first row of the turn, m1 the mark behind the tile's last row:
 *
 *     RD_ONE_BY_ONE for (int u = 0; u < 8 && v1 + u < m1; u++) { */
static void print_rows_in_part(rd_printing *n, int32_t rows)
{
    const rd_for *l  = rd_loop_of(n->t, rows);
    rd_text       to = text_of(n, &l->to);

    rd_print_line(n,
                  "RD_ONE_BY_ONE for (int u = 0; u < %" PRId32 " && v%" PRId32 " + u < %s; u++) {",
                  l->prefetched, l->axis, to.at);
    n->indent++;
    print_row(n, rows);
    rd_print_close(n);
    rd_text_end(&to, n->to);
}

/* Prints how a team (the threads of an item) stores the partials of its columns (what the tile
 * leaves of their folds): the STORE_PARTIALS statements in the loop over groups of columns. */
static void store_columns(rd_printing *n, int32_t groups)
{
    for (int32_t s = n->t->stmt[groups].first; s >= 0; s = n->t->stmt[s].next)
        if (n->t->stmt[s].kind == RD_S_STORE_PARTIALS)
            rd_print_store_partials(n, &n->t->stmt[s]);
}

/* Prints where the rows and columns of this turn begin. `own` counts the turns of the team (the
 * threads of an item), `group` its groups of columns; m0 and m2 are the tile's first row and
 * column, m4 the group's first column:
 *
 *     const int     first = own % 8 * 8;
 *     const int64_t v1 = m0 + first;
 *     const int64_t v0 = m2 + (int64_t)group * 64, m4 = v0; */
static void declare_turn(rd_printing *n, const rd_for *groups, const rd_for *rows)
{
    rd_text down = text_of(n, &rows->from), along = text_of(n, &groups->from), start = { 0 };

    rd_print_axis(n, &start, groups->start_mark);
    rd_print_line(n, "const int     first = own %% %d * %" PRId32 ";",
                  RD_TREE_STEPS / rows->prefetched, rows->prefetched);
    rd_print_line(n, "const int64_t v%" PRId32 " = %s + first;", rows->axis, down.at);
    rd_print_line(
        n, "const int64_t v%" PRId32 " = %s + (int64_t)group * %" PRId64 ", %s = v%" PRId32 ";",
        groups->axis, along.at, groups->step, start.at, groups->axis);
    rd_text_end(&down, n->to);
    rd_text_end(&along, n->to);
    rd_text_end(&start, n->to);
}

/* Prints a turn of a team: states (accumulators) of columns begin in its first turn of a group,
 * and their partials (nodes that tiles leave) are stored in the last one. If all its rows and
 * columns lie in the tile, the rows are one batch, else they go one by one. */
static void print_turn(rd_printing *n, int32_t stmt)
{
    const int32_t inside = loop_in(n, stmt);
    const rd_for *groups = rd_loop_of(n->t, stmt), *rows = rd_loop_of(n->t, inside);
    rd_text       down = text_of(n, &rows->to), along = text_of(n, &groups->to);

    declare_turn(n, groups, rows);
    rd_print_open(n, "if (first == 0) {");
    rd_print_begin_columns(n);
    rd_print_close(n);
    rd_print_line(n, "if (v%" PRId32 " + %" PRId32 " <= %s && v%" PRId32 " + %" PRId64 " <= %s) {",
                  rows->axis, rows->prefetched, down.at, groups->axis, groups->step, along.at);
    n->indent++;
    print_whole_rows(n, inside);
    n->indent--;
    rd_print_open(n, "} else {");
    print_rows_in_part(n, inside);
    rd_print_close(n);
    rd_print_line(n, "if (first == %" PRId32 ") {", RD_TREE_STEPS - rows->prefetched);
    n->indent++;
    store_columns(n, stmt);
    rd_print_close(n);
    rd_text_end(&down, n->to);
    rd_text_end(&along, n->to);
}

/* Prints the loop over turns, with a barrier of the block behind each. A group is the columns
 * that a team (the threads of an item) takes at a time. Team k begins k turns late, so that
 * teams follow each other down the rows and never use the lanes (partial accumulators) of one
 * row at once (a wavefront).
 *
 *     RD_ONE_BY_ONE for (int turn = 0; turn < turns; turn++) {
 *         const int own = turn - team, group = own / 8 * RD_TEAMS + team;
 *         if (own >= 0 && group < groups) { .. }
 *         RD_SYNC_BLOCK
 *     } */
static void print_turns(rd_printing *n, int32_t stmt)
{
    const rd_for *groups = rd_loop_of(n->t, stmt);
    const int32_t turns  = RD_TREE_STEPS / rd_loop_of(n->t, loop_in(n, stmt))->prefetched;
    rd_text       from = text_of(n, &groups->from), to = text_of(n, &groups->to);

    n->kernel->rounds = loop_in(n, stmt);
    rd_print_line(n, "RD_SYNC_BLOCK");
    rd_print_line(n, "const int groups = (int)((%s - %s + %" PRId64 ") / %" PRId64 ");", to.at,
                  from.at, groups->step - 1, groups->step);
    rd_print_line(
        n, "const int turns = (groups + RD_TEAMS - 1) / RD_TEAMS * %" PRId32 " + RD_TEAMS - 1;",
        turns);
    rd_print_declare_tile_states(n, /*rows=*/false);
    rd_print_open(n, "RD_ONE_BY_ONE for (int turn = 0; turn < turns; turn++) {");
    rd_print_line(n, "const int own = turn - team, group = own / %" PRId32 " * RD_TEAMS + team;",
                  turns);
    rd_print_open(n, "if (own >= 0 && group < groups) {");
    print_turn(n, stmt);
    rd_print_close(n);
    rd_print_line(n, "RD_SYNC_BLOCK");
    rd_print_close(n);
    n->kernel->rounds = -1;
    rd_text_end(&from, n->to);
    rd_text_end(&to, n->to);
}

/* ---- Ends ------------------------------------------------------------------------------------ */
/* Prints the loop that ends the folds of rows. The rows of the tile are dealt to the teams of
 * the block of threads:
 *
 *     for (int row = team; ..; row += RD_TEAMS) { */
static void print_rows(rd_printing *n, int32_t stmt)
{
    const rd_for *l    = rd_loop_of(n->t, stmt);
    rd_text       from = text_of(n, &l->from), to = text_of(n, &l->to);

    rd_print_line(n, "for (int row = team; row < (int)(%s - %s); row += RD_TEAMS) {", to.at,
                  from.at);
    n->indent++;
    rd_print_line(n, "const int64_t i%" PRId32 " = %s + row;", l->axis, from.at);
    rd_print_body(n, stmt);
    rd_print_close(n);
    rd_text_end(&from, n->to);
    rd_text_end(&to, n->to);
}

/* Prints the loop that ends the folds of columns. The columns of the tile are dealt to the
 * threads of the block (per_thread: threads run different elements here):
 *
 *     for (int64_t i0 = m2 + threadIdx.x; ..) { */
static void print_columns(rd_printing *n, int32_t stmt)
{
    const rd_for *l    = rd_loop_of(n->t, stmt);
    rd_text       from = text_of(n, &l->from), to = text_of(n, &l->to);

    rd_print_line(n,
                  "for (int64_t i%" PRId32 " = %s + threadIdx.x; i%" PRId32 " < %s; i%" PRId32
                  " += RD_THREADS) {",
                  l->axis, from.at, l->axis, to.at, l->axis);
    n->indent++;
    n->kernel->per_thread = true;
    rd_print_body(n, stmt);
    n->kernel->per_thread = false;
    rd_print_close(n);
    rd_text_end(&from, n->to);
    rd_text_end(&to, n->to);
}

/* ---- The whole tile -------------------------------------------------------------------------- */
/* Prints a loop of a block tile (a reduction along both axes) by its flag: the turns of teams
 * (skewed), or the loop over rows (by_team) or columns (by_block) in which folds end. False: the
 * loop has the text of other kernels. */
static bool print_loop(rd_printing *n, int32_t stmt)
{
    const rd_for *l = rd_loop_of(n->t, stmt);

    if (l->skewed)
        print_turns(n, stmt);
    else if (l->by_team)
        print_rows(n, stmt);
    else if (l->by_block)
        print_columns(n, stmt);
    else
        return false;
    return true;
}

/* Prints "if this tile is the last one to finish along an axis", with the body. The statement
 * names a loop over tiles; `last_along_columns` tells the backend's callback whether that loop goes
 * along columns. Returns true: the statement is printed. */
static bool print_last(rd_printing *n, int32_t stmt)
{
    n->kernel->last_along_columns =
        rd_loop_of(n->t, n->t->stmt[stmt].arg)->axis == n->kernel->tile_axis[COLUMNS];
    rd_print_if_last(n, stmt);
    return true;
}

/* Prints a statement of a block tile (a reduction along both axes); false: it has the text of
 * other kernels. COMBINE_PARTIALS needs none, as the backend has combined them in print_last(). */
bool rd_print_in_block_tile(rd_printing *n, int32_t stmt)
{
    const rd_stmt *s = &n->t->stmt[stmt];

    switch (s->kind) {
    case RD_S_LOOP: return print_loop(n, stmt);
    case RD_S_IF_LAST: return print_last(n, stmt);
    case RD_S_COMBINE_PARTIALS: return true;
    case RD_S_BEGIN: rd_print_begin_row_lanes(n, s->fold); return true;
    default: return false;
    }
}

/* Prints the first row or column of the tile and the one behind its last: "const int64_t m1 =
 * lo0, m2 = hi0;". The backend declares lo0, hi0 (rows) and lo1, hi1 (columns). */
void rd_print_range_of_block_tile(rd_printing *n, const rd_for *loop)
{
    const int which = loop->axis == n->kernel->tile_axis[COLUMNS];
    rd_text   start = { 0 }, stop = { 0 };

    rd_print_axis(n, &start, loop->start_mark);
    rd_print_axis(n, &stop, loop->stop_mark);
    rd_print_line(n, "const int64_t %s = lo%d, %s = hi%d;", start.at, which, stop.at, which);
    rd_text_end(&start, n->to);
    rd_text_end(&stop, n->to);
}
