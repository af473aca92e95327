/* prefix_sums.h - a running sum of floats: what the blocks before come to, and the prefix of the block
 * at hand.
 *
 * What blocks 0 .. b - 1 come to is the sum of the nodes of the aligned tree (program.h) that cover
 * them, the largest first, each added on the right: of 7 blocks (0..3 + 4..5) + 6.  So errors grow
 * with the logarithm of their number, and whoever has these nodes has it, in whatever order blocks
 * are summed.  All of that is f64.  As words of the sums' type it is hi + lo, where f64 needs no lo,
 * and a result is hi + (lo + prefix).  Of nothing all words are -0, which leaves 0 and -0 as they
 * are.
 *
 * Who takes one block after the other keeps two sums for each level k: what all blocks before its
 * last left node come to, and that node, of 2^k blocks.  The first sum of level 0 is what all blocks
 * so far come to. */
#ifndef RD_KERNELS_MATH_PREFIX_SUMS_H
#define RD_KERNELS_MATH_PREFIX_SUMS_H

/* Cells whose nodes stay in a processor's first cache. */
enum { RD_LEVEL_WORDS = 2, RD_CELLS_AT_ONCE = 512 };

/* Words of a cell for so many blocks. */
static inline int64_t rd_prefix_sum_words(int64_t n_block)
{
    int64_t words = 0;

    for (; n_block > 0; n_block /= 2)
        words += RD_LEVEL_WORDS;
    return words;
}

/* There is no block yet. */
static inline void rd_prefix_sum_begin(int64_t n_words, double *sums)
{
    for (int64_t k = 0; k < n_words; k++)
        sums[k] = -0.0;
}

/* The words of f32 for a sum.  Of one that only later blocks bring back into f32's range hi is the
 * largest number, and so is hi of infinity, with an infinite lo. */
static inline void rd_prefix_sum_f32(double sum, float *hi, float *lo)
{
    const double most = 0x1.fffffep127, least = sum > most ? most : sum;

    *hi = (float)(least < -most ? -most : least);
    *lo = (float)-((double)*hi - sum);
}

static inline void rd_prefix_sum_f64(double sum, double *hi, double *lo)
{
    *hi = sum;
    *lo = -0.0;
}

/* ---- One cell -------------------------------------------------------------------------------- */
/* It takes block number `block`: what it comes to, x.  Returns what the blocks up to it come to. */
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
/* n cells, whose sums lie `pitch` from word to word, take the block that is at its level's node.  The
 * additions are rd_take_block()'s, by level and not by cell, so that compilers make vectors of cells;
 * there, numbers of one cell stay in registers. */
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

/* n cells, whose sums lie `pitch` from word to word, take block number `block`: what it comes to, x.
 * hi and lo are then what the blocks up to it come to. */
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
