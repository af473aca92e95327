/* in_blocks.c - evaluates a result in blocks of its rows, one after the other.
 *
 * Softmax of Q K^T times V has a product that reads all scores, so the plan of the whole stores
 * them: 537 MB for 8 heads of 4096 x 4096.  The plan of 64 rows stores 2 MB, which stay in a
 * second-level cache, and both products are a library's.  Blocks have one shape, so they share a
 * plan, but for those whose coordinates a mask reads.
 *
 * Only plans with a product by a library run so, whose bits are that library's in any case; never
 * under `deterministic`.  The blocks follow from extents alone, so bits do not depend on threads. */
#include "eval/cache/in_blocks.h"
#include "core/clock.h"
#include "eval/cache/cache.h"
#include "eval/request.h"
#include "eval/tuning.h"

/* ---- Whether, and how many ------------------------------------------------------------------- */
/* A plan that stores less between its stages runs as it is; the bytes that a block should store;
 * the fewest rows of one. */
static const double LEAST = 16 << 20, BLOCK = 1 << 20;
enum { FEWEST = 64, TIMES = 2 };

/* The bytes of arrays between stages. */
static double bytes_between(const rd_plan *plan)
{
    double bytes = 0;

    for (int s = 0; s < plan->n_slot; s++)
        bytes += plan->slot[s].kind == RD_SLOT_ARRAY ? (double)plan->slot[s].bytes : 0;
    return bytes;
}

/* The bytes of inputs and results. */
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

/* True if the plan stores much, a product reads it, and this is an evaluation as most are. */
static bool stores_much(const rd_plan *plan, rd_results results, const rd_eval_opts *opts)
{
    bool         product;
    const double arrays = bytes_between(plan);

    (void)work_of(plan, &product);
    return results.n == 1 && product && !plan->parts && !opts->measure && !opts->async &&
           opts->traversal == RD_TRAVERSE_AUTO && !rd_plan_uses_device(plan) && arrays > LEAST &&
           arrays > TIMES * bytes_outside(plan);
}

/* The layout of a piece of an output: rows of one axis, and all axes behind it. */
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

/* True if the plan of a block stores little, and all blocks together do no more than the whole. */
static bool is_better(rd_ctx *ctx, const rd_plan *whole, const rd_expr_pieces *p, rd_expr *y,
                      const rd_eval_opts *opts)
{
    const rd_mark  mark = rd_ctx_mark(ctx);
    rd_expr *const z    = rd_piece_view(p, y, 0);
    rd_array       out  = { .type = y->type, .data = (void *)(uintptr_t)64 };
    rd_plan       *plan = NULL;
    bool           product, better;

    if (z) {
        out.shape = rd_shape_of(z);
        plan      = rd_plan_make(ctx, (rd_exprs){ 0 }, RD_RESULTS({ z, &out }), opts);
    }
    better = plan && 4 * bytes_between(plan) < bytes_between(whole) &&
             (double)p->n * work_of(plan, &product) <= 1.25 * work_of(whole, &product);
    rd_plan_free(plan);
    (void)rd_ctx_release(ctx, mark);
    return better;
}

int64_t rd_block_points(const rd_plan *plan, rd_results results, const rd_eval_opts *opts)
{
    rd_expr *const y = results.n == 1 ? results.at[0].expr : NULL;
    double         most;
    rd_expr_pieces p;

    if (!y || y->rank == 0 || !stores_much(plan, results, opts))
        return 0;
    most = BLOCK / (bytes_between(plan) / (double)rd_points(y->rank, y->extent));
    p    = rd_pieces_of(y, (int64_t)most);
    if (p.inner == 0)
        return 0;
    if (p.each < FEWEST && p.extent > FEWEST)
        p = rd_pieces_of(y, FEWEST * p.inner);
    else
        p = rd_pieces_of(y, p.each / FEWEST * FEWEST * p.inner);
    return p.n > 1 && p.each >= FEWEST && is_better(plan->ctx, plan, &p, y, opts) ? p.each * p.inner
                                                                                  : 0;
}

/* ---- Runs ------------------------------------------------------------------------------------ */
/* True if the bytes of an input and of the result overlap: a block would overwrite what a later
 * one reads. */
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

/* The progress of all blocks, from that of one. */
typedef struct telling {
    const rd_eval_opts *opts;
    double              begun, done, share;
} telling;

static int tell(void *user, double done, double left)
{
    const telling *t   = user;
    const double   all = t->done + done * t->share;

    if (all > 0)
        left = (rd_seconds() - t->begun) * (1 - all) / all;
    return t->opts->progress(t->opts->user, all, left);
}

/* Evaluates piece k. */
static rd_status run_piece(rd_ctx *ctx, const rd_expr_pieces *p, const rd_result *r,
                           const int64_t *stride, int64_t k, const rd_eval_opts *opts)
{
    const rd_mark  mark   = rd_ctx_mark(ctx);
    rd_expr *const z      = rd_piece_view(p, r->expr, k);
    rd_array       out    = piece_of(p, r->expr, r->out, stride, k);
    rd_status      status = z ? rd_cache_run(ctx, RD_RESULTS({ z, &out }), opts) : rd_error(ctx);

    (void)rd_ctx_release(ctx, mark);
    return status;
}

bool rd_run_in_blocks(const rd_plan *plan, const void *const *in, rd_results results,
                      const rd_eval_opts *opts, rd_status *status)
{
    const rd_result *const r     = &results.at[0];
    rd_ctx *const          ctx   = plan->ctx;
    const rd_expr_pieces   p     = rd_pieces_of(r->expr, plan->block_points);
    const int64_t          above = p.n / p.along;
    telling                t   = { .opts = opts, .begun = rd_seconds(), .share = 1 / (double)p.n };
    rd_eval_opts           own = *opts;
    rd_request             request;
    rd_output              out;

    if (overlaps(plan, in, r->out->data))
        return false;
    own.progress = opts->progress ? tell : NULL;
    own.user     = &t;
    *status =
        rd_check_results(ctx, rd_call_name(ctx), results, &request, &out) ? RD_OK : rd_error(ctx);
    /* Blocks of the same rows come together: they share a plan even if a mask reads coordinates. */
    for (int64_t k = 0; *status == RD_OK && k < p.n; k++) {
        *status = run_piece(ctx, &p, r, request.stride, k % above * p.along + k / above, &own);
        t.done += t.share;
    }
    return true;
}
