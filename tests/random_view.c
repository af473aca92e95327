/* random_view.c - views: slices by text and by number, axes moved, dropped and made, elements taken
 * and joined. */
#include "random_expr.h"
#include <stdio.h>
#include <string.h>

static int any_axis(random_pool *pool, const rd_expr *x)
{
    const int axis = (int)random_below(pool, x->rank);

    return random_once(pool, 4) ? axis - x->rank : axis;
}

static int64_t extent_of(const rd_expr *x, int axis)
{
    return x->extent[axis < 0 ? axis + x->rank : axis];
}

/* ---- Slices ---------------------------------------------------------------------------------- */

/* A bound of a slice, sometimes outside the axis, sometimes left out ("" or RD_OPEN). */
static int64_t bound(random_pool *pool, int64_t extent)
{
    if (random_once(pool, 3))
        return RD_OPEN;
    return random_below(pool, 2 * extent + 3) - extent - 1;
}

static void bound_text(int64_t at, char *text, size_t size)
{
    if (at == RD_OPEN)
        text[0] = 0;
    else
        snprintf(text, size, "%lld", (long long)at);
}

static int64_t any_step(random_pool *pool)
{
    static const int64_t steps[] = { 1, 1, 1, 1, 2, 3, -1, -1, -2 };

    return steps[random_below(pool, 9)];
}

static void slice_part(random_pool *pool, int64_t extent, char *part, size_t size)
{
    const int64_t choice = random_below(pool, 10);
    char          start[24], stop[24];

    if (choice < 3)
        snprintf(part, size, ":");
    else if (choice < 5 && extent > 0)
        snprintf(part, size, "%lld", (long long)(random_below(pool, 2 * extent) - extent));
    else if (choice < 6)
        snprintf(part, size, "new, :");
    else {
        const int64_t step = any_step(pool);
        bound_text(bound(pool, extent), start, sizeof start);
        bound_text(bound(pool, extent), stop, sizeof stop);
        if (step == 1)
            snprintf(part, size, "%s:%s", start, stop);
        else
            snprintf(part, size, "%s:%s:%lld", start, stop, (long long)step);
    }
}

static rd_expr *slice(random_pool *pool, rd_expr *x)
{
    char      text[512] = "", part[80];
    const int parts     = (int)random_below(pool, x->rank + 1);
    size_t    n         = 0;

    for (int a = 0; a < parts; a++) {
        slice_part(pool, x->extent[a], part, sizeof part);
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? ", " : "", part);
    }
    if (random_once(pool, 4) || n == 0)
        snprintf(text + n, sizeof text - n, "%s%s", n ? ", " : "",
                 random_once(pool, 3) ? "..., new" : "...");
    return rd_slice(x, text);
}

static rd_expr *range(random_pool *pool, rd_expr *x)
{
    const int     axis   = any_axis(pool, x);
    const int64_t extent = extent_of(x, axis), start = bound(pool, extent);

    return rd_slice_axis(x, axis, start, bound(pool, extent), any_step(pool));
}

/* ---- Axes ------------------------------------------------------------------------------------ */

static rd_expr *permute(random_pool *pool, rd_expr *x)
{
    rd_index order = { .n = x->rank };

    for (int k = 0; k < x->rank; k++) {
        const int j = (int)random_below(pool, k + 1);
        order.at[k] = order.at[j];
        order.at[j] = k;
    }
    return random_once(pool, 3) ? rd_transpose(x) : rd_permute(x, order);
}

static rd_expr *broadcast(random_pool *pool, rd_expr *x)
{
    rd_shape shape = { .n = x->rank };

    for (int a = 0; a < x->rank; a++)
        shape.at[a] = x->extent[a] == 1 ? 1 + random_below(pool, 6) : x->extent[a];
    if (x->rank < 6 && random_once(pool, 2)) {
        memmove(shape.at + 1, shape.at, sizeof *shape.at * (size_t)x->rank);
        shape.at[0] = 1 + random_below(pool, 4);
        shape.n++;
    }
    return rd_broadcast(x, shape);
}

static rd_expr *squeeze(rd_expr *x)
{
    rd_dims dims = { 0 };

    for (int a = 0; a < x->rank; a++)
        if (x->extent[a] == 1)
            dims.axis[dims.n++] = a;
    return rd_squeeze(x, dims);
}

static rd_expr *flip(random_pool *pool, rd_expr *x)
{
    rd_dims  dims   = { 0 };
    rd_index origin = { .n = x->rank };

    for (int a = 0; a < x->rank; a++)
        if (random_once(pool, 2))
            dims.axis[dims.n++] = random_once(pool, 3) ? a - x->rank : a;
    /* From anywhere, there and back: values do not change. */
    for (int a = 0; a < x->rank; a++)
        origin.at[a] = 3 - 7 * a;
    return rd_reindex(rd_flip(rd_reindex(x, origin), dims), (rd_index){ .n = x->rank });
}

static rd_expr *diagonal(random_pool *pool, rd_expr *x)
{
    const int axis  = (int)random_below(pool, x->rank),
              other = (axis + 1 + (int)random_below(pool, x->rank - 1)) % x->rank;

    return rd_diagonal(x, axis, other, random_once(pool, 2) ? 0 : random_below(pool, 5) - 2);
}

static rd_expr *window(random_pool *pool, rd_expr *x)
{
    return rd_window(x, any_axis(pool, x), 1 + random_below(pool, 5), 1 + random_below(pool, 3));
}

/* ---- Reshape: axes joined, split, or all new ------------------------------------------------- */

static void split_axis(random_pool *pool, rd_shape *shape)
{
    const int     axis = (int)random_below(pool, shape->n);
    const int64_t by[] = { 2, 3, 4, 5, 1 };

    for (int k = 0; k < 5; k++)
        if (shape->at[axis] % by[k] == 0) {
            memmove(shape->at + axis + 1, shape->at + axis,
                    sizeof *shape->at * (size_t)(shape->n - axis));
            shape->at[axis] /= by[k];
            shape->at[axis + 1] = by[k];
            shape->n++;
            return;
        }
}

static void join_axes(random_pool *pool, rd_shape *shape)
{
    const int axis = (int)random_below(pool, shape->n - 1);

    shape->at[axis] *= shape->at[axis + 1];
    memmove(shape->at + axis + 1, shape->at + axis + 2,
            sizeof *shape->at * (size_t)(shape->n - axis - 2));
    shape->n--;
}

static rd_expr *reshape(random_pool *pool, rd_expr *x)
{
    rd_shape shape = { .n = x->rank };

    for (int a = 0; a < x->rank; a++)
        shape.at[a] = x->extent[a];
    if (random_once(pool, 5))
        for (int a = 0; a < x->rank; a++) /* the extents in reverse: rarely the same elements in a
                                           * row */
            shape.at[a] = x->extent[x->rank - 1 - a];
    else if (random_once(pool, 4)) {
        shape.n     = 1;
        shape.at[0] = random_points(x) > 0 ? -1 : 0;
    } else if (shape.n > 1 && random_once(pool, 2))
        join_axes(pool, &shape);
    else if (shape.n > 0 && shape.n < 6)
        split_axis(pool, &shape);
    return rd_reshape(x, shape);
}

/* ---- Elements by index, parts joined --------------------------------------------------------- */

static void take(random_pool *pool, rd_expr *x)
{
    const int     axis     = any_axis(pool, x);
    const int64_t extent   = extent_of(x, axis);
    int64_t       shape[2] = { random_below(pool, 9), 1 + random_below(pool, 3) };
    rd_expr *index = random_index_leaf(pool, (int)random_below(pool, 3), shape, -extent, extent);

    if (!index) /* nothing to take, or no room for another leaf */
        return;
    if (random_once(pool, 4)) /* computed indices */
        index = rd_remainder(rd_add(index, rd_int(pool->ctx, random_below(pool, 50))),
                             rd_int(pool->ctx, extent));
    random_keep(pool, rd_take(x, axis, index), "take");
}

/* An element along the axis for each place beside it. */
static void take_along(random_pool *pool, rd_expr *x)
{
    const int     axis   = any_axis(pool, x);
    const int64_t extent = extent_of(x, axis), one[1] = { 1 + random_below(pool, 5) };
    rd_expr      *index = random_index_leaf(pool, 1, one, -extent, extent);

    if (!index)
        return;
    for (int a = 0; a < x->rank; a++)
        if (a != axis)
            index = rd_expand(index, a);
    if (random_once(pool, 2)) /* others at other places */
        index = rd_remainder(rd_add(index, rd_coord(x, (axis + 1) % x->rank)),
                             rd_int(pool->ctx, extent));
    random_keep(pool, rd_take_along(x, axis, index), "take along");
}

static rd_expr *concat(random_pool *pool, rd_expr *x)
{
    const int axis     = any_axis(pool, x);
    rd_expr  *parts[3] = { x, x, NULL };
    int       n        = 2;

    for (int i = 0; i < 6; i++) { /* another of its shape, if there is one */
        rd_expr *y = random_pick(pool)->x;
        if (y->rank == x->rank &&
            memcmp(y->extent, x->extent, sizeof *x->extent * (size_t)x->rank) == 0)
            parts[1] = y;
    }
    if (random_once(pool, 2))
        parts[1] =
            rd_slice_axis(parts[1], axis, bound(pool, extent_of(x, axis)), RD_OPEN, any_step(pool));
    if (random_once(pool, 3))
        parts[n++] = rd_flip(parts[0], RD_DIMS(axis));
    return rd_concat(axis, (rd_exprs){ parts, n });
}

void random_view(random_pool *pool)
{
    rd_expr      *x      = random_pick(pool)->x;
    const int64_t choice = random_below(pool, 32);

    if (x->rank == 0)
        random_keep(pool, random_once(pool, 2) ? broadcast(pool, x) : rd_expand(x, -1),
                    "view of a scalar");
    else if (choice < 6)
        random_keep(pool, slice(pool, x), "slice");
    else if (choice < 9)
        random_keep(pool, range(pool, x), "range");
    else if (choice < 11 && x->extent[0] > 0)
        random_keep(pool, rd_select(x, 0, random_below(pool, 2 * x->extent[0]) - x->extent[0]),
                    "select");
    else if (choice < 14)
        random_keep(pool, permute(pool, x), "permute");
    else if (choice < 16)
        random_keep(pool, broadcast(pool, x), "broadcast");
    else if (choice < 18 && x->rank < 6)
        random_keep(pool, rd_expand(x, (int)random_below(pool, x->rank + 1)), "expand");
    else if (choice < 19)
        random_keep(pool, squeeze(x), "squeeze");
    else if (choice < 21)
        random_keep(pool, flip(pool, x), "flip");
    else if (choice < 23 && x->rank > 1)
        random_keep(pool, diagonal(pool, x), "diagonal");
    else if (choice < 25)
        random_keep(pool, window(pool, x), "window");
    else if (choice < 28)
        random_keep(pool, reshape(pool, x), "reshape");
    else if (choice < 30)
        random_once(pool, 2) ? take(pool, x) : take_along(pool, x);
    else
        random_keep(pool, concat(pool, x), "concat");
}
