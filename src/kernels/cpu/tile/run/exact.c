/* exact.c - exact folds, which give the same bits in any order (argmin, counts, sums of small
 * ints): a kernel reduces a whole row, and its result updates a state as a single element.
 *
 * The number of an element's step is line * row_steps + lane / lanes: passes along the lane
 * position, then steps within the pass.  Divided by the steps of a block it is the number of its
 * block.
 *
 * Words. Scratch is temporary memory of a task. */
#include "kernels/cpu/tile/run/masks.h"
#include <string.h>

/* Updates the state of a cell (its first lane) with one value, the result of a whole row, and the
 * index where it was found. A group that is in some block stays in it, as any order of blocks gives
 * the same bits. g->begun counts the states of the group that have an element; a state without one
 * begins with the value (code->first). */
static void update_one(rd_update *a, int64_t block, const void *x, int64_t index)
{
    rd_group *g;

    if (rd_tree_group(a->memory, a->group)->block < 0)
        rd_tree_enter_block(a->f, a->memory, a->group, block);
    g      = rd_tree_group(a->memory, a->group);
    a->q.n = a->q.rows = 1;
    a->q.x             = x;
    a->q.index         = index;
    a->q.ldx = a->q.index_row = a->q.index_col = 0; /* kernels multiply them by 0 */
    rd_tree_block(a->f, a->memory, a->group * a->f->group + a->offset, a->q.s);
    (g->begun > a->offset ? a->f->code->step : a->f->code->first)(&a->q);
    g->begun = g->begun > a->offset ? g->begun : a->offset + 1;
}

/* Returns the column of the first element of row r that the mask does not leave out; the row must
 * have one. */
static int64_t first_unmasked(const rd_tiles *m, const rd_reg_view *mask, int64_t r)
{
    const char *row = rd_view_at(mask, r, 0);

    return (const char *)memchr(row, 1, (size_t)m->cols) - row;
}

/* argmin, argmax: updates each row's cell (result) with the best element of the row and its index.
 * The kernel best() looks for an element better than `found`, and returns its column, -1: none.
 * Without a mask `found` is the row's first element, so -1 stands for column 0. Under a mask,
 * elements left out are the identity; if no other is better than that, all that count equal it, and
 * the first of them is the best. */
void rd_update_best(rd_tiles *m, rd_update *a, const rd_fold_tile *t)
{
    const rd_tile_fold *f    = a->f;
    rd_simd_best       *best = m->code->simd->best[f->elem][f->fold->reducer];

    for (int64_t r = 0; r < m->rows; r++) {
        const int64_t lane = t->lane + r * f->lane.row, line = t->lane_line + r * f->lane_line.row;
        /* the block of its first element: steps of all passes before, then steps of this one */
        const int64_t block = (line * f->row_steps + lane / f->fold->lanes) / f->fold->steps;
        const char   *x     = rd_view_at(&t->x, r, 0);
        rd_word       found = t->mask.at ? rd_fold_identity(f->fold) : (rd_word){ 0 };
        int64_t       place;

        if (t->mask.at && !rd_mask_has_any(m, &t->mask, r))
            continue;
        rd_update_place(a, t, r, 0);
        if (!t->mask.at)
            memcpy(&found, x, (size_t)rd_elem_size(f->elem));
        place = best(m->cols, x, &found);
        if (t->mask.at && place < 0)
            place = first_unmasked(m, &t->mask, r);
        update_one(a, block, &found, a->q.index + (place < 0 ? 0 : place) * f->index.col);
    }
}

/* Updates each row's cell (result) with the number of true elements in the row; with `test`, of
 * those that compare true with the scalar y. update_one() takes the sum as one element, at the
 * block of the row's first element. */
void rd_update_counts(rd_tiles *m, rd_update *a, const rd_fold_tile *t, rd_simd_count_if *test)
{
    const rd_tile_fold *f = a->f;

    for (int64_t r = 0; r < m->rows; r++) {
        const int64_t lane = t->lane + r * f->lane.row, line = t->lane_line + r * f->lane_line.row;
        const char   *x   = rd_view_at(&t->x, r, 0);
        const int64_t sum = test ? test(m->cols, x, t->y.at) : m->code->simd->count(m->cols, x);

        rd_update_place(a, t, r, 0);
        update_one(a, (line * f->row_steps + lane / f->fold->lanes) / f->fold->steps, &sum,
                   /*index=*/0);
    }
}

/* Updates the state of a cell with a sum of small ints, as one value in the type of the
 * accumulator. */
static void update_sum(rd_update *a, int64_t block, int64_t sum)
{
    const double as_f64 = (double)sum;

    update_one(a, block, a->f->elem == RD_ELEM_f64 ? (const void *)&as_f64 : (const void *)&sum,
               /*index=*/0);
}

/* Sums ints of 8 or 16 bits where each column is a cell (result).  If rows follow each other
 * without gaps (`flat`), one kernel call sums all of them, with as many sums as columns; a task may
 * have a part of each row only.  The kernel sums element i into sums[i mod columns]. */
static void update_small_columns(rd_tiles *m, rd_update *a, const rd_fold_tile *t,
                                 const rd_tile_strides *w)
{
    const rd_tile_fold *f                     = a->f;
    const bool          flat                  = w->row == m->cols;
    int64_t             sums[RD_SMALL_PERIOD] = { 0 };

    for (int64_t r = 0; r < (flat ? 1 : m->rows); r++)
        m->code->simd->small[w->at->type](flat ? m->rows * m->cols : m->cols, m->cols,
                                          rd_tiles_memory(m, w) + r * w->row * w->size, sums);
    for (int64_t c = 0; c < m->cols; c++) {
        rd_update_place(a, t, 0, c);
        update_sum(a, (t->lane_line * f->row_steps + t->lane / f->fold->lanes) / f->fold->steps,
                   sums[c]);
    }
}

/* Sums ints of 8 and 16 bits straight from memory, and updates each row's cell (result) with the
 * sum. task->loads counts elements read from slots that are not scratch. With period 1 the kernel
 * makes one sum of a row; w has the strides of the skipped LOAD. */
void rd_update_small_ints(rd_tiles *m, rd_update *a, const rd_fold_tile *t,
                          const rd_tile_strides *w)
{
    const rd_tile_fold *f = a->f;

    m->task->loads += w->at->slot < m->p->first_scratch ? m->rows * m->cols : 0;
    if (f->mapping != RD_FOLD_LANES) {
        update_small_columns(m, a, t, w);
        return;
    }
    for (int64_t r = 0; r < m->rows; r++) {
        const int64_t lane = t->lane + r * f->lane.row, line = t->lane_line + r * f->lane_line.row;
        int64_t       sum = 0;

        m->code->simd->small[w->at->type](m->cols, /*period=*/1,
                                          rd_tiles_memory(m, w) + r * w->row * w->size, &sum);
        rd_update_place(a, t, r, 0);
        update_sum(a, (line * f->row_steps + lane / f->fold->lanes) / f->fold->steps, sum);
    }
}
