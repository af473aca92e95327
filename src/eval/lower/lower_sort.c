/* lower_sort.c - writes the code that sorts rows.
 *
 * Fields. A READ is of a leaf's `slot`, or of another value, its `target`, -1: it is not.
 *
 * Words. Scratch is temporary memory of a task. */
#include "core/bytes.h"
#include "eval/lower/lower.h"
#include "kernels/first_few.h"
#include <string.h>

/* Copies the facts of a sort into the plan's memory, as the original lives in the context's, which
 * the plan may outlive. */
static const rd_sort_facts *kept_facts(rd_lowering *l, const rd_expr *e)
{
    const void *copy = rd_pool_grow(l->pool, e->as.sort, e->as_size, e->as_size, 1);

    l->failed |= !copy;
    return copy;
}

/* Makes a slot of scratch memory (temporary, of a task) for value v, unless a STORE has made it
 * already. */
static void find_scratch(rd_lowering *l, int v)
{
    if (l->tree->storage[v].keep == RD_KEEP_SCRATCH && l->slot[v] < 0)
        l->slot[v] = rd_new_scratch(l, v);
}

/* The address where a sorted row's results begin. They are contiguous along dim `inner`, which has
 * no loop, so that its term is dropped. */
static rd_address begin_of_results(rd_lowering *l, int i)
{
    rd_address a = rd_store_address(l, i);

    for (int t = 0; t < a.n_add; t++)
        if (a.add[t].axis == l->graph->value[i].inner)
            a.add[t--] = a.add[--a.n_add];
    return a;
}

/* The tile loop over strips (elements of a row at a time, in order) around a sort in this scope;
 * NULL: it sorts whole rows. */
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

/* True if two addresses have equal offsets and terms, in whatever slots. */
static bool are_alike(const rd_address *a, const rd_address *b)
{
    bool alike = a->n_add == b->n_add && a->offset == b->offset;

    for (int k = 0; alike && k < a->n_add; k++)
        alike = a->add[k].axis == b->add[k].axis && a->add[k].coef == b->add[k].coef &&
                a->add[k].local == b->add[k].local;
    return alike;
}

/* Finds an earlier sort in strips (some elements of a row at a time) whose state this one can use;
 * -1: there is none. It must take the same rows in the same order, and keep as many results or
 * more. It has the same strips (most), axis, row length (n), direction and address of elements,
 * and a state of its own (no `reads_earlier_state`). */
static int32_t earlier_sort(const rd_lowering *l, const rd_sorting *s)
{
    const rd_program *p = l->p;

    for (int32_t k = 0; k < p->n_sorting; k++) {
        const rd_sorting *e = &p->sorting[k];

        if (e != s && e->most == s->most && !e->reads_earlier_state && e->axis == s->axis &&
            e->kept >= s->n_out && e->n == s->n && e->facts && s->facts &&
            e->facts->descending == s->facts->descending &&
            p->address[e->from].slot == p->address[s->from].slot &&
            are_alike(&p->address[e->from], &p->address[s->from]))
            return k;
    }
    return -1;
}

/* Adds the terms that select a row's state (its first k so far), of so many words each, to *at.
 * Rows are those of the loops between `scope` and the loop over strips, ranges along the row.
 * Returns the words of all rows. scope->tile_ranged_axes are axes of which a tile loop has a range,
 * so that their indices count from its start (local). rows_of() counts the rows of a loop. */
static int64_t address_of_states(const rd_lowering *l, const rd_loop_scope *scope,
                                 const rd_loop_scope *strips, int64_t words, rd_address *at)
{
    for (; scope != strips && at->n_add < RD_MAX_TERMS; scope = scope->parent)
        if (!scope->tile) {
            at->add[at->n_add++] =
                (rd_addend){ .axis  = scope->axis,
                             .reg   = -1,
                             .local = rd_in(scope->tile_ranged_axes, scope->axis),
                             .coef  = words };
            words = rd_bytes_times(words, rows_of(l, scope));
        }
    return words;
}

/* Fills in where a sort in strips (some elements of a row at a time) keeps the first k of each row
 * so far. Values and positions (two sorts) of the same rows share one state. s->most is the
 * length of a strip, s->kept the number of elements that the state keeps, s->state its address.
 * `reads_earlier_state`: the earlier sort has taken the strip already. */
static void find_states(rd_lowering *l, const rd_loop_scope *scope, const rd_loop_scope *strips,
                        rd_sorting *s)
{
    rd_address    at = { .type = RD_I64 };
    const int64_t words =
        address_of_states(l, scope, strips, rd_first_few_words(s->n_out, strips->step), &at);
    int32_t earlier;

    s->axis = strips->axis;
    s->most = strips->step;
    s->kept = s->n_out;
    earlier = earlier_sort(l, s);
    if (earlier >= 0) {
        const rd_sorting *e = &l->p->sorting[earlier];

        s->reads_earlier_state = true;
        s->kept                = e->kept;
        s->state               = e->state;
        return;
    }
    at.slot  = rd_scratch_of_bytes(l, rd_bytes_times(words, 8));
    s->state = rd_new_address(l, &at);
}

/* Writes the SORT of one row: adds its facts, and the addresses of its elements and results, to
 * the program. Either may be scratch memory, which is made here. v->target is the value that
 * holds the rows, -1: they are in memory of the caller. n elements are read, n_out written. Rows
 * that come in strips (v->strips, and such a loop around) keep their state between them:
 * find_states(). */
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
