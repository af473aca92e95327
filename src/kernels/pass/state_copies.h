/* state_copies.h - states that are held near: around a loop they lie in a local array, where its steps
 * find them.
 *
 *     array a1                 the array
 *     near f0 cell 0, a1       it takes the states of the cell
 *     serial i0 { step .. a1 }
 *     back f0 cell 0, a1       they go back */
#ifndef RD_KERNELS_PASS_STATE_COPIES_H
#define RD_KERNELS_PASS_STATE_COPIES_H
#include "kernels/loop/loop.h"

/* The loop along the fold's steps around one of them, if the cell stands still in it and all loops
 * between are serial; -1. */
int32_t rd_loop_of_steps(const rd_schedule *t, int32_t step);
/* Does another statement of the step's fold stand in the loop? */
bool rd_has_other_fold_stmt(const rd_schedule *t, int32_t loop, int32_t step);
/* The ARRAY of a store, which stands nowhere yet. */
int32_t rd_add_declaration(rd_schedule *t, int32_t array);
/* A NEAR, BACK or TURN between the array and the states of the step's cell. */
rd_stmt rd_copy_of_states(const rd_stmt *step, rd_stmt_kind kind, int32_t array);
#endif
