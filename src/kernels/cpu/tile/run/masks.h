/* masks.h - elements that a mask leaves out of a fold or a scan. */
#ifndef RD_KERNELS_CPU_TILE_RUN_MASKS_H
#define RD_KERNELS_CPU_TILE_RUN_MASKS_H
#include "kernels/cpu/tile/run/updates.h"

/* The mask side by side, in a buffer of its own if it must be copied. */
rd_reg_view rd_mask_dense(rd_tiles *m, int32_t reg);
/* x in the spare buffer, with the identity for what is left out. */
rd_reg_view rd_mask_leave_out(rd_tiles *m, const rd_fold *fold, const rd_reg_view *x,
                              const rd_reg_view *mask);
/* Does an element of row r count? */
bool rd_mask_has_any(const rd_tiles *m, const rd_reg_view *mask, int64_t r);
/* Cells that meet an element of the tile that counts say so, and where places are looked for, which
 * was the first. */
void rd_mask_note_seen(const rd_tiles *m, const rd_tile_fold *f, char *memory,
                       const rd_fold_tile *t);
/* A scan's results y of cells that have met nothing so far become those of nothing. */
void rd_mask_clear_empty(const rd_tiles *m, const rd_tile_fold *f, char *memory,
                         const rd_reg_view *y, const rd_reg_view *mask);
#endif
