/* intervals.c - interval arithmetic of floats: see intervals.h.
 *
 * An interval that is not known is `all`: from minus to plus infinity.
 *
 * Words. A fold is a reduction or a scan. */
#include "kernels/loop/intervals.h"
#include "core/value_ranges.h"
#include <math.h>

/* Operands deeper than this in an expression count as unknown, which bounds the time. */
enum { DEEP = 8 };

static const rd_interval all = { -INFINITY, INFINITY };

static rd_interval interval_of(const rd_schedule *t, int32_t value, int depth);

/* True if intervals are computed for the type: f32 and f64, not half floats. */
static bool is_float(rd_dtype type)
{
    return type == RD_F32 || type == RD_F64;
}

/* True if both ends are finite numbers. */
static bool is_finite(rd_interval x)
{
    return isfinite(x.low) && isfinite(x.high);
}

/* Returns the least interval that contains both. */
static rd_interval interval_union(rd_interval x, rd_interval y)
{
    return (rd_interval){ fmin(x.low, y.low), fmax(x.high, y.high) };
}

/* ---- Operators ------------------------------------------------------------------------------- */
/* Returns the interval of x * y: the extremes are among the four products of ends. */
static rd_interval interval_product(rd_interval x, rd_interval y)
{
    const double a = x.low * y.low, b = x.low * y.high, c = x.high * y.low, d = x.high * y.high;

    if (!is_finite(x) || !is_finite(y))
        return all;
    return (rd_interval){ fmin(fmin(a, b), fmin(c, d)), fmax(fmax(a, b), fmax(c, d)) };
}

/* Returns the interval of x + y.  Infinite ends give no information, as inf - inf is NaN. */
static rd_interval interval_sum(rd_interval x, rd_interval y)
{
    if (!is_finite(x) || !is_finite(y))
        return all;
    return (rd_interval){ x.low + y.low, x.high + y.high };
}

/* Returns the interval of -x. */
static rd_interval interval_negative(rd_interval x)
{
    return (rd_interval){ -x.high, -x.low };
}

/* Returns the interval of |x|. */
static rd_interval interval_abs(rd_interval x)
{
    if (x.low >= 0)
        return x;
    return (rd_interval){ 0, fmax(-x.low, x.high) };
}

/* Returns the interval of x / y, known only for a y above 0. */
static rd_interval interval_quotient(rd_interval x, rd_interval y)
{
    const double a = x.low / y.low, b = x.low / y.high, c = x.high / y.low, d = x.high / y.high;

    if (!is_finite(x) || !is_finite(y) || y.low <= 0)
        return all;
    return (rd_interval){ fmin(fmin(a, b), fmin(c, d)), fmax(fmax(a, b), fmax(c, d)) };
}

/* Returns the interval of x to the power y. It is known, [0, 1], only if x is in [0, 1] and y is
 * not negative; else `all` numbers. */
static rd_interval interval_power(rd_interval x, rd_interval y)
{
    return x.low >= 0 && x.high <= 1 && y.low >= 0 ? (rd_interval){ 0, 1 } : all;
}

/* Returns the interval of an operator's result, from those of its operands; `all` (unknown) of
 * operators that are not listed. Roundings are widened to whole numbers, and only numbers from 0 on
 * have a root. */
static rd_interval interval_of_operator(rd_op op, const rd_interval *x)
{
    switch (op) {
    case RD_OP_neg: return interval_negative(x[0]);
    case RD_OP_abs: return interval_abs(x[0]);
    case RD_OP_square: return interval_product(interval_abs(x[0]), interval_abs(x[0]));
    case RD_OP_sqrt: return x[0].low >= 0 ? (rd_interval){ sqrt(x[0].low), sqrt(x[0].high) } : all;
    case RD_OP_floor:
    case RD_OP_ceil:
    case RD_OP_round:
    case RD_OP_trunc: return (rd_interval){ floor(x[0].low), ceil(x[0].high) };
    case RD_OP_sin:
    case RD_OP_cos:
    case RD_OP_tanh: return (rd_interval){ -1, 1 };
    case RD_OP_sigmoid: return (rd_interval){ 0, 1 };
    case RD_OP_add: return interval_sum(x[0], x[1]);
    case RD_OP_sub: return interval_sum(x[0], interval_negative(x[1]));
    case RD_OP_mul: return interval_product(x[0], x[1]);
    case RD_OP_div: return interval_quotient(x[0], x[1]);
    case RD_OP_pow:
    case RD_OP_pow_half: return interval_power(x[0], x[1]);
    case RD_OP_minimum:
        return (rd_interval){ fmin(x[0].low, x[1].low), fmin(x[0].high, x[1].high) };
    case RD_OP_maximum:
        return (rd_interval){ fmax(x[0].low, x[1].low), fmax(x[0].high, x[1].high) };
    case RD_OP_fmin: /* the result may be either operand, as the other may be NaN */
    case RD_OP_fmax: return interval_union(x[0], x[1]);
    default: return all;
    }
}

/* ---- Values ---------------------------------------------------------------------------------- */
/* Rounds an end of an interval to the type.  Rounding is monotonic, and doubles have more than
 * twice the bits of floats.  So the end is rounded as the operation rounds its result. A type
 * without infinities gives NaN for a large end, which then stays. */
static double rounded_end(double x, rd_dtype type)
{
    const double single = rd_dtype_class(type) == RD_CLASS_f64 ? x : (double)(float)x;

    const double rounded = rd_word_to_double(rd_word_from_double(single, type), type);

    return isnan(rounded) ? single : rounded; /* too large for a type without infinities */
}

/* Rounds both ends of an interval to a float type; ints stay. */
static rd_interval rounded(rd_interval x, rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_FLOAT
               ? (rd_interval){ rounded_end(x.low, type), rounded_end(x.high, type) }
               : x;
}

/* Returns the interval of a constant: one point, or everything if it is NaN. */
static rd_interval interval_of_number(const rd_tree_value *let)
{
    const double x = rd_word_to_double(let->word, let->type);

    return isnan(x) ? all : (rd_interval){ x, x };
}

/* Returns the interval of all numbers of an int type. */
static rd_interval interval_of_int(rd_dtype type)
{
    const rd_range x = rd_range_of_type(type);

    return x.known ? (rd_interval){ (double)x.low, (double)x.high } : all;
}

/* Returns the interval of an operator's result, rounded to its type. */
static rd_interval interval_of_map(const rd_schedule *t, const rd_tree_value *let, int depth)
{
    rd_interval x[3] = { all, all, all };

    for (int32_t k = 0; k < let->n && k < 3; k++)
        x[k] = interval_of(t, t->operand[let->first + k], depth + 1);
    return rounded(interval_of_operator(let->op, x), let->type);
}

/* Returns the interval of a value (least and greatest number that it can be), from the intervals
 * of its operands. Loads, calls, results of folds, and operands at depth DEEP are unknown: `all`
 * numbers. */
static rd_interval interval_of(const rd_schedule *t, int32_t value, int depth)
{
    const rd_tree_value *let = &t->let[value];
    const int32_t       *in  = &t->operand[let->first];

    if (!is_float(let->type) || depth == DEEP)
        return all;
    switch (let->kind) {
    case RD_I_CONST: return interval_of_number(let);
    case RD_I_MAP: return interval_of_map(t, let, depth);
    case RD_I_CAST:
        return rounded(is_float(let->from) ? interval_of(t, in[0], depth + 1)
                                           : interval_of_int(let->from),
                       let->type);
    case RD_I_SELECT:
        return interval_union(interval_of(t, in[1], depth + 1), interval_of(t, in[2], depth + 1));
    default: return all;
    }
}

/* Returns the interval of a value: the least and the greatest number that it can be. */
rd_interval rd_interval_of(const rd_schedule *t, int32_t value)
{
    return interval_of(t, value, /*depth=*/0);
}

/* True if the value is a cast of a float to a signed int of at most 32 bits, or to an unsigned one
 * of at most 16. Vectors convert floats to int32_t. */
bool rd_narrows_float(const rd_tree_value *let)
{
    return let->kind == RD_I_CAST && rd_dtype_kind(let->from) == RD_KIND_FLOAT &&
           let->type != RD_BOOL && let->type != RD_U32 &&
           rd_dtype_kind(let->type) != RD_KIND_FLOAT && rd_register_size(let->type) == 4;
}

/* True if each float that the cast can meet fits an int32_t, and is not negative for an unsigned
 * target.  A cast truncates, so -0.99 becomes 0. MOST is a little below 2^31, as functions may
 * exceed their interval by a rounding error. Of any other value x is `all`, whose infinite ends no
 * type holds. */
bool rd_narrows_bounded(const rd_schedule *t, const rd_tree_value *let)
{
    static const double MOST = 2147480000, LEAST_OF_UNSIGNED = -0.99;
    const rd_interval   x = rd_narrows_float(let) && is_float(let->from)
                                ? rd_interval_of(t, t->operand[let->first])
                                : all;

    return x.low >= (rd_dtype_kind(let->type) == RD_KIND_UINT ? LEAST_OF_UNSIGNED : -MOST) &&
           x.high <= MOST;
}
