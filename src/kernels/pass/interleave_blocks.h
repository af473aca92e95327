/* interleave_blocks.h - what interleave_blocks.c finds, and interleave_blocks_loops.c makes of it. */
#ifndef RD_KERNELS_PASS_INTERLEAVE_BLOCKS_H
#define RD_KERNELS_PASS_INTERLEAVE_BLOCKS_H
#include "kernels/loop/loop.h"

/* A loop over the steps of blocks of one fold, and what is made of it. */
typedef struct rd_interleaving {
    rd_schedule *t;
    int32_t      fold, block, loop, step, ends; /* statements; loop: the one in `block`          */
    int32_t      top;                           /* the loop to cut: `block`, or that over rows   */
    int64_t      n, steps;                      /* blocks beside each other; steps of one        */
    int64_t      row;                           /* elements of a row; 0: all are one             */
    int32_t      axis, inner;                   /* of `top`, and of `loop`                       */
    int32_t      first, number, at;             /* marks: the first index of all blocks; which of
                                                 * them; which of its steps                      */
    int32_t      rows, elements, states; /* arrays: elements of each block, and of each step */
} rd_interleaving;

/* The loop over so many blocks, before the one over single blocks, which takes what is left. */
void rd_interleave_blocks(rd_interleaving *b);
#endif
