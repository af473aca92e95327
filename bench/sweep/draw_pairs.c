/* draw_pairs.c - every point with every other, by broadcasting. */
#include "sweep.h"
#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct points {
    rd_dtype type;
    int64_t  n, m, d;
    node    *a, *b; /* (n, d), (m, d) */
} points;

/* whole: coordinates without a fraction, so that a nearest point does not depend on rounding. */
static points draw_points(dice *d, program *p, bool whole)
{
    static const int64_t dims[] = { 1, 2, 3, 3, 3, 8, 16, 50 };
    points q = { .type = sweep_chance(d, 0.6) ? RD_F32 : RD_F64, .d = dims[sweep_roll(d, 8)] };
    const double most  = fmin(1.5e7, p->max_bytes) / (double)q.d,
                 pairs = (double)sweep_log_between(d, 50, fmax(60, most));
    const double share = sweep_between(d, 0.25, 0.75);

    q.n = (int64_t)fmax(1, pow(pairs, share));
    q.m = (int64_t)fmax(1, pow(pairs, 1 - share));
    {
        const shape a = { 2, { q.n, q.d } }, b = { 2, { q.m, q.d } };

        q.a = sweep_draw_leaf(d, p, q.type, &a, 0, whole ? 31 : 1);
        q.b = sweep_draw_leaf(d, p, q.type, &b, 0, whole ? 31 : 1);
    }
    p->leaves[0].whole = p->leaves[1].whole = whole;
    return q;
}

/* (n, 1, d) op (1, m, d) */
static node *across(program *p, const char *op, const points *q)
{
    return sweep_map(p, op, sweep_expand(p, q->a, 1), sweep_expand(p, q->b, 0));
}

static node *squared_distances(program *p, const points *q)
{
    return sweep_reduce(p, F_SUM, sweep_map(p, "square", across(p, "sub", q), NULL), 4, false);
}

static node *distances_reduced(dice *d, program *p)
{
    static const fold_kind folds[] = { F_SUM, F_MIN, F_MAX, F_MEAN };
    const points           q       = draw_points(d, p, false);
    node                  *d2      = squared_distances(p, &q);

    if (sweep_chance(d, 0.3))
        d2 = sweep_map(p, "sqrt", d2, NULL);
    return d2 ? sweep_reduce(p, folds[sweep_roll(d, 4)], d2, 1U + (unsigned)sweep_roll(d, 3), false)
              : NULL;
}

static node *all_distances(dice *d, program *p)
{
    const points q = draw_points(d, p, false);

    return sweep_map(p, "sqrt", squared_distances(p, &q), NULL);
}

static node *nearest(dice *d, program *p)
{
    const points q  = draw_points(d, p, true);
    node        *d2 = squared_distances(p, &q);

    if (d2)
        d2->exact = true;
    return sweep_reduce(p, sweep_chance(d, 0.5) ? F_ARGMIN : F_ARGMAX, d2, 2, false);
}

/* sum_j exp(-|a_i - b_j|^2) w_j */
static node *gaussian_sum(dice *d, program *p)
{
    const points q  = draw_points(d, p, false);
    node        *d2 = squared_distances(p, &q), *e;
    const shape  s  = { 1, { q.m } };

    if (!d2)
        return NULL;
    e = sweep_map(p, "exp",
                  sweep_map(p, "neg", sweep_map(p, "mul", d2, sweep_number(p, 0.5, q.type)), NULL),
                  NULL);
    if (sweep_chance(d, 0.5))
        e = sweep_map(p, "mul", e, sweep_draw_leaf(d, p, q.type, &s, -1, 1));
    return sweep_reduce(p, F_SUM, e, 2, false);
}

/* (a_i . b_j) / (|a_i| |b_j|), and how often it is the greatest */
static node *cosines(dice *d, program *p)
{
    const points q   = draw_points(d, p, false);
    node        *dot = sweep_reduce(p, F_SUM, across(p, "mul", &q), 4, false);
    node *na = sweep_reduce(p, F_NORM, q.a, 2, true), *nb = sweep_reduce(p, F_NORM, q.b, 2, false);

    if (!dot || !na || !nb || q.d < 3)
        return NULL;
    na->r.lo = nb->r.lo = 0.25;
    return sweep_map(p, "div", dot, sweep_map(p, "mul", na, nb));
}

/* How many b are less than a_i. */
static node *ranks(dice *d, program *p)
{
    static const char *const names[] = { "lt", "ge", "eq" };
    const rd_dtype           type    = sweep_draw_type(d);
    const double             pairs   = (double)sweep_log_between(d, 50, fmin(1.5e7, p->max_bytes));
    const double             share   = sweep_between(d, 0.25, 0.75);
    const shape              a       = { 1, { (int64_t)pow(pairs, share) } },
                b                    = { 1, { (int64_t)pow(pairs, 1 - share) } };
    node *x, *y;

    if (type == RD_BOOL)
        return NULL;
    x = sweep_expand(p, sweep_draw_leaf(d, p, type, &a, 0, 100), 1);
    y = sweep_draw_leaf(d, p, type, &b, 0, 100);
    return sweep_reduce(p, sweep_chance(d, 0.5) ? F_COUNT : F_SUM,
                        sweep_map(p, names[sweep_roll(d, 3)], y, x), 2, false);
}

/* Of the columns of (n, d). */
static node *covariance(dice *d, program *p)
{
    static const int64_t columns[] = { 2, 3, 8, 20, 50, 100 };
    const rd_dtype       type      = sweep_chance(d, 0.6) ? RD_F32 : RD_F64;
    const int64_t        m         = columns[sweep_roll(d, 6)];
    const double         most      = fmin(4e7 / (double)(m * m), p->max_bytes / (double)m / 8);
    const shape          s         = { 2, { sweep_log_between(d, 10, fmax(20, most)), m } };
    node                *x         = sweep_draw_leaf(d, p, type, &s, 0, 1), *c, *y;

    c = sweep_map(p, "sub", x, sweep_reduce(p, F_MEAN, x, 1, true));
    y = sweep_reduce(p, F_SUM, sweep_map(p, "mul", sweep_expand(p, c, 2), sweep_expand(p, c, 1)), 1,
                     false);
    if (c)
        c->stored = true;
    return sweep_map(p, "div", y, sweep_number(p, 10, type));
}

/* Which of k centres is nearest to each point, then the sums of each one's points: (k, d). */
static node *k_means(dice *d, program *p)
{
    const int64_t k = 2 + sweep_roll(d, 15), m = 1 + sweep_roll(d, 8);
    const double  most  = fmin(4e6, p->max_bytes / 8);
    const shape   s     = { 2, { sweep_log_between(d, 10, most / (double)(k * m) + 20), m } },
                c       = { 2, { k, m } };
    const rd_dtype type = sweep_chance(d, 0.6) ? RD_F32 : RD_F64;
    points         q    = { .type = type,
                            .a    = sweep_draw_leaf(d, p, type, &s, 0, 31),
                            .b    = sweep_plain_leaf(p, type, &c, 0, 31) };
    node          *d2, *best, *mine, *x;

    p->leaves[0].whole = p->leaves[1].whole = true;
    d2                                      = squared_distances(p, &q);
    best                                    = sweep_reduce(p, F_ARGMIN, d2, 2, false); /* (n) */
    if (!best)
        return NULL;
    d2->exact = best->exact = true;
    mine = sweep_map(p, "eq", sweep_expand(p, best, 1), sweep_coord(p, d2, 1)); /* (n, k) */
    if (sweep_chance(d, 0.3))
        return sweep_reduce(p, F_COUNT, mine, 1, false);
    x = sweep_where(p, sweep_expand(p, mine, 2), sweep_expand(p, q.a, 1), sweep_number(p, 0, type));
    return sweep_reduce(p, F_SUM, x, 1, false);
}

void sweep_draw_pairs(dice *d, program *p)
{
    static node *(*const made[])(dice *, program *) = {
        distances_reduced, distances_reduced, all_distances, nearest,    gaussian_sum,
        gaussian_sum,      cosines,           ranks,         covariance, k_means
    };

    p->root[p->n_roots++] = made[sweep_roll(d, 10)](d, p);
}
