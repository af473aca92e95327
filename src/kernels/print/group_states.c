/* group_states.c - where the steps of group-by folds find their states: which steps take
 * neighbouring elements to neighbouring states, and which folds have a discard state for
 * elements of no group.
 *
 * A group-by fold has a cell (accumulator) for each group, and an element's label says which.
 * `apart` is the distance of groups in cells.
 *
 * Fields. A step has values `weight`, `mask` and `label`, -1 where the fold has no weights, mask or
 * groups. A fold has `user` if its reducer is the caller's own. A loop is `by_call` if the text
 * runs it by one call of a function. */
#include "kernels/loop/facts.h"
#include "kernels/print/print.h"

/* Returns by how many states the subscript of a step's state moves with one index along the
 * axis. */
static int64_t subscript_stride(const rd_schedule *t, const rd_stmt *s, int32_t axis)
{
    const rd_tree_array *store = &t->store[s->store];

    return rd_linear_coef(t, &s->fold_at.cell, axis) * store->cell_stride +
           rd_linear_coef(t, &s->fold_at.state_offset, axis) +
           rd_linear_coef(t, &s->fold_at.lane, axis) * store->lane_stride;
}

/* True if the groups are the outermost axis of the fold's accumulators: the groups end where the
 * accumulators end, so that a discard state, for elements of no group, can lie behind them. */
static bool ends_with_groups(const rd_fold *f)
{
    return f->n_group * f->group_stride == f->n_cell;
}

/* True if all elements of a vector loop have one label, so that the text finds the states of its
 * group once, by a pointer, and elements go to neighbouring states. The states lie in the task's
 * memory with one lane (partial accumulator), the subscript moves by 1, and the label is made
 * outside of the loop. Users' steps are excluded, as they must not be called with elements of no
 * group. Discard states must fit behind all groups (ends_with_groups), and the strip must not be
 * padded. */
bool rd_has_group_pointer(const rd_schedule *t, const rd_stmt *s)
{
    const rd_for *loop = t->stmt[s->parent].kind == RD_S_LOOP ? rd_loop_of(t, s->parent) : NULL;

    return s->kind == RD_S_STEP && s->label >= 0 && loop && loop->kind == RD_FOR_VECTOR &&
           !loop->by_call && !t->fold[s->fold].emit.user &&
           t->store[s->store].storage == RD_IN_TASK && t->store[s->store].lanes == 1 &&
           !rd_padded_around(t, s->parent) && ends_with_groups(&t->p->fold[s->fold]) &&
           subscript_stride(t, s, loop->axis) == 1 &&
           !rd_stands_in(t, t->let[s->label].made_by, s->parent);
}

/* True if elements of no group go to a discard state, which nothing reads, so that a serial step
 * tests no label. It is a step by label in a vector loop whose rounds stay in order. The reason:
 * labels at random are outside of the groups so often that no processor predicts a branch. */
bool rd_has_discard_state(const rd_schedule *t, const rd_stmt *s)
{
    const rd_for *loop = t->stmt[s->parent].kind == RD_S_LOOP ? rd_loop_of(t, s->parent) : NULL;

    return s->kind == RD_S_STEP && s->label >= 0 && loop && loop->kind == RD_FOR_VECTOR &&
           loop->in_order && !t->fold[s->fold].emit.user &&
           t->store[s->store].storage == RD_IN_TASK && ends_with_groups(&t->p->fold[s->fold]);
}

/* Returns the number of discard states of a fold, which take elements of no group and lie behind
 * the states of all accumulators; 0 if no step needs any. */
int64_t rd_print_discard_states(const rd_schedule *t, int32_t fold)
{
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0; s = rd_next_stmt(t, s, t->part[k]))
            if (t->stmt[s].fold == fold &&
                (rd_has_group_pointer(t, &t->stmt[s]) || rd_has_discard_state(t, &t->stmt[s])))
                return t->p->fold[fold].group_stride * t->store[t->stmt[s].store].cell_stride;
    return 0;
}
