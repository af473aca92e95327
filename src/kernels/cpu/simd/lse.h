/* lse.h - the step of `logsumexp` and `maxsumexp` without weights: what RD_LSE of rows.h comes to for a state that has met
 * an element and weight 1.  Four rows at a time: their exponentials do not wait for each other.  folds.h includes it once
 * per float type, after its rows. */
static inline void JOIN(lse_one, ELEM)(T *m, T *s, T x)
{
    const T   e0   = RD_F(exp)(-RD_F(fabs)(x - *m));
    const T   e    = x == *m ? 1 : e0;
    const T   less = RD_F(fma)(*s, e, 1);
    const int more = x > *m;

    *s = more ? less : *s + e;
    *m = more ? x : *m;
}

static void JOIN(lse_rows, ELEM)(const rd_fold_rows *q)
{
    T *const m = q->s[0], *const s = q->s[1];
    const int64_t ld = q->ldx;

    if (q->y) {
        JOIN(fold_logsumexp_step, ELEM)(q);
        return;
    }
    /* Columns in strips whose states stay in the first-level cache. */
    for (int64_t from = 0; from < q->n; from += 1024) {
        const int64_t to = from + 1024 < q->n ? from + 1024 : q->n;
        int64_t       r  = 0;
        for (; r + 4 <= q->rows; r += 4) {
            const T *const x = (const T *)q->x + r * ld;
            INDEPENDENT
            for (int64_t l = from; l < to; l++) {
                T ml = m[l];
                T sl = s[l];
                JOIN(lse_one, ELEM)(&ml, &sl, x[l]);
                JOIN(lse_one, ELEM)(&ml, &sl, x[l + ld]);
                JOIN(lse_one, ELEM)(&ml, &sl, x[l + 2 * ld]);
                JOIN(lse_one, ELEM)(&ml, &sl, x[l + 3 * ld]);
                m[l] = ml;
                s[l] = sl;
            }
        }
        for (; r < q->rows; r++) {
            const T *const x = (const T *)q->x + r * ld;
            INDEPENDENT
            for (int64_t l = from; l < to; l++)
                JOIN(lse_one, ELEM)(&m[l], &s[l], x[l]);
        }
    }
}
