/* folds_f32.c - reducers of f32 operands with f32 accumulators. */
#include "kernels/cpu/simd/by_hand.h"

/* Widens the n sums of a finished block to f64, in which blocks add up: the sum of 1e8 numbers is
 * then off by no more than one rounding. */
static void widen_sum(int64_t n, void *const *to, void *const *s)
{
    double      *y = to[0];
    const float *x = s[0];

    for (int64_t l = 0; l < n; l++)
        y[l] = x[l];
}

/* Rounds n finished sums to f32; ddof is of no use to sums. */
static void finish_wide_sum(int64_t n, void *const *s, double ddof, void *const *to)
{
    float        *y = to[0];
    const double *x = s[0];

    for (int64_t l = 0; l < n; l++)
        y[l] = (float)x[l];
}

/* Merges nodes of the combine tree: adds n sums of f64 (b) to n others (a). */
static void merge_wide_sum(int64_t n, void *const *a, void *const *b)
{
    double       *x = a[0];
    const double *y = b[0];

    INDEPENDENT
    for (int64_t l = 0; l < n; l++)
        x[l] += y[l];
}

/* Merges nodes of sums of one step: adds n sums, rounded to f32.  Nodes hold f32 values in f64:
 * rounding twice equals rounding once where the wider type has more than twice the bits. */
static void merge_short_sum(int64_t n, void *const *a, void *const *b)
{
    double       *x = a[0];
    const double *y = b[0];

    INDEPENDENT
    for (int64_t l = 0; l < n; l++)
        x[l] = (float)(x[l] + y[l]);
}

#define ELEM       f32
#define T          float
#define I          int32_t
#define RD_F(name) rd_math_##name##_f32
#define RD_NAN     NAN
#define WORD       uint32_t
#define OWN_ENTRIES                                                                  \
    BY_HAND(sum, f64, merge_wide_sum, .widen = widen_sum, .finish = finish_wide_sum) \
    BY_HAND(dot, f64, merge_wide_sum, .widen = widen_sum, .finish = finish_wide_sum) \
    BY_HAND(prod, f32, MERGE_OF(prod), AS_EVER(prod))                                \
    BY_HAND(min, f32, MERGE_OF(min), AS_EVER(min))                                   \
    BY_HAND(max, f32, MERGE_OF(max), AS_EVER(max)) STEPS_BY_HAND
#define FROM f32
#define M    float
#include "kernels/cpu/simd/vector_folds.h"
#include "kernels/cpu/simd/transposed_folds.h"
#include "kernels/cpu/simd/counts.h"
#include "kernels/cpu/simd/best.h"
#include "kernels/cpu/simd/product_tile.h"
#include "kernels/cpu/simd/state_kernels.h"
#define SHORT_SUM(name)                                     \
    [RD_RED_##name] = { .counter = RD_ELEM_f64,             \
                        .first   = fold_##name##_first_f32, \
                        .step    = strip_##name##_none_f32, \
                        .along   = fold_##name##_along_f32, \
                        .widen   = widen_sum,               \
                        .merge   = merge_short_sum,         \
                        .finish  = finish_wide_sum },
const rd_fold_code OF_ISA(short_sums)[RD_N_REDUCERS] = { SHORT_SUM(sum) SHORT_SUM(dot) };
