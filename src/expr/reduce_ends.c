/* reduce_ends.c - the first and the last element along axes, minimum and maximum together, and
 * the integral by trapezoids.
 *
 * Words. An expression is real if it is not complex. */
#include "expr/along.h"
#include "expr/complex.h"
#include "expr/grouped.h"
#include "expr/maps.h"
#include "expr/origin.h"
#include "expr/reduce.h"
#include <math.h>

/* ---- First and last -------------------------------------------------------------------------- */
/* True if every result of first/last has an element to choose, or .initial, or may be NaN.  False
 * after recording what is wrong. */
static bool has_choice(const rd_folding *f)
{
    char shape[RD_SHAPE_TEXT];
    bool any_result;

    if (rd_folding_may_lack_a_value(f, f->x->type))
        return false;
    if (f->label || rd_folding_extent(f, &any_result) || !any_result || f->opts.initial)
        return true;
    rd_fail(f->x->ctx, RD_ERR_EMPTY, "%s: no element in an operand of shape %s", f->call,
            rd_shape_text(f->x->rank, f->x->extent, shape));
    return false;
}

/* The position in each row of the first, or last, element that the mask lets take part; -1: there
 * is none.  It is the minimum, or maximum, of the positions under the mask.  `none` is worse than
 * any position, so it stays if no element takes part. */
static rd_expr *chosen_place(const rd_folding *f, rd_expr *rows, bool last)
{
    const int     end   = rows->rank - 1;
    const int64_t n     = rows->extent[end];
    rd_expr      *mask  = rd_folding_rows(f, f->where);
    rd_expr      *place = rd_places(rows, end);
    rd_expr      *none  = rd_int(rows->ctx, last ? -1 : n);

    place = place ? rd_broadcast_to(place, rows->rank, rows->extent, f->call) : NULL;
    if (!mask || !place || !none)
        return NULL;
    if (last)
        return rd_max(place, RD_DIMS(-1), .where = mask, .initial = none);
    place = rd_min(place, RD_DIMS(-1), .where = mask, .initial = none);
    return rd_where(rd_eq(place, none), rd_int(rows->ctx, -1), place);
}

/* The first or last element of each row (the reduced axes as one) that the mask lets take part.  A
 * row without any gets .initial, or NaN. */
static rd_expr *chosen_of(const rd_folding *f, bool last)
{
    rd_expr *rows = rd_folding_rows(f, f->x);

    if (!rows)
        return NULL;
    rd_expr *other = f->opts.initial ? rd_fit_to(f->opts.initial, f->x->type, f->call)
                                     : rd_cast_to(rd_num(rows->ctx, NAN), f->x->type);
    if (rows->extent[rows->rank - 1] == 0)
        return other ? rd_broadcast_to(other, rows->rank - 1, rows->extent, f->call) : NULL;
    if (!f->where)
        return rd_select_place(rows, -1, last ? -1 : 0);
    rd_expr *place = chosen_place(f, rows, last);
    /* clamped: position -1 is replaced below */
    rd_expr *at = rd_expand(rd_maximum(place, rd_int(rows->ctx, 0)), -1);
    rd_expr *y  = rd_squeeze(rd_take_places_along(rows, rows->rank - 1, at), RD_DIMS(-1));

    return rd_where(rd_lt(place, rd_int(rows->ctx, 0)), other, y);
}

/* The first or last element of each group, along a last axis of groups: the least or greatest
 * position of the group, at which the row is read.  A group without elements gets .initial, or
 * NaN. */
static rd_expr *chosen_by_label(const rd_folding *f, bool last)
{
    rd_ctx *const  ctx  = f->x->ctx;
    rd_expr *const rows = rd_folding_rows(f, f->x), *const label = rd_grouped_label(f);
    rd_expr *const other = f->opts.initial ? rd_fit_to(f->opts.initial, f->x->type, f->call)
                                           : rd_cast_to(rd_num(ctx, NAN), f->x->type);

    if (!rows || !label || !other)
        return NULL;
    const int64_t n = rows->extent[rows->rank - 1];
    if (n == 0)
        return rd_grouped_of_nothing(f, other);
    rd_expr       *place = rd_places(rows, rows->rank - 1);
    rd_expr *const none = rd_int(ctx, last ? -1 : n), *const by[] = { label };

    place = place ? rd_broadcast_to(place, rows->rank, rows->extent, f->call) : NULL;
    place = rd_reduce_for(f->call, place, last ? "max" : "min",
                          &(rd_reduce_opts){ .size    = sizeof(rd_reduce_opts),
                                             .dims    = RD_DIMS(-1),
                                             .initial = none,
                                             .by      = { by, 1 },
                                             .groups  = RD_SHAPE(f->n_group) });
    return map_where(f->call, map_2(RD_OP_eq, f->call, place, none), other,
                     rd_grouped_take(f->call, rows, place));
}

/* Makes the first or last element along the reduced axes of a real operand, by group label, if any,
 * or by rows. */
static rd_expr *first_or_last_of_reals(rd_folding *f, const rd_reduce_opts *opts, bool last)
{
    if (!rd_operands(f->call, 1, &f->x) || !rd_folding_begin(f, opts, RD_TAKES_INITIAL) ||
        !has_choice(f))
        return NULL;
    if (f->label)
        return rd_folding_as_asked(f, rd_grouped_as_seen(f, chosen_by_label(f, last)), f->x->type);
    rd_expr *y = rd_folding_as_asked(f, chosen_of(f, last), f->x->type);

    return rd_folding_kept(f, y);
}

/* Makes the first or last element of a real operand, or of both parts of a complex one, with the
 * keywords of each part. */
static rd_expr *first_or_last(rd_folding *f, const rd_reduce_opts *opts, bool last)
{
    rd_expr *const x = f->x;
    rd_reduce_opts part[2];
    rd_folding     of[2] = { *f, *f };

    if (!x || !rd_is_complex(x))
        return first_or_last_of_reals(f, opts, last);
    if (!rd_complex_options(f->call, 1, &x, opts, /*complex=*/true, part))
        return NULL;
    of[0].x = rd_real(x);
    of[1].x = rd_imag(x);
    return rd_complex_of(first_or_last_of_reals(&of[0], &part[0], last),
                         first_or_last_of_reals(&of[1], &part[1], last), f->call);
}

/* The first element along axes that the mask lets take part: the public call. */
rd_expr *rd_first_of(rd_expr *x, const rd_reduce_opts *opts)
{
    return first_or_last(&(rd_folding){ .call = "rd_first", .x = x }, opts, /*last=*/false);
}

/* The last element along axes that the mask lets take part: the public call. */
rd_expr *rd_last_of(rd_expr *x, const rd_reduce_opts *opts)
{
    return first_or_last(&(rd_folding){ .call = "rd_last", .x = x }, opts, /*last=*/true);
}

/* ---- Both extremes --------------------------------------------------------------------------- */
/* Minimum and maximum along axes, as a new first axis of 2.  Both folds share the loop over x, so
 * one pass computes them. */
rd_expr *rd_minmax_of(rd_expr *x, const rd_reduce_opts *opts)
{
    rd_expr *const both[] = { rd_reduce_name(x, "min", opts), rd_reduce_name(x, "max", opts) };

    return rd_stack(0, (rd_exprs){ both, 2 });
}

/* ---- Trapezoids ------------------------------------------------------------------------------ */
/* The integral of y along an axis: sum((x[i+1] - x[i]) * (y[i] + y[i+1]) / 2). x is positions along
 * the axis, or one distance. */
rd_expr *rd_trapezoid(rd_expr *y, rd_expr *x, int axis)
{
    static const char call[]     = "rd_trapezoid";
    rd_expr *const    operands[] = { y, x };
    int               a;

    if (!rd_operands(call, 2, operands) || (a = rd_axis(y, axis, call)) < 0)
        return NULL;
    if (!rd_positions_ok(call, x, y, a))
        return NULL;
    y = rd_real_numbers(y);
    x = rd_real_numbers(x);
    if (!y || !x)
        return NULL;
    rd_expr *width = rd_positions_along(x, y, a); /* one distance, if x is a number */

    if (x->rank > 0)
        width = rd_sub(rd_slice_places(width, a, 1, RD_OPEN, 1),
                       rd_slice_places(width, a, RD_OPEN, -1, 1));
    rd_expr *height =
        rd_add(rd_slice_places(y, a, 1, RD_OPEN, 1), rd_slice_places(y, a, RD_OPEN, -1, 1));

    return rd_sum(rd_mul(rd_mul(width, height), rd_num(y->ctx, 0.5)), RD_DIMS(a));
}
