/* prefix_sums.h - the prefix of a running sum of floats: the sum of the blocks before, and the
 * prefix of the current block.
 *
 * The sum of blocks 0 .. b - 1 is that of the nodes of the aligned tree (program.h) that cover
 * them, the largest first, each added on the right: for 7 blocks (0..3 + 4..5) + 6.  So errors grow
 * with the logarithm of the number of blocks, and the sum does not depend on the order in which
 * nodes are computed.  All of this is f64.  In the type of the sums it is two words, hi + lo (f64
 * needs no lo), and a result is hi + (lo + prefix).  Without any blocks all words are -0, which
 * leaves 0 and -0 as they are.
 *
 *   blocks:          0    1    2      3      4       5       6
 *   sum before b=7:  ((0+1) + (2+3)) + (4+5) + 6
 *
 * To add one block after the other, two sums are kept for each level k: the sum of all blocks
 * before the level's last left node, and that node, of 2^k blocks.  The first sum of level 0 is the
 * sum of all blocks so far. */
#ifndef RD_KERNELS_MATH_PREFIX_SUMS_H
#define RD_KERNELS_MATH_PREFIX_SUMS_H

/* The number of cells that are updated at once, so that their nodes stay in the first-level
 * cache. */
enum { RD_LEVEL_WORDS = 2, RD_CELLS_AT_ONCE = 512 };

/* Returns how many doubles a running sum keeps for each cell (the accumulator of one result):
 * for each level of the tree over so many blocks, the sum before its last left node, and that
 * node. */
static inline int64_t rd_prefix_sum_words(int64_t n_block)
{
    int64_t words = 0;

    for (; n_block > 0; n_block /= 2)
        words += RD_LEVEL_WORDS;
    return words;
}

/* Initialises the doubles of one running sum: no block has come yet, and -0 is the sum of
 * nothing, as -0 + x is x. */
static inline void rd_prefix_sum_begin(int64_t n_words, double *sums)
{
    for (int64_t k = 0; k < n_words; k++)
        sums[k] = -0.0;
}

/* Splits a sum into two floats: hi + lo.  If the sum exceeds f32's range (later blocks may bring
 * it back), hi is the largest float; so it is for infinity, with an infinite lo. */
static inline void rd_prefix_sum_f32(double sum, float *hi, float *lo)
{
    const double most = 0x1.fffffep127, least = sum > most ? most : sum;

    *hi = (float)(least < -most ? -most : least);
    *lo = (float)-((double)*hi - sum);
}

/* Splits a sum into hi + lo for f64, where hi is the sum and lo is -0. */
static inline void rd_prefix_sum_f64(double sum, double *hi, double *lo)
{
    *hi = sum;
    *lo = -0.0;
}

/* ---- One cell -------------------------------------------------------------------------------- */
/* Adds block number `block` with the sum x to one running sum, and returns the sum of all blocks
 * up to it. Each level of the tree has two doubles: [1] its last left node, [0] the sum of all
 * blocks before that. Each trailing 1 of `block` in binary is a level at which the new node is a
 * right half and merges with the left one, as a binary counter carries. Block 3 merges with 2,
 * and both with 0..1. */
static inline double rd_take_block(int64_t block, double *sums, double x)
{
    double *level = sums, node = x, all;

    for (; block & 1; block >>= 1, level += RD_LEVEL_WORDS)
        node = level[1] + node;
    level[1] = node;
    all      = level[0] + node;
    for (; level > sums; level -= RD_LEVEL_WORDS)
        level[-RD_LEVEL_WORDS] = all;
    sums[0] = all;
    return all;
}

/* ---- Neighbouring cells ---------------------------------------------------------------------- */
/* Adds a block to n neighbouring running sums, whose doubles lie `pitch` apart. `node` points to
 * the doubles for the node of the level that the block completes, and holds the block's sums.
 * The additions are those of rd_take_block(), level by level, so that compilers make vectors of
 * neighbours. */
static inline void rd_take_nodes(int64_t n, double *sums, double *node, int64_t pitch)
{
    double *const before = node - pitch;

    for (double *level = sums; level < before; level += RD_LEVEL_WORDS * pitch)
        for (int64_t l = 0; l < n; l++)
            node[l] = level[pitch + l] + node[l];
    for (int64_t l = 0; l < n; l++)
        sums[l] = before[l] + node[l];
    for (double *level = sums + RD_LEVEL_WORDS * pitch; level < before;
         level += RD_LEVEL_WORDS * pitch)
        for (int64_t l = 0; l < n; l++)
            level[l] = sums[l];
}

/* Adds block number `block` with the sums x to n cells with words `pitch` apart.  Sets hi and lo to
 * the sums of all blocks up to it. */
#define RD_TAKE_BLOCKS(elem, T)                                                       \
    static inline void rd_take_blocks_##elem(int64_t n, int64_t block, double *sums,  \
                                             int64_t pitch, const T *x, T *hi, T *lo) \
    {                                                                                 \
        double *node = sums + pitch;                                                  \
        for (; block & 1; block >>= 1)                                                \
            node += RD_LEVEL_WORDS * pitch;                                           \
        for (int64_t at = 0, m; at < n; at += m) {                                    \
            m = n - at < RD_CELLS_AT_ONCE ? n - at : RD_CELLS_AT_ONCE;                \
            for (int64_t l = at; l < at + m; l++)                                     \
                node[l] = (double)x[l];                                               \
            rd_take_nodes(m, sums + at, node + at, pitch);                            \
            for (int64_t l = at; l < at + m; l++)                                     \
                rd_prefix_sum_##elem(sums[l], &hi[l], &lo[l]);                        \
        }                                                                             \
    }
RD_TAKE_BLOCKS(f32, float)
RD_TAKE_BLOCKS(f64, double)
#endif
