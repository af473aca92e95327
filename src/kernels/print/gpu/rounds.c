/* rounds.c - loops of an item.
 *
 * A loop of rounds has three forms: rounds that go together, whose loads come first; one round, of which
 * each thread asks whether all that it has is there; and what is left, element by element:
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
 *     } */
#include "core/combine_tree.h"
#include "kernels/loop/facts.h"
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>
#include <stdio.h>

static bool is_kind(const rd_printing *n, int32_t stmt, rd_for_kind kind)
{
    return n->t->stmt[stmt].kind == RD_S_LOOP && rd_loop_of(n->t, stmt)->kind == kind;
}

/* The first loop right in a body, -1. */
static const rd_for *loop_in(const rd_printing *n, int32_t stmt)
{
    for (int32_t s = n->t->stmt[stmt].first; s >= 0; s = n->t->stmt[s].next)
        if (n->t->stmt[s].kind == RD_S_LOOP)
            return rd_loop_of(n->t, s);
    return NULL;
}

/* Do threads of a team share its rounds? */
static bool is_shared(const rd_printing *n, int32_t rounds)
{
    for (int32_t s = n->t->stmt[rounds].first; s >= 0; s = rd_next_stmt(n->t, s, rounds))
        if (is_kind(n, s, RD_FOR_THREAD) &&
            rd_loop_of(n->t, s)->axis == rd_loop_of(n->t, rounds)->axis)
            return true;
    return false;
}

static bool is_apart(const rd_printing *n, int32_t rounds)
{
    const rd_for *in = loop_in(n, rounds);

    return in && in->kind == RD_FOR_VECTOR && in->step > 1;
}

/* Elements of a round along the loop, of one thread that walks it; 0. */
static int32_t along_of(const rd_printing *n, int32_t rounds)
{
    const rd_for *in = loop_in(n, rounds);

    return in && in->in_order && in->step == 1 && in->axis == rd_loop_of(n->t, rounds)->axis
               ? (int32_t)in->extent
               : 0;
}

/* ---- Rounds that go together ------------------------------------------------------------------ */
static bool rises_along(const rd_schedule *t, const rd_linear *at, int32_t axis)
{
    for (int32_t k = 0; k < at->n; k++)
        if (t->term[at->first + k].axis < 0)
            return false;
    return rd_linear_coef(t, at, axis) >= 0;
}

/* Are elements of these rounds in one cell, and do their blocks rise?  Then cells move on once. */
static bool moves_once(const rd_printing *n, int32_t rounds, const rd_stmt *s)
{
    const int32_t axis = rd_loop_of(n->t, rounds)->axis;

    if (n->t->p->fold[s->fold].scan || s->fold >= 64 || rd_linear_coef(n->t, &s->of.cell, axis) ||
        !rises_along(n->t, &s->of.lane, axis) || !rises_along(n->t, &s->of.outer, axis))
        return false;
    for (int32_t k = 0; k < s->of.cell.n; k++)
        if (n->t->term[s->of.cell.first + k].axis < 0)
            return false;
    return !is_shared(n, rounds) || n->t->store[s->store].dealt;
}

static int32_t next_opens(const rd_printing *n, int32_t rounds, int32_t last)
{
    int32_t s = rd_next_stmt(n->t, last, rounds);

    while (s >= 0 && (n->t->stmt[s].kind != RD_S_OPENS || !moves_once(n, rounds, &n->t->stmt[s])))
        s = rd_next_stmt(n->t, s, rounds);
    return s;
}

/* "{ const int64_t i1 = v1 + 448; last0 = (uint64_t)(i1) / 64; }" */
static void print_edge(rd_printing *n, int32_t rounds, const rd_stmt *s, const char *name,
                       int64_t offset)
{
    const int32_t axis = rd_loop_of(n->t, rounds)->axis, lane = n->lane;
    rd_text       step = { 0 };

    n->lane = -1;
    rd_print_step_number(n, &step, s);
    rd_print_line(n,
                  "{ const int64_t i%" PRId32 " = v%" PRId32 " + %" PRId64 "; %s%" PRId32
                  " = (uint64_t)(%s) / %d; }",
                  axis, axis, offset, name, s->fold, step.at, RD_TREE_STEPS);
    n->lane = lane;
    rd_text_end(&step, n->to);
}

/* "uint64_t first0, last0;": the blocks that the first and the last round are in. */
static void print_edges(rd_printing *n, int32_t rounds, const rd_stmt *s, int32_t ahead)
{
    const int32_t along = along_of(n, rounds);
    const int64_t rest  = along ? along - 1 : n->kernel->apart ? n->kernel->team : 0;

    rd_print_line(n, "uint64_t first%" PRId32 ", last%" PRId32 ";", s->fold, s->fold);
    print_edge(n, rounds, s, "first", 0);
    print_edge(n, rounds, s, "last", (ahead - 1) * rd_loop_of(n->t, rounds)->step + rest);
}

/* All neighbours of a thread move on. */
static void print_moves(rd_printing *n, int32_t rounds, int32_t stmt)
{
    const rd_stmt *s      = &n->t->stmt[stmt];
    const int32_t  around = rd_loop_around(n->t, stmt), lane = n->lane;
    const bool     each = s->of.more.n > 0;
    char           block[32];

    snprintf(block, sizeof block, "(int64_t)first%" PRId32, s->fold);
    if (each) {
        rd_print_line(n, "RD_UNROLL for (int i = 0; i < %" PRId64 "; i++) {",
                      rd_loop_of(n->t, around)->extent);
        n->lane = around;
        n->indent++;
    }
    rd_print_move_on(n, s, block);
    if (each) {
        n->lane = lane;
        n->indent--;
        rd_print_line(n, "}");
    }
    if (s->fold < RD_GPU_MOST_FOLDS)
        n->kernel->moved |= UINT64_C(1) << s->fold;
    (void)rounds;
}

/* "v1 >= lo && v1 + 512 <= hi": rounds are whole; "v1 + 4 * t >= lo && v1 + 4 * t + 4 <= hi": what this
 * thread has of one is. */
static void add_whole(rd_printing *n, rd_text *to, int32_t rounds, int32_t ahead)
{
    const rd_for *loop = rd_loop_of(n->t, rounds);
    const bool    own  = ahead == 1 && is_shared(n, rounds) && !n->kernel->apart;
    const int64_t wide = own ? loop_in(n, rounds)->step : 0;
    rd_text       lo = { 0 }, hi = { 0 };

    rd_print_linear(n, &lo, &loop->from.part[0].at);
    rd_print_linear(n, &hi, &loop->to.part[0].at);
    if (own)
        rd_text_add(to,
                    "v%" PRId32 " + %" PRId64 " * t >= %s && v%" PRId32 " + %" PRId64
                    " * t + %" PRId64 " <= %s",
                    loop->axis, wide, lo.at, loop->axis, wide, wide, hi.at);
    else
        rd_text_add(to, "v%" PRId32 " >= %s && v%" PRId32 " + %" PRId64 " <= %s", loop->axis, lo.at,
                    loop->axis, ahead * loop->step, hi.at);
    if (along_of(n, rounds)) /* where the packs begin that memory has */
        rd_text_add(to, " && v%" PRId32 " %% %" PRId64 " == 0", loop->axis, loop->step);
    rd_text_end(&lo, n->to);
    rd_text_end(&hi, n->to);
}

/* "if (all rounds are there, in one block) { ...; continue; }" */
static void print_together(rd_printing *n, int32_t rounds, int32_t ahead)
{
    const rd_for *loop = rd_loop_of(n->t, rounds);
    rd_text       when = { 0 };

    add_whole(n, &when, rounds, ahead);
    for (int32_t s = next_opens(n, rounds, rounds); s >= 0; s = next_opens(n, rounds, s)) {
        print_edges(n, rounds, &n->t->stmt[s], ahead);
        rd_text_add(&when, " && first%" PRId32 " == last%" PRId32, n->t->stmt[s].fold,
                    n->t->stmt[s].fold);
    }
    rd_print_line(n, "if (%s) {", when.at);
    n->indent++;
    n->kernel->form = RD_ROUND_TOGETHER;
    rd_print_declare_takes(n, rounds, ahead);
    rd_print_takes(n, rounds, ahead);
    for (int32_t s = next_opens(n, rounds, rounds); s >= 0; s = next_opens(n, rounds, s))
        print_moves(n, rounds, s);
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
    n->kernel->form  = RD_ROUND_ALONE;
    n->kernel->moved = 0;
    rd_text_end(&when, n->to);
}

/* ---- All rounds ------------------------------------------------------------------------------- */
/* "for (int64_t v1 = lo; v1 < hi;) {": lanes begin with the first one. */
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

static void print_alone(rd_printing *n, int32_t rounds)
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

static void print_rounds(rd_printing *n, int32_t rounds)
{
    const rd_for   *loop = rd_loop_of(n->t, rounds);
    const rd_kernel kept = *n->kernel;

    n->kernel->rounds = rounds;
    n->kernel->form   = RD_ROUND_ALONE;
    n->kernel->apart  = is_apart(n, rounds);
    open_rounds(n, loop);
    n->indent++;
    if (loop->ahead)
        print_together(n, rounds, loop->ahead);
    if (loop->ahead > 1 && rd_has_takes(n, rounds) && is_shared(n, rounds) && !n->kernel->apart) {
        rd_print_line(n, "{");
        n->indent++;
        print_together(n, rounds, 1);
        n->indent--;
        rd_print_line(n, "}");
    }
    print_alone(n, rounds);
    n->indent--;
    rd_print_line(n, "}");
    n->kernel->rounds = kept.rounds;
    n->kernel->form   = kept.form;
    n->kernel->apart  = kept.apart;
}

bool rd_print_kernel_loop(rd_printing *n, int32_t stmt)
{
    const rd_for *loop = rd_loop_of(n->t, stmt);

    if (n->kernel->pairs && rd_print_loop_of_pairs(n, stmt))
        return true;
    if (loop->by_block) /* what surrounds items does it for all of them */
        return true;
    switch (loop->kind) {
    case RD_FOR_THREAD: rd_print_threads(n, stmt); return true;
    case RD_FOR_VECTOR: rd_print_vector_of_thread(n, stmt); return true;
    case RD_FOR_SERIAL:
        if (loop->ahead == 0 && loop->start < 0) {
            if (n->kernel->squares)
                rd_print_line(n, "RD_UNROLL_FEW");
            return false;
        }
        (n->kernel->tiles ? rd_print_loop_of_tile : print_rounds)(n, stmt);
        return true;
    default: return false;
    }
}
