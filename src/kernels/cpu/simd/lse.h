/* lse.h - the steps and the merge of `logsumexp` and `maxsumexp`, a strip of states at a time: what RD_LSE of rows.h comes
 * to, with its exponentials by vectors.  folds.h includes it once per float type, after its rows. */
enum { JOIN(LSE_STRIP, ELEM) = 4 * LANES };
/* Rows that are fetched, as what an element costs leaves memory waiting else (Zen 4, f64: 15 %); of a run they are a page,
 * to the end of which processors fetch themselves. */
#define LSE_AHEAD 16
#define STRIP     JOIN(LSE_STRIP, ELEM)

/* Of a state that has met an element, and of weight 1.  `power` is exp(-|x - m|). */
static ALWAYS void JOIN(lse_one, ELEM)(T *m, T *s, T x, T power)
{
    const T   e    = x == *m ? 1 : power;
    const T   less = RD_F(fma)(*s, e, 1);
    const int more = x > *m;

    *s = more ? less : *s + e;
    *m = more ? x : *m;
}

static ALWAYS void JOIN(lse_weighted, ELEM)(T *m, T *s, T x, T w, T power)
{
    T to_m = *m, to_s = *s;

    RD_LSE_BY(power, to_m, to_s, x, w)
    *m = to_m;
    *s = to_s;
}

/* The first n of one vector, or all of several. */
static ALWAYS void JOIN(take_strip, ELEM)(T *to, const T *from, int width, int64_t n)
{
    UNROLL(4)
    for (int i = 0; i < width; i += LANES)
        *(VEC *)(to + i) = JOIN(load_part, ELEM)(from + i, width > LANES ? LANES : n);
}

static ALWAYS void JOIN(give_strip, ELEM)(T *to, const T *from, int width, int64_t n)
{
    UNROLL(4)
    for (int i = 0; i < width; i += LANES)
        JOIN(store_part, ELEM)(to + i, JOIN(load, ELEM)(from + i), width > LANES ? LANES : n);
}

/* A strip of states takes rows of elements with their weights, or of weight 1 (NULL). */
static ALWAYS void JOIN(lse_strip, ELEM)(T *to_m, T *to_s, const T *px, int64_t ldx, const T *pw, int64_t ldw,
                                         int64_t rows, int width, int64_t n)
{
    T m[STRIP], s[STRIP], x[STRIP], w[STRIP], power[STRIP];

    JOIN(take_strip, ELEM)(m, to_m, width, n);
    JOIN(take_strip, ELEM)(s, to_s, width, n);
    for (int64_t r = 0; r < rows; r++) {
        JOIN(take_strip, ELEM)(x, px + r * ldx, width, n);
        UNROLL(4)
        for (int i = 0; i < width; i += LANES)
            __builtin_prefetch(px + (r + LSE_AHEAD) * ldx + i, 0, 3);
        for (int i = 0; i < width; i++)
            power[i] = JOIN(rd_minus_abs, ELEM)(x[i] - m[i]);
        JOIN(rd_exp_strip, ELEM)(power, width);
        if (pw) {
            JOIN(take_strip, ELEM)(w, pw + r * ldw, width, n);
            for (int i = 0; i < width; i++)
                JOIN(lse_weighted, ELEM)(&m[i], &s[i], x[i], w[i], power[i]);
        } else {
            for (int i = 0; i < width; i++)
                JOIN(lse_one, ELEM)(&m[i], &s[i], x[i], power[i]);
        }
    }
    JOIN(give_strip, ELEM)(to_m, m, width, n);
    JOIN(give_strip, ELEM)(to_s, s, width, n);
}

static ALWAYS void JOIN(lse_strips, ELEM)(T *m, T *s, const T *x, int64_t ldx, const T *w, int64_t ldw, int64_t rows,
                                          int64_t n)
{
    int64_t l = 0;

    for (; l + STRIP <= n; l += STRIP)
        JOIN(lse_strip, ELEM)(m + l, s + l, x + l, ldx, w ? w + l : NULL, ldw, rows, STRIP, STRIP);
    for (; l < n; l += LANES)
        JOIN(lse_strip, ELEM)
    (m + l, s + l, x + l, ldx, w ? w + l : NULL, ldw, rows, LANES, l + LANES < n ? LANES : n - l);
}

static void JOIN(lse_rows, ELEM)(const rd_fold_rows *q)
{
    /* Columns in strips whose states stay in the first-level cache, for as many rows as memory likes to serve at once; of
     * one strip states stay in registers for all rows. */
    const int64_t together = q->n <= STRIP ? q->rows : 4;

    for (int64_t from = 0; from < q->n; from += 1024) {
        const int64_t n = from + 1024 < q->n ? 1024 : q->n - from;

        for (int64_t r = 0; r < q->rows; r += together) {
            T *const m = (T *)q->s[0] + from, *const s = (T *)q->s[1] + from;
            const T *const x    = (const T *)q->x + r * q->ldx + from;
            const int64_t  rows = r + together < q->rows ? together : q->rows - r;

            if (q->y)
                JOIN(lse_strips, ELEM)(m, s, x, q->ldx, (const T *)q->y + r * q->ldy + from, q->ldy, rows, n);
            else
                JOIN(lse_strips, ELEM)(m, s, x, q->ldx, NULL, 0, rows, n);
        }
    }
}

/* A state is an element with a weight. */
static void JOIN(lse_merge, ELEM)(int64_t n, void *const *sa, void *const *sb)
{
    JOIN(lse_strips, ELEM)(sa[0], sa[1], sb[0], 0, sb[1], 0, 1, n);
}
#undef STRIP
#undef LSE_AHEAD
