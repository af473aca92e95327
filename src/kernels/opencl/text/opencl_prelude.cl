/* opencl_prelude.cl - the beginning of the text of every kernel: names that OpenCL C spells
 * differently from C, and the library's own code for operators and reducers.
 *
 * Nothing is contracted.  All functions of OpenCL that are called are exact or correctly rounded:
 * fma, sqrt (-cl-fp32-correctly-rounded-divide-sqrt), fabs, copysign, and those that give whole
 * numbers.  So a kernel has the bits of the CPU. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

typedef char   int8_t;
typedef short  int16_t;
typedef int    int32_t;
typedef long   int64_t;
typedef uchar  uint8_t;
typedef ushort uint16_t;
typedef uint   uint32_t;
typedef ulong  uint64_t;

#undef INT64_MIN
#undef INT64_MAX
#undef UINT64_MAX
#undef INFINITY
#undef NAN
#undef __INT32_MAX__
#define __INT32_MAX__ 0x7fffffff
#define INT64_MAX     0x7fffffffffffffffL
#define INT64_MIN     (-INT64_MAX - 1)
#define UINT64_MAX    0xffffffffffffffffUL
#define INT64_C(x)    x##L
#define UINT64_C(x)   x##UL
#define INFINITY      as_float(0x7f800000)
#define NAN           as_float(0x7fc00000)
/* The NaN of an extreme: see emit/reducer_functions.c. */
#define RD_NAN_BY_F32(x) NAN
#define RD_NAN_BY_F64(x) NAN

/* Names that are words of OpenCL C. */
#define half           rd_half
#define _Static_assert(...)

/* C has a function for each type of float; OpenCL C has one name for all types.  Names of OpenCL's
 * functions may be macros.  Then the library's macros, which make names of them, would fail. */
#define RD_INLINE static inline __attribute__((always_inline))
#define RD_CL_1(f32, f64, f)        \
    RD_INLINE float f32(float x)    \
    {                               \
        return f(x);                \
    }                               \
    RD_INLINE double f64(double x)  \
    {                               \
        return f(x);                \
    }
#define RD_CL_2(f32, f64, f)                 \
    RD_INLINE float f32(float x, float y)    \
    {                                        \
        return f(x, y);                      \
    }                                        \
    RD_INLINE double f64(double x, double y) \
    {                                        \
        return f(x, y);                      \
    }
RD_CL_1(rd_cl_fabsf, rd_cl_fabs, fabs)
RD_CL_1(rd_cl_sqrtf, rd_cl_sqrt, sqrt)
RD_CL_1(rd_cl_floorf, rd_cl_floor, floor)
RD_CL_1(rd_cl_ceilf, rd_cl_ceil, ceil)
RD_CL_1(rd_cl_rintf, rd_cl_rint, rint)
RD_CL_1(rd_cl_truncf, rd_cl_trunc, trunc)
RD_CL_2(rd_cl_copysignf, rd_cl_copysign, copysign)
RD_CL_2(rd_cl_fmodf, rd_cl_fmod, fmod)
/* Returns x y + z, rounded once, in f32. */
RD_INLINE float rd_cl_fmaf(float x, float y, float z)
{
    return fma(x, y, z);
}
/* Returns x y + z, rounded once, in f64. */
RD_INLINE double rd_cl_fma(double x, double y, double z)
{
    return fma(x, y, z);
}

#undef acos
#undef acosh
#undef asin
#undef asinh
#undef atan
#undef atan2
#undef atanh
#undef cbrt
#undef ceil
#undef copysign
#undef cos
#undef cosh
#undef erf
#undef erfc
#undef exp
#undef exp10
#undef exp2
#undef expm1
#undef fabs
#undef floor
#undef fma
#undef fmax
#undef fmin
#undef fmod
#undef hypot
#undef ldexp
#undef lgamma
#undef log
#undef log10
#undef log1p
#undef log2
#undef nextafter
#undef pow
#undef remainder
#undef rint
#undef round
#undef sign
#undef sin
#undef sinh
#undef sqrt
#undef tan
#undef tanh
#undef tgamma
#undef trunc
#define fabs(x) rd_cl_fabs(x)
#define fabsf(x) rd_cl_fabsf(x)
#define sqrt(x) rd_cl_sqrt(x)
#define sqrtf(x) rd_cl_sqrtf(x)
#define floor(x) rd_cl_floor(x)
#define floorf(x) rd_cl_floorf(x)
#define ceil(x) rd_cl_ceil(x)
#define ceilf(x) rd_cl_ceilf(x)
#define rint(x) rd_cl_rint(x)
#define rintf(x) rd_cl_rintf(x)
#define trunc(x) rd_cl_trunc(x)
#define truncf(x) rd_cl_truncf(x)
#define copysign(x, y) rd_cl_copysign(x, y)
#define copysignf(x, y) rd_cl_copysignf(x, y)
#define fmod(x, y) rd_cl_fmod(x, y)
#define fmodf(x, y) rd_cl_fmodf(x, y)
#define fma(x, y, z) rd_cl_fma(x, y, z)
#define fmaf(x, y, z) rd_cl_fmaf(x, y, z)
#define __builtin_fabs(x) rd_cl_fabs(x)
#define __builtin_fabsf(x) rd_cl_fabsf(x)
#define __builtin_sqrt(x) rd_cl_sqrt(x)
#define __builtin_sqrtf(x) rd_cl_sqrtf(x)
#define __builtin_rint(x) rd_cl_rint(x)
#define __builtin_rintf(x) rd_cl_rintf(x)
#define __builtin_copysign(x, y) rd_cl_copysign(x, y)
#define __builtin_copysignf(x, y) rd_cl_copysignf(x, y)
#define __builtin_fma(x, y, z) rd_cl_fma(x, y, z)
#define __builtin_fmaf(x, y, z) rd_cl_fmaf(x, y, z)
#define __builtin_clzll(x)      ((int)clz((ulong)(x)))
#define __builtin_ctzll(x)      (63 - (int)clz((ulong)(x) & -(ulong)(x)))
#define __builtin_popcountll(x) ((int)popcount((ulong)(x)))
#define __builtin_expect(x, y)  (x)
#define __builtin_isunordered(x, y) ((x) != (x) || (y) != (y))

/* core/bits.h, whose memcpy() OpenCL C has not. */
#define RD_CORE_BITS_H
#define RD_TABLE        __constant
#define rd_bits_f32(x)  as_uint((float)(x))
#define rd_float_of(x)  as_float((uint)(x))
#define rd_bits_f64(x)  as_ulong((double)(x))
#define rd_double_of(x) as_double((ulong)(x))

enum { RD_WARN_INT_DIVIDE = 1 };

#define RD_HALF_TYPES
#include "core/half.h"
#include "kernels/math/row_functions.h"
#include "kernels/math/prefix_sums.h"
#include "kernels/math/math_divide.h"
#include "kernels/emit/combine_nodes.h"
#include "kernels/opencl/text/kernel_record.h"

/* ---- What printed texts call ----------------------------------------------------------------- */
#define LESS(a, b)  ((a) < (b) ? (a) : (b))
#define MORE(a, b)  ((a) > (b) ? (a) : (b))
#define LINES       __attribute__((aligned(16)))
#define KERNEL      __attribute__((reqd_work_group_size(RD_CL_GROUP, 1, 1))) __kernel void
#define NOINLINE
#define INDEPENDENT
#define RD_LESS(a, b)     LESS(a, b)
/* What users' texts may name is here already. */
#define RD_USERS
#define USER static inline __attribute__((always_inline)) void
#define RD_UNROLL         _Pragma("unroll")
#define RD_UNROLL_FEW
#define RD_QUOTIENT(a, b) ((a) / (uint64_t)(b))
#define RD_REST(a, b)     ((a) % (uint64_t)(b))
#define RD_EXP_STRIP(elem, x, n) for (int k = 0; k < (n); k++) (x)[k] = rd_math_exp_##elem((x)[k]);
#define rd_exp_strip_f32(x, n)  RD_EXP_STRIP(f32, x, n)
#define rd_exp_strip_f64(x, n)  RD_EXP_STRIP(f64, x, n)

/* Counts the nodes below a level, of a scan by n ranges. */
static inline int64_t rd_nodes_below(int64_t n, int level)
{
    int64_t nodes = 0;

    for (; level-- > 0; n >>= 1)
        nodes += n;
    return nodes;
}

/* An item's states. */
typedef struct rd_task {
    char *state;
} rd_task;

/* The first invalid index of an item. */
typedef struct rd_failed {
    int32_t found, is_unsigned;
    int64_t index, extent;
} rd_failed;

/* Returns a checked index.  The first one of an item that is outside its axis is noted in
 * *failed, and index 0 stands in for it. */
RD_INLINE int64_t rd_index_of(bool outside, int64_t at, int64_t extent, int32_t is_unsigned,
                              rd_failed *failed)
{
    if (outside && !failed->found) {
        failed->found       = 1;
        failed->is_unsigned = is_unsigned;
        failed->index       = at;
        failed->extent      = extent;
    }
    return outside ? 0 : at;
}

/* Returns the checked place of an index; a negative one counts from the end of the axis. */
RD_INLINE int64_t rd_index_one_i64(int64_t at, int64_t extent, rd_failed *failed)
{
    const int64_t index = rd_index_of(at < -extent || at >= extent, at, extent, 0, failed);

    return index < 0 ? index + extent : index;
}

/* Returns the checked place of an unsigned index. */
RD_INLINE int64_t rd_index_u64(uint64_t at, int64_t extent, rd_failed *failed)
{
    return rd_index_of(at >= (uint64_t)extent, (int64_t)at, extent, 1, failed);
}

/* Notes the first item of the call that failed.  An item that runs alone notes its index, too. */
RD_INLINE void rd_report(__global rd_cl_record *record, int64_t item, bool alone, uint32_t warnings,
                         rd_failed failed)
{
    if (warnings)
        atomic_or((volatile __global uint *)&record->warnings, warnings);
    if (failed.found)
        atomic_min((volatile __global uint *)&record->least, (uint)item);
    if (failed.found && alone) {
        record->found       = 1;
        record->is_unsigned = failed.is_unsigned;
        record->index       = failed.index;
        record->extent      = failed.extent;
    }
}
#define RD_REPORT rd_report(record, item - c.at[0], c.at[1] - c.at[0] == 1, warnings, failed);
