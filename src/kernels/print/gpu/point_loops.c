/* point_loops.c - loops over the points that all results use (pass/gpu/point_tiles.c):
 *
 *     for (int64_t m2 = 0; m2 < N; m2 += 128) {
 *         const int64_t m3 = RD_LESS(m2 + 128, N); const int n = (int)(m3 - m2);
 *         RD_SYNC_BLOCK
 *         all threads of the block fill tiles
 *         RD_SYNC_BLOCK
 *         for (int b = 0; b < n; b += 64) {
 *             const int end = RD_LESS(b + 64, n); const int64_t m4 = m2 + b;
 *             cells begin the block
 *             int k = b;
 *             RD_ONE_BY_ONE for (; k + 4 <= end; k += 4) {
 *                 const int64_t m6 = m2 + k;
 *                 RD_UNROLL for (int i1 = 0; i1 < 3; i1++) {
 *                     const rd_pack<float, 4> p9 = RD_TAKE_SHARED(float, 4, tile3, ..);
 *                     RD_UNROLL for (int e = 0; e < 4; e++) RD_UNROLL for (int i = 0; i < 4; i++) {
 *                         const int64_t i2 = m6 + e;
 *                         the body of a pair
 *                     }
 *                 }
 *             }
 *             RD_ONE_BY_ONE for (; k + 1 <= end; k += 1) { .. }
 *         }
 *     }
 *
 * Indices of points count from the tile's first one, in the 32 bits of shared-memory addresses.
 *
 * A pair is a result and a point; m2 to m6 are marks: variables with where a tile, a block of the
 * combine tree, or a group of points begins.  A jam is the loop over the points of a group, which
 * all loops inside take side by side. */
#include "core/combine_tree.h"
#include "kernels/loop/facts.h"
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>

/* ---- Kinds of loop --------------------------------------------------------------------------- */
/* Returns the loop of a statement; NULL: the statement is no loop, or -1. */
static const rd_for *loop_at(const rd_printing *n, int32_t stmt)
{
    return stmt >= 0 && n->t->stmt[stmt].kind == RD_S_LOOP ? rd_loop_of(n->t, stmt) : NULL;
}

/* True if the statement is an unroll-and-jam loop: a thread takes its points through the body
 * side by side. */
static bool is_jam(const rd_printing *n, int32_t stmt)
{
    const rd_for *l = loop_at(n, stmt);

    return l && l->kind == RD_FOR_JAM;
}

/* True if the statement is a loop over groups of points, which the jam takes at once. The jam is
 * its last statement. */
static bool is_point_loop(const rd_printing *n, int32_t stmt)
{
    return loop_at(n, stmt) && is_jam(n, n->t->stmt[stmt].last);
}

/* True if the statement is a loop over blocks of 64 points. Its last statement is a loop over
 * groups of points. */
static bool is_block_loop(const rd_printing *n, int32_t stmt)
{
    return loop_at(n, stmt) && is_point_loop(n, n->t->stmt[stmt].last);
}

/* True if the statement is a loop over tiles of points in shared memory. Its last statement is a
 * loop over blocks of 64 points. */
static bool is_tile_loop(const rd_printing *n, int32_t stmt)
{
    return loop_at(n, stmt) && is_block_loop(n, n->t->stmt[stmt].last);
}

/* ---- Lines ----------------------------------------------------------------------------------- */
/* Returns the name of an axis as text: "i1", or "m2" of a mark. The caller frees it. */
static rd_text text_of_axis(const rd_printing *n, int32_t axis)
{
    rd_text text = { 0 };

    rd_print_axis(n, &text, axis);
    return text;
}

/* Returns a position as text: "m0 + 64". The caller frees it. */
static rd_text text_of(rd_printing *n, const rd_linear *at)
{
    rd_text text = { 0 };

    rd_print_linear(n, &text, at);
    return text;
}

/* ---- Tiles and blocks ------------------------------------------------------------------------ */
/* Prints the loop over tiles of points. All threads of the block fill its arrays between two
 * barriers; the last statement of its body is the loop over blocks. m2 and m3 are the tile's
 * first point and the one behind its last, n its number of points.
 *
 *     for (int64_t m2 = 0; m2 < N; m2 += 128) {
 *         const int64_t m3 = RD_LESS(m2 + 128, N);
 *         const int n = (int)(m3 - m2); */
static void print_tile(rd_printing *n, int32_t stmt)
{
    const rd_for *l    = rd_loop_of(n->t, stmt);
    rd_text       from = text_of(n, &l->from.part[0].at), to = text_of(n, &l->to.part[0].at);
    rd_text       start = text_of_axis(n, l->start_mark), stop = text_of_axis(n, l->stop_mark);

    rd_print_line(n, "for (int64_t %s = %s; %s < %s; %s += %" PRId64 ") {", start.at, from.at,
                  start.at, to.at, start.at, l->step);
    n->indent++;
    rd_print_line(n, "const int64_t %s = RD_LESS(%s + %" PRId64 ", %s);", stop.at, start.at,
                  l->step, to.at);
    rd_print_line(n, "const int n = (int)(%s - %s);", stop.at, start.at);
    rd_print_line(n, "RD_SYNC_BLOCK");
    for (int32_t s = n->t->stmt[stmt].first; s != n->t->stmt[stmt].last; s = n->t->stmt[s].next)
        rd_print_fill_tile(n, s);
    rd_print_line(n, "RD_SYNC_BLOCK");
    rd_print_kernel_loop(n, n->t->stmt[stmt].last);
    rd_print_close(n);
    rd_text_end(&from, n->to);
    rd_text_end(&to, n->to);
    rd_text_end(&start, n->to);
    rd_text_end(&stop, n->to);
}

/* Returns bits of the folds that begin a block of the combine tree for all their cells (output
 * elements), by a statement directly in the body. */
static uint64_t begun_in(const rd_printing *n, int32_t body)
{
    uint64_t begun = 0;

    for (int32_t s = n->t->stmt[body].first; s >= 0; s = n->t->stmt[s].next)
        if (n->t->stmt[s].kind == RD_S_PUSH_IF_NEW && n->t->stmt[s].all_cells)
            begun |= UINT64_C(1) << n->t->stmt[s].fold;
    return begun;
}

/* Prints the body of a loop over blocks of 64 steps. Steps inside need not ask whether a block
 * begins, if the body has begun it for all cells (block_begun: bits of folds). */
static void print_body_of_blocks(rd_printing *n, int32_t stmt)
{
    const uint64_t begun = n->kernel->block_begun;

    n->kernel->block_begun |= begun_in(n, stmt);
    rd_print_body(n, stmt);
    n->kernel->block_begun = begun;
}

/* Prints the loop over the blocks of 64 points of a tile. b and k count points from the tile's
 * first one; k is where the next loop over groups begins, m4 the block's first point.
 *
 *     for (int b = 0; b < n; b += 64) {
 *         const int end = RD_LESS(b + 64, n);
 *         const int64_t m4 = m2 + b;
 *         int k = b; */
static void print_blocks(rd_printing *n, int32_t stmt)
{
    const rd_for *l    = rd_loop_of(n->t, stmt);
    rd_text       from = text_of(n, &l->from.part[0].at), start = text_of_axis(n, l->start_mark);

    rd_print_line(n, "for (int b = 0; b < n; b += %" PRId64 ") {", l->step);
    n->indent++;
    rd_print_line(n, "const int end = RD_LESS(b + %" PRId64 ", n);", l->step);
    rd_print_line(n, "const int64_t %s = %s + b;", start.at, from.at);
    rd_print_line(n, "int k = b;");
    print_body_of_blocks(n, stmt);
    rd_print_close(n);
    rd_text_end(&from, n->to);
    rd_text_end(&start, n->to);
}

/* Prints a loop over groups of points. It begins where the loop before it has ended, as both count
 * with k; `start` is the mark bound to the group's first point.
 *
 *     RD_ONE_BY_ONE for (; k + 4 <= end; k += 4) {
 *
 * The loop over tiles is two loops further out. */
static void print_points(rd_printing *n, int32_t stmt)
{
    const rd_for *l     = rd_loop_of(n->t, stmt);
    const rd_for *tile  = rd_loop_of(n->t, rd_loop_around(n->t, rd_loop_around(n->t, stmt)));
    rd_text       start = text_of_axis(n, l->start_mark), first = text_of_axis(n, tile->start_mark);

    rd_print_line(n, "RD_ONE_BY_ONE for (; k + %" PRId64 " <= end; k += %" PRId64 ") {", l->step,
                  l->step);
    n->indent++;
    rd_print_line(n, "const int64_t %s = %s + k;", start.at, first.at);
    rd_print_body(n, stmt);
    rd_print_close(n);
    rd_text_end(&start, n->to);
    rd_text_end(&first, n->to);
}

/* ---- In a pair ------------------------------------------------------------------------------- */
/* Prints a loop over blocks of 64 elements inside a pair (a result and a point), where a fold
 * goes over a point's elements: "for (int m7 = 0; m7 < (int)N; m7 += 64) { const int m8 =
 * RD_LESS(m7 + 64, (int)N);". */
static void print_blocks_in_pair(rd_printing *n, int32_t stmt)
{
    const rd_for *l     = rd_loop_of(n->t, stmt);
    rd_text       start = text_of_axis(n, l->start_mark), stop = text_of_axis(n, l->stop_mark),
            to = text_of(n, &l->to.part[0].at);

    rd_print_line(n, "for (int %s = 0; %s < (int)%s; %s += %" PRId64 ") {", start.at, start.at,
                  to.at, start.at, l->step);
    n->indent++;
    rd_print_line(n, "const int %s = RD_LESS(%s + %" PRId64 ", (int)%s);", stop.at, start.at,
                  l->step, to.at);
    print_body_of_blocks(n, stmt);
    rd_print_close(n);
    rd_text_end(&start, n->to);
    rd_text_end(&stop, n->to);
    rd_text_end(&to, n->to);
}

/* Prints a loop over the elements of a point, such as its coordinates: "RD_UNROLL for (int i1 = 0;
 * i1 < (int)N; i1++) {". Axes short enough for the text to spell out their extent
 * (dialect->spelled) are unrolled wholly, as the compiler knows the count; others by a few. */
static void print_loop_in_pair(rd_printing *n, int32_t stmt)
{
    const rd_for *l    = rd_loop_of(n->t, stmt);
    rd_text       from = text_of(n, &l->from.part[0].at), to = text_of(n, &l->to.part[0].at);

    rd_print_line(n, "%s for (int i%" PRId32 " = %s; i%" PRId32 " < (int)%s; i%" PRId32 "++) {",
                  n->t->p->axis_extent[l->axis] <= n->dialect->spelled ? "RD_UNROLL"
                                                                       : "RD_UNROLL_FEW",
                  l->axis, from.at, l->axis, to.at, l->axis);
    n->indent++;
    rd_print_body(n, stmt);
    rd_print_close(n);
    rd_text_end(&from, n->to);
    rd_text_end(&to, n->to);
}

/* Prints the body of all pairs that a thread has at once: its points e times its results i. The
 * vectors of points and results are loaded from shared memory before, deferred steps follow behind.
 *
 *     RD_UNROLL for (int e = 0; e < 4; e++) RD_UNROLL for (int i = 0; i < 4; i++) {
 *
 * Positions inside name element i of this loop (n->thread_loop). */
static void print_elements(rd_printing *n, int32_t stmt)
{
    const rd_for *l = rd_loop_of(n->t, stmt), *jam = rd_loop_of(n->t, n->jam);
    const int32_t saved = n->thread_loop;

    rd_print_declare_deferred(n, stmt);
    for (int32_t s = n->t->stmt[stmt].first; s >= 0; s = n->t->stmt[s].next)
        if (rd_is_tile_load(n, s))
            rd_print_tile_vector_load(n, s, stmt);
    rd_print_line(n,
                  "RD_UNROLL for (int e = 0; e < %" PRId64
                  "; e++) RD_UNROLL for (int i = 0; i < %" PRId64 "; i++) {",
                  jam->extent, l->extent);
    n->indent++;
    rd_print_pair_indices(n, stmt);
    n->thread_loop = stmt;
    rd_print_body(n, stmt);
    rd_print_close(n);
    n->thread_loop = saved;
    rd_print_deferred_steps(n, stmt);
}

/* Prints the body of an unroll-and-jam loop. It prints no loop itself: n->jam tells the loops
 * inside that each of them goes over the jam's points, too. n->jam 0: there is no jam. */
static void print_jam(rd_printing *n, int32_t stmt)
{
    n->jam = stmt;
    rd_print_body(n, stmt);
    n->jam = 0;
}

/* Prints a loop over points, or a loop inside of a jam, by its kind. False: it has the text of
 * other loops. Inside of a jam a loop with a start mark goes over blocks of 64 elements, one
 * without over single elements. */
bool rd_print_point_loop(rd_printing *n, int32_t stmt)
{
    const rd_for *l = rd_loop_of(n->t, stmt);

    if (is_jam(n, stmt))
        print_jam(n, stmt);
    else if (is_point_loop(n, stmt))
        print_points(n, stmt);
    else if (is_block_loop(n, stmt))
        print_blocks(n, stmt);
    else if (is_tile_loop(n, stmt))
        print_tile(n, stmt);
    else if (n->jam && l->kind == RD_FOR_VECTOR)
        print_elements(n, stmt);
    else if (n->jam)
        (l->start_mark >= 0 ? print_blocks_in_pair : print_loop_in_pair)(n, stmt);
    else
        return false;
    return true;
}
