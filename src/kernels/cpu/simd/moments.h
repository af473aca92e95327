/* moments.h - the step of `moments` (mean, variance) without weights, as reducers.def has it with w
 * = 1.  Shifts and sums of a strip of states stay in registers for several rows; the caller counts
 * elements.  state_kernels.h includes it once per float type, after its rows. */

/* Updates `width` states from l on with rows [r, end): sums a of x - shift and b of its square.
 * The states have had an element, so their shifts are set. */
#define MOMENTS_STRIP(name, width)                                                                \
    static inline void JOIN(name, ELEM)(const rd_fold_rows *q, int64_t r, int64_t end, int64_t l) \
    {                                                                                             \
        T *const s1 = (T *)q->s[1] + l, *const s2 = (T *)q->s[2] + l,                             \
                 *const s3 = (T *)q->s[3] + l;                                                    \
        T               shift[width], a[width], b[width];                                         \
        memcpy(shift, s1, sizeof shift);                                                          \
        memcpy(a, s2, sizeof a);                                                                  \
        memcpy(b, s3, sizeof b);                                                                  \
        for (; r < end; r++) {                                                                    \
            const T *const x = (const T *)q->x + r * q->ldx + l;                                  \
            INDEPENDENT                                                                           \
            for (int k = 0; k < (width); k++) {                                                   \
                const T d = x[k] - shift[k];                                                      \
                a[k] += d;                                                                        \
                b[k] += d * d;                                                                    \
            }                                                                                     \
        }                                                                                         \
        memcpy(s2, a, sizeof a);                                                                  \
        memcpy(s3, b, sizeof b);                                                                  \
    }
MOMENTS_STRIP(moments_vector, LANES)
MOMENTS_STRIP(moments_strip, 4 * LANES)
#undef MOMENTS_STRIP

/* Updates n states of mean and variance with rows: sums a of x - shift and b of its square.  Up to
 * 512 bytes of states, such as the lanes of a cell, stay in registers, some vectors of them for all
 * rows; more go four rows at a time.  Weighted rows (q->y) have a step of their own. */
static void JOIN(moments_rows, ELEM)(const rd_fold_rows *q)
{
    const T *const shift = q->s[1];
    T *const a = q->s[2], *const b = q->s[3];
    const bool    lanes = q->n * (int64_t)sizeof(T) <= 512;
    const int64_t strip = lanes ? 4 * LANES : LANES, whole = q->n / strip * strip;

    if (q->y) {
        JOIN(fold_moments_step, ELEM)(q);
        return;
    }
    for (int64_t l = 0; lanes && l < whole; l += strip)
        JOIN(moments_strip, ELEM)(q, /*r=*/0, q->rows, l);
    /* Columns: four rows at a time, as vector_folds.h has it. */
    for (int64_t r = 0; !lanes && r < q->rows; r += 4)
        for (int64_t l = 0; l < whole; l += strip)
            JOIN(moments_vector, ELEM)(q, r, q->rows - r < 4 ? q->rows : r + 4, l);
    for (int64_t r = 0; r < q->rows; r++) {
        const T *const x = (const T *)q->x + r * q->ldx;
        INDEPENDENT
        for (int64_t l = whole; l < q->n; l++) {
            const T d = x[l] - shift[l];
            a[l] += d;
            b[l] += d * d;
        }
    }
}
