/* steps.c - STEP: how the elements of a tile meet the states of a fold. */
#include "kernels/cpu/tile/arrivals.h"
#include <assert.h>
#include <string.h>

void rd_tiles_start(rd_tiles *m, int32_t pc)
{
    const int32_t       number = m->p->inst[pc].arg;
    const rd_tile_fold *f      = &m->code->fold[number];
    if (f->totals)
        return;
    const int64_t each = f->own_rows ? m->cols * (f->cells * f->fold->lanes / f->group) : f->groups;
    for (int64_t k = 0; k < each; k++)
        rd_tree_start(f, m->fold[number], k);
}

/* Kernels read elements side by side; y may be none, one number a row, or lie in columns (coly). */
static void make_dense(rd_tiles *m, rd_view *x, rd_view *y, int64_t coly)
{
    char *const spare = m->spare;

    *x       = rd_tiles_dense(m, *x);
    m->spare = rd_tiles_second_spare(m);
    *y       = y->at && coly == 1 ? rd_tiles_dense(m, *y) : *y;
    m->spare = spare;
}

/* ---- By form ----------------------------------------------------------------------------------------------- */
/* Cells lie side by side, of one lane, and rows of the tile are steps of them one after the other, or each for cells of
 * its own. */
static void take_columns(rd_tiles *m, rd_arrival *a, const rd_fold_tile *t)
{
    const int64_t row   = a->f->outer.row * a->f->row_steps + a->f->lane.row;
    const bool    steps = row == 1 && a->f->cell.row == 0 && !a->f->own_rows;

    for (int64_t r = 0; r < m->rows; r += steps ? m->rows : 1) {
        rd_arrival_place(a, t, r, 0);
        a->at    = t->outer * a->f->row_steps + t->lane + r * row;
        a->q.n   = m->cols;
        a->q.ldx = t->x.row;
        a->q.ldy = t->y.row;
        rd_arrive(a, steps ? m->rows : 1);
    }
}

/* n steps of a block of which states [0, begun) of the group have begun: no tree to look after. */
static bool continues(const rd_arrival *a, int64_t group, int64_t begun, int64_t step, int64_t n)
{
    const int64_t   steps = a->f->fold->steps;
    const rd_group *g     = rd_tree_group(a->memory, group);

    return g->begun >= begun && g->block * steps <= step && step + n <= (g->block + 1) * steps;
}

/* Rows of one step that lie side by side in memory, like the states that they are for, are one long row. */
static bool one_row(const rd_tiles *m, const rd_arrival *a, const rd_fold_tile *t)
{
    return m->cols == a->f->fold->lanes && !a->together && t->x.row == m->cols && (!t->y.at || t->y.row == m->cols);
}

/* The states of one or more cells take rows of n of them. */
static void step_on(const rd_arrival *a, rd_fold_rows *q, int64_t n, int64_t rows)
{
    q->n    = n;
    q->rows = rows;
    rd_tree_add_count(a->f, q->s[0], n, rows);
    a->step(q);
}

static void move_on(const rd_arrival *a, rd_fold_rows *q, int64_t x, int64_t y)
{
    q->x = q->x ? (const char *)q->x + x * a->size : NULL;
    q->y = q->y ? (const char *)q->y + y * a->size : NULL;
}

/* Row r of the tile, steps of all lanes and maybe a part of one, within a block that the states from `slot` on have begun:
 * no more than the kernel's calls. */
static void take_row(const rd_tiles *m, const rd_arrival *a, const rd_fold_tile *t, int64_t r, int64_t slot,
                     rd_fold_rows *q)
{
    const int64_t lanes = a->f->fold->lanes, whole = m->cols / lanes * lanes;

    q->x = a->q.x;
    q->y = a->q.y;
    move_on(a, q, r * t->x.row, r * t->y.row);
    rd_tree_block(a->f, a->memory, slot, q->s);
    if (whole)
        step_on(a, q, lanes, whole / lanes);
    if (whole < m->cols) {
        move_on(a, q, whole, whole * q->coly);
        step_on(a, q, m->cols - whole, 1);
    }
}

/* Rows for neighbouring cells that all are within a block. */
static bool take_steps(const rd_tiles *m, const rd_arrival *a, const rd_fold_tile *t, int64_t step)
{
    const rd_tile_fold *f     = a->f;
    const int64_t       lanes = f->fold->lanes, steps = (m->cols + lanes - 1) / lanes;
    const int64_t       begun = m->cols < lanes ? m->cols : lanes, groups = f->in_step ? 1 : m->rows;
    rd_fold_rows        q = a->q;

    for (int64_t k = 0; k < groups; k++)
        if (!continues(a, a->group + k, a->offset + (f->in_step ? m->rows : 1) * begun, step, steps))
            return false;
    if (one_row(m, a, t)) {
        rd_tree_block(f, a->memory, t->cell * lanes, q.s);
        step_on(a, &q, m->rows * lanes, 1);
        return true;
    }
    for (int64_t r = 0; r < m->rows; r++)
        take_row(m, a, t, r, (t->cell + r) * lanes, &q);
    return true;
}

/* The same where a block begins or ends, or by a compiled pass, for cells of a group. */
static void take_in_step(const rd_tiles *m, rd_arrival *a, const rd_fold_tile *t, int64_t step, int64_t steps)
{
    const bool one = one_row(m, a, t);

    for (int64_t r = 0; r < m->rows; r += one ? m->rows : 1) {
        rd_arrival_place(a, t, r, 0);
        rd_arrival_by_steps(a);
        a->at  = step;
        a->q.n = one ? m->rows * m->cols : a->f->fold->lanes;
        rd_arrive(a, steps);
    }
}

/* Steps for cells one after the other; false: something else. */
static bool take_cells(const rd_tiles *m, rd_arrival *a, const rd_fold_tile *t)
{
    const rd_tile_fold *f     = a->f;
    const int64_t       lanes = f->fold->lanes, step = t->outer * f->row_steps + t->lane / lanes;

    if (!f->neighbours || t->lane % lanes)
        return false;
    rd_arrival_place(a, t, 0, 0);
    rd_arrival_by_steps(a);
    if (!a->together && take_steps(m, a, t, step))
        return true;
    if (f->in_step)
        take_in_step(m, a, t, step, m->cols / lanes);
    return f->in_step;
}

/* Compiled passes take what stays along a row for the same in all rows that they get at once. */
static bool rows_are_alike(const rd_together *t)
{
    for (int32_t k = 0; t && k < t->n_operand; k++)
        if (t->tile[k].col == 0 && t->tile[k].row != 0)
            return false;
    return true;
}

/* Rows that are one step each, or a part of one, one after the other, of one cell; false: something else. */
static bool take_single_steps(const rd_tiles *m, rd_arrival *a, const rd_fold_tile *t)
{
    const rd_tile_fold *f = a->f;

    if (f->row_steps != 1 || f->outer.row != 1 || f->lane.row || f->cell.row || f->own_rows ||
        !rows_are_alike(a->together))
        return false;
    rd_arrival_place(a, t, 0, 0);
    a->at     = t->outer;
    a->offset = t->lane;
    a->q.n    = m->cols;
    a->q.ldx  = t->x.row;
    a->q.ldy  = t->y.row;
    rd_arrive(a, m->rows);
    return true;
}

/* All rows of totals use the same states, so that these stay in the first-level cache beside what streams by: with
 * states of its own for each row, sums of 8192 f32 took 1.1 times as long. */
static void begin_totals(const rd_arrival *a)
{
    const rd_together *t = a->together;

    rd_tree_start(a->f, a->memory, 0);
    for (int32_t k = 1; t && k < t->n_fold; k++)
        rd_tree_start(t->f[k], t->memory[k], 0);
}

static void keep_total(const rd_tile_fold *f, char *memory, int64_t row)
{
    void *s[RD_MAX_STATE], *to[RD_MAX_STATE];

    rd_tree_collapse(f, memory, 0);
    rd_tree_row(f, memory, 0, 0, s);
    rd_tiles_halve(f, rd_tree_nodes(f, memory, 0)->n, s);
    rd_tree_total(f, memory, row, to);
    for (int32_t k = 0; k < f->n_state; k++)
        memcpy(to[k], s[k], (size_t)f->wide[k]);
}

static void end_totals(const rd_arrival *a, int64_t row)
{
    const rd_together *t = a->together;

    keep_total(a->f, a->memory, row);
    for (int32_t k = 1; t && k < t->n_fold; k++)
        keep_total(t->f[k], t->memory[k], row);
}

/* Does each row of all operands begin where the one before it ends? */
static bool rows_adjoin(const rd_tiles *m, const rd_arrival *a, const rd_fold_tile *t)
{
    const rd_together *all = a->together;

    for (int32_t k = 0; all && k < all->n_operand; k++)
        if (all->tile[k].row != m->cols * all->tile[k].col)
            return false;
    return all || (t->x.row == m->cols && (!t->y.at || t->y.row == m->cols));
}

/* Rows of several steps, the last one maybe a part, one after the other, of one cell; false: something else. */
static bool take_rows(const rd_tiles *m, rd_arrival *a, const rd_fold_tile *t)
{
    const rd_tile_fold *f     = a->f;
    const int64_t       lanes = f->fold->lanes, steps = (m->cols + lanes - 1) / lanes;
    const int64_t       begun = m->cols < lanes ? m->cols : lanes;
    rd_fold_rows        q;

    if (f->outer.row != 1 || f->lane.row || f->cell.row || f->own_rows || f->indexed || t->lane % lanes)
        return false;
    rd_arrival_place(a, t, 0, 0);
    if (m->cols == f->row_steps * lanes && rows_adjoin(m, a, t)) {
        rd_arrive_along(a, m->rows * m->cols, 0, t->outer);
        return true;
    }
    if (a->together)
        return false;
    q     = a->q;
    q.ldx = lanes;
    q.ldy = lanes * q.coly;
    for (int64_t r = 0; r < m->rows; r++) {
        rd_arrival_place(a, t, 0, 0);
        if (continues(a, a->group, begun, (t->outer + r) * f->row_steps + t->lane / lanes, steps))
            take_row(m, a, t, r, a->group * lanes, &q);
        else {
            rd_arrival_place(a, t, r, 0);
            rd_arrive_along(a, m->cols, t->lane, t->outer + r);
        }
    }
    return true;
}

static void take_runs(const rd_tiles *m, rd_arrival *a, const rd_fold_tile *t)
{
    const rd_tile_fold *f     = a->f;
    const int64_t       lanes = f->fold->lanes, whole = m->cols / lanes;

    if (!f->totals && (take_cells(m, a, t) || take_single_steps(m, a, t) || take_rows(m, a, t)))
        return;
    for (int64_t r = 0; r < m->rows; r++) {
        const int64_t lane = t->lane + r * f->lane.row, outer = t->outer + r * f->outer.row;
        const int64_t step = outer * f->row_steps + lane / lanes;

        if (f->totals)
            begin_totals(a);
        rd_arrival_place(a, t, r, 0);
        if (lane % lanes == 0 && whole * lanes == m->cols && continues(a, a->group, lanes, step, whole)) {
            rd_arrival_by_steps(a);
            a->offset = 0;
            a->q.n    = lanes;
            rd_arrival_take(a, 0, lanes, whole, false);
        } else
            rd_arrive_along(a, m->cols, lane, outer);
        if (f->totals)
            end_totals(a, r);
    }
}

/* Rows that do not adjoin, copied so that they do. */
static const void *adjoined(const rd_tiles *m, const rd_view *v, int64_t row, int64_t rows, char *to)
{
    const int64_t bytes = m->cols * rd_elem_size(v->elem);

    for (int64_t r = 0; v->at && r < rows; r++)
        memcpy(to + r * bytes, rd_view_at(v, row + r, 0), (size_t)bytes);
    return v->at ? to : NULL;
}

/* All cells take one element of each row: a run of them if rows adjoin, else as many rows as spare buffers hold. */
static void take_channels(rd_tiles *m, rd_arrival *a, const rd_fold_tile *t)
{
    const int64_t cols = m->cols, cells = m->code->cells > m->code->rows ? m->code->cells : m->code->rows;
    const bool    run  = t->x.row == cols && (!t->y.at || t->y.row == cols);
    const int64_t most = run ? m->rows : cells / cols;

    for (int64_t r = 0, n; r < m->rows; r += n) {
        n = m->rows - r < most ? m->rows - r : most;
        rd_arrival_place(a, t, r, 0);
        if (!run) {
            a->q.x = adjoined(m, &t->x, r, n, m->spare);
            a->q.y = adjoined(m, &t->y, r, n, m->spare + 8 * cells);
        }
        rd_arrive_along(a, n * cols, (t->lane + r) * cols, t->outer);
    }
}

static const void *column_of(const rd_tiles *m, const rd_view *v, int64_t c, char *to)
{
    const int64_t size = rd_elem_size(v->elem);

    for (int64_t r = 0; v->at && r < m->rows; r++)
        memcpy(to + r * size, rd_view_at(v, r, c), (size_t)size);
    return v->at ? to : NULL;
}

/* A cell for each column, rows along the lanes: column by column, copied side by side. */
static void take_interleaved(rd_tiles *m, rd_arrival *a, const rd_fold_tile *t)
{
    for (int64_t c = 0; c < m->cols; c++) {
        rd_arrival_place(a, t, 0, c);
        a->q.x         = column_of(m, &t->x, c, m->spare);
        a->q.y         = column_of(m, &t->y, c, rd_tiles_second_spare(m));
        a->q.index_col = a->f->index.row;
        rd_arrive_along(a, m->rows, t->lane, t->outer);
    }
}

/* The total of a row by the kernels of states in memory. */
static void total_of(const rd_tile_fold *f, const rd_fold_rows *row, void *const *to)
{
    const int64_t lanes = f->fold->lanes, whole = row->n / lanes, rest = row->n % lanes, n = whole ? lanes : rest;
    _Alignas(64) uint64_t narrow[RD_MAX_STATE][64], wide[RD_MAX_STATE][64];
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
enum { TURNED_ROWS = 32, TURNED_STEPS = 64 };

/* Rows one after the other would wait for each step of a sum (50 f32: 200 cycles).  Turned, as many as a vector holds take
 * it together. */
static void fold_turned(const rd_simd *simd, const rd_tile_fold *f, const rd_fold_rows *q)
{
    _Alignas(64) uint64_t x[TURNED_STEPS * TURNED_ROWS], y[TURNED_STEPS * TURNED_ROWS];
    const int64_t         size = rd_elem_size(f->elem), n = q->rows;
    rd_fold_rows          t = { .n         = n,
                                .rows      = 1,
                                .x         = x,
                                .y         = q->y == q->x ? x
                                             : q->y       ? y
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
static void take_short_totals(const rd_tiles *m, const rd_tile_fold *f, char *memory, const rd_fold_rows *rows)
{
    const bool    turned = worth_turning(f, rows);
    const int64_t most   = turned ? TURNED_ROWS : RD_SPARE;
    rd_fold_rows  q      = *rows;

    for (int64_t r = 0; r < rows->rows; r += q.rows) {
        void *to[RD_MAX_STATE];

        q.rows      = rows->rows - r < most ? rows->rows - r : most;
        q.x         = (const char *)rows->x + r * rows->ldx * rd_elem_size(f->elem);
        q.y         = rows->y ? (const char *)rows->y + r * rows->ldy * rd_elem_size(f->elem) : NULL;
        q.index     = rd_tiles_position(m, f->index.at) + r * f->index.row;
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

/* Rows of one block.  They may be short and totals few: only what the kernel reads is set. */
static void take_totals(rd_tiles *m, int32_t pc)
{
    const rd_tile_inst *t                      = &m->code->inst[pc];
    const int32_t       number                 = m->p->inst[pc].arg;
    const rd_tile_fold *f                      = &m->code->fold[number];
    rd_view             x                      = rd_tiles_view(m, t->x);
    rd_view             y                      = t->y < 0 ? (rd_view){ 0 } : rd_tiles_view(m, t->y);
    rd_simd_totals *const(*totals)[RD_N_FUSED] = m->code->simd->totals[t->from];
    rd_fold_rows q;
    void        *to[RD_MAX_STATE];

    make_dense(m, &x, &y, t->fused != RD_FUSED_scale);
    q.n    = m->cols;
    q.rows = m->rows;
    q.x    = x.at;
    q.ldx  = x.row;
    q.y    = y.at;
    q.ldy  = y.row;
    if (f->form == RD_FOLD_ELEMENTS) {
        take_short_totals(m, f, m->fold[number], &q);
        return;
    }
    rd_tree_total(f, m->fold[number], 0, to);
    if (totals && totals[f->fold->reducer][t->fused]) {
        totals[f->fold->reducer][t->fused](&q, to[0]);
        return;
    }
    assert(!t->fused && t->from == f->elem); /* of these there are kernels */
    for (int64_t r = 0; r < m->rows; r++) {
        total_of(f, &q, to);
        q.x = (const char *)q.x + q.ldx * rd_elem_size(f->elem);
        for (int32_t k = 0; k < f->n_state; k++)
            to[k] = (char *)to[k] + f->wide[k];
    }
}

/* Rows of which each element is a step of one lane, the next ones one after the other; false: something else. */
static bool take_serial(const rd_tiles *m, rd_arrival *a, const rd_fold_tile *t)
{
    const rd_tile_fold *f = a->f;

    if (f->fold->lanes > 1 || f->cell.col || f->outer.col * f->row_steps + f->lane.col != 1)
        return false;
    for (int64_t r = 0; r < m->rows; r++) {
        rd_arrival_place(a, t, r, 0);
        a->at  = (t->outer + r * f->outer.row) * f->row_steps + t->lane + r * f->lane.row;
        a->q.n = a->q.ldx = 1;
        a->q.ldy          = a->q.coly;
        a->q.index_row    = a->q.index_col;
        rd_arrive(a, m->cols);
    }
    return true;
}

static void take_elements(rd_tiles *m, rd_arrival *a, const rd_fold_tile *t)
{
    if (take_serial(m, a, t))
        return;
    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t c = 0; c < m->cols; c++) {
            rd_arrival_place(a, t, r, c);
            const int64_t group = a->group;
            rd_arrive_along(a, 1, t->lane + r * a->f->lane.row + c * a->f->lane.col,
                            t->outer + r * a->f->outer.row + c * a->f->outer.col);
            a->group = group;
        }
}

/* ---- Masks ------------------------------------------------------------------------------------------------- */
/* Elements left out become identities; states that have met one that counts are marked. */
static void apply_mask(rd_tiles *m, const rd_tile_fold *f, char *memory, rd_fold_tile *t)
{
    const rd_word identity = rd_fold_identity(f->fold);
    rd_view       y        = { m->spare, m->cols, 1, t->x.elem };

    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t c = 0; c < m->cols; c++) {
            const bool    counts = rd_view_word(&t->mask, r, c).u64;
            const int64_t cell   = t->cell + r * f->cell.row + c * f->cell.col + (f->own_rows ? r * f->cells : 0);
            rd_view_set(&y, r, c, counts ? rd_view_word(&t->x, r, c) : identity);
            memory[f->seen + cell * f->fold->lanes] |= (char)counts;
        }
    t->x = y;
}

/* any and all stop at the first element that decides them: loops are left early, so states would have gaps afterwards. */
static bool can_settle(const rd_tile_fold *f)
{
    return (f->fold->reducer == RD_RED_any || f->fold->reducer == RD_RED_all) && f->cells == 1 && !f->own_rows;
}

static void settle(const rd_tiles *m, const rd_tile_fold *f, char *memory, const rd_fold_tile *t)
{
    const int decides = f->fold->reducer == RD_RED_any;

    for (int64_t r = 0; r < m->rows; r++)
        if (memchr(rd_view_at(&t->x, r, 0), decides, (size_t)m->cols))
            rd_tree_group(memory, 0)->settled = true;
}

/* Do the rows of each column run along the lanes of its cell, with elements of the tile in a buffer of their own? */
static bool interleaved(const rd_tiles *m, const rd_tile_fold *f, const rd_fold_tile *t)
{
    return f->form == RD_FOLD_ELEMENTS && m->rows > 1 && f->lane.row == 1 && f->lane.col == 0 && f->cell.row == 0 &&
           f->outer.row == 0 && f->outer.col == 0 && !f->own_rows && t->x.at != m->spare;
}

/* ---- All together ------------------------------------------------------------------------------------------ */
static void place_tile(const rd_tiles *m, const rd_tile_fold *f, rd_fold_tile *t)
{
    t->lane  = rd_tiles_position(m, f->lane.at);
    t->outer = rd_tiles_position(m, f->outer.at);
    t->cell  = rd_tiles_position(m, f->cell.at);
    t->index = f->indexed ? rd_tiles_position(m, f->index.at) : 0;
}

static void take_by_form(rd_tiles *m, rd_arrival *a, rd_fold_tile *in)
{
    const rd_tile_fold *f = a->f;

    make_dense(m, &in->x, &in->y, a->q.coly);
    if (f->best && f->form == RD_FOLD_RUN)
        rd_arrive_best(m, a, in);
    else if (f->form == RD_FOLD_COLUMNS)
        take_columns(m, a, in);
    else if (f->form == RD_FOLD_RUN)
        take_runs(m, a, in);
    else if (f->form == RD_FOLD_CHANNELS)
        take_channels(m, a, in);
    else
        take_elements(m, a, in);
    if (can_settle(f))
        settle(m, f, a->memory, in);
}

/* Set field by field: zeroing what is not read, a few hundred bytes, costs as much as a short row. */
static void take_elements_of(rd_tiles *m, int32_t pc)
{
    const rd_inst      *inst = &m->p->inst[pc];
    const rd_tile_inst *t    = &m->code->inst[pc];
    const rd_tile_fold *f    = &m->code->fold[inst->arg];
    rd_fold_tile        in;
    rd_arrival          a;

    a.f      = f;
    a.memory = m->fold[inst->arg];
    if (can_settle(f) && rd_tree_group(a.memory, 0)->settled)
        return;
    a.blocks   = t->blocks;
    a.step     = t->step;
    a.fused    = t->fused || t->from != f->elem || t->turned >= 0;
    a.size     = rd_elem_size(t->from);
    a.together = NULL;
    in.y = in.mask = (rd_view){ 0 };
    place_tile(m, f, &in);
    in.x     = t->small < 0 ? rd_tiles_view(m, t->x) : (rd_view){ 0 };
    a.q.coly = t->fused != RD_FUSED_scale;
    if (t->turned >= 0)
        in.y = rd_tiles_turned(m, t->turned, &a.q);
    else if (t->y >= 0)
        in.y = rd_tiles_view(m, t->y);
    if (inst->c >= 0) {
        in.mask = rd_tiles_view(m, inst->c);
        apply_mask(m, f, a.memory, &in);
    }
    if (t->small >= 0)
        rd_arrive_small(m, &a, &in, &m->code->inst[t->small].walk);
    else if (t->counts)
        rd_arrive_counts(m, &a, &in, t->count_if);
    else if (interleaved(m, f, &in))
        take_interleaved(m, &a, &in);
    else
        take_by_form(m, &a, &in);
}

void rd_tiles_step(rd_tiles *m, int32_t pc)
{
    if (rd_tile_fold_one_block(&m->code->fold[m->p->inst[pc].arg]))
        take_totals(m, pc);
    else
        take_elements_of(m, pc);
}

/* ---- Compiled passes --------------------------------------------------------------------------------------- */
static void take_all_totals(const rd_tiles *m, const rd_together *all)
{
    void          *state[RD_SPEC_STATES];
    rd_kernel_call call  = { .rows = m->rows, .n = m->cols, .operand = all->tile, .state = state };
    int32_t        count = 0;

    for (int32_t k = 0; k < all->n_fold; k++) {
        rd_tree_total(all->f[k], all->memory[k], 0, state + count);
        count += all->f[k]->n_state;
    }
    all->kernels->total(&call);
}

/* Set field by field, as above. */
void rd_tiles_steps(rd_tiles *m, const rd_tile_pass *pass, const rd_kernels *kernels, const rd_operand *operand,
                    const int32_t *size)
{
    rd_together  all;
    rd_fold_tile in;
    rd_arrival   a;

    all.kernels   = kernels;
    all.n_fold    = pass->n_fold;
    all.n_operand = pass->n_operand;
    all.tile      = operand;
    all.size      = size;
    for (int32_t k = 0; k < pass->n_fold; k++) {
        all.f[k]      = pass->fold[k];
        all.memory[k] = m->fold[pass->number[k]];
    }
    if (pass->form == RD_SPEC_TOTALS) {
        take_all_totals(m, &all);
        return;
    }
    a.f        = pass->fold[0];
    a.memory   = m->fold[pass->number[0]];
    a.blocks   = NULL;
    a.q.coly   = 0;
    a.size     = 0;
    a.together = &all;
    in.x = in.y = in.mask = (rd_view){ 0 };
    place_tile(m, a.f, &in);
    if (a.f->form == RD_FOLD_COLUMNS)
        take_columns(m, &a, &in);
    else
        take_runs(m, &a, &in);
}

bool rd_tiles_settled(const rd_tiles *m, int32_t fold)
{
    return rd_tree_group(m->fold[fold], 0)->settled;
}
