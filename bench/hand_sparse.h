/* hand_sparse.h - loops over compressed rows.  Threads have as many places each, for graphs have a
 * few rows that are long.  Included for each type. */

#ifndef HAND_SPARSE_H
#define HAND_SPARSE_H
enum { SPMM_COLUMNS = 16, SDDMM_LENGTH = 64, ROW_IS_LONG = 32 };

/* The first row of the k-th of `threads` shares of all places. */
static int64_t share_row(const bench_pattern *p, int k, int threads)
{
    const int64_t place = p->places * k / threads;
    int64_t       from = 0, to = p->rows;

    while (k < threads && from < to) {
        const int64_t middle = (from + to) / 2;

        if (p->pos[middle] < place)
            from = middle + 1;
        else
            to = middle;
    }
    return k < threads ? from : p->rows;
}

/* What a setup has to look at. */
static void read_pattern(const hand_args *a)
{
    const bench_pattern *p = a->pattern;
    static volatile int  sink;
    int                  sum = 0;

#pragma omp parallel for simd num_threads(a->threads) reduction(^ : sum) schedule(static)
    for (int64_t e = 0; e < p->places; e++)
        sum ^= p->crd[e];
#pragma omp parallel for simd num_threads(a->threads) reduction(^ : sum) schedule(static)
    for (int64_t i = 0; i <= p->rows; i++)
        sum ^= p->pos[i];
    sink = sum;
    (void)sink;
}

/* Where the square of a matrix has places, found once (Gustavson 1978): rows of `crd` from pos[i] on. */
typedef struct square_places {
    const bench_pattern *of;
    int64_t             *pos;
    int32_t             *crd;
} square_places;

static int by_column(const void *a, const void *b)
{
    return *(const int32_t *)a < *(const int32_t *)b ? -1 : 1;
}

static const square_places *places_of_square(const bench_pattern *p, bool anew)
{
    static square_places s;
    int64_t              room = 4 * p->places + 64;
    int32_t             *seen;

    if (s.of == p && !anew)
        return &s;
    free(s.pos);
    free(s.crd);
    s.of  = p;
    s.pos = calloc((size_t)p->rows + 1, sizeof *s.pos);
    s.crd = malloc((size_t)room * sizeof *s.crd);
    seen  = calloc((size_t)p->rows, sizeof *seen);
    for (int64_t i = 0; i < p->rows; i++) {
        int64_t n = s.pos[i];

        for (int32_t e = p->pos[i]; e < p->pos[i + 1]; e++)
            for (int32_t f = p->pos[p->crd[e]]; f < p->pos[p->crd[e] + 1]; f++) {
                if (n == room)
                    s.crd = realloc(s.crd, (size_t)(room *= 2) * sizeof *s.crd);
                if (seen[p->crd[f]] != i + 1)
                    s.crd[n++] = p->crd[f];
                seen[p->crd[f]] = (int32_t)i + 1;
            }
        qsort(s.crd + s.pos[i], (size_t)(n - s.pos[i]), sizeof *s.crd, by_column);
        s.pos[i + 1] = n;
    }
    free(seen);
    return &s;
}
/* Columns of one row of both patterns, in order: where both have one, or, if `all`, any.  How
 * many. */
static inline int64_t merge_row(const bench_pattern *p, const bench_pattern *q, int64_t i, bool all)
{
    int32_t e = p->pos[i], f = q->pos[i];
    int64_t n = 0;

    while (e < p->pos[i + 1] && f < q->pos[i + 1]) {
        const int32_t a = p->crd[e], b = q->crd[f];

        n += all || a == b;
        e += a <= b;
        f += b <= a;
    }
    return n + (all ? p->pos[i + 1] - e + q->pos[i + 1] - f : 0);
}

/* Where the places of both begin, row by row, and room for their columns. */
typedef struct merged_places {
    const bench_pattern *of;
    bool                 all;
    int64_t             *pos;
    int32_t             *crd;
} merged_places;

static void find_merged(merged_places *m, const hand_args *a)
{
    const bench_pattern *p = a->pattern, *q = a->other_pattern;

    m->pos[0] = 0;
#pragma omp parallel for num_threads(a->threads) schedule(dynamic, 1024)
    for (int64_t i = 0; i < p->rows; i++)
        m->pos[i + 1] = merge_row(p, q, i, m->all);
    for (int64_t i = 0; i < p->rows; i++)
        m->pos[i + 1] += m->pos[i];
}

static merged_places *places_of_both(const hand_args *a)
{
    static merged_places m;
    const bench_pattern *p   = a->pattern;
    const bool           all = a->dims & 1;

    if (m.of == p && m.all == all)
        return &m;
    free(m.pos);
    free(m.crd);
    m.of  = p;
    m.all = all;
    m.pos = malloc((size_t)(p->rows + 1) * sizeof *m.pos);
    m.crd = malloc((size_t)(p->places + a->other_pattern->places) * sizeof *m.crd);
    find_merged(&m, a);
    return &m;
}
#define read_pattern_f32 read_pattern
#define read_pattern_f64 read_pattern
#endif

static void F(spmv)(const hand_args *a)
{
    const bench_pattern *p = a->pattern;
    const REAL *restrict v = a->in[0], *restrict x = a->in[1];
    const int32_t *restrict crd = p->crd;
    REAL *restrict y            = a->out[0];

#pragma omp      parallel for num_threads(a->threads) schedule(static)
    for (int k = 0; k < a->threads; k++) {
             const int64_t end = share_row(p, k + 1, a->threads);

             for (int64_t i = share_row(p, k, a->threads); i < end; i++) {
                 const int32_t from = p->pos[i], to = p->pos[i + 1];
                 REAL          sum = 0;

                 if (to - from < ROW_IS_LONG)
                for (int32_t e = from; e < to; e++)
                    sum += v[e] * x[crd[e]];
            else
#pragma omp simd reduction(+ : sum)
                for (int32_t e = from; e < to; e++)
                    sum += v[e] * x[crd[e]];
            y[i] = sum;
             }
         }
     }

/* Row by row, in a row of sums. */
static void F(square)(const hand_args *a)
{
    const bench_pattern *p = a->pattern;
    const square_places *s = places_of_square(p, a->dims & 2);
    const REAL *restrict v = a->in[0];
    REAL *restrict y       = a->out[0];

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int k = 0; k < a->threads; k++) {
        REAL *restrict sum = calloc((size_t)p->rows, sizeof *sum);
        const int64_t end  = share_row(p, k + 1, a->threads);

        for (int64_t i = share_row(p, k, a->threads); i < end; i++) {
            for (int32_t e = p->pos[i]; e < p->pos[i + 1]; e++) {
                const int32_t from = p->pos[p->crd[e]], to = p->pos[p->crd[e] + 1];

                for (int32_t f = from; f < to; f++)
                    sum[p->crd[f]] += v[e] * v[f];
            }
            for (int64_t n = s->pos[i]; n < s->pos[i + 1]; n++) {
                y[n]           = sum[s->crd[n]];
                sum[s->crd[n]] = 0;
            }
        }
        free(sum);
    }
}

/* Two rows in step. */
static void F(merge)(const hand_args *a)
{
    const bench_pattern *p = a->pattern, *q = a->other_pattern;
    merged_places *const m = places_of_both(a);
    const REAL *restrict v = a->in[0], *restrict w = a->in[1];
    REAL *restrict y = a->out[0];
    const bool plus = a->dims & 1, find = a->dims & 2;

    if (find)
        find_merged(m, a);
#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int k = 0; k < a->threads; k++) {
        const int64_t end = share_row(p, k + 1, a->threads);

        for (int64_t i = share_row(p, k, a->threads); i < end; i++) {
            int32_t       e = p->pos[i], f = q->pos[i];
            const int32_t e_end = p->pos[i + 1], f_end = q->pos[i + 1];
            int64_t       n = m->pos[i];

            while (plus ? e < e_end || f < f_end : e < e_end && f < f_end) {
                const int32_t c = e < e_end ? p->crd[e] : INT32_MAX;
                const int32_t d = f < f_end ? q->crd[f] : INT32_MAX;

                if (plus || c == d) {
                    y[n] = plus ? (c <= d ? v[e] : 0) + (d <= c ? w[f] : 0) : v[e] * w[f];
                    if (find)
                        m->crd[n] = c < d ? c : d;
                    n++;
                }
                e += c <= d;
                f += d <= c;
            }
        }
    }
}

/* Each thread has a result of its own. */
static void F(spmv_turned)(const hand_args *a)
{
    const bench_pattern *p = a->pattern;
    const REAL *restrict v = a->in[0], *restrict x = a->in[1];
    REAL *restrict y   = a->out[0];
    REAL *restrict own = calloc((size_t)(a->threads * p->rows), sizeof(REAL));

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int k = 0; k < a->threads; k++) {
        const int64_t end  = share_row(p, k + 1, a->threads);
        REAL *restrict sum = own + k * p->rows;

        for (int64_t i = share_row(p, k, a->threads); i < end; i++)
            for (int32_t e = p->pos[i]; e < p->pos[i + 1]; e++)
                sum[p->crd[e]] += v[e] * x[i];
    }
#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int64_t i = 0; i < p->rows; i++) {
        REAL sum = own[i];

        for (int k = 1; k < a->threads; k++)
            sum += own[k * p->rows + i];
        y[i] = sum;
    }
    free(own);
}

static void F(spmm)(const hand_args *a)
{
    const bench_pattern *p = a->pattern;
    const REAL *restrict v = a->in[0], *restrict x = a->in[1];
    REAL *restrict y = a->out[0];

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int k = 0; k < a->threads; k++) {
        const int64_t end = share_row(p, k + 1, a->threads);

        for (int64_t i = share_row(p, k, a->threads); i < end; i++) {
            REAL sum[SPMM_COLUMNS] = { 0 };

            for (int32_t e = p->pos[i]; e < p->pos[i + 1]; e++)
                for (int c = 0; c < SPMM_COLUMNS; c++)
                    sum[c] += v[e] * x[SPMM_COLUMNS * (int64_t)p->crd[e] + c];
            for (int c = 0; c < SPMM_COLUMNS; c++)
                y[SPMM_COLUMNS * i + c] = sum[c];
        }
    }
}

static void F(sddmm)(const hand_args *a)
{
    const bench_pattern *p = a->pattern;
    const REAL *restrict v = a->in[0], *restrict u = a->in[1], *restrict w = a->in[2];
    REAL *restrict y = a->out[0];

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int k = 0; k < a->threads; k++) {
        const int64_t end = share_row(p, k + 1, a->threads);

        for (int64_t i = share_row(p, k, a->threads); i < end; i++)
            for (int32_t e = p->pos[i]; e < p->pos[i + 1]; e++) {
                const REAL *restrict left  = u + SDDMM_LENGTH * i;
                const REAL *restrict right = w + SDDMM_LENGTH * (int64_t)p->crd[e];
                REAL sum                   = 0;

#pragma omp simd reduction(+ : sum)
                for (int c = 0; c < SDDMM_LENGTH; c++)
                    sum += left[c] * right[c];
                y[e] = v[e] * sum;
            }
    }
}

static void F(min_plus)(const hand_args *a)
{
    const bench_pattern *p = a->pattern;
    const REAL *restrict v = a->in[0], *restrict x = a->in[1];
    REAL *restrict y = a->out[0];

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int k = 0; k < a->threads; k++) {
        const int64_t end = share_row(p, k + 1, a->threads);

        for (int64_t i = share_row(p, k, a->threads); i < end; i++) {
            REAL least = (REAL)INFINITY;

            for (int32_t e = p->pos[i]; e < p->pos[i + 1]; e++) {
                const REAL s = v[e] + x[p->crd[e]];

                least = s < least ? s : least;
            }
            y[i] = least;
        }
    }
}

static void F(row_max)(const hand_args *a)
{
    const bench_pattern *p = a->pattern;
    const REAL *restrict v = a->in[0];
    REAL *restrict y       = a->out[0];

#pragma omp      parallel for num_threads(a->threads) schedule(static)
    for (int k = 0; k < a->threads; k++) {
             const int64_t end = share_row(p, k + 1, a->threads);

             for (int64_t i = share_row(p, k, a->threads); i < end; i++) {
                 const int32_t from = p->pos[i], to = p->pos[i + 1];
                 REAL          most = (REAL)-INFINITY;

                 if (to - from < ROW_IS_LONG)
                for (int32_t e = from; e < to; e++)
                    most = v[e] > most ? v[e] : most;
            else
#pragma omp simd reduction(max : most)
                for (int32_t e = from; e < to; e++)
                    most = v[e] > most ? v[e] : most;
            y[i] = most;
             }
         }
     }

static void F(page_rank)(const hand_args *a)
{
    const bench_pattern *p    = a->pattern;
    const REAL *restrict rank = a->in[0], *restrict links = a->in[1];
    const REAL rest     = (REAL)(0.15 / (double)p->rows);
    REAL *restrict y    = a->out[0];
    REAL *restrict part = malloc((size_t)p->rows * sizeof(REAL));

#pragma omp      parallel for num_threads(a->threads) schedule(static)
    for (int64_t i = 0; i < p->rows; i++)
        part[i] = rank[i] / links[i];
#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int k = 0; k < a->threads; k++) {
             const int64_t end = share_row(p, k + 1, a->threads);

             for (int64_t i = share_row(p, k, a->threads); i < end; i++) {
                 const int32_t from = p->pos[i], to = p->pos[i + 1];
                 REAL          sum = 0;

                 if (to - from < ROW_IS_LONG)
                for (int32_t e = from; e < to; e++)
                    sum += part[p->crd[e]];
            else
#pragma omp simd reduction(+ : sum)
                for (int32_t e = from; e < to; e++)
                    sum += part[p->crd[e]];
            y[i] = sum * (REAL)0.85 + rest;
             }
         }
         free(part);
     }

/* The weights of a row, w[0] on; exp of many at once. */
static void F(row_weights)(const bench_pattern *p, int64_t i, const REAL *s, const REAL *t, REAL *w)
{
    const int32_t from = p->pos[i], n = p->pos[i + 1] - from;
    REAL          most = (REAL)-INFINITY, sum = 0;

    for (int32_t e = 0; e < n; e++) {
        const REAL both  = s[i] + t[p->crd[from + e]];
        const REAL leaky = both * (REAL)0.2;

        w[e] = both > leaky ? both : leaky;
        most = w[e] > most ? w[e] : most;
    }
    for (int32_t e = 0; e < n; e += LANES) {
        V x = SPLAT(0);

        memcpy(&x, w + e, (size_t)(n - e < LANES ? n - e : LANES) * sizeof(REAL));
        x = F(exp)(x - most);
        memcpy(w + e, &x, (size_t)(n - e < LANES ? n - e : LANES) * sizeof(REAL));
    }
    for (int32_t e = 0; e < n; e++)
        sum += w[e];
    sum = 1 / sum;
    for (int32_t e = 0; e < n; e++)
        w[e] *= sum;
}

static void F(neighbours)(const hand_args *a)
{
    const bench_pattern *p = a->pattern;
    REAL                *y = a->out[0];

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int k = 0; k < a->threads; k++) {
        const int64_t end = share_row(p, k + 1, a->threads);

        for (int64_t i = share_row(p, k, a->threads); i < end; i++)
            F(row_weights)(p, i, a->in[1], a->in[2], y + p->pos[i]);
    }
}

static void F(attention)(const hand_args *a)
{
    const bench_pattern *p = a->pattern;
    const REAL *restrict x = a->in[0];
    REAL *restrict y       = a->out[0];

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int k = 0; k < a->threads; k++) {
        const int64_t end = share_row(p, k + 1, a->threads);
        REAL *restrict w  = malloc((size_t)p->rows * sizeof(REAL));

        for (int64_t i = share_row(p, k, a->threads); i < end; i++) {
            REAL sum[SPMM_COLUMNS] = { 0 };

            F(row_weights)(p, i, a->in[1], a->in[2], w);
            for (int32_t e = p->pos[i]; e < p->pos[i + 1]; e++)
                for (int c = 0; c < SPMM_COLUMNS; c++)
                    sum[c] += w[e - p->pos[i]] * x[SPMM_COLUMNS * (int64_t)p->crd[e] + c];
            for (int c = 0; c < SPMM_COLUMNS; c++)
                y[SPMM_COLUMNS * i + c] = sum[c];
        }
        free(w);
    }
}

/* Over axis 2 a sum a fibre, over axis 1 a row of sums for each i, over axis 0 tables of all
 * threads. */
static void F(cube_sum)(const hand_args *a)
{
    const bench_pattern *p = a->pattern;
    const REAL *restrict v = a->in[0];
    const int64_t jk = p->extent[1] * p->extent[2], row = p->extent[a->dims == 1 ? 2 : 1];
    REAL *restrict y      = a->out[0];
    REAL *restrict tables = calloc((size_t)(a->dims == 0 ? a->threads * jk : 1), sizeof(REAL));

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int k = 0; k < a->threads; k++)
        for (int64_t i = p->rows * k / a->threads; i < p->rows * (k + 1) / a->threads; i++) {
            REAL *restrict s = a->dims == 0 ? tables + k * jk : y + i * row;

            if (a->dims != 0)
                memset(s, 0, (size_t)row * sizeof(REAL));
            for (int32_t f = p->top[i]; f < p->top[i + 1]; f++) {
                const int64_t at  = a->dims == 0 ? p->fibre[f] * p->extent[2] : 0;
                REAL          sum = 0;

                for (int32_t e = p->pos[f]; e < p->pos[f + 1]; e++)
                    if (a->dims == 2)
                        sum += v[e];
                    else
                        s[at + p->crd[e]] += v[e];
                if (a->dims == 2)
                    s[p->fibre[f]] = sum;
            }
        }
    for (int64_t n = 0; a->dims == 0 && n < jk; n++) {
        REAL sum = 0;

        for (int k = 0; k < a->threads; k++)
            sum += tables[k * jk + n];
        y[n] = sum;
    }
    free(tables);
}
