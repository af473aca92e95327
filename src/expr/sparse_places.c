/* sparse_places.c - index arrays at the speed of memory.
 *
 * Going from place to place, with all levels in hand, took 25 times as long as reading them; here
 * each array is gone through alone, by vectors and threads: 5 times, most of which is writing the
 * coordinates.  An index that is no more than the one before it is a fall: those at the beginning
 * of a row are none, so as many as there are of these there may be in all. */
#include "expr/sparse_places.h"
#ifdef _OPENMP
#include <omp.h>
#endif

enum { PIECE = 1 << 15 }; /* elements, so that a piece of i64 and the next pass find it in L2 */

int rd_places_threads(const rd_ctx *ctx, int64_t n)
{
#ifdef _OPENMP
    const int most = rd_ctx_threads(ctx) ? rd_ctx_threads(ctx) : omp_get_max_threads();

    return omp_in_parallel() || n < 2 * PIECE ? 1 : most;
#else
    (void)ctx;
    (void)n;
    return 1;
#endif
}

static inline int64_t at(const void *row, bool wide, int64_t i)
{
    return wide ? ((const int64_t *)row)[i] : ((const int32_t *)row)[i];
}

/* ---- One array ------------------------------------------------------------------------------- */
/* Of elements from to to - 1: how many are not in [0, extent); and how many that have one behind
 * them, before `end`, are no less than it.  Negative ones are large without a sign. */
#define LOOK(NAME, INT, UINT)                                                          \
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

LOOK(i32, int32_t, uint32_t)
LOOK(i64, int64_t, uint64_t)

static int64_t outside(const rd_index_level *level, int64_t from, int64_t to)
{
    const int64_t most = (int64_t)INT32_MAX + 1;

    if (level->wide_crd)
        return outside_i64(level->crd, from, to, (uint64_t)level->extent);
    return outside_i32(level->crd, from, to,
                       (uint32_t)(level->extent < most ? level->extent : most));
}

/* Does place p of a group of n levels, told apart by all of them, come behind the next one, or is
 * it the same? */
static bool falls_at(int n, const rd_index_level *level, int64_t p)
{
    for (int k = 0; k < n; k++) {
        const int64_t x = at(level[k].crd, level[k].wide_crd, p);
        const int64_t y = at(level[k].crd, level[k].wide_crd, p + 1);

        if (x != y)
            return x > y;
    }
    return true;
}

static int64_t falls(int n, const rd_index_level *level, int64_t from, int64_t to)
{
    int64_t bad = 0;

    if (n == 1)
        return level->wide_crd ? falls_i64(level->crd, from, to, level->places)
                               : falls_i32(level->crd, from, to, level->places);
    for (int64_t p = from; p < to && p + 1 < level->places; p++)
        bad += falls_at(n, level, p);
    return bad;
}

/* ---- A group: a compressed level, and coordinates behind it; or coordinates alone ------------- */
/* Between the rows before place `to` of the level before and those from `from` on. */
static int64_t falls_between(int n, const rd_index_level *level, int64_t from, int64_t to)
{
    int64_t falls = 0;

    for (int64_t i = from > 1 ? from : 1; i < to; i++) {
        const int64_t p = at(level->pos, level->wide_pos, i);

        if (p > 0 && p < level->places && p != at(level->pos, level->wide_pos, i - 1))
            falls += falls_at(n, level, p - 1);
    }
    return falls;
}

static bool group_in_order(const rd_ctx *ctx, int n, const rd_index_level *level, bool trusted)
{
    const int64_t pieces = (level->places + PIECE - 1) / PIECE;
    const int64_t rows   = level->kind == RD_LEVEL_COMPRESSED ? level->before : 0;
    const int     team   = rd_places_threads(ctx, level->places);
    int64_t       out = 0, fallen = 0, allowed = 0;

    (void)team; /* for a build without OpenMP */
#pragma omp parallel for num_threads(team) if (team > 1) reduction(+ : out, fallen)
    for (int64_t k = 0; k < pieces; k++) {
        const int64_t end = (k + 1) * PIECE;

        for (int g = 0; g < n; g++)
            out += outside(&level[g], k * PIECE, end < level->places ? end : level->places);
        if (!trusted)
            fallen += falls(n, level, k * PIECE, end < level->places ? end : level->places);
    }
    if (out || trusted || !fallen)
        return !out;
#pragma omp parallel for num_threads(team) if (team > 1) reduction(+ : allowed)
    for (int64_t k = 0; k < rows; k += PIECE)
        allowed += falls_between(n, level, k, k + PIECE < rows ? k + PIECE : rows);
    return fallen == allowed;
}

bool rd_levels_in_order(const rd_ctx *ctx, int n, const rd_index_level *level, bool trusted)
{
    for (int k = 0; k < n; k++) {
        int more = 1;

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
/* Where the places of the last of n levels begin that are below place p of the level before
 * them. */
static int64_t first_below(int n, const rd_index_level *level, int64_t p)
{
    for (int k = 0; k < n; k++)
        if (level[k].kind == RD_LEVEL_DENSE)
            p *= level[k].extent;
        else if (level[k].kind == RD_LEVEL_COMPRESSED)
            p = at(level[k].pos, level[k].wide_pos, p);
    return p;
}

static int64_t index_of(const rd_index_level *level, int64_t p)
{
    return level->kind == RD_LEVEL_DENSE ? p % level->extent : at(level->crd, level->wide_crd, p);
}

static void fill_places(int below, const rd_index_level *level, int64_t from, int64_t to)
{
    int64_t place = first_below(below, level + 1, from);

    for (int64_t p = from; p < to; p++) {
        const int64_t end = first_below(below, level + 1, p + 1), index = index_of(level, p);

        if (level->narrow)
            for (; place < end; place++)
                level->narrow[place] = (int32_t)index;
        else
            for (; place < end; place++)
                level->wide[place] = index;
    }
}

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
