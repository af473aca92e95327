/* expr_uses.c - uses of expressions (rd_expr_use), at which subscripts, and which of them are
 * equal.
 *
 * A use is one reader's request for an expression at subscripts over loop axes.  A gathered
 * index is a subscript that is looked up in another array: a term without an axis.
 *
 * Fields. A term of a subscript with `axis` -1 is a gathered index, the value of an array. `group`
 * is the axis of a group-by's groups, `inner` that of a reducer's outputs or of a sorted row, -1:
 * none. */
#include "eval/collect/collect.h"
#include <string.h>

/* Memory for n subscripts, of the planning's pool; NULL without memory. */
rd_subscript *rd_subscripts(rd_collector *c, int n)
{
    return rd_pool_get(c->pool, (size_t)(n ? n : 1) * sizeof(rd_subscript));
}

/* Makes a use of an expression (one reader's request) at subscripts `at`, which are normalised,
 * and appends it to the expression's list of uses. Along an axis of extent 1 the subscript is 0.
 * Returns the use's number; -1 on failure. seen->first and last are the ends of that list, whose
 * links are `next`. -1 in `alias`, `value` and `group`: none yet. */
int rd_use_new(rd_collector *c, const rd_expr *expr, const rd_subscript *at)
{
    rd_seen     *seen = rd_seen_of(c, expr);
    rd_expr_use *d;

    if (c->n_use == c->room_use) {
        int32_t room = c->room_use ? 2 * c->room_use : 16;

        d = rd_pool_grow(c->pool, c->use, (size_t)c->n_use, (size_t)room, sizeof *d);
        if (!d)
            return -1;
        c->use      = d;
        c->room_use = room;
    }
    d  = &c->use[c->n_use];
    *d = (rd_expr_use){ .expr  = (int32_t)(seen - c->seen),
                        .next  = -1,
                        .alias = -1,
                        .value = -1,
                        .group = -1,
                        .at    = rd_pool_raw(c->pool, ((size_t)expr->rank + 1) * sizeof *at) };
    if (!d->at)
        return -1;
    if (expr->rank)
        memcpy(d->at, at, (size_t)expr->rank * sizeof *at);
    for (int a = 0; a < expr->rank; a++) {
        if (expr->extent[a] == 1)
            d->at[a] = rd_subscript_const(0);
        if (!rd_subscript_normal(c->axes, &d->at[a]))
            return -1;
    }
    if (seen->last < 0)
        seen->first = c->n_use;
    else
        c->use[seen->last].next = c->n_use;
    return seen->last = c->n_use++;
}

/* The use (a reader's request for an expression) of that number.  The pointer is valid until the
 * next use is made. */
const rd_expr_use *rd_use_of(const rd_collector *c, int use)
{
    return &c->use[use];
}

/* Begins a traversal of uses (readers' requests) by a new number, so that no use counts as
 * visited. */
void rd_traversal_begin(const rd_collector *c)
{
    c->axes->traversal++;
}

/* True if the current traversal meets this use (a reader's request) for the first time; marks it as
 * visited. */
bool rd_traversal_first_visit(const rd_collector *c, int use)
{
    const bool first = c->use[use].traversal != c->axes->traversal;

    c->use[use].traversal = c->axes->traversal;
    return first;
}

/* The product of the extents of a use's loop axes that are not in the bit set `seen` yet; adds
 * them there. A gathered index (looked up in an array) varies along the axes at which that array
 * is read. So the two coordinates of a sparse element count as one axis. Each index array is
 * visited once in a traversal, as several subscripts may lead to it. */
static double use_points(const rd_collector *c, const rd_expr_use *d, uint64_t *seen)
{
    const rd_expr *expr   = c->seen[d->expr].expr;
    double         points = 1;

    for (int a = 0; a < expr->rank; a++)
        for (int t = 0; t < d->at[a].n_term; t++) {
            int axis = d->at[a].term[t].axis;

            if (axis < 0) {
                /* the use of the index array */
                const int index = c->graph->value[d->at[a].term[t].value].in[0];

                if (rd_traversal_first_visit(c, index))
                    points *= use_points(c, &c->use[index], seen);
                continue;
            }
            axis = rd_axes_root(c->axes, axis);
            if (!(seen[axis / 64] >> (axis % 64) & 1)) {
                seen[axis / 64] |= (uint64_t)1 << (axis % 64);
                points *= (double)c->axes->at[axis].extent;
            }
        }
    return points;
}

/* The number of elements that one use (a reader's request) evaluates: the product of the extents of
 * its axes. */
double rd_use_points(const rd_collector *c, const rd_expr_use *d)
{
    uint64_t seen[RD_RAW_WORDS] = { 0 };

    rd_traversal_begin(c);
    return use_points(c, d, seen);
}

/* True if some subscript of the use (a reader's request) is looked up in an index array. */
bool rd_use_is_gathered(const rd_collector *c, const rd_expr_use *d)
{
    for (int a = 0; a < c->seen[d->expr].expr->rank; a++)
        for (int t = 0; t < d->at[a].n_term; t++)
            if (d->at[a].term[t].axis < 0)
                return true;
    return false;
}

/* The number of points of all axes together along which at least one use (reader's request) in the
 * list goes, each axis counted once.  Gathered indices do not count.  list has n numbers of
 * uses; rd_axes_root() finds the axis that stands for all unified with it. */
double rd_uses_span(const rd_collector *c, const rd_expr *expr, const int32_t *list, int n)
{
    uint64_t seen[RD_RAW_WORDS] = { 0 };
    double   points             = 1;

    for (int k = 0; k < n; k++)
        for (int a = 0; a < expr->rank; a++) {
            const rd_subscript *at = &c->use[list[k]].at[a];

            for (int t = 0; t < at->n_term; t++) {
                const int axis =
                    at->term[t].axis < 0 ? -1 : rd_axes_root(c->axes, at->term[t].axis);

                if (axis < 0 || seen[axis / 64] >> (axis % 64) & 1)
                    continue;
                seen[axis / 64] |= (uint64_t)1 << (axis % 64);
                points *= (double)c->axes->at[axis].extent;
            }
        }
    return points;
}

/* ---- Functions of pairs ---------------------------------------------------------------------- */
/* True if one of the subscripts of use d (a reader's request) is exactly the index of this axis. */
static bool goes_along(const rd_collector *c, const rd_expr *e, const rd_expr_use *d, int axis)
{
    bool found = false;

    for (int a = 0; a < e->rank && !found; a++)
        found = e->extent[a] > 1 && rd_subscript_pure(c->axes, &d->at[a]) == axis;
    return found;
}

/* True if use y (a reader's request) goes along the axis, or along one that may be unified with it
 * and that use x lacks. goes_along(): the use goes along that axis; rd_subscript_pure() is the
 * axis of a subscript that is one axis alone, -1: it is not. */
static bool meets(const rd_collector *c, const rd_expr *e, const rd_expr_use *x,
                  const rd_expr_use *y, int axis)
{
    bool found = goes_along(c, e, y, axis);

    for (int b = 0; b < e->rank && !found; b++) {
        const int other = e->extent[b] > 1 ? rd_subscript_pure(c->axes, &y->at[b]) : -1;

        found = other >= 0 && !goes_along(c, e, x, other) && rd_axes_may_join(c->axes, axis, other);
    }
    return found;
}

/* True if one of two uses reads a dim at one element, such as one coordinate of all pairs. */
static bool is_selected(const rd_expr_use *x, const rd_expr_use *y, int dim)
{
    return x->at[dim].n_term == 0 || y->at[dim].n_term == 0;
}

/* True if no loop nest needs both uses (readers' requests) of e at once: every axis that only one
 * of them has may be unified with an axis of the other, so that both could be one. False for a
 * distance d(i, j) that is read as d(i, j) and d(j, k). p and q are the axes of which the
 * subscripts along a dim are exactly the index, -1: none. Dims of one index, and those that
 * either use reads at one element, do not matter. */
static bool may_run_apart(const rd_collector *c, const rd_expr *e, const rd_expr_use *x,
                          const rd_expr_use *y)
{
    for (int a = 0; a < e->rank; a++) {
        const int p = rd_subscript_pure(c->axes, &x->at[a]);
        const int q = rd_subscript_pure(c->axes, &y->at[a]);

        if (e->extent[a] > 1 && !is_selected(x, y, a) &&
            (p < 0 || q < 0 || !meets(c, e, x, y, p) || !meets(c, e, y, x, q)))
            return false;
    }
    return true;
}

/* True for a function of pairs of points that is cheap to compute and has far more elements than
 * what it is computed from. It is then recomputed for each of its n uses (readers' requests),
 * which need no common loop, in place of being stored. Clauses, in order:
 * - several uses, but not more than 16, as all pairs of them are compared
 * - as many elements as 2^16, and 64 times as many as the largest array below has (widest)
 * - few operations for an element (whole); more where an array would be very large
 * - all uses together want at most 4 times its elements */
bool rd_is_cheap_pair_function(const rd_collector *c, const rd_seen *seen, const int32_t *list,
                               int n)
{
    /* evaluations an element; uses; elements; ratio; operations */
    enum { FEW = 4, MOST_USES = 16, MANY = 1 << 16, VERY_MANY = 1 << 24, FAR = 64 };
    static const double OPS = 256, OPS_OF_VERY_MANY = 4096;
    const double        points      = rd_expr_points(seen->expr);
    double              evaluations = 0;

    if (n < 2 || n > MOST_USES || points < MANY || points < FAR * seen->widest ||
        seen->whole > (points < VERY_MANY ? OPS : OPS_OF_VERY_MANY))
        return false;
    for (int k = 0; k < n; k++)
        evaluations += rd_use_points(c, &c->use[list[k]]);
    if (evaluations > FEW * points)
        return false;
    for (int k = 0; k < n; k++)
        for (int l = 0; l < k; l++)
            if (!may_run_apart(c, seen->expr, &c->use[list[k]], &c->use[list[l]]))
                return false;
    return true;
}

/* ---- Equal uses ------------------------------------------------------------------------------ */
enum { MAX_PAIRS = RD_MAX_RANK * RD_MAX_TERMS };

/* Pairs of axes that two uses would unify: a[i] with b[i]. */
typedef struct pairs {
    int n, a[MAX_PAIRS], b[MAX_PAIRS];
} pairs;

/* Notes that axes a and b would be unified if two uses are equal. False if one of them is paired
 * with another axis already, the two must stay distinct (as one nest needs both), or there is no
 * room. p->a and p->b are the pairs so far, and MAX_PAIRS is the room. rd_axes_root() is the
 * axis that stands for all unified with it. */
static bool pair_axes(rd_collector *c, pairs *p, int a, int b)
{
    a = rd_axes_root(c->axes, a);
    b = rd_axes_root(c->axes, b);
    for (int i = 0; i < p->n; i++)
        if (p->a[i] == a || p->b[i] == b)
            return p->a[i] == a && p->b[i] == b;
    if (p->n == MAX_PAIRS || !rd_axes_may_join(c->axes, a, b))
        return false;
    p->a[p->n]   = a;
    p->b[p->n++] = b;
    return true;
}

static bool pair_uses(rd_collector *c, pairs *p, const rd_expr_use *a, const rd_expr_use *b);

/* Pairs the axes of two subscripts term by term; false if the subscripts differ in more than their
 * axes. Two gathered indices (values of index arrays) are equal if they are checked against the
 * same extent and their arrays are read at equal subscripts. pair_axes() notes that two axes go
 * together, false if they cannot. x and y are the values that check the gathered indices:
 * value.i64 is the extent, and in[0] the use of the index array. */
static bool pair_subscripts(rd_collector *c, pairs *p, const rd_subscript *a, const rd_subscript *b)
{
    if (a->offset != b->offset || a->n_term != b->n_term)
        return false;
    for (int t = 0; t < a->n_term; t++) {
        const rd_subscript_term *u = &a->term[t], *v = &b->term[t];

        if (u->coef != v->coef || (u->axis < 0) != (v->axis < 0))
            return false;
        if (u->axis >= 0) {
            if (!pair_axes(c, p, u->axis, v->axis))
                return false;
        } else if (u->value != v->value) {
            const rd_value *x = &c->graph->value[u->value], *y = &c->graph->value[v->value];

            if (x->value.i64 != y->value.i64 ||
                !pair_uses(c, p, &c->use[x->in[0]], &c->use[y->in[0]]))
                return false;
        }
    }
    return true;
}

/* Pairs the axes of two uses (readers' requests); false if they differ in more than their axes.
 * Uses of different classes (group; -1: not known) were found to differ before, so that chains of
 * gathers are not compared to their end again. */
static bool pair_uses(rd_collector *c, pairs *p, const rd_expr_use *a, const rd_expr_use *b)
{
    if (a->expr != b->expr || (a->group >= 0 && b->group >= 0 && a->group != b->group))
        return false;
    for (int k = 0; k < c->seen[a->expr].expr->rank; k++)
        if (!pair_subscripts(c, p, &a->at[k], &b->at[k]))
            return false;
    return true;
}

/* Unifies the axes of two uses (readers' requests) if they are equal but for names of axes, so
 * that one value answers both. Terms are sorted by axis, so two equal uses may list them
 * differently. They then stay two: a shared computation is lost, but nothing is wrong. So do uses
 * whose common loop would read a larger array across (crossed_reads.c). pair_uses() compares
 * them, and lists the pairs of axes in p. */
static bool unify_uses(rd_collector *c, const rd_expr_use *a, const rd_expr_use *b)
{
    pairs p;

    p.n = 0; /* the rest of its 8 KiB needs no initial value */
    if (!pair_uses(c, &p, a, b))
        return false;
    for (int i = 0; i < p.n; i++)
        if (rd_keeps_apart(c, c->seen[a->expr].expr, p.a[i], p.b[i]))
            return false;
    for (int i = 0; i < p.n; i++)
        rd_axes_join(c->axes, p.a[i], p.b[i]);
    return true;
}

/* True for a view of a number (a broadcast constant). Its uses (readers' requests) are not
 * unified, as each costs nothing. Otherwise the row and column sums of a matrix, each times a
 * number, would get one axis and then read the matrix at different indices. */
static bool is_view_of_number(const rd_expr *e)
{
    const bool view = e->kind == RD_EXPR_VIEW;

    while (e->kind == RD_EXPR_VIEW)
        e = e->in[0];
    return view && e->kind == RD_EXPR_NUMBER;
}

/* Lists one use (reader's request) of each class of equal uses, by comparing each use with one of
 * every class found so far.  All others get it as their alias.  Returns the list's length; -1 on
 * failure.  c->use[].group is the number of the class. Uses of a broadcast number stay distinct
 * (is_view_of_number()). */
int rd_uses_distinct(rd_collector *c, rd_seen *seen, int32_t **list)
{
    const bool number = is_view_of_number(seen->expr);
    int        n = 0, total = 0;

    for (int d = seen->first; d >= 0; d = c->use[d].next)
        total++;
    *list = rd_pool_get(c->pool, (size_t)(total ? total : 1) * sizeof **list);
    if (!*list)
        return -1;
    for (int d = seen->first; d >= 0; d = c->use[d].next) {
        int k = 0;

        for (int a = 0; a < seen->expr->rank; a++)
            if (!rd_subscript_normal(c->axes, &c->use[d].at[a]))
                return -1;
        while (k < n && (number || !unify_uses(c, &c->use[(*list)[k]], &c->use[d])))
            k++;
        c->use[d].group = k;
        if (k == n)
            (*list)[n++] = d;
        else
            c->use[d].alias = (*list)[k];
    }
    return n;
}

/* Unifies the axes of two subscripts if each is one axis with the same coefficient and offset, and
 * they may be unified; else does nothing. */
void rd_unify_subscripts(rd_collector *c, const rd_subscript *a, const rd_subscript *b)
{
    if (a->offset != b->offset || a->n_term != 1 || b->n_term != 1 ||
        a->term[0].coef != b->term[0].coef || a->term[0].axis < 0 || b->term[0].axis < 0)
        return;
    if (rd_axes_may_join(c->axes, a->term[0].axis, b->term[0].axis))
        rd_axes_join(c->axes, a->term[0].axis, b->term[0].axis);
}
