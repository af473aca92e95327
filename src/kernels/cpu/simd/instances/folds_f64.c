/* folds_f64.c - reducers with f64 accumulators. */
#include "kernels/cpu/simd/by_hand.h"

#define ELEM       f64
#define T          double
#define I          int64_t
#define RD_F(name) rd_math_##name##_f64
#define RD_NAN     ((double)NAN)
#define WORD       uint64_t
#define OWN_ENTRIES                                   \
    BY_HAND(sum, f64, MERGE_OF(sum), AS_EVER(sum))    \
    BY_HAND(dot, f64, MERGE_OF(dot), AS_EVER(dot))    \
    BY_HAND(prod, f64, MERGE_OF(prod), AS_EVER(prod)) \
    BY_HAND(min, f64, MERGE_OF(min), AS_EVER(min))    \
    BY_HAND(max, f64, MERGE_OF(max), AS_EVER(max)) STEPS_BY_HAND
#define FROM f64
#define M    double
#include "kernels/cpu/simd/vector_folds.h"
#include "kernels/cpu/simd/transposed_folds.h"
#include "kernels/cpu/simd/counts.h"
#include "kernels/cpu/simd/best.h"
#include "kernels/cpu/simd/product_tile.h"
#include "kernels/cpu/simd/state_kernels.h"
