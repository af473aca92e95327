/* avx2.c - the kernels for x86-64-v3: AVX2, FMA and F16C. */
#if defined(__x86_64__)
#include <cpuid.h>
#include <stdbool.h>
/* Not every compiler's __builtin_cpu_supports knows F16C, which all processors with AVX2 have so
 * far. */
static bool has_f16c(void)
{
    unsigned a, b, c, d;

    return __get_cpuid(1, &a, &b, &c, &d) && c & bit_F16C;
}

static bool probe(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
}
#define NAME            avx2
#define RD_VECTOR_BYTES 32
#include "kernels/cpu/simd/table.h"
#endif
