/* concat_split.c - splits results into boxes at concatenation boundaries (index-set splitting).
 *
 * If x is rolled by one, each element but the first comes from the index before, and the first
 * from the end of x.  So a map of rolled arrays is the same map of slices in each of a few
 * boxes: one large inside, and narrow ones along the borders.  Storing each rolled array would
 * cost a pass over memory.
 *
 *    x + roll(x, 1)   ->   concat(x[0:1] + x[n-1:n], x[1:n] + x[0:n-1])
 *
 * A boundary is an index of the result at which two parts of a concatenation meet.  A box is the
 * range between neighbouring boundaries along each axis.  A place is a node together with where
 * it is read: the index of a result's axis plus an offset, for each axis. */
#include "eval/collect/concat_split.h"
#include "eval/collect/concat_split_own.h"
#include <string.h>

/* ---- Places ---------------------------------------------------------------------------------- */
/* Finds the record (place) of node x as it is read at `at`, or adds it (*fresh). at[a]: the axis
 * of the result along which axis a of x goes, and an offset. NULL if there are too many places
 * (s->many), or no memory (s->failed). A new record has box -1, so nothing is made for it yet;
 * one byte more is asked for, so that rank 0 gets an address, too. */
rd_concat_place *rd_concat_place_of(rd_concat_split *s, rd_expr *x, const rd_reading *at,
                                    bool *fresh)
{
    const size_t     bytes = (size_t)x->rank * sizeof *at;
    rd_concat_place *p;

    for (p = s->places; p < s->places + s->n_place; p++)
        if (p->expr == x && memcmp(p->at, at, bytes) == 0) {
            *fresh = false;
            return p;
        }
    *fresh  = true;
    s->many = s->many || s->n_place == RD_MOST_PLACES;
    if (s->many || !(p->at = rd_pool_get(s->c->pool, bytes + 1))) {
        s->failed = s->failed || !s->many;
        return NULL;
    }
    p->expr = x;
    p->box  = -1;
    memcpy(p->at, at, bytes);
    s->n_place++;
    return p;
}

/* Computes where a view that is read at `at` reads its operand.  False if an axis of the operand is
 * not one whole axis of the view plus an offset: a step other than 1, or a sum of two indices.
 * in[a] says which axis of the result axis a of the operand goes along, -1: none, and with what
 * offset. x->as.view->number has the offsets of the operand's axes, then a row of factors for
 * each. */
bool rd_read_through(const rd_expr *x, const rd_reading *at, rd_reading *in)
{
    const int      rank   = x->in[0]->rank;
    const int64_t *number = x->as.view->number;

    for (int a = 0; a < rank; a++) {
        in[a] = (rd_reading){ .axis = -1, .offset = number[a] };
        for (int k = 0; k < x->rank; k++) {
            const int64_t coef = number[rank + a * x->rank + k];

            if (coef == 0)
                continue;
            if (coef != 1 || in[a].axis >= 0)
                return false;
            in[a].axis = at[k].axis;
            in[a].offset += at[k].offset;
        }
    }
    return true;
}

/* ---- Boundaries ------------------------------------------------------------------------------ */
/* Adds the boundary between two parts at index `along` of a node's axis, as an index of the
 * result's axis at->axis, to the sorted list s->at. Nothing is added outside the result, twice, or
 * for an axis that is read at one element (axis < 0). s->at[axis][0] is 0, then come s->n[axis]
 * boundaries, then the extent. s->many: there are too many. */
static void add_boundary(rd_concat_split *s, const rd_reading *at, int64_t along)
{
    const int     axis     = at->axis;
    const int64_t boundary = along - at->offset;
    int           k        = 0;

    if (axis < 0 || boundary <= 0 || boundary >= s->extent[axis])
        return;
    while (k < s->n[axis] && s->at[axis][k + 1] < boundary)
        k++;
    if (k < s->n[axis] && s->at[axis][k + 1] == boundary)
        return;
    if (s->n[axis] == RD_MOST_BOUNDARIES) {
        s->many = true;
        return;
    }
    memmove(&s->at[axis][k + 2], &s->at[axis][k + 1], /* at[0] is 0, at[n + 1] the extent */
            (size_t)(s->n[axis] - k + 1) * sizeof s->at[axis][0]);
    s->at[axis][k + 1] = boundary;
    s->n[axis]++;
}

static void find_boundaries(rd_concat_split *s, rd_expr *x, const rd_reading *at);

/* Adds the boundaries between the parts of a concatenation, and those inside the parts. An index
 * within a part is smaller by the extents of the parts before it, so the offset falls. s->many:
 * too many boundaries. */
static void boundaries_of_parts(rd_concat_split *s, const rd_expr *x, const rd_reading *at)
{
    const int  axis = (int)x->as.axis->axis;
    rd_reading in[RD_MAX_RANK];

    s->n_concat++;
    memcpy(in, at, (size_t)x->rank * sizeof *in);
    for (int k = 0; k < x->n_in && !s->many; k++) {
        if (k)
            add_boundary(s, &in[axis], /*along=*/0);
        if (rd_expr_points(x->in[k]) > 0)
            find_boundaries(s, x->in[k], in);
        in[axis].offset -= x->in[k]->extent[axis];
    }
}

/* Finds the boundaries of concatenations below x through elementwise operations and views.
 * Everything else is stored or reduced as a whole. A node that was met at the same place before
 * (not fresh) is skipped. s->many: too many boundaries; s->failed: no memory; `given`: x is in
 * memory and stays whole. */
static void find_boundaries(rd_concat_split *s, rd_expr *x, const rd_reading *at)
{
    rd_reading in[RD_MAX_RANK];
    bool       fresh;

    if (s->many || s->failed || !rd_concat_place_of(s, x, at, &fresh) || !fresh ||
        rd_seen_of(s->c, x)->given)
        return;
    switch (x->kind) {
    case RD_EXPR_MAP:
    case RD_EXPR_CALL:
        for (int k = 0; k < x->n_in; k++)
            find_boundaries(s, x->in[k], at);
        return;
    case RD_EXPR_VIEW:
        if (rd_read_through(x, at, in))
            find_boundaries(s, x->in[0], in);
        return;
    case RD_EXPR_CONCAT: boundaries_of_parts(s, x, at); return;
    default: return;
    }
}

/* ---- Is it worth it? ------------------------------------------------------------------------- */
/* True if x is a leaf, an array in memory, seen through views and reshapes. */
static bool is_of_memory(const rd_expr *x)
{
    while (x->kind == RD_EXPR_VIEW || x->kind == RD_EXPR_RESHAPE)
        x = x->in[0];
    return x->kind == RD_EXPR_LEAF;
}

/* True if no boundary cuts a node that each box would compute again. A reduction or scan would
 * become several, and a reshape of computed values would be stored several times. p->at says
 * which axis of the result each axis of x goes along, -1: none; s->n counts its boundaries. A
 * given node is in memory already. */
static bool stays_whole(const rd_concat_split *s, const rd_concat_place *p)
{
    const rd_expr *x      = p->expr;
    bool           is_cut = false;

    if (rd_seen_of(s->c, x)->given)
        return true;
    switch (x->kind) {
    case RD_EXPR_REDUCE:
    case RD_EXPR_SCAN:
    case RD_EXPR_SORT:
    case RD_EXPR_PRODUCT: break;
    case RD_EXPR_RESHAPE:
        if (!is_of_memory(x))
            break;
        return true;
    default: return true;
    }
    for (int a = 0; a < x->rank; a++)
        is_cut |= p->at[a].axis >= 0 && s->n[p->at[a].axis] > 0;
    return !is_cut;
}

/* Least number of elements of a box. */
enum { LEAST_OF_BOX = 16 };

/* True if splitting x pays off: there are boundaries, the boxes (the parts of x between
 * boundaries, each computed by itself) are few and have at least 16 elements in the mean, and no
 * reduction or stored reshape is split. s->n[a] counts boundaries along axis a, s->n_concat the
 * concatenations; s->many: too many boundaries. */
bool rd_concat_split_pays(const rd_concat_split *s, const rd_expr *x)
{
    int64_t boxes = 1;
    bool    whole = true;

    for (int a = 0; a < s->rank && boxes <= RD_MOST_BOXES; a++)
        boxes *= s->n[a] + 1;
    for (int32_t k = 0; k < s->n_place; k++)
        whole &= stays_whole(s, &s->places[k]);
    return !s->many && whole && s->n_concat > 0 && boxes > 1 && boxes <= RD_MOST_BOXES &&
           rd_expr_points(x) >= (double)(LEAST_OF_BOX * boxes);
}

/* Appends the concatenations that were met on the way down (s->places), of which boxes read single
 * parts, to the list. Those in memory (given) do not count. False: no memory. */
bool rd_note_concats(rd_concat_split *s, rd_concat_list *list)
{
    const rd_expr **more = rd_pool_grow(s->c->pool, list->concat, (size_t)list->n,
                                        (size_t)list->n + (size_t)s->n_place, sizeof *more);

    for (int32_t k = 0; more && k < s->n_place; k++)
        if (s->places[k].expr->kind == RD_EXPR_CONCAT &&
            !rd_seen_of(s->c, s->places[k].expr)->given)
            more[list->n++] = s->places[k].expr;
    list->concat = more;
    return more;
}

static rd_expr *split_result(rd_collector *c, rd_expr *x, rd_concat_list *list);

/* Splits each part of a concatenated result by itself, because parts are stored one by one; NULL on
 * failure. */
static rd_expr *split_parts(rd_collector *c, rd_expr *x, rd_concat_list *list)
{
    rd_expr **in   = rd_pool_get(c->pool, (size_t)x->n_in * sizeof *in);
    rd_expr   node = *x;

    for (int k = 0; in && k < x->n_in; k++)
        if (!(in[k] = split_result(c, x->in[k], list)))
            return NULL;
    node.in = in;
    return in ? rd_node(&node, x->as.any, x->as_size) : NULL;
}

/* Finds the boundaries of concatenations below x. at[a] becomes the reading of x's own axis a:
 * that axis, offset 0. NULL: no memory. Without boundaries, s->at[a] is 0 and the extent. */
rd_concat_split *rd_concat_split_of(rd_collector *c, rd_expr *x, rd_reading *at)
{
    rd_concat_split *s = rd_pool_get(c->pool, sizeof *s);

    if (!s)
        return NULL;
    *s = (rd_concat_split){ .c = c, .rank = x->rank };
    if (!(s->places = rd_pool_get(c->pool, RD_MOST_PLACES * sizeof *s->places)))
        return NULL;
    for (int a = 0; a < x->rank; a++) {
        at[a]        = (rd_reading){ .axis = a };
        s->extent[a] = x->extent[a];
        s->at[a][1]  = x->extent[a];
    }
    find_boundaries(s, x, at);
    return s->failed ? NULL : s;
}

/* Splits a result at the boundaries of the concatenations below it if that pays off; else returns
 * it as it is.  NULL on failure. */
static rd_expr *split_map(rd_collector *c, rd_expr *x, rd_concat_list *list)
{
    rd_reading             at[RD_MAX_RANK];
    rd_concat_split *const s = rd_concat_split_of(c, x, at);

    if (!s || !rd_concat_split_pays(s, x))
        return s ? x : NULL;
    return rd_note_concats(s, list) ? rd_join_boxes(s, x, at) : NULL;
}

/* Splits a result at concatenation boundaries: the reductions below it if there are some to split;
 * else its parts if it is a concatenation; else itself. NULL on failure. rd_split_folds()
 * returns x if there are none, NULL on failure. */
static rd_expr *split_result(rd_collector *c, rd_expr *x, rd_concat_list *list)
{
    rd_expr *folds;

    if (rd_seen_of(c, x)->given || rd_expr_points(x) == 0)
        return x;
    if ((folds = rd_split_folds(c, x, list)) != x)
        return folds;
    return x->kind == RD_EXPR_CONCAT ? split_parts(c, x, list) : split_map(c, x, list);
}

/* Splits all results at concatenation boundaries. If one of the concatenations still has another
 * reader afterwards, it is stored anyway, and all results are restored. A result that is stored in
 * another type stays whole. False: no memory. request[k].type is the type in which result k is
 * stored. `list` has the concatenations that were split; `left`: one is still reached. */
bool rd_split_at_concats(rd_collector *c, int n, const rd_request *request, rd_expr **result,
                         rd_exprs given)
{
    const size_t   bytes   = (size_t)n * sizeof *result;
    rd_expr      **before  = rd_pool_get(c->pool, bytes);
    rd_concat_list list    = { 0 };
    bool           changed = false, left = false;

    if (!before)
        return false;
    memcpy(before, result, bytes);
    for (int k = 0; k < n; k++) {
        if (request[k].type == before[k]->type && !(result[k] = split_result(c, before[k], &list)))
            return false;
        changed |= result[k] != before[k];
    }
    if (!changed)
        return true;
    if (!rd_reach_exprs(c, (rd_exprs){ result, n }, given)) /* lists what is reachable now */
        return false;
    /* Another reader would store the concatenation, so splitting would compute its parts twice. */
    for (int32_t k = 0; k < list.n; k++)
        left |= rd_is_seen(c, list.concat[k]);
    if (!left)
        return true;
    memcpy(result, before, bytes);
    return rd_reach_exprs(c, (rd_exprs){ result, n }, given);
}
