/* round_loops.c - loops of rounds in an item.
 *
 * The body of such a loop is printed up to three times: for a batch of whole rounds, whose loads
 * come first; for one round, in which each thread asks whether it has all of its elements; and
 * for one round element by element:
 *
 *     for (int64_t v1 = 0; v1 < n;) {
 *         if (v1 >= 0 && v1 + 512 <= n && all of one block) {
 *             p5[u] = rd_take<float, 4>(..);          for u = 0 .. 7
 *             for u, for i: the body of element v1 + 64 * u + 4 * t + i
 *             v1 += 512; continue;
 *         }
 *         { the same of one round }
 *         for i: the body of element v1 + 4 * t + i, if it is there
 *         v1 += 64;
 *     }
 *
 * A round is a step of a loop: the elements that a team of threads, or one thread, takes at a time.
 * v1 is where the current round begins.  A block is 64 steps of a fold; before an element of a new
 * block is taken, the states of earlier blocks are pushed as nodes.
 *
 * Fields. A loop's `start` and `stop` are its marks, axes bound to where its round begins and ends,
 * -1: none. A term of a position with `axis` -1 is a value, an index that is read at run time. */
#include "core/combine_tree.h"
#include "kernels/loop/facts.h"
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>
#include <stdio.h>

/* True if the statement is a loop of the kind. */
static bool is_kind(const rd_printing *n, int32_t stmt, rd_for_kind kind)
{
    return n->t->stmt[stmt].kind == RD_S_LOOP && rd_loop_of(n->t, stmt)->kind == kind;
}

/* The first loop in a body; NULL if there is none. */
static const rd_for *loop_in(const rd_printing *n, int32_t stmt)
{
    for (int32_t s = n->t->stmt[stmt].first; s >= 0; s = n->t->stmt[s].next)
        if (n->t->stmt[s].kind == RD_S_LOOP)
            return rd_loop_of(n->t, s);
    return NULL;
}

/* True if the rounds are distributed over the threads of a team: a loop over threads inside has the
 * same axis. */
static bool is_shared(const rd_printing *n, int32_t rounds)
{
    for (int32_t s = n->t->stmt[rounds].first; s >= 0; s = rd_next_stmt(n->t, s, rounds))
        if (is_kind(n, s, RD_FOR_THREAD) &&
            rd_loop_of(n->t, s)->axis == rd_loop_of(n->t, rounds)->axis)
            return true;
    return false;
}

/* True if a thread's elements of a round lie a team apart: a vector loop inside goes by more than
 * 1. */
static bool is_apart(const rd_printing *n, int32_t rounds)
{
    const rd_for *in = loop_in(n, rounds);

    return in && in->kind == RD_FOR_VECTOR && in->step > 1;
}

/* The number of adjacent elements of a round, in a loop that one thread runs; 0 in other loops.  A
 * vector loop inside, over the same axis, keeps their order. */
static int32_t along_of(const rd_printing *n, int32_t rounds)
{
    const rd_for *in = loop_in(n, rounds);

    return in && in->in_order && in->step == 1 && in->axis == rd_loop_of(n->t, rounds)->axis
               ? (int32_t)in->extent
               : 0;
}

/* ---- Batches of rounds ----------------------------------------------------------------------- */
/* True if the position does not fall along the axis, and depends on no value (axis < 0). */
static bool is_rising_along(const rd_schedule *t, const rd_linear *at, int32_t axis)
{
    for (int32_t k = 0; k < at->n; k++)
        if (t->term[at->first + k].axis < 0)
            return false;
    return rd_linear_coef(t, at, axis) >= 0;
}

/* True if all elements of a batch are of one cell (accumulator) and their blocks do not fall, so
 * that blocks are pushed once for the batch.  The cell must be selected by no value, and a team's
 * threads must each have lanes of their own. */
static bool can_push_once(const rd_printing *n, int32_t rounds, const rd_stmt *s)
{
    const int32_t axis = rd_loop_of(n->t, rounds)->axis;

    if (n->t->p->fold[s->fold].scan || s->fold >= 64 || rd_linear_coef(n->t, &s->of.cell, axis) ||
        !is_rising_along(n->t, &s->of.lane, axis) || !is_rising_along(n->t, &s->of.outer, axis))
        return false;
    for (int32_t k = 0; k < s->of.cell.n; k++)
        if (n->t->term[s->of.cell.first + k].axis < 0)
            return false;
    return !is_shared(n, rounds) || n->t->store[s->store].per_thread;
}

/* The next RD_S_PUSH_IF_NEW of the rounds that can be done once for a batch; -1: there is none. */
static int32_t next_push(const rd_printing *n, int32_t rounds, int32_t last)
{
    int32_t s = rd_next_stmt(n->t, last, rounds);

    while (s >= 0 &&
           (n->t->stmt[s].kind != RD_S_PUSH_IF_NEW || !can_push_once(n, rounds, &n->t->stmt[s])))
        s = rd_next_stmt(n->t, s, rounds);
    return s;
}

/* Prints the block of an element of the batch: "{ const int64_t i1 = v1 + 448; last0 =
 * (uint64_t)(i1) / 64; }". */
static void print_block_of_round(rd_printing *n, int32_t rounds, const rd_stmt *s, const char *name,
                                 int64_t offset)
{
    const int32_t axis = rd_loop_of(n->t, rounds)->axis, saved = n->thread_loop;
    rd_text       step = { 0 };

    n->thread_loop = -1;
    rd_print_step_number(n, &step, s);
    rd_print_line(n,
                  "{ const int64_t i%" PRId32 " = v%" PRId32 " + %" PRId64 "; %s%" PRId32
                  " = (uint64_t)(%s) / %d; }",
                  axis, axis, offset, name, s->fold, step.at, RD_TREE_STEPS);
    n->thread_loop = saved;
    rd_text_end(&step, n->to);
}

/* Prints "uint64_t first0, last0; ..": the blocks of the first and of the last round of a batch. */
static void print_block_range(rd_printing *n, int32_t rounds, const rd_stmt *s, int32_t ahead)
{
    const int32_t along = along_of(n, rounds);
    const int64_t rest  = along ? along - 1 : n->kernel->apart ? n->kernel->team : 0;

    rd_print_line(n, "uint64_t first%" PRId32 ", last%" PRId32 ";", s->fold, s->fold);
    print_block_of_round(n, rounds, s, "first", 0);
    print_block_of_round(n, rounds, s, "last", (ahead - 1) * rd_loop_of(n->t, rounds)->step + rest);
}

/* Prints how all cells (accumulators) of a thread begin block first0; neighbours with states of
 * their own, in a loop:
 *
 *     while (b0[0] < (int64_t)first0) { push0(..); b0[0]++; } */
static void print_pushes(rd_printing *n, int32_t rounds, int32_t stmt)
{
    const rd_stmt *s      = &n->t->stmt[stmt];
    const int32_t  around = rd_loop_around(n->t, stmt), saved = n->thread_loop;
    const bool     each = s->of.more.n > 0;
    char           block[32];

    snprintf(block, sizeof block, "(int64_t)first%" PRId32, s->fold);
    if (each) {
        rd_print_line(n, "RD_UNROLL for (int i = 0; i < %" PRId64 "; i++) {",
                      rd_loop_of(n->t, around)->extent);
        n->thread_loop = around;
        n->indent++;
    }
    rd_print_push_blocks(n, s, block);
    if (each) {
        n->thread_loop = saved;
        n->indent--;
        rd_print_line(n, "}");
    }
    if (s->fold < RD_GPU_MOST_FOLDS)
        n->kernel->block_begun |= UINT64_C(1) << s->fold;
    (void)rounds;
}

/* Adds the condition that all rounds of a batch are there: "v1 >= lo && v1 + 512 <= hi".  Of one
 * round it is about the elements of this thread: "v1 + 4 * t >= lo && v1 + 4 * t + 4 <= hi". */
static void add_whole(rd_printing *n, rd_text *to, int32_t rounds, int32_t ahead)
{
    const rd_for *loop  = rd_loop_of(n->t, rounds);
    const bool    own   = ahead == 1 && is_shared(n, rounds) && !n->kernel->apart;
    const int64_t width = own ? loop_in(n, rounds)->step : 0;
    rd_text       lo = { 0 }, hi = { 0 };

    rd_print_linear(n, &lo, &loop->from.part[0].at);
    rd_print_linear(n, &hi, &loop->to.part[0].at);
    if (own)
        rd_text_add(to,
                    "v%" PRId32 " + %" PRId64 " * t >= %s && v%" PRId32 " + %" PRId64
                    " * t + %" PRId64 " <= %s",
                    loop->axis, width, lo.at, loop->axis, width, width, hi.at);
    else
        rd_text_add(to, "v%" PRId32 " >= %s && v%" PRId32 " + %" PRId64 " <= %s", loop->axis, lo.at,
                    loop->axis, ahead * loop->step, hi.at);
    if (along_of(n, rounds)) /* vectors are aligned there */
        rd_text_add(to, " && v%" PRId32 " %% %" PRId64 " == 0", loop->axis, loop->step);
    rd_text_end(&lo, n->to);
    rd_text_end(&hi, n->to);
}

/* Prints a batch of rounds:
 *
 *     if (all rounds are there, in one block) { loads; bodies; v1 += 512; continue; } */
static void print_batch(rd_printing *n, int32_t rounds, int32_t ahead)
{
    const rd_for *loop = rd_loop_of(n->t, rounds);
    rd_text       when = { 0 };

    add_whole(n, &when, rounds, ahead);
    for (int32_t s = next_push(n, rounds, rounds); s >= 0; s = next_push(n, rounds, s)) {
        print_block_range(n, rounds, &n->t->stmt[s], ahead);
        rd_text_add(&when, " && first%" PRId32 " == last%" PRId32, n->t->stmt[s].fold,
                    n->t->stmt[s].fold);
    }
    rd_print_line(n, "if (%s) {", when.at);
    n->indent++;
    n->kernel->strategy = RD_ROUND_BATCHED;
    rd_print_declare_vector_loads(n, rounds, ahead);
    rd_print_vector_loads(n, rounds, ahead);
    for (int32_t s = next_push(n, rounds, rounds); s >= 0; s = next_push(n, rounds, s))
        print_pushes(n, rounds, s);
    rd_print_line(n, "RD_UNROLL for (int u = 0; u < %" PRId32 "; u++) {", ahead);
    n->indent++;
    rd_print_round(n, rounds, "u");
    rd_print_body(n, rounds);
    n->indent--;
    rd_print_line(n, "}");
    rd_print_line(n, "v%" PRId32 " += %" PRId64 ";", loop->axis, ahead * loop->step);
    rd_print_line(n, "continue;");
    n->indent--;
    rd_print_line(n, "}");
    n->kernel->strategy    = RD_ROUND_SINGLE;
    n->kernel->block_begun = 0;
    rd_text_end(&when, n->to);
}

/* ---- All rounds ------------------------------------------------------------------------------ */
/* Prints "for (int64_t v1 = lo; v1 < hi;) {".  If lanes (partial accumulators) lie along the loop
 * (by > 1), rounds begin with the first lane, so perhaps before lo. */
static void open_rounds(rd_printing *n, const rd_for *loop)
{
    const rd_edge_part *part = &loop->from.part[0];
    rd_text             lo = { 0 }, hi = { 0 }, first = { 0 };

    rd_print_linear(n, &lo, &part->at);
    rd_print_linear(n, &hi, &loop->to.part[0].at);
    if (part->by > 1) {
        rd_print_linear(n, &first, &part->first);
        rd_print_line(
            n, "for (int64_t v%" PRId32 " = %s - (%s - (%s)) %% %" PRId64 "; v%" PRId32 " < %s;) {",
            loop->axis, lo.at, lo.at, first.at, part->by, loop->axis, hi.at);
    } else
        rd_print_line(n, "for (int64_t v%" PRId32 " = %s; v%" PRId32 " < %s;) {", loop->axis, lo.at,
                      loop->axis, hi.at);
    rd_text_end(&lo, n->to);
    rd_text_end(&hi, n->to);
    rd_text_end(&first, n->to);
}

/* Prints one round element by element: "{ const int64_t m0 = v1 + 0 * 64; .. } v1 += 64;".  In a
 * loop that one thread runs it is one element. */
static void print_single(rd_printing *n, int32_t rounds)
{
    const rd_for *loop = rd_loop_of(n->t, rounds);

    rd_print_line(n, "{");
    n->indent++;
    rd_print_round(n, rounds, "0");
    rd_print_body(n, rounds);
    n->indent--;
    rd_print_line(n, "}");
    rd_print_line(n, "v%" PRId32 " += %" PRId64 ";", loop->axis,
                  along_of(n, rounds) ? 1 : loop->step);
}

/* Prints a loop of rounds with all forms of its body: a batch if loads come first (prefetched), one
 * whole round if it has vector accesses, and single elements. */
static void print_rounds(rd_printing *n, int32_t rounds)
{
    const rd_for   *loop = rd_loop_of(n->t, rounds);
    const rd_kernel kept = *n->kernel;

    n->kernel->rounds   = rounds;
    n->kernel->strategy = RD_ROUND_SINGLE;
    n->kernel->apart    = is_apart(n, rounds);
    open_rounds(n, loop);
    n->indent++;
    if (loop->prefetched)
        print_batch(n, rounds, loop->prefetched);
    if (loop->prefetched > 1 && rd_has_vector_access(n, rounds) && is_shared(n, rounds) &&
        !n->kernel->apart) {
        rd_print_line(n, "{");
        n->indent++;
        print_batch(n, rounds, 1);
        n->indent--;
        rd_print_line(n, "}");
    }
    print_single(n, rounds);
    n->indent--;
    rd_print_line(n, "}");
    n->kernel->rounds   = kept.rounds;
    n->kernel->strategy = kept.strategy;
    n->kernel->apart    = kept.apart;
}

/* Prints a loop of a kernel, by its kind.  A serial loop without marks (variables with the ends of
 * a range) and batches has the text of C; false then. */
bool rd_print_kernel_loop(rd_printing *n, int32_t stmt)
{
    const rd_for *loop = rd_loop_of(n->t, stmt);

    if (n->kernel->pairs && rd_print_point_loop(n, stmt))
        return true;
    if (loop->by_block) /* the backend prints this loop, around the items of a block */
        return true;
    switch (loop->kind) {
    case RD_FOR_THREAD: rd_print_thread_loop(n, stmt); return true;
    case RD_FOR_VECTOR: rd_print_thread_vector(n, stmt); return true;
    case RD_FOR_SERIAL:
        if (loop->prefetched == 0 && loop->start < 0) {
            if (n->kernel->transposes)
                rd_print_line(n, "RD_UNROLL_FEW");
            return false;
        }
        (n->kernel->look_back ? rd_print_scan_tile_loop : print_rounds)(n, stmt);
        return true;
    default: return false;
    }
}
