/* twin_steps.c - steps of two folds that take the same elements to the same cells, such as of a minimum
 * and of its place.
 *
 *     step f0 cell 0, lane 0, outer i2: r35      min
 *     step f1 cell 0, lane 0, outer i2: r35      argmin
 *
 * A cell is an accumulator of a fold. */
#include "kernels/loop/facts.h"

/* True if both statements are steps, of two folds, that take one element, without masks and labels, to
 * cells at the same position. */
bool rd_takes_same_element(const rd_schedule *t, int32_t a, int32_t b)
{
    const rd_stmt *x = a >= 0 ? &t->stmt[a] : NULL, *y = b >= 0 ? &t->stmt[b] : NULL;

    return x && y && x->kind == RD_S_STEP && y->kind == RD_S_STEP && x->fold != y->fold &&
           x->x == y->x && x->mask < 0 && y->mask < 0 && x->label < 0 && y->label < 0 &&
           rd_linear_same(t, &x->of.cell, &y->of.cell) &&
           rd_linear_same(t, &x->of.more, &y->of.more);
}

/* The fold of places, -1: none, that a step of an extreme stands beside: argmin for min, argmax for
 * max, with states of floats of one lane. */
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
