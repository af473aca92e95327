/* point_tiles.c - tiles the points that all results of a thread block use (all-pairs
 * computations).  A tile of points lies in shared memory, and a thread takes several points at
 * once (unroll-and-jam):
 *
 *     serial i2 to 10000             becomes   serial i1 to 3
 *       array a1                                 vector i0: a3[4*i1 + i0 - m0] = load s0[3*i0 + i1]
 *       begin f1                               serial i2 to 10000 by 128, starts m2, stops m3
 *       serial i1 to 3                           vector i2 from m2 to m3, by block
 *         vector i0 from m0 to m1                  serial i1 to 3
 *           r0 = load s0[3*i0 + i1]                  a4[132*i1 + i2 - m2] = load s0[3*i2 + i1]
 *           r1 = load s0[3*i2 + i1]              serial i2 from m2 to m3 by 64, starts m4, stops m5
 *           step f1 ..                             push if new all f0, line m4
 *       vector i0 from m0 to m1                    serial i2 from m4 to m4 + 4 k by 4, starts m6
 *         r2 = finish f1                             array a1
 *         push if new f0 .., line i2                begin f1
 *         step f0 .., line i2                       jam i2 from m6 to m6 + 4
 *                                                      serial i1 to 3
 *                                                        vector i0 from m0 to m1
 *                                                          r0 = load a3[..] by 4
 *                                                          r1 = load a4[..] by 4
 *                                                          step f1 .. at i0 - m0 + 4*(i2 - m6)
 *                                                      vector i0 from m0 to m1
 *                                                        r2 = finish f1 .. at i0 - m0 + 4*(i2 - m6)
 *                                                        step f0 ..
 *                                                  serial i2: the points that are left, one by one
 *
 * So each 16 bytes from shared memory serve several pairs, and loops inside a pair run once for
 * all of them.  A thread takes its points in their order.
 *
 * A pair is a result and a point.  m2 to m7 are marks: axes that are bound to where a tile, a block
 * of the combine tree, or a group of points begins and ends.  To jam a loop is to let several of
 * its rounds run side by side.
 *
 * Words. A fold is a reduction or a scan. */
#include "core/combine_tree.h"
#include "kernels/loop/facts.h"
#include "kernels/pass/gpu/point_tiles.h"

/* Returns the position mark + offset. A mark is an axis of the tree that is bound to the first
 * index of a loop's current round (start_mark), or to the one behind its last (stop_mark). */
static rd_linear mark(rd_schedule *t, int32_t axis, int64_t offset)
{
    return rd_linear_plus_axis(t, rd_linear_of(offset), /*coef=*/1, axis);
}

/* True if the statement is a loop. */
static bool is_loop(const rd_schedule *t, int32_t stmt)
{
    return t->stmt[stmt].kind == RD_S_LOOP;
}

/* ---- Points taken at once -------------------------------------------------------------------- */
/* True if a statement in the body declares the array (store) as variables of a thread. */
static bool is_declared_in(const rd_schedule *t, int32_t body, int32_t store)
{
    for (int32_t s = body; s >= 0; s = rd_next_stmt(t, s, body))
        if (t->stmt[s].kind == RD_S_ARRAY && t->stmt[s].store == store)
            return true;
    return false;
}

/* True if the array belongs to a single pair: it is declared, or its fold begins, in the loop
 * over pairs. (A pair is a result and a point.) fold < 0: the array holds elements, not a fold's
 * states (accumulators). States in a thread's memory have no declaration, so the statement that
 * begins the fold decides. */
static bool is_begun_in(const rd_schedule *t, int32_t pairs, int32_t store)
{
    if (t->store[store].fold < 0)
        return is_declared_in(t, pairs, store);
    for (int32_t s = pairs; s >= 0; s = rd_next_stmt(t, s, pairs))
        if (t->stmt[s].kind == RD_S_BEGIN && t->stmt[s].store == store)
            return true;
    return false;
}

/* Makes each array that belongs to a pair `points` times as large, as a thread takes so many
 * points at once. Arrays in shared memory hold whole tiles already. */
static void give_points_room(rd_schedule *t, int32_t pairs, int32_t points)
{
    for (int32_t k = 0; k < t->n_store; k++) {
        rd_tree_array *a = &t->store[k];

        if (a->storage == RD_IN_BLOCK || !is_begun_in(t, pairs, k))
            continue;
        a->extent *= points;
        a->cell_stride *= points; /* a cell's states of all points lie together */
        a->copies = points;       /* one for each point */
    }
}

/* Returns the position at + coef * (point - first point): for example + 4*(i2 - m6). `axis` is
 * that of points, `start` the mark bound to the first point that the thread takes at once. */
static rd_linear at_point(rd_schedule *t, rd_linear at, int64_t coef, int32_t axis, int32_t start)
{
    at = rd_linear_plus_axis(t, at, coef, axis);
    return rd_linear_plus_axis(t, at, -coef, start);
}

/* Lets an access inside a pair use the part of its array that belongs to the point at hand. Only
 * arrays with copies have parts. A statement of a fold names its states (accumulators) by
 * `fold_at.state_offset`; a load or a store has an address. `width`: elements of a part, `axis`: of
 * points, `start`: the mark of the first point. Declarations and beginnings are of all parts. */
static void use_own_part(rd_schedule *t, int32_t stmt, int64_t width, int32_t axis, int32_t start)
{
    const rd_stmt s     = t->stmt[stmt];
    const bool    load  = s.kind == RD_S_LET && t->let[s.value].kind == RD_I_LOAD;
    const int32_t store = load ? t->let[s.value].store : s.store;
    rd_linear     at;

    if (store < 0 || !t->store[store].copies || s.kind == RD_S_ARRAY || s.kind == RD_S_BEGIN)
        return;
    at = load ? t->let[s.value].at : s.fold >= 0 ? s.fold_at.state_offset : s.at;
    at = at_point(t, at, width, axis, start);
    if (load)
        t->let[s.value].at = at;
    else if (s.fold >= 0)
        t->stmt[stmt].fold_at.state_offset = at;
    else
        t->stmt[stmt].at = at;
}

/* True if the statement loads from a tile of points: an array in shared memory that all threads
 * of the block share. (per_thread > 0: an array of results, in which each thread has elements of
 * its own.) */
static bool is_tile_load(const rd_schedule *t, int32_t stmt)
{
    const rd_tree_value *let = rd_let_of(t, stmt);

    return let && let->kind == RD_I_LOAD && let->store >= 0 &&
           t->store[let->store].storage == RD_IN_BLOCK && !t->store[let->store].per_thread;
}

/* True if the statement declares an array or begins a fold. */
static bool is_beginning(const rd_schedule *t, int32_t stmt)
{
    return t->stmt[stmt].kind == RD_S_ARRAY || t->stmt[stmt].kind == RD_S_BEGIN;
}

/* Moves all declarations of arrays and beginnings of folds to the front of the loop's body, so
 * that the jam, which goes around the rest, repeats none. Returns the first statement of the
 * rest, -1: there is none. */
static int32_t begin_first(rd_schedule *t, int32_t loop)
{
    int32_t first = t->stmt[loop].first;

    for (int32_t s = first, next; s >= 0; s = next) {
        next = t->stmt[s].next;
        if (!is_beginning(t, s))
            continue;
        if (s == first)
            first = next;
        else {
            rd_take_out(t, s);
            rd_put_before(t, s, first);
        }
    }
    return first;
}

/* Unroll-and-jam: a thread takes `points` points through the body side by side (register
 * blocking). The loop goes by so many points; the jam, a loop inside, holds them. Loads from a
 * tile become vector loads of all these points. */
static void unroll_jam(rd_schedule *t, const rd_gpu_plan *plan, int32_t loop, int32_t points)
{
    const int32_t start = rd_add_mark(t), first = begin_first(t, loop),
                  axis = rd_loop_of(t, loop)->axis;
    rd_for jam         = *rd_loop_of(t, loop);

    if (t->failed || first < 0)
        return;
    for (int32_t s = first; s >= 0; s = t->stmt[s].next)
        for (int32_t k = s; k >= 0 && !t->failed; k = rd_next_stmt(t, k, s)) {
            use_own_part(t, k, plan->width, axis, start);
            if (is_tile_load(t, k))
                t->stmt[k].vector_width = points;
        }
    jam.kind         = RD_FOR_JAM;
    jam.from         = rd_edge_of(mark(t, start, /*offset=*/0));
    jam.to           = rd_edge_of(mark(t, start, points));
    jam.extent       = points;
    jam.program_loop = -1; /* it comes from no loop of the program */
    rd_put_loop_around(t, first, t->stmt[loop].last, &jam);
    t->loop[t->stmt[loop].arg].start_mark = start;
    t->loop[t->stmt[loop].arg].step       = points;
}

/* ---- The whole loop -------------------------------------------------------------------------- */
/* Makes the loop `pairs` go over the groups of points_at_once points of a block (64 points), and
 * adds a copy for the points left over, one by one. A group of one point needs no second loop.
 * Returns the last loop. `whole_end` is the end of the block rounded down to whole groups, where
 * one loop ends and the other begins. by = 0: no rounding. `l` is looked up again, as mark() may
 * move the tree's arrays. */
static int32_t split_points(rd_schedule *t, const rd_gpu_plan *plan, int32_t pairs,
                            const rd_for *blocks)
{
    const int32_t n         = plan->points_at_once;
    const int32_t rest      = n > 1 ? rd_stmt_copy(t, pairs) : pairs;
    rd_edge_part  whole_end = { .at   = mark(t, blocks->stop_mark, /*offset=*/0),
                                .base = mark(t, blocks->start_mark, /*offset=*/0) };
    rd_for       *l;

    if (t->failed)
        return pairs;
    whole_end.multiple = n > 1 ? n : 0;
    l                  = &t->loop[t->stmt[pairs].arg];
    l->from            = rd_edge_of(mark(t, blocks->start_mark, /*offset=*/0));
    l                  = &t->loop[t->stmt[pairs].arg];
    l->to              = (rd_edge){ .n = 1, .part = { whole_end } };
    l->extent          = RD_TREE_STEPS / n;
    l->program_loop    = -1;
    unroll_jam(t, plan, pairs, n);
    if (n == 1 || t->failed)
        return pairs;
    l               = &t->loop[t->stmt[rest].arg];
    l->from         = (rd_edge){ .n = 1, .part = { whole_end } };
    l->to           = rd_edge_of(mark(t, blocks->stop_mark, /*offset=*/0));
    l               = &t->loop[t->stmt[rest].arg];
    l->extent       = n - 1;
    l->program_loop = -1;
    unroll_jam(t, plan, rest, /*points=*/1);
    rd_put_behind(t, rest, pairs);
    return rest;
}

/* Adds the loops that fill the shared arrays: those of results (`row`) before the loop over
 * tiles, as they serve all tiles; those of points at the front of each tile. `tile`: the loop
 * over tiles, `stop`: the mark behind a tile's last point. */
static void fill(rd_point_tiling *s, int32_t tile, int32_t stop)
{
    const int32_t first = s->t->stmt[tile].first;

    for (int32_t k = 0; k < s->n && !s->t->failed; k++)
        if (s->at[k].row)
            rd_put_before(s->t, rd_gpu_fill_results(s, &s->at[k]), tile);
        else
            rd_put_before(s->t, rd_gpu_fill_tile(s, &s->at[k], stop), first);
}

/* Makes the loop over points three nested loops: over tiles in shared memory, over blocks of the
 * combine tree, and over groups of points. Statements that begin a block for all cells, or
 * output elements (PUSH_IF_NEW), stand directly before the loop over groups, once for each
 * block; so they go into the loop over blocks with it. */
static void make_tiles(rd_point_tiling *s)
{
    rd_schedule *t    = s->t;
    rd_for       tile = *rd_loop_of(t, s->pairs), blocks;
    int32_t      made, last;

    tile.start_mark = s->tile = rd_add_mark(t);
    tile.stop_mark            = rd_add_mark(t);
    tile.step                 = s->plan->tile_points;
    tile.extent               = (tile.extent + tile.step - 1) / tile.step;
    tile.program_loop         = -1; /* it comes from no loop of the program */
    rd_gpu_load_from_tiles(s);
    rd_gpu_split_pair_loops(t, s->pairs);
    give_points_room(t, s->pairs, s->plan->points_at_once);
    blocks        = rd_gpu_block_loop(t, &tile);
    blocks.from   = rd_edge_of(mark(t, tile.start_mark, /*offset=*/0));
    blocks.to     = rd_edge_of(mark(t, tile.stop_mark, /*offset=*/0));
    blocks.extent = (s->plan->tile_points + RD_TREE_STEPS - 1) / RD_TREE_STEPS;
    rd_gpu_lift_block_begins(t, s->pairs, s->pairs, blocks.start_mark);
    last = split_points(t, s->plan, s->pairs, &blocks);
    if (t->failed)
        return;
    made = s->pairs;
    while (t->stmt[made].prev >= 0 && t->stmt[t->stmt[made].prev].kind == RD_S_PUSH_IF_NEW &&
           t->stmt[t->stmt[made].prev].all_cells)
        made = t->stmt[made].prev;
    made = rd_put_loop_around(t, made, last, &blocks);
    made = rd_put_loop_around(t, made, made, &tile);
    if (!t->failed)
        fill(s, made, tile.stop_mark);
}

/* The pass: tiles each loop over the points that all results read, plan->pairs (-1: there is
 * none). Tiles of points lie in shared memory. staging.item is the start mark of the item along
 * the results' axis: it is bound to a thread's first result; -1: there is no such loop. */
void rd_pass_gpu_point_tiles(rd_schedule *t, const rd_gpu_plan *plan)
{
    const int32_t body = t->part[RD_PART_BODY];

    for (int32_t s = body; s >= 0 && plan->pairs >= 0 && !t->failed; s = rd_next_stmt(t, s, body)) {
        rd_point_tiling staging = {
            .t = t, .plan = plan, .pairs = s, .vector_axis = plan->vector_axis
        };

        if (!is_loop(t, s) || rd_loop_of(t, s)->program_loop != plan->pairs)
            continue;
        staging.points = rd_loop_of(t, s)->axis;
        staging.item   = -1;
        for (int32_t k = rd_loop_around(t, s); k >= 0; k = rd_loop_around(t, k))
            if (rd_is_item_loop(t, k) && rd_loop_of(t, k)->axis == plan->vector_axis)
                staging.item = rd_loop_of(t, k)->start_mark;
        make_tiles(&staging);
    }
}
