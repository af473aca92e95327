/* cuda_prelude.cuh - the beginning of the text of every kernel: the library's own code for
 * operators and reducers, and what that code needs of C's headers.
 *
 * Nothing is contracted (--fmad=false), so PTX says what is rounded.  All operations are those
 * that IEEE 754 rounds correctly.  So a kernel has the bits of the CPU.  Tests run the same text
 * on the CPU, with tests/cuda/emu.h before it. */
#ifdef __CUDACC_RTC__
typedef signed char        int8_t;
typedef short              int16_t;
typedef int                int32_t;
typedef long long          int64_t;
typedef unsigned char      uint8_t;
typedef unsigned short     uint16_t;
typedef unsigned           uint32_t;
typedef unsigned long long uint64_t;

#define __INT32_MAX__     0x7fffffff
#define __INT64_MAX__     0x7fffffffffffffffLL
#define __UINT64_MAX__    0xffffffffffffffffULL
#define INT64_MIN         (-__INT64_MAX__ - 1)
#define INT64_MAX         __INT64_MAX__
#define UINT64_MAX        __UINT64_MAX__
#define INT64_C(x)        x##LL
#define UINT64_C(x)       x##ULL
#define INFINITY          __int_as_float(0x7f800000)
#define NAN               __int_as_float(0x7fc00000)

/* The type of an expression, which C++ has as a reference. */
template <class T> struct rd_plain {
    typedef T type;
};
template <class T> struct rd_plain<T &> {
    typedef T type;
};
#define __typeof__(x) rd_plain<decltype(x)>::type

/* One instruction each. */
#define __builtin_fmaf(a, b, c)   __fmaf_rn(a, b, c)
#define __builtin_fma(a, b, c)    __fma_rn(a, b, c)
#define __builtin_fabsf(x)        fabsf(x)
#define __builtin_fabs(x)         fabs(x)
#define __builtin_copysignf(x, y) copysignf(x, y)
#define __builtin_copysign(x, y)  copysign(x, y)
#define __builtin_rint(x)         rint(x)
#define __builtin_rintf(x)        rintf(x)
#define __builtin_sqrt(x)         sqrt(x)
#define __builtin_sqrtf(x)        sqrtf(x)
#define __builtin_isnan(x)        isnan(x)
#define __builtin_isfinite(x)     isfinite(x)
#define __builtin_clzll(x)        __clzll((long long)(x))
#define __builtin_ctzll(x)        (__ffsll((long long)(x)) - 1)
#define __builtin_popcountll(x)   __popcll(x)

#ifndef RD_SHARED
#define RD_SHARED(type, name, n)               __shared__ __align__(16) type name[n]
#define RD_SHARED_DYNAMIC(type, name)          extern __shared__ __align__(16) type name[]
#define RD_TAKE_SHARED(T, N, array, at)        rd_take_whole<T, N>(&(array)[at])
#define RD_PUT_SHARED(T, N, array, at, pack)   rd_put_whole<T, N>(&(array)[at], pack)
#define RD_F16_IN_HARDWARE
#if __CUDA_ARCH__ >= 800
#define RD_BF16_IN_HARDWARE
#define RD_NAN_IN_HARDWARE
#endif
#endif
#endif
#define _Static_assert static_assert
#define _Bool          bool
/* The NaN of an extreme: see emit/reducer_functions.c. */
#define RD_NAN_BY_F32(x) NAN
#define RD_NAN_BY_F64(x) NAN

#define RD_HALF_TYPES
#include "core/half.h"
enum { RD_WARN_INT_DIVIDE = 1 };

#ifdef RD_F16_IN_HARDWARE /* one instruction where core/half.h takes ten */
/* Converts f16 to f32, exactly. */
static __forceinline__ float rd_f16_to_f32(rd_f16 x)
{
    float y;

    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
    return y;
}

/* Converts f32 to the nearest f16, ties to even. */
static __forceinline__ rd_f16 rd_f16_of_f32(float x)
{
    rd_f16 y;

    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
}

/* Rounds an f32 to the nearest number that f16 has. */
static __forceinline__ float rd_round_f16(float x)
{
    return rd_f16_to_f32(rd_f16_of_f32(x));
}
#endif
#ifdef RD_BF16_IN_HARDWARE
/* Converts f32 to the nearest bf16, ties to even. */
static __forceinline__ rd_bf16 rd_bf16_of_f32(float x)
{
    rd_bf16 y;

    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
}

/* Rounds an f32 to the nearest number that bf16 has: bf16 is the upper half of an f32. */
static __forceinline__ float rd_round_bf16(float x)
{
    return __uint_as_float((uint32_t)rd_bf16_of_f32(x).bits << 16);
}
#endif

#define RD_EXP_F32_APART
#include "kernels/math/row_functions.h"
#include "kernels/math/prefix_sums.h"
#ifdef RD_FAST
#include "kernels/cuda/text/fast.cuh"
#else
#include "kernels/cuda/text/exp.cuh"
#endif

/* What users' texts may name is here already. */
#define RD_USERS
#define USER static inline void

#define RD_LESS(a, b) ((a) < (b) ? (a) : (b))
#define RD_UNROLL     _Pragma("unroll")
#define RD_UNROLL_FEW _Pragma("unroll 4")
#define RD_ONE_BY_ONE _Pragma("unroll 1")
/* All threads of a team: one, a warp, or a part of one. */
#define RD_OURS       (((1ULL << RD_TEAM) - 1) << (threadIdx.x % 32 / RD_TEAM * RD_TEAM))
#define RD_SYNC_BLOCK __syncthreads();
#define RD_SYNC_TEAM       if (RD_TEAM > 1) __syncwarp((unsigned)RD_OURS);

/* Vectors of N elements, moved 16 bytes at a time.  RD_NARROW: they may begin anywhere. */
template <class T, int N> struct rd_pack {
    T e[N];
};
template <class T, int N> struct __align__(N * sizeof(T)) rd_whole {
    T e[N];
};
#define RD_AT_ONCE (N * sizeof(T) <= 16 ? N : (int)(16 / sizeof(T)))

/* Loads N elements by accesses of up to 16 bytes. */
template <class T, int N> static __forceinline__ rd_pack<T, N> rd_take_whole(const T *p)
{
    rd_pack<T, N> x;

    RD_UNROLL for (int k = 0; k < N; k += RD_AT_ONCE) {
        const rd_whole<T, RD_AT_ONCE> part = *(const rd_whole<T, RD_AT_ONCE> *)(p + k);

        RD_UNROLL for (int l = 0; l < RD_AT_ONCE; l++)
            x.e[k + l] = part.e[l];
    }
    return x;
}
/* Stores N elements by accesses of up to 16 bytes. */
template <class T, int N> static __forceinline__ void rd_put_whole(T *p, const rd_pack<T, N> &x)
{
    RD_UNROLL for (int k = 0; k < N; k += RD_AT_ONCE) {
        rd_whole<T, RD_AT_ONCE> part;

        RD_UNROLL for (int l = 0; l < RD_AT_ONCE; l++)
            part.e[l] = x.e[k + l];
        *(rd_whole<T, RD_AT_ONCE> *)(p + k) = part;
    }
}

/* Loads N elements one by one, wherever they begin. */
template <class T, int N> static __forceinline__ rd_pack<T, N> rd_take_each(const T *p)
{
    rd_pack<T, N> x;

    RD_UNROLL for (int l = 0; l < N; l++)
        x.e[l] = p[l];
    return x;
}
/* Stores N elements one by one. */
template <class T, int N> static __forceinline__ void rd_put_each(T *p, const rd_pack<T, N> &x)
{
    RD_UNROLL for (int l = 0; l < N; l++)
        p[l] = x.e[l];
}

/* Loads N elements: by vectors, or one by one in the narrow variant. */
template <class T, int N> static __forceinline__ rd_pack<T, N> rd_take(const T *p)
{
#ifdef RD_NARROW
    return rd_take_each<T, N>(p);
#else
    return rd_take_whole<T, N>(p);
#endif
}
/* Loads the first `some` of N elements. */
template <class T, int N> static __forceinline__ rd_pack<T, N> rd_take_some(const T *p, int some)
{
    rd_pack<T, N> x = {};

    if (some >= N)
        return rd_take<T, N>(p);
    RD_UNROLL for (int l = 0; l < N; l++)
        if (l < some)
            x.e[l] = p[l];
    return x;
}
/* Stores N elements: by vectors, or one by one in the narrow variant. */
template <class T, int N> static __forceinline__ void rd_put(T *p, const rd_pack<T, N> &x)
{
#ifdef RD_NARROW
    rd_put_each<T, N>(p, x);
#else
    rd_put_whole<T, N>(p, x);
#endif
}

#include "kernels/cuda/text/stage_copies.cuh"

/* ---- A run ----------------------------------------------------------------------------------- */
#include "kernels/cuda/kernel_call.h"
#define RD_RECORD ((rd_record *)q.head.record)

#define RD_WARN(warnings) \
    if (warnings)         \
        atomicOr(&RD_RECORD->warnings, warnings);

/* Reports an invalid index, unless an earlier position has reported one. */
static __forceinline__ void rd_report(rd_record *record, uint64_t order, int64_t index,
                                      int64_t extent, int32_t is_unsigned)
{
    if (atomicMin((unsigned long long *)&record->least, order) <= order)
        return;
    const uint32_t at = atomicAdd(&record->n, 1u);

    if (at >= RD_FAILURES)
        return;
    record->failure[at].order       = order;
    record->failure[at].index       = index;
    record->failure[at].extent      = extent;
    record->failure[at].is_unsigned = is_unsigned;
}

/* Negative indices count from the end.  One that is outside is reported, and the first element
 * stands in for it. */
#define RD_INDEX_I64(to, from, extent, order)                   \
    int64_t to = from;                                          \
    if (to < -(extent) || to >= (extent)) {                     \
        rd_report(RD_RECORD, order, to, extent, 0);              \
        to = 0;                                                 \
    } else if (to < 0)                                          \
        to += extent;
#define RD_INDEX_U64(to, from, extent, order)                   \
    uint64_t to = from;                                         \
    if (to >= (uint64_t)(extent)) {                             \
        rd_report(RD_RECORD, order, (int64_t)to, extent, 1);     \
        to = 0;                                                 \
    }

/* Items are told apart by divisions: of 32 bits, where they are so few. */
#define RD_FAR(a, b)      (((a) | (uint64_t)(b)) >> 32)
#define RD_QUOTIENT(a, b) (RD_FAR(a, b) ? (a) / (uint64_t)(b) : (uint64_t)((uint32_t)(a) / (uint32_t)(b)))
#define RD_REST(a, b)     (RD_FAR(a, b) ? (a) % (uint64_t)(b) : (uint64_t)((uint32_t)(a) % (uint32_t)(b)))

/* ---- Words of shared memory ------------------------------------------------------------------ */
#define RD_WORDS(type)                               \
    static inline uint64_t rd_word_of_##type(type x) \
    {                                                \
        return (uint64_t)x;                          \
    }                                                \
    static inline type rd_##type##_of(uint64_t word) \
    {                                                \
        return (type)word;                           \
    }
RD_WORDS(uint8_t)
RD_WORDS(int32_t)
RD_WORDS(uint32_t)
RD_WORDS(int64_t)
RD_WORDS(uint64_t)
#define rd_word_of_float(x)  rd_bits_f32(x)
#define rd_word_of_double(x) rd_bits_f64(x)

#include "kernels/emit/combine_nodes.h"

/* ---- Groups of ranges ------------------------------------------------------------------------ */
/* The first row of a group, among all rows of its item. */
static __forceinline__ int64_t rd_row_of(const rd_call_head &head, int level, int64_t at)
{
    return head.level[level].row + at * head.level[level].rows;
}
/* The same states in a row of nodes further on. */
#define RD_IN_ROW(p, row) ((__typeof__(p))((char *)(p) + (row) * RD_ROW))

/* True in the last one of `many` teams that arrive at a counter: it sees all that the others have
 * stored.  It sets the counter to 0 again. */
template <int TEAM> static __forceinline__ bool rd_is_last(uint32_t *counter, int64_t many, int t)
{
    const unsigned ours   = (unsigned)(((1ULL << TEAM) - 1) << (threadIdx.x % 32 / TEAM * TEAM));
    uint32_t       before = 0;

    __threadfence();
    if (TEAM > 1)
        __syncwarp(ours);
    if (t == 0) {
        before = atomicAdd(counter, 1u);
        if (before + 1 == many)
            *counter = 0;
    }
    if (TEAM > 1)
        before = __shfl_sync(ours, before, 0, TEAM);
    __threadfence();
    return before + 1 == many;
}

/* The same for a block of threads, all of which call it.  `came` is a word of its shared memory. */
template <class W>
static __forceinline__ bool rd_is_last_block(uint32_t *counter, int64_t many, W &came)
{
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        const bool last = atomicAdd(counter, 1u) + 1 == many;

        if (last)
            *counter = 0;
        came[0] = last;
    }
    __syncthreads();
    const bool last = came[0];

    __threadfence();
    return last;
}

/* Counts the nodes below a level, of n ranges and the nodes above them. */
static inline int64_t rd_nodes_below(int64_t n, int level)
{
    int64_t nodes = 0;

    for (; level-- > 0; n >>= 1)
        nodes += n;
    return nodes;
}

#include "kernels/cuda/text/lookback_scan.cuh"
