/* row_places.c - the stored places of sparse matrices as compressed rows (CSR).  Index arrays in
 * memory are borrowed where they have that form, and transposed to columns (CSC) on request.
 *
 * A sparse matrix x has its values in in[0], the row of each place in in[2], and the column in
 * in[3].  *Wide* indices are i64, others i32. */
#include "expr/row_places.h"
#include "expr/sparse.h"

/* Returns the sparse matrix with its nonzeros in row order.  It is x itself if its first coordinate
 * is along axis 0.  Otherwise (as CSC) the coordinates are exchanged, and the nonzeros sorted. */
rd_expr *rd_by_rows(rd_expr *x, const char *call)
{
    static const int64_t axis[] = { 0, 1 };

    if (x->as.sparse->axis[0] == 0)
        return x;
    rd_expr *const coord[] = { x->in[3], x->in[2] };
    const rd_expr *as =
        rd_sparse_node(rd_values_of(x), /*fill=*/NULL, 2, x->extent, 2, coord, axis);
    return as ? rd_sparse_ordered(as, x, call) : NULL;
}

/* Memory of the context's arena for n + 1 indices (i64 if `wide`, else i32), not zeroed. */
void *rd_index_room(rd_ctx *ctx, int64_t n, bool wide)
{
    return rd_arena_room(ctx, (size_t)(n + 1) * (wide ? sizeof(int64_t) : sizeof(int32_t)));
}

/* The column of each nonzero of x, i64 if `wide`, else i32: the leaf of indices in memory if it has
 * that type, else a converted copy.  NULL: no memory. */
static const void *columns_of(const rd_expr *x, bool wide)
{
    const rd_expr *row = x->in[3];
    void          *made;

    if ((row->type == RD_I64) == wide)
        return row->as.leaf->data;
    made = rd_index_room(x->ctx, row->extent[0], wide);
    for (int64_t p = 0; made && p < row->extent[0]; p++)
        rd_put_index(wide, made, p, rd_index_at(row->type == RD_I64, row->as.leaf->data, p));
    return made;
}

/* At which nonzero each row of x begins, then the end, as CSR has them.  They are borrowed if they
 * lie in memory behind the leaf of row indices (row->ascends), else found by a pass.  NULL: no
 * memory. */
static const void *begins_of(const rd_expr *x, bool wide)
{
    const rd_expr *row = x->in[2];
    const int64_t  n   = row->extent[0];
    int64_t        i   = 0;
    void          *made;

    if (n > 0 && row->ascends == x->extent[0] && (row->type == RD_I64) == wide)
        return (const char *)row->as.leaf->data + n * rd_dtype_size(row->type);
    made = rd_index_room(x->ctx, x->extent[0], wide);
    for (int64_t p = 0; made && p < n; p++)
        for (; i <= rd_index_at(row->type == RD_I64, row->as.leaf->data, p); i++)
            rd_put_index(wide, made, i, p);
    for (; made && i <= x->extent[0]; i++)
        rd_put_index(wide, made, i, n);
    return made;
}

/* True if indices or nonzeros of this matrix need i64: a coordinate is i64, or there are more than
 * 2^31 - 1 nonzeros, rows or columns. */
bool rd_is_wide_pattern(const rd_expr *x)
{
    return x->in[2]->type == RD_I64 || x->in[3]->type == RD_I64 ||
           x->in[2]->extent[0] > INT32_MAX || x->extent[0] > INT32_MAX || x->extent[1] > INT32_MAX;
}

/* Fills in the CSR arrays of x: row begins and columns, i64 if `wide`, else i32.  False: no
 * memory. */
bool rd_fill_row_places(rd_row_places *to, const rd_expr *x, bool wide)
{
    *to = (rd_row_places){ .begin   = begins_of(x, wide),
                           .column  = columns_of(x, wide),
                           .rows    = x->extent[0],
                           .columns = x->extent[1],
                           .n       = x->in[2]->extent[0] };
    return to->begin && to->column;
}

/* Counts the nonzeros of each column in begin[j + 2], and forms prefix sums.  Then begin[j + 1] is
 * where column j begins; transpose() advances it to where column j + 1 begins, so that in the end
 * begin[j] is right. */
static inline void count_columns(const rd_row_places *of, void *begin, bool wide)
{
    for (int64_t j = 0; j <= of->columns + 1; j++)
        rd_put_index(wide, begin, j, 0);
    for (int64_t q = 0; q < of->n; q++) {
        const int64_t j = rd_index_at(wide, of->column, q) + 2;

        rd_put_index(wide, begin, j, rd_index_at(wide, begin, j) + 1);
    }
    for (int64_t j = 1; j <= of->columns + 1; j++)
        rd_put_index(wide, begin, j, rd_index_at(wide, begin, j) + rd_index_at(wide, begin, j - 1));
}

/* Transposes CSR to CSC by a counting sort: `row` gets the row of each nonzero in column order,
 * `from` its number in row order.  It is inlined twice, for i32 and i64. */
static inline void transpose(const rd_row_places *of, void *begin, void *row, void *from, bool wide)
{
    const void *const column = of->column;
    int64_t           q      = 0;

    count_columns(of, begin, wide);
    for (int64_t i = 0; i < of->rows; i++)
        for (const int64_t end = rd_index_at(wide, of->begin, i + 1); q < end; q++) {
            const int64_t j  = rd_index_at(wide, column, q) + 1;
            const int64_t at = rd_index_at(wide, begin, j);

            rd_put_index(wide, row, at, i);
            rd_put_index(wide, from, at, q);
            rd_put_index(wide, begin, j, at + 1);
        }
}

/* Makes the same nonzeros in column order (CSC), each with its number in row order (`from`).
 * False: no memory. */
bool rd_turn_places(rd_ctx *ctx, const rd_row_places *of, rd_row_places *to, bool wide)
{
    void *const begin = rd_index_room(ctx, of->columns + 1, wide);
    void *const row   = rd_index_room(ctx, of->n, wide), *const from =
                                                           rd_index_room(ctx, of->n, wide);

    if (!begin || !row || !from)
        return false;
    if (wide)
        transpose(of, begin, row, from, /*wide=*/true);
    else
        transpose(of, begin, row, from, /*wide=*/false);
    *to = (rd_row_places){ .begin   = begin,
                           .column  = row,
                           .from    = from,
                           .rows    = of->columns,
                           .columns = of->rows,
                           .n       = of->n };
    return true;
}
