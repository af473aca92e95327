/* row_functions.h - functions and macros that the rows of ops.def and reducers.def call, and which
 * rows each kind of element has.
 *
 * The files that include the rows include it: op_functions.c and reducer_functions.c, once per
 * register class, and simd/maps.h and simd/state_kernels.h, once per element. */
#ifndef RD_KERNELS_MATH_ROW_FUNCTIONS_H
#define RD_KERNELS_MATH_ROW_FUNCTIONS_H
#include "core/saturate.h"
#include "kernels/math/math.h"
#include "kernels/math/math_digamma.h"
#include "kernels/math/math_gamma.h"
#include "kernels/math/math_int.h"
#include "kernels/math/math_random.h"
#include "kernels/math/math_remainder.h"
#include <math.h>

/* The rows are written for all types.  So unsigned values are compared with 0, ints are tested for
 * NaN, and some parameters are not used. */
#ifndef __CUDACC_RTC__
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wtautological-compare"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"
#endif

#define JOIN_(a, b) a##_##b
#define JOIN(a, b)  JOIN_(a, b) /* of expanded names */

/* ---- Cases that C and libm leave undefined --------------------------------------------------- */
/* Floored division and its remainder, of floats: they never warn. */
#define DIVIDE_ANY(T, elem)                                        \
    static inline T floordiv_##elem(T a, T b, uint32_t *warnings)  \
    {                                                              \
        return rd_floordiv_any_##elem(a, b);                       \
    }                                                              \
    static inline T remainder_##elem(T a, T b, uint32_t *warnings) \
    {                                                              \
        return rd_remainder_any_##elem(a, b);                      \
    }
DIVIDE_ANY(float, f32)
DIVIDE_ANY(double, f64)
#undef DIVIDE_ANY

/* Returns a / b, rounded down; 0 with a warning if b is 0. */
static inline uint64_t floordiv_u64(uint64_t a, uint64_t b, uint32_t *warnings)
{
    *warnings |= b ? 0 : RD_WARN_INT_DIVIDE;
    return b ? a / b : 0;
}

/* Returns a % b; 0 with a warning if b is 0. */
static inline uint64_t remainder_u64(uint64_t a, uint64_t b, uint32_t *warnings)
{
    *warnings |= b ? 0 : RD_WARN_INT_DIVIDE;
    return b ? a % b : 0;
}

/* Returns the remainder of floored division, which has the sign of b; 0 with a warning if b is
 * 0. */
static inline int64_t remainder_i64(int64_t a, int64_t b, uint32_t *warnings)
{
    *warnings |= b ? 0 : RD_WARN_INT_DIVIDE;
    if (b == 0 || b == -1) /* INT64_MIN % -1 traps */
        return 0;
    const int64_t rest = a % b;
    return rest && (rest < 0) != (b < 0) ? rest + b : rest;
}

/* Returns floor(a / b); 0 with a warning if b is 0. */
static inline int64_t floordiv_i64(int64_t a, int64_t b, uint32_t *warnings)
{
    if (b == -1) /* INT64_MIN / -1 wraps */
        return (int64_t)(0 - (uint64_t)a);
    const int64_t rest = remainder_i64(a, b, warnings);
    return b ? a / b - (rest && a % b != rest) : 0;
}

/* Returns base^exponent modulo 2^64, by squaring. */
static inline uint64_t pow_u64(uint64_t base, uint64_t exponent, uint32_t *warnings)
{
    uint64_t power = 1;
    for (; exponent; exponent >>= 1, base *= base)
        if (exponent & 1)
            power *= base;
    return power;
}

/* Returns base^exponent, which wraps.  A negative exponent gives 1 / base^|exponent| rounded
 * towards 0: 1 or -1 for the bases 1 and -1, else 0; base 0 warns. */
static inline int64_t pow_i64(int64_t base, int64_t exponent, uint32_t *warnings)
{
    if (exponent >= 0)
        return (int64_t)pow_u64((uint64_t)base, (uint64_t)exponent, warnings);
    *warnings |= base ? 0 : RD_WARN_INT_DIVIDE;
    if (base == -1)
        return exponent % 2 ? -1 : 1;
    return base == 1;
}

/* ---- ops.def --------------------------------------------------------------------------------- */
#define WITH_WARNINGS_floordiv(a, b)  JOIN(floordiv, CLASS)(a, b, warnings)
#define WITH_WARNINGS_remainder(a, b) JOIN(remainder, CLASS)(a, b, warnings)
#define WITH_WARNINGS_pow(a, b)       JOIN(pow, CLASS)(a, b, warnings)
#define WITH_WARNINGS_tgamma(a)       JOIN(rd_tgamma, CLASS)(a)
#define WITH_WARNINGS_lgamma(a)       JOIN(rd_lgamma, CLASS)(a)
#define WITH_WARNINGS_digamma(a)      JOIN(rd_digamma, CLASS)(a)
#define WITH_WARNINGS_gcd(a, b)       JOIN(rd_gcd, CLASS)(a, b)
#define WITH_WARNINGS_lcm(a, b)       JOIN(rd_lcm, CLASS)(a, b)
#define RD_U(a)                       ((uint64_t)(a))

/* FLOAT_rule and INT_rule keep a row if operators of that rule have code for floats, or for
 * ints. */
#define FLOAT_ARITH(make, row)   make row
#define FLOAT_SAME(make, row)    make row
#define FLOAT_FLOAT(make, row)   make row
#define FLOAT_ROUND(make, row)   make row
#define FLOAT_COMPARE(make, row) make row
#define FLOAT_TEST(make, row)    make row
#define FLOAT_LOGIC(make, row)
#define FLOAT_BITS(make, row)
#define FLOAT_INTS(make, row)
#define FLOAT_COUNT(make, row)
#define INT_ARITH(make, row) make row
#define INT_SAME(make, row)  make row
#define INT_FLOAT(make, row)
#define INT_ROUND(make, row)   make row
#define INT_COMPARE(make, row) make row
#define INT_TEST(make, row)    make row
#define INT_LOGIC(make, row)   make row
#define INT_BITS(make, row)    make row
#define INT_INTS(make, row)    make row
#define INT_COUNT(make, row)   make row

/* ---- reducers.def ---------------------------------------------------------------------------- */
/* Replaces (y, j) by (x, i) if x is better: NaN wins over all but an earlier NaN; of equals the
 * lower index wins. */
#define RD_BEST_ANYWHERE(op, unless, x, i, y, j)               \
    {                                                          \
        const __typeof__(j) lower = (i) < (j) ? 1 : 0;         \
        const __typeof__(j) less  = (x)op(y) ? 1 : 0;          \
        const __typeof__(j) both  = (x) == (y) ? lower : less; \
        const __typeof__(j) any   = (x) != (x) ? 1 : both;     \
        const __typeof__(j) none  = (x) != (x) ? lower : 0;    \
        const __typeof__(j) takes = (y) == (y) ? any : none;   \
        (y)                       = takes ? (x) : (y);         \
        (j)                       = takes ? (i) : (j);         \
    }
/* Likewise where x comes after y, so that of equals y stays. */
#define RD_BEST_LATER(op, unless, x, i, y, j)               \
    {                                                       \
        const __typeof__(j) beats = (x)unless(y) ? 0 : 1;   \
        const __typeof__(j) takes = (y) == (y) ? beats : 0; \
        (y)                       = takes ? (x) : (y);      \
        (j)                       = takes ? (i) : (j);      \
    }
/* Likewise where a mask may have left out all elements before x: the first unmasked one may equal
 * the identity. */
#define RD_BEST_FIRST_OR_LATER(op, unless, x, i, y, j)      \
    {                                                       \
        const __typeof__(j) beats = (x)unless(y) ? 0 : 1;   \
        const __typeof__(j) later = (y) == (y) ? beats : 0; \
        const __typeof__(j) none  = (j) == RD_NO_PLACE;     \
        const __typeof__(j) any   = none ? 1 : later;       \
        (y)                       = any ? (x) : (y);        \
        (j)                       = any ? (i) : (j);        \
    }
#define RD_BEST RD_BEST_ANYWHERE

/* Adds w times exp(x) to the log-sum-exp (m, s), without branches: vectors compute all cases and
 * select.
 *
 * m moves to an x that is more than `far` above it.  It begins below all numbers, so the first
 * unmasked element moves it.  -inf and elements of weight 0 add nothing, but NaN ends up in s.
 * Equal infinities have no difference, so x and m are compared. */
#define RD_LSE_NONE         ((T)(sizeof(T) == sizeof(float) ? -0x1.fffffep127 : -0x1.fffffffffffffp1023))
#define RD_LSE_COUNTS(x, w) ((w) != 0 ? (x) > -INFINITY : 0)
/* Emitted texts define RD_LSE and RD_LSE_ALIGN as parts of these. */
#define RD_LSE              RD_LSE_ITSELF
#define RD_LSE_ITSELF(m, s, x, w, far)                                 \
    {                                                                  \
        const T power = RD_F(exp)(RD_F(lse_exponent)((x) - (m), far)); \
        RD_LSE_BY(power, m, s, x, w, far)                              \
    }
#define RD_LSE_BY(power, m, s, x, w, far)              \
    {                                                  \
        const int equal  = (x) == (m) ? 1 : 0;         \
        const int weighs = (w) != 0 ? 1 : 0;           \
        const int counts = (x) != (x) ? 1 : weighs;    \
        const int above  = (x) - (m) > (far) ? 1 : 0;  \
        const int moves  = counts ? above : 0;         \
        const T   less   = RD_F(fma)((s), power, (w)); \
        const T   more   = RD_F(fma)((w), power, (s)); \
        const T   added  = above ? less : more;        \
        const T   taken  = counts ? added : (s);       \
        (s)              = equal ? (s) + (w) : taken;  \
        (m)              = moves ? (x) : (m);          \
    }
/* Adds exp(x) to the log-sum-exp (m, s): weight 1. */
#define RD_LSE_ONE(power, m, s, x, far)             \
    {                                               \
        const T   e     = (x) == (m) ? 1 : (power); \
        const T   less  = RD_F(fma)((s), e, 1);     \
        const int moves = (x) - (m) > (far);        \
        (s)             = moves ? less : (s) + e;   \
        (m)             = moves ? (x) : (m);        \
    }
/* Refers the sum to another m, which is above all others: lanes do so before they add up. */
#define RD_LSE_ALIGN RD_LSE_ALIGN_ITSELF
#define RD_LSE_ALIGN_ITSELF(m, s, top)                       \
    {                                                        \
        const T power = RD_F(exp)(RD_LSE_APART((m), (top))); \
        RD_LSE_ALIGN_BY(power, m, s, top)                    \
    }
#define RD_LSE_APART(m, top) ((m) == (top) ? 0 : (m) - (top))
#define RD_LSE_ALIGN_BY(power, m, s, top) \
    {                                     \
        (s) *= (power);                   \
        (m) = (top);                      \
    }

/* Returns the exponent of a log-sum-exp's `power` for an element at distance d above its
 * reference m: -d if m moves (d > far), else d.  For far = 0 that is -|d|, one vector operation. */
static inline float rd_math_lse_exponent_f32(float d, float far)
{
    return far == 0 ? rd_float_of(rd_bits_f32(d) | 0x80000000) : d > far ? -d : d;
}

/* Returns the exponent of a log-sum-exp's `power` for an element at distance d above its
 * reference m: -d if m moves (d > far), else d.  For far = 0 that is -|d|, one vector operation. */
static inline double rd_math_lse_exponent_f64(double d, double far)
{
    return far == 0 ? rd_double_of(rd_bits_f64(d) | 0x8000000000000000) : d > far ? -d : d;
}

/* The greatest distance of a term above m in a log-sum-exp: m is the first element of a block and
 * rarely moves.  Farther away the rounding of x - m would show; this bound keeps it at four units
 * in the last place of 1, like that of log(s). */
#define RD_LSE_FAR      8
/* The distance that m may stay behind with a weight: a great weight times exp(RD_LSE_FAR) might
 * overflow. */
#define RD_LSE_REACH(w) (RD_F(fabs)(w) <= 0x1p60F ? RD_LSE_FAR : 0)
#define RD_INF          INFINITY

#define FLOAT_ANY(make, row) make row
#define FLOAT_BOOL(make, row)
#define FLOAT_INT(make, row)
#define INT_ANY(make, row) make row
#define INT_BOOL(make, row)
#define INT_INT(make, row)  make row
#define UINT_ANY(make, row) make row
#define UINT_FLOAT(make, row)
#define UINT_INT(make, row)  make row
#define UINT_BOOL(make, row) make row /* bool is held in u64 */
#endif
