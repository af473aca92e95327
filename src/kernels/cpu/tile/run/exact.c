/* exact.c - folds that any order gives the same bits: what a row comes to is found at once, and
 * arrives as one element. */
#include "kernels/cpu/tile/run/masks.h"
#include <string.h>

/* A value and its place come to the first lane of a cell (or to a cell of one lane, after those
 * before it in its group); the tree merges what blocks have found, in any order. */
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

static int64_t first_unmasked(const rd_tiles *m, const rd_reg_view *mask, int64_t r)
{
    const char *row = rd_view_at(mask, r, 0);

    return (const char *)memchr(row, 1, (size_t)m->cols) - row;
}

void rd_update_best(rd_tiles *m, rd_update *a, const rd_fold_tile *t)
{
    const rd_tile_fold *f    = a->f;
    rd_simd_best       *best = m->code->simd->best[f->elem][f->fold->reducer];

    for (int64_t r = 0; r < m->rows; r++) {
        const int64_t lane = t->lane + r * f->lane.row, outer = t->outer + r * f->outer.row;
        const int64_t block = (outer * f->row_steps + lane / f->fold->lanes) / f->fold->steps;
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

/* Sums of ints are exact: what a row comes to goes to the first lane. */
void rd_update_counts(rd_tiles *m, rd_update *a, const rd_fold_tile *t, rd_simd_count_if *test)
{
    const rd_tile_fold *f = a->f;

    for (int64_t r = 0; r < m->rows; r++) {
        const int64_t lane = t->lane + r * f->lane.row, outer = t->outer + r * f->outer.row;
        const char   *x   = rd_view_at(&t->x, r, 0);
        const int64_t sum = test ? test(m->cols, x, t->y.at) : m->code->simd->count(m->cols, x);

        rd_update_place(a, t, r, 0);
        update_one(a, (outer * f->row_steps + lane / f->fold->lanes) / f->fold->steps, &sum, 0);
    }
}

/* What one of these sums comes to goes to the first lane of its cell. */
static void update_sum(rd_update *a, int64_t block, int64_t sum)
{
    const double as_f64 = (double)sum;

    update_one(a, block, a->f->elem == RD_ELEM_f64 ? (const void *)&as_f64 : (const void *)&sum, 0);
}

/* Rows of columns that are cells; a task's share of the columns may be less than a row. */
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
        update_sum(a, (t->outer * f->row_steps + t->lane / f->fold->lanes) / f->fold->steps,
                   sums[c]);
    }
}

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
        const int64_t lane = t->lane + r * f->lane.row, outer = t->outer + r * f->outer.row;
        int64_t       sum = 0;

        m->code->simd->small[w->at->type](m->cols, 1, rd_tiles_memory(m, w) + r * w->row * w->size,
                                          &sum);
        rd_update_place(a, t, r, 0);
        update_sum(a, (outer * f->row_steps + lane / f->fold->lanes) / f->fold->steps, sum);
    }
}
