/* list_partials.c - the list of the partials of a fold, in a shadow run.
 *
 * A partial is a node that one range of a split reduction has stored, with one hash for each
 * lane. */
#include "kernels/loop/shadow/accumulators.h"
#include <stdlib.h>
#include <string.h>

/* Removes all partials of a fold (nodes that ranges of a split reduction have stored). */
void rd_shadow_forget_partials(rd_shadow_folds *s, int32_t fold)
{
    for (int64_t k = 0; k < s->n_partial[fold]; k++)
        free(s->partial[fold][k].node);
    free(s->partial[fold]);
    s->partial[fold]   = NULL;
    s->n_partial[fold] = 0;
}

/* Adds a copy of a partial (a node that one range of a split reduction has stored), with a hash
 * for each lane (partial accumulator); false: no memory. */
bool rd_shadow_add_partial(rd_shadow_folds *s, int32_t fold, const rd_shadow_partial *partial)
{
    const size_t       bytes = (size_t)s->t->p->fold[fold].lanes * sizeof *partial->node;
    const size_t       n     = (size_t)s->n_partial[fold];
    rd_shadow_partial *made  = realloc(s->partial[fold], (n + 1) * sizeof *made);

    if (!made)
        return false;
    s->partial[fold] = made;
    made[n]          = *partial;
    made[n].node     = malloc(bytes);
    if (!made[n].node)
        return false;
    memcpy(made[n].node, partial->node, bytes);
    s->n_partial[fold]++;
    return true;
}
