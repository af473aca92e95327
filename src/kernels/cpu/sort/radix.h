/* radix.h - radix sort of keys, alone and with their places; sort_kernels.h includes it once for
 * each width of keys: K, BITS of it.
 *
 * Each pass sorts by one digit of 8 bits, from the last digit to the first (LSD, stable).  Digits
 * that are equal in all keys need no pass.
 *
 * JOIN(name, BITS) is a name for one width of keys: radix_sort_32. strip_end() is a point at which
 * a cancelled run leaves the sort. */
typedef struct JOIN(pair, BITS) {
    K key, place;
} JOIN(pair, BITS);

enum { JOIN(DIGITS, BITS) = BITS / 8, JOIN(FEW, BITS) = 24 };

/* Turns the counts of one digit (8 bits of a key) into the offset at which the keys with each digit
 * begin: an exclusive prefix sum.  False if all n keys have the same digit, that of any one key, as
 * the pass would move nothing. */
static bool JOIN(digit_offsets, BITS)(int64_t n, K digit_of_one, K *count)
{
    K before = 0;

    if (count[digit_of_one] == (K)n)
        return false;
    for (int d = 0; d < 256; d++) {
        const K here = count[d];

        count[d] = before;
        before += here;
    }
    return true;
}

/* Sorts n keys by a least-significant-digit radix sort, 8 bits a pass; `work` has room for n keys.
 * The digits of all passes are counted in one pass before.  Keys alternate between x and `work`,
 * and end in x. */
static void JOIN(radix_sort, BITS)(int64_t n, K *x, K *work)
{
    K  count[JOIN(DIGITS, BITS)][256];
    K *from = x, *to = work;

    memset(count, 0, sizeof count);
    for (int64_t i = 0; i < n;) /* strips of 65536: a cancelled run leaves between two */
        for (const int64_t end = strip_end(i, n); i < end; i++)
            for (int d = 0; d < JOIN(DIGITS, BITS); d++)
                count[d][x[i] >> 8 * d & 255]++;
    for (int d = 0; d < JOIN(DIGITS, BITS); d++) {
        if (!JOIN(digit_offsets, BITS)(n, x[0] >> 8 * d & 255, count[d]))
            continue;
        for (int64_t i = 0; i < n;)
            for (const int64_t end = strip_end(i, n); i < end; i++)
                to[count[d][from[i] >> 8 * d & 255]++] = from[i];
        K *const swap = from;
        from          = to;
        to            = swap;
    }
    if (from != x)
        copy_strips(n * (int64_t)sizeof *x, from, x);
}

/* Sorts n keys with their places (positions in the row) by insertion; equal keys keep their
 * order. */
static void JOIN(insert_pairs, BITS)(int64_t n, JOIN(pair, BITS) * x)
{
    for (int64_t i = 1; i < n; i++) {
        const JOIN(pair, BITS) one = x[i];
        int64_t k                  = i;

        for (; k > 0 && x[k - 1].key > one.key; k--)
            x[k] = x[k - 1];
        x[k] = one;
    }
}

/* Sorts n keys with their places (positions in the row): insertion for up to 24, else a stable
 * radix sort with 8 bits a pass.  Returns where the sorted pairs end up: x or `work`. */
static const JOIN(pair, BITS) *
    JOIN(sort_pairs, BITS)(int64_t n, JOIN(pair, BITS) * x, JOIN(pair, BITS) * work)
{
    K count[JOIN(DIGITS, BITS)][256];
    JOIN(pair, BITS) *from = x, *to = work;

    if (n <= JOIN(FEW, BITS)) {
        JOIN(insert_pairs, BITS)(n, x);
        return x;
    }
    memset(count, 0, sizeof count);
    for (int64_t i = 0; i < n;) /* strips of 65536: a cancelled run leaves between two */
        for (const int64_t end = strip_end(i, n); i < end; i++)
            for (int d = 0; d < JOIN(DIGITS, BITS); d++)
                count[d][x[i].key >> 8 * d & 255]++;
    for (int d = 0; d < JOIN(DIGITS, BITS); d++) {
        if (!JOIN(digit_offsets, BITS)(n, x[0].key >> 8 * d & 255, count[d]))
            continue;
        for (int64_t i = 0; i < n;)
            for (const int64_t end = strip_end(i, n); i < end; i++)
                to[count[d][from[i].key >> 8 * d & 255]++] = from[i];
        JOIN(pair, BITS) *const swap = from;
        from                         = to;
        to                           = swap;
    }
    return from;
}
