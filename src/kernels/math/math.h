/* math.h - the functions that operators and reducers call, each with all its arguments:
 * rd_math_exp_f32(), ...
 *
 * Scalar code calls them as they are.  A vector loop over a function with hard arguments looks for
 * those first (rd_sin_f32_hard()), then calls rd_sin_f32() where there are none: the same bits
 * without the branch.  Hard arguments go to C's function of double, as that of float may be off by
 * more than an ulp (glibc's tanf by 1.3). */
#ifndef RD_KERNELS_MATH_MATH_H
#define RD_KERNELS_MATH_MATH_H

#include "core/extremes.h"
#include "kernels/math/math_erf.h"
#include "kernels/math/math_exp.h"
#include "kernels/math/math_log.h"
#include "kernels/math/math_pow.h"
#include "kernels/math/math_trig.h"

#define RD_MATH_PICK_0(is_hard, of_c, ours) ours
#define RD_MATH_PICK_1(is_hard, of_c, ours) is_hard ? of_c : ours
#define RD_MATH_PICK(hard, ...)             RD_MATH_PICK_##hard(__VA_ARGS__)

#define RD_MATH1(name, hard)                                                             \
    static inline float rd_math_##name##_f32(float x)                                    \
    {                                                                                    \
        return RD_MATH_PICK(hard, rd_##name##_f32_hard(x), (float)name((double)x),       \
                            rd_##name##_f32(x));                                         \
    }                                                                                    \
    static inline double rd_math_##name##_f64(double x)                                  \
    {                                                                                    \
        return RD_MATH_PICK(hard, rd_##name##_f64_hard(x), name(x), rd_##name##_f64(x)); \
    }
#define RD_MATH2(name, hard)                                                                      \
    static inline float rd_math_##name##_f32(float x, float y)                                    \
    {                                                                                             \
        return RD_MATH_PICK(hard, rd_##name##_f32_hard(x, y), (float)name((double)x, (double)y),  \
                            rd_##name##_f32(x, y));                                               \
    }                                                                                             \
    static inline double rd_math_##name##_f64(double x, double y)                                 \
    {                                                                                             \
        return RD_MATH_PICK(hard, rd_##name##_f64_hard(x, y), name(x, y), rd_##name##_f64(x, y)); \
    }
#define RD_LIBM1(name)                                  \
    static inline float rd_math_##name##_f32(float x)   \
    {                                                   \
        return name##f(x);                              \
    }                                                   \
    static inline double rd_math_##name##_f64(double x) \
    {                                                   \
        return name(x);                                 \
    }
#define RD_LIBM2(name)                                            \
    static inline float rd_math_##name##_f32(float x, float y)    \
    {                                                             \
        return name##f(x, y);                                     \
    }                                                             \
    static inline double rd_math_##name##_f64(double x, double y) \
    {                                                             \
        return name(x, y);                                        \
    }
#define RD_LIBM3(name)                                                      \
    static inline float rd_math_##name##_f32(float x, float y, float z)     \
    {                                                                       \
        return name##f(x, y, z);                                            \
    }                                                                       \
    static inline double rd_math_##name##_f64(double x, double y, double z) \
    {                                                                       \
        return name(x, y, z);                                               \
    }
#include "kernels/math/math.def"

#endif
