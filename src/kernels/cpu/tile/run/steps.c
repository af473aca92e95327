/* steps.c - STEP: updates the states of a fold with the elements of a tile, in the way of its lane
 * mapping.
 *
 * The numbers of an element are those of plan/fold_mapping.c: its cell, its lane position, its
 * `lane_line` number (which pass along the lane position), its index.  A group is a run of states
 * that enter blocks together (trees.h).
 *
 * Fields. A fold has own_rows if each row of a tile has states of its own. Strides .row and .col
 * say how far a position moves from row to row and from column to column. A STEP reads an element
 * (a), weights (b), a mask (c) and a group's label (d), -1: none. A STEP's `small` is the skipped
 * LOAD of small ints that it sums, -1: none. */
#include "kernels/cpu/tile/run/grouped_folds.h"
#include "kernels/cpu/tile/run/masks.h"
#include "kernels/cpu/tile/run/steps.h"
#include "kernels/cpu/tile/run/user_folds.h"
#include <string.h>

/* START: empties the states of a fold, group by group (states that begin and end blocks together).
 * At row level each row of the tile has groups of its own.  A total (a row that is a whole fold)
 * begins with its first row, so there is nothing to do. */
void rd_tiles_start(rd_tiles *m, int32_t pc)
{
    const int32_t       number = m->p->inst[pc].arg;
    const rd_tile_fold *f      = &m->code->fold[number];

    if (f->users) /* the caller's reducer */
        rd_user_folds_start(m, f, m->fold[number]);
    if (f->totals || f->users)
        return;
    /* groups to be emptied: those of each row of the tile (m->cols at row level), or all */
    const int64_t each = f->own_rows ? m->cols * (f->cells * f->fold->lanes / f->group) : f->groups;
    for (int64_t k = 0; k < each; k++) {
        rd_tree_start(f, m->fold[number], k);
        if (f->fold->scan)
            rd_tiles_start_scan(f, m->fold[number], k);
    }
}

/* ---- By lane mapping ------------------------------------------------------------------------- */
/* Updates neighbouring cells (results) of one lane, one for each column.  Rows of the tile are
 * successive steps of the same cells (`steps`), or belong to others.  Columns are split where a
 * group ends, if panels (ranges of the axis) do not divide the axis.  a->offset is the number of
 * the first state in its group (of f->group states), ld.. the elements from row to row of the
 * operands. */
static void update_columns(rd_tiles *m, rd_update *a, const rd_fold_tile *t)
{
    /* steps from row to row */
    const int64_t row   = a->f->lane_line.row * a->f->row_steps + a->f->lane.row;
    const bool    steps = row == 1 && a->f->cell.row == 0 && !a->f->own_rows;

    for (int64_t r = 0; r < m->rows; r += steps ? m->rows : 1)
        for (int64_t c = 0; c < m->cols; c += a->q.n) {
            rd_update_place(a, t, r, c);
            a->first_step = t->lane_line * a->f->row_steps + t->lane + r * row; /* the step */
            a->q.n        = rd_least(m->cols - c, a->f->group - a->offset);
            a->q.ldx      = t->x.row;
            a->q.ldy      = t->y.row;
            a->q.ldm      = t->mask.row;
            rd_update_rows(a, steps ? m->rows : 1);
        }
}

/* Copies `rows` rows of a view, from `row` on, to `to`, so that they are contiguous.  Returns `to`;
 * NULL if there is no operand. */
static const void *pack_rows(const rd_tiles *m, const rd_reg_view *v, int64_t row, int64_t rows,
                             char *to)
{
    const int64_t bytes = m->cols * rd_elem_size(v->elem);

    for (int64_t r = 0; v->at && r < rows; r++)
        memcpy(to + r * bytes, rd_view_at(v, row + r, 0), (size_t)bytes);
    return v->at ? to : NULL;
}

/* Updates all cells (a few results, such as colours) with one element of each row, where the rows
 * go along the lanes.  Contiguous rows are one run; others are packed first, as many as spare
 * buffers hold.  rd_update_along() takes n elements from a position along the lanes of all
 * cells. */
static void update_channels(rd_tiles *m, rd_update *a, const rd_fold_tile *t)
{
    const int64_t cols = m->cols, room = m->code->buffer_elements > m->code->rows
                                             ? m->code->buffer_elements
                                             : m->code->rows;
    const bool    run =
        t->x.row == cols && (!t->y.at || t->y.row == cols) && (!t->mask.at || t->mask.row == cols);
    const int64_t most = run ? m->rows : room / cols; /* rows at a time */

    for (int64_t r = 0, n; r < m->rows; r += n) {
        n = m->rows - r < most ? m->rows - r : most;
        rd_update_place(a, t, r, 0);
        if (!run) {
            a->q.x = pack_rows(m, &t->x, r, n, m->spare);
            a->q.y = pack_rows(m, &t->y, r, n, rd_tiles_second_spare(m));
            if (t->mask.row != cols)
                a->q.mask = pack_rows(m, &t->mask, r, n, rd_tiles_third_spare(m));
        }
        rd_update_along(a, n * cols, (t->lane + r) * cols, t->lane_line);
    }
}

/* Copies column c of a view to `to`, so that it is contiguous.  Returns `to`; NULL if there is no
 * operand. */
static const void *pack_column(const rd_tiles *m, const rd_reg_view *v, int64_t c, char *to)
{
    const int64_t size = rd_elem_size(v->elem);

    for (int64_t r = 0; v->at && r < m->rows; r++)
        memcpy(to + r * size, rd_view_at(v, r, c), (size_t)size);
    return v->at ? to : NULL;
}

/* Updates one cell (result) for each column, where the rows go along its lanes: packs each column
 * into a contiguous run and takes it. */
static void update_down_columns(rd_tiles *m, rd_update *a, const rd_fold_tile *t)
{
    for (int64_t c = 0; c < m->cols; c++) {
        rd_update_place(a, t, 0, c);
        a->q.x         = pack_column(m, &t->x, c, m->spare);
        a->q.y         = pack_column(m, &t->y, c, rd_tiles_second_spare(m));
        a->q.mask      = pack_column(m, &t->mask, c, rd_tiles_third_spare(m));
        a->q.index_col = a->f->index.row;
        rd_update_along(a, m->rows, t->lane, t->lane_line);
    }
}

/* Updates cells of one lane, where the elements of a row are successive steps of one cell (result).
 * False if there are several lanes, or columns are not such steps. A row of the update is one step,
 * here one element, so ld.. (from row to row) are the strides along the tile's row. a->first_step
 * is the number of the first step: steps of all passes before, then those of this pass. */
static bool update_one_lane(const rd_tiles *m, rd_update *a, const rd_fold_tile *t)
{
    const rd_tile_fold *f = a->f;

    if (f->fold->lanes > 1 || f->cell.col || f->lane_line.col * f->row_steps + f->lane.col != 1)
        return false;
    for (int64_t r = 0; r < m->rows; r++) {
        rd_update_place(a, t, r, 0);
        a->first_step =
            (t->lane_line + r * f->lane_line.row) * f->row_steps + t->lane + r * f->lane.row;
        a->q.n = a->q.ldx = a->q.ldm = 1;
        a->q.ldy                     = a->q.coly;
        a->q.index_row               = a->q.index_col;
        rd_update_rows(a, m->cols);
    }
    return true;
}

/* Updates states element by element, unless elements are successive steps of one lane.  The group
 * of each element is restored after its update.  rd_update_along() takes one element at its
 * position along the lanes, in its pass (outer). */
static void update_elements(rd_tiles *m, rd_update *a, const rd_fold_tile *t)
{
    if (update_one_lane(m, a, t))
        return;
    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t c = 0; c < m->cols; c++) {
            rd_update_place(a, t, r, c);
            const int64_t group = a->group;
            rd_update_along(a, /*n=*/1, t->lane + r * a->f->lane.row + c * a->f->lane.col,
                            t->lane_line + r * a->f->lane_line.row + c * a->f->lane_line.col);
            a->group = group;
        }
}

/* ---- Masks ----------------------------------------------------------------------------------- */
/* Applies the mask of a STEP: masked elements become the identity (which changes no state), or the
 * kernel of the step reads the mask.  With a kernel that reads it, or one that looks for the best,
 * states begin with the identity (`fused`). */
static void apply_mask(rd_tiles *m, rd_update *a, rd_fold_tile *t)
{
    rd_mask_note_seen(m, a->f, a->memory, t);
    a->fused |= a->f->best || a->f->code->masked;
    if (a->f->code->masked && !a->f->best)
        return;
    t->x = rd_mask_leave_out(m, a->f->fold, &t->x, &t->mask);
    if (!a->f->best)
        t->mask.at = NULL;
}

/* True if one of n states is the element that decides the result (f->end), such as the greatest int
 * for a maximum. */
static bool holds_end(const rd_tile_fold *f, const uint64_t *state, int64_t n)
{
    uint64_t there = 0;

    for (int64_t l = 0; l < n; l++)
        there |= state[l] == f->end.u64;
    return there;
}

/* True if some state, of the current block (of which g->begun states have an element; block -1:
 * there is none) or of a finished node on the stack, has the value that decides the result (early
 * exit).  Ints are looked for among the few states: a search among elements would take half as long
 * as the fold. */
static bool has_reached_end(const rd_tile_fold *f, char *memory)
{
    const rd_group *const g = rd_tree_group(memory, /*group=*/0);
    void                 *s[RD_MAX_STATE];
    bool                  met;

    rd_tree_block(f, memory, /*slot=*/0, s);
    met = holds_end(f, s[0], g->block >= 0 ? g->begun : 0);
    for (int32_t row = 0; row < g->depth && !met; row++) {
        rd_tree_row(f, memory, row, /*slot=*/0, s);
        met = holds_end(f, s[0], rd_tree_nodes(f, memory, /*group=*/0)[row].n);
    }
    return met;
}

/* Notes whether the result is decided (early exit), so that loops can end: by the elements if these
 * are bools, else by the states.  No further element may come then, as states would have gaps. */
static void note_decided(const rd_tiles *m, const rd_tile_fold *f, char *memory,
                         const rd_fold_tile *t)
{
    bool met = t->x.elem != RD_ELEM_b8 && has_reached_end(f, memory);

    for (int64_t r = 0; r < m->rows && t->x.elem == RD_ELEM_b8 && !met; r++)
        met = memchr(rd_view_at(&t->x, r, 0), (int)f->end.u64, (size_t)m->cols) != NULL;
    rd_tree_group(memory, /*group=*/0)->is_decided |= met;
}

/* True if the rows of each column go along the lanes of its cell (result), so that columns can be
 * packed and taken one by one; the spare buffers must be free for that. */
static bool has_lanes_down_columns(const rd_tiles *m, const rd_tile_fold *f, const rd_fold_tile *t)
{
    return f->mapping == RD_FOLD_ELEMENTS && m->rows > 1 && f->lane.row == 1 && f->lane.col == 0 &&
           f->cell.row == 0 && f->lane_line.row == 0 && f->lane_line.col == 0 && !f->own_rows &&
           t->x.at != m->spare && t->mask.at != rd_tiles_third_spare(m);
}

/* ---- All together ---------------------------------------------------------------------------- */
/* Sets the numbers of the tile's first element in the fold: its position along the lanes, which
 * pass along them (outer), its cell (result) and its index. */
static void place_tile(const rd_tiles *m, const rd_tile_fold *f, rd_fold_tile *t)
{
    t->lane      = rd_tiles_position(m, f->lane.at);
    t->lane_line = rd_tiles_position(m, f->lane_line.at);
    t->cell      = rd_tiles_position(m, f->cell.at);
    t->index     = f->has_index ? rd_tiles_position(m, f->index.at) : 0;
}

/* Updates states from contiguous operands, in the way that suits how neighbouring elements map to
 * states (f->mapping). */
static void update_by_mapping(rd_tiles *m, rd_update *a, rd_fold_tile *in)
{
    const rd_tile_fold *f = a->f;

    rd_tiles_dense_both(m, &in->x, &in->y, a->q.coly);
    if (f->best && f->mapping == RD_FOLD_LANES) /* argmin or argmax */
        rd_update_best(m, a, in);
    else if (f->mapping == RD_FOLD_COLUMNS)
        update_columns(m, a, in);
    else if (f->mapping == RD_FOLD_LANES)
        rd_update_lane_rows(m, a, in);
    else if (f->mapping == RD_FOLD_CHANNELS)
        update_channels(m, a, in);
    else
        update_elements(m, a, in);
    if (f->can_exit_early)
        note_decided(m, f, a->memory, in);
}

/* Prepares the operands of a STEP on a tile and chooses how to update the states.  Nothing is done
 * once the result is decided (early exit). a.fused says that the kernel of the step must not begin
 * states, so they begin with the identity.  Small ints (`small_ints_load` is their LOAD) are read
 * from memory, so x is no register.  Fields are set one by one: clearing some hundred bytes that
 * are not read costs as much as a short row. */
static void update_tile(rd_tiles *m, int32_t pc)
{
    const rd_inst      *inst = &m->p->inst[pc];
    const rd_tile_inst *t    = &m->code->inst[pc];
    const rd_tile_fold *f    = &m->code->fold[inst->arg];
    rd_fold_tile        in;
    rd_update           a;

    a.f      = f;
    a.memory = m->fold[inst->arg];
    if (f->can_exit_early && rd_tree_group(a.memory, /*group=*/0)->is_decided)
        return;
    a.cells  = t->cells;
    a.blocks = t->blocks;
    a.step   = t->step;
    a.fused  = t->fused || t->from != f->elem || t->transposed_load >= 0;
    a.size   = rd_elem_size(t->from);
    in.y = in.mask = (rd_reg_view){ 0 };
    place_tile(m, f, &in);
    in.x = t->small_ints_load < 0 ? rd_tiles_view(m, t->x) : (rd_reg_view){ 0 };
    /* 1: y has an element for each column; 0: one for each row */
    a.q.coly = !rd_fused_by_row(t->fused);
    if (t->transposed_load >= 0)
        in.y = rd_tiles_transposed_operand(m, t->transposed_load, &a.q);
    else if (t->y >= 0)
        in.y = rd_tiles_view(m, t->y);
    if (inst->c >= 0) { /* it has a mask */
        in.mask = rd_mask_dense(m, inst->c);
        apply_mask(m, &a, &in);
    }
    if (t->small_ints_load >= 0)
        rd_update_small_ints(m, &a, &in, &m->code->inst[t->small_ints_load].strides);
    else if (t->counts)
        rd_update_counts(m, &a, &in, t->count_if);
    else if (has_lanes_down_columns(m, f, &in))
        update_down_columns(m, &a, &in);
    else
        update_by_mapping(m, &a, &in);
}

/* STEP: updates the states of a fold with the elements of a tile.  The caller's reducers, group-bys
 * and rows that are whole folds have functions of their own. */
void rd_tiles_step(rd_tiles *m, int32_t pc)
{
    const int32_t       number = m->p->inst[pc].arg;
    const rd_tile_fold *f      = &m->code->fold[number];

    if (f->users)
        rd_user_folds_step(m, pc, f, m->fold[number]);
    else if (f->grouped)
        rd_grouped_folds_step(m, pc, f, m->fold[number]);
    else if (f->treeless) /* kernels need no combine tree */
        rd_update_totals(m, pc);
    else
        update_tile(m, pc);
}

/* True if no further element can change the result of a fold, so that loops may exit early. */
bool rd_tiles_is_decided(const rd_tiles *m, int32_t fold)
{
    const rd_tile_fold *f = &m->code->fold[fold];

    return f->users ? rd_user_folds_are_decided(m->fold[fold]) /* the caller's reducer */
                    : f->can_exit_early && rd_tree_group(m->fold[fold], /*group=*/0)->is_decided;
}
