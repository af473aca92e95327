/* block_runs.c - runs evaluations in blocks: of rows of a result, of tiles of attention, or of rows
 * of an inner value (cut_blocks.h).  Threads take blocks, each with a context of its own. */
#include "core/float_env.h"
#include "core/clock.h"
#include "eval/cache/attention.h"
#include "eval/cache/cache.h"
#include "eval/cache/cut_blocks.h"
#include "eval/cache/in_blocks.h"
#include "eval/request.h"
#include "eval/run/team.h"
#include "expr/cancel.h"
#include <string.h>

/* ---- Memory ---------------------------------------------------------------------------------- */
/* The memory of piece k of result y: `each` indices along axis p->axis, and all axes behind
 * it.  Axes before it have one index.  Pieces count along that axis first (`along` of them), then
 * through the axes before it.  `stride` counts elements. */
static rd_array piece_of(const rd_expr_pieces *p, const rd_expr *y, const rd_array *out,
                         const int64_t *stride, int64_t k)
{
    rd_array      piece = { .type = out->type, .data = out->data };
    const int64_t first = k % p->along * p->each;
    int64_t       row = k / p->along, at = first * stride[p->axis];

    for (int a = p->axis - 1; a >= 0; row /= y->extent[a--])
        at += row % y->extent[a] * stride[a];
    piece.data      = (char *)out->data + at * rd_dtype_size(out->type);
    piece.shape.n   = y->rank - p->axis;
    piece.strides.n = piece.shape.n;
    for (int a = p->axis; a < y->rank; a++) {
        piece.shape.at[a - p->axis]   = y->extent[a];
        piece.strides.at[a - p->axis] = stride[a];
    }
    piece.shape.at[0] = rd_piece_points(p, k) / p->inner;
    return piece;
}

/* True if the bytes of an input and of result r overlap: a block would overwrite what a later one
 * reads. True if results overlap, too. lo and hi of an extent: the first byte, and the one behind
 * the last, from the array's address on. The caller's `in` may replace the memory of an input
 * slot. */
static bool overlaps(const rd_plan *plan, const void *const *in, rd_results results, int r)
{
    const char *const from = (const char *)results.at[r].out->data + plan->out_extent[r].lo,
                      *to  = (const char *)results.at[r].out->data + plan->out_extent[r].hi;

    for (int s = 0; s < plan->n_slot; s++) {
        const rd_extent *e    = &plan->slot_extent[s];
        const char      *base = plan->slot[s].data;

        for (int k = 0; k < plan->n_in; k++)
            base = plan->in_slot[k] == s ? in[k] : base;
        if (plan->slot[s].kind != RD_SLOT_ARRAY && base && base + e->lo < to && from < base + e->hi)
            return true;
    }
    for (int k = 0; k < r; k++)
        if ((const char *)results.at[k].out->data + plan->out_extent[k].lo < to &&
            from < (const char *)results.at[k].out->data + plan->out_extent[k].hi)
            return true;
    return false;
}

/* ---- Blocks ---------------------------------------------------------------------------------- */
/* A thread's own context, with the result's expression in it, or its part of a run. */
typedef struct worker {
    rd_ctx              *ctx;
    rd_expr             *y;
    rd_attention_worker *attention;
    rd_cut_worker       *cut;
} worker;

/* A run: threads take the next rows, of which they evaluate the pieces above one another, as these
 * share a plan even if a mask reads coordinates. */
typedef struct blocks {
    const rd_plan      *plan;
    const rd_result    *result;
    const rd_eval_opts *opts;
    rd_expr_pieces      p;
    rd_attention_run   *attention; /* its blocks are the rows; NULL: other blocks */
    rd_cut_run         *cut;       /* the same; both NULL: pieces of the result */
    int64_t             stride[RD_MAX_RANK];
    double              begun, told; /* when progress was told last; 0: never */
    _Atomic(int64_t)    next, done;  /* rows along the axis that is cut; pieces */
    atomic_bool         stop;
} blocks;

/* Evaluates piece k of the result, a block of its rows, in the worker's context and on this thread:
 * a view of the expression is evaluated into the piece's memory. The view is released at the
 * mark. */
static rd_status run_rows(const blocks *b, const worker *w, int64_t k)
{
    const rd_mark      mark = rd_ctx_mark(w->ctx);
    rd_expr *const     z    = rd_piece_view(&b->p, w->y, k);
    rd_array           out  = piece_of(&b->p, b->result->expr, b->result->out, b->stride, k);
    const rd_eval_opts opts = {
        .size = sizeof opts, .threads = 1, .backend = RD_BACKEND_CPU, .accuracy = b->opts->accuracy
    };
    rd_status status;

    status = z ? rd_cache_run(w->ctx, RD_RESULTS({ z, &out }), &opts) : rd_error(w->ctx);
    (void)rd_ctx_release(w->ctx, mark);
    return status;
}

/* Evaluates block k in the way of this run: tiles of attention, an inner value's rows, or rows of
 * the result. */
static rd_status run_piece(const blocks *b, const worker *w, int64_t k)
{
    return w->attention ? rd_attention_block(w->attention, k)
           : w->cut     ? rd_cut_block(w->cut, k)
                        : run_rows(b, w, k);
}

/* Calls the caller's progress function, about ten times a second: with the part that is done, and
 * the seconds that are left at this rate. If it returns true the run is cancelled. `begun` and
 * `told` are times in seconds; told 0: not yet. */
static void tell(blocks *b)
{
    static const double EACH = 0.1;
    const double        now = rd_seconds(), all = (double)atomic_load(&b->done) / (double)b->p.n;

    if (!b->opts->progress || all == 0 || now - (b->told > 0 ? b->told : b->begun) < EACH)
        return;
    b->told = now;
    if (b->opts->progress(b->opts->user, all, (now - b->begun) * (1 - all) / all))
        rd_cancel(b->plan->ctx);
}

/* True if the run goes on: nobody cancelled it.  Only the calling thread tells of progress. */
static bool goes_on(blocks *b, bool caller)
{
    if (caller)
        tell(b);
    if (atomic_load(rd_cancel_flag(b->plan->ctx)))
        atomic_store(&b->stop, true);
    return !atomic_load(&b->stop);
}

/* Drops the plans that the worker's context keeps: the next rows have other coordinates, and so
 * other plans. */
static void drop_plans(const worker *w)
{
    rd_keeper *const kept = rd_ctx_keeper(w->ctx);

    if (kept)
        (void)kept->reclaim(kept);
}

/* Runs blocks until none is left or the run stops.  A thread takes the next row of blocks, and goes
 * through the `above` pieces that lie above one another (one for each index of the axes before):
 * these share a plan.  `caller`: this is the calling thread, which tells of progress.  Sums of
 * blocks are added in the default float environment, whatever that of the caller's thread is. */
static void work(blocks *b, const worker *w, bool caller)
{
    const rd_float_env env   = rd_float_env_begin();
    const int64_t      above = b->p.n / b->p.along;

    for (int64_t row = atomic_fetch_add(&b->next, 1); row < b->p.along && goes_on(b, caller);
         row         = atomic_fetch_add(&b->next, 1)) {
        for (int64_t k = 0; k < above && goes_on(b, caller); k++) {
            if (run_piece(b, w, k * b->p.along + row) != RD_OK)
                atomic_store(&b->stop, true);
            atomic_fetch_add(&b->done, 1);
        }
        if (w->y) /* other blocks share plans */
            drop_plans(w);
    }
    if (b->cut && atomic_load(&b->stop)) /* some blocks were not evaluated */
        rd_cut_stop(b->cut);
    rd_float_env_end(env);
}

/* Makes a thread's worker: a context with the caller's settings, and in it what the run's kind
 * needs. False after a failure. */
static bool make_worker(const blocks *b, worker *w)
{
    rd_ctx *const ctx = b->plan->ctx;

    w->ctx = rd_ctx_new_alike(ctx);
    if (!w->ctx)
        return false;
    rd_begin_call(w->ctx, rd_call_name(ctx));
    if (b->attention)
        w->attention = rd_attention_worker_new(b->attention, w->ctx);
    else if (b->cut)
        w->cut = rd_cut_worker_new(b->cut, w->ctx);
    else
        w->y = rd_clone(w->ctx, b->result->expr);
    return w->y || w->attention || w->cut;
}

/* Records the first worker's error and all warnings in the caller's context, and frees the workers.
 * A run that was cancelled fails; otherwise progress is told to be 1, if it was told before. */
static rd_status end_workers(blocks *b, worker *w, int n)
{
    rd_ctx *const ctx    = b->plan->ctx;
    rd_status     status = RD_OK;

    for (int k = 0; k < n; k++) {
        if (rd_error(w[k].ctx) != RD_OK && status == RD_OK)
            status = rd_fail_run(ctx, rd_error(w[k].ctx), rd_error_text(w[k].ctx));
        rd_warn(ctx, rd_warnings(w[k].ctx));
        rd_attention_worker_free(w[k].attention);
        rd_cut_worker_free(w[k].cut);
        rd_ctx_free(w[k].ctx);
    }
    if (status == RD_OK && rd_cancel_taken(ctx)) {
        rd_fail(ctx, RD_ERR_CANCELLED, "%s: the evaluation was cancelled", rd_call_name(ctx));
        status = RD_ERR_CANCELLED;
    }
    if (status == RD_OK && b->told > 0)
        (void)b->opts->progress(b->opts->user, 1, 0);
    return status;
}

/* Runs all blocks on n threads, and returns the status of all. */
static rd_status run_on_team(blocks *b, worker *w, int n)
{
#ifdef _OPENMP
#pragma omp parallel for schedule(static, 1) num_threads(n) if (n > 1)
#endif
    for (int k = 0; k < n; k++)
        work(b, &w[k], k == 0);
    return end_workers(b, w, n);
}

/* Runs all blocks on as many threads as are worth it, or on fewer if there is no memory for all
 * workers. False: there is none for one, and nothing was done. */
static bool run_blocks(blocks *b, rd_status *status)
{
    rd_ctx *const ctx = b->plan->ctx;
    const int     n = rd_thread_count_now(ctx, b->opts->threads, rd_plan_work(b->plan), b->p.along);
    worker       *w = rd_alloc_quiet(ctx, n * (int64_t)sizeof *w);
    int           made = 0;

    while (w && made < n && make_worker(b, &w[made]))
        made++;
    if (w && made < n) { /* one that was begun */
        rd_attention_worker_free(w[made].attention);
        rd_ctx_free(w[made].ctx);
    }
    if (made && b->cut)
        rd_cut_share(b->cut, made);
    if (made)
        *status = run_on_team(b, w, made);
    rd_free(ctx, w);
    return made > 0;
}

/* Runs the tiles of attention: a block is a range of rows, whose tiles of columns one thread takes.
 * False: nothing was done. */
static bool run_tiles(blocks *b, rd_status *status)
{
    rd_ctx *const ctx  = b->plan->ctx;
    const rd_mark mark = rd_ctx_mark(ctx);
    rd_attention  a;
    bool          ran = false;

    if (rd_attention_find(b->result->expr, &a)) {
        b->attention =
            rd_attention_begin(&a, b->opts, b->result->expr, b->result->out->data, b->stride);
        b->p = (rd_expr_pieces){ .along = rd_attention_blocks(&a), .n = rd_attention_blocks(&a) };
        ran  = b->attention && run_blocks(b, status);
        rd_attention_end(b->attention);
    }
    (void)rd_ctx_release(ctx, mark);
    return ran;
}

/* Runs blocks of an inner value's rows; `request` has the results' strides.  The number of blocks
 * stands in b->p, as if they were pieces of one axis.  False: nothing was done. */
static bool run_cuts(blocks *b, rd_results results, const rd_request *request, rd_status *status)
{
    rd_ctx *const ctx  = b->plan->ctx;
    const rd_mark mark = rd_ctx_mark(ctx);
    rd_cut_blocks cut;
    bool          ran = false;

    if (rd_find_cuts(b->plan, results, &cut)) {
        b->cut = rd_cut_begin(&cut, b->opts, request);
        b->p = (rd_expr_pieces){ .along = cut.batches * cut.chunks, .n = cut.batches * cut.chunks };
        ran  = b->cut && run_blocks(b, status);
        rd_cut_end(b->cut);
    }
    rd_cut_blocks_end(&cut);
    (void)rd_ctx_release(ctx, mark);
    return ran;
}

/* Evaluates small values first.  False: nothing was done. */
static bool run_first(const rd_plan *plan, rd_results results, const rd_eval_opts *opts,
                      rd_status *status)
{
    rd_first_values f;

    return rd_first_find(&f, plan->ctx, results, rd_plan_largest(plan)) &&
           rd_first_run(&f, opts, status);
}

/* Evaluates the results in the blocks that the plan was made for (plan->block_points: elements of a
 * block, or RD_IN_TILES ..).  `in`: the inputs' memory.  False: nothing was done, because an input
 * overlaps a result, or there is no memory. */
bool rd_run_in_blocks(const rd_plan *plan, const void *const *in, rd_results results,
                      const rd_eval_opts *opts, rd_status *status)
{
    rd_ctx *const ctx = plan->ctx;
    blocks        b   = { .plan = plan, .result = &results.at[0], .opts = opts };
    rd_request    request[RD_MOST_CUT_RESULTS];
    rd_output     out[RD_MOST_CUT_RESULTS];

    b.begun = rd_seconds();
    for (int r = 0; r < results.n; r++)
        if (overlaps(plan, in, results, r))
            return false;
    if (!rd_check_results(ctx, rd_call_name(ctx), results, request, out))
        return false;
    memcpy(b.stride, request[0].stride, sizeof b.stride);
    if (plan->block_points == RD_IN_TILES)
        return run_tiles(&b, status);
    if (plan->block_points == RD_IN_CUTS)
        return run_cuts(&b, results, request, status);
    if (plan->block_points == RD_SMALL_FIRST)
        return run_first(plan, results, opts, status);
    b.p = rd_pieces_of(b.result->expr, plan->block_points);
    return run_blocks(&b, status);
}
