/* lane_rows.c - updates by rows along the lanes: neighbouring elements update neighbouring lanes.
 * Rows are of several cells or of one; they are taken by whole steps, or one by one.
 *
 * Words.  A step is one element for each lane of a cell.  A block is a run of steps; its states
 * have begun once they have had an element.  Cells are in lockstep if they share one group, so that
 * all reach a block together.
 *
 * Fields. A fold has own_rows if each row of a tile has states of its own. Strides .row and .col
 * say how far a position moves from row to row and from column to column. */
#include "kernels/cpu/tile/run/steps.h"
#include <string.h>

/* True if steps [step, step + n) belong to the current block of the group (states that begin and
 * end blocks together), and its states [0, begun) have had an element: then a kernel can go on
 * without a look at the combine tree. Block b has steps [b steps, (b + 1) steps); g->begun counts
 * the states that have begun. */
static bool is_in_current_block(const rd_update *a, int64_t group, int64_t begun, int64_t step,
                                int64_t n)
{
    const int64_t   steps = a->f->fold->steps;
    const rd_group *g     = rd_tree_group(a->memory, group);

    return g->begun >= begun && g->block * steps <= step && step + n <= (g->block + 1) * steps;
}

/* True if rows of one step each (an element for each lane) are contiguous in memory, as the states
 * of their cells are: then all are one long row. */
static bool is_one_row(const rd_tiles *m, const rd_update *a, const rd_fold_tile *t)
{
    return m->cols == a->f->fold->lanes && t->x.row == m->cols &&
           (!t->y.at || t->y.row == m->cols) && (!t->mask.at || t->mask.row == m->cols);
}

/* Updates n neighbouring states, of one or more cells, with `rows` rows at q by the kernel of the
 * step. Counts are added here for reducers whose kernels leave counting to their caller (a
 * mean). */
static void step_states(const rd_update *a, rd_fold_rows *q, int64_t n, int64_t rows)
{
    q->n    = n;
    q->rows = rows;
    rd_tree_add_count(a->f, q->s[0], n, rows);
    a->step(q);
}

/* Moves each operand of q on by so many elements; NULL stays NULL. Elements have a->size bytes;
 * those of a mask have one. */
static void advance_operands(const rd_update *a, rd_fold_rows *q, int64_t x, int64_t y,
                             int64_t mask)
{
    q->x    = q->x ? (const char *)q->x + x * a->size : NULL;
    q->y    = q->y ? (const char *)q->y + y * a->size : NULL;
    q->mask = q->mask ? (const char *)q->mask + mask : NULL;
}

/* Updates one cell (result) with row r of the tile: whole steps, and maybe part of one. Its states,
 * from `slot` on, have begun the current block, so there is nothing to do but call the kernel. coly
 * is the stride of y along the row, 0 if the row has one y. */
static void update_row(const rd_tiles *m, const rd_update *a, const rd_fold_tile *t, int64_t r,
                       int64_t slot, rd_fold_rows *q)
{
    const int64_t lanes = a->f->fold->lanes, whole = m->cols / lanes * lanes;

    q->x    = a->q.x;
    q->y    = a->q.y;
    q->mask = a->q.mask;
    advance_operands(a, q, r * t->x.row, r * t->y.row, r * t->mask.row);
    rd_tree_block(a->f, a->memory, slot, q->s);
    if (whole)
        step_states(a, q, lanes, whole / lanes);
    if (whole < m->cols) {
        advance_operands(a, q, whole, whole * q->coly, whole);
        step_states(a, q, m->cols - whole, /*rows=*/1);
    }
}

/* Updates adjacent cells (results) with one row each, if all rows are within the current block and
 * their states have begun it; else returns false. Cells in lockstep share one group of states,
 * others have a group each. In lockstep the states of these cells follow each other, so those of
 * all rows must have begun. */
static bool update_cells_in_block(const rd_tiles *m, const rd_update *a, const rd_fold_tile *t,
                                  int64_t step)
{
    const rd_tile_fold *f     = a->f;
    const int64_t       lanes = f->fold->lanes, steps = (m->cols + lanes - 1) / lanes;
    /* states of a cell that a row reaches; groups of these cells */
    const int64_t begun = m->cols < lanes ? m->cols : lanes, groups = f->in_lockstep ? 1 : m->rows;
    rd_fold_rows  q = a->q;

    for (int64_t k = 0; k < groups; k++)
        if (!is_in_current_block(a, a->group + k,
                                 a->offset + (f->in_lockstep ? m->rows : 1) * begun, step, steps))
            return false;
    if (is_one_row(m, a, t)) {
        rd_tree_block(f, a->memory, t->cell * lanes, q.s);
        step_states(a, &q, m->rows * lanes, /*rows=*/1);
        return true;
    }
    for (int64_t r = 0; r < m->rows; r++)
        update_row(m, a, t, r, (t->cell + r) * lanes, &q);
    return true;
}

/* Updates the cells (results) of one group step by step, where a block begins or ends; each cell
 * has a row of `steps` steps. `step` is the number of the first one. */
static void update_in_lockstep(const rd_tiles *m, rd_update *a, const rd_fold_tile *t, int64_t step,
                               int64_t steps)
{
    const bool one = is_one_row(m, a, t); /* all cells have one step, side by side in memory */

    for (int64_t r = 0; r < m->rows; r += one ? m->rows : 1) {
        rd_update_place(a, t, r, 0);
        rd_update_by_steps(a);
        a->first_step = step;
        a->q.n        = one ? m->rows * m->cols : a->f->fold->lanes;
        rd_update_rows(a, steps);
    }
}

/* Updates adjacent cells (results) with a row each, by the fastest way that their block allows: a
 * kernel for several cells, the kernel of the step within the current block, or step by step. False
 * if rows are not for adjacent cells, begin within a step, or must be split at the end of a
 * block. */
static bool update_adjacent_cells(const rd_tiles *m, rd_update *a, const rd_fold_tile *t)
{
    const rd_tile_fold *f = a->f;
    const int64_t lanes = f->fold->lanes, step = t->lane_line * f->row_steps + t->lane / lanes;

    if (!f->adjacent_cells || t->lane % lanes)
        return false;
    rd_update_place(a, t, 0, 0);
    rd_update_by_steps(a);
    a->first_step = step;
    a->q.n        = lanes;
    a->q.rows     = m->cols / lanes;
    if (rd_update_cells(a, m->rows, t->x.row, t->y.row))
        return true;
    if (update_cells_in_block(m, a, t, step))
        return true;
    if (f->in_lockstep)
        update_in_lockstep(m, a, t, step, m->cols / lanes);
    return f->in_lockstep;
}

/* Updates one cell (result) with rows that are one step each, or part of one (an element for each
 * lane). False if a pass along the lanes takes several steps, or rows are no successive steps of
 * one cell. The conditions in turn: a pass has one step; rows are successive passes, at one place
 * along the lanes, of one cell, with the same states. */
static bool update_single_steps(const rd_tiles *m, rd_update *a, const rd_fold_tile *t)
{
    const rd_tile_fold *f = a->f;

    if (f->row_steps != 1 || f->lane_line.row != 1 || f->lane.row || f->cell.row || f->own_rows)
        return false;
    rd_update_place(a, t, 0, 0);
    a->first_step = t->lane_line;
    a->offset     = t->lane;
    a->q.n        = m->cols;
    a->q.ldx      = t->x.row;
    a->q.ldy      = t->y.row;
    a->q.ldm      = t->mask.row;
    rd_update_rows(a, m->rows);
    return true;
}

/* Finishes the combine tree of a row that is a whole fold (merges nodes, then lanes), and keeps its
 * result state as number `row`. */
static void keep_total(const rd_tile_fold *f, char *memory, int64_t row)
{
    void *s[RD_MAX_STATE], *to[RD_MAX_STATE];

    rd_tree_collapse(f, memory, /*group=*/0);
    rd_tree_row(f, memory, /*row=*/0, /*slot=*/0, s);
    rd_tiles_merge_lanes(f, rd_tree_nodes(f, memory, /*group=*/0)->n, s);
    rd_tree_total(f, memory, row, to);
    for (int32_t k = 0; k < f->n_state; k++)
        memcpy(to[k], s[k], (size_t)f->node_word_bytes[k]); /* bytes of a word in nodes */
}

/* True if in all operands each row begins where the one before it ends. */
static bool has_contiguous_rows(const rd_tiles *m, const rd_fold_tile *t)
{
    return t->x.row == m->cols && (!t->y.at || t->y.row == m->cols) &&
           (!t->mask.at || t->mask.row == m->cols);
}

/* Updates one cell (result) with rows of several steps each, the last one maybe a part. Rows that
 * are whole passes without gaps are one long row. Within a block only the kernel is called. False
 * if rows are no successive passes of one cell, have states or indices of their own, or begin
 * within a step. */
static bool update_rows_of_steps(const rd_tiles *m, rd_update *a, const rd_fold_tile *t)
{
    const rd_tile_fold *f     = a->f;
    const int64_t       lanes = f->fold->lanes, steps = (m->cols + lanes - 1) / lanes;
    const int64_t       begun = m->cols < lanes ? m->cols : lanes; /* states that a row reaches */
    rd_fold_rows        q;

    if (f->lane_line.row != 1 || f->lane.row || f->cell.row || f->own_rows || f->has_index ||
        t->lane % lanes)
        return false;
    rd_update_place(a, t, 0, 0);
    if (m->cols == f->row_steps * lanes && has_contiguous_rows(m, t)) {
        rd_update_along(a, m->rows * m->cols, /*lane=*/0, t->lane_line);
        return true;
    }
    q     = a->q;
    q.ldx = lanes;
    q.ldy = lanes * q.coly;
    q.ldm = lanes;
    for (int64_t r = 0; r < m->rows; r++) {
        rd_update_place(a, t, 0, 0);
        if (is_in_current_block(a, a->group, begun,
                                (t->lane_line + r) * f->row_steps + t->lane / lanes, steps))
            update_row(m, a, t, r, a->group * lanes, &q);
        else {
            rd_update_place(a, t, r, 0);
            rd_update_along(a, m->cols, t->lane, t->lane_line + r);
        }
    }
    return true;
}

/* Updates states where neighbouring elements of a row go to neighbouring lanes of one cell
 * (result), in the largest pieces that the tile allows.  Whole steps within the current block need
 * only the kernel; other rows go by rd_update_along().  All rows that are whole folds (totals) use
 * the same states, so these stay in the first-level cache.  With states of its own for each row,
 * sums of rows of 8192 f32 took 1.1 times as long. */
void rd_update_lane_rows(const rd_tiles *m, rd_update *a, const rd_fold_tile *t)
{
    const rd_tile_fold *f     = a->f;
    const int64_t       lanes = f->fold->lanes, whole = m->cols / lanes;

    if (!f->totals && (update_adjacent_cells(m, a, t) || update_single_steps(m, a, t) ||
                       update_rows_of_steps(m, a, t)))
        return;
    for (int64_t r = 0; r < m->rows; r++) {
        const int64_t lane = t->lane + r * f->lane.row, line = t->lane_line + r * f->lane_line.row;
        const int64_t step = line * f->row_steps + lane / lanes;

        if (f->totals)
            rd_tree_start(f, a->memory, /*group=*/0);
        rd_update_place(a, t, r, 0);
        if (lane % lanes == 0 && whole * lanes == m->cols &&
            is_in_current_block(a, a->group, lanes, step, whole)) {
            rd_update_by_steps(a);
            a->offset = 0;
            a->q.n    = lanes;
            rd_update_states(a, 0, lanes, whole, /*fresh=*/false);
        } else
            rd_update_along(a, m->cols, lane, line);
        if (f->totals)
            keep_total(f, a->memory, r);
    }
}
