/* select.h - selection: the key of a rank (nth element); sort_kernels.h includes it once for each
 * width of keys: K, BITS of it.
 *
 * A sample gives two bounds that the key probably lies between: Floyd and Rivest (1975), "Expected
 * time bounds for selection". One pass keeps the keys between these bounds, mostly a quarter.  Some
 * dozens of keys are selected by counting.  Where samples do not help, keys are selected by their
 * digits, from the first one on.
 *
 * The rank of a key is how many keys come before it in order.  JOIN(name, BITS) is a name for one
 * width of keys: select_32. */
enum { JOIN(SAMPLE, BITS) = 64, JOIN(BAD_PASSES, BITS) = 4 };

/* Returns the key of a rank (how many keys precede it in order) among at most 64.  It counts, for
 * each key, those below and equal, until below <= rank < below + equal.  *less gets the number
 * below.  The unsigned difference covers both bounds. */
static K JOIN(select_by_counting, BITS)(int64_t n, const K *x, int64_t rank, int64_t *less)
{
    for (int64_t k = 0;; k++) {
        const K key   = x[k];
        K       below = 0, equal = 0;

        for (int64_t i = 0; i < n; i++) {
            below += x[i] < key;
            equal += x[i] == key;
        }
        if ((K)(rank - below) < equal || k + 1 == n) {
            *less = (int64_t)below;
            return key;
        }
    }
}

/* Returns the key of a rank by digits of 8 bits, from the highest: each pass counts digits and
 * copies the keys with the digit that the rank falls into.  *less gets how many keys are below.
 * `to` has room for n keys. */
static K JOIN(select_by_digits, BITS)(int64_t n, const K *x, int64_t rank, K *to, int64_t *less)
{
    K lo = 0; /* the digits of the key that are known */

    *less = 0;
    for (int shift = BITS - 8; shift >= 0; shift -= 8) {
        int64_t count[256] = { 0 }, digit = 0, ignored;

        for (int64_t i = 0; i < n;) /* strips of 65536: a cancelled run leaves between two */
            for (const int64_t end = strip_end(i, n); i < end; i++)
                count[x[i] >> shift & 255]++;
        for (; rank >= count[digit]; digit++) {
            rank -= count[digit];
            *less += count[digit];
        }
        lo |= (K)digit << shift;
        /* the keys that begin with these digits */
        n = JOIN(between, BITS)(n, x, lo, lo | (((K)1 << shift) - 1), to, &ignored);
        x = to;
    }
    return lo;
}

/* The key of a rank, and that of the next one if it is found on the way. */
typedef struct JOIN(selected, BITS) {
    K       key, next;
    int64_t less; /* keys below `key` */
    bool    has_next;
} JOIN(selected, BITS);

/* Returns the keys of this rank (keys before it in order) and of the next one, among at most 64
 * keys. */
static JOIN(selected, BITS) JOIN(select_few, BITS)(int64_t n, const K *x, int64_t rank)
{
    JOIN(selected, BITS) y = { .has_next = rank + 1 < n };
    int64_t ignored;

    y.key = JOIN(select_by_counting, BITS)(n, x, rank, &y.less);
    if (y.has_next)
        y.next = JOIN(select_by_counting, BITS)(n, x, rank + 1, &ignored);
    return y;
}

/* Sets two keys that probably enclose the key of the rank, 8 ranks of a sample below and above.
 * The sample has 64 keys, a random one of each n / 64.  *dice is the state of a linear congruential
 * generator (Numerical Recipes). */
static void JOIN(bounds, BITS)(int64_t n, const K *x, int64_t rank, uint32_t *dice, K *lo, K *hi)
{
    enum { MANY = JOIN(SAMPLE, BITS), AROUND = 8 };
    /* `at`: the rank within the sample */
    const int64_t step = n / MANY, at = rank / step < MANY ? rank / step : MANY - 1;
    K             sample[MANY];
    int64_t       ignored;

    for (int64_t k = 0; k < MANY; k++) {
        *dice     = *dice * 1664525U + 1013904223U;
        sample[k] = x[k * step + (int64_t)((uint64_t)(*dice >> 8) * (uint64_t)step >> 24)];
    }
    *lo = at >= AROUND ? JOIN(select_by_counting, BITS)(MANY, sample, at - AROUND, &ignored) : 0;
    *hi = at + AROUND < MANY ? JOIN(select_by_counting, BITS)(MANY, sample, at + AROUND, &ignored)
                             : (K)-1;
}

/* Returns the key of a rank (keys before it in order) among n > 0: each pass keeps the keys between
 * two bounds, or on one side of them, and lowers the rank by the keys that it drops below.  Passes
 * that keep more than half are bad; after BAD_PASSES of them digits decide.  `work` has room for
 * twice n keys and two vectors; x stays as it is. */
static JOIN(selected, BITS) JOIN(select, BITS)(int64_t n, const K *x, int64_t rank, K *work)
{
    K       *to = work, *other = work + n + 16; /* 16: a vector */
    int64_t  below = 0, ignored;
    uint32_t dice  = 1;

    for (int bad = 0; n > JOIN(SAMPLE, BITS); bad++) {
        K       lo, hi;
        int64_t m, under; /* keys between the bounds, and below them */

        JOIN(bounds, BITS)(n, x, rank, &dice, &lo, &hi);
        m = JOIN(between, BITS)(n, x, lo, hi, to, &under);
        if (rank < under) { /* the key is below both bounds */
            m     = JOIN(between, BITS)(n, x, 0, lo - 1, to, &ignored);
            under = 0;
        } else if (rank >= under + m) /* above both */
            m = JOIN(between, BITS)(n, x, hi + 1, (K)-1, to, &under);
        else if (lo == hi) /* all keys that are left are equal */
            return (JOIN(selected, BITS)){ lo, lo, below + under, rank + 1 < under + m };
        else if (m > n / 2) {
            /* the bounds have not helped: many keys may equal one of them */
            K low = 0, high = 0;

            for (int64_t i = 0; i < n;) /* strips of 65536: a cancelled run leaves between two */
                for (const int64_t end = strip_end(i, n); i < end; i++) {
                    low += x[i] == lo;
                    high += x[i] == hi;
                }
            if (rank - under < (int64_t)low)
                return (JOIN(selected, BITS)){ lo, lo, below + under,
                                               rank + 1 < under + (int64_t)low };
            if (rank - under >= m - (int64_t)high)
                return (JOIN(selected, BITS)){ hi, hi, below + under + m - (int64_t)high,
                                               rank + 1 < under + m };
        }
        bad -= m <= n / 2; /* a good pass takes back what the loop adds */
        below += under;
        rank -= under;
        n             = m;
        x             = to;
        K *const swap = to;
        to            = other;
        other         = swap;
        if (bad == JOIN(BAD_PASSES, BITS)) {
            int64_t under_digits;
            const K key = JOIN(select_by_digits, BITS)(n, x, rank, to, &under_digits);
            return (JOIN(selected, BITS)){ .key = key, .less = below + under_digits };
        }
    }
    JOIN(selected, BITS) y = JOIN(select_few, BITS)(n, x, rank);

    y.less += below;
    return y;
}

/* Returns the key of rank + 1, which exists; y has the key of `rank`.  Both are equal if more than
 * rank + 1 keys are not above that one; else it is the least key above. */
static K JOIN(next, BITS)(int64_t n, const K *x, int64_t rank, const JOIN(selected, BITS) * y)
{
    int64_t up_to = 0; /* keys not above the selected one */
    K       least = (K)-1;

    if (y->has_next)
        return y->next;
    for (int64_t i = 0; i < n;) /* strips of 65536: a cancelled run leaves between two */
        for (const int64_t end = strip_end(i, n); i < end; i++) {
            up_to += x[i] <= y->key;
            least = x[i] > y->key && x[i] < least ? x[i] : least;
        }
    return rank + 1 < up_to ? y->key : least;
}
