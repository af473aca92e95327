/* alone.c - what a nest runs for one element after another. */
#include "kernels/cpu/codegen/parts.h"

static bool in_region(const rd_codegen *n, int32_t i)
{
    bool found = false;

    for (int32_t k = 0; k < n->n_region; k++)
        found |= i >= n->region[k].from && i < n->region[k].to;
    return found;
}

static bool computes(const rd_inst *inst)
{
    switch (inst->kind) {
    case RD_I_LOAD:
    case RD_I_STORE:
    case RD_I_MAP:
    case RD_I_CAST:
    case RD_I_SELECT:
    case RD_I_STEP:
    case RD_I_SCAN: return true;
    default: return false;
    }
}

/* Is it a chain of many?  A processor has several short ones at hand at once, of neighbouring
 * rows. */
static bool is_long(const rd_codegen *n, int32_t i)
{
    enum { SHORT = 64 };

    return rd_takes_step(&n->p->inst[i]) ? n->fold[n->p->inst[i].arg].steps > SHORT
                                         : rd_trips(n->p, n->p->inst[i].loop) > SHORT;
}

/* Steps tell more than what they take. */
static bool tells_more(const rd_codegen *n, int32_t i, int32_t than)
{
    return than < 0 || (rd_takes_step(&n->p->inst[i]) && !rd_takes_step(&n->p->inst[than]));
}

int32_t rd_codegen_alone(const rd_program *p, int vector, bool whole, rd_get_fn *get, void *pool)
{
    enum { PART = 4 }; /* what is done for each row, not element, is no matter */
    rd_codegen n = {
        .p = p, .of = p, .vector = vector, .whole = whole, .root = whole ? -1 : p->root
    };
    double  most  = 0;
    int32_t found = -1;

    if (!rd_codegen_facts(&n, get, pool) || n.why)
        return -1;
    rd_codegen_regions(&n);
    for (int32_t i = 0; i < p->n_inst; i++)
        if (computes(&p->inst[i]) && rd_program_times(p, i) > most)
            most = rd_program_times(p, i);
    for (int32_t i = 0; i < p->n_inst; i++)
        if (computes(&p->inst[i]) && p->inst[i].loop >= 0 && !in_region(&n, i) && is_long(&n, i) &&
            rd_program_times(p, i) * PART >= most && tells_more(&n, i, found))
            found = i;
    return found;
}
