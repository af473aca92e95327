/* rdim/random.h - random numbers as expressions.
 *
 * Random numbers are made where they are read, so they take no memory.  Element i, in C order of
 * the shape, depends on the key and on i alone.  It is the same in a slice, in any traversal, on
 * any number of threads and on a GPU.
 *
 * Equal keys and shapes are one expression, so each draw needs a key of its own.  The generator is
 * Philox 4x32-10 (Salmon and others 2011), whose stream is long enough for every shape.  The names
 * from NumPy below are methods of numpy.random.Generator, which has other generators. */
#ifndef RDIM_RANDOM_H
#define RDIM_RANDOM_H
#include "shapes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** 64 random bits for each element, u64: rd_philox() of the flat index.
 *  @return NULL on RD_ERR_SHAPE (an extent is negative, the size overflows). */
RD_API rd_expr *rd_random_bits(rd_ctx *ctx, uint64_t key, rd_shape shape);
/** Uniform numbers in [0, 1), of a float type.  They are multiples of 2^-53 for f64, 2^-24 for f32,
 *  2^-11 for f16, 2^-8 for bf16 and 2^-4 for f8e4m3.  NumPy's random.
 *  @return NULL on RD_ERR_SHAPE, or RD_ERR_TYPE (not a float type). */
RD_API rd_expr *rd_random_uniform(rd_ctx *ctx, uint64_t key, rd_shape shape, rd_dtype type);
/** Normally distributed numbers with mean 0 and standard deviation 1, of a float type.  The tails
 *  end at 8.6 for f64, and at 6.7 for f32 and 16-bit floats.  NumPy's standard_normal.
 *  @return NULL on RD_ERR_SHAPE, or RD_ERR_TYPE (not a float type). */
RD_API rd_expr *rd_random_normal(rd_ctx *ctx, uint64_t key, rd_shape shape, rd_dtype type);
/** Exponentially distributed numbers with mean 1, of a float type.  They reach from 0 to 36.8 for
 *  f64, and to 22.2 for f32 and 16-bit floats.  NumPy's standard_exponential.
 *  @return NULL on RD_ERR_SHAPE, or RD_ERR_TYPE (not a float type). */
RD_API rd_expr *rd_random_exponential(rd_ctx *ctx, uint64_t key, rd_shape shape, rd_dtype type);
/** Whole numbers from `low` to below `high`, i64.  The probabilities of any two differ by less than
 *  (high - low) / 2^64.  NumPy's integers.
 *  @return NULL on RD_ERR_SHAPE, or RD_ERR_ARGUMENT (low >= high). */
RD_API rd_expr *rd_random_integers(rd_ctx *ctx, uint64_t key, rd_shape shape, int64_t low,
                                   int64_t high);
/** The numbers 0 to n - 1 in random order, (n) of i64: rd_argsort() of rd_random_bits() with the
 *  key.  NumPy's permutation.
 *  @return NULL on RD_ERR_SHAPE (n is negative). */
RD_API rd_expr *rd_permutation(rd_ctx *ctx, uint64_t key, int64_t n);
/** x with its elements along an axis in random order: that of rd_permutation() with the key, the
 *  same for all rows.  NumPy's permutation with an axis.
 *  @return NULL on RD_ERR_AXIS. */
RD_API rd_expr *rd_shuffle(rd_expr *x, int axis, uint64_t key);
/** Words of the random stream of a key: the word `index`, 64 bits of an unsigned type.  A narrower
 *  type keeps the lowest bits.  Operands broadcast.
 *
 *  Words 2 k and 2 k + 1 are what Philox 4x32-10 makes of the counter k, the lower halves first.
 *  rd_random_bits() is made of this function; use it for counters of your own.
 *  @return NULL on RD_ERR_SHAPE, or RD_ERR_TYPE (not integers). */
RD_API rd_expr *rd_philox(rd_expr *index, rd_expr *key);

#ifdef __cplusplus
}
#endif
#endif
