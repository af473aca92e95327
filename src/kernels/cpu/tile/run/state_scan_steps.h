/* state_scan_steps.h - the states of a scan by a reducer that no operator merges, and how its results
 * are made of them. */
#ifndef RD_KERNELS_CPU_TILE_RUN_STATE_SCAN_STEPS_H
#define RD_KERNELS_CPU_TILE_RUN_STATE_SCAN_STEPS_H
#include "kernels/cpu/tile/run/trees.h"

typedef enum rd_state_scan_which {
    RD_CURRENT_BLOCK,
    RD_BLOCKS_BEFORE,
    RD_N_STATE_SCAN
} rd_state_scan_which;

/* Places are those of the tile's first element.  An element r rows on is in the cell `cell_row` r
 * on, and likewise. */
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
/* A group of slots comes to a block. */
void rd_state_scan_enter_block(const rd_state_scan *a, int64_t group, int64_t block);
/* Elements (r, c .. c + n) are of step `at`: neighbouring slots take one each, by the kernels of
 * folds, and have their results; RD_SPARE at most. */
void rd_state_scan_step(const rd_state_scan *a, int64_t slot, int64_t at, int64_t r, int64_t c,
                        int64_t n);
#endif
