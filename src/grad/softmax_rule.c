/* softmax_rule.c - the gradient of exponentials divided by their sum, as one rule:
 *
 *     p = e / sum(e), e = exp(x - m)        x gets p * (g - sum(p * g)), and m nothing
 *
 * where m is the same for all terms of the sum.  Mostly it is the maximum of x, which keeps the
 * exponential from overflowing.  p does not depend on it, but the rules of its parts do not know
 * that: they would look for the place of each maximum, sum up what it gets, which is 0 but for
 * rounding, and add that at this place to the cotangents of all pairs. */
#include "expr/maps.h"
#include "grad/derivative.h"

/* A softmax: exponentials divided by their sum over some axes. */
typedef struct softmax {
    rd_expr *exps;   /* the exponentials */
    rd_expr *sum;    /* of them, without the axes summed over */
    rd_expr *scores; /* what x is above, or x - m if that is not known to be a shift */
    uint64_t axes;   /* that are summed over: bit k for axis k of the exponentials */
} softmax;

/* True if the view repeats the result of a sum for each element that the sum was made of: it reads
 * each axis that is kept at its own index, and the others at no index.  `number` holds an offset
 * for each axis of the result, and then a row for each of them with a factor for each axis of the
 * view. */
static bool is_spread(const rd_expr *view, const rd_expr *sum)
{
    const int64_t *number = view->as.view->number;
    int            kept   = 0;

    if (view->rank != sum->in[0]->rank)
        return false;
    for (int a = 0; a < view->rank; a++) {
        const int own = sum->as.fold->dims >> a & 1 ? -1 : kept++;

        for (int i = 0; i < sum->rank && view->extent[a] > 1; i++)
            if (number[sum->rank + i * view->rank + a] != (i == own))
                return false;
    }
    for (int i = 0; i < sum->rank; i++)
        if (number[i] != 0)
            return false;
    return true;
}

/* True if x is a sum without weights, mask or groups. */
static bool is_plain_sum(const rd_expr *x)
{
    bool plain = x->kind == RD_EXPR_REDUCE && !x->as.fold->user && !rd_is_grouped(x) &&
                 (x->as.fold->reducer == RD_RED_sum || x->as.fold->reducer == RD_RED_sum2);

    for (int k = 1; plain && k < x->n_in; k++)
        plain = !x->in[k];
    return plain;
}

/* True if the caller asks for the gradient by x, which must then get its whole cotangent. */
static bool is_asked(const rd_grad_graph *graph, const rd_expr *x)
{
    const int64_t i = rd_grad_find(graph, x);

    return i >= 0 && graph->asked[i];
}

/* Returns the scores of exponentials `exps`: x of exp(x - m) if m is the same along the axes, else
 * all that stands below exp.  A difference that the caller asks for stays whole. */
static rd_expr *scores_of(const rd_grad_graph *graph, const rd_expr *exps, uint64_t axes)
{
    rd_expr *const x = exps->in[0];
    const bool     shifted =
        x->kind == RD_EXPR_MAP && x->op == RD_OP_sub && rd_grad_repeats(x->in[1], axes);

    return shifted && !is_asked(graph, x) ? x->in[0] : x;
}

/* True if y is a softmax of f32 or f64, of which the caller asks for no part; *s gets its parts. */
static bool find(const rd_grad_graph *graph, const rd_expr *y, softmax *s)
{
    rd_expr *exps, *view;

    if (y->kind != RD_EXPR_MAP || y->op != RD_OP_div || !rd_grad_keeps_factors(y->type))
        return false;
    exps = y->in[0];
    view = y->in[1];
    if (exps->kind != RD_EXPR_MAP || exps->op != RD_OP_exp || view->kind != RD_EXPR_VIEW ||
        !is_plain_sum(view->in[0]) || view->in[0]->in[0] != exps || view->in[0]->type != y->type ||
        !is_spread(view, view->in[0]))
        return false;
    *s        = (softmax){ .exps = exps, .sum = view->in[0], .axes = view->in[0]->as.fold->dims };
    s->scores = scores_of(graph, exps, s->axes);
    return rd_grad_find(graph, s->scores) >= 0 && !is_asked(graph, exps) &&
           !is_asked(graph, view) && !is_asked(graph, s->sum);
}

/* Returns a result y of sums repeated for each element that they were made of: a node like x. */
static rd_expr *spread(const char *call, const softmax *s, rd_expr *y, const rd_expr *x)
{
    for (int a = 0; y && a < x->rank; a++)
        if (s->axes >> a & 1)
            y = rd_expand(y, a);
    return y ? rd_broadcast_to(y, x->rank, x->extent, call) : NULL;
}

/* True if y is a softmax whose scores get their cotangent from rd_grad_pull_softmax(). */
bool rd_grad_is_softmax(const rd_grad_graph *graph, const rd_expr *y)
{
    softmax s;

    return find(graph, y, &s);
}

/* Adds to the cotangent of a softmax's scores what its own, g, gives them: p * (g - sum(p * g)).
 * p is made with 1 / sum, so that there is a division for each sum, not for each term.  False
 * after a failure. */
bool rd_grad_pull_softmax(rd_grad_graph *graph, const rd_expr *y, rd_scaled g)
{
    const char *call = graph->call;
    softmax     s;
    rd_expr    *one, *p, *mean, *part;

    if (!find(graph, y, &s) ||
        !(one = rd_number(graph->ctx, y->type, rd_word_from_int(1, y->type))))
        return false;
    p    = map_2(RD_OP_mul, call, s.exps, spread(call, &s, map_2(RD_OP_div, call, one, s.sum), y));
    mean = rd_grad_sum_of_products(call, map_2(RD_OP_mul, call, p, g.x), s.axes);
    part = map_2(RD_OP_mul, call, p, map_2(RD_OP_sub, call, g.x, spread(call, &s, mean, y)));
    return part && rd_grad_add(graph, s.scores, (rd_scaled){ part, g.by });
}
