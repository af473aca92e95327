/* interleaved_rows.h - sorts short rows interleaved; sort_kernels.h includes it once for each width
 * of keys: K, BITS of it.
 *
 * Element j of all rows is one array of keys, and a sorting network compares whole arrays: no
 * branch depends on keys, and a vector holds as many rows as it holds keys.  Batcher (1968),
 * "Sorting networks and their applications".  A median of 12 elements took 140 ns as a row of its
 * own.
 *
 * Whether -0 or 0 comes first depends on places.  So a row with a -0 is sorted alone where results
 * are elements.
 *
 * A group is as many rows as are sorted side by side; x[j][l] is the key of element j in row l.  A
 * row that is sorted alone has its results already.  JOIN(name, BITS) is a name for one width of
 * keys: group_32. */
enum {
    JOIN(INTERLEAVED, BITS) = RD_SORT_INTERLEAVED_BYTES / (int)sizeof(K)
}; /* rows side by side */

typedef K JOIN(rows_of_keys, BITS)[JOIN(INTERLEAVED, BITS)];

/* Puts the lesser of two keys of every row into `low`, the greater into `high`; element l of both
 * belongs to row l. */
static ALWAYS void JOIN(compare, BITS)(K *restrict low, K *restrict high)
{
    for (int l = 0; l < JOIN(INTERLEAVED, BITS); l++) {
        const K a = low[l], b = high[l];

        low[l]  = a < b ? a : b;
        high[l] = a < b ? b : a;
    }
}

/* One comparator of the sorting network: compares and exchanges elements i and k of all rows.  Row
 * l is column l of the array. */
static ALWAYS void JOIN(compare_keys, BITS)(void *rows, int64_t i, int64_t k)
{
    JOIN(rows_of_keys, BITS) *x = rows;

    JOIN(compare, BITS)(x[i], x[k]);
}

/* Sorts all rows at once by a network without branches: x[j][l] is the key of element j of row
 * l. */
static void JOIN(order, BITS)(int64_t n, JOIN(rows_of_keys, BITS) * x)
{
    merge_exchange(n, JOIN(compare_keys, BITS), x);
}

/* The rows that are sorted side by side, and how their elements become keys.  Pitches are bytes
 * from row to row. */
typedef struct JOIN(group, BITS) {
    const rd_sorting *s;
    const char       *from;
    char             *to;
    int64_t           rows, from_pitch, to_pitch;
    found (*keys)(int64_t n, const void *from, K *restrict to, K invert);
    void (*to_elements)(int64_t n, const K *from, void *restrict to, K invert);
    K     invert, zero;                   /* all ones for a descending order; the key of 0 and -0 */
    void *work;                           /* for a row that is sorted alone */
    JOIN(rows_of_keys, BITS) * x;         /* keys, an array for each place in the row */
    found   found;                        /* in all rows together */
    int32_t nan[JOIN(INTERLEAVED, BITS)]; /* of each row */
    bool    alone[JOIN(INTERLEAVED, BITS)]; /* the row is sorted alone */
    char    elements[JOIN(INTERLEAVED, BITS) * sizeof(uint64_t)];
} JOIN(group, BITS);

/* Loads the elements of all rows as keys: x[j][l] is the key of element j of row l.  Counts NaN and
 * notes whether there is a -0, over all rows. */
static void JOIN(load_keys, BITS)(JOIN(group, BITS) * g)
{
    const int size = rd_dtype_size(g->s->type);

    g->found = (found){ 0 };
    memset(g->elements, 0, sizeof g->elements);
    for (int64_t j = 0; j < g->s->n; j++) {
        load_column(size, g->rows, g->from + j * size, g->from_pitch, g->elements);
        const found here = g->keys(JOIN(INTERLEAVED, BITS), g->elements, g->x[j], g->invert);
        g->found.nan += here.nan;
        g->found.minus_zero |= here.minus_zero;
    }
}

/* Counts the NaN of each row.  NaN of floats have the greatest key, and only they: found.nan is 0
 * for ints. */
static void JOIN(count_nan, BITS)(JOIN(group, BITS) * g)
{
    memset(g->nan, 0, sizeof g->nan);
    for (int64_t j = 0; g->found.nan > 0 && j < g->s->n; j++)
        for (int l = 0; l < JOIN(INTERLEAVED, BITS); l++)
            g->nan[l] += g->x[j][l] == (K)-1;
}

/* If some row has a -0, sorts each row with a zero alone, as the order of -0 and 0 depends on their
 * positions.  If fewer than FEW rows are left, sorts these alone, too, as the network costs the
 * same for any number.  False if all rows are done. */
static bool JOIN(sort_rows_with_zeros, BITS)(JOIN(group, BITS) * g)
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
/* Writes the first n_out sorted elements back to their rows, one element of each row at a time;
 * rows that were sorted alone have theirs. */
static void JOIN(write_values, BITS)(JOIN(group, BITS) * g)
{
    const int size = rd_dtype_size(g->s->type);

    for (int64_t k = 0; k < g->s->n_out; k++) {
        g->to_elements(JOIN(INTERLEAVED, BITS), g->x[k], g->elements, g->invert);
        store_column(size, g->rows, g->elements, g->alone, g->to + k * size, g->to_pitch);
    }
}

/* ---- Quantiles ------------------------------------------------------------------------------- */
/* Converts one key of each row to its element as a double in y[l]. */
static void JOIN(numbers, BITS)(JOIN(group, BITS) * g, const K *keys, double *y)
{
    const rd_dtype type = g->s->type;
    const int      size = rd_dtype_size(type);

    g->to_elements(JOIN(INTERLEAVED, BITS), keys, g->elements, g->invert);
    for (int l = 0; type == RD_F32 && l < JOIN(INTERLEAVED, BITS); l++)
        y[l] = (double)((const float *)(void *)g->elements)[l];
    for (int l = 0; type == RD_F64 && l < JOIN(INTERLEAVED, BITS); l++)
        y[l] = ((const double *)(void *)g->elements)[l];
    for (int l = 0; type != RD_F32 && type != RD_F64 && l < JOIN(INTERLEAVED, BITS); l++)
        y[l] = rd_word_to_double(rd_word_load(g->elements + l * size, type), type);
}

/* The two keys between which the quantile of each row lies, and how far from the first (0 to 1).
 * This depends on how many of the row's elements are numbers.  `between` is -1 if the quantile is
 * NaN. */
typedef struct JOIN(between_keys, BITS) {
    K      low[JOIN(INTERLEAVED, BITS)], high[JOIN(INTERLEAVED, BITS)];
    double between[JOIN(INTERLEAVED, BITS)];
} JOIN(between_keys, BITS);

/* Finds the two keys of each row between which its quantile q lies; `between` is -1 if the row has
 * no number, or a NaN that counts (`none`).  Rows with equally many numbers share one position,
 * which is computed once (`known`). */
static void JOIN(find_between, BITS)(const JOIN(group, BITS) * g, double q,
                                     JOIN(between_keys, BITS) * b)
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

/* Sets y[l] to quantile q of row l, for rows without NaN: all have it at the same position.
 * `between` is how far it lies from the lower element towards the higher; 0: on the lower one. */
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

/* Sets y[l] to quantile q of row l, each at its own position, as some rows have NaN. `between`
 * below 0: the result is NaN. */
static void JOIN(quantile_of_each, BITS)(JOIN(group, BITS) * g, double q, double *y)
{
    JOIN(between_keys, BITS) b;
    double high[JOIN(INTERLEAVED, BITS)];

    JOIN(find_between, BITS)(g, q, &b);
    JOIN(numbers, BITS)(g, b.low, y);
    JOIN(numbers, BITS)(g, b.high, high);
    for (int l = 0; l < JOIN(INTERLEAVED, BITS); l++)
        y[l] = b.between[l] < 0    ? (double)NAN
               : b.between[l] == 0 ? y[l]
                                   : rd_quantile_of(y[l], high[l], b.between[l]);
}

/* Writes y[l], one result of each row, converted from double to the type of results; rows that were
 * sorted alone keep theirs. */
static void JOIN(write_numbers, BITS)(JOIN(group, BITS) * g, const double *y, char *to)
{
    const rd_dtype out  = g->s->out;
    const int      size = rd_dtype_size(out);

    for (int l = 0; out == RD_F32 && l < JOIN(INTERLEAVED, BITS); l++)
        ((float *)(void *)g->elements)[l] = (float)y[l];
    for (int l = 0; out == RD_F64 && l < JOIN(INTERLEAVED, BITS); l++)
        ((double *)(void *)g->elements)[l] = y[l];
    for (int l = 0; out != RD_F32 && out != RD_F64 && l < JOIN(INTERLEAVED, BITS); l++)
        rd_word_store(g->elements + l * size, out, rd_word_from_double(y[l], out));
    store_column(size, g->rows, g->elements, g->alone, to, g->to_pitch);
}

/* Writes all quantiles of all rows. */
static void JOIN(write_quantiles, BITS)(JOIN(group, BITS) * g)
{
    for (int64_t k = 0; k < g->s->n_out; k++) {
        double y[JOIN(INTERLEAVED, BITS)];

        /* rows with NaNs have fewer elements to take quantiles of */
        if (g->found.nan > 0)
            JOIN(quantile_of_each, BITS)(g, g->s->facts->q[k], y);
        else
            JOIN(quantile_of_all, BITS)(g, g->s->facts->q[k], y);
        JOIN(write_numbers, BITS)(g, y, g->to + k * rd_dtype_size(g->s->out));
    }
}

/* ---------------------------------------------------------------------------------------------- */
/* Sorts up to INTERLEAVED rows side by side by a network, and writes values or quantiles.  Rows
 * with a -0 are sorted alone. */
static void JOIN(sort_interleaved, BITS)(JOIN(group, BITS) * g)
{
    JOIN(load_keys, BITS)(g);
    if (!JOIN(sort_rows_with_zeros, BITS)(g))
        return;
    JOIN(count_nan, BITS)(g);
    JOIN(order, BITS)(g->s->n, g->x);
    if (g->s->facts->what == RD_SORT_VALUES)
        JOIN(write_values, BITS)(g);
    else
        JOIN(write_quantiles, BITS)(g);
}
