/* write_kernels.c - the kernels of a loop tree: the text around items, and the callbacks by which
 * the printer leaves and combines partials.
 *
 * Fields. s->tile_loop has the two loops of a block tile, -1: there are no block tiles. s->n_split
 * loops are split into ranges. Scans of split loops run once (is_lookback) or twice
 * (is_two_pass).
 *
 * Words. A fold is a reduction or a scan. A team is the threads that do one item of work. A slot is
 * a buffer that a program reads or writes. */
#include "kernels/cuda/loop_tree.h"
#include <inttypes.h>

/* ---- Callbacks of the printer ---------------------------------------------------------------- */
/* Callback of the printer at the end of a range: adds the text that stores a fold's partials,
 * the nodes (partial results in the combine tree) that the range (part of a split loop) leaves. */
static void leave_nodes(void *of, rd_printing *n, int32_t fold)
{
    (void)n;
    rd_cuda_leave_nodes(of, fold);
}

/* Callback of the printer behind the stores of partials. It adds the combine by the last team
 * (the threads of an item) of each group of ranges (parts of a split loop), and an "if" that
 * holds in the last team of all. */
static void print_last_team(void *of, rd_printing *n)
{
    rd_cuda_text *t = of;

    (void)n;
    rd_cuda_combine_ranges(t, t->split);
}

/* Callback of the printer before a fold's results: declares pointers to the combined nodes, in
 * the row of the last level of groups, which has one group. */
static void declare_final_row(void *of, rd_printing *n, int32_t fold, const char *name)
{
    (void)n;
    rd_cuda_declare_rows(of, fold, name, "rd_row_of(q.head, (int)q.head.n_level - 1, 0)");
}

/* Returns the callbacks by which the printer stores and combines partials: of block tiles
 * (tile_loop[0] >= 0; reductions along both axes), or of ranges of split loops. */
rd_kernel_combine rd_cuda_range_callbacks(rd_cuda_text *t)
{
    if (t->s->tile_loop[0] >= 0)
        return (rd_kernel_combine){ .of    = t,
                                    .leave = rd_cuda_leave_block_tile,
                                    .last  = rd_cuda_last_block_tile,
                                    .node  = rd_cuda_node_of_block_tile };
    return (rd_kernel_combine){ .of    = t,
                                .leave = leave_nodes,
                                .last  = print_last_team,
                                .rows  = declare_final_row,
                                .count = "q.head.n_range" };
}

/* ---- Kernels --------------------------------------------------------------------------------- */
/* Declares an item's nodes (partial results in the combine tree) of a look-back scan. They lie
 * behind the counter of tiles (RD_TICKET bytes). t becomes the thread's number in its block, as
 * a block does a tile:
 *
 *     char *const nodes = (char *)q.head.nodes + 16 + item * q.N[0];
 *     const int t = (int)threadIdx.x; */
static void declare_nodes_of_tiles(rd_cuda_text *t)
{
    rd_text bytes = { 0 };

    rd_print_number(&t->print, &bytes, t->s->node_bytes);
    rd_print_line(&t->print, "char *const nodes = (char *)q.head.nodes + %d + item * %s;",
                  RD_TICKET, bytes.at);
    rd_print_line(&t->print, "const int t = (int)threadIdx.x;");
    rd_text_end(&bytes, t->print.to);
}

/* Adds the text of one work item, or of one range (part of a split loop) of an item. A barrier
 * for the team (its threads) follows, so that none begins the next one too early. */
static void write_work(rd_cuda_text *t, int32_t kernel)
{
    rd_cuda_declare_work(t, t->part);
    if (t->part == RD_KERNEL_LOOKBACK)
        declare_nodes_of_tiles(t);
    rd_print_item(&t->print, kernel);
    rd_print_line(&t->print, "RD_SYNC_TEAM");
}

static const char next_item[] =
    "for (int64_t work = q.head.first + team; work < q.head.n_work; work += teams) {";
static const char next_tile[] =
    "for (int64_t work; (work = rd_next_tile((uint64_t *)q.head.nodes)) < q.head.n_work;) {";

/* Adds the loop over the items of a team (the threads that do one item). Blocks with staged rows
 * go over their items together; a look-back scan takes tiles in order.
 *
 *     for (int64_t work = q.head.first + team; work < q.head.n_work; work += teams) {
 *         const int64_t item = work;
 *         .. the item ..
 *         RD_SYNC_TEAM
 *     } */
static void write_items(rd_cuda_text *t, int32_t kernel)
{
    if (rd_cuda_has_moved_rows(t->s)) {
        rd_cuda_begin_block(t);
        write_work(t, kernel);
        rd_cuda_end_block(t);
        return;
    }
    rd_print_line(&t->print, "%s", t->part == RD_KERNEL_LOOKBACK ? next_tile : next_item);
    t->print.indent++;
    write_work(t, kernel);
    t->print.indent--;
    rd_print_line(&t->print, "}");
}

/* Adds a kernel by its kind: "run", or "ranges0" for split loop 0; `split` -1: the name has no
 * number. `kernel`: the tree's loop over its items.
 *
 *     extern "C" __global__ void __launch_bounds__(RD_THREADS, RD_FIT) run(const rd_call q)
 *     {
 *         .. shared memory, the team, slots ..
 *         .. the loop over items ..
 *         RD_WARN(warnings)
 *     } */
static void write_kernel(rd_cuda_text *t, int32_t kernel, rd_cuda_kernel_kind part, int32_t split)
{
    static const char *const names[] = {
        [RD_KERNEL_RUN] = "run",           [RD_KERNEL_RANGES] = "ranges",
        [RD_KERNEL_TOTALS] = "totals",     [RD_KERNEL_RESCAN] = "rescan",
        [RD_KERNEL_LOOKBACK] = "lookback",
    };

    t->part         = part;
    t->split        = split;
    t->print.indent = 0;
    rd_cuda_kernel_head(t, names[part], split);
    rd_print_line(&t->print, "{");
    t->print.indent++;
    rd_cuda_declare_shared(t);
    if (t->print.kernel->pairs)
        rd_print_declare_point_tiles(&t->print);
    rd_cuda_declare_team(t);
    write_items(t, kernel);
    if (t->s->reports)
        rd_print_line(&t->print, "RD_WARN(warnings)");
    t->print.indent--;
    rd_print_line(&t->print, "}\n");
}

/* Adds the functions of folds in split loops, then a kernel for each split loop: the tree has a
 * loop over items for each of them. */
static void write_splits(rd_cuda_text *t, int32_t kernel)
{
    for (int32_t k = 0; k < t->s->p->n_fold; k++)
        if (t->s->fold[k].split >= 0)
            rd_cuda_range_functions(t, k);
    for (int32_t k = 0; k < t->s->n_split && kernel >= 0; k++) {
        write_kernel(t, kernel, RD_KERNEL_RANGES, k);
        kernel = rd_next_kernel(t->print.t, kernel);
    }
}

/* ---- Two-pass scans -------------------------------------------------------------------------- */
static const char *const nodes_of_level[] = {
    "const int     level = (int)q.head.span;",
    "const int64_t here = q.head.n_range >> level, threads = (int64_t)gridDim.x * RD_THREADS;",
    "int64_t work = (int64_t)blockIdx.x * RD_THREADS + threadIdx.x;",
};

/* Adds the kernel of a two-pass scan that makes one level of nodes (partial results in the
 * combine tree) from the level below. q.head.span is the level; a thread makes a node of one
 * cell (output element of an item):
 *
 *     extern "C" __global__ void __launch_bounds__(RD_THREADS, RD_FIT) lift0(const rd_call q)
 *     {
 *         const int     level = (int)q.head.span;
 *         const int64_t here = q.head.n_range >> level, threads = (int64_t)gridDim.x * RD_THREADS;
 *         int64_t work = (int64_t)blockIdx.x * RD_THREADS + threadIdx.x;
 *         for (; work < q.head.n_work; work += threads) {
 *             .. item, k, c; the nodes `below`, and `at` ..
 *         }
 *     } */
static void write_lift(rd_cuda_text *t, const rd_stmt *s)
{
    rd_text cells = { 0 };

    t->print.indent = 0;
    rd_cuda_kernel_head(t, "lift", s->fold);
    rd_print_line(&t->print, "{");
    t->print.indent++;
    for (size_t k = 0; k < sizeof nodes_of_level / sizeof *nodes_of_level; k++)
        rd_print_line(&t->print, "%s", nodes_of_level[k]);
    rd_print_line(&t->print, "for (; work < q.head.n_work; work += threads) {");
    t->print.indent++;
    rd_print_number(&t->print, &cells, rd_cells_in_array(&t->print, s->store));
    rd_print_line(&t->print, "const int64_t c = work %% %s, left = work / %s;", cells.at, cells.at);
    rd_print_line(&t->print, "const int64_t item = left / here, k = left %% here;");
    rd_print_line(&t->print,
                  "char *const nodes = (char *)q.head.nodes + item * (int64_t)%" PRId64 ";",
                  t->s->node_bytes);
    rd_print_line(&t->print,
                  "const int64_t below = rd_nodes_below(q.head.n_range, level - 1) + 2 * k;");
    rd_print_line(&t->print, "const int64_t at = rd_nodes_below(q.head.n_range, level) + k;");
    rd_print_build_tree(&t->print, s);
    t->print.indent -= 2;
    rd_print_line(&t->print, "    }\n}\n");
    rd_text_end(&cells, t->print.to);
}

/* Adds the kernels of a two-pass scan: "totals" of ranges; "lift0" .. for the nodes above them,
 * of each fold; and "rescan", which scans all ranges from their prefixes. In the tree, the
 * statements that make these nodes (BUILD_TREE) stand between the two loops over items. */
static void write_twice(rd_cuda_text *t, int32_t kernel)
{
    int32_t s = t->print.t->stmt[kernel].next;

    write_kernel(t, kernel, RD_KERNEL_TOTALS, /*split=*/-1);
    for (; s >= 0 && t->print.t->stmt[s].kind == RD_S_BUILD_TREE; s = t->print.t->stmt[s].next)
        write_lift(t, &t->print.t->stmt[s]);
    write_kernel(t, s, RD_KERNEL_RESCAN, /*split=*/-1);
}

/* ---- All of them ----------------------------------------------------------------------------- */
/* Adds all kernels of a strategy: block tiles (tile_loop[0] >= 0; reductions along both axes),
 * scans in two passes or one, a kernel for each split loop, or one for all. If the tree has no
 * loop over items, the printer's `why` gets the reason. */
void rd_cuda_write_kernels(rd_cuda_text *t)
{
    const int32_t kernel = rd_next_kernel(t->print.t, /*last=*/-1);

    if (kernel < 0)
        t->print.why = "nothing to do";
    else if (t->s->tile_loop[0] >= 0)
        rd_cuda_write_block_tiles(t, kernel);
    else if (t->s->is_two_pass)
        write_twice(t, kernel);
    else if (t->s->is_lookback)
        write_kernel(t, kernel, RD_KERNEL_LOOKBACK, /*split=*/-1);
    else if (t->s->n_split == 0)
        write_kernel(t, kernel, RD_KERNEL_RUN, /*split=*/-1);
    else
        write_splits(t, kernel);
}
