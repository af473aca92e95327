/* kernels.c - by which kernels each fold is taken: of rows that are whole folds, of blocks in
 * registers, fused. */
#include "core/tree.h"
#include "kernels/cpu/tile/plan/plan.h"
#include <assert.h>

/* Does the loop over columns around a STEP run once from the fold's START to its end? */
static bool runs_once(const rd_program *p, int32_t step)
{
    const int32_t start = rd_tile_inst_of(p, RD_I_START, p->inst[step].arg);

    return p->inst[start].loop == p->loop[p->inst[step].loop].parent;
}

/* Its elements come from halves, which its kernel widens. */
static bool widens(const rd_tile_code *code, const rd_tile_inst *step)
{
    return rd_elem_is_half(code->reg[step->x].elem);
}

/* Are rows of these columns runs along all lanes, a fold each? */
static bool folds_run(const rd_tile_fold *f, const rd_loop *col)
{
    return f->form == RD_FOLD_RUN && f->fold->lanes == RD_TREE_ROW / rd_elem_size(f->elem) &&
           f->fold->outer.n_add == 0 && f->fold->lane_extent == col->extent;
}

/* Is a row a whole fold for which there is a kernel: of neighbours along the lanes, or too short
 * for lanes? */
static bool has_totals(const rd_tile_code *code, const rd_tile_inst *t, const rd_tile_fold *f,
                       const rd_loop *col)
{
    if (f->form == RD_FOLD_RUN)
        return !f->any_order && folds_run(f, col);
    return f->form == RD_FOLD_ELEMENTS && f->fold->n_block == 1 && f->own_rows &&
           f->whole_columns && f->fold->lanes == 1 && f->fold->lane.n_add == 0 &&
           f->fold->outer.n_add == 1 && f->outer.col == 1 && t->small < 0 && !t->fused &&
           !widens(code, t);
}

/* Rows that begin, are folded and end at once need no states of their own. */
static bool folds_totals(const rd_program *p, const rd_tile_code *code, int32_t step)
{
    const rd_inst      *inst = &p->inst[step];
    const rd_tile_fold *f    = &code->fold[inst->arg];
    const rd_loop      *row, *col;

    if (f->users || f->weighted || f->cells != 1 || f->fold->n_block < 1 ||
        ((f->fold->n_block > 1 || f->fold->loose) && f->fold->split) ||
        code->inst[step].level != RD_AT_TILE)
        return false;
    rd_tile_loops_at(p, code, step, &row, &col);
    assert(col); /* as the STEP is at tile level */
    return f->lane.row == 0 && f->outer.row == 0 && code->loop[col - p->loop].most >= col->extent &&
           has_totals(code, &code->inst[step], f, col) && runs_once(p, step);
}

/* The element that a step's kernels load. */
static rd_elem loaded(const rd_tile_code *code, const rd_tile_inst *t, const rd_tile_fold *f)
{
    return widens(code, t) ? code->reg[t->x].elem : f->elem;
}

/* Of one block, or of a few of whole steps by a kernel? */
static bool needs_no_tree(const rd_tile_code *code, const rd_tile_inst *t, const rd_tile_fold *f)
{
    rd_simd_block *const(*kernels)[RD_N_FUSED] = code->simd->blocks[loaded(code, t, f)];

    if (f->fold->n_block == 1)
        return true;
    return !(f->masked && f->code->masked) && f->fold->n_block <= RD_TOTAL_BLOCKS &&
           f->fold->lane_extent % f->fold->lanes == 0 && kernels &&
           kernels[f->fold->reducer][t->fused];
}

void rd_tile_find_totals(const rd_program *p, rd_tile_code *code)
{
    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == RD_I_STEP && folds_totals(p, code, i))
            code->fold[p->inst[i].arg].totals = true;
    for (int32_t i = 0; i < p->n_inst; i++) {
        rd_tile_fold *f = p->inst[i].kind == RD_I_STEP ? &code->fold[p->inst[i].arg] : NULL;

        if (!f || !f->totals)
            continue;
        f->treeless  = needs_no_tree(code, &code->inst[i], f);
        f->row_bytes = 8 * f->n_state;
    }
}

/* Do elements lie as states do, so few that a block's are in registers: all lanes of a cell, or of
 * three channels, or a few columns? */
static bool has_blocks(const rd_simd *simd, const rd_tile_fold *f)
{
    const int64_t size = rd_elem_size(f->elem);

    switch (f->form) {
    case RD_FOLD_RUN: return f->fold->lanes * size == RD_TREE_ROW;
    case RD_FOLD_CHANNELS: return f->group * size == 3 * RD_TREE_ROW && simd->vector == 64;
    case RD_FOLD_COLUMNS: return f->group * size <= RD_BLOCK_COLUMNS * 4;
    default: return false;
    }
}

static void find_step(const rd_program *p, rd_tile_code *code, int32_t i)
{
    const rd_simd      *simd = code->simd;
    rd_tile_inst       *t    = &code->inst[i];
    const rd_tile_fold *f    = &code->fold[p->inst[i].arg];

    t->from = loaded(code, t, f);
    if (f->users || f->grouped)
        return;
    t->step = t->turned >= 0                   ? simd->turned[t->from][f->fold->reducer][t->fused]
              : t->fused || t->from != f->elem ? simd->fused[t->from][f->fold->reducer][t->fused]
              : f->best                        ? simd->best_rows[f->elem][f->fold->reducer]
              : f->masked && f->code->masked   ? f->code->masked
                                               : f->code->step;
    if (simd->cells[t->from] && f->in_step && !f->weighted && t->turned < 0)
        t->cells = simd->cells[t->from][f->fold->reducer][t->fused];
    if (simd->blocks[t->from] && !f->masked && !f->weighted && t->turned < 0 && has_blocks(simd, f))
        t->blocks = simd->blocks[t->from][f->fold->reducer][t->fused];
}

void rd_tile_find_steps(const rd_program *p, rd_tile_code *code)
{
    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == RD_I_STEP)
            find_step(p, code, i);
}
