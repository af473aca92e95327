/* scan_rules.c - derivatives of scans.  A sum runs in reverse, an extreme sends to its element.
 *
 *     y = cumsum(x)    cotangent of x:  cumsum of g from the other end
 *     y = cumprod(x)                    that of g * y, divided by x; where x is 0, see product()
 *     y = cummax(x)                     g, added at the place of the extreme so far */
#include "expr/maps.h"
#include "expr/origin.h"
#include "grad/derivative.h"
#include <string.h>

/* Returns a scan of x along the same axis as s->y, by another reducer. `turned`: from the other
 * end. w: flags where segments begin, or the factor of a decay; NULL: none. NULL after a
 * failure. Facts but for the reducer and its `law` (how it combines parts) stay: axis,
 * exclusive, and `reverse`, which `turned` changes. */
static rd_expr *scan_like(const rd_grad_step *s, rd_reducer_id reducer, rd_expr *x, rd_expr *w,
                          rd_dtype type, bool turned)
{
    rd_fold_facts  facts = *s->y->as.fold;
    rd_expr *const in[]  = { x, w, NULL };

    if (!x)
        return NULL;
    facts.reducer = (int32_t)reducer;
    facts.law     = rd_reducer_table[reducer].law;
    facts.reverse ^= turned;
    return rd_node(&(rd_expr){ .ctx    = s->ctx,
                               .kind   = RD_EXPR_SCAN,
                               .type   = type,
                               .rank   = s->y->rank,
                               .n_in   = 3,
                               .extent = s->y->extent,
                               .in     = in },
                   &facts, sizeof facts);
}

/* The axis of the scan: dims has one bit, as a scan goes along one axis. */
static int axis_of(const rd_grad_step *s)
{
    return __builtin_ctzll(s->y->as.fold->dims);
}

/* Returns flags where segments begin for the scan from the other end: an element begins one if
 * its neighbour behind it has the flag, as another segment begins there. An exclusive scan
 * leaves out the element itself, so its flags stay the same. `down`: the scan s->y runs from the
 * last element to the first, so "behind" is before. y is the flags without the first place
 * (down: the last), and rd_pad() puts a 1 at the end that is now free: the first element of the
 * turned scan begins a segment. NULL after a failure. */
static rd_expr *begins_from_behind(const rd_grad_step *s)
{
    const int      axis   = axis_of(s);
    rd_expr *const begins = rd_with_origins(s->y->in[1], /*origin=*/NULL);
    const bool     down   = s->y->as.fold->reverse;
    const int64_t  n      = s->y->extent[axis];
    rd_expr       *y;

    if (!begins || n == 0 || s->y->as.fold->exclusive)
        return begins;
    y = rd_slice_places(begins, axis, down ? 0 : 1, down ? n - 1 : n, 1);
    return rd_pad(y, axis, down, !down, RD_PAD_CONSTANT, rd_int(s->ctx, 1));
}

/* True if the scan has a mask, which is operand 2. */
static bool has_mask(const rd_grad_step *s)
{
    return s->y->in[2] != NULL;
}

/* Records that a scan such as s->y has no derivative; returns NULL. */
static rd_expr *refuse(const rd_grad_step *s)
{
    const rd_fold_facts *f = s->y->as.fold;

    return rd_fail(s->ctx, RD_ERR_ARGUMENT, "%s: the %s%sscan of %s has no derivative yet", s->call,
                   has_mask(s) ? "masked " : "", f->exclusive ? "exclusive " : "",
                   f->user ? "a user's reducer" : rd_reducer_table[f->reducer].name);
}

/* Returns, for each element of a running minimum or maximum, the place along the axis of the
 * element that is the extreme so far. */
static rd_expr *places_of(const rd_grad_step *s)
{
    const bool least = s->y->as.fold->reducer == RD_RED_min;

    return scan_like(s, least ? RD_RED_argmin : RD_RED_argmax,
                     rd_with_origins(s->y->in[0], /*origin=*/NULL), /*w=*/NULL, RD_I64,
                     /*turned=*/false);
}

/* Returns the change of a scan of products, or with `back` (reverse mode) what it adds to the
 * cotangent of x. Results with no 0 among their elements change by g / x of each element, times
 * y. With one 0 they change by that element alone, by r, the product of the others. With more
 * they do not change. z: how many zeros there are so far. In the text, g is the cotangent or
 * tangent, y the scan; a is the part of results without a 0, b of those with one. */
static rd_expr *product(rd_grad_step *s, rd_expr *x, rd_expr *g, bool back)
{
    rd_expr *const none  = rd_grad_text(s, "x == 0 ? 1 : 0", "x", &x);
    rd_expr *const zeros = none ? rd_cast_to(none, x->type) : NULL;
    rd_expr *const z     = scan_like(s, RD_RED_sum, zeros, /*w=*/NULL, x->type, /*turned=*/false);
    rd_expr *const r     = scan_like(s, RD_RED_prod, rd_grad_text(s, "x == 0 ? 1 : x", "x", &x),
                                     /*w=*/NULL, x->type, /*turned=*/false);
    rd_expr *const of[]  = { g, x, s->y, z, r };
    rd_expr       *a, *b;

    if (!g || !z || !r)
        return NULL;
    a = rd_grad_text(s, back ? "g * y" : "x == 0 ? 0 : g / x", "gxyzr", of);
    b = rd_grad_text(s, back ? "z == 1 ? g * r : 0" : "x == 0 ? g : 0", "gxyzr", of);
    a = scan_like(s, RD_RED_sum, a, /*w=*/NULL, g->type, back);
    b = scan_like(s, RD_RED_sum, b, /*w=*/NULL, g->type, back);
    return a && b
               ? rd_grad_text(s,
                              back ? "x == 0 ? b : a / x" : "z == 0 ? a * y : z == 1 ? b * r : 0",
                              "abxyzr", (rd_expr *const[]){ a, b, x, s->y, z, r })
               : NULL;
}

/* Returns the tangent of the scan for the tangent g of x; with `back` (reverse mode), what the
 * scan adds to the cotangent of x for its own cotangent g. A sum runs from the other end then; a
 * running minimum sends g to the element that it is. NULL after recording that there is no
 * derivative. in[1] has flags where segments begin (sum_anew), or the decay's factor. */
static rd_expr *change_by(rd_grad_step *s, rd_expr *g, bool back)
{
    const rd_fold_facts *f = s->y->as.fold;
    rd_expr *const       x = rd_with_origins(s->y->in[0], /*origin=*/NULL);

    if (has_mask(s) || f->user)
        return refuse(s);
    switch (f->reducer) {
    case RD_RED_sum: return scan_like(s, RD_RED_sum, g, /*w=*/NULL, g->type, back);
    case RD_RED_sum_anew:
        return scan_like(s, RD_RED_sum_anew, g,
                         back ? begins_from_behind(s)
                              : rd_with_origins(s->y->in[1], /*origin=*/NULL),
                         g->type, back);
    case RD_RED_decay: /* w is one number */
        return scan_like(s, RD_RED_decay, g, rd_with_origins(s->y->in[1], /*origin=*/NULL), g->type,
                         back);
    case RD_RED_prod: return product(s, x, g, back);
    case RD_RED_min:
    case RD_RED_max:
        if (f->exclusive)
            return refuse(s);
        return back ? rd_grad_scatter(g, axis_of(s), places_of(s), x->extent[axis_of(s)])
                    : rd_take_places_along(g, axis_of(s), places_of(s));
    default: return refuse(s);
    }
}

/* Reverse mode: sets s->change[0] to what the scan adds to the cotangent of x, the gradient of the
 * scalar result with respect to it. A derivative by its second operand, weights or flags, is
 * refused. False after a failure. */
static bool pull(rd_grad_step *s)
{
    if (s->depends[1])
        return refuse(s);
    s->change[0] = change_by(s, s->g, /*back=*/true);
    return s->change[0] != NULL;
}

/* Forward mode: returns the tangent of the scan, how it changes along the direction. A tangent
 * of its second operand, weights or flags, is refused. NULL after a failure. */
static rd_expr *push(rd_grad_step *s)
{
    return s->change[1] ? refuse(s) : change_by(s, s->change[0], /*back=*/false);
}

const rd_grad_rule rd_scan_grad = { pull, push };
