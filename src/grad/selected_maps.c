/* selected_maps.c - gradients through views that select a part of a map, such as one coordinate of
 * the differences of all pairs of points:
 *
 *     d = x[:, None, :] - y[None, :, :]        d0 = d[..., 0]
 *
 * The cotangent of d0, padded by zeros to the shape of d, would be an array of all pairs and all
 * coordinates, which sums over the pairs would have to read.  So such a view and its map change
 * places, and nothing is padded but what is left after these sums:
 *
 *     d0 = x[:, None, 0] - y[None, :, 0]
 *
 * This is done again for operands of the map that are maps. */
#include "expr/sparse.h"
#include "grad/derivative.h"
#include <string.h>

/* Maps that one view is exchanged with: an operand that several of them read counts for each. */
enum { MOST_MAPS = 16 };

/* Counts x and the maps below it as a tree, down to nodes of other kinds.  False if these are more
 * than *left, or if a node has to get its whole cotangent: one of the caller's operands, or a sort
 * or a sparse array, whose views may be something else than views.  A node that does not depend
 * needs nothing. `asked`: the caller wants its gradient, and a view of such a node counts as the
 * node. */
static bool is_small(const rd_grad_graph *graph, const rd_expr *x, int *left)
{
    const int64_t i = rd_grad_find(graph, x);

    if (!graph->depends[i])
        return true;
    if (x->kind != RD_EXPR_MAP) {
        const rd_expr *of = x->kind == RD_EXPR_VIEW ? x->in[0] : x;

        return of->kind != RD_EXPR_SORT && !rd_has_pattern(of) && (of == x || !graph->asked[i]);
    }
    if (graph->asked[i] || --*left < 0)
        return false;
    for (int k = 0; k < x->n_in; k++)
        if (!is_small(graph, x->in[k], left))
            return false;
    return true;
}

/* True if y is a view of half of a map's elements or less, and all views of the map together read
 * twice its elements at most.  More would be computed than by the map as a whole.
 * graph->selected[i] is what all views of it read. The view has an element; and is_small(): the
 * maps below it are few, and let themselves be exchanged. */
bool rd_grad_selects(const rd_grad_graph *graph, const rd_expr *y)
{
    int            left = MOST_MAPS;
    const rd_expr *x    = y->in[0];

    if (y->kind != RD_EXPR_VIEW || x->kind != RD_EXPR_MAP)
        return false;
    const int64_t i      = rd_grad_find(graph, x);
    const double  points = (double)rd_points(x->rank, x->extent);

    return 2 * (double)rd_points(y->rank, y->extent) <= points &&
           graph->selected[i] <= 2 * points && rd_points(y->rank, y->extent) > 0 &&
           is_small(graph, x, &left);
}

/* The map x of the selected elements alone: the same operator of views of x's operands.  NULL after
 * a failure. */
static rd_expr *selected_map(const rd_expr *view, const rd_expr *x)
{
    rd_expr *in[RD_MOST_IN] = { NULL };

    for (int k = 0; k < x->n_in; k++)
        if (!(in[k] = rd_view(x->in[k], view->rank, view->extent, view->as.view->number,
                              /*origin=*/NULL)))
            return NULL;
    return rd_node(&(rd_expr){ .ctx    = x->ctx,
                               .kind   = RD_EXPR_MAP,
                               .type   = x->type,
                               .op     = x->op,
                               .rank   = view->rank,
                               .n_in   = x->n_in,
                               .extent = view->extent,
                               .in     = in },
                   /*facts=*/NULL, 0);
}

static bool pull_map(rd_grad_graph *graph, const rd_expr *view, const rd_expr *x, rd_scaled g);

/* Passes g, the cotangent of a view of x, on: through x if that is a map, else to x, or to what x is
 * a view of.  False after a failure.  s.y is the same view of x. If it is a node of the graph,
 * it gets g as part of its cotangent, and passes it on later. Otherwise the rule of views makes
 * part[0] of it, for what it is a view of (s.y->in[0]). */
static bool pull_operand(rd_grad_graph *graph, const rd_expr *view, rd_expr *x, rd_scaled g)
{
    bool         depends[RD_MOST_IN] = { true };
    rd_scaled    part[RD_MOST_IN];
    rd_grad_step s = { .call = graph->call, .ctx = graph->ctx, .depends = depends };

    if (x->kind == RD_EXPR_MAP)
        return pull_map(graph, view, x, g);
    s.y = rd_view(x, view->rank, view->extent, view->as.view->number, /*origin=*/NULL);
    if (!s.y || rd_grad_find(graph, s.y) >= 0) /* such as one row of an array that is repeated */
        return s.y && rd_grad_add(graph, s.y, g);
    return rd_grad_pull(&s, g, part) && rd_grad_add(graph, s.y->in[0], part[0]);
}

/* Passes g, the cotangent of a view of the map x, on to the operands of x. s.y is that map of
 * the selected elements, and part[k] what its operand k gets. False after a failure. */
static bool pull_map(rd_grad_graph *graph, const rd_expr *view, const rd_expr *x, rd_scaled g)
{
    bool         depends[RD_MOST_IN] = { false };
    rd_scaled    part[RD_MOST_IN];
    rd_grad_step s = { .call = graph->call, .ctx = graph->ctx, .depends = depends };

    for (int k = 0; k < x->n_in; k++)
        depends[k] = graph->depends[rd_grad_find(graph, x->in[k])];
    s.y = selected_map(view, x);
    if (!s.y || !rd_grad_pull(&s, g, part))
        return false;
    for (int k = 0; k < x->n_in; k++)
        if (depends[k] && part[k].x && !pull_operand(graph, view, x->in[k], part[k]))
            return false;
    return true;
}

/* Passes g, the cotangent of the view y, on to what the map below it is made of: see
 * rd_grad_selects().  False after a failure. */
bool rd_grad_pull_selected(rd_grad_graph *graph, const rd_expr *y, rd_scaled g)
{
    return pull_map(graph, y, y->in[0], g);
}
