/* work_blocks.h - the work of a kernel in blocks, and what of a slot each touches. */
#ifndef RD_KERNELS_CUDA_WORK_BLOCKS_H
#define RD_KERNELS_CUDA_WORK_BLOCKS_H
#include "kernels/cuda/strategy.h"

/* A window begins as its slot does, at a multiple of 16 bytes. */
enum { RD_WINDOW_ROOM = 32, RD_BLOCK_AXES = 64 };

/* One of the indices by which work is numbered. */
typedef struct rd_block_index {
    int32_t axis;
    int64_t per;   /* indices of the axis in one value */
    int64_t count; /* values                           */
} rd_block_index;

/* A part of a kernel's work, and the block of it that is at hand.  Pieces are numbered by
 * index[0..level], the last of which runs fastest. */
typedef struct rd_cuda_blocks {
    const rd_cuda_strategy *s;
    int32_t                 split; /* the kernel: of which split loop; -1: `run` */
    int32_t                 n_index, level;
    rd_block_index          index[RD_MAX_GRID + 2];
    int64_t                 step;    /* pieces of a block, at most                  */
    int64_t                 at, end; /* the block's first piece; behind the part's  */
    bool                    ends;    /* what is stored behind split loops, is, by it  */
    int64_t lo[RD_BLOCK_AXES], hi[RD_BLOCK_AXES]; /* per axis, of the block at hand */
} rd_cuda_blocks;

/* Bytes of a slot from its base on. */
typedef struct rd_touched_bytes {
    int64_t lo, hi;
    bool    loaded, stored;
} rd_touched_bytes;

/* Blocks of at most `budget` bytes of the slots that are windowed (NULL: all are), of all work; in `least` pieces
 * that lie together, if there are so many.  The first one is at hand.  Why there are none, a part of a sentence;
 * NULL. */
const char *rd_blocks_find(rd_cuda_blocks *b, const rd_cuda_strategy *s, int32_t split,
                           const bool *windowed, int64_t budget, int64_t least);
/* Why not, of the first of a shape's kernels that has none; NULL: all have. */
const char *rd_blocks_refusal(const rd_cuda_strategy *s, const bool *windowed, int64_t budget);
/* In all work. */
int64_t rd_blocks_pieces(const rd_cuda_blocks *b);
/* Of all work, pieces [first, end) only, the first block of which is at hand; at most so many in a
 * block. */
void    rd_blocks_take(rd_cuda_blocks *b, int64_t first, int64_t end, int64_t most);
int64_t rd_blocks_count(const rd_cuda_blocks *b); /* from the one at hand on */
/* Of the block at hand: its work, [first, end), and what it touches of a slot. */
void             rd_blocks_work(const rd_cuda_blocks *b, int64_t *first, int64_t *end);
rd_touched_bytes rd_blocks_touch(const rd_cuda_blocks *b, int32_t slot);
/* The most bytes that a block touches of a slot. */
int64_t rd_blocks_most(const rd_cuda_blocks *b, int32_t slot);
/* Do blocks of all work copy little of what others copy, too?  Windows of columns hold all between
 * them. */
bool rd_blocks_are_lean(const rd_cuda_blocks *b);
/* All that a program touches of it. */
int64_t rd_slot_bytes(const rd_cuda_strategy *s, int32_t slot);
/* The next is at hand; false: that was the last. */
bool rd_blocks_next(rd_cuda_blocks *b);
#endif
