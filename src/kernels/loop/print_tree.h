/* print_tree.h - shared by print_tree.c and print_parts.c: parts of a tree as text. */
#ifndef RD_KERNELS_LOOP_PRINT_TREE_H
#define RD_KERNELS_LOOP_PRINT_TREE_H
#include "kernels/loop/loop.h"

/* "s0[i1 + 3000*i0]", "a3[i0 - m0]" */
void rd_memory_text(rd_text *to, const rd_schedule *t, int32_t slot, int32_t store,
                    const rd_linear *at);
/* "serial i0 of 64 to 3000 down to 0 + 64 k by 64, starts m0, stops m1" */
void rd_loop_text(rd_text *to, const rd_schedule *t, const rd_for *loop);
/* "r3 = choice f32 r0, r1, r2" */
void rd_let_text(rd_text *to, const rd_schedule *t, int32_t value);
#endif
