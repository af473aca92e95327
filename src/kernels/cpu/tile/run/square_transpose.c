/* square_transpose.c - squares of a tile between memory and buffers, transposed in registers
 * (simd/transpose.h), and copies from memory to memory.  plan/square_tiles.c says which loops have
 * them.
 *
 * Fields. Strides .row and .col say how far a position moves from row to row and from column to
 * column. */
#include "kernels/cpu/tile/run/tile_task.h"
#include <string.h>

/* Columns of a square that are transposed between two rounds of prefetching.  A core cannot wait
 * for more cache lines at once. */
enum { STRIP = 16 };

/* Limits the rows of a square tile, so that none goes beyond the current block (64 steps) of any
 * fold with a cell (result) for each column: other columns of that block are still to come. Returns
 * at most `rows`. It passes over folds outside of such tiles (in_square), with other lane mappings,
 * or whose rows are not successive steps (each <= 0). */
int64_t rd_tiles_rows_of_block(const rd_tiles *m, int64_t rows)
{
    for (int32_t k = 0; k < m->p->n_fold; k++) {
        const rd_tile_fold *f = &m->code->fold[k];
        /* steps from row to row of the tile; steps of a block */
        const int64_t each = f->lane_line.row * f->row_steps + f->lane.row, steps = f->fold->steps;
        int64_t       left; /* steps that are left in the block */

        if (!f->in_square || f->mapping != RD_FOLD_COLUMNS || each <= 0)
            continue;
        left = steps - (rd_tiles_position(m, f->lane_line.at) * f->row_steps +
                        rd_tiles_position(m, f->lane.at)) %
                           steps;
        rows = rows < left / each + (left % each != 0) ? rows : left / each + (left % each != 0);
    }
    return rows;
}

/* Prefetches rows [first, last) of the squares below this one, of the other operands: for the LOADs
 * that are prefetched along with instruction pc (a list). A cache line has 64 bytes; the arguments
 * 0 and 2 ask for reading, into the second-level cache. */
static void prefetch(const rd_tiles *m, int32_t pc, int64_t first, int64_t last)
{
    for (int32_t k = m->code->inst[pc].next_prefetch; k >= 0; k = m->code->inst[k].next_prefetch) {
        const rd_tile_strides *w     = &m->code->inst[k].strides;
        const char            *below = rd_tiles_memory(m, w) + m->rows * w->row * w->size;

        for (int64_t r = first; r < last; r++)
            for (int64_t line = 0; line < m->cols * w->size; line += 64)
                __builtin_prefetch(below + r * w->row * w->size + line, 0, 2);
    }
}

/* Transposes columns [c, c + n) of the square at instruction pc: a LOAD from memory to `tile`, a
 * STORE from `tile` to memory. Rows of `tile` are `ld` elements apart. Rows of the tile are
 * adjacent in memory (w->row is 1 or -1), columns are w->col apart. The kernel's arguments are n,
 * m, y, ldy, x, ldx, ahead: y[i ldy + j] = x[j ldx + i], and elements `ahead` of x are prefetched
 * (0: none). */
static void transpose(const rd_tiles *m, int32_t pc, rd_simd_transpose *kernel, char *tile,
                      int64_t ld, int64_t c, int64_t n)
{
    const rd_tile_inst    *t = &m->code->inst[pc];
    const rd_tile_strides *w = &t->strides;
    /* rows that lie backwards are taken backwards */
    const int64_t last   = w->row < 0 ? m->rows - 1 : 0;
    char         *memory = rd_tiles_memory(m, w) + (c * w->col - last) * w->size;

    tile += (c + last * ld) * w->size;
    ld = ld * w->row;
    if (m->p->inst[pc].kind == RD_I_LOAD)
        kernel(m->rows, n, tile, ld, memory, w->col, t->prefetches ? m->rows * w->row : 0);
    else
        kernel(n, m->rows, memory, w->col, tile, ld, /*ahead=*/0);
}

/* Transposes all columns of the square at instruction pc between memory and `tile`, some at a time,
 * and prefetches parts of the next squares between them. Squares of few rows take more columns at a
 * time, so that about as many elements lie between two prefetches. Of the next squares as large a
 * part is prefetched as of this one is done. */
static void transpose_all(const rd_tiles *m, int32_t pc, char *tile, int64_t ld)
{
    const int64_t columns = m->rows < RD_SQUARE ? STRIP * RD_SQUARE / m->rows : STRIP;

    for (int64_t c = 0, n; c < m->cols; c += n) {
        n = m->cols - c < columns ? m->cols - c : columns;
        transpose(m, pc, m->code->simd->transpose[m->code->inst[pc].strides.size], tile, ld, c, n);
        prefetch(m, pc, c * m->rows / m->cols, (c + n) * m->rows / m->cols);
    }
}

/* LOAD whose operand lies transposed: transposes a square of memory into y, by way of the spare
 * buffer if elements are converted. */
void rd_tiles_transpose_load(const rd_tiles *m, int32_t pc, const rd_reg_view *y)
{
    const rd_tile_strides *w    = &m->code->inst[pc].strides;
    const bool             same = rd_elem_size(y->elem) == w->size && w->at->type != RD_BOOL;
    char *const            to   = same ? y->at : m->spare;

    transpose_all(m, pc, to, same ? y->row : m->cols);
    for (int64_t r = 0; r < m->rows && !same; r++)
        m->code->simd->load[w->at->type](m->cols, rd_view_at(y, r, 0), to + r * m->cols * w->size,
                                         /*stride=*/1);
}

/* STORE whose operand lies transposed: transposes x into a square of memory, by way of a spare
 * buffer if elements are converted. */
void rd_tiles_transpose_store(const rd_tiles *m, int32_t pc, const rd_reg_view *x)
{
    const rd_tile_strides *w    = &m->code->inst[pc].strides;
    const bool             same = rd_elem_size(x->elem) == w->size;
    char *const            from = same ? x->at : rd_tiles_second_spare(m);

    for (int64_t r = 0; r < m->rows && !same; r++)
        m->code->simd->store[w->at->type](m->cols, from + r * m->cols * w->size, /*stride=*/1,
                                          rd_view_at(x, r, 0));
    transpose_all(m, pc, from, same ? x->row : m->cols);
}

/* Returns the view of the operand of a STEP whose kernel transposes it itself: as it lies in
 * memory. Sets in q how far its columns are apart, and how many rows further down are prefetched
 * (0: none). `load` is the LOAD that was skipped. In the view rows are adjacent (row is 1); the
 * kernel takes the columns' stride from q. */
rd_reg_view rd_tiles_transposed_operand(const rd_tiles *m, int32_t load, rd_fold_rows *q)
{
    const rd_tile_inst *t = &m->code->inst[load];

    q->coly  = t->strides.col;
    q->below = t->prefetches ? m->rows : 0;
    if (t->strides.at->slot < m->p->first_scratch) /* not scratch */
        m->task->loads += m->rows * m->cols;
    return (rd_reg_view){ rd_tiles_memory(m, &t->strides), 1, 0,
                          m->code->reg[m->p->inst[load].dst].elem };
}

/* ---- From memory to memory ------------------------------------------------------------------- */
/* Copies the rows of a tile, `ld` elements apart at `from`, to the memory of a STORE; as one run if
 * they are contiguous on both sides. */
static void copy_rows(const rd_tiles *m, const rd_tile_inst *t, const char *from, int64_t ld)
{
    const rd_tile_strides *w     = &t->strides;
    const bool             one   = ld == m->cols && w->row == m->cols;
    char                  *to    = rd_tiles_memory(m, w);
    const int64_t          bytes = (one ? m->rows : 1) * m->cols * w->size;

    for (int64_t r = 0; r < (one ? 1 : m->rows); r++, from += ld * w->size, to += w->row * w->size)
        if (t->nontemporal)
            m->code->simd->copy_nontemporal(bytes, to, from);
        else
            memmove(to, from, (size_t)bytes);
}

/* STORE of a value that is only loaded (by LOAD number `load`), whose columns lie in rows of
 * memory: copies them transposed.  Non-temporal stores go straight from registers if cache lines
 * are aligned, else by way of the spare buffer.  A cache line has 64 bytes.  There may be no
 * non-temporal kernel for this size (NULL). */
static void copy_transposed(const rd_tiles *m, const rd_tile_inst *t, int32_t load)
{
    const rd_tile_strides *w           = &t->strides;
    rd_simd_transpose     *nontemporal = m->code->simd->transpose_nontemporal[w->size];
    char                  *to          = rd_tiles_memory(m, w);

    if (!t->nontemporal)
        transpose_all(m, load, to, w->row);
    else if (nontemporal && ((uintptr_t)to | (uintptr_t)(w->row * w->size)) % 64 == 0)
        transpose(m, load, nontemporal, to, w->row, /*c=*/0, m->cols);
    else {
        transpose_all(m, load, m->spare, m->cols);
        copy_rows(m, t, m->spare, m->cols);
    }
}

/* STORE of a value that is loaded only for it: copies from memory to memory, in rows or transposed
 * on one side. */
void rd_tiles_copy_memory(rd_tiles *m, int32_t pc)
{
    const rd_tile_inst *t    = &m->code->inst[pc];
    const rd_tile_inst *load = &m->code->inst[t->copied_load];
    char *const         from = rd_tiles_memory(m, &load->strides);

    if (load->strides.at->slot < m->p->first_scratch) /* not scratch */
        m->task->loads += m->rows * m->cols;
    if (t->transposes)
        transpose_all(m, pc, from, load->strides.row);
    else if (load->transposes)
        copy_transposed(m, t, t->copied_load);
    else
        copy_rows(m, t, from, load->strides.row);
}
