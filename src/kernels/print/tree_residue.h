/* tree_residue.h - the scalar residue of a loop tree (kernels/scalar_residue.h). */
#ifndef RD_KERNELS_PRINT_TREE_RESIDUE_H
#define RD_KERNELS_PRINT_TREE_RESIDUE_H
#include "kernels/loop/loop.h"
#include "kernels/loop/speeds.h"
#include "kernels/scalar_residue.h"

/* Adds what a tree does after all passes, as C text that gcc compiles.  False: no memory. */
bool rd_schedule_residue(const rd_schedule *t, const rd_speeds *s, rd_residue *r);
/* Counts the operations of a vector loop, written as a loop, that change with its rounds.  *why
 * is why compilers are expected not to vectorise them; RD_N_RESIDUE: they do.  -1: no memory. */
int32_t rd_loop_residue(const rd_schedule *t, int32_t loop, rd_residue_why *why);
/* serial_residue.c: returns why an operation that runs several times is outside of vector loops. */
rd_residue_why rd_why_serial(const rd_schedule *t, int32_t stmt);
#endif
