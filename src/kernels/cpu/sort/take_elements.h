/* take_elements.h - takes a strip of a row of one type; take_strip.h includes it once for each: T, its
 * name OF, ANY an unsigned int as wide.
 *
 * Once as many numbers are kept as are asked for (they are `full`), an element has to come before the
 * last of them, so blocks without one are passed over by vectors of comparisons.  If 5 are kept, some
 * 40 of 10,000 elements in any order come in, 30 of these among the first 1000.  So the first strip
 * has a bound (least.h): the k-th of the least elements of 64 runs. */
typedef struct JOIN(kept, OF) {
    int64_t  n, most;
    int64_t *place;
    T       *x;
    T        last; /* the last one, if they are full */
    bool     full;
} JOIN(kept, OF);

/* True if x, which comes later in the row, belongs before y.  NaN is last. */
static ALWAYS bool JOIN(belongs_before, OF)(T x, T y, bool descending)
{
    return (descending ? x > y : x < y) || (IS_NAN(y) && !IS_NAN(x));
}

/* Puts an element in its place, behind equal ones; the last one is dropped if there are too many. */
static ALWAYS void JOIN(put_in, OF)(JOIN(kept, OF) * f, T x, int64_t place, bool descending)
{
    int64_t k = f->n < f->most ? f->n++ : f->most - 1;

    for (; k > 0 && JOIN(belongs_before, OF)(x, f->x[k - 1], descending); k--) {
        f->x[k]     = f->x[k - 1];
        f->place[k] = f->place[k - 1];
    }
    f->x[k]     = x;
    f->place[k] = place;
    f->last     = f->x[f->most - 1];
    f->full     = f->n == f->most && !IS_NAN(f->last);
}

/* The same among numbers that are full. */
static ALWAYS void JOIN(put_among, OF)(JOIN(kept, OF) * f, T x, int64_t place, bool descending)
{
    int64_t k = f->most - 1;

    for (; k > 0 && (descending ? x > f->x[k - 1] : x < f->x[k - 1]); k--) {
        f->x[k]     = f->x[k - 1];
        f->place[k] = f->place[k - 1];
    }
    f->x[k]     = x;
    f->place[k] = place;
    f->last     = f->x[f->most - 1];
}

/* True if one of n elements, a constant, comes before `last`, which is a number. */
static ALWAYS bool JOIN(any_before, OF)(int n, const T *x, T last, bool descending)
{
    ANY any = 0;

    for (int i = 0; i < n; i++)
        any |= descending ? x[i] > last : x[i] < last;
    return any;
}

/* Takes elements one by one, while numbers are full. */
static ALWAYS void JOIN(take_each, OF)(JOIN(kept, OF) * f, int64_t n, const T *x, int64_t place,
                                       bool descending)
{
    for (int64_t i = 0; i < n; i++)
        if (descending ? x[i] > f->last : x[i] < f->last)
            JOIN(put_among, OF)(f, x[i], place + i, descending);
}

/* ---- The first strip --------------------------------------------------------------------------- */
enum { JOIN(PARTS, OF) = 64 };

/* A bound that `most` elements or more do not come behind; false: there is none, as numbers are
 * few. */
static ALWAYS bool JOIN(find_bound, OF)(const JOIN(kept, OF) * f, int64_t n, const T *x, T *bound,
                                        bool descending)
{
    T    run[JOIN(PARTS, OF)];
    bool some = false;

    memcpy(run, x, sizeof run);
    for (int64_t i = JOIN(PARTS, OF); i + JOIN(PARTS, OF) <= n; i += JOIN(PARTS, OF))
        for (int k = 0; k < JOIN(PARTS, OF); k++)
            run[k] = (descending ? x[i + k] > run[k] : x[i + k] < run[k]) ? x[i + k] : run[k];
    for (int k = 0; k < JOIN(PARTS, OF); k++) {
        ANY within = 0;

        for (int i = 0; i < JOIN(PARTS, OF); i++)
            within += descending ? run[i] >= run[k] : run[i] <= run[k];
        if ((int64_t)within >= f->most &&
            (!some || (descending ? run[k] > *bound : run[k] < *bound))) {
            *bound = run[k];
            some   = true;
        }
    }
    return some;
}

/* Takes elements of the first strip until they are full, or all that are within its bound. */
static ALWAYS int64_t JOIN(take_first, OF)(JOIN(kept, OF) * f, int64_t n, const T *x,
                                           bool descending)
{
    enum { PART = 16, FEWEST = 512 };
    T       bound = 0;
    int64_t i     = 0;

    if (n >= FEWEST && JOIN(find_bound, OF)(f, n, x, &bound, descending)) {
        for (; i < n; i += PART) {
            const int64_t end = n - i < PART ? n : i + PART;
            ANY           any = 0;

            for (int64_t k = i; k < end; k++)
                any |= descending ? x[k] >= bound : x[k] <= bound;
            for (int64_t k = i; any && k < end; k++)
                if ((descending ? x[k] >= bound : x[k] <= bound) &&
                    (f->n < f->most || JOIN(belongs_before, OF)(x[k], f->last, descending)))
                    JOIN(put_in, OF)(f, x[k], k, descending);
        }
        return n;
    }
    return 0;
}

/* ---- Any strip --------------------------------------------------------------------------------- */
/* Takes the elements of a strip in one of both orders. */
static ALWAYS void JOIN(take_in_order, OF)(JOIN(kept, OF) * f, int64_t n, const T *x, int64_t place,
                                           bool descending)
{
    enum { BLOCK = 128, PART = 16 };
    int64_t i = place ? 0 : JOIN(take_first, OF)(f, n, x, descending);

    for (; i < n && !f->full; i++)
        if (f->n < f->most || JOIN(belongs_before, OF)(x[i], f->last, descending))
            JOIN(put_in, OF)(f, x[i], place + i, descending);
    for (; i + BLOCK <= n; i += BLOCK) {
        if (!JOIN(any_before, OF)(BLOCK, x + i, f->last, descending))
            continue;
        for (int64_t k = i; k < i + BLOCK; k += PART)
            if (JOIN(any_before, OF)(PART, x + k, f->last, descending))
                JOIN(take_each, OF)(f, PART, x + k, place + k, descending);
    }
    if (i < n)
        JOIN(take_each, OF)(f, n - i, x + i, place + i, descending);
}

/* Writes the results of a row: NaN as its type has it, or places. */
static void JOIN(write_first, OF)(const rd_sorting *s, const JOIN(kept, OF) * f, void *to)
{
    T *y = to;

    if (s->facts->what == RD_SORT_PLACES) {
        memcpy(to, f->place, (size_t)f->most * sizeof *f->place);
        return;
    }
    for (int64_t k = 0; k < f->most; k++)
        y[k] = IS_NAN(f->x[k]) ? (T)NAN_OF_T : f->x[k];
}

static void JOIN(take_strip, OF)(const rd_sorting *s, const rd_row_strip *strip)
{
    int64_t *const state = strip->state;
    JOIN(kept, OF)
    f = { .n     = strip->begin ? *state : 0,
          .most  = s->n_out,
          .place = state + 1,
          .x     = (T *)(void *)(state + 1 + s->n_out) };

    if (f.n == f.most) {
        f.last = f.x[f.most - 1];
        f.full = !IS_NAN(f.last);
    }
    if (s->facts->descending)
        JOIN(take_in_order, OF)(&f, strip->n, strip->from, strip->begin, true);
    else
        JOIN(take_in_order, OF)(&f, strip->n, strip->from, strip->begin, false);
    *state = f.n;
    if (strip->begin + strip->n == s->n)
        JOIN(write_first, OF)(s, &f, strip->to);
}
#undef T
#undef OF
#undef ANY
