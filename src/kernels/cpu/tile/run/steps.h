/* steps.h - the ways in which the elements of a tile meet the states of a fold, which steps.c
 * chooses from. */
#ifndef RD_KERNELS_CPU_TILE_RUN_STEPS_H
#define RD_KERNELS_CPU_TILE_RUN_STEPS_H
#include "kernels/cpu/tile/run/arrivals.h"

/* steps.c: kernels read elements side by side; y may be none, one number a row, or lie in columns
 * (coly). */
void rd_step_dense(rd_tiles *m, rd_view *x, rd_view *y, int64_t coly);
/* runs.c */
void rd_take_runs(const rd_tiles *m, rd_arrival *a, const rd_fold_tile *t);
/* row_totals.c: of a STEP. */
void rd_take_totals(rd_tiles *m, int32_t pc);
#endif
