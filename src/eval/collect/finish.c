/* finish.c - the end of collect: replaces uses by values and raw axes by loop axes, and sorts
 * values operands first.
 *
 * A raw axis is a loop axis before unification; each class of unified raw axes becomes one loop
 * axis of the graph.  A use stands for a value until the end of collect.
 *
 * Fields. A term of a subscript with `axis` -1 is a gathered index, the value of an array. A READ
 * is of a leaf's `slot`, or of another value, its `target`, -1: it is not. An operand in[k] of -1
 * is not there. A value is a result if `out` >= 0, and a part of a concatenation if `into` >= 0. */
#include "eval/collect/collect.h"
#include <string.h>

/* The loop axes that raw axes become. */
typedef struct naming {
    rd_collector *c;
    int32_t      *axis; /* by raw root: loop axis, -1: none yet */
} naming;

/* The value that answers a use, a reader's request, directly or through other uses with the same
 * value. */
static int value_of(const rd_collector *c, int use)
{
    while (c->use[use].alias >= 0)
        use = c->use[use].alias;
    return c->use[use].value;
}

/* Unifies axes that have equal coefficients in two subscripts, where that is allowed. p and q are
 * addresses in one leaf, so equal coefficients are equal strides, and one loop may serve both
 * reads. rd_keeps_apart(): their common loop would read the leaf across. */
static void join_places(rd_collector *c, const rd_expr *leaf, const rd_subscript *p,
                        const rd_subscript *q)
{
    for (int i = 0; i < p->n_term; i++)
        for (int k = 0; k < q->n_term; k++)
            if (p->term[i].axis >= 0 && q->term[k].axis >= 0 &&
                p->term[i].coef == q->term[k].coef &&
                rd_axes_may_join(c->axes, p->term[i].axis, q->term[k].axis) &&
                !rd_keeps_apart(c, leaf, p->term[i].axis, q->term[k].axis))
                rd_axes_join(c->axes, p->term[i].axis, q->term[k].axis);
}

/* Unifies axes of values that read one leaf with equal strides, so that they may share loops and
 * read it once. False: no memory. Readers of one slot form a list through next[], -1 at its end;
 * all pairs of them are compared. The first loop goes down, so that lists go up. */
static bool join_leaf_reads(rd_collector *c)
{
    rd_graph *g = c->graph;
    /* by slot: its first reader */
    int32_t *first = rd_pool_get(c->pool, (size_t)(g->n_slot + 1) * sizeof *first);
    /* by value: the next reader of the same slot */
    int32_t *next = rd_pool_get(c->pool, (size_t)(g->n_value + 1) * sizeof *next);

    if (!first || !next)
        return false;
    memset(first, -1, (size_t)(g->n_slot + 1) * sizeof *first);
    for (int v = g->n_value; v-- > 0;)
        if (g->value[v].kind == RD_VALUE_READ && g->value[v].slot >= 0) {
            next[v]                 = first[g->value[v].slot];
            first[g->value[v].slot] = v;
        }
    for (int a = 0; a < g->n_value; a++)
        for (int b = a;
             g->value[a].kind == RD_VALUE_READ && g->value[a].slot >= 0 && (b = next[b]) >= 0;)
            join_places(c, g->value[a].expr, g->value[a].at, g->value[b].at);
    return true;
}

/* Follows a READ of a value at exactly its own indices to that value, which is the same. A READ of
 * a dense array in C order, which has one flat index in place of its dims, is kept. A dim of one
 * index is always read at its own index. */
static int skip_plain_reads(const rd_collector *c, int v)
{
    for (;;) {
        const rd_value *r = &c->graph->value[v], *t;

        if (r->kind != RD_VALUE_READ || r->target < 0)
            return v;
        t = &c->graph->value[r->target];
        if (t->dense)
            return v;
        for (int d = 0; d < r->n_at; d++) {
            int a = rd_subscript_pure(c->axes, &r->at[d]);

            if (c->axes->at[rd_axes_root(c->axes, t->dim[d])].extent == 1)
                continue;
            if (a < 0 || a != rd_axes_root(c->axes, t->dim[d]))
                return v;
        }
        v = r->target;
    }
}

/* Replaces the operands of all values, which were uses (requests) until here, by the values that
 * answer them; in[k] -1: there is no such operand. The operands of a JOIN (the storage of a
 * concatenation) are values already. */
static void resolve_operands(rd_collector *c)
{
    for (int i = 0; i < c->graph->n_value; i++) {
        rd_value *v = &c->graph->value[i];

        for (int k = 0; k < v->n_in && v->kind != RD_VALUE_JOIN; k++)
            if (v->in[k] >= 0)
                v->in[k] = skip_plain_reads(c, value_of(c, v->in[k]));
    }
}

/* ---- Loop axes ------------------------------------------------------------------------------- */
/* The loop axis of the graph for a raw axis (before unification), made at the first call for its
 * union-find root. -1 after recording RD_ERR_LIMIT. For dumps, 18 axes are called i to z, and
 * later ones a18, a19 and so on. m->axis[root] is that number, -1: not made yet; info->extent is
 * its extent. */
static int name_axis(naming *m, int raw)
{
    rd_graph     *g    = m->c->graph;
    int           root = rd_axes_root(m->c->axes, raw);
    rd_axis_info *info = &g->axis[g->n_axis];

    if (m->axis[root] >= 0)
        return m->axis[root];
    if (g->n_axis == RD_MAX_AXES) {
        rd_fail(m->c->ctx, RD_ERR_LIMIT, "%s: the results together need more than %d loop axes",
                rd_call_name(g->ctx), RD_MAX_AXES);
        return -1;
    }
    info->extent = m->c->axes->at[root].extent;
    if (g->n_axis < 18)
        info->name[0] = (char)('i' + g->n_axis);
    else {
        info->name[0] = 'a';
        info->name[1] = (char)('0' + g->n_axis / 10);
        info->name[2] = (char)('0' + g->n_axis % 10);
    }
    return m->axis[root] = g->n_axis++;
}

/* Replaces raw axes (those before unification) by the graph's loop axes in a subscript; gathered
 * indices (axis < 0) stay. False after a failure. */
static bool name_subscript(naming *m, rd_subscript *at)
{
    if (!rd_subscript_normal(m->c->axes, at))
        return false;
    for (int t = 0; t < at->n_term; t++) {
        rd_subscript_term *term = &at->term[t];

        if (term->axis >= 0 && (term->axis = name_axis(m, term->axis)) < 0)
            return false;
    }
    return true;
}

/* Appends the graph's loop axis of a raw axis (one before unification) to dim[0..*n), unless it is
 * there; of an axis that was split (outer >= 0), those of its parts. False after a failure. */
static bool name_dim(naming *m, int raw, int32_t *dim, int32_t *n)
{
    int                root = rd_axes_root(m->c->axes, raw), axis;
    const rd_raw_axis *a    = &m->c->axes->at[root];

    if (a->outer >= 0)
        return name_dim(m, a->outer, dim, n) && name_dim(m, a->inner, dim, n);
    axis = name_axis(m, root);
    for (int d = 0; d < *n; d++)
        if (dim[d] == axis)
            return true;
    if (axis >= 0)
        dim[(*n)++] = axis;
    return axis >= 0;
}

/* Replaces the raw axes (those before unification) of a value's storage dims by the graph's loop
 * axes, of which there may be more. False after a failure. */
static bool name_dims(naming *m, rd_value *v)
{
    const int32_t *raw = v->dim;
    int            n   = v->n_dim;

    v->n_dim = 0;
    if (n == 0)
        return true;
    v->dim = rd_pool_get(m->c->pool, RD_MAX_AXES * sizeof *v->dim);
    for (int d = 0; v->dim && d < n; d++)
        if (!name_dim(m, raw[d], v->dim, &v->n_dim))
            return false;
    return v->dim;
}

/* Computes the set of loop axes along which a value varies, from operands and subscripts. Arrays
 * of their own, such as parts of a concatenation (into >= 0) or rows to sort, vary along all their
 * storage dims. v->at are subscripts; v->dim are storage dims; `dense`: it is stored in C order
 * and read by one flat index; `row`: it is stored as rows to sort. A reduction loses its reduced
 * axes, and a scan keeps them. */
static void find_axes(const rd_graph *g, rd_value *v)
{
    for (int k = 0; k < v->n_in && v->kind != RD_VALUE_JOIN; k++)
        if (v->in[k] >= 0)
            v->axes |= g->value[v->in[k]].axes;
    for (int d = 0; d < v->n_at && v->into < 0; d++) /* else they say where it is stored */
        v->axes |= rd_subscript_axes(g, &v->at[d]);
    if (v->kind == RD_VALUE_REDUCE)
        v->axes &= ~v->reduced;
    if (v->kind == RD_VALUE_SCAN)
        v->axes |= v->reduced;
    for (int d = 0;
         (v->kind == RD_VALUE_JOIN || v->dense || v->into >= 0 || v->row) && d < v->n_dim; d++)
        if (g->axis[v->dim[d]].extent != 1)
            v->axes |= rd_bit(v->dim[d]); /* not along axes of one index */
    v->axes |= rd_own_dims(v);
}

/* Drops storage dims along which the value only repeats.  A value that is read as a whole array
 * keeps all of them. */
static void drop_idle_dims(rd_value *v)
{
    int n = 0;

    for (int d = 0; d < v->n_dim && !v->is_whole_array; d++)
        if (rd_in(v->axes, v->dim[d]))
            v->dim[n++] = v->dim[d];
    if (!v->is_whole_array)
        v->n_dim = n;
}

/* Gives a sort one subscript for each storage dim of the rows it reads; those along the row, which
 * may have been split into several dims, are 0. The subscripts say where the row begins. False: no
 * memory. v->target is the value that holds the rows, and v->at has subscripts of the dims
 * before the row. */
static bool begin_of_row(naming *m, rd_value *v)
{
    const int     n  = m->c->graph->value[v->target].n_dim;
    rd_subscript *at = rd_subscripts(m->c, n);

    for (int d = 0; at && d < n; d++)
        at[d] = d < v->n_at ? v->at[d] : rd_subscript_const(0);
    v->at   = at;
    v->n_at = n;
    return at;
}

/* Replaces raw axes (those before unification) by the graph's loop axes in all fields of a value.
 * v->reduced is found here, from the flat index over the reduced axes. False after a failure.
 * v->combine->index is that flat index, v->inner the axis of a reducer's several results and
 * v->group that of groups, -1: none. */
static bool name_value(naming *m, rd_value *v)
{
    for (int d = 0; d < v->n_at; d++)
        if (!name_subscript(m, &v->at[d]))
            return false;
    if (v->combine) {
        if (!name_subscript(m, &v->combine->index))
            return false;
        for (int t = 0; t < v->combine->index.n_term; t++)
            v->reduced |= rd_bit(v->combine->index.term[t].axis);
    }
    if (!name_dims(m, v) || (v->kind == RD_VALUE_SORT && !begin_of_row(m, v)))
        return false;
    if (v->inner >= 0)
        v->inner = name_axis(m, v->inner);
    if (v->group >= 0)
        v->group = name_axis(m, v->group);
    return true;
}

/* Makes the loop axes of the results first, so that they are called i, j, k in C order in dumps.
 * False after a failure. name_dim() makes an axis at its first call; the lists are not used. */
static bool name_result_axes(naming *m, int n, const rd_finish_result *result)
{
    for (int k = 0; k < n; k++)
        for (int d = 0; d < result[k].n_dim; d++) {
            int32_t ignored[RD_MAX_AXES], n_ignored = 0;

            if (!name_dim(m, result[k].dim[d], ignored, &n_ignored))
                return false;
        }
    return true;
}

/* ---- Results --------------------------------------------------------------------------------- */
/* True if a stage computes the value, so that it can be stored; false for constants, indices and
 * reads. */
static bool is_computed(const rd_value *v)
{
    return v->kind == RD_VALUE_MAP || v->kind == RD_VALUE_CALL || v->kind == RD_VALUE_REDUCE ||
           v->kind == RD_VALUE_SCAN || v->kind == RD_VALUE_JOIN || v->kind == RD_VALUE_SORT;
}

/* True if a sorted row would not be contiguous in the caller's memory, which the sort needs.
 * `store`: the address of the result, in which the row's axis v->inner must have stride 1. */
static bool is_row_apart(const rd_value *v, const rd_subscript *store)
{
    int64_t coef = 0;

    for (int t = 0; t < store->n_term; t++)
        coef += store->term[t].axis == v->inner ? store->term[t].coef : 0;
    return v->kind == RD_VALUE_SORT && coef != 1 && v->expr->extent[v->expr->rank - 1] > 1;
}

/* Makes value r->use store result k right in the caller's memory. That works if a stage computes
 * it, it is not stored elsewhere (as another result, out, or part of a concatenation, into), and
 * it has the result's axes and type. Else a copy of the value stores it. False after a failure.
 * Such a copy is a cast to the result's type. A sort whose row would not be contiguous in the
 * caller's memory gets one, too. */
static bool attach_result(naming *m, int k, rd_finish_result *r)
{
    rd_graph *g    = m->c->graph;
    rd_set    axes = 0;
    int       id = r->use, n = 0;
    int32_t  *dim = rd_pool_get(m->c->pool, RD_MAX_AXES * sizeof *dim);
    rd_value *v;

    for (int d = 0; dim && d < r->n_dim; d++)
        if (!name_dim(m, r->dim[d], dim, &n))
            return false;
    if (!dim || !name_subscript(m, &r->store))
        return false;
    for (int d = 0; d < n; d++)
        axes |= rd_bit(dim[d]);
    if (!is_computed(&g->value[id]) || is_row_apart(&g->value[id], &r->store) ||
        g->value[id].out >= 0 || g->value[id].into >= 0 || g->value[id].type != r->type ||
        g->value[id].axes != axes) {
        int copy = rd_value_new(m->c, RD_VALUE_MAP, r->type, g->value[id].expr);

        if (copy < 0 || !(g->value[copy].in = rd_pool_get(m->c->pool, sizeof(int32_t))))
            return false;
        v        = &g->value[copy];
        v->op    = RD_OP_cast;
        v->n_in  = 1;
        v->in[0] = id;
        v->axes  = axes;
        v->dim   = dim;
        v->n_dim = n;
    } else
        v = &g->value[id];
    v->out      = k;
    v->out_type = r->type;
    v->store    = &r->store;
    return true;
}

/* Finishes the graph: unifies axes of leaves' readers, replaces uses (requests) by values, sorts
 * the values operands first, turns raw axes into loop axes, and attaches the n results. False on
 * failure. result[k].use becomes the number of the value. Sorting drops values without readers. */
bool rd_finish(rd_collector *c, int n, rd_finish_result *result)
{
    rd_graph *g    = c->graph;
    naming    m    = { .c = c, .axis = rd_pool_get(c->pool, RD_RAW_AXES * sizeof *m.axis) };
    int32_t  *root = rd_pool_get(c->pool, (size_t)n * sizeof *root);

    if (!m.axis || !root)
        return false;
    memset(m.axis, -1, RD_RAW_AXES * sizeof *m.axis);
    if (!join_leaf_reads(c))
        return false;
    resolve_operands(c);
    for (int k = 0; k < n; k++)
        root[k] = skip_plain_reads(c, value_of(c, result[k].use));
    if (!rd_graph_sort(g, n, root) || !name_result_axes(&m, n, result))
        return false;
    c->room_value = g->n_value;
    for (int i = 0; i < g->n_value; i++) {
        if (!name_value(&m, &g->value[i]))
            return false;
        find_axes(g, &g->value[i]);
        drop_idle_dims(&g->value[i]);
    }
    for (int k = 0; k < n; k++) {
        result[k].use = root[k];
        if (!attach_result(&m, k, &result[k]))
            return false;
    }
    return true;
}
