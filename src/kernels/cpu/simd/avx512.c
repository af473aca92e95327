/* avx512.c - the kernels for x86-64-v4: AVX-512 F, BW, DQ, VL. */
#if defined(__x86_64__)
#include <stdbool.h>
static bool probe(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("fma");
}
#define NAME            avx512
#define RD_VECTOR_BYTES 64
#include "kernels/cpu/simd/table.h"
#endif
