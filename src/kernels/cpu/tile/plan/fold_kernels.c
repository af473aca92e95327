/* fold_kernels.c - the kernel of each STEP: of rows that are whole folds, of blocks in registers,
 * or with a map fused into it.
 *
 * Words.  A total is a row of a tile that is a whole fold: it begins, is folded and ends before the
 * next row begins.  A fused map is an operation, such as a square, that the kernel of the STEP
 * applies to the elements as it reads them.  A row is `masked` if a mask says which of its elements
 * count.  A treeless fold keeps no blocks and nodes between kernel calls.
 *
 * Fields. A fold has own_rows if each row of a tile has states of its own. Strides .row and .col
 * say how far a position moves from row to row and from column to column. transposed_load is the
 * skipped LOAD that the kernel of a STEP transposes, -1: none. */
#include "core/combine_tree.h"
#include "kernels/cpu/tile/plan/tile_plan.h"
#include <assert.h>

/* True if the loop over columns around a STEP runs once between the START and the end of its fold:
 * both are in the loop around it. */
static bool runs_once(const rd_program *p, int32_t step)
{
    const int32_t start = rd_tile_inst_of(p, RD_I_START, p->inst[step].arg);

    return p->inst[start].loop == p->loop[p->inst[step].loop].parent;
}

/* True if the elements of a STEP come from 16-bit floats, which its kernel widens. */
static bool loads_halves(const rd_tile_code *code, const rd_tile_inst *step)
{
    return rd_elem_is_narrow_float(code->reg[step->x].elem);
}

/* True if each row of these columns is a fold of its own that goes along all lanes.  No axis may
 * move to another pass along them (outer has no addends), and the columns must be all elements of
 * the lane position.  A row of lanes has RD_TREE_ROW bytes. */
static bool has_whole_row(const rd_tile_fold *f, const rd_loop *col)
{
    return f->mapping == RD_FOLD_LANES && f->fold->lanes == RD_TREE_ROW / rd_elem_size(f->elem) &&
           f->fold->lane_line.n_add == 0 && f->fold->lane_extent == col->extent;
}

/* True if a row of a tile is a whole fold with a kernel: along the lanes, or too short for lanes.
 * The latter has one lane and one block, and its columns are successive steps. lane.n_add is 0 if
 * all elements have one lane position, outer.col is 1 if columns are successive steps.  The kernels
 * of such rows take neither fused maps, nor small ints from memory, nor halves. */
static bool has_totals(const rd_tile_code *code, const rd_tile_inst *t, const rd_tile_fold *f,
                       const rd_loop *col)
{
    if (f->mapping == RD_FOLD_LANES)
        return !f->any_order && has_whole_row(f, col); /* any order gives the same bits */
    return f->mapping == RD_FOLD_ELEMENTS && f->fold->n_block == 1 && f->own_rows &&
           f->whole_columns && f->fold->lanes == 1 && f->fold->lane.n_add == 0 &&
           f->fold->lane_line.n_add == 1 && f->lane_line.col == 1 && t->small_ints_load < 0 &&
           !t->fused && !loads_halves(code, t);
}

/* True if the fold of a STEP is a *total*: in each row of a tile it begins, is folded and ends at
 * once, so it needs no states of its own.  Lane and block numbers must not change from row to row,
 * and a tile must have all columns.  Users' reducers, weights, and several cells (results) a row
 * have no such kernels.  Tasks may share a fold (split) only if it has one block and no task begins
 * within that block (loose). */
static bool is_row_total(const rd_program *p, const rd_tile_code *code, int32_t step)
{
    const rd_inst      *inst = &p->inst[step];
    const rd_tile_fold *f    = &code->fold[inst->arg];
    const rd_loop      *row, *col;

    if (f->users || f->weighted || f->cells != 1 || f->fold->n_block < 1 ||
        ((f->fold->n_block > 1 || f->fold->loose) && f->fold->split) ||
        code->inst[step].level != RD_AT_TILE)
        return false;
    rd_tile_loops_around(p, code, step, &row, &col);
    assert(col); /* as the STEP is at tile level */
    return f->lane.row == 0 && f->lane_line.row == 0 && !f->in_square &&
           code->loop[col - p->loop].most >= col->extent &&
           has_totals(code, &code->inst[step], f, col) && runs_once(p, step);
}

/* Returns the element type that the kernels of a STEP load: a 16-bit float that they widen, or that
 * of the accumulator. */
static rd_elem loaded_elem(const rd_tile_code *code, const rd_tile_inst *t, const rd_tile_fold *f)
{
    return loads_halves(code, t) ? code->reg[t->x].elem : f->elem;
}

/* True if a total (a fold that is one row of a tile) has one block, or at most 16 blocks of whole
 * steps with a kernel that merges them itself: then it needs no combine tree in memory.  A reducer
 * that reads a mask has no such kernel.  f->code->masked is the step that reads a mask, NULL:
 * masked elements become the identity instead. */
static bool needs_no_tree(const rd_tile_code *code, const rd_tile_inst *t, const rd_tile_fold *f)
{
    rd_simd_block *const(*kernels)[RD_N_FUSED] = code->simd->blocks[loaded_elem(code, t, f)];

    if (f->fold->n_block == 1)
        return true;
    return !(f->masked && f->code->masked) && f->fold->n_block <= RD_TOTAL_BLOCKS &&
           f->fold->lane_extent % f->fold->lanes == 0 && kernels &&
           kernels[f->fold->reducer][t->fused];
}

/* Marks the folds that are totals (each row of a tile is a whole fold), and which of them need no
 * combine tree in memory.  Each row then keeps only its result: one state. */
void rd_tile_find_totals(const rd_program *p, rd_tile_code *code)
{
    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == RD_I_STEP && is_row_total(p, code, i))
            code->fold[p->inst[i].arg].totals = true;
    for (int32_t i = 0; i < p->n_inst; i++) {
        rd_tile_fold *f = p->inst[i].kind == RD_I_STEP ? &code->fold[p->inst[i].arg] : NULL;

        if (!f || !f->totals)
            continue;
        f->treeless  = needs_no_tree(code, &code->inst[i], f);
        f->row_bytes = 8 * f->n_state;
    }
}

/* True if a kernel can fold a whole block (64 steps) with its states in vector registers: elements
 * lie in memory as states do, and the states fit.  That holds for all lanes of a cell (RD_TREE_ROW
 * bytes), three channels on 64-byte vectors, or at most 128 columns of 4 bytes. */
static bool has_blocks(const rd_simd *simd, const rd_tile_fold *f)
{
    const int64_t size = rd_elem_size(f->elem);

    switch (f->mapping) {
    case RD_FOLD_LANES: return f->fold->lanes * size == RD_TREE_ROW;
    case RD_FOLD_CHANNELS: return f->group * size == 3 * RD_TREE_ROW && simd->vector == 64;
    case RD_FOLD_COLUMNS: return f->group * size <= RD_BLOCK_COLUMNS * 4;
    default: return false;
    }
}

/* Chooses the kernels of STEP i by its fused map, mask, transposed operand and mapping: one for
 * rows, and where they exist one for cells that end their blocks together and one for full blocks.
 * t->from is the type that the kernel loads; if it is not the fold's, the kernel widens. Weights
 * (`weighted`) are left to the general step. Group-bys and callers' reducers have ways of their
 * own. */
static void find_step(const rd_program *p, rd_tile_code *code, int32_t i)
{
    const rd_simd      *simd = code->simd;
    rd_tile_inst       *t    = &code->inst[i];
    const rd_tile_fold *f    = &code->fold[p->inst[i].arg];

    t->from = loaded_elem(code, t, f);
    if (f->users || f->grouped)
        return;
    t->step = t->transposed_load >= 0 ? simd->transposed[t->from][f->fold->reducer][t->fused]
              : t->fused || t->from != f->elem ? simd->fused[t->from][f->fold->reducer][t->fused]
              : f->best                        ? simd->best_rows[f->elem][f->fold->reducer]
              : f->masked && f->code->masked   ? f->code->masked
                                               : f->code->step;
    if (simd->cells[t->from] && f->in_lockstep && !f->weighted && t->transposed_load < 0)
        t->cells = simd->cells[t->from][f->fold->reducer][t->fused];
    if (simd->blocks[t->from] && !f->masked && !f->weighted && t->transposed_load < 0 &&
        has_blocks(simd, f))
        t->blocks = simd->blocks[t->from][f->fold->reducer][t->fused];
}

/* Chooses the kernels of all STEPs, once the mappings and the totals of folds are known. */
void rd_tile_find_steps(const rd_program *p, rd_tile_code *code)
{
    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == RD_I_STEP)
            find_step(p, code, i);
}
