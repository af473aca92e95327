/* draw_rows.c - reductions whose results meet the operand again: softmax, layer norm and their
 * like. */
#include "sweep.h"
#include <math.h>
#include <stddef.h>

static node *softmax(program *p, node *x, unsigned dims)
{
    node *e =
        sweep_map(p, "exp", sweep_map(p, "sub", x, sweep_reduce(p, F_MAX, x, dims, true)), NULL);
    node *s;

    if (!e)
        return NULL;
    e->stored = true;
    s         = sweep_reduce(p, F_SUM, e, dims, true);
    if (s)
        s->r.lo = fmax(s->r.lo, 1);
    return sweep_map(p, "div", e, s);
}

static node *log_softmax(program *p, node *x, unsigned dims)
{
    return sweep_map(p, "sub", x, sweep_reduce(p, F_LOGSUMEXP, x, dims, true));
}

/* Random values differ: a deviation is not much less than the range lets it be. */
static node *away_from_zero(node *r, double share)
{
    if (r && sweep_reduced(r) > 16)
        r->r.lo = share * r->r.hi;
    return r;
}

static node *layer_norm(program *p, node *x, unsigned dims)
{
    node *c   = sweep_map(p, "sub", x, sweep_reduce(p, F_MEAN, x, dims, true));
    node *var = away_from_zero(sweep_reduce(p, F_VAR, x, dims, true), 0.02);
    node *eps = sweep_number(p, var && var->r.lo > 0 ? 0.0009765625 : 0.5, x->type);

    return sweep_map(p, "div", c, sweep_map(p, "sqrt", sweep_map(p, "add", var, eps), NULL));
}

static node *standardise(program *p, node *x, unsigned dims)
{
    node *c = sweep_map(p, "sub", x, sweep_reduce(p, F_MEAN, x, dims, true));

    return sweep_map(p, "div", c, away_from_zero(sweep_reduce(p, F_STD, x, dims, true), 0.1));
}

static node *centre(program *p, node *x, unsigned dims)
{
    return sweep_map(p, "sub", x, sweep_reduce(p, F_MEAN, x, dims, true));
}

static node *unit(program *p, node *x, unsigned dims)
{
    return sweep_map(p, "div", x, away_from_zero(sweep_reduce(p, F_NORM, x, dims, true), 0.1));
}

static node *rescale(program *p, node *x, unsigned dims)
{
    node *lo = sweep_reduce(p, F_MIN, x, dims, true), *hi = sweep_reduce(p, F_MAX, x, dims, true);
    node *wide = sweep_map(p, "sub", hi, lo);

    if (!wide || sweep_reduced(lo) < 16)
        return NULL;
    wide->r.lo = 0.2 * wide->r.hi;
    return sweep_map(p, "div", sweep_map(p, "sub", x, lo), wide);
}

static node *share_of_sum(program *p, node *x, unsigned dims)
{
    node *y = sweep_map(p, "add", sweep_map(p, "abs", x, NULL), sweep_number(p, 1, x->type));

    return sweep_map(p, "div", y, sweep_reduce(p, F_SUM, y, dims, true));
}

/* Entropy of a softmax, say: what was normalised is reduced again. */
static node *reduced_again(dice *d, program *p, node *y, unsigned dims)
{
    static const fold_kind folds[] = { F_SUM, F_MAX, F_NORM };

    return y ? sweep_reduce(p, folds[sweep_roll(d, 3)], y,
                            sweep_chance(d, 0.5) ? dims : sweep_draw_dims(d, y->rank), false)
             : NULL;
}

void sweep_draw_rows(dice *d, program *p)
{
    static node *(*const made[])(program *, node *, unsigned) = {
        softmax, softmax, layer_norm, log_softmax, standardise, centre, unit, rescale, share_of_sum
    };
    const rd_dtype type = sweep_draw_float(d);
    const shape    s    = sweep_draw_shape(d, sweep_draw_count(d, p, type), 0);
    node          *x    = sweep_draw_leaf(d, p, type, &s, sweep_chance(d, 0.5) ? -1 : 0, 1), *y;
    const unsigned dims = sweep_chance(d, 0.6) ? 1U << (s.rank - 1) : sweep_draw_dims(d, s.rank);

    if (sweep_chance(d, 0.3))
        x = sweep_draw_map(d, p, x, 1 + sweep_roll(d, 2));
    if (!x || !sweep_dtype(x->type)->is_float)
        return;
    y = made[sweep_roll(d, 9)](p, x, dims);
    if (sweep_chance(d, 0.15))
        y = reduced_again(d, p, y, dims);
    p->root[p->n_roots++] = y;
}
