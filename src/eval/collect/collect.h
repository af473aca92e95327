/* collect.h - the collector: turns expressions into values of the graph.
 *
 * Expressions are visited users first.  A user makes a use (rd_expr_use) of each operand at
 * subscripts over loop axes.  When an expression is visited, all its uses are known.  The
 * cheapest of three ways is chosen: one shared value, one value inlined at each place (views
 * become index arithmetic), or one materialised array that is read. */
#ifndef RD_EVAL_COLLECT_COLLECT_H
#define RD_EVAL_COLLECT_COLLECT_H
#include "eval/collect/axes.h"

/* A use of an expression by one reader, at subscripts. */
typedef struct rd_expr_use {
    int32_t       expr;      /* the expression's number in collector.seen */
    int32_t       next;      /* next use of the same expression, -1 */
    int32_t       alias;     /* another use with the same value, -1 */
    int32_t       value;     /* the value, -1 while open */
    int32_t       group;     /* class of equal uses of the expression; -1: not known yet */
    int32_t       traversal; /* the latest traversal that came here, see rd_traversal_begin() */
    rd_subscript *at;        /* one subscript per axis of the expression */
} rd_expr_use;

/* An expression that was reached. */
typedef struct rd_seen {
    const rd_expr *expr;
    int32_t        first, last; /* its list of uses */
    /* operations to compute one element inline from leaves and reductions */
    double ops;
    double reads;  /* number of leaves and reductions read for one element */
    double whole;  /* operations to compute one element from leaves, reductions included */
    double widest; /* elements of the largest array that it is computed from */
    bool   given;  /* its value is in memory already */
    bool   splits; /* a reshape, here or below, may split the axes of its users */
} rd_seen;

/* The state of collect. */
typedef struct rd_collector {
    rd_ctx      *ctx;
    rd_pool     *pool;
    rd_graph    *graph; /* under construction; in[] of values holds uses until the end */
    rd_axes     *axes;  /* loop axes before unification */
    rd_seen     *seen;  /* users first                                           */
    int32_t      n_seen, n_use, room_use, room_value, room_slot;
    rd_expr_use *use;   /* all uses, by number */
    int32_t     *table; /* hash table from expressions to their numbers */
    int32_t      n_table;
    /* expressions that are read as if they were arrays in C order: choices between the parts of
     * concatenations */
    int32_t         n_chosen;
    const rd_expr **chosen;
    rd_text         why; /* decisions for explain */
} rd_collector;

/* seen.c: starts an empty list; adds an expression once; sorts users first.  False: no memory. */
bool     rd_seen_begin(rd_collector *c);
bool     rd_see(rd_collector *c, const rd_expr *e);
bool     rd_seen_sort(rd_collector *c);
rd_seen *rd_seen_of(const rd_collector *c, const rd_expr *e);
bool     rd_is_seen(const rd_collector *c, const rd_expr *e);
/* Fills `seen`, users first, with everything that the expressions are made of, down to the given
 * ones. */
bool rd_reach_exprs(rd_collector *c, rd_exprs exprs, rd_exprs given);

/* expr_uses.c, graph_values.c: each returns a number, or -1 after recording a failure. */
int rd_use_new(rd_collector *c, const rd_expr *expr, const rd_subscript *at);
int rd_leaf_slot(rd_collector *c, const rd_expr *leaf);
int rd_value_new(rd_collector *c, rd_value_kind kind, rd_dtype type, const rd_expr *expr);
const rd_expr_use *rd_use_of(const rd_collector *c, int use);
/* A traversal through the indices of gathers, which may be gathered themselves, visits each use
 * once, as many paths may lead there. rd_traversal_begin() starts one.
 * rd_traversal_first_visit() is true at the first visit of a use. */
void rd_traversal_begin(const rd_collector *c);
bool rd_traversal_first_visit(const rd_collector *c, int use);
/* Lists the distinct uses of an expression, after unifying equal ones; returns their number. */
int rd_uses_distinct(rd_collector *c, rd_seen *seen, int32_t **list);
/* The number of elements that one use evaluates. */
double rd_use_points(const rd_collector *c, const rd_expr_use *d);
/* True if a subscript of the use is looked up in another array. */
bool rd_use_is_gathered(const rd_collector *c, const rd_expr_use *d);
/* The number of points of all axes together along which some uses of an expression go, without
 * gathers. */
double        rd_uses_span(const rd_collector *c, const rd_expr *expr, const int32_t *list, int n);
rd_subscript *rd_subscripts(rd_collector *c, int n);
/* crossed_reads.c: keeps raw axes p and q apart, which e would unify, if some much larger array
 * would then be read across, at [i, p] and [p, i].  True if so. */
bool rd_keeps_apart(rd_collector *c, const rd_expr *e, int p, int q);
/* Unifies the axes of two subscripts if both are a single axis and may be unified; else does
 * nothing. */
void rd_unify_subscripts(rd_collector *c, const rd_subscript *a, const rd_subscript *b);

/* A result: its use, and where its elements are stored. */
typedef struct rd_finish_result {
    int32_t      use, n_dim, dim[RD_MAX_RANK]; /* raw axes */
    rd_dtype     type;
    rd_subscript store;
} rd_finish_result;

/* finish.c: sorts the values operands first, replaces raw axes by loop axes, and attaches the
 * results. */
bool rd_finish(rd_collector *c, int n, rd_finish_result *result);

/* instance.c: makes the values for all uses of an expression. */
bool rd_instances(rd_collector *c, rd_seen *seen);
/* answer.c */
double rd_expr_points(const rd_expr *e);
/* Answers a use by a value; false if the value is -1. */
bool rd_answer(rd_collector *c, int use, int value);
/* Answers a use by a use of another expression. */
bool rd_answer_same(rd_collector *c, int use, const rd_expr *e, const rd_subscript *at);
/* Makes uses of all operands of e at `at`, and makes them the operands of value v. */
bool rd_use_operands(rd_collector *c, int v, const rd_expr *e, const rd_subscript *at);
/* contracts.c: the product that an operand is, possibly seen through a view; NULL if it is none. */
const rd_expr *rd_product_of(const rd_expr *e);
/* True if e is a * b + c that gets one rounding (fma contraction).  This depends on the
 * expressions alone, so other results cannot change it.  If both operands are products neither
 * is contracted: x * x - y * y must be 0 for x == y. */
bool rd_contracts(const rd_expr *e);
/* True if e is a float sum of products that adds each with one rounding.  Not under a mask,
 * which would have to replace a factor by an identity, nor for a strict left fold. */
bool rd_sums_products(const rd_expr *e);
/* The product whose factors e reads in place of that operand; NULL: it reads the operand. */
const rd_expr *rd_contracted(const rd_expr *e, int operand);
/* Computes where a view that is read at `at` reads its operand. */
bool rd_view_subscripts(rd_collector *c, const rd_expr *e, const rd_subscript *at,
                        rd_subscript *in);
/* Makes uses of the factors of product e at `at`, and makes them the first two of value v's
 * three operands.  Returns these operands; NULL on failure. */
int32_t *rd_use_factors(rd_collector *c, int v, const rd_expr *e, const rd_subscript *at);
/* Makes a READ of value `target`. */
int rd_read_value(rd_collector *c, rd_dtype type, int target, int n, const rd_subscript *at);
/* Makes fresh axes for all dims of e, kept distinct and never split; NULL on failure. */
rd_subscript *rd_own_axes(rd_collector *c, const rd_expr *e, int32_t *dim);
bool          rd_set_dims(rd_collector *c, int v, int n, const int32_t *dim);
/* The raw axes of subscripts in order of appearance: the storage order of a value that is
 * inlined at that place. */
int rd_axes_of_subscripts(const rd_collector *c, int n, const rd_subscript *at,
                          int32_t dim[RD_RAW_AXES]);
/* True for a function of pairs that is computed at each of its uses, although they want more
 * elements than it has: an array of all pairs would be far larger than what they are of. */
bool rd_is_cheap_pair_function(const rd_collector *c, const rd_seen *seen, const int32_t *list,
                               int n);
/* Answers uses by reads of value v, which has all dims of the expression. */
bool rd_answer_reads(rd_collector *c, const rd_expr *e, int v, const int32_t *list, int n);

/* instance_fold.c, instance_sort.c, instance_storage.c: make the values for the distinct uses
 * list[0..n) of one expression. */
bool rd_instances_reduce(rd_collector *c, const rd_expr *e, const int32_t *list, int n);
bool rd_instances_scan(rd_collector *c, const rd_expr *e, const int32_t *list, int n);
bool rd_instances_sort(rd_collector *c, const rd_expr *e, const int32_t *list, int n);
bool rd_instances_concat(rd_collector *c, const rd_expr *e, int32_t *list, int n);
bool rd_instance_reshape(rd_collector *c, const rd_expr *e, int use);

/* reshape.c: computes the subscripts of the operand for a use at `at`; *ok is false if there are
 * none and the operand must be copied first. */
bool rd_reshape_subscripts(rd_collector *c, const rd_expr *e, const rd_subscript *at,
                           rd_subscript *in, bool *ok);
/* Base and strides of an affine view of a leaf (or of the leaf): address = *base + sum stride[a]
 * * index[a].  Returns the leaf, or NULL. */
const rd_expr *rd_affine_leaf(const rd_expr *e, int64_t *base, int64_t *stride);
/* True if a reshape may split the axes of its users, because its operand is no leaf with
 * mergeable strides. */
bool rd_reshape_splits(const rd_expr *e);
/* Makes one flat read of a dense or mergeable leaf behind a reshape; -1 if its strides do not
 * merge, -2 on failure. */
int rd_reshape_leaf(rd_collector *c, const rd_expr *e, const rd_subscript *at);
#endif
