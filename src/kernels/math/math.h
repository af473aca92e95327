/* math.h - the functions that operators and reducers call, each with all its arguments:
 * rd_math_exp_f32(), ...
 *
 * Scalar code calls them as they are.  A vector loop over a function with hard arguments looks for
 * those first (rd_sin_f32_hard()), then calls rd_sin_f32() where there are none: the same bits
 * without the branch.  Hard arguments go to rd_sin_far_f32(). */
#ifndef RD_KERNELS_MATH_MATH_H
#define RD_KERNELS_MATH_MATH_H

#include "core/extremes.h"
#include "core/float_parts.h"
#include "kernels/math/math_angle.h"
#include "kernels/math/math_base.h"
#include "kernels/math/math_erf.h"
#include "kernels/math/math_erfc.h"
#include "kernels/math/math_exp.h"
#include "kernels/math/math_half_powers.h"
#include "kernels/math/math_hyperbolic.h"
#include "kernels/math/math_inverse.h"
#include "kernels/math/math_log.h"
#include "kernels/math/math_pow.h"
#include "kernels/math/math_soft.h"
#include "kernels/math/math_trig.h"

/* Functions without hard arguments are inlined into the loops that call them, which are then
 * vectorised. */
#define RD_MATH_PICK_0(is_hard, far, near) near
#define RD_MATH_PICK_1(is_hard, far, near) is_hard ? far : near
#define RD_MATH_PICK(hard, ...)            RD_MATH_PICK_##hard(__VA_ARGS__)
#define RD_MATH_OF_0                       RD_INLINE
#define RD_MATH_OF_1                       static inline

/* One of our functions of one argument: hard arguments go to its far variant. */
#define RD_MATH1(name, hard)                                                       \
    RD_MATH_OF_##hard float rd_math_##name##_f32(float x)                          \
    {                                                                              \
        return RD_MATH_PICK(hard, rd_##name##_f32_hard(x), rd_##name##_far_f32(x), \
                            rd_##name##_f32(x));                                   \
    }                                                                              \
    RD_MATH_OF_##hard double rd_math_##name##_f64(double x)                        \
    {                                                                              \
        return RD_MATH_PICK(hard, rd_##name##_f64_hard(x), rd_##name##_far_f64(x), \
                            rd_##name##_f64(x));                                   \
    }
/* One of our functions of two arguments. */
#define RD_MATH2(name, hard)                                        \
    _Static_assert(!(hard), "no function of two arguments is far"); \
    RD_INLINE float rd_math_##name##_f32(float x, float y)          \
    {                                                               \
        return rd_##name##_f32(x, y);                               \
    }                                                               \
    RD_INLINE double rd_math_##name##_f64(double x, double y)       \
    {                                                               \
        return rd_##name##_f64(x, y);                               \
    }
/* A function of C's library, of one, two or three arguments. */
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
