/* operator_scans.h - scans by reducers that are one operator, which takes elements and merges
 * states. */
#ifndef RD_KERNELS_CPU_TILE_RUN_OPERATOR_SCANS_H
#define RD_KERNELS_CPU_TILE_RUN_OPERATOR_SCANS_H
#include "kernels/cpu/tile/run/tile_task.h"

void rd_operator_scan_size(rd_tile_fold *f);
void rd_operator_scan_start(const rd_tile_fold *f, char *memory, int64_t group);
void rd_operator_scan_run(rd_tiles *m, int32_t pc);
#endif
