/* network.h - sorts keys by AVX-512; sort_kernels.h includes it once for each width of keys: K,
 * BITS of it.
 *
 * Up to 16 vectors are sorted in registers by Batcher's bitonic networks (1968, "Sorting networks
 * and their applications").  More keys are partitioned by a pivot from a sample (quicksort):
 * compressed vectors keep lower keys in front, and put the others in other memory, then copy them
 * back.  If samples fail too often, the radix sort takes over.
 *
 * A lane is a key in a vector.  JOIN(name, BITS) is a name for one width of keys: exchange_32.
 * LOAD, COMPRESS and the like are instructions for that width. */
enum {
    JOIN(LANES, BITS)     = 64 / sizeof(K),
    JOIN(REGISTERS, BITS) = 16,
    JOIN(BASE, BITS)      = JOIN(REGISTERS, BITS) * JOIN(LANES, BITS)
};

/* Returns v with its lanes (keys of a vector) exchanged in pairs: lane i gets the key of lane i ^
 * distance. */
static ALWAYS __m512i JOIN(permute_xor, BITS)(__m512i v, int distance)
{
    K at[JOIN(LANES, BITS)];

    UNROLL(16)
    for (int i = 0; i < JOIN(LANES, BITS); i++)
        at[i] = (K)(i ^ distance);
    return PERMUTE(_mm512_loadu_si512(at), v);
}

/* Returns a mask of the lanes that keep the greater key of a pair, lanes i and i ^ distance.  In an
 * ascending run that is the upper lane; runs of `run` lanes ascend and descend in turn (run 0: all
 * ascend). */
static ALWAYS unsigned JOIN(greater, BITS)(int distance, int run)
{
    unsigned mask = 0;

    UNROLL(16)
    for (int i = 0; i < JOIN(LANES, BITS); i++)
        mask |= (unsigned)(((i & distance) != 0) ^ ((i & run) != 0)) << i;
    return mask;
}

/* One step of a bitonic network within a vector: compares the keys of lanes `distance` apart, and
 * exchanges those out of order.  Lanes whose number has bit `run` set are in descending order; run
 * 0: all ascend. */
static ALWAYS __m512i JOIN(exchange, BITS)(__m512i v, int distance, int run)
{
    const __m512i other = JOIN(permute_xor, BITS)(v, distance);

    return MASK_MAX(MIN(v, other), JOIN(greater, BITS)(distance, run), v, other);
}

/* Returns a mask of the first n lanes of a vector; n may be negative (none) or too large (all). */
static ALWAYS unsigned JOIN(first, BITS)(int64_t n)
{
    return n >= JOIN(LANES, BITS) ? ~0U : n > 0 ? (1U << n) - 1 : 0;
}

/* Sorts a vector of keys that first rise, then fall (a bitonic sequence): compares lanes 8, 4, 2
 * and 1 apart, in ascending order (run 0). */
static ALWAYS __m512i JOIN(merge_bitonic, BITS)(__m512i v)
{
    if (JOIN(LANES, BITS) > 8)
        v = JOIN(exchange, BITS)(v, /*distance=*/8, /*run=*/0);
    v = JOIN(exchange, BITS)(v, /*distance=*/4, /*run=*/0);
    v = JOIN(exchange, BITS)(v, /*distance=*/2, /*run=*/0);
    return JOIN(exchange, BITS)(v, /*distance=*/1, /*run=*/0);
}

/* Sorts a vector by a bitonic network: runs of 2, 4, 8 lanes that rise and fall in turn, then all
 * lanes. exchange(v, distance, run) compares lanes `distance` apart; bit `run` of a lane says that
 * it descends. */
static ALWAYS __m512i JOIN(sort_vector, BITS)(__m512i v)
{
    v = JOIN(exchange, BITS)(v, /*distance=*/1, /*run=*/2);
    v = JOIN(exchange, BITS)(v, /*distance=*/2, /*run=*/4);
    v = JOIN(exchange, BITS)(v, /*distance=*/1, /*run=*/4);
    if (JOIN(LANES, BITS) > 8) {
        v = JOIN(exchange, BITS)(v, /*distance=*/4, /*run=*/8);
        v = JOIN(exchange, BITS)(v, /*distance=*/2, /*run=*/8);
        v = JOIN(exchange, BITS)(v, /*distance=*/1, /*run=*/8);
    }
    return JOIN(merge_bitonic, BITS)(v);
}

/* Compares vectors v[i] and v[i + distance], lane by lane: the lesser keys go to the first one.
 * One step of a bitonic merge of n vectors. */
static ALWAYS void JOIN(exchange_vectors, BITS)(int n, int distance, __m512i *v)
{
    UNROLL(16)
    for (int i = 0; i < n; i++)
        if (!(i & distance)) {
            const __m512i low = v[i];
            v[i]              = MIN(low, v[i + distance]);
            v[i + distance]   = MAX(low, v[i + distance]);
        }
}

/* Merges n sorted vectors with the n sorted ones behind them.  The second half is reversed, which
 * makes the whole a bitonic sequence (first rising, then falling).  Exchanges n, n / 2 ... 1
 * vectors apart leave work within vectors only. */
static ALWAYS void JOIN(merge_vectors, BITS)(int n, __m512i *v)
{
    UNROLL(8)
    for (int i = 0; i < n / 2; i++) {
        const __m512i swap = v[n + i];
        v[n + i]           = v[2 * n - 1 - i];
        v[2 * n - 1 - i]   = swap;
    }
    UNROLL(8)
    for (int i = 0; i < n; i++) {
        const __m512i back = JOIN(permute_xor, BITS)(v[n + i], JOIN(LANES, BITS) - 1), low = v[i];
        v[i]     = MIN(low, back);
        v[n + i] = MAX(low, back);
    }
    if (n >= 8)
        JOIN(exchange_vectors, BITS)(2 * n, /*distance=*/4, v);
    if (n >= 4)
        JOIN(exchange_vectors, BITS)(2 * n, /*distance=*/2, v);
    if (n >= 2)
        JOIN(exchange_vectors, BITS)(2 * n, /*distance=*/1, v);
    UNROLL(16)
    for (int i = 0; i < 2 * n; i++)
        v[i] = JOIN(merge_bitonic, BITS)(v[i]);
}

/* Sorts up to `most` vectors of keys (n keys) in registers: each vector alone, then merges of
 * pairs, fours and eights.  Lanes without a key hold the greatest key, so they go last; memory
 * behind the n keys stays as it is. */
static ALWAYS void JOIN(sort_registers, BITS)(int most, int64_t n, K *x)
{
    enum { LANES = JOIN(LANES, BITS) };
    __m512i v[JOIN(REGISTERS, BITS)];

    UNROLL(16)
    for (int k = 0; k < most; k++) {
        v[k] = LOAD_OR(JOIN(first, BITS)(n - k * LANES), SET(-1), x + k * LANES);
        if (k * LANES < n)
            v[k] = JOIN(sort_vector, BITS)(v[k]);
    }
    UNROLL(8)
    for (int k = 0; k + 1 < most; k += 2)
        if ((k + 1) * LANES < n)
            JOIN(merge_vectors, BITS)(/*n=*/1, v + k);
    UNROLL(4)
    for (int k = 0; k + 3 < most; k += 4)
        if ((k + 2) * LANES < n)
            JOIN(merge_vectors, BITS)(/*n=*/2, v + k);
    UNROLL(2)
    for (int k = 0; k + 7 < most; k += 8)
        if ((k + 4) * LANES < n)
            JOIN(merge_vectors, BITS)(/*n=*/4, v + k);
    if (most == 16)
        JOIN(merge_vectors, BITS)(/*n=*/8, v);
    UNROLL(16)
    for (int k = 0; k < most; k++)
        STORE_FIRST(JOIN(first, BITS)(n - k * LANES), x + k * LANES, v[k]);
}

/* Sorts up to 16 vectors of keys (BASE) in as few registers as hold them: 1, 2, 4, 8 or 16. */
static void JOIN(sort_base, BITS)(int64_t n, K *x)
{
    if (n > 8 * JOIN(LANES, BITS))
        JOIN(sort_registers, BITS)(/*most=*/16, n, x);
    else if (n > 4 * JOIN(LANES, BITS))
        JOIN(sort_registers, BITS)(/*most=*/8, n, x);
    else if (n > 2 * JOIN(LANES, BITS))
        JOIN(sort_registers, BITS)(/*most=*/4, n, x);
    else if (n > JOIN(LANES, BITS))
        JOIN(sort_registers, BITS)(/*most=*/2, n, x);
    else
        JOIN(sort_registers, BITS)(/*most=*/1, n, x);
}

/* Moves the keys up to `last` to the front, and the others behind them (by way of `work`).  Returns
 * how many keys are in front.  Full vectors may be stored over what was read before; the last one
 * must not write behind the keys. */
static int64_t JOIN(partition, BITS)(int64_t n, K *x, K last, K *work)
{
    const __m512i pivot = SET(last);
    int64_t       m = 0, rest = 0;

    for (int64_t i = 0; i < n;) /* strips of 65536: a cancelled run leaves between two */
        for (const int64_t end = strip_end(i, n); i < end; i += JOIN(LANES, BITS)) {
            const unsigned all  = (1U << (JOIN(LANES, BITS) - 1) << 1) - 1;
            const unsigned here = n - i < JOIN(LANES, BITS) ? (1U << (n - i)) - 1 : all;
            const __m512i  v    = LOAD(here, x + i);
            const unsigned low = here & WITHIN(v, pivot), high = here & ~low;
            /* at once: gcc 12 reads four bytes of a mask that it has spilled as one */
            const int lows = __builtin_popcount(low), highs = __builtin_popcount(high);

            if (here == all)
                STORE(x + m, COMPRESS(low, v));
            else
                STORE_FIRST((1U << lows) - 1, x + m, COMPRESS(low, v));
            STORE(work + rest, COMPRESS(high, v));
            m += lows;
            rest += highs;
        }
    copy_strips(rest * (int64_t)sizeof *x, work, x + m);
    return m;
}

/* Returns the pivot, the last key of the lower part: the middle key of a vector of samples, one at
 * a random position in each of LANES ranges of x.  *dice is the state of a linear congruential
 * generator. */
static K JOIN(pivot_of, BITS)(int64_t n, const K *x, uint32_t *dice)
{
    K             sample[JOIN(LANES, BITS)];
    const int64_t step = n / JOIN(LANES, BITS);

    for (int k = 0; k < JOIN(LANES, BITS); k++) {
        *dice     = *dice * 1664525U + 1013904223U;
        sample[k] = x[k * step + (int64_t)((uint64_t)(*dice >> 8) * (uint64_t)step >> 24)];
    }
    JOIN(sort_registers, BITS)(/*most=*/1, JOIN(LANES, BITS), sample);
    return sample[JOIN(LANES, BITS) / 2 - 1];
}

/* Sorts n keys by partitions; the lower part recursively, the upper one by the loop.  `work` has
 * room for n keys and a vector.  `depth` limits partitions in a row: at 0 samples have failed too
 * often, and the radix sort takes over. */
static void JOIN(quicksort, BITS)(int64_t n, K *x, K *work, int depth, uint32_t *dice)
{
    while (n > JOIN(BASE, BITS)) {
        if (depth-- == 0) {
            JOIN(radix_sort, BITS)(n, x, work);
            return;
        }
        const K last = JOIN(pivot_of, BITS)(n, x, dice);
        int64_t m    = JOIN(partition, BITS)(n, x, last, work);

        /* no key is above the pivot: keys that equal it go last, and are in order there */
        if (m == n) {
            if (last == 0)
                return;
            n = JOIN(partition, BITS)(n, x, last - 1, work);
            continue;
        }
        JOIN(quicksort, BITS)(m, x, work, depth, dice);
        x += m;
        n -= m;
    }
    JOIN(sort_base, BITS)(n, x);
}

/* Sorts n keys; `work` has room for n keys and a vector.  Twice log2(n) partitions and 8 more are
 * allowed. */
static void JOIN(sort, BITS)(int64_t n, K *x, K *work)
{
    uint32_t dice  = 1;
    int      depth = 8;

    for (int64_t k = n; k > 1; k /= 2)
        depth += 2;
    JOIN(quicksort, BITS)(n, x, work, depth, &dice);
}
