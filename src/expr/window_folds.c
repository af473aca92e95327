/* window_folds.c - reductions of overlapping windows, as rolling reductions of the array below
 * the windows.
 *
 * A window of 15 x 15 pixels has 225 elements, and shares 210 of them with its neighbour.  Sums
 * of 15 pixels of a row, and then sums of 15 of these, give the same result: a fold over several
 * axes of a window is a fold along each of them.  So a reduced axis that moves with a kept one,
 * as in element i + w of a row, becomes a rolling reduction (rolling.c), axis by axis.
 *
 * The decision changes rounding, so it depends on nothing but the operand. */
#include "expr/window_folds.h"
#include "expr/affine.h"
#include "expr/maps.h"
#include "expr/origin.h"
#include "expr/plain.h"
#include "expr/rolling.h"
#include <string.h>

enum {
    FEW   = 8, /* smaller windows are folded as fast */
    SHORT = 4, /* axes of windows up to this length need no loop */
    /* up to so many elements in windows of longer axes, storing and reading rows again costs as
     * much as it saves */
    SQUARE  = 32,
    SMALL   = 1 << 14, /* with fewer elements in all windows, a longer plan costs more */
    DEEPEST = 64       /* most nodes between windows and the reduction */
};

/* ---- Windows that are found ------------------------------------------------------------------ */
/* True if a step along axis k of x reads the same elements below as a step along axis w does, as in
 * u[k + w].  *moves becomes true if it moves at all.  *budget is the number of nodes that may still
 * be visited; without any, the answer is false. */
static bool move_together(const rd_expr *x, int k, int w, bool *moves, int *budget)
{
    if (--*budget < 0)
        return false;
    if (x->kind == RD_EXPR_VIEW) {
        const rd_expr *of = x->in[0];

        for (int a = 0; a < of->rank; a++) {
            const int64_t *coef = x->as.view->number + of->rank + (ptrdiff_t)a * x->rank;

            if (coef[k] != coef[w])
                return false;
            *moves |= coef[k] != 0;
        }
        return true;
    }
    if (x->kind != RD_EXPR_MAP)
        return false;
    for (int i = 0; i < x->n_in; i++)
        if (!move_together(x->in[i], k, w, moves, budget))
            return false;
    return true;
}

/* True if the reduced axis w goes over overlapping windows that start along axis k, as in x[k + w]:
 * not more elements in a window than there are windows. */
static bool is_window(const rd_expr *x, int k, int w)
{
    bool moves  = false;
    int  budget = DEEPEST;

    return x->extent[k] >= x->extent[w] && move_together(x, k, w, &moves, &budget) && moves;
}

/* Pairs each reduced axis w with a kept axis k that moves with it (element k + w of a row:
 * overlapping windows); each kept axis serves once. all->gone is the set of window axes,
 * all->elements the size of a window. */
static void find_axes(rd_windows *all, const rd_expr *x, uint64_t reduced)
{
    uint64_t free = ~reduced;

    for (int w = 0; w < x->rank; w++)
        for (int k = 0; k < x->rank && reduced >> w & 1; k++)
            if (free >> k & 1 && x->extent[w] > 1 && is_window(x, k, w)) {
                all->kept[all->n]     = k;
                all->window[all->n++] = w;
                all->elements *= x->extent[w];
                all->gone |= UINT64_C(1) << w;
                free &= ~(UINT64_C(1) << k);
                break;
            }
}

/* Chooses the rolling reduction for the reducer.  False: there is none, or the order of elements is
 * fixed (RD_LAW_serial), which rolling changes. */
static bool find_what(rd_windows *all, const rd_fold_facts *facts)
{
    switch (rd_reducer_table[facts->reducer].op) {
    case RD_OP_add: all->what = RD_ROLLED_SUM; break;
    case RD_OP_minimum: all->what = RD_ROLLED_MIN; break;
    case RD_OP_maximum: all->what = RD_ROLLED_MAX; break;
    case RD_OP_or: all->what = RD_ROLLED_ANY; break;
    case RD_OP_and: all->what = RD_ROLLED_ALL; break;
    default:
        if (facts->reducer != RD_RED_moments)
            return false;
        all->what = RD_ROLLED_VAR;
    }
    return facts->law != RD_LAW_serial;
}

/* True if the only window axis is short and lies across memory: rolling would make a fold over each
 * window of it again, and never end. */
static bool are_folds(const rd_windows *all, const rd_expr *x)
{
    const int k = all->kept[0];

    return all->n == 1 &&
           rd_rolling_is_fold(x, k, all->what, x->extent[all->window[0]], x->extent[k]);
}

/* True if rolling along each axis costs less than folding all elements of each window.  A fold of
 * few elements is as fast; so is one of up to 32 in longer axes, where rows would be stored and
 * read again. */
static bool are_worth_it(const rd_windows *all, const rd_expr *x)
{
    bool short_ones = true;

    for (int p = 0; p < all->n; p++)
        short_ones &= x->extent[all->window[p]] <= SHORT;
    return all->elements >= FEW &&
           (all->n == 1 || all->what == RD_ROLLED_VAR || short_ones || all->elements > SQUARE);
}

/* True if the fold reduces overlapping windows, and rolling reductions axis by axis are worth it;
 * then `all` is filled in.  A variance needs all reduced axes to be windows, as it is made of
 * squares about means.  Cheap conditions come first. */
bool rd_windows_found(rd_windows *all, const rd_folding *f, const rd_expr *x,
                      const rd_fold_facts *facts)
{
    memset(all, 0, sizeof *all);
    all->elements = 1;
    if (f->scan || f->where || f->label || rd_points(x->rank, x->extent) < SMALL ||
        !find_what(all, facts))
        return false;
    find_axes(all, x, f->bits);
    return all->n && are_worth_it(all, x) && (all->what != RD_ROLLED_VAR || all->gone == f->bits) &&
           !are_folds(all, x);
}

/* ---- The array below the windows ------------------------------------------------------------- */
/* The number that an axis gets once the axes in the bit set `gone`, of which it is none, are
 * removed: gone axes below it do not count. */
static int axis_without(uint64_t gone, int axis)
{
    return axis - __builtin_popcountll(gone & ((UINT64_C(1) << axis) - 1));
}

/* Makes the view x without its window axes, with the extents of the result: their columns leave the
 * coefficient matrix. */
static rd_expr *view_without(const rd_windows *all, const rd_expr *x, int rank,
                             const int64_t *extent)
{
    const rd_expr *of   = x->in[0];
    const int64_t *from = x->as.view->number;
    int64_t        number[RD_VIEW_NUMBERS];

    memcpy(number, from, (size_t)of->rank * sizeof *number);
    for (int a = 0; a < of->rank; a++)
        for (int k = 0, to = 0; k < x->rank; k++)
            if (!(all->gone >> k & 1))
                number[of->rank + a * rank + to++] = from[of->rank + a * x->rank + k];
    return rd_view(x->in[0], rank, extent, number, /*origin=*/NULL);
}

/* Makes x, views and maps of them, without the axes of windows: u[k + w] becomes u[k].  The kept
 * axes get longer by a window less 1, so that they reach the end of the last window. */
static rd_expr *without_windows(const rd_windows *all, const rd_expr *x)
{
    int64_t  extent[RD_MAX_RANK];
    rd_expr *in[RD_MOST_ARITY];
    int      rank = 0;

    for (int k = 0; k < x->rank; k++)
        if (!(all->gone >> k & 1))
            extent[rank++] = x->extent[k];
    for (int p = 0; p < all->n; p++)
        extent[axis_without(all->gone, all->kept[p])] += x->extent[all->window[p]] - 1;
    if (x->kind == RD_EXPR_VIEW)
        return view_without(all, x, rank, extent);
    for (int i = 0; i < x->n_in; i++)
        if (!(in[i] = without_windows(all, x->in[i])))
            return NULL;
    return rd_node(&(rd_expr){ .ctx    = x->ctx,
                               .kind   = RD_EXPR_MAP,
                               .type   = x->type,
                               .op     = x->op,
                               .rank   = rank,
                               .n_in   = x->n_in,
                               .extent = extent,
                               .in     = in },
                   x->as.any, x->as_size);
}

/* ---- Axis by axis ---------------------------------------------------------------------------- */
/* Reduces each window of n neighbours along an axis.  For RD_ROLLED_VAR it makes the sums of
 * squares about their means: a ddof of n - 1 makes the divisor 1. */
static rd_expr *roll_along(const rd_windows *all, rd_rolled what, rd_expr *x, int axis, int64_t n)
{
    rd_rolling r = { .call = all->call, .what = what, .x = x, .axis = axis, .n = n };

    r.ddof    = (double)(n - 1);
    r.near    = all->n > 1;            /* centred() has subtracted a middle element */
    r.careful = what == RD_ROLLED_VAR; /* no prefix sums, which cancel */
    if (!x)
        return NULL;
    r.type = x->type;
    return rd_rolling_reduced(&r);
}

/* Subtracts from x its middle element along the window axes, if that is finite: sums of the
 * differences round less. */
static rd_expr *centred(const rd_windows *all, rd_expr *x)
{
    rd_expr *middle = x;

    for (int p = 0; p < all->n && middle; p++) {
        const int64_t half = middle->extent[all->kept[p]] / 2;

        middle = rd_slice_places(middle, all->kept[p], half, half + 1, 1);
    }
    if (!middle)
        return NULL;
    middle =
        map_where(all->call, map_1(RD_OP_isfinite, all->call, middle), middle, rd_int(x->ctx, 0));
    return map_2(RD_OP_sub, all->call, x, middle);
}

/* Makes the variances of windows, axis by axis: the sum of squares about the mean over count -
 * ddof; 0 or less gives NaN.  The squares of several parts are the sum of the parts' own squares,
 * and of the squares of their means about the common mean (Chan, Golub and LeVeque 1979). */
static rd_expr *variance(const rd_windows *all, rd_expr *x, double ddof)
{
    rd_expr *sum     = all->n > 1 ? centred(all, x) : x;
    rd_expr *squares = NULL;
    int64_t  count   = 1; /* elements of a part */

    for (int p = 0; p < all->n; p++) {
        const int     axis  = all->kept[p];
        const int64_t n     = all->extent[p];
        rd_expr      *about = roll_along(all, RD_ROLLED_VAR, sum, axis, n);

        if (p)
            about = map_2(RD_OP_div, all->call, about, rd_num(x->ctx, (double)count));
        if (p)
            about = map_2(RD_OP_add, all->call, about,
                          roll_along(all, RD_ROLLED_SUM, squares, axis, n));
        squares = about;
        /* sums of parts, from which the next axis makes its means */
        if (p + 1 < all->n)
            sum = roll_along(all, RD_ROLLED_SUM, sum, axis, n);
        count *= n;
    }
    const double by = (double)count - ddof;

    return map_2(RD_OP_div, all->call, squares, rd_num(x->ctx, by > 0 ? by : (double)NAN));
}

/* Makes the window axis that is contiguous in memory the first to be reduced, by exchanging it with
 * axis 0: the other axes then have fewer elements. */
static void put_along_first(rd_windows *all, const rd_expr *x)
{
    for (int p = 1; p < all->n; p++)
        if (rd_rolling_is_along(x, all->kept[p])) {
            const int     axis = all->kept[0];
            const int64_t n    = all->extent[0];

            all->kept[0]   = all->kept[p];
            all->extent[0] = all->extent[p];
            all->kept[p]   = axis;
            all->extent[p] = n;
            return;
        }
}

/* Reduces x, from which window axes were removed, along the reduced axes that are no windows; x
 * itself if there is none. */
static rd_expr *reduce_others(rd_windows *all, const rd_folding *f, rd_expr *x,
                              rd_fold_facts *facts)
{
    rd_folding rest = *f;

    rest.x    = x;
    rest.bits = 0;
    for (int a = 0; a < f->x->rank; a++)
        if (f->bits >> a & 1 && !(all->gone >> a & 1))
            rest.bits |= UINT64_C(1) << axis_without(all->gone, a);
    if (!rest.bits)
        return x;
    rest.opts.dims.flags &= ~RD_DIMS_KEEP;
    return rd_folding_node(&rest, x, /*weights=*/NULL, x->type, facts);
}

/* Makes the fold of overlapping windows by rolling reductions: removes the window axes from x, then
 * reduces the windows along each kept axis in turn. */
rd_expr *rd_windows_folded(rd_windows *all, const rd_folding *f, rd_expr *x, rd_fold_facts *facts)
{
    rd_expr *y = without_windows(all, x);

    all->call = f->call;
    for (int p = 0; p < all->n; p++)
        all->extent[p] = x->extent[all->window[p]];
    y = y ? reduce_others(all, f, y, facts) : NULL;
    for (int p = 0; p < all->n; p++)
        /* the number of the axis after all reduced axes are gone */
        all->kept[p] = axis_without(f->bits, all->kept[p]);
    if (!y)
        return NULL;
    put_along_first(all, y);
    if (all->what == RD_ROLLED_VAR)
        y = variance(all, y, facts->ddof);
    for (int p = 0; p < all->n && all->what != RD_ROLLED_VAR; p++)
        y = roll_along(all, all->what, y, all->kept[p], all->extent[p]);
    return rd_folding_kept(f, y);
}
