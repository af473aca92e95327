/* concat_folds.c - splits reductions over concatenations at the concatenation boundaries: the
 * whole is combined from reductions over boxes.
 *
 *    sum(x * roll(x, 1))   ->   sum over the inner box + sum over the narrow border box
 *
 * So no rolled array is stored.  Only reductions with the same bits in any order are split.
 *
 * A fold is a reduction here, and a box is a range along each axis of its operand in which every
 * concatenation is one part. */
#include "eval/collect/concat_split_own.h"
#include "core/reducers.h"
#include <string.h>

/* Depth to which maps and views above reductions are searched. */
enum { DEPTH = 8 };

/* ---- Which folds ----------------------------------------------------------------------------- */
/* The number of bits that values of this int type take; 1 of a bool. */
static int bits_of(rd_dtype type)
{
    return type == RD_BOOL ? 1 : 8 * rd_dtype_size(type);
}

/* True for an f64 sum of ints that is exact in any order: n elements of b bits need at most b +
 * log2(n) bits, and a double has 53. */
static bool adds_small_ints(const rd_expr *x)
{
    enum { EXACT = 53 };
    const rd_expr *cast    = x->in[0]; /* the ints, cast to f64 */
    const int32_t  reducer = x->as.fold->reducer;

    return x->type == RD_F64 && rd_reducer_adds_elements((rd_reducer_id)reducer) &&
           cast->kind == RD_EXPR_MAP && cast->op == RD_OP_cast &&
           rd_dtype_kind(cast->in[0]->type) < RD_KIND_FLOAT && bits_of(cast->in[0]->type) < EXACT &&
           rd_expr_points(cast) <= (double)((int64_t)1 << (EXACT - bits_of(cast->in[0]->type)));
}

/* True for reductions with the same bits in any order: of ints, or of floats that are small ints.
 * They may have no weights, mask or labels (in[1..]), no user's reducer, and need an operator that
 * merges two results. adds_small_ints() is that second test. Data on a device are left out. */
static bool allows_any_order(const rd_expr *x)
{
    const rd_fold_facts *fold = x->as.fold;

    for (int k = 1; k < x->n_in; k++)
        if (x->in[k])
            return false;
    if (fold->user || rd_reducer_table[fold->reducer].op == RD_OP_none || x->device)
        return false;
    return rd_dtype_kind(x->type) < RD_KIND_FLOAT || adds_small_ints(x);
}

/* True if all boundaries between parts lie along reduced axes; s->n[a] counts those along axis a.
 * Boxes along kept axes would have to be concatenated again. */
static bool splits_reduced_axes(const rd_concat_split *s, const rd_expr *x)
{
    for (int a = 0; a < s->rank; a++)
        if (s->n[a] && !(x->as.fold->dims >> a & 1))
            return false;
    return true;
}

/* ---- Reductions of boxes --------------------------------------------------------------------- */
/* Makes the same reduction of the operand in the box that s->lo and s->hi hold now, a range along
 * each axis. NULL on failure. rd_in_next_box() makes the operand in it. */
static rd_expr *fold_of_box(rd_concat_split *s, rd_expr *x, const rd_reading *at)
{
    rd_expr **in   = rd_pool_get(s->c->pool, (size_t)x->n_in * sizeof *in);
    rd_expr   node = *x;

    if (!in)
        return NULL;
    memcpy(in, x->in, (size_t)x->n_in * sizeof *in);
    node.in = in;
    in[0]   = rd_in_next_box(s, x->in[0], at);
    return in[0] ? rd_node(&node, x->as.any, x->as_size) : NULL;
}

/* Combines two partial reductions by the reducer's operator: sum by +, max by max.  NULL if either
 * is. */
static rd_expr *combine_folds(const rd_expr *x, rd_expr *a, rd_expr *b)
{
    rd_expr *in[] = { a, b };

    if (!a || !b)
        return NULL;
    return rd_node(&(rd_expr){ .ctx    = x->ctx,
                               .kind   = RD_EXPR_MAP,
                               .op     = rd_reducer_table[x->as.fold->reducer].op,
                               .type   = x->type,
                               .rank   = x->rank,
                               .n_in   = 2,
                               .extent = x->extent,
                               .in     = in },
                   /*facts=*/NULL, /*size=*/0);
}

/* Reduces each box along axis a and later axes, and combines the results; s->lo and s->hi hold the
 * ranges along earlier axes. NULL on failure. s->at[a] has the bounds of the boxes along axis a,
 * n[a] + 1 of them; fold_of_box() reduces one box. */
static rd_expr *fold_boxes(rd_concat_split *s, rd_expr *x, const rd_reading *at, int a)
{
    rd_expr *all = NULL;

    if (a == s->rank)
        return fold_of_box(s, x, at);
    for (int k = 0; k <= s->n[a]; k++) {
        rd_expr *one;

        s->lo[a] = s->at[a][k];
        s->hi[a] = s->at[a][k + 1];
        one      = fold_boxes(s, x, at, a + 1);
        all      = k ? combine_folds(x, all, one) : one;
        if (!all)
            return NULL;
    }
    return all;
}

/* Splits one reduction at the concatenations below it if that changes no bit and pays off; else
 * returns x. `list` gets the concatenations that need not be stored for it. NULL on failure. The
 * tests, in order: its bits do not depend on the order; it is not in memory (`given`); it has
 * elements; a boundary lies along a reduced axis; the split pays. */
static rd_expr *split_fold(rd_collector *c, rd_expr *x, rd_concat_list *list)
{
    rd_reading       at[RD_MAX_RANK];
    rd_concat_split *s;

    if (!allows_any_order(x) || rd_seen_of(c, x)->given || rd_expr_points(x->in[0]) == 0)
        return x;
    if (!(s = rd_concat_split_of(c, x->in[0], at)))
        return NULL;
    if (!splits_reduced_axes(s, x) || !rd_concat_split_pays(s, x->in[0]))
        return x;
    return rd_note_concats(s, list) ? fold_boxes(s, x, at, /*a=*/0) : NULL;
}

/* ---- Maps and views above them --------------------------------------------------------------- */
/* Splits the reductions below elementwise operations and views of x, down to `depth` levels; nodes
 * above changed ones are made again. Returns x if nothing changes; NULL on failure. `given`: its
 * value is in memory, so nothing is split. `list` gets the concatenations. */
static rd_expr *split_under(rd_collector *c, rd_expr *x, int depth, rd_concat_list *list)
{
    rd_expr **in, node = *x;
    bool      changed = false;

    if (x->kind == RD_EXPR_REDUCE)
        return split_fold(c, x, list);
    if ((x->kind != RD_EXPR_MAP && x->kind != RD_EXPR_VIEW) || depth == 0 ||
        rd_seen_of(c, x)->given)
        return x;
    if (!(in = rd_pool_get(c->pool, (size_t)x->n_in * sizeof *in)))
        return NULL;
    for (int k = 0; k < x->n_in; k++) {
        if (!(in[k] = split_under(c, x->in[k], depth - 1, list)))
            return NULL;
        changed |= in[k] != x->in[k];
    }
    node.in = in;
    return changed ? rd_node(&node, x->as.any, x->as_size) : x;
}

/* Splits the reductions below x's maps and views into reductions over boxes, ranges inside which no
 * concatenation has a boundary; NULL on failure. */
rd_expr *rd_split_folds(rd_collector *c, rd_expr *x, rd_concat_list *list)
{
    return split_under(c, x, DEPTH, list);
}
