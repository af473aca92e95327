/* reverse_mode.c - gradients by reverse mode: rd_grad() and rd_hvp().
 *
 * Readers come before operands.  A node's cotangent is complete when it is reached, as all of its
 * readers stand before it in the order, and its rule adds to those of its operands. */
#include "expr/complex.h"
#include "expr/lists.h"
#include "expr/maps.h"
#include "expr/origin.h"
#include "expr/sparse.h"
#include "grad/derivative.h"
#include <string.h>

/* ---- Cotangents ------------------------------------------------------------------------------ */
/* Returns the cotangent of node i so far, the gradient of the scalar result with respect to it:
 * an expression times a number. */
static rd_scaled cotangent(const rd_grad_graph *graph, int64_t i)
{
    return (rd_scaled){ graph->change[i], graph->by[i] };
}

/* Returns the sum of two cotangents, each an expression times a number. If the expressions are
 * one node, the numbers add up; equal numbers stay beside the sum; others are multiplied in. */
static rd_scaled sum_of(const char *call, rd_scaled a, rd_scaled b)
{
    const rd_masked p = rd_grad_unmasked(a.x), q = rd_grad_unmasked(b.x);

    if (a.x == b.x && a.by + b.by != 0)
        return (rd_scaled){ a.x, a.by + b.by };
    if (a.x != b.x && rd_grad_same_mask(&p, &q)) { /* both are 0 at the same elements */
        const rd_scaled both = sum_of(call, (rd_scaled){ p.x, a.by }, (rd_scaled){ q.x, b.by });

        return (rd_scaled){ rd_grad_masked(call, &p, both.x), both.by };
    }
    if (a.by == b.by)
        return (rd_scaled){ map_2(RD_OP_add, call, a.x, b.x), a.by };
    if (a.by == -b.by)
        return (rd_scaled){ map_2(RD_OP_sub, call, a.x, b.x), a.by };
    return (rd_scaled){ map_2(RD_OP_add, call, rd_grad_whole(call, a), rd_grad_whole(call, b)), 1 };
}

/* Adds a part to the cotangent of node x, the gradient of the scalar result with respect to it:
 * each reader of x gives one part. False after a failure. change[i] and by[i] hold what has come
 * so far, the expression and its number; change[i] NULL: nothing yet. */
bool rd_grad_add(rd_grad_graph *graph, rd_expr *x, rd_scaled part)
{
    const int64_t i = rd_grad_find(graph, x);

    part.x = rd_cast_to(rd_with_origins(part.x, /*origin=*/NULL), x->type);
    if (part.x && graph->change[i])
        part = sum_of(graph->call, cotangent(graph, i), part);
    graph->change[i] = part.x;
    graph->by[i]     = part.by;
    return part.x != NULL;
}

/* True if numbers may stay beside the cotangents of y and of its float operands: none of them is
 * a half, whose range is small. Operands that are left out (NULL), or are no floats, do not
 * count. */
static bool keeps_factors(const rd_expr *y)
{
    bool all = rd_grad_keeps_factors(y->type);

    for (int k = 0; k < y->n_in; k++)
        all &= !y->in[k] || rd_grad_keeps_factors(y->in[k]->type) ||
               rd_dtype_kind(y->in[k]->type) != RD_KIND_FLOAT;
    return all;
}

/* If the node takes each pair (i, j) of points once, puts the sum over all pairs in its place,
 * so that loops that make its gradient need not know which half an element lies in. Its only
 * operand depends. */
static void take_all_pairs(rd_grad_step *s, bool depends[RD_MOST_IN])
{
    rd_expr *const whole = rd_grad_whole_of_pairs(s->y);

    if (!whole)
        return;
    s->y = whole;
    memset(depends, 0, RD_MOST_IN * sizeof *depends);
    depends[0] = true;
}

/* Runs the rule of s->y for its cotangent g: part[k] becomes what operand k gets, in the operand's
 * type (x NULL: nothing).  Numbers that multiply a cotangent stay beside it.  False after a
 * failure.  `keeps`: types allow numbers beside cotangents. Otherwise g's number is multiplied
 * into it first, and none is taken out of the parts. s->change[k] is what the rule gives operand k;
 * part[k].x NULL: no change of it matters, or it gets nothing. */
bool rd_grad_pull(rd_grad_step *s, rd_scaled g, rd_scaled part[RD_MOST_IN])
{
    const bool          keeps = keeps_factors(s->y);
    rd_masked           mask  = { .choice = NULL };
    const rd_grad_rule *rule;

    if (!keeps)
        g = (rd_scaled){ rd_grad_whole(s->call, g), 1 };
    s->g = g.x;
    if (s->g && s->y->kind == RD_EXPR_MAP) {
        mask = rd_grad_unmasked(s->g);
        s->g = mask.x;
    }
    rule = s->g ? rd_grad_rule_of(s) : NULL;
    if (!rule || !rule->pull(s))
        return false;
    for (int k = 0; k < s->y->n_in; k++) {
        part[k] = (rd_scaled){ NULL, 1 };
        if (!s->depends[k] || !s->change[k])
            continue;
        part[k] = keeps ? rd_grad_without_number(s, s->change[k]) : (rd_scaled){ s->change[k], 1 };
        part[k].by *= g.by;
        part[k].x = rd_cast_to(rd_with_origins(part[k].x, /*origin=*/NULL), s->y->in[k]->type);
        part[k].x = rd_grad_masked(s->call, &mask, part[k].x);
        if (!part[k].x)
            return false;
    }
    return true;
}

/* Passes the cotangent of node i (the gradient of the scalar result with respect to it) on to
 * its operands, by the rule of its kind (pull). The cotangent is complete, because all readers
 * of the node come before it. Numbers that multiply it stay beside it if types allow. False
 * after a failure. `depends` says of which operands a change matters; none: the node is an
 * operand of the caller. A view of part of a map has a way of its own (rd_grad_selects()). */
static bool pull_node(rd_grad_graph *graph, int64_t i)
{
    bool            depends[RD_MOST_IN] = { false };
    rd_scaled       part[RD_MOST_IN];
    rd_grad_step    s;
    const rd_scaled g = cotangent(graph, i);

    if (!graph->depends[i] || !g.x || !graph->list.at[i]->n_in)
        return true;
    rd_grad_step_of(graph, i, &s, depends);
    if (!memchr(depends, true, (size_t)s.y->n_in)) /* none: it is an operand of the caller */
        return true;
    if (rd_grad_selects(graph, s.y))
        return rd_grad_pull_selected(graph, s.y, g);
    if (rd_grad_is_softmax(graph, s.y))
        return rd_grad_pull_softmax(graph, s.y, g);
    if (rd_grad_is_triangle(graph, s.y))
        return rd_grad_pull_triangle(graph, s.y, g);
    take_all_pairs(&s, depends);
    if (!rd_grad_pull(&s, g, part))
        return false;
    for (int k = 0; k < s.y->n_in; k++)
        if (part[k].x && !rd_grad_add(graph, s.y->in[k], part[k]))
            return false;
    return true;
}

/* ---- The seed -------------------------------------------------------------------------------- */
/* Returns the seed, the cotangent of y itself, in y's type and shape. Without one it is 1, and y
 * must be a single real number. NULL after recording a failure. */
static rd_expr *seed_of(const rd_grad_graph *graph, const rd_expr *y, rd_expr *seed)
{
    char shape[RD_SHAPE_TEXT];

    if (!seed && rd_points(y->rank, y->extent) != 1)
        return rd_fail(graph->ctx, RD_ERR_SHAPE,
                       "%s: y has shape %s; a gradient is of one number: reduce y, or give .seed",
                       graph->call, rd_shape_text(y->rank, y->extent, shape));
    if (!seed && rd_dtype_is_complex(y->type))
        return rd_fail(graph->ctx, RD_ERR_TYPE,
                       "%s: y is complex; a gradient is of a real number: take a part of y, or "
                       "give .seed",
                       graph->call);
    if (!seed)
        seed = rd_number(graph->ctx, y->type, rd_word_from_int(1, y->type));
    seed = rd_cast_to(rd_with_origins(seed, /*origin=*/NULL), y->type);
    return seed ? rd_broadcast_to(seed, y->rank, y->extent, graph->call) : NULL;
}

/* Sets the cotangent of the result y to the seed; of a complex y, those of both parts. False
 * after a failure. */
static bool plant_seed(rd_grad_graph *graph, rd_expr *y, rd_expr *seed)
{
    if (!(seed = seed_of(graph, y, seed)))
        return false;
    if (!rd_is_complex(y))
        return rd_grad_add(graph, y, (rd_scaled){ seed, 1 });
    return rd_grad_add(graph, y->in[0], (rd_scaled){ seed->in[0], 1 }) &&
           rd_grad_add(graph, y->in[1], (rd_scaled){ seed->in[1], 1 });
}

/* ---- Results --------------------------------------------------------------------------------- */
/* Returns the gradient with respect to an operand x of the caller, from the cotangents of the
 * nodes that x consists of: both parts of a complex x, the values of a sparse one. Zeros if y
 * does not depend on it. It has x's origins (first indices of axes). NULL after a failure. */
static rd_expr *result_of(const rd_grad_graph *graph, rd_expr *x)
{
    const int64_t  i     = rd_grad_find(graph, x);
    rd_expr *const pairs = rd_grad_pairs(x);

    if (pairs)
        return rd_complex_leaf(result_of(graph, pairs), graph->call);
    if (rd_is_complex(x))
        return rd_complex_of(result_of(graph, x->in[0]), result_of(graph, x->in[1]), graph->call);
    if (x->kind == RD_EXPR_SPARSE) /* other places have no gradient: no fill */
        return rd_sparse_with(x, result_of(graph, x->in[0]), /*fill=*/NULL);
    return rd_with_origins(i >= 0 && graph->change[i]
                               ? rd_grad_whole(graph->call, cotangent(graph, i))
                               : rd_grad_zeros(x),
                           x->origin);
}

/* Returns a list of the gradients, which lives as long as nodes that are made now. After a
 * failure (ok is false, or a gradient fails) all are NULL. Without memory for a list, or a
 * context, it is a static list of NULLs, which may be shorter. The list is memory of the
 * context's arena: nobody frees it. ok false: the graph failed. */
static rd_exprs list_of(const rd_grad_graph *graph, rd_exprs x, bool ok)
{
    static rd_expr *const none[RD_MOST_IN];
    const int32_t         n    = x.n < 0 ? 0 : x.n;
    rd_expr **const       made = graph->ctx ? rd_arena(graph->ctx, (size_t)n * sizeof *made) : NULL;

    if (!made)
        return (rd_exprs){ none, n < RD_MOST_IN ? n : RD_MOST_IN };
    for (int32_t k = 0; ok && k < n; k++)
        ok = (made[k] = result_of(graph, x.at[k])) != NULL;
    if (!ok)
        memset(made, 0, (size_t)n * sizeof *made);
    return (rd_exprs){ made, n };
}

/* Copies the caller's options, of which callers of an older release have fewer bytes (size); the
 * others are 0. */
static rd_grad_opts whole_opts(const rd_grad_opts *opts)
{
    rd_grad_opts whole = { 0 };

    if (opts)
        memcpy(&whole, opts, opts->size && opts->size < sizeof whole ? opts->size : sizeof whole);
    return whole;
}

/* Computes the gradients of y with respect to the operands x, for a public call of that name:
 * the seed is the cotangent of y, and each node passes its cotangent on, readers first. Nodes
 * come in the graph's order. rd_grad_end() frees the graph, not the gradients. */
static rd_exprs gradient(const char *call, rd_expr *y, rd_exprs x, rd_expr *seed)
{
    rd_grad_graph graph;
    bool ok = rd_grad_begin(&graph, call, y, x, /*strict=*/true) && plant_seed(&graph, y, seed);

    for (int64_t i = 0; ok && i < graph.list.n; i++)
        ok = pull_node(&graph, graph.order[i]);
    const rd_exprs list = list_of(&graph, x, ok);
    rd_grad_end(&graph);
    return list;
}

/* The public call: the gradients of y with respect to the expressions o.x. */
rd_exprs rd_grad_of(rd_expr *y, const rd_grad_opts *opts)
{
    const rd_grad_opts o = whole_opts(opts);

    return gradient("rd_grad", y, o.x, o.seed);
}

/* The public call rd_hvp(): the Hessian times v, by forward mode over reverse mode: how each
 * gradient changes along v. After a failure of the gradients their list, of NULLs, is returned.
 * A gradient need not depend on each operand, so forward mode is not strict. An element is NULL
 * if its derivative failed. */
rd_exprs rd_hvp(rd_expr *y, rd_exprs x, rd_exprs v)
{
    const rd_exprs g = gradient("rd_hvp", y, x, /*seed=*/NULL);
    rd_expr      **made;

    if (!g.n || !g.at[0] || !(made = rd_arena(y->ctx, (size_t)g.n * sizeof *made)))
        return g;
    for (int32_t k = 0; k < g.n; k++)
        made[k] = rd_grad_directional("rd_hvp", g.at[k], x, v, /*strict=*/false);
    return (rd_exprs){ made, g.n };
}
