/* blocks.c - block masks of pairs: which clusters of rows are combined with which clusters of
 * columns.
 *
 * A mask is a table of blocks that is gathered by the cluster of each row and of each column, so
 * every execution path can run it.  Lists of ranges follow the table in memory, aligned to 8
 * bytes.  For each row cluster, and for each two adjacent ones, they hold the columns that
 * count; likewise for columns the rows.  Compiled loops over pairs visit only these ranges
 * (eval/lower/bounds.c).  The idea is KeOps' (Charlier, Feydy, Glaunes, Collin and Durif, 2021,
 * "Kernel Operations on the GPU, with Autodiff, without Memory Overflows", JMLR 22(74)).
 *
 *     rows 0-2, 3-5; columns 0-1, 2-3; pairs (0,0), (1,0), (1,1)
 *       ->  list of row cluster 0: [0, 2), of clusters 0 and 1: [0, 4), of cluster 1: [0, 4) */
#include "expr/blocks.h"
#include "expr/origin.h"
#include "expr/sparse.h"
#include <inttypes.h>
#include <string.h>

static const char call[] = "rd_blocks";

/* True if there is at least one cluster, and the borders (first index of each cluster, then the
 * end) begin with 0 and do not fall.  False after recording it, with `what` for rows or columns. */
static bool borders_ok(rd_ctx *ctx, const char *what, int64_t n, const int64_t *border)
{
    if (n < 1 || n > INT32_MAX || !border) {
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: %" PRId64 " clusters of %s%s", call, n, what,
                border ? "" : ", and no borders");
        return false;
    }
    for (int64_t k = 0; k <= n; k++)
        if (k == 0 ? border[0] != 0 : border[k] < border[k - 1]) {
            rd_fail(ctx, RD_ERR_ARGUMENT,
                    "%s: border %" PRId64 " of %s is %" PRId64
                    ", borders begin with 0 and do not fall",
                    call, k, what, border[k]);
            return false;
        }
    return true;
}

/* Makes the leaf that holds the cluster of each index, i32: cluster k has the indices border[k] to
 * border[k + 1] - 1. */
static rd_expr *make_cluster_row(rd_ctx *ctx, int64_t n, const int64_t *border)
{
    void          *room;
    rd_expr *const row = rd_index_row(ctx, border[n], /*narrow=*/true, &room, call);

    for (int64_t k = 0; row && k < n; k++)
        for (int64_t i = border[k]; i < border[k + 1]; i++)
            ((int32_t *)room)[i] = (int32_t)k;
    return row;
}

/* The table of blocks, read by rows or by columns: a list for each cluster of one side. */
typedef struct pairs {
    const bool *is; /* the table */
    /* distances in the table: from list to list, and from cluster to cluster of a list */
    int64_t        stride, step;
    int64_t        n;      /* clusters in a list */
    const int64_t *border; /* first index of each of them, then the end */
} pairs;

/* Writes the ranges of indices that the table combines with cluster k or l of the other side, as
 * (begin, end) pairs with adjacent ones merged, and returns their number.  If there are none it
 * writes one empty range.  `to` NULL: only counts. */
static int64_t write_ranges(const pairs *p, int64_t k, int64_t l, int64_t *to)
{
    int64_t n = 0, end = -1;

    for (int64_t c = 0; c < p->n; c++) {
        if ((!p->is[k * p->stride + c * p->step] && !p->is[l * p->stride + c * p->step]) ||
            p->border[c] == p->border[c + 1])
            continue;
        if (p->border[c] != end) {
            if (to)
                to[2 * n] = p->border[c];
            n++;
        }
        end = p->border[c + 1];
        if (to)
            to[2 * n - 1] = end;
    }
    if (n == 0 && to)
        to[0] = to[1] = 0;
    return n ? n : 1;
}

/* Writes where each list of ranges begins, then all ranges, and returns how many numbers that
 * takes.  `to` NULL: only counts.  There are 2 lists for each cluster: list k has the ranges of
 * clusters k / 2 and (k + 1) / 2, which are equal or adjacent. */
static int64_t write_lists(const pairs *p, int64_t clusters, int64_t *to)
{
    const int64_t lists = 2 * clusters;
    int64_t       n     = 0;

    for (int64_t k = 0; k < lists; k++) {
        if (to)
            to[k] = n;
        n += write_ranges(p, k / 2, k + 1 < lists ? (k + 1) / 2 : k / 2,
                          to ? to + lists + 1 + 2 * n : NULL);
    }
    if (to)
        to[lists] = n;
    return lists + 1 + 2 * n;
}

/* Returns how many bytes behind the table's first element its lists of ranges begin: those of row
 * clusters, or of column clusters.  The table is padded to 8 bytes, then come the lists of rows,
 * then those of columns.  Entry list[lists] is the number of ranges in all lists of rows. */
int64_t rd_blocks_lists(const rd_expr *table, bool columns)
{
    const int64_t  lists = 2 * table->extent[0], n = table->extent[0] * table->extent[1];
    const int64_t  first = (n + 7) / 8 * 8;
    const int64_t *list =
        (const int64_t *)(const void *)((const char *)table->as.leaf->data + first);

    return columns ? first + (lists + 1 + 2 * list[lists]) * 8 : first;
}

/* Makes a mask of rows x columns from clusters: pair[] says which clusters of rows and columns are
 * combined.  It builds that table, with lists of ranges behind it for loops that skip blocks, and
 * gathers it by the cluster of each row and of each column. */
rd_expr *rd_blocks(rd_ctx *ctx, int64_t n_rows, const int64_t *rows, int64_t n_columns,
                   const int64_t *columns, const bool *pair)
{
    if (!ctx || rd_error(ctx) != RD_OK || !borders_ok(ctx, "rows", n_rows, rows) ||
        !borders_ok(ctx, "columns", n_columns, columns))
        return NULL;
    if (!pair)
        return rd_fail(ctx, RD_ERR_ARGUMENT, "%s: which pairs of clusters count is NULL", call);
    const int64_t n = rd_points(2, (const int64_t[]){ n_rows, n_columns });

    if (n < 0)
        return rd_fail(ctx, RD_ERR_SHAPE, "%s: %" PRId64 " times %" PRId64 " clusters are too many",
                       call, n_rows, n_columns);
    /* table, distance from list to list, and within a list, clusters in a list, their borders */
    const pairs   by_row    = { pair, n_columns, 1, n_columns, columns };
    const pairs   by_column = { pair, 1, n_columns, n_rows, rows };
    const int64_t first = (n + 7) / 8 * 8, of_rows = write_lists(&by_row, n_rows, NULL),
                  of_columns = write_lists(&by_column, n_columns, NULL);
    int64_t *const room      = rd_arena_room(ctx, (size_t)(first + (of_rows + of_columns) * 8));

    if (!room)
        return NULL;
    memcpy(room, pair, (size_t)n);
    write_lists(&by_row, n_rows, room + first / 8);
    write_lists(&by_column, n_columns, room + first / 8 + of_rows);
    rd_expr *const table = rd_leaf_of(
        ctx, &(rd_array){ .in = room, .type = RD_BOOL, .shape = RD_SHAPE(n_rows, n_columns) },
        call);
    rd_expr *const row    = make_cluster_row(ctx, n_rows, rows);
    rd_expr *const column = make_cluster_row(ctx, n_columns, columns);

    if (!table || !row || !column)
        return NULL;
    table->blocks = true;
    return rd_take_places(rd_take_places(table, 0, row), 1, column);
}
