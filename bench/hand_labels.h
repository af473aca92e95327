/* hand_labels.h - sums and counts of (n) or (n, 16) by int64 labels, and histograms of [0, 1).  Their
 * number is `dims`.  Included for each type. */

#ifndef HAND_LABELS_H
#define HAND_LABELS_H
/* Up to so many groups have four tables, which take turns. */
enum { LABEL_FEW = 1024, LABEL_COLUMNS = 16 };

/* Tables of all threads, of 8 bytes a number. */
static void *label_tables(const hand_args *a, int64_t numbers)
{
    return calloc((size_t)(a->threads * numbers), 8);
}

static void add_counts(const hand_args *a, int64_t tables, const int64_t *s)
{
    const int64_t groups = a->dims;
    int64_t      *y      = a->out[0];

    for (int64_t g = 0; g < groups; g++) {
        y[g] = 0;
        for (int64_t k = 0; k < tables; k++)
            y[g] += s[k * groups + g];
    }
}

static void label_count(const hand_args *a)
{
    const int64_t *label = a->in[1], n = a->shape[0], groups = a->dims;
    int64_t       *all = label_tables(a, 4 * groups);

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int k = 0; k < a->threads; k++) {
        const int64_t end = share_start(n, k + 1, a->threads);
        int64_t      *s   = all + 4 * k * groups;
        int64_t       i   = share_start(n, k, a->threads);

        for (; i + 4 <= end; i += 4)
            for (int u = 0; u < 4; u++)
                s[u * groups + label[i + u]]++;
        for (; i < end; i++)
            s[label[i]]++;
    }
    add_counts(a, 4 * a->threads, all);
    free(all);
}
#endif

static void F(label_count)(const hand_args *a)
{
    label_count(a);
}

/* Labels i64 and few groups: four tables of doubles; many: one of the elements' type. */
static void F(label_sum)(const hand_args *a)
{
    const REAL    *x     = a->in[0];
    const int64_t *label = a->in[1], n = a->shape[0], groups = a->dims;
    const int      tables = groups <= LABEL_FEW ? 4 : 1;
    double        *few    = label_tables(a, tables == 4 ? 4 * groups : 0);
    REAL          *many = label_tables(a, tables == 1 ? groups : 0), *y = a->out[0];

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int k = 0; k < a->threads; k++) {
        const int64_t end = share_start(n, k + 1, a->threads);
        double       *s   = few + 4 * k * groups;
        REAL         *t   = many + k * groups;
        int64_t       i   = share_start(n, k, a->threads);

        for (; tables == 4 && i + 4 <= end; i += 4)
            for (int u = 0; u < 4; u++)
                s[u * groups + label[i + u]] += (double)x[i + u];
        for (; tables == 4 && i < end; i++)
            s[label[i]] += (double)x[i];
        for (; i < end; i++)
            t[label[i]] += x[i];
    }
    for (int64_t g = 0; g < groups; g++) {
        double sum = 0;

        for (int k = 0; k < tables * a->threads; k++)
            sum += tables == 4 ? few[k * groups + g] : (double)many[k * groups + g];
        y[g] = (REAL)sum;
    }
    free(few);
    free(many);
}

static void F(label_rows)(const hand_args *a)
{
    const REAL    *x     = a->in[0];
    const int64_t *label = a->in[1], n = a->shape[0], groups = a->dims;
    double        *all = label_tables(a, LABEL_COLUMNS * groups);
    REAL          *y   = a->out[0];

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int k = 0; k < a->threads; k++)
        for (int64_t i = share_start(n, k, a->threads); i < share_start(n, k + 1, a->threads);
             i++) {
            double *s = all + (k * groups + label[i]) * LABEL_COLUMNS;

            for (int c = 0; c < LABEL_COLUMNS; c++)
                s[c] += (double)x[LABEL_COLUMNS * i + c];
        }
    for (int64_t g = 0; g < LABEL_COLUMNS * groups; g++) {
        double sum = 0;

        for (int k = 0; k < a->threads; k++)
            sum += all[k * groups * LABEL_COLUMNS + g];
        y[g] = (REAL)sum;
    }
    free(all);
}

static void F(histogram)(const hand_args *a)
{
    const REAL   *x = a->in[0];
    const int64_t n = a->shape[0], bins = a->dims;
    int64_t      *all = label_tables(a, 4 * bins);

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int k = 0; k < a->threads; k++) {
        int64_t *s = all + 4 * k * bins;

        for (int64_t i = share_start(n, k, a->threads); i < share_start(n, k + 1, a->threads); i++)
            if (x[i] >= 0 && x[i] <= 1) {
                const int64_t bin = (int64_t)(x[i] * (REAL)bins);

                s[(i & 3) * bins + (bin < bins ? bin : bins - 1)]++;
            }
    }
    add_counts(a, 4 * a->threads, all);
    free(all);
}
