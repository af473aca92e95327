/* cut_parts.c - lists what a block needs of each node, and makes it for each block.
 *
 * A node is asked for by its readers: as a whole, or with cuts at some of its axes.  The same node
 * may be asked for in several ways, as keys that are queries, too.  Which parts there are is the
 * same in each block, so they are listed once, without recursion, as graphs may be deep. */
#include "eval/cache/cut_parts.h"
#include "eval/cache/part_nodes.h"
#include "expr/affine.h"
#include "expr/maps.h"
#include <string.h>

/* Ways in which one node is asked for; the longest axis whose coordinates are in memory. */
enum { MOST_WAYS = 4, MOST_INDEXED = 1 << 16 };

static const char call[] = "rd_eval";

/* ---- What is asked for ----------------------------------------------------------------------- */
/* A list in the making: the ways of node i are steps MOST_WAYS * i on, of which ways[i] are
 * used. */
typedef struct asking {
    const rd_cuts *c;
    rd_cut_step   *step;
    int8_t        *ways;
    int64_t       *in, n_in; /* operands of all parts: steps; how many so far */
    bool           ok;       /* all that was asked for so far can be made */
} asking;

/* The labels of a node that is asked for as a whole: no axis has a cut. */
static rd_cut_at nowhere(const rd_cuts *c)
{
    rd_cut_at at = { .axis = { 0 } };

    for (int k = 0; k < rd_cuts_of_all(c); k++)
        at.axis[k] = RD_CUT_NOWHERE;
    return at;
}

/* True if the labels ask for the whole node. */
static bool is_nowhere(const rd_cuts *c, const rd_cut_at *at)
{
    for (int k = 0; k < rd_cuts_of_all(c); k++)
        if (at->axis[k] != RD_CUT_NOWHERE)
            return false;
    return true;
}

/* True if node i may be asked for with the labels `at`.  One that is made of a cut value has to be
 * asked for with its own label: at another axis, or as a whole, it would need several blocks at
 * once. A node without the cut may be asked for in any way. */
static bool may_be(const rd_cuts *c, int64_t i, const rd_cut_at *at)
{
    for (int k = 0; k < rd_cuts_of_all(c); k++)
        if (c->at[i].axis[k] != RD_CUT_NOWHERE &&
            (c->at[i].axis[k] != at->axis[k] || at->axis[k] == RD_CUT_BROKEN))
            return false;
    return true;
}

/* Asks for x with cuts at the axes `at`: returns the step (index in `step`) that stands for it, the
 * same one if a reader asked so before.  -1, and q->ok false: there are MOST_WAYS already, or the
 * node cannot be asked for so.  A node that folds columns is asked for without them. */
static int64_t ask(asking *q, const rd_expr *x, const rd_cut_at *at)
{
    const int64_t i    = rd_cuts_index(q->c, x);
    const int     last = q->c->n;
    rd_cut_step  *s    = q->step + MOST_WAYS * i;
    rd_cut_at     as   = *at;

    if (q->c->columns && q->c->at[i].axis[last] == RD_CUT_FOLDED && as.axis[last] == RD_CUT_NOWHERE)
        as.axis[last] = RD_CUT_FOLDED;
    for (int w = 0; w < q->ways[i]; w++)
        if (memcmp(s[w].at.axis, as.axis, (size_t)rd_cuts_of_all(q->c)) == 0)
            return MOST_WAYS * i + w;
    if (q->ways[i] == MOST_WAYS || !may_be(q->c, i, &as)) {
        q->ok = false;
        return -1;
    }
    s[q->ways[i]] = (rd_cut_step){ .node = i, .at = as, .in = -1 };
    return MOST_WAYS * i + q->ways[i]++;
}

/* ---- What a part asks of operands ------------------------------------------------------------ */
/* The label of a node for a cut: the axis that is cut, or an RD_CUT_ value. */
static int label(const rd_cuts *c, const rd_expr *x, int cut)
{
    return (int)c->at[rd_cuts_index(c, x)].axis[cut];
}

/* Where operand k has a cut that x has at axis l.  RD_CUT_BROKEN: the part of x cannot be made of
 * parts of its operands, so it is a view of x.  For a sum over the cut axis (l is RD_CUT_ADDED, or
 * RD_CUT_FOLDED) each operand, such as keys beside weights, is cut at the axis that one has. */
static int below(const rd_cuts *c, const rd_expr *x, int k, int cut, int l)
{
    const rd_expr *const in = x->in[k];
    int                  own;

    if (l == RD_CUT_NOWHERE)
        return l;
    if ((l == RD_CUT_ADDED || l == RD_CUT_FOLDED) &&
        x->kind == RD_EXPR_REDUCE) { /* the axis that it sums over */
        for (int i = 0; i < x->n_in; i++)
            if (x->in[i] && (own = label(c, x->in[i], cut)) >= 0)
                return own;
        return RD_CUT_BROKEN;
    }
    if (l == RD_CUT_ADDED) /* numbers beside it are no sums */
        return label(c, in, cut);
    switch (x->kind) {
    case RD_EXPR_MAP:
    case RD_EXPR_CALL: return l;
    case RD_EXPR_SCAN: return x->as.fold->dims >> l & 1 ? RD_CUT_BROKEN : l;
    case RD_EXPR_VIEW: return rd_cut_below_view(x, l);
    case RD_EXPR_REDUCE:
        return rd_is_grouped(x) || rd_outputs_of(x) > 1 ? RD_CUT_BROKEN : rd_cut_below_fold(x, l);
    case RD_EXPR_TAKE: return x->as.axis->along ? RD_CUT_BROKEN : rd_cut_below_take(x, k, l);
    default: return RD_CUT_BROKEN;
    }
}

/* A leaf whose box is a leaf: no pattern of a sparse array, and no mask of blocks. */
static bool is_plain_leaf(const rd_expr *x)
{
    return x->as.leaf->data && !x->pieces && !x->blocks && !x->ascends && !x->of_pattern;
}

/* How the part of x with cuts at the axes `at` is made: the same operator of its operands' parts,
 * if each operand has a part that fits.  Else a view of the whole of x.  A leaf becomes a leaf of
 * the block's memory, coordinates a leaf of indices, so that blocks share one plan. */
static rd_cut_way way_of(const rd_cuts *c, const rd_expr *x, const rd_cut_at *at)
{
    if (is_nowhere(c, at))
        return RD_PART_WHOLE;
    if (x->kind == RD_EXPR_LEAF)
        return is_plain_leaf(x) ? RD_PART_LEAF : RD_PART_VIEWED;
    if (x->kind == RD_EXPR_COORD)
        return x->extent[x->as.axis->axis] <= MOST_INDEXED ? RD_PART_INDEX : RD_PART_VIEWED;
    for (int k = 0; k < x->n_in; k++)
        for (int cut = 0; x->in[k] && cut < rd_cuts_of_all(c); cut++)
            if (below(c, x, k, cut, at->axis[cut]) == RD_CUT_BROKEN)
                return RD_PART_VIEWED;
    return x->n_in && x->n_in <= RD_MAX_RANK ? RD_PART_AGAIN : RD_PART_VIEWED;
}

/* Finds how a part is made, and asks for the parts of its operands if it is made of these.  A view
 * of a node that is cut itself is not allowed, because it would need all blocks of the node. */
static void ask_below(asking *q, rd_cut_step *s)
{
    const rd_cuts *const c = q->c;
    const rd_expr *const x = c->list.at[s->node];

    s->way = way_of(c, x, &s->at);
    if (s->way == RD_PART_VIEWED && !is_nowhere(c, &c->at[s->node])) /* it would be made whole */
        q->ok = false;
    if (s->way != RD_PART_AGAIN)
        return;
    s->in = q->n_in;
    q->n_in += x->n_in;
    for (int k = 0; k < x->n_in; k++) {
        rd_cut_at at = nowhere(c);

        for (int cut = 0; x->in[k] && cut < rd_cuts_of_all(c); cut++)
            at.axis[cut] = (int8_t)below(c, x, k, cut, s->at.axis[cut]);
        q->in[s->in + k] = x->in[k] ? ask(q, x->in[k], &at) : -1;
    }
}

/* ---- The list -------------------------------------------------------------------------------- */
/* Allocates room for MOST_WAYS ways of each node and their operands.  False after a failure; the
 * caller frees `step`, `in` and `ways` in any case. */
static bool begin(asking *q, rd_cut_steps *s, const rd_cuts *c)
{
    int64_t operands = 0;

    for (int64_t i = 0; i < c->list.n; i++)
        operands += c->list.at[i]->n_in;
    s->cuts = c;
    s->step = rd_alloc(c->ctx, MOST_WAYS * c->list.n * (int64_t)sizeof *s->step);
    s->in   = rd_alloc(c->ctx, (MOST_WAYS * operands + 1) * (int64_t)sizeof *s->in);
    *q      = (asking){ .c = c, .step = s->step, .in = s->in, .ok = true };
    q->ways = rd_alloc(c->ctx, c->list.n);
    return s->step && s->in && q->ways;
}

/* Moves the steps that were asked for together, in place, and renumbers operands and results:
 * moved[old] is the new index of a step.  Steps stay in the order of nodes, so operands come
 * first. */
static void close_gaps(rd_cut_steps *s, const asking *q, int64_t *moved)
{
    for (int64_t i = 0; i < q->c->list.n; i++)
        for (int w = 0; w < q->ways[i]; w++) {
            moved[MOST_WAYS * i + w] = s->n;
            s->step[s->n++]          = s->step[MOST_WAYS * i + w];
        }
    s->n_in = q->n_in;
    for (int64_t k = 0; k < s->n_in; k++)
        s->in[k] = s->in[k] < 0 ? -1 : moved[s->in[k]];
    for (int r = 0; r < q->c->results.n; r++)
        s->result[r] = moved[s->result[r]];
}

/* Notes in most_index the longest axis of coordinates that are leaves of indices, or the columns: a
 * run then makes one array 0, 1, 2 ... of that length, of which each such leaf is a range. */
static void find_most_index(rd_cut_steps *s)
{
    s->most_index = s->cuts->columns ? s->cuts->extent[s->cuts->n] : 0;
    for (int64_t i = 0; i < s->n; i++) {
        const rd_expr *const x = s->cuts->list.at[s->step[i].node];
        const int64_t        n = s->step[i].way == RD_PART_INDEX ? x->extent[x->as.axis->axis] : 0;

        s->most_index = n > s->most_index ? n : s->most_index;
    }
}

/* Lists the parts of all results.  Nodes are visited from the last to the first, readers before
 * operands, so all ways in which a node is asked for are known when its turn comes. */
bool rd_cut_steps_begin(rd_cut_steps *s, const rd_cuts *c)
{
    asking   q;
    int64_t *moved = NULL;

    *s   = (rd_cut_steps){ .cuts = c };
    q.ok = false;
    if (begin(&q, s, c) &&
        (moved = rd_alloc(c->ctx, MOST_WAYS * c->list.n * (int64_t)sizeof *moved))) {
        for (int r = 0; r < c->results.n; r++) {
            const rd_cut_at at = rd_cuts_of_result(c, r);

            s->result[r] = ask(&q, c->results.at[r].expr, &at);
        }
        for (int64_t i = c->list.n; i-- > 0 && q.ok;)
            for (int w = 0; w < q.ways[i]; w++)
                ask_below(&q, &s->step[MOST_WAYS * i + w]);
        if (q.ok) {
            close_gaps(s, &q, moved);
            find_most_index(s);
        }
    } else {
        q.ok = false;
    }
    rd_free(c->ctx, moved);
    rd_free(c->ctx, q.ways);
    return q.ok;
}

/* Frees the lists; s->cuts is NULL if none were begun. */
void rd_cut_steps_end(rd_cut_steps *s)
{
    if (!s->cuts)
        return;
    rd_free(s->cuts->ctx, s->step);
    rd_free(s->cuts->ctx, s->in);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */
/* The box of a node's part: first index and extent of each axis. */
typedef struct part_box {
    int64_t first[RD_MAX_RANK], extent[RD_MAX_RANK];
} part_box;

/* The box of x that a block needs: whole axes, but for those at which `at` has a cut, which are the
 * block's indices `box`. */
static part_box box_of(const rd_cuts *c, const rd_expr *x, const rd_cut_at *at,
                       const rd_cut_box *box)
{
    part_box b = { .first = { 0 } };

    memcpy(b.extent, x->extent, (size_t)x->rank * sizeof *b.extent);
    for (int k = 0; k < rd_cuts_of_all(c); k++)
        if (at->axis[k] >= 0) {
            b.first[at->axis[k]]  = box->first[k];
            b.extent[at->axis[k]] = box->count[k];
        }
    return b;
}

/* A leaf of the box of the leaf x in its memory; or, if `index` is given, of the coordinates in the
 * box: of `index`, which is 0, 1, 2 ..., from the box's first on.  Strides count elements. NULL
 * after a failure. */
static rd_expr *leaf_part(rd_ctx *ctx, const rd_expr *x, const int64_t *index, const part_box *b)
{
    rd_array array = { .type = x->type, .in = index };

    array.shape.n = x->rank;
    memcpy(array.shape.at, b->extent, (size_t)x->rank * sizeof *b->extent);
    if (index) {
        array.in = index + b->first[x->as.axis->axis];
        return rd_leaf_of(ctx, &array, call);
    }
    array.in        = x->as.leaf->data;
    array.device    = x->device;
    array.strides.n = x->rank;
    for (int a = 0; a < x->rank; a++) {
        array.strides.at[a] = x->as.leaf->stride[a];
        array.in =
            (const char *)array.in + b->first[a] * x->as.leaf->stride[a] * rd_dtype_size(x->type);
    }
    return rd_leaf_of(ctx, &array, call);
}

/* A copy of node x with the extents of the box, and the parts of its operands.  A view reads the
 * cut axis from index 0 on as it is, so its coefficients (view->number) hold for the parts, too.
 * made[k]: the expression of part k; `in` of the step: which parts, -1: no operand. */
static rd_expr *same_of_parts(const rd_cut_steps *s, const rd_expr *x, const rd_cut_step *of,
                              const part_box *b, rd_expr *const *made)
{
    rd_expr *in[RD_MAX_RANK] = { NULL };

    for (int k = 0; k < x->n_in; k++)
        in[k] = s->in[of->in + k] < 0 ? NULL : made[s->in[of->in + k]];
    if (x->kind == RD_EXPR_VIEW)
        return rd_view(in[0], x->rank, b->extent, x->as.view->number, NULL);
    return rd_part_again(x, b->extent, in);
}

/* The places of the extremes `y` along columns of which the block has those from `first` on: `first`
 * more.  It is read from memory (index[first]), as it would be a part of the plan as a number. NULL
 * after a failure. */
static rd_expr *places_from(rd_ctx *ctx, rd_expr *y, const int64_t *index, int64_t first)
{
    const rd_array array = { .type = RD_I64, .in = index + first };

    return y ? map_2(RD_OP_add, call, y, rd_leaf_of(ctx, &array, call)) : NULL;
}

/* A part made as node x is, of parts of its operands.  Places along columns are those of the whole.
 * NULL after a failure. */
static rd_expr *again(const rd_cut_steps *s, rd_ctx *ctx, const rd_expr *x, const int64_t *index,
                      const rd_cut_step *of, const rd_cut_box *box, rd_expr *const *made)
{
    const part_box b = box_of(s->cuts, x, &of->at, box);
    const int      n = s->cuts->n;
    rd_expr *const y = same_of_parts(s, x, of, &b, made);

    return s->cuts->columns && of->at.axis[n] == RD_CUT_FOLDED &&
                   x->as.fold->reducer == RD_RED_argmax
               ? places_from(ctx, y, index, box->first[n])
               : y;
}

/* Makes the part `of` of node x for the block `box`, in the way that the step says.  NULL after a
 * failure. */
static rd_expr *make(const rd_cut_steps *s, rd_ctx *ctx, rd_expr *x, const int64_t *index,
                     const rd_cut_step *of, const rd_cut_box *box, rd_expr *const *made)
{
    const part_box b = box_of(s->cuts, x, &of->at, box);

    switch (of->way) {
    case RD_PART_WHOLE: return x;
    case RD_PART_VIEWED: return rd_part_viewed(x, b.first, b.extent);
    case RD_PART_LEAF: return leaf_part(ctx, x, NULL, &b);
    case RD_PART_INDEX: return leaf_part(ctx, x, index, &b);
    default: return again(s, ctx, x, index, of, box, made);
    }
}

/* Makes all parts of the block `box`, operands first, and picks the results' parts from
 * them.  node[i]: the listed node i in the context `ctx`, where they are made. */
bool rd_cut_make(const rd_cut_steps *s, rd_ctx *ctx, rd_expr *const *node, const int64_t *index,
                 const rd_cut_box *box, rd_expr **made, rd_expr **result)
{
    for (int64_t i = 0; i < s->n; i++)
        if (!(made[i] = make(s, ctx, node[s->step[i].node], index, &s->step[i], box, made)))
            return false;
    for (int r = 0; r < s->cuts->results.n; r++)
        result[r] = made[s->result[r]];
    return true;
}
