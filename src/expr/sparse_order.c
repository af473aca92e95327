/* sparse_order.c - sorts the places of a pattern for another order of its axes, as from columns
 * to rows.  So a matrix and its transpose can be merged. */
#include "expr/plain.h"
#include "expr/sparse.h"

enum { DIGIT = 11, DIGITS = 1 << DIGIT }; /* bits of a digit of the radix sort, and its values */

/* A place as one number in C order of the new axes, and its old number. */
typedef struct placed {
    int64_t number, place;
} placed;

/* Does one pass of a radix sort (counting sort): sorts n entries stably by the 11 bits of `number`
 * from bit `shift` on. */
static void sort_by_digit(int64_t n, const placed *from, placed *to, int shift)
{
    /* counts, then the output index of each digit's first entry */
    int64_t start[DIGITS + 1] = { 0 };

    for (int64_t i = 0; i < n; i++)
        start[(from[i].number >> shift & (DIGITS - 1)) + 1]++;
    for (int k = 0; k < DIGITS; k++)
        start[k + 1] += start[k];
    for (int64_t i = 0; i < n; i++)
        to[start[from[i].number >> shift & (DIGITS - 1)]++] = from[i];
}

/* Sorts n entries by their numbers, by radix sort between two buffers.  Returns the one that has
 * them in order.  Passes end at the highest bit that any number has. */
static const placed *sorted(int64_t n, placed *list, placed *other)
{
    int64_t most = 0;

    for (int64_t i = 0; i < n; i++)
        most = list[i].number > most ? list[i].number : most;
    for (int shift = 0; shift < 63 && most >> shift > 0; shift += DIGIT) {
        placed *const last = list;

        sort_by_digit(n, list, other, shift);
        list  = other;
        other = last;
    }
    return list;
}

/* Reads entry i of a row of i32 or i64. */
static int64_t coord_at(const rd_expr *row, int64_t i)
{
    return row->type == RD_I64 ? ((const int64_t *)row->as.leaf->data)[i]
                               : ((const int32_t *)row->as.leaf->data)[i];
}

/* Writes entry i of a row of i32 or i64. */
static void put_coord(const rd_expr *row, void *room, int64_t i, int64_t x)
{
    if (row->type == RD_I64)
        ((int64_t *)room)[i] = x;
    else
        ((int32_t *)room)[i] = (int32_t)x;
}

/* Gives each of n stored positions its row-major number in the axis order of `as`; coord[] are x's
 * coordinates in that order. list[i].place is the old number i. */
static void number_places(const rd_expr *as, rd_expr *const *coord, int64_t n, placed *list)
{
    for (int64_t i = 0; i < n; i++)
        list[i] = (placed){ 0, i };
    for (int k = 0; k < rd_coords_of(as); k++) {
        const int64_t extent = as->extent[as->as.sparse->axis[k]];

        for (int64_t i = 0; i < n; i++)
            list[i].number = list[i].number * extent + coord_at(coord[k], i);
    }
}

/* Makes the coordinates made[] in the sorted order of `list`.  Returns a row of the old number of
 * each position, by which values are gathered; NULL: no memory. */
static rd_expr *put_rows(rd_expr *const *coord, int n_coord, int64_t n, const placed *list,
                         rd_expr **made, const char *call)
{
    rd_ctx *const ctx = coord[0]->ctx;
    void         *room;

    for (int k = 0; k < n_coord; k++) {
        if (!(made[k] = rd_index_row(ctx, n, coord[k]->type == RD_I32, &room, call)))
            return NULL;
        for (int64_t i = 0; i < n; i++)
            put_coord(made[k], room, i, coord_at(coord[k], list[i].place));
    }
    rd_expr *const index = rd_index_row(ctx, n, n <= INT32_MAX, &room, call);
    for (int64_t i = 0; index && i < n; i++)
        put_coord(index, room, i, list[i].place);
    return index;
}

/* Makes x with its stored positions sorted in the axis order of `as`, which has coordinates along
 * the same axes; for example columns first becomes rows first.  It sorts coordinates, then gathers
 * the values by their old numbers. */
rd_expr *rd_sparse_ordered(const rd_expr *as, rd_expr *x, const char *call)
{
    const int     n_coord            = rd_coords_of(as);
    const int64_t n                  = x->in[2]->extent[0];
    rd_expr      *coord[RD_MAX_RANK] = { x->in[2] }, *made[RD_MAX_RANK] = { NULL }, *index;
    placed *const list = rd_alloc_raw(x->ctx, 2 * n * (int64_t)sizeof *list);

    if (!list)
        return NULL;
    for (int k = 0; k < n_coord; k++)
        coord[k] = x->in[2 + rd_coord_of_axis(x, (int)as->as.sparse->axis[k])];
    number_places(as, coord, n, list);
    index = put_rows(coord, n_coord, n, sorted(n, list, list + n), made, call);
    rd_free(x->ctx, list);
    rd_expr *const values =
        index && n > 0 ? rd_plain_take(rd_values_of(x), 0, index) : rd_values_of(x);
    return index ? rd_sparse_node(values, rd_fill_of(x), x->rank, x->extent, n_coord, made,
                                  as->as.sparse->axis)
                 : NULL;
}
