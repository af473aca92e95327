/* scans.c - folds so far: of neighbouring cells, a row at a time, and along rows. */
#include "kernels/cpu/so_far.h"
#include "kernels/cpu/tile/trees.h"
#include <string.h>

enum { LEVELS = 7 }; /* nodes of 1, 2, 4 .. 64 elements of a block */

int64_t rd_tiles_scan_bytes(const rd_tile_fold *f)
{
    if (f->form == RD_FOLD_ALONG)
        return sizeof(rd_scan_state);
    return f->fold->prefix == RD_PREFIX_TREE ? 8 * LEVELS : 0;
}

typedef struct scan {
    const rd_tile_fold *f;
    char               *memory;
    rd_view             x, y;
} scan;

/* ---- Along a row ------------------------------------------------------------------------------------------- */
/* Elements (r, 0 ..) follow each other.  If results are of another type they take a detour, RD_SPARE at a time. */
static void scan_along(const rd_tiles *m, scan *a, int64_t cell, int64_t r)
{
    const rd_tile_fold *f     = a->f;
    const bool          turns = rd_tiles_converts(f);
    rd_scan_state      *s     = (rd_scan_state *)(void *)(a->memory + f->levels) + cell;
    const rd_scan_code *code  = &m->code->simd->scan[f->elem][f->fold->reducer];
    const bool          empty = f->fold->exclusive && s->n == 0;
    void               *made[RD_MAX_STATE];

    rd_tree_spare(f, a->memory, 0, made);
    for (int64_t c = 0, n; c < m->cols; c += n) {
        void *to = rd_view_at(&a->y, r, c);

        n = turns && m->cols - c > RD_SPARE ? RD_SPARE : m->cols - c;
        code->along(s, n, turns ? made[0] : to, rd_view_at(&a->x, r, c), f->fold->exclusive);
        if (turns)
            rd_tiles_deliver(m, f, n, made, &to);
    }
    if (empty)
        rd_tiles_nothing(f, &a->y, r, 0);
}

/* ---- Neighbouring cells ------------------------------------------------------------------------------------ */
/* The fold of blocks before the current one and, if that has begun, of what it has. */
static void so_far(const rd_tiles *m, const rd_tile_fold *f, char *memory, int64_t slot, int64_t n, bool part,
                   bool before, void *y)
{
    void *s[RD_MAX_STATE], *carry[RD_MAX_STATE], *spare[RD_MAX_STATE], *whole[RD_MAX_STATE];

    rd_tree_block(f, memory, slot, s);
    rd_tree_spare(f, memory, 0, spare);
    if (before)
        rd_tree_carry(f, memory, slot, carry);
    if (f->fold->prefix == RD_PREFIX_TREE && f->wide[0] > f->size[0]) {
        for (int64_t k = 0; k < n; k++)
            ((double *)spare[0])[k] =
                rd_sum_so_far(before ? ((double *)carry[0])[k] : -0.0, part ? ((float *)s[0])[k] : -0.0F);
        rd_tiles_finish(m, f, memory, n, spare, &y);
        return;
    }
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
    rd_tiles_finish(m, f, memory, n, spare, &y);
}

static void *level_at(const scan *a, int level, int64_t cell)
{
    return a->memory + a->f->levels + 8 * a->f->slots * level + cell * a->f->size[0];
}

/* s = s merged with x, n of them. */
static void merge(const scan *a, int64_t n, void *s, const void *x)
{
    a->f->code->step(&(rd_fold_rows){ .n = n, .rows = 1, .s = { s }, .x = x });
}

/* Element e of the block is x: it merges with its left siblings, and the nodes of [0, e] from the right, into the block's
 * state. */
static void tree_step(const scan *a, int64_t cell, int64_t n, const void *x, int64_t e)
{
    const size_t bytes = (size_t)(n * a->f->size[0]);
    int          level = 0;
    void        *whole[RD_MAX_STATE], *left[RD_MAX_STATE];

    for (; e >> level & 1; level++) {
        merge(a, n, level_at(a, level, cell), x);
        x = level_at(a, level, cell);
    }
    memcpy(level_at(a, level, cell), x, bytes);
    rd_tree_block(a->f, a->memory, cell, whole);
    rd_tree_spare(a->f, a->memory, 0, left);
    memcpy(whole[0], level_at(a, level, cell), bytes);
    for (level++; (e + 1) >> level; level++)
        if ((e + 1) >> level & 1) {
            memcpy(left[0], level_at(a, level, cell), bytes);
            merge(a, n, left[0], whole[0]);
            memcpy(whole[0], left[0], bytes);
        }
}

/* One pass over states and elements if nothing but this needs them. */
static bool scan_at_once(const rd_tiles *m, scan *a, int64_t cell, int64_t n, bool fresh, bool before, void *y,
                         const void *x)
{
    const rd_tile_fold *f    = a->f;
    const rd_scan_code *code = &m->code->simd->scan[f->elem][f->fold->reducer];
    void               *part[RD_MAX_STATE], *carry[RD_MAX_STATE];

    if (f->fold->exclusive || f->fold->prefix == RD_PREFIX_TREE || rd_tiles_converts(f) || !code->columns)
        return false;
    rd_tree_block(f, a->memory, cell, part);
    rd_tree_carry(f, a->memory, cell, carry);
    code->columns(&(rd_scan_columns){
        .n = n, .fresh = fresh, .x = x, .part = part[0], .carry = before ? carry[0] : NULL, .y = y });
    return true;
}

/* Elements (r, c .. c + n) are the next of n neighbouring cells. */
static void scan_row(rd_tiles *m, scan *a, int64_t cell, int64_t step, int64_t r, int64_t c, int64_t n)
{
    const rd_tile_fold *f     = a->f;
    const int64_t       group = cell / f->group, offset = cell % f->group;
    rd_group           *g = rd_tree_group(a->memory, group);
    rd_fold_rows        q = { .n = n, .rows = 1, .x = rd_view_at(&a->x, r, c) };
    bool                part;

    if (rd_tree_reach(f, a->memory, group, step / f->fold->steps))
        rd_tree_renew_carry(f, a->memory, group);
    part     = offset < g->begun;
    g->begun = g->begun > offset + n ? g->begun : offset + n;
    if (scan_at_once(m, a, cell, n, !part, g->depth > 0, rd_view_at(&a->y, r, c), q.x))
        return;
    if (f->fold->exclusive && !part && g->depth == 0)
        for (int64_t k = 0; k < n; k++)
            rd_tiles_nothing(f, &a->y, r, c + k);
    else if (f->fold->exclusive)
        so_far(m, f, a->memory, cell, n, part, g->depth > 0, rd_view_at(&a->y, r, c));
    rd_tree_block(f, a->memory, cell, q.s);
    if (f->fold->prefix == RD_PREFIX_TREE)
        tree_step(a, cell, n, q.x, step % f->fold->steps);
    else
        (part ? f->code->step : f->code->first)(&q);
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
    for (int64_t r = 0; r < m->rows; r++) {
        if (f->form == RD_FOLD_ALONG) {
            scan_along(m, &a, cell + r * row, r);
            continue;
        }
        for (int64_t c = 0, n; c < m->cols; c += n) {
            n = rd_tree_together(f, cell + r * row + c, m->cols - c);
            scan_row(m, &a, cell + r * row + c * f->cell.col, step + r * step_row + c * step_col, r, c, n);
        }
    }
}
