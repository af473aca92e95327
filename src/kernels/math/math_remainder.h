/* math_remainder.h - floored division of floats and its remainder, from truncated division.
 *
 * C's fmod() is exact, but no vector has it.  Where the quotient is small, one division gives the
 * same bits: whole quotients below 2^28 times a float are exact in double.  For doubles a fused
 * product is exact, and a quotient that was rounded up to a whole number is one too large.  Vector
 * loops look for hard operands first, as for functions with hard arguments (math.h). */
#ifndef RD_KERNELS_MATH_MATH_REMAINDER_H
#define RD_KERNELS_MATH_MATH_REMAINDER_H
#include <math.h>

/* On machines with an instruction for fma; others, and GPUs, leave all to fmod(). */
#if (defined(__FMA__) || defined(__FP_FAST_FMA)) && !defined(__CUDACC_RTC__) && \
    !defined(__OPENCL_VERSION__)
/* True if one division does not give the remainder: the quotient is too large, as for b = 0, or b
 * is infinite, which as a divisor leaves the dividend.  `most`: the bound of quotients. */
#define RD_REST_HARD(T, f, elem, most, infinity)                                     \
    static inline int rd_rest_hard_##elem(T a, T b)                                  \
    {                                                                                \
        const T size = __builtin_fabs##f(b);                                         \
        return (__builtin_fabs##f(a) >= (most)*size ? 1 : 0) | (size >= (infinity)); \
    }
RD_REST_HARD(float, f, f32, 0x1p28F, __builtin_inff())
RD_REST_HARD(double, , f64, 0x1p52, __builtin_inf())
#undef RD_REST_HARD

/* Returns the remainder of truncated division for operands that are not hard, in double, where
 * the whole quotient times b is exact. */
static inline float rd_rest_f32(float a, float b)
{
    const double x = a, y = b;
    return (float)(x - __builtin_trunc(x / y) * y);
}

/* Returns the remainder of truncated division for operands that are not hard, by a fused product,
 * which is exact.  If the quotient was rounded up to a whole number, the remainder has the wrong
 * sign and is one b too far. */
static inline double rd_rest_f64(double a, double b)
{
    const double rest = __builtin_fma(-__builtin_trunc(a / b), b, a);
    const double next = rest + __builtin_copysign(b, a);
    const int    over = a < 0 ? rest > 0 : rest < 0;
    return over ? next : rest;
}
#else
/* Without an instruction for fma all operands are hard. */
static inline int rd_rest_hard_f32(float a, float b)
{
    return (void)a, (void)b, 1;
}

/* Without an instruction for fma all operands are hard. */
static inline int rd_rest_hard_f64(double a, double b)
{
    return (void)a, (void)b, 1;
}

/* Returns the remainder of truncated division. */
static inline float rd_rest_f32(float a, float b)
{
    return fmodf(a, b);
}

/* Returns the remainder of truncated division. */
static inline double rd_rest_f64(double a, double b)
{
    return fmod(a, b);
}
#endif

/* The floor of a / b with the remainder that belongs to it, as NumPy's divmod.  (a - rest) / b is
 * nearly whole, while floor(a / b) would be one too large where a / b rounds up to a whole number.
 * All cases are computed and one is selected, so that vectors can do it.  A divisor of 0 is
 * hard. */
#define RD_BY_REST(T, f, elem)                                                                     \
    static inline T rd_remainder_by_rest_##elem(T a, T b, T rest)                                  \
    {                                                                                              \
        const T zero = copysign##f((T)0, b), side = copysign##f((T)1, b) * rest, moved = rest + b; \
        const T some = side < 0 ? moved : rest;                                                    \
        (void)a;                                                                                   \
        return rest == 0 ? zero : some;                                                            \
    }                                                                                              \
    static inline T rd_floordiv_by_rest_##elem(T a, T b, T rest)                                   \
    {                                                                                              \
        const T near = (a - rest) / b, less = near - 1, zero = copysign##f((T)0, a / b);           \
        const T side = copysign##f((T)1, b) * rest, div = side < 0 ? less : near;                  \
        const T whole = floor##f(div), above = whole + 1;                                          \
        const T some = div - whole > (T)0.5 ? above : whole;                                       \
        return div == 0 ? zero : some;                                                             \
    }                                                                                              \
    static inline T rd_fmod_by_rest_##elem(T a, T b, T rest)                                       \
    {                                                                                              \
        (void)b;                                                                                   \
        return copysign##f(rest, a);                                                               \
    }                                                                                              \
    static inline T rd_any_rest_##elem(T a, T b)                                                   \
    {                                                                                              \
        return rd_rest_hard_##elem(a, b) ? fmod##f(a, b) : rd_rest_##elem(a, b);                   \
    }                                                                                              \
    static inline T rd_remainder_any_##elem(T a, T b)                                              \
    {                                                                                              \
        return rd_remainder_by_rest_##elem(a, b, rd_any_rest_##elem(a, b));                        \
    }                                                                                              \
    static inline T rd_floordiv_any_##elem(T a, T b)                                               \
    {                                                                                              \
        return b == 0 ? a / b : rd_floordiv_by_rest_##elem(a, b, rd_any_rest_##elem(a, b));        \
    }                                                                                              \
    static inline T rd_fmod_any_##elem(T a, T b)                                                   \
    {                                                                                              \
        return fmod##f(a, b);                                                                      \
    }
RD_BY_REST(float, f, f32)
RD_BY_REST(double, , f64)
#undef RD_BY_REST
#endif
