/* machine.c - makes the state of a task of the interpreter. */
#include "kernels/cpu/reference/machine.h"
#include "core/bytes.h"

/* Returns the bytes of work memory that the largest sort of a program needs; sorts run one after
 * another, so they share it. */
static int64_t sort_bytes(const rd_program *p)
{
    int64_t most = 0;

    for (int32_t k = 0; k < p->n_sorting; k++) {
        const int64_t bytes = rd_reference_sort_bytes(&p->sorting[k]);

        most = bytes > most ? bytes : most;
    }
    return most;
}

/* Places the arrays of the interpreter of a task (registers, axes, open loops, folds ...) in
 * `state`, or counts their bytes if it is NULL. Returns the bytes. rd_piece_of() reserves n items
 * of some bytes at `used`, and returns their address, or NULL while bytes are counted. */
static int64_t lay_out(rd_machine *m, const rd_program *p, char *state)
{
    int64_t used = 0;

    rd_piece(&used, /*n=*/1, sizeof *m);
    m->p    = p;
    m->reg  = rd_piece_of(state, &used, p->n_reg + 1, sizeof *m->reg);
    m->axis = rd_piece_of(state, &used, p->n_axis, sizeof *m->axis);
    m->loop = rd_piece_of(state, &used, p->n_loop, sizeof *m->loop);
    m->open = rd_piece_of(state, &used, p->n_loop, sizeof *m->open);
    m->op   = rd_piece_of(state, &used, p->n_inst, sizeof *m->op);
    m->size = rd_piece_of(state, &used, p->n_address, sizeof *m->size);
    m->fold = rd_piece_of(state, &used, p->n_fold, sizeof *m->fold);
    m->work = rd_piece_of(state, &used, /*n=*/1, sort_bytes(p));
    if (state) /* reg[-1] exists; of NULL there is no next element */
        m->reg++;
    for (int32_t k = 0; k < p->n_fold; k++) {
        char *cells = rd_piece_of(state, &used, /*n=*/1, rd_fold_bytes(&p->fold[k]));
        if (state)
            rd_fold_init(&m->fold[k], &p->fold[k], cells);
    }
    return used;
}

/* Finds the function of a MAP (an elementwise operation), and whether its result must be wrapped to
 * a narrow type.  Comparisons and tests compute in the type of their operands. */
static rd_decoded decode(const rd_inst *inst)
{
    const rd_rule  rule    = rd_op_table[inst->op].rule;
    const bool     test    = rule == RD_RULE_COMPARE || rule == RD_RULE_TEST;
    const rd_dtype operand = test ? inst->from : inst->type;

    return (rd_decoded){ rd_op_code(inst->op, rd_dtype_class(operand)),
                         !test && rd_op_needs_wrap(inst->type) };
}

/* Returns the bytes of a task's state for the interpreter. */
int64_t rd_machine_bytes(const rd_program *p)
{
    rd_machine m = { 0 };
    return lay_out(&m, p, /*state=*/NULL);
}

/* Makes the interpreter of a task in its state: arrays, the function of each MAP, the sizes of
 * elements. */
rd_machine *rd_machine_new(const rd_program *p, char *state)
{
    rd_machine *m = (rd_machine *)(void *)state;

    lay_out(m, p, state);
    for (int32_t k = 0; k < p->n_inst; k++)
        if (p->inst[k].kind == RD_I_MAP)
            m->op[k] = decode(&p->inst[k]);
    for (int32_t k = 0; k < p->n_address; k++)
        m->size[k] = rd_dtype_size(p->address[k].type);
    return m;
}
