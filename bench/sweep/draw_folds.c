/* draw_folds.c - maps written to an array, reductions with keywords, scans, several results at
 * once. */
#include "sweep.h"
#include <math.h>
#include <string.h>

void sweep_draw_maps(dice *d, program *p)
{
    node *x = sweep_draw_values(d, p, 0, 0);

    p->root[p->n_roots++] = sweep_draw_map(d, p, x, 1 + sweep_roll(d, 6));
}

/* ---- Keywords -------------------------------------------------------------------------------- */
static node *weights_of(dice *d, program *p, const node *x)
{
    shape s = { .rank = x->rank };

    memcpy(s.n, x->n, sizeof s.n);
    if (sweep_chance(d, 0.5)) {
        const int drop = sweep_roll(d, s.rank);

        s.rank -= drop;
        memmove(s.n, s.n + drop, (size_t)s.rank * sizeof *s.n);
    }
    return sweep_draw_leaf(d, p, sweep_dtype(x->type)->is_float ? x->type : RD_F64, &s, 0.5, 2);
}

static bool has_initial(fold_kind f)
{
    return f == F_SUM || f == F_PROD || f == F_MIN || f == F_MAX;
}

static bool has_weights(fold_kind f)
{
    return f == F_MEAN || f == F_VAR || f == F_STD || f == F_LOGSUMEXP;
}

static void give_initial(dice *d, program *p, node *r)
{
    const double value = r->fold == F_PROD ? 1 : floor(r->in[0]->r.lo + sweep_between(d, 0, 1) * 2);
    node *n = sweep_number(p, sweep_dtype(r->type)->is_signed ? value : fabs(value), r->type);

    r->initial = n;
}

static void keywords(dice *d, program *p, node *r)
{
    node      *x    = r->in[0];
    const bool real = sweep_dtype(x->type)->is_float;

    if (sweep_chance(d, 0.2))
        r->where = sweep_draw_mask(d, p, x);
    if (r->where && !real && (r->fold == F_MIN || r->fold == F_MAX))
        give_initial(d, p, r);
    else if (has_initial(r->fold) && sweep_chance(d, 0.1))
        give_initial(d, p, r);
    if (has_weights(r->fold) && sweep_dtype(r->type)->size >= 4 && sweep_chance(d, 0.2))
        r->weights = weights_of(d, p, x);
    if ((r->fold == F_VAR || r->fold == F_STD) && !r->weights && sweep_reduced(r) > 2 &&
        sweep_chance(d, 0.4))
        r->ddof = 1;
    if (r->type == RD_F32 && (r->fold == F_SUM || r->fold == F_MEAN) && !r->weights &&
        !r->initial && sweep_chance(d, 0.05))
        r->type = RD_F64;
    if (r->where && (!x->exact || !r->where->exact))
        r->exact = false;
    if (r->where)
        sweep_fold_range(r);
}

/* ---- Reductions ------------------------------------------------------------------------------ */
static fold_kind draw_fold(dice *d)
{
    static const int share[] = { 24, 3, 8, 9, 5, 5, 4, 3, 14, 6, 7, 5, 5, 5 };

    return (fold_kind)sweep_weighted(d, share, F_USER);
}

/* NaN passes through these as through a comparison. */
static node *with_nans(dice *d, program *p, int rank)
{
    node *x = NULL, *y = NULL;

    while (!x || !sweep_dtype(x->type)->is_float) {
        p->n_leaves = 0;
        x           = sweep_draw_values(d, p, rank, 0);
    }
    switch (sweep_roll(d, 4)) {
    case 0: y = sweep_map(p, "abs", x, NULL); break;
    case 1: y = sweep_map(p, "mul", x, sweep_number(p, 2, x->type)); break;
    case 2: y = sweep_map(p, "square", x, NULL); break;
    default: break;
    }
    return y ? y : x;
}

static node *factors(dice *d, program *p, int rank)
{
    const rd_dtype type = sweep_chance(d, 0.6) ? RD_F32 : RD_F64;
    const shape    s    = sweep_draw_shape(d, sweep_draw_count(d, p, type), rank);

    return sweep_draw_leaf(d, p, type, &s, 0.998, 1.002);
}

void sweep_draw_reductions(dice *d, program *p)
{
    static const int ranks[] = { 12, 44, 28, 10, 6 };
    const int        rank    = 1 + sweep_weighted(d, ranks, 5);
    const fold_kind  f       = draw_fold(d);
    const bool       skip    = sweep_chance(d, 0.1) && f != F_NORM && f != F_PROD;
    node            *x       = NULL, *r;
    bool             real;

    if (f == F_PROD)
        x = factors(d, p, rank);
    else if (skip)
        x = with_nans(d, p, rank);
    else
        x = sweep_draw_map(d, p, sweep_draw_values(d, p, rank, 0), sweep_roll(d, 4));
    real = x && sweep_dtype(x->type)->is_float;
    if ((f == F_COUNT || f == F_ANY || f == F_ALL) && x && x->type != RD_BOOL)
        x = sweep_map(p, f == F_ALL ? "lt" : "gt", x,
                      sweep_number(p,
                                   f == F_COUNT ? round((x->r.lo + x->r.hi) / 2) : x->r.hi - !real,
                                   x->type));
    if (!x || (f == F_NORM && !real))
        return;
    r = sweep_reduce(p, f, x, sweep_draw_dims(d, x->rank), sweep_chance(d, 0.15));
    if (!r)
        return;
    r->p = f != F_NORM ? 0 : sweep_chance(d, 0.7) ? 2 : sweep_chance(d, 0.5) ? 1 : INFINITY;
    if (f == F_NORM && !sweep_fold_range(r))
        return;
    keywords(d, p, r);
    if (skip && x->type != RD_BOOL) {
        r->skip_nan = true;
        sweep_nan_leaves(p, 0.1);
    }
    p->root[p->n_roots++] =
        sweep_chance(d, 0.15) && !skip && !r->where ? sweep_draw_map(d, p, r, 1) : r;
}

/* ---- Scans ----------------------------------------------------------------------------------- */
void sweep_draw_scans(dice *d, program *p)
{
    static const fold_kind folds[] = { F_SUM, F_SUM, F_SUM, F_MAX, F_MIN, F_PROD };
    const fold_kind        f       = folds[sweep_roll(d, 6)];
    node *x = f == F_PROD ? factors(d, p, 0) : sweep_draw_values(d, p, 0, 0), *s, *y = NULL;

    if (f != F_PROD)
        x = sweep_draw_map(d, p, x, sweep_roll(d, 3));
    if (!x || (x->type == RD_BOOL && f != F_SUM))
        return;
    s = sweep_scan(p, f, x, sweep_chance(d, 0.5) ? x->rank - 1 : sweep_roll(d, x->rank));
    if (!s)
        return;
    s->reverse   = sweep_chance(d, 0.2);
    s->exclusive = (f == F_SUM || f == F_PROD) && sweep_chance(d, 0.2);
    if (sweep_chance(d, 0.25))
        y = sweep_reduce(p, sweep_chance(d, 0.5) ? F_MAX : F_MEAN, s, sweep_draw_dims(d, s->rank),
                         false);
    p->root[p->n_roots++] = y ? y : s;
}

/* ---- Several at once ------------------------------------------------------------------------- */
void sweep_draw_several(dice *d, program *p)
{
    static const fold_kind sets[][3] = { { F_SUM, F_MIN, F_MAX },   { F_MEAN, F_VAR, F_USER },
                                         { F_MEAN, F_STD, F_USER }, { F_MIN, F_ARGMIN, F_USER },
                                         { F_SUM, F_SUM, F_SUM },   { F_MAX, F_MEAN, F_COUNT },
                                         { F_MIN, F_MAX, F_USER } };
    node     *x = sweep_draw_map(d, p, sweep_draw_values(d, p, 0, 0), sweep_roll(d, 3));
    const int k = sweep_roll(d, 7);
    unsigned  dims;

    if (!x || x->type == RD_BOOL)
        return;
    dims = sweep_draw_dims(d, x->rank);
    for (int i = 0; i < 3 && sets[k][i] != F_USER; i++) {
        const bool other = k == 4 || sweep_chance(d, 0.1);

        p->root[p->n_roots++] =
            sweep_reduce(p, sets[k][i], x, other ? 1U << i % x->rank : dims, false);
    }
    if (k == 4 && x->rank < 3)
        p->n_roots = x->rank == 1 ? 1 : 2;
}
