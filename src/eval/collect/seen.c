/* seen.c - the list of expressions that have been seen, users first, and a hash table of them.
 *
 * The hash table has open addressing: a list number for each expression, -1 where free. */
#include "eval/collect/collect.h"
#include <string.h>

/* The entry of an expression in the hash table (open addressing), or the free one (-1) where it
 * belongs. */
static int32_t *table_slot(const rd_collector *c, const rd_expr *e)
{
    uint64_t h = (uint64_t)(uintptr_t)e * 0x9E3779B97F4A7C15u;

    for (int32_t i = (int32_t)(h >> 33) & (c->n_table - 1);; i = (i + 1) & (c->n_table - 1))
        if (c->table[i] < 0 || c->seen[c->table[i]].expr == e)
            return &c->table[i];
}

/* Makes a hash table of `room` entries, a power of two, for the list; false: no memory. */
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

/* Adds an expression to the list of those that are reached, if it is new; false: no memory. At
 * most half of the hash table is used. table_slot() is its entry in the hash table, -1 if it is
 * new; c->n_table is the table's size. */
bool rd_see(rd_collector *c, const rd_expr *e)
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

/* Sift-down of a heap whose least serial number is at the root: moves element i down until both
 * children have larger ones. n: elements of the heap. */
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

/* Heap sort by falling serial number: operands are older than their users, so users come first.
 * Long chains would be the worst case of simpler sorts. */
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

/* Starts an empty list of seen expressions, which are those reached from the results; false: no
 * memory. */
bool rd_seen_begin(rd_collector *c)
{
    c->n_seen = 0;
    c->seen   = rd_pool_get(c->pool, 32 * sizeof *c->seen);
    return c->seen && table_rebuild(c, 64);
}

/* Sorts the list users first and rebuilds the hash table of its numbers; false: no memory. */
bool rd_seen_sort(rd_collector *c)
{
    sort_users_first(c->seen, c->n_seen);
    return table_rebuild(c, c->n_table);
}

/* The entry of an expression, which must be in the list of those reached from the results. */
rd_seen *rd_seen_of(const rd_collector *c, const rd_expr *e)
{
    return &c->seen[*table_slot(c, e)];
}

/* True if the expression is in the list of those reached from the results. */
bool rd_is_seen(const rd_collector *c, const rd_expr *e)
{
    return *table_slot(c, e) >= 0;
}
