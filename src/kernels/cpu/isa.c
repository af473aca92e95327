/* isa.c - which instruction set, or the reference, later plans run on. */
#include "core/environment.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/tile/plan/tile_plan.h"
#include <string.h>

/* For tests: what later plans run on, instead of what the machine and RDIM_ISA say. */
static const char *forced;

/* For tests: later plans run on this instruction set; NULL: on the best one. False: this machine
 * does not have it. */
bool rd_cpu_force(const char *isa)
{
    forced = isa;
    return !isa || strcmp(isa, "scalar") == 0 || rd_simd_named(isa);
}

/* Returns the instruction set that a test or RDIM_ISA asks for; NULL: none, so the best one is
 * used. */
static const char *asked(void)
{
    return forced ? forced : rd_environment(RD_ENV_RDIM_ISA);
}

/* True if the name is that of the reference executor. */
static bool is_scalar(const char *isa)
{
    return isa && strcmp(isa, "scalar") == 0;
}

/* True if the reference executor is asked for. */
bool rd_cpu_is_scalar(void)
{
    return is_scalar(asked());
}

/* Returns the kernels of the instruction set that is asked for, or of the best one of this
 * machine. */
const rd_simd *rd_cpu_simd(void)
{
    const char *isa = asked();

    return isa && rd_simd_named(isa) ? rd_simd_named(isa) : rd_simd_here();
}

/* Returns the bytes of a vector of the instruction set in use. */
int rd_cpu_vector(void)
{
    return rd_cpu_simd()->vector;
}

/* Returns the functions that pick elements by a mask (compress), in the instruction set in use. */
const rd_compressors *rd_compressors_here(void)
{
    return &rd_cpu_simd()->picks;
}

/* Returns the name of the instruction set in use, or "scalar". */
const char *rd_cpu_kernels(void)
{
    const char    *isa  = asked();
    const rd_simd *simd = isa ? rd_simd_named(isa) : NULL;

    return is_scalar(isa) ? isa : simd ? simd->name : rd_simd_here()->name;
}
