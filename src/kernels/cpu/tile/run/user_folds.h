/* user_folds.h - folds by users' reducers on tiles. */
#ifndef RD_KERNELS_CPU_TILE_RUN_USER_FOLDS_H
#define RD_KERNELS_CPU_TILE_RUN_USER_FOLDS_H
#include "kernels/cpu/tile/run/tile_task.h"

/* The memory of a fold.  Each row of a tile may have one fold of its own. */
int64_t rd_user_folds_bytes(const rd_fold *fold);
void    rd_user_folds_start(const rd_tiles *m, const rd_tile_fold *f, char *memory);
void    rd_user_folds_step(rd_tiles *m, int32_t pc, const rd_tile_fold *f, char *memory);
/* Writes the running results of a scan. */
void rd_user_folds_scan(rd_tiles *m, int32_t pc, const rd_tile_fold *f);
/* True if no further element can change the result. */
bool rd_user_folds_are_decided(const char *memory);
/* Writes the results of the cells from `first` on to y. */
void rd_user_folds_finish(const rd_tiles *m, const rd_tile_fold *f, char *memory, int64_t first,
                          const rd_tile_strides *w, const rd_reg_view *y);
void rd_user_folds_merge(char *into, const char *next);
#endif
