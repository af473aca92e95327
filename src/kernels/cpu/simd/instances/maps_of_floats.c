/* maps_of_floats.c - maps of f32 and f64 (maps.h), and casts to them. */
#include "kernels/cpu/simd/isa.h"
#include "kernels/math/math_exp_strip.h"

#define PICK(rule, make, float_row, int_row) FLOAT_##rule(make, float_row)
#define FLOATS
#define FROM_FLOAT(x) (x)
#define FROM_INT(x)   (x)
#define ELEM          f32
#define CLASS         f32
#define T             float
#define RD_F(name)    rd_math_##name##_f32
#include "kernels/cpu/simd/maps.h"
#undef ELEM
#undef CLASS
#undef T
#undef RD_F
#define ELEM       f64
#define CLASS      f64
#define T          double
#define RD_F(name) rd_math_##name##_f64
#include "kernels/cpu/simd/maps.h"
#undef ELEM
#undef CLASS
#undef T
#undef RD_F
#undef FLOATS
#undef PICK
#undef FROM_FLOAT

/* Casts to f32 on the way to a half: rounds to odd, so that only the second rounding counts. */
#define ODD(from, F)                                            \
    static void odd_##from(int64_t n, void *py, const void *px) \
    {                                                           \
        float   *y = py;                                        \
        const F *x = px;                                        \
        for (int64_t i = 0; i < n; i++)                         \
            y[i] = rd_odd_##from(x[i]);                         \
    }
ODD(f64, double)
ODD(i64, int64_t)
ODD(u64, uint64_t)
#undef ODD

/* f32 and narrower elements are rounded to halves directly; others are rounded to odd first. */
rd_simd_cast *const OF_ISA(half_casts)[RD_N_ELEMS] = { [RD_ELEM_f32] = cast_f32_f32,
                                                       [RD_ELEM_f64] = odd_f64,
                                                       [RD_ELEM_i64] = odd_i64,
                                                       [RD_ELEM_u64] = odd_u64,
                                                       [RD_ELEM_b8]  = cast_b8_f32 };
