/* sparse_rows.c - group-by folds whose labels ascend become loops over the rows of a sparse
 * array (CSR).
 *
 * Stored elements of a sparse array lie row after row, and behind their labels memory says where
 * each row begins. So a program with a loop over all elements, and then one over all groups, is
 * rewritten as one loop over rows. Each row begins its states, takes its elements, and stores
 * its results. No label is read, no cells are kept, and tasks share rows, with about as many
 * elements each. The bits are those of the program as it stands: all elements are one block, so
 * a group takes its elements one by one.
 *
 *     for p of elements                        for i of rows
 *       fold takes x into group label            fold starts
 *     for i of groups                            for p from begin[i] to begin[i + 1]
 *       y[i] = fold at i                           fold takes x
 *                                                y[i] = fold
 *
 * Words: a label is the row that an element belongs to. A cell is the accumulator of one row. The
 * tail is the part of a program that runs once, behind what tasks share.
 *
 * Words. A lane is one of the accumulators of a cell, to which elements go in turn. */
#include "kernels/cpu/nest/sparse_rows.h"

/* ---- Which programs -------------------------------------------------------------------------- */
/* Returns the instruction that makes a register; NULL if there is none. */
static const rd_inst *made_by(const rd_program *p, int32_t reg)
{
    for (int32_t i = 0; i < p->n_inst; i++)
        if (reg >= p->inst[i].dst && reg < p->inst[i].dst + rd_inst_makes(p, &p->inst[i]))
            return &p->inst[i];
    return NULL;
}

/* Returns the address in memory that the label of a STEP (the row that an element belongs to) is
 * loaded from; NULL if it is computed. */
static const rd_address *label_of(const rd_program *p, const rd_inst *step)
{
    const rd_inst *made = made_by(p, step->d);

    while (made && made->kind == RD_I_CAST)
        made = made_by(p, made->a);
    return made && made->kind == RD_I_LOAD ? &p->address[made->arg] : NULL;
}

/* True if all of the body is one forward loop over the stored elements, which tasks share (the root
 * axis); notes the loop. inst[body .. tail) is what tasks share, so the loop's END must be its last
 * instruction. */
static bool find_element_loop(rd_sparse_rows_draft *r)
{
    const rd_program *p    = r->p;
    const rd_inst    *loop = &p->inst[p->body];

    if (p->n_fold == 0 || p->body >= p->tail || loop->kind != RD_I_LOOP ||
        p->loop[loop->arg].end != p->tail - 1)
        return false;
    r->element_loop = loop->arg;
    return p->loop[r->element_loop].kind == RD_LOOP_EACH && !p->loop[r->element_loop].backwards &&
           p->loop[r->element_loop].axis == p->root;
}

/* Returns the axis of the groups of a fold: that of the outermost loop around its CLOSE, which
 * finishes a cell (result); -1: there is no loop. */
static int32_t group_axis(const rd_program *p, int32_t close)
{
    int32_t k = p->inst[close].loop;

    while (k >= 0 && p->loop[k].parent >= 0)
        k = p->loop[k].parent;
    return k >= 0 ? p->loop[k].axis : -1;
}

/* True if the fold is a group-by reduction of one block and one lane (elements are taken one after
 * the other), and memory says where the elements of each row begin (`begins` is not 0). All folds
 * must have as many groups. */
static bool is_by_rows(const rd_sparse_rows_draft *r, const rd_fold *f)
{
    return f->begins && f->n_block == 1 && f->lanes == 1 && !f->scan &&
           f->n_group == r->p->fold[0].n_group;
}

/* True if all folds of the program are group-bys by the same ascending labels in memory (rows of a
 * CSR array), take their elements in the loop over elements, and are finished in loops over the
 * groups.  Notes the address of the labels and the axis of groups.  `group_stride` is the distance
 * of two groups in cells: the loop's index must count groups. */
static bool find_folds(rd_sparse_rows_draft *r)
{
    const rd_program *p = r->p;

    r->group = -1;
    for (int32_t k = 0; k < p->n_fold; k++)
        if (!is_by_rows(r, &p->fold[k]))
            return false;
    for (int32_t i = 0; i < p->n_inst; i++) {
        const rd_inst *inst = &p->inst[i];

        /* Folds begin in the head, so that nothing of the body stands before them. */
        if (inst->kind == RD_I_START && i >= p->body)
            return false;
        if (inst->kind == RD_I_STEP) {
            const rd_address *label = label_of(p, inst);

            /* The label is loaded at the element's own index, from the same memory for all
             * folds. */
            if (!label || label->n_add != 1 || label->add[0].axis != p->root ||
                label->add[0].coef != 1 || label->add[0].local ||
                (r->begin.n_add &&
                 (r->begin.slot != label->slot || r->begin.offset != label->offset)))
                return false;
            r->begin = *label;
        }
        if (inst->kind == RD_I_CLOSE) {
            const int32_t axis = group_axis(p, i);

            /* Cells are finished in the tail, in a loop with one index for each row. */
            if (i < p->tail || axis < 0 || p->axis_extent[axis] != p->fold[0].n_group ||
                rd_coef(&p->fold[inst->arg].cell, axis) != p->fold[inst->arg].group_stride)
                return false;
            if (r->group < 0)
                r->group = axis;
        }
    }
    return r->group >= 0 && r->begin.n_add;
}

/* True if the tail (what runs once after all tasks) can go into the loop over rows: it has only
 * forward loops over all groups, which take no steps and load nothing that the program stores.
 * Outside of loops there is nothing but LOOP and END; EXIT, which leaves a loop early, would end
 * the loop over rows. */
static bool can_move_tail(const rd_sparse_rows_draft *r)
{
    const rd_program *p = r->p;

    for (int32_t i = p->tail; i < p->n_inst; i++) {
        const rd_inst *inst = &p->inst[i];

        if (inst->loop < 0 && inst->kind != RD_I_LOOP && inst->kind != RD_I_END)
            return false;
        if (inst->kind == RD_I_LOOP && inst->loop < 0 &&
            (p->loop[inst->arg].kind != RD_LOOP_EACH || p->loop[inst->arg].backwards ||
             p->axis_extent[p->loop[inst->arg].axis] != p->fold[0].n_group))
            return false;
        if (inst->kind == RD_I_STEP || inst->kind == RD_I_EXIT ||
            (inst->kind == RD_I_LOAD &&
             rd_program_accesses(p, RD_I_STORE, p->address[inst->arg].slot)))
            return false;
    }
    return true;
}

/* True if the head (what runs once for each task) has no loop and no store, so that it may stay as
 * it is. */
static bool can_keep_head(const rd_program *p)
{
    for (int32_t i = 0; i < p->body; i++)
        if (p->inst[i].kind == RD_I_LOOP || p->inst[i].kind == RD_I_STORE)
            return false;
    return true;
}

/* ---- The program by rows --------------------------------------------------------------------- */
/* Rewrites group-by folds whose labels ascend as a loop over the rows of a sparse array (CSR), in
 * *by_rows: no label is read, and each row is one fold.  NULL if it cannot be.  False: no memory.
 * The new program lies in memory from `get`, which nobody frees by itself. */
bool rd_nest_sparse_rows(const rd_program *p, rd_get_fn *get, void *pool,
                         const rd_program **by_rows)
{
    rd_sparse_rows_draft r = { .p = p };

    *by_rows = NULL;
    if (!find_element_loop(&r) || !find_folds(&r) || !can_keep_head(p) || !can_move_tail(&r))
        return true;
    if (!rd_sparse_rows_write(&r, get, pool))
        return false;
    *by_rows = r.to;
    return true;
}
