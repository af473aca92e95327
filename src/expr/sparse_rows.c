/* sparse_rows.c - rows of indices in the arena.  An ascending row has behind it in memory where
 * the places of each index begin, as CSR has:
 *
 *     row 0 0 2 2 2    begins 0 2 2 5    (extent 3)
 *
 * Such a row has the fact `ascends`, the extent of its axis. */
#include "expr/plain.h"
#include "expr/sparse.h"
#include "expr/sparse_places.h"
#include <string.h>

/* Makes a leaf of n indices in the context's arena, i32 if `narrow`, else i64, with room for `more`
 * numbers behind them.  *room is its memory, which the caller fills in. */
static rd_expr *index_row(rd_ctx *ctx, int64_t n, int64_t more, bool narrow, void **room,
                          const char *call)
{
    *room = rd_arena_room(ctx, (size_t)(n + more) * (narrow ? sizeof(int32_t) : sizeof(int64_t)));
    if (!*room)
        return NULL;
    return rd_plain_leaf(ctx,
                         &(rd_array){ .in    = *room,
                                      .type  = narrow ? RD_I32 : RD_I64,
                                      .shape = { .n = 1, .at = { n } } },
                         call);
}

/* Makes a leaf of n indices, i32 if `narrow`, else i64; *room is its memory, which the caller fills
 * in. */
rd_expr *rd_index_row(rd_ctx *ctx, int64_t n, bool narrow, void **room, const char *call)
{
    return index_row(ctx, n, /*more=*/0, narrow, room, call);
}

/* ---- Where each index begins ----------------------------------------------------------------- */
/* The number of begins (as in CSR: at which entry each index begins, then the end) behind n
 * ascending indices below `extent`: extent + 1. 0: not worth it, as most indices would have no
 * entry, or the leaf's type cannot count to n. */
static int64_t begins_of(int64_t n, int64_t extent)
{
    enum { SPARE = 8, FEW = 4096 };
    const bool fits = extent > INT32_MAX || n <= INT32_MAX; /* in the row's type */

    return n > 0 && fits && extent / SPARE <= n + FEW ? extent + 1 : 0;
}

/* Makes a leaf for n ascending indices below `extent`, with room for begins behind them
 * (rd_row_ascends()).  *room is its memory, which the caller fills in. */
rd_expr *rd_first_row(rd_ctx *ctx, int64_t n, int64_t extent, void **room, const char *call)
{
    return index_row(ctx, n, begins_of(n, extent), extent <= INT32_MAX, room, call);
}

enum { CHUNK = 1 << 15 }; /* places that a thread takes at once */

/* Writes the begins of the indices that first occur at places `from` to `to` - 1, and at the end
 * those of all further indices. */
#define FIND_BEGINS(T)                                                                             \
    static void find_begins_##T(const T *row, int64_t from, int64_t to, int64_t n, int64_t extent, \
                                T *begin)                                                          \
    {                                                                                              \
        int64_t upto = from > 0 ? row[from - 1] + (int64_t)1 : 0;                                  \
                                                                                                   \
        for (int64_t p = from; p < to; p++)                                                        \
            while (upto <= row[p])                                                                 \
                begin[upto++] = (T)p;                                                              \
        while (to == n && upto <= extent)                                                          \
            begin[upto++] = (T)n;                                                                  \
    }
FIND_BEGINS(int32_t)
FIND_BEGINS(int64_t)

/* Writes behind n ascending indices at which entry each index begins, and the end, as CSR has: 0 0
 * 2 2 2 with extent 3 gets 0 2 2 5.  Folds by this index can then run as loops over rows.  Long
 * rows are cut into pieces for threads.  False: no memory. */
bool rd_row_ascends(rd_expr *row, int64_t extent, const char *call)
{
    const int64_t n    = row->extent[0];
    const int     team = rd_places_threads(row->ctx, n);
    void *const   data = (void *)(uintptr_t)row->as.leaf->data; /* of our arena */

    if (!begins_of(n, extent))
        return true; /* no room was left for begins */
    (void)team;      /* for a build without OpenMP */
#pragma omp parallel for num_threads(team) if (team > 1)
    for (int64_t from = 0; from < n; from += CHUNK) {
        const int64_t to = from + CHUNK < n ? from + CHUNK : n;

        if (row->type == RD_I32)
            find_begins_int32_t(data, from, to, n, extent, (int32_t *)data + n);
        else
            find_begins_int64_t(data, from, to, n, extent, (int64_t *)data + n);
    }
    row->ascends = extent;
    return rd_cut_long_rows(row, call);
}

/* Copies known begins (at which entry each index begins, then the end) behind a row of ascending
 * indices, in its type; `wide`: they are i64, else i32.  False: no memory to cut long rows into
 * pieces. */
bool rd_row_begins(rd_expr *row, int64_t extent, const void *begin, bool wide, const char *call)
{
    const int64_t n = row->extent[0];
    char *const   to =
        (char *)(uintptr_t)row->as.leaf->data + n * rd_dtype_size(row->type); /* of our arena */

    if (!begins_of(n, extent))
        return true;
    if (wide == (row->type == RD_I64))
        memcpy(to, begin, (size_t)(extent + 1) * (size_t)rd_dtype_size(row->type));
    for (int64_t i = 0; i <= extent && wide != (row->type == RD_I64); i++) {
        if (wide)
            ((int32_t *)(void *)to)[i] = (int32_t)((const int64_t *)begin)[i];
        else
            ((int64_t *)(void *)to)[i] = ((const int32_t *)begin)[i];
    }
    row->ascends = extent;
    return rd_cut_long_rows(row, call);
}

/* ---- Leading coordinates as one row ---------------------------------------------------------- */
/* The first n coordinates of a pattern. */
typedef struct leading {
    int            n;
    const rd_expr *coord[RD_MAX_RANK];
    int64_t        extent[RD_MAX_RANK], places;
} leading;

/* The first n coordinates of stored position p as one row-major number. */
static inline int64_t number_at(const leading *l, int64_t p)
{
    int64_t number = 0;

    for (int k = 0; k < l->n; k++) {
        const void *const row = l->coord[k]->as.leaf->data;

        number = number * l->extent[k] + (l->coord[k]->type == RD_I64 ? ((const int64_t *)row)[p]
                                                                      : ((const int32_t *)row)[p]);
    }
    return number;
}

/* Writes the row-major numbers of positions `from` to `to` - 1, i32 if `narrow`.  False: one is
 * less than the one before it, so they are not sorted. */
static bool put_numbers(const leading *l, int64_t from, int64_t to, void *room, bool narrow)
{
    int64_t before = from > 0 ? number_at(l, from - 1) : 0;
    bool    falls  = false;

    for (int64_t p = from; p < to; p++) {
        const int64_t number = number_at(l, p);

        falls |= number < before;
        before = number;
        if (narrow)
            ((int32_t *)room)[p] = (int32_t)number;
        else
            ((int64_t *)room)[p] = number;
    }
    return !falls;
}

/* Makes one leaf of the first n coordinates of x: a row-major number for each stored position, in
 * chunks that threads share.  *row is NULL if most numbers would have no position, or if they do
 * not ascend (x was trusted, not checked).  False after a failure. */
bool rd_leading_row(const rd_expr *x, int n, const char *call, rd_expr **row)
{
    leading l     = { .n = n, .places = rd_values_of(x)->extent[0] };
    int64_t falls = 0, extent;
    void   *room;

    *row = NULL;
    for (int k = 0; k < n; k++) {
        l.coord[k]  = x->in[2 + k];
        l.extent[k] = x->extent[x->as.sparse->axis[k]];
    }
    extent = rd_points(n, l.extent);
    if (extent < 0 || !begins_of(l.places, extent))
        return true;
    if (!(*row = rd_first_row(x->ctx, l.places, extent, &room, call)))
        return false;
    const int team = rd_places_threads(x->ctx, l.places);
    (void)team; /* for a build without OpenMP */
#pragma omp parallel for num_threads(team) if (team > 1) reduction(+ : falls)
    for (int64_t from = 0; from < l.places; from += CHUNK)
        falls += !put_numbers(&l, from, from + CHUNK < l.places ? from + CHUNK : l.places, room,
                              (*row)->type == RD_I32);
    if (falls > 0)
        *row = NULL;
    return falls > 0 || rd_row_ascends(*row, extent, call);
}
