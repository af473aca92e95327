/* hand_masked_scans.h - running sums of (a, b, c) along axis 0 or 2 in which elements that a mask
 * leaves out count as 0.  Any extents.  Included for each type. */

INLINE void F(running_columns)(enum form form, const hand_args *a)
{
    const int64_t n     = a->shape[1] * a->shape[2],
                  width = block_width(n, MASKED_BLOCK * LANES, a->threads);

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int64_t start = 0; start < n; start += width) {
        const int64_t columns = start + width < n ? width : n - start;
        V             s[MASKED_BLOCK];

        memset(s, 0, sizeof s);
        for (int64_t r = 0; r < a->shape[0]; r++)
            for (int64_t j = 0; j < columns; j += LANES) {
                const int64_t at   = r * n + start + j,
                              some = columns - j < LANES ? columns - j : LANES;
                const F(item) it   = F(item_at)(form, (const REAL *)a->in[0] + at,
                                              (const bool *)a->in[1] + at, SPLAT(1), some);

                s[j / LANES] += F(where)(it.m, it.v);
                F(put_part)((REAL *)a->out[0] + at, F(first)(some), s[j / LANES]);
            }
    }
}

INLINE void F(running_rows)(enum form form, const hand_args *a)
{
    const int64_t rows = a->shape[0] * a->shape[1], n = a->shape[2];

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int64_t i = 0; i < rows; i++) {
        V carry = SPLAT(0);

        for (int64_t j = 0; j < n; j += LANES) {
            const int64_t at = i * n + j, some = n - j < LANES ? n - j : LANES;
            const F(item) it = F(item_at)(form, (const REAL *)a->in[0] + at,
                                          (const bool *)a->in[1] + at, SPLAT(1), some);
            const V v        = F(running)(F(where)(it.m, it.v)) + carry;

            F(put_part)((REAL *)a->out[0] + at, F(first)(some), v);
            carry = F(last)(v);
        }
    }
}

#define MASKED(form)                                 \
    static void F(cumsum_##form)(const hand_args *a) \
    {                                                \
        if (a->dims == 1)                            \
            F(running_columns)(FORM_##form, a);      \
        else                                         \
            F(running_rows)(FORM_##form, a);         \
    }
MASKED(plain)
MASKED(skip_nan)
MASKED(where)
MASKED(where_gt)
#undef MASKED
