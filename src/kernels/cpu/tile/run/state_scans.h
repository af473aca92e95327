/* state_scans.h - scans by reducers that no operator merges. */
#ifndef RD_KERNELS_CPU_TILE_RUN_STATE_SCANS_H
#define RD_KERNELS_CPU_TILE_RUN_STATE_SCANS_H
#include "kernels/cpu/tile/run/tile_task.h"

void rd_state_scan_size(rd_tile_fold *f);
void rd_state_scan_start(const rd_tile_fold *f, char *memory, int64_t group);
void rd_state_scan_run(rd_tiles *m, int32_t pc, const rd_tile_fold *f);
#endif
