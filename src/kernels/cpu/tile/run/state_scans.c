/* state_scans.c - scans by reducers that no operator merges, such as running means and variances.
 *
 * Kernels of simd/state_scans.h update states with the rows of a block and write the results at
 * once.  Other cases go step by step through the kernels of folds: the first element of a block,
 * masked elements, exclusive scans, and reducers with exponentials.
 *
 * Fields. A STEP reads an element (a), weights (b), a mask (c) and a group's label (d), -1: none. A
 * fold has own_rows if each row of a tile has states of its own. Strides .row and .col say how far
 * a position moves from row to row and from column to column.
 *
 * Words. Scratch is temporary memory of a task. */
#include "kernels/cpu/tile/run/masks.h"
#include "kernels/cpu/tile/run/state_scans.h"
#include "kernels/cpu/tile/run/state_scan_steps.h"
#include <string.h>

/* ---- Kernels --------------------------------------------------------------------------------- */
/* True if a kernel can update the states of a scan and write results at once: there is one, and the
 * scan is inclusive and has no mask. */
static bool has_kernel(const rd_state_scan *a)
{
    return a->kernels->rows && !a->f->masked && !a->f->fold->exclusive;
}

/* Returns the arguments of a scan kernel that begins at element (r, c) of the tile, which is step
 * `at` of the scan in `slot`.  `before` is the state of the blocks before, NULL in the first block.
 * Results go to scratch if they are converted.  s_row is the distance of the states of two rows,
 * ldx, ldw and ldy those of their elements, weights and results (in bytes). */
static rd_running running_of(const rd_state_scan *a, int64_t slot, int64_t at, int64_t r, int64_t c)
{
    const rd_tile_fold *f       = a->f;
    const bool          convert = rd_tiles_needs_conversion(f);
    void               *before[RD_MAX_STATE], *spare[RD_MAX_STATE];
    rd_running          q = { .s_row     = a->cell_row,
                              .x         = rd_view_at(&a->x, r, c),
                              .w         = a->w.at ? rd_view_at(&a->w, r, c) : NULL,
                              .ldx       = a->x.row,
                              .ldw       = a->w.row,
                              .index     = a->index + r * f->index.row + c * f->index.col,
                              .index_row = f->index.row,
                              .index_col = f->index.col,
                              .ddof      = f->fold->ddof,
                              .y         = rd_view_at(&a->y, r, c),
                              .ldy       = a->y.row * rd_elem_size(a->y.elem) };

    rd_state_scan_states(f, a->memory, RD_CURRENT_BLOCK, slot, q.s);
    rd_state_scan_states(f, a->memory, RD_BLOCKS_BEFORE, slot, before);
    for (int32_t k = 0; at >= f->fold->steps && k < f->n_state; k++)
        q.before[k] = before[k];
    if (convert) {
        rd_tree_spare(f, a->memory, /*which=*/1, spare);
        q.y = spare[0];
    }
    return q;
}

/* Converts the results that a scan kernel has written to scratch, and writes them to row r of the
 * result, from column c on. */
static void convert(const rd_state_scan *a, const rd_running *q, int64_t r, int64_t c)
{
    void *const from[1] = { q->y }, *const to[1] = { rd_view_at(&a->y, r, c) };

    if (rd_tiles_needs_conversion(a->f))
        rd_tiles_convert_results(a->m, a->f, q->n, from, to);
}

/* ---- By lane mapping ------------------------------------------------------------------------- */
/* Scans n neighbouring cells (independent scans) down `rows` rows, which are successive steps of
 * one block. Results that are converted go by one row at a time, as scratch holds no more. The
 * first step of a block (at % steps is 0), or all steps without a scan kernel, go by the kernels of
 * folds (`by_folds` of them). */
static void scan_rows(const rd_state_scan *a, int64_t slot, int64_t at, int64_t r, int64_t c,
                      int64_t rows, int64_t n)
{
    const bool    convert_each = rd_tiles_needs_conversion(a->f);
    int64_t       k            = 0;
    const int64_t by_folds     = !has_kernel(a) ? rows : at % a->f->fold->steps == 0;

    for (; k < by_folds; k++)
        rd_state_scan_step(a, slot, at + k, r + k, c, n);
    for (int64_t now; k < rows; k += now) {
        rd_running q = running_of(a, slot, at + k, r + k, c);

        q.n    = n;
        q.rows = now = convert_each ? 1 : rows - k;
        a->kernels->rows(&q);
        convert(a, &q, r + k, c);
    }
}

/* Scans a tile with an independent scan (cell) for each column.  Several rows go together if they
 * are successive steps of these scans (`many`), up to the end of a block.  a->cell and a->step are
 * the numbers of the tile's first element (which scan, which step), cell_row and step_row how they
 * move from row to row. */
static void scan_columns(const rd_state_scan *a)
{
    const rd_tile_fold *f     = a->f;
    const int64_t       steps = f->fold->steps;
    const bool          many  = a->cell_row == 0 && a->step_row == 1;

    for (int64_t r = 0, rows; r < a->m->rows; r += rows) {
        const int64_t at = a->step + r * a->step_row;

        rows = many ? rd_least(a->m->rows - r, steps - at % steps) : 1;
        for (int64_t c = 0, n; c < a->m->cols; c += n) {
            const int64_t slot = a->cell + r * a->cell_row + c;

            n = rd_tree_cells_at_once(f, slot, a->m->cols - c);
            /* group: scans that share a block */
            rd_state_scan_enter_block(a, slot / f->group, at / steps);
            scan_rows(a, slot, at, r, c, rows, n);
        }
    }
}

/* Scans elements c .. c + n of `rows` rows, within one block of 64 steps. Each row is a scan of its
 * own, or one row continues the row before it. The first `by_folds` elements go by the kernels of
 * folds: the element that begins the block, or all if there is no scan kernel. */
static void scan_block(const rd_state_scan *a, int64_t at, int64_t r, int64_t c, int64_t rows,
                       int64_t n)
{
    const int64_t slot     = a->cell + r * a->cell_row;
    const int64_t by_folds = !has_kernel(a) ? n : at % a->f->fold->steps == 0;

    for (int64_t l = 0; l < rows; l++)
        for (int64_t k = 0; k < by_folds; k++)
            rd_state_scan_step(a, slot + l * a->cell_row, at + k, r + l, c + k, /*n=*/1);
    if (by_folds == n)
        return;
    rd_running q = running_of(a, slot, at, r, c + by_folds);

    q.n    = n - by_folds;
    q.rows = rows;
    a->kernels->along(&q);
    convert(a, &q, r, c + by_folds);
}

/* Scans a tile with rows that are successive steps of a cell. Rows of different cells at the same
 * steps (`many`) go together. A row is cut where a block of the combine tree ends, and into
 * RD_SPARE elements if they are converted, as the spare buffer holds no more. a->cell and a->step
 * are the numbers of the tile's first element, cell_row and step_row how they move from row to
 * row. */
static void scan_along(const rd_state_scan *a)
{
    const rd_tile_fold *f     = a->f;
    const int64_t       steps = f->fold->steps;
    const bool many     = a->cell_row != 0 && a->step_row == 0 && !rd_tiles_needs_conversion(f),
               converts = rd_tiles_needs_conversion(f);

    for (int64_t r = 0, rows; r < a->m->rows; r += rows) {
        rows = many ? a->m->rows : 1;
        for (int64_t c = 0, n; c < a->m->cols; c += n) {
            const int64_t at = a->step + r * a->step_row + c;

            n = rd_least(a->m->cols - c, steps - at % steps);
            n = converts ? rd_least(n, RD_SPARE) : n;
            for (int64_t k = 0; k < rows; k++)
                rd_state_scan_enter_block(a, a->cell + (r + k) * a->cell_row, at / steps);
            scan_block(a, at, r, c, rows, n);
        }
    }
}

/* Scans a tile element by element, where neither rows nor columns are successive steps of one scan.
 * a->cell and a->step are the numbers of the tile's first element (which scan, which step of it),
 * ..row and ..col their strides. */
static void scan_elements(const rd_state_scan *a)
{
    const rd_tile_fold *f = a->f;

    for (int64_t r = 0; r < a->m->rows; r++)
        for (int64_t c = 0; c < a->m->cols; c++) {
            const int64_t slot = a->cell + r * a->cell_row + c * f->cell.col;
            const int64_t at   = a->step + r * a->step_row + c * a->step_col;

            rd_state_scan_enter_block(a, /*group=*/slot / f->group, /*block=*/at / f->fold->steps);
            rd_state_scan_step(a, slot, at, r, c, /*n=*/1);
        }
}

/* ---- All together ---------------------------------------------------------------------------- */
/* Returns the weights in a register with contiguous columns. A scalar weight fills one row, which
 * all rows read (row stride 0). They go to the second spare buffer (m->spare is that one for the
 * copy), as the first may hold the elements. */
static rd_reg_view weights(rd_tiles *m, int32_t reg)
{
    rd_reg_view w     = rd_tiles_view(m, reg);
    char *const spare = m->spare, *const row = rd_tiles_second_spare(m);
    const int64_t size = rd_elem_size(w.elem);

    if (w.row || w.col) {
        m->spare = row;
        w        = rd_tiles_dense(m, w);
        m->spare = spare;
        return w;
    }
    for (int64_t c = 0; c < m->cols; c++)
        memcpy(row + c * size, w.at, (size_t)size);
    return (rd_reg_view){ row, 0, 1, w.elem };
}

/* Returns the numbers of a scan on this tile: its first element's cell (which scan), step and
 * index, and their strides from row to row and column to column. `kernels` are those that update
 * states and write results at once; a step's number counts passes along the lanes, then steps of
 * this one. */
static rd_state_scan tile_of(rd_tiles *m, const rd_tile_fold *f)
{
    return (rd_state_scan){ .m       = m,
                            .f       = f,
                            .kernels = &m->code->simd->running[f->elem][f->fold->reducer],
                            .cell    = rd_tiles_position(m, f->cell.at),
                            .index   = f->has_index ? rd_tiles_position(m, f->index.at) : 0,
                            .step    = rd_tiles_position(m, f->lane_line.at) * f->row_steps +
                                    rd_tiles_position(m, f->lane.at),
                            .cell_row = f->cell.row + (f->own_rows ? f->cells : 0),
                            .step_row = f->lane_line.row * f->row_steps + f->lane.row,
                            .step_col = f->lane_line.col * f->row_steps + f->lane.col };
}

/* SCAN by a reducer whose states no single operator merges (a running mean): makes its operands
 * contiguous, then scans columns, rows or single elements. Rows go along if columns are successive
 * steps of one cell. */
void rd_state_scan_run(rd_tiles *m, int32_t pc, const rd_tile_fold *f)
{
    const rd_inst *inst = &m->p->inst[pc];
    rd_state_scan  a    = tile_of(m, f);

    a.memory = m->fold[inst->arg];
    a.x      = rd_tiles_dense(m, rd_tiles_view(m, inst->a));
    if (inst->b >= 0)
        a.w = weights(m, inst->b);
    if (inst->c >= 0) /* it has a mask */
        a.mask = rd_mask_dense(m, inst->c);
    a.y = rd_tiles_target(m, pc, inst->dst);
    if (f->mapping == RD_FOLD_COLUMNS)
        scan_columns(&a);
    else if (f->cell.col == 0 && a.step_col == 1)
        scan_along(&a);
    else
        scan_elements(&a);
    if (a.mask.at)
        rd_mask_clear_empty(m, f, a.memory, &a.y, &a.mask);
}
