/* between.h - the one pass over keys that selection consists of; sort_kernels.h includes it once
 * for each width of keys: K, BITS of it.
 *
 * It copies keys in [lo, hi] to `to`, in their order, and counts those below lo in *less.  `to` has
 * room for all keys and for a vector more.  It returns how many keys it has copied.
 *
 * JOIN(name, BITS) is a name for one width of keys: between_32. LOAD, COMPRESS and the like are
 * AVX-512 instructions for that width. */
#if RD_VECTOR_BYTES == 64
/* Copies the keys in [lo, hi] to `to`, in their order, by compressed vectors of AVX-512.  *less
 * gets the number of keys below lo.  Returns how many were copied.  The unsigned test v - lo <= hi
 * - lo covers both bounds. */
static int64_t JOIN(between, BITS)(int64_t n, const K *x, K lo, K hi, K *to, int64_t *less)
{
    enum { LANES = 64 / sizeof(K) };
    const __m512i low = SET(lo), span = SET(hi - lo);
    int64_t       m = 0, below = 0;

    for (int64_t i = 0; i < n;) /* strips of 65536: a cancelled run leaves between two */
        for (const int64_t end = strip_end(i, n); i < end; i += LANES) {
            const unsigned here = /* lanes of this vector that hold a key: fewer at the end */
                n - i < LANES ? (1U << (n - i)) - 1 : (1U << (LANES - 1) << 1) - 1;
            const __m512i  v  = LOAD(here, x + i);
            const unsigned in = here & WITHIN(SUB(v, low), span); /* lanes with a key in [lo, hi] */

            STORE(to + m, COMPRESS(in, v));
            m += __builtin_popcount(in);
            below += __builtin_popcount(here & BELOW(v, low));
        }
    *less = below;
    return m;
}
#else
/* Copies the keys in [lo, hi] to `to`, in their order, without AVX-512 and without a branch: each
 * key is written, and the position advances only if the key is in the range.  *less gets the number
 * of keys below lo.  Returns how many were copied. */
static int64_t JOIN(between, BITS)(int64_t n, const K *x, K lo, K hi, K *to, int64_t *less)
{
    int64_t m = 0, below = 0;

    for (int64_t i = 0; i < n;) /* strips of 65536: a cancelled run leaves between two */
        for (const int64_t end = strip_end(i, n); i < end; i++) {
            const K v = x[i];

            to[m] = v;
            m += (K)(v - lo) <= (K)(hi - lo);
            below += v < lo;
        }
    *less = below;
    return m;
}
#endif
