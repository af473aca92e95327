/* avx2.c - the kernels for x86-64-v3: AVX2 and FMA. */
#if defined(__x86_64__)
#include <stdbool.h>
static bool probe(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#define NAME            avx2
#define RD_VECTOR_BYTES 32
#include "kernels/cpu/simd/table.h"
#endif
