/* so_far.h - a running sum of floats: what the blocks before come to, and the prefix of the block
 * at hand.
 *
 * The blocks before are two numbers of the sums' type, hi + lo, that take one block after the other
 * (a double word plus a word: Joldes, Muller, Popescu 2017, "Tight and rigorous error bounds for
 * basic building blocks of double-word arithmetic", algorithm 4).  So it does not matter how many
 * there are, and the next one waits for a few additions.  Of nothing both are -0, which leaves 0
 * and -0 as they are. */
#ifndef RD_KERNELS_MATH_SO_FAR_H
#define RD_KERNELS_MATH_SO_FAR_H

/* hi + lo takes x; infinity and NaN are all in hi. */
#define RD_TAKE_BLOCK(name, T)                                         \
    static inline void rd_take_block_##name(T *hi, T *lo, T x)         \
    {                                                                  \
        const T    sum = *hi + x, back = sum - *hi;                    \
        const T    rest   = *lo + ((x - back) - ((sum - back) - *hi)); \
        const T    both   = sum + rest;                                \
        const bool finite = both - both == 0;                          \
                                                                       \
        *hi = finite ? both : sum;                                     \
        *lo = finite ? rest - (both - sum) : (T)-0.0;                  \
    }
RD_TAKE_BLOCK(f32, float)
RD_TAKE_BLOCK(f64, double)
#endif
