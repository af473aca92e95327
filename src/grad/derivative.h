/* derivative.h - derivatives of expression graphs: what the two modes share.
 *
 * Both modes visit the nodes of a graph once, without recursion:
 *
 *   - forward mode (forward_mode.c) from operands to readers, in the order of serial numbers: each
 *     node gets its *tangent*, how it changes;
 *   - reverse mode (reverse_mode.c) from readers to operands, in an order that the graph alone
 *     decides: each node gets its *cotangent*, the gradient of the scalar with respect to it, which
 *     its readers add up.
 *
 * Each kind of node has a rule (rules.c).  Tangents and cotangents are expressions of the
 * node's type and shape.  Their origins are 0 throughout; results get the origins of operands. */
#ifndef RD_GRAD_DERIVATIVE_H
#define RD_GRAD_DERIVATIVE_H
#include "expr/expr.h"
#include "expr/nodes.h"

/* The most operands of a node: a concatenation has 48. */
enum { RD_MOST_IN = 64 };

/* One node on its way through a rule. */
typedef struct rd_grad_step {
    const char *call; /* for messages: "rd_grad" */
    rd_ctx     *ctx;
    rd_expr    *y;               /* the node */
    rd_expr    *g;               /* reverse mode: its cotangent, origins 0 */
    const bool *depends;         /* of each operand: a change of it matters */
    rd_expr *change[RD_MOST_IN]; /* forward mode: tangents of operands, NULL: 0.  Reverse mode: the
                                 * rule writes what the node adds to their cotangents */
} rd_grad_step;

/* An expression times a number. */
typedef struct rd_scaled {
    rd_expr *x; /* NULL: 0 */
    double   by;
} rd_scaled;

/* The rule of a kind of node.  `pull` fills in s->change from s->g; false after a failure.  `push`
 * returns the tangent of s->y; NULL after a failure. */
typedef struct rd_grad_rule {
    bool (*pull)(rd_grad_step *s);
    rd_expr *(*push)(rd_grad_step *s);
} rd_grad_rule;

/* The rule of the node's kind; NULL after recording that it has no derivative. */
const rd_grad_rule *rd_grad_rule_of(const rd_grad_step *s);

extern const rd_grad_rule rd_map_rule_grad, rd_view_grad, rd_reshape_grad, rd_take_grad,
    rd_concat_grad, rd_sort_grad, rd_reduce_grad, rd_scan_grad, rd_call_grad;

/* ---- Graphs (marked_graph.c) ----------------------------------------------------------------- */
/* The nodes below y in the order of serial numbers: operands stand before readers. */
typedef struct rd_grad_graph {
    const char  *call;
    rd_ctx      *ctx;
    rd_node_list list;
    int64_t     *order;    /* places in the list, from y on: readers stand before operands */
    bool        *depends;  /* of each node: it changes if an operand of the caller does */
    rd_expr    **change;   /* of each node: its tangent or cotangent; NULL: 0 */
    double      *by;       /* of each node: the number that the cotangent is multiplied by */
    double      *selected; /* of each map: elements that views of it read, all views together */
    bool        *asked;    /* of each node: the caller asks for its gradient */
} rd_grad_graph;

/* Lists the nodes, and finds which depend on the operands x.  `strict`: an operand that is neither
 * a leaf nor below y is an error.  False after recording what is wrong. */
bool rd_grad_begin(rd_grad_graph *graph, const char *call, rd_expr *y, rd_exprs x, bool strict);
void rd_grad_end(rd_grad_graph *graph);
/* The place of a node in the list; -1: it is not below y. */
int64_t rd_grad_find(const rd_grad_graph *graph, const rd_expr *x);
/* Prepares a step for node i: call, context, node, and which operands depend. */
void rd_grad_step_of(const rd_grad_graph *graph, int64_t i, rd_grad_step *s,
                     bool depends[RD_MOST_IN]);

/* The leaf of pairs of parts of a complex leaf; NULL: x is none. */
rd_expr *rd_grad_pairs(rd_expr *x);
/* rd_jvp() for another call, and `strict` as above (forward_mode.c). */
rd_expr *rd_grad_directional(const char *call, rd_expr *y, rd_exprs x, rd_exprs t, bool strict);

/* ---- Reverse mode (reverse_mode.c) ----------------------------------------------------------- */
/* Adds a part to the cotangent of x, a node of the graph.  False after a failure. */
bool rd_grad_add(rd_grad_graph *graph, rd_expr *x, rd_scaled part);
/* Runs the rule of s->y for its cotangent g: part[k] becomes what operand k gets (x NULL: nothing).
 * False after a failure. */
bool rd_grad_pull(rd_grad_step *s, rd_scaled g, rd_scaled part[RD_MOST_IN]);

/* ---- Cotangents with a mask (masked_cotangents.c) -------------------------------------------- */
/* A cotangent where(c, x, 0) or where(c, 0, x); without a choice: x. */
typedef struct rd_masked {
    rd_expr *choice; /* the whole; NULL: there is no mask */
    rd_expr *x;
    int      branch; /* the operand that x is: 1 or 2 */
} rd_masked;
/* Splits a cotangent; the choice is NULL if it has no mask. */
rd_masked rd_grad_unmasked(rd_expr *g);
/* True if both have the same mask. */
bool rd_grad_same_mask(const rd_masked *a, const rd_masked *b);
/* x with the mask of m, if m has one.  NULL after a failure. */
rd_expr *rd_grad_masked(const char *call, const rd_masked *m, rd_expr *x);

/* ---- Views that select a part of a map (selected_maps.c) ------------------------------------- */
/* True if y is a view of a part of a map, and may change places with it. */
bool rd_grad_selects(const rd_grad_graph *graph, const rd_expr *y);
/* Passes g, the cotangent of such a y, on to what the map is made of.  False after a failure. */
bool rd_grad_pull_selected(rd_grad_graph *graph, const rd_expr *y, rd_scaled g);

/* ---- Exponentials divided by their sum (softmax_rule.c) -------------------------------------- */
/* True if y is a softmax, of which the caller asks for no part. */
bool rd_grad_is_softmax(const rd_grad_graph *graph, const rd_expr *y);
/* Passes g, the cotangent of such a y, on to its scores.  False after a failure. */
bool rd_grad_pull_softmax(rd_grad_graph *graph, const rd_expr *y, rd_scaled g);

/* ---- Factors of cotangents (factors.c) ------------------------------------------------------- */
/* False for halves: products without their numbers would leave their range. */
bool rd_grad_keeps_factors(rd_dtype type);
/* True for the number 1, alone or repeated; false for NULL. */
bool rd_grad_is_one(const rd_expr *x);
/* Takes the numbers that multiply a rule's result out of it, and keeps them beside it. */
rd_scaled rd_grad_without_number(const rd_grad_step *s, rd_expr *x);
/* The product. */
rd_expr *rd_grad_whole(const char *call, rd_scaled x);
/* True if all elements of x along these axes are seen to be the same. */
bool rd_grad_repeats(const rd_expr *x, uint64_t axes);
/* rd_grad_sum(), with the factors that are the same for all terms outside of the sum. */
rd_expr *rd_grad_sum_of_products(const char *call, rd_expr *x, uint64_t axes);

/* ---- Pairs of points of one array (pair_rules.c) --------------------------------------------- */
/* The sum over all pairs as one node, if y takes each pair once; else NULL. */
rd_expr *rd_grad_whole_of_pairs(rd_expr *y);
/* x with axes a and b exchanged, where little of it changes; x NULL: it does not pay. */
rd_scaled rd_grad_exchanged(const char *call, rd_expr *x, int a, int b);

/* ---- Sums over the pairs i < j (triangle_rule.c) --------------------------------------------- */
/* True if y sums something over the pairs i < j that is the same for (i, j) and (j, i). */
bool rd_grad_is_triangle(const rd_grad_graph *graph, const rd_expr *y);
/* Passes g, the cotangent of such a y, on to what is summed.  False after a failure. */
bool rd_grad_pull_triangle(rd_grad_graph *graph, const rd_expr *y, rd_scaled g);

/* ---- Building blocks (marked_graph.c) -------------------------------------------------------- */
/* Zeros of the shape and type of x. */
rd_expr *rd_grad_zeros(rd_expr *x);
/* The sum of x over a set of axes, bit a: axis a; x itself if there is none. */
rd_expr *rd_grad_sum(rd_expr *x, uint64_t axes);
/* Sums of x over axis by label, places from 0 to n - 1, which replaces the axis.  Labels below 0
 * count from the end. */
rd_expr *rd_grad_scatter(rd_expr *x, int axis, rd_expr *label, int64_t n);
/* Function text of named operands: names are letters, one an operand.  Operands lose their
 * origins. */
rd_expr *rd_grad_text(const rd_grad_step *s, const char *text, const char *names,
                      rd_expr *const *x);
#endif
