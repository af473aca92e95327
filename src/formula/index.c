/* index.c - which names are indices, and which values each index takes.
 *
 * In y[i] = sum[j] x[i, j] the names i and j are indices. An index without a range has as many
 * values as the axis that it reads: i has the extent of axis 0 of x, j that of axis 1.
 *
 * A *label* is the number of an index in r->label. A piece of the tree is *labelled* if it contains
 * an index. A *use* is an array that is read at indices, x[i, j]. An index is *known* once its
 * number of values n is, and *ranged* if the text gives them. */
#include "formula/formula.h"
#include <string.h>

/* ---- Names ----------------------------------------------------------------------------------- */
/* Finds the index of that name that is in scope, the innermost first. Returns its label, the
 * number in r->label; -1: there is none. `visible`: in scope. */
static int label_called(const rd_formula_reader *r, size_t at, size_t length)
{
    for (int k = r->n_labels - 1; k >= 0; k--)
        if (r->label[k].visible && r->label[k].length == length &&
            !memcmp(r->text + r->label[k].at, r->text + at, length))
            return k;
    return -1;
}

static bool resolve(rd_formula_reader *r, rd_phrase *p);

/* Makes p, a name on a left side or in the brackets of a reduction, an index, and gives it a
 * label, its number in r->label. Its range is resolved first. The name must be free: no index,
 * result or array has it. False after an error. p->first to p->next are the ends of its range.
 * Given arrays (opts->in) have names that an index may not take; those that only the caller's
 * `find` knows are not asked for. */
static bool declare(rd_formula_reader *r, rd_phrase *p)
{
    const int n = (int)p->length;

    for (rd_phrase *q = p->first; q; q = q->next)
        if (!resolve(r, q))
            return false;
    if (label_called(r, p->at, p->length) >= 0)
        return rd_formula_fail(r, RD_ERR_TEXT, p->at, "'%.*s' is an index already", n,
                               r->text + p->at);
    if (rd_formula_statement(r, p->at, p->length) ||
        (r->opts->n_in && rd_formula_has_array(r, p->at, p->length) &&
         rd_formula_array(r, p->at, p->length)))
        return rd_formula_fail(r, RD_ERR_TEXT, p->at,
                               "'%.*s' is an array: the index needs another name", n,
                               r->text + p->at);
    if (r->n_labels == RD_FORMULA_INDICES)
        return rd_formula_fail(r, RD_ERR_LIMIT, p->at, "more than %d indices in a statement",
                               RD_FORMULA_INDICES);
    rd_formula_label *l = &r->label[r->n_labels];
    *l       = (rd_formula_label){ .at = p->at, .length = p->length, .index = p, .visible = true };
    p->label = r->n_labels++;
    return true;
}

/* Finds the indices of name[indices] body: declares them, which are in scope in its keywords and
 * in its body only. False after an error. p->first and the following pieces are indices,
 * keywords and the condition. Indices of inner reductions come behind `end` in r->label. */
static bool resolve_reduction(rd_formula_reader *r, rd_phrase *p)
{
    const int first = r->n_labels;

    for (rd_phrase *q = p->first; q; q = q->next)
        if (q->kind == RD_PHRASE_INDEX && !declare(r, q))
            return false;
    const int end = r->n_labels;
    for (rd_phrase *q = p->first; q; q = q->next)
        if (q->kind != RD_PHRASE_INDEX && !resolve(r, q))
            return false;
    if (!resolve(r, p->body))
        return false;
    for (int k = first; k < end; k++)
        r->label[k].visible = false;
    p->labelled = true; /* its value must not be kept before extents are known */
    return true;
}

/* Finds the names in p that are indices, marks pieces that contain one (labelled), and appends
 * arrays that are read at indices, x[i, j], to the list r->indexed_arrays. False after an error. A
 * name is an index if one of that name is in scope: p->label, else -1. `subscripts`: p is x[...]
 * (AT) and one of its subscripts, which stand behind its first operand x, contains an index; then x
 * itself may contain none. */
static bool resolve(rd_formula_reader *r, rd_phrase *p)
{
    if (p->kind == RD_PHRASE_REDUCE)
        return resolve_reduction(r, p);
    if (p->kind == RD_PHRASE_NAME) {
        p->label    = label_called(r, p->at, p->length);
        p->labelled = p->label >= 0;
    }
    for (rd_phrase *q = p->first; q; q = q->next) {
        if (!resolve(r, q))
            return false;
        p->labelled |= q->labelled;
    }
    bool subscripts = false;
    if (p->kind == RD_PHRASE_AT && p->first)
        for (rd_phrase *q = p->first->next; q; q = q->next)
            subscripts |= q->labelled;
    if (subscripts && p->first->labelled)
        return rd_formula_fail(r, RD_ERR_TEXT, p->at,
                               "this has indices already: subscripts stand at whole arrays");
    if (subscripts) {
        *(r->last_indexed ? &r->last_indexed->next_indexed : &r->indexed_arrays) = p;
        r->last_indexed                                                          = p;
    }
    return true;
}

/* Finds the indices of a statement: those of its left side, which are in scope in all of it,
 * then those of its reductions. False after an error. s->index lists the left side's indices,
 * NULL: none; s->tree is the right side. */
bool rd_formula_resolve(rd_formula_reader *r, rd_statement *s)
{
    r->n_labels       = 0;
    r->indexed_arrays = r->last_indexed = NULL;
    if (s->index)
        for (rd_phrase *q = s->index->first; q; q = q->next)
            if (!declare(r, q))
                return false;
    return resolve(r, s->tree);
}

/* ---- Affine ---------------------------------------------------------------------------------- */
/* Records that an index would exceed 64 bits; returns false. */
static bool fail_too_large(rd_formula_reader *r, const rd_phrase *p)
{
    return rd_formula_fail(r, RD_ERR_ARGUMENT, p->at, "an index beyond 64 bits");
}

/* Adds sums of indices, such as 2 * i - j + 1: a = times * a + plus * b, label by label (a label
 * is the number of an index). False after recording that a number is beyond 64 bits, or that
 * they are too many. k is the place of b's index j in a, a->n if it is new there. p is where the
 * caret of an error stands. */
static bool combine(rd_formula_reader *r, const rd_phrase *p, rd_formula_sum *a, int64_t times,
                    const rd_formula_sum *b, int64_t plus)
{
    int64_t scaled;

    if (__builtin_mul_overflow(a->constant, times, &a->constant) ||
        __builtin_mul_overflow(b->constant, plus, &scaled) ||
        __builtin_add_overflow(a->constant, scaled, &a->constant))
        return fail_too_large(r, p);
    for (int k = 0; k < a->n; k++)
        if (__builtin_mul_overflow(a->coef[k], times, &a->coef[k]))
            return fail_too_large(r, p);
    for (int j = 0; j < b->n; j++) {
        int k = 0;

        while (k < a->n && a->label[k] != b->label[j])
            k++;
        if (k == RD_MAX_RANK)
            return rd_formula_fail(r, RD_ERR_LIMIT, p->at, "more than %d indices", RD_MAX_RANK);
        if (k == a->n) {
            a->label[a->n]  = b->label[j];
            a->coef[a->n++] = 0;
        }
        if (__builtin_mul_overflow(b->coef[j], plus, &scaled) ||
            __builtin_add_overflow(a->coef[k], scaled, &a->coef[k]))
            return fail_too_large(r, p);
    }
    return true;
}

/* Reads p as a known number times a sum of indices, in either order (`left`: the number is on
 * the left). False: it is none, or an error is recorded. `times` is the number. */
static bool affine_product(rd_formula_reader *r, const rd_phrase *p, rd_formula_sum *a)
{
    const bool           left = !p->first->labelled;
    const rd_formula_sum none = { 0 };
    int64_t              times;

    return rd_formula_integer(r, left ? p->first : p->last, &times) &&
           rd_formula_affine(r, left ? p->last : p->first, a) && combine(r, p, a, times, &none, 0);
}

/* Reads p as a sum of indices, *a: a constant plus indices times known numbers, such as 2 * i -
 * j + 1. False: it is no such sum, or an error is recorded. A piece without an index must be a
 * known whole number. b is the right operand of a sum or difference. */
bool rd_formula_affine(rd_formula_reader *r, const rd_phrase *p, rd_formula_sum *a)
{
    const rd_formula_sum none = { 0 };
    rd_formula_sum       b;

    *a = none;
    if (!p->labelled)
        return rd_formula_integer(r, p, &a->constant);
    if (p->kind == RD_PHRASE_NAME) {
        a->n        = 1;
        a->label[0] = (int16_t)p->label;
        a->coef[0]  = 1;
        return true;
    }
    if (p->kind == RD_PHRASE_UNARY && p->op == RD_OP_neg)
        return rd_formula_affine(r, p->first, a) && combine(r, p, a, -1, &none, 0);
    if (p->kind != RD_PHRASE_BINARY)
        return false;
    if (p->op == RD_OP_mul)
        return affine_product(r, p, a);
    if (p->op != RD_OP_add && p->op != RD_OP_sub)
        return false;
    return rd_formula_affine(r, p->first, a) && rd_formula_affine(r, p->last, &b) &&
           combine(r, p, a, 1, &b, p->op == RD_OP_add ? 1 : -1);
}

/* Finds the least and the greatest value of an affine sum of indices. An index has the values low
 * to low + n - 1. False: an index has no extent yet, or no values. l->n is the number of its
 * values, and `known` says that it is found. A negative coefficient swaps first and last. */
bool rd_formula_range(const rd_formula_reader *r, const rd_formula_sum *a, __int128 *low,
                      __int128 *high)
{
    *low = *high = a->constant;
    for (int k = 0; k < a->n; k++) {
        const rd_formula_label *l     = &r->label[a->label[k]];
        const __int128          first = (__int128)a->coef[k] * l->low;
        const __int128          last  = (__int128)a->coef[k] * ((__int128)l->low + l->n - 1);

        if (!l->known || l->n == 0)
            return false;
        *low += first < last ? first : last;
        *high += first < last ? last : first;
    }
    return true;
}

/* Finds the rule by which pad(i), clamp(i), wrap(i), reflect(i) or symmetric(i) read outside an
 * axis; *inner becomes the index inside. -1: p is none of them, and *inner is p. */
int rd_formula_outside(const rd_formula_reader *r, rd_phrase *p, rd_phrase **inner)
{
    static const struct {
        const char *name;
        rd_pad_mode mode;
    } modes[] = { { "pad", RD_PAD_CONSTANT },
                  { "clamp", RD_PAD_EDGE },
                  { "wrap", RD_PAD_WRAP },
                  { "reflect", RD_PAD_REFLECT },
                  { "symmetric", RD_PAD_SYMMETRIC } };

    *inner = p;
    if (p->kind != RD_PHRASE_CALL || !p->first)
        return -1;
    for (size_t k = 0; k < sizeof modes / sizeof *modes; k++)
        if (rd_formula_is(r, p->at, p->length, modes[k].name)) {
            *inner = p->first;
            return (int)modes[k].mode;
        }
    return -1;
}

/* ---- Ranges ---------------------------------------------------------------------------------- */
/* Reads the range of an index, i in 0:10, if the text gives one: the first value and the end. False
 * after an error. p->first and p->last are the ends in the text; l->n becomes the number of
 * values. An index without a range is neither `ranged` nor `known`. */
static bool read_range(rd_formula_reader *r, const rd_phrase *p, rd_formula_label *l)
{
    int64_t end;

    l->ranged = l->known = p->first != NULL;
    if (!p->first)
        return true;
    if (!rd_formula_need_integer(r, p->first, "where a range begins", &l->low) ||
        !rd_formula_need_integer(r, p->last, "where a range ends", &end))
        return false;
    if (__builtin_sub_overflow(end, l->low, &l->n) || l->n < 0)
        return rd_formula_fail(r, RD_ERR_ARGUMENT, p->at, "a range from %lld to below %lld",
                               (long long)l->low, (long long)end);
    return true;
}

/* Reads the ranges of all indices of the statement; false after an error. */
bool rd_formula_ranges(rd_formula_reader *r)
{
    for (int k = 0; k < r->n_labels; k++)
        if (!read_range(r, r->label[k].index, &r->label[k]))
            return false;
    return true;
}

/* ---- Extents --------------------------------------------------------------------------------- */
/* Handles one subscript that is a sum of indices, a: `subscript` reads `axis` of the array of
 * `use`, an array with subscripts; the axis has that extent. False after an error. */
typedef bool visit_fn(rd_formula_reader *r, const rd_phrase *use, const rd_phrase *subscript,
                      int axis, int64_t extent, const rd_formula_sum *a);

/* Calls `what` for each subscript that is a sum of indices and must stay inside its axis, thus
 * not inside pad() and the like. r->indexed_arrays lists the arrays that are read at indices. False
 * after an error. use->first is the array, its value `base`, and the pieces behind it are the
 * subscripts, one an axis. Those without an index are skipped, and so is any that is no sum of
 * indices. */
static bool visit_subscripts(rd_formula_reader *r, visit_fn *what)
{
    rd_formula_sum a;
    rd_phrase     *inner;

    for (rd_phrase *use = r->indexed_arrays; use; use = use->next_indexed) {
        const rd_expr *const base = use->first->x;
        int                  axis = 0;

        for (rd_phrase *q = use->first->next; q; q = q->next, axis++) {
            if (axis >= base->rank)
                break; /* the error is recorded where the array is read */
            if (rd_formula_outside(r, q, &inner) >= 0 || !q->labelled)
                continue;
            if (rd_formula_affine(r, q, &a) && !what(r, use, q, axis, base->extent[axis], &a))
                return false;
            if (r->failed)
                return false;
        }
    }
    return true;
}

/* True if the sum is one index itself, without a factor or a constant. */
static bool is_alone(const rd_formula_sum *a)
{
    return a->n == 1 && a->coef[0] == 1 && a->constant == 0;
}

/* Checks that an index with the name of an axis, such as lat, reads that axis of the array of
 * `use`. Axes of one name that one index reads must have the same coordinates: l->named is the
 * first array with a named axis that it reads. False after an error. l is the index, and `name`
 * that of the axis it reads; NULL: the caller knows none. The second array of an index is
 * compared with the first only if both axes have one name and one extent. The caller may cut
 * them to common coordinates (rd_formula_side_by_side()): if it does, they differ, which is an
 * error. */
static bool names_agree(rd_formula_reader *r, const rd_phrase *use, const rd_phrase *subscript,
                        int axis, rd_formula_label *l)
{
    rd_expr    *x    = use->first->x;
    const char *name = x ? rd_formula_axis_name(r, x, axis) : NULL;

    if (!name)
        return true;
    for (int k = 0; k < x->rank && !rd_formula_is(r, l->at, l->length, name); k++) {
        const char *name_of_k = rd_formula_axis_name(r, x, k);

        if (name_of_k && rd_formula_is(r, l->at, l->length, name_of_k))
            return rd_formula_fail(
                r, RD_ERR_AXIS, subscript->at,
                "index '%s' stands at axis '%s' of '%.*s', which has an axis '%s'", name_of_k, name,
                (int)use->first->length, r->text + use->first->at, name_of_k);
    }
    if (!l->named) {
        l->named      = x;
        l->axis_named = axis;
        return true;
    }
    const char *first  = rd_formula_axis_name(r, l->named, l->axis_named);
    rd_expr    *both[] = { l->named, x };
    if (!first || strcmp(first, name) != 0 || l->named->extent[l->axis_named] != x->extent[axis])
        return true;
    if (!rd_formula_side_by_side(r, &both[0], l->axis_named, &both[1], axis, subscript->at))
        return false;
    return (both[0] == l->named && both[1] == x) ||
           rd_formula_fail(r, RD_ERR_ARGUMENT, subscript->at,
                           "coordinates along '%s' differ: cut the arrays to what they share first",
                           name);
}

/* Gives an index that stands alone in a subscript, x[i], as many values as its axis has
 * elements, and checks later ones against that. An index with a range in the text (l->ranged)
 * keeps it; l->known says that l->n, the number of values, has been found. False after an error.
 * `subscript`, `axis` and the name of the array (l->of) are kept for a later error about the
 * index, l->from. 40 bytes of the name do. */
static bool take_extent(rd_formula_reader *r, const rd_phrase *use, const rd_phrase *subscript,
                        int axis, int64_t extent, const rd_formula_sum *a)
{
    rd_formula_label *l = &r->label[a->label[0]];

    if (!is_alone(a))
        return true;
    if (!names_agree(r, use, subscript, axis, l))
        return false;
    if (l->ranged)
        return true;
    if (l->known && l->n != extent)
        return rd_formula_fail(
            r, RD_ERR_SHAPE, subscript->at,
            "index '%.*s' has %lld values along axis %d of '%.*s', and %lld along axis %d of "
            "'%.*s'",
            (int)l->length, r->text + l->at, (long long)l->n, l->axis, (int)l->of_length,
            r->text + l->of, (long long)extent, axis, (int)use->first->length,
            r->text + use->first->at);
    if (l->known)
        return true;
    l->known     = true;
    l->n         = extent;
    l->from      = subscript;
    l->axis      = axis;
    l->of        = use->first->at;
    l->of_length = use->first->length < 40 ? use->first->length : 40;
    return true;
}

/* Limits the only index of a subscript whose number of values is not known yet: it gets as many,
 * from 0 on, as keep the subscript inside its axis. The other indices may have any of their
 * values (`rest` is at most high, at least low). Nothing is said with two unknown indices, or a
 * factor of 0. Returns true: unlike other visit_fns it never fails. `room` is how far the
 * product of coef and the unknown index may go, so n is room / |coef| + 1. */
static bool limit_extent(rd_formula_reader *r, const rd_phrase *use, const rd_phrase *subscript,
                         int axis, int64_t extent, const rd_formula_sum *a)
{
    rd_formula_sum rest    = { .constant = a->constant };
    int            unknown = -1;
    __int128       low, high, n;

    (void)use;
    (void)subscript;
    (void)axis;
    for (int k = 0; k < a->n; k++) {
        if (r->label[a->label[k]].known) {
            rest.label[rest.n]  = a->label[k];
            rest.coef[rest.n++] = a->coef[k];
        } else if (unknown >= 0 || a->coef[k] == 0) {
            return true;
        } else {
            unknown = k;
        }
    }
    if (unknown < 0 || !rd_formula_range(r, &rest, &low, &high))
        return true;
    const int64_t     coef = a->coef[unknown];
    rd_formula_label *l    = &r->label[a->label[unknown]];
    const __int128    room = coef > 0 ? (__int128)extent - 1 - high : low;
    n                      = room < 0 ? 0 : room / (coef > 0 ? coef : -(__int128)coef) + 1;
    if (n > INT64_MAX)
        n = INT64_MAX;
    /* l->n becomes the least n of all subscripts; l->from says that there is one. */
    if (!l->from || n < l->n)
        l->n = (int64_t)n;
    l->from = subscript;
    return true;
}

/* Checks that a subscript, a sum of indices, stays inside its axis for all values of its
 * indices. False after recording that it does not. low and high are the least and greatest value
 * of the sum, cut to 64 bits for the message. */
static bool check_inside(rd_formula_reader *r, const rd_phrase *use, const rd_phrase *subscript,
                         int axis, int64_t extent, const rd_formula_sum *a)
{
    const rd_phrase *of = use->first;
    __int128         low, high;

    if (!rd_formula_range(r, a, &low, &high) || (low >= 0 && high < extent))
        return true;
    low  = low < INT64_MIN ? INT64_MIN : low;
    high = high > INT64_MAX ? INT64_MAX : high;
    return rd_formula_fail(r, RD_ERR_AXIS, subscript->at,
                           "from %lld to %lld, but axis %d of '%.*s' has %lld elements: say pad(), "
                           "clamp() or wrap() around the index, or give it a range",
                           (long long)low, (long long)high, axis, (int)of->length, r->text + of->at,
                           (long long)extent);
}

/* Finds how many values each index of the statement has: first from subscripts that are one
 * index, then from sums such as i + k, in rounds until one finds none. At the end it checks that
 * all subscripts stay inside. False after an error. l->from says that a round has limited index
 * l: after the round it is known. */
bool rd_formula_extents(rd_formula_reader *r)
{
    bool more = true;

    if (!visit_subscripts(r, take_extent))
        return false;
    while (more) { /* each round but the last finds an extent */
        more = false;
        if (!visit_subscripts(r, limit_extent))
            return false;
        for (int k = 0; k < r->n_labels; k++)
            if (!r->label[k].known && r->label[k].from) {
                r->label[k].known = true;
                more              = true;
            }
    }
    for (int k = 0; k < r->n_labels; k++)
        if (!r->label[k].known)
            return rd_formula_fail(r, RD_ERR_SHAPE, r->label[k].at,
                                   "nothing says how many values index '%.*s' has: say so, as in "
                                   "%.*s in 0:10",
                                   (int)r->label[k].length, r->text + r->label[k].at,
                                   (int)r->label[k].length, r->text + r->label[k].at);
    return visit_subscripts(r, check_inside);
}
