/* lower.c - reductions that loops do not know, by those that they do: a variance is a mean, then
 * a mean of squares. */
#include "loops.h"
#include <math.h>
#include <string.h>

static node *copy(program *p, const node *a)
{
    node *b = sweep_node(p, a->kind, a->type);
    int   id;

    if (!b)
        return NULL;
    id    = b->id;
    *b    = *a;
    b->id = id;
    return b;
}

static node *fold_like(program *p, const node *like, fold_kind f, node *x, bool keep, rd_dtype type)
{
    node *r = sweep_reduce(p, f, x, like->dims, keep);

    if (!r)
        return NULL;
    r->type     = type;
    r->where    = like->where;
    r->skip_nan = like->skip_nan;
    return r;
}

static node *map1(program *p, const char *op, node *x)
{
    return sweep_map(p, op, x, NULL);
}

/* The axes that `like` reduces and does not keep, dropped from its kept form. */
static node *squeeze(program *p, const node *like, node *x)
{
    for (int k = like->in[0]->rank - 1; k >= 0 && !like->keep; k--)
        if (like->dims >> k & 1)
            x = sweep_select(p, x, k, 0);
    return x;
}

static node *variance(program *p, const node *a, node *x)
{
    node *mean = fold_like(p, a, F_MEAN, x, true, a->type), *v;

    if (!mean)
        return NULL;
    mean->weights = a->weights;
    v = fold_like(p, a, F_MEAN, map1(p, "square", sweep_map(p, "sub", x, mean)), a->keep, a->type);
    if (!v)
        return NULL;
    v->weights = a->weights;
    v->ddof    = a->ddof;
    return v;
}

static node *norm(program *p, const node *a, node *x)
{
    node *r;

    if (a->p == 1)
        return fold_like(p, a, F_SUM, map1(p, "abs", x), a->keep, a->type);
    if (!isinf(a->p))
        return map1(p, "sqrt", fold_like(p, a, F_SUM, map1(p, "square", x), a->keep, a->type));
    r = fold_like(p, a, F_MAX, map1(p, "abs", x), a->keep, a->type);
    if (r)
        r->initial = sweep_number(p, 0, a->type);
    return r;
}

static node *logsumexp(program *p, const node *a, node *x)
{
    node *m = fold_like(p, a, F_MAX, x, true, a->type), *e, *s;

    if (!m)
        return NULL;
    if (a->where || a->skip_nan)
        m->initial = sweep_number(p, -INFINITY, a->type);
    e = map1(p, "exp", sweep_map(p, "sub", x, m));
    e = a->weights ? sweep_map(p, "mul", e, a->weights) : e;
    s = fold_like(p, a, F_SUM, e, true, a->type);
    return squeeze(p, a, sweep_map(p, "add", map1(p, "log", s), m));
}

static node *count(program *p, const node *a, node *x)
{
    if (x->type != RD_BOOL)
        x = sweep_map(p, "ne", x, sweep_number(p, 0, x->type));
    return fold_like(p, a, F_SUM, x, a->keep, RD_I64);
}

static node *lower_fold(program *p, const node *a)
{
    node *x = a->in[0];

    if (a->fold >= F_VAR && a->fold != F_USER && !sweep_dtype(x->type)->is_float)
        x = sweep_cast(p, x, RD_F64);
    switch (a->fold) {
    case F_COUNT: return count(p, a, x);
    case F_VAR: return variance(p, a, x);
    case F_STD: return map1(p, "sqrt", variance(p, a, x));
    case F_NORM: return norm(p, a, x);
    case F_LOGSUMEXP: return logsumexp(p, a, x);
    default: return (node *)a;
    }
}

static node *lower(program *p, node *a, node **made)
{
    const int id = a->id;
    node     *b;

    if (made[id])
        return made[id];
    if (a->kind == N_USER || (a->kind == N_REDUCE && a->fold == F_USER))
        return made[id] = lower(p, a->in[1], made);
    b = copy(p, a);
    if (!b)
        return NULL;
    for (int k = 0; k < a->arity; k++)
        b->in[k] = lower(p, a->in[k], made);
    b->where        = a->where ? lower(p, a->where, made) : NULL;
    b->weights      = a->weights ? lower(p, a->weights, made) : NULL;
    return made[id] = a->kind == N_REDUCE ? lower_fold(p, b) : b;
}

/* Once for each program: shared nodes stay shared. */
node *sweep_lower(program *p, node *a)
{
    static node    *made[MOST_NODES];
    static program *of;
    static uint64_t seed;

    if (of != p || seed != p->seed || !p->trusting)
        memset(made, 0, sizeof made);
    of          = p;
    seed        = p->seed;
    p->trusting = true;
    return lower(p, a, made);
}
