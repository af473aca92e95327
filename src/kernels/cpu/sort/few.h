/* few.h - sorts keys without AVX-512; sort_kernels.h includes it once for each width of keys: K,
 * BITS of it.
 *
 * Few keys are sorted by insertion, some more by rank: a key's place is the number of keys that are
 * less, or equal and before it.  Many keys go to the radix sort.
 *
 * JOIN(name, BITS) is a name for one width of keys: insert_32. */
enum { JOIN(COUNTED, BITS) = 96 };

/* Sorts n keys by insertion. */
static void JOIN(insert, BITS)(int64_t n, K *x)
{
    for (int64_t i = 1; i < n; i++) {
        const K key = x[i];
        int64_t k   = i;

        for (; k > 0 && x[k - 1] > key; k--)
            x[k] = x[k - 1];
        x[k] = key;
    }
}

/* Sorts n keys by counting the rank of each one: how many keys are less, or equal and before it.
 * The rank is the position in x; `work` keeps a copy to count in. */
static void JOIN(rank_sort, BITS)(int64_t n, K *x, K *work)
{
    memcpy(work, x, (size_t)n * sizeof *x);
    for (int64_t k = 0; k < n; k++) {
        const K key    = work[k];
        K       before = 0;

        for (int64_t i = 0; i < k; i++)
            before += work[i] <= key;
        for (int64_t i = k + 1; i < n; i++)
            before += work[i] < key;
        x[before] = key;
    }
}

/* Sorts n keys by the method that is fastest for so many: insertion up to 24, ranks up to 96, then
 * a radix sort.  `work` has room for n keys. */
static void JOIN(sort, BITS)(int64_t n, K *x, K *work)
{
    if (n <= JOIN(FEW, BITS)) {
        JOIN(insert, BITS)(n, x);
        return;
    }
    if (n <= JOIN(COUNTED, BITS)) {
        JOIN(rank_sort, BITS)(n, x, work);
        return;
    }
    JOIN(radix_sort, BITS)(n, x, work);
}
