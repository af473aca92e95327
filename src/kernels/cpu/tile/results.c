/* results.c - results of folds: at the end, and so far. */
#include "kernels/cpu/fold.h"
#include "kernels/cpu/tile/trees.h"
#include <string.h>

/* Results in the accumulator's element become those of the register. */
static void deliver(const rd_tiles *m, const rd_tile_fold *f, int64_t n, void *const *from, void *const *to)
{
    const rd_elem made = f->indexed ? RD_ELEM_i64 : f->elem, wanted = rd_elem_of(f->fold->out);

    for (int32_t k = 0; k < f->fold->n_out && from[k] != to[k]; k++) {
        m->code->simd->cast[wanted][made](n, to[k], from[k]);
        if (m->code->simd->wrap[f->fold->out])
            m->code->simd->wrap[f->fold->out](n, to[k]);
    }
}

static bool converts(const rd_tile_fold *f)
{
    return f->fold->out != (f->indexed ? RD_I64 : f->fold->type);
}

/* n states of finished blocks become results; at most RD_SPARE if they must be converted. */
static void finish(const rd_tiles *m, const rd_tile_fold *f, char *memory, int64_t n, void *const *s, void *const *to)
{
    void *y[RD_MAX_STATE];

    if (!converts(f)) {
        f->code->finish(n, s, f->fold->ddof, to);
        return;
    }
    rd_tree_spare(f, memory, 1, y);
    f->code->finish(n, s, f->fold->ddof, y);
    deliver(m, f, n, y, to);
}

static void result_of_nothing(const rd_tile_fold *f, rd_view *y, int64_t r, int64_t c)
{
    rd_word words[RD_MAX_STATE];

    rd_fold_of_nothing(f->fold, words);
    for (int32_t k = 0; k < f->fold->n_out; k++)
        rd_view_set(&y[k], r, c, words[k]);
}

/* ---- At the end -------------------------------------------------------------------------------------------- */
/* Lane l merges lane l + h for h = lanes/2 .. 1. */
static void halve(const rd_tile_fold *f, char *memory, int64_t group, int64_t lanes)
{
    int64_t n = rd_tree_nodes(f, memory, group)->n;
    void   *a[RD_MAX_STATE], *b[RD_MAX_STATE];

    for (int64_t half = lanes / 2; half > 0; half /= 2) {
        if (n <= half)
            continue;
        rd_tree_row(f, memory, 0, group * f->group, a);
        rd_tree_row(f, memory, 0, group * f->group + half, b);
        f->code->merge(n - half, a, b);
        n = half;
    }
}

static void close_cells(const rd_tiles *m, const rd_tile_fold *f, char *memory, int64_t cell, int64_t n, rd_view *y,
                        int64_t r, int64_t c)
{
    const int64_t lanes = f->fold->lanes, group = cell * lanes / f->group;
    void         *s[RD_MAX_STATE], *to[RD_MAX_STATE];

    rd_tree_collapse(f, memory, group);
    if (rd_tree_group(f, memory, group)->depth == 0) {
        for (int64_t k = 0; k < n; k++)
            result_of_nothing(f, y, r, c + k);
        return;
    }
    if (lanes > 1)
        halve(f, memory, group, lanes);
    rd_tree_row(f, memory, 0, cell * lanes, s);
    for (int32_t k = 0; k < f->fold->n_out; k++)
        to[k] = rd_view_at(&y[k], r, c);
    finish(m, f, memory, n, s, to);
    for (int64_t k = 0; f->masked && k < n; k++)
        if (!memory[f->seen + (cell + k) * lanes])
            result_of_nothing(f, y, r, c + k);
}

static void close_totals(const rd_tiles *m, const rd_tile_fold *f, char *memory, const rd_view *y)
{
    void *s[RD_MAX_STATE], *to[RD_MAX_STATE];

    for (int64_t c = 0, n; c < m->cols; c += n) {
        n = m->cols - c < RD_SPARE ? m->cols - c : RD_SPARE;
        rd_tree_row(f, memory, 0, c, s);
        to[0] = rd_view_at(y, 0, c);
        finish(m, f, memory, n, s, to);
    }
}

/* Neighbouring cells of one group close together, RD_SPARE at most. */
static int64_t together(const rd_tile_fold *f, int64_t cell, int64_t left)
{
    const int64_t in_group = f->form == RD_FOLD_COLUMNS ? f->group - cell % f->group : 1;
    const int64_t n        = left < in_group ? left : in_group;

    return n < RD_SPARE ? n : RD_SPARE;
}

static void register_views(rd_tiles *m, int32_t pc, rd_view *y)
{
    const rd_inst *inst = &m->p->inst[pc];

    for (int32_t k = 0; k < m->p->fold[inst->arg].n_out; k++) {
        rd_view *v = &m->reg[inst->dst + k];
        if (m->code->inst[pc].level == RD_AT_TILE) {
            v->at  = m->buffers + (m->code->inst[pc].buffer + k) * m->code->buffer_bytes;
            v->row = m->cols;
            v->col = 1;
        }
        y[k] = rd_tiles_view(m, inst->dst + k);
    }
}

void rd_tiles_close(rd_tiles *m, int32_t pc)
{
    const rd_inst      *inst   = &m->p->inst[pc];
    const rd_tile_fold *f      = &m->code->fold[inst->arg];
    const rd_walk      *w      = &m->code->inst[pc].walk;
    char               *memory = m->fold[inst->arg];
    const int64_t       first  = rd_tiles_position(m, w->at);
    /* At row level a column is a row of the tile, with cells of its own. */
    const int64_t col = w->col + (f->own_rows && m->level == RD_AT_ROW ? f->cells : 0);
    const int64_t row = w->row + (f->own_rows && m->level == RD_AT_TILE ? f->cells : 0);
    rd_view       y[RD_MAX_STATE];

    register_views(m, pc, y);
    if (f->totals) {
        close_totals(m, f, memory, &y[0]);
        return;
    }
    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t c = 0, n; c < m->cols; c += n) {
            const int64_t cell = first + r * row + c * col;
            n                  = col == 1 ? together(f, cell, m->cols - c) : 1;
            close_cells(m, f, memory, cell, n, y, r, c);
        }
}

/* ---- So far ------------------------------------------------------------------------------------------------ */
/* The fold of blocks before the current one and, if that has begun, of what it has. */
static void so_far(const rd_tiles *m, const rd_tile_fold *f, char *memory, int64_t slot, int64_t n, bool part,
                   bool before, void *y)
{
    void *s[RD_MAX_STATE], *carry[RD_MAX_STATE], *spare[RD_MAX_STATE], *whole[RD_MAX_STATE];

    rd_tree_block(f, memory, slot, s);
    rd_tree_spare(f, memory, 0, spare);
    if (before)
        rd_tree_carry(f, memory, slot, carry);
    if (part)
        f->code->widen(n, spare, s);
    if (part && before) {
        /* The carry is the left operand, and is still needed. */
        rd_tree_spare(f, memory, 1, whole);
        memcpy(whole[0], carry[0], (size_t)(n * f->wide[0]));
        f->code->merge(n, whole, spare);
        memcpy(spare[0], whole[0], (size_t)(n * f->wide[0]));
    } else if (before)
        memcpy(spare[0], carry[0], (size_t)(n * f->wide[0]));
    finish(m, f, memory, n, spare, &y);
}

typedef struct scan {
    const rd_tile_fold *f;
    char               *memory;
    rd_view             x, y;
} scan;

/* Elements (r, c .. c + n) are the next of n neighbouring cells. */
static void scan_row(rd_tiles *m, scan *a, int64_t cell, int64_t step, int64_t r, int64_t c, int64_t n)
{
    const rd_tile_fold *f     = a->f;
    const int64_t       group = cell / f->group, offset = cell % f->group;
    rd_group           *g = rd_tree_group(f, a->memory, group);
    rd_fold_rows        q = { .n = n, .rows = 1, .x = rd_view_at(&a->x, r, c) };
    bool                part;

    if (rd_tree_reach(f, a->memory, group, step / f->fold->steps))
        rd_tree_renew_carry(f, a->memory, group);
    part = offset < g->begun;
    if (f->fold->exclusive && !part && g->depth == 0)
        for (int64_t k = 0; k < n; k++)
            result_of_nothing(f, &a->y, r, c + k);
    else if (f->fold->exclusive)
        so_far(m, f, a->memory, cell, n, part, g->depth > 0, rd_view_at(&a->y, r, c));
    rd_tree_block(f, a->memory, cell, q.s);
    (part ? f->code->step : f->code->first)(&q);
    g->begun = g->begun > offset + n ? g->begun : offset + n;
    if (!f->fold->exclusive)
        so_far(m, f, a->memory, cell, n, true, g->depth > 0, rd_view_at(&a->y, r, c));
}

void rd_tiles_scan(rd_tiles *m, int32_t pc)
{
    const rd_inst      *inst = &m->p->inst[pc];
    const rd_tile_fold *f    = &m->code->fold[inst->arg];
    scan                a    = { .f = f, .memory = m->fold[inst->arg] };
    const int64_t       cell = rd_tiles_position(m, f->cell.at), row = f->cell.row + (f->own_rows ? f->cells : 0);
    const int64_t       step     = rd_tiles_position(m, f->outer.at) * f->row_steps + rd_tiles_position(m, f->lane.at);
    const int64_t       step_row = f->outer.row * f->row_steps + f->lane.row;
    const int64_t       step_col = f->outer.col * f->row_steps + f->lane.col;

    a.x = rd_tiles_dense(m, rd_tiles_view(m, inst->a));
    a.y = rd_tiles_target(m, pc, inst->dst);
    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t c = 0, n; c < m->cols; c += n) {
            n = f->form == RD_FOLD_COLUMNS ? together(f, cell + r * row + c, m->cols - c) : 1;
            scan_row(m, &a, cell + r * row + c * f->cell.col, step + r * step_row + c * step_col, r, c, n);
        }
}
