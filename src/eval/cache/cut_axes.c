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

bool rd_cuts_begin(rd_cuts *c, rd_ctx *ctx, rd_results results)
{
    *c = (rd_cuts){ .ctx = ctx, .results = results };
    if (!rd_list_nodes(ctx, results, &c->list) ||
        !(c->at = rd_alloc(ctx, c->list.n * (int64_t)sizeof *c->at)))
        return false;
    qsort(c->list.at, (size_t)c->list.n, sizeof *c->list.at, compare_serials);
    return true;
}

void rd_cuts_end(rd_cuts *c)
{
    rd_free(c->ctx, c->at);
    rd_free_nodes(c->ctx, &c->list);
}

int64_t rd_cuts_index(const rd_cuts *c, const rd_expr *x)
{
    rd_expr *const *found =
        bsearch(&x, c->list.at, (size_t)c->list.n, sizeof *c->list.at, compare_serials);

    return found - c->list.at;
}

rd_cut_at rd_cuts_of_result(const rd_cuts *c, int r)
{
    return c->at[rd_cuts_index(c, c->results.at[r].expr)];
}

bool rd_cuts_adds(const rd_cuts *c, int r)
{
    return rd_cuts_of_result(c, r).axis[c->n - 1] == RD_CUT_ADDED;
}

/* ---- From axes of a node to those of operands ------------------------------------------------ */
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

int rd_cut_below_fold(const rd_expr *x, int k)
{
    for (int a = 0; a < x->in[0]->rank; a++)
        if (!(x->as.fold->dims >> a & 1) && k-- == 0)
            return a;
    return RD_CUT_BROKEN;
}

int rd_cut_below_take(const rd_expr *x, int of, int k)
{
    const int axis = (int)x->as.axis->axis, more = x->in[1]->rank;

    if (k >= axis && k < axis + more)
        return of == 1 ? k - axis : RD_CUT_NOWHERE;
    return of == 1 ? RD_CUT_NOWHERE : k < axis ? k : k - more + 1;
}

/* ---- From labels of operands to that of a node ----------------------------------------------- */
/* A cut on its way up, and the labels of nodes. */
typedef struct walk {
    const rd_cuts *c;
    int            cut;
} walk;

static int label(const walk *w, const rd_expr *x)
{
    return w->c->at[rd_cuts_index(w->c, x)].axis[w->cut];
}

/* The one label of all operands that have the cut; they have one shape. */
static int label_of_operands(const walk *w, const rd_expr *x)
{
    int l = RD_CUT_NOWHERE;

    for (int k = 0; k < x->n_in; k++) {
        const int own = x->in[k] ? label(w, x->in[k]) : RD_CUT_NOWHERE;

        if (own != RD_CUT_NOWHERE)
            l = l == RD_CUT_NOWHERE || l == own ? own : RD_CUT_BROKEN;
    }
    return l;
}

/* True for a finite constant, or one that is repeated. */
static bool is_number(const rd_expr *x)
{
    const rd_expr *const n = x->kind == RD_EXPR_VIEW ? x->in[0] : x;

    return n->kind == RD_EXPR_NUMBER && isfinite(rd_word_to_double(n->as.number->value, n->type));
}

/* True if a map of sums is the sum of the map of their terms. */
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

static int label_of_map(const walk *w, const rd_expr *x)
{
    const int l = label_of_operands(w, x);

    if (l != RD_CUT_ADDED)
        return l;
    return x->kind == RD_EXPR_MAP && is_linear(w, x) ? l : RD_CUT_BROKEN;
}

static int label_of_view(const walk *w, const rd_expr *x)
{
    const int l = label(w, x->in[0]);

    if (l < 0)
        return l;
    for (int k = 0; k < x->rank; k++)
        if (rd_cut_below_view(x, k) == l)
            return k;
    return RD_CUT_BROKEN;
}

/* True if parts of the fold may be added: a sum of floats. */
static bool is_sum(const rd_expr *x)
{
    return x->as.fold->reducer == RD_RED_sum && !x->as.fold->user &&
           x->as.fold->law != RD_LAW_serial && (x->type == RD_F32 || x->type == RD_F64);
}

static int label_of_fold(const walk *w, const rd_expr *x)
{
    const int l = label_of_operands(w, x);

    if (l == RD_CUT_NOWHERE)
        return l;
    if (l < 0 || rd_is_grouped(x) || rd_outputs_of(x) > 1)
        return RD_CUT_BROKEN;
    if (x->as.fold->dims >> l & 1)
        return is_sum(x) ? RD_CUT_ADDED : RD_CUT_BROKEN;
    return l - __builtin_popcountll(x->as.fold->dims & (((uint64_t)1 << l) - 1));
}

static int label_of_take(const walk *w, const rd_expr *x)
{
    const int of = label(w, x->in[0]), index = label(w, x->in[1]);
    const int axis = (int)x->as.axis->axis;

    if (of == RD_CUT_NOWHERE && index == RD_CUT_NOWHERE)
        return RD_CUT_NOWHERE;
    if (x->as.axis->along || (of != RD_CUT_NOWHERE && index != RD_CUT_NOWHERE) || of == axis ||
        of < RD_CUT_NOWHERE || index < RD_CUT_NOWHERE)
        return RD_CUT_BROKEN;
    return index >= 0 ? axis + index : of < axis ? of : of + x->in[1]->rank - 1;
}

/* Where a node has the cut, if its operands' labels are known. */
static int label_of(const walk *w, const rd_expr *x)
{
    const int l = x->n_in ? label_of_operands(w, x) : RD_CUT_NOWHERE;

    switch (x->kind) {
    case RD_EXPR_MAP:
    case RD_EXPR_CALL: return label_of_map(w, x);
    case RD_EXPR_VIEW: return label_of_view(w, x);
    case RD_EXPR_REDUCE: return label_of_fold(w, x);
    case RD_EXPR_SCAN: return l >= 0 && (x->as.fold->dims >> l & 1) ? RD_CUT_BROKEN : l;
    case RD_EXPR_TAKE: return label_of_take(w, x);
    default: return l == RD_CUT_NOWHERE ? l : RD_CUT_BROKEN;
    }
}

/* ---- Cuts ------------------------------------------------------------------------------------ */
int rd_cuts_label(const rd_cuts *c, int cut, int64_t from, int a)
{
    const walk w     = { c, cut };
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

/* The longest axis of a node along which all results come in blocks; -1: none. */
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

/* Labels the cuts of a node: axes that all results have, then rows. */
static void label_cuts(rd_cuts *c, int64_t from, int rows)
{
    const rd_expr *const x = c->list.at[from];

    c->n = 0;
    for (int a = 0; a < x->rank && c->n < RD_MOST_CUTS - 1; a++)
        if (a != rows && x->extent[a] > 1 && rd_cuts_label(c, c->n, from, a) == 0)
            c->extent[c->n++] = x->extent[a];
    c->extent[c->n] = x->extent[rows];
    (void)rd_cuts_label(c, c->n++, from, rows);
}

double rd_cuts_bytes(const rd_expr *x)
{
    return (double)rd_points(x->rank, x->extent) * (double)rd_dtype_size(x->type);
}

bool rd_cuts_may_begin(const rd_expr *x, double bytes)
{
    return (x->kind == RD_EXPR_MAP || x->kind == RD_EXPR_REDUCE) && rd_cuts_bytes(x) > bytes;
}

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
