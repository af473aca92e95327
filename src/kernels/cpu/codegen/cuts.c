/* cuts.c - which instructions end a loop over a strip, and which loops are written out in one. */
#include "kernels/cpu/codegen/parts.h"

/* A float becomes an int of a register of 32 bits: vectors do it where it fits. */
static bool narrows(const rd_inst *inst)
{
    return rd_dtype_kind(inst->from) == RD_KIND_FLOAT && inst->type != RD_BOOL &&
           inst->type != RD_U32 && rd_dtype_kind(inst->type) != RD_KIND_FLOAT &&
           rd_register_size(inst->type) == 4;
}

bool rd_divides_by_number(const rd_codegen *n, const rd_inst *inst)
{
    const rd_inst *by = inst->b >= 0 ? &n->p->inst[n->made[inst->b]] : NULL;

    return inst->kind == RD_I_MAP && by && by->kind == RD_I_CONST &&
           (inst->op == RD_OP_floordiv || inst->op == RD_OP_remainder) &&
           rd_dtype_kind(inst->type) != RD_KIND_FLOAT && inst->type != RD_BOOL && by->value.i64 > 0;
}

bool rd_draws_words(const rd_codegen *n, const rd_inst *inst)
{
    return inst->kind == RD_I_MAP && inst->op == RD_OP_philox && inst->type == RD_U64 &&
           n->p->inst[n->made[inst->b]].kind == RD_I_CONST;
}

bool rd_cuts(const rd_codegen *n, const rd_inst *inst)
{
    if (inst->kind == RD_I_CALL)
        return true;
    if (inst->kind == RD_I_STEP)
        return rd_takes_power(&n->fold[inst->arg].of);
    if (inst->kind == RD_I_CAST)
        return narrows(inst);
    return inst->kind == RD_I_MAP && !rd_divides_by_number(n, inst) &&
           (inst->op == RD_OP_exp || rd_draws_words(n, inst) || rd_op_calls(inst->op, inst->type));
}

/* Elements of a few interleaved rows are taken apart by vectors, those further apart one by one. */
static bool is_far(int64_t coef)
{
    return coef < 0 || coef > 4;
}

enum { FEW_ELEMENTS = 16, FEW_INSTRUCTIONS = 12 };

bool rd_writes_out(const rd_codegen *n, int32_t loop, int32_t strip)
{
    const rd_loop *l = &n->p->loop[loop];
    const int32_t  most =
        l->end - n->p->loop[loop].begin > FEW_INSTRUCTIONS ? RD_CODEGEN_FEW : FEW_ELEMENTS;

    if (l->kind != RD_LOOP_EACH || rd_is_row(l) || l->extent > most ||
        n->p->axis_extent[l->axis] != l->extent || n->root == l->axis)
        return false;
    for (int32_t i = n->p->loop[loop].begin + 1; i < l->end; i++) {
        const rd_inst *inst = &n->p->inst[i];

        if ((inst->kind == RD_I_LOOP && n->p->loop[inst->arg].axis != strip) || rd_cuts(n, inst) ||
            inst->kind == RD_I_INDEX || inst->kind == RD_I_START || inst->kind == RD_I_CLOSE)
            return false;
        if (rd_takes_step(inst) && n->fold[inst->arg].along == loop && n->fold[inst->arg].blocks)
            return false;
        if (inst->kind == RD_I_LOAD && n->reuse[i] < 0 &&
            is_far(rd_coef(&n->p->address[inst->arg], strip)))
            return false;
        if (inst->kind == RD_I_SCAN && n->fold[inst->arg].levels &&
            n->fold[inst->arg].along != loop)
            return false; /* its elements' places are no numbers, see scans.c */
    }
    return true;
}

bool rd_writes_out_scan(const rd_codegen *n, int32_t loop)
{
    const rd_loop *l    = &n->p->loop[loop];
    bool           tree = false;

    if (l->kind != RD_LOOP_EACH || rd_is_row(l) || l->extent > FEW_ELEMENTS ||
        n->p->axis_extent[l->axis] != l->extent || n->p->root == l->axis || n->at_loop[loop] >= 0 ||
        n->in_loop[loop] >= 0 || rd_ends_blocks(n, loop) ||
        l->end - n->p->loop[loop].begin > FEW_INSTRUCTIONS)
        return false;
    for (int32_t i = n->p->loop[loop].begin + 1; i < l->end; i++) {
        const rd_inst *inst = &n->p->inst[i];

        if (inst->kind == RD_I_LOOP || inst->kind == RD_I_START || inst->kind == RD_I_CLOSE)
            return false;
        tree |= inst->kind == RD_I_SCAN && n->fold[inst->arg].along == loop &&
                n->fold[inst->arg].levels;
    }
    return tree;
}
