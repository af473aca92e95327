/* sparse_axes.c - adds axes to a pattern: each place becomes one place for each element along
 * them. */
#include "expr/expr.h"
#include "expr/sparse.h"
#include <inttypes.h>

/* The axes of x's values in a new order: axis 0 (stored positions), then the dense axes that are to
 * get coordinates (bits of `axes`), then the other dense ones. */
static rd_index values_order(const rd_expr *x, uint64_t axes)
{
    rd_index order = { .n = 1 };

    for (int gets = 1; gets >= 0; gets--) /* 1: the axes that get coordinates */
        for (int a = 0, at = 0; a < x->rank; a++)
            if (rd_coord_of_axis(x, a) < 0 && ++at && (axes >> a & 1) == (uint64_t)gets)
                order.at[order.n++] = at;
    return order;
}

/* The values of x with n_new dense axes joined into axis 0, which then has n stored positions. */
static rd_expr *values_along(rd_expr *x, uint64_t axes, int n_new, int64_t n)
{
    rd_expr *const values = rd_permute(rd_values_of(x), values_order(x, axes));
    rd_shape       shape  = { .n = 1, .at = { n } };

    for (int d = 1 + n_new; values && d < values->rank; d++)
        shape.at[shape.n++] = values->extent[d];
    return values ? rd_reshape(values, shape) : NULL;
}

/* Reads element p of a leaf of i32 or i64 indices. */
static int64_t index_of(const rd_expr *row, int64_t p)
{
    const void *data = row->as.leaf->data;

    return row->type == RD_I32 ? ((const int32_t *)data)[p] : ((const int64_t *)data)[p];
}

/* Makes the coordinate along one axis for n new positions, which are `each` for each old one.  A
 * known coordinate (coord) is repeated.  A new one (NULL) counts from 0 to extent - 1, a step every
 * `below` positions. */
static rd_expr *row_along(const rd_expr *coord, int64_t n, int64_t each, int64_t below,
                          int64_t extent, rd_ctx *ctx, const char *call)
{
    const bool     narrow = coord ? coord->type == RD_I32 : extent <= INT32_MAX;
    void          *room;
    rd_expr *const row = rd_index_row(ctx, n, narrow, &room, call);

    for (int64_t p = 0; row && p < n; p++) {
        const int64_t i = coord ? index_of(coord, p / each) : p / below % extent;

        if (narrow)
            ((int32_t *)room)[p] = (int32_t)i;
        else
            ((int64_t *)room)[p] = i;
    }
    return row;
}

/* Gives x coordinates along the dense axes in the bit set: each stored position becomes one for
 * each index along them.  Known coordinates are repeated and new ones counted, row-major.  NULL
 * after recording that there would be too many positions. */
rd_expr *rd_sparse_along(rd_expr *x, uint64_t axes, const char *call)
{
    const int64_t places             = rd_values_of(x)->extent[0];
    rd_expr      *coord[RD_MAX_RANK] = { NULL };
    int64_t       axis[RD_MAX_RANK], extent[RD_MAX_RANK] = { 0 }, each, below;
    const int     n = rd_coords_of(x);
    int           m = n; /* coordinates then */

    for (int a = 0; a < x->rank; a++)
        if (axes >> a & 1 && rd_coord_of_axis(x, a) < 0) {
            extent[m - n] = x->extent[a];
            axis[m++]     = a;
        }
    if (m == n)
        return x;
    each                = rd_points(m - n, extent);
    const int64_t total = each < 0 ? -1 : rd_points(2, (const int64_t[]){ places, each });
    if (total < 0)
        return rd_fail(x->ctx, RD_ERR_SHAPE,
                       "%s: the pattern lacks axes that are to be stored by index, and %" PRId64
                       " places along these are too many",
                       call, places);
    /* positions between two steps of a new coordinate: the product of the extents behind it */
    below = each;
    for (int k = 0; k < n; k++)
        axis[k] = x->as.sparse->axis[k];
    for (int k = 0; k < m; k++) {
        const rd_expr *const old = k < n ? x->in[2 + k] : NULL;

        if (k >= n)
            below = extent[k - n] ? below / extent[k - n] : 1;
        if (!(coord[k] = row_along(old, total, each, below, x->extent[axis[k]], x->ctx, call)))
            return NULL;
    }
    return rd_sparse_node(values_along(x, axes, m - n, total), rd_fill_of(x), x->rank, x->extent, m,
                          coord, axis);
}
