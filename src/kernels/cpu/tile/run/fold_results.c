/* fold_results.c - CLOSE: finishes folds, and writes their results to registers.
 *
 * Words.  A slot is the place of one state: that of a lane of a cell.  Cells are interleaved if
 * their states of one lane lie side by side (RD_FOLD_CHANNELS).  A row that is a total is a whole
 * fold (plan/fold_kernels.c).
 *
 * Fields. A fold has own_rows if each row of a tile has states of its own. */
#include "kernels/cpu/reference/fold.h"
#include "kernels/cpu/tile/run/grouped_folds.h"
#include "kernels/cpu/tile/run/trees.h"
#include "kernels/cpu/tile/run/user_folds.h"

/* Merges the lanes (accumulators) of the cell whose first state is `slot` in the group's finished
 * node. The lanes of all interleaved cells merge together with those of the first cell. The node
 * may lack the last lanes, if the fold is shorter than a step: `left` of them are there. If the
 * group is this cell alone, the node has fewer states now; other cells of a group still have their
 * lanes. */
static void merge_cell_lanes(const rd_tile_fold *f, char *memory, int64_t slot)
{
    const int64_t lanes = f->interleaved * f->fold->lanes, group = slot / f->group,
                  first = slot - slot % lanes;
    /* states of the node; those of these lanes */
    int64_t *n = &rd_tree_nodes(f, memory, group)->n, left = *n - (first - group * f->group);
    void    *s[RD_MAX_STATE];

    rd_tree_row(f, memory, /*row=*/0, first, s);
    left = rd_tiles_merge_lanes(f, left < lanes ? left : lanes, s);
    if (f->group == lanes)
        *n = left;
}

/* argmin, argmax: replaces the missing indices of n cells by those of their first unmasked
 * elements.  No unmasked element was better than the identity, so all equal it, and the first one
 * is the best. */
static void use_first_places(const rd_tile_fold *f, const char *memory, int64_t cell, int64_t n,
                             int64_t *place)
{
    const int64_t *first = (const int64_t *)(const void *)(memory + f->first_place_offset);

    for (int64_t k = 0; k < n; k++)
        if (place[k] == RD_NO_PLACE)
            place[k] = first[(cell + k) * f->fold->lanes];
}

/* Finishes n neighbouring cells (results) of one group, and writes their results to y from (r, c)
 * on.  Groups without nodes (depth 0), and under a mask cells without an unmasked element, get the
 * result of no elements.  The flags at f->seen_offset say whether a state has had an unmasked
 * element; a cell's is that of its first lane. */
static void finish_cells(const rd_tiles *m, const rd_tile_fold *f, char *memory, int64_t cell,
                         int64_t n, rd_reg_view *y, int64_t r, int64_t c)
{
    const int64_t lanes = f->fold->lanes, slot = rd_tree_slot(f, cell), group = slot / f->group;
    void         *s[RD_MAX_STATE], *to[RD_MAX_STATE];

    rd_tree_collapse(f, memory, group);
    if (rd_tree_group(memory, group)->depth == 0) {
        for (int64_t k = 0; k < n; k++)
            rd_tiles_set_empty_result(f, y, r, c + k);
        return;
    }
    if (lanes > 1)
        merge_cell_lanes(f, memory, slot);
    rd_tree_row(f, memory, /*row=*/0, slot, s);
    if (f->notes_places)
        use_first_places(f, memory, cell, n, s[1]); /* word 1: the index */
    for (int32_t k = 0; k < f->fold->n_out; k++)
        to[k] = rd_view_at(&y[k], r, c);
    rd_tiles_finish(m, f, memory, n, s, to);
    for (int64_t k = 0; f->masked && k < n; k++)
        if (!memory[f->seen_offset + (cell + k) * lanes]) /* no unmasked element */
            rd_tiles_set_empty_result(f, y, r, c + k);
}

/* Writes the results of rows that were whole folds to y, RD_SPARE at a time (as scratch has room
 * for so many); at row level the rows of the tile are the columns here; under a mask, rows without
 * an unmasked element get the result of no elements. */
static void finish_totals(const rd_tiles *m, const rd_tile_fold *f, char *memory,
                          const rd_reg_view *y)
{
    void *s[RD_MAX_STATE], *to[RD_MAX_STATE];

    for (int64_t c = 0, n; c < m->cols; c += n) {
        n = m->cols - c < RD_SPARE ? m->cols - c : RD_SPARE;
        rd_tree_total(f, memory, c, s);
        for (int32_t k = 0; k < f->fold->n_out; k++)
            to[k] = rd_view_at(&y[k], 0, c);
        rd_tiles_finish(m, f, memory, n, s, to);
        for (int64_t k = 0; f->masked && k < n; k++)
            if (!memory[f->seen_offset + c + k]) /* no unmasked element */
                rd_tiles_set_empty_result(f, y, 0, c + k);
    }
}

/* Sets y to the views of the n registers that a CLOSE writes; at tile level these are rows in its
 * buffers, which have consecutive numbers. */
static void register_views(rd_tiles *m, int32_t pc, int32_t n, rd_reg_view *y)
{
    const rd_inst *inst = &m->p->inst[pc];

    for (int32_t k = 0; k < n; k++) {
        rd_reg_view *v = &m->reg[inst->dst + k];
        if (m->code->inst[pc].level == RD_AT_TILE) {
            v->at  = m->buffers + (m->code->inst[pc].buffer + k) * m->code->buffer_bytes;
            v->row = m->cols;
            v->col = 1;
        }
        y[k] = rd_tiles_view(m, inst->dst + k);
    }
}

/* CLOSE: makes results of the states of cells, one for each row and column of the tile, and writes
 * them to its registers. `first` is the number of the first cell, w its strides. Rows with states
 * of their own (own_rows) have f->cells cells each. Adjacent cells are finished together. */
void rd_tiles_store_results(rd_tiles *m, int32_t pc)
{
    const rd_inst         *inst   = &m->p->inst[pc];
    const rd_tile_fold    *f      = &m->code->fold[inst->arg];
    const rd_tile_strides *w      = &m->code->inst[pc].strides;
    char                  *memory = m->fold[inst->arg];
    const int64_t          first  = rd_tiles_position(m, w->at);
    /* At row level a column is a row of the tile, with cells of its own. */
    const int64_t col = w->col + (f->own_rows && m->level == RD_AT_ROW ? f->cells : 0);
    const int64_t row = w->row + (f->own_rows && m->level == RD_AT_TILE ? f->cells : 0);
    rd_reg_view   y[RD_MAX_STATE];

    register_views(m, pc, f->fold->n_out, y);
    if (f->users) { /* the caller's reducer */
        rd_user_folds_finish(m, f, memory, first, w, y);
        return;
    }
    if (f->grouped) { /* a group-by */
        rd_grouped_folds_finish(f, memory, first, m, w, y);
        return;
    }
    if (f->totals) {
        finish_totals(m, f, memory, y);
        return;
    }
    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t c = 0, n; c < m->cols; c += n) {
            const int64_t cell = first + r * row + c * col;
            n                  = col == 1 ? rd_tree_cells_at_once(f, cell, m->cols - c) : 1;
            finish_cells(m, f, memory, cell, n, y, r, c);
        }
}
