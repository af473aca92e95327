/* loop_tree.h - the kernels of a strategy, printed from a loop tree: docs/loops.md, "Kernels for
 * GPUs". */
#ifndef RD_KERNELS_CUDA_LOOP_TREE_H
#define RD_KERNELS_CUDA_LOOP_TREE_H
#include "kernels/cuda/kernel_frame.h"
#include "kernels/pass/gpu/gpu.h"
#include "kernels/print/gpu/kernel.h"

/* gpu_plan.c: gives passes the strategy as an rd_gpu_plan.  False: *why says why there is no
 * tree, or is NULL: no memory. */
bool rd_cuda_plan_of(const rd_cuda_strategy *s, rd_gpu_plan *plan, rd_get_fn *get, void *pool,
                     const char **why);

/* Adds the tree, for people. */
void rd_cuda_tree_text(rd_text *to, const rd_cuda_strategy *s);

/* ---- Between loop_tree.c, write_kernels.c and block_tile_kernel.c ---------------------------- */
/* write_kernels.c: the callbacks by which the printer leaves and combines partials; and all
 * kernels. */
rd_kernel_combine rd_cuda_range_callbacks(rd_cuda_text *t);
void              rd_cuda_write_kernels(rd_cuda_text *t);
/* block_tile_kernel.c: the kernel of block tiles; and its callbacks, as rd_kernel_combine says. */
void rd_cuda_write_block_tiles(rd_cuda_text *t, int32_t kernel);
void rd_cuda_leave_block_tile(void *of, rd_printing *n, int32_t fold);
void rd_cuda_last_block_tile(void *of, rd_printing *n);
void rd_cuda_node_of_block_tile(void *of, rd_printing *n, int32_t fold, const char *lane);
#endif
