/* pair_rules.c - gradients of expressions of pairs whose points are of one array, such as an energy
 * of all pairs, or the kernel matrix of points with themselves.
 *
 * Such an array has two parts in its gradient, one as the first point of pairs, one as the second:
 *
 *     sum over j of c[i, j]   and   sum over i of c[i, j]
 *
 * Loops that make both would have to go through the pairs in two orders, or store them.  So the
 * second sum is written with both points exchanged, over the same axis as the first.  What is the
 * same in either order, such as the distance, stays the node that it is:
 *
 *     sum over i of k[i, j] * (x[j] - x[i])   ->   sum over j of k[i, j] * (x[i] - x[j])
 *
 * Often that is the first sum again, or its opposite. */
#include "expr/maps.h"
#include "expr/symmetric.h"
#include "grad/derivative.h"
#include <string.h>

/* ---- Sums that take each pair once ----------------------------------------------------------- */
/* Returns the sum over j < i of a sum that takes each pair of points once: constructors make it
 * as half + (half + diagonal), where half sums where(j < i, f, 0). NULL: y is no such sum. The
 * clauses:
 * - y is a map `add`, its second operand another `add` of two operands, whose first is y's first
 *   too: half;
 * - half is a sum (a REDUCE by RD_RED_sum) of a map `where`;
 * - in[1] and in[2] are NULL: no weights and no mask; and no group-by. */
static rd_expr *half_of(const rd_expr *y)
{
    const bool adds = y->kind == RD_EXPR_MAP && y->op == RD_OP_add && y->in[1]->n_in == 2 &&
                      y->in[1]->kind == RD_EXPR_MAP && y->in[1]->op == RD_OP_add;
    rd_expr *const half = adds && y->in[0] == y->in[1]->in[0] ? y->in[0] : NULL;

    return half && half->kind == RD_EXPR_REDUCE && half->in[0]->kind == RD_EXPR_MAP &&
                   half->in[0]->op == RD_OP_where && half->as.fold->reducer == RD_RED_sum &&
                   !half->in[1] && !half->in[2] && !rd_is_grouped(half)
               ? half
               : NULL;
}

/* Returns the sum over all pairs (i, j) that y stands for, as one reduction, if y takes each
 * pair once and was made of halves (expr/pair_folds.c); else NULL. To be sure, y is made again
 * from its half: equal nodes are one node. Of where(j < i, f, 0), in[1] is f; the sum has the
 * half's facts (`fold`: reducer and axes). */
rd_expr *rd_grad_whole_of_pairs(rd_expr *y)
{
    rd_expr *const half = half_of(y);

    if (!half || rd_grad_sum(half->in[0]->in[1], half->as.fold->dims) != y)
        return NULL;
    return rd_node(&(rd_expr){ .ctx    = half->ctx,
                               .kind   = RD_EXPR_REDUCE,
                               .type   = half->type,
                               .rank   = half->rank,
                               .n_in   = half->n_in,
                               .extent = half->extent,
                               .in     = (rd_expr *const[]){ half->in[0]->in[1], NULL, NULL } },
                   half->as.fold, half->as_size);
}

/* ---- Points exchanged ------------------------------------------------------------------------ */
/* An expression whose axes a and b are being exchanged. */
typedef struct exchanging {
    const char *call;
    int         a, b;
    double     *left;   /* operations of a pair that may be made anew; beyond, it would not pay */
    bool       *shared; /* something of the pair is the same in either order */
} exchanging;

static rd_scaled exchanged(const exchanging *e, rd_expr *x);

/* Exchanges axes a and b of an operand, which are the exchanged axes of its reader; -1: the
 * operand lacks one. The number that multiplies the result is put into it. NULL: it does not
 * pay. */
static rd_expr *exchanged_below(const exchanging *e, rd_expr *x, int a, int b)
{
    const exchanging below = { e->call, a, b, e->left, e->shared };

    return a < 0 || b < 0 ? NULL : rd_grad_whole(e->call, exchanged(&below, x));
}

/* True if another index along axis k of the view reads another element. */
static bool view_moves(const rd_expr *x, int k)
{
    for (int i = 0; i < x->in[0]->rank; i++)
        if (x->as.view->number[x->in[0]->rank + i * x->rank + k] != 0)
            return true;
    return false;
}

/* Returns a view that reads at index j of axis a what x reads at j of axis b, and the other way
 * round. If x moves along both axes, its operand is exchanged instead: NULL if that is an array,
 * which would be read across its rows. A view's `number` holds `from` offsets, one for each axis
 * of its operand, and then a row for each of these axes with a factor for each axis of the view:
 * elements a and b of each row are exchanged. A view whose result has first indices (`origin`)
 * is refused. */
static rd_expr *exchanged_view(const exchanging *e, const rd_expr *x)
{
    int64_t   number[RD_MAX_RANK * (RD_MAX_RANK + 1)];
    const int from = x->in[0]->rank;
    rd_expr  *in;

    if (x->origin)
        return NULL;
    memcpy(number, x->as.view->number, (size_t)(from + from * x->rank) * sizeof *number);
    if (view_moves(x, e->a) && view_moves(x, e->b)) {
        in = exchanged_below(e, x->in[0], rd_axis_below(x, e->a), rd_axis_below(x, e->b));
        return in ? rd_view(in, x->rank, x->extent, number, /*origin=*/NULL) : NULL;
    }
    for (int i = 0; i < from; i++) {
        int64_t *const row = number + from + i * x->rank;
        const int64_t  a   = row[e->a];

        row[e->a] = row[e->b];
        row[e->b] = a;
    }
    return rd_view(x->in[0], x->rank, x->extent, number, /*origin=*/NULL);
}

/* Counts operations of each pair that must be computed a second time, with its points exchanged.
 * False: they are more than it pays for. */
static bool spend(const exchanging *e, double operations)
{
    *e->left -= operations;
    return *e->left >= 0;
}

/* Returns the elementwise operation x on operands whose points are exchanged. NULL: it costs too
 * much, or has another type then. One such operation counts its `cost` of the table and 1 more. */
static rd_expr *exchanged_map(const exchanging *e, const rd_expr *x)
{
    rd_expr *in[RD_MOST_IN] = { NULL }, *y;

    if (!spend(e, 1 + (double)rd_op_table[x->op].cost))
        return NULL;
    for (int k = 0; k < x->n_in; k++)
        if (!(in[k] = rd_grad_whole(e->call, exchanged(e, x->in[k]))))
            return NULL;
    y = x->op == RD_OP_cast ? rd_cast_to(in[0], x->type)
                            : rd_map_op((rd_op)x->op, e->call, x->n_in, in);
    return y && y->type == x->type ? y : NULL;
}

/* Returns the reduction x of an operand whose points are exchanged; it is over a few elements of
 * each pair, such as coordinates. NULL: it costs too much, or has a mask, weights or groups.
 * `steps` is the number of elements in one sum (fold->dims: the set of its axes), and each is
 * counted as 3 operations. A reducer of the caller (`user`), or a result with first indices
 * (`origin`), is refused. rd_axis_before() finds the operand's axis from the result's. */
static rd_expr *exchanged_fold(const exchanging *e, const rd_expr *x)
{
    double   steps = 1;
    rd_expr *in;

    for (int k = 1; k < x->n_in; k++)
        if (x->in[k])
            return NULL;
    for (int k = 0; k < x->in[0]->rank; k++)
        steps *= x->as.fold->dims >> k & 1 ? (double)x->in[0]->extent[k] : 1;
    if (x->origin || x->as.fold->user || !spend(e, 3 * steps))
        return NULL;
    in = exchanged_below(e, x->in[0], rd_axis_before(x, e->a), rd_axis_before(x, e->b));
    return in ? rd_node(&(rd_expr){ .ctx    = x->ctx,
                                    .kind   = RD_EXPR_REDUCE,
                                    .type   = x->type,
                                    .rank   = x->rank,
                                    .n_in   = x->n_in,
                                    .extent = x->extent,
                                    .in     = (rd_expr *const[]){ in, NULL, NULL } },
                        x->as.fold, x->as_size)
              : NULL;
}

/* Returns x with the points of each pair exchanged, times a number. If x is the same for (i, j)
 * and (j, i), it is x itself; if it has the other sign there, -x; else it is built again. x
 * NULL: that costs too much. e->a and e->b are the axes. Other kinds than views, maps and
 * reductions are not built again (y NULL). */
static rd_scaled exchanged(const exchanging *e, rd_expr *x)
{
    rd_expr *y;

    if (x->kind == RD_EXPR_NUMBER || rd_is_symmetric(x, e->a, e->b, e->shared))
        return (rd_scaled){ x, 1 };
    if (rd_is_antisymmetric(x, e->a, e->b)) {
        *e->shared = true;
        return (rd_scaled){ x, -1 };
    }
    y = x->kind == RD_EXPR_VIEW     ? exchanged_view(e, x)
        : x->kind == RD_EXPR_MAP    ? exchanged_map(e, x)
        : x->kind == RD_EXPR_REDUCE ? exchanged_fold(e, x)
                                    : NULL;
    return (rd_scaled){ y, 1 };
}

/* Returns x with axes a and b exchanged, times a number, if something of the pairs, such as a
 * distance, is the same in either order: that need not be computed twice. x NULL: it does not
 * pay, as for points of two arrays. Axes of fewer than 64 points are not taken for pairs. `left`
 * is how many operations of a pair may be made a second time, and `shared` is set when
 * exchanged() meets something that is the same in either order, but for its sign. */
rd_scaled rd_grad_exchanged(const char *call, rd_expr *x, int a, int b)
{
    enum { FEW = 64 };
    double           left   = 256;
    bool             shared = false;
    const exchanging e      = { call, a, b, &left, &shared };
    rd_scaled        y;

    if (x->extent[a] != x->extent[b] || x->extent[a] < FEW || x->kind != RD_EXPR_MAP)
        return (rd_scaled){ NULL, 1 };
    y = exchanged(&e, x);
    return shared ? y : (rd_scaled){ NULL, 1 };
}
