/* rewrite.c - turns a softmax written as two reductions over long rows into one reduction
 * (online softmax).  It examines only the values and their operands, never siblings, because it
 * changes bits.
 *
 *    m = max(x);  s = sum(exp(x - m))     ->     (m, s) = maxsumexp(x)
 *
 * Not for 16-bit floats: their differences and exponentials are rounded to 16 bits before they
 * are added, which one reduction would not do.  Nor would it be faster: rows of 512 KiB of them
 * take as long as written (23 ms for 16M elements).
 *
 * Fields. A fold's lane_axis is the axis with contiguous elements for vectors, -1: none. */
#include "core/caches.h"
#include "eval/ir.h"

/* ---- Softmax --------------------------------------------------------------------------------- */
/* Rows up to this size stay in cache between the two passes as written, or in the next cache at
 * worst.  One reduction is slower there (1.4 times at 512 KiB of f64), as it computes each
 * exponential twice.  A fixed constant, as it decides bits. */
static const int64_t ROW_BYTES = RD_L2_BYTES / 2;

/* True for a reduction by that operator without weights (in[1]), mask (in[2]), first value, or
 * strict order. */
static bool is_plain_reduce(const rd_value *v, rd_op op)
{
    return v->kind == RD_VALUE_REDUCE && rd_reducer_table[v->reducer].op == op && v->in[1] < 0 &&
           v->in[2] < 0 && v->expr->as.fold->law != RD_LAW_serial && !v->expr->as.fold->identity;
}

/* The number of value m if s is the sum of exp(x - m) over the axes of m = max(x), as in a
 * softmax; else -1. e is the exponential, d the difference. `reduced` are the reduced axes,
 * `axes` those of the result: m and s must have the same. */
static int shifted_by(const rd_graph *g, const rd_value *s)
{
    const rd_value *e, *d, *m;

    if (!is_plain_reduce(s, RD_OP_add))
        return -1;
    e = &g->value[s->in[0]];
    if (e->kind != RD_VALUE_MAP || e->op != RD_OP_exp)
        return -1;
    d = &g->value[e->in[0]];
    if (d->kind != RD_VALUE_MAP || d->op != RD_OP_sub)
        return -1;
    m = &g->value[d->in[1]];
    if (!is_plain_reduce(m, RD_OP_maximum) || m->in[0] != d->in[0] || m->reduced != s->reduced ||
        m->axes != s->axes)
        return -1;
    return d->in[1];
}

/* Bytes of x that stay in use between the two passes of a softmax as written: a row, or 64 rows at
 * a time if SIMD lanes go along a kept axis. */
static int64_t row_bytes(const rd_graph *g, const rd_value *s)
{
    int64_t bytes = rd_points_of(g, s->reduced) * rd_dtype_size(s->type);

    return s->combine->lane_axis >= 0 && rd_in(s->axes, s->combine->lane_axis) ? 64 * bytes : bytes;
}

/* Makes the reduction with both results of a softmax, (max, sum of exp): a copy of m with another
 * reducer and one more storage dim of extent 2. Returns its number; -1 on failure. The new dim
 * has no loop (inner), and dims along which m only repeats are left out. */
static int pair_of(rd_graph *g, int m)
{
    rd_value       p   = g->value[m];
    const int32_t *dim = p.dim;

    if (g->n_axis == RD_MAX_AXES) {
        rd_fail(g->ctx, RD_ERR_LIMIT, "%s: the results together need more than %d loop axes",
                rd_call_name(g->ctx), RD_MAX_AXES);
        return -1;
    }
    p.reducer        = RD_RED_maxsumexp;
    p.ops            = rd_reducer_table[RD_RED_maxsumexp].cost;
    p.inner          = g->n_axis;
    p.out            = -1;
    p.is_whole_array = false;
    p.dim            = rd_pool_get(g->pool, ((size_t)p.n_dim + 1) * sizeof *p.dim);
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

/* A READ of the k-th result of a pair (0: max, 1: sum), at the indices of value v; `at` is memory
 * for its subscripts. The last dim of the pair p is the one of its two results; p->dim are its
 * dims. */
static rd_value result_of(const rd_graph *g, int v, int pair, int k, rd_subscript *at)
{
    const rd_value *p = &g->value[pair];

    for (int d = 0; d < p->n_dim - 1; d++)
        at[d] = (rd_subscript){ .n_term = 1, .term = { { p->dim[d], /*value=*/-1, /*coef=*/1 } } };
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

/* Turns value v into a READ of the k-th result of a pair. If v is stored, it becomes a copy of
 * that READ and is stored as before, so that its readers do not change how it is computed. False
 * on failure. v is stored if it is a result (`out`) or an array (`is_whole_array`). */
static bool read_result(rd_graph *g, int v, int pair, int k)
{
    rd_subscript *at = rd_pool_get(g->pool, (size_t)g->value[pair].n_dim * sizeof *at);
    int32_t      *in = rd_pool_get(g->pool, sizeof *in);

    if (!at || !in)
        return false;
    if (g->value[v].out < 0 && !g->value[v].is_whole_array) {
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

/* If s is the sum of exp(x - max(x)), and its rows are longer than ROW_BYTES, replaces both
 * reductions by one that makes both results in one pass over x (online softmax). False on
 * failure. shifted_by() finds the maximum m, -1: s is no such sum; pair_of() makes the pair. */
static bool rewrite_softmax(rd_graph *g, int s)
{
    int m = shifted_by(g, &g->value[s]), pair;

    if (m < 0 || row_bytes(g, &g->value[s]) <= ROW_BYTES)
        return true;
    pair = pair_of(g, m);
    return pair >= 0 && read_result(g, m, pair, /*k=*/0) && read_result(g, s, pair, /*k=*/1);
}

/* Replaces both reductions of each softmax over long rows by one (online softmax), and sorts the
 * graph again.  False on failure. */
bool rd_rewrite(rd_graph *g)
{
    const int n = g->n_value;

    for (int i = 0; i < n; i++)
        if (!rewrite_softmax(g, i))
            return false;
    return rd_graph_sort_results(g);
}
