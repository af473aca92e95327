/* block_tile.h - what becomes of folds of rows and of columns: see block_tile.c. */
#ifndef RD_KERNELS_PASS_GPU_BLOCK_TILE_H
#define RD_KERNELS_PASS_GPU_BLOCK_TILE_H
#include "kernels/pass/gpu/gpu.h"

enum { RD_ROWS, RD_COLUMNS, RD_BLOCK_TILE_FOLDS = RD_GPU_MOST_FOLDS };

typedef struct rd_block_tile {
    rd_schedule       *t;
    const rd_gpu_plan *plan;
    int32_t            item;         /* whose body an item is                        */
    int32_t            outer, inner; /* loops, of which one is in the other          */
    int32_t            axis[2];      /* along which rows and columns are counted     */
    int32_t            ranges[2];    /* loops over patches along these               */
    int32_t            start[2], stop[2];
    int64_t            size[2], n_tiles[2];
    int                of_outer; /* whether rows or columns are counted by the outer loop */
    int32_t            left[RD_BLOCK_TILE_FOLDS]; /* per fold: the array of nodes, -1             */
    bool               row[RD_BLOCK_TILE_FOLDS];  /* has the fold lanes along the columns?        */
} rd_block_tile;

/* block_tile_folds.c.  Of a fold that began anew for each row, or column, all of a patch have states. */
void rd_block_tile_give_states(const rd_block_tile *c, int32_t fold);
/* What is not of a patch goes: beginnings, and blocks that open. */
void rd_block_tile_drop_begins(const rd_block_tile *c);
/* Folds of rows, or of columns, begin before a statement; leave their nodes at the end of a body. */
void rd_block_tile_begin_before(const rd_block_tile *c, int32_t stmt, bool row);
void rd_block_tile_store_partials(const rd_block_tile *c, int32_t body, bool row);
/* Arrays of nodes; what ends in a body is read from these. */
void    rd_block_tile_add_partials(rd_block_tile *c);
void    rd_block_tile_read_combined(const rd_block_tile *c, int32_t body);
int32_t rd_block_tile_add_stmt(const rd_block_tile *c, rd_stmt_kind kind, int32_t fold);
#endif
