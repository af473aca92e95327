/* collect.c - makes the graph of the requested results: visits all reachable expressions, users
 * first, and attaches the results.
 *
 * An expression is seen once it was found to be reachable from a result.  A use is a request for
 * it by one reader.  `given` expressions are in memory already, so the visit stops there. */
#include "eval/collect/concat_split.h"
#include <string.h>

/* ---- Results --------------------------------------------------------------------------------- */
/* Requests result e (makes a use of it) at new loop axes, one for each axis of extent other than
 * 1. r->store becomes the address of an element from the result's base, in elements: the sum of
 * index times stride. False on failure. The new axes are kept distinct, as two axes of one array
 * need two loops. */
static bool use_result(rd_collector *c, const rd_expr *e, const rd_request *request,
                       rd_finish_result *r)
{
    rd_subscript at[RD_MAX_RANK];

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
    r->use = rd_use_new(c, e, at);
    return r->use >= 0;
}

/* Makes the values of all expressions, users before operands.  False after a failure or a
 * cancel. */
static bool visit(rd_collector *c)
{
    for (int i = 0; i < c->n_seen; i++)
        if (!rd_goes_on(c->ctx) || !rd_instances(c, &c->seen[i]))
            return false;
    return true;
}

/* Copies the lines for explain into the graph's pool. g may be NULL, after a failure; returns it,
 * or NULL without memory. */
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

/* True if there are at most 128 reductions and scans.  Each of them examines everything below it,
 * so planning time grows with the square of their number.  If there are more, records
 * RD_ERR_LIMIT. */
static bool has_few_folds(const rd_collector *c)
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

/* True if a concatenation is among the reachable expressions. */
static bool has_concats(const rd_collector *c)
{
    for (int i = 0; i < c->n_seen; i++)
        if (c->seen[i].expr->kind == RD_EXPR_CONCAT)
            return true;
    return false;
}

/* Finds all expressions that results are made of, down to those in memory (given). If there are
 * concatenations, it splits results at their boundaries, and turns others into choices between
 * parts. Checks the number of reductions if a limit was asked for. */
static bool reach_results(rd_collector *c, int n, const rd_request *request, rd_expr **result,
                          const rd_given *given)
{
    const rd_exprs ready = given ? given->exprs : (rd_exprs){ 0 };

    return rd_reach_exprs(c, (rd_exprs){ result, n }, ready) &&
           (!has_concats(c) || (rd_split_at_concats(c, n, request, result, ready) &&
                                rd_choose_parts(c, n, result, ready))) &&
           (!given || !given->limited || has_few_folds(c));
}

/* Makes the graph of n requested results: reaches the expressions, makes a use of each result,
 * visits the expressions, and finishes the graph.  NULL on failure.  The pool owns it. With
 * given->limited, planning that would take very long records RD_ERR_LIMIT. The use of a result
 * may be that of another expression than requested, as reach_results() may split results. */
rd_graph *rd_collect(rd_ctx *ctx, rd_pool *pool, int n, const rd_request *request,
                     const rd_given *given)
{
    rd_collector      c      = { .ctx = ctx, .pool = pool };
    rd_finish_result *result = rd_pool_get(pool, (size_t)n * sizeof *result);
    rd_expr         **expr   = rd_pool_get(pool, (size_t)n * sizeof *expr);
    bool              ok;

    c.graph = rd_pool_get(pool, sizeof *c.graph);
    c.axes  = rd_pool_get(pool, sizeof *c.axes);
    if (!c.graph || !c.axes || !result || !expr)
        return NULL;
    c.graph->ctx      = ctx;
    c.graph->pool     = pool;
    c.graph->n_result = n;
    c.axes->ctx       = ctx;
    c.axes->pool      = pool;
    c.graph->limited  = given && given->limited;
    for (int k = 0; k < n; k++)
        expr[k] = request[k].expr;
    ok = reach_results(&c, n, request, expr, given);
    for (int k = 0; ok && k < n; k++)
        ok = use_result(&c, expr[k], &request[k], &result[k]);
    ok = ok && visit(&c) && rd_finish(&c, n, result);
    return keep_reasons(&c, ok ? c.graph : NULL);
}
