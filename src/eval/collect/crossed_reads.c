/* crossed_reads.c - keeps loops apart that would read a large array in two orders.
 *
 * Sums over both axes of a matrix a may read one short array v:
 *
 *     sum over k of a[i, k] * v[k]   +   sum over q of a[q, i] * v[q]
 *
 * Both uses of v are equal but for the names k and q.  With one name the sums would share a loop,
 * which reads v once, but a across: at [i, k] and at [k, i].  With two names each sum goes through
 * a in its own order.
 *
 * A use is one reader's request for an expression, at subscripts over loop axes. */
#include "eval/collect/collect.h"
#include <math.h>

/* An array is large from so many elements on, and if it has so many times as many as the arrays that
 * two loops would share.  Smaller ones stay in cache, in any order. */
static const double LARGE = 1 << 16, FAR = 16;
/* Two loops compute a function of small arrays twice, such as a distance.  One of more operations is
 * shared. */
static const double MOST_OPS = 256;
/* Arrays with more uses are not looked at, so that planning takes time linear in the uses. */
enum { MOST_USES = 8 };

/* True if two uses of an array follow one axis along dims a and b, and p and q along the other of
 * these dims: x reads it at [i, p] and y at [q, i], or the other way round. rd_subscript_pure()
 * gives the axis of which a subscript is exactly the index, -1: none. */
static bool crosses(const rd_collector *c, const rd_expr_use *x, const rd_expr_use *y, int a, int b,
                    int p, int q)
{
    const int common = rd_subscript_pure(c->axes, &x->at[a]),
              r = rd_subscript_pure(c->axes, &x->at[b]), s = rd_subscript_pure(c->axes, &y->at[a]);

    return common >= 0 && common == rd_subscript_pure(c->axes, &y->at[b]) &&
           ((r == p && s == q) || (r == q && s == p));
}

/* True if an array is read across by two of its uses once axes p and q are one. Its uses are a
 * list from `first` on, by `next`, and -1 at the end. */
static bool is_crossed(const rd_collector *c, const rd_seen *seen, int p, int q)
{
    const int rank = seen->expr->rank;
    int       uses = 0;

    for (int d = seen->first; d >= 0; d = c->use[d].next)
        if (++uses > MOST_USES)
            return false;
    for (int x = seen->first; x >= 0; x = c->use[x].next)
        for (int y = c->use[x].next; y >= 0; y = c->use[y].next)
            for (int a = 0; a < rank; a++)
                for (int b = 0; b < rank; b++)
                    if (a != b && crosses(c, &c->use[x], &c->use[y], a, b, p, q))
                        return true;
    return false;
}

/* True for an array in memory, or a map that is likely to be stored: of an array as large. It
 * has a use (first >= 0), rank 2 or more, and at least `least` elements. `widest` counts the
 * elements of the largest array that it is computed from. */
static bool is_large_array(const rd_seen *seen, double least)
{
    const double points = rd_expr_points(seen->expr);

    return seen->expr->rank > 1 && seen->first >= 0 && points >= least &&
           (seen->given || seen->expr->kind == RD_EXPR_LEAF ||
            (seen->expr->kind == RD_EXPR_MAP && seen->widest >= points));
}

/* Keeps raw axes p and q apart, which e would unify, if some array would then be read across that is
 * much larger than those that e is computed from.  True if so.  `whole` counts the operations
 * for one element of e; if they are many, e is shared, as two loops would compute it twice. */
bool rd_keeps_apart(rd_collector *c, const rd_expr *e, int p, int q)
{
    const rd_seen *seen  = rd_seen_of(c, e);
    const double   least = fmax(FAR * seen->widest, LARGE);

    if (seen->whole > MOST_OPS)
        return false;
    p = rd_axes_root(c->axes, p);
    q = rd_axes_root(c->axes, q);
    for (int k = 0; p != q && k < c->n_seen; k++)
        if (is_large_array(&c->seen[k], least) && is_crossed(c, &c->seen[k], p, q)) {
            rd_axes_apart(c->axes, p, q);
            return true;
        }
    return false;
}
