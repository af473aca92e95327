/* hand_masked_scans.h - running sums of (a, b, c) along axis 0 or 2 in which elements that a mask
 * leaves out count as 0.  Any extents.  Included for each type. */

INLINE void F(running_columns)(enum form form, const hand_args *a, int share)
{
    const int64_t n = a->shape[1] * a->shape[2], step = MASKED_BLOCK * LANES;
    const int64_t end = share_start(n, share + 1, a->threads);

    for (int64_t start = share_start(n, share, a->threads); start < end; start += step) {
        const int64_t columns = start + step < end ? step : end - start;
        V             s[MASKED_BLOCK];

        memset(s, 0, sizeof s);
        for (int64_t r = 0; r < a->shape[0]; r++) {
            const int64_t at    = r * n + start;
            const REAL   *x     = (const REAL *)a->in[0] + at;
            const bool   *where = (const bool *)a->in[1] + at;
            REAL         *y     = (REAL *)a->out[0] + at;
            int64_t       j     = 0;

            for (; j + LANES <= columns; j += LANES) {
                const F(item) it = F(item_at)(form, x + j, where + j, SPLAT(1), LANES);

                s[j / LANES] += F(where)(it.m, it.v);
                F(put_part)(y + j, F(first)(LANES), s[j / LANES]);
            }
            if (j < columns) {
                const F(item) it = F(item_at)(form, x + j, where + j, SPLAT(1), columns - j);

                s[j / LANES] += F(where)(it.m, it.v);
                F(put_part)(y + j, F(first)(columns - j), s[j / LANES]);
            }
        }
    }
}

INLINE void F(running_rows)(enum form form, const hand_args *a, int share)
{
    const int64_t rows = a->shape[0] * a->shape[1], n = a->shape[2];
    const int64_t end = rows * (share + 1) / a->threads;

    for (int64_t i = rows * share / a->threads; i < end; i++) {
        const REAL *x     = (const REAL *)a->in[0] + i * n;
        const bool *where = (const bool *)a->in[1] + i * n;
        REAL       *y     = (REAL *)a->out[0] + i * n;
        V           carry = SPLAT(0);
        int64_t     j     = 0;

        for (; j + LANES <= n; j += LANES) {
            const F(item) it = F(item_at)(form, x + j, where + j, SPLAT(1), LANES);
            const V v        = F(running)(F(where)(it.m, it.v)) + carry;

            F(put_part)(y + j, F(first)(LANES), v);
            carry = F(last)(v);
        }
        if (j < n) {
            const F(item) it = F(item_at)(form, x + j, where + j, SPLAT(1), n - j);

            F(put_part)(y + j, F(first)(n - j), F(running)(F(where)(it.m, it.v)) + carry);
        }
    }
}

#define MASKED(form)                                                           \
    static void F(cumsum_##form##_share)(const hand_args *a, int k, folded *f) \
    {                                                                          \
        (void)f;                                                               \
        if (a->dims == 1)                                                      \
            F(running_columns)(FORM_##form, a, k);                             \
        else                                                                   \
            F(running_rows)(FORM_##form, a, k);                                \
    }                                                                          \
    static void F(cumsum_##form)(const hand_args *a)                           \
    {                                                                          \
        F(masked)(FOLD_sum, a, F(cumsum_##form##_share));                      \
    }
MASKED(plain)
MASKED(skip_nan)
MASKED(where)
MASKED(where_gt)
#undef MASKED
