/* reach.c - what expressions are made of: a list, users first, and a table. */
#include "eval/collect/collect.h"
#include <math.h>
#include <string.h>

static int32_t *table_slot(const rd_collector *c, const rd_expr *e)
{
    uint64_t h = (uint64_t)(uintptr_t)e * 0x9E3779B97F4A7C15u;

    for (int32_t i = (int32_t)(h >> 33) & (c->n_table - 1);; i = (i + 1) & (c->n_table - 1))
        if (c->table[i] < 0 || c->seen[c->table[i]].expr == e)
            return &c->table[i];
}

static bool table_rebuild(rd_collector *c, int32_t room)
{
    c->n_table = room;
    c->table   = rd_pool_get(c->pool, (size_t)room * sizeof *c->table);
    if (!c->table)
        return false;
    memset(c->table, -1, (size_t)room * sizeof *c->table);
    for (int i = 0; i < c->n_seen; i++)
        *table_slot(c, c->seen[i].expr) = i;
    return true;
}

static bool see(rd_collector *c, const rd_expr *e)
{
    int32_t *at = table_slot(c, e);

    if (*at >= 0)
        return true;
    if (2 * (c->n_seen + 1) > c->n_table) {
        rd_seen *more =
            rd_pool_grow(c->pool, c->seen, (size_t)c->n_seen, (size_t)c->n_table, sizeof *more);

        if (!more)
            return false;
        c->seen = more;
        if (!table_rebuild(c, 2 * c->n_table))
            return false;
        at = table_slot(c, e);
    }
    c->seen[c->n_seen] = (rd_seen){ .expr = e, .first = -1, .last = -1 };
    *at                = c->n_seen++;
    return true;
}

/* Sorts by falling serial: operands are older than their users, so users come first.  Heap sort:
 * graphs may be long chains, which are the worst case of simpler sorts. */
static void sift(rd_seen *a, int32_t i, int32_t n)
{
    for (int32_t child; (child = 2 * i + 1) < n; i = child) {
        rd_seen swap = a[i];

        if (child + 1 < n && a[child + 1].expr->serial < a[child].expr->serial)
            child++;
        if (a[i].expr->serial <= a[child].expr->serial)
            return;
        a[i]     = a[child];
        a[child] = swap;
    }
}

static void sort_users_first(rd_seen *a, int32_t n)
{
    for (int32_t i = n / 2; i-- > 0;)
        sift(a, i, n);
    for (int32_t i = n; i-- > 1;) {
        rd_seen swap = a[0];

        a[0] = a[i];
        a[i] = swap;
        sift(a, 0, i);
    }
}

rd_seen *rd_seen_of(const rd_collector *c, const rd_expr *e)
{
    return &c->seen[*table_slot(c, e)];
}

static double own_ops(const rd_expr *e)
{
    return e->kind == RD_EXPR_MAP ? rd_op_table[e->op].cost : e->kind == RD_EXPR_CALL ? 10 : 0;
}

/* Is it memory, or computed at a place of its own? */
static bool is_read(const rd_seen *seen)
{
    const rd_expr_kind kind = seen->expr->kind;

    if (seen->given)
        return kind != RD_EXPR_NUMBER;
    return kind == RD_EXPR_REDUCE || kind == RD_EXPR_SCAN || kind == RD_EXPR_SORT ||
           kind == RD_EXPR_PRODUCT || (kind == RD_EXPR_LEAF && seen->expr->rank > 0);
}

/* What it takes to compute one element inline; folds count no operations, they have a rule of their
 * own. */
static void count_work(rd_collector *c)
{
    const double most = 1e6; /* of operands that come again and again */

    for (int i = c->n_seen; i-- > 0;) {
        rd_seen *const seen = &c->seen[i];

        seen->ops    = seen->given ? 0 : own_ops(seen->expr);
        seen->reads  = is_read(seen);
        seen->splits = !seen->given && rd_reshape_splits(seen->expr);
        for (int k = 0; k < seen->expr->n_in && !seen->given; k++)
            seen->splits |= seen->expr->in[k] && rd_seen_of(c, seen->expr->in[k])->splits;
        for (int k = 0; k < seen->expr->n_in && !is_read(seen); k++)
            if (seen->expr->in[k]) {
                const rd_seen *const in = rd_seen_of(c, seen->expr->in[k]);

                seen->ops   = fmin(most, seen->ops + in->ops);
                seen->reads = fmin(most, seen->reads + in->reads);
            }
    }
}

static bool see_all(rd_collector *c, const rd_expr *e)
{
    for (int k = 0; k < e->n_in; k++)
        if (e->in[k] && !see(c, e->in[k]))
            return false;
    return true;
}

/* The factors of a contracted product, too: the product may be given, and is not read then. */
static bool see_operands(rd_collector *c, const rd_expr *e)
{
    for (int k = 0; k < e->n_in; k++) {
        const rd_expr *const product = e->in[k] ? rd_contracted(e, k) : NULL;

        if (product && !see_all(c, product))
            return false;
    }
    return see_all(c, e);
}

bool rd_reach_exprs(rd_collector *c, rd_exprs exprs, rd_exprs given)
{
    c->seen = rd_pool_get(c->pool, 32 * sizeof *c->seen);
    if (!c->seen || !table_rebuild(c, 64))
        return false;
    for (int k = 0; k < given.n; k++) {
        if (!see(c, given.at[k]))
            return false;
        rd_seen_of(c, given.at[k])->given = true;
    }
    for (int k = 0; k < exprs.n; k++)
        if (!see(c, exprs.at[k]))
            return false;
    for (int i = 0; i < c->n_seen; i++)
        if (!c->seen[i].given && !see_operands(c, c->seen[i].expr))
            return false;
    sort_users_first(c->seen, c->n_seen);
    if (!table_rebuild(c, c->n_table))
        return false;
    count_work(c);
    return true;
}
