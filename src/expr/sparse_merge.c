/* sparse_merge.c - brings operands with different patterns to one pattern: the union of their
 * places, or the intersection.
 *
 * Places ascend, so one pass over two patterns merges them.  A second pass finds which element
 * of an operand is at each merged place.  The operand's values are gathered by that, and its
 * fill taken where it has no element.
 *
 * a and b are the two patterns of a merge.  A *pair* is a place with two coordinates of i32, row
 * and column, which has faster loops.  A *span* is a part of a merge that one thread does. */
#include "expr/plain.h"
#include "expr/sparse.h"
#include "expr/sparse_places.h"
#include <string.h>

/* Coordinates in memory.  For comparison, the coordinates of a place are one number in C order
 * of their axes.  It fits in an int64_t for any shape. */
typedef struct places {
    int64_t     n;                   /* places */
    int         n_coord;             /* coordinates of a place */
    bool        pair;                /* two coordinates, both i32 */
    const void *row[RD_MAX_RANK];    /* by coordinate: its row of indices */
    bool        wide[RD_MAX_RANK];   /* i64, not i32 */
    int64_t     extent[RD_MAX_RANK]; /* by coordinate: of its axis */
    /* For a pair: where the places of each index of the first coordinate begin, and the end;
     * NULL: unknown. */
    const int32_t *begin;
} places;

/* The places of the result: those of ANY pattern, of BOTH, or of the FIRST. */
typedef enum counting { ANY, BOTH, FIRST } counting;

/* Output of a merge: the coordinates of its places, and for each place the number of that
 * element in either operand; -1: it has none.  An array that is NULL is not written. */
typedef struct made {
    places to;
    void  *room[RD_MAX_RANK], *number[2];
    bool   narrow; /* numbers are i32, not i64 */
} made;

/* Where the elements of an operand are at the merged places, and how many of them there are. */
typedef struct located {
    rd_expr *const *coord; /* the operand's coordinates; NULL: unknown */
    rd_expr        *index;
    int64_t         found; /* places of the merge that the operand has */
} located;

/* A merge of several patterns, one after the other. */
typedef struct merging {
    const char *call;
    counting    which;
    places      a, b; /* the two patterns that are merged now */
    int         n;    /* merges so far; only the first one knows where its operands' elements are */
    located     of[2]; /* where the first merge's operands have their elements */
} merging;

/* Describes the coordinates coord[], each a leaf of indices along an axis of x's pattern, for a
 * merge.  `begin` is set if the positions where each row begins lie in memory behind the first
 * coordinate.  Its `ascends`, the number of rows, says so. */
static places places_of(const rd_expr *x, rd_expr *const *coord)
{
    places p = { .n = coord[0]->extent[0], .n_coord = rd_coords_of(x) };

    for (int k = 0; k < p.n_coord; k++) {
        p.row[k]    = coord[k]->as.leaf->data;
        p.wide[k]   = coord[k]->type == RD_I64;
        p.extent[k] = x->extent[x->as.sparse->axis[k]];
    }
    p.pair = p.n_coord == 2 && !p.wide[0] && !p.wide[1];
    if (p.pair && coord[0]->ascends == p.extent[0])
        p.begin = (const int32_t *)p.row[0] + p.n;
    return p;
}

/* Coordinate k of a place: an entry of row k, which is i64 (wide) or i32. */
static int64_t coord_at(const places *p, int k, int64_t place)
{
    return p->wide[k] ? ((const int64_t *)p->row[k])[place] : ((const int32_t *)p->row[k])[place];
}

/* The coordinates of stored position i as one number, row-major: for (2, 5) with 10 columns 25.
 * Positions compare as these numbers do.  `pair`: p->pair (two coordinates of i32), passed as a
 * constant so that loops specialise. */
static inline int64_t number_at(const places *p, bool pair, int64_t i)
{
    int64_t number = 0;

    if (pair)
        return ((const int32_t *)p->row[0])[i] * p->extent[1] + ((const int32_t *)p->row[1])[i];
    for (int k = 0; k < p->n_coord; k++)
        number = number * p->extent[k] + coord_at(p, k, i);
    return number;
}

/* Copies the coordinates of stored position i of `from` to entry n of the output rows room[], one
 * for each coordinate.  `pair`: all have two coordinates of i32. */
static inline void put_place(const places *from, bool pair, int64_t i, const places *to,
                             void *const *room, int64_t n)
{
    for (int k = 0; k < to->n_coord && !pair; k++)
        if (to->wide[k])
            ((int64_t *)room[k])[n] = coord_at(from, k, i);
        else
            ((int32_t *)room[k])[n] = (int32_t)coord_at(from, k, i);
    for (int k = 0; k < 2 && pair; k++)
        ((int32_t *)room[k])[n] = ((const int32_t *)from->row[k])[i];
}

/* ---- Two patterns as one --------------------------------------------------------------------- */
/* A part of a merge for one thread: ranges of elements of both patterns; full rows if these are
 * known. */
typedef struct span {
    int64_t a, a_end, b, b_end, n; /* n: merged places before it */
    int64_t row, row_end;          /* rows of the span, if known */
} span;

/* True if both patterns have two i32 coordinates and know where each row begins. */
static bool knows_rows(const merging *m)
{
    return m->a.begin && m->b.begin; /* set for pairs of i32 only */
}

/* Writes entry n of a row of element numbers, i32 (narrow) or i64; -1 stands for no element. */
static inline void put_number(void *row, bool narrow, int64_t n, int64_t number)
{
    if (narrow)
        ((int32_t *)row)[n] = (int32_t)number;
    else
        ((int64_t *)row)[n] = number;
}

/* Merges two sorted lists of positions, a and b, within span s, and returns how many that makes:
 * those of ANY list, those of BOTH, or (FIRST) the positions of a that b has, too.  `to` (NULL:
 * only count) gets the coordinates of each and its element's number in a and in b, -1 without one.
 * With FIRST, output keeps a's numbering.  `pair`: two i32 coordinates, and i32 numbers. */
static inline int64_t merge_as(const merging *m, counting which, bool pair, span s, const made *to)
{
    const places a = m->a, b = m->b;
    int64_t      n = s.n;

    while (which == BOTH    ? s.a < s.a_end && s.b < s.b_end
           : which == FIRST ? s.a < s.a_end
                            : s.a < s.a_end || s.b < s.b_end) {
        /* next position of a */
        const int64_t x    = s.a < s.a_end ? number_at(&a, pair, s.a) : INT64_MAX;
        const int64_t y    = s.b < s.b_end ? number_at(&b, pair, s.b) : INT64_MAX; /* next of b */
        const bool    take = which == BOTH ? x == y : which == FIRST ? x <= y : true;
        const int64_t at   = which == FIRST ? s.a : n; /* where to write */

        if (to && take && to->room[0])
            put_place(x <= y ? &a : &b, pair, x <= y ? s.a : s.b, &to->to, to->room, at);
        if (to && take && to->number[0])
            put_number(to->number[0], pair || to->narrow, at, x <= y ? s.a : -1);
        if (to && take && to->number[1])
            put_number(to->number[1], pair || to->narrow, at, y <= x ? s.b : -1);
        n += which == ANY || x == y;
        s.a += x <= y;
        s.b += y <= x;
    }
    return n - s.n;
}

/* Writes output entry n: a position in row i and column j, and the numbers a and b of its elements
 * in the two operands (-1: none).  An output array that is NULL is not wanted. */
static inline void put_pair(const made *to, int64_t n, int64_t i, int32_t j, int64_t a, int64_t b)
{
    if (to->room[0]) {
        ((int32_t *)to->room[0])[n] = (int32_t)i;
        ((int32_t *)to->room[1])[n] = j;
    }
    if (to->number[0])
        ((int32_t *)to->number[0])[n] = (int32_t)a;
    if (to->number[1])
        ((int32_t *)to->number[1])[n] = (int32_t)b;
}

/* Merges a span (a range of rows) as merge_as() does, for positions with two i32 coordinates whose
 * row begins are known.  Within a row only columns are compared.  Where one list's row ends, the
 * rest of the other's is copied.  `to` NULL: only count. */
static inline int64_t merge_rows_as(const merging *m, counting which, span s, const made *to)
{
    const int32_t *const x = m->a.row[1], *const y = m->b.row[1]; /* columns */
    int64_t n = s.n;

    for (int64_t i = s.row; i < s.row_end; i++) {
        int64_t       a = m->a.begin[i], b = m->b.begin[i];
        const int64_t a_end = m->a.begin[i + 1], b_end = m->b.begin[i + 1];

        while (a < a_end && b < b_end) {
            const int32_t j = x[a], k = y[b];

            if (to && (which == BOTH ? j == k : which == FIRST ? j <= k : true))
                put_pair(to, which == FIRST ? a : n, i, j < k ? j : k, j <= k ? a : -1,
                         k <= j ? b : -1);
            n += which == ANY || j == k;
            a += j <= k;
            b += k <= j;
        }
        if (!to) {
            n += which == ANY ? a_end - a + b_end - b : 0;
            continue;
        }
        for (; which != BOTH && a < a_end; a++) {
            put_pair(to, which == FIRST ? a : n, i, x[a], a, -1);
            n += which == ANY;
        }
        for (; which == ANY && b < b_end; b++)
            put_pair(to, n++, i, y[b], -1, b);
    }
    return n - s.n;
}

/* Merges a span, a range of rows for one thread, row by row.  It calls merge_rows_as() with
 * constants, so that the compiler makes a loop for each case.  FIRST never only counts: `to` is
 * set. */
static int64_t merge_rows(const merging *m, const span *s, const made *to)
{
    switch (m->which) {
    case BOTH: return to ? merge_rows_as(m, BOTH, *s, to) : merge_rows_as(m, BOTH, *s, NULL);
    case FIRST: return merge_rows_as(m, FIRST, *s, to);
    default: return to ? merge_rows_as(m, ANY, *s, to) : merge_rows_as(m, ANY, *s, NULL);
    }
}

/* Merges one span, the part of a merge for one thread, by the loop for its kind of positions and
 * output; returns its number of merged positions.  Arguments are constants, so that the loops
 * specialise.  `to` NULL: only count. */
static int64_t merge_span(const merging *m, const span *s, const made *to)
{
    /* two i32 coordinates in both lists, and i32 in all wanted output */
    const bool pair =
        m->a.pair && m->b.pair && (!to || (to->narrow && (!to->room[0] || to->to.pair)));

    if (!pair)
        return merge_as(m, m->which, /*pair=*/false, *s, to);
    if (knows_rows(m))
        return merge_rows(m, s, to);
    if (m->which == BOTH)
        return to ? merge_as(m, BOTH, /*pair=*/true, *s, to)
                  : merge_as(m, BOTH, /*pair=*/true, *s, NULL);
    if (m->which == FIRST)
        return merge_as(m, FIRST, /*pair=*/true, *s, to);
    return to ? merge_as(m, ANY, /*pair=*/true, *s, to) : merge_as(m, ANY, /*pair=*/true, *s, NULL);
}

/* Finds by bisection the first position in p whose row-major number is at least `number`. */
static int64_t first_from(const places *p, int64_t number)
{
    int64_t from = 0, to = p->n;

    while (from < to) {
        const int64_t middle = from + (to - from) / 2;

        if (number_at(p, /*pair=*/false, middle) < number)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

enum { MOST_SPANS = 64 }; /* spans of a merge: room of lists on the stack */

/* Splits the merge of lists a and b into spans (parts for threads) of about the same length.  It
 * cuts a evenly, moves each cut to the begin of a row if begins are known, and cuts b at the same
 * position, else by bisection.  Returns the number of spans. */
static int cut_spans(const merging *m, const rd_ctx *ctx, span *s)
{
    const int team = rd_places_threads(ctx, m->a.n + m->b.n);
    /* four for each thread, so that uneven ones balance */
    const int n = team == 1 ? 1 : 4 * team < MOST_SPANS ? 4 * team : MOST_SPANS;

    for (int k = 0; k < n; k++) {
        const int64_t from = m->a.n * k / n;

        s[k] = (span){ .a = from };
        if (knows_rows(m)) {
            s[k].row = k > 0 ? coord_at(&m->a, 0, from) : 0;
            s[k].a   = m->a.begin[s[k].row];
            s[k].b   = m->b.begin[s[k].row];
        } else if (k > 0)
            s[k].b = first_from(&m->b, number_at(&m->a, /*pair=*/false, from));
    }
    for (int k = 0; k < n; k++) {
        s[k].a_end   = k + 1 < n ? s[k + 1].a : m->a.n;
        s[k].b_end   = k + 1 < n ? s[k + 1].b : m->b.n;
        s[k].row_end = k + 1 < n ? s[k + 1].row : m->a.extent[0];
    }
    return n;
}

/* Merges all spans, shared among threads, and returns the number of merged positions.  In the first
 * pass (`to` NULL: counting) s->n of each span becomes the number of positions before it.  The
 * second pass writes from there on. */
static int64_t merge_spans(const merging *m, const rd_ctx *ctx, int n_span, span *s, const made *to)
{
    const int team = rd_places_threads(ctx, m->a.n + m->b.n);
    int64_t   n    = 0, here[MOST_SPANS];

    (void)team; /* for a build without OpenMP */
#pragma omp parallel for num_threads(team) if (team > 1) schedule(dynamic, 1)
    for (int k = 0; k < n_span; k++)
        here[k] = merge_span(m, &s[k], to);
    for (int k = 0; k < n_span; k++) {
        s[k].n = n;
        n += here[k];
    }
    return n;
}

/* Allocates rows for n_coord coordinates of n positions, along the axes of x's pattern; room[] gets
 * their memory.  The first has room for row begins behind it.  False: no memory. */
static bool make_rows(const merging *m, const rd_expr *x, int n_coord, int64_t n, rd_expr **coord,
                      void **room)
{
    for (int k = 0; k < n_coord; k++) {
        const int64_t extent = x->extent[x->as.sparse->axis[k]];

        coord[k] = k == 0 ? rd_first_row(x->ctx, n, extent, &room[k], m->call)
                          : rd_index_row(x->ctx, n, extent <= INT32_MAX, &room[k], m->call);
        if (!coord[k])
            return false;
    }
    return true;
}

/* Allocates a row that holds, for each of n merged positions, the number of one operand's element
 * there.  False: no memory. */
static bool make_numbers(located *at, const rd_expr *x, int64_t n, bool narrow, void **room,
                         const char *call)
{
    return (at->index = rd_index_row(x->ctx, n, narrow, room, call)) != NULL;
}

/* True if both lists have the same n coordinate nodes.  Equal nodes are one node (hash-consing), so
 * pointers are compared. */
static bool have_same_rows(int n, rd_expr *const *x, rd_expr *const *y)
{
    return memcmp(x, y, (size_t)n * sizeof *x) == 0;
}

/* Replaces the coordinates coord[] by those of their merge with x's: union or intersection.  No
 * rows are made if one of the two lists is the result.  The first merge also notes in m->of where
 * both operands have their elements.  False: no memory. */
static bool merge_with(merging *m, const rd_expr *x, rd_expr **coord)
{
    const int             n_coord           = rd_coords_of(x);
    rd_expr *const *const own               = x->in + 2;
    rd_expr              *rows[RD_MAX_RANK] = { x->in[2] }; /* at least one */
    span                  spans[MOST_SPANS];
    made                  to = { .narrow = true };

    if (have_same_rows(n_coord, coord, own))
        return true;
    m->a = places_of(x, coord);
    m->b = places_of(x, own);
    /* element numbers fit in i32 */
    to.narrow            = m->a.n <= INT32_MAX && m->b.n <= INT32_MAX;
    const int     n_span = cut_spans(m, x->ctx, spans);
    const int64_t n      = merge_spans(m, x->ctx, n_span, spans, NULL);
    if (n == m->a.n) /* the old places have all of x, or are all that remain: no rows are made */
        return true;
    /* x's places serve, and what an earlier merge found is stale */
    if (n == m->b.n) {
        memcpy(coord, own, (size_t)n_coord * sizeof *coord);
        m->of[0].coord = own;
        /* After a merge, n becomes 2, as its notes are stale; before any, x is now the first. */
        m->n += m->n > 0;
        return true;
    }
    if (!make_rows(m, x, n_coord, n, rows, to.room))
        return false;
    for (int k = 0; k < 2 && m->n == 0; k++) {
        m->of[k].found = m->which == BOTH ? n : k == 0 ? m->a.n : m->b.n;
        if (!make_numbers(&m->of[k], x, n, to.narrow, &to.number[k], m->call))
            return false;
    }
    m->of[1].coord = m->n++ == 0 ? own : NULL;
    to.to          = places_of(x, rows);
    to.to.n_coord  = n_coord;
    merge_spans(m, x->ctx, n_span, spans, &to);
    memcpy(coord, rows, (size_t)n_coord * sizeof *coord);
    return rd_row_ascends(rows[0], x->extent[x->as.sparse->axis[0]], m->call);
}

/* ---- One operand at the places of all -------------------------------------------------------- */
/* Finds the element of x at each position of `pattern`: at->index gets its number or -1, at->found
 * how many there are.  If a single merge made the pattern (m->n == 1), it has noted this for both
 * operands (m->of), and x is one of them if its coordinates are the same.  Otherwise x is merged
 * with the pattern.  False: no memory. */
static bool locate(merging *m, const rd_expr *pattern, const rd_expr *x, located *at)
{
    merging own = { .call  = m->call,
                    .which = FIRST, /* each position of the pattern, whether x has it or not */
                    .a     = places_of(pattern, pattern->in + 2),
                    .b     = places_of(x, x->in + 2) };
    made    to  = { .narrow = own.b.n <= INT32_MAX };
    span    spans[MOST_SPANS];

    for (int k = 0; k < 2 && m->n == 1; k++)
        if (m->of[k].coord && have_same_rows(rd_coords_of(x), m->of[k].coord, x->in + 2)) {
            *at = m->of[k];
            return true;
        }
    if (!make_numbers(at, x, own.a.n, to.narrow, &to.number[1], m->call))
        return false;
    at->found = merge_spans(&own, x->ctx, cut_spans(&own, x->ctx, spans), spans, &to);
    return true;
}

/* True if there is a fill (the value where nothing is stored), it has elements, and all are the
 * same. */
static bool is_uniform(const rd_expr *fill)
{
    /* no axis along which it differs */
    return fill && rd_varies(fill) == 0 && rd_points(fill->rank, fill->extent) > 0;
}

/* The fill of x (its value where nothing is stored), read at each position of `pattern`; a single
 * number if it is the same everywhere. */
static rd_expr *fill_at(const rd_expr *pattern, const rd_expr *x, const char *call)
{
    rd_expr *fill = rd_fill_of(x);

    if (!is_uniform(fill))
        return rd_at_stored(pattern, fill, call);
    while (fill && fill->rank > 0)
        fill = rd_plain_select(fill, 0, 0);
    return fill;
}

/* Makes x with the stored positions of `pattern`, a sparse node of its shape.  The values are
 * gathered by element number.  Where x has no element (number -1), its fill is taken; the gather
 * then reads element 0 instead. */
static rd_expr *at_places(merging *m, const rd_expr *pattern, rd_expr *x)
{
    rd_expr *const old = rd_values_of(x);
    const int64_t  n   = rd_values_of(pattern)->extent[0];
    located        at;
    int64_t        extent[RD_MAX_RANK];
    rd_expr       *values = NULL, *fill;

    if (rd_same_pattern(pattern, x))
        return x;
    if (!locate(m, pattern, x, &at))
        return NULL;
    if (old->extent[0] > 0)
        values = rd_plain_take(
            old, 0,
            at.found < n ? plain_2(RD_OP_maximum, m->call, at.index, rd_int(x->ctx, 0)) : at.index);
    if (at.found < n) {
        if (!(fill = fill_at(pattern, x, m->call)))
            return NULL;
        rd_expr *const has =
            plain_2(RD_OP_ge, m->call, rd_column(at.index, old->rank), rd_int(x->ctx, 0));
        values = old->extent[0] > 0 ? plain_where(m->call, has, values, fill) : fill;
    }
    memcpy(extent, old->extent, (size_t)old->rank * sizeof *extent);
    extent[0] = n;
    values = values ? rd_plain_broadcast(rd_plain_cast(values, x->type), old->rank, extent, m->call)
                    : old;
    return rd_sparse_with(pattern, values, rd_fill_of(x));
}

/* ---- All operands ---------------------------------------------------------------------------- */
/* True if y is sparse, has x's shape, and has coordinates along the same axes, in any order. */
static bool has_same_axes(const rd_expr *x, const rd_expr *y)
{
    bool same = rd_has_pattern(y) && rd_coords_of(x) == rd_coords_of(y) && x->rank == y->rank &&
                memcmp(x->extent, y->extent, (size_t)x->rank * sizeof *x->extent) == 0;

    for (int k = 0; same && k < rd_coords_of(x); k++)
        same = rd_coord_of_axis(y, (int)x->as.sparse->axis[k]) >= 0;
    return same;
}

/* True if y's coordinates are along the same axes as x's, in the same order. */
static bool has_same_order(const rd_expr *x, const rd_expr *y)
{
    return memcmp(x->as.sparse, y->as.sparse, sizeof *x->as.sparse) == 0;
}

/* Makes a node of x's shape that is `true` at the positions coord[] and has no fill: only its
 * pattern is of interest. */
static rd_expr *pattern_node(const rd_expr *x, rd_expr *const *coord)
{
    const rd_expr *const old = rd_values_of(x);
    int64_t              extent[RD_MAX_RANK];
    rd_expr             *values = rd_number(x->ctx, RD_BOOL, (rd_word){ .u64 = 1 });

    memcpy(extent, old->extent, (size_t)old->rank * sizeof *extent);
    extent[0] = coord[0]->extent[0];
    values    = values ? rd_plain_broadcast(values, old->rank, extent, "rd_sparse") : NULL;
    return rd_sparse_node(values, /*fill=*/NULL, x->rank, x->extent, rd_coords_of(x), coord,
                          x->as.sparse->axis);
}

/* Gives one pattern (list of stored positions) to all operands that have coordinates along the same
 * axes as `lead`, one of them.  All are put in lead's order of axes and merged one after the other;
 * then each is read at the result.  The union is taken, or the intersection if `annihilates` or
 * lead has no fill; then only operands without a fill count.  False after a failure. */
bool rd_merge_patterns(const char *call, const rd_expr *lead, bool annihilates, int n, rd_expr **x)
{
    const bool stored             = !rd_fill_of(lead); /* lead has no fill */
    merging    m                  = { .call  = call,
                                      .which = stored || annihilates ? BOTH : ANY,
                                      .of[0] = { .coord = lead->in + 2 } };
    rd_expr   *coord[RD_MAX_RANK] = { lead->in[2] }, *pattern; /* at least one */
    bool       differ             = false;

    for (int k = 0; k < n; k++) {
        if (has_same_axes(lead, x[k]) && !has_same_order(lead, x[k]) &&
            !(x[k] = rd_sparse_ordered(lead, x[k], call)))
            return false;
        differ |= has_same_axes(lead, x[k]) && !rd_same_pattern(lead, x[k]);
    }
    if (!differ)
        return true;
    memcpy(coord, lead->in + 2, (size_t)rd_coords_of(lead) * sizeof *coord);
    for (int k = 0; k < n; k++)
        if (has_same_axes(lead, x[k]) && (!stored || !rd_fill_of(x[k])) &&
            !merge_with(&m, x[k], coord))
            return false;
    if (!(pattern = pattern_node(lead, coord)))
        return false;
    for (int k = 0; k < n; k++)
        if (has_same_axes(pattern, x[k]) && !(x[k] = at_places(&m, pattern, x[k])))
            return false;
    return true;
}
