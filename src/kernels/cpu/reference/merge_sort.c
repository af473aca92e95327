/* merge_sort.c - sorts a row element by element: a merge sort, which is stable. */
#include "kernels/cpu/reference/merge_sort.h"
#include "core/bytes.h"
#include "kernels/cpu/sort/row_sort.h"
#include <string.h>

/* An element of a row, as a register has it, and its position in the row. */
typedef struct element {
    rd_word x;
    int64_t place;
} element;

/* Returns the bytes that a sort works in: two lists of elements.  A row that comes in strips
 * (s->most) needs none. */
int64_t rd_reference_sort_bytes(const rd_sorting *s)
{
    return s->most ? 0 : rd_bytes_times(2 * (int64_t)sizeof(element), s->n);
}

/* True if the element is a float that is not a number. */
static bool is_nan(rd_word x, rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_FLOAT && isnan(rd_word_to_double(x, type));
}

/* True if a is less than b, compared in the register class of the type. */
static bool is_less(rd_word a, rd_word b, rd_dtype type)
{
    switch (rd_dtype_class(type)) {
    case RD_CLASS_f32: return a.f32 < b.f32;
    case RD_CLASS_f64: return a.f64 < b.f64;
    case RD_CLASS_i64: return a.i64 < b.i64;
    default: return a.u64 < b.u64;
    }
}

/* True if b, which comes after a in the row, belongs before it in the order that is asked for.  NaN
 * is last. */
static bool comes_first(const rd_sorting *s, rd_word b, rd_word a)
{
    const bool a_nan = is_nan(a, s->type), b_nan = is_nan(b, s->type);

    if (a_nan || b_nan)
        return a_nan && !b_nan;
    return s->facts->descending ? is_less(a, b, s->type) : is_less(b, a, s->type);
}

/* Merges two sorted runs of elements into `to`; of equal elements those of a come first (stable).
 * Once in 65536 elements it tests whether the evaluation was cancelled, and then does not
 * return. */
static void merge(const rd_sorting *s, const element *a, int64_t n_a, const element *b, int64_t n_b,
                  element *to)
{
    while (n_a + n_b > 0) {
        if ((n_a + n_b) % RD_SORT_STRIP == 0)
            rd_sort_check_stop();
        if (n_a == 0 || (n_b > 0 && comes_first(s, b->x, a->x))) {
            *to++ = *b++;
            n_b--;
        } else {
            *to++ = *a++;
            n_a--;
        }
    }
}

/* Merges each pair of sorted runs of `run` elements: one pass of the merge sort. The last run may
 * be shorter, or have no partner (n_b 0). */
static void merge_runs(const rd_sorting *s, int64_t run, const element *from, element *to)
{
    for (int64_t i = 0; i < s->n; i += 2 * run) {
        const int64_t left = s->n - i, n_a = left < run ? left : run,
                      n_b = left - n_a < run ? left - n_a : run;

        if (i > 0 && i % RD_SORT_STRIP == 0)
            rd_sort_check_stop();
        merge(s, from + i, n_a, from + i + n_a, n_b, to + i);
    }
}

/* Sorts the elements of a row in `work`, two arrays between which the passes alternate.  Returns
 * the one that has the result. */
static const element *in_order(const rd_sorting *s, const char *from, element *work)
{
    element *a = work, *b = work + s->n;

    for (int64_t i = 0; i < s->n; i++)
        a[i] = (element){ rd_word_load(from + i * rd_dtype_size(s->type), s->type), i };
    for (int64_t run = 1; run < s->n; run *= 2) {
        element *swap = a;

        merge_runs(s, run, a, b);
        a = b;
        b = swap;
    }
    return a;
}

/* Returns quantile q of the first n elements of a sorted row, which are numbers. */
static double quantile(const rd_sorting *s, const element *x, int64_t n, double q)
{
    const rd_quantile_place at = rd_quantile_at((rd_quantile_method)s->facts->method, q, n);

    return rd_quantile_of(rd_word_to_double(x[at.low].x, s->type),
                          rd_word_to_double(x[at.high].x, s->type), at.between);
}

/* Returns result k of a sorted row x: a position, a quantile, or an element.  The first n elements
 * are numbers, and NaN comes last.  A row with NaN has NaN as quantiles unless NaN is skipped. */
static rd_word result(const rd_sorting *s, const element *x, int64_t n, int64_t k)
{
    switch ((rd_sort_what)s->facts->what) {
    case RD_SORT_PLACES: return (rd_word){ .i64 = x[k].place };
    case RD_SORT_QUANTILES:
        return rd_word_from_double(
            n == 0 || (n < s->n && !s->facts->skip_nan) ? NAN : quantile(s, x, n, s->facts->q[k]),
            s->out);
    default: return k < n ? x[k].x : rd_word_from_double(NAN, s->out);
    }
}

/* Sorts the row `from` and writes its results, n_out values or places, to `to`.  NaNs come last in
 * order; n is the number of elements before them. */
void rd_reference_sort(const rd_sorting *s, const void *from, void *to, void *work)
{
    const element *x    = in_order(s, from, work);
    const int64_t  size = rd_dtype_size(s->out);
    int64_t        n    = s->n;

    while (n > 0 && is_nan(x[n - 1].x, s->type))
        n--;
    for (int64_t k = 0; k < s->n_out; k++)
        rd_word_store((char *)to + k * size, s->out, result(s, x, n, k));
}

/* ---- Strips ---------------------------------------------------------------------------------- */
/* Returns element k of an array of elements, as a register has it. (The state of a row in strips
 * has the first few so far in order: their number, their positions, the elements.) */
static rd_word kept(const rd_sorting *s, const char *x, int64_t k)
{
    return rd_word_load(x + k * rd_dtype_size(s->type), s->type);
}

/* Inserts element x, at position `place` of the row, into the first few so far, behind all that it
 * does not come before; if there are s->kept, the last one drops out, or x if it does not come
 * before that.  The state is their number, positions, elements. */
static void put_in(const rd_sorting *s, int64_t *state, rd_word x, int64_t place)
{
    char   *at = (char *)(state + 1 + s->kept);
    int64_t k  = *state;

    if (k == s->kept && !comes_first(s, x, kept(s, at, --k)))
        return;
    for (; k > 0 && comes_first(s, x, kept(s, at, k - 1)); k--) {
        rd_word_store(at + k * rd_dtype_size(s->type), s->type, kept(s, at, k - 1));
        state[1 + k] = state[k];
    }
    rd_word_store(at + k * rd_dtype_size(s->type), s->type, x);
    state[1 + k] = place;
    *state += *state < s->kept;
}

/* Takes a strip (range) of a row that is never stored as a whole, unless an earlier sort does
 * (follows); behind the last strip it writes the results. The state is a number, the positions of
 * the first few so far, and the elements; s->kept is how many there may be. */
void rd_reference_take(const rd_sorting *s, const rd_row_strip *strip)
{
    const int64_t bytes = rd_dtype_size(s->out);
    int64_t      *state = strip->state;

    if (strip->begin == 0 && !s->reads_earlier_state)
        *state = 0;
    for (int64_t i = 0; i < strip->n && !s->reads_earlier_state; i++)
        put_in(s, state, kept(s, strip->from, i), strip->begin + i);
    for (int64_t k = 0; strip->begin + strip->n == s->n && k < s->n_out; k++) {
        const rd_word x = kept(s, (const char *)(state + 1 + s->kept), k);

        rd_word_store((char *)strip->to + k * bytes, s->out,
                      s->facts->what == RD_SORT_PLACES ? (rd_word){ .i64 = state[1 + k] }
                      : is_nan(x, s->type)             ? rd_word_from_double(NAN, s->out)
                                                       : x);
    }
}
