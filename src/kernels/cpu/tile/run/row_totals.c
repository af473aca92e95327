/* row_totals.c - rows that are a whole fold each: their totals, without a tree of the machine's.
 * Of one block; kernels keep a small tree themselves. */
#include "core/tree.h"
#include "kernels/cpu/tile/run/steps.h"
#include <assert.h>
#include <string.h>

/* The total of a row by the kernels of states in memory. */
static void total_of(const rd_tile_fold *f, const rd_fold_rows *row, void *const *to)
{
    const int64_t lanes = f->fold->lanes, whole = row->n / lanes, rest = row->n % lanes,
                  n = whole ? lanes : rest;
    _Alignas(64) uint64_t narrow[RD_MAX_STATE][RD_TREE_LANES], wide[RD_MAX_STATE][RD_TREE_LANES];
    void                 *states[RD_MAX_STATE];
    rd_fold_rows          q = { .n = n, .rows = 1, .x = row->x, .ldx = lanes };

    for (int32_t k = 0; k < f->n_state; k++) {
        q.s[k]    = narrow[k];
        states[k] = wide[k];
    }
    f->code->first(&q);
    q.x    = (const char *)q.x + n * rd_elem_size(f->elem);
    q.rows = whole - 1;
    if (q.rows > 0)
        f->code->step(&q);
    q.x    = (const char *)row->x + whole * lanes * rd_elem_size(f->elem);
    q.n    = rest;
    q.rows = 1;
    if (whole && rest)
        f->code->step(&q);
    rd_tree_add_count(f, narrow[0], n, whole ? whole - 1 : 0);
    rd_tree_add_count(f, narrow[0], whole ? rest : 0, 1);
    if (f->code->block)
        f->code->block(n, q.s);
    f->code->widen(n, states, q.s);
    rd_tiles_halve(f, n, states);
    for (int32_t k = 0; k < f->n_state; k++)
        memcpy(to[k], states[k], (size_t)f->wide[k]);
}

/* Rows that are turned in one go, and their most elements. */
enum { TURNED_ROWS = 32, TURNED_STEPS = RD_TREE_STEPS };

/* Rows one after the other would wait for each step of a sum (50 f32: 200 cycles).  Turned, as many
 * as a vector holds take it together. */
static void fold_turned(const rd_simd *simd, const rd_tile_fold *f, const rd_fold_rows *q)
{
    _Alignas(64) uint64_t x[TURNED_STEPS * TURNED_ROWS], y[TURNED_STEPS * TURNED_ROWS];
    const int64_t         size = rd_elem_size(f->elem), n = q->rows;
    const bool            same = q->y == q->x && q->ldy == q->ldx; /* y may be a row of x for all */
    rd_fold_rows          t    = { .n         = n,
                                   .rows      = 1,
                                   .x         = x,
                                   .y         = same   ? x
                                                : q->y ? y
                                                       : NULL,
                                   .ldx       = n,
                                   .ldy       = n,
                                   .index     = q->index,
                                   .index_row = q->index_col,
                                   .index_col = q->index_row };

    memcpy(t.s, q->s, sizeof t.s);
    simd->turn[size](q->n, n, x, n, q->x, q->ldx, 0);
    if (t.y == y)
        simd->turn[size](q->n, n, y, n, q->y, q->ldy, 0);
    f->code->first(&t);
    t.rows = q->n - 1;
    t.x    = (const char *)t.x + n * size;
    t.y    = t.y ? (const char *)t.y + n * size : NULL;
    t.index += t.index_row;
    f->code->step(&t);
    rd_tree_add_count(f, t.s[0], n, t.rows);
}

/* Of few elements, or few rows, turning costs more than it saves. */
static bool worth_turning(const rd_tile_fold *f, const rd_fold_rows *q)
{
    return q->n >= 8 && q->n <= TURNED_STEPS && q->rows >= 8 && rd_elem_size(f->elem) >= 4;
}

/* Rows too short for lanes: side by side, or one element after the other. */
static void take_short_totals(const rd_tiles *m, const rd_tile_fold *f, char *memory,
                              const rd_fold_rows *rows)
{
    const bool    turned = worth_turning(f, rows);
    const int64_t most   = turned ? TURNED_ROWS : RD_SPARE;
    rd_fold_rows  q      = *rows;

    for (int64_t r = 0; r < rows->rows; r += q.rows) {
        void *to[RD_MAX_STATE];

        q.rows  = rows->rows - r < most ? rows->rows - r : most;
        q.x     = (const char *)rows->x + r * rows->ldx * rd_elem_size(f->elem);
        q.y     = rows->y ? (const char *)rows->y + r * rows->ldy * rd_elem_size(f->elem) : NULL;
        q.index = rd_tiles_position(m, f->index.at) + r * f->index.row;
        q.index_row = f->index.row;
        q.index_col = f->index.col;
        rd_tree_spare(f, memory, 0, q.s);
        rd_tree_total(f, memory, r, to);
        if (turned)
            fold_turned(m->code->simd, f, &q);
        else
            f->code->along(&q);
        if (f->code->block)
            f->code->block(q.rows, q.s);
        f->code->widen(q.rows, to, q.s);
    }
}

/* Rows of one block, or of several for which there is a kernel.  They may be short and totals few:
 * only what the kernel reads is set. */
void rd_take_totals(rd_tiles *m, int32_t pc)
{
    const rd_tile_inst *t                      = &m->code->inst[pc];
    const int32_t       number                 = m->p->inst[pc].arg;
    const rd_tile_fold *f                      = &m->code->fold[number];
    rd_view             x                      = rd_tiles_view(m, t->x);
    rd_view             y                      = t->y < 0 ? (rd_view){ 0 } : rd_tiles_view(m, t->y);
    rd_simd_totals *const(*totals)[RD_N_FUSED] = m->code->simd->totals[t->from];
    rd_fold_rows q;
    void        *to[RD_MAX_STATE];

    rd_step_dense(m, &x, &y, t->fused != RD_FUSED_scale);
    q.n     = m->cols;
    q.rows  = m->rows;
    q.x     = x.at;
    q.ldx   = x.row;
    q.y     = y.at;
    q.ldy   = y.row;
    q.along = f->fold->steps * f->fold->lanes;
    if (f->form == RD_FOLD_ELEMENTS) {
        take_short_totals(m, f, m->fold[number], &q);
        return;
    }
    rd_tree_total(f, m->fold[number], 0, to);
    if (totals && totals[f->fold->reducer][t->fused]) {
        totals[f->fold->reducer][t->fused](&q, to[0]);
        return;
    }
    /* of others there are kernels */
    assert(!t->fused && t->from == f->elem && f->fold->n_block == 1);
    for (int64_t r = 0; r < m->rows; r++) {
        total_of(f, &q, to);
        q.x = (const char *)q.x + q.ldx * rd_elem_size(f->elem);
        for (int32_t k = 0; k < f->n_state; k++)
            to[k] = (char *)to[k] + f->wide[k];
    }
}
