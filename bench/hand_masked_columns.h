/* hand_masked_columns.h - the folds of hand_masked.h down the columns of (a, b, c), and each fold
 * in each form.  Included for each type. */

/* ---- Down columns ---------------------------------------------------------------------------- */
typedef struct F(column_states) {
    V s[MASKED_BLOCK], q[MASKED_BLOCK], n[MASKED_BLOCK], base[MASKED_BLOCK];
    W at[MASKED_BLOCK];
} F(column_states);

/* 8 rows of the columns of vector j, of which n are in the array. */
INLINE void F(down_rows)(enum fold fold, enum form form, F(column_states) * all, int j,
                         const hand_args *a, int64_t r, int64_t column, int64_t n)
{
    const int64_t pitch = a->shape[1] * a->shape[2];
    const REAL   *x     = (const REAL *)a->in[0] + r * pitch + column;
    const bool   *where = (const bool *)a->in[1] + r * pitch + column;
    const REAL   *w     = (const REAL *)a->in[1] + r;
    F(state) t          = { all->s[j], all->q[j], all->n[j], all->at[j] };
    F(item) it[8];

    UNROLL(8)
    for (int k = 0; k < 8; k++)
        it[k] = F(item_at)(form, x + k * pitch, where + k * pitch,
                           SPLAT(form == FORM_weights ? w[k] : 1), n);
    if (fold == FOLD_lse)
        F(step_exps)(&t, it);
    else
        UNROLL(8)
    for (int k = 0; k < 8; k++)
        F(step)(fold, form, &t, &it[k], all->base[j], (W){ 0 } + (INT)(r + k));
    all->s[j]  = t.s;
    all->q[j]  = t.q;
    all->n[j]  = t.n;
    all->at[j] = t.at;
}

INLINE void F(put_columns)(enum fold fold, enum form form, const F(column_states) * all, int j,
                           const hand_args *a, int64_t column, int64_t n)
{
    REAL *out    = (REAL *)a->out[0] + column;
    V     number = all->n[j], mean;

    if (form == FORM_plain && fold != FOLD_top3)
        number = SPLAT(a->shape[0]);
    mean = all->s[j] / number;

    switch (fold) {
    case FOLD_sum: F(put_part)(out, F(first)(n), all->s[j]); return;
    case FOLD_mean: F(put_part)(out, F(first)(n), mean); return;
    case FOLD_var: F(put_part)(out, F(first)(n), all->q[j] / number - mean * mean); return;
    case FOLD_lse: F(put_part)(out, F(first)(n), all->s[j] + F(log)(all->q[j])); return;
    default: break;
    }
    for (int k = 0; k < n; k++) {
        const folded f = { .s    = (double)all->s[j][k],
                           .q    = (double)all->q[j][k],
                           .n    = (double)number[k],
                           .most = (double)all->s[j][k],
                           .base = (double)all->base[j][k],
                           .at   = all->at[j][k] };

        F(put)(fold, &f, a->out[0], column + k);
    }
}

/* Of the columns of one block. */
INLINE void F(masked_block)(enum fold fold, enum form form, const hand_args *a, int64_t start,
                            int64_t columns)
{
    const int64_t tail    = columns % LANES;
    const int     vectors = (int)(columns / LANES), all = vectors + (tail > 0);
    const REAL   *x = (const REAL *)a->in[0] + start;
    F(column_states) states;

    for (int j = 0; j < all; j++) {
        const F(state) t = F(no_elements)(fold);
        const V v        = F(part)(x + j * LANES, F(first)(j < vectors ? LANES : tail));

        states.s[j]    = t.s;
        states.q[j]    = t.q;
        states.n[j]    = t.n;
        states.at[j]   = t.at;
        states.base[j] = F(where)(F(numbers)(v), v);
    }
    for (int64_t r = 0; r < a->shape[0]; r += 8) {
        for (int j = 0; j < vectors; j++)
            F(down_rows)(fold, form, &states, j, a, r, start + j * LANES, LANES);
        if (tail)
            F(down_rows)(fold, form, &states, vectors, a, r, start + vectors * LANES, tail);
    }
    for (int j = 0; j < all; j++)
        F(put_columns)(fold, form, &states, j, a, start + j * LANES, j < vectors ? LANES : tail);
}

INLINE void F(masked_columns)(enum fold fold, enum form form, const hand_args *a, int k)
{
    const int64_t n = a->shape[1] * a->shape[2], step = MASKED_BLOCK * LANES;
    const int64_t from = share_start(n, k, a->threads), to = share_start(n, k + 1, a->threads);

    for (int64_t start = from; start < to; start += step)
        F(masked_block)(fold, form, a, start, start + step < to ? step : to - start);
}

/* ---- Each fold in each form ------------------------------------------------------------------ */
INLINE void F(masked)(enum fold fold, const hand_args *a, masked_share *share)
{
    folded *f = aligned_alloc(64, (size_t)a->threads * 64);

    each_share(a, share, f);
    for (int k = 1; a->dims == 7 && k < a->threads; k++)
        join_folded(fold, &f[0], &f[k]);
    if (a->dims == 7)
        F(put)(fold, &f[0], a->out[0], 0);
    free(f);
}

#define MASKED(fold, form)                                                     \
    static void F(fold##_##form##_share)(const hand_args *a, int k, folded *f) \
    {                                                                          \
        if (a->dims == 1)                                                      \
            F(masked_columns)(FOLD_##fold, FORM_##form, a, k);                 \
        else if (a->dims == 4)                                                 \
            F(masked_rows)(FOLD_##fold, FORM_##form, a, k);                    \
        else                                                                   \
            F(masked_all)(FOLD_##fold, FORM_##form, a, k, f);                  \
    }                                                                          \
    static void F(fold##_##form)(const hand_args *a)                           \
    {                                                                          \
        F(masked)(FOLD_##fold, a, F(fold##_##form##_share));                   \
    }
#define MASKED_FORMS(fold) \
    MASKED(fold, plain) MASKED(fold, skip_nan) MASKED(fold, where) MASKED(fold, where_gt)

MASKED_FORMS(sum)
MASKED_FORMS(mean)
MASKED_FORMS(var)
MASKED_FORMS(max)
MASKED_FORMS(argmax)
MASKED_FORMS(lse)
MASKED(mean, weights)
MASKED(var, weights)
MASKED(lse, weights)
MASKED(welford, plain)
MASKED(top3, plain)
MASKED(geometric, plain)
#undef MASKED
#undef MASKED_FORMS
