/* dependence.c - dependence tests: which accesses of a loop tree may touch the same element.
 *
 * Programs store each element of a result or of scratch once in the rounds of the loops that
 * move the address.  So two accesses at the same position touch the same element only in the
 * same round.  Other positions are compared by the ranges of their indices.
 *
 * A form is a position as an offset plus a sum of coefficients times indices that do not depend on
 * each other.  `x` and `y` are the forms of the two accesses that are compared.
 *
 * Fields. A term of a position with `axis` -1 is a value, an index that is read at run time.
 *
 * Words. A slot is a buffer that a program reads or writes. */
#include "kernels/loop/facts.h"

/* ---- Positions, as indices that are independent ---------------------------------------------- */
/* The kind of an index.  An index of a loop inside the loop in question becomes the begin of
 * that loop plus a free number.  So i0 - m0 loses its terms from loops outside. */
typedef enum index_kind {
    INDEX_OUTSIDE, /* of a loop around, or a mark: the same for both accesses      */
    INDEX_VALUE,   /* a value that is made outside the loop: likewise              */
    INDEX_LOOP,    /* of the loop itself                                           */
    INDEX_FREE     /* 0 .. most, of a loop inside                                  */
} index_kind;

typedef struct index_term {
    index_kind kind;
    int32_t    id;         /* by kind: the axis; the value; 0; the loop's statement */
    int64_t    coef, most; /* most: of INDEX_FREE                                        */
} index_term;

enum { MOST_TERMS = 48 };
typedef struct index_form {
    const rd_schedule *t;
    int32_t            loop, n;
    bool               failed; /* nothing is known of it */
    int64_t            offset;
    index_term         term[MOST_TERMS];
} index_form;

/* Adds coef * index to the form (a position as offset + sum of coefficients * independent
 * indices). A term of the same index is added up; a full form fails. `most`: the greatest number
 * of a free index. */
static void add_term(index_form *f, index_kind kind, int32_t id, int64_t coef, int64_t most)
{
    for (int32_t k = 0; k < f->n; k++)
        if (f->term[k].kind == kind && f->term[k].id == id) {
            f->term[k].coef += coef;
            return;
        }
    if (f->n == MOST_TERMS)
        f->failed = true;
    else
        f->term[f->n++] = (index_term){ kind, id, coef, most };
}

static void add_position(index_form *f, int32_t stmt, const rd_linear *at, int64_t coef);

/* Adds coef * (index of a loop inside the loop in question): its first index, plus step * a free
 * number below its trip count. The form fails (nothing is known) if the index is no such sum: the
 * first index has several parts or is rounded (by > 1), rounds have no fixed length (step 0), or
 * the trip count is unknown. So does the mark (axis bound to an end of a round) at a round's end
 * (stop), as the loop's end may cut the last round. */
static void add_inside(index_form *f, int32_t binder, int32_t axis, int64_t coef)
{
    const rd_for *l    = rd_loop_of(f->t, binder);
    const int64_t most = rd_most_trips(f->t, binder);

    if (!rd_is_position(&l->from) || l->step == 0 || most < 0 ||
        (axis == l->stop_mark && axis != l->axis)) {
        f->failed = true;
        return;
    }
    add_position(f, binder, &l->from.part[0].at, coef);
    add_term(f, INDEX_FREE, binder, coef * l->step, most > 0 ? most - 1 : 0);
}

/* Adds coef * (index that an axis has at a statement), by where the loop that binds it stands:
 * outside of the loop in question, that loop itself, or inside. Of the loop itself the end mark
 * (stop) is not known. */
static void add_axis(index_form *f, int32_t stmt, int32_t axis, int64_t coef)
{
    const int32_t binder = rd_binder_of(f->t, stmt, axis);
    const rd_for *l      = binder >= 0 ? rd_loop_of(f->t, binder) : NULL;

    if (l && rd_stands_in(f->t, binder, f->loop))
        add_inside(f, binder, axis, coef);
    else if (!l || binder != f->loop)
        add_term(f, INDEX_OUTSIDE, axis, coef, /*most=*/0);
    else if (axis == l->axis || axis == l->start_mark)
        add_term(f, INDEX_LOOP, /*id=*/0, coef, /*most=*/0);
    else
        f->failed = true;
}

/* Adds coef * position to the form. The form fails if a term is a value (axis < 0) that is made in
 * the loop, as it may differ from round to round. */
static void add_position(index_form *f, int32_t stmt, const rd_linear *at, int64_t coef)
{
    f->offset += coef * at->offset;
    for (int32_t k = 0; k < at->n && !f->failed; k++) {
        const rd_linear_term *term = &f->t->term[at->first + k];

        if (term->axis >= 0)
            add_axis(f, stmt, term->axis, coef * term->coef);
        else if (rd_stands_in(f->t, f->t->let[term->value].made_by, f->loop))
            f->failed = true;
        else
            add_term(f, INDEX_VALUE, term->value, coef * term->coef, /*most=*/0);
    }
}

/* Fills a form with the position of an access: offset + sum of coefficients * independent indices.
 * An access of n elements has one more free index 0 .. n - 1, of no loop (id -1). */
static void form_of(index_form *f, const rd_schedule *t, int32_t loop, const rd_access *a)
{
    *f = (index_form){ .t = t, .loop = loop };
    add_position(f, a->stmt, &a->at, /*coef=*/1);
    if (a->n > 1)
        add_term(f, INDEX_FREE, /*id=*/-1, /*coef=*/1, /*most=*/a->n - 1);
}

/* ---- Whether two positions can be equal ------------------------------------------------------ */
/* Returns the coefficient of an index in a form; 0: the form does not have it. */
static int64_t coef_of(const index_form *f, index_kind kind, int32_t id)
{
    for (int32_t k = 0; k < f->n; k++)
        if (f->term[k].kind == kind && f->term[k].id == id)
            return f->term[k].coef;
    return 0;
}

/* True if b has, with the same coefficients, all terms of a that are the same for both accesses:
 * indices of loops outside, and values that are made outside. */
static bool has_terms_of(const index_form *a, const index_form *b)
{
    for (int32_t k = 0; k < a->n; k++) {
        const index_term *x = &a->term[k];

        if ((x->kind == INDEX_OUTSIDE || x->kind == INDEX_VALUE) &&
            coef_of(b, x->kind, x->id) != x->coef)
            return false;
    }
    return true;
}

/* True if b has a free term (index of a loop inside) with the coefficient and range of each one of
 * a. Two loops over one axis have free numbers of their own, and count as equal. */
static bool has_free_terms_of(const index_form *a, const index_form *b)
{
    for (int32_t k = 0; k < a->n; k++) {
        bool found = a->term[k].kind != INDEX_FREE || a->term[k].coef == 0;

        for (int32_t j = 0; j < b->n && !found; j++)
            found = b->term[j].kind == INDEX_FREE && b->term[j].coef == a->term[k].coef &&
                    b->term[j].most == a->term[k].most;
        if (!found)
            return false;
    }
    return true;
}

/* One part of the difference of two positions: coef * a number between low and high.  The numbers
 * are independent. */
typedef struct addend {
    int64_t coef, low, high;
} addend;

typedef struct position_difference {
    int64_t offset;
    int32_t n;
    addend  of[2 * MOST_TERMS + 1];
} position_difference;

/* Adds sign * (free terms of a form) to a difference of positions. Terms that cannot vary are left
 * out. */
static void add_free(position_difference *d, const index_form *f, int64_t sign)
{
    for (int32_t k = 0; k < f->n; k++)
        if (f->term[k].kind == INDEX_FREE && f->term[k].coef && f->term[k].most)
            d->of[d->n++] = (addend){ sign * f->term[k].coef, 0, f->term[k].most };
}

/* Returns the difference b - a of two forms that agree in all but their free terms: an offset and
 * free terms. */
static position_difference difference_of(const index_form *a, const index_form *b)
{
    position_difference d = { .offset = b->offset - a->offset };

    add_free(&d, b, /*sign=*/1);
    add_free(&d, a, /*sign=*/-1);
    return d;
}

typedef struct int_interval {
    int64_t low, high;
} int_interval;

/* Returns the least and the greatest value of offset + sum of those addends whose coefficient is
 * no multiple of `number`; 0: of all addends. */
static int_interval range_of(const position_difference *d, int64_t number)
{
    int_interval in = { d->offset, d->offset };

    for (int32_t k = 0; k < d->n; k++) {
        const int64_t coef = d->of[k].coef;

        if (number && coef % number == 0)
            continue;
        in.low += coef * (coef > 0 ? d->of[k].low : d->of[k].high);
        in.high += coef * (coef > 0 ? d->of[k].high : d->of[k].low);
    }
    return in;
}

/* Returns a / b for b > 0, rounded towards minus infinity. */
static int64_t divided_down(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* True if the sum may be 0 (a GCD test with bounds). For each coefficient: the addends with
 * multiples of it sum up to a multiple of it, so it must have a multiple in the range of the
 * negated rest. */
static bool may_be_0(const position_difference *d)
{
    const int_interval sum = range_of(d, /*number=*/0);

    if (sum.low > 0 || sum.high < 0)
        return false;
    for (int32_t k = 0; k < d->n; k++) {
        const int64_t      size = d->of[k].coef < 0 ? -d->of[k].coef : d->of[k].coef;
        const int_interval rest = range_of(d, size);

        if (size && divided_down(rest.high, size) * size < rest.low)
            return false;
    }
    return true;
}

/* True if the difference + coef * k may be 0 for a number of rounds k between two different rounds:
 * not 0, and less than `most` (-1: any number). It cannot if one round moves the position further
 * than the free terms reach. MOST_ROUNDS limits k, so that products do not overflow. The addend of
 * k also admits 0, which can only make the answer true. */
static bool may_be_0_across(position_difference *d, int64_t coef, int64_t most)
{
    enum { MOST_ROUNDS = 1 << 30 };
    const int64_t size      = coef < 0 ? -coef : coef,
                  steps     = most < 0 || most > MOST_ROUNDS ? MOST_ROUNDS : most;
    const int_interval rest = range_of(d, /*number=*/0);

    if (most == 0 || most == 1 || (rest.low > -size && rest.high < size))
        return false;
    d->of[d->n++] = (addend){ coef, 1 - steps, steps - 1 };
    return may_be_0(d);
}

/* True unless the two accesses touch different elements in each round. x and y are their positions
 * as sums of independent indices. If one is unknown, or they have other terms from outside the
 * loop, they are not compared, and the answer is true. */
bool rd_may_touch_within(const rd_schedule *t, int32_t loop, const rd_access *a, const rd_access *b)
{
    index_form          x, y;
    position_difference d;

    if (!rd_may_alias(t, a, b))
        return false;
    form_of(&x, t, loop, a);
    form_of(&y, t, loop, b);
    /* The loop's own index counts the same in both, and so cancels out, if its coefficients are
     * equal. */
    if (x.failed || y.failed || !has_terms_of(&x, &y) || !has_terms_of(&y, &x) ||
        coef_of(&x, INDEX_LOOP, /*id=*/0) != coef_of(&y, INDEX_LOOP, /*id=*/0))
        return true;
    d = difference_of(&x, &y);
    return may_be_0(&d);
}

/* True if different rounds of two loops may touch the same element.  A result that overwrites an
 * operand does so in the round that reads it, so only equal slots and arrays count. x and y: their
 * positions as sums of independent indices. A step of 0 is a block loop's, whose rounds are at
 * least one index long. Positions without such a form, or with other terms, may be equal. */
bool rd_may_touch_across_two(const rd_schedule *t, int32_t loop_a, const rd_access *a,
                             int32_t loop_b, const rd_access *b)
{
    const int64_t       step = rd_loop_of(t, loop_a)->step;
    index_form          x, y;
    int64_t             coef;
    position_difference d;

    if (a->store != b->store || a->slot != b->slot)
        return false;
    form_of(&x, t, loop_a, a);
    form_of(&y, t, loop_b, b);
    coef = coef_of(&x, INDEX_LOOP, /*id=*/0);
    if (x.failed || y.failed || !has_terms_of(&x, &y) || !has_terms_of(&y, &x) ||
        coef_of(&y, INDEX_LOOP, /*id=*/0) != coef)
        return true;
    /* Equal positions that move with the loop: programs store each element once, in one round. */
    if (coef && x.offset == y.offset && has_free_terms_of(&x, &y) && has_free_terms_of(&y, &x))
        return false;
    d = difference_of(&x, &y);
    return coef ? may_be_0_across(&d, coef * (step > 0 ? step : 1), rd_most_trips(t, loop_a))
                : may_be_0(&d);
}

/* True if two accesses may touch the same element in two different rounds of the loop (a
 * loop-carried dependence). */
bool rd_may_touch_across(const rd_schedule *t, int32_t loop, const rd_access *a, const rd_access *b)
{
    return rd_may_touch_across_two(t, loop, a, loop, b);
}

/* True if another round of the loop may read or write an element that this STORE or SORT writes. */
bool rd_is_store_seen(const rd_schedule *t, int32_t loop, int32_t store)
{
    rd_access     written[2], other[2];
    const int32_t n = rd_accesses_of(t, store, written);

    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop))
        for (int32_t k = rd_accesses_of(t, s, other) - 1; k >= 0; k--)
            for (int32_t j = 0; j < n; j++)
                if (written[j].writes && rd_may_touch_across(t, loop, &written[j], &other[k]))
                    return true;
    return false;
}
