/* oracle_sort.c - rows in order, by the definition: of each element, how many come before it. */
#include "oracle.h"
#include <math.h>

static bool is_float(rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_FLOAT;
}

static bool is_nan(const oracle_value *x)
{
    return is_float(x->type) && isnan(x->v);
}

static bool is_less(const oracle_value *a, const oracle_value *b)
{
    return is_float(a->type) ? a->v < b->v : a->n < b->n;
}

/* Does element i come before element k? */
static bool comes_before(const rd_sort_facts *f, const oracle_value *x, int64_t i, int64_t k)
{
    const oracle_value *a = f->descending ? &x[k] : &x[i], *b = f->descending ? &x[i] : &x[k];

    if (is_nan(&x[i]) || is_nan(&x[k]))
        return is_nan(&x[i]) == is_nan(&x[k]) ? i < k : is_nan(&x[k]);
    return is_less(a, b) || (!is_less(b, a) && i < k);
}

/* Where the element of this rank is. */
static int64_t place_of(const rd_sort_facts *f, const oracle_value *x, int64_t n, int64_t rank)
{
    for (int64_t k = 0; k < n; k++) {
        int64_t before = 0;

        for (int64_t i = 0; i < n; i++)
            before += comes_before(f, x, i, k);
        if (before == rank)
            return k;
    }
    return -1;
}

static long double number(const oracle_value *x)
{
    return is_float(x->type) ? x->v : (long double)(double)x->n;
}

/* q of n > 0 numbers among `all` elements, each within `err`: on the line between two of them, of
 * which what they have in common may cancel. */
static oracle_value between(const rd_expr *x, const oracle_value *row, int64_t n, int64_t all,
                            double q, long double err)
{
    const rd_sort_facts    *f   = x->as.sort;
    const rd_quantile_place at  = rd_quantile_at((rd_quantile_method)f->method, q, n);
    const long double       low = number(&row[place_of(f, row, all, at.low)]),
                      high      = number(&row[place_of(f, row, all, at.high)]);
    const bool        is_low    = low == high || at.between == 0;
    const long double v         = is_low ? low : low + (high - low) * (long double)at.between;

    if (isinf(low) || isinf(high)) /* an infinity on one side only: the line has no end */
        return (oracle_value){ .type = x->type, .v = is_low ? low : low + high };
    if (at.between == 0.5)
        return oracle_real(x->type, (low + high) / 2, err, 1);
    return oracle_real(x->type, v, err + (is_low ? 0 : 0x1p-50L * (fabsl(low) + fabsl(high))), 4);
}

static oracle_value quantile_of(const rd_expr *x, const oracle_value *row, int64_t n, int64_t which,
                                long double err)
{
    int64_t numbers = 0;

    for (int64_t i = 0; i < n; i++)
        numbers += !is_nan(&row[i]);
    if (numbers == 0 || (numbers < n && !x->as.sort->skip_nan))
        return (oracle_value){ .type = x->type, .v = NAN };
    return between(x, row, numbers, n, x->as.sort->q[which], err);
}

/* An element's rank moves no value further than its own bound says. */
oracle_value oracle_sort(const rd_expr *x, const oracle_value *row, int64_t n, int64_t which)
{
    const rd_sort_facts *f   = x->as.sort;
    long double          err = 0;
    oracle_value         y;

    for (int64_t i = 0; i < n; i++) {
        if (row[i].unsure)
            return oracle_unsure(x->type);
        err = row[i].err > err ? row[i].err : err;
    }
    if (f->what == RD_SORT_QUANTILES)
        return quantile_of(x, row, n, which, err);
    if (f->what == RD_SORT_PLACES)
        return err > 0 ? oracle_unsure(RD_I64) : oracle_int(RD_I64, place_of(f, row, n, which));
    y     = row[place_of(f, row, n, which)];
    y.err = isfinite(y.v) ? err : y.err;
    return y;
}
