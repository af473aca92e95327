/* isa.c - the interpreters that this machine can run. */
#include "isa.h"
#include "eval/cache/cache.h"
#include "eval/run/watch.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/simd/simd.h"
#include <string.h>

static const char *const names[MOST_ISAS] = { "scalar", "baseline", "avx2", "avx512" };

const char *isa_name(int isa)
{
    for (int k = 0; k < MOST_ISAS; k++)
        if ((k == ISA_SCALAR || rd_simd_named(names[k])) && isa-- == 0)
            return names[k];
    return NULL;
}

int isa_count(void)
{
    int n = 0;

    while (n < MOST_ISAS && isa_name(n))
        n++;
    return n;
}

void isa_begin(rd_ctx *ctx, int isa)
{
    rd_cpu_force(isa_name(isa));
    rd_reclaim(ctx);
}

void isa_end(rd_ctx *ctx)
{
    rd_cpu_force(NULL);
    rd_reclaim(ctx);
}

void isa_count_programs(const rd_plan *plan, isa_programs *programs)
{
    for (int k = 0; k < plan->n_stage; k++)
        *(plan->program[k].code ? &programs->tiles : &programs->scalar) += 1;
}

/* Would some stage be cut into very many tasks? */
static bool too_many_tasks(const rd_plan *plan)
{
    enum { MANY = 100 };

    for (int s = 0; s < plan->n_stage && plan->task_grains; s++) {
        const rd_program *p = &plan->program[s];

        if (p->root >= 0 && p->axis_extent[p->root] / (p->grain * plan->task_grains) > MANY)
            return true;
    }
    return false;
}

void isa_step(rd_plan *plan, bool steps)
{
    plan->steps = steps;
    for (int s = 0; s < plan->n_stage; s++)
        plan->program[s].step =
            steps ? rd_watch_every(&plan->program[s], plan->program[s].work / 100) : 0;
}

void isa_share(rd_plan *plan, int64_t grains)
{
    plan->task_grains = grains;
    if (too_many_tasks(plan))
        plan->task_grains *= 150;
}
