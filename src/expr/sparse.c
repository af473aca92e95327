/* sparse.c - sparse expressions: their nodes, and their elements at stored places and at all
 * places.  A *place* is a position in the array, given by its *coordinates*; the *pattern* is the
 * list of stored places.  The *fill* is the value at all other places; NULL: nothing is there.
 *
 * Words. An expression is real if it is not complex. The origin of an axis is its first index, 0
 * unless the caller says another. A plain expression is real and dense. */
#include "expr/bisect.h"
#include "expr/plain.h"
#include "expr/sparse.h"
#include <string.h>

/* ---- Nodes ----------------------------------------------------------------------------------- */
/* True if any operand is real and sparse: a SPARSE node, or a LATER, a product whose stored
 * positions are not computed yet. */
bool rd_any_pattern(int n, rd_expr *const *x)
{
    for (int k = 0; k < n; k++)
        if (x[k] && (rd_has_pattern(x[k]) || rd_is_later(x[k])))
            return true;
    return false;
}

/* Makes the SPARSE node from values at n_stored positions, a fill (the value elsewhere; NULL:
 * nothing is there) and n coordinates along the axes `axis`.  The first coordinate ascends, so
 * folds by it meet runs of equal ones (of_pattern); the others may come in any order. */
rd_expr *rd_sparse_node(rd_expr *values, rd_expr *fill, int rank, const int64_t *extent, int n,
                        rd_expr *const *coord, const int64_t *axis)
{
    rd_sparse_facts facts;
    rd_expr        *in[RD_MAX_RANK + 2] = { values, fill };

    if (!values)
        return NULL;
    memset(&facts, 0, sizeof facts);
    facts.n = n;
    for (int k = 0; k < n; k++) {
        /* a leaf whose indices are known to be in range */
        if (!(in[2 + k] = rd_indices_below(coord[k], extent[axis[k]])))
            return NULL;
        facts.axis[k]         = axis[k];
        in[2 + k]->of_pattern = k == 0 ? RD_PATTERN_RUNS : RD_PATTERN_APART;
    }
    return rd_node(&(rd_expr){ .ctx    = values->ctx,
                               .kind   = RD_EXPR_SPARSE,
                               .type   = values->type,
                               .rank   = rank,
                               .n_in   = n + 2,
                               .extent = extent,
                               .in     = in },
                   &facts, sizeof facts);
}

/* Makes x again with other origins (first indices of its axes); NULL: all 0. */
rd_expr *rd_sparse_from(rd_expr *x, const int64_t *origin)
{
    rd_expr node;

    if (!x || (!x->origin && !origin))
        return x;
    node        = *x;
    node.origin = rd_somewhere(x->rank, origin);
    return rd_node(&node, x->as.sparse, sizeof *x->as.sparse);
}

/* Makes a SPARSE with these values and fill (NULL: nothing at other positions), and x's stored
 * positions and origins. */
rd_expr *rd_sparse_with(const rd_expr *x, rd_expr *values, rd_expr *fill)
{
    return rd_sparse_from(rd_sparse_node(values, fill, x->rank, x->extent, rd_coords_of(x),
                                         x->in + 2, x->as.sparse->axis),
                          x->origin);
}

/* True if two coordinates, each a contiguous leaf of indices, have equal elements. */
static bool same_coord(const rd_expr *x, const rd_expr *y)
{
    const size_t bytes = (size_t)x->extent[0] * (size_t)rd_dtype_size(x->type);

    return x == y || (x->type == y->type && x->extent[0] == y->extent[0] &&
                      memcmp(x->as.leaf->data, y->as.leaf->data, bytes) == 0);
}

/* True if both sparse nodes have the same shape, and the same stored positions: equal coordinates
 * along the same axes. */
bool rd_same_pattern(const rd_expr *x, const rd_expr *y)
{
    const int n = rd_coords_of(x);

    if (n != rd_coords_of(y) || x->rank != y->rank ||
        memcmp(x->extent, y->extent, (size_t)x->rank * sizeof *x->extent) != 0 ||
        memcmp(x->as.sparse, y->as.sparse, sizeof *x->as.sparse) != 0)
        return false;
    for (int k = 0; k < n; k++)
        if (!same_coord(x->in[2 + k], y->in[2 + k]))
            return false;
    return true;
}

/* ---- Places ---------------------------------------------------------------------------------- */
/* The axes of x in the order in which its array of values has them: first those with coordinates,
 * then the dense ones. */
static rd_index stored_order(const rd_expr *x)
{
    rd_index order = { 0 };

    for (int k = 0; k < rd_coords_of(x); k++)
        order.at[order.n++] = x->as.sparse->axis[k];
    for (int a = 0; a < x->rank; a++)
        if (rd_coord_of_axis(x, a) < 0)
            order.at[order.n++] = a;
    return order;
}

/* Reshapes a row of n elements to (n, 1, 1, ...) of rank `rank`, so that it broadcasts along all
 * axes but the first. */
rd_expr *rd_column(rd_expr *row, int rank)
{
    rd_shape shape = { .n = rank, .at = { row->extent[0] } };

    for (int a = 1; a < rank; a++)
        shape.at[a] = 1;
    return rd_plain_reshape(row, shape.n, shape.at);
}

/* Reads y at each stored position of x: a gather along the first coordinate, then along each
 * further one.  The result has the shape of x's values.  A number stays as it is, and a y with the
 * same positions has its values. */
rd_expr *rd_at_stored(const rd_expr *x, rd_expr *y, const char *call)
{
    const int n = rd_coords_of(x);

    if (!y || (y->kind == RD_EXPR_NUMBER && y->rank == 0))
        return y;
    if (rd_has_pattern(y) && rd_same_pattern(x, y))
        return rd_values_of(y);
    if (!(y = rd_at_all_places(y, call)))
        return NULL;
    y = rd_plain_permute(y, stored_order(x));
    y = y ? rd_plain_take(y, 0, x->in[2]) : NULL;
    for (int k = 1; k < n && y; k++) {
        /* axis 1 now holds the next coordinate's axis; one index for each position */
        y = rd_plain_take_along(y, 1, rd_column(x->in[2 + k], y->rank));
        y = y ? rd_plain_squeeze(y, RD_DIMS(1)) : NULL;
    }
    return y;
}

/* ---- At all places --------------------------------------------------------------------------- */
static const char call[] = "rd_dense";

/* Broadcasts a plain (real, dense) x to a shape. */
static rd_expr *broadcast(rd_expr *x, rd_shape shape)
{
    return rd_plain_broadcast(x, shape.n, shape.at, call);
}

/* The extents of the axes with coordinates, in the order of the coordinates: the shape in which
 * stored positions lie. */
static rd_shape shape_of_places(const rd_expr *x)
{
    rd_shape shape = { .n = rd_coords_of(x) };

    for (int k = 0; k < shape.n; k++)
        shape.at[k] = x->extent[x->as.sparse->axis[k]];
    return shape;
}

/* The coordinates of each stored position as one row-major number, its key, by which positions are
 * compared: for (2, 5) in a shape of 10 columns 25. */
static rd_expr *key_of(const rd_expr *x, rd_expr *const *coord)
{
    const rd_shape shape = shape_of_places(x);
    rd_expr       *key   = rd_plain_cast(coord[0], RD_I64);

    for (int k = 1; k < shape.n; k++)
        key = plain_2(RD_OP_add, call, plain_2(RD_OP_mul, call, key, rd_int(x->ctx, shape.at[k])),
                      rd_plain_cast(coord[k], RD_I64));
    return key;
}

/* Counts for each target the ascending keys that are at most the target, by bisection: each step is
 * a gather. rd_bisect() gives the last position looked at, and whether the key there passes. */
static rd_expr *count_not_behind(rd_expr *keys, rd_expr *target)
{
    const rd_bisection b = {
        .call = call, .sorted = keys, .before = RD_OP_le, .map = rd_plain_map, .take = rd_plain_take
    };
    rd_expr *at = rd_number(keys->ctx, RD_I64, (rd_word){ 0 }), *const pass =
                                                                    rd_bisect(&b, &at, target);

    return pass ? plain_2(RD_OP_add, call, at, rd_plain_cast(pass, RD_I64)) : NULL;
}

/* Permutes the axes of y back to x's order; axis k of y is axis order->at[k] of x. */
static rd_expr *in_axis_order(rd_expr *y, const rd_index *order)
{
    rd_index back = { .n = order->n };

    for (int k = 0; k < order->n; k++)
        back.at[order->at[k]] = k;
    return rd_plain_permute(y, back);
}

/* Makes the dense array of x: for each position, finds by bisection the last stored one with a
 * row-major key (key_of) that is not greater.  If the keys are equal it reads the value there, else
 * the fill, the value where nothing is stored. */
static rd_expr *look_up(rd_expr *x, rd_expr *fill)
{
    rd_ctx *const  ctx                = x->ctx;
    const rd_shape shape              = shape_of_places(x);
    const rd_index order              = stored_order(x);
    rd_expr *const keys               = key_of(x, x->in + 2);
    rd_expr       *coord[RD_MAX_RANK] = { NULL }, *number, *target, *last, *found, *values;

    number = broadcast(rd_number(ctx, RD_I64, (rd_word){ 0 }), shape);
    for (int k = 0; k < shape.n; k++)
        /* the index along axis k, for all positions */
        coord[k] = rd_places(number, k);
    target = key_of(x, coord);
    last   = keys && target ? count_not_behind(keys, target) : NULL;
    /* -1: none; clamped to 0 for the gather, and masked by `found` */
    last   = plain_2(RD_OP_sub, call, last, rd_int(ctx, 1));
    found  = plain_2(RD_OP_ge, call, last, rd_int(ctx, 0));
    last   = plain_2(RD_OP_maximum, call, last, rd_int(ctx, 0));
    found  = plain_2(RD_OP_and, call, found,
                    last ? plain_2(RD_OP_eq, call, rd_plain_take(keys, 0, last), target) : NULL);
    values = last ? rd_plain_take(rd_values_of(x), 0, broadcast(last, shape)) : NULL;
    if (!found || !values)
        return NULL;
    found = broadcast(found, shape);
    for (int a = shape.n; a < x->rank && found; a++)
        found = rd_plain_expand(found, -1);
    rd_expr *const y =
        plain_where(call, in_axis_order(found, &order), in_axis_order(values, &order), fill);
    if (y)
        /* marks a sparse array made dense */
        y->stored = rd_values_of(x)->extent[0];
    return y;
}

/* Makes a real x dense: stored values, and the fill elsewhere.  An x without a fill has 0 there. */
rd_expr *rd_real_dense(rd_expr *x)
{
    x = rd_listed(x);
    if (!x || !rd_has_pattern(x))
        return x;
    rd_expr *fill = rd_fill_of(x);
    if (!fill)
        fill = rd_plain_broadcast(rd_number(x->ctx, x->type, (rd_word){ 0 }), x->rank, x->extent,
                                  call);
    if (fill && rd_values_of(x)->extent[0] > 0 && rd_points(x->rank, x->extent) > 0)
        fill = look_up(x, fill);
    return rd_plain_from(fill, x->origin);
}

/* Makes a real x dense for a call that needs all elements.  NULL after recording for `caller` that
 * x has no fill, so that some positions hold nothing. */
rd_expr *rd_at_all_places(rd_expr *x, const char *caller)
{
    x = rd_listed(x);
    if (!x || !rd_has_pattern(x) || rd_fill_of(x) || rd_points(x->rank, x->extent) == 0)
        return rd_real_dense(x);
    return rd_fail(x->ctx, RD_ERR_TYPE,
                   "%s: what is at places that are not stored is asked for, and the array is of "
                   ".stored, with nothing there; rd_dense() has 0",
                   caller);
}
