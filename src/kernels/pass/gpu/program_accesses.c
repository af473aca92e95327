/* program_accesses.c - which accesses of the program a tree's LOADs and STOREs are: build.c makes them in the same
 * order. */
#include "kernels/loop/facts.h"
#include "kernels/pass/gpu/gpu.h"

static bool is_access(const rd_schedule *t, int32_t stmt)
{
    const rd_stmt *s = &t->stmt[stmt];

    return (s->kind == RD_S_STORE && s->slot >= 0) ||
           (s->kind == RD_S_LET && t->let[s->value].kind == RD_I_LOAD &&
            t->let[s->value].slot >= 0);
}

static int32_t next_access(const rd_program *p, int32_t inst)
{
    while (inst < p->n_inst && p->inst[inst].kind != RD_I_LOAD && p->inst[inst].kind != RD_I_STORE)
        inst++;
    return inst;
}

void rd_gpu_for_each_access(rd_schedule *t, const rd_gpu_plan *plan, rd_gpu_access *access)
{
    int32_t inst = next_access(t->p, 0);

    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k], next; s >= 0 && !t->failed; s = next) {
            next = rd_next_stmt(t, s, t->part[k]);
            if (is_access(t, s) && inst < t->p->n_inst) {
                access(t, plan, s, inst);
                inst = next_access(t->p, inst + 1);
            }
        }
}
