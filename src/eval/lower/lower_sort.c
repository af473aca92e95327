/* lower_sort.c - writes the code that sorts rows.
 *
 * Fields. A READ is of a leaf's `slot`, or of another value, its `target`, -1: it is not.
 *
 * Words. Scratch is temporary memory of a task. */
#include "core/bytes.h"
#include "eval/lower/lower.h"
#include "kernels/first_few.h"
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

/* The loop over strips of the rows that a sort in this scope takes; NULL: rows are whole. */
static const rd_loop_scope *strips_around(const rd_loop_scope *scope)
{
    while (scope && !scope->ordered)
        scope = scope->parent;
    return scope;
}

/* The number of rows that a loop visits in its range, which is that of a tile loop around it. */
static int64_t rows_of(const rd_lowering *l, const rd_loop_scope *loop)
{
    for (const rd_loop_scope *s = loop->parent; s; s = s->parent)
        if (s->tile && s->axis == loop->axis)
            return s->step;
    return l->graph->axis[loop->axis].extent;
}

/* Makes scratch for the first few so far of each row: those of the loops inside the one over
 * strips. */
static void find_states(rd_lowering *l, const rd_loop_scope *scope, const rd_loop_scope *strips,
                        rd_sorting *s)
{
    int64_t    words = rd_first_few_words(s->n_out);
    rd_address at    = { .type = RD_I64 };

    for (; scope != strips && at.n_add < RD_MAX_TERMS; scope = scope->parent)
        if (!scope->tile) {
            at.add[at.n_add++] = (rd_addend){ .axis  = scope->axis,
                                              .reg   = -1,
                                              .local = rd_in(scope->ranged, scope->axis),
                                              .coef  = words };
            words              = rd_bytes_times(words, rows_of(l, scope));
        }
    at.slot  = rd_scratch_of_bytes(l, rd_bytes_times(words, 8));
    s->axis  = strips->axis;
    s->most  = strips->step;
    s->state = rd_new_address(l, &at);
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
    if (v->strips && strips_around(l->tree->storage[i].where))
        find_states(l, l->tree->storage[i].where, strips_around(l->tree->storage[i].where), s);
    rd_emit(l, level, (rd_inst){ .kind = RD_I_SORT, .dst = -1, .arg = l->p->n_sorting++ });
}
