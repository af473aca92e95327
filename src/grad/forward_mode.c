/* forward_mode.c - directional derivatives by forward mode: rd_jvp(), rd_divergence() and
 * rd_laplacian(). */
#include "expr/complex.h"
#include "expr/lists.h"
#include "expr/maps.h"
#include "expr/origin.h"
#include "grad/derivative.h"
#include <string.h>

/* ---- Tangents of operands -------------------------------------------------------------------- */
/* Sets the tangent of node x (how it changes along the direction) to t, if the graph has the
 * node. False if t is NULL, after a failure. A node that is not below y needs none. */
static bool set_tangent(rd_grad_graph *graph, const rd_expr *x, rd_expr *t)
{
    const int64_t i = rd_grad_find(graph, x);

    t = rd_with_origins(t, /*origin=*/NULL);
    if (t && i >= 0)
        graph->change[i] = t;
    return t != NULL;
}

/* Sets the tangents of the nodes that operand x of the caller consists of to their parts of the
 * direction t. These nodes are the values of a sparse operand, or both parts of a complex one. t
 * is cast and broadcast to x. False after a failure. A sparse node's in[0] are its stored
 * values, and in[2] and on the coordinates of their places: equal nodes, so that the memory of
 * both lists is compared. Operands of a complex node are its real and imaginary parts; of a
 * complex leaf, `pairs` is the array of (re, im) below it. */
static bool plant_tangent(rd_grad_graph *graph, rd_expr *x, rd_expr *t)
{
    rd_expr *const pairs = rd_grad_pairs(x);

    t = rd_cast_to(t, x->type);
    if (t && x->kind == RD_EXPR_SPARSE) {
        if (t->kind != RD_EXPR_SPARSE || t->n_in != x->n_in ||
            memcmp(t->in + 2, x->in + 2, (size_t)(x->n_in - 2) * sizeof *t->in) != 0)
            return rd_fail(graph->ctx, RD_ERR_ARGUMENT,
                           "%s: the direction of a sparse operand must have its stored places",
                           graph->call);
        return plant_tangent(graph, x->in[0], t->in[0]);
    }
    t = t ? rd_broadcast_to(rd_with_origins(t, /*origin=*/NULL), x->rank, x->extent, graph->call)
          : NULL;
    if (!t)
        return false;
    if (pairs)
        return set_tangent(graph, pairs, rd_complex_pairs(t));
    if (rd_is_complex(x))
        return plant_tangent(graph, x->in[0], t->in[0]) && plant_tangent(graph, x->in[1], t->in[1]);
    return set_tangent(graph, x, t);
}

/* ---- Nodes ----------------------------------------------------------------------------------- */
/* Computes the tangent of node i, how it changes along the direction, from those of its operands
 * by the rule of its kind (push). Nodes that the caller gave a tangent, or that cannot change,
 * are left alone. False after a failure. depends[k]: operand k changes with an operand of the
 * caller; without a tangent of any (`any`) the node's stays NULL, which is 0. */
static bool push_node(rd_grad_graph *graph, int64_t i)
{
    bool                depends[RD_MOST_IN], any = false;
    rd_grad_step        s;
    const rd_grad_rule *rule;

    if (!graph->depends[i] || graph->change[i] || rd_is_complex(graph->list.at[i]))
        return true;
    rd_grad_step_of(graph, i, &s, depends);
    for (int k = 0; k < s.y->n_in; k++) {
        s.change[k] = depends[k] ? graph->change[rd_grad_find(graph, s.y->in[k])] : NULL;
        any |= s.change[k] != NULL;
    }
    if (!any)
        return true;
    rule = rd_grad_rule_of(&s);
    graph->change[i] =
        rule ? rd_cast_to(rd_with_origins(rule->push(&s), /*origin=*/NULL), s.y->type) : NULL;
    return graph->change[i] != NULL;
}

/* Returns the tangent of the result y, with y's origins (first indices of axes); zeros if it
 * does not change. A complex y has the tangents of both parts. */
static rd_expr *result_of(const rd_grad_graph *graph, rd_expr *y)
{
    const int64_t i = rd_grad_find(graph, y);

    if (rd_is_complex(y))
        return rd_complex_of(result_of(graph, y->in[0]), result_of(graph, y->in[1]), graph->call);
    return rd_with_origins(graph->change[i] ? graph->change[i] : rd_grad_zeros(y), y->origin);
}

/* Returns the tangent of y, how it changes if its operands x move along the directions t, for a
 * public call of that name. Nodes come in the order of serial numbers, operands first. `strict`:
 * an operand that is neither a leaf nor below y is an error. NULL after recording a failure. The
 * tangents are in graph.change, which rd_grad_end() frees with the lists; the expressions live
 * on in the context. */
rd_expr *rd_grad_directional(const char *call, rd_expr *y, rd_exprs x, rd_exprs t, bool strict)
{
    rd_grad_graph graph;
    rd_expr      *made = NULL;
    bool          ok   = rd_grad_begin(&graph, call, y, x, strict);

    ok = ok && rd_list_ok(y->ctx, call, "directions", t.at, t.n, 1);
    if (ok && t.n != x.n) {
        rd_fail(y->ctx, RD_ERR_ARGUMENT, "%s: %d operands, and %d directions", call, (int)x.n,
                (int)t.n);
        ok = false;
    }
    ok = ok && rd_operands(call, t.n, t.at) && rd_same_ctx(call, t.n, t.at);
    for (int32_t k = 0; ok && k < x.n; k++)
        ok = plant_tangent(&graph, x.at[k], t.at[k]);
    for (int64_t i = 0; ok && i < graph.list.n; i++)
        ok = push_node(&graph, i);
    if (ok)
        made = result_of(&graph, y);
    rd_grad_end(&graph);
    return made;
}

/* The public call rd_jvp(): the directional derivative of y (Jacobian times vector) for the
 * directions t of its operands x, each of which must be a leaf or below y. NULL after recording
 * a failure. */
rd_expr *rd_jvp(rd_expr *y, rd_exprs x, rd_exprs t)
{
    return rd_grad_directional("rd_jvp", y, x, t, /*strict=*/true);
}

/* ---- Fields of points ------------------------------------------------------------------------ */
/* Returns the direction that moves coordinate d of all points of x: 1 there, and 0 in the other
 * coordinates, which are along the last axis. */
static rd_expr *unit(const char *call, rd_expr *x, int64_t d)
{
    rd_expr *const at = rd_places(x, x->rank - 1);

    return rd_cast_to(map_2(RD_OP_eq, call, at, rd_int(x->ctx, d)), x->type);
}

/* True if f has the shape of x, for a vector field; without its last axis, which has the
 * coordinates, for a scalar field. Else records both shapes. */
static bool shapes_ok(const char *call, const rd_expr *f, const rd_expr *x, bool vector)
{
    char of_f[RD_SHAPE_TEXT], of_x[RD_SHAPE_TEXT];

    if (x->rank > 0 && f->rank == x->rank - !vector &&
        !memcmp(f->extent, x->extent, (size_t)f->rank * sizeof *f->extent))
        return true;
    rd_fail(f->ctx, RD_ERR_SHAPE, "%s: f has shape %s, and x %s; f must have x's shape%s", call,
            rd_shape_text(f->rank, f->extent, of_f), rd_shape_text(x->rank, x->extent, of_x),
            vector ? "" : " without its last axis");
    return false;
}

/* Returns the divergence of a vector field f of points x: the sum over coordinates d of the
 * change of f[.., d] along coordinate d. One direction moves all points at once, because f of a
 * point depends on that point alone. `strict`: f must have been made from x. NULL after a
 * failure. t is the direction, and `part` the change of f[.., d]. `sum` stays NULL only if
 * points have no coordinate: then zeros. */
static rd_expr *divergence(const char *call, rd_expr *f, rd_expr *x, bool strict)
{
    const int last = x->rank - 1;
    rd_expr  *sum  = NULL;

    for (int64_t d = 0; d < x->extent[last]; d++) {
        rd_expr *const t = unit(call, x, d);
        rd_expr       *part =
            t ? rd_grad_directional(call, f, (rd_exprs){ &x, 1 }, (rd_exprs){ &t, 1 }, strict)
                    : NULL;

        part = part ? rd_select_place(part, last, d) : NULL;
        sum  = part && sum ? map_2(RD_OP_add, call, sum, part) : part;
        if (!sum)
            return NULL;
    }
    return sum ? sum : rd_grad_zeros(rd_grad_sum(f, UINT64_C(1) << last));
}

/* The public call: the divergence of a vector field f of points x, whose last axis has the
 * coordinates of both. */
rd_expr *rd_divergence(rd_expr *f, rd_expr *x)
{
    static const char call[] = "rd_divergence";

    if (!rd_operands(call, 2, (rd_expr *[]){ f, x }) || !shapes_ok(call, f, x, /*vector=*/true))
        return NULL;
    return divergence(call, f, x, /*strict=*/true);
}

/* The public call: the Laplacian of a scalar field f of points x: the divergence of its gradient.
 * The sum of f over all points has that gradient, as a point changes its own value alone.
 * `slope` is that gradient. It need not depend on x any more, as for a linear f, so divergence()
 * is not strict. */
rd_expr *rd_laplacian(rd_expr *f, rd_expr *x)
{
    static const char call[] = "rd_laplacian";
    rd_expr          *slope;

    if (!rd_operands(call, 2, (rd_expr *[]){ f, x }) || !shapes_ok(call, f, x, /*vector=*/false))
        return NULL;
    slope = rd_grad(rd_sum(f, RD_ALL), RD_EXPRS(x)).at[0];
    return slope ? divergence(call, slope, x, /*strict=*/false) : NULL; /* may be constant */
}
