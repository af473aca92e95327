/* oracle_fold.c - reducers over the list of the elements that take part. */
#include "oracle.h"
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

static bool is_float(rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_FLOAT;
}

/* What the floats of a list are like, as far as the bounds need it. */
typedef struct summary {
    bool        nan, plus_inf, minus_inf, plus_zero, minus_zero, finite;
    long double sum_abs, max_abs, sum_err, max_err;
    long double quantum; /* all finite elements are multiples of it; 0: of nothing */
} summary;

/* The lowest set bit of v. */
static long double lowest_bit(long double v)
{
    int         exponent;
    long double m    = frexpl(fabsl(v), &exponent) * 0x1p64L;
    uint64_t    bits = (uint64_t)m;

    return ldexpl((long double)(bits & -bits), exponent - 64);
}

static void summarise(summary *s, const oracle_value *x)
{
    const long double size = fabsl(x->v);

    if (isnan(x->v))
        s->nan = true;
    else if (isinf(x->v))
        *(x->v > 0 ? &s->plus_inf : &s->minus_inf) = true;
    else {
        s->finite = true;
        s->sum_abs += size;
        s->sum_err += x->err;
        s->max_abs = fmaxl(s->max_abs, size);
        s->max_err = fmaxl(s->max_err, x->err);
        if (x->v == 0)
            *(signbit(x->v) ? &s->minus_zero : &s->plus_zero) = true;
        else if (s->quantum == 0 || lowest_bit(x->v) < s->quantum)
            s->quantum = lowest_bit(x->v);
    }
}

static summary summary_of(const oracle_item *item, int64_t n)
{
    summary s = { 0 };

    for (int64_t k = 0; k < n; k++)
        summarise(&s, &item[k].x);
    return s;
}

/* ---- Sums and products ----------------------------------------------------------------------- */

static oracle_value int_fold(rd_dtype type, const oracle_item *item, int64_t n, bool product)
{
    oracle_value y = oracle_int(type, product);

    for (int64_t k = 0; k < n; k++)
        y = oracle_int(type,
                       product ? (__int128)((unsigned __int128)y.n * (unsigned __int128)item[k].x.n)
                               : y.n + item[k].x.n);
    return y;
}

static oracle_value bits(rd_dtype type, const oracle_item *item, int64_t n, rd_reducer_id reducer)
{
    oracle_value y = oracle_int(type, reducer == RD_RED_bits_and ? -1 : 0);

    for (int64_t k = 0; k < n; k++)
        y = oracle_int(type, reducer == RD_RED_bits_and  ? y.n & item[k].x.n
                             : reducer == RD_RED_bits_or ? y.n | item[k].x.n
                                                         : y.n ^ item[k].x.n);
    return y;
}

/* With an infinity among the elements, or a NaN. */
static oracle_value sum_without_end(rd_dtype type, const summary *s)
{
    if (s->nan || (s->plus_inf && s->minus_inf))
        return oracle_real(type, NAN, 0, 0);
    if (s->sum_abs > oracle_float_of(type).max / 4) /* the finite part may overflow the other way */
        return oracle_unsure(type);
    return oracle_real(type, s->plus_inf ? INFINITY : -INFINITY, 0, 0);
}

static oracle_value sum(rd_dtype type, const oracle_item *item, int64_t n)
{
    const oracle_float f = oracle_float_of(type);
    const summary      s = summary_of(item, n);
    long double        v = n > 0 ? item[0].x.v : 0, bound;

    if (s.nan || s.plus_inf || s.minus_inf)
        return sum_without_end(type, &s);
    for (int64_t k = 1; k < n; k++)
        v += item[k].x.v;
    /* Multiples of a quantum whose partial sums all fit the mantissa add without rounding, in any
     * order. */
    if (n < 2 || (s.sum_err == 0 && s.sum_abs <= s.quantum / f.u))
        return oracle_real(type, v, s.sum_err, 0);
    if (s.sum_abs > f.max / 4 && fabsl(v) < 4 * f.max) /* some orders may overflow on the way */
        return oracle_unsure(type);
    bound = s.sum_err + 2 * f.u * (long double)n * s.sum_abs + (long double)n * f.tiny;
    return oracle_real(type, v, bound, 0);
}

/* The correction that is added at the end may turn -0 into 0. */
static oracle_value compensated(rd_dtype type, const oracle_item *item, int64_t n)
{
    oracle_value y = sum(type, item, n);

    if (y.v == 0)
        y.err = fmaxl(y.err, oracle_float_of(type).tiny);
    return y;
}

/* Sums of groups begin with 0. */
static oracle_value begun(const rd_expr *x, oracle_value y)
{
    if (rd_is_grouped(x) && y.v == 0)
        y.v = 0;
    return y;
}

static oracle_value product(rd_dtype type, const oracle_item *item, int64_t n)
{
    const oracle_float f            = oracle_float_of(type);
    const long double  least_normal = f.tiny / (2 * f.u);
    oracle_value       y            = { .type = type, .v = 1 };
    long double        up = 1, down = 1; /* the largest and the least product any order may meet */
    bool               nan = false, infinite = false;

    for (int64_t k = 0; k < n; k++) {
        const long double size = fabsl(item[k].x.v);

        nan |= isnan(size) != 0;
        infinite |= isinf(size) != 0;
        if (size > 1 && isfinite(size))
            up *= size + item[k].x.err;
        else if (size > 0 && size < 1)
            down *= size;
    }
    if (nan)
        return oracle_real(type, NAN, 0, 0);
    if (up > f.max / 2 || (infinite && down < 2 * least_normal))
        return oracle_unsure(type);
    y = n > 0 ? item[0].x : y;
    for (int64_t k = 1; k < n && !y.unsure; k++)
        y = oracle_mul(type, y, item[k].x);
    /* A partial product that underflows loses up to a denormal, which later factors enlarge. */
    if (down < 2 * least_normal && isfinite(y.v))
        y = oracle_real(type, y.v, y.err + (long double)n * f.tiny * up, 0);
    return y;
}

/* ---- Extremes -------------------------------------------------------------------------------- */

static oracle_value int_extreme(rd_dtype type, const oracle_item *item, int64_t n, bool least)
{
    oracle_value y = item[0].x;

    for (int64_t k = 1; k < n; k++)
        if (least ? item[k].x.n < y.n : item[k].x.n > y.n)
            y = item[k].x;
    y.type = type;
    return y;
}

/* The least; of -x, for the greatest. */
static oracle_value float_extreme(rd_dtype type, const oracle_item *item, int64_t n, bool least)
{
    const long double side = least ? 1 : -1;
    const summary     s    = summary_of(item, n);
    long double       v = side * item[0].x.v, lo = v - item[0].x.err, hi = v + item[0].x.err;
    oracle_value      y;

    if (s.nan)
        return oracle_real(type, NAN, 0, 0);
    for (int64_t k = 1; k < n; k++) {
        const long double x = side * item[k].x.v;

        v  = x < v ? x : v;
        lo = fminl(lo, x - item[k].x.err);
        hi = fminl(hi, x + item[k].x.err);
    }
    y = oracle_real(type, side * v, lo == hi ? 0 : fmaxl(v - lo, hi - v), 0);
    if (v == 0 && s.plus_zero && s.minus_zero) /* which zero is not promised */
        y.err = fmaxl(y.err, oracle_float_of(type).tiny);
    if (v == 0 && !(s.plus_zero && s.minus_zero))
        y.v = s.minus_zero ? -0.0L : 0.0L;
    return y;
}

static __int128 int_limit(rd_dtype type, bool greatest)
{
    switch (type) {
    case RD_BOOL: return greatest;
    case RD_I8: return greatest ? INT8_MAX : INT8_MIN;
    case RD_I16: return greatest ? INT16_MAX : INT16_MIN;
    case RD_I32: return greatest ? INT32_MAX : INT32_MIN;
    case RD_I64: return greatest ? INT64_MAX : INT64_MIN;
    case RD_U8: return greatest ? UINT8_MAX : 0;
    case RD_U16: return greatest ? UINT16_MAX : 0;
    case RD_U32: return greatest ? UINT32_MAX : 0;
    default: return greatest ? UINT64_MAX : 0;
    }
}

static oracle_value extreme(const rd_fold_facts *fold, rd_dtype type, const oracle_item *item,
                            int64_t n)
{
    const bool least = fold->reducer == RD_RED_min;

    if (n == 0 && !is_float(type)) /* without .initial nothing is promised */
        return fold->identity ? oracle_int(type, int_limit(type, least)) : oracle_unsure(type);
    if (n == 0)
        return oracle_real(type, !fold->identity ? NAN : least ? INFINITY : -INFINITY, 0, 0);
    return is_float(type) ? float_extreme(type, item, n, least) : int_extreme(type, item, n, least);
}

/* Does a surely come before b (-1), surely not (1), or is that not to be told (0)?  Equal values:
 * not before. */
static int beats(const oracle_value *a, const oracle_value *b, bool least)
{
    long double gap;

    if (!is_float(a->type))
        return (least ? a->n < b->n : a->n > b->n) ? -1 : 1;
    gap = least ? b->v - a->v : a->v - b->v;
    if (isfinite(gap) && a->err + b->err > 0 && fabsl(gap) <= a->err + b->err)
        return 0;
    return gap > 0 ? -1 : 1;
}

/* A scan from the end lists places that fall. */
static oracle_value arg_extreme(const oracle_item *item, int64_t n, bool least)
{
    const bool falls = n > 1 && item[0].i > item[1].i;
    int64_t    best  = falls ? n - 1 : 0;

    if (n == 0)
        return oracle_int(RD_I64, -1);
    for (int64_t l = 0; l < n; l++) { /* the first NaN wins */
        const oracle_item *one = &item[falls ? n - 1 - l : l];

        if (is_float(one->x.type) && isnan(one->x.v))
            return oracle_int(RD_I64, one->i);
    }
    for (int64_t l = 1; l < n; l++) {
        const int64_t k = falls ? n - 1 - l : l;

        if (is_float(item[k].x.type)
                ? (least ? item[k].x.v < item[best].x.v : item[k].x.v > item[best].x.v)
                : beats(&item[k].x, &item[best].x, least) == -1)
            best = k;
    }
    for (int64_t k = 0; k < n; k++)
        if (k != best && beats(&item[k].x, &item[best].x, least) == 0)
            return oracle_unsure(RD_I64);
    return oracle_int(RD_I64, item[best].i);
}

/* ---- any, all: what is sure may be enough ---------------------------------------------------- */

static oracle_value truth(const oracle_item *item, int64_t n, bool any)
{
    oracle_value y = oracle_int(RD_BOOL, !any);

    for (int64_t k = 0; k < n; k++) {
        if (item[k].x.unsure)
            y.unsure = true;
        else if ((item[k].x.n != 0) == any)
            return oracle_int(RD_BOOL, any);
    }
    return y;
}

/* ---- Variance: two passes -------------------------------------------------------------------- */

typedef struct spread {
    long double weight, weight_err, mean, m2, from_x, from_w;
} spread;

static spread spread_of(const oracle_item *item, int64_t n)
{
    spread s = { 0 };

    for (int64_t k = 0; k < n; k++) {
        s.weight += item[k].w.v;
        s.weight_err += item[k].w.err;
        s.mean += item[k].w.v * item[k].x.v;
    }
    s.mean = s.weight != 0 ? s.mean / s.weight : 0;
    for (int64_t k = 0; k < n; k++) {
        const long double d = item[k].x.v - s.mean, e = item[k].x.err;

        s.m2 += item[k].w.v * d * d;
        s.from_x += fabsl(item[k].w.v) * (2 * fabsl(d) * e + e * e);
        s.from_w += item[k].w.err * (fabsl(d) + e) * (fabsl(d) + e);
    }
    return s;
}

static bool odd_weights(const oracle_item *item, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        if (!(item[k].w.v - item[k].w.err >= 0) || !isfinite(item[k].w.v) || item[k].w.unsure)
            return true;
    return false;
}

/* The bound allows moments shifted by a first element (blocks of 64 elements; a serial fold is one
 * block), which cost up to a factor n + 1 in the block, and blocks merged by the difference of
 * their rounded means. */
static oracle_value variance(const rd_fold_facts *fold, rd_dtype type, const oracle_item *item,
                             int64_t n)
{
    const oracle_float f     = oracle_float_of(type);
    const summary      s     = summary_of(item, n);
    const long double  count = (long double)n;
    const long double  block = fold->law == RD_LAW_serial || n < 64 ? count : 64;
    const spread       m     = spread_of(item, n);
    long double        v, err, degrees = m.weight - (long double)fold->ddof, degrees_err;

    if (odd_weights(item, n))
        return oracle_unsure(type);
    degrees_err = m.weight_err + (s.finite ? 2 * f.u * count * m.weight : 0);
    if (m.weight == rintl(m.weight) && m.weight_err == 0 && fold->ddof == rint(fold->ddof))
        degrees_err = 0;
    if (n == 0 || s.nan || s.plus_inf || s.minus_inf || degrees < -degrees_err ||
        (degrees == 0 && degrees_err == 0))
        return oracle_real(type, NAN, 0, 0);
    if (degrees <= degrees_err || s.max_abs * s.max_abs * (m.weight + 1) > f.max / 16)
        return oracle_unsure(type);
    err = m.from_x + m.from_w + f.u * (block * (block + 4) + 2 * count) * m.m2;
    err += 8 * f.u * s.max_abs * sqrtl(m.m2 * m.weight) * (1 + log2l(count));
    err += 16 * m.weight * f.u * f.u * s.max_abs * s.max_abs * count;
    err += 8 * count * f.tiny * (1 + m.weight);
    if (n == 1 && m.from_x == 0)
        return oracle_real(type, 0, 0, 0);
    v = m.m2 / degrees;
    return oracle_real(type, v, (err + v * degrees_err) / (degrees - degrees_err), 2);
}

/* ---- Higher moments, and of two operands: two passes ------------------------------------------ */
/* What a power of distances comes to in blocks, which are shifted by one of their elements: at most
 * 2^(power - 1) times what they come to about the mean, and what that element adds for each. */
static long double shifted(const oracle_item *item, int64_t n, long double mean, int power,
                           long double block)
{
    long double sum = 0, most = 0;

    for (int64_t k = 0; k < n; k++) {
        const long double d = powl(fabsl(item[k].x.v - mean), power);

        sum += item[k].w.v * d;
        most = fmaxl(most, (item[k].w.v + 1) * d);
    }
    return ldexpl(sum + block * most, power - 1);
}

typedef struct power_sum {
    long double v, err;
} power_sum;

/* sum w (x - mean)^power. */
static power_sum power_sum_of(const rd_fold_facts *fold, rd_dtype type, const oracle_item *item,
                              int64_t n, const spread *m, int power)
{
    const oracle_float f     = oracle_float_of(type);
    const long double  block = fold->law == RD_LAW_serial || n < 64 ? (long double)n : 64;
    power_sum          s     = { 0 };

    for (int64_t k = 0; k < n; k++) {
        const long double d = item[k].x.v - m->mean, size = fabsl(d), e = item[k].x.err;

        s.v += item[k].w.v * powl(d, power);
        s.err += item[k].w.v * (powl(size + 2 * e, power) - powl(size, power));
        s.err += item[k].w.err * powl(size + e, power);
    }
    s.err += f.u * (4 * block + 16 * (1 + log2l((long double)n))) *
             shifted(item, n, m->mean, power, block);
    s.err += 16 * m->weight * powl(f.u * fabsl(m->mean), power); /* of what is all the same */
    return s;
}

/* Skewness, or kurtosis: a power sum over one of squares. */
static oracle_value shape_of(const rd_fold_facts *fold, rd_dtype type, const oracle_item *item,
                             int64_t n, int power)
{
    const oracle_float f              = oracle_float_of(type);
    const summary      s              = summary_of(item, n);
    const spread       m              = spread_of(item, n);
    bool               weighs_nothing = false;

    for (int64_t k = 0; k < n; k++)
        weighs_nothing |= item[k].w.v <= item[k].w.err;
    if (odd_weights(item, n) || (weighs_nothing && (s.nan || s.plus_inf || s.minus_inf)))
        return oracle_unsure(type);
    if (n == 0 || s.nan || s.plus_inf || s.minus_inf || (m.m2 == 0 && s.sum_err == 0))
        return oracle_real(type, NAN, 0, 0);
    const power_sum two     = power_sum_of(fold, type, item, n, &m, 2),
                    top     = power_sum_of(fold, type, item, n, &m, power);
    const long double least = two.v - two.err, half = (long double)power / 2;

    if (least <= two.v / 2 || m.weight_err > m.weight / 8 ||
        powl(s.max_abs, power) * (m.weight + 1) > f.max / 64 ||
        powl(two.v, half) < f.tiny / f.u / f.u)
        return oracle_unsure(type);
    const long double scale = powl(m.weight, half - 1);
    const long double v     = top.v * scale / powl(two.v, half);
    const long double off   = half * two.err / least + half * m.weight_err / m.weight + 8 * f.u;

    return oracle_real(type, power == 4 ? v - 3 : v,
                       1.5L * (top.err * scale / powl(least, half) + off * fabsl(v)), 4);
}

/* Of x and w, about their means, over n - ddof. */
static oracle_value covariance(const rd_fold_facts *fold, rd_dtype type, const oracle_item *item,
                               int64_t n)
{
    const oracle_float f     = oracle_float_of(type);
    const long double  count = (long double)n, free = count - (long double)fold->ddof;
    const long double  block  = fold->law == RD_LAW_serial || n < 64 ? count : 64;
    long double        mean_x = 0, mean_w = 0, xx = 0, ww = 0, xw = 0, err = 0, most = 0;

    if (n == 0 || free <= 0)
        return oracle_real(type, NAN, 0, 0);
    for (int64_t k = 0; k < n; k++) {
        if (item[k].w.unsure)
            return oracle_unsure(type);
        if (!isfinite(item[k].x.v) || !isfinite(item[k].w.v))
            return oracle_real(type, NAN, 0, 0);
        mean_x += item[k].x.v / count;
        mean_w += item[k].w.v / count;
        most = fmaxl(most, fmaxl(fabsl(item[k].x.v), fabsl(item[k].w.v)));
    }
    if (most * most * count > f.max / 16)
        return oracle_unsure(type);
    for (int64_t k = 0; k < n; k++) {
        const long double d = item[k].x.v - mean_x, e = item[k].w.v - mean_w;
        const long double d_err = item[k].x.err, e_err = item[k].w.err;

        xx += d * d;
        ww += e * e;
        xw += d * e;
        err += 2 * (fabsl(d) * e_err + fabsl(e) * d_err + d_err * e_err);
    }
    err += f.u * (block * (block + 4) + 2 * count + 16 * (1 + log2l(count))) * sqrtl(xx * ww);
    err += 8 * count * f.tiny + 16 * count * f.u * f.u * fabsl(mean_x * mean_w);
    return oracle_real(type, xw / free, err / free, 2);
}

/* ---- log of a sum of exponentials ------------------------------------------------------------ */

static oracle_value logsumexp(rd_dtype type, const oracle_item *item, int64_t n)
{
    const oracle_float f = oracle_float_of(type);
    const summary      s = summary_of(item, n);
    long double        m = -INFINITY, total = 0, err = 0, d;

    if (s.nan)
        return oracle_real(type, NAN, 0, 0);
    if (odd_weights(item, n))
        return oracle_unsure(type);
    for (int64_t k = 0; k < n; k++) {
        /* infinity times 0 */
        if (isinf(item[k].x.v) && item[k].x.v > 0 && item[k].w.v - item[k].w.err <= 0)
            return oracle_unsure(type);
        if (item[k].w.v + item[k].w.err > 0) /* no weight hides any number, however large */
            m = fmaxl(m, item[k].x.v);
    }
    if (isinf(m))
        return oracle_real(type, m, 0, 0);
    for (int64_t k = 0; k < n; k++) {
        d = item[k].x.v - m;
        if (isinf(d) || (item[k].w.v == 0 && item[k].w.err == 0))
            continue;
        total += item[k].w.v * expl(d);
        err += expl(d) * item[k].w.err;
        err += expl(d) * item[k].w.v *
               (expm1l(item[k].x.err) + f.u * (16 * (long double)n + 8 * fabsl(d)));
        err += f.tiny;
    }
    if (total <= err)
        return total == 0 && err <= (long double)n * f.tiny ? oracle_real(type, -INFINITY, 0, 0)
                                                            : oracle_unsure(type);
    d = log1pl(err / (total - err)) + 16 * f.u * fabsl(logl(total)) + 2 * f.u * fabsl(m);
    return oracle_real(type, m + logl(total), d, 4);
}

/* ---- The user's reducers: their own functions, in C order ------------------------------------ */

/* Output `which` with each element moved by `side` times its bound. */
static oracle_value run_user(const rd_reducer *r, const oracle_item *item, int64_t n, int64_t which,
                             int side)
{
    alignas(16) char state[4096] = { 0 }, cell[16], second[16];
    const size_t     size        = (size_t)rd_dtype_size(r->out);
    char            *y           = malloc(size * (size_t)r->n_out);
    oracle_value     x;

    r->init(state);
    for (int64_t k = 0; k < n; k++) {
        x = item[k].x;
        x.v += side * x.err;
        oracle_store(cell, r->in, &x);
        if (r->step2) {
            x = item[k].w;
            x.v += side * x.err;
            oracle_store(second, r->in2, &x);
            r->step2(state, 1, cell, 1, second, 1, item[k].i);
        } else
            r->step(state, 1, cell, 1, item[k].i);
    }
    r->finish(state, y);
    x = oracle_load(y + size * (size_t)which, r->out);
    free(y);
    return x;
}

/* Nothing is known of the function: the bound is generous where anything is rounded, and only a
 * result that is the same at both ends of the bounds is believed to be an integer. */
static oracle_value user(const rd_reducer *r, const oracle_item *item, int64_t n, int64_t which)
{
    const oracle_value y = run_user(r, item, n, which, 0), a = run_user(r, item, n, which, 1),
                       b = run_user(r, item, n, which, -1);
    const summary s      = summary_of(item, n);
    long double   scale, err;

    for (int64_t k = 0; k < n; k++)
        if (item[k].x.err > 0 && fabsl(item[k].x.v) <= item[k].x.err)
            return oracle_unsure(r->out);
    if (!is_float(r->out))
        return a.n == y.n && b.n == y.n ? y : oracle_unsure(r->out);
    if (!isfinite(y.v) || !isfinite(a.v) || !isfinite(b.v))
        return isnan(y.v) && isnan(a.v) && isnan(b.v) ? y
               : s.sum_err > 0 || r->merge            ? oracle_unsure(r->out)
                                                      : y;
    if (s.sum_err == 0 && !r->merge)
        return oracle_real(r->out, y.v, 0, y.v != 0 ? 4 : 0);
    scale = fabsl(y.v) + s.max_abs + s.max_abs * s.max_abs;
    err   = 2 * fmaxl(fabsl(a.v - y.v), fabsl(b.v - y.v)) + 4 * s.sum_err * (1 + s.max_abs);
    return oracle_real(r->out, y.v,
                       err + 16 * oracle_float_of(r->out).u * (long double)(n + 1) * scale, 1);
}

/* A part of the product of x + iw.  What leaves the range in one order may stay in it in another. */
static oracle_value complex_product(rd_dtype type, const oracle_item *item, int64_t n, bool imag)
{
    const oracle_float f  = oracle_float_of(type);
    long double        re = 1, im = 0, part = 0, most = 1, least = 1;

    for (int64_t k = 0; k < n; k++) {
        const long double x = item[k].x.v, w = item[k].w.v, size = hypotl(x, w), was = re;

        if (item[k].w.unsure || !isfinite(size) || size == 0)
            return oracle_unsure(type);
        re    = was * x - im * w;
        im    = was * w + im * x;
        part  = part + 4 * f.u + 2 * (item[k].x.err + item[k].w.err) / size;
        most  = most * fmaxl(size, 1);
        least = least * fminl(size, 1);
    }
    if (n < 1)
        return oracle_real(type, imag ? 0 : 1, 0, 0);
    if (most > f.max / 8 || least < 16 * f.tiny / f.u || part > 1)
        return oracle_unsure(type);
    return oracle_real(type, imag ? im : re, part * hypotl(re, im) * 1.5L, 1);
}

/* ---- Scans that begin anew ------------------------------------------------------------------- */
/* The elements since the last whose weight is 1. */
static oracle_value anew(const rd_fold_facts *fold, rd_dtype type, const oracle_item *item,
                         int64_t n)
{
    rd_fold_facts facts = *fold;
    int64_t       from  = n;

    while (from > 0 && from-- > 0) {
        const oracle_value *w = &item[from].w;

        if (w->unsure)
            return oracle_unsure(type);
        if (is_float(w->type) ? w->v != 0 : w->n != 0)
            break;
    }
    item += from;
    n -= from;
    switch (fold->reducer) {
    case RD_RED_sum_anew:
        return is_float(type) ? sum(type, item, n) : int_fold(type, item, n, false);
    case RD_RED_prod_anew:
        return is_float(type) ? product(type, item, n) : int_fold(type, item, n, true);
    default:
        facts.reducer = fold->reducer == RD_RED_min_anew ? RD_RED_min : RD_RED_max;
        return extreme(&facts, type, item, n);
    }
}

/* Each element before counts w times as much as the next one. */
static oracle_value decay(rd_dtype type, const oracle_item *item, int64_t n)
{
    oracle_value y = item[0].x;

    for (int64_t k = 1; k < n; k++) {
        y = oracle_mul(type, y, item[k].w);
        if (!y.unsure)
            y = oracle_add(type, y, item[k].x);
    }
    return y;
}

/* ---------------------------------------------------------------------------------------------- */

oracle_value oracle_fold(const rd_expr *x, const oracle_item *item, int64_t n, int64_t which)
{
    const rd_fold_facts *fold = x->as.fold;
    const rd_dtype       type = x->in[0]->type;

    if (fold->reducer == RD_RED_any || fold->reducer == RD_RED_all)
        return truth(item, n, fold->reducer == RD_RED_any);
    for (int64_t k = 0; k < n; k++)
        if (item[k].x.unsure)
            return oracle_unsure(x->type);
    switch (fold->reducer) {
    case RD_RED_sum:
        return is_float(type) ? begun(x, sum(type, item, n)) : int_fold(type, item, n, false);
    case RD_RED_sum2: return begun(x, compensated(type, item, n));
    case RD_RED_prod:
        return is_float(type) ? product(type, item, n) : int_fold(type, item, n, true);
    case RD_RED_bits_and:
    case RD_RED_bits_or:
    case RD_RED_bits_xor: return bits(type, item, n, fold->reducer);
    case RD_RED_prod_real:
    case RD_RED_prod_imag: return complex_product(type, item, n, fold->reducer == RD_RED_prod_imag);
    case RD_RED_min:
    case RD_RED_max: return extreme(fold, type, item, n);
    case RD_RED_argmin:
    case RD_RED_argmax: return arg_extreme(item, n, fold->reducer == RD_RED_argmin);
    case RD_RED_sum_anew:
    case RD_RED_prod_anew:
    case RD_RED_min_anew:
    case RD_RED_max_anew: return anew(fold, type, item, n);
    case RD_RED_decay: return n > 0 ? decay(type, item, n) : oracle_unsure(type);
    case RD_RED_moments: return variance(fold, type, item, n);
    case RD_RED_skewness: return shape_of(fold, type, item, n, 3);
    case RD_RED_kurtosis: return shape_of(fold, type, item, n, 4);
    case RD_RED_covariance: return covariance(fold, type, item, n);
    case RD_RED_logsumexp: return logsumexp(type, item, n);
    case RD_RED_user: return user(fold->user, item, n, which);
    default: return oracle_unsure(x->type);
    }
}
