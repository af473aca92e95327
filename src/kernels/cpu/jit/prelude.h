/* prelude.h - what every emitted text begins with: the library's own code for operators and
 * reducers, so that compiled code has its bits; and what that code needs of C's headers. The
 * headers themselves are left out: they take longer to compile than all else, and a change in
 * them would change no key. */
typedef __INT8_TYPE__   int8_t;
typedef __INT16_TYPE__  int16_t;
typedef __INT32_TYPE__  int32_t;
typedef __INT64_TYPE__  int64_t;
typedef __UINT8_TYPE__  uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __SIZE_TYPE__   size_t;

#define INT64_MIN   (-__INT64_MAX__ - 1)
#define INT64_MAX   __INT64_MAX__
#define UINT64_MAX  __UINT64_MAX__
#define NULL        ((void *)0)
#define NAN         __builtin_nanf("")
#define INFINITY    __builtin_inff()
#define isnan(x)    __builtin_isnan(x)
#define isfinite(x) __builtin_isfinite(x)

void *memcpy(void *to, const void *from, size_t n);
#define RD_MATH1(name, hard) double name(double);
#define RD_MATH2(name, hard) double name(double, double);
#define RD_OWN1(name)
#define RD_OWN2(name)
#define RD_LIBM1(name)   \
    double name(double); \
    float  name##f(float);
#define RD_LIBM2(name)           \
    double name(double, double); \
    float  name##f(float, float);
#define RD_LIBM3(name)                   \
    double name(double, double, double); \
    float  name##f(float, float, float);
#include "kernels/math/math.def"
double copysign(double, double);
float  copysignf(float, float);

enum { RD_WARN_INT_DIVIDE = 1 };

#include "kernels/math/row_functions.h"
#include "kernels/math/math_exp_strip.h"
#include "kernels/math/math_random_strip.h"

/* exp of n numbers, up to whole vectors, where compilers do not know n: one function that is not
 * inlined. */
#define RD_DEFINE_EXP_STRIPS(elem, C, V, exp_of)                                \
    static __attribute__((noinline)) void rd_exp_strips_##elem(C *x, int64_t n) \
    {                                                                           \
        for (int64_t i = 0; i < n; i += (int64_t)(sizeof(V) / sizeof *x))       \
            *(V *)(x + i) = exp_of(*(V *)(x + i));                              \
    }
RD_DEFINE_EXP_STRIPS(f32, float, rd_v32, rd_exp_v32)
RD_DEFINE_EXP_STRIPS(f64, double, rd_v64, rd_exp_v64)

/* Elements that are copied as bits, of any type. */
typedef float  rd_bits32 __attribute__((may_alias));
typedef double rd_bits64 __attribute__((may_alias));

/* NaN, made of a number that is infinite or NaN: see emit/reducer_functions.c. */
#define RD_NAN_BY_F32(x) rd_float_of((rd_bits_f32(x) & 0x7f800000) | 0x400000)
#define RD_NAN_BY_F64(x) rd_double_of((rd_bits_f64(x) & 0x7ff0000000000000) | 0x8000000000000)

/* Says of the loop that follows: its rounds do not depend on each other. */
#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif
/* Stands in a branch that is hardly ever taken. Compilers must not turn it into a choice between
 * numbers: each element would wait for it. */
#define RARELY __asm__ volatile("")
