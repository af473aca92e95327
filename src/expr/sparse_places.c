/* sparse_places.c - checks and expands the index arrays of levels at the speed of memory.
 *
 * A traversal from place to place, with all levels at hand, took 25 times as long as reading the
 * arrays.  Here each array has a pass of its own, with vectors and threads.  That takes 5 times
 * as long as reading, mostly for writing the coordinates.
 *
 * An index that does not exceed the one before it is a *fall*.  At the beginning of a row a fall
 * is allowed.  So the array is in order if its falls are as many as those at beginnings of rows.
 *
 * A *level* says how one axis is stored: pos[p] to pos[p + 1] - 1 are the elements of crd that
 * belong to place p of the level before.  A *group* is a compressed level with the levels of
 * coordinates behind it, which have one index for each of its places. */
#include "core/threads.h"
#include "expr/sparse_places.h"
#ifdef _OPENMP
#include <omp.h>
#endif

enum { PIECE = 1 << 15 }; /* elements, so that the next pass finds a piece of i64 in the L2 cache */

/* The number of threads for a pass over n stored positions: one inside a parallel region or for
 * few, else as many as context and machine allow. */
int rd_places_threads(const rd_ctx *ctx, int64_t n)
{
#ifdef _OPENMP
    const int most = rd_ctx_threads(ctx) ? rd_ctx_threads(ctx) : omp_get_max_threads();

    if (omp_in_parallel() || n < 2 * PIECE)
        return 1;
    return rd_threads_startable(most < rd_threads_allowed() ? most : rd_threads_allowed());
#else
    (void)ctx;
    (void)n;
    return 1;
#endif
}

/* Reads index i of a row of 64 (wide) or 32 bits. */
static inline int64_t index_at(const void *row, bool wide, int64_t i)
{
    return wide ? ((const int64_t *)row)[i] : ((const int32_t *)row)[i];
}

/* ---- One array ------------------------------------------------------------------------------- */
/* Two counts over elements `from` to `to` - 1.  count_outside() counts those not in [0, extent);
 * negative ones are large unsigned numbers.  count_falls() counts those with a next element, before
 * `end`, that does not exceed them. */
#define DEFINE_COUNTS(NAME, INT, UINT)                                                 \
    static int64_t outside_##NAME(const INT *x, int64_t from, int64_t to, UINT extent) \
    {                                                                                  \
        UINT bad = 0;                                                                  \
                                                                                       \
        for (int64_t i = from; i < to; i++)                                            \
            bad += (UINT)x[i] >= extent;                                               \
        return (int64_t)bad;                                                           \
    }                                                                                  \
                                                                                       \
    static int64_t falls_##NAME(const INT *x, int64_t from, int64_t to, int64_t end)   \
    {                                                                                  \
        UINT bad = 0;                                                                  \
                                                                                       \
        to = to < end - 1 ? to : end - 1;                                              \
        for (int64_t i = from; i < to; i++)                                            \
            bad += x[i] >= x[i + 1];                                                   \
        return (int64_t)bad;                                                           \
    }

DEFINE_COUNTS(i32, int32_t, uint32_t)
DEFINE_COUNTS(i64, int64_t, uint64_t)

/* Counts the indices `from` to `to` - 1 of a level that lie outside its axis.  Negative ones count,
 * as they are compared as unsigned.  For an i32 array the bound is at most 2^31, so that it fits in
 * 32 bits. */
static int64_t count_outside(const rd_index_level *level, int64_t from, int64_t to)
{
    const int64_t most = (int64_t)INT32_MAX + 1;

    if (level->wide_crd)
        return outside_i64(level->crd, from, to, (uint64_t)level->extent);
    return outside_i32(level->crd, from, to,
                       (uint32_t)(level->extent < most ? level->extent : most));
}

/* True if stored position p does not come before position p + 1 (a fall), by the n coordinate
 * arrays of a group: the first that differs decides, and equal positions fall. */
static bool is_fall_at(int n, const rd_index_level *level, int64_t p)
{
    for (int k = 0; k < n; k++) {
        const int64_t x = index_at(level[k].crd, level[k].wide_crd, p);
        const int64_t y = index_at(level[k].crd, level[k].wide_crd, p + 1);

        if (x != y)
            return x > y;
    }
    return true;
}

/* Counts the falls among positions `from` to `to` - 1 of a group of n levels (coordinate arrays):
 * the positions that do not come before the next one. */
static int64_t count_falls(int n, const rd_index_level *level, int64_t from, int64_t to)
{
    int64_t bad = 0;

    if (n == 1)
        return level->wide_crd ? falls_i64(level->crd, from, to, level->places)
                               : falls_i32(level->crd, from, to, level->places);
    for (int64_t p = from; p < to && p + 1 < level->places; p++)
        bad += is_fall_at(n, level, p);
    return bad;
}

/* ---- A group: a compressed level, and coordinates behind it; or coordinates alone ------------ */
/* Counts the falls (positions that do not come before the next one) at the begins of rows `from` to
 * `to` - 1 of a compressed level: there columns start anew, so a fall is allowed.  Empty rows share
 * a begin, which counts once. */
static int64_t falls_between(int n, const rd_index_level *level, int64_t from, int64_t to)
{
    int64_t falls = 0;

    for (int64_t i = from > 1 ? from : 1; i < to; i++) {
        const int64_t p = index_at(level->pos, level->wide_pos, i); /* begin of row i */

        if (p > 0 && p < level->places && p != index_at(level->pos, level->wide_pos, i - 1))
            falls += is_fall_at(n, level, p - 1);
    }
    return falls;
}

/* Counts the allowed falls, as falls_between() does, for one level with i32 arrays: of the rows
 * that begin at positions `from` to `to` - 1, while these are in cache.  The loop has no branches,
 * as row begins are unpredictable. */
static int64_t narrow_falls(const rd_index_level *level, int64_t from, int64_t to)
{
    const int32_t *const pos = level->pos, *const crd = level->crd;
    int64_t falls = 0, i = 1, behind = level->before;

    while (i < behind) { /* bisection: the first row that begins at or after `from` */
        const int64_t middle = i + (behind - i) / 2;

        if (pos[middle] < from)
            i = middle + 1;
        else
            behind = middle;
    }
    for (; i < level->before && pos[i] < to; i++) {
        const bool begins = (pos[i] > 0) & (pos[i] != pos[i - 1]);
        /* Without a begin, crd[p] is compared with itself and masked; so nothing is read before
         * the array. */
        const int64_t p = pos[i] > 0 ? pos[i] : 0;

        falls += begins & (crd[p - begins] >= crd[p]);
    }
    return falls;
}

/* True if all indices of a group (n coordinate arrays) are in range and its positions ascend.  They
 * may fall only at begins of rows, so all falls are counted, and the allowed ones, and compared.
 * `trusted`: only the range is checked. */
static bool group_in_order(const rd_ctx *ctx, int n, const rd_index_level *level, bool trusted)
{
    const int64_t pieces = (level->places + PIECE - 1) / PIECE; /* chunks that fit the cache */
    const int64_t rows   = level->kind == RD_LEVEL_COMPRESSED ? level->before : 0;
    /* both arrays are i32: the fast loop */
    const bool narrow = rows > 0 && n == 1 && !level->wide_pos && !level->wide_crd;
    const int  team   = rd_places_threads(ctx, level->places);
    int64_t    out = 0, fallen = 0, allowed = 0;

    (void)team; /* for a build without OpenMP */
#pragma omp parallel for num_threads(team) if (team > 1) reduction(+ : out, fallen, allowed)
    for (int64_t k = 0; k < pieces; k++) {
        const int64_t from = k * PIECE,
                      end  = from + PIECE < level->places ? from + PIECE : level->places;

        for (int g = 0; g < n; g++)
            out += count_outside(&level[g], from, end);
        if (!trusted)
            fallen += count_falls(n, level, from, end);
        if (!trusted && narrow)
            allowed += narrow_falls(level, from, end);
    }
    if (out || trusted || !fallen)
        return !out;
#pragma omp parallel for num_threads(team) if (team > 1) reduction(+ : allowed)
    for (int64_t k = 0; k < (narrow ? 0 : rows); k += PIECE)
        allowed += falls_between(n, level, k, k + PIECE < rows ? k + PIECE : rows);
    return fallen == allowed;
}

/* True if all indices are in range and all stored positions ascend.  A group is a level with index
 * arrays and the levels of coordinates behind it.  False may also mean that these fast passes
 * cannot tell, as for coordinates below a dense level. */
bool rd_levels_in_order(const rd_ctx *ctx, int n, const rd_index_level *level, bool trusted)
{
    for (int k = 0; k < n; k++) {
        int more = 1; /* levels of the group */

        while (k + more < n && level[k + more].kind == RD_LEVEL_COORDINATES)
            more++;
        if (level[k].kind != RD_LEVEL_DENSE && !group_in_order(ctx, more, &level[k], trusted))
            return false;
        if (level[k].kind == RD_LEVEL_DENSE && more > 1)
            return false;
        k += more - 1;
    }
    return true;
}

/* ---- Coordinates ----------------------------------------------------------------------------- */
/* The first stored position, in the last of n levels, that lies below position p of the level
 * before them.  A dense level multiplies positions by its extent, a compressed one looks them up in
 * pos[], and one of coordinates keeps their number. */
static int64_t first_below(int n, const rd_index_level *level, int64_t p)
{
    for (int k = 0; k < n; k++)
        if (level[k].kind == RD_LEVEL_DENSE)
            p *= level[k].extent;
        else if (level[k].kind == RD_LEVEL_COMPRESSED)
            p = index_at(level[k].pos, level[k].wide_pos, p);
    return p;
}

/* Sets to[place] up to to[end - 1] to the index of a matrix row.  Rows are short, so eight entries
 * are written at once; the next row overwrites the excess.  Nothing is written from `limit` on. */
static inline void fill_row(int32_t *to, int64_t place, int64_t end, int64_t limit, int32_t index)
{
    enum { EIGHT = 8 };

    for (; place < end && place + EIGHT <= limit; place += EIGHT)
        for (int k = 0; k < EIGHT; k++)
            to[place + k] = index;
    for (; place < end; place++)
        to[place] = index;
}

/* Writes the coordinate of one level at all stored positions below its positions `from` to `to` -
 * 1: a dense level counts its index, others read it from crd[].  `below` is the number of levels
 * behind this one. */
static void fill_places(int below, const rd_index_level *level, int64_t from, int64_t to)
{
    const bool dense = level->kind == RD_LEVEL_DENSE;
    /* The next level is the last and has i32 begins, which are read directly. */
    const bool narrow = below == 1 && level[1].kind == RD_LEVEL_COMPRESSED && !level[1].wide_pos;
    const int32_t *const pos   = narrow ? level[1].pos : NULL;
    const int64_t        limit = first_below(below, level + 1, to);
    int64_t              place = first_below(below, level + 1, from);
    int64_t              index = dense ? from % level->extent - 1 : 0; /* before the first */

    for (int64_t p = from; p < to; p++) {
        const int64_t end = pos ? pos[p + 1] : first_below(below, level + 1, p + 1);

        if (!dense)
            index = index_at(level->crd, level->wide_crd, p);
        else if (++index == level->extent)
            index = 0;
        if (level->narrow)
            fill_row(level->narrow, place, end, limit, (int32_t)index);
        for (; level->wide && place < end; place++)
            level->wide[place] = index;
        place = end;
    }
}

/* Writes the coordinates of all stored positions for each level that has room for them (`narrow`
 * i32 or `wide` i64), one level after the other.  Threads share chunks of 1024 positions. */
void rd_levels_fill(const rd_ctx *ctx, int n, const rd_index_level *level)
{
    enum { ROWS = 1024 };

    for (int k = 0; k < n; k++) {
        const int64_t places = level[k].places;
        const int     team   = rd_places_threads(ctx, level[n - 1].places);

        if (!level[k].narrow && !level[k].wide)
            continue;
        (void)team; /* for a build without OpenMP */
#pragma omp parallel for num_threads(team) if (team > 1) schedule(dynamic, 1)
        for (int64_t p = 0; p < places; p += ROWS)
            fill_places(n - 1 - k, &level[k], p, p + ROWS < places ? p + ROWS : places);
    }
}
