/* grouped_folds.h - folds by label: a STEP and a CLOSE of them. */
#ifndef RD_KERNELS_CPU_TILE_RUN_GROUPED_FOLDS_H
#define RD_KERNELS_CPU_TILE_RUN_GROUPED_FOLDS_H
#include "kernels/cpu/tile/run/tile_task.h"

void rd_grouped_folds_step(rd_tiles *m, int32_t pc, const rd_tile_fold *f, char *memory);
/* Results of cells first + r row + c col of walk w. */
void rd_grouped_folds_finish(const rd_tile_fold *f, char *memory, int64_t first, const rd_tiles *m,
                             const rd_tile_strides *w, const rd_reg_view *y);
#endif
