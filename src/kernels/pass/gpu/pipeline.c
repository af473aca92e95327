/* pipeline.c - the passes that a loop tree goes through to become kernels of a GPU, in order. */
#include "kernels/pass/pass_log.h"
#include "kernels/pass/gpu/gpu.h"
#include "kernels/pass/pass.h"

/* Values go from one vector loop to another by arrays of as many elements as a thread has. */
static void cross(rd_schedule *t, const rd_gpu_plan *plan)
{
    const int32_t first = t->n_store;

    if (plan->strip < 0)
        return;
    rd_pass_scalar_expand(t, NULL);
    for (int32_t k = first; k < t->n_store && !t->failed; k++)
        t->store[k].extent = plan->wide;
}

typedef struct row {
    const char  *name;
    rd_gpu_pass *pass;
    bool         open; /* see rd_pass_finished() */
} row;

static const row for_gpu[] = {
    { "packs", rd_pass_gpu_packs, false }, /* accesses of several elements           */
    { "near", rd_pass_gpu_near, false },   /* rows that are read again lie in shared memory */
    { "opens", rd_pass_gpu_opens, false }, /* steps ask whether a block has ended    */
    { "items", rd_pass_gpu_items, false }, /* loops around all are items             */
    { "turn", rd_pass_gpu_turn, false },   /* operands come by squares in shared memory */
    { "stretches", rd_pass_gpu_stretches, false }, /* short rows lie in shared memory */
    { "place", rd_pass_gpu_place, false },         /* states lie in threads' variables       */
    { "cuts", rd_pass_gpu_cuts, false },           /* long loops become items of ranges      */
    { "patches", rd_pass_gpu_patches, false },     /* rows and columns in one read */
    { "halves", rd_pass_gpu_halves, false },       /* ... of scans, which go twice           */
    { "sweep", rd_pass_gpu_sweep, false },         /* ... in one pass                        */
    { "columns", rd_pass_gpu_columns, true },      /* neighbours are one item                */
    { "cross", cross, false },                     /* values go from loop to loop by arrays  */
    { "kept", rd_pass_gpu_kept, false },           /* scratch for an item's next kernel      */
    { "tiles", rd_pass_gpu_tiles, false },         /* points of pairs lie in shared memory   */
    { "spread", rd_pass_gpu_spread, false },       /* teams share loops                      */
    { "ahead", rd_pass_gpu_ahead, false },         /* rounds of other loops go together      */
};

void rd_schedule_for_gpu(rd_schedule *t, const rd_gpu_plan *plan, rd_text *log)
{
    rd_pass_log trees = { .to = log };

    for (size_t k = 0; k < sizeof for_gpu / sizeof *for_gpu && !t->failed; k++) {
        for_gpu[k].pass(t, plan);
        rd_pass_finished(for_gpu[k].name, for_gpu[k].open, t, &trees);
    }
    rd_text_free(&trees.last);
}
