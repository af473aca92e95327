/* cut_blocks.c - how results are cut into blocks of an inner value's rows.
 *
 * The gradient of attention by keys sums over the rows of the weights, so no rows of the result
 * can be computed from few rows of the weights.  But the sum can: a block of rows has a part of
 * it.  All of a gradient's results take the same rows, so a block computes its scores once. */
#include "eval/cache/cut_blocks.h"
#include <math.h>
#include <string.h>

/* The number of parts of so many indices. */
static int64_t parts_of(int64_t n, int64_t each)
{
    return n / each + (n % each != 0);
}

/* Chooses the indices of a block: rows of one index of the other cuts.  If all rows are little,
 * several indices of the last other cut. */
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

bool rd_cut_blocks_begin(rd_cut_blocks *b, rd_ctx *ctx, rd_results results, double bytes,
                         double largest, int64_t fewest, double block)
{
    *b = (rd_cut_blocks){ .batches = 0 };
    if (results.n > RD_MOST_CUT_RESULTS || !rd_cuts_begin(&b->cuts, ctx, results) ||
        !rd_cuts_find(&b->cuts, largest / 8, 2 * fewest) ||
        !rd_cut_steps_begin(&b->steps, &b->cuts))
        return false;
    choose_sizes(b, bytes, fewest, block);
    return b->batches * b->chunks > 1;
}

void rd_cut_blocks_end(rd_cut_blocks *b)
{
    rd_cut_steps_end(&b->steps);
    if (b->cuts.ctx)
        rd_cuts_end(&b->cuts);
}

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
