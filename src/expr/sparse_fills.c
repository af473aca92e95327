/* sparse_fills.c - facts of fills, without evaluating them: whether they are 0, and along which
 * axes they differ. */
#include "expr/plain.h"
#include "expr/sparse.h"

enum { MOST_DEEP = 16 }; /* levels of nodes that are looked at; beyond, nothing is known */

/* Says which operands make an operator's result 0 when they are 0: all together, any one, or the
 * first (RD_KEEPS_ALL, _ANY, _FIRST); -1 (RD_KEEPS_NO): none.  The rows RD_OF_ZERO of ops.def have
 * it.  The table holds it plus 1, so that an operator without a row has -1. */
int rd_keeps_zero(rd_op op)
{
    static const int8_t table[RD_N_OPS] = {
#define RD_OP(name, ...)
#define RD_TEST(name, ...)
#define RD_OF_ZERO(name, which) [RD_OP_##name] = 1 + RD_KEEPS_##which,
#include "core/ops.def"
    };

    return table[op] - 1;
}

/* True if a cast to a float gives no infinity: from an int that the type can hold.  A narrow float
 * holds only ints of one byte. */
static bool is_finite_cast(const rd_expr *x)
{
    const rd_dtype from = x->in[0]->type;

    return rd_dtype_kind(from) != RD_KIND_FLOAT &&
           (x->type == RD_F32 || x->type == RD_F64 || rd_dtype_size(from) == 1);
}

/* True if every element of x is known to be finite, so that times 0 it is 0 and not NaN.  `deep`
 * counts levels of nodes, up to MOST_DEEP.  A gather from a finite row is finite, whatever its
 * index. */
static bool is_finite(const rd_expr *x, int deep)
{
    if (deep > MOST_DEEP)
        return false;
    if (rd_dtype_kind(x->type) != RD_KIND_FLOAT)
        return true;
    switch (x->kind) {
    case RD_EXPR_NUMBER: {
        const double v = rd_word_to_double(x->as.number->value, x->type);

        return v - v == 0;
    }
    case RD_EXPR_VIEW:
    case RD_EXPR_RESHAPE:
    case RD_EXPR_TAKE: return is_finite(x->in[0], deep + 1);
    case RD_EXPR_MAP:
        if (x->op == RD_OP_cast)
            return is_finite_cast(x);
        return x->op == RD_OP_where && is_finite(x->in[1], deep + 1) &&
               is_finite(x->in[2], deep + 1);
    default: return false;
    }
}

static rd_zero zero_of(const rd_expr *x, int deep);

/* Derives what is known of a map's zeros from its operands, by the operator's rule: it is 0 if all,
 * any, or the first of them are 0.  A float product of 0 and a factor that may be infinite or NaN
 * is RD_ZERO_OR_NAN. */
static rd_zero zero_of_map(const rd_expr *x, int deep)
{
    const bool    real  = rd_dtype_kind(x->type) == RD_KIND_FLOAT;
    const int     which = rd_keeps_zero(x->op);
    const rd_zero first = zero_of(x->in[0], deep + 1);
    /* the least and the most that is known of any operand */
    rd_zero all = first, any = first;
    bool    finite = first == RD_ZERO || (first == RD_NO_ZERO && is_finite(x->in[0], deep));

    if (x->op == RD_OP_cast) /* as a bool NaN is true, as an int it is 0 */
        return first == RD_ZERO_OR_NAN && !real ? x->type == RD_BOOL ? RD_NO_ZERO : RD_ZERO : first;
    if (which == RD_KEEPS_NO)
        return RD_NO_ZERO;
    for (int k = 1; k < x->n_in; k++) {
        const rd_zero z = x->in[k] == x->in[0] ? first : zero_of(x->in[k], deep + 1);

        finite &= z == RD_ZERO || (z == RD_NO_ZERO && is_finite(x->in[k], deep));
        all = z < all ? z : all;
        any = z > any ? z : any;
    }
    if (which == RD_KEEPS_ALL)
        return all;
    if ((which == RD_KEEPS_ANY ? any : first) == RD_NO_ZERO)
        return RD_NO_ZERO;
    return !real || (which == RD_KEEPS_ANY && finite) ? RD_ZERO : RD_ZERO_OR_NAN;
}

/* How much is known of x: 0 everywhere, 0 or NaN everywhere, or nothing (RD_NO_ZERO).  It looks at
 * most MOST_DEEP levels of nodes below x. */
static rd_zero zero_of(const rd_expr *x, int deep)
{
    if (deep > MOST_DEEP)
        return RD_NO_ZERO;
    switch (x->kind) {
    case RD_EXPR_NUMBER:
        return rd_word_to_double(x->as.number->value, x->type) == 0 ? RD_ZERO : RD_NO_ZERO;
    case RD_EXPR_VIEW:
    case RD_EXPR_RESHAPE: return zero_of(x->in[0], deep + 1);
    case RD_EXPR_MAP: return zero_of_map(x, deep);
    default: return RD_NO_ZERO;
    }
}

/* How much is known of x without evaluating it: 0 everywhere, 0 or NaN at each position, or
 * nothing. */
rd_zero rd_zero_of(const rd_expr *x)
{
    return zero_of(x, 0);
}

/* The axes with more than one element, as bits. */
static uint64_t long_axes(const rd_expr *x)
{
    uint64_t axes = 0;

    for (int a = 0; a < x->rank; a++)
        axes |= (uint64_t)(x->extent[a] > 1) << a;
    return axes;
}

/* The axes along which elements of x may differ, as bits.  A number has none.  A map has those of
 * its operands, a view those with a coefficient on a varying axis of its operand, any other node
 * all longer than 1. */
static uint64_t varying_axes(const rd_expr *x, int deep)
{
    uint64_t axes = 0;

    if (x->kind == RD_EXPR_NUMBER)
        return 0;
    if (deep > MOST_DEEP || (x->kind != RD_EXPR_VIEW && x->kind != RD_EXPR_MAP))
        return long_axes(x);
    for (int i = 0; i < x->n_in && x->kind == RD_EXPR_MAP; i++)
        axes |= varying_axes(x->in[i], deep + 1);
    if (x->kind == RD_EXPR_MAP)
        return axes;
    const uint64_t below = varying_axes(x->in[0], deep + 1);
    for (int a = 0; a < x->in[0]->rank; a++)
        for (int k = 0; k < x->rank && below >> a & 1; k++)
            axes |= (uint64_t)(x->as.view->number[x->in[0]->rank + a * x->rank + k] != 0) << k;
    return axes;
}

/* The axes along which elements of x may differ, as bits. */
uint64_t rd_varies(const rd_expr *x)
{
    return varying_axes(x, 0);
}

/* Makes x with extent 1 along the axes where its elements do not differ, so that less is computed;
 * it broadcasts back. */
rd_expr *rd_slim(rd_expr *x)
{
    const uint64_t axes = x ? rd_varies(x) | ~long_axes(x) : 0;

    for (int a = 0; x && a < x->rank; a++)
        if (!(axes >> a & 1))
            x = rd_plain_slice(x, a, 0, 1, 1);
    return x;
}
