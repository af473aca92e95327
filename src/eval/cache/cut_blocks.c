/* cut_blocks.c - how results are cut into blocks of an inner value's rows.
 *
 * The gradient of attention by keys sums over the rows of the weights, so no rows of the result
 * can be computed from few rows of the weights.  But the sum can: a block of rows has a part of
 * it.  All of a gradient's results take the same rows, so a block computes its scores once. */
#include "eval/cache/cut_blocks.h"
#include "eval/cache/cut_masked.h"
#include <math.h>
#include <string.h>

/* The number of blocks of `each` indices that n indices make, the last of which may be smaller. */
static int64_t parts_of(int64_t n, int64_t each)
{
    return n / each + (n % each != 0);
}

/* Chooses how many indices of each cut a block has: one of each cut but rows (such as one head),
 * and so many rows that it stores about `block` bytes, a multiple of `fewest`.  If that leaves less
 * than `fewest` rows over, a block has all rows, and several indices of the last other cut.
 * `bytes`: what the whole stores.  `each` is first the bytes of a row of all, then of a row of one
 * index. */
static void choose_sizes(rd_cut_blocks *b, double bytes, int64_t fewest, double block)
{
    const int      rows = b->cuts.n - 1;
    const int64_t *n    = b->cuts.extent;
    double         each = bytes / (double)n[rows];

    for (int k = 0; k < rows; k++) {
        each /= (double)n[k];
        b->each[k] = 1;
    }
    b->each[rows] = (int64_t)fmin(block / each, (double)n[rows]) / fewest * fewest;
    b->each[rows] = b->each[rows] < fewest ? fewest : b->each[rows];
    if (b->each[rows] + fewest > n[rows]) {
        b->each[rows] = n[rows];
        if (rows > 0)
            b->each[rows - 1] =
                (int64_t)fmax(1, fmin(block / (each * (double)n[rows]), (double)n[rows - 1]));
    }
    b->batches = 1;
    for (int k = 0; k < rows; k++)
        b->batches *= parts_of(n[k], b->each[k]);
    b->chunks = parts_of(n[rows], b->each[rows]);
}

/* Finds columns, along the longest axis of the node at which cuts begin that can be so, if scores
 * have a mask.  Without them the parts are listed as they are for whole rows.  False: they cannot
 * be listed. */
static bool find_columns(rd_cut_blocks *b)
{
    enum { FEWEST_COLUMNS = 256, MOST_COLUMNS = 1 << 16 };
    rd_cuts *const       c     = &b->cuts;
    const rd_expr *const x     = c->list.at[c->from];
    uint64_t             tried = 0;

    for (int n = 0; n < x->rank && rd_cuts_are_masked(c); n++) {
        int axis = -1;

        for (int a = 0; a < x->rank; a++)
            if (!(tried >> a & 1) && x->extent[a] >= FEWEST_COLUMNS &&
                x->extent[a] < MOST_COLUMNS && (axis < 0 || x->extent[a] > x->extent[axis]))
                axis = a;
        if (axis < 0)
            break;
        tried |= (uint64_t)1 << axis;
        if (axis != c->at[c->from].axis[c->n - 1] && rd_cuts_label_columns(c, axis)) {
            if (rd_cut_steps_begin(&b->steps, c))
                return true;
            rd_cut_steps_end(&b->steps);
        }
    }
    c->columns = 0;
    return rd_cut_steps_begin(&b->steps, c);
}

/* Finds cuts and the parts of nodes that a block needs.  A cut begins at a node of more than an
 * eighth of the largest stored array, and has at least two blocks of `fewest` rows.  False: there
 * are none, or it would be one block. */
bool rd_cut_blocks_begin(rd_cut_blocks *b, rd_ctx *ctx, rd_results results, double bytes,
                         double largest, int64_t fewest, double block)
{
    *b = (rd_cut_blocks){ .batches = 0 };
    if (results.n > RD_MOST_CUT_RESULTS || !rd_cuts_begin(&b->cuts, ctx, results) ||
        !rd_cuts_find(&b->cuts, largest / 8, 2 * fewest) || !find_columns(b))
        return false;
    choose_sizes(b, bytes, fewest, block);
    if (b->cuts.columns)
        b->each[b->cuts.n] = b->cuts.extent[b->cuts.n];
    return b->batches * b->chunks > 1;
}

/* Frees the lists; a begin that failed before it made any left ctx NULL. */
void rd_cut_blocks_end(rd_cut_blocks *b)
{
    rd_cut_steps_end(&b->steps);
    if (b->cuts.ctx)
        rd_cuts_end(&b->cuts);
}

/* Makes the results y[r] of the first block, to be planned.  Coordinates are given as one index:
 * their memory is never read.  Address 64 stands for outputs, as planning asks only for
 * alignment. */
bool rd_cut_sample(const rd_cut_blocks *b, rd_expr **y, rd_array *out)
{
    static const int64_t no_index;
    rd_ctx *const        ctx  = b->cuts.ctx;
    rd_expr **const      made = rd_alloc(ctx, b->steps.n * (int64_t)sizeof *made);
    rd_cut_box           box  = { .first = { 0 } };
    bool                 ok;

    memcpy(box.count, b->each, sizeof box.count);
    ok = made && rd_cut_make(&b->steps, ctx, b->cuts.list.at, &no_index, &box, made, y);
    for (int r = 0; ok && r < b->cuts.results.n; r++) {
        out[r]       = (rd_array){ .type = y[r]->type, .data = (void *)(uintptr_t)64 };
        out[r].shape = rd_shape_of(y[r]);
    }
    rd_free(ctx, made);
    return ok;
}

/* The bytes of a block's partial sums of all results that are added up, each rounded up to a cache
 * line of 64 bytes.  A result has only the block's indices along cuts that it has as an axis. */
int64_t rd_cut_sum_bytes(const rd_cut_blocks *b)
{
    int64_t bytes = 0;

    for (int r = 0; r < b->cuts.results.n; r++) {
        const rd_expr *const y  = b->cuts.results.at[r].expr;
        const rd_cut_at      at = rd_cuts_of_result(&b->cuts, r);
        int64_t              n  = rd_points(y->rank, y->extent) * rd_dtype_size(y->type);

        for (int k = 0; k < b->cuts.n; k++)
            n = at.axis[k] >= 0 ? n / b->cuts.extent[k] * b->each[k] : n;
        bytes += rd_cuts_adds(&b->cuts, r) ? (n + 63) / 64 * 64 : 0;
    }
    return bytes;
}
