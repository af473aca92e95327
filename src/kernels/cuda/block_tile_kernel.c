/* block_tile_kernel.c - the kernel of block tiles (block_tile.c): the text around a tile.
 *
 * Words. A fold is a reduction or a scan. A lane is one of the accumulators of a cell, to which
 * elements go in turn. */
#include "kernels/cuda/loop_tree.h"

/* Adds the kernel that reduces block tiles: tiles of rows by columns, reduced along both axes.
 * Each block of threads goes through tiles, gridDim.x apart; combine_blocks.c has the text that
 * ends a tile. `came` is where the block's threads read a counter of finished tiles.
 *
 *     extern "C" __global__ void __launch_bounds__(RD_THREADS, RD_FIT) block_tiles(const rd_call q)
 *     {
 *         RD_SHARED(uint32_t, came, 1);
 *         ..
 *         for (int64_t work = q.head.first + blockIdx.x; work < q.head.n_work; work += gridDim.x) {
 *             .. which tile it is, its nodes, the tile ..
 *             __syncthreads();
 *         }
 *         RD_WARN(warnings)
 *     } */
void rd_cuda_write_block_tiles(rd_cuda_text *t, int32_t kernel)
{
    rd_cuda_combine_functions(t);
    rd_cuda_kernel_head(t, "block_tiles", /*number=*/-1);
    rd_print_line(&t->print, "{");
    t->print.indent++;
    rd_cuda_declare_shared(t);
    rd_print_line(&t->print, "RD_SHARED(uint32_t, came, 1);");
    rd_cuda_declare_lanes(t);
    rd_print_line(&t->print,
                  "const int t = (int)threadIdx.x %% RD_TEAM, team = (int)threadIdx.x / RD_TEAM;");
    rd_print_line(&t->print, "uint32_t warnings = 0;");
    rd_cuda_declare_slots(t);
    rd_print_line(&t->print,
                  "for (int64_t work = q.head.first + blockIdx.x; work < q.head.n_work; work += "
                  "gridDim.x) {");
    t->print.indent++;
    rd_cuda_declare_block_tile(t);
    rd_cuda_declare_nodes(t);
    rd_print_item(&t->print, kernel);
    rd_print_line(&t->print, "__syncthreads();");
    t->print.indent--;
    rd_print_line(&t->print, "}");
    if (t->s->reports)
        rd_print_line(&t->print, "RD_WARN(warnings)");
    t->print.indent--;
    rd_print_line(&t->print, "}\n");
}

/* Callback of the printer at the end of a tile: adds the text that stores the tile's nodes of a
 * fold, results of its columns or of the lanes (partial accumulators) of its rows.
 * threads_are_lanes: the fold reduces rows. */
void rd_cuda_leave_block_tile(void *of, rd_printing *n, int32_t fold)
{
    rd_cuda_text *t = of;

    (void)n;
    (t->s->fold[fold].threads_are_lanes ? rd_cuda_leave_rows : rd_cuda_leave_columns)(t, fold);
}

/* Callback of the printer behind the stores of nodes. It adds the combine of tiles along the
 * loop that `last_along_columns` tells (0: down the rows), and an "if" that holds in the last block
 * of threads only. */
void rd_cuda_last_block_tile(void *of, rd_printing *n)
{
    rd_cuda_combine_blocks(of, n->kernel->last_along_columns);
}

/* Callback of the printer where a fold's result is wanted: adds the text that reads the combined
 * node of a column, or of lane `lane` of a row. */
void rd_cuda_node_of_block_tile(void *of, rd_printing *n, int32_t fold, const char *lane)
{
    (void)n;
    rd_cuda_take_combined(of, fold, lane);
}
