/* draw_views.c - windows; takes, concatenations, transposed copies, parts of reductions. */
#include "sweep.h"
#include <math.h>
#include <stddef.h>
#include <string.h>

/* ---- Windows --------------------------------------------------------------------------------- */
static node *moving(dice *d, program *p)
{
    static const fold_kind folds[] = { F_MEAN, F_SUM, F_MAX, F_MIN, F_MEAN, F_VAR };
    static const int64_t   sizes[] = { 2, 3, 4, 5, 7, 16, 30, 64 };
    const rd_dtype         type    = sweep_chance(d, 0.85) ? sweep_draw_float(d) : RD_I32;
    const shape s = sweep_draw_shape(d, sweep_draw_count(d, p, type) / 4 + 8, 1 + sweep_roll(d, 3));
    node       *x = sweep_draw_leaf(d, p, type, &s, 0, 9), *w;

    if (sweep_chance(d, 0.3))
        x = sweep_draw_map(d, p, x, 1);
    if (!x)
        return NULL;
    w = sweep_window(p, x, sweep_roll(d, s.rank), sizes[sweep_roll(d, 8)],
                     sweep_chance(d, 0.8) ? 1 : 2);
    return w ? sweep_reduce(p, folds[sweep_roll(d, 6)], w, 1U << (w->rank - 1), false) : NULL;
}

/* Weighted windows of one axis or of two. */
static node *convolution(dice *d, program *p)
{
    const rd_dtype type = sweep_chance(d, 0.6) ? RD_F32 : RD_F64;
    const int      rank = 1 + sweep_roll(d, 2), axes = rank == 2 && sweep_chance(d, 0.6) ? 2 : 1;
    const shape    s = sweep_draw_shape(d, sweep_draw_count(d, p, type) / 4 + 30, rank);
    const int64_t  n = axes == 2 ? 3 + 2 * sweep_roll(d, 2) : 3 + sweep_roll(d, 14);
    const shape    k = { axes, { n, n } };
    node          *x = sweep_draw_leaf(d, p, type, &s, 0, 1), *w = x;

    for (int i = 0; i < axes; i++)
        w = sweep_window(p, w, rank - axes + i, n, 1);
    if (!w)
        return NULL;
    w = sweep_map(p, "mul", w, sweep_plain_leaf(p, type, &k, -1, 1));
    return w ? sweep_reduce(p, F_SUM, w, axes == 2 ? 3U << (w->rank - 2) : 1U << (w->rank - 1),
                            false)
             : NULL;
}

/* The greatest of each n x n. */
static node *greatest(dice *d, program *p)
{
    const rd_dtype type = sweep_chance(d, 0.5) ? RD_U8 : RD_F32;
    const shape    s    = sweep_draw_shape(d, sweep_draw_count(d, p, type) / 4 + 30, 2);
    const int64_t  n = 2 + sweep_roll(d, 3), step = sweep_chance(d, 0.4) ? n : 1;
    node          *x = sweep_draw_leaf(d, p, type, &s, 0, type == RD_U8 ? 255 : 1);

    x = sweep_window(p, sweep_window(p, x, 0, n, step), 1, n, step);
    return sweep_reduce(p, sweep_chance(d, 0.5) ? F_MAX : F_MEAN, x, 12, false);
}

void sweep_draw_windows(dice *d, program *p)
{
    static node *(*const made[])(dice *, program *) = { moving,      moving,      moving,
                                                        convolution, convolution, greatest };

    p->root[p->n_roots++] = made[sweep_roll(d, 6)](d, p);
}

/* ---- Views ----------------------------------------------------------------------------------- */
static node *taken(dice *d, program *p)
{
    node       *x    = sweep_draw_values(d, p, 1 + sweep_roll(d, 3), 0), *y;
    const int   axis = sweep_roll(d, x->rank);
    const shape s    = { 1, { sweep_log_between(d, 1, fmin(2 * (double)x->n[axis], 1e6)) } };
    node       *i =
        sweep_plain_leaf(p, sweep_chance(d, 0.5) ? RD_I64 : RD_I32, &s, 0, (double)x->n[axis] - 1);

    if (sweep_elements(x) / x->n[axis] * s.n[0] > 20000000)
        return NULL;
    y = sweep_draw_map(d, p, sweep_take(p, x, axis, i), sweep_roll(d, 3));
    if (y && sweep_chance(d, 0.6))
        y = sweep_reduce(p, sweep_chance(d, 0.5) ? F_SUM : F_MAX, y, sweep_draw_dims(d, y->rank),
                         false);
    return y;
}

static node *joined(dice *d, program *p)
{
    node     *x    = sweep_draw_values(d, p, 0, 0), *y;
    const int axis = sweep_roll(d, x->rank);
    shape     s    = { x->rank, { 0 } };

    memcpy(s.n, x->n, sizeof s.n);
    s.n[axis] = 1 + sweep_roll(d, (int)x->n[axis]);
    y         = sweep_concat(p, x, sweep_draw_leaf(d, p, x->type, &s, x->r.lo, x->r.hi), axis);
    y         = sweep_draw_map(d, p, y, sweep_roll(d, 2));
    if (y && sweep_chance(d, 0.5))
        y = sweep_reduce(p, sweep_chance(d, 0.5) ? F_SUM : F_MEAN, y, sweep_draw_dims(d, y->rank),
                         false);
    return y;
}

static node *transposed(dice *d, program *p)
{
    node *x = sweep_draw_values(d, p, 2 + sweep_roll(d, 3), 0);
    int   order[MOST_RANK];

    for (int k = 0; k < x->rank; k++)
        order[k] = x->rank - 1 - k;
    if (x->rank > 2 && sweep_chance(d, 0.5)) {
        order[0] = 0;
        for (int k = 1; k < x->rank; k++)
            order[k] = x->rank - k;
    }
    return sweep_draw_map(d, p, sweep_permute(p, x, order), sweep_roll(d, 3));
}

/* Elements of a sum that is not computed as a whole: loops take the part first. */
static node *part_of_sum(dice *d, program *p)
{
    static const fold_kind folds[] = { F_SUM, F_MEAN, F_MAX, F_VAR };
    node                  *x =
        sweep_draw_map(d, p, sweep_draw_values(d, p, 2 + sweep_roll(d, 2), 0), sweep_roll(d, 3));
    const fold_kind f = folds[sweep_roll(d, 4)];
    node           *r;
    int64_t         at;

    if (!x || x->type == RD_BOOL)
        return NULL;
    at = sweep_roll(d, (int)x->n[0]);
    r  = sweep_reduce(p, f, x, 1U << (x->rank - 1), false);
    if (sweep_chance(d, 0.5)) {
        const int64_t stop = at + 1 + sweep_roll(d, (int)(x->n[0] - at));

        p->loops_root[0] =
            sweep_reduce(p, f, sweep_range(p, x, 0, at, stop, 1), 1U << (x->rank - 1), false);
        return sweep_range(p, r, 0, at, stop, 1);
    }
    p->loops_root[0] = sweep_reduce(p, f, sweep_select(p, x, 0, at), 1U << (x->rank - 2), false);
    return sweep_select(p, r, 0, at);
}

/* Slices of the operand; the lower triangle; traces. */
static node *sliced(dice *d, program *p)
{
    node         *x    = sweep_draw_values(d, p, 1 + sweep_roll(d, 3), 0);
    const int     axis = sweep_roll(d, x->rank);
    const int64_t n = x->n[axis], lo = sweep_roll(d, (int)n),
                  hi = lo + 1 + sweep_roll(d, (int)(n - lo));

    x = sweep_chance(d, 0.3) ? sweep_flip(p, x, axis)
                             : sweep_range(p, x, axis, lo, hi, 1 + sweep_roll(d, 2));
    x = sweep_draw_map(d, p, x, sweep_roll(d, 3));
    if (x && sweep_chance(d, 0.5))
        x = sweep_reduce(p, sweep_chance(d, 0.5) ? F_SUM : F_MEAN, x, sweep_draw_dims(d, x->rank),
                         false);
    return x;
}

/* Neighbours: x[1:] - x[:-1]. */
static node *differences(dice *d, program *p)
{
    const rd_dtype type = sweep_draw_float(d);
    const shape    s    = sweep_draw_shape(d, sweep_draw_count(d, p, type), 0);
    node          *x    = sweep_draw_leaf(d, p, type, &s, -1, 1), *y;
    const int      axis = sweep_roll(d, x->rank);

    if (x->n[axis] < 2)
        return NULL;
    y = sweep_map(p, "sub", sweep_range(p, x, axis, 1, x->n[axis], 1),
                  sweep_range(p, x, axis, 0, x->n[axis] - 1, 1));
    if (sweep_chance(d, 0.5))
        y = sweep_reduce(p, F_NORM, y, sweep_draw_dims(d, x->rank), false);
    return y;
}

static node *triangle(dice *d, program *p)
{
    node *x = sweep_draw_values(d, p, 2, 0), *low;

    if (sweep_chance(d, 0.2))
        return sweep_reduce(p, F_SUM, sweep_diagonal(p, x), 1, false);
    low = sweep_map(p, "ge", sweep_coord(p, x, 0), sweep_coord(p, x, 1));
    if (sweep_chance(d, 0.5)) {
        node *r = sweep_reduce(p, F_SUM, x, sweep_draw_dims(d, 2), false);

        if (r)
            r->where = low;
        return r;
    }
    return x->type == RD_BOOL ? NULL : sweep_where(p, low, x, sweep_number(p, 0, x->type));
}

void sweep_draw_views(dice *d, program *p)
{
    static node *(*const made[])(
        dice *, program *) = { taken,      taken,       joined, joined,      transposed,
                               transposed, part_of_sum, sliced, differences, triangle };

    p->root[p->n_roots++] = made[sweep_roll(d, 10)](d, p);
}
