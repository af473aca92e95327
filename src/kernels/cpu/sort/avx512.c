/* avx512.c - rows in order by that instruction set. */
#if defined(__x86_64__) && !defined(RD_ONE_SET)
#define NAME            avx512
#define RD_VECTOR_BYTES 64
#include "kernels/cpu/sort/sort_kernels.h"
#endif
