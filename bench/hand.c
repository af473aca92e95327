/* hand.c - which instruction set this processor has. */
#include "hand.h"
#include <stddef.h>

extern const hand_isa hand_plain;
#ifdef HAND_X86
extern const hand_isa hand_avx2, hand_avx512;
#endif

const hand_isa *hand_loops(void)
{
#ifdef HAND_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni"))
        return &hand_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &hand_avx2;
#endif
    return &hand_plain;
}
