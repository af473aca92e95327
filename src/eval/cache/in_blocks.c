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
#include "eval/cache/attention.h"
#include "eval/cache/cut_blocks.h"
#include "eval/tuning.h"
#include <math.h>

/* ---- Whether, and how many ------------------------------------------------------------------- */
/* The bytes that a block should store, about; the fewest rows of one, and of one whose results are
 * added up, which takes memory for these; how many times the bytes of inputs and results are
 * much. */
static const double BLOCK = 1 << 20;
enum { FEWEST = 64, FEWEST_ADDED = 32, TIMES = 2 };

/* The bytes of arrays that the plan's stages store for later stages. */
double rd_plan_between(const rd_plan *plan)
{
    double bytes = 0;

    for (int s = 0; s < plan->n_slot; s++)
        bytes += plan->slot[s].kind == RD_SLOT_ARRAY ? (double)plan->slot[s].bytes : 0;
    return bytes;
}

/* The bytes of the largest array that a stage stores for later stages. */
double rd_plan_largest(const rd_plan *plan)
{
    double bytes = 0;

    for (int s = 0; s < plan->n_slot; s++)
        if (plan->slot[s].kind == RD_SLOT_ARRAY)
            bytes = fmax(bytes, (double)plan->slot[s].bytes);
    return bytes;
}

/* The bytes of inputs and results: of each from its first byte (lo) to the one behind its last
 * (hi). Slots of kind RD_SLOT_ARRAY are arrays between stages, so they do not count. */
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

/* The operations of all stages of the plan. */
double rd_plan_work(const rd_plan *plan)
{
    bool product;

    return work_of(plan, &product);
}

/* True if the evaluation is one plan (no parts) on this processor, and has no option that blocks
 * could not honour: to measure variants, to return before the end (async), or a fixed traversal. */
static bool is_usual(const rd_plan *plan, const rd_eval_opts *opts)
{
    return !plan->parts && !opts->measure && !opts->async && opts->traversal == RD_TRAVERSE_AUTO &&
           !rd_plan_uses_device(plan);
}

/* True if the plan's arrays between stages take more than RD_MUCH_STORED bytes and more than TIMES
 * the bytes of inputs and results, and some stage is a product by a library.  Without one, loops
 * would be fused and store nothing. */
bool rd_plan_stores_much(const rd_plan *plan, const rd_eval_opts *opts)
{
    bool         product;
    const double arrays = rd_plan_between(plan);

    (void)work_of(plan, &product);
    return is_usual(plan, opts) && product && arrays > RD_MUCH_STORED &&
           arrays > TIMES * bytes_outside(plan);
}

/* The bytes that the plan of a block stores; -1 if they are a quarter of the whole's or more, or if
 * all p->n blocks together do more than 1.25 times the whole's operations.  y: the result, whose
 * first block (piece 0) is planned for that; its nodes are released. */
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
    bytes = plan && 4 * rd_plan_between(plan) < rd_plan_between(whole) &&
                    (double)p->n * work_of(plan, &product) <= 1.25 * work_of(whole, &product)
                ? rd_plan_between(plan)
                : -1;
    rd_plan_free(plan);
    (void)rd_ctx_release(ctx, mark);
    return bytes;
}

/* Finds the blocks that the result is cut into, each of about BLOCK stored bytes and a multiple of
 * FEWEST rows. False: it is evaluated whole. *bytes: what each block stores. each: indices of a
 * block along the axis that is cut; inner: elements of such an index; n: blocks in all. */
static bool find_blocks(const rd_plan *plan, rd_results results, const rd_eval_opts *opts,
                        rd_expr_pieces *p, double *bytes)
{
    rd_expr *const y = results.n == 1 ? results.at[0].expr : NULL;
    double         most, least;

    if (!y || y->rank == 0 || !rd_plan_stores_much(plan, opts))
        return false;
    /* However much a row stores, a block has so many: a product of fewer is slow. */
    least = (double)FEWEST * (y->rank > 1 ? (double)y->extent[y->rank - 1] : 1);
    most  = BLOCK / (rd_plan_between(plan) / (double)rd_points(y->rank, y->extent));
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
 * memory. The plan of one tile is made to find out, and freed. */
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
    *bytes = rd_plan_between(plan) + (double)rd_attention_bytes(a);
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
    return results.n == 1 && is_usual(plan, opts) && !opts->deterministic &&
           is_much_attention(results.at[0].expr, a) && tiles_cost_little(plan, a, opts, bytes);
}

/* True if the result is attention that is to be evaluated in tiles. rd_attention_is() is asked
 * first, as it makes no nodes, and other expressions should leave the context as it was.
 * find_tiles() makes nodes, which are released at the mark. */
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

/* ---- Rows of an inner value ------------------------------------------------------------------ */
/* Finds blocks of an inner value's rows, of about BLOCK bytes and FEWEST_ADDED rows or more.
 * rd_cut_blocks_end() frees them in any case; false: there are none. */
bool rd_find_cuts(const rd_plan *plan, rd_results results, rd_cut_blocks *b)
{
    return rd_cut_blocks_begin(b, plan->ctx, results, rd_plan_between(plan), rd_plan_largest(plan),
                               FEWEST_ADDED, BLOCK);
}

/* The bytes that a thread works in: arrays of a block, and its partial sums.  -1 if they are a
 * quarter of the whole's or more, or if all blocks together do more than 1.25 times the whole's
 * operations. The first block is planned for that. */
static double bytes_of_cut(const rd_plan *whole, const rd_cut_blocks *b, const rd_eval_opts *opts)
{
    rd_array         out[RD_MOST_CUT_RESULTS];
    rd_expr         *y[RD_MOST_CUT_RESULTS];
    rd_result        result[RD_MOST_CUT_RESULTS];
    const rd_results results = { result, b->cuts.results.n };
    rd_plan         *plan    = NULL;
    double           bytes   = -1;
    bool             product;

    if (rd_cut_sample(b, y, out)) {
        for (int r = 0; r < results.n; r++)
            result[r] = (rd_result){ y[r], &out[r] };
        plan = rd_plan_make(whole->ctx, (rd_exprs){ 0 }, results, opts);
    }
    if (plan && (double)(b->batches * b->chunks) * work_of(plan, &product) <=
                    1.25 * work_of(whole, &product)) {
        bytes = rd_plan_between(plan) + (double)rd_cut_sum_bytes(b);
        bytes = 4 * bytes < rd_plan_between(whole) ? bytes : -1;
    }
    rd_plan_free(plan);
    return bytes;
}

/* True if the results come in blocks of an inner value's rows, such as those of attention's
 * weights. *bytes: what a thread works in; *blocks: how many there are; *rows: of one of
 * them.  Nodes that are made to find out are released. */
static bool comes_in_cuts(const rd_plan *plan, rd_results results, const rd_eval_opts *opts,
                          double *bytes, int64_t *blocks, int64_t *rows)
{
    rd_cut_blocks b;
    rd_mark       mark;
    bool          cuts;

    if (!rd_plan_stores_much(plan, opts))
        return false;
    mark = rd_ctx_mark(plan->ctx);
    cuts = rd_find_cuts(plan, results, &b) && (*bytes = bytes_of_cut(plan, &b, opts)) >= 0;
    if (cuts) {
        *blocks = b.batches * b.chunks;
        *rows   = b.each[b.cuts.n - 1];
    }
    rd_cut_blocks_end(&b);
    (void)rd_ctx_release(plan->ctx, mark);
    return cuts;
}

/* ---- Which ----------------------------------------------------------------------------------- */
/* How the results are evaluated: the first way that applies of tiles of attention, blocks of the
 * result's rows (returns the elements of one), blocks of an inner value's rows, and small values
 * first.  0: the plan runs as it is. */
int64_t rd_block_points(const rd_plan *plan, rd_results results, const rd_eval_opts *opts,
                        int depth)
{
    rd_expr_pieces p;
    double         bytes, values;
    int64_t        blocks, rows;

    if (comes_in_tiles(plan, results, opts))
        return RD_IN_TILES;
    if (comes_in_cuts(plan, results, opts, &bytes, &blocks, &rows))
        return RD_IN_CUTS;
    if (find_blocks(plan, results, opts, &p, &bytes))
        return p.each * p.inner;
    return rd_small_first(plan, results, opts, depth, &values) ? RD_SMALL_FIRST : 0;
}

/* True if it is worth asking rd_block_points(): the plan stores much between stages (`stored`
 * bytes), or y is attention of many scores. The nodes that the latter makes are released. */
bool rd_may_be_in_blocks(rd_results results, double stored)
{
    rd_expr *const y = results.at[0].expr;
    rd_attention   a;
    rd_mark        mark;
    bool           may;

    if (stored > RD_MUCH_STORED || results.n != 1 || !rd_attention_is(y))
        return stored > RD_MUCH_STORED;
    mark = rd_ctx_mark(y->ctx);
    may  = is_much_attention(y, &a);
    (void)rd_ctx_release(y->ctx, mark);
    return may;
}

/* Adds a line that says how results come in blocks, asked in the order of
 * rd_block_points().  False: they do not. */
static bool blocks_text(rd_text *text, const rd_plan *plan, rd_results results,
                        const rd_eval_opts *opts)
{
    const double   arrays = rd_plan_between(plan);
    rd_expr_pieces p;
    rd_attention   a;
    double         bytes, values;
    int64_t        blocks, rows;

    if (find_tiles(plan, results, opts, &a, &bytes))
        rd_text_add(text,
                    "in blocks: %lld blocks of rows, each by tiles of columns with running sums; "
                    "%.0f bytes of arrays a thread, in place of %.0f\n",
                    (long long)rd_attention_blocks(&a), bytes, arrays);
    else if (comes_in_cuts(plan, results, opts, &bytes, &blocks, &rows))
        rd_text_add(text,
                    "in blocks: %lld times %lld rows of what is stored, whose sums are added in "
                    "order; %.0f bytes of arrays a thread, in place of %.0f\n",
                    (long long)blocks, (long long)rows, bytes, arrays);
    else if (find_blocks(plan, results, opts, &p, &bytes))
        rd_text_add(
            text,
            "in blocks: %lld times %lld rows of axis %d, each on one thread, stage by stage; "
            "%.0f bytes of arrays a thread, in place of %.0f\n",
            (long long)p.n, (long long)p.each, p.axis, bytes, arrays);
    else if (rd_small_first(plan, results, opts, 0, &values))
        rd_text_add(text,
                    "in blocks: first %.0f bytes of small values, by blocks of what would be "
                    "stored, then what is made of them; in place of %.0f bytes\n",
                    values, arrays);
    else
        return false;
    return true;
}

/* For explain: says how the results come in blocks, or warns if they do not and their plan stores
 * much. Address 64 stands for the outputs' memory, since planning only asks for its
 * alignment.  False: an error is recorded. */
bool rd_row_blocks_text(rd_text *text, rd_ctx *ctx, rd_results results, const rd_eval_opts *opts)
{
    rd_array         out[RD_MOST_CUT_RESULTS];
    rd_result        result[RD_MOST_CUT_RESULTS];
    const rd_results all = { result, results.n };
    rd_plan         *plan;
    double           arrays;

    if (results.n > RD_MOST_CUT_RESULTS) /* no plan of so many is kept */
        return true;
    for (int r = 0; r < results.n; r++) {
        rd_expr *const y = results.at[r].expr;

        out[r]       = (rd_array){ .type = y->type, .data = (void *)(uintptr_t)64 };
        out[r].shape = rd_shape_of(y);
        result[r]    = (rd_result){ y, &out[r] };
    }
    plan = rd_plan_make(ctx, (rd_exprs){ 0 }, all, opts);
    if (!plan)
        return false;
    arrays = rd_plan_between(plan);
    if (!blocks_text(text, plan, all, opts) && arrays > RD_MUCH_STORED &&
        arrays > TIMES * bytes_outside(plan))
        rd_text_add(
            text,
            "warning: %.0f bytes are stored between stages, %.1f times as much as inputs and "
            "results take\n",
            arrays, arrays / bytes_outside(plan));
    rd_plan_free(plan);
    return true;
}
