/* tiles.h - programs run by every interpreter of this machine, and what they leave in memory
 * compared with what the scalar one leaves. */
#ifndef RD_TESTS_TILES_H
#define RD_TESTS_TILES_H
#include "isa.h"
#include "programs.h"

enum { TILE_SLOTS = 6 };

/* ORDINARY numbers neither overflow nor round to much else; UGLY ones are NaN, infinities, zeros of
 * both signs, the extremes of ints; FLAGS are 0 and 1; RARE ones, too, but hardly ever 1. */
typedef enum tile_data { ORDINARY, UGLY, FLAGS, RARE } tile_data;

/* The slots of a program, each as long as its elements. */
typedef struct tile_memory {
    int n;
    struct {
        rd_dtype type;
        int64_t  n;
        char    *data, *before, *want;
    } slot[TILE_SLOTS];
} tile_memory;

/* One more slot; its number. */
int32_t tile_slot(tile_memory *m, rd_dtype type, int64_t n, tile_data data);
/* An index in [0, n) in each element. */
int32_t tile_indices(tile_memory *m, rd_dtype type, int64_t count, int64_t n);
void    tile_free(tile_memory *m);

/* Runs the program in tasks [cut[t], cut[t + 1]), or in one if there are none.  Status, warnings
 * and all slots must be the same; NaN equals NaN.  on_tiles: the sets of kernels must run it, and
 * not hand it to the scalar interpreter. */
void tile_agree(builder *b, tile_memory *m, const int64_t *cut, int32_t tasks, bool on_tiles,
                const char *what);
#endif
