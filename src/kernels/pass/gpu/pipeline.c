/* pipeline.c - the passes that a loop tree goes through to become kernels of a GPU, in order. */
#include "kernels/pass/pass_log.h"
#include "kernels/pass/gpu/gpu.h"
#include "kernels/pass/pass.h"

/* Scalar expansion: a value that one vector loop makes and another one reads goes through an
 * array, with an element for each of a thread's `width` neighbours. vector_axis -1: threads have
 * no neighbours, so there are no vector loops. */
static void expand_scalars(rd_schedule *t, const rd_gpu_plan *plan)
{
    const int32_t first = t->n_store;

    if (plan->vector_axis < 0)
        return;
    rd_pass_scalar_expand(t, /*target=*/NULL);
    for (int32_t k = first; k < t->n_store && !t->failed; k++)
        t->store[k].extent = plan->width;
}

/* A pass and its name in the log. */
typedef struct pass_row {
    const char  *name;
    rd_gpu_pass *pass;
    bool         open; /* see rd_pass_finished() */
} pass_row;

static const pass_row for_gpu[] = {
    { "vector_access", rd_pass_gpu_vector_access,
      false }, /* accesses of several elements           */
    { "row_cache", rd_pass_gpu_row_cache,
      false }, /* rows that are read again lie in shared memory */
    { "begin_blocks", rd_pass_gpu_begin_blocks,
      false },                                       /* steps ask whether a block has ended    */
    { "work_items", rd_pass_gpu_work_items, false }, /* loops around all are items             */
    { "shared_transpose", rd_pass_gpu_shared_transpose,
      false }, /* operands come by squares in shared memory */
    { "staged_rows", rd_pass_gpu_staged_rows, false }, /* short rows lie in shared memory */
    { "state_storage", rd_pass_gpu_state_storage,
      false }, /* states lie in threads' variables       */
    { "split_reduction", rd_pass_gpu_split_reduction,
      false },                                       /* long loops become items of ranges      */
    { "block_tile", rd_pass_gpu_block_tile, false }, /* rows and columns in one read */
    { "two_pass_scan", rd_pass_gpu_two_pass_scan,
      false }, /* ... of scans, which go twice           */
    { "look_back_scan", rd_pass_gpu_look_back_scan,
      false },                                   /* ... in one pass                        */
    { "coarsen", rd_pass_gpu_coarsen, true },    /* neighbours are one item                */
    { "expand_scalars", expand_scalars, false }, /* values go from loop to loop by arrays  */
    { "item_scratch", rd_pass_gpu_item_scratch,
      false },                                         /* scratch for an item's next kernel      */
    { "point_tiles", rd_pass_gpu_point_tiles, false }, /* points of pairs lie in shared memory   */
    { "team_loops", rd_pass_gpu_team_loops, false },   /* teams share loops                      */
    { "batch_loads", rd_pass_gpu_batch_loads, false }, /* rounds of other loops go together      */
};

/* Runs all passes in order. `log` gets the tree after each pass; NULL: nobody wants it. Debug
 * builds also check the tree then, but not an `open` one: some of its loops read values that
 * only another loop makes, until scalars are expanded. */
void rd_schedule_for_gpu(rd_schedule *t, const rd_gpu_plan *plan, rd_text *log)
{
    rd_pass_log trees = { .to = log };

    for (size_t k = 0; k < sizeof for_gpu / sizeof *for_gpu && !t->failed; k++) {
        for_gpu[k].pass(t, plan);
        rd_pass_finished(for_gpu[k].name, for_gpu[k].open, t, &trees);
    }
    rd_text_free(&trees.last);
}
