/* reach.c - finds all expressions below the requested ones, down to given ones, and counts what
 * each costs.
 *
 * A seen expression is one that was reached from a result.  A given one is in memory already, so
 * nothing below it is visited.  A fold is a reduction or a scan. */
#include "eval/collect/collect.h"
#include <math.h>

/* The operations for one element of an expression, without its operands: the operator's cost, 10
 * (assumed) for a user's function, else 0. */
static double own_ops(const rd_expr *e)
{
    return e->kind == RD_EXPR_MAP ? rd_op_table[e->op].cost : e->kind == RD_EXPR_CALL ? 10 : 0;
}

/* True if an element of the expression is read from memory, because it is a leaf, is given, or is a
 * reduction, a scan, a sort or a product with a place of its own.  A number is no read. */
static bool is_read(const rd_seen *seen)
{
    const rd_expr_kind kind = seen->expr->kind;

    if (seen->given)
        return kind != RD_EXPR_NUMBER;
    return kind == RD_EXPR_REDUCE || kind == RD_EXPR_SCAN || kind == RD_EXPR_SORT ||
           kind == RD_EXPR_PRODUCT || (kind == RD_EXPR_LEAF && seen->expr->rank > 0);
}

/* True for a reduction with so few results, of so many elements, that they become an array before
 * any reader runs, such as the greatest of each row. */
static bool is_small_array(const rd_expr *e)
{
    static const double FEW = 1 << 18, FAR = 64;
    const double        results = rd_expr_points(e);

    return e->kind == RD_EXPR_REDUCE && results <= FEW && FAR * results <= rd_expr_points(e->in[0]);
}

/* True if an element of e takes no operations: of an array in memory, a constant, or an index of
 * loops. */
static bool is_at_hand(const rd_expr *e)
{
    return e->kind == RD_EXPR_LEAF || e->kind == RD_EXPR_NUMBER || e->kind == RD_EXPR_COORD;
}

/* Counts into seen->whole what one element of an expression takes if nothing below it is stored,
 * reductions included. seen->widest becomes the largest array below. `most` is a limit on the
 * count, as shared operands are counted on each path. A kind that readers never recompute counts
 * as `most`. One result of a reduction needs all its `terms`, with one operation for each. */
static void count_whole(const rd_collector *c, rd_seen *seen, double most)
{
    const rd_expr *e    = seen->expr;
    const bool     fold = e->kind == RD_EXPR_REDUCE;
    /* kinds that readers may recompute */
    const bool again = fold || e->kind == RD_EXPR_MAP || e->kind == RD_EXPR_VIEW;

    seen->whole  = seen->given || is_at_hand(e) ? 0 : again ? own_ops(e) : most;
    seen->widest = seen->given || e->kind == RD_EXPR_LEAF ? rd_expr_points(e) : 0;
    if (!seen->given && is_small_array(e)) { /* one read of that array */
        seen->whole  = 1;
        seen->widest = rd_expr_points(e);
        return;
    }
    for (int k = 0; k < e->n_in && !seen->given; k++)
        if (e->in[k]) {
            const rd_seen *const in = rd_seen_of(c, e->in[k]);
            /* elements that one result reduces */
            const double terms = fold && k == 0 && rd_expr_points(e) > 0
                                     ? rd_expr_points(e->in[k]) / rd_expr_points(e)
                                     : 1;

            seen->whole  = fmin(most, seen->whole + (in->whole + fold) * terms);
            seen->widest = fmax(seen->widest, in->widest);
        }
}

/* True if e is a choice by index between the parts of a concatenation that is not stored, one of
 * the nested choices inside it, or the cast around it. */
static bool is_choice(const rd_collector *c, const rd_expr *e)
{
    for (int32_t k = 0; k < c->n_chosen; k++)
        for (const rd_expr *x = c->chosen[k]; x->kind == RD_EXPR_MAP; x = x->in[x->n_in - 1])
            if (x == e)
                return true;
    return false;
}

/* The operations of such a choice: those of its parts. The choice itself and its indices cost
 * nothing where loops are split at the boundaries of parts, so that each piece reads one part. A
 * choice is where(i < end0, part0, where(i < end1, part1, ...)), so the loop follows the last
 * operands down; each part is read by a gather (take). */
static double ops_of_choice(const rd_collector *c, const rd_expr *e)
{
    double ops = 0;

    for (const rd_expr *x = e; x; x = x->kind == RD_EXPR_MAP ? x->in[x->n_in - 1] : NULL) {
        /* the gather that reads a part */
        const rd_expr *take = x->kind == RD_EXPR_TAKE ? x : x->op == RD_OP_where ? x->in[1] : NULL;

        ops += take ? rd_seen_of(c, take->in[0])->ops : 0;
    }
    return ops;
}

/* Counts for each expression what computing one element inline takes: operations (ops) and reads,
 * operands first. Reductions and scans count as one read. `splits`: a reshape at or below it may
 * split the axes of its users. `given`: it is in memory; own_ops() are the operations of the
 * expression itself, and is_read() says that its elements are read. */
static void count_work(rd_collector *c)
{
    const double most = 1e6; /* a limit for operands that occur exponentially often */

    for (int i = c->n_seen; i-- > 0;) {
        rd_seen *const seen = &c->seen[i];

        seen->ops    = seen->given ? 0 : own_ops(seen->expr);
        seen->reads  = is_read(seen);
        seen->splits = !seen->given && rd_reshape_splits(seen->expr);
        count_whole(c, seen, most);
        for (int k = 0; k < seen->expr->n_in && !seen->given; k++)
            seen->splits |= seen->expr->in[k] && rd_seen_of(c, seen->expr->in[k])->splits;
        for (int k = 0; k < seen->expr->n_in && !is_read(seen); k++)
            if (seen->expr->in[k]) {
                const rd_seen *const in = rd_seen_of(c, seen->expr->in[k]);

                seen->ops   = fmin(most, seen->ops + in->ops);
                seen->reads = fmin(most, seen->reads + in->reads);
            }
        if (is_choice(c, seen->expr))
            seen->ops = ops_of_choice(c, seen->expr);
    }
}

/* Adds all operands of an expression to the list of seen ones; false: no memory. */
static bool see_all(rd_collector *c, const rd_expr *e)
{
    for (int k = 0; k < e->n_in; k++)
        if (e->in[k] && !rd_see(c, e->in[k]))
            return false;
    return true;
}

/* Adds the operands of e to the list of seen ones. If e adds a product by an fma, it reads the
 * product's factors, so these are added, too: if the product itself is in memory (given), nothing
 * else would reach them. False: no memory. rd_contracted() is such a product for operand k,
 * NULL: none; see_all() adds all operands of a node. */
static bool see_operands(rd_collector *c, const rd_expr *e)
{
    for (int k = 0; k < e->n_in; k++) {
        const rd_expr *const product = e->in[k] ? rd_contracted(e, k) : NULL;

        if (product && !see_all(c, product))
            return false;
    }
    return see_all(c, e);
}

/* Fills the list of seen expressions, users first, with all that `exprs` are made of, down to the
 * given ones.  The list grows while it is traversed.  False: no memory.  rd_see() adds an
 * expression to the list unless it is there; see_operands() adds what it is made of. */
bool rd_reach_exprs(rd_collector *c, rd_exprs exprs, rd_exprs given)
{
    if (!rd_seen_begin(c))
        return false;
    for (int k = 0; k < given.n; k++) {
        if (!rd_see(c, given.at[k]))
            return false;
        rd_seen_of(c, given.at[k])->given = true;
    }
    for (int k = 0; k < exprs.n; k++)
        if (!rd_see(c, exprs.at[k]))
            return false;
    for (int i = 0; i < c->n_seen; i++)
        if (!c->seen[i].given && !see_operands(c, c->seen[i].expr))
            return false;
    if (!rd_seen_sort(c))
        return false;
    count_work(c);
    return true;
}
