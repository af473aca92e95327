/* tile_residue.c - the scalar residue of the tile machine: operations that it runs element by
 * element, with the reason.
 *
 * These are folds without a lane mapping, labels, functions without vectors, and gathers.
 *
 * Words.  A reason (RD_RESIDUE_..) says why an operation runs element by element; RD_N_RESIDUE, the
 * number of reasons, stands for none.  Its time is moved from the sum of all instructions to the
 * account of its reason.
 *
 * Fields. A fold has own_rows if each row of a tile has states of its own. Strides .row and .col
 * say how far a position moves from row to row and from column to column. A STEP's `small` is the
 * skipped LOAD of small ints that it sums, -1: none. An instruction is skipped (`skip`) if another
 * one's kernel does its work. */
#include "kernels/scalar_residue.h"
#include "kernels/cpu/tile/plan/tile_plan.h"

/* True if an address changes along an axis (its coefficient is not 0). */
static bool has_stride(const rd_address *at, int32_t axis)
{
    return rd_coef(at, axis) != 0;
}

/* True if the columns of a tile are successive steps of one lane (accumulator), so that each
 * element waits for the one before it. */
static bool is_serial(const rd_program *p, const rd_inst *inst)
{
    const rd_fold *f    = &p->fold[inst->arg];
    const int32_t  axis = inst->loop >= 0 ? p->loop[inst->loop].axis : -1;

    return f->lanes == 1 && axis >= 0 &&
           (has_stride(&f->lane_line, axis) || has_stride(&f->lane, axis));
}

/* True if loops around the columns bring other cells (results), or the fold has several blocks of
 * its combine tree: these could be taken together, though elements of one cell cannot. */
static bool has_independent_cells(const rd_program *p, const rd_inst *inst)
{
    const rd_fold *f = &p->fold[inst->arg];

    for (int32_t k = p->loop[inst->loop].parent; k >= 0; k = p->loop[k].parent)
        if (rd_trips(p, k) > 1 && !has_stride(&f->lane_line, p->loop[k].axis) &&
            !has_stride(&f->lane, p->loop[k].axis))
            return true;
    return f->n_block > 1 && !f->scan;
}

/* Returns the reason why the elements of a STEP or SCAN go one by one, as run/steps.c takes them.
 * Totals (treeless), small ints (`small_ints_load`) and counted bools have kernels without a lane
 * mapping. The reasons: labels of groups, scans with or without other scans to go beside, the order
 * of one sum, and elements at any places; RD_N_RESIDUE if they go in vectors. */
static rd_residue_why why_step(const rd_program *p, const rd_tile_code *code, int32_t i)
{
    const rd_inst      *inst = &p->inst[i];
    const rd_tile_inst *t    = &code->inst[i];
    const rd_tile_fold *f    = &code->fold[inst->arg];
    const bool          scan = inst->kind == RD_I_SCAN, order = is_serial(p, inst);
    /* rows of the tile go along the lanes of a cell for each column: taken column by column */
    const bool down = f->lane.row == 1 && f->lane.col == 0 && f->cell.row == 0 &&
                      f->lane_line.row == 0 && f->lane_line.col == 0 && !f->own_rows &&
                      code->rows > 1;

    if (scan ? f->mapping == RD_FOLD_ALONG || f->mapping == RD_FOLD_COLUMNS
             : f->mapping != RD_FOLD_ELEMENTS || f->treeless || t->small_ints_load >= 0 ||
                   t->counts || down)
        return RD_N_RESIDUE;
    if (f->grouped) /* a group-by */
        return RD_RESIDUE_label;
    if (order && scan)
        return has_independent_cells(p, inst) ? RD_RESIDUE_scans : RD_RESIDUE_scan;
    if (order || f->users) /* the caller's reducer */
        return order && !has_independent_cells(p, inst) ? RD_RESIDUE_order : RD_RESIDUE_rows;
    return RD_RESIDUE_places;
}

/* Returns the reason why an elementwise operation runs element by element; RD_N_RESIDUE if it runs
 * in vectors. Remainders of floats have vectors (rd_op_leaves_rest); ints may report a division by
 * 0 (rd_op_reports). Other functions are C's, or go by rows with branches. */
static rd_residue_why why_map(const rd_inst *inst)
{
    if (rd_op_leaves_rest(inst->op, inst->type))
        return RD_N_RESIDUE;
    if (rd_op_reports(inst->op, inst->type))
        return RD_RESIDUE_divides;
    switch (rd_op_table[inst->op].by) {
    case RD_BY_LIBM: return RD_RESIDUE_c;
    case RD_BY_ROWS: return RD_RESIDUE_branches;
    default: return RD_N_RESIDUE;
    }
}

/* Returns the reason why an instruction runs element by element; RD_N_RESIDUE if it runs in vectors
 * or is none of these. Functions of arrays (block, f32, f64) take rows; those of single numbers do
 * not. */
static rd_residue_why why_of(const rd_program *p, const rd_tile_code *code, int32_t i)
{
    const rd_inst *inst = &p->inst[i];
    const rd_call *call;

    switch (inst->kind) {
    case RD_I_STEP:
    case RD_I_SCAN: return why_step(p, code, i);
    case RD_I_LOAD:
        return code->inst[i].strides.gathers && !code->inst[i].by_pieces ? RD_RESIDUE_gather
                                                                         : RD_N_RESIDUE;
    case RD_I_MAP: return why_map(inst);
    case RD_I_CALL:
        call = &p->call[inst->arg];
        return call->block || call->f32 || call->f64 ? RD_N_RESIDUE : RD_RESIDUE_caller;
    default: return RD_N_RESIDUE;
    }
}

/* Adds to r what the tile machine runs element by element: operations and predicted time, each with
 * its reason.  A program that is one kernel call (code->total) has none.  Only work on each element
 * of a tile counts, as work on each row is little in comparison. r->ns is the time of all else. */
void rd_tile_residue(const rd_program *p, const rd_tile_code *code, const rd_speeds *s,
                     rd_residue *r)
{
    char name[RD_RESIDUE_NAME];

    r->ns += rd_tile_compute_ns(p, code, s);
    for (int32_t i = 0; i < p->n_inst && !code->total; i++) {
        const rd_tile_inst  *t     = &code->inst[i];
        const double         times = rd_program_times(p, i);
        const rd_residue_why why   = why_of(p, code, i);
        const bool           moves = p->inst[i].kind == RD_I_LOAD || p->inst[i].kind == RD_I_STORE;

        if (t->level != RD_AT_TILE || t->skip || t->direct || p->inst[i].kind == RD_I_LOOP ||
            p->inst[i].kind == RD_I_END || p->inst[i].kind == RD_I_CONST ||
            (moves && why == RD_N_RESIDUE))
            continue;
        const double ns = times * rd_tile_element_ns(p, code, i, s);

        rd_residue_inst(p, &p->inst[i], name);
        rd_residue_add(r, why, name, times, ns);
        r->ns -= ns; /* it is in the sum of all, and now with its reason */
    }
}
