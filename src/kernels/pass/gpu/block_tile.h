/* block_tile.h - what the two files about block tiles share: reductions along both axes of an
 * array, in one read of it (block_tile.c). */
#ifndef RD_KERNELS_PASS_GPU_BLOCK_TILE_H
#define RD_KERNELS_PASS_GPU_BLOCK_TILE_H
#include "kernels/pass/gpu/gpu.h"

enum { RD_ROWS, RD_COLUMNS, RD_BLOCK_TILE_FOLDS = RD_GPU_MOST_FOLDS };

/* Arrays of two: of rows and of columns. */
typedef struct rd_block_tile {
    rd_schedule       *t;
    const rd_gpu_plan *plan;
    int32_t            item;             /* the innermost loop over items: its body is a tile    */
    int32_t            outer, inner;     /* the program's loops over rows and columns            */
    int32_t            axis[2];          /* the axes of these loops                              */
    int32_t            ranges[2];        /* the loops over tiles                                 */
    int32_t start_mark[2], stop_mark[2]; /* marks of the tile                             */
    int64_t size[2], n_tiles[2];         /* rows or columns of a tile; tiles along them   */
    int     of_outer;                    /* the outer loop goes over RD_ROWS or RD_COLUMNS */
    int32_t partials[RD_BLOCK_TILE_FOLDS]; /* per fold: the array of partials, -1     */
    bool    row[RD_BLOCK_TILE_FOLDS];      /* per fold: it reduces rows               */
} rd_block_tile;

/* block_tile_folds.c: gives a fold states for all rows, or all columns, of a tile. */
void rd_block_tile_give_states(const rd_block_tile *c, int32_t fold);
/* Removes the beginnings of folds and of blocks. */
void rd_block_tile_drop_begins(const rd_block_tile *c);
/* Lets the folds of rows (`row`), or those of columns, begin before a statement. */
void rd_block_tile_begin_before(const rd_block_tile *c, int32_t stmt, bool row);
/* Stores the partials of these folds at the end of a body. */
void rd_block_tile_store_partials(const rd_block_tile *c, int32_t body, bool row);
/* Adds the arrays of partials. */
void rd_block_tile_add_partials(rd_block_tile *c);
/* Lets the ends of folds in a body read the combined partials. */
void rd_block_tile_read_combined(const rd_block_tile *c, int32_t body);
/* Adds a statement that stores the fold's partials or combines them. */
int32_t rd_block_tile_add_stmt(const rd_block_tile *c, rd_stmt_kind kind, int32_t fold);
#endif
