/* program_accesses.c - finds the instruction of the program behind each LOAD and STORE of a tree.
 *
 * build.c makes the statements in the order of the program's instructions, so one traversal of
 * both finds the pairs.
 *
 * Words. A slot is a buffer that a program reads or writes. */
#include "kernels/loop/facts.h"
#include "kernels/pass/gpu/gpu.h"

/* True if the statement loads from, or stores to, memory of the program (slot >= 0), not an
 * array that the tree has added. */
static bool is_access(const rd_schedule *t, int32_t stmt)
{
    const rd_stmt *s = &t->stmt[stmt];

    return (s->kind == RD_S_STORE && s->slot >= 0) ||
           (s->kind == RD_S_LET && t->let[s->value].kind == RD_I_LOAD &&
            t->let[s->value].slot >= 0);
}

/* Returns the first load or store among the program's instructions from `inst` on; n_inst: there
 * is none. */
static int32_t next_access(const rd_program *p, int32_t inst)
{
    while (inst < p->n_inst && p->inst[inst].kind != RD_I_LOAD && p->inst[inst].kind != RD_I_STORE)
        inst++;
    return inst;
}

/* Calls `access` for each load and store of the program's memory, with its statement and the
 * instruction it was made of. Both stand in the same order, so the k-th statement belongs to the
 * k-th instruction; this holds only until passes add accesses of their own. */
void rd_gpu_for_each_access(rd_schedule *t, const rd_gpu_plan *plan, rd_gpu_access *access)
{
    int32_t inst = next_access(t->p, /*inst=*/0);

    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k], next; s >= 0 && !t->failed; s = next) {
            next = rd_next_stmt(t, s, t->part[k]);
            if (is_access(t, s) && inst < t->p->n_inst) {
                access(t, plan, s, inst);
                inst = next_access(t->p, inst + 1);
            }
        }
}
