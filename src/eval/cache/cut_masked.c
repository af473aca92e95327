/* cut_masked.c - finds columns that a block may leave out, as a mask hides them from all its rows.
 *
 * It may, if the same comes out.  So the block's expression is gone through three times by
 * intervals:
 *
 *     anywhere   masks are true or false      what is folded over columns has these bounds
 *     kept       masks let the score pass     each row has such a place, so its maximum is finite
 *     gone       masks hide the score         a sum must have 0 there, and a maximum -inf
 *
 * Bounds of leaves come from their elements.  An infinity or a NaN in them, or a mask that hides a
 * whole row, means that all columns are taken. */
#include "eval/cache/cut_masked.h"
#include "eval/cache/float_bounds.h"
#include <math.h>
#include <string.h>

typedef enum world { ANYWHERE, KEPT, GONE, WORLDS } world;

/* The bounds of each step of the list in each world; of leaves, by nodes. */
typedef struct finding {
    rd_cut_masks       *m;
    const rd_cut_steps *s;
    const rd_cuts      *c;
    rd_float_bounds    *of[WORLDS], *leaf;
    rd_truth            truth[WORLDS][RD_MOST_CHOICES];
} finding;

/* ---- Masks ----------------------------------------------------------------------------------- */
/* True for the number -inf, alone or repeated. */
static bool is_least(const rd_expr *x)
{
    const rd_expr *const n = x->kind == RD_EXPR_VIEW ? x->in[0] : x;

    return n->kind == RD_EXPR_NUMBER &&
           rd_word_to_double(n->as.number->value, n->type) == -INFINITY;
}

/* The truth of a choice's mask where it is not -inf: where(mask, s, -inf) or where(mask, -inf, s).
 * RD_SOMETIMES: x is neither. */
static rd_truth kept_by(const rd_expr *x)
{
    if (x->kind != RD_EXPR_MAP || x->op != RD_OP_where)
        return RD_SOMETIMES;
    return is_least(x->in[2]) ? RD_ALWAYS : is_least(x->in[1]) ? RD_NEVER : RD_SOMETIMES;
}

bool rd_cuts_are_masked(const rd_cuts *c)
{
    for (int64_t i = 0; i < c->list.n; i++)
        if (kept_by(c->list.at[i]) != RD_SOMETIMES)
            return true;
    return false;
}

/* The number of the mask that a step is; -1: it is none. */
static int mask_of(const rd_cut_masks *m, int64_t step)
{
    for (int k = 0; k < m->n; k++)
        if (m->step[k] == step)
            return k;
    return -1;
}

/* Lists the masks.  False: there are none, too many, or one hides what it keeps elsewhere. */
static bool list_masks(rd_cut_masks *m)
{
    for (int64_t i = 0; i < m->steps->n; i++) {
        const rd_cut_step *const s = &m->steps->step[i];
        const rd_truth           kept =
            s->way == RD_PART_AGAIN ? kept_by(m->steps->cuts->list.at[s->node]) : RD_SOMETIMES;
        const int64_t mask = kept == RD_SOMETIMES ? -1 : m->steps->in[s->in];
        const int     k    = mask_of(m, mask);

        if (mask < 0 || (k >= 0 && m->kept[k] == kept))
            continue;
        if (k >= 0 || m->n == RD_MOST_CHOICES)
            return false;
        m->step[m->n]   = mask;
        m->kept[m->n++] = kept;
    }
    return m->n > 0;
}

/* ---- Bounds of values in blocks -------------------------------------------------------------- */
static const rd_float_bounds unknown = { 0, 0, false };

/* The bounds of a whole node: numbers, leaves, coordinates, and maps of these, `deep` of them one
 * above the other. */
static rd_float_bounds whole(const finding *f, const rd_expr *x, int deep)
{
    rd_float_bounds in[3];
    double          v;

    if (x->type == RD_BOOL)
        return (rd_float_bounds){ 0, 1, true };
    switch (x->kind) {
    case RD_EXPR_NUMBER:
        v = rd_word_to_double(x->as.number->value, x->type);
        return rd_bounds_from(v, v, x->type);
    case RD_EXPR_LEAF: return f->leaf[rd_cuts_index(f->c, x)];
    case RD_EXPR_COORD: return rd_bounds_from(0, (double)x->extent[x->as.axis->axis], x->type);
    case RD_EXPR_VIEW: return whole(f, x->in[0], deep);
    case RD_EXPR_MAP: break;
    default: return unknown;
    }
    if (deep == 0 || x->n_in > 3)
        return unknown;
    for (int k = 0; k < x->n_in; k++)
        in[k] = whole(f, x->in[k], deep - 1);
    return rd_bounds_of_map(x, in);
}

/* The step that operand k of a step is. */
static int64_t operand(const finding *f, const rd_cut_step *s, int k)
{
    return f->s->in[s->in + k];
}

/* True if x is s - max over columns of s, in a step that has columns at axis j. */
static bool is_from_greatest(const rd_expr *x, int j)
{
    return j >= 0 && x->kind == RD_EXPR_MAP && x->op == RD_OP_sub &&
           rd_is_largest(x->in[1], x->in[0], j);
}

/* The axis at which a step has columns, or an RD_CUT_ value. */
static int columns_of(const finding *f, const rd_cut_step *s)
{
    return s->at.axis[f->c->n];
}

/* An elementwise operation in world w.  A choice by a mask takes one side where its truth is
 * known, and a difference from the greatest is not above 0. */
static rd_float_bounds map_in(const finding *f, world w, const rd_cut_step *s)
{
    const rd_expr *const x = f->c->list.at[s->node];
    const int            k = x->op == RD_OP_where ? mask_of(f->m, operand(f, s, 0)) : -1;
    rd_float_bounds      in[3], b;

    if (x->n_in > 3)
        return unknown;
    for (int i = 0; i < x->n_in; i++)
        in[i] = f->of[w][operand(f, s, i)];
    if (k >= 0 && f->truth[w][k] != RD_SOMETIMES)
        return in[f->truth[w][k] == RD_ALWAYS ? 1 : 2];
    b = rd_bounds_of_map(x, in);
    if (b.known && is_from_greatest(x, columns_of(f, s)))
        b.hi = fmin(b.hi, 0);
    return b;
}

/* The number of elements that a reduction makes one of. */
static double reduced(const rd_expr *x)
{
    double n = 1;

    for (int a = 0; a < x->in[0]->rank; a++)
        n *= x->as.fold->dims >> a & 1 ? (double)x->in[0]->extent[a] : 1;
    return n;
}

/* True if a reduction has no weights, and no mask of its own. */
static bool is_plain(const rd_expr *x)
{
    for (int k = 1; k < x->n_in; k++)
        if (x->in[k])
            return false;
    return !x->as.fold->user;
}

/* A reduction over other axes than columns: a sum or a maximum. */
static rd_float_bounds fold_in(const finding *f, world w, const rd_cut_step *s)
{
    const rd_expr *const x = f->c->list.at[s->node];

    if (!is_plain(x))
        return unknown;
    if (x->as.fold->reducer == RD_RED_sum)
        return rd_bounds_sum(f->of[w][operand(f, s, 0)], reduced(x), x->type);
    return x->as.fold->reducer == RD_RED_max ? f->of[w][operand(f, s, 0)] : unknown;
}

/* True if a step is exp(s - max over columns of s) of a finite maximum: one of each row is 1. */
static bool has_a_one(const finding *f, const rd_cut_step *e)
{
    const rd_expr *const     x = f->c->list.at[e->node];
    const rd_cut_step *const d =
        x->kind == RD_EXPR_MAP && x->op == RD_OP_exp && e->way == RD_PART_AGAIN
            ? &f->s->step[operand(f, e, 0)]
            : NULL;
    rd_float_bounds most;

    if (!d || d->way != RD_PART_AGAIN ||
        !is_from_greatest(f->c->list.at[d->node], columns_of(f, d)))
        return false;
    most = f->of[ANYWHERE][operand(f, d, 1)];
    return most.known && isfinite(most.lo);
}

/* A reduction over columns.  A maximum is that of a place that is kept, or more; and so is a sum of
 * what is not below 0. */
static rd_float_bounds fold_of_columns(const finding *f, const rd_cut_step *s)
{
    const rd_expr *const     x    = f->c->list.at[s->node];
    const rd_cut_step *const e    = &f->s->step[operand(f, s, 0)];
    const rd_float_bounds    all  = f->of[ANYWHERE][operand(f, s, 0)];
    const rd_float_bounds    kept = f->of[KEPT][operand(f, s, 0)];
    rd_float_bounds          b;

    if (!all.known || !kept.known)
        return unknown;
    switch (x->as.fold->reducer) {
    case RD_RED_max: return (rd_float_bounds){ fmax(all.lo, kept.lo), all.hi, true };
    case RD_RED_argmax:
        return isfinite(kept.lo) ? rd_bounds_from(-1, reduced(x), x->type) : unknown;
    default: break;
    }
    b = rd_bounds_sum(all, reduced(x), x->type);
    if (all.lo >= 0)
        b.lo = fmax(b.lo, fmax(0.9 * kept.lo, has_a_one(f, e) ? 0.5 : 0));
    return b;
}

/* Finds the bounds of a step in world w. */
static rd_float_bounds bounds_in(const finding *f, world w, const rd_cut_step *s)
{
    const rd_expr *const x = f->c->list.at[s->node];

    if (s->way != RD_PART_AGAIN)
        return whole(f, x, 4);
    if (x->type == RD_BOOL)
        return (rd_float_bounds){ 0, 1, true };
    switch (x->kind) {
    case RD_EXPR_MAP: return map_in(f, w, s);
    case RD_EXPR_VIEW: return f->of[w][operand(f, s, 0)];
    case RD_EXPR_REDUCE:
        return columns_of(f, s) == RD_CUT_FOLDED ? fold_of_columns(f, s) : fold_in(f, w, s);
    default: return unknown;
    }
}

/* ---- What may be left out -------------------------------------------------------------------- */
/* True if a reduction over columns has the same value without those that are gone. */
static bool is_neutral(const finding *f, const rd_cut_step *s)
{
    const rd_float_bounds gone = f->of[GONE][operand(f, s, 0)];

    if (f->c->list.at[s->node]->as.fold->reducer == RD_RED_sum)
        return rd_bounds_are(gone, 0);
    return rd_bounds_are(gone, -INFINITY) && f->of[GONE][s - f->s->step].known;
}

/* True if columns may be left out where masks have the truths of world GONE: reductions over
 * columns are the same, and what is added to results is 0. */
static bool may_leave_out(const finding *f)
{
    for (int64_t i = 0; i < f->s->n; i++)
        f->of[GONE][i] = bounds_in(f, GONE, &f->s->step[i]);
    for (int64_t i = 0; i < f->s->n; i++)
        if (columns_of(f, &f->s->step[i]) == RD_CUT_FOLDED && !is_neutral(f, &f->s->step[i]))
            return false;
    for (int r = 0; r < f->c->results.n; r++)
        if (columns_of(f, &f->s->step[f->s->result[r]]) >= 0 &&
            !rd_bounds_are(f->of[GONE][f->s->result[r]], 0))
            return false;
    return true;
}

/* Asks of each form, which is the masks' truths as digits to base 3, whether columns of it may be
 * left out.  Worlds come one after the other, as a fold reads the first two. */
static void ask_all_forms(finding *f)
{
    int forms = 1;

    for (int64_t i = 0; i < f->c->list.n; i++)
        if (f->c->list.at[i]->kind == RD_EXPR_LEAF)
            f->leaf[i] = rd_bounds_of_leaf(f->c->list.at[i]);
    memcpy(f->truth[KEPT], f->m->kept, sizeof f->truth[KEPT]);
    for (int64_t i = 0; i < f->s->n; i++)
        for (world w = ANYWHERE; w <= KEPT; w++)
            f->of[w][i] = bounds_in(f, w, &f->s->step[i]);
    for (int k = 0; k < f->m->n; k++)
        forms *= 3;
    for (int form = 1; form < forms; form++) {
        for (int k = 0, rest = form; k < f->m->n; k++, rest /= 3)
            f->truth[GONE][k] = (rd_truth)(rest % 3);
        f->m->left_out[form] = may_leave_out(f);
    }
}

/* Finds the masks and what follows from them.  A group is about an eighth of the columns, as each
 * number of groups has a plan, of some 0.2 MB in each thread. */
void rd_cut_masks_find(rd_cut_masks *m, const rd_cut_steps *steps)
{
    const rd_cuts *const c = steps->cuts;
    finding              f = { .m = m, .s = steps, .c = c };

    *m = (rd_cut_masks){ .steps = steps };
    if (!c->columns || !list_masks(m))
        return;
    m->each = (c->extent[c->n] / 8 + 63) / 64 * 64;
    f.of[0] = rd_alloc_quiet(c->ctx, (WORLDS * steps->n + c->list.n) * (int64_t)sizeof *f.of[0]);
    if (!f.of[0])
        return;
    for (int w = 1; w < WORLDS; w++)
        f.of[w] = f.of[0] + w * steps->n;
    f.leaf = f.of[0] + WORLDS * steps->n;
    ask_all_forms(&f);
    rd_free(c->ctx, f.of[0]);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */
/* Questions about one block: most that are asked to find a place that is kept in each row. */
enum { QUESTIONS = 600, OF_ROWS = 40 };

/* The truth of mask k in the block's rows and columns first <= j < end. */
static rd_truth truth_in(const rd_cut_masks *m, int k, const rd_cut_box *box, int64_t first,
                         int64_t end)
{
    const rd_cuts *const     c               = m->steps->cuts;
    const rd_cut_step *const s               = &m->steps->step[m->step[k]];
    const rd_expr *const     x               = c->list.at[s->node];
    int64_t                  lo[RD_MAX_RANK] = { 0 }, hi[RD_MAX_RANK];

    memcpy(hi, x->extent, (size_t)x->rank * sizeof *hi);
    for (int cut = 0; cut < rd_cuts_of_all(c); cut++) {
        const int a = (int)s->at.axis[cut];

        if (a < 0)
            continue;
        lo[a] = cut < c->n ? box->first[cut] : first;
        hi[a] = cut < c->n ? box->first[cut] + box->count[cut] : end;
    }
    return rd_mask_truth(x, lo, hi);
}

/* True if columns first <= j < end may be left out of the block. */
static bool is_left_out(const rd_cut_masks *m, const rd_cut_box *box, int64_t first, int64_t end)
{
    int form = 0;

    for (int k = m->n; k-- > 0;)
        form = 3 * form + (int)truth_in(m, k, box, first, end);
    return m->left_out[form];
}

/* True if some column in first <= j < end is kept by all masks in all rows of the block: halves are
 * asked until it is known.  *left: questions that remain. */
static bool has_kept_column(const rd_cut_masks *m, const rd_cut_box *box, int64_t first,
                            int64_t end, int *left)
{
    bool all = true;

    for (int k = 0; k < m->n; k++) {
        const rd_truth t = --*left < 0 ? RD_SOMETIMES : truth_in(m, k, box, first, end);

        if (t != RD_SOMETIMES && t != m->kept[k])
            return false;
        all &= t == m->kept[k];
    }
    if (all || end - first < 2 || *left < 0)
        return all;
    return has_kept_column(m, box, first, first + (end - first) / 2, left) ||
           has_kept_column(m, box, first + (end - first) / 2, end, left);
}

/* True if each row of the block has a column that all masks keep.  If no column is kept by all
 * rows, each half of them is asked. */
static bool each_row_is_kept(const rd_cut_masks *m, const rd_cut_box *box, int64_t first,
                             int64_t end, int *left)
{
    const int  rows = m->steps->cuts->n - 1;
    int        some = *left < OF_ROWS ? *left : OF_ROWS;
    rd_cut_box half = *box;

    *left -= some;
    if (has_kept_column(m, box, first, end, &some))
        return true;
    if (box->count[rows] < 2 || *left <= 0)
        return false;
    half.count[rows] = box->count[rows] / 2;
    if (!each_row_is_kept(m, &half, first, end, left))
        return false;
    half.first[rows] += half.count[rows];
    half.count[rows] = box->count[rows] - half.count[rows];
    return each_row_is_kept(m, &half, first, end, left);
}

/* Leaves out as many groups of columns at both ends as may be, found by bisection.  The first two are
 * left out together only: one alone would be a plan more, for few blocks. */
void rd_cut_masks_narrow(const rd_cut_masks *m, rd_cut_box *box)
{
    const int     n    = m->steps->cuts->n;
    const int64_t all  = box->count[n];
    int           left = QUESTIONS;
    int64_t       lo, hi, first, end;

    if (m->n == 0)
        return;
    for (lo = 2, hi = (all + m->each - 1) / m->each; lo < hi;) {
        const int64_t half = (lo + hi) / 2;

        if (is_left_out(m, box, half * m->each, all))
            hi = half;
        else
            lo = half + 1;
    }
    end = hi * m->each < all ? hi * m->each : all;
    for (lo = 0, hi--; lo < hi;) {
        const int64_t half = (lo + hi + 1) / 2;

        if (is_left_out(m, box, 0, half * m->each))
            lo = half;
        else
            hi = half - 1;
    }
    first = lo * m->each;
    if ((first > 0 || end < all) && each_row_is_kept(m, box, first, end, &left)) {
        box->first[n] = first;
        box->count[n] = end - first;
    }
}
