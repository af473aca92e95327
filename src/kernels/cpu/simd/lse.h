/* lse.h - the steps and merges of `logsumexp` and `maxsumexp` on strips of states: RD_LSE of
 * row_functions.h, with vectorised exponentials.  state_kernels.h includes it once per float type,
 * after its rows.
 *
 * A state is a pair (m, s): the sum s of exponentials of x - m.  m is mostly the greatest element,
 * and may stay behind it by up to `far`. A strip is a few vectors of neighbouring states.
 * JOIN(name, ELEM) is a name for one type: name_f32. */
enum { JOIN(LSE_STRIP, ELEM) = 4 * LANES };
#define STRIP    JOIN(LSE_STRIP, ELEM)
#define LSE_ROWS 8 /* rows */

/* Adds element x to one state (m, s), the sum s of exponentials of x - m, by RD_LSE_ONE; `power` is
 * the exponential that it needs. m may stay behind the greatest element by `far`. */
static ALWAYS void JOIN(lse_one, ELEM)(T *m, T *s, T x, T power, T far)
{
    T to_m = *m, to_s = *s;

    RD_LSE_ONE(power, to_m, to_s, x, far)
    *m = to_m;
    *s = to_s;
}

/* Adds element x with weight w to one state (m, s), the sum s of exponentials of x - m, by
 * RD_LSE_BY; `power` is the exponential that it needs. m may stay behind the greatest element by
 * `far`. */
static ALWAYS void JOIN(lse_weighted, ELEM)(T *m, T *s, T x, T w, T power, T far)
{
    T to_m = *m, to_s = *s;

    RD_LSE_BY(power, to_m, to_s, x, w, far)
    *m = to_m;
    *s = to_s;
}

/* Loads a strip of `width` elements (a few vectors): the first n lanes if it is one vector, or all
 * lanes of several. */
static ALWAYS void JOIN(load_strip, ELEM)(T *to, const T *from, int width, int64_t n)
{
    UNROLL(4)
    for (int i = 0; i < width; i += LANES)
        *(VEC *)(to + i) = JOIN(load_part, ELEM)(from + i, width > LANES ? LANES : n);
}

/* Stores a strip of `width` elements (a few vectors): the first n lanes if it is one vector, or all
 * lanes of several. */
static ALWAYS void JOIN(store_strip, ELEM)(T *to, const T *from, int width, int64_t n)
{
    UNROLL(4)
    for (int i = 0; i < width; i += LANES)
        JOIN(store_part, ELEM)(to + i, JOIN(load, ELEM)(from + i), width > LANES ? LANES : n);
}

/* True if all distances d of elements from the greatest of their states (m) are at most `far`, so
 * that m may stay where it is; false for NaN. */
static ALWAYS bool JOIN(lse_near, ELEM)(const T *d, int width, T far)
{
    unsigned beyond = 0;

    UNROLL(4)
    for (int i = 0; i < width; i += LANES)
        beyond |= JOIN(BEYOND, ELEM)(JOIN(load, ELEM)(d + i), far);
    return beyond == 0;
}

/* Returns how far the m of a state (the greatest element, mostly) may stay behind an element with
 * this weight.  A great weight times exp(far) might overflow, so m then moves at once: 0. */
static ALWAYS T JOIN(lse_reach, ELEM)(T w, T far)
{
    return far > 0 ? RD_LSE_REACH(w) : 0;
}

/* True if all weights are small enough for m to stay behind the greatest element (RD_LSE_REACH of
 * each is above 0), so that no weighted exponential overflows. */
static ALWAYS bool JOIN(lse_light, ELEM)(const T *w, int width)
{
    int heavy = 0;

    for (int i = 0; i < width; i++)
        heavy |= RD_LSE_REACH(w[i]) == 0 ? 1 : 0;
    return heavy == 0;
}

/* The operands of a strip: rows of elements with their weights (NULL: weight 1).  Meanwhile as many
 * rows from `next` on are prefetched: otherwise the exponentials leave memory idle (Zen 4, f64: 15
 * %). */
typedef struct JOIN(lse_rows_of, ELEM) {
    const T *x, *w, *next;
    int64_t  ldx, ldw, ld_next, rows;
} JOIN(lse_rows_of, ELEM);

/* Prefetches a strip of `width` elements.  `soon`: in a run, from the next page, up to which
 * processors prefetch themselves; it is needed soon.  Else: the rows after these, through the
 * second-level cache only, as rows a power of two apart would share few sets of the first. */
static ALWAYS void JOIN(lse_fetch, ELEM)(const T *next, int width, bool soon)
{
    UNROLL(4)
    for (int i = 0; i < width; i += LANES)
        if (soon)
            __builtin_prefetch(next + i, 0, 3);
        else
            __builtin_prefetch(next + i, 0, 2);
}

/* Updates a strip of states (m, s), each the sum s of exponentials of x - m, with rows: the first n
 * lanes of one vector, or all lanes of several.
 *
 * Where m may stay behind x it seldom moves.  So a row whose elements are all near is only added
 * up: that test costs less than choosing in every lane.  After a row that is not near, the next
 * rows are not tested: with widely spread elements every other row would fail, at an unpredictable
 * branch each. */
static ALWAYS void JOIN(lse_strip, ELEM)(T *to_m, T *to_s, const JOIN(lse_rows_of, ELEM) * q,
                                         int width, int64_t n, T far, bool soon)
{
    T    m[STRIP], s[STRIP], x[STRIP], w[STRIP], power[STRIP];
    bool near = false;

    JOIN(load_strip, ELEM)(m, to_m, width, n);
    JOIN(load_strip, ELEM)(s, to_s, width, n);
    for (int64_t r = 0; r < q->rows; r++) {
        JOIN(load_strip, ELEM)(x, q->x + r * q->ldx, width, n);
        JOIN(lse_fetch, ELEM)(q->next + r * q->ld_next, width, soon);
        for (int i = 0; i < width; i++)
            power[i] = x[i] - m[i];
        if (q->w)
            JOIN(load_strip, ELEM)(w, q->w + r * q->ldw, width, n);
        near = far > 0 && (near || r % LSE_ROWS == 0) && JOIN(lse_near, ELEM)(power, width, far) &&
               (!q->w || JOIN(lse_light, ELEM)(w, width));
        if (near) {
            JOIN(rd_exp_strip, ELEM)(power, width);
            for (int i = 0; i < width; i++)
                s[i] = q->w ? RD_F(fma)(w[i], power[i], s[i]) : s[i] + power[i];
        } else if (q->w) {
            for (int i = 0; i < width; i++)
                power[i] = RD_F(lse_exponent)(power[i], JOIN(lse_reach, ELEM)(w[i], far));
            JOIN(rd_exp_strip, ELEM)(power, width);
            for (int i = 0; i < width; i++)
                JOIN(lse_weighted, ELEM)
            (&m[i], &s[i], x[i], w[i], power[i], JOIN(lse_reach, ELEM)(w[i], far));
        } else {
            for (int i = 0; i < width; i++)
                power[i] = RD_F(lse_exponent)(power[i], far);
            JOIN(rd_exp_strip, ELEM)(power, width);
            for (int i = 0; i < width; i++)
                JOIN(lse_one, ELEM)(&m[i], &s[i], x[i], power[i], far);
        }
    }
    JOIN(store_strip, ELEM)(to_m, m, width, n);
    JOIN(store_strip, ELEM)(to_s, s, width, n);
}

/* Updates n states of logsumexp, strip by strip (4 vectors), then vector by vector.  The position
 * that is prefetched (q.next) moves on by `on` elements from strip to strip. */
static ALWAYS void JOIN(lse_strips, ELEM)(T *m, T *s, JOIN(lse_rows_of, ELEM) q, int64_t on,
                                          int64_t n, T far, bool soon)
{
    int64_t l = 0;

    for (; l + STRIP <= n; l += STRIP) {
        JOIN(lse_strip, ELEM)(m + l, s + l, &q, STRIP, STRIP, far, soon);
        q.x += STRIP;
        q.w = q.w ? q.w + STRIP : NULL;
        q.next += on;
    }
    for (; l < n; l += LANES) {
        JOIN(lse_strip, ELEM)(m + l, s + l, &q, LANES, l + LANES < n ? LANES : n - l, far, soon);
        q.x += LANES;
        q.w = q.w ? q.w + LANES : NULL;
    }
}

/* Updates up to a strip of states (4 vectors), which stay in registers, with all rows, 16 rows
 * prefetched ahead. */
static ALWAYS void JOIN(lse_run, ELEM)(const rd_fold_rows *q, JOIN(lse_rows_of, ELEM) all, T far)
{
    enum { AHEAD = 16 };

    all.next    = all.x + AHEAD * q->ldx;
    all.ld_next = q->ldx;
    JOIN(lse_strips, ELEM)(q->s[0], q->s[1], all, STRIP, q->n, far, /*soon=*/true);
}

/* Updates more states than a strip, eight rows at a time.  The next eight rows are prefetched in
 * the order of memory if they are contiguous (adjoin), as memory serves eight streams more slowly.
 * 8192 x 8192 f32 take as long as by a hand-written loop (Zen 4).  Four rows of 1024 columns at a
 * time with prefetches below took 1.4 times as long. */
static ALWAYS void JOIN(lse_columns, ELEM)(const rd_fold_rows *q, JOIN(lse_rows_of, ELEM) all,
                                           T                   far)
{
    const bool adjoin = q->ldx == q->n;

    for (int64_t r = 0; r < q->rows; r += LSE_ROWS) {
        JOIN(lse_rows_of, ELEM) some = all;

        some.rows = r + LSE_ROWS < q->rows ? LSE_ROWS : q->rows - r;
        some.x += r * q->ldx;
        some.w       = all.w ? all.w + r * q->ldy : NULL;
        some.next    = some.x + LSE_ROWS * q->ldx;
        some.ld_next = adjoin ? STRIP : q->ldx;
        JOIN(lse_strips, ELEM)
        (q->s[0], q->s[1], some, adjoin ? LSE_ROWS * STRIP : STRIP, q->n, far, /*soon=*/false);
    }
}

/* Updates n states of logsumexp with rows of elements and weights w (NULL: none).  Up to a strip of
 * states (4 vectors) stay in registers over all rows; more are updated a few rows at a time. */
static ALWAYS void JOIN(lse_any_rows, ELEM)(const rd_fold_rows *q, const T *w, T far)
{
    const JOIN(lse_rows_of, ELEM)
        all = { .x = q->x, .w = w, .ldx = q->ldx, .ldw = q->ldy, .rows = q->rows };

    if (q->n <= STRIP)
        JOIN(lse_run, ELEM)(q, all, far);
    else
        JOIN(lse_columns, ELEM)(q, all, far);
}

/* The step of logsumexp for n states: m may stay behind the greatest element by RD_LSE_FAR. y:
 * weights, or NULL. */
static void JOIN(lse_rows, ELEM)(const rd_fold_rows *q)
{
    if (q->y)
        JOIN(lse_any_rows, ELEM)(q, q->y, RD_LSE_FAR);
    else
        JOIN(lse_any_rows, ELEM)(q, /*w=*/NULL, RD_LSE_FAR);
}

/* The step of maxsumexp for n states: m is always the greatest element, so it may not stay behind.
 * y: weights, or NULL. */
static void JOIN(max_lse_rows, ELEM)(const rd_fold_rows *q)
{
    if (q->y)
        JOIN(lse_any_rows, ELEM)(q, q->y, /*far=*/0);
    else
        JOIN(lse_any_rows, ELEM)(q, /*w=*/NULL, /*far=*/0);
}

/* Merges n states sb into states sa: a state (m, s), the sum s of exponentials of x - m, counts as
 * an element m with weight s. */
static void JOIN(lse_merge, ELEM)(int64_t n, void *const *sa, void *const *sb)
{
    const JOIN(lse_rows_of, ELEM) one = { .x = sb[0], .w = sb[1], .next = sb[0], .rows = 1 };

    JOIN(lse_strips, ELEM)(sa[0], sa[1], one, STRIP, n, /*far=*/0, /*soon=*/true);
}

/* Merges the n first of `lanes` states (accumulators of one result) into one: all are aligned to
 * the greatest m, then their sums add up by halves. */
static void JOIN(lse_lanes, ELEM)(int64_t n, int64_t lanes, void *const *sa)
{
    T *const m = sa[0];
    T *const s = sa[1];
    T        top[RD_TREE_LANES];
    T        power[RD_TREE_LANES] = { 0 };

    memcpy(top, m, (size_t)n * sizeof(T));
    for (int64_t half = lanes / 2, left = n; half > 0; half /= 2)
        if (left > half) {
            INDEPENDENT
            for (int64_t l = 0; l < left - half; l++)
                top[l] = top[l + half] > top[l] ? top[l + half] : top[l];
            left = half;
        }
    for (int64_t l = 0; l < n; l++)
        power[l] = RD_LSE_APART(m[l], top[0]);
    JOIN(rd_exp_strip, ELEM)(power, (int)n);
    for (int64_t l = 0; l < n; l++)
        RD_LSE_ALIGN_BY(power[l], m[l], s[l], top[0])
    for (int64_t half = lanes / 2, left = n; half > 0; half /= 2)
        if (left > half) {
            INDEPENDENT
            for (int64_t l = 0; l < left - half; l++)
                s[l] += s[l + half];
            left = half;
        }
}
#undef STRIP
#undef LSE_ROWS
