/* least.h - the first few of a row of keys in order (top k); sort_kernels.h includes it once for
 * each width of keys: K, BITS of it.
 *
 * The row is split into 64 interleaved runs.  Each run has a least key, and the k-th least key
 * among them is a bound: at least k keys are not above it.  A second pass finds the few keys up to
 * the bound and inserts them among the k least.  Without a bound some k (1 + log(n / k)) of n keys
 * would be inserted, each behind a branch that is hard to predict.
 *
 * JOIN(name, BITS) is a name for one width of keys: least_32. strip_end() is a point at which a
 * cancelled run leaves the sort. */
enum { JOIN(RUNS, BITS) = 64, JOIN(MOST_LEAST, BITS) = 32 };

/* The first few keys so far, in order, with their positions in the row. */
typedef struct JOIN(least, BITS) {
    int64_t n, most; /* keys kept now; at most                                      */
    int64_t hits;    /* insertions that are left before another method takes over   */
    K       below;   /* keys below this are among the first so far, as far as known */
    K       key[JOIN(MOST_LEAST, BITS)];
    int64_t place[JOIN(MOST_LEAST, BITS)];
} JOIN(least, BITS);

/* Inserts a key and its place (position in the row) among the first few, behind equal keys, which
 * come before it in the row.  Once there are `most`, the last one is dropped, and `below` is the
 * last key that is kept. */
static inline void JOIN(keep, BITS)(JOIN(least, BITS) * l, K key, int64_t place)
{
    int64_t k = l->n < l->most ? l->n++ : l->most - 1;

    for (; k > 0 && l->key[k - 1] > key; k--) {
        l->key[k]   = l->key[k - 1];
        l->place[k] = l->place[k - 1];
    }
    l->key[k]   = key;
    l->place[k] = place;
    if (l->n == l->most)
        l->below = l->key[l->most - 1];
    l->hits--;
}

/* ---- Passes ----------------------------------------------------------------------------------- */
/* Both functions take contiguous keys, the first of which has the given place. */
#if RD_VECTOR_BYTES == 64
/* Updates the least key of each of 64 runs with n keys, a multiple of 64: key i belongs to run i
 * mod 64. */
static void JOIN(least_of_runs, BITS)(int64_t n, const K *x, K *run)
{
    enum { LANES = 64 / sizeof(K), VECTORS = 64 / LANES };
    const unsigned all = (1U << (LANES - 1) << 1) - 1;
    __m512i        least[VECTORS];

    UNROLL(8)
    for (int k = 0; k < VECTORS; k++)
        least[k] = LOAD(all, run + k * LANES);
    for (int64_t i = 0; i < n; i += 64) {
        UNROLL(8)
        for (int k = 0; k < VECTORS; k++)
            least[k] = MIN(least[k], LOAD(all, x + i + k * LANES));
    }
    UNROLL(8)
    for (int k = 0; k < VECTORS; k++)
        STORE(run + k * LANES, least[k]);
}

/* Keeps the keys of a vector that are below the bound l->below, which falls as keys are kept: so
 * each is tested again.  `here` has a bit for each lane with a key; x[0] has position `place` in
 * the row. */
static inline void JOIN(take_vector, BITS)(JOIN(least, BITS) * l, unsigned here, const K *x,
                                           int64_t place)
{
    for (unsigned hit = here & BELOW(LOAD(here, x), SET(l->below)); hit; hit &= hit - 1) {
        const int k = __builtin_ctz(hit);

        if (x[k] < l->below)
            JOIN(keep, BITS)(l, x[k], place + k);
    }
}

/* Keeps those of n keys that are below the bound l->below; x[0] has position `place` in the row.
 * Four vectors are tested at once, as few keys are below. */
static void JOIN(take_least, BITS)(JOIN(least, BITS) * l, int64_t n, const K *x, int64_t place)
{
    enum { LANES = 64 / sizeof(K), AT_ONCE = 4 };
    const unsigned all = (1U << (LANES - 1) << 1) - 1;
    int64_t        i   = 0;

    for (; i + AT_ONCE * LANES <= n; i += AT_ONCE * LANES) {
        const __m512i below = SET(l->below);
        unsigned      hit   = 0;

        UNROLL(4)
        for (int k = 0; k < AT_ONCE; k++)
            hit |= BELOW(LOAD(all, x + i + k * LANES), below);
        for (int k = 0; hit && k < AT_ONCE; k++)
            JOIN(take_vector, BITS)(l, all, x + i + k * LANES, place + i + k * LANES);
    }
    for (; i < n; i += LANES)
        JOIN(take_vector, BITS)(l, n - i < LANES ? (1U << (n - i)) - 1 : all, x + i, place + i);
}
#else
/* Updates the least key of each of 64 runs with n keys, a multiple of 64 (without AVX-512): key i
 * belongs to run i mod 64. */
static void JOIN(least_of_runs, BITS)(int64_t n, const K *x, K *run)
{
    for (int64_t i = 0; i < n; i += 64)
        for (int k = 0; k < 64; k++)
            run[k] = x[i + k] < run[k] ? x[i + k] : run[k];
}

/* Keeps those of n keys that are below the bound l->below (without AVX-512); x[0] has position
 * `place` in the row.  32 keys are tested at once, as few are below. */
static void JOIN(take_least, BITS)(JOIN(least, BITS) * l, int64_t n, const K *x, int64_t place)
{
    enum { AT_ONCE = 32 };

    for (int64_t i = 0; i < n; i += AT_ONCE) {
        const int64_t end = n - i < AT_ONCE ? n : i + AT_ONCE;
        K             any = 0;

        for (int64_t j = i; j < end; j++)
            any |= x[j] < l->below;
        for (int64_t j = i; any && j < end; j++)
            if (x[j] < l->below)
                JOIN(keep, BITS)(l, x[j], place + j);
    }
}
#endif

/* ---- All together ----------------------------------------------------------------------------- */
/* Returns a bound that at least n_out keys do not exceed.  Key i belongs to run i mod 64; the bound
 * is the n_out-th least of the least keys of these 64 runs.  Keys behind the last whole round of 64
 * do not count. */
static K JOIN(bound, BITS)(const JOIN(row, BITS) * r)
{
    const int64_t whole = r->n / 64 * 64;
    K             run[JOIN(RUNS, BITS)], work[2 * JOIN(RUNS, BITS) + 32];

    for (int k = 0; k < 64; k++)
        run[k] = (K)-1;             /* the greatest */
    for (int64_t i = 0; i < whole;) /* strips of 65536: a cancelled run leaves between two */
        for (const int64_t end = strip_end(i, whole); i < end; i = end)
            JOIN(least_of_runs, BITS)(end - i, r->keys + i, run);
    JOIN(sort, BITS)(64, run, work);
    return run[r->s->n_out - 1];
}

/* Finds the first few keys of the row in one pass, 1024 at a time.  False if too few keys are
 * numbers (the bound is then the key of NaN, the greatest), or if too many keys had to be inserted
 * (hits is 0). */
static bool JOIN(find_least, BITS)(const JOIN(row, BITS) * r, JOIN(least, BITS) * l)
{
    const K bound = JOIN(bound, BITS)(r);

    if (bound == (K)-1) /* there are few numbers */
        return false;
    l->below = bound + 1;
    for (int64_t i = 0; i < r->n && l->hits > 0;)
        for (const int64_t end = strip_end(i, r->n); i < end && l->hits > 0; i += 1024)
            JOIN(take_least, BITS)(l, end - i < 1024 ? end - i : 1024, r->keys + i, i);
    return l->hits > 0;
}

/* Finds the first few keys (top k) with their positions.  False if another method must do it:
 * quantiles are asked for, k is more than 32 or a 16th of the row, the row is short, or too many
 * keys would be inserted.  `hits` limits the insertions. */
static bool JOIN(least_of, BITS)(const JOIN(row, BITS) * r, JOIN(least, BITS) * l)
{
    const int64_t k = r->s->n_out;

    if (r->s->facts->what == RD_SORT_QUANTILES || k == 0 || k > JOIN(MOST_LEAST, BITS) ||
        16 * k > r->n || r->n < 2 * JOIN(RUNS, BITS))
        return false;
    l->n    = 0;
    l->most = k;
    l->hits = 16 * k + r->n / 64;
    return JOIN(find_least, BITS)(r, l);
}

/* Writes the first few values, or their positions (argsort).  Zeros are copied from the row, as
 * their keys do not tell 0 from -0. */
static void JOIN(write_least, BITS)(const JOIN(row, BITS) * r, const JOIN(least, BITS) * l,
                                    void *to)
{
    const int64_t size = rd_dtype_size(r->s->type);

    if (r->s->facts->what == RD_SORT_PLACES) {
        memcpy(to, l->place, (size_t)l->n * sizeof *l->place);
        return;
    }
    r->to_elements(l->n, l->key, to, r->invert);
    for (int64_t k = 0; r->found.minus_zero && k < l->n; k++)
        if (l->key[k] == r->zero)
            memcpy((char *)to + k * size, (const char *)r->from + l->place[k] * size, (size_t)size);
}
