/* legality.c - legality of loop transformations: interchange, fission and fusion.
 *
 * Words. A fold is a reduction or a scan. A cell is one result of a fold, with its accumulators. */
#include "kernels/loop/facts.h"

/* Notes the reason for a refusal, if the caller asks for one; returns false. */
static bool refuse(const char **why, const char *because)
{
    if (why)
        *why = because;
    return false;
}

/* ---- Bodies ---------------------------------------------------------------------------------- */
/* Statements [from, to) of a body, with all that stands in them. */
typedef struct stmt_range {
    int32_t from, to; /* to = -1: to the body's end */
} stmt_range;

/* Returns the next statement behind `last` in the range, in preorder; the first one if `last` is
 * -1; -1: there is none. */
static int32_t next_in(const rd_schedule *t, const stmt_range *of, int32_t last)
{
    const int32_t body = t->stmt[of->from].parent;
    const int32_t s    = last < 0 ? of->from /* the first one */ : rd_next_stmt(t, last, body);

    return s == of->to ? -1 : s;
}

/* True if a statement of that kind stands in the range, at any depth. */
static bool has_kind(const rd_schedule *t, const stmt_range *of, rd_stmt_kind kind)
{
    for (int32_t s = next_in(t, of, /*last=*/-1); s >= 0; s = next_in(t, of, s))
        if (t->stmt[s].kind == kind)
            return true;
    return false;
}

/* ---- Memory ---------------------------------------------------------------------------------- */
/* A test of two accesses, one of them a write: true if they may touch the same element in different
 * rounds of the two loops. */
typedef bool may_conflict(const rd_schedule *t, int32_t loop_a, const rd_access *a, int32_t loop_b,
                          const rd_access *b);

/* True if an access in range a and one in range b conflict: one of them writes, and the test
 * `may_touch` says that they may touch the same element in different rounds of the two loops. */
static bool has_conflict(const rd_schedule *t, int32_t loop_a, const stmt_range *a, int32_t loop_b,
                         const stmt_range *b, may_conflict *may_touch)
{
    rd_access x[2], y[2];

    for (int32_t s = next_in(t, a, /*last=*/-1); s >= 0; s = next_in(t, a, s))
        for (int32_t k = rd_accesses_of(t, s, x) - 1; k >= 0; k--)
            for (int32_t r = next_in(t, b, /*last=*/-1); r >= 0; r = next_in(t, b, r))
                for (int32_t j = rd_accesses_of(t, r, y) - 1; j >= 0; j--)
                    if ((x[k].writes || y[j].writes) && may_touch(t, loop_a, &x[k], loop_b, &y[j]))
                        return true;
    return false;
}

/* True if an access in each range may touch the same element in different rounds of the two loops,
 * and one of them writes (a loop-carried dependence). */
static bool memory_is_shared(const rd_schedule *t, int32_t loop_a, const stmt_range *a,
                             int32_t loop_b, const stmt_range *b)
{
    return has_conflict(t, loop_a, a, loop_b, b, rd_may_touch_across_two);
}

/* For an interchange: true if the accesses may touch an element in different rounds of both loops,
 * so that the interchange may reverse their order. If the outer loop moves neither access, all its
 * rounds touch the same, and the rounds of the inner loop decide. */
static bool is_touched_in_both(const rd_schedule *t, int32_t outer, const rd_access *a,
                               int32_t inner, const rd_access *b)
{
    const bool moves = rd_position_varies(t, outer, a->stmt, &a->at) ||
                       rd_position_varies(t, outer, b->stmt, &b->at);

    return rd_may_touch_across(t, outer, a, b) && (moves || rd_may_touch_across(t, inner, a, b));
}

/* ---- Folds ----------------------------------------------------------------------------------- */
/* True if a statement of the fold stands in the range, at any depth. */
static bool has_fold(const rd_schedule *t, const stmt_range *of, int32_t fold)
{
    for (int32_t s = next_in(t, of, /*last=*/-1); s >= 0; s = next_in(t, of, s))
        if (t->stmt[s].fold == fold)
            return true;
    return false;
}

/* True if no fold has statements in both ranges, unless each round has a cell (accumulator) of its
 * own. */
static bool folds_are_apart(const rd_schedule *t, int32_t loop, const stmt_range *a,
                            const stmt_range *b)
{
    for (int32_t k = 0; k < t->p->n_fold; k++)
        if (has_fold(t, a, k) && has_fold(t, b, k) && rd_mapping_of(t, k, loop) != RD_MAPS_CELLS)
            return false;
    return true;
}

/* ---- Interchange ----------------------------------------------------------------------------- */
/* True if the loop has statements of the fold other than its steps and its exits: ends of blocks
 * (runs of its steps), merges, results. */
static bool ends_blocks(const rd_schedule *t, int32_t loop, int32_t fold)
{
    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop))
        if (t->stmt[s].fold == fold && t->stmt[s].kind != RD_S_STEP && t->stmt[s].kind != RD_S_EXIT)
            return true;
    return false;
}

/* True if each state still takes its elements in the same order after an interchange: at most one
 * of the loops is over steps.  Where a block ends in the body, one loop must be over cells, which
 * are separate results. `a` and `b`: how the rounds of the outer and the inner loop map to the
 * fold's accumulators. A fold without statements in the loop (NOT), or that begins and ends within
 * a round (SAME), does not matter. MIXED rounds have no known order; ANY order may change. */
static bool fold_may_interchange(const rd_schedule *t, int32_t fold, int32_t outer, int32_t inner)
{
    const rd_mapping a = rd_mapping_of(t, fold, outer), b = rd_mapping_of(t, fold, inner);

    if (a == RD_MAPS_NOT || a == RD_MAPS_SAME || b == RD_MAPS_SAME)
        return true;
    if (a == RD_MAPS_MIXED || b == RD_MAPS_MIXED)
        return false;
    if (a == RD_MAPS_CELLS || b == RD_MAPS_CELLS)
        return true;
    return !ends_blocks(t, inner, fold) &&
           (a == RD_MAPS_ANY || b == RD_MAPS_ANY ||
            !(rd_moves_step(t, fold, outer) && rd_moves_step(t, fold, inner)));
}

/* True if two loops may be interchanged: the inner one is all of the outer one's body, their
 * bounds are independent, there is no early exit, and no dependence is reversed; else *why says
 * why not. */
bool rd_may_interchange(const rd_schedule *t, int32_t outer, int32_t inner, const char **why)
{
    const stmt_range inner_body = { t->stmt[inner].first, -1 };

    if (t->stmt[outer].first != inner || t->stmt[inner].next >= 0 || inner_body.from < 0)
        return refuse(why, "the inner loop is not all of the outer one's body");
    if (rd_edges_vary(t, outer, inner) || rd_loop_of(t, outer)->axis == rd_loop_of(t, inner)->axis)
        return refuse(why, "the inner loop has other bounds in each round of the outer one");
    if (has_kind(t, &inner_body, RD_S_EXIT))
        return refuse(why, "a loop is left early");
    for (int32_t k = 0; k < t->p->n_fold; k++)
        if (!fold_may_interchange(t, k, outer, inner))
            return refuse(why, "a fold would take its elements in another order");
    if (has_conflict(t, outer, &inner_body, inner, &inner_body, is_touched_in_both))
        return refuse(why, "one round may read or write again what another one stores");
    return true;
}

/* ---- Fission --------------------------------------------------------------------------------- */
/* True if the loop can be split into two loops before statement `at`: no early exit, no fold with
 * statements on both sides, no dependence between rounds of the two sides; else *why says why not.
 */
bool rd_may_fission(const rd_schedule *t, int32_t loop, int32_t at, const char **why)
{
    const stmt_range first = { t->stmt[loop].first, at }, second = { at, -1 };

    if (t->stmt[at].parent != loop || t->stmt[loop].first == at)
        return refuse(why, "there is nothing before it in the loop's body");
    if (has_kind(t, &first, RD_S_EXIT) || has_kind(t, &second, RD_S_EXIT))
        return refuse(why, "a loop is left early");
    if (!folds_are_apart(t, loop, &first, &second))
        return refuse(why, "a fold has statements in both parts");
    if (memory_is_shared(t, loop, &first, loop, &second))
        return refuse(why, "one part may read or write what the other stores in another round");
    return true;
}

/* ---- Fusion ---------------------------------------------------------------------------------- */
/* True if two loop bounds have equal parts: positions, and how each part is rounded. */
static bool is_same_edge(const rd_schedule *t, const rd_edge *a, const rd_edge *b)
{
    if (a->n != b->n)
        return false;
    for (int32_t k = 0; k < a->n; k++)
        if (!rd_linear_same(t, &a->part[k].at, &b->part[k].at) ||
            !rd_linear_same(t, &a->part[k].base, &b->part[k].base) ||
            a->part[k].multiple != b->part[k].multiple ||
            a->part[k].round_up != b->part[k].round_up)
            return false;
    return true;
}

/* True if two loops visit the same indices in the same order.  Rounds of block loops end where the
 * body says, so they are never the same. */
static bool has_same_rounds(const rd_schedule *t, const rd_for *a, const rd_for *b)
{
    return a->axis == b->axis && a->step == b->step && a->backwards == b->backwards &&
           a->kind == b->kind && a->kind != RD_FOR_BLOCK && is_same_edge(t, &a->from, &b->from) &&
           is_same_edge(t, &a->to, &b->to);
}

/* True if two loops may become one: they follow each other and visit the same indices, and no round
 * of one must wait for another round of the other, by a fold or by memory; else *why says why not.
 * An empty loop (from < 0) does not fuse. A fold may have statements in both if each round has
 * cells of its own (RD_MAPS_CELLS). */
bool rd_may_fuse(const rd_schedule *t, int32_t first, int32_t second, const char **why)
{
    const stmt_range a = { t->stmt[first].first, -1 }, b = { t->stmt[second].first, -1 };

    if (t->stmt[first].next != second || t->stmt[first].kind != RD_S_LOOP ||
        t->stmt[second].kind != RD_S_LOOP || a.from < 0 || b.from < 0)
        return refuse(why, "the loops do not follow each other");
    if (!has_same_rounds(t, rd_loop_of(t, first), rd_loop_of(t, second)))
        return refuse(why, "the loops have other rounds");
    if (has_kind(t, &a, RD_S_EXIT) || has_kind(t, &b, RD_S_EXIT))
        return refuse(why, "a loop is left early");
    for (int32_t k = 0; k < t->p->n_fold; k++)
        if (has_fold(t, &a, k) && has_fold(t, &b, k) &&
            (rd_mapping_of(t, k, first) != RD_MAPS_CELLS ||
             rd_mapping_of(t, k, second) != RD_MAPS_CELLS))
            return refuse(why, "a fold has statements in both loops");
    if (memory_is_shared(t, first, &a, second, &b))
        return refuse(why, "one loop may read or write what the other stores in another round");
    return true;
}
