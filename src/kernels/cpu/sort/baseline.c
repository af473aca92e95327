/* baseline.c - rows in order by that instruction set. */
#define NAME            baseline
#define RD_VECTOR_BYTES 16
#include "kernels/cpu/sort/sort_kernels.h"
