/* key_row.h - what is asked of a row of keys: values, places or quantiles; sort_kernels.h includes
 * it once for each width of keys: K, BITS of it.
 *
 * Memory: n keys, then room for four times n keys and two vectors more.
 *
 * JOIN(name, BITS) is a name for one width of keys: row_32. strip_end() is a point at which a
 * cancelled run leaves the sort.  `less` counts the keys below a selected one. */
typedef struct JOIN(row, BITS) {
    const rd_sorting *s;
    const void       *from;
    int64_t           n;     /* how many elements */
    K                *keys;  /* a key for each element */
    K                *work;  /* room for 4 n keys and two vectors */
    found             found; /* number of NaN; whether there is a -0 */
    K                 zero;  /* the key of 0 and of -0, of a float */
    void (*to_elements)(int64_t n, const K *from, void *to, K invert);
    K invert; /* what keys were XORed with: all ones for a descending order, else 0 */
} JOIN(row, BITS);

/* True if selecting the first few keys and sorting these is faster than sorting all: at most a
 * quarter of a row that is not short. */
static bool JOIN(is_few, BITS)(const JOIN(row, BITS) * r)
{
    enum { SHORT = 96 };
    return r->s->n_out * 4 <= r->n && r->n > SHORT;
}

/* ---- Signs of zeros -------------------------------------------------------------------------- */
/* Returns the position in the row of its zero number `which`. -0 and 0 have the same key, and
 * sorting keeps the order of equal keys.  So zero number k of the results is zero number k of the
 * row. */
static int64_t JOIN(place_of_zero, BITS)(const JOIN(row, BITS) * r, int64_t which)
{
    int64_t i = 0;

    for (;; i++) {
        if (i > 0 && i % RD_SORT_STRIP == 0)
            rd_sort_check_stop();
        if (r->keys[i] == r->zero && which-- == 0)
            return i;
    }
}

/* Copies the zeros of the row, with their signs, over those of the results at `to`, as the keys of
 * -0 and 0 are equal.  The zeros of the results begin behind all keys that are less. */
static void JOIN(sign_zeros, BITS)(const JOIN(row, BITS) * r, char *to)
{
    const int size = rd_dtype_size(r->s->type);
    int64_t   k    = 0; /* the next result that is a zero */

    for (int64_t i = 0; i < r->n;) /* strips of 65536: a cancelled run leaves between two */
        for (const int64_t end = strip_end(i, r->n); i < end; i++)
            k += r->keys[i] < r->zero;
    for (int64_t i = 0; i < r->n && k < r->s->n_out;)
        for (const int64_t end = strip_end(i, r->n); i < end && k < r->s->n_out; i++)
            if (r->keys[i] == r->zero) {
                memcpy(to + k * size, (const char *)r->from + i * size, (size_t)size);
                k++;
            }
}

/* ---- Values ---------------------------------------------------------------------------------- */
/* Writes the first n_out elements in order.  If n_out is at most a quarter, the key of rank n_out -
 * 1 is selected first: only the keys below it are sorted, and it fills what is left of the
 * results. */
static void JOIN(values, BITS)(const JOIN(row, BITS) * r, char *to)
{
    const int64_t k = r->s->n_out;
    K            *x = r->work, *work = r->work + r->n + 16; /* 16: a vector */

    if (k == 0)
        return;
    if (JOIN(is_few, BITS)(r)) {
        const JOIN(selected, BITS) last = JOIN(select, BITS)(r->n, r->keys, k - 1, r->work);
        int64_t ignored;

        if (last.less > 0)
            JOIN(between, BITS)(r->n, r->keys, 0, last.key - 1, x, &ignored);
        for (int64_t i = last.less; i < k; i++)
            x[i] = last.key;
        JOIN(sort, BITS)(last.less, x, work);
    } else {
        if (r->found.minus_zero) /* the signs of zeros are looked up by keys as they stand */
            copy_strips(r->n * (int64_t)sizeof *x, r->keys, x);
        else
            x = r->keys;
        JOIN(sort, BITS)(r->n, x, work);
    }
    r->to_elements(k, x, to, r->invert);
    if (r->found.minus_zero)
        JOIN(sign_zeros, BITS)(r, to);
}

/* ---- Places ---------------------------------------------------------------------------------- */
/* Collects the first n_out keys with their places (positions in the row) into x: the `less` keys
 * below `last`, and as many equal to it as are needed.  `last` is the key of rank n_out - 1.  64
 * keys are tested at once, as most are above it. */
static void JOIN(first_pairs, BITS)(const JOIN(row, BITS) * r, K last, int64_t less,
                                    JOIN(pair, BITS) * x)
{
    enum { STRIP = 64 };
    /* keys equal to `last` that still belong to the first */
    int64_t       equal = r->s->n_out - less, m = 0;
    const int64_t k = r->s->n_out;

    for (int64_t i = 0; i < r->n && m < k; i += STRIP) {
        const int64_t end = r->n - i < STRIP ? r->n : i + STRIP;
        K             any = 0;

        if (i > 0 && i % RD_SORT_STRIP == 0)
            rd_sort_check_stop();
        for (int64_t j = i; j < end; j++)
            any |= r->keys[j] <= last;
        for (int64_t j = i; any && j < end; j++)
            if (r->keys[j] < last || (r->keys[j] == last && equal-- > 0))
                x[m++] = (JOIN(pair, BITS)){ r->keys[j], (K)j };
    }
}

/* Writes the positions of the first n_out elements in order (argsort).  If n_out is at most a
 * quarter of the row, these are selected first; then keys are sorted together with their
 * positions. */
static void JOIN(places, BITS)(const JOIN(row, BITS) * r, int64_t *to)
{
    JOIN(pair, BITS) *x = (JOIN(pair, BITS) *)(void *)r->work, *work = x + r->n;
    const JOIN(pair, BITS) * y;
    int64_t n = r->n;

    if (r->s->n_out == 0)
        return;
    if (JOIN(is_few, BITS)(r)) {
        const JOIN(selected, BITS) last =
            JOIN(select, BITS)(r->n, r->keys, r->s->n_out - 1, r->work);

        JOIN(first_pairs, BITS)(r, last.key, last.less, x);
        n = r->s->n_out;
    } else
        for (int64_t i = 0; i < n;) /* strips of 65536: a cancelled run leaves between two */
            for (const int64_t end = strip_end(i, n); i < end; i++)
                x[i] = (JOIN(pair, BITS)){ r->keys[i], (K)i };
    y = JOIN(sort_pairs, BITS)(n, x, work);
    for (int64_t i = 0; i < r->s->n_out;)
        for (const int64_t end = strip_end(i, r->s->n_out); i < end; i++)
            to[i] = (int64_t)y[i].place;
}

/* ---- Quantiles ------------------------------------------------------------------------------- */
/* Returns the element of a key as a number.  If the row has a -0, all zeros have one key: `which`
 * then says which of the zeros it is, and the row tells its sign. */
static double JOIN(number, BITS)(const JOIN(row, BITS) * r, K key, int64_t which)
{
    const int      size = rd_dtype_size(r->s->type);
    const rd_dtype type = r->s->type;
    uint64_t       bits = 0;

    if (r->found.minus_zero && key == r->zero) {
        const int64_t i = JOIN(place_of_zero, BITS)(r, which);
        return rd_word_to_double(rd_word_load((const char *)r->from + i * size, type), type);
    }
    r->to_elements(/*n=*/1, &key, &bits, r->invert);
    return rd_word_to_double(rd_word_load(&bits, type), type);
}

/* Returns quantile q of the n numbers of the row: the element of the rank at.low, or interpolated
 * between this and the next one.  Zeros are numbered from the first key equal to the selected one
 * (rank minus `less`). */
static double JOIN(quantile, BITS)(const JOIN(row, BITS) * r, int64_t n, double q)
{
    const rd_quantile_place at     = rd_quantile_at((rd_quantile_method)r->s->facts->method, q, n);
    const JOIN(selected, BITS) low = JOIN(select, BITS)(r->n, r->keys, at.low, r->work);
    const double a                 = JOIN(number, BITS)(r, low.key, at.low - low.less);

    if (at.between == 0)
        return a;
    const K high = JOIN(next, BITS)(r->n, r->keys, at.low, &low);

    return rd_quantile_of(a, JOIN(number, BITS)(r, high, high == low.key ? at.high - low.less : 0),
                          at.between);
}

/* Writes the n_out quantiles of the row.  They are NaN if there are no numbers, or if there is a
 * NaN and NaN are not skipped. */
static void JOIN(quantiles, BITS)(const JOIN(row, BITS) * r, char *to)
{
    const int64_t n    = r->n - r->found.nan;
    const int     size = rd_dtype_size(r->s->out);
    const bool    none = n == 0 || (r->found.nan > 0 && !r->s->facts->skip_nan);

    for (int64_t k = 0; k < r->s->n_out; k++)
        rd_word_store(to + k * size, r->s->out,
                      rd_word_from_double(
                          none ? NAN : JOIN(quantile, BITS)(r, n, r->s->facts->q[k]), r->s->out));
}

/* ---------------------------------------------------------------------------------------------- */
#include "kernels/cpu/sort/least.h"

/* Writes what is asked for: values, places (argsort) or quantiles.  A few of many are found without
 * a sort of the row, if least_of() can. */
static void JOIN(sort_row, BITS)(const JOIN(row, BITS) * r, void *to)
{
    JOIN(least, BITS) least;

    if (JOIN(least_of, BITS)(r, &least)) {
        JOIN(write_least, BITS)(r, &least, to);
        return;
    }
    switch ((rd_sort_what)r->s->facts->what) {
    case RD_SORT_VALUES: JOIN(values, BITS)(r, to); break;
    case RD_SORT_PLACES: JOIN(places, BITS)(r, to); break;
    case RD_SORT_QUANTILES: JOIN(quantiles, BITS)(r, to); break;
    }
}
