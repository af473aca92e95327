/* hand_sums.h - sums of elements, or of something made of them, over any axes of (a, b, c).
 * Included for each type. */

#ifndef HAND_SUMS_H
#define HAND_SUMS_H
enum term { TERM_ELEMENT, TERM_SQUARE_DIFFERENCE, TERM_EXP };

/* Elements of a run between two spills of its accumulators into a double: f32 sums stay accurate at
 * no cost. */
enum { RUN_SPILL = 16384 };

/* Rows of a column sum between two spills. */
enum { ROW_SPILL = 1024 };

/* Bytes of accumulators in a plain column sum.  Wide rows want long streams: 512 KiB measured best,
 * 8 KiB takes twice as long. */
enum { COLUMN_BYTES = 524288 };
#endif

INLINE V F(term_at)(enum term term, const REAL *x, const REAL *y)
{
    V d = LOAD(x);

    if (term == TERM_SQUARE_DIFFERENCE) {
        d -= LOAD(y);
        return d * d;
    }
    return term == TERM_EXP ? F(exp)(d) : d;
}

/* ---- Contiguous runs ------------------------------------------------------------------------- */
/* Eight accumulators hide the latency of an addition.  Plain sums may have any n, others multiples
 * of LANES. */
INLINE double F(run)(enum term term, const REAL *x, const REAL *y, int64_t n)
{
    double sum = 0;

    for (int64_t i = 0; i < n;) {
        const int64_t end  = i + RUN_SPILL < n ? i + RUN_SPILL : n;
        V             s[8] = { 0 };

        for (; i + 8 * LANES <= end; i += 8 * LANES)
            UNROLL(8)
        for (int k = 0; k < 8; k++)
            s[k] += F(term_at)(term, x + i + k * LANES, y + i + k * LANES);
        for (; i + LANES <= end; i += LANES)
            s[0] += F(term_at)(term, x + i, y + i);
        sum += F(total)(((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])));
        for (; i < end; i++)
            sum += (double)x[i];
    }
    return sum;
}

INLINE double F(run_shared)(enum term term, const REAL *x, int64_t n, int threads)
{
    double sum = 0;

#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : sum)
    for (int k = 0; k < threads; k++) {
        int64_t start = share_start(n, k, threads);
        sum += F(run)(term, x + start, x, share_start(n, k + 1, threads) - start);
    }
    return sum;
}

/* ---- Columns --------------------------------------------------------------------------------- */
/* s[j] += the sum of a few rows.  Four rows a step save loads and stores of s; but narrow rows from
 * DRAM go one a step: one sequential stream is read twice as fast as four that are close
 * together. */
INLINE void F(add_rows)(enum term term, const REAL *x, const REAL *y, int64_t rows, int64_t pitch,
                        int64_t n, V *s, bool four)
{
    int64_t r = 0;

    for (; four && r + 4 <= rows; r += 4, x += 4 * pitch, y += 4 * pitch)
        for (int64_t j = 0; j < n; j += LANES) {
            V a = F(term_at)(term, x + j, y + j);
            V b = F(term_at)(term, x + j + pitch, y + j + pitch);
            V c = F(term_at)(term, x + j + 2 * pitch, y + j + 2 * pitch);
            V d = F(term_at)(term, x + j + 3 * pitch, y + j + 3 * pitch);

            s[j / LANES] += (a + b) + (c + d);
        }
    for (; r < rows; r++, x += pitch, y += pitch)
        UNROLL(4)
    for (int64_t j = 0; j < n; j += LANES)
        s[j / LANES] += F(term_at)(term, x + j, y + j);
}

/* out[j] = the sum of column j, at most COLUMN_BYTES of them. */
INLINE void F(columns)(enum term term, const REAL *x, const REAL *y, int64_t rows, int64_t pitch,
                       int64_t n, REAL *out, bool four)
{
    V s[COLUMN_BYTES / VECTOR_BYTES];

    for (int64_t r = 0; r < rows; r += ROW_SPILL) {
        const int64_t some = r + ROW_SPILL < rows ? ROW_SPILL : rows - r;

        memset(s, 0, (size_t)n * sizeof *out);
        F(add_rows)(term, x + r * pitch, y + r * pitch, some, pitch, n, s, four);
        for (int64_t j = 0; j < n; j += LANES)
            STORE(out + j) = r ? LOAD(out + j) + s[j / LANES] : SPLAT(0) + s[j / LANES];
    }
}

/* Threads share the columns. */
INLINE void F(columns_shared)(enum term term, const REAL *x, const REAL *y, int64_t rows, int64_t n,
                              REAL *out, bool four, int threads)
{
    const int64_t width = block_width(n, COLUMN_BYTES / (int)sizeof(REAL), threads);

#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t j = 0; j < n; j += width)
        F(columns)(term, x + j, y + j, rows, n, j + width < n ? width : n - j, out + j, four);
}

/* Threads share the rows, and their sums are added up. */
static void F(narrow_columns)(const REAL *x, int64_t rows, int64_t n, REAL *out, bool four,
                              int threads)
{
    REAL *part = aligned_alloc(64, (size_t)(threads * n) * sizeof *part);

#pragma omp parallel for num_threads(threads) schedule(static)
    for (int k = 0; k < threads; k++) {
        int64_t start = rows * k / threads, end = rows * (k + 1) / threads;
        F(columns)(TERM_ELEMENT, x + start * n, x, end - start, n, n, part + k * n, four);
    }
    for (int64_t j = 0; j < n; j++) {
        double s = 0;

        for (int k = 0; k < threads; k++)
            s += (double)part[k * n + j];
        out[j] = (REAL)s;
    }
    free(part);
}

/* ---- (a, b, c) over any subset of axes ------------------------------------------------------- */
/* Over the outer and the inner axis: a partial result for each thread. */
static void F(sum_outer_inner)(const REAL *x, const int64_t *shape, REAL *out, int threads)
{
    const int64_t a = shape[0], b = shape[1], c = shape[2];
    double       *part = calloc((size_t)(threads * b), sizeof *part);

#pragma omp parallel for num_threads(threads) schedule(static)
    for (int k = 0; k < threads; k++)
        for (int64_t i = a * k / threads; i < a * (k + 1) / threads; i++)
            for (int64_t j = 0; j < b; j++)
                part[k * b + j] += F(run)(TERM_ELEMENT, x + (i * b + j) * c, x, c);
    for (int64_t j = 0; j < b; j++) {
        double s = 0;

        for (int k = 0; k < threads; k++)
            s += part[k * b + j];
        out[j] = (REAL)s;
    }
    free(part);
}

static void F(sum_rows)(const REAL *x, int64_t rows, int64_t n, REAL *out, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < rows; i++)
        out[i] = (REAL)F(run)(TERM_ELEMENT, x + i * n, x, n);
}

static void F(sum_middle)(const REAL *x, const int64_t *shape, REAL *out, bool four, int threads)
{
    const int64_t a = shape[0], b = shape[1], c = shape[2];

#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < a; i++)
        F(columns)(TERM_ELEMENT, x + i * b * c, x, b, c, c, out + i * c, four);
}

/* The middle row: the work is too small for threads. */
static void F(row_of_sum)(const hand_args *args)
{
    const int64_t b = args->shape[1], c = args->shape[2];
    const REAL   *x = (const REAL *)args->in[0] + b / 2 * c;

    F(columns)(TERM_ELEMENT, x, x, args->shape[0], b * c, c, args->out[0], true);
}

static void F(sum)(const hand_args *args)
{
    const REAL   *x   = args->in[0];
    REAL         *out = args->out[0];
    const int64_t a = args->shape[0], b = args->shape[1], c = args->shape[2];
    const bool    near    = a * b * c * (int64_t)sizeof(REAL) <= 2 << 20;
    const int     threads = args->threads;

    switch (args->dims) {
    case 1: F(columns_shared)(TERM_ELEMENT, x, x, a, b * c, out, true, threads); break;
    case 2: F(sum_middle)(x, args->shape, out, near, threads); break;
    case 3: F(narrow_columns)(x, a * b, c, out, near, threads); break;
    case 4: F(sum_rows)(x, a * b, c, out, threads); break;
    case 5: F(sum_outer_inner)(x, args->shape, out, threads); break;
    case 6: F(sum_rows)(x, a, b * c, out, threads); break;
    default: *out = (REAL)F(run_shared)(TERM_ELEMENT, x, a * b * c, threads); break;
    }
}

/* The sum of one run, too short for threads. */
static void F(sum_short)(const hand_args *a)
{
    *(REAL *)a->out[0] = (REAL)F(run)(TERM_ELEMENT, a->in[0], a->in[0], a->shape[0]);
}

/* ---- A triangle ------------------------------------------------------------------------------ */
static void F(sum_lower)(const hand_args *a)
{
    const REAL   *x   = a->in[0];
    REAL         *out = a->out[0];
    const int64_t m = a->shape[0], n = a->shape[1];

#pragma omp parallel for num_threads(a->threads) schedule(dynamic, 64)
    for (int64_t i = 0; i < m; i++)
        out[i] = (REAL)F(run)(TERM_ELEMENT, x + i * n, x + i * n, i < n ? i + 1 : n);
}
