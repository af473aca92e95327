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

/* All numbers of a bool or int type; floats have the span of i64. */
static span span_of_type(rd_dtype type)
{
    const rd_kind kind = rd_dtype_kind(type);

    if (kind == RD_KIND_BOOL)
        return (span){ 0, 1 };
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

/* The span itself; all numbers of the type if the span exceeds it, as results wrap then. */
static span wrapped(rd_dtype type, span s)
{
    const span all = span_of_type(type);

    return s.low < all.low || s.high > all.high ? all : s;
}

/* The least span that contains both. */
static span united(span a, span b)
{
    return (span){ lesser(a.low, b.low), greater(a.high, b.high) };
}

/* ---- Operators ------------------------------------------------------------------------------- */
/* The span of sums a + b.  False: it overflows. */
static bool added(span a, span b, span *s)
{
    return !__builtin_add_overflow(a.low, b.low, &s->low) &&
           !__builtin_add_overflow(a.high, b.high, &s->high);
}

/* The span of differences a - b.  False: it overflows, or a may hold greater numbers than it
 * says. */
static bool subtracted(span a, span b, span *s)
{
    return a.high < INT64_MAX && !__builtin_sub_overflow(a.low, b.high, &s->low) &&
           !__builtin_sub_overflow(a.high, b.low, &s->high);
}

/* The span of products a * b, from the products of all ends.  False: one overflows. */
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

/* The span of remainders a % b by a positive b: from 0 to b - 1, and no greater than a non-negative
 * a.  False: b may not be positive. */
static bool remaining(span a, span b, span *s)
{
    *s = (span){ 0, lesser(b.high - 1, a.low >= 0 ? a.high : INT64_MAX) };
    return b.low > 0 && b.high < INT64_MAX;
}

/* The span of a & b: no negative number, and no greater than either operand that is not negative.
 * False: both may be negative. */
static bool common_bits(span a, span b, span *s)
{
    *s = (span){ 0, a.low < 0 ? b.high : b.low < 0 ? a.high : lesser(a.high, b.high) };
    return a.low >= 0 || b.low >= 0;
}

/* The span of an operator with two operands.  False: it is unknown. */
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

/* The span of a map from those of its operands.  False: it is unknown. */
static bool span_of_map(const rd_expr *x, int *visits, span *s)
{
    if (x->op == RD_OP_cast) {
        *s = span_of(x->in[0], visits);
        return rd_dtype_kind(x->in[0]->type) <= RD_KIND_INT && s->high < INT64_MAX;
    }
    if (x->op == RD_OP_where) {
        *s = united(span_of(x->in[1], visits), span_of(x->in[2], visits));
        return true;
    }
    return x->n_in == 2 &&
           span_of_binary(x->op, span_of(x->in[0], visits), span_of(x->in[1], visits), s);
}

/* The span of a concatenation: that of all its parts. */
static bool span_of_parts(const rd_expr *x, int *visits, span *s)
{
    *s = span_of(x->in[0], visits);
    for (int k = 1; k < x->n_in; k++)
        *s = united(*s, span_of(x->in[k], visits));
    return true;
}

/* The span of a COORD node, which may hold the places along the axis or its indices. */
static span span_of_axis(const rd_expr *x, int axis)
{
    const int64_t from = rd_origin(x, axis), last = greater(x->extent[axis] - 1, 0);

    return united((span){ 0, last }, (span){ from, from + last });
}

/* Finds the span that a node implies, beside its type.  False: it implies none. */
static bool is_known(const rd_expr *x, int *visits, span *s)
{
    switch (x->kind) {
    case RD_EXPR_NUMBER:
        *s = (span){ x->as.number->value.i64, x->as.number->value.i64 };
        return x->type != RD_U64 || s->low >= 0;
    case RD_EXPR_COORD: *s = span_of_axis(x, (int)x->as.axis->axis); return true;
    case RD_EXPR_VIEW:
    case RD_EXPR_RESHAPE:
    case RD_EXPR_TAKE: *s = span_of(x->in[0], visits); return true;
    case RD_EXPR_CONCAT: return span_of_parts(x, visits, s);
    case RD_EXPR_MAP: return span_of_map(x, visits, s);
    default: return false;
    }
}

/* The span of the elements of any node; that of its type for floats, and once MOST_VISITS nodes
 * were visited. */
static span span_of(const rd_expr *x, int *visits)
{
    span s;

    if (rd_dtype_kind(x->type) > RD_KIND_INT || ++*visits > MOST_VISITS || !is_known(x, visits, &s))
        return span_of_type(x->type);
    return wrapped(x->type, s);
}

/* Finds two numbers between which all elements of an int expression lie. False for floats, complex
 * numbers and NULL. `visits` limits how many nodes are looked at. */
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
