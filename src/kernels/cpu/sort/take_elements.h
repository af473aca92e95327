/* take_elements.h - finds the elements of a strip that may be among the first few; take_strip.h
 * includes it once for each type: T, its name OF, ANY an unsigned int as wide.
 *
 * Blocks without an element before the bound are passed over by vectors of comparisons. */

#if RD_VECTOR_BYTES == 64 && defined(LESS)
/* True if one of BLOCK = 64 elements comes before `bound`, which is a number: then so does the
 * least (descending: greatest) of them and the bound.  FIRST(x, y), the minimum, is y if x is
 * NaN. */
static ALWAYS bool JOIN(any_before, OF)(const T *x, T bound, bool descending)
{
    enum { LANES = 64 / sizeof(T) };
    const VECTOR all   = ALL_OF(bound);
    VECTOR       first = all;

    UNROLL(8)
    for (int k = 0; k < BLOCK; k += LANES)
        first = descending ? LAST(VECTOR_AT(x + k), first) : FIRST(VECTOR_AT(x + k), first);
    return (descending ? LESS(all, first) : LESS(first, all)) != 0;
}

/* Adds those of BLOCK = 64 elements that come before the bound to the candidates: their positions
 * in the row, by compressed stores.  x[0] has position `place`.  Which elements come before is hard
 * to predict, so no branch depends on it. */
static ALWAYS void JOIN(add_before, OF)(kept *f, const T *x, int64_t place, T bound,
                                        bool descending)
{
    enum { LANES = 64 / sizeof(T) };
    const __m512i ramp =
        _mm512_add_epi32(_mm512_set1_epi32((int)place),
                         _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));

    UNROLL(8)
    for (int k = 0; k < BLOCK; k += LANES) {
        const unsigned in = descending ? LESS(ALL_OF(bound), VECTOR_AT(x + k))
                                       : LESS(VECTOR_AT(x + k), ALL_OF(bound));

        _mm512_storeu_si512(f->place + f->n,
                            _mm512_maskz_compress_epi32(
                                (__mmask16)in, _mm512_add_epi32(ramp, _mm512_set1_epi32(k))));
        f->n += __builtin_popcount(in);
    }
}
#else
/* True if one of n elements comes before `bound`, which is a number; n is a constant. */
static ALWAYS bool JOIN(any_of, OF)(int n, const T *x, T bound, bool descending)
{
    ANY any = 0;

    for (int i = 0; i < n; i++)
        any |= descending ? x[i] > bound : x[i] < bound;
    return any;
}

/* True if one of BLOCK = 64 elements comes before `bound`, a number (without AVX-512). */
static ALWAYS bool JOIN(any_before, OF)(const T *x, T bound, bool descending)
{
    return JOIN(any_of, OF)(BLOCK, x, bound, descending);
}

/* Adds the positions of those of BLOCK = 64 elements that come before the bound to the candidates
 * (without AVX-512); x[0] has position `place`.  In parts of 16 with such an element each position
 * is written, and counts if it does: no branch depends on one element. */
static ALWAYS void JOIN(add_before, OF)(kept *f, const T *x, int64_t place, T bound,
                                        bool descending)
{
    enum { PART = 16 };
    int64_t n = f->n;

    for (int k = 0; k < BLOCK; k += PART)
        if (JOIN(any_of, OF)(PART, x + k, bound, descending))
            for (int i = k; i < k + PART; i++) {
                f->place[n] = (uint32_t)(place + i);
                n += descending ? x[i] > bound : x[i] < bound;
            }
    f->n = n;
}
#endif

/* Adds n elements, a block of 64 or less, to the candidates for the first few one by one: all of
 * them, those that are not NaN, or those before the bound, as f->comes says.  A position is always
 * written, and counts if its element does. */
static ALWAYS void JOIN(add_each, OF)(kept *f, int64_t n, const T *x, int64_t place, T bound,
                                      bool descending)
{
    for (int64_t i = 0; i < n; i++) {
        f->place[f->n] = (uint32_t)(place + i);
        f->n += f->comes == ALL_COME       ? true
                : f->comes == NUMBERS_COME ? !IS_NAN(x[i])
                                           : (descending ? x[i] > bound : x[i] < bound);
    }
}

/* True if one of BLOCK elements, from number i of the strip on, may come before `bound`.  A front is
 * less to read than its block; one of NaN tells nothing. */
static ALWAYS bool JOIN(may_come, OF)(const kept *f, int64_t i, const T *x, T bound,
                                      bool descending)
{
    enum { LANES = RD_FRONT_WORDS * 8 / sizeof(T) };
    const T *const front = (const T *)(const void *)f->front + i / BLOCK * LANES;
    ANY            any   = 0;

    if (i / BLOCK >= f->fronts)
        return JOIN(any_before, OF)(x + i, bound, descending);
    for (int k = 0; k < LANES; k++)
        any |= !(descending ? front[k] <= bound : front[k] >= bound);
    return any;
}

/* ---- The first strip ------------------------------------------------------------------------- */
/* Finds a bound in the first strip of a row, so that at least `most` elements come before it.
 * Element i belongs to run i mod 64; the first elements of the 64 runs are sorted, and the bound is
 * the next value after the `most`-th.  False if there is none, as numbers are few. */
static ALWAYS bool JOIN(find_bound, OF)(int64_t most, int64_t n, const T *x, T *bound,
                                        bool descending)
{
    const KEY invert = descending ? (KEY)(ANY)-1 : 0;
    T         run[RUNS_OF_STRIP], last;
    ANY       bits[RUNS_OF_STRIP];
    KEY       key[RUNS_OF_STRIP], work[RUNS_OF_STRIP + 16];

    memcpy(run, x, sizeof run);
    for (int64_t i = RUNS_OF_STRIP; i + RUNS_OF_STRIP <= n; i += RUNS_OF_STRIP)
        for (int k = 0; k < RUNS_OF_STRIP; k++)
            run[k] = (descending ? x[i + k] > run[k] : x[i + k] < run[k]) ? x[i + k] : run[k];
    memcpy(bits, run, sizeof bits);
    (void)JOIN(keys, OF)(RUNS_OF_STRIP, bits, key, invert);
    SORT_KEYS(RUNS_OF_STRIP, key, work);
    key[0] = key[most - 1];
    key[1] = key[0] + 1; /* the next element of the type in order */
    JOIN(elements, OF)(/*n=*/2, key, bits, invert);
    memcpy(&last, &bits[0], sizeof last);
    memcpy(bound, &bits[1], sizeof *bound);
    return descending ? *bound < last : *bound > last;
}

/* ---- Any strip ------------------------------------------------------------------------------- */
/* Takes n elements of a row from position `place` on, in blocks of 64: blocks with no element
 * before the bound are passed over, and elements that may be among the first few become candidates.
 * `descending` is a constant. */
static ALWAYS void JOIN(take_in_order, OF)(kept *f, int64_t n, const T *x, int64_t place,
                                           bool descending)
{
    T       bound;
    int64_t i = 0;

    memcpy(&bound, f->bound, sizeof bound);
    if (place == 0 && n >= FEWEST_OF_STRIP && f->most <= MOST_OF_RUNS &&
        JOIN(find_bound, OF)(f->most, n, x, &bound, descending)) {
        memcpy(f->bound, &bound, sizeof bound);
        f->comes = BEFORE_COMES;
    }
    while (i < n) {
        const int64_t m = n - i < BLOCK ? n - i : BLOCK;

        if (f->comes == BEFORE_COMES && m == BLOCK &&
            !JOIN(may_come, OF)(f, i, x, bound, descending)) {
            i += BLOCK;
            continue;
        }
        if (f->n + BLOCK > f->room) {
            shrink(f); /* no room: sorts the candidates and keeps the first few */
            memcpy(&bound, f->bound, sizeof bound);
            continue;
        }
        if (f->comes == BEFORE_COMES && m == BLOCK)
            JOIN(add_before, OF)(f, x + i, place + i, bound, descending);
        else
            JOIN(add_each, OF)(f, m, x + i, place + i, bound, descending);
        i += m;
    }
}

/* Takes n elements of a row from position `place` on; `descending` becomes a constant. */
static void JOIN(take, OF)(kept *f, int64_t n, const T *x, int64_t place, bool descending)
{
    if (descending)
        JOIN(take_in_order, OF)(f, n, x, place, /*descending=*/true);
    else
        JOIN(take_in_order, OF)(f, n, x, place, /*descending=*/false);
}
#undef T
#undef OF
#undef ANY
#undef KEY
#undef SORT_KEYS
#undef LESS
#undef FIRST
#undef LAST
#undef VECTOR
#undef VECTOR_AT
#undef ALL_OF
