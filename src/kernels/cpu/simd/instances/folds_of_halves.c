/* folds_of_halves.c - hand-written steps (vector_folds.h) of 16-bit floats in memory, with f32
 * accumulators.  Where widening f16 takes many instructions there is no such table: it is a pass of
 * its own. */
#include "kernels/cpu/simd/by_hand.h"

#define ELEM       f32
#define T          float
#define I          int32_t
#define RD_F(name) rd_math_##name##_f32
#define RD_NAN     NAN
#define HALVES
#ifdef F16_VECTORS
#define FROM f16
#define M    rd_f16
#include "kernels/cpu/simd/vector_folds.h"
#undef FROM
#undef M
#endif
#define FROM bf16
#define M    rd_bf16
#include "kernels/cpu/simd/vector_folds.h"
#undef FROM
#undef M
#undef HALVES
