/* users.h - users' reducers on tiles. */
#ifndef RD_KERNELS_CPU_TILE_RUN_USERS_H
#define RD_KERNELS_CPU_TILE_RUN_USERS_H
#include "kernels/cpu/tile/run/tiles.h"

/* Of one fold; a row of a tile may have one of its own. */
int64_t rd_users_bytes(const rd_fold *fold);
void    rd_users_start(const rd_tiles *m, const rd_tile_fold *f, char *memory);
void    rd_users_step(rd_tiles *m, int32_t pc, const rd_tile_fold *f, char *memory);
/* A scan's results so far. */
void rd_users_scan(rd_tiles *m, int32_t pc, const rd_tile_fold *f);
/* Does no element that is left count? */
bool rd_users_settled(const char *memory);
/* Cells from `first` on become elements of y. */
void rd_users_close(const rd_tiles *m, const rd_tile_fold *f, char *memory, int64_t first,
                    const rd_tile_walk *w, const rd_view *y);
void rd_users_join(char *into, const char *next);
#endif
