/* prefetch.c - decides whether kernels prefetch rows of memory on this processor. */
#include "kernels/cpu/simd/simd.h"
#include "core/environment.h"
#include <stdlib.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* Kernels prefetch rows of memory; compiled loops over several rows prefetch the rows behind
 * them. */
bool rd_prefetches_rows, rd_prefetches_rows_behind;

/* AMD's family 26 (Zen 5) stops prefetching between blocks and rows: with prefetches rows of 4 KiB
 * are read at 38 GB/s instead of 15.  Family 25 (Zen 4) goes on by itself, and prefetches take some
 * of the 24 lines that a core can wait for.  There sums of f32 along rows take 1.2 times as long
 * with prefetches, argmax 1.3.  Zen 4 gains in loops over several rows at once
 * (pass/prefetch_rows.c).  That has not been measured on Zen 5, and nothing on other processors. */
enum { ZEN_4 = 25, ZEN_5 = 26 };

/* Returns the family of an AMD processor, as CPUID has it (bits 8 to 11; if they are 15, plus bits
 * 20 to 27); 0 for others. */
static unsigned family(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;

    if (__builtin_cpu_is("amd") && __get_cpuid(1, &a, &b, &c, &d) && (a >> 8 & 15) == 15)
        return 15 + (a >> 20 & 255);
#endif
    return 0;
}

/* Sets both flags, by RDIM_FETCH or the processor, before any thread runs, as kernels read them
 * without a lock. */
__attribute__((constructor)) static void look(void)
{
    const char *const asked = rd_environment(RD_ENV_RDIM_FETCH);
    const bool        says  = asked && *asked;

#if defined(__x86_64__)
    __builtin_cpu_init();
#endif
    rd_prefetches_rows        = says ? *asked != '0' : family() >= ZEN_5;
    rd_prefetches_rows_behind = says ? *asked != '0' : family() >= ZEN_4;
}
