/* work_blocks.h - the work of a kernel in blocks, and the bytes of each slot that a block
 * touches. */
#ifndef RD_KERNELS_CUDA_WORK_BLOCKS_H
#define RD_KERNELS_CUDA_WORK_BLOCKS_H
#include "kernels/cuda/strategy.h"

/* A window begins like its slot, at a multiple of 16 bytes; so it needs up to 32 bytes more. */
enum { RD_WINDOW_ROOM = 32, RD_BLOCK_AXES = 64 };

/* One of the indices that number the work of a kernel. */
typedef struct rd_block_index {
    int32_t axis;  /* of the program */
    int64_t per;   /* indices of the axis that one value covers */
    int64_t count; /* values                                    */
} rd_block_index;

/* A part of a kernel's work, and the current block of it.  index[0..level] number the pieces of
 * work; the last one of them runs fastest. */
typedef struct rd_cuda_blocks {
    const rd_cuda_strategy *s;
    int32_t                 split; /* the kernel: that of this split loop; -1: `run`              */
    int32_t        n_index, level; /* indices of the work; the one that blocks divide             */
    rd_block_index index[RD_MAX_GRID + 2]; /* the outermost one first */
    int64_t        step;    /* pieces of a block, at most                                  */
    int64_t        at, end; /* first piece of the current block; end of the part           */
    bool           ends;    /* the part also runs what is behind the split loops           */
    int64_t lo[RD_BLOCK_AXES], hi[RD_BLOCK_AXES]; /* indices of the current block, per axis      */
} rd_cuda_blocks;

/* The bytes [lo, hi) of a slot, counted from its base. */
typedef struct rd_touched_bytes {
    int64_t lo, hi;
    bool    loaded, stored; /* by any instruction */
} rd_touched_bytes;

/* Divides all work into blocks that touch at most `budget` bytes of the windowed slots (NULL: all
 * slots), and into at least `least` pieces if there are so many.  The first block is current
 * then. Returns the reason, a part of a sentence, if there are no blocks; else NULL. */
const char *rd_blocks_find(rd_cuda_blocks *b, const rd_cuda_strategy *s, int32_t split,
                           const bool *windowed, int64_t budget, int64_t least);
/* The reason of the first kernel that has no blocks; NULL: all kernels have blocks. */
const char *rd_blocks_refusal(const rd_cuda_strategy *s, const bool *windowed, int64_t budget);
/* The pieces of all work. */
int64_t rd_blocks_pieces(const rd_cuda_blocks *b);
/* Restricts the work to pieces [first, end), at most `most` in a block.  The first block is
 * current then. */
void    rd_blocks_take(rd_cuda_blocks *b, int64_t first, int64_t end, int64_t most);
int64_t rd_blocks_count(const rd_cuda_blocks *b); /* from the current one on */
/* The work [first, end) of the current block; and the bytes that it touches of a slot. */
void             rd_blocks_work(const rd_cuda_blocks *b, int64_t *first, int64_t *end);
rd_touched_bytes rd_blocks_touch(const rd_cuda_blocks *b, int32_t slot);
/* The most bytes that any block touches of a slot. */
int64_t rd_blocks_most(const rd_cuda_blocks *b, int32_t slot);
/* True if the blocks of all work copy few bytes twice.  (A window on columns contains everything
 * between the columns.) */
bool rd_blocks_are_lean(const rd_cuda_blocks *b);
/* The bytes that a program touches of a slot. */
int64_t rd_slot_bytes(const rd_cuda_strategy *s, int32_t slot);
/* Makes the next block current; false: there is none. */
bool rd_blocks_next(rd_cuda_blocks *b);
#endif
