/* steps.h - the ways in which the elements of a tile meet the states of a fold, which steps.c
 * chooses from. */
#ifndef RD_KERNELS_CPU_TILE_RUN_STEPS_H
#define RD_KERNELS_CPU_TILE_RUN_STEPS_H
#include "kernels/cpu/tile/run/arrivals.h"

/* runs.c */
void rd_take_runs(const rd_tiles *m, rd_arrival *a, const rd_fold_tile *t);
/* row_totals.c: of a STEP. */
void rd_take_totals(rd_tiles *m, int32_t pc);
#endif
