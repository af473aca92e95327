/* hand_near.h - the five points y_j nearest to each x_i, with their places.  Included for each type.
 *
 * Four points x share the loads of y, which lie by coordinates.  A block of four registers of
 * distances is looked at only if its least one comes before the fifth so far. */
#ifndef HAND_NEAR_H
#define HAND_NEAR_H
enum { NEAR = 5, NEAR_ROWS = 4, NEAR_REGISTERS = 4, NEAR_MOST_D = 50 };
#endif

typedef struct F(near_row) {
    REAL    x[NEAR_MOST_D], d[NEAR];
    int64_t at[NEAR];
} F(near_row);

/* Is a lane of v less than the bound? */
INLINE bool F(any_less)(V v, REAL bound)
{
#if defined __AVX512F__
    return F(beyond)(SPLAT(bound), v) != 0;
#else
    const W less = F(beyond)(SPLAT(bound), v);
    int64_t words[VECTOR_BYTES / 8], any = 0;

    memcpy(words, &less, sizeof words);
    for (int k = 0; k < VECTOR_BYTES / 8; k++)
        any |= words[k];
    return any != 0;
#endif
}

/* Takes the distances of a block that are less than the fifth so far. */
static __attribute__((noinline)) void F(near_take)(F(near_row) * r, const V *v, int64_t j)
{
    const REAL *d = (const REAL *)v;

    for (int i = 0; i < NEAR_REGISTERS * LANES; i++) {
        int k = NEAR - 1;

        if (!(d[i] < r->d[k]))
            continue;
        for (; k > 0 && d[i] < r->d[k - 1]; k--) {
            r->d[k]  = r->d[k - 1];
            r->at[k] = r->at[k - 1];
        }
        r->d[k]  = d[i];
        r->at[k] = j + i;
    }
}

/* All y for four points x. */
INLINE void F(near_rows)(F(near_row) * r, const REAL *y, int64_t padded, const int dims)
{
    for (int64_t j = 0; j < padded; j += NEAR_REGISTERS * LANES) {
        V d[NEAR_ROWS][NEAR_REGISTERS] = { { { 0 } } };

        UNROLL(3)
        for (int c = 0; c < dims; c++)
            UNROLL(4)
        for (int q = 0; q < NEAR_ROWS; q++)
            UNROLL(4)
        for (int u = 0; u < NEAR_REGISTERS; u++) {
            const V t = LOAD(y + c * padded + j + u * LANES) - r[q].x[c];

            d[q][u] += t * t;
        }
        UNROLL(4)
        for (int q = 0; q < NEAR_ROWS; q++)
            if (F(any_less)(F(min)(F(min)(d[q][0], d[q][1]), F(min)(d[q][2], d[q][3])),
                            r[q].d[NEAR - 1]))
                F(near_take)(&r[q], d[q], j);
    }
}

/* y by coordinates; points behind the last one are infinitely far. */
static REAL *F(near_pack)(const REAL *y, int64_t n, int64_t padded, int64_t dims)
{
    REAL *packed = aligned_alloc(64, (size_t)(padded * dims) * sizeof *packed);

    for (int64_t c = 0; c < dims; c++)
        for (int64_t j = 0; j < padded; j++)
            packed[c * padded + j] = j < n ? y[j * dims + c] : (REAL)INFINITY;
    return packed;
}

static void F(near)(const hand_args *a)
{
    const REAL   *x   = a->in[0];
    REAL         *out = a->out[0];
    int64_t      *at  = a->out[1];
    const int64_t m = a->shape[0], dims = a->shape[1], n = a->other[0];
    const int64_t padded =
        (n + NEAR_REGISTERS * LANES - 1) / (NEAR_REGISTERS * LANES) * (NEAR_REGISTERS * LANES);
    REAL *packed = F(near_pack)(a->in[1], n, padded, dims);

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int64_t i = 0; i < m; i += NEAR_ROWS) {
        F(near_row) r[NEAR_ROWS];

        for (int q = 0; q < NEAR_ROWS; q++) {
            for (int64_t c = 0; c < dims; c++)
                r[q].x[c] = x[clamp(i + q, m) * dims + c];
            for (int k = 0; k < NEAR; k++)
                r[q].d[k] = (REAL)INFINITY;
        }
        if (dims == 3)
            F(near_rows)(r, packed, padded, 3);
        else
            F(near_rows)(r, packed, padded, (int)dims);
        for (int q = 0; q < NEAR_ROWS && i + q < m; q++) {
            memcpy(out + (i + q) * NEAR, r[q].d, sizeof r[q].d);
            memcpy(at + (i + q) * NEAR, r[q].at, sizeof r[q].at);
        }
    }
    free(packed);
}
