/* hand_columns.h - (rows, n) reduced over axis 0 by more than a sum.  Included for each type.
 *
 * A thread walks a block of columns down all rows, four at a time; what it accumulates stays in L1
 * or L2. */

#ifndef HAND_COLUMNS_H
#define HAND_COLUMNS_H
enum { BLOCK_BYTES = 32768 };
enum { BLOCK_VECTORS = BLOCK_BYTES / VECTOR_BYTES };
#endif

/* Asks for the rows after these `rows` in the order they lie in memory, `rows` lines for each step
 * j, into L2.  Rows that are read together are as many streams, which DRAM serves at two thirds of
 * the rate of one. */
INLINE void F(fetch_ahead)(const REAL *x, int rows, int64_t pitch, int vectors, int j)
{
    const REAL *next =
        x + (rows + (int64_t)j * rows / vectors) * pitch + (int64_t)j * rows % vectors * LANES;

    UNROLL(8)
    for (int k = 0; k < rows; k++)
        __builtin_prefetch(next + k * LANES, 0, 2);
}

/* Calls body(x, rows, pitch, vectors, out0, out1, ...) for each block of columns. */
typedef void F(column_body)(const REAL *x, int64_t rows, int64_t pitch, int vectors,
                            void *const *out);

INLINE void F(each_block)(const hand_args *a, F(column_body) * body)
{
    const REAL   *x     = a->in[0];
    const int64_t n     = a->shape[1];
    const int64_t width = block_width(n, BLOCK_BYTES / (int)sizeof(REAL), a->threads);

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int64_t j = 0; j < n; j += width) {
        const int64_t columns = j + width < n ? width : n - j;
        void         *out[4];

        for (int k = 0; k < 4; k++)
            out[k] = a->out[k] ? (char *)a->out[k] + j * (int64_t)a->out_size : NULL;
        body(x + j, a->shape[0], n, (int)(columns / LANES), out);
    }
}

/* Sums of x - x0 and its square: one pass, and no cancellation while the first row is near the
 * mean. */
static void F(mean_var_block)(const REAL *x, int64_t rows, int64_t pitch, int vectors,
                              void *const *out)
{
    V     base[BLOCK_VECTORS], s[BLOCK_VECTORS], q[BLOCK_VECTORS];
    REAL *mean = out[0], *var = out[1];

    for (int j = 0; j < vectors; j++) {
        base[j] = LOAD(x + j * LANES);
        s[j] = q[j] = SPLAT(0);
    }
    for (int64_t r = 0; r < rows; r += 4, x += 4 * pitch)
        for (int j = 0; j < vectors; j++) {
            const REAL *p = x + j * LANES;
            V           a = LOAD(p) - base[j], b = LOAD(p + pitch) - base[j];
            V           c = LOAD(p + 2 * pitch) - base[j], d = LOAD(p + 3 * pitch) - base[j];

            F(fetch_ahead)(x, 4, pitch, vectors, j);
            s[j] += (a + b) + (c + d);
            q[j] += (a * a + b * b) + (c * c + d * d);
        }
    for (int j = 0; j < vectors; j++) {
        V m = s[j] / (REAL)rows;

        STORE(mean + j * LANES) = base[j] + m;
        STORE(var + j * LANES)  = q[j] / (REAL)rows - m * m;
    }
}

/* Sums of exp(x - m), m the maximum so far; one correction for eight rows. */
static void F(logsumexp_block)(const REAL *x, int64_t rows, int64_t pitch, int vectors,
                               void *const *out)
{
    V     m[BLOCK_VECTORS], s[BLOCK_VECTORS];
    REAL *y = out[0];

    for (int j = 0; j < vectors; j++) {
        m[j] = LOAD(x + j * LANES);
        s[j] = SPLAT(0);
    }
    for (int64_t r = 0; r < rows; r += 8, x += 8 * pitch)
        for (int j = 0; j < vectors; j++) {
            V v[8], most = m[j], sum;

            F(fetch_ahead)(x, 8, pitch, vectors, j);
            for (int k = 0; k < 8; k++) {
                v[k] = LOAD(x + j * LANES + k * pitch);
                most = F(max)(most, v[k]);
            }
            sum = s[j] * F(exp)(m[j] - most);
            for (int k = 0; k < 8; k++)
                sum += F(exp)(v[k] - most);
            s[j] = sum;
            m[j] = most;
        }
    for (int j = 0; j < vectors; j++)
        for (int k = 0; k < LANES; k++)
            y[j * LANES + k] = m[j][k] + (REAL)log((double)s[j][k]);
}

static void F(max_block)(const REAL *x, int64_t rows, int64_t pitch, int vectors, void *const *out)
{
    V     m[BLOCK_VECTORS];
    REAL *y = out[0];

    for (int j = 0; j < vectors; j++)
        m[j] = LOAD(x + j * LANES);
    for (int64_t r = 0; r < rows; r += 4, x += 4 * pitch)
        for (int j = 0; j < vectors; j++) {
            const REAL *p = x + j * LANES;
            V           a = F(max)(LOAD(p), LOAD(p + pitch));
            V           b = F(max)(LOAD(p + 2 * pitch), LOAD(p + 3 * pitch));

            m[j] = F(max)(m[j], F(max)(a, b));
        }
    for (int j = 0; j < vectors; j++)
        STORE(y + j * LANES) = m[j];
}

static void F(argmax_block)(const REAL *x, int64_t rows, int64_t pitch, int vectors,
                            void *const *out)
{
    V        m[BLOCK_VECTORS];
    W        at[BLOCK_VECTORS];
    int64_t *y = out[0];

    for (int j = 0; j < vectors; j++) {
        m[j]  = LOAD(x + j * LANES);
        at[j] = (W){ 0 };
    }
    for (int64_t r = 0; r < rows; r += 4, x += 4 * pitch)
        for (int j = 0; j < vectors; j++) {
            V most = m[j];
            W best = at[j];

            F(fetch_ahead)(x, 4, pitch, vectors, j);
            for (int k = 0; k < 4; k++) {
                V v  = LOAD(x + j * LANES + k * pitch);
                best = F(if_greater)(v, most, (W){ 0 } + (INT)(r + k), best);
                most = F(max)(most, v);
            }
            m[j]  = most;
            at[j] = best;
        }
    for (int j = 0; j < vectors; j++)
        for (int k = 0; k < LANES; k++)
            y[j * LANES + k] = at[j][k];
}

/* Minimum, maximum, mean and variance in one pass. */
static void F(spread_block)(const REAL *x, int64_t rows, int64_t pitch, int vectors,
                            void *const *out)
{
    V base[BLOCK_VECTORS], s[BLOCK_VECTORS], q[BLOCK_VECTORS], low[BLOCK_VECTORS],
        high[BLOCK_VECTORS];
    REAL *min = out[0], *max = out[1], *mean = out[2], *var = out[3];

    for (int j = 0; j < vectors; j++) {
        base[j] = low[j] = high[j] = LOAD(x + j * LANES);
        s[j] = q[j] = SPLAT(0);
    }
    for (int64_t r = 0; r < rows; r += 4, x += 4 * pitch)
        for (int j = 0; j < vectors; j++) {
            const REAL *p = x + j * LANES;
            V a = LOAD(p), b = LOAD(p + pitch), c = LOAD(p + 2 * pitch), d = LOAD(p + 3 * pitch);

            F(fetch_ahead)(x, 4, pitch, vectors, j);
            low[j]  = F(min)(low[j], F(min)(F(min)(a, b), F(min)(c, d)));
            high[j] = F(max)(high[j], F(max)(F(max)(a, b), F(max)(c, d)));
            a -= base[j];
            b -= base[j];
            c -= base[j];
            d -= base[j];
            s[j] += (a + b) + (c + d);
            q[j] += (a * a + b * b) + (c * c + d * d);
        }
    for (int j = 0; j < vectors; j++) {
        V m = s[j] / (REAL)rows;

        STORE(min + j * LANES)  = low[j];
        STORE(max + j * LANES)  = high[j];
        STORE(mean + j * LANES) = base[j] + m;
        STORE(var + j * LANES)  = q[j] / (REAL)rows - m * m;
    }
}

static void F(spread)(const hand_args *a)
{
    F(each_block)(a, F(spread_block));
}
