/* reduced.c - nodes of reductions and scans, and how far their results lie and err. */
#include "sweep.h"
#include <math.h>
#include <string.h>

static const char *const names[N_FOLDS] = { "sum",    "prod", "min",  "max",       "argmin",
                                            "argmax", "any",  "all",  "mean",      "count",
                                            "var",    "std",  "norm", "logsumexp", "user" };

const char *sweep_fold_name(fold_kind f)
{
    return names[f];
}

int64_t sweep_reduced(const node *r)
{
    int64_t n = 1;

    for (int k = 0; k < r->in[0]->rank; k++)
        n *= r->dims >> k & 1 ? r->in[0]->n[k] : 1;
    return n;
}

static bool give(range *r, double lo, double hi, double err)
{
    *r = (range){ lo, hi, err };
    return isfinite(lo) && isfinite(hi);
}

/* Blocks of 64 are added one after the other: that error at random, and the operands' at worst. */
bool sweep_fold_range(node *r)
{
    const range *a   = &r->in[0]->r;
    const double eps = sweep_eps(r->type), m = (double)sweep_reduced(r),
                 mag = fmax(fabs(a->lo), fabs(a->hi));
    const double sum = m * a->err + 16 * eps * sqrt(m) * mag + eps * m * mag, wide = a->hi - a->lo;
    const double var =
        2 * wide * a->err + 16 * eps * mag * (wide + sqrt(eps) * mag) + eps * mag * mag;
    const bool some = r->where || r->skip_nan || r->exclusive || r->kind == N_SCAN;
    double     lo, hi;

    switch (r->fold) {
    case F_SUM:
        return give(&r->r, m * (some ? fmin(0, a->lo) : a->lo), m * (some ? fmax(0, a->hi) : a->hi),
                    sum);
    case F_PROD:
        lo = pow(fmin(1, a->lo), m);
        hi = pow(fmax(1, a->hi), m);
        return a->lo > 0.4 && give(&r->r, lo, hi, hi * m * (a->err / a->lo + eps));
    case F_MEAN: return give(&r->r, a->lo, a->hi, 2 * sum / m + 16 * eps * mag);
    case F_VAR: return give(&r->r, 0, wide * wide, var);
    case F_STD:
        return give(&r->r, 0, wide, m < 12 || r->where ? sqrt(var) : 10 * var / fmax(wide, 1e-300));
    case F_NORM:
        hi = r->p == 1 ? m * mag : isinf(r->p) ? mag : sqrt(m) * mag;
        return give(&r->r, 0, hi, (hi / fmax(mag, 1e-300)) * (a->err + 16 * eps * mag));
    case F_LOGSUMEXP:
        return give(&r->r, a->lo - 5, a->hi + log(m), a->err + 16 * eps * (mag + log(m) + 1));
    case F_ARGMIN:
    case F_ARGMAX: /* rounding may choose another: seldom, and the check minds it */
        return (r->in[0]->exact || a->err < 1e-5 * wide) && give(&r->r, -1, m, 0);
    case F_COUNT: return r->in[0]->exact && give(&r->r, 0, m, 0);
    case F_ANY:
    case F_ALL: return r->in[0]->exact && give(&r->r, 0, 1, 0);
    default: return give(&r->r, a->lo, a->hi, a->err);
    }
}

static bool exact_result(const node *r)
{
    const bool arg  = r->fold == F_ARGMIN || r->fold == F_ARGMAX;
    const bool pick = r->fold == F_MIN || r->fold == F_MAX || r->fold == F_ANY || r->fold == F_ALL;

    return r->in[0]->exact && (arg || pick || !sweep_dtype(r->type)->is_float);
}

static bool in_type(const node *r)
{
    const dtype *t = sweep_dtype(r->type);

    return r->r.hi <= t->most && (t->is_signed ? r->r.lo >= -t->most : r->r.lo >= 0);
}

static node *reduced(program *p, node_kind kind, fold_kind f, node *a, unsigned dims)
{
    node *r = a ? sweep_node(p, kind, sweep_fold_type(f, a->type)) : NULL;

    if (!r)
        return NULL;
    r->fold  = f;
    r->arity = 1;
    r->in[0] = a;
    r->dims  = dims;
    if (!p->trusting && (!sweep_fold_range(r) || !in_type(r)))
        return NULL;
    r->exact = exact_result(r);
    return r;
}

node *sweep_reduce(program *p, fold_kind f, node *a, unsigned dims, bool keep)
{
    node *r = reduced(p, N_REDUCE, f, a, dims);

    if (!r)
        return NULL;
    r->keep = keep;
    for (int k = 0; k < a->rank; k++)
        if (keep || !(dims >> k & 1))
            r->n[r->rank++] = dims >> k & 1 ? 1 : a->n[k];
    return r;
}

node *sweep_scan(program *p, fold_kind f, node *a, int axis)
{
    node *r = reduced(p, N_SCAN, f, a, 1U << axis);

    if (!r)
        return NULL;
    r->axis = axis;
    r->rank = a->rank;
    memcpy(r->n, a->n, sizeof r->n);
    return r;
}

node *sweep_user_fold(program *p, const user_code *user, node *a, unsigned dims)
{
    node *r = sweep_reduce(p, F_USER, a, dims, false), *loops;

    if (!r)
        return NULL;
    r->user  = user;
    r->type  = user->type;
    r->exact = false;
    loops    = user->loops_fold(p, r, a);
    if (!loops)
        return NULL;
    r->in[1] = loops;
    r->arity = 2;
    r->r     = loops->r;
    return r;
}
