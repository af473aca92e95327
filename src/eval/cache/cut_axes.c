/* cut_axes.c - finds where nodes have the axis of a large value along which an evaluation is cut.
 *
 * The labels go from the value up to the results.  Maps pass a label on, views and reductions say
 * which axis becomes which.  A sum over the axis is added up from then on, if only its sign and a
 * number factor follow. */
#include "eval/cache/cut_axes.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Nodes ----------------------------------------------------------------------------------- */
/* Orders nodes by serial, for qsort() and bsearch(). */
static int compare_serials(const void *a, const void *b)
{
    const uint32_t p = (*(rd_expr *const *)a)->serial, q = (*(rd_expr *const *)b)->serial;

    return (p > q) - (p < q);
}

/* Lists the nodes that the results need, sorted by serial number, so operands stand before readers.
 * `at` is memory for one label of each node and cut: the axis that is cut, or RD_CUT_NOWHERE ...
 * False after recording a failure; rd_cuts_end() frees both in any case. */
bool rd_cuts_begin(rd_cuts *c, rd_ctx *ctx, rd_results results)
{
    *c = (rd_cuts){ .ctx = ctx, .results = results };
    if (!rd_list_nodes(ctx, results, &c->list) ||
        !(c->at = rd_alloc(ctx, c->list.n * (int64_t)sizeof *c->at)))
        return false;
    qsort(c->list.at, (size_t)c->list.n, sizeof *c->list.at, compare_serials);
    return true;
}

/* Frees what rd_cuts_begin() allocated; the nodes themselves belong to the context. */
void rd_cuts_end(rd_cuts *c)
{
    rd_free(c->ctx, c->at);
    rd_free_nodes(c->ctx, &c->list);
}

/* The index of a node in the list, by binary search for its serial number.  The node must be
 * listed, as all nodes below the results are. */
int64_t rd_cuts_index(const rd_cuts *c, const rd_expr *x)
{
    rd_expr *const *found =
        bsearch(&x, c->list.at, (size_t)c->list.n, sizeof *c->list.at, compare_serials);

    return found - c->list.at;
}

/* The labels of result r: for each cut the axis of the result that is cut, or an RD_CUT_ value. */
rd_cut_at rd_cuts_of_result(const rd_cuts *c, int r)
{
    return c->at[rd_cuts_index(c, c->results.at[r].expr)];
}

/* True if each block has only a partial sum of result r, to be added up.  Only the last cut (of
 * rows) may be so: label_cuts() takes the others only if no result is added up along them. */
bool rd_cuts_adds(const rd_cuts *c, int r)
{
    return rd_cuts_of_result(c, r).axis[c->n - 1] == RD_CUT_ADDED;
}

/* ---- From axes of a node to those of operands ------------------------------------------------ */
/* The axis of a view's operand that axis k of the view reads as it is: x[.., i_k, ..], from index 0
 * to the end.  RD_CUT_NOWHERE: the operand is repeated along k.  RD_CUT_BROKEN: anything else (a
 * slice, a stride, a diagonal), as a block of the view would not be a block of the operand.
 * view->number has the first index of each operand axis, then a row of coefficients for each: how
 * far the index moves by one step along each axis of the view. */
int rd_cut_below_view(const rd_expr *x, int k)
{
    const rd_expr *const below = x->in[0];
    int                  found = RD_CUT_NOWHERE;

    for (int a = 0; a < below->rank; a++) {
        const int64_t *const coef = x->as.view->number + below->rank + (int64_t)a * x->rank;

        if (coef[k] == 0)
            continue;
        for (int b = 0; b < x->rank; b++)
            if (b != k && coef[b] != 0)
                return RD_CUT_BROKEN;
        if (found >= 0 || coef[k] != 1 || x->as.view->number[a] != 0 ||
            below->extent[a] != x->extent[k])
            return RD_CUT_BROKEN;
        found = a;
    }
    return found;
}

/* The axis of a reduction's operands that becomes its axis k: number k of those that are not
 * reduced (`dims` is a bit mask of the reduced axes).  RD_CUT_BROKEN: there is none. */
int rd_cut_below_fold(const rd_expr *x, int k)
{
    for (int a = 0; a < x->in[0]->rank; a++)
        if (!(x->as.fold->dims >> a & 1) && k-- == 0)
            return a;
    return RD_CUT_BROKEN;
}

/* The axis of operand `of` (0: data, 1: indices) of a gather that is its axis k.  The gather
 * replaces axis `axis` of the data by all axes of the indices: data[a, b, c] at indices[p, q] along
 * b gives [a, p, q, c].  RD_CUT_NOWHERE: axis k comes from the other operand. */
int rd_cut_below_take(const rd_expr *x, int of, int k)
{
    const int axis = (int)x->as.axis->axis, more = x->in[1]->rank;

    if (k >= axis && k < axis + more)
        return of == 1 ? k - axis : RD_CUT_NOWHERE;
    return of == 1 ? RD_CUT_NOWHERE : k < axis ? k : k - more + 1;
}

/* ---- From labels of operands to that of a node ----------------------------------------------- */
/* The cut (its number) whose label is found for one node after the other, operands first. */
typedef struct walk {
    const rd_cuts *c;
    int            cut;
    bool           columns; /* the cut is of columns, which may be folded */
} walk;

/* The label of a node for this cut: the axis that is cut, or an RD_CUT_ value. */
static int label(const walk *w, const rd_expr *x)
{
    return w->c->at[rd_cuts_index(w->c, x)].axis[w->cut];
}

/* The label of an operand: of one that folds columns, RD_CUT_NOWHERE. */
static int label_below(const walk *w, const rd_expr *x)
{
    const int l = label(w, x);

    return l == RD_CUT_FOLDED ? RD_CUT_NOWHERE : l;
}

/* The label that all operands with this cut share; RD_CUT_NOWHERE: none has it; RD_CUT_BROKEN: two
 * differ.  Operands of maps and reductions have one shape, so equal labels mean the same axis.  An
 * operand may be missing (NULL). */
static int label_of_operands(const walk *w, const rd_expr *x)
{
    int l = RD_CUT_NOWHERE;

    for (int k = 0; k < x->n_in; k++) {
        const int own = x->in[k] ? label_below(w, x->in[k]) : RD_CUT_NOWHERE;

        if (own != RD_CUT_NOWHERE)
            l = l == RD_CUT_NOWHERE || l == own ? own : RD_CUT_BROKEN;
    }
    return l;
}

/* True for a finite constant other than 0, or one that is repeated. */
static bool is_number(const rd_expr *x)
{
    const rd_expr *const n = x->kind == RD_EXPR_VIEW ? x->in[0] : x;
    const double         value =
        n->kind == RD_EXPR_NUMBER ? rd_word_to_double(n->as.number->value, n->type) : 0;

    return isfinite(value) && value != 0;
}

/* True if a map of operands that are added up may be applied to each block's part, as in
 * -(p + q) = -p + -q.  True for: a negation; a sum or difference of two such operands (an operand
 * that is not added up would count once in each block); a product or quotient with a number. */
static bool is_linear(const walk *w, const rd_expr *x)
{
    const bool first  = label(w, x->in[0]) == RD_CUT_ADDED;
    const bool second = x->n_in > 1 && label(w, x->in[1]) == RD_CUT_ADDED;

    switch (x->op) {
    case RD_OP_neg: return true;
    case RD_OP_add:
    case RD_OP_sub: return first && second;
    case RD_OP_mul: return first ? is_number(x->in[1]) : is_number(x->in[0]);
    case RD_OP_div: return first && is_number(x->in[1]);
    default: return false;
    }
}

/* The label of an elementwise node: that of its operands.  Operands that are added up need a map
 * that is linear; other calls are never so. */
static int label_of_map(const walk *w, const rd_expr *x)
{
    const int l = label_of_operands(w, x);

    if (l != RD_CUT_ADDED)
        return l;
    return x->kind == RD_EXPR_MAP && is_linear(w, x) ? l : RD_CUT_BROKEN;
}

/* The label of a view: the axis that reads the operand's cut axis as it is; RD_CUT_BROKEN: none
 * does. Other labels (l < 0) pass, as a view only moves elements. */
static int label_of_view(const walk *w, const rd_expr *x)
{
    const int l = label_below(w, x->in[0]);

    if (l < 0)
        return l;
    for (int k = 0; k < x->rank; k++)
        if (rd_cut_below_view(x, k) == l)
            return k;
    return RD_CUT_BROKEN;
}

/* True if a reduction of parts of the rows gives parts of the result that may be added: a sum of
 * floats, not of the user's own operator, and not one whose order of additions is fixed
 * (serial). */
static bool is_sum(const rd_expr *x)
{
    return x->as.fold->reducer == RD_RED_sum && !x->as.fold->user &&
           x->as.fold->law != RD_LAW_serial && (x->type == RD_F32 || x->type == RD_F64);
}

/* True if a reduction over the columns, axis l, may leave out some: a sum or an extreme, or the
 * place of one, without weights or a mask of its own. A place is a flat index, so it must be one
 * along the columns alone. */
static bool is_fold_of_columns(const rd_expr *x, int l)
{
    const int reducer = x->as.fold->reducer;

    for (int k = 1; k < x->n_in; k++)
        if (x->in[k])
            return false;
    return !x->as.fold->user &&
           (reducer == RD_RED_sum || reducer == RD_RED_max ||
            (reducer == RD_RED_argmax && x->as.fold->dims == UINT64_C(1) << l));
}

/* The label of a reduction.  If it reduces the cut axis: added up, if it is a sum.  Else the axis
 * moves down by the number of reduced axes before it.  RD_CUT_BROKEN for operands that are added up
 * themselves (l < 0), for a reduction by groups, and for one with several outputs. */
static int label_of_fold(const walk *w, const rd_expr *x)
{
    const int l = label_of_operands(w, x);

    if (l == RD_CUT_NOWHERE)
        return l;
    if (l < 0 || rd_is_grouped(x) || rd_outputs_of(x) > 1)
        return RD_CUT_BROKEN;
    if (x->as.fold->dims >> l & 1 && w->columns)
        return is_fold_of_columns(x, l) ? RD_CUT_FOLDED : RD_CUT_BROKEN;
    if (x->as.fold->dims >> l & 1)
        return is_sum(x) ? RD_CUT_ADDED : RD_CUT_BROKEN;
    return l - __builtin_popcountll(x->as.fold->dims & (((uint64_t)1 << l) - 1));
}

/* The label of a gather, whose data or whose indices may be cut, not both.  RD_CUT_BROKEN: the data
 * is cut along the axis that indices select from, so a block might need any index; an operand is
 * added up; or each element has an index of its own (`along`). */
static int label_of_take(const walk *w, const rd_expr *x)
{
    const int of = label_below(w, x->in[0]), index = label_below(w, x->in[1]);
    const int axis = (int)x->as.axis->axis;

    if (of == RD_CUT_NOWHERE && index == RD_CUT_NOWHERE)
        return RD_CUT_NOWHERE;
    if (x->as.axis->along || (of != RD_CUT_NOWHERE && index != RD_CUT_NOWHERE) || of == axis ||
        of < RD_CUT_NOWHERE || index < RD_CUT_NOWHERE)
        return RD_CUT_BROKEN;
    return index >= 0 ? axis + index : of < axis ? of : of + x->in[1]->rank - 1;
}

/* The label of a scan: that of its operands along other axes.  RD_CUT_BROKEN: it goes along the cut
 * axis, so that a block would need the carry of the blocks before; or operands are added up, as a
 * greatest so far of parts is not a part of the greatest. */
static int label_of_scan(const rd_expr *x, int l)
{
    return l == RD_CUT_ADDED || (l >= 0 && (x->as.fold->dims >> l & 1)) ? RD_CUT_BROKEN : l;
}

/* The label of a node, made from those of its operands.  Other kinds, such as sorts, pass no cut
 * on. */
static int label_of(const walk *w, const rd_expr *x)
{
    const int l = x->n_in ? label_of_operands(w, x) : RD_CUT_NOWHERE;

    switch (x->kind) {
    case RD_EXPR_MAP:
    case RD_EXPR_CALL: return label_of_map(w, x);
    case RD_EXPR_VIEW: return label_of_view(w, x);
    case RD_EXPR_REDUCE: return label_of_fold(w, x);
    case RD_EXPR_SCAN: return label_of_scan(x, l);
    case RD_EXPR_TAKE: return label_of_take(w, x);
    default: return l == RD_CUT_NOWHERE ? l : RD_CUT_BROKEN;
    }
}

/* ---- Cuts ------------------------------------------------------------------------------------ */
/* Labels all nodes for cut number `cut`, which begins at axis a of node `from`.  Returns how many
 * results are added up; -1: some result does not have the cut, or needs several blocks at once. */
int rd_cuts_label(const rd_cuts *c, int cut, int64_t from, int a)
{
    const walk w     = { c, cut, false };
    int        added = 0;

    for (int64_t i = 0; i < c->list.n; i++)
        c->at[i].axis[cut] = (int8_t)(i == from ? a : label_of(&w, c->list.at[i]));
    for (int r = 0; r < c->results.n; r++) {
        const int l = label(&w, c->results.at[r].expr);

        if (l == RD_CUT_NOWHERE || l == RD_CUT_BROKEN)
            return -1;
        added += l == RD_CUT_ADDED;
    }
    return added;
}

/* The longest axis of node `from`, of `least` indices or more, along which all results come in
 * blocks; -1: none.  Overwrites the labels of cut 0. */
static int rows_of(const rd_cuts *c, int64_t from, int64_t least)
{
    const rd_expr *const x    = c->list.at[from];
    int                  rows = -1;

    for (int a = 0; a < x->rank; a++)
        if (x->extent[a] >= least && (rows < 0 || x->extent[a] > x->extent[rows]) &&
            rd_cuts_label(c, 0, from, a) >= 0)
            rows = a;
    return rows;
}

/* Labels all cuts that begin at node `from`: first its axes that no result adds up along (such as
 * heads), then `rows`, along which results may be added up.  `n` counts cuts. */
static void label_cuts(rd_cuts *c, int64_t from, int rows)
{
    const rd_expr *const x = c->list.at[from];

    c->n = c->columns = 0;
    c->from           = from;
    for (int a = 0; a < x->rank && c->n < RD_MOST_CUTS - 2; a++)
        if (a != rows && x->extent[a] > 1 && rd_cuts_label(c, c->n, from, a) == 0)
            c->extent[c->n++] = x->extent[a];
    c->extent[c->n] = x->extent[rows];
    (void)rd_cuts_label(c, c->n++, from, rows);
}

/* Labels all nodes for columns, which begin at axis a of the node where cuts begin.  Cut number n
 * has their labels, and is counted by `columns` if it can be. */
bool rd_cuts_label_columns(rd_cuts *c, int a)
{
    const walk w  = { c, c->n, true };
    bool       ok = true;

    for (int64_t i = 0; i < c->list.n; i++)
        c->at[i].axis[c->n] = (int8_t)(i == c->from ? a : label_of(&w, c->list.at[i]));
    for (int r = 0; r < c->results.n; r++) {
        const int l = label(&w, c->results.at[r].expr);

        ok &= l != RD_CUT_BROKEN && (l < 0 || rd_cuts_adds(c, r));
    }
    c->columns      = ok;
    c->extent[c->n] = c->list.at[c->from]->extent[a];
    return ok;
}

/* The bytes of all elements of a node. */
double rd_cuts_bytes(const rd_expr *x)
{
    return (double)rd_points(x->rank, x->extent) * (double)rd_dtype_size(x->type);
}

/* True if a cut may begin at x: a map or a reduction of more than so many bytes. */
bool rd_cuts_may_begin(const rd_expr *x, double bytes)
{
    return (x->kind == RD_EXPR_MAP || x->kind == RD_EXPR_REDUCE) && rd_cuts_bytes(x) > bytes;
}

/* Finds the first large node at which a cut of rows may begin, and labels all cuts from
 * there.  Each try labels all nodes once for each axis, so only RD_CUT_TRIES nodes are
 * tried.  False: there are none. */
bool rd_cuts_find(rd_cuts *c, double bytes, int64_t least)
{
    for (int64_t i = 0, tries = 0; i < c->list.n && tries < RD_CUT_TRIES; i++) {
        int rows;

        if (!rd_cuts_may_begin(c->list.at[i], bytes))
            continue;
        tries++;
        if ((rows = rows_of(c, i, least)) >= 0) {
            label_cuts(c, i, rows);
            return true;
        }
    }
    return false;
}
