/* choose_table.c - chooses the table of kernels for this machine. */
#include "kernels/cpu/simd/simd.h"
#include <stdatomic.h>
#include <string.h>

/* All tables, the best first. */
static const rd_simd *const tables[] = {
#if defined(__x86_64__) && !defined(RD_ONE_SET)
    &rd_simd_avx512,
    &rd_simd_avx2,
#endif
    &rd_simd_baseline,
};
enum { N_TABLES = sizeof tables / sizeof *tables };

/* Returns the element type of registers for a type in memory: its class (f32, f64, i64, u64), or a
 * byte for a bool. */
rd_elem rd_elem_of(rd_dtype type)
{
    static const rd_elem by_class[RD_N_CLASS] = { [RD_CLASS_f32] = RD_ELEM_f32,
                                                  [RD_CLASS_f64] = RD_ELEM_f64,
                                                  [RD_CLASS_i64] = RD_ELEM_i64,
                                                  [RD_CLASS_u64] = RD_ELEM_u64 };

    return type == RD_BOOL ? RD_ELEM_b8 : by_class[rd_dtype_class(type)];
}

/* True if this machine has the instruction set of kernel table k.  The processor is asked once:
 * under a hypervisor CPUID takes as long as making a small plan. */
static bool runs_here(int k)
{
    enum { UNKNOWN, RUNS, DOES_NOT };
    static atomic_int answer[N_TABLES];
    int               known = atomic_load_explicit(&answer[k], memory_order_relaxed);

    if (known == UNKNOWN) {
        known = tables[k]->probe() ? RUNS : DOES_NOT;
        atomic_store_explicit(&answer[k], known, memory_order_relaxed);
    }
    return known == RUNS;
}

/* Returns the kernel table of an instruction set by its name; NULL: there is none, or this machine
 * cannot run it. */
const rd_simd *rd_simd_named(const char *name)
{
    for (int k = 0; k < N_TABLES; k++)
        if (strcmp(tables[k]->name, name) == 0 && runs_here(k))
            return tables[k];
    return NULL;
}

/* Returns the kernel table of the best instruction set of this machine; the last one (the baseline)
 * runs anywhere. */
const rd_simd *rd_simd_here(void)
{
    int k = 0;

    while (k < N_TABLES - 1 && !runs_here(k))
        k++;
    return tables[k];
}
