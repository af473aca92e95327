/* state_scan_steps.h - the states of a scan by a reducer that no operator merges, and its steps. */
#ifndef RD_KERNELS_CPU_TILE_RUN_STATE_SCAN_STEPS_H
#define RD_KERNELS_CPU_TILE_RUN_STATE_SCAN_STEPS_H
#include "kernels/cpu/tile/run/trees.h"

typedef enum rd_state_scan_which {
    RD_CURRENT_BLOCK,
    RD_BLOCKS_BEFORE,
    RD_N_STATE_SCAN
} rd_state_scan_which;

/* A scan's operands on a tile.  Numbers are those of the tile's first element; an element r rows on
 * is in the cell r cell_row on, and likewise for steps. */
typedef struct rd_state_scan {
    const rd_tiles        *m;
    const rd_tile_fold    *f;
    const rd_running_code *kernels;
    char                  *memory;
    rd_reg_view            x, w, mask, y;
    int64_t                cell, step, index, cell_row, step_row, step_col;
} rd_state_scan;

void rd_state_scan_states(const rd_tile_fold *f, char *memory, rd_state_scan_which which,
                          int64_t slot, void **s);
/* Ends the current block of a group of slots, if it is another one, and enters this one. */
void rd_state_scan_enter_block(const rd_state_scan *a, int64_t group, int64_t block);
/* Updates n neighbouring slots with one step, elements (r, c .. c + n), by the kernels of folds,
 * and writes their results. n is at most RD_SPARE. */
void rd_state_scan_step(const rd_state_scan *a, int64_t slot, int64_t at, int64_t r, int64_t c,
                        int64_t n);
#endif
