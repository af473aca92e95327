/* in_blocks.c - evaluates a result in blocks of its rows, one after the other.
 *
 * Softmax of Q K^T times V has a product that reads all scores, so the plan of the whole stores
 * them: 537 MB for 8 heads of 4096 x 4096.  The plan of 64 rows stores 2 MB, which stay in a
 * second-level cache, and both products are a library's.  Blocks have one shape, so they share a
 * plan, but for those whose coordinates a mask reads.
 *
 * Only plans with a product by a library run so, whose bits are that library's in any case; never
 * under `deterministic`.  The blocks follow from extents alone, so bits do not depend on
 * threads. */
#include "eval/cache/in_blocks.h"
#include "core/clock.h"
#include "eval/cache/attention.h"
#include "eval/cache/cache.h"
#include "eval/request.h"
#include "eval/run/team.h"
#include "eval/tuning.h"
#include "expr/cancel.h"
#include <math.h>
#include <string.h>

/* ---- Whether, and how many ------------------------------------------------------------------- */
/* The bytes that a block should store, about; the fewest rows of one; how many times the bytes of
 * inputs and results are much. */
static const double BLOCK = 1 << 20;
enum { FEWEST = 64, TIMES = 2 };

/* The bytes of arrays that the plan's stages store for later stages. */
static double bytes_between(const rd_plan *plan)
{
    double bytes = 0;

    for (int s = 0; s < plan->n_slot; s++)
        bytes += plan->slot[s].kind == RD_SLOT_ARRAY ? (double)plan->slot[s].bytes : 0;
    return bytes;
}

/* The bytes of the plan's inputs and results. */
static double bytes_outside(const rd_plan *plan)
{
    double bytes = 0;

    for (int s = 0; s < plan->n_slot; s++)
        if (plan->slot[s].kind != RD_SLOT_ARRAY &&
            plan->slot_extent[s].hi > plan->slot_extent[s].lo)
            bytes += (double)(plan->slot_extent[s].hi - plan->slot_extent[s].lo);
    for (int k = 0; k < plan->n_out; k++)
        bytes += (double)(plan->out_extent[k].hi - plan->out_extent[k].lo);
    return bytes;
}

/* The plan's operations in all stages. *product: some stage is a matrix product by a library. */
static double work_of(const rd_plan *plan, bool *product)
{
    double work = 0;

    *product = false;
    for (int k = 0; k < plan->n_stage; k++) {
        work += plan->program[k].work;
        *product |= plan->program[k].product != NULL;
    }
    return work;
}

/* True if the evaluation has one result, one plan on this processor, and no option that blocks
 * could not honour. */
static bool is_usual(const rd_plan *plan, rd_results results, const rd_eval_opts *opts)
{
    return results.n == 1 && !plan->parts && !opts->measure && !opts->async &&
           opts->traversal == RD_TRAVERSE_AUTO && !rd_plan_uses_device(plan);
}

/* True if the plan stores much between stages, more than TIMES its inputs and results, and has a
 * matrix product by a library. */
static bool stores_much(const rd_plan *plan, rd_results results, const rd_eval_opts *opts)
{
    bool         product;
    const double arrays = bytes_between(plan);

    (void)work_of(plan, &product); /* for `product` alone */
    return is_usual(plan, results, opts) && product && arrays > RD_MUCH_STORED &&
           arrays > TIMES * bytes_outside(plan);
}

/* The layout of piece k of an output: a range of indices of axis p->axis, and all axes behind it.
 * Axes before it have one index, which k / along encodes in C order. stride: of the whole, in
 * elements. */
static rd_array piece_of(const rd_expr_pieces *p, const rd_expr *y, const rd_array *out,
                         const int64_t *stride, int64_t k)
{
    rd_array      piece = { .type = out->type, .data = out->data };
    const int64_t first = k % p->along * p->each;
    int64_t       row = k / p->along, at = first * stride[p->axis]; /* at: offset in elements */

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

/* The bytes that the plan of one block stores between stages. -1: not less than a quarter of the
 * whole plan's, or all n blocks together do over 1.25 times the whole's operations. */
static double bytes_of_block(const rd_plan *whole, const rd_expr_pieces *p, rd_expr *y,
                             const rd_eval_opts *opts)
{
    rd_ctx *const  ctx  = whole->ctx;
    const rd_mark  mark = rd_ctx_mark(ctx);
    rd_expr *const z    = rd_piece_view(p, y, /*k=*/0);
    /* no memory; any aligned address will do */
    rd_array out  = { .type = y->type, .data = (void *)(uintptr_t)64 };
    rd_plan *plan = NULL;
    double   bytes;
    bool     product;

    if (z) {
        out.shape = rd_shape_of(z);
        plan      = rd_plan_make(ctx, (rd_exprs){ 0 }, RD_RESULTS({ z, &out }), opts);
    }
    bytes = plan && 4 * bytes_between(plan) < bytes_between(whole) &&
                    (double)p->n * work_of(plan, &product) <= 1.25 * work_of(whole, &product)
                ? bytes_between(plan)
                : -1;
    rd_plan_free(plan);
    (void)rd_ctx_release(ctx, mark);
    return bytes;
}

/* Finds the blocks that the result is cut into, each of about BLOCK stored bytes and a multiple of
 * FEWEST rows. False: it is evaluated whole. *bytes: what each block stores. */
static bool find_blocks(const rd_plan *plan, rd_results results, const rd_eval_opts *opts,
                        rd_expr_pieces *p, double *bytes)
{
    rd_expr *const y = results.n == 1 ? results.at[0].expr : NULL;
    double         most, least;

    if (!y || y->rank == 0 || !stores_much(plan, results, opts))
        return false;
    /* However much a row stores, a block has so many: a product of fewer is slow. */
    least = (double)FEWEST * (y->rank > 1 ? (double)y->extent[y->rank - 1] : 1);
    most  = BLOCK / (bytes_between(plan) / (double)rd_points(y->rank, y->extent)); /* elements */
    *p    = rd_pieces_of(y, (int64_t)fmax(most, least));
    if (p->inner == 0 || p->each < FEWEST)
        return false;
    *p = rd_pieces_of(y, p->inner * (p->each / FEWEST * FEWEST));
    if (p->n < 2 || p->each < FEWEST)
        return false;
    *bytes = bytes_of_block(plan, p, y, opts);
    return *bytes >= 0;
}

/* True if a tile of attention (128 rows x 256 columns of scores) has products by a library, and
 * all tiles together do at most 1.5 times the whole's operations. *bytes: what a thread needs in
 * memory. */
static bool tiles_cost_little(const rd_plan *whole, const rd_attention *a, const rd_eval_opts *opts,
                              double *bytes)
{
    rd_array         out[RD_TILE_RESULTS] = { { .data = NULL } };
    rd_expr         *y[RD_TILE_RESULTS];
    rd_result        result[RD_TILE_RESULTS];
    const rd_results results = { result, rd_attention_sample(a, y, out) };
    rd_plan         *plan    = NULL;
    bool             product, little;
    double           work;

    for (int k = 0; k < results.n; k++)
        result[k] = (rd_result){ y[k], &out[k] };
    if (results.n)
        plan = rd_plan_make(whole->ctx, (rd_exprs){ 0 }, results, opts);
    if (!plan)
        return false;
    work   = (double)rd_attention_tiles(a) * work_of(plan, &product);
    *bytes = bytes_between(plan) + (double)rd_attention_bytes(a);
    little = product && work <= 1.5 * work_of(whole, &product);
    rd_plan_free(plan);
    return little;
}

/* True if y is a softmax-weighted sum (attention) of more bytes of scores than RD_MUCH_STORED; `a`
 * then describes it. Makes new nodes. */
static bool is_much_attention(rd_expr *y, rd_attention *a)
{
    return rd_attention_find(y, a) && rd_attention_score_bytes(a) > RD_MUCH_STORED;
}

/* True if the result is attention that is to be evaluated in tiles of rows and columns; `a` then
 * describes it. Not under `deterministic`, because running sums round otherwise than one sum. */
static bool find_tiles(const rd_plan *plan, rd_results results, const rd_eval_opts *opts,
                       rd_attention *a, double *bytes)
{
    return is_usual(plan, results, opts) && !opts->deterministic &&
           is_much_attention(results.at[0].expr, a) && tiles_cost_little(plan, a, opts, bytes);
}

/* True if the result is attention that is to be evaluated in tiles. rd_attention_is() is asked
 * first, as it makes no nodes, and other expressions should leave the context as it was. */
static bool comes_in_tiles(const rd_plan *plan, rd_results results, const rd_eval_opts *opts)
{
    rd_attention a;
    rd_mark      mark;
    double       bytes;
    bool         tiles;

    if (results.n != 1 || !rd_attention_is(results.at[0].expr))
        return false;
    mark  = rd_ctx_mark(plan->ctx);
    tiles = find_tiles(plan, results, opts, &a, &bytes);
    (void)rd_ctx_release(plan->ctx, mark);
    return tiles;
}

/* How a plan's result is to be evaluated: 0: whole; RD_IN_TILES: attention in tiles; else in
 * blocks of at most so many elements. It plans one block to find out what that costs. */
int64_t rd_block_points(const rd_plan *plan, rd_results results, const rd_eval_opts *opts)
{
    rd_expr_pieces p;
    double         bytes;

    if (comes_in_tiles(plan, results, opts))
        return RD_IN_TILES;
    return find_blocks(plan, results, opts, &p, &bytes) ? p.each * p.inner : 0;
}

/* True if it is worth asking rd_block_points(): the plan stores much between stages (`stored`
 * bytes), or y is attention of many scores. The nodes that the latter makes are released. */
bool rd_may_be_in_blocks(rd_expr *y, double stored)
{
    rd_attention a;
    rd_mark      mark;
    bool         may;

    if (stored > RD_MUCH_STORED || !rd_attention_is(y))
        return stored > RD_MUCH_STORED;
    mark = rd_ctx_mark(y->ctx);
    may  = is_much_attention(y, &a);
    (void)rd_ctx_release(y->ctx, mark);
    return may;
}

/* Writes a line for explain if the first result is evaluated in tiles or blocks, or a warning if
 * its plan stores much. False: an error is recorded. */
bool rd_row_blocks_text(rd_text *text, rd_ctx *ctx, rd_results results, const rd_eval_opts *opts)
{
    rd_expr *const  y   = results.at[0].expr;
    rd_array        out = { .type = y->type, .data = (void *)(uintptr_t)64 };
    const rd_result one = { y, &out };
    rd_plan        *plan;
    rd_expr_pieces  p;
    rd_attention    a;
    double          bytes, arrays;

    out.shape = rd_shape_of(y);
    plan      = rd_plan_make(ctx, (rd_exprs){ 0 }, (rd_results){ &one, 1 }, opts);
    if (!plan)
        return false;
    arrays = bytes_between(plan);
    if (find_tiles(plan, (rd_results){ &one, 1 }, opts, &a, &bytes))
        rd_text_add(text,
                    "in blocks: %lld blocks of rows, each by tiles of columns with running sums; "
                    "%.0f bytes of arrays a thread, in place of %.0f\n",
                    (long long)rd_attention_blocks(&a), bytes, arrays);
    else if (find_blocks(plan, (rd_results){ &one, 1 }, opts, &p, &bytes))
        rd_text_add(
            text,
            "in blocks: %lld times %lld rows of axis %d, each on one thread, stage by stage; "
            "%.0f bytes of arrays a thread, in place of %.0f\n",
            (long long)p.n, (long long)p.each, p.axis, bytes, arrays);
    else if (arrays > RD_MUCH_STORED && arrays > TIMES * bytes_outside(plan))
        rd_text_add(
            text,
            "warning: %.0f bytes are stored between stages, %.1f times as much as inputs and "
            "results take\n",
            arrays, arrays / bytes_outside(plan));
    rd_plan_free(plan);
    return true;
}

/* ---- Runs ------------------------------------------------------------------------------------ */
/* True if the bytes of an input and of the result overlap: a block would overwrite what a later
 * one reads. in: addresses of the plan's inputs. */
static bool overlaps(const rd_plan *plan, const void *const *in, const void *out)
{
    const char *const from = (const char *)out + plan->out_extent[0].lo,
                      *to  = (const char *)out + plan->out_extent[0].hi;

    for (int s = 0; s < plan->n_slot; s++) {
        const rd_extent *e    = &plan->slot_extent[s];
        const char      *base = plan->slot[s].data;

        for (int k = 0; k < plan->n_in; k++)
            base = plan->in_slot[k] == s ? in[k] : base;
        if (plan->slot[s].kind != RD_SLOT_ARRAY && base && base + e->lo < to && from < base + e->hi)
            return true;
    }
    return false;
}

/* A thread's own context, with the result's expression in it, or its part of attention. */
typedef struct worker {
    rd_ctx              *ctx;
    rd_expr             *y;
    rd_attention_worker *attention;
} worker;

/* A run: threads take the next rows, of which they evaluate the pieces above one another, as these
 * share a plan even if a mask reads coordinates. */
typedef struct blocks {
    const rd_plan      *plan;
    const rd_result    *result;
    const rd_eval_opts *opts;
    rd_expr_pieces      p;
    rd_attention_run   *attention; /* its blocks are the rows; NULL: pieces of the result */
    int64_t             stride[RD_MAX_RANK];
    double              begun, told; /* when progress was told last; 0: never */
    _Atomic(int64_t)    next, done;  /* rows along the axis that is cut; pieces */
    atomic_bool         stop;
} blocks;

/* Evaluates piece k of the result in a worker's context, whose plan cache lets pieces of one shape
 * share a plan. */
static rd_status run_rows(const blocks *b, const worker *w, int64_t k)
{
    const rd_mark      mark = rd_ctx_mark(w->ctx);
    rd_expr *const     z    = rd_piece_view(&b->p, w->y, k);
    rd_array           out  = piece_of(&b->p, b->result->expr, b->result->out, b->stride, k);
    const rd_eval_opts opts = { .size = sizeof opts, .threads = 1, .backend = RD_BACKEND_CPU };
    rd_status          status;

    status = z ? rd_cache_run(w->ctx, RD_RESULTS({ z, &out }), &opts) : rd_error(w->ctx);
    (void)rd_ctx_release(w->ctx, mark);
    return status;
}

/* Evaluates piece k: a row block of attention, or a block of the result. */
static rd_status run_piece(const blocks *b, const worker *w, int64_t k)
{
    return w->attention ? rd_attention_block(w->attention, k) : run_rows(b, w, k);
}

/* Tells the caller's listener of progress, ten times a second at most. A result other than 0 asks
 * to cancel. */
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

/* Drops the plans in a worker's cache, through the context's reclaim callback. Later rows have
 * other plans if a mask reads coordinates, so these only take memory. */
static void drop_plans(const worker *w)
{
    rd_keeper *const kept = rd_ctx_keeper(w->ctx);

    if (kept)
        (void)kept->reclaim(kept);
}

/* The loop of one thread. It takes the next range of rows (b->next) and evaluates that range at
 * each of the `above` indices of the outer axes. These pieces share a plan even if a mask reads
 * row coordinates. caller: the thread that called, which alone reports progress. */
static void work(blocks *b, const worker *w, bool caller)
{
    const int64_t outer = b->p.n / b->p.along;

    for (int64_t row = atomic_fetch_add(&b->next, 1); row < b->p.along && goes_on(b, caller);
         row         = atomic_fetch_add(&b->next, 1)) {
        for (int64_t k = 0; k < outer && goes_on(b, caller); k++) {
            if (run_piece(b, w, k * b->p.along + row) != RD_OK)
                atomic_store(&b->stop, true);
            atomic_fetch_add(&b->done, 1);
        }
        if (!w->attention) /* whose tiles share plans */
            drop_plans(w);
    }
}

/* Makes a thread's context with the caller's options, and in it a copy of the expression, or a
 * worker of attention. False: no memory; w may then be begun. */
static bool make_worker(const blocks *b, worker *w)
{
    rd_ctx *const ctx = b->plan->ctx;

    w->ctx = rd_ctx_new_alike(ctx);
    if (!w->ctx)
        return false;
    rd_begin_call(w->ctx, rd_call_name(ctx));
    if (b->attention)
        w->attention = rd_attention_worker_new(b->attention, w->ctx);
    else
        w->y = rd_clone(w->ctx, b->result->expr);
    return w->y || w->attention;
}

/* Records the first error and all warnings of the n workers in the caller's context, and frees
 * them. Also turns a request to cancel into an error, and reports that all is done to a listener
 * that has had an earlier report. */
static rd_status end_workers(blocks *b, worker *w, int n)
{
    rd_ctx *const ctx    = b->plan->ctx;
    rd_status     status = RD_OK;

    for (int k = 0; k < n; k++) {
        if (rd_error(w[k].ctx) != RD_OK && status == RD_OK)
            status = rd_fail_run(ctx, rd_error(w[k].ctx), rd_error_text(w[k].ctx));
        rd_warn(ctx, rd_warnings(w[k].ctx));
        rd_attention_worker_free(w[k].attention);
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

/* Runs all blocks on n threads, one worker each. */
static rd_status run_on_team(blocks *b, worker *w, int n)
{
#ifdef _OPENMP
#pragma omp parallel for schedule(static, 1) num_threads(n) if (n > 1)
#endif
    for (int k = 0; k < n; k++)
        work(b, &w[k], /*caller=*/k == 0);
    return end_workers(b, w, n);
}

/* Runs all blocks, on as many threads as there are workers with memory. False: not one could be
 * made, and nothing was done. */
static bool run_blocks(blocks *b, rd_status *status)
{
    rd_ctx *const ctx = b->plan->ctx;
    bool          product;
    const int     n =
        rd_thread_count_now(ctx, b->opts->threads, work_of(b->plan, &product), b->p.along);
    worker *w    = rd_alloc_quiet(ctx, n * (int64_t)sizeof *w);
    int     made = 0;

    while (w && made < n && make_worker(b, &w[made]))
        made++;
    if (w && made < n) { /* one that was begun */
        rd_attention_worker_free(w[made].attention);
        rd_ctx_free(w[made].ctx);
    }
    if (made)
        *status = run_on_team(b, w, made);
    rd_free(ctx, w);
    return made > 0;
}

/* Runs attention in tiles of rows and columns; its row blocks count as pieces. False: nothing was
 * done. */
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

/* Evaluates the result in blocks or tiles, as plan->block_points says. False: an input overlaps
 * the result or there is no memory; nothing was done, and the plan must run whole. */
bool rd_run_in_blocks(const rd_plan *plan, const void *const *in, rd_results results,
                      const rd_eval_opts *opts, rd_status *status)
{
    rd_ctx *const ctx = plan->ctx;
    blocks        b   = { .plan = plan, .result = &results.at[0], .opts = opts };
    rd_request    request;
    rd_output     out;

    b.begun = rd_seconds();
    if (overlaps(plan, in, b.result->out->data) ||
        !rd_check_results(ctx, rd_call_name(ctx), results, &request, &out))
        return false;
    memcpy(b.stride, request.stride, sizeof b.stride);
    if (plan->block_points == RD_IN_TILES)
        return run_tiles(&b, status);
    b.p = rd_pieces_of(b.result->expr, plan->block_points);
    return run_blocks(&b, status);
}
