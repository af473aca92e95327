/* masks.h - masked folds and scans: elements that a mask leaves out. */
#ifndef RD_KERNELS_CPU_TILE_RUN_MASKS_H
#define RD_KERNELS_CPU_TILE_RUN_MASKS_H
#include "kernels/cpu/tile/run/updates.h"

/* The mask with contiguous columns, copied to a buffer of its own if necessary. */
rd_reg_view rd_mask_dense(rd_tiles *m, int32_t reg);
/* Copies x to the spare buffer, with the identity in place of masked elements. */
rd_reg_view rd_mask_leave_out(rd_tiles *m, const rd_fold *fold, const rd_reg_view *x,
                              const rd_reg_view *mask);
/* True if the mask has any true element in row r. */
bool rd_mask_has_any(const rd_tiles *m, const rd_reg_view *mask, int64_t r);
/* Notes which cells have had an unmasked element, and the first index of such an element where
 * places are looked for. */
void rd_mask_note_seen(const rd_tiles *m, const rd_tile_fold *f, char *memory,
                       const rd_fold_tile *t);
/* Sets results y of a scan to the result of no elements, for cells that have had no unmasked
 * element. */
void rd_mask_clear_empty(const rd_tiles *m, const rd_tile_fold *f, char *memory,
                         const rd_reg_view *y, const rd_reg_view *mask);
#endif
