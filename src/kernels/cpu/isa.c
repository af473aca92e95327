/* isa.c - which instruction set, or the reference, later plans run on. */
#include "core/environment.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/tile/plan/tile_plan.h"
#include <string.h>

/* For tests: what later plans run on, instead of what the machine and RDIM_ISA say. */
static const char *forced;

bool rd_cpu_force(const char *isa)
{
    forced = isa;
    return !isa || strcmp(isa, "scalar") == 0 || rd_simd_named(isa);
}

static const char *asked(void)
{
    return forced ? forced : rd_environment(RD_ENV_RDIM_ISA);
}

static bool is_scalar(const char *isa)
{
    return isa && strcmp(isa, "scalar") == 0;
}

bool rd_cpu_is_scalar(void)
{
    return is_scalar(asked());
}

const rd_simd *rd_cpu_simd(void)
{
    const char *isa = asked();

    return isa && rd_simd_named(isa) ? rd_simd_named(isa) : rd_simd_here();
}

int rd_cpu_vector(void)
{
    return rd_cpu_simd()->vector;
}

const rd_compressors *rd_compressors_here(void)
{
    return &rd_cpu_simd()->picks;
}

const char *rd_cpu_kernels(void)
{
    const char    *isa  = asked();
    const rd_simd *simd = isa ? rd_simd_named(isa) : NULL;

    return is_scalar(isa) ? isa : simd ? simd->name : rd_simd_here()->name;
}
