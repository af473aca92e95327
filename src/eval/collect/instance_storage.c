/* instance_storage.c - makes the values for uses that need storage: concatenations, and reshapes
 * that no strides can express.
 *
 * A join is the storage of a concatenation: a value of kind JOIN, which each part fills by a
 * copy into its range of the storage.
 *
 * Fields. A term of a subscript with `axis` -1 is a gathered index, the value of an array. */
#include "eval/collect/boxes.h"
#include <string.h>

/* ---- Concatenation --------------------------------------------------------------------------- */
/* The least and greatest value of a subscript; false if it gathers. False also if an axis has no
 * index. */
static bool range_of(const rd_collector *c, const rd_subscript *at, int64_t *lo, int64_t *hi)
{
    *lo = *hi = at->offset;
    for (int t = 0; t < at->n_term; t++) {
        int64_t reach;

        if (at->term[t].axis < 0)
            return false;
        reach =
            at->term[t].coef * (c->axes->at[rd_axes_root(c->axes, at->term[t].axis)].extent - 1);
        *(reach < 0 ? lo : hi) += reach;
    }
    return *lo <= *hi;
}

/* The number of the part of concatenation e inside which subscripts `at` stay for all loop
 * indices, and *start, where that part begins; -1: they reach several parts, or are gathered. */
static int part_inside(const rd_collector *c, const rd_expr *e, const rd_subscript *at,
                       int64_t *start)
{
    const int axis = (int)e->as.axis->axis;
    int64_t   lo, hi;

    *start = 0;
    if (!range_of(c, &at[axis], &lo, &hi))
        return -1;
    for (int k = 0; k < e->n_in; *start += e->in[k++]->extent[axis])
        if (lo >= *start && hi < *start + e->in[k]->extent[axis])
            return k;
    return -1;
}

/* Follows the subscripts into nested concatenations, as long as they stay inside one part.
 * Returns the expression reached, which may be e, and makes the subscripts relative to it. */
static const rd_expr *reached(const rd_collector *c, const rd_expr *e, rd_subscript *at)
{
    int64_t start;
    int     k;

    for (; e->kind == RD_EXPR_CONCAT && (k = part_inside(c, e, at, &start)) >= 0; e = e->in[k])
        at[e->as.axis->axis].offset -= start;
    return e;
}

/* Answers a use (a reader's request) that stays inside one part by a use of that part; *done: it
 * did.  A part that is itself a concatenation is left if all parts are `stored` together, or it
 * would be stored twice. */
static bool concat_inside(rd_collector *c, const rd_expr *e, int use, bool stored, bool *done)
{
    const rd_expr *part;
    rd_subscript   at[RD_MAX_RANK];

    memcpy(at, rd_use_of(c, use)->at, (size_t)e->rank * sizeof *at);
    part  = reached(c, e, at);
    *done = part != e && !(stored && part->kind == RD_EXPR_CONCAT);
    return !*done || rd_answer_same(c, use, part, at);
}

/* The storage of a concatenation at some place: n loop axes of the place, and between them, as
 * in the expression, the dim along the parts. */
typedef struct join {
    int32_t      value, axis; /* the JOIN value; the axis along which the expression joins */
    int32_t      place;       /* index of the dim along the parts */
    int32_t      n, dim[RD_RAW_AXES];
    rd_subscript at[RD_MAX_RANK]; /* the place; at[axis] is set for each part */
    rd_boxes     boxes;
} join;

/* Makes a new loop axis for the storage dim along which the parts lie, distinct from the storage's
 * other axes, and fixed: no reshape may split it. -1 on failure. */
static int along(rd_collector *c, const join *j, int64_t extent)
{
    int axis = rd_axes_new(c->axes, extent);

    for (int d = 0; d <= j->n && axis >= 0; d++)
        if (d != j->place)
            rd_axes_apart(c->axes, axis, j->dim[d]);
    if (axis >= 0)
        c->axes->at[axis].fixed = true;
    return axis;
}

/* Makes the JOIN value, which stands for the storage of concatenation e, with its storage dims,
 * and fills it by one copy per part. False on failure. along() makes the axis of the dim
 * j->place, along the parts; rd_boxes_fill() makes the copies. */
static bool join_parts(rd_collector *c, const rd_expr *e, join *j)
{
    j->value         = rd_value_new(c, RD_VALUE_JOIN, e->type, e);
    j->dim[j->place] = along(c, j, e->extent[j->axis]);
    if (j->value < 0 || j->dim[j->place] < 0 || !rd_set_dims(c, j->value, j->n + 1, j->dim))
        return false;
    j->boxes = (rd_boxes){ .join = j->value, .n_dim = j->n + 1, .dim = j->dim, .at = j->at };
    rd_text_add(&c->why, "a concatenation is stored, one pass per part\n");
    return rd_boxes_fill(c, e, j->place, &j->boxes);
}

/* Answers a use (reader's request) by a read of the stored concatenation at subscripts at[], one
 * per storage dim. The one along the parts is set here from the use. Plain axes are unified with
 * the storage's, so that reader and copies may share loops. */
static bool read_join(rd_collector *c, const join *j, int use, rd_subscript *at)
{
    const rd_value *v = &c->graph->value[j->value];

    at[j->place] = rd_use_of(c, use)->at[j->axis];
    for (int d = 0; d <= j->n; d++) {
        rd_subscript own = rd_subscript_axis(v->dim[d]);

        rd_unify_subscripts(c, &at[d], &own);
    }
    return rd_answer(c, use, rd_read_value(c, v->type, j->value, j->n + 1, at));
}

/* Stores a concatenation for one use (reader's request) alone: only the rows at its subscripts, of
 * which each has all parts. False on failure. j->at are the subscripts and j->dim the axes that
 * they have, j->n of them without the dim along the parts, which has place j->place. These axes
 * become fixed, as the array is stored along them. join_parts() stores the parts, read_join()
 * answers the use. */
static bool join_inlined(rd_collector *c, const rd_expr *e, int use)
{
    join         *j = rd_pool_get(c->pool, sizeof *j);
    rd_subscript *at;

    if (!j)
        return false;
    j->axis = (int32_t)e->as.axis->axis;
    memcpy(j->at, rd_use_of(c, use)->at, (size_t)e->rank * sizeof *j->at);
    j->at[j->axis] = rd_subscript_const(0);
    /* the dim along the parts is behind these */
    j->place = rd_axes_of_subscripts(c, j->axis, j->at, j->dim);
    j->n     = rd_axes_of_subscripts(c, e->rank, j->at, j->dim);
    at       = rd_subscripts(c, j->n + 1);
    /* room for that dim */
    memmove(j->dim + j->place + 1, j->dim + j->place, (size_t)(j->n - j->place) * sizeof *j->dim);
    for (int d = 0; at && d <= j->n; d++) {
        if (d == j->place)
            continue;
        c->axes->at[rd_axes_root(c->axes, j->dim[d])].fixed = true;
        at[d]                                               = rd_subscript_axis(j->dim[d]);
    }
    return at && join_parts(c, e, j) && read_join(c, j, use, at);
}

/* Stores a whole concatenation once, and answers all its uses (readers' requests) by reads; false
 * on failure. j->axis is the axis of the parts, j->place its dim, j->n counts the others. Each
 * use reads at its own subscripts. */
static bool join_whole(rd_collector *c, const rd_expr *e, const int32_t *list, int n)
{
    join         *j  = rd_pool_get(c->pool, sizeof *j);
    rd_subscript *at = rd_subscripts(c, e->rank), *own;

    if (!j || !at || !(own = rd_own_axes(c, e, j->dim)))
        return false;
    j->axis = j->place = (int32_t)e->as.axis->axis;
    j->n               = e->rank - 1;
    memcpy(j->at, own, (size_t)e->rank * sizeof *own);
    if (!join_parts(c, e, j))
        return false;
    for (int k = 0; k < n; k++) {
        memcpy(at, rd_use_of(c, list[k])->at, (size_t)e->rank * sizeof *at);
        if (!read_join(c, j, list[k], at))
            return false;
    }
    return true;
}

/* The number of elements that join_inlined() would store for a use (a reader's request): the
 * extent along the parts times the extents of the loop axes in its other subscripts. */
static double inlined_points(rd_collector *c, const rd_expr *e, int use)
{
    int32_t      dim[RD_RAW_AXES];
    rd_subscript at[RD_MAX_RANK];
    double       points = (double)e->extent[e->as.axis->axis];
    int          n;

    memcpy(at, rd_use_of(c, use)->at, (size_t)e->rank * sizeof *at);
    at[e->as.axis->axis] = rd_subscript_const(0);
    n                    = rd_axes_of_subscripts(c, e->rank, at, dim);
    for (int d = 0; d < n; d++)
        points *= (double)c->axes->at[rd_axes_root(c->axes, dim[d])].extent;
    return points;
}

/* The number of elements stored if each use (reader's request) that reaches several parts gets
 * storage of its own. */
static double points_of_several(rd_collector *c, const rd_expr *e, const int32_t *list, int n)
{
    double  inlined = 0;
    int64_t start;

    for (int k = 0; k < n; k++)
        if (part_inside(c, e, rd_use_of(c, list[k])->at, &start) < 0)
            inlined += inlined_points(c, e, list[k]);
    return inlined;
}

/* Makes the values of a concatenation. Uses (readers' requests) inside one part read that part in
 * place. The others read one common storage of the whole, or each its own, whichever has fewer
 * elements. False on failure. `left` counts the uses that reach several parts; list[] keeps
 * these. */
bool rd_instances_concat(rd_collector *c, const rd_expr *e, int32_t *list, int n)
{
    const bool stored = points_of_several(c, e, list, n) > rd_expr_points(e);
    int        left   = 0;
    bool       done;

    for (int k = 0; k < n; k++) {
        if (!concat_inside(c, e, list[k], stored, &done))
            return false;
        if (!done)
            list[left++] = list[k];
    }
    if (stored)
        return join_whole(c, e, list, left);
    for (int k = 0; k < left; k++)
        if (!join_inlined(c, e, list[k]))
            return false;
    return true;
}

/* ---- Reshape --------------------------------------------------------------------------------- */
/* Stores the operand of a reshape in C order and reads it by one flat index: the last resort, if
 * neither strides nor split axes can express the reshape. False on failure. flat is the place in
 * C order of the use's subscripts. v is a copy of x, stored (whole) in C order (dense). */
static bool reshape_copy(rd_collector *c, const rd_expr *e, int use)
{
    const rd_expr *x      = e->in[0];
    rd_subscript   flat   = rd_subscript_const(0);
    int64_t        weight = 1; /* elements per index in C order */
    int32_t        dim[RD_MAX_RANK], *in = rd_pool_get(c->pool, sizeof *in);
    rd_subscript  *at = rd_own_axes(c, x, dim);
    int            v;

    for (int a = e->rank; a-- > 0; weight *= e->extent[a])
        if (!rd_subscript_add(c->axes, &flat, &rd_use_of(c, use)->at[a], weight))
            return false;
    rd_text_add(&c->why, "the operand of a reshape is stored: its strides do not join\n");
    v = rd_value_new(c, RD_VALUE_MAP, x->type, x);
    if (v < 0 || !at || !in || (in[0] = rd_use_new(c, x, at)) < 0)
        return false;
    c->graph->value[v].op             = RD_OP_cast;
    c->graph->value[v].in             = in;
    c->graph->value[v].n_in           = 1;
    c->graph->value[v].is_whole_array = true;
    c->graph->value[v].dense          = true;
    return rd_set_dims(c, v, x->rank, dim) &&
           rd_answer(c, use, rd_read_value(c, x->type, v, /*n=*/1, &flat));
}

/* Answers a use of a reshape: by a flat read of a leaf (v >= 0), by subscripts of the operand, or
 * else by a copy. v is -1 without such a read, and -2 after a failure. rd_reshape_subscripts()
 * finds the operand's subscripts, and `ok` says that there are some. */
bool rd_instance_reshape(rd_collector *c, const rd_expr *e, int use)
{
    rd_subscript in[RD_MAX_RANK], at[RD_MAX_RANK];
    bool         ok;
    int          v = rd_reshape_leaf(c, e, rd_use_of(c, use)->at);

    if (v != -1)
        return v >= 0 && rd_answer(c, use, v);
    if (!rd_reshape_subscripts(c, e, rd_use_of(c, use)->at, in, &ok))
        return false;
    if (!ok)
        return reshape_copy(c, e, use);
    memcpy(at, in, sizeof at);
    return rd_answer_same(c, use, e->in[0], at);
}
