/* cluster_blocks.c - rd_blocks_near(): groups points into clusters, and makes the block mask of
 * cluster pairs with boxes within a radius of each other.
 *
 * Clusters are the leaves of a k-d tree (Bentley, 1975, "Multidimensional Binary Search Trees
 * Used for Associative Searching", CACM 18(9)), of about equal size in any number of dimensions.
 * Both halves of a box are neighbours in the order.  So near clusters often are neighbours, too,
 * and the columns of a row are few ranges (expr/blocks.c).
 *
 * A cluster is a group of near points; its box is the least and the greatest value of each
 * coordinate.  A place is an index in the order of points by cluster. */
#include "eval/request.h"
#include "expr/complex.h"
#include "expr/origin.h"
#include "expr/sparse.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char call[] = "rd_blocks_near";

/* Cluster sizes.  With 100,000 uniform points and 4 % of pairs near, a Gaussian sum takes 0.11
 * of the time of the full one; with half or twice the size 0.13.  Pairs of clusters take a byte
 * each, so their number is limited. */
enum { LEAST = 256, MOST_CLUSTERS = 4096, MOST_DEPTH = 64 };

/* A set of points, and its clusters. */
typedef struct cloud {
    rd_ctx  *ctx;
    int64_t  n, d;   /* number of points; dimensions */
    rd_array points; /* f64 of shape (n, d) */
    int64_t  leaf;   /* most points of a cluster */
    int64_t *order;  /* points by cluster; the memory of `row` */
    rd_expr *row;
    int64_t  clusters; /* their number */
    int64_t *border;   /* clusters + 1 first points */
    double  *box;      /* of each cluster: least and greatest of each coordinate */
} cloud;

/* Coordinate k of the point at position `place` in the order by cluster. */
static double coordinate(const cloud *c, int64_t place, int64_t k)
{
    return ((const double *)c->points.data)[c->order[place] * c->d + k];
}

/* ---- Clusters -------------------------------------------------------------------------------- */
/* Computes the bounding box of the points at positions [from, to): first the least, then the
 * greatest of each coordinate. Returns the widest axis. c->d counts coordinates; box[k] and
 * box[d + k] are the least and the greatest of coordinate k. */
static int64_t find_box(const cloud *c, int64_t from, int64_t to, double *box)
{
    int64_t widest = 0;

    for (int64_t k = 0; k < c->d; k++) {
        box[k]        = INFINITY;
        box[c->d + k] = -INFINITY;
    }
    for (int64_t i = from; i < to; i++)
        for (int64_t k = 0; k < c->d; k++) {
            const double x = coordinate(c, i, k);

            box[k]        = x < box[k] ? x : box[k];
            box[c->d + k] = x > box[c->d + k] ? x : box[c->d + k];
        }
    for (int64_t k = 1; k < c->d; k++)
        if (box[c->d + k] - box[k] > box[c->d + widest] - box[widest])
            widest = k;
    return widest;
}

/* True if point a comes before b by coordinate k, or by number if these are equal.  The order is
 * total. */
static bool is_before(const cloud *c, int64_t a, int64_t b, int64_t k)
{
    const double x = ((const double *)c->points.data)[a * c->d + k],
                 y = ((const double *)c->points.data)[b * c->d + k];

    return x < y || (x == y && a < b);
}

/* Exchanges two numbers of points. */
static void swap(int64_t *a, int64_t *b)
{
    const int64_t kept = *a;

    *a = *b;
    *b = kept;
}

/* Partitions the points at positions [from, to) by coordinate k, so that those before position
 * `middle` are not greater than those behind it (quickselect; Hoare's FIND, 1961). The pivot is
 * near the middle. c->order has the points' numbers by position; is_before() compares coordinate
 * k. `by` is the pivot; i and j meet, and the part with `middle` is partitioned again. */
static void partition_at(const cloud *c, int64_t from, int64_t to, int64_t middle, int64_t k)
{
    int64_t *const at = c->order;

    while (to - from > 1) {
        const int64_t by = at[from + (int64_t)((uint64_t)(to - from) * 0x9e37 >> 16)];
        int64_t       i = from, j = to - 1;

        while (i <= j) {
            while (is_before(c, at[i], by, k))
                i++;
            while (is_before(c, by, at[j], k))
                j--;
            if (i <= j)
                swap(&at[i++], &at[j--]);
        }
        if (middle <= j)
            to = j + 1;
        else if (middle >= i)
            from = i;
        else
            return;
    }
}

/* Splits the points at medians of the widest axis (a k-d tree) until each leaf has c->leaf points
 * or fewer; leaves are the clusters, from left to right. `end` is a stack of the ends of ranges to
 * do. Fills in border and box. Its top is the range at hand, from `from` on; a range that is
 * small enough becomes the next cluster, which begins where the last ended (border). Points
 * without coordinates (d = 0) are cut without sorting. */
static void find_clusters(cloud *c)
{
    int64_t end[MOST_DEPTH];
    int     deep = 1;

    c->clusters = 0;
    end[0]      = c->n;
    for (int64_t from = 0; deep > 0;) {
        double *const box    = c->box + c->clusters * 2 * c->d;
        const int64_t to     = end[deep - 1];
        const int64_t widest = find_box(c, from, to, box), middle = from + (to - from) / 2;

        if (to - from > c->leaf) {
            if (c->d)
                partition_at(c, from, to, middle, widest);
            end[deep++] = middle;
            continue;
        }
        c->border[++c->clusters] = from = to;
        deep--;
    }
}

/* True if all coordinates are finite; else records the error. */
static bool are_finite(const cloud *c, const char *what)
{
    const double *at = c->points.data;

    for (int64_t i = 0; i < c->n * c->d; i++)
        if (!isfinite(at[i])) {
            rd_fail(c->ctx, RD_ERR_ARGUMENT,
                    "%s: coordinate %" PRId64 " of point %" PRId64 " of %s is %g", call, i % c->d,
                    i / c->d, what, at[i]);
            return false;
        }
    return true;
}

/* Evaluates the points x as f64 and finds their clusters; false after a failure. A cluster has 256
 * points at most, or more if there would be more than 4096 clusters. `what`: "x" or "y", for
 * sentences. row is an array of n indices in memory `room`, which becomes the order of points. */
static bool find_cloud_clusters(cloud *c, rd_expr *x, const char *what)
{
    void         *room;
    rd_expr      *row;
    const int64_t n = x->extent[0], d = x->extent[1];
    const int64_t leaf = n / MOST_CLUSTERS >= LEAST / 2 ? 2 * (n / MOST_CLUSTERS) + 2 : LEAST;
    /* each leaf has more than half of the points it may have */
    const int64_t leaves = 2 * (n / leaf) + 2;

    *c = (cloud){ .ctx = x->ctx, .n = n, .d = d, .leaf = leaf };
    if (rd_eval_for(x->ctx, call, rd_cast_to(x, RD_F64), &c->points) != RD_OK ||
        !are_finite(c, what) || !(row = rd_index_row(x->ctx, n, /*narrow=*/false, &room, call)))
        return false;
    c->row    = row;
    c->order  = room;
    c->border = rd_alloc(x->ctx, (leaves + 1) * (int64_t)sizeof *c->border);
    c->box    = rd_alloc(x->ctx, leaves * 2 * (d + 1) * (int64_t)sizeof *c->box);
    if (!c->border || !c->box)
        return false;
    for (int64_t i = 0; i < n; i++)
        c->order[i] = i;
    find_clusters(c);
    return true;
}

/* Frees the memory of a set of points; the array of their order (row) stays. */
static void end(cloud *c)
{
    rd_array_free(&c->points);
    if (c->ctx) {
        rd_free(c->ctx, c->border);
        rd_free(c->ctx, c->box);
    }
}

/* ---- Pairs ----------------------------------------------------------------------------------- */
/* True if the bounding boxes of cluster a of x and cluster b of y are within the radius. The
 * factor 1e-6 allows for the rounding of distances in f32. p and q are the boxes: c->d least
 * coordinates, then as many greatest. `sum` is the squared distance of the boxes, `size` the
 * greatest coordinate. */
static bool are_near(const cloud *x, int64_t a, const cloud *y, int64_t b, double radius)
{
    const double *p = x->box + a * 2 * x->d, *q = y->box + b * 2 * y->d;
    double        sum = 0, size = 0;

    for (int64_t k = 0; k < x->d; k++) {
        const double below = q[k] - p[x->d + k], above = p[k] - q[x->d + k];
        /* between the boxes along axis k; negative: they overlap */
        const double gap = below > above ? below : above;

        sum += gap > 0 ? gap * gap : 0;
        size = fmax(size,
                    fmax(fmax(fabs(p[k]), fabs(p[x->d + k])), fmax(fabs(q[k]), fabs(q[x->d + k]))));
    }
    return sqrt(sum) <= radius + 1e-6 * (radius + size);
}

/* Makes the block mask of all pairs of clusters that are near; NULL on failure. x->border and
 * y->border are where clusters begin among the points. */
static rd_expr *blocks(rd_ctx *ctx, const cloud *x, const cloud *y, double radius)
{
    bool *const pair = rd_alloc_raw(ctx, x->clusters * y->clusters);

    if (!pair)
        return NULL;
    for (int64_t a = 0; a < x->clusters; a++)
        for (int64_t b = 0; b < y->clusters; b++)
            pair[a * y->clusters + b] = are_near(x, a, y, b, radius);
    rd_expr *const mask = rd_blocks(ctx, x->clusters, x->border, y->clusters, y->border, pair);

    rd_free(ctx, pair);
    return mask;
}

/* True if the arguments of rd_blocks_near() are valid; else records the error. Points are the
 * rows of x and y; `rows` and `columns` may not be NULL. */
static bool arguments_ok(rd_expr *x, rd_expr *y, double radius, rd_expr **rows, rd_expr **columns)
{
    rd_expr *const both[] = { x, y };
    char           text[2][RD_SHAPE_TEXT];

    if (!rd_operands(call, 2, both) || rd_error(x->ctx) != RD_OK ||
        rd_refuse_complex(call, 2, both))
        return false;
    if (!rows || !columns)
        rd_fail(x->ctx, RD_ERR_ARGUMENT, "%s: nowhere to put the order of %s", call,
                rows ? "columns" : "rows");
    else if (!(radius >= 0))
        rd_fail(x->ctx, RD_ERR_ARGUMENT, "%s: the radius is %g", call, radius);
    else if (x->rank != 2 || y->rank != 2 || x->extent[1] != y->extent[1])
        rd_fail(x->ctx, RD_ERR_SHAPE, "%s: points have shapes %s and %s, not (n, d) and (m, d)",
                call, rd_shape_text(x->rank, x->extent, text[0]),
                rd_shape_text(y->rank, y->extent, text[1]));
    else
        return true;
    return false;
}

/* The public call: clusters both sets of points, and returns the block mask of near clusters, with
 * the orders of points in *rows and *columns. NULL on failure. If x and y are one expression,
 * its clusters serve for both. end() frees what was allocated for a cloud. */
rd_expr *rd_blocks_near(rd_expr *x, rd_expr *y, double radius, rd_expr **rows, rd_expr **columns)
{
    cloud    of_x = { 0 }, of_y = { 0 };
    rd_expr *mask = NULL;

    if (rows)
        *rows = NULL;
    if (columns)
        *columns = NULL;
    if (!arguments_ok(x, y, radius, rows, columns))
        return NULL;
    if (find_cloud_clusters(&of_x, x, "x") && (x == y || find_cloud_clusters(&of_y, y, "y")))
        mask = blocks(x->ctx, &of_x, x == y ? &of_x : &of_y, radius);
    if (mask) {
        *rows    = of_x.row;
        *columns = x == y ? of_x.row : of_y.row;
    }
    end(&of_x);
    end(&of_y);
    return mask;
}
