/* table.h - one table of kernels: the includer sets NAME (of the instruction set), RD_VECTOR_BYTES
 * and probe(). */
#include "kernels/cpu/simd/simd.h"
#include "kernels/math/rows.h"
#include "kernels/math/so_far.h"
#include "kernels/math/math_exp_strip.h"
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wshadow"
/* entries made by hand replace those of states.h */
#pragma GCC diagnostic ignored "-Woverride-init"

/* What is said of the loop that follows: it is written out n times; its rounds do not wait for each
 * other.  clang sees the second by itself, and would change the order of sums if told. */
#if defined(__clang__)
#define UNROLL(n) _Pragma("clang loop unroll(full)")
#define INDEPENDENT
#else
#define PRAGMA(...) _Pragma(#__VA_ARGS__)
#define UNROLL(n)   PRAGMA(GCC unroll n)
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

/* Vectors that a called function would find in memory stay in registers. */
#define ALWAYS inline __attribute__((always_inline))

#define TEXT_(name) #name
#define TEXT(name)  TEXT_(name)

/* f(l, d) of all lanes l. */
#define INDICES_2(f, d) f(0, d), f(1, d)
#define INDICES_4(f, d) INDICES_2(f, d), f(2, d), f(3, d)
#define INDICES_8(f, d) INDICES_4(f, d), f(4, d), f(5, d), f(6, d), f(7, d)
#define INDICES_16(f, d) \
    INDICES_8(f, d), f(8, d), f(9, d), f(10, d), f(11, d), f(12, d), f(13, d), f(14, d), f(15, d)
#define INDICES_f32_16 INDICES_4
#define INDICES_f32_32 INDICES_8
#define INDICES_f32_64 INDICES_16
#define INDICES_f64_16 INDICES_2
#define INDICES_f64_32 INDICES_4
#define INDICES_f64_64 INDICES_8

#include "kernels/cpu/simd/vectors.h"
#define ELEM f32
#define T    float
#define I    int32_t
#include "kernels/cpu/simd/float_vectors.h"
#undef ELEM
#undef T
#undef I
#define ELEM f64
#define T    double
#define I    int64_t
#include "kernels/cpu/simd/float_vectors.h"
#undef ELEM
#undef T
#undef I
#include "kernels/cpu/simd/memory.h"

/* ---- Squares turned: turn.h, by size --------------------------------------------------------- */
#define WORD_f32 uint32_t
#define WORD_f64 uint64_t
#define T        uint8_t
#define BYTES    16
#define INDICES  INDICES_16
#include "kernels/cpu/simd/turn.h"
#undef T
#undef INDICES
#define T       uint16_t
#define INDICES INDICES_8
#include "kernels/cpu/simd/turn.h"
#undef T
#undef BYTES
#undef INDICES
#define PAST
#define T       uint32_t
#define BYTES   RD_VECTOR_BYTES
#define INDICES JOIN(INDICES_f32, RD_VECTOR_BYTES)
#include "kernels/cpu/simd/turn.h"
#undef T
#undef INDICES
#define T       uint64_t
#define INDICES JOIN(INDICES_f64, RD_VECTOR_BYTES)
#include "kernels/cpu/simd/turn.h"
#undef T
#undef BYTES
#undef INDICES
#undef PAST

/* ---- Maps: maps.h, by element ---------------------------------------------------------------- */
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

#define PICK(rule, make, float_row, int_row) INT_##rule(make, int_row)
#define FROM_FLOAT(x)                        rd_saturate_i64(x)
#define ELEM                                 i64
#define CLASS                                i64
#define T                                    int64_t
#include "kernels/cpu/simd/maps.h"
#undef ELEM
#undef CLASS
#undef T
#undef FROM_FLOAT
#define FROM_FLOAT(x) rd_saturate_u64(x)
#define ELEM          u64
#define CLASS         u64
#define T             uint64_t
#include "kernels/cpu/simd/maps.h"
#undef ELEM
#undef T
#undef FROM_FLOAT
#undef FROM_INT
#define FROM_FLOAT(x) ((x) != 0)
#define FROM_INT(x)   ((x) != 0)
#define ELEM          b8
#define T             uint8_t
#include "kernels/cpu/simd/maps.h"
#undef ELEM
#undef CLASS
#undef T
#undef FROM_FLOAT
#undef FROM_INT
#undef PICK

/* What f32 holds is rounded to halves as it is; else the last bit says which way. */
static rd_simd_cast *const half_casts[RD_N_ELEMS] = { [RD_ELEM_f32] = cast_f32_f32,
                                                      [RD_ELEM_f64] = odd_f64,
                                                      [RD_ELEM_i64] = odd_i64,
                                                      [RD_ELEM_u64] = odd_u64,
                                                      [RD_ELEM_b8]  = cast_b8_f32 };

/* ---- Folds: states.h, by element; by hand: strips.h ------------------------------------------ */
#define BY_HAND(name, merge_as, ...)                                     \
    [RD_RED_##name] = { .counter = JOIN(RD_ELEM, merge_as),              \
                        .first   = JOIN(JOIN(fold_##name, first), ELEM), \
                        .step    = JOIN(strip_##name##_none, ELEM),      \
                        .along   = JOIN(JOIN(fold_##name, along), ELEM), \
                        __VA_ARGS__,                                     \
                        .merge = JOIN(JOIN(fold_##name, merge), merge_as) },
#define STEP_BY_HAND(name, by_hand, block_code, merge_code, lanes_code)  \
    [RD_RED_##name] = { .counter = JOIN(RD_ELEM, ELEM),                  \
                        .first   = JOIN(JOIN(fold_##name, first), ELEM), \
                        .step    = JOIN(by_hand, ELEM),                  \
                        .masked  = JOIN(fold_##name##_masked, ELEM),     \
                        .along   = JOIN(JOIN(fold_##name, along), ELEM), \
                        .block   = block_code,                           \
                        AS_EVER(name),                                   \
                        .merge = JOIN(merge_code, ELEM),                 \
                        .lanes = lanes_code },
#define STEPS_BY_HAND                                                                             \
    STEP_BY_HAND(moments, moments_rows, JOIN(fold_moments_block, ELEM), fold_moments_merge, NULL) \
    STEP_BY_HAND(logsumexp, lse_rows, NULL, lse_merge, JOIN(lse_lanes, ELEM))                     \
    STEP_BY_HAND(maxsumexp, max_lse_rows, NULL, lse_merge, JOIN(lse_lanes, ELEM))
#define AS_EVER(name)                                                                             \
    .group = JOIN(JOIN(fold_##name, group), ELEM), .widen = JOIN(JOIN(fold_##name, widen), ELEM), \
    .finish = JOIN(JOIN(fold_##name, finish), ELEM)

#define FLOATS
#define PICK(kinds, make, row) FLOAT_##kinds(make, row)
#define RD_ADD(a, b)           ((a) + (b))
#define RD_MUL(a, b)           ((a) * (b))
#define ELEM                   f64
#define T                      double
#define I                      int64_t
#define RD_F(name)             rd_math_##name##_f64
#define RD_NAN                 ((double)NAN)
#define OWN_ENTRIES                   \
    BY_HAND(sum, f64, AS_EVER(sum))   \
    BY_HAND(dot, f64, AS_EVER(dot))   \
    BY_HAND(prod, f64, AS_EVER(prod)) \
    BY_HAND(min, f64, AS_EVER(min)) BY_HAND(max, f64, AS_EVER(max)) STEPS_BY_HAND
#define FROM f64
#define M    double
#include "kernels/cpu/simd/strips.h"
#undef FROM
#undef M
#include "kernels/cpu/simd/turned.h"
#include "kernels/cpu/simd/counts.h"
#include "kernels/cpu/simd/best.h"
#include "kernels/cpu/simd/products.h"
#include "kernels/cpu/simd/states.h"
#undef ELEM
#undef T
#undef I
#undef RD_F
#undef RD_NAN
#undef OWN_ENTRIES

/* Blocks of f32 sums add up in f64: the sum of 1e8 numbers is then off by no more than one
 * rounding. */
static void widen_sum(int64_t n, void *const *to, void *const *s)
{
    double      *y = to[0];
    const float *x = s[0];

    for (int64_t l = 0; l < n; l++)
        y[l] = x[l];
}

static void finish_wide_sum(int64_t n, void *const *s, double ddof, void *const *to)
{
    float        *y = to[0];
    const double *x = s[0];

    for (int64_t l = 0; l < n; l++)
        y[l] = (float)x[l];
}

/* Nodes hold what f32 holds, and merge as f32 do: rounding twice is rounding once where the wider
 * type has more than twice the bits. */
static void merge_short_sum(int64_t n, void *const *a, void *const *b)
{
    double       *x = a[0];
    const double *y = b[0];

    INDEPENDENT
    for (int64_t l = 0; l < n; l++)
        x[l] = (float)(x[l] + y[l]);
}

#define ELEM       f32
#define T          float
#define I          int32_t
#define RD_F(name) rd_math_##name##_f32
#define RD_NAN     NAN
#define OWN_ENTRIES                                                  \
    BY_HAND(sum, f64, .widen = widen_sum, .finish = finish_wide_sum) \
    BY_HAND(dot, f64, .widen = widen_sum, .finish = finish_wide_sum) \
    BY_HAND(prod, f32, AS_EVER(prod))                                \
    BY_HAND(min, f32, AS_EVER(min)) BY_HAND(max, f32, AS_EVER(max)) STEPS_BY_HAND
#define HALVES
#ifdef F16_VECTORS
#define FROM f16
#define M    rd_f16
#include "kernels/cpu/simd/strips.h"
#undef FROM
#undef M
#define IF_F16_VECTORS(table) table
#else
#define IF_F16_VECTORS(table) NULL /* widening by many instructions is a pass of its own */
#endif
#define FROM bf16
#define M    rd_bf16
#include "kernels/cpu/simd/strips.h"
#undef FROM
#undef M
#undef HALVES
#define FROM f32
#define M    float
#include "kernels/cpu/simd/strips.h"
#undef FROM
#undef M
#include "kernels/cpu/simd/turned.h"
#include "kernels/cpu/simd/counts.h"
#include "kernels/cpu/simd/best.h"
#include "kernels/cpu/simd/products.h"
#include "kernels/cpu/simd/states.h"
#define SHORT_SUM(name)                                     \
    [RD_RED_##name] = { .counter = RD_ELEM_f64,             \
                        .first   = fold_##name##_first_f32, \
                        .step    = strip_##name##_none_f32, \
                        .along   = fold_##name##_along_f32, \
                        .widen   = widen_sum,               \
                        .merge   = merge_short_sum,         \
                        .finish  = finish_wide_sum },
static const rd_fold_code short_sums[RD_N_REDUCERS] = { SHORT_SUM(sum) SHORT_SUM(dot) };
#undef ELEM
#undef T
#undef I
#undef RD_F
#undef RD_NAN
#undef OWN_ENTRIES
#undef RD_ADD
#undef RD_MUL
#undef PICK
#undef FLOATS

#define RD_NAN 0
#define OWN_ENTRIES
#define PICK(kinds, make, row) INT_##kinds(make, row)
#define RD_ADD(a, b)           ((int64_t)((uint64_t)(a) + (uint64_t)(b)))
#define RD_MUL(a, b)           ((int64_t)((uint64_t)(a) * (uint64_t)(b)))
#define ELEM                   i64
#define T                      int64_t
#include "kernels/cpu/simd/states.h"
#undef ELEM
#undef T
#undef RD_ADD
#undef RD_MUL
#undef PICK
#define PICK(kinds, make, row) UINT_##kinds(make, row)
#define RD_ADD(a, b)           ((T)((a) + (b)))
#define RD_MUL(a, b)           ((T)((a) * (b)))
#define ELEM                   u64
#define T                      uint64_t
#include "kernels/cpu/simd/states.h"
#undef ELEM
#undef T
#define ELEM b8
#define T    uint8_t
#include "kernels/cpu/simd/states.h"
#undef ELEM
#undef T

#undef RD_ADD
#undef RD_MUL
#undef RD_NAN
#undef PICK

/* ---- Scans: scans.h, by element -------------------------------------------------------------- */
/* Of neighbouring scans so many rows of so many vectors at a time: states stay in registers
 * meanwhile, and lines that go past the caches are completed one after the other (8192 x 8192 f32,
 * Zen 4: one row at a time took 1.9 times as long). */
enum { SCAN_ROWS = 8, SCAN_STRIP = 4 };
#define SCAN_VECTORS
#define RD_ADD(a, b) ((a) + (b))
#define RD_MUL(a, b) ((a) * (b))
#define RD_NAN       NAN
#define ELEM         f32
#define T            float
#define MAKE_SCANS(make) \
    make(sum, pair, -0.0) make(prod, one, 1) make(min, one, INFINITY) make(max, one, -INFINITY)
#include "kernels/cpu/simd/scans.h"
#undef ELEM
#undef T
#define ELEM f64
#define T    double
#include "kernels/cpu/simd/scans.h"
#undef SCAN_VECTORS
#undef RD_ADD
#undef RD_MUL
#undef RD_NAN
#undef ELEM
#undef T
#undef MAKE_SCANS
#define RD_ADD(a, b) ((T)((uint64_t)(a) + (uint64_t)(b)))
#define RD_MUL(a, b) ((T)((uint64_t)(a) * (uint64_t)(b)))
#define RD_NAN       0
#define ELEM         i64
#define T            int64_t
#define MAKE_SCANS(make)                                                                     \
    make(sum, one, 0) make(prod, one, 1) make(min, one, INT64_MAX) make(max, one, INT64_MIN) \
        make(bits_and, one, -1) make(bits_or, one, 0) make(bits_xor, one, 0)
#include "kernels/cpu/simd/scans.h"
#undef ELEM
#undef T
#undef MAKE_SCANS
#define ELEM u64
#define T    uint64_t
#define MAKE_SCANS(make)                                                              \
    make(sum, one, 0) make(prod, one, 1) make(min, one, UINT64_MAX) make(max, one, 0) \
        make(bits_and, one, UINT64_MAX) make(bits_or, one, 0) make(bits_xor, one, 0)
#include "kernels/cpu/simd/scans.h"
#undef ELEM
#undef T
#undef MAKE_SCANS
#define ELEM b8
#define T    uint8_t
#define MAKE_SCANS(make)                                                                           \
    make(min, one, 1) make(max, one, 0) make(any, one, 0) make(all, one, 1) make(bits_and, one, 1) \
        make(bits_or, one, 0) make(bits_xor, one, 0)
#include "kernels/cpu/simd/scans.h"
#undef ELEM
#undef T

/* ---- Groups ---------------------------------------------------------------------------------- */
#include "kernels/cpu/simd/groups.h"

/* ---- Picks ----------------------------------------------------------------------------------- */
#include "kernels/cpu/simd/picks.h"

/* ---- The table ------------------------------------------------------------------------------- */
#define BY_ELEM(what)                                                                       \
    {                                                                                       \
        [RD_ELEM_f32] = what##_f32, [RD_ELEM_f64] = what##_f64, [RD_ELEM_i64] = what##_i64, \
        [RD_ELEM_u64] = what##_u64, [RD_ELEM_b8] = what##_b8                                \
    }

#define BY_FLOAT(what)                                                                        \
    {                                                                                         \
        [RD_ELEM_f32] = what##_f32, [RD_ELEM_f64] = what##_f64, [RD_ELEM_bf16] = what##_bf16, \
        [RD_ELEM_f16] = IF_F16_VECTORS(what##_f16)                                            \
    }

const rd_simd JOIN(rd_simd, NAME) = {
    .name      = TEXT(NAME),
    .vector    = RD_VECTOR_BYTES,
    .probe     = probe,
    .map       = BY_ELEM(maps),
    .select    = BY_ELEM(selects),
    .cast      = BY_ELEM(casts),
    .cast_half = half_casts,
    .load      = loads,
    .store     = stores,
    .wrap      = wraps,
    .fold      = BY_ELEM(folds),
    .short_sum = short_sums,
    .fused     = BY_FLOAT(fused),
    .turned    = { [RD_ELEM_f32] = turned_f32, [RD_ELEM_f64] = turned_f64 },
    .cells     = BY_FLOAT(cells),
    .totals    = BY_FLOAT(totals),
    .blocks    = BY_FLOAT(blocks),
    .best      = { [RD_ELEM_f32] = best_f32, [RD_ELEM_f64] = best_f64 },
    .best_rows = { [RD_ELEM_f32] = best_rows_f32, [RD_ELEM_f64] = best_rows_f64 },
    .scan      = BY_ELEM(scans),
    .count     = count_bytes,
    .count_if  = { [RD_ELEM_f32] = counts_f32, [RD_ELEM_f64] = counts_f64 },
    .small     = smalls,
    .group_sum = group_sums,
    .product   = { [RD_ELEM_f32] = product_f32, [RD_ELEM_f64] = product_f64 },
    .stream    = stream,
    .turn = { [1] = turn_uint8_t, [2] = turn_uint16_t, [4] = turn_uint32_t, [8] = turn_uint64_t },
    .turn_past = { [4] = turn_past_uint32_t, [8] = turn_past_uint64_t },
    .picks     = { .bits = pick_bits,
                   .pick = { [1] = pick_1, [2] = pick_2, [4] = pick_4, [8] = pick_8, [16] = pick_16 } },
};
