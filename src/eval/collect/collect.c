/* collect.c - expressions to graph: visits what is reachable, users first, and names the result. */
#include "eval/collect/collect.h"
#include <string.h>

/* ---- Demands --------------------------------------------------------------------------------- */
rd_subscript *rd_subscripts(rd_collector *c, int n)
{
    return rd_pool_get(c->pool, (size_t)(n ? n : 1) * sizeof(rd_subscript));
}

int rd_demand_new(rd_collector *c, const rd_expr *expr, const rd_subscript *at)
{
    rd_seen   *seen = rd_seen_of(c, expr);
    rd_demand *d;

    if (c->n_demand == c->room_demand) {
        int32_t room = c->room_demand ? 2 * c->room_demand : 16;

        d = rd_pool_grow(c->pool, c->demand, (size_t)c->n_demand, (size_t)room, sizeof *d);
        if (!d)
            return -1;
        c->demand      = d;
        c->room_demand = room;
    }
    d  = &c->demand[c->n_demand];
    *d = (rd_demand){ .expr  = (int32_t)(seen - c->seen),
                      .next  = -1,
                      .alias = -1,
                      .value = -1,
                      .group = -1,
                      .at    = rd_pool_raw(c->pool, ((size_t)expr->rank + 1) * sizeof *at) };
    if (!d->at)
        return -1;
    if (expr->rank)
        memcpy(d->at, at, (size_t)expr->rank * sizeof *at);
    for (int a = 0; a < expr->rank; a++) {
        if (expr->extent[a] == 1)
            d->at[a] = rd_subscript_const(0);
        if (!rd_subscript_normal(c->axes, &d->at[a]))
            return -1;
    }
    if (seen->last < 0)
        seen->first = c->n_demand;
    else
        c->demand[seen->last].next = c->n_demand;
    return seen->last = c->n_demand++;
}

int rd_value_new(rd_collector *c, rd_value_kind kind, rd_dtype type, const rd_expr *expr)
{
    rd_graph *g = c->graph;

    if (g->n_value == c->room_value) {
        int32_t   room = c->room_value ? 2 * c->room_value : 16;
        rd_value *more =
            rd_pool_grow(c->pool, g->value, (size_t)g->n_value, (size_t)room, sizeof *more);

        if (!more)
            return -1;
        g->value      = more;
        c->room_value = room;
    }
    g->value[g->n_value] = (rd_value){ .kind   = kind,
                                       .type   = type,
                                       .expr   = expr,
                                       .slot   = -1,
                                       .target = -1,
                                       .inner  = -1,
                                       .group  = -1,
                                       .into   = -1,
                                       .out    = -1 };
    return g->n_value++;
}

/* Extents of the axes of a demand that no other subscript has counted.  A gather goes along those of
 * its index: both coordinates of a stored place are one axis. */
static double demand_points(const rd_collector *c, const rd_demand *d, uint64_t *seen)
{
    const rd_expr *expr   = c->seen[d->expr].expr;
    double         points = 1;

    for (int a = 0; a < expr->rank; a++)
        for (int t = 0; t < d->at[a].n_term; t++) {
            int axis = d->at[a].term[t].axis;

            if (axis < 0) {
                const int index = c->graph->value[d->at[a].term[t].value].in[0];

                if (rd_walk_comes(c, index))
                    points *= demand_points(c, &c->demand[index], seen);
                continue;
            }
            axis = rd_axes_root(c->axes, axis);
            if (!(seen[axis / 64] >> (axis % 64) & 1)) {
                seen[axis / 64] |= (uint64_t)1 << (axis % 64);
                points *= (double)c->axes->at[axis].extent;
            }
        }
    return points;
}

double rd_demand_points(const rd_collector *c, const rd_demand *d)
{
    uint64_t seen[RD_RAW_WORDS] = { 0 };

    rd_walk_begins(c);
    return demand_points(c, d, seen);
}

bool rd_demand_is_gathered(const rd_collector *c, const rd_demand *d)
{
    for (int a = 0; a < c->seen[d->expr].expr->rank; a++)
        for (int t = 0; t < d->at[a].n_term; t++)
            if (d->at[a].term[t].axis < 0)
                return true;
    return false;
}

double rd_demands_span(const rd_collector *c, const rd_expr *expr, const int32_t *list, int n)
{
    uint64_t seen[RD_RAW_WORDS] = { 0 };
    double   points             = 1;

    for (int k = 0; k < n; k++)
        for (int a = 0; a < expr->rank; a++) {
            const rd_subscript *at = &c->demand[list[k]].at[a];

            for (int t = 0; t < at->n_term; t++) {
                const int axis =
                    at->term[t].axis < 0 ? -1 : rd_axes_root(c->axes, at->term[t].axis);

                if (axis < 0 || seen[axis / 64] >> (axis % 64) & 1)
                    continue;
                seen[axis / 64] |= (uint64_t)1 << (axis % 64);
                points *= (double)c->axes->at[axis].extent;
            }
        }
    return points;
}

/* ---- Equal demands --------------------------------------------------------------------------- */
enum { MAX_PAIRS = RD_MAX_RANK * RD_MAX_TERMS };

typedef struct pairs {
    int n, a[MAX_PAIRS], b[MAX_PAIRS];
} pairs;

static bool pair_axes(rd_collector *c, pairs *p, int a, int b)
{
    a = rd_axes_root(c->axes, a);
    b = rd_axes_root(c->axes, b);
    for (int i = 0; i < p->n; i++)
        if (p->a[i] == a || p->b[i] == b)
            return p->a[i] == a && p->b[i] == b;
    if (p->n == MAX_PAIRS || !rd_axes_may_join(c->axes, a, b))
        return false;
    p->a[p->n]   = a;
    p->b[p->n++] = b;
    return true;
}

static bool pair_demands(rd_collector *c, pairs *p, const rd_demand *a, const rd_demand *b);

static bool pair_subscripts(rd_collector *c, pairs *p, const rd_subscript *a, const rd_subscript *b)
{
    if (a->offset != b->offset || a->n_term != b->n_term)
        return false;
    for (int t = 0; t < a->n_term; t++) {
        const rd_term *u = &a->term[t], *v = &b->term[t];

        if (u->coef != v->coef || (u->axis < 0) != (v->axis < 0))
            return false;
        if (u->axis >= 0) {
            if (!pair_axes(c, p, u->axis, v->axis))
                return false;
        } else if (u->value != v->value) {
            const rd_value *x = &c->graph->value[u->value], *y = &c->graph->value[v->value];

            if (x->value.i64 != y->value.i64 ||
                !pair_demands(c, p, &c->demand[x->in[0]], &c->demand[y->in[0]]))
                return false;
        }
    }
    return true;
}

/* Demands that were found to differ differ for good, or a chain of takes would be walked to its end
 * for each pair. */
static bool pair_demands(rd_collector *c, pairs *p, const rd_demand *a, const rd_demand *b)
{
    if (a->expr != b->expr || (a->group >= 0 && b->group >= 0 && a->group != b->group))
        return false;
    for (int k = 0; k < c->seen[a->expr].expr->rank; k++)
        if (!pair_subscripts(c, p, &a->at[k], &b->at[k]))
            return false;
    return true;
}

/* Terms are sorted by axis, so two subscripts that are equal but for names may list them in
 * different order; then they stay two demands, which costs a shared computation but never a wrong
 * one. */
static bool unify(rd_collector *c, const rd_demand *a, const rd_demand *b)
{
    pairs p;

    p.n = 0; /* the rest is 8 KiB that nobody reads */
    if (!pair_demands(c, &p, a, b))
        return false;
    for (int i = 0; i < p.n; i++)
        rd_axes_join(c->axes, p.a[i], p.b[i]);
    return true;
}

int rd_demands_distinct(rd_collector *c, rd_seen *seen, int32_t **list)
{
    int n = 0, total = 0;

    for (int d = seen->first; d >= 0; d = c->demand[d].next)
        total++;
    *list = rd_pool_get(c->pool, (size_t)(total ? total : 1) * sizeof **list);
    if (!*list)
        return -1;
    for (int d = seen->first; d >= 0; d = c->demand[d].next) {
        int k = 0;

        for (int a = 0; a < seen->expr->rank; a++)
            if (!rd_subscript_normal(c->axes, &c->demand[d].at[a]))
                return -1;
        while (k < n && !unify(c, &c->demand[(*list)[k]], &c->demand[d]))
            k++;
        c->demand[d].group = k;
        if (k == n)
            (*list)[n++] = d;
        else
            c->demand[d].alias = (*list)[k];
    }
    return n;
}

void rd_join_places(rd_collector *c, const rd_subscript *a, const rd_subscript *b)
{
    if (a->offset != b->offset || a->n_term != 1 || b->n_term != 1 ||
        a->term[0].coef != b->term[0].coef || a->term[0].axis < 0 || b->term[0].axis < 0)
        return;
    if (rd_axes_may_join(c->axes, a->term[0].axis, b->term[0].axis))
        rd_axes_join(c->axes, a->term[0].axis, b->term[0].axis);
}

/* ---- Results --------------------------------------------------------------------------------- */
/* Demands a result at fresh axes, one per axis of extent other than 1, and says where each element
 * goes. */
static bool demand_result(rd_collector *c, const rd_request *request, rd_finish_result *r)
{
    const rd_expr *e = request->expr;
    rd_subscript   at[RD_MAX_RANK];

    r->type = request->type;
    for (int a = 0; a < e->rank; a++) {
        int axis;

        at[a] = rd_subscript_const(0);
        if (e->extent[a] == 1)
            continue;
        axis = rd_axes_new(c->axes, e->extent[a]);
        if (axis < 0)
            return false;
        for (int b = 0; b < r->n_dim; b++)
            rd_axes_apart(c->axes, axis, r->dim[b]);
        r->dim[r->n_dim++] = axis;
        at[a]              = rd_subscript_axis(axis);
        if (!rd_subscript_add(c->axes, &r->store, &at[a], request->stride[a]))
            return false;
    }
    r->demand = rd_demand_new(c, e, at);
    return r->demand >= 0;
}

static bool visit(rd_collector *c)
{
    for (int i = 0; i < c->n_seen; i++)
        if (!rd_goes_on(c->ctx) || !rd_instances(c, &c->seen[i]))
            return false;
    return true;
}

static rd_graph *keep_reasons(rd_collector *c, rd_graph *g)
{
    if (g && c->why.n) {
        g->why = rd_pool_get(c->pool, c->why.n + 1);
        if (g->why)
            memcpy(g->why, c->why.at, c->why.n + 1);
        else
            g = NULL;
    }
    rd_text_free(&c->why);
    return g;
}

/* Folds each look at all that they are made of, so that the time grows with their square. */
static bool few_folds(const rd_collector *c)
{
    enum { MOST = 128 };
    int folds = 0;

    for (int i = 0; i < c->n_seen; i++)
        folds += c->seen[i].expr->kind == RD_EXPR_REDUCE || c->seen[i].expr->kind == RD_EXPR_SCAN;
    if (folds > MOST)
        rd_fail(c->ctx, RD_ERR_LIMIT, "%s: %d reductions and scans in one plan",
                rd_call_name(c->ctx), folds);
    return folds <= MOST;
}

static bool reach_results(rd_collector *c, int n, const rd_request *request, const rd_given *given)
{
    rd_expr **results = rd_pool_get(c->pool, (size_t)n * sizeof *results);

    for (int k = 0; results && k < n; k++)
        results[k] = request[k].expr;
    return results &&
           rd_reach_exprs(c, (rd_exprs){ results, n }, given ? given->exprs : (rd_exprs){ 0 }) &&
           (!given || !given->limited || few_folds(c));
}

rd_graph *rd_collect(rd_ctx *ctx, rd_pool *pool, int n, const rd_request *request,
                     const rd_given *given)
{
    rd_collector      c      = { .ctx = ctx, .pool = pool };
    rd_finish_result *result = rd_pool_get(pool, (size_t)n * sizeof *result);
    bool              ok;

    c.graph = rd_pool_get(pool, sizeof *c.graph);
    c.axes  = rd_pool_get(pool, sizeof *c.axes);
    if (!c.graph || !c.axes || !result)
        return NULL;
    c.graph->ctx      = ctx;
    c.graph->pool     = pool;
    c.graph->n_result = n;
    c.axes->ctx       = ctx;
    c.axes->pool      = pool;
    c.graph->limited  = given && given->limited;
    ok                = reach_results(&c, n, request, given);
    for (int k = 0; ok && k < n; k++)
        ok = demand_result(&c, &request[k], &result[k]);
    ok = ok && visit(&c) && rd_finish(&c, n, result);
    return keep_reasons(&c, ok ? c.graph : NULL);
}
