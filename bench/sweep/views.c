/* views.c - nodes that select and rearrange. */
#include "sweep.h"
#include <math.h>
#include <string.h>

static node *view(program *p, node_kind kind, node *a)
{
    node *m = a ? sweep_node(p, kind, a->type) : NULL;

    if (!m)
        return NULL;
    m->arity = 1;
    m->in[0] = a;
    m->rank  = a->rank;
    m->r     = a->r;
    m->exact = a->exact;
    memcpy(m->n, a->n, sizeof m->n);
    return m;
}

node *sweep_permute(program *p, node *a, const int *order)
{
    node *m = view(p, N_PERMUTE, a);

    if (!m)
        return NULL;
    for (int k = 0; k < a->rank; k++) {
        m->order[k] = order[k];
        m->n[k]     = a->n[order[k]];
    }
    return m;
}

static void drop(node *m, int axis)
{
    memmove(&m->n[axis], &m->n[axis + 1], (size_t)(m->rank - axis - 1) * sizeof *m->n);
    m->rank--;
}

node *sweep_expand(program *p, node *a, int axis)
{
    node *m = a && a->rank < MOST_RANK ? view(p, N_EXPAND, a) : NULL;

    if (!m)
        return NULL;
    memmove(&m->n[axis + 1], &m->n[axis], (size_t)(m->rank - axis) * sizeof *m->n);
    m->n[axis] = 1;
    m->axis    = axis;
    m->rank++;
    return m;
}

/* Elements start, start + step, ... before stop; both count from 0. */
node *sweep_range(program *p, node *a, int axis, int64_t start, int64_t stop, int64_t step)
{
    node *m = view(p, N_RANGE, a);

    if (!m)
        return NULL;
    m->axis    = axis;
    m->start   = start;
    m->stop    = stop;
    m->step    = step;
    m->n[axis] = step > 0 ? (stop - start + step - 1) / step : (start - stop - step - 1) / -step;
    return m->n[axis] > 0 ? m : NULL;
}

node *sweep_flip(program *p, node *a, int axis)
{
    node *m = a ? sweep_range(p, a, axis, a->n[axis] - 1, -1, -1) : NULL;

    if (m)
        m->flip = true;
    return m;
}

node *sweep_select(program *p, node *a, int axis, int64_t at)
{
    node *m = view(p, N_SELECT, a);

    if (!m)
        return NULL;
    m->axis  = axis;
    m->start = at;
    drop(m, axis);
    return m;
}

node *sweep_window(program *p, node *a, int axis, int64_t n, int64_t step)
{
    node *m = a && a->rank < MOST_RANK && a->n[axis] >= n ? view(p, N_WINDOW, a) : NULL;

    if (!m)
        return NULL;
    m->axis         = axis;
    m->step         = step;
    m->stop         = n;
    m->n[axis]      = (a->n[axis] - n) / step + 1;
    m->n[m->rank++] = n;
    return m;
}

/* Of the first two axes, as a new last one. */
node *sweep_diagonal(program *p, node *a)
{
    node *m = a && a->rank >= 2 ? view(p, N_DIAGONAL, a) : NULL;

    if (!m)
        return NULL;
    drop(m, 0);
    drop(m, 0);
    m->n[m->rank++] = a->n[0] < a->n[1] ? a->n[0] : a->n[1];
    return m;
}

node *sweep_take(program *p, node *a, int axis, node *index)
{
    node *m = a && index && a->rank - 1 + index->rank <= MOST_RANK ? view(p, N_TAKE, a) : NULL;

    if (!m)
        return NULL;
    m->arity = 2;
    m->in[1] = index;
    m->axis  = axis;
    drop(m, axis);
    memmove(&m->n[axis + index->rank], &m->n[axis], (size_t)(m->rank - axis) * sizeof *m->n);
    memcpy(&m->n[axis], index->n, (size_t)index->rank * sizeof *m->n);
    m->rank += index->rank;
    return m;
}

node *sweep_concat(program *p, node *a, node *b, int axis)
{
    node *m = a && b && a->type == b->type && a->rank == b->rank ? view(p, N_CONCAT, a) : NULL;

    if (!m)
        return NULL;
    for (int k = 0; k < a->rank; k++)
        if (k != axis && a->n[k] != b->n[k])
            return NULL;
    m->arity   = 2;
    m->in[1]   = b;
    m->axis    = axis;
    m->n[axis] = a->n[axis] + b->n[axis];
    m->r     = (range){ fmin(a->r.lo, b->r.lo), fmax(a->r.hi, b->r.hi), fmax(a->r.err, b->r.err) };
    m->exact = a->exact && b->exact;
    return m;
}
