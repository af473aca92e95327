/* gpu_plan.c - gives the passes of loop trees what the strategy has decided, as an rd_gpu_plan.
 *
 * Fields. s->pairs is the loop over points that all results read, -1: none. s->tile_loop has the
 * two loops of a block tile, -1: there are no block tiles. s->transpose has the two loops of a
 * transpose in shared memory, -1: none. Without work items (n_item 0) there is nothing to
 * compute.
 *
 * Words. A team is the threads that do one item of work. A fold is a reduction or a scan. */
#include "kernels/cuda/loop_tree.h"

/* ---- Loops ----------------------------------------------------------------------------------- */
/* Copies a list of vector accesses to a table by instruction: pack[i] is how many elements
 * instruction i moves at once. */
static void note_accesses(const rd_cuda_vector_accesses *accesses, int32_t *pack)
{
    for (int32_t k = 0; k < accesses->n; k++)
        pack[accesses->inst[k]] = accesses->each[k];
}

/* Notes the vector accesses of block tiles (reductions along both axes in one read) in pack[],
 * if the strategy has such tiles (tile_loop[0] >= 0). */
static void describe_block_tile(const rd_cuda_strategy *s, int32_t *pack)
{
    rd_cuda_vector_accesses accesses;

    if (s->tile_loop[0] < 0)
        return;
    rd_cuda_tile_accesses(s, &accesses);
    note_accesses(&accesses, pack);
}

/* Translates what the strategy decided about a loop to a role: its indices are chunks, ranges,
 * shared by the team (the threads of an item), or serial. pack[] gets the widths of its vector
 * accesses. Only an innermost loop has these and prefetched rounds; a backward one in look-back
 * scans alone. Loops of block tiles are described elsewhere. */
static void describe_loop(const rd_cuda_strategy *s, int32_t loop, rd_gpu_loop *l, int32_t *pack)
{
    rd_cuda_vector_accesses accesses;

    l->role = s->distributed[loop] ? RD_GPU_DISTRIBUTED : RD_GPU_SERIAL;
    if (loop == s->chunk_loop)
        l->role = RD_GPU_CHUNKS;
    if (rd_cuda_split_of(s, loop) >= 0) {
        l->role        = RD_GPU_RANGES;
        l->distributed = s->distributed[loop];
    }
    if (s->p->loop[loop].first >= 0 || (s->p->loop[loop].backwards && !s->is_lookback) ||
        s->tile_loop[0] >= 0)
        return;
    rd_cuda_vector_accesses_of(s, loop, &accesses);
    if (!accesses.is_blocked && !s->is_lookback)
        return;
    l->ahead = accesses.prefetch;
    l->along = accesses.serial_width;
    note_accesses(&accesses, pack);
}

/* Counts the nodes (partial results in the combine tree) of a two-pass scan for one cell (output
 * element). There is one for each range (part of a split loop), each two ranges, each four, and
 * so on; 0 for other strategies. */
static int32_t nodes_of(const rd_cuda_strategy *s)
{
    return s->is_two_pass ? (int32_t)rd_cuda_nodes_below(s->n_range, rd_cuda_bits(s->n_range)) : 0;
}

/* Translates where the states of a fold lie. thread_lanes: lanes (partial accumulators) that a
 * thread owns, 0: all; rows: nodes (partial results in the combine tree) of finished blocks that
 * a state can have. */
static void describe_fold(const rd_cuda_strategy *s, const rd_cuda_fold *f, rd_gpu_fold *fold)
{
    *fold = (rd_gpu_fold){ .place        = f->storage == RD_STORAGE_LOCAL  ? RD_IN_LOCAL
                                           : f->storage == RD_STORAGE_TEAM ? RD_IN_TEAM
                                                                           : RD_IN_TASK,
                           .thread_lanes = f->threads_are_lanes ? f->thread_lanes : 0,
                           .node_rows    = f->node_rows,
                           .at           = f->at,
                           .partial_at   = f->node_at,
                           .partial_rows = nodes_of(s) };
}

/* Translates a staged row. Passes number the rows by axes, the strategy by the first `outer`
 * loops of the grid. Scratch rows belong to a thread and have no number. */
static void describe_row(const rd_cuda_strategy *s, const rd_cuda_staged_row *r,
                         rd_gpu_staged_row *row)
{
    *row = (rd_gpu_staged_row){ .role  = r->role,
                                .slot  = r->slot,
                                .type  = r->type,
                                .step  = r->step,
                                .first = r->first,
                                .n     = r->n,
                                .array = r->array };
    for (int32_t g = 0; g < r->outer && r->role != RD_STAGED_SCRATCH; g++)
        row->outer[row->n_outer++] = s->p->loop[s->grid[g]].axis;
}

/* The arrays of a plan: each holds one fact for each loop, fold, instruction, scratch array or staged
 * row. */
typedef struct plan_arrays {
    rd_gpu_loop       *loop;
    rd_gpu_fold       *fold;
    int32_t           *pack;
    int64_t           *item_scratch;
    rd_gpu_staged_row *rows;
} plan_arrays;

/* Allocates the arrays of a plan for the program; false: no memory. */
static bool allocate(const rd_program *p, rd_get_fn *get, void *pool, plan_arrays *a)
{
    a->loop         = get(pool, ((size_t)p->n_loop + 1) * sizeof *a->loop);
    a->fold         = get(pool, ((size_t)p->n_fold + 1) * sizeof *a->fold);
    a->pack         = get(pool, ((size_t)p->n_inst + 1) * sizeof *a->pack);
    a->item_scratch = get(pool, ((size_t)p->n_scratch + 1) * sizeof *a->item_scratch);
    a->rows         = get(pool, RD_MOST_STAGED_ROWS * sizeof *a->rows);
    return a->rows && a->loop && a->fold && a->pack && a->item_scratch;
}

/* Describes the parts of the program, one by one, as the strategy has them. Loops of the grid, and
 * the two loops of a transpose, are loops over items. If there is nothing to do, loops stay as they
 * are. */
static void describe_parts(const rd_cuda_strategy *s, const plan_arrays *a)
{
    const rd_program *const p = s->p;

    for (int32_t k = 0; k < p->n_loop && s->n_item; k++)
        describe_loop(s, k, &a->loop[k], a->pack);
    if (s->n_item)
        describe_block_tile(s, a->pack);
    for (int32_t g = 0; g < s->n_grid; g++)
        a->loop[s->grid[g]].role = RD_GPU_ITEMS;
    for (int k = 0; k < 2 && s->transpose[0] >= 0; k++)
        a->loop[s->transpose[k]].role = RD_GPU_ITEMS;
    for (int32_t k = 0; k < p->n_fold; k++)
        describe_fold(s, &s->fold[k], &a->fold[k]);
    for (int32_t k = 0; k < p->n_scratch; k++)
        a->item_scratch[k] = s->scratch[k] == RD_STORAGE_ITEM ? s->item_bytes : 0;
    for (int32_t k = 0; k < s->n_staged_row; k++)
        describe_row(s, &s->staged_row[k], &a->rows[k]);
}

/* Fills an rd_gpu_plan, which tells the passes of loop trees all that the strategy has decided.
 * False: *why says why there is no plan, or is NULL: no memory. */
bool rd_cuda_plan_of(const rd_cuda_strategy *s, rd_gpu_plan *plan, rd_get_fn *get, void *pool,
                     const char **why)
{
    plan_arrays a;

    *why = NULL;
    if (!allocate(s->p, get, pool, &a))
        return false;
    *why = s->n_item == 0 ? "nothing to do" : NULL;
    describe_parts(s, &a);
    *plan = (rd_gpu_plan){
        .team           = s->is_lookback ? s->choice.block : s->team,
        .width          = s->width,
        .vector_axis    = s->neighbour_axis,
        .scans          = s->is_two_pass   ? RD_GPU_SCANS_TWO_PASS
                          : s->is_lookback ? RD_GPU_SCANS_LOOK_BACK
                                           : RD_GPU_SCANS_SERIAL,
        .chunk          = s->n_split ? s->range : s->chunk,
        .loop           = a.loop,
        .fold           = a.fold,
        .item_scratch   = a.item_scratch,
        .cached_row     = s->n_cached_row ? s->cached_row : NULL,
        .fills_row      = s->fills_cache,
        .transposed     = s->transpose[0] >= 0 ? s->transposed : NULL,
        .transpose_loop = { s->transpose[0], s->transpose[1] },
        .batch          = s->choice.batch,
        .tile_loop      = { s->tile_loop[0], s->tile_loop[1] },
        .rows_at_once   = s->rows_at_once,
        .pairs          = s->pairs,
        .points_at_once = s->register_block,
        .tile_points    = s->point_tile,
        .items   = s->pairs >= 0 ? rd_cuda_pair_items(s, s->p->axis_extent[s->neighbour_axis]) : 0,
        .threads = s->choice.block,
        .vector_bytes = s->choice.vector,
        .max_width    = s->choice.most_wide,
        .n_staged     = s->n_staged_row,
        .staged       = a.rows,
        .staged_of    = s->staged_row_of,

        .cached_words = s->row_words,
        .cached_axis  = s->row_axis,
        .pack         = a.pack
    };
    return !*why;
}
