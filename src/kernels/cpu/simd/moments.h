/* moments.h - the step of `moments` without weights, as reducers.def has it with w = 1: three of its four registers stay
 * in vectors for several rows.  folds.h includes it once per float type, after its rows. */

/* A state has met an element, so its count is not 0 and its shift stands. */
static inline void JOIN(moments_vec, ELEM)(const rd_fold_rows *q, int64_t from, int64_t rows, int64_t l)
{
    T *const s0 = (T *)q->s[0] + l, *const s2 = (T *)q->s[2] + l, *const s3 = (T *)q->s[3] + l;
    const VEC shift = JOIN(load, ELEM)((T *)q->s[1] + l);
    const T  *x     = (const T *)q->x + from * q->ldx + l;
    VEC       n = JOIN(load, ELEM)(s0), a = JOIN(load, ELEM)(s2), b = JOIN(load, ELEM)(s3);

    for (int64_t r = 0; r < rows; r++, x += q->ldx) {
        const VEC d = JOIN(load, ELEM)(x) - shift;
        n += 1;
        a += d;
        b += d * d;
    }
    *(VEC *)s0 = n;
    *(VEC *)s2 = a;
    *(VEC *)s3 = b;
}

static void JOIN(moments_rows, ELEM)(const rd_fold_rows *q)
{
    /* Lanes: down all rows; columns: four rows at a time, as strips.h has it. */
    const int64_t whole = q->n / LANES * LANES, jam = q->n * (int64_t)sizeof(T) <= 512 ? q->rows : 4;
    rd_fold_rows  rest = *q;

    if (q->w) {
        JOIN(fold_moments_step, ELEM)(q);
        return;
    }
    for (int64_t r = 0; r < q->rows; r += jam)
        for (int64_t l = 0; l < whole; l += LANES)
            JOIN(moments_vec, ELEM)(q, r, q->rows - r < jam ? q->rows - r : jam, l);
    rest.n = q->n - whole;
    rest.x = (const T *)q->x + whole;
    for (int k = 0; k < 4; k++)
        rest.s[k] = (T *)q->s[k] + whole;
    if (rest.n)
        JOIN(fold_moments_step, ELEM)(&rest);
}
