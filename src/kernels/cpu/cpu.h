/* cpu.h - the two ways a program runs on the CPU. */
#ifndef RD_KERNELS_CPU_CPU_H
#define RD_KERNELS_CPU_CPU_H
#include "kernels/program.h"

/* The reference: instruction by instruction, element by element. */
extern const rd_backend_table rd_backend_scalar;

/* Plans made from now on run on "scalar", "baseline", "avx2" or "avx512"; NULL: on the best there
 * is, or what the environment's RDIM_ISA says.  False if this machine cannot.  For tests. */
bool rd_cpu_force(const char *isa);
#endif
