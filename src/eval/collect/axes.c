/* axes.c - unifies and splits loop axes (union-find), and does arithmetic on subscripts.
 *
 * A raw axis is a loop axis before unification.  Sets of axes are bit sets over the numbers of
 * raw axes.
 *
 * Fields. A term of a subscript with `axis` -1 is a gathered index, the value of an array. */
#include "eval/collect/axes.h"
#include <string.h>

/* Adds element i to a bit set. */
static void set_bit(uint64_t *set, int i)
{
    set[i / 64] |= (uint64_t)1 << (i % 64);
}

/* True if two bit sets of axes have a common element. */
static bool bits_intersect(const uint64_t *a, const uint64_t *b)
{
    for (int w = 0; w < RD_RAW_WORDS; w++)
        if (a[w] & b[w])
            return true;
    return false;
}

/* Makes room for one more raw axis (a loop axis before unification); false after recording
 * RD_ERR_LIMIT or RD_ERR_MEMORY. */
static bool reserve_axis(rd_axes *axes)
{
    int32_t      room = axes->room ? 2 * axes->room : 16;
    rd_raw_axis *more;

    if (axes->n < axes->room)
        return true;
    if (axes->n == RD_RAW_AXES) {
        rd_fail(axes->ctx, RD_ERR_LIMIT, "%s: the expressions need more than %d loop axes",
                rd_call_name(axes->ctx), RD_RAW_AXES);
        return false;
    }
    more = rd_pool_grow(axes->pool, axes->at, (size_t)axes->n, (size_t)room, sizeof *more);
    if (!more)
        return false;
    axes->at   = more;
    axes->room = room;
    return true;
}

/* Makes a raw axis of this extent, unified with no other and not split.  Returns its number; -1 on
 * failure. */
int rd_axes_new(rd_axes *axes, int64_t extent)
{
    rd_raw_axis *a;

    if (!reserve_axis(axes))
        return -1;
    a         = &axes->at[axes->n];
    *a        = (rd_raw_axis){ .extent = extent };
    a->parent = axes->n;
    a->outer = a->inner = -1;
    set_bit(a->member, axes->n);
    return axes->n++;
}

/* The representative of all axes that are unified with this one (find of union-find). */
int rd_axes_root(const rd_axes *axes, int axis)
{
    while (axes->at[axis].parent != axis)
        axis = axes->at[axis].parent;
    return axis;
}

/* Notes that two axes, with all that they are unified with, must never be unified. */
void rd_axes_apart(rd_axes *axes, int a, int b)
{
    a = rd_axes_root(axes, a);
    b = rd_axes_root(axes, b);
    if (a != b) {
        set_bit(axes->at[a].apart, b);
        set_bit(axes->at[b].apart, a);
    }
}

/* True if unifying would fix the axis of a float sum, which a reshape may still split.  A fixed
 * axis may not be split, and without the split the sum would have other bits. */
static bool fixes_sum(const rd_raw_axis *sum, const rd_raw_axis *other)
{
    return sum->tree && !sum->fixed && other->fixed;
}

/* True if two axes are unified or may be: then one loop serves both. Extents must be equal,
 * neither may be split (outer >= 0), they must not be kept distinct, and no float sum's axis may
 * become fixed. Of a root, `member` holds the axes unified with it, and `apart` those that must
 * stay distinct from it. */
bool rd_axes_may_join(const rd_axes *axes, int a, int b)
{
    const rd_raw_axis *p = &axes->at[rd_axes_root(axes, a)], *q = &axes->at[rd_axes_root(axes, b)];

    return p == q || (p->extent == q->extent && p->outer < 0 && q->outer < 0 && !fixes_sum(p, q) &&
                      !fixes_sum(q, p) && !bits_intersect(p->apart, q->member) &&
                      !bits_intersect(q->apart, p->member));
}

/* Unifies two axes (union): b's set becomes part of a's, with all restrictions of both.
 * p->member is the set of its raw axes and p->apart the set that must stay distinct, in words of
 * bits. */
void rd_axes_join(rd_axes *axes, int a, int b)
{
    rd_raw_axis *p, *q;

    a = rd_axes_root(axes, a);
    b = rd_axes_root(axes, b);
    if (a == b)
        return;
    p = &axes->at[a];
    q = &axes->at[b];
    for (int w = 0; w < RD_RAW_WORDS; w++) {
        p->member[w] |= q->member[w];
        p->apart[w] |= q->apart[w];
    }
    p->fixed |= q->fixed;
    p->tree |= q->tree;
    q->parent = a;
}

/* Splits an axis into an outer axis and an inner one: index = outer * inner extent + inner index.
 * All that must differ from the whole must differ from both parts. False if the axis is fixed, or
 * there are too many axes. The two parts have the last numbers, so the loop goes over the n - 2
 * axes before them. */
bool rd_axes_split(rd_axes *axes, int axis, int64_t inner)
{
    int a = rd_axes_root(axes, axis), parts[2];

    if (axes->at[a].fixed || axes->n + 2 > RD_RAW_AXES)
        return false;
    parts[0] = rd_axes_new(axes, axes->at[a].extent / inner);
    parts[1] = rd_axes_new(axes, inner);
    if (parts[0] < 0 || parts[1] < 0)
        return false; /* no memory, which is recorded: a copy instead would fail, too */
    for (int i = 0; i < axes->n - 2; i++) {
        /* An axis that must differ from the whole must differ from both parts. */
        uint64_t one[RD_RAW_WORDS] = { 0 };

        set_bit(one, i);
        if (bits_intersect(axes->at[a].apart, one))
            for (int p = 0; p < 2; p++)
                rd_axes_apart(axes, parts[p], i);
    }
    rd_axes_apart(axes, parts[0], parts[1]);
    axes->at[a].outer = parts[0];
    axes->at[a].inner = parts[1];
    return true;
}

/* The subscript that is this number everywhere. */
rd_subscript rd_subscript_const(int64_t offset)
{
    return (rd_subscript){ .offset = offset };
}

/* The subscript that is the index of this axis. */
rd_subscript rd_subscript_axis(int axis)
{
    return (rd_subscript){ .n_term = 1, .term = { { .axis = axis, .value = -1, .coef = 1 } } };
}

/* Adds a term (coefficient times axis, or times a gathered index) to a subscript; one with the
 * same axis or gathered index gets the sum of both coefficients. False after recording
 * RD_ERR_LIMIT: too many terms. term.axis -1: term.value is the gathered index. */
static bool add_term(rd_axes *axes, rd_subscript *to, rd_subscript_term term)
{
    for (int t = 0; t < to->n_term; t++)
        if (to->term[t].axis == term.axis && to->term[t].value == term.value) {
            to->term[t].coef += term.coef;
            return true;
        }
    if (term.coef == 0)
        return true;
    if (to->n_term == RD_MAX_TERMS) {
        rd_fail(axes->ctx, RD_ERR_LIMIT, "%s: an element's address depends on more than %d axes",
                rd_call_name(axes->ctx), RD_MAX_TERMS);
        return false;
    }
    to->term[to->n_term++] = term;
    return true;
}

/* Adds coef times the subscript `add` to `to`, term by term; false if there are too many terms. */
bool rd_subscript_add(rd_axes *axes, rd_subscript *to, const rd_subscript *add, int64_t coef)
{
    to->offset += coef * add->offset;
    for (int t = 0; t < add->n_term; t++) {
        rd_subscript_term term = add->term[t];

        term.coef *= coef;
        if (!add_term(axes, to, term))
            return false;
    }
    return true;
}

/* Adds a term. If its axis was split (outer >= 0), c * index becomes c * inner extent * outer + c
 * * inner, recursively. Gathered indices (axis < 0) are added as they are. */
static bool add_split(rd_axes *axes, rd_subscript *to, rd_subscript_term term)
{
    const rd_raw_axis *a;

    if (term.axis < 0)
        return add_term(axes, to, term);
    term.axis = rd_axes_root(axes, term.axis);
    a         = &axes->at[term.axis];
    if (a->outer < 0)
        return add_term(axes, to, term);
    return add_split(axes, to,
                     (rd_subscript_term){ a->outer, /*value=*/-1,
                                          term.coef * axes->at[a->inner].extent }) &&
           add_split(axes, to, (rd_subscript_term){ a->inner, /*value=*/-1, term.coef });
}

/* Normalises a subscript of one axis or none in place, which is the usual case and spares a copy
 * of half a kilobyte. False: the general way is needed, as there are more terms, a coefficient 0,
 * or a split axis. */
static bool normalise_fast(const rd_axes *axes, rd_subscript *at)
{
    if (at->n_term == 1 && at->term[0].axis >= 0) {
        at->term[0].axis = rd_axes_root(axes, at->term[0].axis);
        return at->term[0].coef && axes->at[at->term[0].axis].outer < 0;
    }
    return at->n_term == 0;
}

/* Brings a subscript to its normal form, so that equal subscripts have equal terms: axes are
 * replaced by their union-find roots or, if split, by their parts; terms with coefficient 0 are
 * dropped, and terms sorted by axis. False: too many terms. */
bool rd_subscript_normal(rd_axes *axes, rd_subscript *at)
{
    rd_subscript out;
    int          n = 0; /* terms of out that are kept */

    if (normalise_fast(axes, at))
        return true;
    out.offset = at->offset;
    out.n_term = 0;
    for (int t = 0; t < at->n_term; t++)
        if (!add_split(axes, &out, at->term[t]))
            return false;
    for (int t = 0; t < out.n_term; t++)
        if (out.term[t].coef)
            out.term[n++] = out.term[t];
    out.n_term = n;
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && (out.term[k].axis < out.term[k - 1].axis ||
                                  (out.term[k].axis == out.term[k - 1].axis &&
                                   out.term[k].value < out.term[k - 1].value));
             k--) {
            rd_subscript_term swap = out.term[k];
            out.term[k]            = out.term[k - 1];
            out.term[k - 1]        = swap;
        }
    *at = out;
    return true;
}

/* The root of the only axis if the subscript is exactly its index, without offset and factor; else
 * -1. */
int rd_subscript_pure(const rd_axes *axes, const rd_subscript *at)
{
    if (at->offset || at->n_term != 1 || at->term[0].axis < 0 || at->term[0].coef != 1)
        return -1;
    return rd_axes_root(axes, at->term[0].axis);
}
