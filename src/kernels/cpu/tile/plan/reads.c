/* reads.c - which registers an instruction reads. */
#include "kernels/cpu/tile/plan/plan.h"

int32_t rd_tile_reads(const rd_program *p, int32_t i, int32_t *reg)
{
    const rd_inst    *inst = &p->inst[i];
    const rd_address *at   = NULL;
    int32_t           all[RD_MOST_READ], n = 0, count = 0;

    switch (inst->kind) {
    case RD_I_LOOP:
    case RD_I_END:
    case RD_I_CONST:
    case RD_I_START:
    case RD_I_CLOSE:
    case RD_I_EXIT: break;
    case RD_I_CALL:
        for (int32_t k = 0; k < p->call[inst->arg].n_in; k++)
            all[n++] = p->call[inst->arg].in[k];
        break;
    case RD_I_STORE: all[n++] = inst->a; /* fall through */
    case RD_I_LOAD:
    case RD_I_COORD: at = &p->address[inst->arg]; break;
    default:
        all[n++] = inst->a;
        all[n++] = inst->b;
        all[n++] = inst->c;
    }
    for (int32_t k = 0; at && k < at->n_add; k++)
        if (at->add[k].axis < 0)
            all[n++] = at->add[k].reg;
    for (int32_t k = 0; k < n; k++) {
        bool known = all[k] < 0;

        for (int32_t j = 0; j < count; j++)
            known |= reg[j] == all[k];
        if (!known)
            reg[count++] = all[k];
    }
    return count;
}
