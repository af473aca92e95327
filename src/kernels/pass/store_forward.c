/* store_forward.c - The pass store_forward replaces loads of elements that were just stored by
 * the stored values (store-to-load forwarding).
 *
 *     vector i0 { s4[i0] = r2                vector i0 {
 *                 r3 = load s4[i0]
 *                 s3[i0] = r3 }                          s3[i0] = r2 }
 *
 * Then it removes stores to a task's scratch that nothing loads any more (dead stores).
 *
 * Scratch is memory of a task for values that live within a loop: slots from first_scratch on. */
#include "kernels/loop/facts.h"
#include "kernels/pass/pass.h"
#include <stdlib.h>

/* ---- Uses of a value ------------------------------------------------------------------------- */
/* A substitution in operands: value `by` replaces `old`. */
typedef struct forwarded_value {
    int32_t old, by;
} forwarded_value;

/* For rd_substitute_values(): returns the stored value for the loaded one, and all others
 * unchanged. */
static int32_t replacement_of(void *of, int32_t value)
{
    const forwarded_value *e = of;

    return value == e->old ? e->by : value;
}

/* ---- Loads ----------------------------------------------------------------------------------- */
/* True if the statement stands directly in the body of a vector loop. */
static bool is_in_vector(const rd_schedule *t, int32_t stmt)
{
    const int32_t parent = t->stmt[stmt].parent;

    return parent >= 0 && t->stmt[parent].kind == RD_S_LOOP &&
           rd_loop_of(t, parent)->kind == RD_FOR_VECTOR;
}

/* True if a statement in the body, at any depth, writes to the slot (an array of the program's
 * memory). */
static bool is_slot_written_in(const rd_schedule *t, int32_t body, int32_t slot)
{
    rd_access a[2];

    for (int32_t s = rd_next_stmt(t, body, body); s >= 0; s = rd_next_stmt(t, s, body))
        for (int32_t k = rd_accesses_of(t, s, a) - 1; k >= 0; k--)
            if (a[k].writes && a[k].slot == slot)
                return true;
    return false;
}

/* Returns the vector loop around a load, also through unrolled loops that neither move its address
 * nor write to its memory, as all their rounds load the same element; -1: there is none. */
static int32_t vector_of(const rd_schedule *t, int32_t load)
{
    const rd_tree_value *let = &t->let[t->stmt[load].value];

    for (int32_t s = t->stmt[load].parent; s >= 0; s = t->stmt[s].parent) {
        const rd_for *loop = t->stmt[s].kind == RD_S_LOOP ? rd_loop_of(t, s) : NULL;

        if (loop && loop->kind == RD_FOR_VECTOR)
            return s;
        if (!loop || loop->kind != RD_FOR_UNROLL || rd_linear_coef(t, &let->at, loop->axis) ||
            is_slot_written_in(t, s, let->slot))
            return -1;
    }
    return -1;
}

/* Returns the body that the load's vector loop stands in; also through serial loops that neither
 * move its address nor write to its memory, such as the loop over coordinates of a pair of points.
 * Those only around short strips (128 elements), as the value then goes from loop to loop by a
 * local array. Such a loop is one of the program (of >= 0) over single indices (no mark). */
static int32_t body_of(const rd_schedule *t, int32_t vector, const rd_tree_value *let)
{
    enum { MOST_WIDTH = 128 };
    int32_t body = t->stmt[vector].parent;

    while (t->stmt[body].kind == RD_S_LOOP) {
        const rd_for *loop = rd_loop_of(t, body);

        if (loop->kind != RD_FOR_SERIAL || loop->start_mark >= 0 || loop->program_loop < 0 ||
            rd_linear_coef(t, &let->at, loop->axis) || is_slot_written_in(t, body, let->slot) ||
            rd_loop_of(t, vector)->extent < 0 || rd_loop_of(t, vector)->extent > MOST_WIDTH)
            break;
        body = t->stmt[body].parent;
    }
    return body;
}

/* True if the store writes the element that the load reads, in the same round of all loops around
 * both.  Both are in vector loops over one axis, at the same position, which moves with the axis;
 * no type changes. a, b: the vector loops around the store and the load. */
static bool is_same_element(const rd_schedule *t, int32_t store, int32_t load)
{
    const rd_stmt       *s   = &t->stmt[store];
    const rd_tree_value *let = &t->let[t->stmt[load].value];
    const int32_t        a = s->parent, b = vector_of(t, load);

    return s->kind == RD_S_STORE && is_in_vector(t, store) &&
           t->stmt[a].parent == body_of(t, b, let) &&
           rd_loop_of(t, a)->axis == rd_loop_of(t, b)->axis &&
           rd_linear_coef(t, &s->at, rd_loop_of(t, a)->axis) != 0 && s->type == let->type &&
           t->let[s->x].type == let->type && rd_linear_same(t, &s->at, &let->at);
}

/* Returns the last statement before the load, in its part (head, body or tail), that writes to its
 * slot (array of the program's memory); -1: there is none. */
static int32_t last_write(const rd_schedule *t, int32_t part, int32_t load)
{
    const int32_t slot  = t->let[t->stmt[load].value].slot;
    int32_t       found = -1;
    rd_access     a[2];

    for (int32_t s = part; s != load; s = rd_next_stmt(t, s, part))
        for (int32_t k = rd_accesses_of(t, s, a) - 1; k >= 0; k--)
            if (a[k].writes && a[k].slot == slot)
                found = s;
    return found;
}

/* If the last write before the load stored the very element that it reads: makes all readers of
 * the loaded value read the stored one, and removes the load. */
static void forward_store(rd_schedule *t, int32_t part, int32_t load)
{
    const int32_t store = last_write(t, part, load);

    forwarded_value e;

    if (store < 0 || !is_same_element(t, store, load))
        return;
    e = (forwarded_value){ t->stmt[load].value, t->stmt[store].x };
    for (int32_t s = part; s >= 0 && !t->failed; s = rd_next_stmt(t, s, part))
        rd_substitute_values(t, s, replacement_of, &e);
    rd_take_out(t, load);
}

/* True if the statement is a load from the task's scratch (slots from first_scratch on) that a
 * vector loop repeats. */
static bool is_load(const rd_schedule *t, int32_t stmt)
{
    return t->stmt[stmt].kind == RD_S_LET && t->let[t->stmt[stmt].value].kind == RD_I_LOAD &&
           t->let[t->stmt[stmt].value].slot >= t->p->first_scratch && vector_of(t, stmt) >= 0;
}

/* ---- Stores ---------------------------------------------------------------------------------- */
/* True if a statement of the tree reads the slot (an array of memory).  A statement has two
 * accesses at most. */
static bool is_read(const rd_schedule *t, int32_t slot)
{
    rd_access a[2];

    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0; s = rd_next_stmt(t, s, t->part[k]))
            for (int32_t j = rd_accesses_of(t, s, a) - 1; j >= 0; j--)
                if (!a[j].writes && a[j].slot == slot)
                    return true;
    return false;
}

/* True if the statement is a store in a vector loop to scratch that nothing reads. */
static bool is_unread(const rd_schedule *t, int32_t stmt)
{
    return t->stmt[stmt].kind == RD_S_STORE && t->stmt[stmt].slot >= t->p->first_scratch &&
           is_in_vector(t, stmt) && !is_read(t, t->stmt[stmt].slot);
}

/* ---- All together ---------------------------------------------------------------------------- */
/* The pass: replaces loads of elements that were just stored by the stored values, then removes
 * stores that nothing reads any more. */
void rd_pass_store_forward(rd_schedule *t, const rd_target *target)
{
    (void)target;
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k], next; s >= 0 && !t->failed; s = next) {
            next = rd_next_stmt(t, s, t->part[k]);
            if (is_load(t, s))
                forward_store(t, t->part[k], s);
        }
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k], next; s >= 0 && !t->failed; s = next) {
            next = rd_next_stmt(t, s, t->part[k]);
            if (is_unread(t, s))
                rd_take_out(t, s);
        }
}
