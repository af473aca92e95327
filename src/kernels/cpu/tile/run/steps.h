/* steps.h - the updates by STEP that have files of their own; steps.c chooses among them. */
#ifndef RD_KERNELS_CPU_TILE_RUN_STEPS_H
#define RD_KERNELS_CPU_TILE_RUN_STEPS_H
#include "kernels/cpu/tile/run/updates.h"

/* lane_rows.c */
void rd_update_lane_rows(const rd_tiles *m, rd_update *a, const rd_fold_tile *t);
/* row_totals.c: of a STEP. */
void rd_update_totals(rd_tiles *m, int32_t pc);
#endif
