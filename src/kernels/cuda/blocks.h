/* blocks.h - the work of a kernel in blocks, and what of a slot each touches. */
#ifndef RD_KERNELS_CUDA_BLOCKS_H
#define RD_KERNELS_CUDA_BLOCKS_H
#include "kernels/cuda/shape.h"

/* A window begins as its slot does, at a multiple of 16 bytes. */
enum { RD_WINDOW_ROOM = 32, RD_BLOCK_AXES = 64 };

/* One of the indices by which work is numbered. */
typedef struct rd_block_index {
    int32_t axis;
    int64_t per;   /* indices of the axis in one value     */
    int64_t count; /* values                               */
    int64_t at;    /* of the block at hand: the first one's */
} rd_block_index;

typedef struct rd_cuda_blocks {
    const rd_cuda_shape *s;
    int32_t              cut; /* the kernel: of which cut loop; -1: `run` */
    int32_t              n_index, level;
    rd_block_index       index[RD_MAX_GRID + 2];
    int64_t              step;                    /* values of index[level] in a block */
    int64_t lo[RD_BLOCK_AXES], hi[RD_BLOCK_AXES]; /* per axis, of the block at hand   */
} rd_cuda_blocks;

/* Bytes of a slot from its base on. */
typedef struct rd_touched {
    int64_t lo, hi;
    bool    loaded, stored;
} rd_touched;

/* Blocks of at most `budget` bytes of the slots that are windowed; the first one is at hand.
 * False: there are none. */
bool rd_blocks_find(rd_cuda_blocks *b, const rd_cuda_shape *s, int32_t cut, const bool *windowed,
                    int64_t budget);
/* Are there such for all kernels of a shape? */
bool    rd_blocks_suffice(const rd_cuda_shape *s, const bool *windowed, int64_t budget);
int64_t rd_blocks_count(const rd_cuda_blocks *b);
/* Of the block at hand: its work, [first, end), and what it touches of a slot. */
void       rd_blocks_work(const rd_cuda_blocks *b, int64_t *first, int64_t *end);
rd_touched rd_blocks_touch(const rd_cuda_blocks *b, int32_t slot);
/* The most bytes that a block touches of a slot. */
int64_t rd_blocks_most(const rd_cuda_blocks *b, int32_t slot);
/* All that a program touches of it. */
int64_t rd_slot_bytes(const rd_cuda_shape *s, int32_t slot);
/* The next is at hand; false: that was the last. */
bool rd_blocks_next(rd_cuda_blocks *b);
#endif
