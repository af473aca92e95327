/* insts.c - what instructions of a loop program name, make and read, from their table. */
#include "kernels/program.h"

/* Words of insts.def: as many registers as the fold has results, or the operator operands. */
enum { RESULTS = -1, ARITY = -1 };

const rd_inst_row rd_inst_table[RD_N_INST] = {
#define RD_INST(name, names, makes, reads) { RD_NAMES_##names, makes, reads },
#include "kernels/insts.def"
};

/* Returns how many registers the instruction writes, from dst on: a number of insts.def, or as many
 * as its fold has results. Registers from dst on have consecutive numbers. */
int32_t rd_inst_makes(const rd_program *p, const rd_inst *inst)
{
    const int makes = rd_inst_table[inst->kind].makes;

    return makes == RESULTS ? p->fold[inst->arg].n_out : makes;
}

/* Adds register r to a list of n registers, unless it is there already, or is absent (-1). */
static void add(int32_t *reg, int32_t *n, int32_t r)
{
    bool known = r < 0;

    for (int32_t k = 0; k < *n; k++)
        known |= reg[k] == r;
    if (!known)
        reg[(*n)++] = r;
}

/* Lists the registers that an instruction reads, each once, and returns their number; `reg` has
 * room for RD_MOST_READ. A register of -1 is absent. They are a, b, c, as many as its row of
 * insts.def says; the label of a step with groups; the operands of a call; the registers in an
 * address (a gather). */
int32_t rd_inst_reads(const rd_program *p, const rd_inst *inst, int32_t *reg)
{
    const rd_inst_row *row   = &rd_inst_table[inst->kind];
    const int32_t      in[]  = { inst->a, inst->b, inst->c };
    const int          reads = row->reads == ARITY ? rd_op_table[inst->op].arity : row->reads;
    int32_t            n     = 0;

    for (int k = 0; k < reads && k < 3; k++)
        add(reg, &n, in[k]);
    if (inst->kind == RD_I_STEP && p->fold[inst->arg].n_group)
        add(reg, &n, inst->d);
    for (int32_t k = 0; row->names == RD_NAMES_CALL && k < p->call[inst->arg].n_in; k++)
        add(reg, &n, p->call[inst->arg].in[k]);
    for (int32_t k = 0; row->names == RD_NAMES_ADDRESS && k < p->address[inst->arg].n_add; k++)
        if (p->address[inst->arg].add[k].axis < 0)
            add(reg, &n, p->address[inst->arg].add[k].reg);
    return n;
}

/* Returns by how many elements one index of the axis moves a position: the sum of the
 * coefficients of that axis. */
int64_t rd_coef(const rd_address *at, int32_t axis)
{
    int64_t coef = 0;

    for (int32_t k = 0; k < at->n_add; k++)
        coef += at->add[k].axis == axis ? at->add[k].coef : 0;
    return coef;
}

/* Returns the greatest value of a position over all indices, plus 1. It is at the end of each
 * axis with a positive coefficient, and at the begin of the others. The position must contain no
 * registers. */
int64_t rd_positions(const rd_program *p, const rd_address *at)
{
    int64_t last = at->offset;

    for (int32_t k = 0; k < at->n_add; k++)
        last += (at->add[k].coef > 0 ? at->add[k].coef : 0) * (p->axis_extent[at->add[k].axis] - 1);
    return last + 1;
}

/* True if a position grows with every further round of the loops around the instruction, as in a
 * row-major traversal: each loop's coefficient exceeds `inner`, the sum of what the loops inside
 * can add. False for a backward loop, or a loop over tiles. Loops with coefficient 0 do not move
 * it. */
bool rd_rises(const rd_program *p, int32_t inst, const rd_address *at)
{
    int64_t inner = 0;

    for (int32_t k = p->inst[inst].loop; k >= 0; k = p->loop[k].parent) {
        const rd_loop *l    = &p->loop[k];
        const int64_t  coef = rd_coef(at, l->axis);

        if (coef && (coef <= inner || l->backwards || l->kind == RD_LOOP_TILE))
            return false;
        inner += coef * (p->axis_extent[l->axis] - 1);
    }
    return true;
}

/* True if the fold (a reduction or scan) gives the same bits however its elements are grouped
 * into partial results. */
bool rd_fold_any_grouping(const rd_fold *f)
{
    return rd_reducer_any_grouping(f->reducer, f->type);
}
