/* build_values.c - positions of the program, its values and what it stores, in a tree. A value is a
 * register of the program, made by a LET. */
#include "kernels/loop/build.h"

/* Adds a statement to the tree and puts it at the end of the current body; returns its number. */
int32_t rd_build_add(rd_building *b, const rd_stmt *stmt)
{
    const int32_t made = rd_add_stmt(b->t, stmt);

    rd_append(b->t, b->body, made);
    return made;
}

/* ---- Statements and positions ---------------------------------------------------------------- */
/* Returns at + coef * index of the axis. If no loop around binds the axis (bound false), the index
 * is the first of its range. */
static rd_linear plus_index(rd_building *b, rd_linear at, int64_t coef, int32_t axis)
{
    return b->range[axis].bound ? rd_linear_plus_axis(b->t, at, coef, axis)
                                : rd_linear_plus(b->t, at, coef, b->range[axis].from);
}

/* Translates an address: registers become values, axes that a loop binds stay, and other axes
 * become the begin of their range. A `local` index is counted from the begin of its range, so that
 * is subtracted. */
rd_linear rd_build_position(rd_building *b, const rd_address *address)
{
    rd_linear at = rd_linear_of(address->offset);

    for (int32_t k = 0; k < address->n_add; k++) {
        const rd_addend *a = &address->add[k];

        if (a->axis < 0) {
            at = rd_linear_plus_value(b->t, at, a->coef, a->reg);
            continue;
        }
        at = plus_index(b, at, a->coef, a->axis);
        if (a->local)
            at = rd_linear_plus(b->t, at, -a->coef, b->range[a->axis].from);
    }
    return at;
}

/* ---- Values ---------------------------------------------------------------------------------- */
/* Lists the registers that an instruction reads to make its value, and returns how many: as many
 * as its operator has, 3 of a SELECT, 1 of a CAST, and the index that an INDEX checks. Loads,
 * coordinates and constants read none. Stores and sorts make no value, and have functions of their
 * own. */
static int32_t operands_of(const rd_building *b, const rd_inst *inst, int32_t *operand)
{
    const int32_t read[] = { inst->a, inst->b, inst->c };
    const int32_t n      = inst->kind == RD_I_MAP      ? rd_op_table[inst->op].arity
                           : inst->kind == RD_I_SELECT ? 3
                           : inst->kind == RD_I_CAST || inst->kind == RD_I_INDEX ? 1
                                                                                 : 0;

    if (inst->kind == RD_I_CALL) {
        const rd_call *call = &b->t->p->call[inst->arg];

        for (int32_t k = 0; k < call->n_in; k++)
            operand[k] = call->in[k];
        return call->n_in;
    }
    for (int32_t k = 0; k < n && k < (int32_t)(sizeof read / sizeof *read); k++)
        operand[k] = read[k];
    return n;
}

/* Adds a LET such as "r3 = add f32 r1, r2". Value number k of the tree is the program's register k.
 * An INDEX keeps the number of its instruction, for the error message. */
void rd_build_value(rd_building *b, const rd_inst *inst)
{
    const rd_program *p    = b->t->p;
    rd_stmt           stmt = rd_stmt_of(RD_S_LET);
    rd_tree_value     let  = { .kind  = inst->kind,
                               .type  = inst->type,
                               .from  = inst->from,
                               .op    = inst->op,
                               .arg   = inst->arg,
                               .word  = inst->value,
                               .slot  = -1,
                               .store = -1 };
    int32_t           operand[RD_MAX_CALL];

    if (inst->kind == RD_I_INDEX)
        let.arg = (int32_t)(inst - p->inst);
    let.n     = operands_of(b, inst, operand);
    let.first = rd_add_operands(b->t, operand, let.n);
    if (inst->kind == RD_I_LOAD || inst->kind == RD_I_COORD)
        let.at = rd_build_position(b, &p->address[inst->arg]);
    if (inst->kind == RD_I_LOAD)
        let.slot = p->address[inst->arg].slot;
    stmt.value   = inst->dst;
    stmt.n_value = 1;
    let.made_by  = rd_build_add(b, &stmt);
    if (!b->t->failed)
        b->t->let[inst->dst] = let;
}

/* Adds "s1[i0] = r3": a STORE of register inst->a to the program's memory, at address number
 * inst->arg. */
void rd_build_store(rd_building *b, const rd_inst *inst)
{
    const rd_address *address = &b->t->p->address[inst->arg];
    rd_stmt           stmt    = rd_stmt_of(RD_S_STORE);

    stmt.slot = address->slot;
    stmt.type = address->type;
    stmt.at   = rd_build_position(b, address);
    stmt.x    = inst->a;
    rd_build_add(b, &stmt);
}

/* Adds a SORT of a row, with the addresses of its first element (at) and of its first result
 * (fold_at.index). If the row comes in strips (most > 0), fold_at.cell is the address of the state,
 * fold_at.lane the strip's first index, and count the number of its elements. */
void rd_build_sort(rd_building *b, const rd_inst *inst)
{
    const rd_program *p    = b->t->p;
    rd_stmt           stmt = rd_stmt_of(RD_S_SORT);

    stmt.arg           = inst->arg;
    stmt.at            = rd_build_position(b, &p->address[p->sorting[inst->arg].from]);
    stmt.fold_at.index = rd_build_position(b, &p->address[p->sorting[inst->arg].to]);
    if (p->sorting[inst->arg].most) {
        const rd_build_range *range = &b->range[p->sorting[inst->arg].axis];

        stmt.fold_at.cell = rd_build_position(b, &p->address[p->sorting[inst->arg].state]);
        stmt.fold_at.lane = range->from;
        stmt.count        = rd_linear_plus(b->t, range->to, /*coef=*/-1, range->from);
    }
    rd_build_add(b, &stmt);
}
