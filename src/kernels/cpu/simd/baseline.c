/* baseline.c - the kernels for any machine: what the compiler makes of 16-byte vectors. */
#include <stdbool.h>
static bool probe(void)
{
    return true;
}
#define NAME            baseline
#define RD_VECTOR_BYTES 16
#include "kernels/cpu/simd/table.h"
