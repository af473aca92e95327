/* interleave_blocks.h - what interleave_blocks.c finds, and interleave_blocks_loops.c builds. */
#ifndef RD_KERNELS_PASS_INTERLEAVE_BLOCKS_H
#define RD_KERNELS_PASS_INTERLEAVE_BLOCKS_H
#include "kernels/loop/loop.h"

/* A loop over the steps of blocks of one fold. interleave_blocks.c fills all fields up to
 * `inner`; the rest is filled while loops are built. */
typedef struct rd_interleaving {
    rd_schedule *t;
    int32_t      fold, block, loop, step, ends; /* statements; `loop` is in `block` */
    int32_t      top;                    /* the loop to strip-mine: `block`, or that over rows */
    int64_t      n, steps;               /* interleaved blocks; steps of one block        */
    int64_t      row;                    /* elements of a row; 0: there is one row        */
    int32_t      axis, inner;            /* of `top`, and of `loop`                       */
    int32_t      first, number, at;      /* marks: first index of all blocks; the block's
                                                 * number; the step's number in its block        */
    int32_t      rows, elements, states; /* arrays: elements by block, by step; states */
} rd_interleaving;

/* Builds the loop over n blocks at a time. It stands before the loop over single blocks, which
 * keeps the tail. */
void rd_interleave_blocks(rd_interleaving *b);
#endif
