/* row_totals.c - rows that are a whole fold each: their totals, without a combine tree of the tile
 * machine.  They have one block, or kernels keep a small tree themselves.
 *
 * Words.  A fold is too short for lanes if its elements have one lane.  A state is begun by its
 * first element; counts are those of `moments`, whose kernels leave the number of elements to their
 * caller.
 *
 * Fields. An instruction's y is its second operand or its weights, -1: none. */
#include "core/combine_tree.h"
#include "kernels/cpu/tile/run/masks.h"
#include "kernels/cpu/tile/run/steps.h"
#include <assert.h>
#include <string.h>

/* Begins n states with the first row of q, and moves q on to the next row. Under a mask they begin
 * with the identity, as the first row may not count. `size` is the bytes of an element. `first` is
 * the kernel that begins states with elements, `masked` the step that reads the mask. */
static void begin_states(const rd_tile_fold *f, rd_fold_rows *q, int64_t size)
{
    if (q->mask) {
        rd_fill_identity(f, q->n, q->s);
        f->code->masked(q);
        q->mask = (const char *)q->mask + q->ldm;
    } else
        f->code->first(q);
    q->x = (const char *)q->x + q->ldx * size;
    q->index += q->index_row;
}

/* Folds one row, which is a whole fold of one block, to the state `to`: folds it into a state for
 * each lane (narrow), widens the states as nodes have them (wide: f64 for sums of f32), and merges
 * the lanes. `rest` elements are left behind the last whole step; a row shorter than a step is only
 * these. Counts are added here if kernels leave counting to their caller: `first` has counted 1 for
 * each lane. code->block, if there is one, completes states at the end of a block. */
static void total_of(const rd_tile_fold *f, const rd_fold_rows *row, void *const *to)
{
    const int64_t lanes = f->fold->lanes, whole = row->n / lanes, rest = row->n % lanes,
                  n = whole ? lanes : rest;
    _Alignas(64) uint64_t narrow[RD_MAX_STATE][RD_TREE_LANES], wide[RD_MAX_STATE][RD_TREE_LANES];
    void                 *states[RD_MAX_STATE];
    const int64_t         size = rd_elem_size(f->elem);
    rd_simd_rows *const   step = row->mask ? f->code->masked : f->code->step;
    rd_fold_rows          q    = {
                    .n = n, .rows = 1, .x = row->x, .ldx = lanes, .mask = row->mask, .ldm = lanes
    };

    for (int32_t k = 0; k < f->n_state; k++) {
        q.s[k]    = narrow[k];
        states[k] = wide[k];
    }
    begin_states(f, &q, size);
    q.rows = whole - 1;
    if (q.rows > 0)
        step(&q);
    q.x    = (const char *)row->x + whole * lanes * size;
    q.mask = row->mask ? (const char *)row->mask + whole * lanes : NULL;
    q.n    = rest;
    q.rows = 1;
    if (whole && rest)
        step(&q);
    rd_tree_add_count(f, narrow[0], n, whole ? whole - 1 : 0);
    rd_tree_add_count(f, narrow[0], whole ? rest : 0, 1);
    if (f->code->block)
        f->code->block(n, q.s);
    f->code->widen(n, states, q.s);
    rd_tiles_merge_lanes(f, n, states);
    for (int32_t k = 0; k < f->n_state; k++)
        memcpy(to[k], states[k], (size_t)f->node_word_bytes[k]);
}

/* Most rows that are transposed at once, and their most elements. */
enum { TRANSPOSED_ROWS = 32, TRANSPOSED_STEPS = RD_TREE_STEPS };

/* Folds short rows side by side, a whole fold each: transposes them, then folds a vector of rows at
 * a time. t describes the transposed rows: t.n rows side by side, one element of each after the
 * other; so the steps of the index change places. begin_states() moves x and the mask on, and y is
 * moved here. Row after row would wait for each step of a sum (50 f32: 200 cycles). */
static void fold_transposed(const rd_simd *simd, const rd_tile_fold *f, const rd_fold_rows *q)
{
    _Alignas(64) uint64_t x[TRANSPOSED_STEPS * TRANSPOSED_ROWS],
        y[TRANSPOSED_STEPS * TRANSPOSED_ROWS];
    _Alignas(64) uint8_t mask[TRANSPOSED_STEPS * TRANSPOSED_ROWS];
    const int64_t        size = rd_elem_size(f->elem), n = q->rows;
    const bool           same = q->y == q->x && q->ldy == q->ldx; /* y may be a row of x for all */
    rd_fold_rows         t    = { .n         = n,
                                  .rows      = 1,
                                  .x         = x,
                                  .y         = same   ? x
                                               : q->y ? y
                                                      : NULL,
                                  .ldx       = n,
                                  .ldy       = n,
                                  .mask      = q->mask ? mask : NULL,
                                  .ldm       = n,
                                  .index     = q->index,
                                  .index_row = q->index_col,
                                  .index_col = q->index_row };

    memcpy(t.s, q->s, sizeof t.s);
    simd->transpose[size](q->n, n, x, n, q->x, q->ldx, /*ahead=*/0);
    if (t.y == y)
        simd->transpose[size](q->n, n, y, n, q->y, q->ldy, /*ahead=*/0);
    if (q->mask)
        simd->transpose[1](q->n, n, mask, n, q->mask, q->ldm, /*ahead=*/0);
    begin_states(f, &t, size);
    t.rows = q->n - 1;
    t.y    = t.y ? (const char *)t.y + n * size : NULL;
    (q->mask ? f->code->masked : f->code->step)(&t);
    rd_tree_add_count(f, t.s[0], n, t.rows);
}

/* True if transposing short rows saves more than it costs: not for few elements or few rows.
 * Masked steps need states side by side, so these always are. */
static bool is_worth_transposing(const rd_tile_fold *f, const rd_fold_rows *q)
{
    if (q->mask)
        return true;
    return q->n >= 8 && q->n <= TRANSPOSED_STEPS && q->rows >= 8 && rd_elem_size(f->elem) >= 4;
}

/* Folds rows too short for lanes, each a whole fold: side by side after a transpose, or one element
 * after the other. Scratch has room for RD_SPARE states. `along` is the kernel that folds each row
 * in order; code->block, if there is one, completes states. */
static void update_short_totals(const rd_tiles *m, const rd_tile_fold *f, char *memory,
                                const rd_fold_rows *rows)
{
    const bool    transposed = is_worth_transposing(f, rows);
    const int64_t most       = transposed ? TRANSPOSED_ROWS : RD_SPARE;
    rd_fold_rows  q          = *rows;

    for (int64_t r = 0; r < rows->rows; r += q.rows) {
        void *to[RD_MAX_STATE];

        q.rows  = rows->rows - r < most ? rows->rows - r : most;
        q.x     = (const char *)rows->x + r * rows->ldx * rd_elem_size(f->elem);
        q.y     = rows->y ? (const char *)rows->y + r * rows->ldy * rd_elem_size(f->elem) : NULL;
        q.mask  = rows->mask ? (const char *)rows->mask + r * rows->ldm : NULL;
        q.index = rd_tiles_position(m, f->index.at) + r * f->index.row;
        q.index_row = f->index.row;
        q.index_col = f->index.col;
        rd_tree_spare(f, memory, /*which=*/0, q.s);
        rd_tree_total(f, memory, r, to);
        if (transposed)
            fold_transposed(m->code->simd, f, &q);
        else
            f->code->along(&q);
        if (f->code->block)
            f->code->block(q.rows, q.s);
        f->code->widen(q.rows, to, q.s); /* to the types of results, f64 for sums of f32 */
    }
}

/* Applies the mask to rows that are whole folds: masked elements become the identity, or the kernel
 * of the step reads the mask.  Each row notes whether it has an unmasked element. */
static void apply_mask(rd_tiles *m, const rd_tile_fold *f, char *memory, rd_fold_tile *t)
{
    rd_mask_note_seen(m, f, memory, t);
    if (f->code->masked)
        return;
    t->x       = rd_mask_leave_out(m, f->fold, &t->x, &t->mask);
    t->mask.at = NULL;
}

/* STEP of a fold where each row of the tile is a whole fold: folds each row to its result state.
 * Rows may be short and few, so only the fields that the kernel reads are set. Rows too short for
 * lanes have the mapping RD_FOLD_ELEMENTS. A table of kernels is NULL where there is none for this
 * element and reducer; then one row after the other is folded by the kernels of steps. */
void rd_update_totals(rd_tiles *m, int32_t pc)
{
    const rd_tile_inst *t                      = &m->code->inst[pc];
    const int32_t       number                 = m->p->inst[pc].arg;
    const rd_tile_fold *f                      = &m->code->fold[number];
    rd_simd_totals *const(*totals)[RD_N_FUSED] = m->code->simd->totals[t->from];
    rd_fold_tile in;
    rd_fold_rows q;
    void        *to[RD_MAX_STATE];

    in.x       = rd_tiles_view(m, t->x);
    in.y       = t->y < 0 ? (rd_reg_view){ 0 } : rd_tiles_view(m, t->y);
    in.mask.at = NULL;
    if (f->masked) {
        in.mask = rd_mask_dense(m, m->p->inst[pc].c);
        apply_mask(m, f, m->fold[number], &in);
    }
    rd_tiles_dense_both(m, &in.x, &in.y, !rd_fused_by_row(t->fused));
    q.n     = m->cols;
    q.rows  = m->rows;
    q.x     = in.x.at;
    q.ldx   = in.x.row;
    q.y     = in.y.at;
    q.ldy   = in.y.row;
    q.mask  = in.mask.at;
    q.ldm   = in.mask.row;
    q.along = f->fold->steps * f->fold->lanes;
    if (f->mapping == RD_FOLD_ELEMENTS) {
        update_short_totals(m, f, m->fold[number], &q);
        return;
    }
    rd_tree_total(f, m->fold[number], /*row=*/0, to);
    if (!q.mask && totals && totals[f->fold->reducer][t->fused]) {
        totals[f->fold->reducer][t->fused](&q, to[0]);
        return;
    }
    /* all other cases have a kernel of totals */
    assert(!t->fused && t->from == f->elem && f->fold->n_block == 1);
    for (int64_t r = 0; r < m->rows; r++) {
        total_of(f, &q, to);
        q.x    = (const char *)q.x + q.ldx * rd_elem_size(f->elem);
        q.mask = q.mask ? (const char *)q.mask + q.ldm : NULL;
        for (int32_t k = 0; k < f->n_state; k++)
            to[k] = (char *)to[k] + f->node_word_bytes[k]; /* bytes of a word in nodes */
    }
}
