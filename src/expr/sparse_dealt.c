/* sparse_dealt.c - partitions the places of a masked product C = A B between rows and columns.
 * At each place, the kernel goes through the shorter of a row of A and a column of B.  The longer
 * one has been marked once for all of its places.  If all matrices are symmetric, two *mirrored*
 * places (i, j) and (j, i) have one value. */
#include "expr/row_places.h"
#include <string.h>

/* One side's places while they are partitioned. */
typedef struct partition {
    const rd_row_product *p;    /* the product C = A B */
    const rd_row_places  *of;   /* all places: by rows of C or by columns of C */
    bool                  rows; /* true: by rows */
    /* by place: number of the mirrored place, which has the same value; NULL: not symmetric */
    const void *mirror;
    void       *begin, *column, *from, *same; /* arrays that are filled in */
} partition;

/* For C = A B at wanted positions: appends those of row `at` of C (rows; else of column `at`) that
 * traverse the other, shorter side.  A position (i, j) traverses column j of B if that is shorter
 * than row i of A, or as long and j <= i.  So of two mirrored positions (i, j), (j, i) of a
 * symmetric product just one is listed. n: entries so far; returns the new number. */
static inline int64_t partition_row(const partition *d, bool wide, int64_t at, int64_t n)
{
    const rd_row_places *const own    = d->rows ? &d->p->a : &d->p->b_columns;
    const rd_row_places *const others = d->rows ? &d->p->b_columns : &d->p->a;
    const void *const column = d->of->column, *const from = d->of->from, *const mirror = d->mirror;
    void *const to_column = d->column, *const to_from = d->from, *const same = d->same;
    const bool rows = d->rows;
    /* nonzeros of row `at` of A, or of column `at` of B */
    const int64_t length = rd_row_length(wide, own, at),
                  end    = rd_index_at(wide, d->of->begin, at + 1);

    for (int64_t q = rd_index_at(wide, d->of->begin, at); q < end; q++) {
        /* less: 1 if equal lengths count as shorter */
        const int64_t other = rd_index_at(wide, column, q), less = rows ? other <= at : other < at;

        rd_put_index(wide, to_column, n, other);
        rd_put_index(wide, to_from, n, from ? rd_index_at(wide, from, q) : q);
        if (same)
            rd_put_index(wide, same, n, rd_index_at(wide, mirror, q));
        /* The entry is written in any case, and kept if the other side is shorter: no branch. */
        n += rd_row_length(wide, others, other) < length + less;
    }
    return n;
}

/* Allocates the list of wanted positions that traverse one side (columns of B, or rows of A), and
 * fills it in, row by row or column by column.  False: no memory. */
static bool partition_side(partition *d, rd_ctx *ctx, rd_row_places *to)
{
    const bool wide = d->p->wide;
    int64_t    n    = 0;

    d->begin  = rd_index_room(ctx, d->of->rows, wide);
    d->column = rd_index_room(ctx, d->of->n, wide);
    d->from   = rd_index_room(ctx, d->of->n, wide);
    d->same   = d->mirror ? rd_index_room(ctx, d->of->n, wide) : NULL;
    if (!d->begin || !d->column || !d->from || (d->mirror && !d->same))
        return false;
    for (int64_t at = 0; at < d->of->rows; at++) {
        rd_put_index(wide, d->begin, at, n);
        n = wide ? partition_row(d, /*wide=*/true, at, n) : partition_row(d, /*wide=*/false, at, n);
    }
    rd_put_index(wide, d->begin, d->of->rows, n);
    *to = (rd_row_places){ .begin   = d->begin,
                           .column  = d->column,
                           .from    = d->from,
                           .rows    = d->of->rows,
                           .columns = d->of->columns,
                           .n       = n };
    return true;
}

/* True if two matrices have nonzeros at the same positions: equal CSR arrays. */
static bool same_places(bool wide, const rd_row_places *x, const rd_row_places *y)
{
    const size_t bytes = wide ? sizeof(int64_t) : sizeof(int32_t);

    return x->n == y->n && x->rows == y->rows && x->columns == y->columns &&
           memcmp(x->begin, y->begin, (size_t)(x->rows + 1) * bytes) == 0 &&
           memcmp(x->column, y->column, (size_t)x->n * bytes) == 0;
}

/* Partitions the wanted positions of C = A B: by_row gets those that traverse a column of B,
 * by_column those that traverse a row of A.  `mirrors`: A is symmetric in its positions with B's
 * columns, and C with its transpose.  Then (i, j) and (j, i) share one value: columns.from is the
 * mirror's number, and p->mirror gets those of by_row.  False: no memory. */
bool rd_deal_places(rd_row_product *p, rd_ctx *ctx)
{
    const bool    wide    = p->wide;
    rd_row_places columns = { 0 };

    /* C has B's positions (the same array): their columns are known. */
    if (p->c.column == p->b.column)
        columns = p->b_columns;
    else if (!rd_turn_places(ctx, &p->c, &columns, wide))
        return false;
    const bool mirrors =
        same_places(wide, &p->a, &p->b_columns) && same_places(wide, &p->c, &columns);
    partition rows   = { .p = p, .of = &p->c, .rows = true };
    partition others = { .p = p, .of = &columns };

    rows.mirror = mirrors ? columns.from : NULL;
    if (!partition_side(&rows, ctx, &p->by_row) || !partition_side(&others, ctx, &p->by_column))
        return false;
    p->mirror = rows.same;
    return true;
}
