/* twin_steps.c - steps of two folds that take the same elements to the same cells, such as of a
 * minimum and of its place.
 *
 *     step f0 cell 0, lane 0, line i2: r35      min
 *     step f1 cell 0, lane 0, line i2: r35      argmin
 *
 * A cell is an accumulator of a fold. */
#include "kernels/loop/facts.h"

/* True if both statements are steps of two different folds (reductions) that take the same value x,
 * without a mask or a label, to cells (accumulators) at the same position.  A statement of -1 is
 * none. */
bool rd_takes_same_element(const rd_schedule *t, int32_t a, int32_t b)
{
    const rd_stmt *x = a >= 0 ? &t->stmt[a] : NULL, *y = b >= 0 ? &t->stmt[b] : NULL;

    return x && y && x->kind == RD_S_STEP && y->kind == RD_S_STEP && x->fold != y->fold &&
           x->x == y->x && x->mask < 0 && y->mask < 0 && x->label < 0 && y->label < 0 &&
           rd_linear_same(t, &x->fold_at.cell, &y->fold_at.cell) &&
           rd_linear_same(t, &x->fold_at.state_offset, &y->fold_at.state_offset);
}

/* The argmin beside a step of min, or argmax beside max: the number of that fold, whose step stands
 * directly before or behind and takes the same element; -1: none.  Both are reductions of f32 or
 * f64 with one state for each accumulator (lanes 1), and none is the user's own. */
int32_t rd_place_beside(const rd_schedule *t, int32_t stmt)
{
    const int32_t  beside[] = { t->stmt[stmt].prev, t->stmt[stmt].next };
    const rd_fold *f = t->stmt[stmt].kind == RD_S_STEP ? &t->p->fold[t->stmt[stmt].fold] : NULL;

    for (int k = 0; f && !f->user && k < 2; k++) {
        const rd_fold *g =
            rd_takes_same_element(t, stmt, beside[k]) ? &t->p->fold[t->stmt[beside[k]].fold] : NULL;

        if (g && !g->user && g->lanes == 1 && f->lanes == 1 && f->type == g->type &&
            (f->type == RD_F32 || f->type == RD_F64) &&
            ((f->reducer == RD_RED_min && g->reducer == RD_RED_argmin) ||
             (f->reducer == RD_RED_max && g->reducer == RD_RED_argmax)))
            return t->stmt[beside[k]].fold;
    }
    return -1;
}
