/* sort_facts.h - facts of a sort of rows: sorted elements, their positions (argsort), or quantiles;
 * and where a quantile lies.
 *
 * The order is total.  NaN comes last, -0 equals 0, and equal elements keep their order, also in
 * a descending sort (stable).  So there is one result, however it is computed.  A NaN comes out
 * as its type's canonical NaN. */
#ifndef RD_CORE_SORT_FACTS_H
#define RD_CORE_SORT_FACTS_H
#include "core/dtype.h"
#include <math.h>

typedef enum rd_sort_what {
    RD_SORT_VALUES,   /* the first elements in order */
    RD_SORT_PLACES,   /* their positions */
    RD_SORT_QUANTILES /* numbers between elements */
} rd_sort_what;

/* Everything that decides the bits of a row's results. */
typedef struct rd_sort_facts {
    int32_t what;       /* rd_sort_what                                    */
    int32_t descending; /* values and positions: the greatest first */
    int32_t skip_nan;   /* quantiles: ignore NaN */
    int32_t method;     /* quantiles: rd_quantile_method                   */
    int64_t n_q;        /* quantiles: their number */
    double  q[];
} rd_sort_facts;

/* Returns the name of a sort in dumps and messages. */
static inline const char *rd_sort_name(const rd_sort_facts *f)
{
    if (f->what == RD_SORT_QUANTILES)
        return f->skip_nan ? "quantiles of numbers" : "quantiles";
    if (f->what == RD_SORT_PLACES)
        return f->descending ? "argsort descending" : "argsort";
    return f->descending ? "sort descending" : "sort";
}

/* Between elements `low` and `high`, at the share `between` of the way, 0 to 1. */
typedef struct rd_quantile_place {
    int64_t low, high;
    double  between;
} rd_quantile_place;

/* alpha and beta of the methods that interpolate linearly. */
#define RD_QUANTILE_LINES                                                                 \
    [RD_INTERPOLATED_CDF] = { 0, 1 }, [RD_HAZEN] = { 0.5, 0.5 }, [RD_WEIBULL] = { 0, 0 }, \
    [RD_MEDIAN_UNBIASED] = { 1. / 3, 1. / 3 }, [RD_NORMAL_UNBIASED] = { 3. / 8, 3. / 8 },

/* Returns where quantile q (0 to 1) of n > 0 sorted elements lies: between elements low and
 * high, at the share `between` of the way. Hyndman and Fan (1996), "Sample quantiles in
 * statistical packages": three of their methods give elements; six interpolate between two, with
 * parameters (alpha, beta). line and cdf are the place q (n - 1) and q n; `at` is where the
 * quantile lies, cut to 0 .. n - 1; `lines` has alpha and beta by method. */
static inline rd_quantile_place rd_quantile_at(rd_quantile_method method, double q, int64_t n)
{
    static const double lines[][2] = { RD_QUANTILE_LINES };
    const double        last = (double)(n - 1), line = last * q, cdf = (double)n * q;
    double              at, below;
    rd_quantile_place   place;

    switch (method) {
    case RD_LINEAR: at = line; break; /* alpha = beta = 1 */
    case RD_LOWER: at = floor(line); break;
    case RD_HIGHER: at = ceil(line); break;
    case RD_NEAREST: at = rint(line); break;
    case RD_MIDPOINT: at = (floor(line) + ceil(line)) / 2; break;
    case RD_INVERTED_CDF: at = ceil(cdf) - 1; break;
    case RD_AVERAGED_CDF: at = cdf == floor(cdf) ? cdf - 0.5 : ceil(cdf) - 1; break;
    case RD_CLOSEST: at = rint(cdf) - 1; break;
    default: {
        const double alpha = lines[method][0], beta = lines[method][1];
        at = cdf + (alpha + q * (1 - alpha - beta)) - 1;
    }
    }
    at            = at > 0 ? at : 0;
    at            = at < last ? at : last;
    below         = floor(at);
    place.low     = (int64_t)below;
    place.high    = place.low + (place.low < n - 1);
    place.between = at - below;
    return place;
}

/* The mean of two finite numbers, rounded once.  If their sum overflows, halving first is exact. */
static inline double rd_mean_of_two(double a, double b)
{
    const double sum = a + b;

    return isinf(sum) ? a / 2 + b / 2 : sum / 2;
}

/* Returns low + (high - low) * between for two numbers whose difference overflows. It is
 * computed at half their size, where halving is exact, and from the nearer end. */
static inline double rd_long_line(double low, double high, double between)
{
    const double far = high / 2 - low / 2;

    return 2 * (between < 0.5 ? low / 2 + far * between : high / 2 - far * (1 - between));
}

/* Returns low + (high - low) * between for two elements, low <= high. It is computed from the
 * nearer end, so that it is exact at both ends. Next to an infinity the result is that infinity;
 * between -inf and inf it is NaN. rd_long_line() is for a difference `far` that is too large for
 * an f64. */
static inline double rd_quantile_of(double low, double high, double between)
{
    const double far = high - low;

    if (low == high || between == 0)
        return low;
    if (isinf(low) || isinf(high))
        return isinf(low) && isinf(high) ? NAN : low + high;
    if (between == 0.5)
        return rd_mean_of_two(low, high);
    if (isinf(far))
        return rd_long_line(low, high, between);
    return between < 0.5 ? low + far * between : high - far * (1 - between);
}
#endif
