/* float_bounds.c - interval arithmetic of floats that may be -inf, but are never inf or NaN. */
#include "eval/cache/float_bounds.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Bounds ---------------------------------------------------------------------------------- */
static const rd_float_bounds unknown = { 0, 0, false };

/* A number well below the greatest one of a type, so that rounding does not pass that; 0 for types
 * of which nothing is known. */
static double limit_of(rd_dtype type)
{
    return type == RD_F32   ? 1e37
           : type == RD_F64 ? 1e300
           : type == RD_I64 ? 0x1p52
           : type == RD_I32 ? 0x1p30
                            : 0;
}

/* True for a type of ints that limit_of() knows. */
static bool is_int(rd_dtype type)
{
    return type == RD_I64 || type == RD_I32;
}

/* The bounds lo and hi in a type.  Where lo is below what the type has, values may be -inf; ints
 * would wrap there. */
rd_float_bounds rd_bounds_from(double lo, double hi, rd_dtype type)
{
    const double most = limit_of(type);

    if (most == 0 || !(hi < most) || isnan(lo) || (is_int(type) && !(lo > -most)))
        return unknown;
    return (rd_float_bounds){ lo > -most ? lo : -INFINITY, hi, true };
}

/* The bounds of a value that is one of two. */
rd_float_bounds rd_bounds_either(rd_float_bounds p, rd_float_bounds q)
{
    return (rd_float_bounds){ fmin(p.lo, q.lo), fmax(p.hi, q.hi), p.known && q.known };
}

/* True if both ends are finite. */
static bool is_finite(rd_float_bounds x)
{
    return x.known && isfinite(x.lo) && isfinite(x.hi);
}

/* The sum of n values: n times the bounds.  0 stays 0, and -inf stays -inf. */
rd_float_bounds rd_bounds_sum(rd_float_bounds x, double n, rd_dtype type)
{
    if (!x.known || n < 1)
        return unknown;
    return rd_bounds_from(n * x.lo, n * x.hi, type);
}

/* ---- Operators ------------------------------------------------------------------------------- */
/* Least factors and divisors, of which it is certain that no type rounds them to 0. */
static const double LEAST = 1e-30;

/* A product: of finite bounds, or of one that may be -inf and one above LEAST. */
static rd_float_bounds product(rd_float_bounds p, rd_float_bounds q, rd_dtype type)
{
    if (is_finite(p) && is_finite(q)) {
        const double v[] = { p.lo * q.lo, p.lo * q.hi, p.hi * q.lo, p.hi * q.hi };

        return rd_bounds_from(fmin(fmin(v[0], v[1]), fmin(v[2], v[3])),
                              fmax(fmax(v[0], v[1]), fmax(v[2], v[3])), type);
    }
    if (!is_finite(q)) {
        const rd_float_bounds swap = p;

        p = q;
        q = swap;
    }
    if (!p.known || !is_finite(q) || !(q.lo > LEAST))
        return unknown;
    return rd_bounds_from(-INFINITY, fmax(p.hi * q.lo, p.hi * q.hi), type);
}

/* A quotient by bounds that stay away from 0. */
static rd_float_bounds quotient(rd_float_bounds p, rd_float_bounds q, rd_dtype type)
{
    if (!is_finite(q) || (q.lo < LEAST && q.hi > -LEAST))
        return unknown;
    return product(p, (rd_float_bounds){ 1 / q.hi, 1 / q.lo, true }, type);
}

/* An exponential: of -inf it is exactly 0.  Else bounds are made wider by more than it may err, and
 * by the least number that the type has. */
static rd_float_bounds exponential(rd_float_bounds x, rd_dtype type)
{
    if (!x.known)
        return unknown;
    if (x.hi == -INFINITY)
        return rd_bounds_from(0, 0, type);
    return rd_bounds_from(exp(x.lo) * 0.99 - 1e-44 > 0 ? exp(x.lo) * 0.99 - 1e-44 : 0,
                          exp(x.hi) * 1.01 + 1e-44, type);
}

/* A cast: of bools 0 or 1; of floats and i64 to floats the same, as bounds are wide. */
static rd_float_bounds cast(rd_dtype from, rd_float_bounds x, rd_dtype type)
{
    if (from == RD_BOOL)
        return rd_bounds_from(0, 1, type);
    if (!x.known || limit_of(from) == 0 || (is_int(type) && !is_int(from)))
        return unknown;
    return rd_bounds_from(x.lo - fabs(x.lo) * 1e-6, x.hi + fabs(x.hi) * 1e-6, type);
}

/* The bounds of what an operator makes of operands in bounds in[k].  Bools count as 0 and 1. */
rd_float_bounds rd_bounds_of_map(const rd_expr *x, const rd_float_bounds *in)
{
    const rd_float_bounds p = in[0], q = in[x->n_in > 1];

    if (x->type == RD_BOOL)
        return (rd_float_bounds){ 0, 1, true };
    switch (x->op) {
    case RD_OP_cast: return cast(x->in[0]->type, p, x->type);
    case RD_OP_where: return rd_bounds_either(in[1], in[2]);
    case RD_OP_exp: return exponential(p, x->type);
    case RD_OP_mul: return product(p, q, x->type);
    case RD_OP_div: return is_int(x->type) ? unknown : quotient(p, q, x->type);
    default: break;
    }
    if (!p.known || !q.known)
        return unknown;
    switch (x->op) {
    case RD_OP_neg: return is_finite(p) ? rd_bounds_from(-p.hi, -p.lo, x->type) : unknown;
    case RD_OP_add: return rd_bounds_from(p.lo + q.lo, p.hi + q.hi, x->type);
    case RD_OP_sub:
        return is_finite(q) ? rd_bounds_from(p.lo - q.hi, p.hi - q.lo, x->type) : unknown;
    case RD_OP_tanh: return rd_bounds_from(-1.01, 1.01, x->type);
    case RD_OP_maximum: return rd_bounds_from(fmax(p.lo, q.lo), fmax(p.hi, q.hi), x->type);
    case RD_OP_minimum: return rd_bounds_from(fmin(p.lo, q.lo), fmin(p.hi, q.hi), x->type);
    default: return unknown;
    }
}

/* ---- Leaves ---------------------------------------------------------------------------------- */
/* Steps over the axes of a leaf but the innermost: `n` loops with strides in elements. */
typedef struct loops {
    int     n;
    int64_t extent[RD_MAX_RANK], stride[RD_MAX_RANK];
} loops;

/* The greatest absolute value of n floats as bits: these grow with it, and those of inf and NaN are
 * greater than all others. */
static uint32_t most_of_f32(const float *p, int64_t n, int64_t step, uint32_t most)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits;

        memcpy(&bits, &p[i * step], sizeof bits);
        bits &= 0x7FFFFFFF;
        most = bits > most ? bits : most;
    }
    return most;
}

/* The same of doubles. */
static uint64_t most_of_f64(const double *p, int64_t n, int64_t step, uint64_t most)
{
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits;

        memcpy(&bits, &p[i * step], sizeof bits);
        bits &= INT64_MAX;
        most = bits > most ? bits : most;
    }
    return most;
}

/* Orders the axes of a leaf: the one of the least stride last, so that its loop is the innermost;
 * without those that repeat. */
static loops loops_of(const rd_expr *x)
{
    loops l = { .n = 0 };

    for (int a = 0; a < x->rank; a++) {
        const int64_t step = x->as.leaf->stride[a];
        int           k    = l.n;

        if (step == 0)
            continue;
        for (; k > 0 && llabs(l.stride[k - 1]) < llabs(step); k--) {
            l.stride[k] = l.stride[k - 1];
            l.extent[k] = l.extent[k - 1];
        }
        l.stride[k] = step;
        l.extent[k] = x->extent[a];
        l.n++;
    }
    return l;
}

/* The greatest absolute value of a leaf's elements, as a double; INFINITY or NaN if one is among
 * them.  The odometer `at` goes through all loops but the last. */
static double most_of(const rd_expr *x)
{
    const loops   l               = loops_of(x);
    int64_t       at[RD_MAX_RANK] = { 0 }, place = 0;
    const int     last = l.n - 1;
    const int64_t n = l.n ? l.extent[last] : 1, step = l.n ? l.stride[last] : 1;
    uint64_t      most = 0;
    uint32_t      narrow;
    float         f;
    double        d;

    for (bool more = true; more;) {
        if (x->type == RD_F32)
            most = most_of_f32((const float *)x->as.leaf->data + place, n, step, (uint32_t)most);
        else
            most = most_of_f64((const double *)x->as.leaf->data + place, n, step, most);
        more = false;
        for (int a = last; a-- > 0 && !more;) {
            more = ++at[a] < l.extent[a];
            place += (more ? 1 : 1 - l.extent[a]) * l.stride[a];
            at[a] = more ? at[a] : 0;
        }
    }
    narrow = (uint32_t)most;
    memcpy(&f, &narrow, sizeof f);
    memcpy(&d, &most, sizeof d);
    return x->type == RD_F32 ? (double)f : d;
}

/* Reads all elements of a leaf. */
rd_float_bounds rd_bounds_of_leaf(const rd_expr *x)
{
    double most;

    if ((x->type != RD_F32 && x->type != RD_F64) || !x->as.leaf->data || x->device ||
        rd_points(x->rank, x->extent) == 0)
        return unknown;
    most = most_of(x);
    return isfinite(most) ? rd_bounds_from(-most, most, x->type) : unknown;
}
