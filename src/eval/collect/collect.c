/* collect.c - expressions to graph: finds what is reachable, visits it users first, and names the
 * result. */
#include "eval/collect/collect.h"
#include <string.h>

/* ---- Reachable expressions ------------------------------------------------------------------- */
static int32_t *table_slot(const rd_collector *c, const rd_expr *e)
{
    uint64_t h = (uint64_t)(uintptr_t)e * 0x9E3779B97F4A7C15u;

    for (int32_t i = (int32_t)(h >> 33) & (c->n_table - 1);; i = (i + 1) & (c->n_table - 1))
        if (c->table[i] < 0 || c->seen[c->table[i]].expr == e)
            return &c->table[i];
}

static bool table_rebuild(rd_collector *c, int32_t room)
{
    c->n_table = room;
    c->table   = rd_pool_get(c->pool, (size_t)room * sizeof *c->table);
    if (!c->table)
        return false;
    memset(c->table, -1, (size_t)room * sizeof *c->table);
    for (int i = 0; i < c->n_seen; i++)
        *table_slot(c, c->seen[i].expr) = i;
    return true;
}

static bool see(rd_collector *c, const rd_expr *e)
{
    int32_t *at = table_slot(c, e);

    if (*at >= 0)
        return true;
    if (2 * (c->n_seen + 1) > c->n_table) {
        rd_seen *more =
            rd_pool_grow(c->pool, c->seen, (size_t)c->n_seen, (size_t)c->n_table, sizeof *more);

        if (!more)
            return false;
        c->seen = more;
        if (!table_rebuild(c, 2 * c->n_table))
            return false;
        at = table_slot(c, e);
    }
    c->seen[c->n_seen] = (rd_seen){ .expr = e, .first = -1, .last = -1 };
    *at                = c->n_seen++;
    return true;
}

/* Sorts by falling serial: operands are older than their users, so users come first.  Heap sort:
 * graphs may be long chains, which are the worst case of simpler sorts. */
static void sift(rd_seen *a, int32_t i, int32_t n)
{
    for (int32_t child; (child = 2 * i + 1) < n; i = child) {
        rd_seen swap = a[i];

        if (child + 1 < n && a[child + 1].expr->serial < a[child].expr->serial)
            child++;
        if (a[i].expr->serial <= a[child].expr->serial)
            return;
        a[i]     = a[child];
        a[child] = swap;
    }
}

static void sort_users_first(rd_seen *a, int32_t n)
{
    for (int32_t i = n / 2; i-- > 0;)
        sift(a, i, n);
    for (int32_t i = n; i-- > 1;) {
        rd_seen swap = a[0];

        a[0] = a[i];
        a[i] = swap;
        sift(a, 0, i);
    }
}

static double own_ops(const rd_expr *e)
{
    return e->kind == RD_EXPR_MAP ? rd_op_table[e->op].cost : e->kind == RD_EXPR_CALL ? 10 : 0;
}

/* Operations to compute one element inline; folds count nothing, they have a rule of their own. */
static void count_ops(rd_collector *c)
{
    for (int i = c->n_seen; i-- > 0;) {
        const rd_expr *e = c->seen[i].expr;

        c->seen[i].ops = own_ops(e);
        if (e->kind == RD_EXPR_REDUCE || e->kind == RD_EXPR_SCAN)
            continue;
        for (int k = 0; k < e->n_in; k++)
            if (e->in[k])
                c->seen[i].ops += c->seen[*table_slot(c, e->in[k])].ops;
        if (c->seen[i].ops > 1e6)
            c->seen[i].ops = 1e6;
    }
}

static bool reach(rd_collector *c, int n, const rd_request *request)
{
    c->seen = rd_pool_get(c->pool, 32 * sizeof *c->seen);
    if (!c->seen || !table_rebuild(c, 64))
        return false;
    for (int k = 0; k < n; k++)
        if (!see(c, request[k].expr))
            return false;
    for (int i = 0; i < c->n_seen; i++)
        for (int k = 0; k < c->seen[i].expr->n_in; k++)
            if (c->seen[i].expr->in[k] && !see(c, c->seen[i].expr->in[k]))
                return false;
    sort_users_first(c->seen, c->n_seen);
    if (!table_rebuild(c, c->n_table))
        return false;
    count_ops(c);
    return true;
}

/* ---- Demands --------------------------------------------------------------------------------- */
rd_subscript *rd_subscripts(rd_collector *c, int n)
{
    return rd_pool_get(c->pool, (size_t)(n ? n : 1) * sizeof(rd_subscript));
}

int rd_demand_new(rd_collector *c, const rd_expr *expr, const rd_subscript *at)
{
    int        e    = *table_slot(c, expr);
    rd_seen   *seen = &c->seen[e];
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
    *d = (rd_demand){ .expr  = e,
                      .next  = -1,
                      .alias = -1,
                      .value = -1,
                      .group = -1,
                      .at    = rd_subscripts(c, expr->rank) };
    if (!d->at)
        return -1;
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
                                       .into   = -1,
                                       .out    = -1 };
    return g->n_value++;
}

/* Takes of takes recurse here, so the set of axes is small: a few hundred bytes a level. */
double rd_demand_points(const rd_collector *c, const rd_expr *expr, const rd_demand *d)
{
    uint64_t seen[RD_RAW_WORDS] = { 0 };
    double   points             = 1;

    for (int a = 0; a < expr->rank; a++)
        for (int t = 0; t < d->at[a].n_term; t++) {
            int axis = d->at[a].term[t].axis;

            if (axis < 0) { /* a gather visits as many elements as its index has: bounded by the
                             * index's own axes */
                const rd_value  *v     = &c->graph->value[d->at[a].term[t].value];
                const rd_demand *index = &c->demand[v->in[0]];

                points *= rd_demand_points(c, c->seen[index->expr].expr, index);
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

rd_graph *rd_collect(rd_ctx *ctx, rd_pool *pool, int n, const rd_request *request)
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
    ok                = reach(&c, n, request);
    for (int k = 0; ok && k < n; k++)
        ok = demand_result(&c, &request[k], &result[k]);
    ok = ok && visit(&c) && rd_finish(&c, n, result);
    return keep_reasons(&c, ok ? c.graph : NULL);
}
