/* rewrite.c - a softmax written as two reductions over long rows becomes one.  It looks at the
 * values themselves and their operands only, never at siblings, as it changes bits.
 *
 * Not one of halves: its differences and exponentials are rounded to 16 bits before they are
 * added, by which one reduction would not go.  Nor would that be faster: as they are written, rows
 * of 512 KiB of f16 take what as many f32 take as one reduction (23 ms for 16M elements). */
#include "core/caches.h"
#include "eval/ir.h"

/* ---- Softmax --------------------------------------------------------------------------------- */
/* Rows up to this size stay in cache between the passes of a softmax as written, with the
 * exponentials of one, or in the next cache at worst: at 512 KiB of f64 one reduction took 1.4
 * times as long, as it needs each exponential twice.  A fixed constant, as it decides bits. */
static const int64_t ROW_BYTES = RD_L2_BYTES / 2;

static bool plain_reduce(const rd_value *v, int reducer)
{
    return v->kind == RD_VALUE_REDUCE && v->reducer == reducer && v->in[1] < 0 && v->in[2] < 0 &&
           v->expr->as.fold->law != RD_LAW_serial && !v->expr->as.fold->identity;
}

/* Is s the sum over the same axes of exp(x - m), m the maximum of x?  Gives m, else -1. */
static int shifted_by(const rd_graph *g, const rd_value *s)
{
    const rd_value *e, *d, *m;

    if (!plain_reduce(s, RD_RED_sum))
        return -1;
    e = &g->value[s->in[0]];
    if (e->kind != RD_VALUE_MAP || e->op != RD_OP_exp)
        return -1;
    d = &g->value[e->in[0]];
    if (d->kind != RD_VALUE_MAP || d->op != RD_OP_sub)
        return -1;
    m = &g->value[d->in[1]];
    if (!plain_reduce(m, RD_RED_max) || m->in[0] != d->in[0] || m->reduced != s->reduced ||
        m->axes != s->axes)
        return -1;
    return d->in[1];
}

/* Bytes of x that one element of the sum needs again: a row, or a strip of cache lines if
 * neighbours are kept. */
static int64_t row_bytes(const rd_graph *g, const rd_value *s)
{
    int64_t bytes = rd_points_of(g, s->reduced) * rd_dtype_size(s->type);

    return s->combine->lane_axis >= 0 && rd_in(s->axes, s->combine->lane_axis) ? 64 * bytes : bytes;
}

/* The reduction to both results, stored with one more dim for them; a copy of m but for that and
 * where m goes. */
static int pair_of(rd_graph *g, int m)
{
    rd_value       p   = g->value[m];
    const int32_t *dim = p.dim;

    if (g->n_axis == RD_MAX_AXES) {
        rd_fail(g->ctx, RD_ERR_LIMIT, "%s: the results together need more than %d loop axes",
                rd_call_name(g->ctx), RD_MAX_AXES);
        return -1;
    }
    p.reducer = RD_RED_maxsumexp;
    p.ops     = rd_reducer_table[RD_RED_maxsumexp].cost;
    p.inner   = g->n_axis;
    p.out     = -1;
    p.whole   = false;
    p.dim     = rd_pool_get(g->pool, ((size_t)p.n_dim + 1) * sizeof *p.dim);
    if (!p.dim)
        return -1;
    p.n_dim = 0;
    for (int d = 0; d < g->value[m].n_dim; d++)
        if (rd_in(p.axes, dim[d]))
            p.dim[p.n_dim++] = dim[d];
    p.axes |= rd_bit(p.inner);
    p.dim[p.n_dim++]     = p.inner;
    g->axis[g->n_axis++] = (rd_axis_info){ .extent = 2, .name = "pair" };
    return rd_graph_add(g, p);
}

/* The k-th result of a pair at the place of value v. */
static rd_value result_of(const rd_graph *g, int v, int pair, int k, rd_subscript *at)
{
    const rd_value *p = &g->value[pair];

    for (int d = 0; d < p->n_dim - 1; d++)
        at[d] = (rd_subscript){ .n_term = 1, .term = { { p->dim[d], -1, 1 } } };
    at[p->n_dim - 1].offset = k;
    return (rd_value){ .kind   = RD_VALUE_READ,
                       .type   = g->value[v].type,
                       .slot   = -1,
                       .target = pair,
                       .n_at   = p->n_dim,
                       .at     = at,
                       .axes   = g->value[v].axes,
                       .inner  = -1,
                       .group  = -1,
                       .into   = -1,
                       .out    = -1 };
}

/* Value v becomes a read of the k-th result of a pair; if it is kept, a copy of that, kept in the
 * same way: who else asks for v must not decide how it is computed. */
static bool read_result(rd_graph *g, int v, int pair, int k)
{
    rd_subscript *at = rd_pool_get(g->pool, (size_t)g->value[pair].n_dim * sizeof *at);
    int32_t      *in = rd_pool_get(g->pool, sizeof *in);

    if (!at || !in)
        return false;
    if (g->value[v].out < 0 && !g->value[v].whole) {
        g->value[v] = result_of(g, v, pair, k, at);
        return true;
    }
    in[0]               = rd_graph_add(g, result_of(g, v, pair, k, at));
    g->value[v].kind    = RD_VALUE_MAP;
    g->value[v].op      = RD_OP_cast;
    g->value[v].ops     = 0;
    g->value[v].in      = in;
    g->value[v].n_in    = 1;
    g->value[v].reduced = 0;
    g->value[v].combine = NULL;
    return in[0] >= 0;
}

static bool recognise(rd_graph *g, int s)
{
    int m = shifted_by(g, &g->value[s]), pair;

    if (m < 0 || row_bytes(g, &g->value[s]) <= ROW_BYTES)
        return true;
    pair = pair_of(g, m);
    return pair >= 0 && read_result(g, m, pair, 0) && read_result(g, s, pair, 1);
}

bool rd_rewrite(rd_graph *g)
{
    const int n = g->n_value;

    for (int i = 0; i < n; i++)
        if (!recognise(g, i))
            return false;
    return rd_graph_sort_results(g);
}
