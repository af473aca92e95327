/* random_shape.c - the shapes that leaves are cut from. */
#include "random_expr.h"
#include <string.h>

/* The shape leaves are cut from: low ranks may have one axis longer than the lanes and blocks of
 * any kernel. */
static void choose_small_shape(random_pool *pool)
{
    static const int     ranks[] = { 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 6 };
    static const int64_t few[]   = { 1, 2, 2, 3, 3, 4, 5, 7, 8, 9, 16, 17 };
    static const int64_t long_[] = { 31, 32, 33, 63, 64, 65, 66, 127, 129, 130, 200, 257 };
    int64_t              n       = 1;

    pool->rank = ranks[random_below(pool, (int64_t)(sizeof ranks / sizeof *ranks))];
    for (int a = 0; a < pool->rank; a++)
        pool->extent[a] = few[random_below(pool, (int64_t)(sizeof few / sizeof *few))];
    if (pool->rank > 0 && pool->rank < 4 && !random_once(pool, 3))
        pool->extent[random_below(pool, pool->rank)] =
            long_[random_below(pool, (int64_t)(sizeof long_ / sizeof *long_))];
    if (pool->rank == 1 && random_once(pool, 6))
        pool->extent[0] = random_once(pool, 2) ? 4100 : 4096 + random_below(pool, 300);
    if (pool->rank > 0 && random_once(pool, 25))
        pool->extent[random_below(pool, pool->rank)] = 0;
    for (int a = 0; a < pool->rank; a++) {
        while (n * pool->extent[a] > 4500)
            pool->extent[a] = pool->extent[a] / 2;
        n *= pool->extent[a];
    }
}

/* Extents around those of tiles, lanes and blocks: a few rows of many columns, thousands of tiny
 * rows, both. */
static void choose_large_shape(random_pool *pool)
{
    static const struct {
        int     rank;
        int64_t extent[4];
    } shapes[] = {
        { 1, { 30001 } },      { 1, { 4096 } },       { 1, { 12289 } },
        { 2, { 2, 5003 } },    { 2, { 3, 2049 } },    { 2, { 7, 2311 } },
        { 2, { 65, 257 } },    { 2, { 67, 300 } },    { 2, { 129, 128 } },
        { 2, { 200, 131 } },   { 2, { 1000, 31 } },   { 2, { 4099, 5 } },
        { 2, { 4099, 1 } },    { 2, { 5003, 3 } },    { 2, { 2500, 8 } },
        { 2, { 1700, 17 } },   { 2, { 1025, 20 } },   { 3, { 2, 70, 129 } },
        { 3, { 3, 4097, 2 } }, { 3, { 66, 65, 3 } },  { 3, { 1000, 3, 7 } },
        { 3, { 5, 9, 400 } },  { 3, { 130, 2, 65 } }, { 4, { 3, 33, 4, 40 } },
        { 2, { 0, 5000 } },
    };
    const int64_t k = random_below(pool, (int64_t)(sizeof shapes / sizeof *shapes));

    pool->rank = shapes[k].rank;
    memcpy(pool->extent, shapes[k].extent, sizeof shapes[k].extent);
}

void random_choose_shape(random_pool *pool)
{
    if (pool->large)
        choose_large_shape(pool);
    else
        choose_small_shape(pool);
}
