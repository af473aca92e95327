/* table.c - the table of an instruction set: the parts of instances/, loads and stores, transposes,
 * and group-by sums. */
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/simd/load_store.h"

/* ---- Transposes: transpose.h, by size -------------------------------------------------------- */
#define T       uint8_t
#define BYTES   16
#define INDICES INDICES_16
#include "kernels/cpu/simd/transpose.h"
#undef T
#undef INDICES
#define T       uint16_t
#define INDICES INDICES_8
#include "kernels/cpu/simd/transpose.h"
#undef T
#undef BYTES
#undef INDICES
#define NONTEMPORAL
#define T       uint32_t
#define BYTES   RD_VECTOR_BYTES
#define INDICES JOIN(INDICES_f32, RD_VECTOR_BYTES)
#include "kernels/cpu/simd/transpose.h"
#undef T
#undef INDICES
#define T       uint64_t
#define INDICES JOIN(INDICES_f64, RD_VECTOR_BYTES)
#include "kernels/cpu/simd/transpose.h"
#undef T
#undef BYTES
#undef INDICES
#undef NONTEMPORAL

/* ---- Groups ---------------------------------------------------------------------------------- */
#include "kernels/cpu/simd/group_sums.h"

/* ---- Picks ----------------------------------------------------------------------------------- */
#include "kernels/cpu/simd/picks.h"

/* ---- Whether this machine has the set -------------------------------------------------------- */
#if RD_VECTOR_BYTES == 64
/* True if the processor has the parts of AVX-512 that the kernels use. */
static bool probe(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("fma");
}
#elif RD_VECTOR_BYTES == 32
#include <cpuid.h>
/* True if the processor has F16C (conversions of 16-bit floats), which some compilers'
 * __builtin_cpu_supports does not know.  All processors with AVX2 known today have it. */
static bool has_f16c(void)
{
    unsigned a, b, c, d;

    return __get_cpuid(1, &a, &b, &c, &d) && c & bit_F16C;
}

/* True if the processor has AVX2, fused multiply-add and F16C. */
static bool probe(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
}
#else
/* True: the baseline runs on every machine. */
static bool probe(void)
{
    return true;
}
#endif

/* ---- The table ------------------------------------------------------------------------------- */
#define TEXT_(name) #name
#define TEXT(name)  TEXT_(name)

#define BY_ELEM(what)                                                           \
    {                                                                           \
        [RD_ELEM_f32] = OF_ISA(what##_f32), [RD_ELEM_f64] = OF_ISA(what##_f64), \
        [RD_ELEM_i64] = OF_ISA(what##_i64), [RD_ELEM_u64] = OF_ISA(what##_u64), \
        [RD_ELEM_b8] = OF_ISA(what##_b8)                                        \
    }
#define OF_FLOATS(what) [RD_ELEM_f32] = OF_ISA(what##_f32), [RD_ELEM_f64] = OF_ISA(what##_f64)
#ifdef F16_VECTORS
#define BY_FLOAT(what)                                                                            \
    {                                                                                             \
        OF_FLOATS(what), [RD_ELEM_bf16] = OF_ISA(what##_bf16), [RD_ELEM_f16] = OF_ISA(what##_f16) \
    }
#else /* f16 widened by many instructions is a pass of its own */
#define BY_FLOAT(what)                                        \
    {                                                         \
        OF_FLOATS(what), [RD_ELEM_bf16] = OF_ISA(what##_bf16) \
    }
#endif

const rd_simd JOIN(rd_simd, RD_ISA) = {
    .name                  = TEXT(RD_ISA),
    .vector                = RD_VECTOR_BYTES,
    .probe                 = probe,
    .map                   = BY_ELEM(maps),
    .select                = BY_ELEM(selects),
    .cast                  = BY_ELEM(casts),
    .cast_half             = OF_ISA(half_casts),
    .load                  = loads,
    .store                 = stores,
    .wrap                  = wraps,
    .fold                  = BY_ELEM(folds),
    .short_sum             = OF_ISA(short_sums),
    .fused                 = BY_FLOAT(fused),
    .transposed            = { OF_FLOATS(transposed) },
    .cells                 = BY_FLOAT(cells),
    .totals                = BY_FLOAT(totals),
    .blocks                = BY_FLOAT(blocks),
    .best                  = { OF_FLOATS(best) },
    .best_rows             = { OF_FLOATS(best_rows) },
    .scan                  = BY_ELEM(scans),
    .running               = BY_ELEM(running),
    .count                 = count_bytes,
    .count_if              = { OF_FLOATS(counts) },
    .small                 = smalls,
    .group_sum             = group_sums,
    .product               = { OF_FLOATS(product) },
    .copy_nontemporal      = copy_nontemporal,
    .transpose             = { [1] = turn_uint8_t,
                               [2] = turn_uint16_t,
                               [4] = turn_uint32_t,
                               [8] = turn_uint64_t },
    .transpose_nontemporal = { [4] = transpose_nontemporal_uint32_t,
                               [8] = transpose_nontemporal_uint64_t },
    .picks                 = { .bits = pick_bits,
                               .pick = { [1] = pick_1, [2] = pick_2, [4] = pick_4, [8] = pick_8, [16] = pick_16 } },
};
