/* views.h - views of registers and memory for the instructions of a tile.
 *
 * The strides row and col of a view are in elements, from row to row and from column to column; col
 * is 0 if one element holds for the whole row. */
#ifndef RD_KERNELS_CPU_TILE_RUN_VIEWS_H
#define RD_KERNELS_CPU_TILE_RUN_VIEWS_H
#include "kernels/cpu/tile/run/tile_task.h"

/* True if the rows of the tile follow each other just as its columns do, so that kernels can take
 * them as one run of elements. row and col are the strides of its elements from row to row and from
 * column to column. */
static inline bool rd_is_one_run(const rd_tiles *m, int64_t row, int64_t col)
{
    return m->rows == 1 || row == m->cols * col;
}

/* True if all elements of the tile are contiguous in a view: row after row without gaps. */
static inline bool rd_is_flat(const rd_tiles *m, const rd_reg_view *v)
{
    return v->col == 1 && rd_is_one_run(m, v->row, 1);
}

/* True if one element holds for the whole tile (both strides are 0, or there is one row). */
static inline bool rd_is_uniform(const rd_tiles *m, const rd_reg_view *v)
{
    return v->col == 0 && (m->rows == 1 || v->row == 0);
}

/* A tile as kernels take it: n runs of `each` contiguous elements.  Short rows cost more than their
 * elements, so contiguous rows become one run. */
typedef struct rd_runs {
    int64_t n, each;
} rd_runs;

/* Returns the runs (contiguous stretches that one kernel call takes) of a tile: one if all rows are
 * contiguous (`one`), else one for each row. */
static inline rd_runs rd_runs_of(const rd_tiles *m, bool one)
{
    return one ? (rd_runs){ 1, m->rows * m->cols } : (rd_runs){ m->rows, m->cols };
}

/* Returns the memory at an address as a view, for a register that is the memory itself. */
static inline rd_reg_view rd_memory_view(const rd_tiles *m, const rd_tile_strides *w, rd_elem elem)
{
    return (rd_reg_view){ rd_tiles_memory(m, w), w->row, w->col, elem };
}

#endif
