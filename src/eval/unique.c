/* unique.c - rd_unique(): the distinct values, how often each occurs, and which one each element
 * has, from runs of equal elements in sorted order.  The number of values is known only after
 * sorting, so the call runs at once.
 *
 * A run is a range of equal elements in sorted order. */
#include "eval/request.h"
#include "expr/array.h"
#include "expr/complex.h"
#include "expr/origin.h"
#include "expr/search.h"

/* The arrays of one call. */
typedef struct distinct {
    rd_ctx  *ctx;
    rd_array sorted, first, values; /* first: positions in `sorted` where a run begins */
    rd_expr *x;
} distinct;

static const char call[] = "rd_unique";

/* A leaf of an array that this call has computed. */
static rd_expr *leaf_of(const distinct *d, const rd_array *array)
{
    return rd_leaf_of(d->ctx, array, call);
}

/* Sorts the elements, finds the positions where runs (ranges of equal elements) begin, and takes
 * the values there. False on failure. d->sorted, d->first and d->values are memory that the
 * caller frees. */
static bool find(distinct *d)
{
    rd_expr *const row = rd_reshape(d->x, RD_SHAPE(rd_points(d->x->rank, d->x->extent)));

    if (rd_eval_for(d->ctx, call, rd_sort(row, /*axis=*/0), &d->sorted) != RD_OK)
        return false;
    rd_expr *const sorted = leaf_of(d, &d->sorted);
    rd_expr *const first  = rd_begins_run(call, sorted);

    if (!first || rd_nonzero(d->ctx, first, &d->first) != RD_OK)
        return false;
    rd_expr *const at = rd_select_place(leaf_of(d, &d->first), /*axis=*/1, /*place=*/0);

    return rd_eval_for(d->ctx, call, rd_take_places(sorted, /*axis=*/0, at), &d->values) == RD_OK;
}

/* Counts the elements of each run of equal elements: differences of the positions where runs
 * begin, up to the end. False on failure. */
static bool count(const distinct *d, rd_array *counts)
{
    rd_expr *const from = rd_select_place(leaf_of(d, &d->first), /*axis=*/1, /*place=*/0);
    rd_expr *const end  = rd_expand(rd_int(d->ctx, d->sorted.shape.at[0]), /*axis=*/0);
    rd_expr *const all  = rd_concat(/*axis=*/0, (rd_exprs){ (rd_expr *const[]){ from, end }, 2 });

    return rd_eval_for(d->ctx, call, rd_diff(all, /*axis=*/0, /*n=*/1), counts) == RD_OK;
}

/* Computes for each element the index of its value among the distinct ones, by bisection; false on
 * failure. */
static bool place(const distinct *d, rd_array *inverse)
{
    rd_expr *const at = rd_searchsorted(leaf_of(d, &d->values), d->x, RD_LEFT);

    return rd_eval_for(d->ctx, call, at, inverse) == RD_OK;
}

/* Hands the distinct values to an output; if it has more room than values, the rest stays. False
 * on failure. A zeroed output takes over the memory. Otherwise rd_compress() copies all, as its
 * mask is 1. */
static bool deliver_values(distinct *d, rd_array *values)
{
    if (rd_array_is_zeroed(values) && !values->device) {
        *values   = d->values;
        d->values = (rd_array){ 0 };
        return true;
    }
    return rd_compress(d->ctx, leaf_of(d, &d->values), rd_int(d->ctx, 1), values) == RD_OK;
}

/* After a failure, frees an output that was allocated and restores what it asked for. */
static void restore_output(const distinct *d, rd_array *out, const rd_array *was)
{
    if (out && rd_array_asks_memory(was) && rd_error(d->ctx) != RD_OK) {
        rd_array_free(out);
        *out = *was;
    }
}

/* The public call: stores the distinct values of x, how often each occurs, and which one each
 * element has.  The last two outputs may be NULL.  After a failure, memory allocated for these two
 * is freed again.  deliver_values() comes last, as it may hand d.values to the caller; what is
 * left of the arrays is freed here. */
rd_status rd_unique(rd_ctx *ctx, rd_expr *x, rd_array *values, rd_array *counts, rd_array *inverse)
{
    distinct d = { .ctx = ctx, .x = x };

    if (!ctx || rd_error(ctx) != RD_OK)
        return ctx ? rd_error(ctx) : RD_ERR_ARGUMENT;
    if (!x || !values || x->ctx != ctx) {
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: %s", call,
                !x        ? "the expression is NULL"
                : !values ? "the output of values is NULL"
                          : "the expression is of another context");
        return rd_error(ctx);
    }
    const rd_mark  mark = rd_ctx_mark(ctx);
    const rd_array none = { 0 }, was[] = { inverse ? *inverse : none, counts ? *counts : none };

    d.x = rd_operands(call, 1, &x) && !rd_refuse_complex(call, 1, &x)
              ? rd_with_origins(rd_cast_to(x, x->type), /*origin=*/NULL)
              : NULL;
    if (d.x && find(&d) && (!inverse || place(&d, inverse)) && (!counts || count(&d, counts)))
        deliver_values(&d, values);
    restore_output(&d, inverse, &was[0]);
    restore_output(&d, counts, &was[1]);
    rd_array_free(&d.sorted);
    rd_array_free(&d.first);
    rd_array_free(&d.values);
    rd_ctx_release(ctx, mark);
    return rd_error(ctx);
}
