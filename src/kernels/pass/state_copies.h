/* state_copies.h - copies of states: around a loop the states of a fold are in a local array,
 * which its steps use.
 *
 *     array a1                       declares the array
 *     load states f0 cell 0, a1      copies the states of the cell into it
 *     serial i0 { step .. a1 }
 *     store states f0 cell 0, a1     copies them back */
#ifndef RD_KERNELS_PASS_STATE_COPIES_H
#define RD_KERNELS_PASS_STATE_COPIES_H
#include "kernels/loop/loop.h"

/* The loop along the fold's steps around a step, if all its steps go into one cell, and all
 * loops between are serial; else -1. */
int32_t rd_loop_of_steps(const rd_schedule *t, int32_t step);
/* True if another statement of the step's fold stands in the loop. */
bool rd_has_other_fold_stmt(const rd_schedule *t, int32_t loop, int32_t step);
/* The ARRAY statement of a store; it stands nowhere yet. */
int32_t rd_add_declaration(rd_schedule *t, int32_t array);
/* The statement of the kind that copies states between the array and the step's cell. */
rd_stmt rd_copy_of_states(const rd_stmt *step, rd_stmt_kind kind, int32_t array);
/* Makes variables of states that at least so many steps in the vector loop use, each the same one
 * in a whole round. Jammed rounds have known indices by then. */
void rd_promote_states(rd_schedule *t, int32_t vector, int fewest);
#endif
