/* concat_boxes.c - builds the expression of a result in each of the boxes into which concatenation
 * boundaries split it.
 *
 * A reading says where an axis of a node is read: at an index of the result plus an offset, or
 * at one element (axis -1).  The current box is lo[a] to hi[a] along each axis a of the result. */
#include "eval/collect/concat_split_own.h"
#include "expr/affine.h"
#include "expr/plain.h"
#include <string.h>

/* Returns the part of a concatenation that contains the box, and where it begins in *from; -1: the
 * box spans several parts. along < 0: the axis is read at one element, whatever the box. The box
 * is [s->lo, s->hi) along each axis of the result; `at` says for each axis of x which of these
 * it goes along, and with what offset. lo and hi are the box along the axis of the parts. */
static int part_in_box(const rd_concat_split *s, const rd_expr *x, const rd_reading *at,
                       int64_t *from)
{
    const int     axis = (int)x->as.axis->axis, along = at[axis].axis;
    const int64_t lo = at[axis].offset + (along < 0 ? 0 : s->lo[along]);
    const int64_t hi = at[axis].offset + (along < 0 ? 1 : s->hi[along]);

    *from = 0;
    for (int k = 0; k < x->n_in; k++) {
        const int64_t end = *from + x->in[k]->extent[axis];

        if (lo >= *from && hi <= end)
            return k;
        *from = end;
    }
    return -1;
}

static rd_expr *in_box(rd_concat_split *s, rd_expr *x, const rd_reading *at);

/* Computes the extents of what the current box reads of node x. The box is lo[b] to hi[b] along
 * each axis b of the result. at[a] says which axis of the result axis a of x goes along, -1: none,
 * it is read at one element. */
static void extents(const rd_concat_split *s, const rd_expr *x, const rd_reading *at,
                    int64_t *extent)
{
    for (int a = 0; a < x->rank; a++)
        extent[a] = at[a].axis < 0 || x->extent[a] == 1 ? 1 : s->hi[at[a].axis] - s->lo[at[a].axis];
}

/* Makes the slice (view) of node x that the current box reads: along axis a from at[a].offset plus
 * the box's begin. A view's numbers are the offsets of x's axes, and then a matrix, here 1 on
 * its diagonal. extents() are those of the box. Axes that are read at one element have
 * at[a].axis -1. */
static rd_expr *slice(const rd_concat_split *s, rd_expr *x, const rd_reading *at)
{
    int64_t number[RD_VIEW_NUMBERS], extent[RD_MAX_RANK];

    if (x->rank == 0)
        return x;
    memset(number, 0, (size_t)(x->rank * (x->rank + 1)) * sizeof *number);
    extents(s, x, at, extent);
    for (int a = 0; a < x->rank; a++) {
        number[a] = x->extent[a] == 1 ? 0 : at[a].offset + (at[a].axis < 0 ? 0 : s->lo[at[a].axis]);
        number[x->rank + a * x->rank + a] = 1;
    }
    return rd_plain_view(x, x->rank, extent, number, /*origin=*/NULL);
}

/* Makes the same elementwise operation of its operands in the current box; the new node has the
 * box's extents. at: where each axis of x is read, by the result's axes. NULL on failure. The
 * node has no origin, so its indices begin at 0. */
static rd_expr *map_in_box(rd_concat_split *s, rd_expr *x, const rd_reading *at)
{
    int64_t   extent[RD_MAX_RANK];
    rd_expr **in   = rd_pool_get(s->c->pool, (size_t)x->n_in * sizeof *in);
    rd_expr   node = *x;

    for (int k = 0; in && k < x->n_in; k++)
        if (!(in[k] = in_box(s, x->in[k], at)))
            return NULL;
    extents(s, x, at, extent);
    node.extent = extent;
    node.origin = NULL;
    node.in     = in;
    return in ? rd_node(&node, x->as.any, x->as_size) : NULL;
}

/* Makes the same view of its operand in the current box. The operand's expression begins at the
 * box, so all offsets of the view become 0. A view that is no shift or permutation of axes is
 * sliced. `at` says where x is read, `in` where its operand is. NULL on failure. */
static rd_expr *view_in_box(rd_concat_split *s, rd_expr *x, const rd_reading *at)
{
    int64_t    number[RD_VIEW_NUMBERS], extent[RD_MAX_RANK];
    rd_reading in[RD_MAX_RANK];
    const int  rank = x->in[0]->rank;
    rd_expr   *y;

    if (!rd_read_through(x, at, in))
        return slice(s, x, at);
    if (!(y = in_box(s, x->in[0], in)))
        return NULL;
    memcpy(number, x->as.view->number, (size_t)(rank * (x->rank + 1)) * sizeof *number);
    memset(number, 0, (size_t)rank * sizeof *number);
    extents(s, x, at, extent);
    return rd_plain_view(y, x->rank, extent, number, /*origin=*/NULL);
}

/* Makes a part rounded before it is added, as it is when the concatenation is stored. A product
 * gets a cast to its own type, which keeps it from being contracted into an fma, so that bits do
 * not change. NULL gives NULL. rd_product_of(): x is a product, or a view of one. */
static rd_expr *rounded(rd_expr *x)
{
    return x && rd_product_of(x) ? rd_node(&(rd_expr){ .ctx    = x->ctx,
                                                       .kind   = RD_EXPR_MAP,
                                                       .op     = RD_OP_cast,
                                                       .type   = x->type,
                                                       .rank   = x->rank,
                                                       .n_in   = 1,
                                                       .extent = x->extent,
                                                       .in     = &x },
                                           /*facts=*/NULL, /*size=*/0)
                                 : x;
}

/* Makes the part of concatenation x that contains the current box; a slice of x if the box spans
 * several parts. The index within the part is smaller by where the part begins (from). rounded()
 * keeps the part from being contracted. */
static rd_expr *concat_in_box(rd_concat_split *s, rd_expr *x, const rd_reading *at)
{
    int64_t    from;
    const int  part = part_in_box(s, x, at, &from);
    rd_reading in[RD_MAX_RANK];

    if (part < 0)
        return slice(s, x, at);
    memcpy(in, at, (size_t)x->rank * sizeof *in);
    in[x->as.axis->axis].offset -= from;
    return rounded(in_box(s, x->in[part], in));
}

/* Makes what node x is in the current box: elementwise operations, views and concatenations are
 * rebuilt from operands in the box. All other nodes, and those in memory (given), are sliced.
 * NULL on failure. */
static rd_expr *make_in_box(rd_concat_split *s, rd_expr *x, const rd_reading *at)
{
    switch (rd_seen_of(s->c, x)->given ? RD_EXPR_LEAF : x->kind) {
    case RD_EXPR_MAP:
    case RD_EXPR_CALL: return map_in_box(s, x, at);
    case RD_EXPR_VIEW: return view_in_box(s, x, at);
    case RD_EXPR_CONCAT: return concat_in_box(s, x, at);
    default: return slice(s, x, at);
    }
}

/* Makes what node x, read at `at`, is in the current box, or returns what was made for that place
 * before. One that was made for an earlier box (p->box) is out of date. NULL on failure. */
static rd_expr *in_box(rd_concat_split *s, rd_expr *x, const rd_reading *at)
{
    bool             fresh;
    rd_concat_place *p = rd_concat_place_of(s, x, at, &fresh);

    if (!p)
        return NULL;
    if (p->box != s->box) {
        p->made = make_in_box(s, x, at);
        p->box  = s->box;
    }
    return p->made;
}

/* Makes x in a new box, the range from s->lo to s->hi along each axis.  What was made for the box
 * before is forgotten. */
rd_expr *rd_in_next_box(rd_concat_split *s, rd_expr *x, const rd_reading *at)
{
    s->box++;
    return in_box(s, x, at);
}

/* Makes x in all boxes along axis a and later axes, and concatenates them along a. s->lo and s->hi
 * hold the ranges along earlier axes, which the callers up the recursion have chosen. NULL on
 * failure. s->at[a] has the n[a] boundaries along axis a between 0 and the extent, so n boxes.
 * part[k] is box k with all boxes along later axes joined. Only one box: there is nothing to
 * join. */
static rd_expr *join_boxes(rd_concat_split *s, rd_expr *x, const rd_reading *at, int a)
{
    const rd_axis_facts facts                        = { .axis = a };
    rd_expr            *part[RD_MOST_BOUNDARIES + 1] = { NULL };
    int64_t             extent[RD_MAX_RANK];
    const int           n = a < s->rank ? s->n[a] + 1 : 0;

    if (a == s->rank)
        return rd_in_next_box(s, x, at);
    for (int k = 0; k < n; k++) {
        s->lo[a] = s->at[a][k];
        s->hi[a] = s->at[a][k + 1];
        if (!(part[k] = join_boxes(s, x, at, a + 1)))
            return NULL;
    }
    if (n == 1 || !part[0])
        return part[0];
    memcpy(extent, part[0]->extent, (size_t)s->rank * sizeof *extent);
    extent[a] = s->extent[a];
    return rd_node(&(rd_expr){ .ctx    = s->c->ctx,
                               .kind   = RD_EXPR_CONCAT,
                               .type   = x->type,
                               .rank   = s->rank,
                               .n_in   = n,
                               .extent = extent,
                               .in     = part },
                   &facts, sizeof facts);
}

/* Makes the result x as a concatenation of its boxes, which are ranges between the boundaries along
 * each axis; NULL on failure. */
rd_expr *rd_join_boxes(rd_concat_split *s, rd_expr *x, const rd_reading *at)
{
    return join_boxes(s, x, at, /*a=*/0);
}
