/* meet.c - checks that operands fit together: one context, shapes that broadcast, the same
 * origins.
 *
 * Words. The fill of a sparse array is its value where nothing is stored. */
#include "expr/sparse.h"
#include "expr/origin.h"
#include <inttypes.h>
#include <string.h>

/* True if no operand is NULL and all belong to one context and are not released.  False after
 * recording for `call`, but silently for a NULL, as the failure that made it is recorded. */
bool rd_operands(const char *call, int n, rd_expr *const *x)
{
    for (int k = 0; k < n; k++)
        if (!x[k])
            return false;
    return rd_same_ctx(call, n, x);
}

/* True if all operands belong to one context and are not released; else records for `call`.
 * Operands that are NULL are skipped. */
bool rd_same_ctx(const char *call, int n, rd_expr *const *x)
{
    rd_ctx *ctx  = NULL;
    bool    same = true;

    for (int k = 0; k < n; k++) {
        if (!x[k])
            continue;
        ctx = ctx ? ctx : x[k]->ctx;
        same &= rd_is_here(x[k]->ctx, call, "operand", k, x[k]);
        if (x[k]->ctx == ctx)
            continue;
        /* Both contexts record it, as the caller may ask either. */
        rd_fail(x[k]->ctx, RD_ERR_ARGUMENT, "%s: operand %d belongs to another context", call, k);
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: operand %d belongs to another context", call, k);
        same = false;
    }
    return same;
}

/* ---- Indices --------------------------------------------------------------------------------- */
static bool is_repeated(const rd_expr *x, int a, int depth);

/* True if a sparse array repeats along axis `a` (all indices have the same element): it has no
 * coordinates there, and its values and fill (the value where nothing is stored) repeat.  Axis 0 of
 * the values goes through stored positions; the dense axes follow. */
static bool is_stored_repeated(const rd_expr *x, int a, int depth)
{
    int of_values = 1; /* the axis of the values that is axis a */

    for (int d = 0; d < a; d++)
        of_values += rd_coord_of_axis(x, d) < 0;
    return rd_coord_of_axis(x, a) < 0 && is_repeated(rd_values_of(x), of_values, depth) &&
           (!rd_fill_of(x) || is_repeated(rd_fill_of(x), a, depth));
}

/* True if all indices along the axis have the same element, as of a broadcast view; such an axis
 * has no origin of its own.  Small maps of such operands repeat, too.  `depth` limits the search
 * through maps; beyond it an axis counts as an ordinary one. */
static bool is_repeated(const rd_expr *x, int a, int depth)
{
    if (x->extent[a] == 1 || rd_origin(x, a))
        return false;
    if (rd_points(x->rank, x->extent) == 0) /* as views without elements do */
        return true;
    if (x->kind == RD_EXPR_VIEW) {
        for (int d = 0; d < x->in[0]->rank; d++)
            if (x->as.view->number[x->in[0]->rank + d * x->rank + a])
                return false;
        return true;
    }
    if (rd_has_pattern(x))
        return is_stored_repeated(x, a, depth);
    if (x->kind != RD_EXPR_MAP && x->kind != RD_EXPR_COMPLEX)
        return false;
    for (int k = 0; k < x->n_in; k++)
        if (depth == 0 || !is_repeated(x->in[k], a, depth - 1))
            return false;
    return true;
}

/* Returns the axis of x that is `from_end` axes before its last one. -1 if its origin (first index)
 * does not count, as x lacks the axis or repeats along it.  An axis of one element counts only if
 * all operands have one (`all_are_1`) and it has an origin. */
static int axis_from_end(const rd_expr *x, int from_end, bool all_are_1)
{
    const int a = x->rank - 1 - from_end;

    if (a < 0)
        return -1;
    if (x->extent[a] == 1)
        return all_are_1 && rd_origin(x, a) ? a : -1;
    return is_repeated(x, a, /*depth=*/4) ? -1 : a;
}

/* Records that axis a of `first` and axis b of operand k begin at different indices; returns false.
 * `axis` is the result's. */
static bool fail_indices(const char *call, const rd_expr *first, int a, int k, const rd_expr *x,
                         int b, int axis)
{
    rd_fail(x->ctx, RD_ERR_SHAPE,
            "%s: axis %d has indices %" PRId64 " to %" PRId64 " in operand %d, and %" PRId64
            " to %" PRId64 " in one before it; rd_reindex() moves them",
            call, axis, rd_origin(x, b), rd_origin(x, b) + x->extent[b] - 1, k, rd_origin(first, a),
            rd_origin(first, a) + first->extent[a] - 1);
    return false;
}

/* True if operands that broadcast begin at the same index (origin) along all axes but `axis`, an
 * axis of the result.  Axes that repeat fit any origin.  False after recording for `call`. */
bool rd_ranges_meet_beside(const char *call, int n, rd_expr *const *x, int axis)
{
    int  rank = 0;     /* of the result */
    bool any  = false; /* some operand has origins */

    for (int k = 0; k < n; k++) {
        any |= x[k]->origin != NULL;
        rank = x[k]->rank > rank ? x[k]->rank : rank;
    }
    /* e: axes from the end, where shapes are aligned */
    for (int e = 0; any && e < rank; e++) {
        const rd_expr *first     = NULL;
        bool           all_are_1 = true;

        if (rank - 1 - e == axis)
            continue;
        for (int k = 0; k < n; k++)
            all_are_1 &= x[k]->rank <= e || x[k]->extent[x[k]->rank - 1 - e] == 1;
        for (int k = 0; k < n; k++) {
            const int b = axis_from_end(x[k], e, all_are_1);

            if (b < 0)
                continue;
            if (!first)
                first = x[k];
            if (rd_origin(first, first->rank - 1 - e) != rd_origin(x[k], b))
                return fail_indices(call, first, first->rank - 1 - e, k, x[k], b, rank - 1 - e);
        }
    }
    return true;
}

/* True if operands that broadcast begin at the same index (origin) along all axes.  False after
 * recording for `call`. */
bool rd_ranges_meet(const char *call, int n, rd_expr *const *x)
{
    return rd_ranges_meet_beside(call, n, x, /*axis=*/-1);
}

/* ---- Shapes ---------------------------------------------------------------------------------- */
/* Records that the shape of operand k does not fit the operands before it; returns false. */
static bool fail_shapes(const char *call, const rd_expr *x, int k, int rank, const int64_t *extent)
{
    char own[RD_SHAPE_TEXT], common[RD_SHAPE_TEXT];

    rd_fail(x->ctx, RD_ERR_SHAPE, "%s: shapes do not broadcast: operand %d has shape %s, %s %s",
            call, k, rd_shape_text(x->rank, x->extent, own),
            k == 1 ? "operand 0 has" : "those before it have", rd_shape_text(rank, extent, common));
    return false;
}

/* Finds the shape to which operands broadcast by NumPy's rules: axes are aligned at the end, and an
 * extent of 1 repeats.  Origins (first indices of axes) must agree.  False after recording for
 * `call`. */
bool rd_common_shape(const char *call, int n, rd_expr *const *x, int *rank, int64_t *extent)
{
    char text[RD_SHAPE_TEXT];

    *rank = 0;
    for (int k = 0; k < n; k++) {
        /* axes that operand k has more than those before it */
        const int grow = x[k]->rank > *rank ? x[k]->rank - *rank : 0;
        int64_t   joined[RD_MAX_RANK];
        for (int a = 0; a < *rank + grow; a++)
            joined[a] = a < grow ? 1 : extent[a - grow];
        for (int a = 0; a < x[k]->rank; a++) {
            int64_t *common = &joined[*rank + grow - x[k]->rank + a];
            if (*common != x[k]->extent[a] && *common != 1 && x[k]->extent[a] != 1)
                return fail_shapes(call, x[k], k, *rank, extent);
            *common = *common == 1 ? x[k]->extent[a] : *common;
        }
        *rank += grow;
        memcpy(extent, joined, (size_t)*rank * sizeof *extent);
    }
    if (rd_points(*rank, extent) >= 0)
        return rd_ranges_meet(call, n, x);
    rd_fail(x[0]->ctx, RD_ERR_SHAPE, "%s: the size of the common shape overflows, %s", call,
            rd_shape_text(*rank, extent, text));
    return false;
}
