/* updates.h - updates of accumulators: the elements of a tile on their way into the states of a
 * fold.
 *
 *   STEP -steps.c-> which elements of the tile update neighbouring states -updates.c-> block by
 *        block into the tree -exact.c-> one value per row, where any order gives the same bits */
#ifndef RD_KERNELS_CPU_TILE_RUN_UPDATES_H
#define RD_KERNELS_CPU_TILE_RUN_UPDATES_H
#include "kernels/cpu/tile/run/trees.h"

/* An update: rows of elements for neighbouring states of one group. */
typedef struct rd_update {
    const rd_tile_fold *f;
    char               *memory;
    rd_simd_cells      *cells;  /* NULL: none                                               */
    rd_simd_block      *blocks; /* likewise                                                 */
    rd_simd_rows       *step;   /* of the reducer, with a mask, or with a map fused into it; these
                                 * begin with an identity */
    bool                fused;
    int64_t             size;          /* bytes of an element that comes  */
    int64_t             group, offset; /* of the first state in its group */
    int64_t             first_step;    /* number of the first row's step  */
    rd_fold_rows        q;
} rd_update;

/* The operands of a STEP, and the lane, block, cell and index numbers of its first element. */
typedef struct rd_fold_tile {
    rd_reg_view x, y, mask;
    int64_t     lane, lane_line, cell, index; /* of the first element */
} rd_fold_tile;

/* Sets where the elements from (r, c) of the tile on are, and which states they update. */
void rd_update_place(rd_update *a, const rd_fold_tile *t, int64_t r, int64_t c);
/* Updates n states from `offset` on with `rows` rows of one block; fresh states begin with the
 * first row. */
void rd_update_states(const rd_update *update, int64_t offset, int64_t n, int64_t rows, bool fresh);
/* Makes each row of the update one step of all lanes along a row of the tile. */
void rd_update_by_steps(rd_update *a);
/* Updates the states from a->offset on with `rows` rows, one after the other; each is a step of
 * a->q.n states. */
void rd_update_rows(rd_update *a, int64_t rows);
/* Updates `cells` cells in lockstep within one block; the elements of the next cell are x and y
 * further on.  False if there is no kernel. */
bool rd_update_cells(const rd_update *a, int64_t cells, int64_t x, int64_t y);
/* Updates states with n neighbours along the lane position, of all interleaved cells; `lane` counts
 * lanes of all cells. */
void rd_update_along(rd_update *a, int64_t n, int64_t lane, int64_t line);
/* The identity of a reducer, which any element replaces.  For floats it is -0, as adding -0 keeps
 * both 0 and -0. */
rd_word rd_fold_identity(const rd_fold *fold);

/* Sets n states to the identity. */
void rd_fill_identity(const rd_tile_fold *f, int64_t n, void *const *s);

/* exact.c */
void rd_update_best(rd_tiles *m, rd_update *a, const rd_fold_tile *t);
void rd_update_counts(rd_tiles *m, rd_update *a, const rd_fold_tile *t, rd_simd_count_if *test);
void rd_update_small_ints(rd_tiles *m, rd_update *a, const rd_fold_tile *t,
                          const rd_tile_strides *w);
#endif
