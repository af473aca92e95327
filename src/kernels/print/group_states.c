/* group_states.c - which steps by label go to neighbouring states, and where elements of no group go. */
#include "kernels/loop/facts.h"
#include "kernels/print/print.h"

/* By how much the subscript of its state moves with the rounds of the loop. */
static int64_t subscript_stride(const rd_schedule *t, const rd_stmt *s, int32_t axis)
{
    const rd_store *store = &t->store[s->store];

    return rd_linear_coef(t, &s->of.cell, axis) * store->cell_stride +
           rd_linear_coef(t, &s->of.more, axis) +
           rd_linear_coef(t, &s->of.lane, axis) * store->lane_stride;
}

/* Is there nothing behind the groups?  There another one can be. */
static bool ends_with_groups(const rd_fold *f)
{
    return f->n_group * f->apart == f->n_cell;
}

/* A user's step is not even called with elements of no group. */
bool rd_has_group_pointer(const rd_schedule *t, const rd_stmt *s)
{
    const rd_for *loop = t->stmt[s->parent].kind == RD_S_LOOP ? rd_loop_of(t, s->parent) : NULL;

    return s->kind == RD_S_STEP && s->label >= 0 && loop && loop->kind == RD_FOR_VECTOR &&
           !loop->by_call && !t->fold[s->fold].of.user && t->store[s->store].place == RD_IN_TASK &&
           t->store[s->store].lanes == 1 && !rd_padded_around(t, s->parent) &&
           ends_with_groups(&t->p->fold[s->fold]) && subscript_stride(t, s, loop->axis) == 1 &&
           !rd_stands_in(t, t->let[s->label].by, s->parent);
}

/* Does a step that goes in turn ask nothing, as elements of no group have a state?  Labels at random
 * come so often outside that no processor foresees a branch. */
bool rd_has_discard_state(const rd_schedule *t, const rd_stmt *s)
{
    const rd_for *loop = t->stmt[s->parent].kind == RD_S_LOOP ? rd_loop_of(t, s->parent) : NULL;

    return s->kind == RD_S_STEP && s->label >= 0 && loop && loop->kind == RD_FOR_VECTOR &&
           loop->in_order && !t->fold[s->fold].of.user && t->store[s->store].place == RD_IN_TASK &&
           ends_with_groups(&t->p->fold[s->fold]);
}

int64_t rd_print_discard_states(const rd_schedule *t, int32_t fold)
{
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0; s = rd_next_stmt(t, s, t->part[k]))
            if (t->stmt[s].fold == fold &&
                (rd_has_group_pointer(t, &t->stmt[s]) || rd_has_discard_state(t, &t->stmt[s])))
                return t->p->fold[fold].apart * t->store[t->stmt[s].store].cell_stride;
    return 0;
}
