/* instance_storage.c - demands that memory answers: concatenations, and reshapes that no strides can express. */
#include "eval/collect.h"
#include <string.h>

/* ---- Concatenation --------------------------------------------------------------------------------------------- */
/* Least and greatest value of a subscript; false if it gathers. */
static bool range_of(const rd_collector *c, const rd_subscript *at, int64_t *lo, int64_t *hi)
{
    *lo = *hi = at->offset;
    for (int t = 0; t < at->n_term; t++) {
        int64_t reach;

        if (at->term[t].axis < 0)
            return false;
        reach = at->term[t].coef * (c->axes->at[rd_axes_root(c->axes, at->term[t].axis)].extent - 1);
        *(reach < 0 ? lo : hi) += reach;
    }
    return *lo <= *hi;
}

/* A demand that stays inside one part is that part's. */
static bool concat_inside(rd_collector *c, const rd_expr *e, int demand, bool *done)
{
    int          axis = (int)e->as.axis->axis;
    int64_t      lo, hi, start = 0;
    rd_subscript at[RD_MAX_RANK];

    *done = false;
    if (!range_of(c, &rd_demand_of(c, demand)->at[axis], &lo, &hi))
        return true;
    for (int k = 0; k < e->n_in; k++) {
        int64_t end = start + e->in[k]->extent[axis];

        if (lo >= start && hi < end) {
            memcpy(at, rd_demand_of(c, demand)->at, (size_t)e->rank * sizeof *at);
            at[axis].offset -= start;
            *done = true;
            return rd_answer_same(c, demand, e->in[k], at);
        }
        start = end;
    }
    return true;
}

/* A part is a copy of its operand into a range of the join's storage. */
static int part_into(rd_collector *c, const rd_expr *part, int join, int axis, int64_t start)
{
    int32_t       dim[RD_MAX_RANK], n = 0;
    rd_subscript *at = rd_own_axes(c, part, dim);
    int           v  = rd_value_new(c, RD_VALUE_MAP, part->type, part);
    int32_t      *in = rd_pool_get(c->pool, sizeof *in);

    if (v < 0 || !at || !in)
        return -1;
    in[0] = rd_demand_new(c, part, at);
    for (int a = 0; a < part->rank; a++)
        if (part->extent[a] == 1)
            at[a] = rd_subscript_const(0);
        else
            dim[n++] = dim[a];
    if (in[0] < 0 || !rd_set_dims(c, v, n, dim))
        return -1;
    at[axis].offset += start;
    c->graph->value[v].op   = RD_OP_cast;
    c->graph->value[v].in   = in;
    c->graph->value[v].n_in = 1;
    c->graph->value[v].into = join;
    c->graph->value[v].at   = at;
    c->graph->value[v].n_at = part->rank;
    return v;
}

static int join_parts(rd_collector *c, const rd_expr *e)
{
    int     v = rd_value_new(c, RD_VALUE_JOIN, e->type, e), n = 0;
    int32_t dim[RD_MAX_RANK], *in                             = rd_pool_get(c->pool, (size_t)e->n_in * sizeof *in);
    int64_t start = 0;

    if (v < 0 || !in || !rd_own_axes(c, e, dim) || !rd_set_dims(c, v, e->rank, dim))
        return -1;
    for (int k = 0; k < e->n_in; k++) {
        if (rd_expr_points(e->in[k]) > 0) {
            in[n] = part_into(c, e->in[k], v, (int)e->as.axis->axis, start);
            if (in[n++] < 0)
                return -1;
        }
        start += e->in[k]->extent[e->as.axis->axis];
    }
    c->graph->value[v].in   = in;
    c->graph->value[v].n_in = n;
    return v;
}

bool rd_instances_concat(rd_collector *c, const rd_expr *e, int32_t *list, int n)
{
    int  left = 0, v;
    bool done;

    for (int k = 0; k < n; k++) {
        if (!concat_inside(c, e, list[k], &done))
            return false;
        if (!done)
            list[left++] = list[k];
    }
    if (left == 0)
        return true;
    rd_text_add(&c->why, "a concatenation is stored, one pass per part\n");
    v = join_parts(c, e);
    return v >= 0 && rd_answer_reads(c, e, v, list, left);
}

/* ---- Reshape ------------------------------------------------------------------------------------------------------ */
/* Where neither strides nor split axes can express a reshape, its operand is stored in C order first. */
static bool reshape_copy(rd_collector *c, const rd_expr *e, int demand)
{
    const rd_expr *x      = e->in[0];
    rd_subscript   flat   = rd_subscript_const(0);
    int64_t        weight = 1, dense[RD_MAX_RANK];
    int32_t        dim[RD_MAX_RANK], *in = rd_pool_get(c->pool, sizeof *in);
    rd_subscript  *at = rd_own_axes(c, x, dim);
    int            v;

    for (int a = e->rank; a-- > 0; weight *= e->extent[a])
        if (!rd_subscript_add(c->axes, &flat, &rd_demand_of(c, demand)->at[a], weight))
            return false;
    rd_text_add(&c->why, "the operand of a reshape is stored: its strides do not join\n");
    rd_dense_strides(x->rank, x->extent, 0, dense);
    v = rd_value_new(c, RD_VALUE_MAP, x->type, x);
    if (v < 0 || !at || !in || (in[0] = rd_demand_new(c, x, at)) < 0)
        return false;
    c->graph->value[v].op    = RD_OP_cast;
    c->graph->value[v].in    = in;
    c->graph->value[v].n_in  = 1;
    c->graph->value[v].whole = true;
    c->graph->value[v].dense = true;
    return rd_set_dims(c, v, x->rank, dim) && rd_answer(c, demand, rd_read_value(c, x->type, v, 1, &flat));
}

bool rd_instance_reshape(rd_collector *c, const rd_expr *e, int demand)
{
    rd_subscript in[RD_MAX_RANK], at[RD_MAX_RANK];
    bool         ok;
    int          v = rd_reshape_leaf(c, e, rd_demand_of(c, demand)->at);

    if (v != -1)
        return v >= 0 && rd_answer(c, demand, v);
    if (!rd_reshape_places(c, e, rd_demand_of(c, demand)->at, in, &ok))
        return false;
    if (!ok)
        return reshape_copy(c, e, demand);
    memcpy(at, in, sizeof at);
    return rd_answer_same(c, demand, e->in[0], at);
}
