/* scans.h - scans by reducers whose steps an operator takes, which merges as well. */
#ifndef RD_KERNELS_CPU_TILE_RUN_SCANS_H
#define RD_KERNELS_CPU_TILE_RUN_SCANS_H
#include "kernels/cpu/tile/run/tiles.h"

void rd_scans_size(rd_tile_fold *f);
void rd_scans_start(const rd_tile_fold *f, char *memory, int64_t group);
void rd_scans_scan(rd_tiles *m, int32_t pc);
#endif
