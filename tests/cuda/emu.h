/* emu.h - CUDA C++ for this processor: what NVRTC has built in, as far as kernels here use it.
 *
 * Threads of a block are run by the driver (fibres.cpp), one after the other; `emu_now` tells which
 * one runs.  It can see: shared memory without a barrier in between (emu::shared), threads and
 * blocks that wait for each other, accesses out of bounds.  It cannot see: the order of memory
 * between blocks, registers, time. */
#include "emu_host.h"

#define EMU_EXPORT __attribute__((visibility("default")))
extern "C" {
EMU_EXPORT emu_host *emu_now;
/* What it was compiled for; PTX is negative. */
EMU_EXPORT extern const int emu_architecture = EMU_ARCHITECTURE;
}

#define __CUDACC__     1
#define __CUDACC_RTC__ 1
#define __device__
#define __host__
#define __global__ EMU_EXPORT
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__    __attribute__((noinline))
#define __restrict__ __restrict
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define threadIdx    (emu_now->thread)
#define blockIdx     (emu_now->block)
#define blockDim     (emu_now->n_threads)
#define gridDim      (emu_now->n_blocks)
#define warpSize     32

/* ---- Types ------------------------------------------------------------------------------------- */
typedef __SIZE_TYPE__ size_t;

/* Tables from here on, a row each.
 * clang-format makes nests of them. */
// clang-format off
#define EMU_VECTORS(type, base, align2, align4)                                                            \
    struct __align__(align2) type##2 { base x, y; };                                                       \
    struct type##3 { base x, y, z; };                                                                      \
    struct __align__(align4) type##4 { base x, y, z, w; };                                                 \
    static inline type##2 make_##type##2(base x, base y) { return { x, y }; }                              \
    static inline type##3 make_##type##3(base x, base y, base z) { return { x, y, z }; }                   \
    static inline type##4 make_##type##4(base x, base y, base z, base w) { return { x, y, z, w }; }
EMU_VECTORS(float,     float,              8,  16)
EMU_VECTORS(double,    double,             16, 16)
EMU_VECTORS(int,       int,                8,  16)
EMU_VECTORS(uint,      unsigned,           8,  16)
EMU_VECTORS(longlong,  long long,          16, 16)
EMU_VECTORS(ulonglong, unsigned long long, 16, 16)
EMU_VECTORS(ushort,    unsigned short,     4,  8)
EMU_VECTORS(uchar,     unsigned char,      2,  4)

/* ---- Arithmetic: the C library's, which the compiler knows ---------------------------------------- */
extern "C" {
void *memcpy(void *, const void *, size_t) noexcept;
void *memset(void *, int, size_t) noexcept;
double fma(double, double, double) noexcept;
float  fmaf(float, float, float) noexcept;
double ldexp(double, int) noexcept;
float  ldexpf(float, int) noexcept;
#define EMU_1(name) double name(double) noexcept; float name##f(float) noexcept;
#define EMU_2(name) double name(double, double) noexcept; float name##f(float, float) noexcept;
EMU_1(fabs)  EMU_1(sqrt)  EMU_1(cbrt)  EMU_1(floor) EMU_1(ceil)  EMU_1(trunc)  EMU_1(round)  EMU_1(rint)
EMU_1(exp)   EMU_1(exp2)  EMU_1(expm1) EMU_1(log)   EMU_1(log2)  EMU_1(log10)  EMU_1(log1p)  EMU_1(nearbyint)
EMU_1(sin)   EMU_1(cos)   EMU_1(tan)   EMU_1(asin)  EMU_1(acos)  EMU_1(atan)   EMU_1(sinh)   EMU_1(cosh)
EMU_1(tanh)  EMU_1(asinh) EMU_1(acosh) EMU_1(atanh) EMU_1(erf)   EMU_1(erfc)   EMU_1(tgamma) EMU_1(lgamma)
EMU_2(fmin)  EMU_2(fmax)  EMU_2(pow)   EMU_2(fmod)  EMU_2(atan2) EMU_2(hypot)  EMU_2(fdim)   EMU_2(copysign)
EMU_2(remainder)          EMU_2(nextafter)
}

#define EMU_FUNCTION(type, name, parameters, value) static inline type name parameters { return value; }
EMU_FUNCTION(bool, isnan,    (float x),  __builtin_isnan(x))
EMU_FUNCTION(bool, isnan,    (double x), __builtin_isnan(x))
EMU_FUNCTION(bool, isinf,    (float x),  __builtin_isinf(x))
EMU_FUNCTION(bool, isinf,    (double x), __builtin_isinf(x))
EMU_FUNCTION(bool, isfinite, (float x),  __builtin_isfinite(x))
EMU_FUNCTION(bool, isfinite, (double x), __builtin_isfinite(x))
EMU_FUNCTION(bool, signbit,  (float x),  __builtin_signbit(x))
EMU_FUNCTION(bool, signbit,  (double x), __builtin_signbit(x))
EMU_FUNCTION(float,  __fmaf_rn,  (float a, float b, float c),    __builtin_fmaf(a, b, c))
EMU_FUNCTION(double, __fma_rn,   (double a, double b, double c), __builtin_fma(a, b, c))
EMU_FUNCTION(float,  __fadd_rn,  (float a, float b),   a + b)
EMU_FUNCTION(float,  __fsub_rn,  (float a, float b),   a - b)
EMU_FUNCTION(float,  __fmul_rn,  (float a, float b),   a * b)
EMU_FUNCTION(float,  __fdiv_rn,  (float a, float b),   a / b)
EMU_FUNCTION(float,  __fsqrt_rn, (float a),            __builtin_sqrtf(a))
EMU_FUNCTION(double, __dadd_rn,  (double a, double b), a + b)
EMU_FUNCTION(double, __dsub_rn,  (double a, double b), a - b)
EMU_FUNCTION(double, __dmul_rn,  (double a, double b), a * b)
EMU_FUNCTION(double, __ddiv_rn,  (double a, double b), a / b)
EMU_FUNCTION(double, __dsqrt_rn, (double a),           __builtin_sqrt(a))
EMU_FUNCTION(int, __popc,   (unsigned x),           __builtin_popcount(x))
EMU_FUNCTION(int, __popcll, (unsigned long long x), __builtin_popcountll(x))
EMU_FUNCTION(int, __clz,    (int x),                x ? __builtin_clz((unsigned)x) : 32)
EMU_FUNCTION(int, __clzll,  (long long x),          x ? __builtin_clzll((unsigned long long)x) : 64)
EMU_FUNCTION(int, __ffs,    (int x),                __builtin_ffs(x))
EMU_FUNCTION(int, __ffsll,  (long long x),          __builtin_ffsll(x))
EMU_FUNCTION(int,      __mulhi,  (int a, int b),           (int)((long long)a * b >> 32))
EMU_FUNCTION(unsigned, __umulhi, (unsigned a, unsigned b), (unsigned)((unsigned long long)a * b >> 32))
EMU_FUNCTION(long long, __mul64hi, (long long a, long long b), (long long)((__int128)a * b >> 64))
EMU_FUNCTION(unsigned long long, __umul64hi, (unsigned long long a, unsigned long long b),
             (unsigned long long)((unsigned __int128)a * b >> 64))

#define EMU_BITS(to, name, from) static inline to name(from x) { to y; memcpy(&y, &x, sizeof y); return y; }
EMU_BITS(unsigned,  __float_as_uint,      float)
EMU_BITS(int,       __float_as_int,       float)
EMU_BITS(float,     __uint_as_float,      unsigned)
EMU_BITS(float,     __int_as_float,       int)
EMU_BITS(long long, __double_as_longlong, double)
EMU_BITS(double,    __longlong_as_double, long long)

/* Of two floats one of which is NaN, the other. */
template <class T> static inline T min(T a, T b) { return b < a ? b : a; }
template <class T> static inline T max(T a, T b) { return a < b ? b : a; }
EMU_FUNCTION(float,  min, (float a, float b),   __builtin_fminf(a, b))
EMU_FUNCTION(float,  max, (float a, float b),   __builtin_fmaxf(a, b))
EMU_FUNCTION(double, min, (double a, double b), __builtin_fmin(a, b))
EMU_FUNCTION(double, max, (double a, double b), __builtin_fmax(a, b))

/* ---- Units for special functions: each an ulp less than it should be ------------------------- */
#define RD_UNITS_EMULATED
static inline float emu_off(double y)
{
    const float x = (float)y;

    return x == 0 || !isfinite(x) ? x : nextafterf(x, 0);
}
static inline float rd_unit_exp2(float x)
{
    const float y = emu_off(exp2((double)x));

    return y < 0x1p-126F ? 0 : y;
}
EMU_FUNCTION(float, rd_unit_log2, (float x),          emu_off(log2((double)x)))
EMU_FUNCTION(float, rd_unit_sin,  (float x),          emu_off(sin((double)x)))
EMU_FUNCTION(float, rd_unit_cos,  (float x),          emu_off(cos((double)x)))
EMU_FUNCTION(float, rd_unit_tanh, (float x),          emu_off(tanh((double)x)))
EMU_FUNCTION(float, rd_unit_pow,  (float x, float y), emu_off(pow((double)x, (double)y)))
EMU_FUNCTION(float, rd_unit_sqrt, (float x),          emu_off(sqrt((double)x)))
EMU_FUNCTION(float, rd_unit_div,  (float a, float b), emu_off((double)a / (double)b))

/* ---- Global memory -------------------------------------------------------------------------------- */
#define EMU_LOAD(name)  template <class T> static inline T name(const T *p) { return *p; }
#define EMU_STORE(name) template <class T> static inline void name(T *p, T x) { *p = x; }
EMU_LOAD(__ldg)   EMU_LOAD(__ldcs)  EMU_LOAD(__ldcg) EMU_LOAD(__ldca) EMU_LOAD(__ldlu)
EMU_STORE(__stcs) EMU_STORE(__stcg) EMU_STORE(__stwb)

/* Nobody comes in between, as threads change only where they wait. */
#define EMU_ATOMIC(name, value) \
    template <class T> static inline T name(T *p, T x) { const T old = *p; *p = (value); return old; }
EMU_ATOMIC(atomicAdd,  (T)(old + x))
EMU_ATOMIC(atomicSub,  (T)(old - x))
EMU_ATOMIC(atomicExch, x)
EMU_ATOMIC(atomicOr,   old | x)
EMU_ATOMIC(atomicAnd,  old & x)
EMU_ATOMIC(atomicXor,  old ^ x)
EMU_ATOMIC(atomicMin,  x < old ? x : old)
EMU_ATOMIC(atomicMax,  old < x ? x : old)
    // clang-format on
    template <class T>
    static inline T atomicCAS(T *p, T expected, T x)
{
    const T old = *p;

    if (old == expected)
        *p = x;
    return old;
}

#define __threadfence()       ((void)0)
#define __threadfence_block() ((void)0)
#define __nanosleep(ns)       emu_now->yield()
#define RD_WAIT_FOR(word)     emu_now->wait_word(word, __LINE__)
#define __trap()              emu_now->give_up("__trap() was called")

#include "emu_block.h"
