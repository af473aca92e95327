/* sparse_pieces.c - cuts long rows of a pattern into pieces, so that threads can share them.
 *
 * A fold by rows takes the places of a row in turn, so one thread takes all of a row.  If a row
 * has a great share of all places, rows are cut.  One fold reduces each piece, a second one the
 * pieces of each row; both by ascending rows.  Which rows are cut, and where, follows from the
 * pattern alone, so bits do not depend on threads. */
#include "core/combine_tree.h"
#include "expr/sparse.h"
#include "expr/sparse_places.h"

/* The places of a piece; a row with one place in so many (SHARES) has a great share. */
enum { PIECE = RD_ROW_PIECE, SHARES = 64 };

/* Reads element k of a row of i32 or i64. */
static inline int64_t index_at(const rd_expr *row, int64_t k)
{
    const void *const data = row->as.leaf->data;

    return row->type == RD_I64 ? ((const int64_t *)data)[k] : ((const int32_t *)data)[k];
}

/* Writes element k of a row of i32 or i64.  The row lies in the context's arena, so casting const
 * away is safe. */
static inline void put_index(const rd_expr *row, int64_t k, int64_t index)
{
    void *const data = (void *)(uintptr_t)row->as.leaf->data; /* of our arena */

    if (row->type == RD_I64)
        ((int64_t *)data)[k] = index;
    else
        ((int32_t *)data)[k] = (int32_t)index;
}

/* The first stored position (nonzero) of matrix row i.  These begins, as in CSR, lie in memory
 * behind the n row indices of `row`. */
static inline int64_t begin_of(const rd_expr *row, int64_t i)
{
    return index_at(row, row->extent[0] + i);
}

/* The number of pieces of at most PIECE nonzeros into which a matrix row of so many is cut. */
static inline int64_t pieces_of(int64_t places)
{
    return (places + PIECE - 1) / PIECE;
}

/* True if the longest matrix row is too long for one thread: it has 1/64 or more of all nonzeros,
 * or there are so few rows that threads lack work. row->ascends is the number of matrix rows. */
static bool is_worth_pieces(const rd_expr *row, int64_t longest)
{
    const int64_t n = row->extent[0];

    return longest > PIECE && (longest >= n / SHARES || row->ascends < n / PIECE);
}

/* The number of pieces into which all matrix rows are cut; 0: no row is long enough to cut.  `row`
 * holds the row index of each nonzero, ascending, with the begins of rows behind it. */
static int64_t count_pieces(const rd_expr *row)
{
    const int64_t n       = row->extent[0];
    int64_t       longest = 0, pieces = 0, before = begin_of(row, 0);

    if (n <= PIECE || n > INT32_MAX) /* begins have the labels' type, i32 */
        return 0;
    for (int64_t i = 1; i <= row->ascends; i++) {
        const int64_t end = begin_of(row, i), places = end - before;

        longest = places > longest ? places : longest;
        pieces += pieces_of(places);
        before = end;
    }
    return is_worth_pieces(row, longest) ? pieces : 0;
}

/* Writes for each piece its matrix row (p->row), and behind the labels at which nonzero it begins,
 * with the end last. */
static void put_pieces(const rd_expr *row, rd_row_pieces *p)
{
    const int64_t n = row->extent[0];
    int64_t       k = 0; /* pieces so far */

    for (int64_t i = 0; i < row->ascends; i++)
        for (int64_t from = begin_of(row, i); from < begin_of(row, i + 1); from += PIECE) {
            put_index(p->row, k, i);
            put_index(p->label, n + k++, from);
        }
    put_index(p->label, n + k, n);
}

/* Writes for each nonzero the number of its piece, the label by which pieces are reduced.  Labels
 * are i32, as there are no more pieces than nonzeros.  Begins of pieces lie behind the n labels. */
static void put_labels(const rd_row_pieces *p)
{
    int32_t *const label = (int32_t *)(uintptr_t)p->label->as.leaf->data; /* of our arena */
    const int64_t  n = p->label->extent[0], pieces = p->row->extent[0];
    const int      team = rd_places_threads(p->label->ctx, n);

    (void)team; /* for a build without OpenMP */
#pragma omp parallel for num_threads(team) if (team > 1)
    for (int64_t k = 0; k < pieces; k++)
        for (int64_t place = label[n + k]; place < label[n + k + 1]; place++)
            label[place] = (int32_t)k;
}

/* Cuts long matrix rows into pieces, so that threads share them, and sets row->pieces.  `row` holds
 * the row index of each nonzero, ascending.  It does nothing if no row is long.  False: no
 * memory. */
bool rd_cut_long_rows(rd_expr *row, const char *call)
{
    const int64_t  n = row->extent[0], pieces = count_pieces(row);
    rd_row_pieces *p;
    void          *room;

    if (!pieces) /* not worth it */
        return true;
    p = rd_arena_room(row->ctx, sizeof *p);
    if (!p || !(p->label = rd_first_row(row->ctx, n, pieces, &room, call)) ||
        !(p->row = rd_first_row(row->ctx, pieces, row->ascends, &room, call)))
        return false;
    put_pieces(row, p);
    put_labels(p);
    p->label->ascends = pieces;
    row->pieces       = p;
    return rd_row_ascends(p->row, row->ascends, call);
}
