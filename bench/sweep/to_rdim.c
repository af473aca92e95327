/* to_rdim.c - a program as the library's nodes, by the calls that a user would make. */
#include "sweep.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct builder {
    const program *p;
    rd_ctx        *ctx;
    rd_expr       *made[MOST_NODES];
} builder;

static rd_expr *build(builder *b, const node *a);

static rd_expr *leaf_of(builder *b, const node *a)
{
    const leaf *l = &b->p->leaves[a->leaf];
    rd_array    x = { .type = l->type, .shape.n = l->rank, .strides.n = l->rank };

    x.in = (const char *)l->memory + l->first * sweep_dtype(l->type)->size;
    for (int k = 0; k < l->rank; k++) {
        x.shape.at[k]   = l->n[k];
        x.strides.at[k] = l->stride[k];
    }
    return rd_leaf(b->ctx, &x);
}

static rd_expr *map_of(builder *b, const node *a)
{
    rd_expr *x[MOST_OPERANDS];

    for (int k = 0; k < a->arity; k++)
        x[k] = build(b, a->in[k]);
    return a->arity == 3   ? rd_where(x[0], x[1], x[2])
           : a->arity == 2 ? a->op->rdim2(x[0], x[1])
                           : a->op->rdim1(x[0]);
}

static rd_expr *range_of(builder *b, const node *a)
{
    rd_expr *x = build(b, a->in[0]);
    text     t = { 0 };
    rd_expr *y;

    if (a->flip)
        return rd_flip(x, RD_DIMS(a->axis));
    for (int k = 0; k < a->axis; k++)
        sweep_put(&t, ":, ");
    sweep_put(&t, "%lld:%lld:%lld", (long long)a->start, (long long)a->stop, (long long)a->step);
    y = rd_slice(x, t.at);
    free(t.at);
    return y;
}

static rd_expr *view_of(builder *b, const node *a)
{
    rd_index order = { .n = a->rank };

    switch (a->kind) {
    case N_PERMUTE:
        for (int k = 0; k < a->rank; k++)
            order.at[k] = a->order[k];
        return rd_permute(build(b, a->in[0]), order);
    case N_EXPAND: return rd_expand(build(b, a->in[0]), a->axis);
    case N_SELECT: return rd_select(build(b, a->in[0]), a->axis, a->start);
    case N_WINDOW: return rd_window(build(b, a->in[0]), a->axis, a->stop, a->step);
    case N_DIAGONAL: return rd_diagonal(build(b, a->in[0]), 0, 1, 0);
    case N_TAKE: return rd_take(build(b, a->in[0]), a->axis, build(b, a->in[1]));
    case N_CONCAT: return rd_concat(a->axis, RD_EXPRS(build(b, a->in[0]), build(b, a->in[1])));
    case N_COORD: return rd_coord(build(b, a->in[0]), a->axis);
    default: return range_of(b, a);
    }
}

static rd_expr *fold_of(builder *b, const node *a)
{
    const bool     own = a->fold == F_USER;
    rd_reduce_opts o   = { .size = sizeof o, .skip_nan = a->skip_nan };
    rd_expr       *x   = build(b, a->in[0]);

    o.where      = a->where ? build(b, a->where) : NULL;
    o.weights    = a->weights ? build(b, a->weights) : NULL;
    o.initial    = a->initial ? build(b, a->initial) : NULL;
    o.exclusive  = a->exclusive;
    o.reverse    = a->reverse;
    o.ddof       = a->ddof;
    o.p          = a->p;
    o.dims.flags = a->keep ? RD_DIMS_KEEP : 0;
    for (int k = 0; k < a->in[0]->rank; k++)
        if (a->dims >> k & 1)
            o.dims.axis[o.dims.n++] = k;
    if (!own && a->type != sweep_fold_type(a->fold, a->in[0]->type))
        o.type = a->type;
    if (own)
        return rd_reduce_user(x, a->user->reducer, &o);
    return (a->kind == N_SCAN ? rd_scan_name : rd_reduce_name)(x, sweep_fold_name(a->fold), &o);
}

static rd_expr *number_of(builder *b, const node *a)
{
    const bool real = sweep_dtype(a->type)->is_float;

    return real ? rd_num(b->ctx, a->value) : rd_int(b->ctx, (int64_t)a->value);
}

static rd_expr *build(builder *b, const node *a)
{
    rd_expr **made = &b->made[a->id];

    if (*made)
        return *made;
    switch (a->kind) {
    case N_LEAF: *made = leaf_of(b, a); break;
    case N_NUMBER: *made = number_of(b, a); break;
    case N_MAP: *made = map_of(b, a); break;
    case N_CAST: *made = rd_cast(build(b, a->in[0]), a->type); break;
    case N_USER: *made = a->user->map(build(b, a->in[0])); break;
    case N_REDUCE:
    case N_SCAN: *made = fold_of(b, a); break;
    default: *made = view_of(b, a); break;
    }
    return *made;
}

/* false: the library refuses it, or gives it another type or shape than the sweep's rules do. */
bool sweep_to_rdim(const program *p, rd_ctx *ctx, rd_expr **roots)
{
    builder b = { .p = p, .ctx = ctx };

    for (int k = 0; k < p->n_roots; k++) {
        const node *a = p->root[k];
        rd_shape    s;

        roots[k] = build(&b, a);
        if (!roots[k])
            return false;
        s = rd_shape_of(roots[k]);
        for (int i = 0; i < a->rank; i++)
            if (s.n != a->rank || s.at[i] != a->n[i])
                s.n = -1;
        if (s.n != a->rank || rd_type_of(roots[k]) != a->type) {
            fprintf(stderr,
                    "rdim-sweep: seed %llu: result %d is %s of rank %d here, not so there\n",
                    (unsigned long long)p->seed, k, sweep_dtype(a->type)->name, a->rank);
            return false;
        }
    }
    return true;
}
