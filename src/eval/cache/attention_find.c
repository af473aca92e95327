/* attention_find.c - finds sums weighed by exponentials: softmax(s) times v, however a user writes
 * it.
 *
 *     sum_j (exp(s - max_j s) / sum_j exp(s - max_j s)) * v       rd_matmul(rd_softmax(s), v)
 *     (sum_j exp(s - max_j s) * v) / sum_j exp(s - max_j s)       rd_softmax_sum
 *     the same of exp(s)                                          by hand
 *
 * Equal nodes are one node, so a sum of the same exponentials is one of the same node.  Operands
 * that are repeated along axes are views, whose numbers say which axis is which. */
#include "eval/cache/attention.h"
#include "core/reducers.h"
#include <math.h>
#include <string.h>

/* ---- Views that only repeat and reorder axes ------------------------------------------------- */
/* The operand of a view node (slice, transpose, broadcast); x itself if it is no view. */
static rd_expr *below_view(rd_expr *x)
{
    return x->kind == RD_EXPR_VIEW ? x->in[0] : x;
}

/* Finds the axis of view x that reads axis `a` of its operand index by index: coefficient 1,
 * offset 0, the same extent. *axis is -1 if the operand has one element there, which is broadcast.
 * False: the view does more there, such as a slice or a step. A view's numbers are the offsets,
 * one for each axis of its operand, then a matrix of coefficients with a row for each of these
 * axes and a column for each axis of the view. */
static bool axis_read(const rd_expr *x, int a, int *axis)
{
    const rd_expr *const below = x->in[0];
    /* row a of the matrix */
    const int64_t *const coef = x->as.view->number + below->rank + (int64_t)a * x->rank;

    *axis = -1;
    for (int k = 0; k < x->rank; k++) {
        if (coef[k] == 0)
            continue;
        if (*axis >= 0 || coef[k] != 1 || x->extent[k] != below->extent[a])
            return false;
        *axis = k;
    }
    return x->as.view->number[a] == 0 && (*axis >= 0 || below->extent[a] == 1);
}

/* For each axis `a` of the operand of view x, axis[a] is the axis of x that reads it as it is; -1:
 * none, it has extent 1. An x that is no view counts as the view of itself. False if the view does
 * more than repeat (broadcast) and reorder axes. axis_read() finds that axis, and is false if
 * the view reads axis `a` otherwise. No axis may be read twice. */
static bool axes_read(const rd_expr *x, int axis[RD_MAX_RANK])
{
    const bool view = x->kind == RD_EXPR_VIEW;

    for (int a = 0; a < (view ? x->in[0]->rank : x->rank); a++) {
        axis[a] = a;
        if (view && !axis_read(x, a, &axis[a]))
            return false;
        for (int b = 0; b < a; b++)
            if (axis[a] >= 0 && axis[a] == axis[b])
                return false;
    }
    return true;
}

/* True if x is a reduction of e over axis j, broadcast along j again, as the divisor is in e / sum
 * of e. For axis `a` of e, to[a] is the axis of the reader along which x should have it; the
 * view's operand has e's axes without j. Axes of extent 1 need no match. k counts the axes of
 * the view's operand. */
static bool reads_reduced(const rd_expr *x, const rd_expr *e, int j, const int *to)
{
    int axis[RD_MAX_RANK];

    if (!axes_read(x, axis))
        return false;
    for (int a = 0, k = 0; a < e->rank; a++)
        if (a != j && axis[k++] != to[a] && e->extent[a] != 1)
            return false;
    return true;
}

/* ---- Pieces ---------------------------------------------------------------------------------- */
/* True if x is an elementwise operation, of this operator. */
static bool is_map(const rd_expr *x, rd_op op)
{
    return x->kind == RD_EXPR_MAP && x->op == op;
}

/* The one axis over which r is a plain reduction by this reducer; -1: r is something else. Plain:
 * no groups, no weights (in[1]), no mask (in[2]), no strict left fold, and over one axis. */
static int reduced_axis(const rd_expr *r, rd_reducer_id reducer)
{
    if (r->kind != RD_EXPR_REDUCE || r->as.fold->reducer != (int32_t)reducer || r->as.fold->user ||
        rd_is_grouped(r) || (r->n_in > 1 && r->in[1]) || (r->n_in > 2 && r->in[2]) ||
        r->as.fold->law == RD_LAW_serial || __builtin_popcountll(r->as.fold->dims) != 1)
        return -1;
    return __builtin_ctzll(r->as.fold->dims);
}

/* True if x is the reduction of e over axis j, seen through a broadcast along e's axes. to[a]: the
 * axis of x that is axis `a` of e. */
static bool is_reduced(rd_expr *x, rd_reducer_id reducer, const rd_expr *e, int j, const int *to)
{
    rd_expr *const below = below_view(x);

    return reduced_axis(below, reducer) == j && below->in[0] == e && reads_reduced(x, e, j, to);
}

/* Returns x without maximum(x, -inf), which the option .initial puts around a maximum reduction
 * and which changes no score. below_view() looks through a view, which broadcasts the number. */
static rd_expr *without_initial(rd_expr *x)
{
    if (is_map(x, RD_OP_maximum))
        for (int k = 0; k < 2; k++) {
            const rd_expr *const n = below_view(x->in[k]);

            if (n->kind == RD_EXPR_NUMBER &&
                rd_word_to_double(n->as.number->value, n->type) == -INFINITY)
                return x->in[1 - k];
        }
    return x;
}

/* True if m is the maximum of s over axis j, broadcast along j again to the shape of s. There may
 * be two views, one of them inside a maximum with -inf: the axes are followed through both. at[]
 * is the view inside, outer[] the view around: each maps axes of its operand to its own. Axes of
 * one index, and j, need no match. */
bool rd_is_largest(rd_expr *m, const rd_expr *s, int j)
{
    rd_expr *const inner = m->kind == RD_EXPR_VIEW ? without_initial(m->in[0]) : NULL;
    rd_expr       *below = inner ? below_view(inner) : NULL;
    int            at[RD_MAX_RANK], outer[RD_MAX_RANK];

    if (!inner || reduced_axis(below, RD_RED_max) != j || below->in[0] != s ||
        !axes_read(inner, at) || !axes_read(m, outer))
        return false;
    for (int a = 0, k = 0; a < s->rank; a++) {
        /* the axis of `inner` that is axis a of s; -1: j, or none */
        const int own = a == j ? -1 : at[k++];

        if (a != j && s->extent[a] != 1 && (own < 0 || outer[own] != a))
            return false;
    }
    return true;
}

/* ---- The sum --------------------------------------------------------------------------------- */
/* The exponentials of a sum, along their own axes. */
typedef struct weights {
    rd_expr *e;
    int      j, to[RD_MAX_RANK]; /* the axis that is summed over; e's axes among the product's */
} weights;

/* Finds the scores s in the exponentials e = exp(s - max over j of s), or exp(s), and sets
 * a->largest for the first form. a->scores becomes a view of s along the product's axes, with
 * extent 1 along value axes. False: no memory. The view's matrix has a 1 where axis k of s is
 * axis to[k] of the product; offsets are 0. */
static bool find_scores(rd_attention *a, const weights *w)
{
    rd_expr *s = w->e->in[0];
    int64_t  extent[RD_MAX_RANK], number[RD_MAX_RANK * (RD_MAX_RANK + 1)];

    if (is_map(s, RD_OP_sub) && rd_is_largest(s->in[1], s->in[0], w->j)) {
        a->largest = true;
        s          = s->in[0];
    }
    memset(number, 0, (size_t)(s->rank * (a->rank + 1)) * sizeof *number);
    for (int k = 0; k < a->rank; k++)
        extent[k] = a->value_axes >> k & 1 ? 1 : a->extent[k];
    for (int k = 0; k < s->rank; k++)
        if (w->to[k] >= 0)
            number[s->rank + k * a->rank + w->to[k]] = 1;
    a->scores = rd_view(s, a->rank, extent, number, /*origin=*/NULL);
    return a->scores != NULL;
}

/* True if v, an operand of the product, changes along axis k; false if it is broadcast there. It
 * varies if the view has a coefficient other than 0 for k, in the row of any axis of its
 * operand. */
static bool values_vary(const rd_expr *v, int k)
{
    if (v->kind != RD_EXPR_VIEW)
        return v->extent[k] > 1;
    for (int a = 0; a < v->in[0]->rank; a++)
        if (v->as.view->number[v->in[0]->rank + a * v->rank + k])
            return true;
    return false;
}

/* Sorts the product's axes into value axes, which the exponentials lack, and the axis of rows.
 * a->rows is the longest axis of the scores alone, other than the summed axis: tiles are 128 of
 * its indices at a time. False if there is no such axis, or the exponentials repeat along the
 * sum. value_axes is a bit set. A row axis has more than one index, is no axis along which
 * values vary, and is the last of the longest. */
static bool find_axes(rd_attention *a, const weights *w)
{
    a->value_axes = 0;
    for (int k = 0; k < a->rank; k++)
        a->value_axes |= (uint64_t)1 << k;
    for (int k = 0; k < w->e->rank; k++)
        if (w->to[k] >= 0)
            a->value_axes &= ~((uint64_t)1 << w->to[k]);
    a->rows = -1;
    for (int k = 0; k < a->rank; k++)
        if (!(a->value_axes >> k & 1) && k != a->columns && a->extent[k] > 1 &&
            !values_vary(a->values, k) && (a->rows < 0 || a->extent[k] >= a->extent[a->rows]))
            a->rows = k;
    return a->rows >= 0 && !(a->value_axes >> a->columns & 1);
}

/* True if operand number `of` of the product is the softmax weights: exponentials e, or e / sum of
 * e (a->divided). w gets e, the summed axis j of e, and to[k]: the axis of the product that is
 * axis k of e. own[k] = k says that x has e's axes in their order. */
static bool find_weights(rd_attention *a, rd_expr *product, int of, weights *w)
{
    rd_expr *const seen = product->in[of];
    rd_expr       *x    = below_view(seen);
    int            own[RD_MAX_RANK];

    if (!axes_read(seen, w->to))
        return false;
    w->j = -1;
    for (int k = 0; k < x->rank; k++) {
        own[k] = k;
        w->j   = w->to[k] == a->columns ? k : w->j;
    }
    w->e       = is_map(x, RD_OP_div) ? x->in[0] : x;
    a->divided = is_map(x, RD_OP_div);
    return w->j >= 0 && is_map(w->e, RD_OP_exp) &&
           (!a->divided || is_reduced(x->in[1], RD_RED_sum, w->e, w->j, own));
}

/* True if p is a float sum, over one axis, of weights * values in either order. Fills in the
 * description a except scores, and w. a->columns is the summed axis of the product. `product` is
 * weights times values: factor k is tried as the weights (find_weights()), and the other one is
 * a->values; find_axes() then finds which axes are rows, columns and values. */
static bool find_sum(rd_expr *p, rd_attention *a, weights *w)
{
    rd_expr *product;

    *a = (rd_attention){ .y = p, .columns = reduced_axis(p, RD_RED_sum) };
    if (a->columns < 0 || !is_map(p->in[0], RD_OP_mul) ||
        (p->type != RD_F32 && p->type != RD_F64) || p->in[0]->type != p->type)
        return false;
    product = p->in[0];
    a->rank = product->rank;
    memcpy(a->extent, product->extent, (size_t)a->rank * sizeof *a->extent);
    for (int k = 0; k < 2; k++) {
        a->values = product->in[1 - k];
        if (find_weights(a, product, k, w) && find_axes(a, w))
            return true;
    }
    return false;
}

/* True if z is the sum of the same exponentials e, so that sum(e * v) / z is a softmax-weighted
 * sum. z has the axes of the sum, which are the product's without the summed one: later axes move
 * down by one. */
static bool is_divisor(rd_expr *z, const rd_attention *a, const weights *w)
{
    int to[RD_MAX_RANK] = { 0 };

    for (int k = 0; k < w->e->rank; k++)
        to[k] = w->to[k] > a->columns ? w->to[k] - 1 : w->to[k];
    return is_reduced(z, RD_RED_sum, w->e, w->j, to);
}

/* True if y is sum(e * v) / sum(e), or sum(e * v) alone. `scores`: also fill in a->scores, which
 * makes a new node and so is done on demand only. In the first form the product's weights must
 * not be divided already. */
static bool find_quotient(rd_expr *y, rd_attention *a, bool scores)
{
    weights w = { 0 };

    if (is_map(y, RD_OP_div)) {
        if (!find_sum(y->in[0], a, &w) || a->divided || !is_divisor(y->in[1], a, &w))
            return false;
        a->divided = true;
        a->y       = y;
    } else if (!find_sum(y, a, &w)) {
        return false;
    }
    return !scores || find_scores(a, &w);
}

/* The number of elements of what view y reads; of y itself if it is no view. */
static int64_t points_below(rd_expr *y)
{
    const rd_expr *const below = below_view(y);

    return rd_points(below->rank, below->extent);
}

/* True if y is such a weighted sum, perhaps with its axes reordered by a view, perhaps reshaped
 * after that. A view that broadcasts has more elements than its operand and does not count.
 * `scores`: also make the node a->scores. to[] are the axes of the view, points_below() counts
 * the elements of what is below it (below_view()), and find_quotient() looks for the sum there. */
static bool find(rd_expr *y, rd_attention *a, bool scores)
{
    const bool reshaped = y->kind == RD_EXPR_RESHAPE;
    int        to[RD_MAX_RANK];

    y = reshaped ? y->in[0] : y;
    if (!axes_read(y, to) || rd_points(y->rank, y->extent) != points_below(y) ||
        !find_quotient(below_view(y), a, scores))
        return false;
    memcpy(a->result_axis, to, sizeof to);
    a->view     = y;
    a->reshaped = reshaped;
    return true;
}

/* True if y is a softmax-weighted sum (attention) in one of the forms that the head of this file
 * lists; `a` describes it then. Makes new nodes. */
bool rd_attention_find(rd_expr *y, rd_attention *a)
{
    return find(y, a, /*scores=*/true);
}

/* True if y is a softmax-weighted sum (attention). Makes no node, so the context stays as it is. */
bool rd_attention_is(rd_expr *y)
{
    rd_attention a;

    return find(y, &a, /*scores=*/false);
}

/* ---- Keys ------------------------------------------------------------------------------------ */
/* Axes of a node, as bits: those along which rows and columns of a tile lie. */
typedef struct lie {
    uint64_t rows, columns;
} lie;

/* The same sets of axes for the operand of view x: its axis `a` belongs to rows or columns if an
 * axis of x that does has a coefficient other than 0 for it. A view's numbers are the offsets,
 * one for each axis of its operand, then a matrix of coefficients with a row for each of these
 * axes and a column for each axis of the view. */
static lie lie_below(const rd_expr *x, lie l)
{
    lie in = { 0 };

    for (int a = 0; a < x->in[0]->rank; a++)
        for (int k = 0; k < x->rank; k++)
            if (x->as.view->number[x->in[0]->rank + a * x->rank + k]) {
                in.rows |= (l.rows >> k & 1) << a;
                in.columns |= (l.columns >> k & 1) << a;
            }
    return in;
}

/* The bits with a zero inserted at position j, as a set of axes changes when axis j is inserted:
 * put_in(0b1011, 2) is 0b10011. */
static uint64_t put_in(uint64_t bits, int j)
{
    const uint64_t below = ((uint64_t)1 << j) - 1;

    return (bits & below) | (bits & ~below) << 1;
}

/* The keys in `sum`, an f32 sum of products (Q K^T): the operand that varies along the columns of a
 * tile and not along its rows. l: which axes of the sum are rows and columns. The result's node is
 * NULL if there are none, or if their columns are adjacent in memory, so that a copy gains nothing.
 * `varies` are the axes along which the operand is not broadcast; exactly one of them may be a
 * column axis, none a row axis. */
static rd_attention_keys keys_of(const rd_expr *sum, lie l)
{
    const int j = reduced_axis(sum, RD_RED_sum);

    if (j < 0 || sum->type != RD_F32 || !is_map(sum->in[0], RD_OP_mul))
        return (rd_attention_keys){ .node = NULL };
    /* the product has the summed axis j, too */
    l = (lie){ put_in(l.rows, j), put_in(l.columns, j) };
    for (int k = 0; k < 2; k++) {
        rd_expr *const x      = sum->in[0]->in[k];
        lie            own    = { 0 };
        uint64_t       varies = 0;

        for (int a = 0; a < x->rank; a++)
            if (values_vary(x, a)) {
                varies |= (uint64_t)1 << a;
                own.rows |= l.rows & (uint64_t)1 << a;
                own.columns |= l.columns & (uint64_t)1 << a;
            }
        if (!own.rows && __builtin_popcountll(own.columns) == 1) {
            const int c = __builtin_ctzll(own.columns);

            /* NULL: adjacent already */
            return (rd_attention_keys){ rd_leaf_step(x, c) == 1 ? NULL : x, varies, c, j };
        }
    }
    return (rd_attention_keys){ .node = NULL };
}

/* The keys of the first sum of products that is met below x, depth first, through maps and views.
 * *left: visits that remain, as a graph may have exponentially many paths. l is how x lies in
 * the tile's axes, and keys_of() the keys of a sum of products. node NULL: none. */
static rd_attention_keys keys_below(const rd_expr *x, lie l, int *left)
{
    rd_attention_keys k = { .node = NULL };

    if (--*left < 0) /* too many visits: as if there were none */
        return k;
    if (x->kind == RD_EXPR_VIEW)
        return keys_below(x->in[0], lie_below(x, l), left);
    if (x->kind == RD_EXPR_REDUCE)
        return keys_of(x, l);
    for (int i = 0; x->kind == RD_EXPR_MAP && i < x->n_in && !k.node; i++)
        k = keys_below(x->in[i], l, left);
    return k;
}

/* Finds keys, the operand of Q K^T that goes with the columns of a tile, below `scores`, if a copy
 * of them with adjacent columns is worth it. The result's node is NULL if there are none. */
rd_attention_keys rd_attention_find_keys(const rd_attention *a, const rd_expr *scores)
{
    enum { VISITS = 200 };
    int left = VISITS;

    return keys_below(scores, (lie){ (uint64_t)1 << a->rows, (uint64_t)1 << a->columns }, &left);
}
