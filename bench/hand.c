/* hand.c - which instruction set this processor has. */
#include "hand.h"
#include <stddef.h>

extern const hand_isa hand_plain;
#ifdef HAND_X86
#include <cpuid.h>
extern const hand_isa hand_avx2, hand_avx512;

/* Not every compiler's __builtin_cpu_supports knows it. */
static bool has_f16c(void)
{
    unsigned a, b, c, d;

    return __get_cpuid(1, &a, &b, &c, &d) && c & bit_F16C;
}
#endif

const hand_isa *hand_loops(void)
{
#ifdef HAND_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512vnni"))
        return &hand_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c())
        return &hand_avx2;
#endif
    return &hand_plain;
}
