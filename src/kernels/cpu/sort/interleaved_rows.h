/* interleaved_rows.h - short rows side by side; sort_kernels.h includes it once for each width of keys: K, BITS
 * of it.
 *
 * Element j of all rows is one array of keys, and a network compares whole arrays: no branch hangs
 * on what is found, and a vector holds as many rows as it holds keys.  Batcher (1968), "Sorting
 * networks and their applications".  A median of 12 elements took 140 ns as a row of its own.
 *
 * Which of -0 and 0 comes first hangs on places, so where results are elements and a row has a -0, it
 * goes by itself. */
enum {
    JOIN(INTERLEAVED, BITS) = RD_SORT_INTERLEAVED_BYTES / (int)sizeof(K)
}; /* rows side by side */

typedef K JOIN(rows_of_keys, BITS)[JOIN(INTERLEAVED, BITS)];

static ALWAYS void JOIN(compare, BITS)(K *restrict low, K *restrict high)
{
    for (int l = 0; l < JOIN(INTERLEAVED, BITS); l++) {
        const K a = low[l], b = high[l];

        low[l]  = a < b ? a : b;
        high[l] = a < b ? b : a;
    }
}

static ALWAYS void JOIN(compare_keys, BITS)(void *rows, int64_t i, int64_t k)
{
    JOIN(rows_of_keys, BITS) *x = rows;

    JOIN(compare, BITS)(x[i], x[k]);
}

static void JOIN(order, BITS)(int64_t n, JOIN(rows_of_keys, BITS) * x)
{
    merge_exchange(n, JOIN(compare_keys, BITS), x);
}

/* Some rows, and how elements of theirs become keys. Pitches are of bytes. */
typedef struct JOIN(group, BITS) {
    const rd_sorting *s;
    const char       *from;
    char             *to;
    int64_t           rows, from_pitch, to_pitch;
    found (*keys)(int64_t n, const void *from, K *restrict to, K turn);
    void (*back)(int64_t n, const K *from, void *restrict to, K turn);
    K     turn, zero;
    void *work;                             /* of a row that goes by itself */
    JOIN(rows_of_keys, BITS) * x;           /* keys, an array for each place in the row */
    found   found;                          /* in all of them */
    int32_t nan[JOIN(INTERLEAVED, BITS)];   /* in each */
    bool    alone[JOIN(INTERLEAVED, BITS)]; /* it goes by itself */
    char    elements[JOIN(INTERLEAVED, BITS) * sizeof(uint64_t)];
} JOIN(group, BITS);

static void JOIN(take_keys, BITS)(JOIN(group, BITS) * g)
{
    const int size = rd_dtype_size(g->s->type);

    g->found = (found){ 0 };
    memset(g->elements, 0, sizeof g->elements);
    for (int64_t j = 0; j < g->s->n; j++) {
        take_column(size, g->rows, g->from + j * size, g->from_pitch, g->elements);
        const found here = g->keys(JOIN(INTERLEAVED, BITS), g->elements, g->x[j], g->turn);
        g->found.nan += here.nan;
        g->found.minus_zero |= here.minus_zero;
    }
}

/* Of floats the greatest key is that of a NaN. */
static void JOIN(count_nan, BITS)(JOIN(group, BITS) * g)
{
    memset(g->nan, 0, sizeof g->nan);
    for (int64_t j = 0; g->found.nan > 0 && j < g->s->n; j++)
        for (int l = 0; l < JOIN(INTERLEAVED, BITS); l++)
            g->nan[l] += g->x[j][l] == (K)-1;
}

/* Rows with a -0 go by themselves.  False: so do all, as the few that are left cost as much as many. */
static bool JOIN(part_with_zeros, BITS)(JOIN(group, BITS) * g)
{
    enum { FEW = 8 };
    int64_t left = g->rows;

    memset(g->alone, 0, sizeof g->alone);
    for (int64_t j = 0; g->found.minus_zero && j < g->s->n; j++)
        for (int l = 0; l < JOIN(INTERLEAVED, BITS); l++)
            g->alone[l] |= g->x[j][l] == g->zero;
    for (int64_t l = 0; l < g->rows; l++)
        left -= g->alone[l] != 0;
    for (int64_t l = 0; left < g->rows && l < g->rows; l++)
        if (g->alone[l] || left < FEW)
            JOIN(rd_sort_row, NAME)
    (g->s, g->from + l * g->from_pitch, g->to + l * g->to_pitch, g->work);
    return left == g->rows || left >= FEW;
}

/* ---- Values ---------------------------------------------------------------------------------- */
static void JOIN(give_values, BITS)(JOIN(group, BITS) * g)
{
    const int size = rd_dtype_size(g->s->type);

    for (int64_t k = 0; k < g->s->n_out; k++) {
        g->back(JOIN(INTERLEAVED, BITS), g->x[k], g->elements, g->turn);
        give_column(size, g->rows, g->elements, g->alone, g->to + k * size, g->to_pitch);
    }
}

/* ---- Quantiles ------------------------------------------------------------------------------- */
/* One of each row, as numbers. */
static void JOIN(numbers, BITS)(JOIN(group, BITS) * g, const K *keys, double *y)
{
    const rd_dtype type = g->s->type;
    const int      size = rd_dtype_size(type);

    g->back(JOIN(INTERLEAVED, BITS), keys, g->elements, g->turn);
    for (int l = 0; type == RD_F32 && l < JOIN(INTERLEAVED, BITS); l++)
        y[l] = (double)((const float *)(void *)g->elements)[l];
    for (int l = 0; type == RD_F64 && l < JOIN(INTERLEAVED, BITS); l++)
        y[l] = ((const double *)(void *)g->elements)[l];
    for (int l = 0; type != RD_F32 && type != RD_F64 && l < JOIN(INTERLEAVED, BITS); l++)
        y[l] = rd_word_to_double(rd_word_load(g->elements + l * size, type), type);
}

/* Between which two keys the quantile of each row lies, and how far from the first, which hangs
 * on how many of its elements are numbers; below 0: of too few. */
typedef struct JOIN(between_keys, BITS) {
    K      low[JOIN(INTERLEAVED, BITS)], high[JOIN(INTERLEAVED, BITS)];
    double between[JOIN(INTERLEAVED, BITS)];
} JOIN(between_keys, BITS);

static void JOIN(look_up, BITS)(const JOIN(group, BITS) * g, double q, JOIN(between_keys, BITS) * b)
{
    rd_quantile_place at[RD_SORT_INTERLEAVED_MOST + 1];
    bool              known[RD_SORT_INTERLEAVED_MOST + 1] = { false };

    for (int l = 0; l < JOIN(INTERLEAVED, BITS); l++) {
        const int64_t n    = g->s->n - g->nan[l];
        const bool    none = n == 0 || (g->nan[l] > 0 && !g->s->facts->skip_nan);

        if (!none && !known[n])
            at[n] = rd_quantile_at((rd_quantile_method)g->s->facts->method, q, n);
        known[n] |= !none;
        b->low[l]     = g->x[none ? 0 : at[n].low][l];
        b->high[l]    = g->x[none ? 0 : at[n].high][l];
        b->between[l] = none ? -1 : at[n].between;
    }
}

/* One place for all rows, as none has a NaN. */
static void JOIN(quantile_of_all, BITS)(JOIN(group, BITS) * g, double q, double *y)
{
    const rd_quantile_place at =
        rd_quantile_at((rd_quantile_method)g->s->facts->method, q, g->s->n);
    double high[JOIN(INTERLEAVED, BITS)];

    JOIN(numbers, BITS)(g, g->x[at.low], y);
    if (at.between == 0)
        return;
    JOIN(numbers, BITS)(g, g->x[at.high], high);
    for (int l = 0; l < JOIN(INTERLEAVED, BITS); l++)
        y[l] = rd_quantile_of(y[l], high[l], at.between);
}

static void JOIN(quantile_of_each, BITS)(JOIN(group, BITS) * g, double q, double *y)
{
    JOIN(between_keys, BITS) b;
    double high[JOIN(INTERLEAVED, BITS)];

    JOIN(look_up, BITS)(g, q, &b);
    JOIN(numbers, BITS)(g, b.low, y);
    JOIN(numbers, BITS)(g, b.high, high);
    for (int l = 0; l < JOIN(INTERLEAVED, BITS); l++)
        y[l] = b.between[l] < 0    ? (double)NAN
               : b.between[l] == 0 ? y[l]
                                   : rd_quantile_of(y[l], high[l], b.between[l]);
}

static void JOIN(give_numbers, BITS)(JOIN(group, BITS) * g, const double *y, char *to)
{
    const rd_dtype out  = g->s->out;
    const int      size = rd_dtype_size(out);

    for (int l = 0; out == RD_F32 && l < JOIN(INTERLEAVED, BITS); l++)
        ((float *)(void *)g->elements)[l] = (float)y[l];
    for (int l = 0; out == RD_F64 && l < JOIN(INTERLEAVED, BITS); l++)
        ((double *)(void *)g->elements)[l] = y[l];
    for (int l = 0; out != RD_F32 && out != RD_F64 && l < JOIN(INTERLEAVED, BITS); l++)
        rd_word_store(g->elements + l * size, out, rd_word_from_double(y[l], out));
    give_column(size, g->rows, g->elements, g->alone, to, g->to_pitch);
}

static void JOIN(give_quantiles, BITS)(JOIN(group, BITS) * g)
{
    for (int64_t k = 0; k < g->s->n_out; k++) {
        double y[JOIN(INTERLEAVED, BITS)];

        if (g->found.nan > 0)
            JOIN(quantile_of_each, BITS)(g, g->s->facts->q[k], y);
        else
            JOIN(quantile_of_all, BITS)(g, g->s->facts->q[k], y);
        JOIN(give_numbers, BITS)(g, y, g->to + k * rd_dtype_size(g->s->out));
    }
}

/* ---------------------------------------------------------------------------------------------- */
/* Up to BESIDE rows. */
static void JOIN(sort_interleaved, BITS)(JOIN(group, BITS) * g)
{
    JOIN(take_keys, BITS)(g);
    if (!JOIN(part_with_zeros, BITS)(g))
        return;
    JOIN(count_nan, BITS)(g);
    JOIN(order, BITS)(g->s->n, g->x);
    if (g->s->facts->what == RD_SORT_VALUES)
        JOIN(give_values, BITS)(g);
    else
        JOIN(give_quantiles, BITS)(g);
}
