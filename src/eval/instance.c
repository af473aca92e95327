/* instance.c - one expression's demands become values: pushed to each place, or made whole once and read. */
#include "eval/collect.h"
#include <string.h>

/* Prices in operations per element, for decisions that fix numbers or memory: a store to memory, a load from it. */
static const double WRITE = 16, READ = 8;

static const rd_demand *the(const rd_collector *c, int demand)
{
    return &c->demand[demand];
}

static double points_of(const rd_expr *e)
{
    return (double)rd_points(e->rank, e->extent);
}

static bool answer(rd_collector *c, int demand, int value)
{
    c->demand[demand].value = value;
    return value >= 0;
}

static bool answer_same(rd_collector *c, int demand, const rd_expr *e, const rd_subscript *at)
{
    int d = rd_demand_new(c, e, at);

    c->demand[demand].alias = d;
    return d >= 0;
}

/* Demands all operands of e at `at` and makes them the operands of value v. */
static bool demand_operands(rd_collector *c, int v, const rd_expr *e, const rd_subscript *at)
{
    int32_t *in = rd_pool_get(c->pool, (size_t)e->n_in * sizeof *in);

    for (int k = 0; in && k < e->n_in; k++) {
        in[k] = e->in[k] ? rd_demand_new(c, e->in[k], at) : -1;
        if (e->in[k] && in[k] < 0)
            return false;
    }
    c->graph->value[v].in   = in;
    c->graph->value[v].n_in = e->n_in;
    return in;
}

static int read_value(rd_collector *c, rd_dtype type, int target, int n, const rd_subscript *at)
{
    int r = rd_value_new(c, RD_VALUE_READ, type, NULL);

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

/* Fresh axes for all dims of e that have more than one index (or none), apart from each other; NULL on failure. */
static rd_subscript *own_axes(rd_collector *c, const rd_expr *e, int32_t *dim)
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

static bool set_dims(rd_collector *c, int v, int n, const int32_t *dim)
{
    rd_value *value = &c->graph->value[v];

    value->dim   = rd_pool_get(c->pool, (size_t)(n ? n : 1) * sizeof *dim);
    value->n_dim = n;
    if (value->dim)
        memcpy(value->dim, dim, (size_t)n * sizeof *dim);
    return value->dim;
}

/* Adds the raw axes of subscripts to a list of distinct ones; returns its length. */
static int add_axes(const rd_collector *c, int n, const rd_subscript *at, int32_t *dim, int n_dim)
{
    for (int a = 0; a < n; a++)
        for (int t = 0; t < at[a].n_term; t++) {
            int k = 0, axis = at[a].term[t].axis;

            if (axis < 0) {
                const rd_demand *index = the(c, c->graph->value[at[a].term[t].value].in[0]);

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

/* The raw axes of subscripts, in order of appearance: storage order of a value pushed to that place. */
static int axes_of_place(const rd_collector *c, int n, const rd_subscript *at, int32_t dim[RD_RAW_AXES])
{
    return add_axes(c, n, at, dim, 0);
}

/* Answers demands by reads of value v, whose dims are the whole expression's. */
static bool answer_reads(rd_collector *c, const rd_expr *e, int v, const int32_t *list, int n)
{
    for (int k = 0; k < n; k++) {
        const rd_subscript *at = the(c, list[k])->at;

        for (int a = 0; a < e->rank; a++) {
            rd_subscript own = rd_subscript_axis(c->graph->value[v].dim[a]);

            rd_join_places(c, &at[a], &own);
        }
        if (!answer(c, list[k], read_value(c, e->type, v, e->rank, at)))
            return false;
    }
    c->graph->value[v].whole = true;
    return true;
}

/* ---- Maps --------------------------------------------------------------------------------------------------- */
static int map_at(rd_collector *c, const rd_expr *e, const rd_subscript *at)
{
    int v = rd_value_new(c, e->kind == RD_EXPR_MAP ? RD_VALUE_MAP : RD_VALUE_CALL, e->type, e);

    if (v < 0)
        return -1;
    c->graph->value[v].op  = e->op;
    c->graph->value[v].ops = e->kind == RD_EXPR_MAP ? rd_op_table[e->op].cost : 10;
    return demand_operands(c, v, e, at) ? v : -1;
}

static bool map_whole(rd_collector *c, const rd_expr *e, const int32_t *list, int n)
{
    int32_t       dim[RD_MAX_RANK];
    rd_subscript *at = own_axes(c, e, dim);
    int           v  = at ? map_at(c, e, at) : -1;
    char          shape[RD_SHAPE_TEXT];

    rd_text_add(&c->why, "%s %s is stored: its elements are read at several places each\n",
                e->kind == RD_EXPR_MAP ? rd_op_table[e->op].name : "call", rd_shape_text(e->rank, e->extent, shape));
    return v >= 0 && set_dims(c, v, e->rank, dim) && answer_reads(c, e, v, list, n);
}

/* Injective views of a map are pushed through it.  Where elements would be computed more than once (windows, gathers,
 * overlapping slices) it is stored instead if that is cheaper: such a value is never read in the loop that makes it. */
static bool maps(rd_collector *c, const rd_seen *seen, const int32_t *list, int n)
{
    const rd_expr *e           = seen->expr;
    double         evaluations = 0, points = points_of(e);

    for (int k = 0; k < n; k++)
        evaluations += rd_demand_points(c, e, the(c, list[k]));
    if (seen->ops * (evaluations - points) > points * (WRITE + READ * n))
        return map_whole(c, e, list, n);
    for (int k = 0; k < n; k++)
        if (!answer(c, list[k], map_at(c, e, the(c, list[k])->at)))
            return false;
    return true;
}

/* ---- Leaves -------------------------------------------------------------------------------------------------- */
int rd_leaf_slot(rd_collector *c, const rd_expr *leaf)
{
    rd_graph *g = c->graph;
    rd_slot  *s;

    for (int i = 0; i < g->n_slot; i++)
        if (g->slot[i].expr == leaf)
            return i;
    if (g->n_slot == c->room_slot) {
        int32_t room = c->room_slot ? 2 * c->room_slot : 16;

        s = rd_pool_grow(c->pool, g->slot, (size_t)g->n_slot, (size_t)room, sizeof *s);
        if (!s)
            return -1;
        g->slot      = s;
        c->room_slot = room;
    }
    s  = &g->slot[g->n_slot];
    *s = (rd_slot){ .kind   = leaf->as.leaf->name ? RD_SLOT_INPUT : RD_SLOT_LEAF,
                    .type   = leaf->type,
                    .data   = leaf->as.leaf->data,
                    .name   = leaf->as.leaf->name,
                    .result = -1,
                    .expr   = leaf };
    for (int a = 0; a < leaf->rank; a++) {
        int64_t reach = (leaf->extent[a] - 1) * leaf->as.leaf->stride[a];

        *(reach < 0 ? &s->lo : &s->hi) += reach;
    }
    s->hi += 1;
    return g->n_slot++;
}

static int read_leaf(rd_collector *c, const rd_expr *e, const rd_subscript *at)
{
    int v = rd_value_new(c, RD_VALUE_READ, e->type, e), slot = rd_leaf_slot(c, e);

    if (v < 0 || slot < 0 || !(c->graph->value[v].at = rd_subscripts(c, 1)))
        return -1;
    c->graph->value[v].slot = slot;
    c->graph->value[v].n_at = 1;
    for (int a = 0; a < e->rank; a++)
        if (!rd_subscript_add(c->axes, c->graph->value[v].at, &at[a], e->as.leaf->stride[a]))
            return -1;
    return v;
}

static int number_value(rd_collector *c, const rd_expr *e)
{
    int v = rd_value_new(c, RD_VALUE_CONST, e->type, e);

    if (v >= 0)
        c->graph->value[v].value = e->as.number->value;
    return v;
}

static int coord_value(rd_collector *c, const rd_expr *e, const rd_subscript *at)
{
    int v = rd_value_new(c, RD_VALUE_COORD, RD_I64, e);

    if (v < 0 || !(c->graph->value[v].at = rd_subscripts(c, 1)))
        return -1;
    c->graph->value[v].at[0] = at[e->as.axis->axis];
    c->graph->value[v].n_at  = 1;
    return v;
}

/* ---- Views --------------------------------------------------------------------------------------------------- */
static bool view(rd_collector *c, const rd_expr *e, int demand)
{
    const rd_expr *x      = e->in[0];
    const int64_t *number = e->as.view->number;
    rd_subscript   at[RD_MAX_RANK];

    for (int a = 0; a < x->rank; a++) {
        at[a] = rd_subscript_const(number[a]);
        for (int k = 0; k < e->rank; k++)
            if (!rd_subscript_add(c->axes, &at[a], &the(c, demand)->at[k], number[x->rank + a * e->rank + k]))
                return false;
    }
    return answer_same(c, demand, x, at);
}

/* The index becomes a value of its own, checked against the axis; the operand is read at it. */
static bool take(rd_collector *c, const rd_expr *e, int demand)
{
    const rd_expr *x = e->in[0], *index = e->in[1];
    int            axis = (int)e->as.axis->axis, v = rd_value_new(c, RD_VALUE_MAP, RD_I64, index);
    rd_subscript   at[RD_MAX_RANK];
    int32_t       *in = rd_pool_get(c->pool, sizeof *in);

    if (v < 0 || !in)
        return false;
    in[0] = rd_demand_new(c, index, the(c, demand)->at + axis);
    if (in[0] < 0)
        return false;
    c->graph->value[v].op        = RD_OP_index;
    c->graph->value[v].ops       = 2;
    c->graph->value[v].in        = in;
    c->graph->value[v].n_in      = 1;
    c->graph->value[v].value.i64 = x->extent[axis];
    for (int a = 0; a < x->rank; a++)
        if (a != axis)
            at[a] = the(c, demand)->at[a < axis ? a : a + index->rank - 1];
    at[axis] = (rd_subscript){ .n_term = 1, .term = { { -1, v, 1 } } };
    return answer_same(c, demand, x, at);
}

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
    if (!range_of(c, &the(c, demand)->at[axis], &lo, &hi))
        return true;
    for (int k = 0; k < e->n_in; k++) {
        int64_t end = start + e->in[k]->extent[axis];

        if (lo >= start && hi < end) {
            memcpy(at, the(c, demand)->at, (size_t)e->rank * sizeof *at);
            at[axis].offset -= start;
            *done = true;
            return answer_same(c, demand, e->in[k], at);
        }
        start = end;
    }
    return true;
}

/* A part is a copy of its operand into a range of the join's storage. */
static int part_into(rd_collector *c, const rd_expr *part, int join, int axis, int64_t start)
{
    int32_t       dim[RD_MAX_RANK], n = 0;
    rd_subscript *at = own_axes(c, part, dim);
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
    if (in[0] < 0 || !set_dims(c, v, n, dim))
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

    if (v < 0 || !in || !own_axes(c, e, dim) || !set_dims(c, v, e->rank, dim))
        return -1;
    for (int k = 0; k < e->n_in; k++) {
        if (points_of(e->in[k]) > 0) {
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

static bool concat(rd_collector *c, const rd_expr *e, int32_t *list, int n)
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
    return v >= 0 && answer_reads(c, e, v, list, left);
}

/* ---- Reductions and scans ---------------------------------------------------------------------------------------- */
static int outputs_of(const rd_expr *e)
{
    return e->kind == RD_EXPR_REDUCE && e->as.fold->user ? e->as.fold->user->n_out : 1;
}

/* Operands of a fold: kept axes at the demand's place, reduced ones along fresh axes, C-order weights as its index. */
static bool fold_operands(rd_collector *c, const rd_expr *e, int v, const rd_subscript *kept)
{
    const rd_expr *x = e->in[0];
    rd_subscript   at[RD_MAX_RANK], index = rd_subscript_const(0);
    int32_t        dim[RD_RAW_AXES];
    int            n_dim = axes_of_place(c, e->rank - (outputs_of(e) > 1), kept, dim), k = 0;
    int64_t        weight = 1;

    for (int a = 0; a < x->rank; a++) {
        bool reduced = e->as.fold->dims >> a & 1;

        at[a] = rd_subscript_const(0);
        if (!reduced)
            at[a] = kept[k++];
        else if (x->extent[a] != 1) {
            int axis = rd_axes_new(c->axes, x->extent[a]);

            if (axis < 0)
                return false;
            for (int d = 0; d < n_dim; d++)
                rd_axes_apart(c->axes, axis, dim[d]);
            dim[n_dim++] = axis;
            at[a]        = rd_subscript_axis(axis);
        }
    }
    for (int a = x->rank; a-- > 0;)
        if (e->as.fold->dims >> a & 1) {
            if (!rd_subscript_add(c->axes, &index, &at[a], weight))
                return false;
            weight *= x->extent[a] ? x->extent[a] : 1; /* an empty axis must not erase the others */
        }
    c->graph->value[v].combine = rd_pool_get(c->pool, sizeof(rd_combine));
    if (!c->graph->value[v].combine)
        return false;
    c->graph->value[v].combine->index = index;
    return demand_operands(c, v, e, at);
}

static int fold_value(rd_collector *c, const rd_expr *e)
{
    int v = rd_value_new(c, e->kind == RD_EXPR_REDUCE ? RD_VALUE_REDUCE : RD_VALUE_SCAN, e->type, e);

    if (v >= 0) {
        c->graph->value[v].reducer = e->as.fold->reducer;
        c->graph->value[v].ops     = rd_reducer_table[e->as.fold->reducer].cost;
    }
    return v;
}

/* The axis of a reducer's results is not looped over where it reduces, so it must not become an axis it reduces. */
static void keep_apart(rd_collector *c, int v, int inner)
{
    const rd_subscript *index = &c->graph->value[v].combine->index;

    for (int t = 0; t < index->n_term; t++)
        rd_axes_apart(c->axes, inner, index->term[t].axis);
}

/* The instance at one demand's place.  A reducer with several outputs is stored with one more dim, which no loop of its
 * own runs along, and read at the demand's last subscript. */
static bool reduce_pushed(rd_collector *c, const rd_expr *e, int demand)
{
    int32_t             dim[RD_RAW_AXES];
    int                 kept = e->rank - (outputs_of(e) > 1), v = fold_value(c, e), n;
    const rd_subscript *at = the(c, demand)->at;
    rd_subscript       *own;

    if (v < 0 || !fold_operands(c, e, v, at))
        return false;
    at = the(c, demand)->at;
    n  = axes_of_place(c, kept, at, dim);
    if (kept == e->rank)
        return set_dims(c, v, n, dim) && answer(c, demand, v);
    own = rd_subscripts(c, n + 1);
    if (!own)
        return false;
    for (int d = 0; d < n; d++) {
        own[d]                                           = rd_subscript_axis(dim[d]);
        c->axes->at[rd_axes_root(c->axes, dim[d])].fixed = true;
    }
    dim[n] = rd_axes_new(c->axes, outputs_of(e));
    if (dim[n] < 0)
        return false;
    c->axes->at[dim[n]].fixed = true;
    c->graph->value[v].inner  = dim[n];
    c->graph->value[v].whole  = true;
    own[n]                    = at[kept];
    return set_dims(c, v, n + 1, dim) && answer(c, demand, read_value(c, e->type, v, n + 1, own));
}

static bool reduce_whole(rd_collector *c, const rd_expr *e, const int32_t *list, int n)
{
    int32_t       dim[RD_MAX_RANK];
    rd_subscript *at = own_axes(c, e, dim);
    int           v  = fold_value(c, e);

    if (v < 0 || !at || !fold_operands(c, e, v, at) || !set_dims(c, v, e->rank, dim))
        return false;
    if (outputs_of(e) > 1) {
        c->graph->value[v].inner = dim[e->rank - 1];
        keep_apart(c, v, dim[e->rank - 1]);
    }
    return answer_reads(c, e, v, list, n);
}

static double fold_evaluations(const rd_collector *c, const rd_expr *e, const int32_t *list, int n)
{
    double evaluations = 0;

    for (int k = 0; k < n; k++)
        evaluations += rd_demand_points(c, e, the(c, list[k]));
    return evaluations;
}

/* Slices of a reduction reduce only what they need; but never does a reduction compute an element twice: as soon as the
 * demands together want more elements than it has, it is computed whole, once. */
static bool reduces(rd_collector *c, const rd_expr *e, const int32_t *list, int n)
{
    if (fold_evaluations(c, e, list, n) > points_of(e))
        return reduce_whole(c, e, list, n);
    for (int k = 0; k < n; k++)
        if (!reduce_pushed(c, e, list[k]))
            return false;
    return true;
}

static int scan_axis(const rd_expr *e)
{
    return __builtin_ctzll(e->as.fold->dims);
}

/* A scan at `at`, whose scan axis must be a whole axis; that axis is the scan's to run along in order. */
static int scan_at(rd_collector *c, const rd_expr *e, const rd_subscript *at)
{
    int         v = fold_value(c, e), axis = at[scan_axis(e)].term[0].axis;
    rd_combine *combine = rd_pool_get(c->pool, sizeof *combine);

    if (v < 0 || !combine || !demand_operands(c, v, e, at))
        return -1;
    combine->index                                 = at[scan_axis(e)];
    c->graph->value[v].combine                     = combine;
    c->axes->at[rd_axes_root(c->axes, axis)].fixed = true;
    return v;
}

/* One row of a scan costs one row: other axes stay at the demand's place, the scan axis is run along whole. */
static bool scan_row(rd_collector *c, const rd_expr *e, int demand)
{
    rd_subscript at[RD_MAX_RANK], *own;
    int32_t      dim[RD_RAW_AXES];
    int          s = scan_axis(e), axis = rd_axes_new(c->axes, e->extent[s]), n, v;

    if (axis < 0)
        return false;
    memcpy(at, the(c, demand)->at, (size_t)e->rank * sizeof *at);
    at[s] = rd_subscript_const(0);
    n     = axes_of_place(c, e->rank, at, dim);
    own   = rd_subscripts(c, n + 1);
    for (int d = 0; own && d < n; d++) {
        own[d] = rd_subscript_axis(dim[d]);
        rd_axes_apart(c->axes, axis, dim[d]);
        c->axes->at[rd_axes_root(c->axes, dim[d])].fixed = true;
    }
    at[s] = rd_subscript_axis(axis);
    v     = own ? scan_at(c, e, at) : -1;
    if (v < 0)
        return false;
    c->graph->value[v].whole = true;
    own[n]                   = the(c, demand)->at[s];
    dim[n]                   = axis;
    return set_dims(c, v, n + 1, dim) && answer(c, demand, read_value(c, e->type, v, n + 1, own));
}

/* The raw axis a demand runs along where the scan does, if it does so from end to end and only there; else -1. */
static int scanned_axis(const rd_collector *c, const rd_expr *e, const rd_subscript *at)
{
    int axis = rd_subscript_pure(c->axes, &at[scan_axis(e)]);

    if (axis < 0 || c->axes->at[axis].extent != e->extent[scan_axis(e)] || c->axes->at[axis].outer >= 0)
        return -1;
    for (int a = 0; a < e->rank; a++)
        for (int t = 0; t < at[a].n_term && a != scan_axis(e); t++)
            if (at[a].term[t].axis < 0 || rd_axes_root(c->axes, at[a].term[t].axis) == axis)
                return -1;
    return axis;
}

static bool scans(rd_collector *c, const rd_expr *e, const int32_t *list, int n)
{
    int32_t       dim[RD_RAW_AXES];
    rd_subscript *at;
    int           v;

    if (n == 1 && fold_evaluations(c, e, list, n) <= points_of(e)) {
        at = the(c, list[0])->at;
        if (scanned_axis(c, e, at) < 0)
            return scan_row(c, e, list[0]);
        v = scan_at(c, e, at);
        return v >= 0 && set_dims(c, v, axes_of_place(c, e->rank, at, dim), dim) && answer(c, list[0], v);
    }
    at = own_axes(c, e, dim);
    v  = at ? scan_at(c, e, at) : -1;
    return v >= 0 && set_dims(c, v, e->rank, dim) && answer_reads(c, e, v, list, n);
}

/* ---- Reshape ------------------------------------------------------------------------------------------------------ */
/* Where neither strides nor split axes can express a reshape, its operand is stored in C order first. */
static bool reshape_copy(rd_collector *c, const rd_expr *e, int demand)
{
    const rd_expr *x      = e->in[0];
    rd_subscript   flat   = rd_subscript_const(0);
    int64_t        weight = 1, dense[RD_MAX_RANK];
    int32_t        dim[RD_MAX_RANK], *in = rd_pool_get(c->pool, sizeof *in);
    rd_subscript  *at = own_axes(c, x, dim);
    int            v;

    for (int a = e->rank; a-- > 0; weight *= e->extent[a])
        if (!rd_subscript_add(c->axes, &flat, &the(c, demand)->at[a], weight))
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
    return set_dims(c, v, x->rank, dim) && answer(c, demand, read_value(c, x->type, v, 1, &flat));
}

static bool reshape(rd_collector *c, const rd_expr *e, int demand)
{
    rd_subscript in[RD_MAX_RANK], at[RD_MAX_RANK];
    bool         ok;
    int          v = rd_reshape_leaf(c, e, the(c, demand)->at);

    if (v != -1)
        return v >= 0 && answer(c, demand, v);
    if (!rd_reshape_places(c, e, the(c, demand)->at, in, &ok))
        return false;
    if (!ok)
        return reshape_copy(c, e, demand);
    memcpy(at, in, sizeof at);
    return answer_same(c, demand, e->in[0], at);
}

/* No element of e is ever read, so anything stands for it; what it is made of is not even looked at. */
static bool nothing(rd_collector *c, const rd_expr *e, const int32_t *list, int n)
{
    for (int k = 0; k < n; k++)
        if (!answer(c, list[k], rd_value_new(c, RD_VALUE_CONST, e->type, e)))
            return false;
    return true;
}

bool rd_instances(rd_collector *c, rd_seen *seen)
{
    const rd_expr *e = seen->expr;
    int32_t       *list;
    int            n  = rd_demands_distinct(c, seen, &list);
    bool           ok = n >= 0;

    if (ok && points_of(e) == 0)
        return nothing(c, e, list, n);
    switch (e->kind) {
    case RD_EXPR_MAP:
    case RD_EXPR_CALL: return ok && maps(c, seen, list, n);
    case RD_EXPR_CONCAT: return ok && concat(c, e, list, n);
    case RD_EXPR_REDUCE: return ok && reduces(c, e, list, n);
    case RD_EXPR_SCAN: return ok && scans(c, e, list, n);
    default: break;
    }
    for (int k = 0; ok && k < n; k++)
        switch (e->kind) {
        case RD_EXPR_LEAF: ok = answer(c, list[k], read_leaf(c, e, the(c, list[k])->at)); break;
        case RD_EXPR_NUMBER: ok = answer(c, list[k], number_value(c, e)); break;
        case RD_EXPR_COORD: ok = answer(c, list[k], coord_value(c, e, the(c, list[k])->at)); break;
        case RD_EXPR_VIEW: ok = view(c, e, list[k]); break;
        case RD_EXPR_TAKE: ok = take(c, e, list[k]); break;
        default: ok = reshape(c, e, list[k]); break;
        }
    return ok;
}
