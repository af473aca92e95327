/* part_read.c - finds which part of a leaf the results read, so that a file's reader decodes no
 * more than that part.
 *
 * Each node has a bounding box of all its elements that nodes above it read.  Nodes are visited
 * after all nodes above them and pass their boxes on to their operands.  A view passes it
 * through its affine map, a map as it is.  A node that reads along an axis wants all of that
 * axis. */
#include "expr/complex.h"
#include "expr/lists.h"
#include "expr/nodes.h"
#include <stdlib.h>

/* A range of places along each axis of a node. */
typedef struct box {
    bool any; /* false: nothing is read */
    /* least and greatest place along each axis */
    int64_t low[RD_MAX_RANK + 1], high[RD_MAX_RANK + 1];
} box;

/* A search while it runs. */
typedef struct search {
    rd_node_list list; /* all nodes, sorted by serial: operands first */
    box         *box;  /* by node: its box */
} search;

/* Orders nodes by serial number, for qsort(): operands come before their readers, which are made
 * later. */
static int by_serial(const void *a, const void *b)
{
    const rd_expr *x = *(rd_expr *const *)a, *y = *(rd_expr *const *)b;

    return (x->serial > y->serial) - (x->serial < y->serial);
}

/* Finds the bounding box of node x (the elements that its readers read), by bisection of the list,
 * which is sorted by serial number. */
static box *box_of(const search *s, const rd_expr *x)
{
    int64_t low = 0, high = s->list.n - 1;

    while (low < high) {
        const int64_t middle = (low + high) / 2;

        if (s->list.at[middle]->serial < x->serial)
            low = middle + 1;
        else
            high = middle;
    }
    return &s->box[low];
}

/* The box (range of indices along each axis) of all elements of x; it is empty if x has none. */
static box whole_box(const rd_expr *x)
{
    box b = { .any = true };

    for (int a = 0; a < x->rank; a++) {
        b.high[a] = x->extent[a] - 1;
        b.any &= x->extent[a] > 0;
    }
    return b;
}

/* Extends the box of x, the bounding box of elements that are read, so that it contains b. x may be
 * NULL. */
static void extend_box(const search *s, const rd_expr *x, const box *b)
{
    box *to = x && b->any ? box_of(s, x) : NULL;

    if (!to)
        return;
    for (int a = 0; a < x->rank; a++) {
        if (!to->any || b->low[a] < to->low[a])
            to->low[a] = b->low[a];
        if (!to->any || b->high[a] > to->high[a])
            to->high[a] = b->high[a];
    }
    to->any = true;
}

/* Extends the box of x to all of its elements; x may be NULL. */
static void extend_to_whole(const search *s, const rd_expr *x)
{
    if (x) {
        const box b = whole_box(x);
        extend_box(s, x, &b);
    }
}

/* ---- From a node to its operands ------------------------------------------------------------- */
/* Passes a box b (index ranges that are read) of view x on to its operand: the image of the box
 * under the affine map, by the signs of its coefficients. */
static void through_view(const search *s, const rd_expr *x, const box *b)
{
    const int      rank   = x->in[0]->rank;
    const int64_t *offset = x->as.view->number, *coef = offset + rank;
    box            image = { .any = true };

    for (int a = 0; a < rank; a++) {
        image.low[a] = image.high[a] = offset[a];
        for (int k = 0; k < x->rank; k++) {
            const int64_t step = coef[(int64_t)a * x->rank + k];

            image.low[a] += step * (step > 0 ? b->low[k] : b->high[k]);
            image.high[a] += step * (step > 0 ? b->high[k] : b->low[k]);
        }
    }
    extend_box(s, x->in[0], &image);
}

/* Passes a box b (index ranges that are read) of reduction x on to its operands: the same along
 * axes that are not reduced, and all of the reduced ones.  Weights, mask and labels have the shape
 * of in[0]. */
static void through_reduce(const search *s, const rd_expr *x, const box *b)
{
    box needed = whole_box(x->in[0]);

    for (int a = 0, k = 0; a < x->in[0]->rank; a++)
        if (!(x->as.fold->dims >> a & 1)) {
            needed.low[a]  = b->low[k];
            needed.high[a] = b->high[k++];
        }
    for (int k = 0; k < x->n_in; k++)
        extend_box(s, x->in[k], &needed);
}

/* Passes a box b (index ranges that are read) of x on to an operand with the same axes.  Axes that
 * are bits of `dims` are read from end to end, as by a scan. */
static void through_axes(const search *s, const rd_expr *x, const rd_expr *operand, const box *b,
                         uint64_t dims)
{
    box needed = whole_box(operand);

    for (int a = 0; a < x->rank; a++)
        if (!(dims >> a & 1)) {
            needed.low[a]  = b->low[a];
            needed.high[a] = b->high[a];
        }
    extend_box(s, operand, &needed);
}

/* Passes a box b (index ranges that are read) of gather x on: all of the gathered axis, the box
 * along the others, and all of the index.  With `along`, the index has x's axes; else it has `more`
 * axes in place of one. */
static void through_take(const search *s, const rd_expr *x, const box *b)
{
    const int axis = (int)x->as.axis->axis, more = x->as.axis->along ? 0 : x->in[1]->rank - 1;
    box       needed = whole_box(x->in[0]);

    for (int a = 0; a < x->in[0]->rank; a++)
        if (a != axis) {
            needed.low[a]  = b->low[a < axis ? a : a + more];
            needed.high[a] = b->high[a < axis ? a : a + more];
        }
    extend_box(s, x->in[0], &needed);
    extend_to_whole(s, x->in[1]);
}

/* Passes a box b (index ranges that are read) of concatenation x on: each part gets what falls into
 * its range of the axis. */
static void through_concat(const search *s, const rd_expr *x, const box *b)
{
    const int64_t axis  = x->as.axis->axis;
    int64_t       begin = 0;

    for (int k = 0; k < x->n_in; k++) {
        const int64_t n      = x->in[k]->extent[axis];
        box           within = *b;

        within.low[axis]  = b->low[axis] > begin ? b->low[axis] - begin : 0;
        within.high[axis] = b->high[axis] < begin + n ? b->high[axis] - begin : n - 1;
        if (within.low[axis] <= within.high[axis])
            extend_box(s, x->in[k], &within);
        begin += n;
    }
}

/* Passes the box b of node x (index ranges that are read) on to its operands, by the kind of the
 * node.  Kinds that are not listed read all of their operands. */
static void propagate(const search *s, const rd_expr *x, const box *b)
{
    switch (x->kind) {
    case RD_EXPR_VIEW: through_view(s, x, b); return;
    case RD_EXPR_REDUCE: through_reduce(s, x, b); return;
    case RD_EXPR_TAKE: through_take(s, x, b); return;
    case RD_EXPR_CONCAT: through_concat(s, x, b); return;
    case RD_EXPR_MAP:
    case RD_EXPR_CALL:
    case RD_EXPR_COMPLEX:
    case RD_EXPR_SCAN:
        for (int k = 0; k < x->n_in; k++)
            if (x->in[k] && x->in[k]->rank == x->rank)
                through_axes(s, x, x->in[k], b, x->kind == RD_EXPR_SCAN ? x->as.fold->dims : 0);
            else
                extend_to_whole(s, x->in[k]);
        return;
    case RD_EXPR_SORT:
        through_axes(s, x, x->in[0], b, UINT64_C(1) << (x->rank - 1));
        for (int k = 1; k < x->n_in; k++)
            extend_to_whole(s, x->in[k]);
        return;
    default:
        for (int k = 0; k < x->n_in; k++)
            extend_to_whole(s, x->in[k]);
    }
}

/* ---- The box of a leaf ----------------------------------------------------------------------- */
/* Visits all nodes, readers before operands, and passes on the boxes of what they read.  Returns
 * the bounding box of the leaf's elements that are read.  Another leaf of the same memory may have
 * another shape, so it counts as all of the leaf. */
static box find_box(const search *s, const rd_expr *leaf)
{
    box found = { 0 };

    for (int64_t k = s->list.n; k-- > 0;) {
        const rd_expr *x = s->list.at[k];
        const box     *b = &s->box[k];

        if (!b->any)
            continue;
        propagate(s, x, b);
        if (x->kind != RD_EXPR_LEAF || (x != leaf && x->as.leaf->data != leaf->as.leaf->data))
            continue;
        const box part = x == leaf ? *b : whole_box(leaf);
        for (int a = 0; a < leaf->rank; a++) {
            found.low[a] = found.any && found.low[a] < part.low[a] ? found.low[a] : part.low[a];
            found.high[a] =
                found.any && found.high[a] > part.high[a] ? found.high[a] : part.high[a];
        }
        found.any = true;
    }
    return found;
}

/* Why the arguments are refused, as a text for the message; NULL: they are valid. */
static const char *refusal(const rd_ctx *ctx, rd_expr *leaf, const rd_part *out)
{
    return !out                                        ? "no place for what is found"
           : leaf->ctx != ctx                          ? "the leaf belongs to another context"
           : rd_leaf_below(leaf)->kind != RD_EXPR_LEAF ? "not a leaf, whose elements are in memory"
                                                       : NULL;
}

/* True if context, results, leaf and `out` are valid.  False after recording what is wrong. */
static bool arguments_ok(rd_ctx *ctx, rd_results results, rd_expr *leaf, const rd_part *out)
{
    static const char call[] = "rd_part_read";

    if (!ctx || !rd_list_ok(ctx, call, "results", results.at, results.n, /*least=*/0))
        return false;
    for (int32_t i = 0; i < results.n; i++) {
        if (!results.at[i].expr || !rd_is_here(ctx, call, "result", (int)i, results.at[i].expr))
            return false;
        if (results.at[i].expr->ctx != ctx) {
            rd_fail(ctx, RD_ERR_ARGUMENT, "%s: result %d belongs to another context", call, (int)i);
            return false;
        }
    }
    if (!leaf || !rd_is_here(ctx, call, "leaf", 0, leaf))
        return false;
    const char *const why = refusal(ctx, leaf, out);
    if (why)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: %s", call, why);
    return !why;
}

/* Finds the part of the leaf that the results read, so that a file's reader decodes no more: first
 * positions and extents, which are 0 if they read nothing.  False after a failure. */
bool rd_part_read(rd_ctx *ctx, rd_results results, rd_expr *leaf, rd_part *out)
{
    search s = { 0 };

    if (out)
        *out = (rd_part){ 0 };
    if (!arguments_ok(ctx, results, leaf, out) || !out)
        return false;
    if (rd_list_nodes(ctx, results, &s.list) && s.list.n > 0)
        s.box = rd_alloc(ctx, s.list.n * (int64_t)sizeof *s.box);
    const bool ok = s.box || (s.list.n == 0 && rd_error(ctx) == RD_OK);
    box        b  = { 0 };
    if (s.box) {
        qsort(s.list.at, (size_t)s.list.n, sizeof(rd_expr *), by_serial);
        for (int32_t i = 0; i < results.n; i++)
            extend_to_whole(&s, results.at[i].expr);
        b = find_box(&s, rd_leaf_below(leaf));
    }
    if (ok)
        out->first.n = out->shape.n = leaf->rank;
    for (int a = 0; ok && a < leaf->rank; a++) {
        out->first.at[a] = b.low[a];
        out->shape.at[a] = b.any ? b.high[a] - b.low[a] + 1 : 0;
    }
    rd_free(ctx, s.box);
    rd_free_nodes(ctx, &s.list);
    return ok;
}
