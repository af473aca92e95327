/* pair_folds.c - a reduction over all pairs of points takes each pair once, where either order
 * gives the same value.
 *
 * The energy of all pairs is a sum over i and j in which (i, j) and (j, i) are equal:
 *
 *     sum over all i, j  =  2 * (sum over j < i) + (sum over i = j)
 *
 * Loops run over j < i alone (eval/lower/bounds.c), which halves the work.  Minima, maxima, any
 * and all are combined in the same way. symmetric.c finds out whether pairs are equal.
 *
 * The decision changes rounding, so it depends on nothing but the operand. */
#include "expr/pair_folds.h"
#include "expr/maps.h"
#include "expr/origin.h"
#include "expr/symmetric.h"

/* For fewer points, the second loop costs as much as it saves. */
enum { LEAST = 512 };

/* ---- What a pair costs ----------------------------------------------------------------------- */
/* The least work of a pair, and the depth of the search for it.  Where loops are not compiled,
 * each pair evaluates the mask j < i.  With the mask a sum of plain products took 24 times as
 * long, a sum of distances 1.1 times.  So a pair must cost more than its mask. */
enum { LEAST_WORK = 12, MOST_DEEP = 32 };

/* Estimates the operations for one element of x, up to LEAST_WORK, so that pairs cheaper than their
 * mask are found.  A reduction counts all elements that it reads.  `deep` counts levels of nodes;
 * beyond MOST_DEEP the work is taken as enough. */
static double work_of(const rd_expr *x, int deep)
{
    double ops = 0;

    if (deep > MOST_DEEP)
        return LEAST_WORK;
    if (x->kind == RD_EXPR_VIEW)
        return work_of(x->in[0], deep + 1);
    if (x->kind != RD_EXPR_MAP && x->kind != RD_EXPR_REDUCE)
        return 0;
    for (int k = 0; k < x->n_in && ops < LEAST_WORK; k++)
        if (x->in[k])
            ops += work_of(x->in[k], deep + 1);
    if (x->kind == RD_EXPR_MAP)
        return ops + (double)rd_op_table[x->op].cost;
    ops += 1;
    for (int axis = 0; axis < x->in[0]->rank; axis++)
        ops *= x->as.fold->dims >> axis & 1 ? (double)x->in[0]->extent[axis] : 1;
    return ops;
}

/* ---- Pairs that are found -------------------------------------------------------------------- */
/* True if a fold can take each pair of points once: a sum, a minimum or maximum, or any and all,
 * whose order of elements is free.  A fold by group label must sum ints: loops leave out half of
 * the pairs, and with them additions of 0.0, which could change a -0.0. */
static bool takes_pairs_once(const rd_folding *f, const rd_expr *x, const rd_fold_facts *facts)
{
    const rd_reducer_id reducer = (rd_reducer_id)facts->reducer;
    const bool          sum     = rd_reducer_adds_elements(reducer);

    if (f->scan || f->restart || facts->law == RD_LAW_serial)
        return false;
    if (f->label)
        return sum && rd_dtype_kind(x->type) != RD_KIND_FLOAT &&
               __builtin_popcountll(f->bits) == x->rank && !(f->opts.dims.flags & RD_DIMS_KEEP);
    return sum || rd_reducer_is_extreme(reducer) || rd_reducer_decides(reducer);
}

/* True if axes a and b hold the points of pairs, and folding each pair once is worth it.  Both axes
 * are reduced and long, exchanging their indices changes nothing, and a pair costs more than the
 * mask j < i.  Mask and labels must be symmetric, too. */
static bool are_pairs(const rd_folding *f, const rd_expr *x, int a, int b)
{
    bool moves = false;

    return f->bits >> a & 1 && f->bits >> b & 1 && x->extent[a] >= LEAST &&
           work_of(x, 0) + (f->label ? work_of(f->label, 0) : 0) >= LEAST_WORK &&
           rd_is_symmetric(x, a, b, &moves) &&
           (!f->where || rd_is_symmetric(f->where, a, b, &moves)) &&
           (!f->label || rd_is_symmetric(f->label, a, b, &moves)) && moves;
}

/* True if the fold can take each pair of points once, as value (i, j) equals (j, i). axis[] gets
 * the first two axes that hold the points of a pair. */
bool rd_pairs_found(const rd_folding *f, const rd_expr *x, const rd_fold_facts *facts, int axis[2])
{
    for (int a = 0; takes_pairs_once(f, x, facts) && a < x->rank; a++)
        for (int b = a + 1; b < x->rank; b++)
            if (are_pairs(f, x, a, b)) {
                axis[0] = a;
                axis[1] = b;
                return true;
            }
    return false;
}

/* ---- Each pair once -------------------------------------------------------------------------- */
/* Folds half of the pairs: those for which compares(j, i) is true, with j along axis[1] and i along
 * axis[0]: j < i, or j <= i with the diagonal.  The condition is added to the mask. */
static rd_expr *fold_half(const rd_folding *f, rd_expr *x, const rd_fold_facts *facts,
                          const int axis[2], rd_op compares)
{
    rd_folding half  = *f;
    rd_expr   *keeps = map_2(compares, f->call, rd_places(x, axis[1]), rd_places(x, axis[0]));

    keeps      = keeps ? rd_broadcast_to(keeps, x->rank, x->extent, f->call) : NULL;
    half.where = f->where ? map_2(RD_OP_and, f->call, f->where, keeps) : keeps;
    return half.where ? rd_folded(&half, (rd_reducer_id)facts->reducer, x, /*weights=*/NULL,
                                  x->type, facts->identity != 0)
                      : NULL;
}

/* Folds each point with itself, i = j. rd_of_selves() makes this diagonal the last axis of x,
 * without the two axes of pairs, so the bits of the other reduced axes move down. */
static rd_expr *fold_diagonal(const rd_folding *f, rd_expr *x, const rd_fold_facts *facts,
                              const int axis[2])
{
    rd_folding    diagonal = *f;
    rd_fold_facts own      = *facts;
    rd_expr      *y;

    diagonal.x     = rd_of_selves(x, axis[0], axis[1]);
    diagonal.label = f->label ? rd_of_selves(f->label, axis[0], axis[1]) : NULL;
    diagonal.bits  = UINT64_C(1) << (x->rank - 2);
    diagonal.opts.dims.flags &= ~RD_DIMS_KEEP;
    for (int a = 0, left = 0; a < x->rank; a++)
        if (a != axis[0] && a != axis[1])
            diagonal.bits |= (f->bits >> a & 1) << left++;
    if (!diagonal.x || (f->label && !diagonal.label))
        return NULL;
    y = rd_folding_node(&diagonal, diagonal.x, /*weights=*/NULL, x->type, &own);
    return y && !f->label ? rd_folding_kept(f, y) : y;
}

/* Makes the fold from pairs that are taken once: the half j < i and the diagonal, and for sums the
 * half twice.  Reductions of one call then share loops with the same bounds.  A masked extreme
 * could have no element left in one of them, so a single fold over j <= i takes all of its
 * pairs. */
rd_expr *rd_pairs_folded(const rd_folding *f, rd_expr *x, const rd_fold_facts *facts,
                         const int axis[2])
{
    const rd_op    combines = rd_reducer_table[facts->reducer].op;
    const bool     sum = combines == RD_OP_add, le = !sum && f->where;
    rd_expr *const once = fold_half(f, x, facts, axis, le ? RD_OP_le : RD_OP_lt);

    if (le)
        return once;
    if (!sum)
        return map_2(combines, f->call, once, fold_diagonal(f, x, facts, axis));
    /* The diagonal is added between both halves: 2 * half alone may overflow where the sum does
     * not. */
    return map_2(RD_OP_add, f->call, once,
                 map_2(RD_OP_add, f->call, once, fold_diagonal(f, x, facts, axis)));
}
