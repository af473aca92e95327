/* attention_mask.c - what is known of masks of scores in a tile: such as j <= i where all j are
 * below all i.
 *
 * Ranges of integers go from coordinates up; masks in memory are read.  Anything else is not known,
 * and then the mask is evaluated in that tile. */
#include "eval/cache/attention.h"
#include <math.h>
#include <string.h>

/* Indices lo[a] <= i[a] < hi[a] of a node.  None is empty. */
typedef struct box {
    int64_t lo[RD_MAX_RANK], hi[RD_MAX_RANK];
} box;

/* Values of integers in a box. */
typedef struct range {
    double lo, hi;
} range;

/* Visits of one question, as a graph may have very many paths; elements of an array that are
 * read. */
enum { VISITS = 400, MOST_READ = 1 << 14 };

static rd_truth truth_of(const rd_expr *x, const box *b, int *left);

/* ---- Boxes ----------------------------------------------------------------------------------- */
/* The box of indices of the operand that view x reads for box b: interval arithmetic per axis. A
 * negative coefficient swaps the ends. A view's numbers are the offsets, one for each axis of
 * its operand, then a matrix of coefficients with a row for each of these axes and a column for
 * each axis of the view. */
static box box_below(const rd_expr *x, const box *b)
{
    const int            below = x->in[0]->rank;
    const int64_t *const n     = x->as.view->number;
    box                  in;

    for (int a = 0; a < below; a++) {
        in.lo[a] = in.hi[a] = n[a];
        for (int k = 0; k < x->rank; k++) {
            const int64_t c = n[below + a * x->rank + k];

            in.lo[a] += c * (c > 0 ? b->lo[k] : b->hi[k] - 1);
            in.hi[a] += c * (c > 0 ? b->hi[k] - 1 : b->lo[k]);
        }
        in.hi[a]++;
    }
    return in;
}

/* The number of elements of x in the box. */
static int64_t points_in(const rd_expr *x, const box *b)
{
    int64_t n = 1;

    for (int a = 0; a < x->rank; a++)
        n *= b->hi[a] - b->lo[a];
    return n;
}

/* The address of element at[0..rank) of a leaf (input array) in this process's memory; NULL: it is
 * on a device, or has no memory yet. */
static const char *element(const rd_expr *leaf, const int64_t *at)
{
    const char *p = leaf->device ? NULL : leaf->as.leaf->data;

    for (int a = 0; p && a < leaf->rank; a++)
        p += at[a] * leaf->as.leaf->stride[a] * rd_dtype_size(leaf->type);
    return p;
}

/* Steps `at` to the next index of the box, in C order, along the first `rank` axes. False behind
 * the last one; `at` is then back at the first. */
static bool next_in(const box *b, int rank, int64_t *at)
{
    for (int a = rank; a-- > 0; at[a] = b->lo[a])
        if (++at[a] < b->hi[a])
            return true;
    return false;
}

/* ---- Integers -------------------------------------------------------------------------------- */
/* The int element at p as a double; NaN for types that are not asked for. */
static double element_as_number(const rd_expr *x, const char *p)
{
    return x->type == RD_I32   ? (double)*(const int32_t *)(const void *)p
           : x->type == RD_I64 ? (double)*(const int64_t *)(const void *)p
           : x->type == RD_I16 ? (double)*(const int16_t *)(const void *)p
           : x->type == RD_U8  ? (double)*(const uint8_t *)p
                               : NAN;
}

/* The least and greatest element of an array of ints in the box, by reading it; false: unknown. It
 * reads at most MOST_READ elements, because this is asked for each tile. points_in() counts the
 * elements of the box, next_in() goes to the next one; b->lo is its first index. Unknown: too
 * many elements, an array without memory here (data NULL, or on a device), or an element from
 * 2^53 on, where f64 is not exact, or NaN. */
static bool range_of_leaf(const rd_expr *x, const box *b, range *r)
{
    int64_t at[RD_MAX_RANK];

    if (points_in(x, b) > MOST_READ || !x->as.leaf->data || x->device)
        return false;
    memcpy(at, b->lo, sizeof at);
    *r = (range){ INFINITY, -INFINITY };
    do {
        const double v = element_as_number(x, element(x, at));

        if (!(fabs(v) < 0x1p53))
            return false;
        r->lo = fmin(r->lo, v);
        r->hi = fmax(r->hi, v);
    } while (next_in(b, x->rank, at));
    return true;
}

/* The bound up to which a type represents every integer, so that interval arithmetic in doubles is
 * exact; 0 for other types, whose ranges stay unknown. */
static double exact_below(rd_dtype type)
{
    return type == RD_I64 || type == RD_F64 ? 0x1p53
           : type == RD_I32                 ? 0x1p31 - 1
           : type == RD_F32                 ? 0x1p24
           : type == RD_I16                 ? 0x1p15 - 1
                                            : 0;
}

static bool range_of(const rd_expr *x, const box *b, int *left, range *r);

/* The range of a product of values in two ranges: its ends are products of ends. */
static range times(range a, range b)
{
    const double p[] = { a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi };

    return (range){ fmin(fmin(p[0], p[1]), fmin(p[2], p[3])),
                    fmax(fmax(p[0], p[1]), fmax(p[2], p[3])) };
}

/* The range of an elementwise operation by interval arithmetic on its operands; false: unknown.
 * The caller checks that the type holds it exactly. r is unknown, too, for a rounded-down
 * quotient by anything but one positive number. */
static bool range_of_map(const rd_expr *x, const box *b, int *left, range *r)
{
    range in[2] = { { 0 } };

    if (x->n_in > 2)
        return false;
    for (int k = 0; k < x->n_in; k++)
        if (!range_of(x->in[k], b, left, &in[k]))
            return false;
    switch (x->op) {
    case RD_OP_cast: *r = in[0]; return true;
    case RD_OP_add: *r = (range){ in[0].lo + in[1].lo, in[0].hi + in[1].hi }; return true;
    case RD_OP_sub: *r = (range){ in[0].lo - in[1].hi, in[0].hi - in[1].lo }; return true;
    case RD_OP_mul: *r = times(in[0], in[1]); return true;
    case RD_OP_neg: *r = (range){ -in[0].hi, -in[0].lo }; return true;
    case RD_OP_abs:
        *r = (range){ in[0].lo > 0   ? in[0].lo
                      : in[0].hi < 0 ? -in[0].hi
                                     : 0,
                      fmax(-in[0].lo, in[0].hi) };
        return true;
    case RD_OP_minimum:
        *r = (range){ fmin(in[0].lo, in[1].lo), fmin(in[0].hi, in[1].hi) };
        return true;
    case RD_OP_maximum:
        *r = (range){ fmax(in[0].lo, in[1].lo), fmax(in[0].hi, in[1].hi) };
        return true;
    case RD_OP_floordiv:
        *r = (range){ floor(in[0].lo / in[1].lo), floor(in[0].hi / in[1].lo) };
        return in[1].lo == in[1].hi && in[1].lo > 0;
    default: return false;
    }
}

/* Fills in the range of x, whose values are integers, in a box; false: unknown. *left: visits that
 * remain, as a graph may have exponentially many paths. A range outside what the type represents
 * exactly is unknown, as the operation may wrap or round. box_below() is the box of the operand
 * that a view reads. exact_below() is the bound up to which the type is exact. */
static bool range_of(const rd_expr *x, const box *b, int *left, range *r)
{
    bool known = false;
    box  in;

    if (--*left < 0)
        return false;
    switch (x->kind) {
    case RD_EXPR_NUMBER:
        r->lo = r->hi = rd_word_to_double(x->as.number->value, x->type);
        known         = r->lo == floor(r->lo);
        break;
    case RD_EXPR_COORD:
        *r    = (range){ (double)b->lo[x->as.axis->axis], (double)b->hi[x->as.axis->axis] - 1 };
        known = true;
        break;
    case RD_EXPR_VIEW: in = box_below(x, b); return range_of(x->in[0], &in, left, r);
    case RD_EXPR_LEAF: known = range_of_leaf(x, b, r); break;
    case RD_EXPR_MAP: known = range_of_map(x, b, left, r); break;
    default: break;
    }
    return known && r->lo >= -exact_below(x->type) && r->hi <= exact_below(x->type);
}

/* ---- Conditions ------------------------------------------------------------------------------ */
/* The truth of "not c" where t is that of c. */
static rd_truth opposite(rd_truth t)
{
    return t == RD_ALWAYS ? RD_NEVER : t == RD_NEVER ? RD_ALWAYS : RD_SOMETIMES;
}

/* ALWAYS or NEVER if that is known; SOMETIMES (unknown or mixed) if neither is. */
static rd_truth truth_if(bool always, bool never)
{
    return always ? RD_ALWAYS : never ? RD_NEVER : RD_SOMETIMES;
}

/* The truth of p < q, p <= q ... in the box, from the ranges of both sides: p < q always if the
 * greatest p is below the least q. `lo` and `hi` are the ends of a range, and range_of() is
 * false if it is unknown. truth_if(p, q): always if p, never if q, else sometimes. */
static rd_truth truth_of_comparison(const rd_expr *x, const box *b, int *left)
{
    range p, q;

    if (!range_of(x->in[0], b, left, &p) || !range_of(x->in[1], b, left, &q))
        return RD_SOMETIMES;
    switch (x->op) {
    case RD_OP_lt: return truth_if(p.hi < q.lo, p.lo >= q.hi);
    case RD_OP_le: return truth_if(p.hi <= q.lo, p.lo > q.hi);
    case RD_OP_gt: return truth_if(p.lo > q.hi, p.hi <= q.lo);
    case RD_OP_ge: return truth_if(p.lo >= q.hi, p.hi < q.lo);
    case RD_OP_eq: return truth_if(p.lo == q.hi && p.hi == q.lo, p.hi < q.lo || q.hi < p.lo);
    default: return opposite(truth_if(p.lo == q.hi && p.hi == q.lo, p.hi < q.lo || q.hi < p.lo));
    }
}

/* The truth of an elementwise bool operation: not, and, or by three-valued logic, comparisons by
 * ranges. truth_if(p, q): always if p, never if q, else sometimes. */
static rd_truth truth_of_map(const rd_expr *x, const box *b, int *left)
{
    rd_truth p, q;

    switch (x->op) {
    case RD_OP_not: return opposite(truth_of(x->in[0], b, left));
    case RD_OP_and:
    case RD_OP_or:
        p = truth_of(x->in[0], b, left);
        q = truth_of(x->in[1], b, left);
        return x->op == RD_OP_and
                   ? truth_if(p == RD_ALWAYS && q == RD_ALWAYS, p == RD_NEVER || q == RD_NEVER)
                   : truth_if(p == RD_ALWAYS || q == RD_ALWAYS, p == RD_NEVER && q == RD_NEVER);
    case RD_OP_eq:
    case RD_OP_ne:
    case RD_OP_lt:
    case RD_OP_le:
    case RD_OP_gt:
    case RD_OP_ge: return truth_of_comparison(x, b, left);
    default: return RD_SOMETIMES;
    }
}

/* True if n elements of a bool mask in memory, `stride` bytes apart, are all `value` (0 or 1). */
static bool all_are(const char *p, int64_t n, int64_t stride, char value)
{
    if (stride == 1)
        return memchr(p, !value, (size_t)n) == NULL;
    for (int64_t i = 0; i < n; i++)
        if (p[i * stride] != value)
            return false;
    return true;
}

/* The truth of a bool array in memory, by reading the box row by row along the last axis, until an
 * element differs from the first. element() is the address of an element; NULL: it is not in
 * this processor's memory. all_are() compares a row of the box, which b->lo and b->hi bound. */
static rd_truth truth_of_leaf(const rd_expr *x, const box *b)
{
    const int   last = x->rank - 1;
    int64_t     at[RD_MAX_RANK];
    const char *p = element(x, b->lo);
    char        value;

    if (x->type != RD_BOOL || !p)
        return RD_SOMETIMES;
    value = *p;
    if (x->rank == 0 || (value != 0 && value != 1)) /* all_are() compares with 0 and 1 only */
        return value ? RD_ALWAYS : RD_NEVER;
    memcpy(at, b->lo, sizeof at);
    do {
        if (!all_are(element(x, at), b->hi[last] - b->lo[last], x->as.leaf->stride[last], value))
            return RD_SOMETIMES;
    } while (next_in(b, last, at));
    return value ? RD_ALWAYS : RD_NEVER;
}

/* The truth of a gather (rd_take): axis `axis` of `of` is indexed by the array `index`, whose axes
 * take its place in x. The box of `of` is the range of the indices there. A block mask in
 * attention is two such gathers. at is the box of the indices and r their range; sometimes: r is
 * unknown, or beyond the axis. */
static rd_truth truth_of_take(const rd_expr *x, const box *b, int *left)
{
    const rd_expr *const of = x->in[0], *const index = x->in[1];
    const int axis = (int)x->as.axis->axis;
    box       at, in;
    range     r;

    if (x->as.axis->along) /* one index per element (take_along_axis): not analysed */
        return RD_SOMETIMES;
    for (int a = 0; a < index->rank; a++) {
        at.lo[a] = b->lo[axis + a];
        at.hi[a] = b->hi[axis + a];
    }
    if (!range_of(index, &at, left, &r) || r.lo < 0 || r.hi >= (double)of->extent[axis])
        return RD_SOMETIMES;
    for (int a = 0; a < of->rank; a++) {
        const int k = a < axis ? a : a + index->rank - 1; /* the axis of x that is axis a of `of` */

        in.lo[a] = a == axis ? (int64_t)r.lo : b->lo[k];
        in.hi[a] = a == axis ? (int64_t)r.hi + 1 : b->hi[k];
    }
    return truth_of(of, &in, left);
}

/* The truth of bool expression x in a box: true for all, none, or some of its elements. What
 * cannot be found out counts as some. *left: visits that remain. box_below() is the box of the
 * operand that a view reads. */
static rd_truth truth_of(const rd_expr *x, const box *b, int *left)
{
    box in;

    if (--*left < 0 || x->type != RD_BOOL)
        return RD_SOMETIMES;
    switch (x->kind) {
    case RD_EXPR_NUMBER:
        return rd_word_to_double(x->as.number->value, x->type) != 0 ? RD_ALWAYS : RD_NEVER;
    case RD_EXPR_VIEW: in = box_below(x, b); return truth_of(x->in[0], &in, left);
    case RD_EXPR_LEAF: return truth_of_leaf(x, b);
    case RD_EXPR_TAKE: return truth_of_take(x, b, left);
    case RD_EXPR_MAP: return truth_of_map(x, b, left);
    default: return RD_SOMETIMES;
    }
}

/* The truth of mask x for indices first[a] <= i[a] < end[a]. */
rd_truth rd_mask_truth(const rd_expr *x, const int64_t *first, const int64_t *end)
{
    int left = VISITS;
    box b;

    memcpy(b.lo, first, (size_t)x->rank * sizeof *first);
    memcpy(b.hi, end, (size_t)x->rank * sizeof *end);
    return truth_of(x, &b, &left);
}

/* ---- Scores ---------------------------------------------------------------------------------- */
/* True if x is where(mask, a, b). */
static bool is_choice(const rd_expr *x)
{
    return x->kind == RD_EXPR_MAP && x->op == RD_OP_where;
}

/* Lists the distinct choices where(mask, a, b) below x, through maps and views, at most
 * RD_MOST_CHOICES. It does not look inside masks (operand 0). *left: visits that remain.
 * is_choice() is 1 for such a choice, so that k skips its mask. */
static void list_choices(rd_choices *c, const rd_expr *x, int *left)
{
    bool is_new = is_choice(x) && c->n < RD_MOST_CHOICES;

    if (--*left < 0 || (x->kind != RD_EXPR_VIEW && x->kind != RD_EXPR_MAP))
        return;
    for (int k = 0; k < c->n; k++)
        is_new &= c->where[k] != x;
    if (is_new)
        c->where[c->n++] = x;
    for (int k = is_choice(x); k < x->n_in; k++)
        list_choices(c, x->in[k], left);
}

/* Lists the choices where(mask, s, -inf) of the scores; nothing is known of their masks yet. */
void rd_choices_find(rd_choices *c, const rd_expr *scores)
{
    int left = VISITS;

    *c = (rd_choices){ 0 };
    list_choices(c, scores, &left);
}

/* Records that the mask of choice x is t in the current box, and returns t. A choice that is met
 * again in another box, through another view, is known only if both agree. c->met[k]: choice k
 * has been met. */
static rd_truth note(rd_choices *c, const rd_expr *x, rd_truth t)
{
    for (int k = 0; k < c->n; k++)
        if (c->where[k] == x) {
            c->truth[k] = c->met[k] && c->truth[k] != t ? RD_SOMETIMES : t;
            c->met[k]   = true;
        }
    return t;
}

/* The number that x is, or repeats; NaN: it is none. */
static double number_of(const rd_expr *x)
{
    const rd_expr *const n = x->kind == RD_EXPR_VIEW ? x->in[0] : x;

    return n->kind == RD_EXPR_NUMBER ? rd_word_to_double(n->as.number->value, n->type) : NAN;
}

static bool is_least(rd_choices *c, const rd_expr *x, const box *b, int *left);

/* True if the elementwise operation gives -inf throughout the box: one operand is -inf there, and
 * the other is a number that keeps it so, as in -inf * 2 or -inf + 1. n is the other operand as
 * a number, NaN if it is none, for which all comparisons are false. -inf stays with a positive
 * factor or divisor, with any summand below inf, and less any number above -inf. */
static bool is_least_map(rd_choices *c, const rd_expr *x, const box *b, int *left)
{
    bool   least[RD_MAX_RANK] = { false }; /* by operand: it is -inf throughout */
    double n;

    for (int k = 0; k < x->n_in && k < 3; k++)
        least[k] = is_least(c, x->in[k], b, left);
    if (x->n_in == 1)
        return x->op == RD_OP_cast && least[0];
    for (int k = 0; k < 2 && x->n_in == 2; k++) {
        n = number_of(x->in[1 - k]);
        if (least[k] && ((x->op == RD_OP_mul && n > 0) || (x->op == RD_OP_add && n < INFINITY) ||
                         (k == 0 && x->op == RD_OP_div && n > 0 && n < INFINITY) ||
                         (k == 0 && x->op == RD_OP_sub && n > -INFINITY)))
            return true;
    }
    return false;
}

/* True if x is -inf throughout the box; false if not, or unknown. On the way it records the truth
 * of each mask that it meets. *left: visits that remain; without any it is unknown. is_choice():
 * x is where(mask, a, b), and note() records the mask's truth t in c. */
static bool is_least(rd_choices *c, const rd_expr *x, const box *b, int *left)
{
    bool     yes, no; /* where(mask, a, b): a is not taken or -inf; b likewise */
    rd_truth t;
    box      in;

    if (--*left < 0)
        return false;
    switch (x->kind) {
    case RD_EXPR_NUMBER: return number_of(x) == -INFINITY;
    case RD_EXPR_VIEW: in = box_below(x, b); return is_least(c, x->in[0], &in, left);
    case RD_EXPR_MAP: break;
    default: return false;
    }
    if (!is_choice(x))
        return is_least_map(c, x, b, left);
    t   = note(c, x, truth_of(x->in[0], b, left));
    yes = t == RD_NEVER || is_least(c, x->in[1], b, left);
    no  = t == RD_ALWAYS || is_least(c, x->in[2], b, left);
    return yes && no;
}

/* Finds what is known of each mask for the scores with indices first[a] <= i[a] < end[a]. Returns
 * true if all these scores are -inf, so that the softmax weights are 0. Truth 0 is RD_SOMETIMES,
 * that is, nothing is known. If the visits run out (left < 0), nothing is. */
bool rd_choices_ask(rd_choices *c, const rd_expr *scores, const int64_t *first, const int64_t *end)
{
    int  left = VISITS;
    bool least;
    box  b;

    memset(c->truth, 0, sizeof c->truth);
    memset(c->met, 0, sizeof c->met);
    memcpy(b.lo, first, (size_t)scores->rank * sizeof *first);
    memcpy(b.hi, end, (size_t)scores->rank * sizeof *end);
    least = is_least(c, scores, &b, &left);
    if (left < 0) /* some were not met: nothing is known */
        memset(c->truth, 0, sizeof c->truth);
    return least && left >= 0;
}

/* ---- Scores without masks whose value is known ----------------------------------------------- */
static rd_expr *without_known(const rd_choices *c, rd_expr *x, int *left);

/* An elementwise operation of simplified operands; x itself if none of them changed. NULL: no
 * memory. *left: visits that remain. */
static rd_expr *map_without_known(const rd_choices *c, rd_expr *x, int *left)
{
    rd_expr *in[RD_MAX_RANK];
    rd_expr  node = *x;
    bool     same = true;

    if (x->n_in > RD_MAX_RANK)
        return x;
    for (int k = 0; k < x->n_in; k++) {
        if (!(in[k] = without_known(c, x->in[k], left)))
            return NULL;
        same &= in[k] == x->in[k];
    }
    node.in = in;
    return same ? x : rd_node(&node, x->as.any, x->as_size);
}

/* Simplifies x: a choice whose mask is known to be true (or false) in the tile is replaced by its
 * operand 1 (or 2). x itself if nothing is known; NULL after a failure. c->where[k] is a choice
 * that was met, and c->truth[k] the truth of its mask. *left: visits that remain; without any x
 * stays. */
static rd_expr *without_known(const rd_choices *c, rd_expr *x, int *left)
{
    rd_expr *in;

    if (--*left < 0)
        return x;
    for (int k = 0; k < c->n; k++)
        if (c->where[k] == x && c->truth[k] != RD_SOMETIMES)
            return without_known(c, x->in[c->truth[k] == RD_ALWAYS ? 1 : 2], left);
    if (x->kind == RD_EXPR_MAP)
        return map_without_known(c, x, left);
    if (x->kind != RD_EXPR_VIEW)
        return x;
    in = without_known(c, x->in[0], left);
    return in == x->in[0] ? x
           : in           ? rd_view(in, x->rank, x->extent, x->as.view->number, x->origin)
                          : NULL;
}

/* The scores with each mask of known value removed: where(true, s, -inf) becomes s. NULL after a
 * failure. */
rd_expr *rd_choices_made(const rd_choices *c, rd_expr *scores)
{
    int left = VISITS;

    return without_known(c, scores, &left);
}

/* Encodes the truths of all masks as digits to base 3, below RD_CHOICE_FORMS; 0: none is known.
 * Tiles with equal numbers have equal expressions. */
int rd_choices_form(const rd_choices *c)
{
    int form = 0;

    for (int k = c->n; k-- > 0;)
        form = 3 * form + (int)c->truth[k];
    return form;
}
