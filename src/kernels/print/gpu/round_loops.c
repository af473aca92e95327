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
 * Fields. A loop's `start_mark` and `stop_mark` are its marks, axes bound to where its round begins
 * and ends, -1: none. A term of a position with `axis` -1 is a value, an index that is read at run
 * time. */
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

/* Returns the first loop of a body; NULL: there is none. */
static const rd_for *loop_in(const rd_printing *n, int32_t stmt)
{
    for (int32_t s = n->t->stmt[stmt].first; s >= 0; s = n->t->stmt[s].next)
        if (n->t->stmt[s].kind == RD_S_LOOP)
            return rd_loop_of(n->t, s);
    return NULL;
}

/* True if the rounds are distributed over the threads of a team: a loop over threads inside goes
 * along the same axis. */
static bool is_shared(const rd_printing *n, int32_t rounds)
{
    for (int32_t s = n->t->stmt[rounds].first; s >= 0; s = rd_next_stmt(n->t, s, rounds))
        if (is_kind(n, s, RD_FOR_THREAD) &&
            rd_loop_of(n->t, s)->axis == rd_loop_of(n->t, rounds)->axis)
            return true;
    return false;
}

/* True if a thread's elements of a round lie a team apart: the vector loop inside has a step
 * above 1, and stands outside of the threads. */
static bool is_apart(const rd_printing *n, int32_t rounds)
{
    const rd_for *in = loop_in(n, rounds);

    return in && in->kind == RD_FOR_VECTOR && in->step > 1;
}

/* Returns the adjacent elements of a round, in a loop that one thread runs with vector loads; 0:
 * it is no such loop. It has a vector loop inside, over the same axis, that keeps the order of
 * elements. */
static int32_t along_of(const rd_printing *n, int32_t rounds)
{
    const rd_for *inner = loop_in(n, rounds);

    return inner && inner->in_order && inner->step == 1 &&
                   inner->axis == rd_loop_of(n->t, rounds)->axis
               ? (int32_t)inner->extent
               : 0;
}

/* ---- Batches of rounds ----------------------------------------------------------------------- */
/* True if the position does not fall along the axis, and contains no value that is read at run
 * time (a term with axis < 0). */
static bool is_rising_along(const rd_schedule *t, const rd_linear *at, int32_t axis)
{
    for (int32_t k = 0; k < at->n; k++)
        if (t->term[at->first + k].axis < 0)
            return false;
    return rd_linear_coef(t, at, axis) >= 0;
}

/* True if a batch of rounds may begin a block of the fold once, before its elements: then it
 * pushes the finished blocks (their results become nodes of the combine tree). All elements must
 * be of one cell (output element), which no value selects, and their blocks must not fall. Scans
 * end blocks in their own way. If a team shares the rounds, each thread must have lanes (partial
 * accumulators) of its own. 64: bits of a word. */
static bool can_push_once(const rd_printing *n, int32_t rounds, const rd_stmt *s)
{
    const int32_t axis = rd_loop_of(n->t, rounds)->axis;

    if (n->t->p->fold[s->fold].scan || s->fold >= 64 ||
        rd_linear_coef(n->t, &s->fold_at.cell, axis) ||
        !is_rising_along(n->t, &s->fold_at.lane, axis) ||
        !is_rising_along(n->t, &s->fold_at.lane_line, axis))
        return false;
    for (int32_t k = 0; k < s->fold_at.cell.n; k++)
        if (n->t->term[s->fold_at.cell.first + k].axis < 0)
            return false;
    return !is_shared(n, rounds) || n->t->store[s->store].per_thread;
}

/* Returns the next statement of the rounds that begins a new block (of 64 steps) where an
 * element is of one (PUSH_IF_NEW), behind `last`. It can be done once for a whole batch; -1:
 * there is none. */
static int32_t next_push(const rd_printing *n, int32_t rounds, int32_t last)
{
    int32_t s = rd_next_stmt(n->t, last, rounds);

    while (s >= 0 &&
           (n->t->stmt[s].kind != RD_S_PUSH_IF_NEW || !can_push_once(n, rounds, &n->t->stmt[s])))
        s = rd_next_stmt(n->t, s, rounds);
    return s;
}

/* Prints the block (64 steps) of the element at v1 + offset, v1 being the batch's first index:
 * "{ const int64_t i1 = v1 + 448; last0 = (uint64_t)(i1) / 64; }". thread_loop is set aside so
 * that the index prints as i1, not as a thread's element. */
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

/* Prints "uint64_t first0, last0; ..": the block (64 steps of a fold) of the first element of a
 * batch, and of the last round in it. `rest`: how far behind the start of that round this
 * thread's last element lies. */
static void print_block_range(rd_printing *n, int32_t rounds, const rd_stmt *s, int32_t ahead)
{
    const int32_t along = along_of(n, rounds);
    const int64_t rest  = along ? along - 1 : n->kernel->apart ? n->kernel->team : 0;

    rd_print_line(n, "uint64_t first%" PRId32 ", last%" PRId32 ";", s->fold, s->fold);
    print_block_of_round(n, rounds, s, "first", /*offset=*/0);
    print_block_of_round(n, rounds, s, "last", (ahead - 1) * rd_loop_of(n->t, rounds)->step + rest);
}

/* Prints how a thread's cell (output element) begins block first0: earlier blocks end, and are
 * pushed as nodes of the combine tree. If neighbours in an item have states (accumulators) of
 * their own (`fold_at.state_offset`), it does so in a loop over them. A bit of block_begun notes
 * the fold, so that its steps in the batch do not ask again.
 *
 *     while (b0[0] < (int64_t)first0) { push0(..); b0[0]++; } */
static void print_pushes(rd_printing *n, int32_t rounds, int32_t stmt)
{
    const rd_stmt *s      = &n->t->stmt[stmt];
    const int32_t  around = rd_loop_around(n->t, stmt), saved = n->thread_loop;
    const bool     has_neighbours = s->fold_at.state_offset.n > 0;
    char           block[32];

    snprintf(block, sizeof block, "(int64_t)first%" PRId32, s->fold);
    if (has_neighbours) {
        rd_print_line(n, "RD_UNROLL for (int i = 0; i < %" PRId64 "; i++) {",
                      rd_loop_of(n->t, around)->extent);
        n->thread_loop = around;
        n->indent++;
    }
    rd_print_push_blocks(n, s, block);
    if (has_neighbours) {
        n->thread_loop = saved;
        n->indent--;
        rd_print_line(n, "}");
    }
    if (s->fold < RD_GPU_MOST_FOLDS)
        n->kernel->block_begun |= UINT64_C(1) << s->fold;
    (void)rounds;
}

/* Adds the condition that all elements of a batch exist: "v1 >= lo && v1 + 512 <= hi". For one
 * round (`ahead` 1) of a shared loop it is about this thread's elements alone: "v1 + 4 * t >= lo
 * && v1 + 4 * t + 4 <= hi". In a loop of vector loads by one thread, v1 must also be a multiple
 * of the vector, as single rounds before go by one element. */
static void add_whole(rd_printing *n, rd_text *to, int32_t rounds, int32_t ahead)
{
    const rd_for *loop         = rd_loop_of(n->t, rounds);
    const bool    own_elements = ahead == 1 && is_shared(n, rounds) && !n->kernel->apart;
    const int64_t width        = own_elements ? loop_in(n, rounds)->step : 0;
    rd_text       lo = { 0 }, hi = { 0 };

    rd_print_linear(n, &lo, &loop->from.part[0].at);
    rd_print_linear(n, &hi, &loop->to.part[0].at);
    if (own_elements)
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

/* Prints a batch of `ahead` rounds. It runs if all elements exist and each fold's elements are
 * of one block (64 steps); then loads are issued first, and steps test nothing.
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
/* Prints "for (int64_t v1 = lo; v1 < hi;) {". If the threads own lanes (partial accumulators),
 * each round must begin at lane 0: so v1 begins at a multiple of `multiple` from `base`, perhaps
 * before lo. */
static void open_rounds(rd_printing *n, const rd_for *loop)
{
    const rd_edge_part *part = &loop->from.part[0];
    rd_text             lo = { 0 }, hi = { 0 }, first = { 0 };

    rd_print_linear(n, &lo, &part->at);
    rd_print_linear(n, &hi, &loop->to.part[0].at);
    if (part->multiple > 1) {
        rd_print_linear(n, &first, &part->base);
        rd_print_line(
            n, "for (int64_t v%" PRId32 " = %s - (%s - (%s)) %% %" PRId64 "; v%" PRId32 " < %s;) {",
            loop->axis, lo.at, lo.at, first.at, part->multiple, loop->axis, hi.at);
    } else
        rd_print_line(n, "for (int64_t v%" PRId32 " = %s; v%" PRId32 " < %s;) {", loop->axis, lo.at,
                      loop->axis, hi.at);
    rd_text_end(&lo, n->to);
    rd_text_end(&hi, n->to);
    rd_text_end(&first, n->to);
}

/* Prints one round, each of whose elements is tested: "{ const int64_t m0 = v1 + 0 * 64; .. } v1
 * += 64;". In a loop of vector loads by one thread (along_of() > 0) it is one element. */
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

/* Prints a loop of rounds with up to three forms of its body. The first is a batch, if loads are
 * prefetched. Then comes one whole round for a thread whose elements all exist, if it has vector
 * accesses; and a round with a test for each element. */
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
        print_batch(n, rounds, /*ahead=*/1);
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

/* Prints a loop of a kernel, by its kind. False: print/ has its text, which is C's: a serial loop
 * without batches or a start mark, and other kinds. A loop that all threads of a block run
 * (by_block) is printed by the backend, around the items of the block. In a kernel that transposes,
 * a serial loop is unrolled by a few. A scan with look-back has rounds of a tile. */
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
        if (loop->prefetched == 0 && loop->start_mark < 0) {
            if (n->kernel->transposes)
                rd_print_line(n, "RD_UNROLL_FEW");
            return false;
        }
        (n->kernel->look_back ? rd_print_scan_tile_loop : print_rounds)(n, stmt);
        return true;
    default: return false;
    }
}
