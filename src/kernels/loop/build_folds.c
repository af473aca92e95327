/* build_folds.c - statements of folds.  Behind each step of a fold of several blocks stands a
 * PUSH_IF_LAST:
 *
 *     step f0 cell i0, lane 0, line i1: r3
 *     push if last f0 cell i0, lane 0, line i1 */
#include "kernels/loop/build.h"

/* Returns the cell (accumulator) of a group-by's step for group 0, to which the label will be
 * added at run time. The fold's cell has the axis of the groups as a term; no loop around the step
 * is over it, so terms of unbound axes are left out. */
static rd_linear cell_of_step(rd_building *b, const rd_fold *f)
{
    rd_address cell = f->cell;
    int32_t    n    = 0;

    for (int32_t k = 0; k < f->cell.n_add; k++)
        if (f->cell.add[k].axis < 0 || b->range[f->cell.add[k].axis].bound)
            cell.add[n++] = f->cell.add[k];
    cell.n_add = n;
    return rd_build_position(b, &cell);
}

/* Translates the positions of a fold to those of the tree: cell (accumulator), lane, line
 * and flat index; `more` is 0. `step`: the statement is about one element, whose label chooses the
 * group, so the cell is that of group 0. */
static rd_fold_at fold_at(rd_building *b, const rd_fold *f, bool step)
{
    return (rd_fold_at){ step && f->n_group ? cell_of_step(b, f) : rd_build_position(b, &f->cell),
                         rd_build_position(b, &f->lane), rd_build_position(b, &f->lane_line),
                         rd_build_position(b, &f->index), rd_linear_of(0) };
}

/* Returns a statement of the fold with its array of states and its positions. `wraps`: with more
 * elements than lanes (partial accumulators), an element's lane is its position modulo the number
 * of lanes. */
static rd_stmt of_fold(rd_building *b, rd_stmt_kind kind, int32_t fold)
{
    rd_stmt stmt = rd_stmt_of(kind);

    stmt.fold    = fold;
    stmt.store   = b->states[fold];
    stmt.wraps   = b->t->p->fold[fold].lane_extent > b->t->p->fold[fold].lanes;
    stmt.fold_at = fold_at(b, &b->t->p->fold[fold], kind == RD_S_STEP || kind == RD_S_PUSH_IF_LAST);
    return stmt;
}

/* Adds a statement that makes the results of a fold: values inst->dst and following, one for each
 * result of the reducer. `arg` of such a value is the number of the result. */
static void add_results(rd_building *b, rd_stmt *stmt, const rd_inst *inst)
{
    const rd_fold *f = &b->t->p->fold[stmt->fold];
    int32_t        maker;

    stmt->value   = inst->dst;
    stmt->n_value = f->n_out;
    maker         = rd_build_add(b, stmt);
    for (int32_t k = 0; k < f->n_out && !b->t->failed; k++)
        b->t->let[inst->dst + k] = (rd_tree_value){ .kind    = inst->kind,
                                                    .type    = f->out,
                                                    .from    = f->type,
                                                    .arg     = k,
                                                    .slot    = -1,
                                                    .store   = -1,
                                                    .made_by = maker };
}

/* True if a block (leaf of the combine tree) can end behind a step: there is a loop over steps
 * (along >= 0), or lanes go along several axes (mixed). A fold of one step has no whole block,
 * though tasks may combine its states. */
static bool has_whole_blocks(const rd_loop_fold *f)
{
    return f->step_loop >= 0 || f->several_lane_axes;
}

/* Returns the element's index in the innermost loop, to be its lane (partial accumulator). If any
 * lane may take an element, this choice makes rows of any length begin with lane 0, so that they
 * can be vectors. */
static rd_linear lane_of_neighbour(rd_building *b, const rd_loop_fold *f)
{
    const rd_program *p = b->t->p;

    return rd_linear_plus_axis(b->t, rd_linear_of(0), /*coef=*/1,
                               p->loop[p->inst[f->step].loop].axis);
}

/* Adds the statements of a STEP or SCAN: "step f0 cell i0, lane 0, line i1: r3", or "r5 = prefix
 * f0 ..". If the fold has several blocks (runs of its steps), "push if last f0 .." of the same
 * element follows, which ends its block if it is the last. Registers a, b, c: element, weight,
 * mask. */
void rd_build_step(rd_building *b, const rd_inst *inst)
{
    const rd_loop_fold *f = &b->t->fold[inst->arg];
    rd_stmt step = of_fold(b, inst->kind == RD_I_SCAN ? RD_S_PREFIX : RD_S_STEP, inst->arg);
    rd_stmt ends = of_fold(b, RD_S_PUSH_IF_LAST, inst->arg);

    step.x      = inst->a;
    step.weight = inst->b;
    step.mask   = inst->c;
    step.label  = b->t->p->fold[inst->arg].n_group ? inst->d : -1;
    if (f->any_lane)
        step.fold_at.lane = lane_of_neighbour(b, f);
    if (inst->kind == RD_I_SCAN)
        add_results(b, &step, inst);
    else
        rd_build_add(b, &step);
    if (f->blocks && has_whole_blocks(f))
        rd_build_add(b, &ends);
}

/* Adds the end of a cell's fold (a cell: an accumulator): "merge blocks f0 cell i0", then "merge
 * lanes f0 cell i0" if it has several lanes (partial accumulators), then "r5 = finish f0 cell i0".
 */
void rd_build_close(rd_building *b, const rd_inst *inst)
{
    const rd_stmt blocks = of_fold(b, RD_S_MERGE_BLOCKS, inst->arg),
                  lanes  = of_fold(b, RD_S_MERGE_LANES, inst->arg);
    rd_stmt finish       = of_fold(b, RD_S_FINISH, inst->arg);

    rd_build_add(b, &blocks);
    if (b->t->p->fold[inst->arg].lanes > 1)
        rd_build_add(b, &lanes);
    add_results(b, &finish, inst);
}

/* Adds "exit from i1 by f0 cell 0, states 64", which tests all states of the fold. inst->a: the
 * fold; inst->arg: the program's loop that is left. */
void rd_build_exit(rd_building *b, const rd_inst *inst)
{
    rd_stmt stmt = of_fold(b, RD_S_EXIT, inst->a);

    stmt.arg          = b->stmt[inst->arg];
    stmt.fold_at.cell = rd_linear_of(0);
    stmt.count        = rd_linear_of(b->t->store[stmt.store].extent);
    rd_build_add(b, &stmt);
}

/* Adds "begin f0", which empties all cells (accumulators) of the fold. */
void rd_build_begin(rd_building *b, const rd_inst *inst)
{
    const rd_stmt stmt = of_fold(b, RD_S_BEGIN, inst->arg);

    rd_build_add(b, &stmt);
}
