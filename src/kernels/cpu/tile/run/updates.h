/* updates.h - elements of a tile on their way into the states of a fold.
 *
 *   STEP -steps.c-> which elements of the tile are neighbours, and whose -updates.c-> block by
 *        block into the tree -exact.c-> what a row comes to, where any order gives the same bits */
#ifndef RD_KERNELS_CPU_TILE_RUN_UPDATES_H
#define RD_KERNELS_CPU_TILE_RUN_UPDATES_H
#include "kernels/cpu/tile/run/trees.h"

/* Rows of elements for neighbouring states: where they go, and what they are. */
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
    int64_t             at;            /* number of the first row's step  */
    rd_fold_rows        q;
} rd_update;

/* What a STEP takes: its operands, and the places of the first element. */
typedef struct rd_fold_tile {
    rd_reg_view x, y, mask;
    int64_t     lane, outer, cell, index; /* of the first element */
} rd_fold_tile;

/* Elements from (r, c) of the tile on, for the states of their cell. */
void rd_update_place(rd_update *a, const rd_fold_tile *t, int64_t r, int64_t c);
/* n states from `offset` on take `rows` rows of one block; fresh ones begin with the first. */
void rd_update_states(const rd_update *a, int64_t offset, int64_t n, int64_t rows, bool fresh);
/* Rows of the arrival are steps along a row of the tile. */
void rd_update_by_steps(rd_update *a);
/* Row after row of a->q.n elements, each a step of the states from a->offset on. */
void rd_update_rows(rd_update *a, int64_t rows);
/* Steps of one block for cells that keep step, the next one's elements `x` and `y` further on;
 * false: not by a kernel. */
bool rd_update_cells(const rd_update *a, int64_t cells, int64_t x, int64_t y);
/* n neighbours along the lane position, of as many cells as lie beside each other; `lane` counts
 * them all. */
void rd_update_along(rd_update *a, int64_t n, int64_t lane, int64_t outer);
/* What any element replaces; of floats, adding -0 keeps 0 and -0 as they are. */
rd_word rd_fold_identity(const rd_fold *fold);

/* n states that no element has come to. */
void rd_fill_identity(const rd_tile_fold *f, int64_t n, void *const *s);

/* exact.c */
void rd_update_best(rd_tiles *m, rd_update *a, const rd_fold_tile *t);
void rd_update_counts(rd_tiles *m, rd_update *a, const rd_fold_tile *t, rd_simd_count_if *test);
void rd_update_small_ints(rd_tiles *m, rd_update *a, const rd_fold_tile *t,
                          const rd_tile_strides *w);
#endif
