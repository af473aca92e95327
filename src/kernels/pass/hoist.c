/* hoist.c - The pass hoist moves loads that are the same in all rounds of a vector loop before
 * the loop, also out of unrolled loops in it (loop-invariant code motion).
 *
 *     vector i0 {                            r7 = load s1[3]
 *       unroll i1 from 3 to 4 {              vector i0 {
 *         r7 = load s1[i1]                     unroll i1 from 3 to 4 {
 *         step f0 .. r7 } }                      step f0 .. r7 } }
 *
 * Compilers cannot prove that stores leave such a load as it is.
 *
 * Fields. A term of a position with `axis` -1 is a value, an index that is read at run time. A load
 * or store with `slot` >= 0 is of the program's memory, others are of arrays of the tree. A loop is
 * `by_call` if the text runs it by one call of a function.
 *
 * Words. A mark is an axis that is bound to where a loop's round begins or ends. Scratch is
 * temporary memory of a task. */
#include "kernels/loop/facts.h"
#include "kernels/pass/pass.h"
#include <stdlib.h>

/* The tree, and the vector loop at hand. */
typedef struct hoisting {
    rd_schedule *t;
    int32_t      vector; /* the loop at hand                          */
    bool        *inside; /* per value: it is made in that loop        */
    bool        *stored; /* per slot: a statement of the tree writes it */
    int32_t      n_slot;
} hoisting;

/* ---- What is the same ------------------------------------------------------------------------ */
/* True if a loop from the statement up to the vector loop moves the axis, or a mark of it, in
 * several rounds.  An unrolled loop of one round has one known index.  Axes that no such loop
 * binds do not change; true if the statement is not in the vector loop at all. A mark
 * (start_mark, stop_mark) is an axis bound to where a round begins or ends. */
static bool is_changing_axis(const hoisting *h, int32_t stmt, int32_t axis)
{
    for (int32_t s = h->t->stmt[stmt].parent; s >= 0; s = h->t->stmt[s].parent) {
        const rd_for *loop = h->t->stmt[s].kind == RD_S_LOOP ? rd_loop_of(h->t, s) : NULL;

        if (loop && (loop->axis == axis || loop->start_mark == axis || loop->stop_mark == axis) &&
            !(loop->kind == RD_FOR_UNROLL && loop->extent == 1 && loop->axis == axis))
            return true;
        if (s == h->vector)
            return false;
    }
    return true;
}

/* True if the position is the same in all rounds of the vector loop: no term is a value that the
 * loop makes (axis < 0 names a value), or an axis that changes in it. */
static bool is_invariant(const hoisting *h, int32_t stmt, const rd_linear *at)
{
    for (int32_t k = 0; k < at->n; k++) {
        const rd_linear_term *term = &h->t->term[at->first + k];

        if (term->axis < 0 ? h->inside[term->value] : is_changing_axis(h, stmt, term->axis))
            return false;
    }
    return true;
}

/* True if the load is from an array of the program's memory (slot >= 0) that no statement writes,
 * at an address of axes alone (axis < 0 would be a value). */
static bool is_plain_load(const hoisting *h, const rd_tree_value *let)
{
    if (let->slot < 0 || h->stored[let->slot])
        return false;
    for (int32_t k = 0; k < let->at.n; k++)
        if (h->t->term[let->at.first + k].axis < 0)
            return false;
    return true;
}

/* True if the statement is an invariant load, or a checked index of an invariant value. Arithmetic
 * stays: compilers move it as registers allow. h->inside tells which values are made in the loop.
 */
static bool can_hoist(const hoisting *h, int32_t stmt)
{
    const rd_stmt       *s   = &h->t->stmt[stmt];
    const rd_tree_value *let = s->kind == RD_S_LET ? &h->t->let[s->value] : NULL;

    if (!let || !is_invariant(h, stmt, &let->at))
        return false;
    if (let->kind == RD_I_LOAD)
        return is_plain_load(h, let);
    return let->kind == RD_I_INDEX && !h->inside[h->t->operand[let->first]];
}

/* ---- Statements ------------------------------------------------------------------------------ */
/* Replaces, in the value's position, the axes of the one-round loops around the statement by their
 * one index, the lower bound, as the statement is about to leave these loops. */
static void bind_rounds(const hoisting *h, int32_t stmt, rd_tree_value *let)
{
    for (int32_t s = h->t->stmt[stmt].parent; s != h->vector; s = h->t->stmt[s].parent)
        if (h->t->stmt[s].kind == RD_S_LOOP)
            let->at = rd_linear_with(h->t, let->at, rd_loop_of(h->t, s)->axis,
                                     rd_loop_of(h->t, s)->from.part[0].at);
}

/* True if the load counts as an element read in the report of a run: it is from an array of the
 * caller's or between stages, not from scratch (temporary memory of a task), and not marked as
 * uncounted. */
static bool is_counted(const rd_schedule *t, const rd_tree_value *let)
{
    return let->kind == RD_I_LOAD && !let->uncounted && let->slot >= 0 &&
           let->slot < t->p->first_scratch;
}

/* Moves a statement before the vector loop. A counted load becomes uncounted there, and the loop's
 * hoisted_loads rises by one, so that a run reports one load for each round as before. */
static void hoist_stmt(hoisting *h, int32_t stmt)
{
    rd_schedule  *t     = h->t;
    const int32_t value = t->stmt[stmt].value;
    rd_tree_value let   = t->let[value];

    bind_rounds(h, stmt, &let);
    if (t->failed)
        return;
    if (is_counted(t, &let)) {
        t->loop[t->stmt[h->vector].arg].hoisted_loads++;
        let.uncounted = true;
    }
    t->let[value] = let;
    rd_take_out(t, stmt);
    rd_put_before(t, stmt, h->vector);
    h->inside[value] = false;
}

/* True if only unrolled loops of one round stand between the statement and the vector loop, so
 * that it runs once in each round of the vector loop. */
static bool is_in_unit_rounds(const rd_schedule *t, int32_t stmt, int32_t vector)
{
    for (int32_t s = t->stmt[stmt].parent; s != vector; s = t->stmt[s].parent)
        if (t->stmt[s].kind != RD_S_LOOP || rd_loop_of(t, s)->kind != RD_FOR_UNROLL ||
            rd_loop_of(t, s)->extent != 1)
            return false;
    return true;
}

/* Hoists all invariant statements from the vector loop at hand.  First it marks the values that
 * the loop makes; a hoisted value loses the mark, so that its readers can follow. Only statements
 * that run once a round are looked at. */
static void hoist_from(hoisting *h)
{
    rd_schedule *t = h->t;

    for (int32_t s = h->vector; s >= 0; s = rd_next_stmt(t, s, h->vector))
        for (int32_t k = 0; k < t->stmt[s].n_value; k++)
            h->inside[t->stmt[s].value + k] = true;
    for (int32_t s = h->vector, next; s >= 0 && !t->failed; s = next) {
        next = rd_next_stmt(t, s, h->vector);
        if (s != h->vector && is_in_unit_rounds(t, s, h->vector) && can_hoist(h, s))
            hoist_stmt(h, s);
    }
}

/* ---- All together ---------------------------------------------------------------------------- */
/* Returns the number of slots (arrays of the program's memory): one more than the largest that an
 * address has. */
static int32_t count_slots(const rd_program *p)
{
    int32_t n = 0;

    for (int32_t k = 0; k < p->n_address; k++)
        n = p->address[k].slot >= n ? p->address[k].slot + 1 : n;
    return n;
}

/* Records which slots (arrays of the program's memory) a statement of the tree writes: loads from
 * other slots can be hoisted.  A statement has two accesses at most.  slot < 0: the access is to an
 * array of the tree. */
static void find_stored(hoisting *h)
{
    const rd_schedule *t = h->t;
    rd_access          a[2];

    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0; s = rd_next_stmt(t, s, t->part[k]))
            for (int32_t j = rd_accesses_of(t, s, a) - 1; j >= 0; j--)
                if (a[j].writes && a[j].slot >= 0 && a[j].slot < h->n_slot)
                    h->stored[a[j].slot] = true;
}

/* True if the statement is a vector loop that is written out in the generated C, not one call. */
static bool is_vector(const rd_schedule *t, int32_t stmt)
{
    return t->stmt[stmt].kind == RD_S_LOOP && rd_loop_of(t, stmt)->kind == RD_FOR_VECTOR &&
           !rd_loop_of(t, stmt)->by_call;
}

/* The pass: moves loads that are the same in all rounds of a vector loop before that loop.  First
 * it finds the slots (arrays of the program's memory) that are stored to, as loads from these must
 * stay. */
void rd_pass_hoist(rd_schedule *t, const rd_target *target)
{
    hoisting h = { .t = t, .n_slot = count_slots(t->p) };

    (void)target;
    h.inside = calloc((size_t)t->n_let + 1, sizeof *h.inside);
    h.stored = calloc((size_t)h.n_slot + 1, sizeof *h.stored);
    if (!h.inside || !h.stored)
        t->failed = true;
    else {
        find_stored(&h);
        for (int k = 0; k < RD_N_PARTS; k++)
            for (int32_t s = t->part[k]; s >= 0 && !t->failed; s = rd_next_stmt(t, s, t->part[k]))
                if (is_vector(t, s)) {
                    h.vector = s;
                    hoist_from(&h);
                }
    }
    free(h.inside);
    free(h.stored);
}
