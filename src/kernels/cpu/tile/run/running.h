/* running.h - scans by reducers that no operator merges. */
#ifndef RD_KERNELS_CPU_TILE_RUN_RUNNING_H
#define RD_KERNELS_CPU_TILE_RUN_RUNNING_H
#include "kernels/cpu/tile/run/tiles.h"

void rd_running_size(rd_tile_fold *f);
void rd_running_start(const rd_tile_fold *f, char *memory, int64_t group);
void rd_running_scan(rd_tiles *m, int32_t pc, const rd_tile_fold *f);
#endif
