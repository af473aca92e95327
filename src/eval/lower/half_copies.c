/* half_copies.c - copies narrow floats as bits, without conversion to f32 and back, if nothing else
 * is done with them.
 *
 * Words. Scratch is temporary memory of a task. */
#include "eval/lower/lower.h"

/* True for a LOAD or STORE of a 16-bit or 8-bit float that may be retyped as an int. Not in
 * scratch memory (temporary, of a task), nor if the program both loads and stores in that slot, as
 * each slot has one type. */
static bool may_be_bits(const rd_program *p, const rd_inst *inst)
{
    const bool    load = inst->kind == RD_I_LOAD;
    const int32_t slot = load || inst->kind == RD_I_STORE ? p->address[inst->arg].slot : -1;

    return slot >= 0 && slot < p->first_scratch && rd_dtype_is_narrow_float(inst->type) &&
           !rd_program_accesses(p, load ? RD_I_STORE : RD_I_LOAD, slot);
}

/* Clears copied[] of registers that the instruction uses in any other way than to store them in
 * the type they were loaded in. */
static void mark_others(const rd_program *p, const rd_inst *inst, rd_dtype *copied)
{
    int32_t   reg[RD_MOST_READ];
    const int n = rd_inst_reads(p, inst, reg);

    for (int k = 0; k < n; k++)
        if (inst->kind != RD_I_STORE || inst->type != copied[reg[k]] || !may_be_bits(p, inst))
            copied[reg[k]] = 0;
}

/* Makes an access one of unsigned ints of the same size. */
static void as_bits(rd_program *p, rd_inst *inst)
{
    inst->type                 = rd_dtype_size(inst->type) == 1 ? RD_U8 : RD_U16;
    p->address[inst->arg].type = inst->type;
}

/* Retypes loads and stores of 16-bit floats that are only copied as ints, which spares conversions
 * to f32 and back. copied: by register, the type loaded, 0 if it has other uses. False: no
 * memory. mark_others() clears `copied` for what instructions use otherwise; as_bits() retypes. */
bool rd_copy_bits(rd_lowering *l)
{
    rd_program *p      = l->p;
    rd_dtype   *copied = rd_pool_get(l->graph->pool, (size_t)(p->n_reg + 1) * sizeof *copied);
    bool        any    = false;

    for (int32_t i = 0; copied && i < p->n_inst; i++)
        if (p->inst[i].kind == RD_I_LOAD && may_be_bits(p, &p->inst[i])) {
            copied[p->inst[i].dst] = p->inst[i].type;
            any                    = true;
        }
    for (int32_t i = 0; any && i < p->n_inst; i++) /* those used otherwise are no copies */
        mark_others(p, &p->inst[i], copied);
    for (int32_t i = 0; any && i < p->n_inst; i++)
        if ((p->inst[i].kind == RD_I_LOAD && copied[p->inst[i].dst]) ||
            (p->inst[i].kind == RD_I_STORE && copied[p->inst[i].a]))
            as_bits(p, &p->inst[i]);
    return copied;
}
