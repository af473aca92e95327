/* grouped_folds.h - group-by folds: their STEP and their CLOSE. */
#ifndef RD_KERNELS_CPU_TILE_RUN_GROUPED_FOLDS_H
#define RD_KERNELS_CPU_TILE_RUN_GROUPED_FOLDS_H
#include "kernels/cpu/tile/run/tile_task.h"

void rd_grouped_folds_step(rd_tiles *m, int32_t pc, const rd_tile_fold *f, char *memory);
/* Writes the results of cells first + r row + c col, with the strides w. */
void rd_grouped_folds_finish(const rd_tile_fold *f, char *memory, int64_t first, const rd_tiles *m,
                             const rd_tile_strides *w, const rd_reg_view *y);
#endif
