/* boxes.c - makes the passes that fill the storage of a concatenation, and of nested ones
 * together.  A part becomes a copy into a box of the storage:
 *
 *    concat(a, b) along rows    ->    s[0 .. na) = a;  s[na .. na + nb) = b
 *
 * A box is a range along each dim of the storage, inside which the elements come from one part.
 * A range that only one nested part limits is called cut there. */
#include "eval/collect/boxes.h"
#include <string.h>

/* A box on the way down nested concatenations. cut: for each dim of the storage the axis of the
 * expression that limits it, -1: none. */
typedef struct box {
    int32_t cut[RD_RAW_AXES];
    int64_t from[RD_MAX_RANK]; /* by axis of the expression: where the box begins */
} box;

/* Finds or makes the loop axis along the range [from, from + extent) of storage dim number
 * `place`. Boxes with the same range get the same axis, so that they may share loops. A new axis
 * is kept distinct from those of all other dims, as two dims of one array need two loops. -1 on
 * failure. boxes->range lists the ranges that have an axis, boxes->dim the dims' own axes. */
static int axis_of_range(rd_collector *c, rd_boxes *boxes, int place, int64_t from, int64_t extent)
{
    int axis;

    for (int r = 0; r < boxes->n_range; r++)
        if (boxes->range[r].place == place && boxes->range[r].from == from &&
            boxes->range[r].extent == extent)
            return boxes->range[r].axis;
    if ((axis = rd_axes_new(c->axes, extent)) < 0)
        return -1;
    for (int d = 0; d < boxes->n_dim; d++)
        if (d != place)
            rd_axes_apart(c->axes, axis, boxes->dim[d]);
    for (int r = 0; r < boxes->n_range; r++)
        if (boxes->range[r].place != place)
            rd_axes_apart(c->axes, axis, boxes->range[r].axis);
    if (boxes->n_range < RD_BOX_RANGES) /* else later boxes share no axis with this one */
        boxes->range[boxes->n_range++] =
            (rd_box_range){ .place = place, .axis = axis, .from = from, .extent = extent };
    return axis;
}

/* The subscript along an axis: its index, or 0 if the axis has one index only. */
static rd_subscript index_along(const rd_collector *c, int axis)
{
    return c->axes->at[rd_axes_root(c->axes, axis)].extent == 1 ? rd_subscript_const(0)
                                                                : rd_subscript_axis(axis);
}

/* Makes v, the copy of a part, write to its box of the storage: sets its storage dims and where it
 * writes (value.at). read[a] becomes the subscript at which axis a of the part is read. Along dim
 * d the box is limited by axis b->cut[d] of the part; -1: it takes the whole dim. boxes->at has
 * the subscripts of the concatenation, for all axes that no box limits. */
static bool place_box(rd_collector *c, rd_boxes *boxes, const rd_expr *part, const box *b, int v,
                      rd_subscript *read)
{
    rd_subscript *at  = rd_subscripts(c, boxes->n_dim);
    int32_t      *dim = rd_pool_get(c->pool, (size_t)boxes->n_dim * sizeof *dim);

    memcpy(read, boxes->at, (size_t)part->rank * sizeof *read);
    for (int d = 0; at && dim && d < boxes->n_dim; d++) {
        const int a = b->cut[d];

        dim[d] = a < 0 ? boxes->dim[d] : axis_of_range(c, boxes, d, b->from[a], part->extent[a]);
        if (dim[d] < 0)
            return false;
        at[d] = index_along(c, dim[d]);
        if (a < 0)
            continue;
        read[a] = at[d];
        at[d].offset += b->from[a];
    }
    c->graph->value[v].at   = at;
    c->graph->value[v].n_at = boxes->n_dim;
    return at && dim && rd_set_dims(c, v, boxes->n_dim, dim);
}

/* Makes the value that copies a part into its box of the storage; returns its number, or -1. The
 * copy is a cast to its own type, whose `into` is the JOIN value that stands for the storage.
 * place_box() finds where the part lies in the storage, and `read` are the subscripts at which
 * it is read. */
static int copy_into(rd_collector *c, rd_boxes *boxes, const rd_expr *part, const box *b)
{
    int          v  = rd_value_new(c, RD_VALUE_MAP, part->type, part);
    int32_t     *in = rd_pool_get(c->pool, sizeof *in);
    rd_subscript read[RD_MAX_RANK];

    if (v < 0 || !in || !place_box(c, boxes, part, b, v, read) ||
        (in[0] = rd_use_new(c, part, read)) < 0)
        return -1;
    c->graph->value[v].op   = RD_OP_cast;
    c->graph->value[v].in   = in;
    c->graph->value[v].n_in = 1;
    c->graph->value[v].into = boxes->join;
    return v;
}

/* The storage dim along which `part`, itself a concatenation, joins its own parts, so that these
 * can be copied straight to the storage.  -1: it is copied as a whole, because one of these is
 * so:
 * - it is no concatenation, or there are too many parts to go down to (nested is false)
 * - it is in memory (given), or other readers have asked for it (first, its list of uses, is not
 *   empty)
 * - it joins along no whole dim: its axis neither limits the box (cut[d] == axis), nor is read
 *   by the plain index of a dim that no part limits yet (root) */
static int dim_joined(const rd_collector *c, const rd_boxes *boxes, const rd_expr *part,
                      const box *b)
{
    const int axis = part->kind == RD_EXPR_CONCAT ? (int)part->as.axis->axis : -1;
    int       root;

    if (axis < 0 || !boxes->nested || rd_seen_of(c, part)->given || rd_seen_of(c, part)->first >= 0)
        return -1;
    for (int d = 0; d < boxes->n_dim; d++)
        if (b->cut[d] == axis)
            return d;
    root = rd_subscript_pure(c->axes, &boxes->at[axis]);
    for (int d = 0; d < boxes->n_dim && root >= 0; d++)
        if (b->cut[d] < 0 && rd_axes_root(c->axes, boxes->dim[d]) == root)
            return c->axes->at[root].extent == part->extent[axis] ? d : -1;
    return -1;
}

static bool fill(rd_collector *c, rd_boxes *boxes, const rd_expr *e, int place, box *b, int32_t *in,
                 int32_t *n);

/* Fills one part's box b of the storage: by a copy, or part by part if it is a concatenation,
 * too. The copies are appended to in[0..*n). A part without elements needs none. False on
 * failure. dim_joined() is the dim of the storage along which the part joins parts of its own,
 * which fill() goes through; -1: it is copied whole. */
static bool fill_part(rd_collector *c, rd_boxes *boxes, const rd_expr *part, box *b, int32_t *in,
                      int32_t *n)
{
    const int place = dim_joined(c, boxes, part, b);
    int       v;

    if (rd_expr_points(part) == 0)
        return true;
    if (place >= 0)
        return fill(c, boxes, part, place, b, in, n);
    v = copy_into(c, boxes, part, b);
    if (v >= 0)
        in[(*n)++] = v;
    return v >= 0;
}

/* Fills the boxes of all parts of concatenation e, one behind the other along storage dim number
 * `place`. b is the box of e; it is changed for each part, and restored at the end. cut[d] is
 * the axis that limits the box along dim d, -1: none; from[a] is where the box begins along it.
 * in[0..*n) lists the copies. */
static bool fill(rd_collector *c, rd_boxes *boxes, const rd_expr *e, int place, box *b, int32_t *in,
                 int32_t *n)
{
    const int32_t axis = (int32_t)e->as.axis->axis, cut = b->cut[place];
    const int64_t from = b->from[axis];
    bool          ok   = true;

    if (cut < 0) /* e has the whole dim: count from its begin */
        b->from[axis] = 0;
    b->cut[place] = axis;
    for (int k = 0; ok && k < e->n_in; k++) {
        ok = fill_part(c, boxes, e->in[k], b, in, n);
        b->from[axis] += e->in[k]->extent[axis];
    }
    b->from[axis] = from;
    b->cut[place] = cut;
    return ok;
}

/* Counts the parts of nested concatenations. It stops early with some number above `most` if there
 * are more, as nesting may make them exponentially many. */
static int64_t count_parts(const rd_expr *e, int64_t most)
{
    int64_t n = 0;

    for (int k = 0; k < e->n_in && n <= most; k++)
        n += e->in[k]->kind == RD_EXPR_CONCAT ? count_parts(e->in[k], most - n) : 1;
    return n;
}

/* Fills the storage of concatenation e by one copy for each part. The copies become the operands
 * of value boxes->join, which stands for the storage. place: the storage dim along which e joins.
 * False on failure. With more than MOST parts, those that are concatenations themselves are
 * copied as wholes. At first no axis limits the box (cut is -1). */
bool rd_boxes_fill(rd_collector *c, const rd_expr *e, int place, rd_boxes *boxes)
{
    enum { MOST = 32 }; /* a plan has few axes, and one concatenation may be in another twice */
    const int64_t parts = count_parts(e, MOST);
    const int64_t room  = parts > e->n_in ? parts : e->n_in;
    box          *b     = rd_pool_get(c->pool, sizeof *b);
    int32_t      *in = rd_pool_get(c->pool, (size_t)room * sizeof *in), n = 0;

    if (!b || !in)
        return false;
    boxes->nested = parts <= MOST;
    memset(b->cut, -1, sizeof b->cut);
    memset(b->from, 0, sizeof b->from);
    if (!fill(c, boxes, e, place, b, in, &n))
        return false;
    c->graph->value[boxes->join].in             = in;
    c->graph->value[boxes->join].n_in           = n;
    c->graph->value[boxes->join].is_whole_array = true;
    return true;
}
