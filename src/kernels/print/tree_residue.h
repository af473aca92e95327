/* tree_residue.h - the scalar residue of a loop tree (kernels/residue.h). */
#ifndef RD_KERNELS_PRINT_TREE_RESIDUE_H
#define RD_KERNELS_PRINT_TREE_RESIDUE_H
#include "kernels/loop/loop.h"
#include "kernels/loop/speeds.h"
#include "kernels/residue.h"

/* Adds what a tree after all passes does, as text in C that gcc compiles.  False: no memory. */
bool rd_schedule_residue(const rd_schedule *t, const rd_speeds *s, rd_residue *r);
/* Of a vector loop that the text writes as a loop: how many operations in it change with its rounds, and
 * why compilers are expected to make no vectors of them; RD_N_RESIDUE: they do.  -1: no memory. */
int32_t rd_loop_residue(const rd_schedule *t, int32_t loop, rd_residue_why *why);
/* residue_alone.c: why an operation outside of vector loops, which is done more than once, is there. */
rd_residue_why rd_why_serial(const rd_schedule *t, int32_t stmt);
#endif
