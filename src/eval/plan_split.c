/* plan_split.c - splits expressions that are too large for one plan into parts: at values worth
 * storing, with each part as large as allowed.
 *
 * Weights estimate how many loop axes a part needs.  A node is cut if its value is stored
 * between parts; the open graph below a node is what its part computes, down to cut nodes. */
#include "eval/plan_split.h"
#include "eval/collect/collect.h"
#include <string.h>

/* Axes of a part, tried in turn until each part can be planned; 0 ends the list. */
const int rd_split_limits[] = { 24, 12, 6, 3, 1, 0 };

/* Weight of an axis; a node, which is a little planning work, weighs 1. */
enum { AXIS = 8 };

/* Facts about one expression. */
typedef struct node {
    int32_t own;         /* its own weight */
    int32_t bound;       /* upper bound of the weight of the open graph below it, itself included */
    int32_t stamp;       /* number of the last traversal that visited it */
    bool    cut, copied; /* stored for all readers; stored as a copy of a result */
    bool    contracted;  /* a product that its sum rounds together with it */
} node;

/* The state of splitting. */
typedef struct cutter {
    rd_collector c;           /* lists the expressions */
    node        *node;        /* by number of the expression */
    int32_t     *stack, *met; /* of a traversal */
    int32_t      n_met, stamp, limit;
    double       most;    /* largest number of elements of a value that may be stored */
    rd_exprs     results; /* that are split */
} cutter;

/* The number of an expression in the list of seen ones, users first. */
static int32_t number_of(const cutter *k, const rd_expr *e)
{
    return (int32_t)(rd_seen_of(&k->c, e) - k->c.seen);
}

/* The expression of that number. */
static const rd_expr *expr_of(const cutter *k, int32_t i)
{
    return k->c.seen[i].expr;
}

/* The weight of an expression itself: 1, and AXIS for each loop axis that it adds to a nest. A
 * node that is not inlined adds all loops over its operand. */
static int32_t own_weight(const rd_expr *e)
{
    switch (e->kind) {
    case RD_EXPR_LEAF:
    case RD_EXPR_NUMBER:
    case RD_EXPR_COORD: return 0;
    case RD_EXPR_REDUCE: return 1 + AXIS * e->in[0]->rank;
    case RD_EXPR_SCAN: return 1 + AXIS * e->rank;
    case RD_EXPR_SORT: return 1 + AXIS * (e->rank + 1);
    case RD_EXPR_RESHAPE: return 1 + AXIS;
    case RD_EXPR_CONCAT: return 1 + AXIS * (e->rank + e->n_in);
    default: return 1;
    }
}

/* True if the plan may be split at node i, by storing its value between parts. Products stay with
 * sums that add them by an fma, as a store would round. A value much larger than all leaves and
 * results is not stored, because nobody expects that memory. A node that is cut already is no
 * candidate; most: the elements that may be stored. */
static bool may_be_cut(const cutter *k, int32_t i)
{
    const rd_expr *e = expr_of(k, i);
    bool           kind;

    kind = e->kind == RD_EXPR_REDUCE || e->kind == RD_EXPR_SCAN || e->kind == RD_EXPR_CONCAT ||
           e->kind == RD_EXPR_TAKE || e->kind == RD_EXPR_SORT || e->kind == RD_EXPR_CALL ||
           (e->kind == RD_EXPR_MAP && !k->node[i].contracted);
    return kind && !k->node[i].cut && rd_expr_points(e) <= k->most;
}

/* ---- Traversals ------------------------------------------------------------------------------ */
/* Pushes node i on the stack, which has *n nodes, unless the current traversal visited it. */
static void push(cutter *k, int32_t *n, int32_t i)
{
    if (k->node[i].stamp != k->stamp) {
        k->node[i].stamp = k->stamp;
        k->stack[(*n)++] = i;
    }
}

/* Pushes all operands of an expression that the current traversal has not visited. An operand that
 * is missing, such as a mask, is NULL. */
static void push_all(cutter *k, int32_t *n, const rd_expr *e)
{
    for (int o = 0; o < e->n_in; o++)
        if (e->in[o])
            push(k, n, number_of(k, e->in[o]));
}

/* Pushes the operands of node i. If a product that i adds by an fma is stored for other readers,
 * its factors are pushed instead, because the sum computes it again. rd_contracted() is that
 * product for operand o, NULL: none; `cut`: it is stored. *n counts what is on the stack. */
static void push_operands(cutter *k, int32_t *n, int32_t i)
{
    const rd_expr *e = expr_of(k, i);

    for (int o = 0; o < e->n_in; o++) {
        const rd_expr *const product = e->in[o] ? rd_contracted(e, o) : NULL;

        if (product && k->node[number_of(k, product)].cut)
            push_all(k, n, product);
        else if (e->in[o])
            push(k, n, number_of(k, e->in[o]));
    }
}

/* Pushes the expressions of all results. */
static void push_results(cutter *k, int32_t *n)
{
    for (int r = 0; r < k->results.n; r++)
        push(k, n, number_of(k, k->results.at[r]));
}

/* The weight (planning work, mostly loop axes) of what a part would compute for node i, or for the
 * results if i is -1: down to stored nodes, which are listed in k->met. Stops early once it is
 * much larger than `enough`. i < 0 also counts the axes of the results. A node visited by this
 * traversal has its stamp. */
static int64_t weight_of(cutter *k, int32_t i, int64_t enough)
{
    int32_t n      = 0;
    int64_t weight = 0;

    k->stamp++;
    k->n_met = 0;
    if (i < 0)
        push_results(k, &n);
    else {
        weight           = k->node[i].own;
        k->node[i].stamp = k->stamp;
        push_operands(k, &n, i);
    }
    for (int r = 0; i < 0 && r < k->results.n; r++)
        weight += (int64_t)AXIS * k->results.at[r]->rank;
    while (n && weight / 4 <= enough) {
        const int32_t at = k->stack[--n];

        if (k->node[at].cut) {
            k->met[k->n_met++] = at;
            continue;
        }
        weight += k->node[at].own;
        push_operands(k, &n, at);
    }
    return weight;
}

/* Finds the best node to store among the nearest candidates below node i, or below the results for
 * -1: the heaviest, or a smaller array of at least half its weight; -1: there is none. A
 * candidate ends the search below it. `left` limits the visits; bound: the upper bound of a
 * node's weight. */
static int32_t best_below(cutter *k, int32_t i)
{
    enum { FAR = 16 }; /* nodes per unit of weight; a longer search finds nothing useful */
    int32_t n = 0, best = -1, heaviest = 0, n_met = 0, left = FAR * k->limit;

    k->stamp++;
    if (i < 0)
        push_results(k, &n);
    else
        push_operands(k, &n, i);
    while (n && left-- > 0) {
        const int32_t at = k->stack[--n];

        if (k->node[at].cut)
            continue;
        if (!may_be_cut(k, at)) {
            push_operands(k, &n, at);
            continue;
        }
        k->met[n_met++] = at;
        heaviest        = k->node[at].bound > heaviest ? k->node[at].bound : heaviest;
    }
    for (int32_t m = 0; m < n_met; m++)
        if (k->node[k->met[m]].bound >= heaviest / 2 &&
            (best < 0 || rd_expr_points(expr_of(k, k->met[m])) < rd_expr_points(expr_of(k, best))))
            best = k->met[m];
    return best;
}

/* ---- Splitting ------------------------------------------------------------------------------- */
/* Stores nodes below node i (or the results for -1) until what is left weighs no more than the
 * limit, or there is no candidate. That weight becomes the node's bound. weight_of() is that
 * weight, and best_below() the node to store, -1: none. */
static void cut_below(cutter *k, int32_t i)
{
    int64_t weight = weight_of(k, i, k->limit);

    for (int32_t best; weight > k->limit && (best = best_below(k, i)) >= 0;) {
        k->node[best].cut = true;
        weight            = weight_of(k, i, k->limit);
    }
    if (i >= 0)
        k->node[i].bound = weight < INT32_MAX ? (int32_t)weight : INT32_MAX;
}

/* Marks operands and results of sparse matrix products as stored, because a kernel computes these
 * from arrays. */
static void cut_at_products(cutter *k)
{
    for (int32_t i = 0; i < k->c.n_seen; i++) {
        const rd_expr *e = expr_of(k, i);

        for (int o = 0; o < e->n_in && e->kind == RD_EXPR_PRODUCT; o++)
            k->node[i].cut = k->node[number_of(k, e->in[o])].cut = true;
    }
}

/* Marks all products that a sum adds by an fma, with one rounding. */
static void find_contracted(cutter *k)
{
    for (int32_t i = 0; i < k->c.n_seen; i++) {
        const rd_expr *e = expr_of(k, i);

        for (int o = 0; o < e->n_in; o++) {
            const rd_expr *const product = e->in[o] ? rd_contracted(e, o) : NULL;

            if (product)
                k->node[number_of(k, product)].contracted = true;
        }
    }
}

/* Marks nodes as stored wherever the weight of a part exceeds the limit, operands first. The sum
 * of the operands' bounds is an upper bound, so that most nodes need no traversal. False after a
 * cancel. By node: `own` is its weight, `bound` an upper bound of what is below it and not
 * stored, `cut` that it is stored. cut_below() stores nodes until the limit is kept, for -1
 * below all results. */
static bool cut_all(cutter *k)
{
    find_contracted(k);
    cut_at_products(k);
    for (int32_t i = k->c.n_seen; i-- > 0;) {
        const rd_expr *e     = expr_of(k, i);
        int64_t        bound = k->node[i].own = own_weight(e);

        for (int o = 0; o < e->n_in; o++)
            if (e->in[o] && !k->node[number_of(k, e->in[o])].cut)
                bound += k->node[number_of(k, e->in[o])].bound;
        k->node[i].bound = bound < INT32_MAX ? (int32_t)bound : INT32_MAX;
        if (!rd_goes_on(k->c.ctx))
            return false;
        if (bound > k->limit)
            cut_below(k, i);
    }
    cut_below(k, /*i=*/-1);
    return true;
}

/* Computes the most elements of a stored value: 65536, and four times those of leaves and results
 * together. */
static void measure(cutter *k)
{
    k->most = 1 << 16;
    for (int32_t i = 0; i < k->c.n_seen; i++)
        if (expr_of(k, i)->kind == RD_EXPR_LEAF)
            k->most += 4 * rd_expr_points(expr_of(k, i));
    for (int r = 0; r < k->results.n; r++)
        k->most += 4 * rd_expr_points(k->results.at[r]);
}

/* ---- Parts ----------------------------------------------------------------------------------- */
/* Lists the stored nodes that the last traversal met (k->met) as what the part reads; false: no
 * memory. */
static bool take_given(cutter *k, rd_split_part *cut)
{
    rd_expr **given = rd_pool_get(k->c.pool, (size_t)(k->n_met + 1) * sizeof *given);

    for (int32_t m = 0; given && m < k->n_met; m++)
        given[m] = (rd_expr *)expr_of(k, k->met[m]);
    cut->given = (rd_exprs){ given, k->n_met };
    return given;
}

/* Lists the parts that compute stored nodes, operands first, with what each reads. False: no
 * memory. `copied`: stored as a copy of a result. weight_of() goes through what is below the
 * node, and take_given() takes the stored nodes that it met. */
static bool list_targets(cutter *k, rd_split_parts *cuts)
{
    for (int32_t i = k->c.n_seen; i-- > 0;) {
        rd_split_part *cut = &cuts->cut[cuts->n];

        if (!k->node[i].cut && !k->node[i].copied)
            continue;
        cut->target = expr_of(k, i);
        (void)weight_of(k, i, INT64_MAX);
        if (!take_given(k, cut))
            return false;
        cuts->n++;
    }
    return true;
}

/* Lists the parts that copy results from stored arrays, as many in each as the limit allows. They
 * are needed if one nest cannot hold all results: these must come last, as an output may overlap
 * what other parts read. False: no memory. The part whose results exceed the limit loses the
 * last one, unless it has only one (n). Results that are one node are read once (stamp). */
static bool copy_results(cutter *k, rd_split_parts *cuts)
{
    for (int32_t first = 0, n; first < k->results.n; first += n) {
        rd_split_part *cut    = &cuts->cut[cuts->n++];
        int64_t        weight = 0;

        for (n = 0; first + n < k->results.n && (n == 0 || weight <= k->limit); n++)
            weight += 1 + AXIS * k->results.at[first + n]->rank;
        n -= n > 1 && weight > k->limit;
        *cut = (rd_split_part){ .first = first, .n = n };
        k->stamp++;
        k->n_met = 0;
        for (int32_t r = first; r < first + n; r++) {
            const int32_t i = number_of(k, k->results.at[r]);

            if (k->node[i].stamp != k->stamp)
                k->met[k->n_met++] = i;
            k->node[i].stamp = k->stamp;
        }
        if (!take_given(k, cut))
            return false;
    }
    return true;
}

/* Lists all parts in the order of their runs: stored nodes, then results. If one nest cannot hold
 * all results, each is stored first and copied at the end. False: no memory. apart: one nest
 * cannot hold all results. The last traversal lists in k->met what the results' part reads. */
static bool list_parts(cutter *k, rd_split_parts *cuts)
{
    /* each result is stored and copied */
    const bool     apart = k->results.n > 1 && weight_of(k, /*i=*/-1, k->limit) > k->limit;
    rd_split_part *last;

    for (int r = 0; r < k->results.n && apart; r++)
        k->node[number_of(k, k->results.at[r])].copied = true;
    if (!list_targets(k, cuts))
        return false;
    if (apart)
        return copy_results(k, cuts);
    last  = &cuts->cut[cuts->n++];
    *last = (rd_split_part){ .n = k->results.n };
    (void)weight_of(k, /*i=*/-1, INT64_MAX);
    return take_given(k, last);
}

/* Splits results into parts (plans that run in order) of about `limit` axes: finds nodes to store
 * between parts, then lists the parts. NULL: no memory, or a cancel. AXIS is the weight of one
 * axis; cut_all() marks the nodes to store, list_parts() lists the parts. */
rd_split_parts *rd_split_exprs(rd_ctx *ctx, rd_pool *pool, rd_exprs results, int limit)
{
    cutter          k    = { .c = { .ctx = ctx, .pool = pool }, .limit = AXIS * limit };
    rd_split_parts *cuts = rd_pool_get(pool, sizeof *cuts);
    size_t          n;

    k.results = results;
    if (!cuts || !rd_reach_exprs(&k.c, results, (rd_exprs){ 0 }))
        return NULL;
    n         = (size_t)k.c.n_seen + 1;
    k.node    = rd_pool_get(pool, n * sizeof *k.node);
    k.stack   = rd_pool_get(pool, n * sizeof *k.stack);
    k.met     = rd_pool_get(pool, n * sizeof *k.met);
    cuts->cut = rd_pool_get(pool, (n + (size_t)results.n) * sizeof *cuts->cut);
    if (!k.node || !k.stack || !k.met || !cuts->cut)
        return NULL;
    measure(&k);
    return cut_all(&k) && list_parts(&k, cuts) ? cuts : NULL;
}
