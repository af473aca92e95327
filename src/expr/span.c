/* span.c - bounds of the elements of an int expression, by interval arithmetic from the operands
 * up.
 *
 * Leaves count with the range of their type, as their memory may change.  Operators narrow it,
 * such as a remainder by 8, or the minimum of x and 8. */
#include "expr/span.h"
#include "expr/origin.h"

/* Most nodes that are visited.  Operands are shared, so there may be more paths to a node than
 * nodes. */
enum { MOST_VISITS = 256 };

/* All numbers from low to high.  A high of INT64_MAX also stands for greater numbers of u64. */
typedef struct span {
    int64_t low, high;
} span;

/* The span (lowest and highest number) of a bool or int type; floats, whose elements have no bounds
 * here, get that of i64. */
static span span_of_type(rd_dtype type)
{
    const rd_kind kind = rd_dtype_kind(type);

    if (kind == RD_KIND_BOOL)
        return (span){ 0, 1 };
    /* kinds are in order bool, unsigned, int, float; 8 bytes: shifting below would overflow */
    if (kind > RD_KIND_INT || rd_dtype_size(type) == 8)
        return (span){ kind == RD_KIND_UINT ? 0 : INT64_MIN, INT64_MAX };
    const int64_t values = INT64_C(1) << 8 * rd_dtype_size(type);

    return kind == RD_KIND_UINT ? (span){ 0, values - 1 } : (span){ -values / 2, values / 2 - 1 };
}

/* The lesser of two ints. */
static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The greater of two ints. */
static int64_t greater(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The span s (lowest and highest number), or that of the type if s exceeds it: results wrap around
 * then, and may be any number. */
static span wrapped(rd_dtype type, span s)
{
    const span all = span_of_type(type);

    return s.low < all.low || s.high > all.high ? all : s;
}

/* The smallest span (range of ints) that contains both a and b. */
static span united(span a, span b)
{
    return (span){ lesser(a.low, b.low), greater(a.high, b.high) };
}

/* ---- Operators ------------------------------------------------------------------------------- */
/* The span (range) of sums a + b of numbers in spans a and b.  False: an end overflows int64_t. */
static bool added(span a, span b, span *s)
{
    return !__builtin_add_overflow(a.low, b.low, &s->low) &&
           !__builtin_add_overflow(a.high, b.high, &s->high);
}

/* The span (range) of differences a - b.  False: an end overflows, or a.high is INT64_MAX, which
 * may stand for greater numbers of u64. */
static bool subtracted(span a, span b, span *s)
{
    return a.high < INT64_MAX && !__builtin_sub_overflow(a.low, b.high, &s->low) &&
           !__builtin_sub_overflow(a.high, b.low, &s->high);
}

/* The span (range) of products a * b: the least and greatest product of two ends.  False: one
 * overflows. */
static bool multiplied(span a, span b, span *s)
{
    int64_t at[4];

    if (__builtin_mul_overflow(a.low, b.low, &at[0]) ||
        __builtin_mul_overflow(a.low, b.high, &at[1]) ||
        __builtin_mul_overflow(a.high, b.low, &at[2]) ||
        __builtin_mul_overflow(a.high, b.high, &at[3]))
        return false;
    *s = united((span){ lesser(at[0], at[1]), greater(at[0], at[1]) },
                (span){ lesser(at[2], at[3]), greater(at[2], at[3]) });
    return true;
}

/* The span (range) of remainders a % b by a positive b: from 0 to b - 1, and no greater than a that
 * is never negative.  False: b may not be positive, or may be greater than it says (u64). */
static bool remaining(span a, span b, span *s)
{
    *s = (span){ 0, lesser(b.high - 1, a.low >= 0 ? a.high : INT64_MAX) };
    return b.low > 0 && b.high < INT64_MAX;
}

/* The span (range) of a & b: never negative, and no greater than either operand that is never
 * negative.  False: both may be negative, and the result, too. */
static bool common_bits(span a, span b, span *s)
{
    *s = (span){ 0, a.low < 0 ? b.high : b.low < 0 ? a.high : lesser(a.high, b.high) };
    return a.low >= 0 || b.low >= 0;
}

/* The span (range of results) of an operator with two int operands in spans a and b.  False: it is
 * unknown. */
static bool span_of_binary(rd_op op, span a, span b, span *s)
{
    switch (op) {
    case RD_OP_add: return added(a, b, s);
    case RD_OP_sub: return subtracted(a, b, s);
    case RD_OP_mul: return multiplied(a, b, s);
    case RD_OP_remainder: return remaining(a, b, s);
    case RD_OP_bit_and: return common_bits(a, b, s);
    case RD_OP_minimum:
    case RD_OP_fmin: *s = (span){ lesser(a.low, b.low), lesser(a.high, b.high) }; return true;
    case RD_OP_maximum:
    case RD_OP_fmax: *s = (span){ greater(a.low, b.low), greater(a.high, b.high) }; return true;
    default: return false;
    }
}

/* ---- Nodes ----------------------------------------------------------------------------------- */
static span span_of(const rd_expr *x, int *visits);

/* The span (range of results) of a map from those of its operands.  False: it is unknown. */
static bool span_of_map(const rd_expr *x, int *visits, span *s)
{
    if (x->op == RD_OP_cast) {
        *s = span_of(x->in[0], visits);
        /* INT64_MAX may stand for greater numbers of u64, which a cast wraps. */
        return rd_dtype_kind(x->in[0]->type) <= RD_KIND_INT && s->high < INT64_MAX;
    }
    if (x->op == RD_OP_where) {
        *s = united(span_of(x->in[1], visits), span_of(x->in[2], visits));
        return true;
    }
    return x->n_in == 2 &&
           span_of_binary(x->op, span_of(x->in[0], visits), span_of(x->in[1], visits), s);
}

/* The span (range of elements) of a concatenation: that of all its parts. */
static bool span_of_parts(const rd_expr *x, int *visits, span *s)
{
    *s = span_of(x->in[0], visits);
    for (int k = 1; k < x->n_in; k++)
        *s = united(*s, span_of(x->in[k], visits));
    return true;
}

/* The span (range) of the index along an axis.  It holds both the positions from 0 and the indices
 * from the axis' origin, as a COORD node may be read as either. */
static span span_of_axis(const rd_expr *x, int axis)
{
    const int64_t from = rd_origin(x, axis), last = greater(x->extent[axis] - 1, 0);

    return united((span){ 0, last }, (span){ from, from + last });
}

/* Finds the span (range of elements) that a node implies, beside that of its type.  False: it
 * implies none.  *visits counts the nodes visited. */
static bool is_known(const rd_expr *x, int *visits, span *s)
{
    switch (x->kind) {
    case RD_EXPR_NUMBER:
        *s = (span){ x->as.number->value.i64, x->as.number->value.i64 };
        return x->type != RD_U64 || s->low >= 0; /* above INT64_MAX it looks negative */
    case RD_EXPR_COORD: *s = span_of_axis(x, (int)x->as.axis->axis); return true;
    case RD_EXPR_VIEW:
    case RD_EXPR_RESHAPE:
    case RD_EXPR_TAKE: *s = span_of(x->in[0], visits); return true;
    case RD_EXPR_CONCAT: return span_of_parts(x, visits, s);
    case RD_EXPR_MAP: return span_of_map(x, visits, s);
    default: return false;
    }
}

/* The span (lowest and highest element) of any node; that of its type for floats, and once 256
 * nodes were visited, as paths may be exponentially many. */
static span span_of(const rd_expr *x, int *visits)
{
    span s;

    if (rd_dtype_kind(x->type) > RD_KIND_INT || ++*visits > MOST_VISITS || !is_known(x, visits, &s))
        return span_of_type(x->type);
    return wrapped(x->type, s);
}

/* Finds two numbers between which all elements of an int expression lie, by interval arithmetic.
 * False for floats, complex numbers and NULL.  *high of INT64_MAX may stand for more if the type is
 * u64. */
bool rd_span_of(const rd_expr *x, int64_t *low, int64_t *high)
{
    int visits = 0;

    if (!x || rd_dtype_kind(x->type) > RD_KIND_INT)
        return false;
    const span s = span_of(x, &visits);

    *low  = s.low;
    *high = s.high;
    return true;
}
