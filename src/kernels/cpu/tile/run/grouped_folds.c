/* grouped_folds.c - group-by folds on tiles: each element updates the cell of its label.
 *
 * All cells are one group of the tree, lane after lane.  Each lane has one more cell, for elements
 * without a valid label.  All states begin a block as identities, so no update must ask whether a
 * state has begun.
 *
 *   x = 1 2 3 4, label = 0 1 0 7, 2 groups  ->  cells 1+3, 2; the extra cell takes 4
 *
 * Words.  The seen flags say which cells have had an element.  A label is valid if it is in [0,
 * n_group).  The numbers lane, lane_line, cell and index of an element are those of
 * plan/fold_mapping.c.
 *
 * Fields. A STEP reads an element (a), weights (b), a mask (c) and a group's label (d), -1: none.
 * Strides .row and .col say how far a position moves from row to row and from column to column. */
#include "kernels/cpu/tile/run/grouped_folds.h"
#include "core/caches.h"
#include "kernels/cpu/reference/fold.h"
#include "kernels/cpu/tile/run/masks.h"
#include "kernels/cpu/tile/run/trees.h"
#include <string.h>

/* The operands of a group-by STEP on a tile, its labels as kernels read them, and the numbers of
 * its first element. */
typedef struct group_step {
    const rd_tile_fold *f;
    char               *memory; /* of the fold: its states */
    rd_simd_group      *kernel;
    rd_reg_view         x, y;
    const char         *label;
    int64_t             row, col_label, size; /* row: in elements of so many bytes */
    int64_t             lane, lane_line, cell, index;
    bool                sums; /* the kernel is one of sums */
} group_step;

/* Returns the fourth spare buffer of the tile, which exists if a fold is a group-by: masked labels
 * lie in it. */
static char *fourth_spare(const rd_tiles *m)
{
    return m->spare + 24 * (m->code->buffer_elements > m->code->rows ? m->code->buffer_elements
                                                                     : m->code->rows);
}

/* ---- Labels ---------------------------------------------------------------------------------- */
/* Copies the labels (the group of each element) to a spare buffer, with -1, which belongs to no
 * group, in place of those of masked elements.  Bit k of `form` says that operand k of the choice
 * is one number for the row: the -1 (bit 2), and maybe the label (bit 1).  The choice writes label
 * where the mask is true, else -1. */
static rd_reg_view mask_labels(rd_tiles *m, const rd_reg_view *label, int32_t mask_reg)
{
    const unsigned     form     = 4U | (unsigned)(label->col == 0) << 1;
    rd_simd_map *const choose   = m->code->simd->select[RD_ELEM_i64][form];
    const rd_reg_view  y        = { fourth_spare(m), m->cols, 1, RD_ELEM_i64 };
    const rd_reg_view  mask     = rd_mask_dense(m, mask_reg);
    const int64_t      none     = -1;
    uint32_t           warnings = 0;

    for (int64_t r = 0; r < m->rows; r++)
        choose(m->cols, rd_view_at(&y, r, 0), rd_view_at(&mask, r, 0), rd_view_at(label, r, 0),
               &none, &warnings);
    return y;
}

/* Finds the labels of a group-by STEP (the group of each element): in memory where the kernel reads
 * them there, or in a register (inst->d) as 64-bit ints. step->label is the skipped LOAD of such
 * labels, -1: none. row and col_label are their strides in elements of `size` bytes. */
static void find_labels(rd_tiles *m, int32_t pc, group_step *t)
{
    const rd_inst      *inst = &m->p->inst[pc];
    const rd_tile_inst *step = &m->code->inst[pc];

    if (step->label >= 0) {
        const rd_tile_strides *w = &m->code->inst[step->label].strides;

        t->label     = rd_tiles_memory(m, w);
        t->size      = w->size;
        t->row       = w->row;
        t->col_label = 1;
        return;
    }
    rd_reg_view label = rd_tiles_view(m, inst->d);
    if (inst->c >= 0) /* it has a mask */
        label = mask_labels(m, &label, inst->c);
    t->label     = label.at;
    t->size      = 8;
    t->row       = label.row;
    t->col_label = label.col;
}

/* ---- Steps ----------------------------------------------------------------------------------- */
/* Notes which cells (results) have had an element, where the fold asks for it (`masked`): a float
 * minimum of no elements is NaN, and a state that is still the identity does not tell. */
static void mark_seen(const rd_tile_fold *f, char *memory, const rd_group_row *q)
{
    uint8_t *const       seen  = (uint8_t *)memory + f->seen_offset;
    const int64_t *const label = q->label;

    for (int64_t c = 0; f->masked && c < q->n; c++)
        seen[rd_group_state(q, c, label[c * q->col_label])] = 1;
}

/* Updates adjacent cells (results) by the reducer's own vector step, if one label holds for the
 * whole row (col_label is 0) and each element has a cell of its own. Nothing happens if the label
 * names no group. False if that is not so; the conditions against it, in turn:
 *   the kernel is one of sums, which does this itself (it may have narrower labels)
 *   labels differ along the row, or columns are not neighbouring cells
 *   an operand is one number for the row (colx, coly are 0), which the step cannot take
 *   the step leaves counting to its caller (uncounted) */
static bool update_adjacent_cells(const group_step *t, const rd_group_row *q)
{
    const rd_tile_fold *f = t->f;
    int64_t             label;
    rd_fold_rows        rows = {
               .n = q->n, .rows = 1, .x = q->x, .y = q->y, .index = q->index, .index_col = q->index_col
    };

    if (t->sums || q->col_label || q->cell_col != 1 || !q->colx || (q->y && !q->coly) ||
        f->code->uncounted)
        return false;
    label = *(const int64_t *)q->label; /* sums may have narrower ones */
    if ((uint64_t)label >= (uint64_t)q->n_group)
        return true;
    for (int32_t k = 0; k < f->n_state; k++)
        rows.s[k] = (char *)q->s[k] + rd_group_state(q, 0, label) * f->word_bytes[k];
    f->code->step(&rows);
    return true;
}

/* Enters a block of the combine tree, and sets s to its states.  They begin as identities, unless
 * the block has begun already, so no update must ask whether a state has had an element. */
static void begin_block(const rd_tile_fold *f, char *memory, int64_t block, void **s)
{
    rd_group *const g = rd_tree_group(memory, /*group=*/0);

    rd_tree_enter_block(f, memory, /*group=*/0, block);
    rd_tree_block(f, memory, /*slot=*/0, s);
    if (g->begun == 0)
        rd_fill_identity(f, f->group, s);
    g->begun = f->group;
}

/* Returns how many of the next `left` steps, from `step` on, are in the same block of the combine
 * tree (64 steps, or all). */
static int64_t left_in_block(const rd_tile_fold *f, int64_t step, int64_t left)
{
    const int64_t steps = f->fold->steps;

    return steps == INT64_MAX ? left : rd_least(left, steps - step % steps);
}

/* Counts the elements from column c on that one kernel call may take, as they are of one block.
 * These are steps along the lanes, or successive steps of one lane, or one step of several cells
 * (neither lane nor step moves). */
static int64_t count_in_block(const rd_tiles *m, const group_step *t, int64_t step,
                              const rd_group_row *q, int64_t c)
{
    const rd_tile_fold *f     = t->f;
    const int64_t       lanes = f->fold->lanes, left = m->cols - c;

    if (!f->lane.col)
        return f->lane_line.col ? left_in_block(f, step, left) : left;
    /* what the first step has of lanes, and whole steps after it */
    const int64_t first = lanes - q->lane % lanes, whole = left_in_block(f, step, left) - 1;
    return left <= first ? left : rd_least(left, first + whole * lanes);
}

/* Counts the rows from r on that one call of a summing kernel takes: successive steps of one block,
 * with a label for each row and a cell for each column; else 1. The conditions against it, in
 * turn:
 *   the kernel is not one of sums, or the label moves along the row
 *   columns are not neighbouring cells with an element each, or rows move to other cells
 *   there are several lanes, or rows are not successive steps */
static int64_t count_rows_at_once(const rd_tiles *m, const group_step *t, int64_t step, int64_t r)
{
    const rd_tile_fold *f = t->f;

    if (!t->sums || t->col_label || f->cell.col != 1 || !t->x.col || f->cell.row ||
        f->fold->lanes > 1 || f->lane_line.row * f->row_steps + f->lane.row != 1)
        return 1;
    return left_in_block(f, step, m->rows - r);
}

/* Updates cells (results) with the elements of row r from column c on, as many as are of one block,
 * or with several such rows.  The numbers of the element at (r, c) follow from those of the tile's
 * first element (t->..) and their strides; `step` is its step.  Sets q->n to the number of
 * elements, and returns how many rows. */
static int64_t update_from(const rd_tiles *m, const group_step *t, int64_t r, int64_t c,
                           rd_group_row *q)
{
    const rd_tile_fold *f    = t->f;
    const int64_t       line = t->lane_line + r * f->lane_line.row + c * f->lane_line.col;
    const int64_t       lane = t->lane + r * f->lane.row + c * f->lane.col;
    const int64_t       step = line * f->row_steps + lane / f->fold->lanes;

    begin_block(f, t->memory, step / f->fold->steps, q->s);
    q->lane  = lane;
    q->n     = count_in_block(m, t, step, q, c);
    q->rows  = count_rows_at_once(m, t, step, r);
    q->cell  = t->cell + r * f->cell.row + c * f->cell.col;
    q->index = t->index + r * f->index.row + c * f->index.col;
    q->x     = rd_view_at(&t->x, r, c);
    q->y     = t->y.at ? rd_view_at(&t->y, r, c) : NULL;
    q->label = t->label + (r * t->row + c * t->col_label) * t->size;
    if (!update_adjacent_cells(t, q))
        t->kernel(q);
    mark_seen(f, t->memory, q);
    return q->rows;
}

/* Updates the cells of a group-by with all elements of a tile, in pieces of one block. Each lane
 * has `stride` states: one for each cell, and one more (nowhere) for labels that name no group.
 * `far` says that the states do not fit the second-level cache, so that kernels may prefetch
 * them. */
static void update_tile(const rd_tiles *m, const group_step *t)
{
    const rd_tile_fold *f      = t->f;
    const int64_t       stride = f->group / f->fold->lanes;
    rd_group_row        q      = { .n_group   = f->fold->n_group,
                                   .apart     = f->fold->group_stride,
                                   .cell_col  = f->cell.col,
                                   .nowhere   = stride - 1,
                                   .lane_col  = f->lane.col,
                                   .lanes     = f->fold->lanes,
                                   .stride    = stride,
                                   .colx      = t->x.col,
                                   .coly      = t->y.col,
                                   .col_label = t->col_label,
                                   .row_label = t->row,
                                   .ldx       = t->x.row,
                                   .index_col = f->index.col,
                                   .far       = 8 * f->group > RD_L2_BYTES };

    for (int64_t r = 0, rows; r < m->rows; r += rows) {
        rows = 1;
        for (int64_t c = 0; c < m->cols; c += q.n)
            rows = update_from(m, t, r, c, &q);
    }
}

/* STEP of a group-by: finds operands and labels (the group of each element), then updates the
 * cells. The positions are the numbers of the tile's first element in the fold. */
void rd_grouped_folds_step(rd_tiles *m, int32_t pc, const rd_tile_fold *f, char *memory)
{
    const rd_inst      *inst = &m->p->inst[pc];
    const rd_tile_inst *step = &m->code->inst[pc];
    group_step          t    = {
                    .f = f, .memory = memory, .kernel = step->group, .sums = step->uses_sum_kernel
    };

    t.lane      = rd_tiles_position(m, f->lane.at);
    t.lane_line = rd_tiles_position(m, f->lane_line.at);
    t.cell      = rd_tiles_position(m, f->cell.at);
    t.index     = rd_tiles_position(m, f->index.at);
    t.x         = rd_tiles_view(m, step->x);
    if (inst->b >= 0)
        t.y = rd_tiles_view(m, inst->b);
    find_labels(m, pc, &t);
    update_tile(m, &t);
}

/* ---- Results --------------------------------------------------------------------------------- */
/* Merges all nodes of the combine tree into one and then its lanes by halves, unless an earlier
 * CLOSE has done so: the node has the states of one lane (`stride`) then. Where f->masked, the
 * flags of a cell (it has had an element) of all lanes become one. */
static void finish_tree(const rd_tile_fold *f, char *memory)
{
    const int64_t lanes = f->fold->lanes, stride = f->group / lanes;
    uint8_t      *seen = (uint8_t *)memory + f->seen_offset;
    rd_tree_node *node = rd_tree_nodes(f, memory, /*group=*/0);
    void         *a[RD_MAX_STATE], *b[RD_MAX_STATE];

    rd_tree_collapse(f, memory, /*group=*/0);
    if (rd_tree_group(memory, /*group=*/0)->depth == 0 || node->n == stride)
        return;
    for (int64_t half = lanes / 2; half > 0; half /= 2) {
        rd_tree_row(f, memory, /*row=*/0, /*slot=*/0, a);
        rd_tree_row(f, memory, /*row=*/0, half * stride, b);
        f->code->merge(half * stride, a, b);
    }
    for (int64_t k = stride; f->masked && k < f->group; k++)
        seen[k % stride] |= seen[k]; /* lanes of a cell share its flag */
    node->n = stride;
}

/* Makes zeros of sums +0, as a group of no elements sums to +0; and the index -1 of groups where
 * argmin or argmax have had no element. */
static void fix_zeros_and_places(const rd_tile_fold *f, int64_t n, void *to)
{
    for (int64_t k = 0; rd_fold_begins_with_0(f->fold) && k < n; k++)
        if (f->elem == RD_ELEM_f32)
            ((float *)to)[k] += 0.0F;
        else
            ((double *)to)[k] += 0.0;
    for (int64_t k = 0; f->has_index && k < n; k++)
        if (((int64_t *)to)[k] == RD_NO_PLACE)
            ((int64_t *)to)[k] = -1;
}

/* Writes the results of n cells of a group-by to y from (r, c) on.  `none`: no element has come at
 * all; then, or for a cell without an element where this matters, the result is that of no
 * elements. */
static void finish_cells(const rd_tile_fold *f, char *memory, int64_t cell, int64_t n,
                         const rd_reg_view *y, int64_t r, int64_t c)
{
    const bool none = rd_tree_group(memory, /*group=*/0)->depth == 0;
    void      *s[RD_MAX_STATE], *to[RD_MAX_STATE];

    if (!none) {
        rd_tree_row(f, memory, /*row=*/0, cell, s);
        for (int32_t k = 0; k < f->fold->n_out; k++)
            to[k] = rd_view_at(&y[k], r, c);
        f->code->finish(n, s, f->fold->ddof, to);
        fix_zeros_and_places(f, n, to[0]);
    }
    for (int64_t k = 0; (none || f->masked) && k < n; k++)
        if (none ||
            !memory[f->seen_offset + cell + k]) /* flags of cells that have had an element */
            rd_tiles_set_empty_result(f, y, r, c + k);
}

/* CLOSE of a group-by: merges the combine tree, and writes the results of the cells from `first`
 * on, w apart, to y. */
void rd_grouped_folds_finish(const rd_tile_fold *f, char *memory, int64_t first, const rd_tiles *m,
                             const rd_tile_strides *w, const rd_reg_view *y)
{
    finish_tree(f, memory);
    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t c = 0, n; c < m->cols; c += n) {
            n = w->col == 1 ? m->cols : 1;
            finish_cells(f, memory, first + r * w->row + c * w->col, n, y, r, c);
        }
}
