/* so_far.h - a running sum of floats: what the blocks before come to, and the prefix of the block
 * at hand.
 *
 * What blocks 0 .. b - 1 come to is the sum of the nodes of the aligned tree (program.h) that cover
 * them, the largest first, each added on the right: of 7 blocks (0..3 + 4..5) + 6.  So errors grow
 * with the logarithm of their number, and whoever has these nodes has it, in whatever order blocks
 * are summed.  Sums of f32 have f64 for that, sums of f64 two words, hi + lo, that add as in
 * algorithm 5 of Joldes, Muller, Popescu 2017, "Tight and rigorous error bounds for basic building
 * blocks of double-word arithmetic".  Then it is two words of the sums' type, and a result is
 * hi + (lo + prefix).  Of nothing all words are -0, which leaves 0 and -0 as they are.
 *
 * Who takes one block after the other keeps two sums a level: the last node of 2^level blocks, and
 * all before the node that this level is at. */
#ifndef RD_KERNELS_MATH_SO_FAR_H
#define RD_KERNELS_MATH_SO_FAR_H

/* A sum is one double for f32, two for f64. */
enum { RD_LEVEL_WORDS_f32 = 2, RD_LEVEL_WORDS_f64 = 4 };

/* Words of a cell for so many blocks, of sums of so many bytes. */
static inline int64_t rd_so_far_words(int64_t n_block, int64_t size)
{
    int64_t words = 0;

    for (; n_block > 0; n_block /= 2)
        words += size == (int64_t)sizeof(float) ? RD_LEVEL_WORDS_f32 : RD_LEVEL_WORDS_f64;
    return words;
}

/* There is no block yet. */
static inline void rd_so_far_begin(int64_t n_words, double *sums)
{
    for (int64_t k = 0; k < n_words; k++)
        sums[k] = -0.0;
}

/* n cells, whose sums lie `pitch` from word to word, take block number `block`: what it comes to, x.  hi and lo
 * are then what the blocks up to it come to. */
static inline void rd_take_blocks_f32(int64_t n, int64_t block, double *sums, int64_t pitch,
                                      const float *x, float *hi, float *lo)
{
    double *level = sums, *node;

    for (int64_t b = block; b & 1; b >>= 1)
        level += RD_LEVEL_WORDS_f32 * pitch;
    node = level;
    for (int64_t l = 0; l < n; l++)
        node[l] = (double)x[l];
    for (level = sums; level < node; level += RD_LEVEL_WORDS_f32 * pitch)
        for (int64_t l = 0; l < n; l++)
            node[l] = level[l] + node[l];
    for (int64_t l = 0; l < n; l++) {
        const double all = node[pitch + l] + node[l];

        hi[l] = (float)all;
        lo[l] = hi[l] - hi[l] == 0 ? (float)-((double)hi[l] - all) : -0.0F;
    }
    for (level = sums; level < node; level += RD_LEVEL_WORDS_f32 * pitch)
        for (int64_t l = 0; l < n; l++)
            level[pitch + l] = node[pitch + l] + node[l];
}

/* (a, a_lo) + (b, b_lo); infinity and NaN are all in hi. */
static inline void rd_add_words(double a, double a_lo, double b, double b_lo, double *hi,
                                double *lo)
{
    const double sum = a + b, back = sum - a;
    const double rest   = (a_lo + b_lo) + ((b - back) - ((sum - back) - a));
    const double both   = sum + rest;
    const bool   finite = both - both == 0;

    *hi = finite ? both : sum;
    *lo = finite ? rest - (both - sum) : -0.0;
}

static inline void rd_take_blocks_f64(int64_t n, int64_t block, double *sums, int64_t pitch,
                                      const double *x, double *hi, double *lo)
{
    double *level = sums, *node;

    for (int64_t b = block; b & 1; b >>= 1)
        level += RD_LEVEL_WORDS_f64 * pitch;
    node = level;
    for (int64_t l = 0; l < n; l++) {
        node[l]         = x[l];
        node[pitch + l] = -0.0;
    }
    for (level = sums; level < node; level += RD_LEVEL_WORDS_f64 * pitch)
        for (int64_t l = 0; l < n; l++)
            rd_add_words(level[l], level[pitch + l], node[l], node[pitch + l], &node[l],
                         &node[pitch + l]);
    for (int64_t l = 0; l < n; l++)
        rd_add_words(node[2 * pitch + l], node[3 * pitch + l], node[l], node[pitch + l], &hi[l],
                     &lo[l]);
    for (level = sums; level < node; level += RD_LEVEL_WORDS_f64 * pitch)
        for (int64_t l = 0; l < n; l++) {
            level[2 * pitch + l] = hi[l];
            level[3 * pitch + l] = lo[l];
        }
}
#endif
