/* factors.c - what multiplies cotangents, and need not do so element by element: numbers, and
 * factors that a sum repeats.
 *
 * Rules are linear in the cotangent, so a number that multiplies one multiplies all that follows
 * from it.  Reverse mode makes many: the 2 of a square, the -1 of a difference, the 1 / n of a
 * mean, the seed 1.  They stay beside the cotangent, and multiply the result once instead of each
 * pair of points:
 *
 *     sum over j of -(2 * (x[i] - y[j]) * (-0.5 * (k[i, j] * (b[j] * 1))))
 *       ->  sum over j of (x[i] - y[j]) * (k[i, j] * b[j]), times 1 */
#include "expr/maps.h"
#include "expr/origin.h"
#include "grad/derivative.h"
#include <math.h>
#include <string.h>

/* Numbers in the text of a rule stand no deeper below its products. */
enum { DEEPEST = 4 };

/* True if x is a finite number other than 0, as it is or repeated by views; *value gets it. */
static bool is_number(const rd_expr *x, double *value)
{
    while (x->kind == RD_EXPR_VIEW)
        x = x->in[0];
    if (x->kind != RD_EXPR_NUMBER)
        return false;
    *value = rd_word_to_double(x->as.number->value, x->type);
    return isfinite(*value) && *value != 0;
}

/* True if x is the number 1, as it is or repeated by views; false for NULL. */
bool rd_grad_is_one(const rd_expr *x)
{
    double value;

    return x && is_number(x, &value) && value == 1;
}

/* Returns ones of the type and shape of x. */
static rd_expr *ones(const char *call, const rd_expr *x)
{
    rd_expr *const one = rd_number(x->ctx, x->type, rd_word_from_int(1, x->type));

    return one ? rd_broadcast_to(one, x->rank, x->extent, call) : NULL;
}

/* True if x is the node, one of its operands or its cotangent (the gradient with respect to the
 * node): no number is taken out of them, because other nodes may read them as they are. */
static bool is_given(const rd_grad_step *s, const rd_expr *x)
{
    bool given = x == s->y || x == s->g;

    for (int k = 0; k < s->y->n_in; k++)
        given |= x == s->y->in[k];
    return given;
}

static rd_scaled without_number(const rd_grad_step *s, rd_expr *x, int depth);

/* Takes the numbers out of both factors of a product or quotient x; the result is an expression
 * and their product `by`. A factor of ones is dropped. x stays the node that it is if neither
 * factor has a number, or if the product would be 0 or not finite. a and b are the factors
 * without their numbers a.by and b.by, down to `depth` - 1 levels more. */
static rd_scaled of_two(const rd_grad_step *s, rd_expr *x, int depth)
{
    const bool      divides = x->op == RD_OP_div;
    const rd_scaled a       = without_number(s, x->in[0], depth - 1);
    const rd_scaled b       = without_number(s, x->in[1], depth - 1);
    const double    by      = divides ? a.by / b.by : a.by * b.by;

    if ((a.x == x->in[0] && b.x == x->in[1] && !rd_grad_is_one(a.x) && !rd_grad_is_one(b.x)) ||
        !isfinite(by) || by == 0)
        return (rd_scaled){ x, 1 };
    if (rd_grad_is_one(b.x))
        return (rd_scaled){ a.x, by };
    if (rd_grad_is_one(a.x) && !divides)
        return (rd_scaled){ b.x, by };
    return (rd_scaled){ map_2((rd_op)x->op, s->call, a.x, b.x), by };
}

/* Takes the numbers that multiply or divide x out of it: x is the returned expression times the
 * number `by`. It looks through products, quotients and signs of the rule's own text, `depth`
 * deep. A number itself becomes ones. is_given() nodes, and x where `depth` is 0, stay whole
 * (`by` 1). */
static rd_scaled without_number(const rd_grad_step *s, rd_expr *x, int depth)
{
    rd_scaled of;
    double    value;

    if (is_number(x, &value))
        return (rd_scaled){ value == 1 ? x : ones(s->call, x), value };
    if (depth == 0 || x->kind != RD_EXPR_MAP || is_given(s, x))
        return (rd_scaled){ x, 1 };
    if (x->op == RD_OP_neg) {
        of = without_number(s, x->in[0], depth - 1);
        return (rd_scaled){ of.x, -of.by };
    }
    return x->op == RD_OP_mul || x->op == RD_OP_div ? of_two(s, x, depth) : (rd_scaled){ x, 1 };
}

/* True for types in which numbers may stay beside cotangents. It is false for halves: products
 * without their numbers would leave their range. */
bool rd_grad_keeps_factors(rd_dtype type)
{
    return type == RD_F32 || type == RD_F64;
}

/* Takes the numbers that multiply what a rule has made out of it, so that they multiply the
 * final gradient once and not each element here. x NULL stays NULL. */
rd_scaled rd_grad_without_number(const rd_grad_step *s, rd_expr *x)
{
    return x && rd_grad_keeps_factors(x->type) ? without_number(s, x, DEEPEST)
                                               : (rd_scaled){ x, 1 };
}

/* Returns the expression times its number; NULL stays NULL. */
rd_expr *rd_grad_whole(const char *call, rd_scaled x)
{
    if (!x.x || x.by == 1)
        return x.x;
    return x.by == -1 ? map_1(RD_OP_neg, call, x.x)
                      : map_2(RD_OP_mul, call, x.x, rd_num(x.x->ctx, x.by));
}

/* ---- Factors of sums ------------------------------------------------------------------------- */
/* A sum of products whose factors are being sorted: those that are the same for all terms go
 * outside of the sum, the others stay inside. */
typedef struct factoring {
    const char *call;
    uint64_t    axes;     /* of the sum */
    rd_expr    *outside;  /* the product of the factors that repeat along them; NULL: 1 */
    rd_expr    *under;    /* and of such divisors */
    bool        negative; /* the sum is subtracted, as differences were reversed */
    bool        failed;
} factoring;

/* True if the view reads the same element at all indices along these axes (a set, bit k for axis
 * k). A view's `number` holds an offset for each axis of its operand x->in[0], and then for each
 * of these axes a row of x->rank factors, by which an index along axis k moves there: all of a
 * column k are 0 if it repeats. */
static bool view_repeats(const rd_expr *x, uint64_t axes)
{
    for (int k = 0; k < x->rank; k++)
        for (int a = 0; (axes >> k & 1) && x->extent[k] > 1 && a < x->in[0]->rank; a++)
            if (x->as.view->number[x->in[0]->rank + a * x->rank + k] != 0)
                return false;
    return true;
}

/* Returns the axes of a reduction's operand that are the given axes of its result: sets with a
 * bit for each axis. Reduced axes are not in the result. k counts the result's axes, and
 * fold->dims is the set of reduced axes. */
static uint64_t axes_of_operand(const rd_expr *x, uint64_t axes)
{
    uint64_t found = 0;
    int      k     = 0;

    for (int a = 0; a < x->in[0]->rank; a++)
        if (!(x->as.fold->dims >> a & 1))
            found |= (axes >> k++ & 1) << a;
    return found;
}

/* True if all elements of x along these axes are the same: x is a view that repeats there, an
 * elementwise operation on such views, or a reduction of them over other axes. It looks `depth`
 * levels deep. A REDUCE with more than one operand (weights, mask or label) is not looked into. */
static bool repeats(const rd_expr *x, uint64_t axes, int depth)
{
    bool all = x->kind == RD_EXPR_MAP && depth > 0;

    if (x->kind == RD_EXPR_VIEW)
        return view_repeats(x, axes);
    if (x->kind == RD_EXPR_REDUCE && x->n_in == 1 && depth > 0)
        return repeats(x->in[0], axes_of_operand(x, axes), depth - 1);
    for (int k = 0; k < x->n_in && all; k++)
        all = repeats(x->in[k], axes, depth - 1);
    return all;
}

/* True if all elements of x along these axes are the same, as far as a few levels below it tell. */
bool rd_grad_repeats(const rd_expr *x, uint64_t axes)
{
    return repeats(x, axes, DEEPEST);
}

/* Returns a factor that is the same along the axes of the sum, without these axes: its first
 * element along each. NULL after a failure. */
static rd_expr *once(const factoring *d, rd_expr *x)
{
    for (int k = x->rank; x && k-- > 0;)
        if (d->axes >> k & 1)
            x = rd_select_place(x, k, 0);
    return x;
}

/* Returns a b, where NULL stands for 1. A failure sets d->failed. */
static rd_expr *product(factoring *d, rd_expr *a, rd_expr *b)
{
    rd_expr *const y = a && b ? map_2(RD_OP_mul, d->call, a, b) : a ? a : b;

    d->failed |= a && b && !y;
    return y;
}

/* Multiplies *to, the factors or the divisors outside of the sum, by a factor that is the same
 * for all its terms. */
static void move_outside(factoring *d, rd_expr **to, rd_expr *x)
{
    rd_expr *const y = once(d, x);

    d->failed |= !y;
    *to = product(d, *to, y);
}

/* True if x is a product or a quotient. */
static bool is_product(const rd_expr *x)
{
    return x->kind == RD_EXPR_MAP && (x->op == RD_OP_mul || x->op == RD_OP_div);
}

/* Returns factor k of a product or quotient x. If x is a view of one, it is the same view of the
 * factor. NULL after a failure. */
static rd_expr *factor(const rd_expr *x, int k)
{
    return x->kind == RD_EXPR_VIEW
               ? rd_view(x->in[0]->in[k], x->rank, x->extent, x->as.view->number, /*origin=*/NULL)
               : x->in[k];
}

static rd_expr *factor_out(factoring *d, rd_expr *x, int depth);

/* Sorts the factors of the quotient x = a / b into those that are the same for all terms of the
 * sum, which go outside, and the others. Returns what stays inside; NULL: 1. b itself stays
 * whole: it goes under the sum, or divides what stays. `stays == a`: nothing was moved, so x
 * remains the node that it is. */
static rd_expr *factor_quotient(factoring *d, rd_expr *x, rd_expr *a, rd_expr *b, int depth)
{
    rd_expr *stays;

    if (rd_grad_repeats(b, d->axes)) {
        move_outside(d, &d->under, b);
        return factor_out(d, a, depth - 1);
    }
    stays = factor_out(d, a, depth - 1);
    if (stays == a || d->failed)
        return x;
    if (!stays)
        stays = rd_number(x->ctx, x->type, rd_word_from_int(1, x->type));
    x = stays ? map_2(RD_OP_div, d->call, stays, b) : NULL;
    d->failed |= !x;
    return x;
}

/* Sorts the factors of x, a product or a view of one, `depth` levels deep: those that are the
 * same for all terms of the sum multiply d->outside. Returns the product of those that stay
 * inside the sum; NULL: 1. y is the product below a view x, of which in[k] are the factors
 * (views of them). x remains the node that it is if no factor moved. */
static rd_expr *factor_out(factoring *d, rd_expr *x, int depth)
{
    const rd_expr *y = x->kind == RD_EXPR_VIEW ? x->in[0] : x;
    rd_expr       *in[2], *stays[2];

    if (rd_grad_repeats(x, d->axes)) {
        move_outside(d, &d->outside, x);
        return NULL;
    }
    if (depth == 0 || !is_product(y))
        return x;
    for (int k = 0; k < 2; k++) {
        in[k] = factor(x, k);
        d->failed |= !in[k];
    }
    if (d->failed)
        return x;
    if (y->op == RD_OP_div)
        return factor_quotient(d, x, in[0], in[1], depth);
    for (int k = 0; k < 2; k++)
        stays[k] = factor_out(d, in[k], depth - 1);
    return stays[0] == in[0] && stays[1] == in[1] ? x : product(d, stays[0], stays[1]);
}

/* ---- Differences ----------------------------------------------------------------------------- */
/* Reverses a difference of what changes along the axes and what does not: (x[i] - y[j]), summed
 * over i, becomes -(y[j] - x[i]).  Neighbours of such a sum lie along j, and instructions subtract
 * one number of memory from all of them, not the other way round.  Only the sign changes.  a and
 * b are the operands of the difference, seen through a view x. */
static rd_expr *reversed(factoring *d, rd_expr *x)
{
    rd_expr *const a = factor(x, 0), *const b = a ? factor(x, 1) : NULL;

    if (!b) {
        d->failed = true;
        return x;
    }
    if (rd_grad_repeats(a, d->axes) || !rd_grad_repeats(b, d->axes))
        return x;
    d->negative = !d->negative;
    x           = map_2(RD_OP_sub, d->call, b, a);
    d->failed |= !x;
    return x;
}

/* Returns a product, quotient or view of one with its differences reversed, if their first
 * operand changes along the axes of the sum and the second does not; reversed() says why. The
 * sign goes to d->negative. It goes `depth` levels of products down: in[k] are the factors,
 * to[k] what they become. x remains the node that it is if none was reversed; d->failed after a
 * failure. */
static rd_expr *with_kept_first(factoring *d, rd_expr *x, int depth)
{
    const rd_expr *y = x->kind == RD_EXPR_VIEW ? x->in[0] : x;
    rd_expr       *in[2], *to[2];

    if (y->kind == RD_EXPR_MAP && y->op == RD_OP_sub)
        return reversed(d, x);
    if (depth == 0 || !is_product(y))
        return x;
    for (int k = 0; k < 2 && !d->failed; k++) {
        in[k] = factor(x, k);
        d->failed |= !in[k];
        to[k] = d->failed ? NULL : with_kept_first(d, in[k], depth - 1);
    }
    if (d->failed || (to[0] == in[0] && to[1] == in[1]))
        return x;
    x = map_2((rd_op)y->op, d->call, to[0], to[1]);
    d->failed |= !x;
    return x;
}

/* True if all of x is summed, over two axes or more of at least 256 elements: the scalar is a
 * sum over pairs of points. `axes` is the set summed over; an axis outside of it may have one
 * element. n counts the long axes. */
static bool is_total_of_pairs(const rd_expr *x, uint64_t axes)
{
    enum { LONG = 256 };
    int n = 0;

    for (int k = 0; k < x->rank; k++) {
        n += x->extent[k] >= LONG;
        if (!(axes >> k & 1) && x->extent[k] > 1)
            return false;
    }
    return n > 1;
}

/* Returns the sum of x over all axes, one after the other, the last axis first. So there is a
 * sum for each point, which can share a loop over pairs with other such sums, and then the sum
 * over points. */
static rd_expr *total_in_turn(const char *call, rd_expr *x)
{
    for (int k = x->rank; x && k-- > 0;)
        x = rd_grad_sum_of_products(call, x, UINT64_C(1) << k);
    return x;
}

/* Returns x without those axes to be summed over that have one element, and takes them out of
 * the set *axes (bits, renumbered): a sum of one element is the element. As a sum it would keep
 * a factor, such as the weights b[j, 0] of a matrix of one column, inside the loops over pairs.
 * `left` is the new set, and `stays` the number of axes kept so far. NULL after a failure. */
static rd_expr *drop_single(rd_expr *x, uint64_t *axes)
{
    rd_dims  single = RD_NONE;
    uint64_t left   = 0;
    int      stays  = 0;

    for (int a = 0; a < x->rank; a++) {
        const bool summed = *axes >> a & 1;

        if (summed && x->extent[a] == 1) {
            single.axis[single.n++] = a;
            continue;
        }
        left |= summed ? UINT64_C(1) << stays : 0;
        stays++;
    }
    *axes = left;
    return single.n ? rd_squeeze(x, single) : x;
}

/* Returns the factor x of a sum, with `instead` where the sum is 0 (is_0) and x is `bad`. NULL after
 * a failure. */
static rd_expr *safe_factor(const char *call, rd_expr *is_0, rd_expr *bad, rd_expr *x, int instead)
{
    rd_expr *const both = bad ? map_2(RD_OP_and, call, is_0, bad) : NULL;

    return both ? map_where(call, both, rd_int(x->ctx, instead), x) : NULL;
}

/* Makes the factors and divisors outside of a sum y of masked terms safe. All of its terms may be
 * masked: then y is 0, and a factor that is not finite, or a divisor that is 0, would make NaN of
 * it. A factor that is finite stays, as derivatives of the product need it. False after a
 * failure. */
static bool make_safe(factoring *d, rd_expr *y)
{
    rd_expr *const is_0 = map_2(RD_OP_eq, d->call, y, rd_int(y->ctx, 0));
    rd_expr       *bad;

    if (is_0 && d->outside && !rd_grad_is_one(d->outside)) {
        bad        = map_1(RD_OP_isfinite, d->call, d->outside);
        bad        = bad ? map_1(RD_OP_not, d->call, bad) : NULL;
        d->outside = safe_factor(d->call, is_0, bad, d->outside, 0);
        if (!d->outside)
            return false;
    }
    if (is_0 && d->under) {
        bad      = map_2(RD_OP_eq, d->call, d->under, rd_int(y->ctx, 0));
        d->under = safe_factor(d->call, is_0, bad, d->under, 1);
    }
    return is_0 && rd_error(y->ctx) == RD_OK;
}

/* Returns the sum y times the factors outside of it, and by the divisors, which are made safe if
 * terms of y are masked. NULL after a failure. */
static rd_expr *times_outside(factoring *d, rd_expr *y, bool masked)
{
    const bool is_one = !d->outside || rd_grad_is_one(d->outside);

    if (!y || (masked && !(is_one && !d->under) && !make_safe(d, y)))
        return NULL;
    if (!is_one)
        y = map_2(RD_OP_mul, d->call, y, d->outside);
    return d->under ? map_2(RD_OP_div, d->call, y, d->under) : y;
}

/* Returns the sum of x over a set of axes, with the factors that are the same for all terms outside
 * of it, where they multiply once. NULL after a failure.
 *
 *     sum over i of (x[i] - y[j]) * (k[i, j] * b[j])
 *       ->  b[j] * -(sum over i of (y[j] - x[i]) * k[i, j])
 * All axes in the set (axes + 1 is 2^rank) of a sum over pairs: total_in_turn(). Without an
 * axis, or for halves, it is the plain sum. deal() sorts the factors: `inside` NULL means that
 * all went outside, and then x is summed as it is. The result is the sum of what stays, with
 * d.negative, d.outside and d.under (divisors) applied. */
rd_expr *rd_grad_sum_of_products(const char *call, rd_expr *x, uint64_t axes)
{
    factoring d    = { .call = call };
    rd_masked mask = { .choice = NULL };
    rd_expr  *inside, *y;

    if (!x || !(x = drop_single(x, &axes)))
        return NULL;
    d.axes = axes;
    if (!axes || !rd_grad_keeps_factors(x->type))
        return rd_grad_sum(x, axes);
    if (is_total_of_pairs(x, axes) && axes + 1 == UINT64_C(1) << x->rank)
        return total_in_turn(call, x);
    mask   = rd_grad_unmasked(x);
    inside = factor_out(&d, mask.x, DEEPEST);
    if (!d.failed && !inside && !mask.choice)
        return rd_grad_sum(x, axes);
    if (!d.failed)
        inside = inside ? with_kept_first(&d, inside, DEEPEST) : ones(call, x);
    if (d.failed || !(inside = rd_grad_masked(call, &mask, inside)))
        return NULL;
    y = rd_grad_sum(inside, axes);
    if (d.negative)
        y = map_1(RD_OP_neg, call, y);
    return times_outside(&d, y, mask.choice);
}
