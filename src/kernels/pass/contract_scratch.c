/* contract_scratch.c - The pass contract_scratch lets all strips of a panel use the same elements
 * of scratch, one strip after the other (array contraction).
 *
 *     serial i2 from m0 to m1 by 16, starts m4, stops m5
 *       serial i1 to 50
 *         vector i2 from m4 to m5
 *           s6[640*i1 + i2 - m0] = ..          s6[16*i1 + i2 - m4] = ..
 *       ..
 *           r10 = load s6[640*i1 + i2 - m0]    r10 = load s6[16*i1 + i2 - m4]
 *
 * So the 50 coordinates of 16 points lie in 50 neighbouring lines of a cache.  They were 2560 bytes
 * apart, which are 8 sets of a first-level cache.  They stay in the program's memory: gcc 12 keeps
 * states in registers beside loads from there, and not beside loads from a local array.
 *
 * Scratch is memory of a task for values that live within a loop: slots from first_scratch on.  A
 * panel is a range of an axis whose strips come one after the other; it is all of the axis if no
 * loop goes over panels.
 *
 * Fields. A loop's `start_mark` is the mark that is bound to its round's first index, -1: none.  An
 * addend of a position is of an axis, or of a value if its axis is -1.
 *
 * Words. A mark is an axis that is bound to where a loop's round begins or ends. */
#include "kernels/loop/facts.h"
#include "kernels/pass/pass.h"

/* The widest strips. */
enum { MOST_WIDTH = 128 };

/* The scratch that all strips of a loop will share.  An element's number is one of mixed radix.
 * The index within the panel (a range of the axis, with all its strips) is one of its digits:
 *
 *     coef * (index in the panel) + digits below coef + digits above coef * range */
typedef struct shared_scratch {
    rd_schedule *t;
    int32_t      strips; /* the loop over strips                                  */
    int32_t      slot;   /* of the scratch in the program's memory               */
    int64_t      coef;   /* 0: not known yet                                      */
    int64_t      range;  /* most indices in the panel                             */
} shared_scratch;

/* Returns the loop over strips. */
static const rd_for *strips_of(const shared_scratch *q)
{
    return rd_loop_of(q->t, q->strips);
}

/* Returns the mark (axis) that is bound to the first index of the panel, the range whose strips
 * (ranges that vector loops visit) are done one after the other. -1: the panel is the whole axis.
 * *ok: false if a loop that is not over panels of this axis stands directly around the loop over
 * strips. */
static int32_t mark_of_panel(const shared_scratch *q, bool *ok)
{
    const int32_t parent = q->t->stmt[q->strips].parent;
    const rd_for *l      = q->t->stmt[parent].kind == RD_S_LOOP ? rd_loop_of(q->t, parent) : NULL;

    *ok = !l || (l->axis == strips_of(q)->axis && l->start_mark >= 0);
    return l && *ok ? l->start_mark : -1;
}

/* Returns the largest number that an addend of another axis can be: coef * (extent - 1). -1: the
 * addend is no digit of the number, as it is of a value or a mark, or negative. */
static int64_t digit_of(const shared_scratch *q, const rd_linear_term *term)
{
    return term->axis < 0 || term->axis >= q->t->p->n_axis || term->coef < 0
               ? -1
               : term->coef * (q->t->p->axis_extent[term->axis] - 1);
}

/* True if the position is coef * (index in the panel) plus digits, as at shared_scratch. It counts
 * from the panel's first index, so the mark (axis bound to an end of a round) has the factor
 * -coef. All addends that are no multiples of coef * range must stay below coef together. Sets
 * q->coef at the first position; others must agree. */
static bool has_digits(shared_scratch *q, const rd_linear *at)
{
    bool          ok;
    const int32_t axis = strips_of(q)->axis, mark = mark_of_panel(q, &ok);
    const int64_t coef  = rd_linear_coef(q->t, at, axis);
    int64_t       below = 0;

    if (!ok || at->offset || coef <= 0 || (q->coef && q->coef != coef) ||
        (mark >= 0 && rd_linear_coef(q->t, at, mark) != -coef))
        return false;
    for (int32_t k = 0; k < at->n; k++) {
        const rd_linear_term *term = &q->t->term[at->first + k];

        if (term->axis >= 0 && (term->axis == axis || term->axis == mark))
            continue;
        if (digit_of(q, term) < 0)
            return false;
        if (term->coef % (coef * q->range) != 0)
            below += digit_of(q, term);
    }
    q->coef = coef;
    return below < coef;
}

/* Returns the position in the scratch of one strip: the index counts from the strip's first one
 * (mark `start`), and digits above it have the factor `step`, the strip's width, in place of the
 * panel's range. Of the marks, only that of the panel can occur (has_digits); it is left out. */
static rd_linear position_in_strip(const shared_scratch *q, const rd_linear *at)
{
    const rd_for *l    = strips_of(q);
    const int32_t axis = l->axis, start = l->start_mark;
    const int64_t step = l->step;
    rd_linear     made = rd_linear_of(0);

    made = rd_linear_plus_axis(q->t, made, q->coef, axis);
    made = rd_linear_plus_axis(q->t, made, -q->coef, start);
    for (int32_t k = 0; k < at->n && !q->t->failed; k++) {
        const rd_linear_term term = q->t->term[at->first + k];

        if (term.axis < q->t->p->n_axis && term.axis != axis)
            made = rd_linear_plus_axis(
                q->t, made,
                term.coef % (q->coef * q->range) == 0 ? term.coef / q->range * step : term.coef,
                term.axis);
    }
    return made;
}

/* ---- Which scratch --------------------------------------------------------------------------- */
/* True if the access is a load or a store (no sort) in a vector loop over the strip's axis, inside
 * the loop over strips, at a position that is made of digits (has_digits). A sort takes a whole
 * row, which may be longer than a strip. */
static bool is_in_strip(shared_scratch *q, const rd_access *a)
{
    const int32_t vector = rd_vector_around(q->t, a->stmt);

    return rd_stands_in(q->t, a->stmt, q->strips) && vector >= 0 &&
           q->t->stmt[a->stmt].kind != RD_S_SORT &&
           rd_loop_of(q->t, vector)->axis == strips_of(q)->axis && has_digits(q, &a->at);
}

/* True if no strip reads what another one stores, so that they can use the same memory: everything
 * that accesses the scratch stands in one loop over strips, in vector loops along these. Each
 * element is stored in the strip that loads it, as a round of the loop over panels has scratch of
 * its own. */
static bool is_of_strips(shared_scratch *q)
{
    rd_access a[2];

    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = q->t->part[k]; s >= 0; s = rd_next_stmt(q->t, s, q->t->part[k]))
            for (int32_t j = rd_accesses_of(q->t, s, a) - 1; j >= 0; j--)
                if (a[j].slot == q->slot && !is_in_strip(q, &a[j]))
                    return false;
    return q->coef > 0;
}

/* True if a serial loop between the strip and a vector loop loads the scratch (temporary memory of
 * a task). Only then are its elements read again and again, so that fewer cache lines pay. */
static bool is_read_in_rounds(const shared_scratch *q)
{
    for (int32_t s = rd_next_stmt(q->t, q->strips, q->strips); s >= 0;
         s         = rd_next_stmt(q->t, s, q->strips)) {
        const rd_tree_value *let = rd_let_of(q->t, s);

        if (let && let->kind == RD_I_LOAD && let->slot == q->slot &&
            q->t->stmt[rd_vector_around(q->t, s)].parent != q->strips)
            return true;
    }
    return false;
}

/* ---- All together ---------------------------------------------------------------------------- */
/* Gives all accesses to the slot (array of the program's memory), in the loop over strips (ranges
 * that vector loops visit), their positions in the scratch of a strip. */
static void contract(const shared_scratch *q)
{
    rd_schedule *t = q->t;

    for (int32_t s = q->strips; s >= 0 && !t->failed; s = rd_next_stmt(t, s, q->strips)) {
        const rd_tree_value *let = rd_let_of(t, s);
        rd_linear            at;

        if (let && let->kind == RD_I_LOAD && let->slot == q->slot) {
            at                          = position_in_strip(q, &let->at);
            t->let[t->stmt[s].value].at = at;
        } else if (t->stmt[s].kind == RD_S_STORE && t->stmt[s].slot == q->slot) {
            at            = position_in_strip(q, &t->stmt[s].at);
            t->stmt[s].at = at;
        }
    }
}

/* True if the statement is a serial loop over strips, from mark `start_mark` on, of a fixed width
 * of 2 to 128 along an axis of the program. Substrips, which divide a strip again, do not count. */
static bool is_over_strips(const rd_schedule *t, int32_t stmt)
{
    const rd_for *l = t->stmt[stmt].kind == RD_S_LOOP ? rd_loop_of(t, stmt) : NULL;

    return l && l->kind == RD_FOR_SERIAL && l->strips_number >= 0 && l->start_mark >= 0 &&
           l->step > 1 && l->step <= MOST_WIDTH && l->axis < t->p->n_axis && !l->substrip;
}

/* Contracts a slot (array of the program's memory) of scratch (temporary memory of a task) if
 * strips (ranges that vector loops visit) do not hand elements to each other by it, and elements
 * are read again. `range`: the most indices of a panel. A strip wider than that would need more
 * elements than there are. */
static void contract_slot(rd_schedule *t, int32_t strips, int32_t slot)
{
    const int64_t  range = rd_most_indices(t->p, rd_loop_of(t, strips)->axis);
    shared_scratch q     = { .t = t, .strips = strips, .slot = slot, .range = range };

    if (rd_loop_of(t, strips)->step <= range && is_of_strips(&q) && is_read_in_rounds(&q))
        contract(&q);
}

/* The pass: for each loop over strips (ranges that vector loops visit) in the body, tries each
 * slot of scratch (array contraction). */
void rd_pass_contract_scratch(rd_schedule *t, const rd_target *target)
{
    const int32_t last = t->p->first_scratch + t->p->n_scratch;

    for (int32_t s = t->part[RD_PART_BODY]; target->strips && s >= 0 && !t->failed;
         s         = rd_next_stmt(t, s, t->part[RD_PART_BODY]))
        for (int32_t slot = t->p->first_scratch; is_over_strips(t, s) && slot < last; slot++)
            contract_slot(t, s, slot);
}
