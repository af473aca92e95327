/* collect.h - the collector: expressions in, values of the graph out.
 *
 * Expressions are visited users first.  A user demands its operand at subscripts over loop axes;
 * when an expression's turn comes all its demands are known, so that it can be made once and
 * shared, made anew at each place (pushed: views vanish into subscripts), or made whole and read,
 * whichever computes least. */
#ifndef RD_EVAL_COLLECT_COLLECT_H
#define RD_EVAL_COLLECT_COLLECT_H
#include "eval/collect/axes.h"

typedef struct rd_demand {
    int32_t       expr;  /* number in collector.expr                                    */
    int32_t       next;  /* next demand of the same expression, -1                      */
    int32_t       alias; /* another demand that gives the value, -1                     */
    int32_t       value; /* the value, -1 while open                                    */
    int32_t       group; /* of the expression's demands that are one; -1: not told yet  */
    int32_t       walk;  /* the last walk through indices that came by, see rd_walk_comes() */
    rd_subscript *at;    /* one per axis of the expression                              */
} rd_demand;

typedef struct rd_seen {
    const rd_expr *expr;
    int32_t        first, last; /* demands                                                 */
    double         ops;         /* to compute one element from leaves and folds, inline ... */
    double         reads;       /* ... and how many of these are read for it               */
    bool           given;       /* it is memory                                            */
    bool           splits;      /* a reshape, there or below, may split axes of what asks for it */
} rd_seen;

typedef struct rd_collector {
    rd_ctx    *ctx;
    rd_pool   *pool;
    rd_graph  *graph; /* being filled; values' in[] hold demands until the end */
    rd_axes   *axes;
    rd_seen   *seen; /* users first                                           */
    int32_t    n_seen, n_demand, room_demand, room_value, room_slot;
    rd_demand *demand;
    int32_t   *table; /* hash of expressions to their number                   */
    int32_t    n_table;
    rd_text    why;
} rd_collector;

/* seen.c: an empty list begins; an expression is added, once; users come first from now on.  False: no
 * memory. */
bool     rd_seen_begin(rd_collector *c);
bool     rd_see(rd_collector *c, const rd_expr *e);
bool     rd_seen_sort(rd_collector *c);
rd_seen *rd_seen_of(const rd_collector *c, const rd_expr *e);
bool     rd_is_seen(const rd_collector *c, const rd_expr *e);
/* Fills seen, users first, with all that the expressions are made of, down to what is given. */
bool rd_reach_exprs(rd_collector *c, rd_exprs exprs, rd_exprs given);

/* demands.c, values.c.  All return a number, or -1 after recording a failure. */
int rd_demand_new(rd_collector *c, const rd_expr *expr, const rd_subscript *at);
int rd_leaf_slot(rd_collector *c, const rd_expr *leaf);
int rd_value_new(rd_collector *c, rd_value_kind kind, rd_dtype type, const rd_expr *expr);
const rd_demand *rd_demand_of(const rd_collector *c, int demand);
/* Walks through the indices of gathers, which are gathered themselves, come to each demand once: there
 * may be many ways to it.  The first is rd_walk_begins(); true, once: the walk comes to this one. */
void rd_walk_begins(const rd_collector *c);
bool rd_walk_comes(const rd_collector *c, int demand);
/* The demands of an expression, equal ones unified: the list and its length. */
int rd_demands_distinct(rd_collector *c, rd_seen *seen, int32_t **list);
/* Elements that one demand evaluates. */
double rd_demand_points(const rd_collector *c, const rd_demand *d);
/* Does it look elements up? */
bool rd_demand_is_gathered(const rd_collector *c, const rd_demand *d);
/* Points of all axes that some demands of an expression go along, but for gathers. */
double rd_demands_span(const rd_collector *c, const rd_expr *expr, const int32_t *list, int n);
rd_subscript *rd_subscripts(rd_collector *c, int n);
/* Tries to make two subscripts' axes one where both are just an axis; failure is no error. */
void rd_join_places(rd_collector *c, const rd_subscript *a, const rd_subscript *b);

/* A result: who is demanded, and where its elements go. */
typedef struct rd_finish_result {
    int32_t      demand, n_dim, dim[RD_MAX_RANK]; /* raw axes */
    rd_dtype     type;
    rd_subscript store;
} rd_finish_result;

/* finish.c: puts the values in order, operands first, with iteration axes for raw ones, and
 * attaches the results. */
bool rd_finish(rd_collector *c, int n, rd_finish_result *result);

/* instance.c: makes the values an expression's demands ask for. */
bool rd_instances(rd_collector *c, rd_seen *seen);
/* answer.c */
double rd_expr_points(const rd_expr *e);
/* The demand's value, if there is one. */
bool rd_answer(rd_collector *c, int demand, int value);
/* The demand is that of another expression. */
bool rd_answer_same(rd_collector *c, int demand, const rd_expr *e, const rd_subscript *at);
/* Demands all operands of e at `at` and makes them the operands of value v. */
bool rd_demand_operands(rd_collector *c, int v, const rd_expr *e, const rd_subscript *at);
/* contracts.c: the product that an operand is, seen through a view; NULL if it is none. */
const rd_expr *rd_product_of(const rd_expr *e);
/* a * b + c has one rounding.  Decided on the expressions, so that what else is asked for cannot
 * change it.  Not where both operands are products: x * x - y * y must be 0 for x == y, and which
 * of the two would be rounded first is nobody's choice. */
bool rd_contracts(const rd_expr *e);
/* A sum of products of floats adds each with one rounding, too.  Not under a mask, which would have
 * to make one of the factors an identity, nor where one strict left fold of the elements is asked
 * for. */
bool rd_sums_products(const rd_expr *e);
/* The product whose factors e reads in place of that operand; NULL: it reads the operand. */
const rd_expr *rd_contracted(const rd_expr *e, int operand);
/* Where a view, at `at`, reads its operand. */
bool rd_view_places(rd_collector *c, const rd_expr *e, const rd_subscript *at, rd_subscript *in);
/* Demands the factors of the product that e is at `at`, and makes them the first two of value v's
 * three operands, which it returns; NULL on failure. */
int32_t *rd_demand_factors(rd_collector *c, int v, const rd_expr *e, const rd_subscript *at);
/* A READ of value `target`. */
int rd_read_value(rd_collector *c, rd_dtype type, int target, int n, const rd_subscript *at);
/* Fresh axes for all dims of e, apart from each other and never split; NULL on failure. */
rd_subscript *rd_own_axes(rd_collector *c, const rd_expr *e, int32_t *dim);
bool          rd_set_dims(rd_collector *c, int v, int n, const int32_t *dim);
/* The raw axes of subscripts, in order of appearance: storage order of a value pushed to that
 * place. */
int rd_axes_of_place(const rd_collector *c, int n, const rd_subscript *at,
                     int32_t dim[RD_RAW_AXES]);
/* Answers demands by reads of value v, whose dims are the whole expression's. */
bool rd_answer_reads(rd_collector *c, const rd_expr *e, int v, const int32_t *list, int n);

/* instance_fold.c, instance_sort.c, instance_storage.c: the demands of one expression, list[0..n) without
 * repeats. */
bool rd_instances_reduce(rd_collector *c, const rd_expr *e, const int32_t *list, int n);
bool rd_instances_scan(rd_collector *c, const rd_expr *e, const int32_t *list, int n);
bool rd_instances_sort(rd_collector *c, const rd_expr *e, const int32_t *list, int n);
bool rd_instances_concat(rd_collector *c, const rd_expr *e, int32_t *list, int n);
bool rd_instance_reshape(rd_collector *c, const rd_expr *e, int demand);

/* reshape.c: subscripts of the operand for a demand at `at`, if they exist; *ok false: copy
 * first. */
bool rd_reshape_places(rd_collector *c, const rd_expr *e, const rd_subscript *at, rd_subscript *in,
                       bool *ok);
/* Numbers of an affine view of a leaf (or the leaf): address = *base + sum stride[a] * index[a];
 * NULL if it is none. */
const rd_expr *rd_affine_leaf(const rd_expr *e, int64_t *base, int64_t *stride);
/* Does it take axes of what asks for it apart, as its operand is no leaf whose strides merge? */
bool rd_reshape_splits(const rd_expr *e);
/* Element of a dense or mergeable leaf behind a reshape as one address; -1 if its strides do not
 * merge, -2: failure. */
int rd_reshape_leaf(rd_collector *c, const rd_expr *e, const rd_subscript *at);
#endif
