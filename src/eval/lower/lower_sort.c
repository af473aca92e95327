/* lower_sort.c - writes the code that sorts rows.
 *
 * Fields. A READ is of a leaf's `slot`, or of another value, its `target`, -1: it is not.
 *
 * Words. Scratch is temporary memory of a task. */
#include "eval/lower/lower.h"
#include <string.h>

/* Copies the facts of a sort: they live in the context's arena, which the plan may outlive. */
static const rd_sort_facts *kept_facts(rd_lowering *l, const rd_expr *e)
{
    const void *copy = rd_pool_grow(l->pool, e->as.sort, e->as_size, e->as_size, 1);

    l->failed |= !copy;
    return copy;
}

/* Makes scratch for a value if no STORE has done so yet. */
static void find_scratch(rd_lowering *l, int v)
{
    if (l->tree->storage[v].keep == RD_KEEP_SCRATCH && l->slot[v] < 0)
        l->slot[v] = rd_new_scratch(l, v);
}

/* The address where a sorted row's results begin: they are contiguous along the last dim, which has
 * no loop, so that its term is dropped. */
static rd_address begin_of_results(rd_lowering *l, int i)
{
    rd_address a = rd_store_address(l, i);

    for (int t = 0; t < a.n_add; t++)
        if (a.add[t].axis == l->graph->value[i].inner)
            a.add[t--] = a.add[--a.n_add];
    return a;
}

/* Writes the SORT of one row, with the addresses of its elements and results.  Both may be scratch,
 * which is made here. */
void rd_emit_sort(rd_lowering *l, rd_opened *level, int i)
{
    const rd_value *v = &l->graph->value[i];
    const rd_expr  *e = v->expr;
    rd_sorting     *s =
        rd_push(l, (void **)&l->p->sorting, l->p->n_sorting, &l->room_sorting, sizeof *s);
    rd_address from, to;

    if (!s)
        return;
    if (v->target >= 0)
        find_scratch(l, v->target);
    find_scratch(l, i);
    if (l->failed)
        return;
    from = rd_read_address(l, v);
    to   = begin_of_results(l, i);
    *s   = (rd_sorting){ .facts = kept_facts(l, e),
                         .type  = from.type,
                         .out   = v->type,
                         .n     = e->in[0]->extent[e->rank - 1],
                         .n_out = e->extent[e->rank - 1],
                         .from  = rd_new_address(l, &from),
                         .to    = rd_new_address(l, &to) };
    rd_emit(l, level, (rd_inst){ .kind = RD_I_SORT, .dst = -1, .arg = l->p->n_sorting++ });
}
