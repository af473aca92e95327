/* user_folds.h - users' reducers on tiles. */
#ifndef RD_KERNELS_CPU_TILE_RUN_USER_FOLDS_H
#define RD_KERNELS_CPU_TILE_RUN_USER_FOLDS_H
#include "kernels/cpu/tile/run/tile_task.h"

/* Of one fold; a row of a tile may have one of its own. */
int64_t rd_user_folds_bytes(const rd_fold *fold);
void    rd_user_folds_start(const rd_tiles *m, const rd_tile_fold *f, char *memory);
void    rd_user_folds_step(rd_tiles *m, int32_t pc, const rd_tile_fold *f, char *memory);
/* A scan's results so far. */
void rd_user_folds_scan(rd_tiles *m, int32_t pc, const rd_tile_fold *f);
/* Does no element that is left count? */
bool rd_user_folds_are_decided(const char *memory);
/* Cells from `first` on become elements of y. */
void rd_user_folds_finish(const rd_tiles *m, const rd_tile_fold *f, char *memory, int64_t first,
                          const rd_tile_strides *w, const rd_reg_view *y);
void rd_user_folds_merge(char *into, const char *next);
#endif
