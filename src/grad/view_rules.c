/* view_rules.c - derivatives of views, reshapes and concatenations: in reverse mode their
 * transposes.
 *
 *     slice       ->  padding by zeros           broadcast  ->  sum over the repeated axes
 *     window      ->  sum of shifted rows        diagonal   ->  sums by place
 *     reshape     ->  reshape                    concat     ->  slices
 *
 * A view reads operand axis a at offset[a] + sum over k of coef[a][k] i[k].  The transpose adds
 * the cotangent of each element of the view to the element that it was read from. */
#include "expr/affine.h"
#include "expr/maps.h"
#include "expr/origin.h"
#include "grad/derivative.h"
#include <stdlib.h>
#include <string.h>

static const char call[] = "rd_grad";

/* The view y of x, and its cotangent g (the gradient of the scalar result with respect to y),
 * which is being turned into one of x. */
typedef struct back {
    const rd_expr *y, *x;
    rd_expr       *g;
    int            rank;               /* axes of g                                          */
    int            along[RD_MAX_RANK]; /* axis of y that each axis of g is                   */
} back;

/* Returns where the view begins along axis a of its operand: element i of the view is read at
 * offset + the sum over its axes k of coef[k] i[k]. */
static int64_t offset_of(const rd_expr *y, int a)
{
    return y->as.view->number[a];
}

/* Returns how far one index along axis k of the view moves along axis a of its operand, in
 * elements. */
static int64_t coef_of(const rd_expr *y, int a, int k)
{
    return y->as.view->number[y->in[0]->rank + a * y->rank + k];
}

/* True if different indices along axis k of the view read different elements; false for a
 * repeated (broadcast) axis, and for one of extent 1. */
static bool is_used(const rd_expr *y, int k)
{
    for (int a = 0; a < y->in[0]->rank; a++)
        if (coef_of(y, a, k) != 0)
            return y->extent[k] > 1;
    return false;
}

/* Exchanges the axes of both points of pairs (i, j) in the cotangent b->g, if that pays: the
 * view reads a point along axis k, the second one, and repeats it along axis a, the first. The
 * sum then goes over axis k instead of a, as that of the other point does, and one loop can make
 * both. `axes` is the set to be summed over, and is updated. Returns the sign that the sum gets.
 * Only the nearest k behind a that is not in the set is tried; other.x NULL: it does not pay. */
static double exchange_points(back *b, uint64_t *axes)
{
    for (int a = 0; a < b->y->rank; a++)
        for (int k = a + 1; (*axes >> a & 1) && k < b->y->rank; k++) {
            const bool      has   = !(*axes >> k & 1);
            const rd_scaled other = has ? rd_grad_exchanged(call, b->g, a, k) : (rd_scaled){ 0 };

            if (other.x) {
                b->g  = other.x;
                *axes = (*axes & ~(UINT64_C(1) << a)) | UINT64_C(1) << k;
                return other.by;
            }
            if (has)
                break;
        }
    return 1;
}

/* Sums the cotangent over the axes along which the view repeats elements: each element gets the
 * parts of all its copies. b->along then says which axis of y each axis that is left was. False
 * after a failure. is_used(): the view reads other elements along axis k, so k stays; the others
 * are the set `axes`. `sign` multiplies the sum. */
static bool sum_repeats(back *b)
{
    uint64_t axes = 0;

    b->rank = 0;
    for (int k = 0; k < b->y->rank; k++)
        if (is_used(b->y, k))
            b->along[b->rank++] = k;
        else
            axes |= UINT64_C(1) << k;
    const double sign = exchange_points(b, &axes);

    b->g = rd_grad_whole(call, (rd_scaled){ rd_grad_sum_of_products(call, b->g, axes), sign });
    return b->g != NULL;
}

/* ---- Views of which each axis belongs to one axis of the operand ----------------------------- */
/* Finds the axes of g that step along axis a of the operand; at[] gets the first two. Returns
 * how many there are: 1 for a slice, 2 for a window. b->along[k] is the axis of the view that
 * axis k of g is. */
static int axes_along(const back *b, int a, int at[2])
{
    int n = 0;

    for (int k = 0; k < b->rank; k++)
        if (coef_of(b->y, a, b->along[k]) != 0) {
            if (n < 2)
                at[n] = k;
            n++;
        }
    return n;
}

/* True if the view can be turned back axis by axis: no axis of it steps along two axes of the
 * operand, as a diagonal does, and at most two step along one, as in windows. The first loop
 * counts axes of the view for each axis of x, the second axes of x for each axis of the view. */
static bool is_separable(const back *b)
{
    for (int a = 0; a < b->x->rank; a++)
        if (axes_along(b, a, (int[2]){ 0 }) > 2)
            return false;
    for (int k = 0; k < b->rank; k++) {
        int n = 0;

        for (int a = 0; a < b->x->rank; a++)
            n += coef_of(b->y, a, b->along[k]) != 0;
        if (n > 1)
            return false;
    }
    return true;
}

/* Pads an axis with `before` and `after` zeros; a negative number cuts elements off. NULL stays
 * NULL. */
static rd_expr *padded(rd_expr *g, int axis, int64_t before, int64_t after)
{
    const int64_t from = before < 0 ? -before : 0, cut = after < 0 ? -after : 0;

    if (g && (from || cut))
        g = rd_slice_places(g, axis, from, g->extent[axis] - cut, 1);
    before = before > 0 ? before : 0;
    after  = after > 0 ? after : 0;
    return g && (before || after) ? rd_pad(g, axis, before, after, RD_PAD_CONSTANT, /*value=*/NULL)
                                  : g;
}

/* Puts step - 1 zeros behind each element of an axis, by padding a new axis and merging it: [a,
 * b] with step 3 is [a, 0, 0, b, 0, 0]. */
static rd_expr *dilated(rd_expr *g, int axis, int64_t step)
{
    rd_shape shape;

    if (!g || step == 1)
        return g;
    shape = rd_shape_of(g);
    shape.at[axis] *= step;
    g = padded(rd_expand(g, axis + 1), axis + 1, 0, step - 1);
    return g ? rd_reshape(g, shape) : NULL;
}

/* Spreads axis k of g over an axis of the operand, which has n elements: element i goes to
 * offset + coef i, and zeros to the others. It is the transpose of a slice. NULL after a
 * failure. */
static rd_expr *spread(rd_expr *g, int k, int64_t offset, int64_t coef, int64_t n)
{
    const int64_t extent = g->extent[k];

    if (coef < 0) {
        g      = rd_flip(g, RD_DIMS(k));
        offset = offset + coef * (extent - 1);
        coef   = -coef;
    }
    g = dilated(g, k, coef);
    return g ? padded(g, k, offset, n - offset - g->extent[k]) : NULL;
}

/* Adds up overlapping windows: g[i, w] belongs to place step i + coef w of the operand, both from 0
 * on. Makes axis i of g hold these sums, and removes axis w. Rows are read backwards along w:
 *
 *     sum over w of z[j - coef w + coef (n - 1), w], z being g with zeros before and after
 * `step` and `coef` are how far one index of i and of w moves; n is the length of a window and
 * `reach` how far its last element lies behind the first. v is the view of z: each axis reads
 * itself, i starts at `reach`, and w moves it back by coef. NULL after a failure. */
static rd_expr *windows_added(rd_expr *g, int i, int w, int64_t step, int64_t coef)
{
    const int64_t n = g->extent[w], reach = coef * (n - 1);
    rd_affine     v;

    g = dilated(g, i, step);
    g = padded(g, i, reach, reach);
    if (!g)
        return NULL;
    rd_affine_begin(&v, g);
    for (int a = 0; a < g->rank; a++) {
        rd_affine_axis(&v, a == i ? g->extent[a] - reach : g->extent[a], a, 1);
        v.origin[a] = 0;
    }
    v.offset[i] = reach;
    rd_affine_also(&v, i, w, -coef);
    return rd_grad_sum(rd_affine_view(g, &v, call), UINT64_C(1) << w);
}

/* Puts windows that do not overlap one behind the other, with zeros in the gaps between them:
 * axes i and w of g become one axis, by a permutation and a reshape. `step` is the distance of
 * the windows' starts, and at least their length. `order` puts axis w behind i. NULL after a
 * failure. */
static rd_expr *windows_joined(rd_expr *g, int i, int w, int64_t step)
{
    rd_index order = { 0 };
    rd_shape shape;

    g = padded(g, w, 0, step - g->extent[w]);
    if (!g)
        return NULL;
    for (int a = 0; a < g->rank; a++) {
        if (a != w)
            order.at[order.n++] = a;
        if (a == i)
            order.at[order.n++] = w;
    }
    g = rd_permute(g, order);
    if (!g)
        return NULL;
    shape = rd_shape_of(g);
    for (int a = 0; a < shape.n; a++) /* axis w stands behind axis i, which may have moved down */
        if (order.at[a] == i) {
            shape.at[a] *= step;
            memmove(shape.at + a + 1, shape.at + a + 2,
                    (size_t)(shape.n - a - 2) * sizeof *shape.at);
            shape.n--;
            break;
        }
    return rd_reshape(g, shape);
}

/* Merges two axes of g that step along axis a of the operand (windows: begins and places within
 * them) into at[0], with *coef = 1. False: the coefficients are negative, so they fit no window.
 * at[0] and at[1] are axes of g; i has the larger step, of the starts, and w the smaller,
 * `inner`, within a window. Windows side by side that do not overlap are joined, others are
 * added up. b->along and b->rank lose axis w. A failure leaves b->g NULL. */
static bool merge_windows(back *b, int a, int at[2], int64_t *coef)
{
    int     i = at[0], w = at[1];
    int64_t step = coef_of(b->y, a, b->along[i]), inner = coef_of(b->y, a, b->along[w]);

    if (step < 0 || inner < 0)
        return false;
    if (inner > step) { /* axis i holds the windows' starts */
        const int     k = i;
        const int64_t c = step;

        i = w, w = k;
        step = inner, inner = c;
    }
    if (inner == 1 && b->g->extent[w] <= step)
        b->g = windows_joined(b->g, i, w, step);
    else
        b->g = windows_added(b->g, i, w, step, inner);
    for (int k = w; k + 1 < b->rank; k++)
        b->along[k] = b->along[k + 1];
    b->rank--;
    at[0] = i - (w < i);
    *coef = 1;
    return true;
}

/* Makes of b->g the cotangent of x, if each axis of x was read by one axis of the view, or two
 * (windows): spreads them over x's axes, and puts them in x's order. An axis that no axis reads
 * was read at one place. False: the view is none of these. After a failure it is true, and b->g
 * is NULL. place[a] is the axis of g for axis a of x, -1: none. */
static bool pull_axes(back *b)
{
    rd_index order = { .n = 0 };
    int      place[RD_MAX_RANK];

    for (int a = 0; b->g && a < b->x->rank; a++) {
        int       at[2] = { 0, 0 };
        const int axes  = axes_along(b, a, at);
        int64_t   coef  = axes ? coef_of(b->y, a, b->along[at[0]]) : 0;

        if (axes == 2 && !merge_windows(b, a, at, &coef))
            return false;
        if (axes && b->g)
            b->g = spread(b->g, at[0], offset_of(b->y, a), coef, b->x->extent[a]);
    }
    for (int a = 0; a < b->x->rank; a++) {
        int at[2];

        place[a] = axes_along(b, a, at) ? at[0] : -1;
        if (place[a] >= 0)
            order.at[order.n++] = place[a];
    }
    b->g = b->g ? rd_permute(b->g, order) : NULL;
    for (int a = 0; b->g && a < b->x->rank; a++)
        if (place[a] < 0) /* the axis was read at one place */
            b->g = spread(rd_expand(b->g, a), a, offset_of(b->y, a), 1, b->x->extent[a]);
    return true;
}

/* ---- Any view -------------------------------------------------------------------------------- */
/* Returns the cotangent of the operand of any view. Each element of g, the whole cotangent of
 * the view, is added to the element of x that it was read from. That is a sum with labels, which
 * are places in C order. NULL after a failure. `stride` is that of axis a in C order; `first` is
 * the place of the view's first element, and `step` how far one index along axis k moves, in
 * elements of x. */
static rd_expr *sums_by_place(const back *b, rd_expr *g)
{
    const rd_expr *x      = b->x;
    int64_t        stride = 1, first = 0, n = rd_points(x->rank, x->extent);
    rd_expr       *label = NULL;

    for (int a = x->rank - 1; a >= 0; stride *= x->extent[a--])
        first += offset_of(b->y, a) * stride;
    label = rd_int(g->ctx, first);
    for (int k = 0; label && k < g->rank; k++) {
        int64_t step = 0;

        stride = 1;
        for (int a = x->rank - 1; a >= 0; stride *= x->extent[a--])
            step += coef_of(b->y, a, k) * stride;
        if (step)
            label = map_2(RD_OP_add, call, label,
                          map_2(RD_OP_mul, call, rd_places(g, k), rd_int(g->ctx, step)));
    }
    label = rd_cast_to(label, RD_I64);
    g     = label ? rd_sum(g, RD_ALL, .by = RD_EXPRS(label), .groups = RD_SHAPE(n)) : NULL;
    return g ? rd_reshape(g, rd_shape_of(x)) : NULL;
}

/* Reverse mode: sets s->change[0] to what the view adds to the cotangent of its operand, the
 * gradient of the scalar result with respect to it: its transpose. Axes along which it repeats
 * elements are summed first. If no two axes meet (is_separable()), pull_axes() moves each back
 * to its place; other views, such as a diagonal, are sums by the place of each element. False
 * after a failure. b.g is what is left of s->g. */
static bool pull_view(rd_grad_step *s)
{
    back b = { .y = s->y, .x = s->y->in[0], .g = s->g };

    if (!sum_repeats(&b))
        return false;
    if (is_separable(&b) && pull_axes(&b))
        s->change[0] = b.g;
    else
        s->change[0] = sums_by_place(&b, s->g);
    return s->change[0] != NULL;
}

/* Forward mode: returns the tangent of the view, the same view of the operand's tangent. */
static rd_expr *push_view(rd_grad_step *s)
{
    rd_expr *const y = s->y;

    return rd_view(s->change[0], y->rank, y->extent, y->as.view->number, /*origin=*/NULL);
}

const rd_grad_rule rd_view_grad = { pull_view, push_view };

/* ---- Reshape --------------------------------------------------------------------------------- */
/* Reverse mode: the reshape adds its cotangent to that of its operand (the gradient of the
 * scalar result with respect to it), in the operand's shape. False after a failure. */
static bool pull_reshape(rd_grad_step *s)
{
    s->change[0] = rd_reshape(s->g, rd_shape_of(s->y->in[0]));
    return s->change[0] != NULL;
}

/* Forward mode: returns the tangent of the reshape, the operand's tangent in the new shape. NULL
 * after a failure. */
static rd_expr *push_reshape(rd_grad_step *s)
{
    return rd_reshape(s->change[0], rd_shape_of(s->y));
}

const rd_grad_rule rd_reshape_grad = { pull_reshape, push_reshape };

/* ---- Concatenation --------------------------------------------------------------------------- */
/* Reverse mode: each part that depends on an operand of the caller gets its slice of the
 * cotangent, the gradient of the scalar result with respect to the joined array. False after a
 * failure. `from` is where part k begins along the axis, n its extent. */
static bool pull_concat(rd_grad_step *s)
{
    const int axis = (int)s->y->as.axis->axis;
    int64_t   from = 0;

    for (int k = 0; k < s->y->n_in; k++) {
        const int64_t n = s->y->in[k]->extent[axis];

        if (s->depends[k] && !(s->change[k] = rd_slice_places(s->g, axis, from, from + n, 1)))
            return false;
        from += n;
    }
    return true;
}

/* Forward mode: returns the tangents of all parts joined; parts that do not change have zeros.
 * NULL after a failure. */
static rd_expr *push_concat(rd_grad_step *s)
{
    rd_expr *part[RD_MOST_IN];

    for (int k = 0; k < s->y->n_in; k++)
        if (!(part[k] = s->change[k]
                            ? s->change[k]
                            : rd_with_origins(rd_grad_zeros(s->y->in[k]), /*origin=*/NULL)))
            return NULL;
    return rd_concat((int)s->y->as.axis->axis, (rd_exprs){ part, s->y->n_in });
}

const rd_grad_rule rd_concat_grad = { pull_concat, push_concat };
