/* answer.c - answers uses: by a value at the place of the use, by another use, or by a read of a
 * value that is materialised as a whole.
 *
 * A use is one reader's request for an expression at given subscripts.  It is answered once it
 * has a value of the graph, or an alias: another use with the same value. */
#include "eval/collect/collect.h"
#include <string.h>

/* The number of elements of an expression, as a double for estimates of cost. */
double rd_expr_points(const rd_expr *e)
{
    return (double)rd_points(e->rank, e->extent);
}

/* Answers a use, which is a reader's request for an expression, by a value of the graph.  False if
 * the value is -1, which is how its maker reports a failure. */
bool rd_answer(rd_collector *c, int use, int value)
{
    c->use[use].value = value;
    return value >= 0;
}

/* Answers a use (a reader's request) by a new use of another expression e, at subscripts `at` of e:
 * both have the same value.  False without memory. */
bool rd_answer_same(rd_collector *c, int use, const rd_expr *e, const rd_subscript *at)
{
    int d = rd_use_new(c, e, at);

    c->use[use].alias = d;
    return d >= 0;
}

/* Requests each operand of e (makes a use of it) at subscripts `at`, at which e itself is
 * requested. These requests become the operands of value v until the graph is finished. An absent
 * operand is NULL in e and -1 in v. False on failure. */
bool rd_use_operands(rd_collector *c, int v, const rd_expr *e, const rd_subscript *at)
{
    int32_t *in = rd_pool_get(c->pool, (size_t)e->n_in * sizeof *in);

    for (int k = 0; in && k < e->n_in; k++) {
        in[k] = e->in[k] ? rd_use_new(c, e->in[k], at) : -1;
        if (e->in[k] && in[k] < 0)
            return false;
    }
    c->graph->value[v].in   = in;
    c->graph->value[v].n_in = e->n_in;
    return in;
}

/* Computes the subscripts `in` at which a view reads its operand, when the view is read at `at`.
 * The view's numbers are an offset for each axis of the operand, then a matrix of coefficients of
 * the view's indices. */
bool rd_view_subscripts(rd_collector *c, const rd_expr *e, const rd_subscript *at, rd_subscript *in)
{
    const int64_t *number = e->as.view->number;
    int            rank   = e->in[0]->rank;

    for (int a = 0; a < rank; a++) {
        in[a] = rd_subscript_const(number[a]);
        for (int k = 0; k < e->rank; k++)
            if (!rd_subscript_add(c->axes, &in[a], &at[k], number[rank + a * e->rank + k]))
                return false;
    }
    return true;
}

/* Requests the two factors of product e, which an fma or a dot reads in place of the product, and
 * makes them operands of v. e may be a view of the product. A square has one factor, which is
 * both. in[2], the mask of a dot, is -1: none; an fma's summand is filled in by the caller. NULL
 * on failure. `at` are the subscripts of e, and rd_use_new() is a request at those of the
 * product. */
int32_t *rd_use_factors(rd_collector *c, int v, const rd_expr *e, const rd_subscript *at)
{
    const rd_expr *p  = rd_product_of(e);
    int32_t       *in = rd_pool_get(c->pool, 3 * sizeof *in);
    rd_subscript   place[RD_MAX_RANK]; /* the subscripts of the product below the view */

    if (!in)
        return NULL;
    if (p == e)
        memcpy(place, at, (size_t)e->rank * sizeof *at);
    else if (!rd_view_subscripts(c, e, at, place))
        return NULL;
    in[0] = rd_use_new(c, p->in[0], place);
    /* a square has one operand */
    in[1]                   = rd_use_new(c, p->in[p->n_in - 1], place);
    in[2]                   = -1;
    c->graph->value[v].in   = in;
    c->graph->value[v].n_in = 3;
    return in[0] >= 0 && in[1] >= 0 ? in : NULL;
}

/* Makes a READ of value `target` at n subscripts; returns its number or -1. -1: no memory. */
int rd_read_value(rd_collector *c, rd_dtype type, int target, int n, const rd_subscript *at)
{
    int r = rd_value_new(c, RD_VALUE_READ, type, /*expr=*/NULL);

    if (r >= 0) {
        rd_value *v = &c->graph->value[r];

        v->target = target;
        v->n_at   = n;
        v->at     = rd_subscripts(c, n);
        if (!v->at)
            return -1;
        memcpy(v->at, at, (size_t)n * sizeof *at);
    }
    return r;
}

/* Makes a new loop axis for each axis of e, as a stored array has. All are kept distinct, and
 * fixed: no reshape may split them. Returns the subscripts along them and their numbers in dim[];
 * NULL on failure. */
rd_subscript *rd_own_axes(rd_collector *c, const rd_expr *e, int32_t *dim)
{
    rd_subscript *at = rd_subscripts(c, e->rank);

    for (int a = 0; at && a < e->rank; a++) {
        at[a]  = rd_subscript_const(0);
        dim[a] = rd_axes_new(c->axes, e->extent[a]);
        if (dim[a] < 0)
            return NULL;
        c->axes->at[dim[a]].fixed = true;
        for (int b = 0; b < a; b++)
            rd_axes_apart(c->axes, dim[a], dim[b]);
        at[a] = rd_subscript_axis(dim[a]);
    }
    return at;
}

/* Sets a value's storage dims: dim[0..n), the loop axes along which it is stored, the last one
 * innermost. False: no memory. */
bool rd_set_dims(rd_collector *c, int v, int n, const int32_t *dim)
{
    rd_value *value = &c->graph->value[v];

    value->dim   = rd_pool_get(c->pool, (size_t)(n ? n : 1) * sizeof *dim);
    value->n_dim = n;
    if (value->dim)
        memcpy(value->dim, dim, (size_t)n * sizeof *dim);
    return value->dim;
}

/* Adds the loop axes in subscripts at[0..n) to dim[0..n_dim), a list of distinct ones; returns its
 * new length. A term without an axis is a gathered index (the value of an index array). It varies
 * along the axes at which that array is read, so those are added. While the graph is collected,
 * in[0] of a value is the number of a use (a reader's request). Each use is visited once in a
 * traversal, because many paths may lead to it. */
static int add_axes(const rd_collector *c, int n, const rd_subscript *at, int32_t *dim, int n_dim)
{
    for (int a = 0; a < n; a++)
        for (int t = 0; t < at[a].n_term; t++) {
            int k = 0, axis = at[a].term[t].axis;

            if (axis < 0) {
                const int          use   = c->graph->value[at[a].term[t].value].in[0];
                const rd_expr_use *index = rd_use_of(c, use);

                if (rd_traversal_first_visit(c, use))
                    n_dim = add_axes(c, c->seen[index->expr].expr->rank, index->at, dim, n_dim);
                continue;
            }
            while (k < n_dim && rd_axes_root(c->axes, dim[k]) != rd_axes_root(c->axes, axis))
                k++;
            if (k == n_dim)
                dim[n_dim++] = axis;
        }
    return n_dim;
}

/* Lists the loop axes in subscripts at[0..n), in order of appearance; returns their number. It is
 * the storage order of a value that is computed at that request's subscripts. */
int rd_axes_of_subscripts(const rd_collector *c, int n, const rd_subscript *at,
                          int32_t dim[RD_RAW_AXES])
{
    rd_traversal_begin(c);
    return add_axes(c, n, at, dim, /*n_dim=*/0);
}

/* Answers all uses (readers' requests) in list[0..n) by reads of value v, which stores the whole
 * expression. Where a request goes along one plain axis of it, that axis is unified with the
 * stored one, so that reader and writer may share a loop. `is_whole_array` then says that v is read
 * at other places than its own. False on failure. */
bool rd_answer_reads(rd_collector *c, const rd_expr *e, int v, const int32_t *list, int n)
{
    for (int k = 0; k < n; k++) {
        const rd_subscript *at = rd_use_of(c, list[k])->at;

        for (int a = 0; a < e->rank; a++) {
            rd_subscript own = rd_subscript_axis(c->graph->value[v].dim[a]);

            rd_unify_subscripts(c, &at[a], &own);
        }
        if (!rd_answer(c, list[k], rd_read_value(c, e->type, v, e->rank, at)))
            return false;
    }
    c->graph->value[v].is_whole_array = true;
    return true;
}
