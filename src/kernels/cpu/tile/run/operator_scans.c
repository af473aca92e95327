/* operator_scans.c - folds so far: of neighbouring cells, some rows at a time, and along rows. */
#include "kernels/cpu/tile/run/masks.h"
#include "kernels/cpu/tile/run/operator_scans.h"
#include "kernels/math/prefix_sums.h"
#include <string.h>

enum { FIRST_LEVEL = 3, LEVELS = 7 }; /* nodes of 1, 2, 4 .. 64 elements of a block */
/* Results that are not made in their place: bytes, and rows of neighbouring cells. */
enum { ASIDE_BYTES = 8 * RD_SPARE, ASIDE_ROWS = 8 };

/* Words of a slot before those of sums. */
static int first_word(const rd_tile_fold *f)
{
    return FIRST_LEVEL + (f->fold->prefix == RD_PREFIX_TREE ? LEVELS : 0);
}

void rd_operator_scan_size(rd_tile_fold *f)
{
    const bool floats = rd_dtype_kind(f->fold->type) == RD_KIND_FLOAT;

    f->scan_words =
        f->fold->reducer == RD_RED_sum && floats ? rd_prefix_sum_words(f->fold->n_block) : 0;
    f->scan_bytes =
        8 * f->scan_words +
        (f->mapping == RD_FOLD_ALONG ? (int64_t)sizeof(rd_scan_state) : 8 * first_word(f));
}

/* Arrays of a word for each slot: hi, lo and part; then the levels' nodes, and words. */
static char *array_at(const rd_tile_fold *f, char *memory, int number, int64_t cell)
{
    return memory + f->scans + 8 * f->slots * number + cell * f->size[0];
}

static rd_scan_columns columns_at(const rd_tile_fold *f, char *memory, int64_t cell)
{
    return (rd_scan_columns){ .hi   = array_at(f, memory, 0, cell),
                              .lo   = array_at(f, memory, 1, cell),
                              .part = array_at(f, memory, 2, cell),
                              .sums =
                                  (double *)(void *)array_at(f, memory, first_word(f), 0) + cell,
                              .pitch = f->slots };
}

static rd_scan_state *state_at(const rd_tile_fold *f, char *memory, int64_t cell)
{
    return (rd_scan_state *)(void *)(memory + f->scans + cell * f->scan_bytes);
}

void rd_operator_scan_start(const rd_tile_fold *f, char *memory, int64_t group)
{
    if (f->mapping == RD_FOLD_ALONG) {
        rd_scan_state *s = state_at(f, memory, group);

        s->n = 0;
        rd_prefix_sum_begin(f->scan_words, s->sums);
        return;
    }
    const rd_scan_columns s = columns_at(f, memory, group * f->group);

    f->scan->start(f->group, &s);
    for (int64_t k = 0; k < f->scan_words; k++)
        rd_prefix_sum_begin(f->group, s.sums + k * s.pitch);
}

typedef struct scan {
    const rd_tile_fold *f;
    char               *memory;
    rd_reg_view         x, y;
    bool                nontemporal; /* y is memory nontemporal the caches */
} scan;

/* ---- Results --------------------------------------------------------------------------------- */
/* Must results at y, from row to row so many elements apart, be made needs_detour: for a conversion, or as
 * lines that go nontemporal the caches are made whole? */
static bool needs_detour(const scan *a, const void *y, int64_t row)
{
    const bool lines =
        a->f->scan->nontemporal && ((uintptr_t)y | (uintptr_t)(row * a->f->size[0])) % 64 == 0;

    return rd_tiles_needs_conversion(a->f) || (a->nontemporal && !lines);
}

static char *detour_buffer(const scan *a)
{
    void *s[RD_MAX_STATE];

    rd_tree_spare(a->f, a->memory, 0, s);
    return s[0];
}

/* To elements (r, c .. c + n) of these rows. */
static void copy_results(const rd_tiles *m, const scan *a, int64_t r, int64_t c, int64_t rows,
                         int64_t n)
{
    const int64_t bytes = n * a->f->size[0];

    for (int64_t k = 0; k < rows; k++) {
        void *to = rd_view_at(&a->y, r + k, c), *from = detour_buffer(a) + k * bytes;

        if (rd_tiles_needs_conversion(a->f))
            rd_tiles_convert_results(m, a->f, n, &from, &to);
        else
            m->code->simd->copy_nontemporal(bytes, to, from);
    }
}

/* ---- Along a row ----------------------------------------------------------------------------- */
/* Elements (r, 0 ..) follow each other. */
static void scan_along(const rd_tiles *m, scan *a, int64_t cell, int64_t r)
{
    const rd_tile_fold *f         = a->f;
    const bool          exclusive = f->fold->exclusive;
    const bool          detour =
        needs_detour(a, rd_view_at(&a->y, r, 0), 0) || (a->nontemporal && exclusive);
    rd_scan_state *s     = state_at(f, a->memory, cell);
    const bool     empty = exclusive && s->n == 0;

    for (int64_t c = 0, n; c < m->cols; c += n) {
        n = rd_least(m->cols - c, detour ? ASIDE_BYTES / f->size[0] : m->cols);
        f->scan->along(s, n, detour ? detour_buffer(a) : rd_view_at(&a->y, r, c),
                       rd_view_at(&a->x, r, c), exclusive, a->nontemporal && !detour);
        if (detour)
            copy_results(m, a, r, c, 1, n);
    }
    if (empty)
        rd_tiles_set_empty_result(f, &a->y, r, 0);
}

/* ---- Neighbouring cells ---------------------------------------------------------------------- */
/* s = s merged with x, n of them. */
static void merge(const scan *a, int64_t n, void *s, const void *x)
{
    a->f->code->step(&(rd_fold_rows){ .n = n, .rows = 1, .s = { s }, .x = x });
}

static void *level_at(const scan *a, int level, int64_t cell)
{
    return array_at(a->f, a->memory, FIRST_LEVEL + level, cell);
}

/* Element e of the block is x: it merges with its left siblings, and the nodes of [0, e] from the
 * right, into the block's state. */
static void tree_step(const scan *a, int64_t cell, int64_t n, const void *x, int64_t e, void *whole)
{
    const size_t bytes = (size_t)(n * a->f->size[0]);
    int          level = 0;
    void        *left[RD_MAX_STATE];

    for (; e >> level & 1; level++) {
        merge(a, n, level_at(a, level, cell), x);
        x = level_at(a, level, cell);
    }
    memcpy(level_at(a, level, cell), x, bytes);
    rd_tree_spare(a->f, a->memory, 1, left);
    memcpy(whole, level_at(a, level, cell), bytes);
    for (level++; (e + 1) >> level; level++)
        if ((e + 1) >> level & 1) {
            memcpy(left[0], level_at(a, level, cell), bytes);
            merge(a, n, left[0], whole);
            memcpy(whole, left[0], bytes);
        }
}

/* Elements (r, c .. c + n) of one step, RD_SPARE at most. */
static void scan_step(const rd_tiles *m, const scan *a, int64_t cell, int64_t step, int64_t r,
                      int64_t c, int64_t n)
{
    const rd_tile_fold   *f      = a->f;
    const rd_scan_columns s      = columns_at(f, a->memory, cell);
    const bool            detour = rd_tiles_needs_conversion(f) || a->nontemporal;
    const void           *x      = rd_view_at(&a->x, r, c);
    void                 *y      = detour ? detour_buffer(a) : rd_view_at(&a->y, r, c);

    if (f->fold->exclusive) {
        if (x == y) /* in place: the element is read after the result is there */
            x = memcpy(detour_buffer(a), x, (size_t)(n * f->size[0]));
        f->scan->prefix(n, &s, y);
    }
    if (f->fold->prefix == RD_PREFIX_TREE)
        tree_step(a, cell, n, x, step % f->fold->steps, s.part);
    else
        merge(a, n, s.part, x);
    if (!f->fold->exclusive)
        f->scan->prefix(n, &s, y);
    if (detour)
        copy_results(m, a, r, c, 1, n);
    for (int64_t k = 0; f->fold->exclusive && step == 0 && k < n; k++)
        rd_tiles_set_empty_result(f, &a->y, r, c + k);
}

/* Elements (r, c .. c + n) of rows that are steps of one block; of ASIDE_ROWS at most if they may
 * be made needs_detour. */
static void scan_rows(const rd_tiles *m, const scan *a, int64_t cell, int64_t r, int64_t c,
                      int64_t rows, int64_t n)
{
    const rd_tile_fold *f      = a->f;
    const bool          detour = needs_detour(a, rd_view_at(&a->y, r, c), a->y.row);
    const int64_t       most   = detour ? ASIDE_BYTES / f->size[0] / rows : n;

    for (int64_t done = 0, now; done < n; done += now) {
        const rd_scan_columns s = columns_at(f, a->memory, cell + done);

        now = rd_least(n - done, most);
        f->scan->rows(
            &s, &(rd_scan_rows){ .n    = now,
                                 .rows = rows,
                                 .x    = rd_view_at(&a->x, r, c + done),
                                 .y    = detour ? detour_buffer(a) : rd_view_at(&a->y, r, c + done),
                                 .ldx  = a->x.row,
                                 .ldy  = detour ? now : a->y.row,
                                 .nontemporal = a->nontemporal && !detour });
        if (detour)
            copy_results(m, a, r, c + done, rows, now);
    }
}

/* The group moves on to a block. */
static void enter_block(const scan *a, int64_t group, int64_t block)
{
    rd_group             *g = rd_tree_group(a->memory, group);
    const rd_scan_columns s = columns_at(a->f, a->memory, group * a->f->group);

    if (g->block >= 0 && g->block != block)
        a->f->scan->block(a->f->group, &s, g->block);
    g->block = block;
}

/* Steps for neighbouring cells, some rows at a time where these are of one block. */
static void scan_columns(const rd_tiles *m, const scan *a)
{
    const rd_tile_fold *f    = a->f;
    const int64_t       cell = rd_tiles_position(m, f->cell.at);
    const int64_t       row  = f->cell.row + (f->own_rows ? f->cells : 0);
    const int64_t       step =
        rd_tiles_position(m, f->outer.at) * f->row_steps + rd_tiles_position(m, f->lane.at);
    const int64_t step_row = f->outer.row * f->row_steps + f->lane.row;
    const int64_t step_col = f->outer.col * f->row_steps + f->lane.col;
    const bool    simple   = !f->fold->exclusive && f->fold->prefix == RD_PREFIX_LEFT;
    const bool    several  = simple && f->mapping == RD_FOLD_COLUMNS && row == 0 && step_row == 1;
    const int64_t most     = !several                                         ? 1
                             : a->nontemporal || rd_tiles_needs_conversion(f) ? ASIDE_ROWS
                                                                              : m->rows;

    for (int64_t r = 0, rows; r < m->rows; r += rows) {
        const int64_t left =
            rd_least(m->rows - r, f->fold->steps - (step + r * step_row) % f->fold->steps);

        rows = rd_least(most, left);
        for (int64_t c = 0, n; c < m->cols; c += n) {
            const int64_t first = cell + r * row + c * f->cell.col,
                          at    = step + r * step_row + c * step_col;

            n = simple ? rd_tree_adjacent_cells(f, first, m->cols - c)
                       : rd_tree_cells_at_once(f, first, m->cols - c);
            enter_block(a, first / f->group, at / f->fold->steps);
            if (simple)
                scan_rows(m, a, first, r, c, rows, n);
            else
                scan_step(m, a, first, at, r, c, n);
        }
    }
}

void rd_operator_scan_run(rd_tiles *m, int32_t pc)
{
    const rd_inst      *inst = &m->p->inst[pc];
    const rd_tile_inst *t    = &m->code->inst[pc];
    const rd_tile_fold *f    = &m->code->fold[inst->arg];
    scan                a    = { .f = f, .memory = m->fold[inst->arg] };
    rd_reg_view         mask = { 0 };

    if (inst->c >= 0) {
        const rd_reg_view x = rd_tiles_view(m, inst->a);

        mask = rd_mask_dense(m, inst->c);
        a.x  = rd_mask_leave_out(m, f->fold, &x, &mask);
    } else
        a.x = rd_tiles_dense(m, rd_tiles_view(m, inst->a));
    a.y           = rd_tiles_target(m, pc, inst->dst);
    a.nontemporal = t->into >= 0 && m->code->inst[t->into].nontemporal;
    if (f->mapping != RD_FOLD_ALONG)
        scan_columns(m, &a);
    for (int64_t r = 0; f->mapping == RD_FOLD_ALONG && r < m->rows; r++)
        scan_along(
            m, &a,
            rd_tiles_position(m, f->cell.at) + r * (f->cell.row + (f->own_rows ? f->cells : 0)), r);
    if (mask.at)
        rd_mask_clear_empty(m, f, a.memory, &a.y, &mask);
}
