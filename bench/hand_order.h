/* hand_order.h - rows of (rows, n) in order, along either axis: medians, the ten greatest, all.  Columns are
 * turned, some at a time.  Included for each type. */

/* x[k] is where it belongs, what is less before it: Hoare (1961), "Algorithm 65: Find". */
static REAL F(kth)(REAL *x, int64_t n, int64_t k)
{
    for (int64_t lo = 0, hi = n - 1; lo < hi;) {
        const REAL a = x[lo], b = x[lo + (hi - lo) / 2], c = x[hi];
        const REAL pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
        int64_t    i = lo, j = hi;

        while (i <= j) {
            while (x[i] < pivot)
                i++;
            while (pivot < x[j])
                j--;
            if (i <= j) {
                const REAL swap = x[i];
                x[i++]          = x[j];
                x[j--]          = swap;
            }
        }
        if (k <= j)
            hi = j;
        else if (k >= i)
            lo = i;
        else
            break;
    }
    return x[k];
}

static void F(median_row)(REAL *x, int64_t n, REAL *y, REAL *work)
{
    const REAL high = F(kth)(x, n, n / 2);
    REAL       low  = x[0];

    (void)work;
    for (int64_t i = 1; i < n / 2; i++)
        low = x[i] > low ? x[i] : low;
    y[0] = n % 2 ? high : (low + high) / 2;
}

enum { F(TOP) = 10 };
static void F(top_row)(REAL *x, int64_t n, REAL *y, REAL *work)
{
    (void)work;
    for (int k = 0; k < F(TOP); k++)
        y[k] = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        int k = F(TOP) - 1;

        if (x[i] <= y[k])
            continue;
        for (; k > 0 && x[i] > y[k - 1]; k--)
            y[k] = y[k - 1];
        y[k] = x[i];
    }
}

/* By digits of 8 bits, of ints in the order of the floats. */
static void F(sort_row)(REAL *x, int64_t n, REAL *y, REAL *work)
{
    enum { DIGITS = sizeof(REAL) };
    INT      *from = (INT *)x, *to = (INT *)work;
    int32_t   count[DIGITS][256] = { { 0 } };
    const INT most               = (INT)(((uint64_t)1 << (8 * sizeof(INT) - 1)) - 1);

    for (int64_t i = 0; i < n; i++) {
        from[i] ^= from[i] >> (8 * sizeof(INT) - 1) & most;
        for (int d = 0; d < DIGITS; d++)
            count[d][(from[i] >> 8 * d & 255) ^ (d == DIGITS - 1 ? 128 : 0)]++;
    }
    for (int d = 0; d < DIGITS; d++) {
        INT *const swap = from;

        for (int32_t k = 0, before = 0; k < 256; k++) {
            const int32_t here = count[d][k];
            count[d][k]        = before;
            before += here;
        }
        for (int64_t i = 0; i < n; i++)
            to[count[d][(from[i] >> 8 * d & 255) ^ (d == DIGITS - 1 ? 128 : 0)]++] = from[i];
        from = to;
        to   = swap;
    }
    for (int64_t i = 0; i < n; i++)
        from[i] ^= from[i] >> (8 * sizeof(INT) - 1) & most;
    memcpy(y, from, (size_t)n * sizeof *y);
}

/* Each row, or column, of n elements leaves m. */
static void F(in_order)(const hand_args *a, int64_t m,
                        void (*row)(REAL *x, int64_t n, REAL *y, REAL *work))
{
    enum { LINE = 64 / sizeof(REAL) };
    const bool    along = a->dims == 2;
    const int64_t n = a->shape[along], others = a->shape[!along], at_once = along ? 1 : LINE;
    const REAL   *x = a->in[0];
    REAL         *y = a->out[0];

    m = m ? m : n;
#pragma omp parallel num_threads(a->threads)
    {
        REAL *copy =
            aligned_alloc(64, (size_t)(at_once * (n + m) + n) * sizeof *copy / 64 * 64 + 64);
        REAL *out = copy + at_once * n, *work = out + at_once * m;

#pragma omp for schedule(static)
        for (int64_t i = 0; i < others; i += at_once) {
            const int64_t here = others - i < at_once ? others - i : at_once;

            if (along)
                memcpy(copy, x + i * n, (size_t)n * sizeof *copy);
            for (int64_t k = 0; k < n && !along; k++)
                for (int64_t j = 0; j < here; j++)
                    copy[j * n + k] = x[k * others + i + j];
            for (int64_t j = 0; j < here; j++)
                row(copy + j * n, n, along ? y + i * m : out + j * m, work);
            for (int64_t k = 0; k < m && !along; k++)
                for (int64_t j = 0; j < here; j++)
                    y[k * others + i + j] = out[j * m + k];
        }
        free(copy);
    }
}

static void F(median)(const hand_args *a)
{
    F(in_order)(a, 1, F(median_row));
}

static void F(top10)(const hand_args *a)
{
    F(in_order)(a, F(TOP), F(top_row));
}

static void F(sort)(const hand_args *a)
{
    F(in_order)(a, 0, F(sort_row));
}
