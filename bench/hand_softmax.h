/* hand_softmax.h - softmax and layer norm of (rows, n) over axis 1.  Included for each type.
 *
 * A row's first phase reads memory and computes, its second writes.  One after the other they would leave memory idle
 * while exp runs; so each chunk of a row's first phase goes with one of the row before's second phase. */

#ifndef HAND_SOFTMAX_H
#define HAND_SOFTMAX_H
enum { CHUNK_BYTES = 4096, CHUNK_VECTORS = CHUNK_BYTES / VECTOR_BYTES };
#endif

/* A row between its phases: exp(x - m[c]) for chunk c, m[c] the maximum up to there, sum relative to the last one. */
typedef struct F(soft_row) {
    REAL *e, *m;
    REAL  most;
    V     sum;
} F(soft_row);

INLINE void F(soft_first)(F(soft_row) * row, const REAL *x, int64_t c, int vectors)
{
    V    top[4], sum[4] = { 0 }, most;
    REAL m;

    for (int k = 0; k < 4; k++)
        top[k] = LOAD(x + k * LANES);
    for (int i = 4; i < vectors; i += 4)
        for (int k = 0; k < 4; k++)
            top[k] = F(max)(top[k], LOAD(x + (i + k) * LANES));
    m    = F(greatest)(F(max)(F(max)(top[0], top[1]), F(max)(top[2], top[3])));
    m    = m > row->most ? m : row->most;
    most = SPLAT(m);
    for (int i = 0; i < vectors; i += 4)
        for (int k = 0; k < 4; k++) {
            V e = F(exp)(LOAD(x + (i + k) * LANES) - most);

            STORE(row->e + c * CHUNK_VECTORS * LANES + (i + k) * LANES) = e;
            sum[k] += e;
        }
    row->sum  = row->sum * F(exp)(SPLAT(row->most) - most) + ((sum[0] + sum[1]) + (sum[2] + sum[3]));
    row->most = row->m[c] = m;
}

INLINE void F(soft_second)(const F(soft_row) * row, V factor, REAL *y, int64_t c, int vectors)
{
    const V f = factor * F(exp)(SPLAT(row->m[c] - row->most));

    for (int i = 0; i < vectors; i++)
        F(stream)(y + i * LANES, LOAD(row->e + c * CHUNK_VECTORS * LANES + i * LANES) * f);
}

/* Rows start..end-1, and one turn more for the last row's second phase. */
static void F(soft_rows)(const REAL *x, REAL *y, int64_t start, int64_t end, int64_t n)
{
    const int64_t chunk = CHUNK_VECTORS * LANES, chunks = (n + chunk - 1) / chunk;
    REAL         *memory = aligned_alloc(64, (size_t)(2 * (n + (chunks + 63) / 64 * 64)) * sizeof *memory);
    F(soft_row) rows[2]  = { { memory, memory + 2 * n, 0, { 0 } }, { memory + n, memory + 2 * n + chunks, 0, { 0 } } };

    for (int64_t i = start; i <= end; i++) {
        F(soft_row) *now = &rows[i % 2], *last = &rows[(i + 1) % 2];
        const V factor = SPLAT(1 / F(total)(last->sum));

        now->most = -INFINITY;
        now->sum  = SPLAT(0);
        for (int64_t c = 0; c < chunks; c++) {
            const int64_t at      = c * chunk;
            const int     vectors = (int)((at + chunk < n ? chunk : n - at) / LANES);

            if (i < end)
                F(soft_first)(now, x + i * n + at, c, vectors);
            if (i > start)
                F(soft_second)(last, factor, y + (i - 1) * n + at, c, vectors);
        }
    }
    free(memory);
}

static void F(softmax)(const hand_args *a)
{
#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int k = 0; k < a->threads; k++)
        F(soft_rows)
    (a->in[0], a->out[0], a->shape[0] * k / a->threads, a->shape[0] * (k + 1) / a->threads, a->shape[1]);
}

/* ---- Layer norm ---------------------------------------------------------------------------------------------------- */
/* The row's mean and 1 / deviation, from one pass shifted by its first element. */
typedef struct F(norm_row) {
    V base, s[4], q[4];
    V mean, factor;
} F(norm_row);

INLINE void F(norm_first)(F(norm_row) * row, const REAL *x, int64_t vectors)
{
    V s[4], q[4];

    memcpy(s, row->s, sizeof s);
    memcpy(q, row->q, sizeof q);
    for (int64_t i = 0; i < vectors; i += 4)
        for (int k = 0; k < 4; k++) {
            V d = LOAD(x + (i + k) * LANES) - row->base;

            s[k] += d;
            q[k] += d * d;
        }
    memcpy(row->s, s, sizeof s);
    memcpy(row->q, q, sizeof q);
}

static void F(norm_finish)(F(norm_row) * row, int64_t n)
{
    const double m   = F(total)((row->s[0] + row->s[1]) + (row->s[2] + row->s[3])) / (double)n;
    const double var = F(total)((row->q[0] + row->q[1]) + (row->q[2] + row->q[3])) / (double)n - m * m;

    row->mean   = SPLAT((double)row->base[0] + m);
    row->factor = SPLAT(1 / sqrt(var));
}

static void F(norm_rows)(const REAL *x, REAL *y, int64_t start, int64_t end, int64_t n)
{
    const int64_t chunk = CHUNK_VECTORS * LANES;
    F(norm_row) rows[2] = { 0 };

    for (int64_t i = start; i <= end; i++) {
        F(norm_row) *now = &rows[i % 2], *last = &rows[(i + 1) % 2];

        if (i < end)
            *now = (F(norm_row)){ .base = SPLAT(x[i * n]) };
        for (int64_t at = 0; at < n; at += chunk) {
            const int64_t vectors = (at + chunk < n ? chunk : n - at) / LANES;

            if (i < end)
                F(norm_first)(now, x + i * n + at, vectors);
            for (int64_t k = 0; i > start && k < vectors; k++)
                F(stream)
            (y + (i - 1) * n + at + k * LANES, (LOAD(x + (i - 1) * n + at + k * LANES) - last->mean) * last->factor);
        }
        if (i < end)
            F(norm_finish)(now, n);
    }
}

static void F(layer_norm)(const hand_args *a)
{
#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int k = 0; k < a->threads; k++)
        F(norm_rows)
    (a->in[0], a->out[0], a->shape[0] * k / a->threads, a->shape[0] * (k + 1) / a->threads, a->shape[1]);
}
