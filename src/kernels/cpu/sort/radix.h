/* radix.h - keys by their digits, alone and with their places; sort_kernels.h includes it once for each width
 * of keys: K, BITS of it.
 *
 * They are dealt by one digit of 8 bits after the other, from the last to the first; digits that all
 * have in common are passed over.  Equal keys keep their order. */
typedef struct JOIN(pair, BITS) {
    K key, place;
} JOIN(pair, BITS);

enum { JOIN(DIGITS, BITS) = BITS / 8, JOIN(FEW, BITS) = 24 };

/* Where those with each digit begin; false: all have the same. */
static bool JOIN(begins, BITS)(int64_t n, K digit_of_one, K *count)
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

/* By digits. */
static void JOIN(deal, BITS)(int64_t n, K *x, K *work)
{
    K  count[JOIN(DIGITS, BITS)][256];
    K *from = x, *to = work;

    memset(count, 0, sizeof count);
    for (int64_t i = 0; i < n;)
        for (const int64_t end = strip_end(i, n); i < end; i++)
            for (int d = 0; d < JOIN(DIGITS, BITS); d++)
                count[d][x[i] >> 8 * d & 255]++;
    for (int d = 0; d < JOIN(DIGITS, BITS); d++) {
        if (!JOIN(begins, BITS)(n, x[0] >> 8 * d & 255, count[d]))
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

/* Where they are in the end: at x, or at `work`. */
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
    for (int64_t i = 0; i < n;)
        for (const int64_t end = strip_end(i, n); i < end; i++)
            for (int d = 0; d < JOIN(DIGITS, BITS); d++)
                count[d][x[i].key >> 8 * d & 255]++;
    for (int d = 0; d < JOIN(DIGITS, BITS); d++) {
        if (!JOIN(begins, BITS)(n, x[0].key >> 8 * d & 255, count[d]))
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
