/* subscript.c - x[...]: subscripts of whole arrays, as in NumPy, and elements by index.
 *
 * x[0, 1:3] slices a whole array. x[i, j + 1] is one view with the axes i and j. A subscript
 * inside pad() and the like adds a border, and a subscript that is no sum of indices, x[k[i]],
 * is a gather. A *whole array* has no indices. A *coordinate* is a value along an axis that only
 * the caller, the program that gave the text, can find: x[lat=45]. */
#include "formula/formula.h"
#include <string.h>

/* Returns the value that stands for a failure, which is recorded already: x is NULL. */
static rd_labelled failure(void)
{
    return (rd_labelled){ 0 };
}

/* ---- Whole arrays: as NumPy ------------------------------------------------------------------ */
/* Reads a bound of a slice, a whole number; an empty one leaves *value as it is. False after an
 * error. */
static bool read_bound(rd_formula_reader *r, const rd_phrase *p, int64_t *value)
{
    return p->kind == RD_PHRASE_EMPTY || rd_formula_need_integer(r, p, "a bound of a slice", value);
}

/* Slices an axis of an array without indices: p is start:stop:step. NULL after an error. The
 * operands of p are start, stop and step; RD_OPEN: no bound is given. */
static rd_expr *slice(rd_formula_reader *r, rd_expr *x, int axis, const rd_phrase *p)
{
    int64_t start = RD_OPEN, stop = RD_OPEN, step = 1;

    if (!read_bound(r, p->first, &start) || !read_bound(r, p->first->next, &stop) ||
        !read_bound(r, p->last, &step))
        return NULL;
    return rd_slice_axis(x, axis, start, stop, step);
}

/* Takes elements of x along *axis by the subscript p: a number that the text says selects one
 * element, an array gathers. *axis becomes the next axis that is not read yet. *gathered: an
 * array has been a subscript, so a second one is refused. NULL after an error. A selected axis
 * goes, so *axis stays; a gather leaves v.x->rank axes in its place. rd_formula_places() lets
 * the caller translate values to places. Masks (bools) and floats are refused. */
static rd_expr *take_by_value(rd_formula_reader *r, rd_expr *x, int *axis, rd_phrase *p,
                              bool *gathered)
{
    int64_t     i;
    rd_labelled v;

    if (rd_formula_integer(r, p, &i))
        return rd_select(x, *axis, i);
    v = rd_formula_value(r, p);
    if (v.x)
        v.x = rd_formula_places(r, x, *axis, v.x, p->at);
    if (!v.x)
        return NULL;
    if (v.x->type == RD_BOOL)
        return rd_formula_fail(r, RD_ERR_TYPE, p->at,
                               "how many elements a mask picks the data say: reduce with where=, "
                               "or say where(mask, x, nan)");
    if (rd_dtype_kind(v.x->type) == RD_KIND_FLOAT)
        return rd_formula_fail(r, RD_ERR_TYPE, p->at,
                               "a place is a whole number, and this is %s: by coordinate it is "
                               "x[lat=45]",
                               rd_dtype_name(v.x->type));
    if (*gathered && v.x->rank)
        return rd_formula_fail(r, RD_ERR_ARGUMENT, p->at,
                               "two arrays as subscripts: say with indices what is meant, as in "
                               "y[i] = x[a[i], b[i]]");
    *gathered |= v.x->rank > 0;
    x = rd_take(x, *axis, v.x);
    *axis += v.x->rank;
    return x;
}

/* Counts the subscripts of p that each take an axis of x, which has that rank: all but None,
 * "..." and coordinates (lat=45). False after recording that they are too many, or a second
 * "...". p->first is the array, and the pieces behind it are the subscripts; `rests` counts
 * "...". */
static bool count_taken_axes(rd_formula_reader *r, const rd_phrase *p, int rank, int *taken)
{
    int rests = 0;

    *taken = 0;
    for (const rd_phrase *q = p->first->next; q; q = q->next) {
        *taken +=
            q->kind != RD_PHRASE_NEW && q->kind != RD_PHRASE_REST && q->kind != RD_PHRASE_KEYWORD;
        rests += q->kind == RD_PHRASE_REST;
        if (rests > 1)
            return rd_formula_fail(r, RD_ERR_TEXT, q->at, "a second '...'");
    }
    return *taken <= rank || rd_formula_fail(r, RD_ERR_AXIS, p->at, "%d subscripts for %d ax%s",
                                             *taken, rank, rank == 1 ? "is" : "es");
}

/* True if a coordinate in x[lat=..] is an array: it is no number, no text in quotes and not left
 * out. */
static bool is_array(rd_formula_reader *r, const rd_phrase *p)
{
    double value;

    return p->kind != RD_PHRASE_EMPTY && p->kind != RD_PHRASE_TEXT &&
           !rd_formula_real(r, p, &value) && !r->failed;
}

/* Reads one end of a coordinate subscript, name=low..high, into *b: a number or a text in
 * quotes, which is copied to `text`. NULL: the end is open, or an error is recorded. The text in
 * p has a quote at either end. */
static const rd_formula_bound *read_coordinate(rd_formula_reader *r, const rd_phrase *p,
                                               char text[RD_FORMULA_NAME + 1], rd_formula_bound *b)
{
    *b = (rd_formula_bound){ 0 };
    if (p->kind == RD_PHRASE_EMPTY)
        return NULL;
    if (p->kind == RD_PHRASE_TEXT) {
        memcpy(text, r->text + p->at + 1, p->length - 2);
        text[p->length - 2] = '\0';
        b->text             = text;
        return b;
    }
    if (rd_formula_real(r, p, &b->number))
        return b;
    if (!r->failed)
        rd_formula_fail(r, RD_ERR_TEXT, p->at,
                        "expected a coordinate: a number that the text says, or a text in quotes");
    return NULL;
}

/* Takes elements along the axis of a coordinate subscript by an array, as in
 * x[month=month(time)]. The caller (the program that gave the text) translates its values to
 * positions. If it returns them as they are (places == v.x), it knows no positions, and the
 * subscript is refused. NULL after an error. v.n counts indices, which the subscript may not
 * have. */
static rd_expr *by_known_index(rd_formula_reader *r, rd_expr *x, int axis, rd_phrase *p)
{
    const rd_labelled v      = rd_formula_value(r, p);
    rd_expr *const    places = v.x && !v.n ? rd_formula_places(r, x, axis, v.x, p->at) : NULL;

    if (places && places != v.x)
        return rd_formula_made(r, rd_take(x, axis, places), p->at);
    if (!r->failed)
        rd_formula_fail(r, RD_ERR_TEXT, p->at,
                        "expected a coordinate: a number that the text says, or a text in quotes");
    return NULL;
}

/* Records that x has no axis `name` left. Either the array before its other subscripts, `base`,
 * has none either; or a subscript without a name has taken it, as these take the first axes,
 * wherever names stand between them. */
static rd_expr *no_axis_left(rd_formula_reader *r, rd_expr *base, rd_expr *x, const char *name,
                             size_t at)
{
    if (rd_formula_axis_called(r, base, name, at) < 0)
        return rd_formula_no_axis(r, x, name, at);
    return rd_formula_fail(
        r, RD_ERR_AXIS, at,
        "another subscript has taken the axis '%s': those without names stand at "
        "the first axes, and names behind them, as in x[0, :, lat=45]",
        name);
}

/* Takes elements by a coordinate subscript, x[lat=45], x[lat=-30..30], x[time="1990-06"], along
 * the axis of that name. The caller (the program that gave the text) finds their positions.
 * `base` is the array before its other subscripts. NULL after an error. `range`: the piece has
 * two ends, p->first and p->last; low and high are what they say, NULL: open. Without a caller's
 * function `select` axes have no coordinates. r->why is where it writes why it refuses. */
static rd_expr *by_coordinate(rd_formula_reader *r, rd_expr *base, rd_expr *x, const rd_phrase *p)
{
    const rd_formula_axes  *axes  = r->opts->axes;
    const bool              range = p->first->next != NULL;
    char                    name[RD_FORMULA_NAME + 1], text[2][RD_FORMULA_NAME + 1];
    rd_formula_bound        b[2];
    const rd_formula_bound *low, *high;

    if (!axes || !axes->select)
        return rd_formula_fail(r, RD_ERR_ARGUMENT, p->at,
                               "axes have no coordinates here: say a place, as in x[3]");
    memcpy(name, r->text + p->at, p->length);
    name[p->length] = '\0';
    const int axis  = rd_formula_axis_called(r, x, name, p->at);
    if (axis < 0)
        return no_axis_left(r, base, x, name, p->at);
    if (p->first->kind == RD_PHRASE_LIST)
        return rd_formula_fail(r, RD_ERR_TEXT, p->first->at,
                               "a coordinate is one number or text, and a part of an axis two of "
                               "them: %s=low..high",
                               name);
    if (!range && is_array(r, p->first))
        return by_known_index(r, x, axis, p->first);
    low  = read_coordinate(r, p->first, text[0], &b[0]);
    high = range && !r->failed ? read_coordinate(r, p->last, text[1], &b[1]) : NULL;
    if (!r->failed && !low && !range)
        rd_formula_fail(r, RD_ERR_TEXT, p->at, "expected a coordinate, as in %s=45", name);
    if (r->failed)
        return NULL;
    *r->why = '\0';
    return rd_formula_answer(r, axes->select(r->opts->user, x, axis, range, low, high, r->why),
                             p->at);
}

/* Applies subscripts to an array without indices, as NumPy does: those without names first, from
 * the first axis on, then coordinates (lat=45) by the names of axes. x is NULL after an error.
 * `taken` counts axes that subscripts without names take, and `rest` those that "..." stands
 * for. q goes through the subscripts, p->first being the array. */
static rd_labelled subscript_whole(rd_formula_reader *r, rd_phrase *p, rd_expr *x)
{
    rd_expr *const base = x;
    int            taken, axis = 0;
    bool           gathered = false;

    if (!count_taken_axes(r, p, x->rank, &taken))
        return failure();
    const int rest = x->rank - taken;
    for (rd_phrase *q = p->first->next; q && x; q = q->next) {
        if (q->kind == RD_PHRASE_KEYWORD)
            continue;
        if (q->kind == RD_PHRASE_REST)
            axis += rest;
        else if (q->kind == RD_PHRASE_NEW)
            x = rd_expand(x, axis++);
        else if (q->kind == RD_PHRASE_SLICE)
            x = slice(r, x, axis++, q);
        else
            x = take_by_value(r, x, &axis, q, &gathered);
        x = rd_formula_made(r, x, q->at);
    }
    for (rd_phrase *q = p->first->next; q && x; q = q->next)
        if (q->kind == RD_PHRASE_KEYWORD)
            x = by_coordinate(r, base, x, q);
    return (rd_labelled){ .x = x };
}

/* ---- Elements by index ----------------------------------------------------------------------- */
/* An array with a subscript for each axis, an affine sum of indices. The number of axes grows if
 * a gather has several indices. */
typedef struct places {
    rd_expr       *x;
    int            n;
    rd_formula_sum at[RD_MAX_RANK]; /* by axis: where it is read */
} places;

/* Pads an axis with a border so that pad(i, value), clamp(i) and the like may read beyond its
 * ends, as far as the values of the indices go. The subscript then counts from the border's
 * begin, so its constant grows. False after an error. `said` is the value behind the index in
 * pad(i, value), NULL: none. low and high are the least and greatest place read, and `before`
 * and `after` how many elements that is beyond either end. Where an index has no values, nothing
 * is read, and no border is needed. */
static bool add_border(rd_formula_reader *r, places *s, int axis, rd_phrase *q, rd_pad_mode mode)
{
    rd_formula_sum *a = &s->at[axis];
    __int128        low, high;
    rd_labelled     value = { 0 };
    rd_phrase      *said  = q->first->next;

    if (said && (mode != RD_PAD_CONSTANT || said->next))
        return rd_formula_fail(r, RD_ERR_ARGUMENT, said->at, "%.*s takes the index%s",
                               (int)q->length, r->text + q->at,
                               mode == RD_PAD_CONSTANT ? " and a value" : " alone");
    if (said) {
        value = rd_formula_value(r, said);
        if (!value.x)
            return false;
        if (value.n || value.x->rank)
            return rd_formula_fail(r, RD_ERR_SHAPE, said->at, "what lies outside is one number");
    }
    if (!rd_formula_range(r, a, &low, &high))
        return true;
    const __int128 extent = s->x->extent[axis];
    const __int128 before = low < 0 ? -low : 0, after = high >= extent ? high - extent + 1 : 0;
    if (before + after + extent > (__int128)1 << 62)
        return rd_formula_fail(r, RD_ERR_SHAPE, q->at, "a border of more than 2^62 elements");
    if (before || after)
        s->x = rd_formula_made(
            r, rd_pad(s->x, axis, (int64_t)before, (int64_t)after, mode, value.x), q->at);
    a->constant += (int64_t)before;
    return s->x != NULL;
}

/* Checks a subscript that is a known number; a negative one counts from the end of the axis, and
 * *place becomes a position from 0 on. False after recording that it is outside. */
static bool check_fixed_place(rd_formula_reader *r, const places *s, int axis, const rd_phrase *q,
                              int64_t *place)
{
    const int64_t extent = s->x->extent[axis];

    if (*place < -extent || *place >= extent)
        return rd_formula_fail(r, RD_ERR_AXIS, q->at,
                               "index %lld is outside of axis %d, which has %lld elements",
                               (long long)*place, axis, (long long)extent);
    *place += *place < 0 ? extent : 0;
    return true;
}

/* Reads subscript q of an axis: a constant plus indices times known numbers, such as 2 * i + 1,
 * perhaps in pad() or the like. *gather: it is no such sum, as in x[k[i]], and its elements are
 * gathered later. False after an error. `mode` is the rule of pad() or the like, -1: none;
 * `inner` the index inside. s->at[axis] gets the sum. Without an index in it (n is 0) it is a
 * fixed place. */
static bool read_place(rd_formula_reader *r, places *s, int axis, rd_phrase *q, bool *gather)
{
    rd_phrase *inner;
    const int  mode = rd_formula_outside(r, q, &inner);

    *gather = false;
    if (q->kind == RD_PHRASE_SLICE || q->kind == RD_PHRASE_REST || q->kind == RD_PHRASE_NEW ||
        q->kind == RD_PHRASE_KEYWORD)
        return rd_formula_fail(r, RD_ERR_TEXT, q->at,
                               "a slice among indices: give this axis an index, too");
    if (rd_formula_affine(r, inner, &s->at[axis])) {
        if (mode >= 0)
            return add_border(r, s, axis, q, (rd_pad_mode)mode);
        return s->at[axis].n || check_fixed_place(r, s, axis, q, &s->at[axis].constant);
    }
    if (mode >= 0)
        return rd_formula_fail(r, RD_ERR_TEXT, inner->at,
                               "%.*s takes a sum of indices and whole numbers", (int)q->length,
                               r->text + q->at);
    *gather = true;
    return !r->failed;
}

/* Replaces an axis of the array by a gather, x[k[i, j]]: the axes of subscript q, one for each
 * of its indices, stand in its position. Each is then read at its own index. False after an
 * error. v.n counts its indices, and v.label are they. The places of the axes behind move by v.n
 * - 1. Axis axis + k is read at index v.label[k] minus its first value `low`, as the gather has
 * element 0 there. */
static bool gather_axis(rd_formula_reader *r, places *s, int axis, rd_phrase *q)
{
    rd_labelled v = rd_formula_value(r, q);

    if (v.x)
        v.x = rd_formula_places(r, s->x, axis, v.x, q->at);
    if (!v.x)
        return false;
    if (!v.n && v.x->rank)
        return rd_formula_fail(r, RD_ERR_SHAPE, q->at, "an array as subscript: give it indices");
    if (s->n - 1 + v.n > RD_MAX_RANK)
        return rd_formula_fail(r, RD_ERR_LIMIT, q->at, "more than %d axes", RD_MAX_RANK);
    s->x = rd_formula_made(r, rd_take(s->x, axis, v.x), q->at);
    memmove(&s->at[axis + v.n], &s->at[axis + 1], (size_t)(s->n - axis - 1) * sizeof *s->at);
    s->n += v.n - 1;
    for (int k = 0; k < v.n; k++)
        s->at[axis + k] = (rd_formula_sum){
            .constant = -r->label[v.label[k]].low, .n = 1, .label = { v.label[k] }, .coef = { 1 }
        };
    return s->x != NULL;
}

/* Collects the labels (numbers of indices) of all subscripts into `all`, ascending. False after
 * an error. */
static bool labels_of(rd_formula_reader *r, const places *s, size_t at, rd_labelled *all)
{
    rd_labelled of_axis[RD_MAX_RANK];

    for (int a = 0; a < s->n; a++) {
        of_axis[a] = (rd_labelled){ .n = s->at[a].n };
        memcpy(of_axis[a].label, s->at[a].label, sizeof of_axis[a].label);
    }
    return rd_labelled_union(r, s->n, of_axis, at, all);
}

/* True if a view moves along its axis for this index of the text. An index of one value reads
 * one position and need not move. An index over a whole axis moves even if the axis has one
 * element or none: a sparse operand then keeps the coordinates of that axis. `extent` is that of
 * the axis that it reads; `empty`: some index has no values. */
static bool steps_along(const rd_formula_label *l, int64_t extent, bool empty)
{
    return l->n == extent || (l->n > 1 && !empty);
}

/* Builds one view of x with an axis for each index (label) that its subscripts have, in
 * ascending order. Axis `a` is read at the sum s->at[a] of the values of the indices, which
 * begin with l->low. x is NULL after an error. `number` is that of rd_view(): the offset `first`
 * of each axis of x, and then a row for each with the coefficients of the indices. `empty`: an
 * index has no values, so nothing is read, and offsets are 0. */
static rd_labelled build_view(rd_formula_reader *r, const places *s, size_t at)
{
    int64_t     extent[RD_MAX_RANK], number[RD_MAX_RANK * (RD_MAX_RANK + 1)];
    rd_labelled all;
    bool        empty = false;
    int         place = 0;

    if (!labels_of(r, s, at, &all))
        return failure();
    memset(number, 0, sizeof number);
    for (int k = 0; k < all.n; k++) {
        extent[k] = r->label[all.label[k]].n;
        empty |= extent[k] == 0;
    }
    for (int a = 0; a < s->n; a++) {
        __int128 first = empty ? 0 : s->at[a].constant;

        for (int k = 0; k < s->at[a].n; k++) {
            const rd_formula_label *l = &r->label[s->at[a].label[k]];

            first += empty ? 0 : (__int128)s->at[a].coef[k] * l->low;
            if (rd_labelled_has(&all, s->at[a].label[k], &place) &&
                steps_along(l, s->x->extent[a], empty))
                number[s->n + a * all.n + place] = s->at[a].coef[k];
        }
        number[a] = (int64_t)first;
    }
    if (rd_points(all.n, extent) < 0)
        return (rd_labelled){ .x = rd_formula_fail(r, RD_ERR_SHAPE, at,
                                                   "these indices have too many values together") };
    all.x = rd_formula_made(r, rd_view(s->x, all.n, extent, number, /*origin=*/NULL), at);
    return all;
}

/* Reads elements by index, x[i, k[j] + 1]. First come the subscripts that are sums of indices,
 * with their borders; then gathers, from the last axis on, as each may change the number of
 * axes; then one view of all. x is NULL after an error. at[a] is the subscript of axis a, and
 * gathers[a] says that it is no sum. There must be one for each axis. */
static rd_labelled subscript_by_index(rd_formula_reader *r, rd_phrase *p, rd_expr *x)
{
    places     s = { .x = x, .n = x->rank };
    rd_phrase *at[RD_MAX_RANK];
    bool       gathers[RD_MAX_RANK];
    int        n = 0;

    for (rd_phrase *q = p->first->next; q; q = q->next, n++)
        if (n < RD_MAX_RANK)
            at[n] = q;
    if (n != x->rank)
        return (rd_labelled){ .x = rd_formula_fail(r, RD_ERR_AXIS, p->at,
                                                   "%d ind%s for an array of rank %d", n,
                                                   n == 1 ? "ex" : "ices", (int)x->rank) };
    for (int a = 0; a < n; a++)
        if (!read_place(r, &s, a, at[a], &gathers[a]))
            return failure();
    for (int a = n - 1; a >= 0; a--)
        if (gathers[a] && !gather_axis(r, &s, a, at[a]))
            return failure();
    return build_view(r, &s, p->at);
}

/* Evaluates x[...]: elements by index if a subscript contains an index (labelled), else a part
 * of the array as in NumPy. x is NULL after an error. p->first is x, and the pieces behind it
 * are the subscripts. base.n counts indices that x has already: an error. */
rd_labelled rd_formula_subscripts(rd_formula_reader *r, rd_phrase *p)
{
    const rd_labelled base    = rd_formula_value(r, p->first);
    bool              indices = false;

    if (!base.x)
        return failure();
    if (base.n)
        return (rd_labelled){ .x = rd_formula_fail(r, RD_ERR_TEXT, p->at,
                                                   "this has indices already: subscripts stand at "
                                                   "whole arrays") };
    for (const rd_phrase *q = p->first->next; q; q = q->next)
        indices |= q->labelled;
    return indices ? subscript_by_index(r, p, base.x) : subscript_whole(r, p, base.x);
}
