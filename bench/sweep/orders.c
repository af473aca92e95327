/* orders.c - in which order the loops of a group of stages run, and which of them threads share. */
#include "loops.h"
#include <stdlib.h>

static const stage *first_of(const writer *w, int group)
{
    for (int k = 0; k < w->n_stages; k++)
        if (w->stages[k].group == group)
            return &w->stages[k];
    return NULL;
}

/* ---- Orders ---------------------------------------------------------------------------------- */
/* How far apart neighbours along each loop are in the largest leaf. */
typedef struct steps {
    int64_t of[MOST_RANK], elements;
} steps;

static void walk(const writer *w, const node *a, const int *loop, steps *best)
{
    int of[MOST_RANK + 1];

    if (a->kind == N_LEAF && sweep_elements(a) > best->elements) {
        *best = (steps){ .elements = sweep_elements(a) };
        for (int k = 0; k < a->rank; k++)
            if (loop[k] >= 0)
                best->of[loop[k]] += llabs(w->p->leaves[a->leaf].stride[k]);
    }
    if (a->kind == N_LEAF || a->kind == N_NUMBER || a->kind == N_REDUCE || a->kind == N_SCAN ||
        a->kind == N_COORD)
        return;
    for (int i = 0; i < a->arity; i++) {
        const node *x = a->in[i];

        for (int k = 0; k < x->rank; k++)
            switch (a->kind) {
            case N_PERMUTE: of[a->order[k]] = loop[k]; break;
            case N_EXPAND: of[k] = loop[k + (k >= a->axis)]; break;
            case N_SELECT: of[k] = k == a->axis ? -1 : loop[k - (k > a->axis)]; break;
            case N_TAKE:
                of[k] = i ? loop[k + a->axis] : loop[k > a->axis ? k + a->in[1]->rank - 1 : k];
                break;
            case N_DIAGONAL: of[k] = k < 2 ? loop[a->rank - 1] : loop[k - 2]; break;
            default:
                of[k] = x->n[k] == 1 ? -1 : loop[k + (a->kind == N_WINDOW ? 0 : a->rank - x->rank)];
                break;
            }
        walk(w, x, of, best);
    }
}

static void sort_by_step(const writer *w, const stage *s, int *order)
{
    static const int plain[MOST_RANK] = { 0, 1, 2, 3, 4, 5 };
    const bool       fold             = s->of->kind == N_REDUCE || s->of->kind == N_SCAN;
    steps            best             = { .elements = 0 };

    if (fold)
        walk(w, s->of->in[0], plain, &best);
    else
        for (int i = 0; i < s->of->arity; i++) {
            const node *x = s->of->in[i];
            int         of[MOST_RANK];

            if (s->of->kind != N_MAP && s->of->kind != N_CAST) {
                walk(w, s->of, plain, &best);
                break;
            }
            for (int k = 0; k < x->rank; k++)
                of[k] = x->n[k] == 1 ? -1 : k + s->rank - x->rank;
            walk(w, x, of, &best);
        }
    for (int i = 1; i < s->rank; i++)
        for (int k = i; k > 0 && best.of[order[k]] > best.of[order[k - 1]]; k--) {
            const int t  = order[k];
            order[k]     = order[k - 1];
            order[k - 1] = t;
        }
}

/* Ties of an argmin go to the first: its loops stay in their order. */
static bool ordered(const writer *w, int group)
{
    for (int k = 0; k < w->n_stages; k++)
        if (w->stages[k].group == group && w->stages[k].of->kind == N_REDUCE &&
            (w->stages[k].of->fold == F_ARGMIN || w->stages[k].of->fold == F_ARGMAX))
            return true;
    return false;
}

void sweep_group_order(const writer *w, int group, int *order)
{
    const stage *s = first_of(w, group);
    int          n = 0;

    for (int k = 0; k < s->rank; k++)
        order[k] = k;
    if (w->how.order == AS_IN_MEMORY && !ordered(w, group))
        sort_by_step(w, s, order);
    if (w->how.order == NATURAL || w->how.order == AS_IN_MEMORY)
        return;
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < s->rank; k++)
            if (s->kept[k] == ((pass == 0) == (w->how.order == KEPT_FIRST)))
                order[n++] = k;
}

/* The outermost loop that every stage keeps: threads share it.  -1: none. */
int sweep_split_axis(const writer *w, int group)
{
    int order[MOST_RANK];

    sweep_group_order(w, group, order);
    for (int i = 0; i < first_of(w, group)->rank; i++) {
        bool kept = first_of(w, group)->n[order[i]] > 1 && first_of(w, group)->fused[order[i]] < 0;

        for (int k = 0; k < w->n_stages; k++)
            if (w->stages[k].group == group)
                kept = kept && w->stages[k].kept[order[i]];
        if (kept)
            return order[i];
    }
    return -1;
}
