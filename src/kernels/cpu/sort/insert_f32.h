/* insert_f32.h - takes strips of f32 while up to 32 are kept, by AVX-512; take_strip.h includes it.
 *
 * The kept elements stay in one or two vectors in order, their places in as many.  An element that
 * comes before the last of them is put in by a shift of lanes, so the bound is exact at once and no
 * branch depends on where the element belongs.  Lanes behind the kept ones hold anything: elements
 * only move to later lanes. */
enum { KEPT_IN_VECTORS = 32, INSERT_BLOCK = 128 };

typedef struct kept_lanes {
    __m512  x[2];
    __m512i place[2];
} kept_lanes;

/* Returns a mask of the lanes of `of` whose elements x comes before in the order that is asked for;
 * none for NaN. */
static ALWAYS unsigned comes_before(__m512 x, __m512 of, bool descending)
{
    return descending ? _mm512_cmp_ps_mask(x, of, _CMP_GT_OQ)
                      : _mm512_cmp_ps_mask(x, of, _CMP_LT_OQ);
}

/* Inserts element `one`, at position `at` of the row, into the sorted lanes of one or two vectors,
 * behind equal elements; the last lane drops out.  Lanes whose element it comes before (`moves`)
 * take what is one lane before them, if it comes before that, too (`behind`); the first of them
 * takes the element. */
static ALWAYS void insert_lane(kept_lanes *l, int vectors, float one, int64_t at, bool descending)
{
    const __m512  x     = _mm512_set1_ps(one);
    const __m512i place = _mm512_set1_epi32((int)at);
    __m512i       low   = _mm512_castps_si512(_mm512_set1_ps(descending ? INFINITY : -INFINITY)),
            lows        = low;

    UNROLL(2)
    for (int k = 0; k < vectors; k++) {
        const __m512i   v = _mm512_castps_si512(l->x[k]), p = l->place[k];
        const __m512i   above  = _mm512_alignr_epi32(v, low, 15);
        const __m512i   places = _mm512_alignr_epi32(p, lows, 15);
        const __mmask16 moves  = (__mmask16)comes_before(x, l->x[k], descending);
        const __mmask16 behind = (__mmask16)comes_before(x, _mm512_castsi512_ps(above), descending);

        l->x[k]     = _mm512_mask_mov_ps(l->x[k], moves,
                                         _mm512_mask_mov_ps(x, behind, _mm512_castsi512_ps(above)));
        l->place[k] = _mm512_mask_mov_epi32(p, moves, _mm512_mask_mov_epi32(place, behind, places));
        low         = v;
        lows        = p;
    }
}

/* Returns element `most` - 1 of the sorted lanes, the last that is kept, in all lanes: an element
 * must come before it. */
static ALWAYS __m512 bound_of_lanes(const kept_lanes *l, int vectors, int64_t most)
{
    return _mm512_permutexvar_ps(_mm512_set1_epi32((int)(most - 1) % 16), l->x[vectors - 1]);
}

/* Returns a mask of 64 elements at x: bit i is set if element i comes before the bound. */
static ALWAYS uint64_t before_bound(const float *x, __m512 bound, bool descending)
{
    uint64_t in = 0;

    UNROLL(4)
    for (int k = 0; k < 4; k++)
        in |= (uint64_t)comes_before(_mm512_loadu_ps(x + 16 * k), bound, descending) << 16 * k;
    return in;
}

/* True if one of INSERT_BLOCK = 128 elements comes before the bound: then so does the least
 * (descending: greatest) of them and the bound. min() and max() return their second operand if the
 * first is NaN. */
static ALWAYS bool any_in_block(const float *x, __m512 bound, bool descending)
{
    __m512 first[2] = { bound, bound };

    UNROLL(8)
    for (int k = 0; k < INSERT_BLOCK / 16; k++)
        first[k % 2] = descending ? _mm512_max_ps(_mm512_loadu_ps(x + 16 * k), first[k % 2])
                                  : _mm512_min_ps(_mm512_loadu_ps(x + 16 * k), first[k % 2]);
    first[0] = descending ? _mm512_max_ps(first[0], first[1]) : _mm512_min_ps(first[0], first[1]);
    return comes_before(first[0], bound, descending) != 0;
}

/* Takes n elements of the strip into the sorted first few, which stay in one or two vectors with
 * their positions in the row.  Blocks of 128 with no element before the bound are passed over.  The
 * last elements are all inserted without a test: those behind the bound change no lane that
 * counts. */
static ALWAYS void take_into_lanes(kept *f, int vectors, int64_t n, const float *x, int64_t place,
                                   bool descending)
{
    uint32_t *const at = f->place;
    float *const    y  = (float *)(void *)f->x;
    kept_lanes      l;
    __m512          bound;

    for (int k = 0; k < vectors; k++) {
        l.x[k]     = _mm512_loadu_ps(y + 16 * k);
        l.place[k] = _mm512_loadu_si512(at + 16 * k);
    }
    bound = bound_of_lanes(&l, vectors, f->most);
    for (int64_t i = 0; i < n; i += INSERT_BLOCK) {
        const int64_t end = n - i < INSERT_BLOCK ? n : i + INSERT_BLOCK;

        if (end - i == INSERT_BLOCK && !any_in_block(x + i, bound, descending))
            continue;
        for (int64_t j = i; j < end; j += 64) {
            uint64_t in = 0;

            if (end - j >= 64)
                in = before_bound(x + j, bound, descending);
            else
                for (int64_t k = j; k < end; k++)
                    in |= (uint64_t)1 << (k - j);
            for (; in; in &= in - 1) {
                const int64_t k = j + __builtin_ctzll(in);

                insert_lane(&l, vectors, x[k], place + k, descending);
            }
            bound = bound_of_lanes(&l, vectors, f->most);
        }
    }
    for (int k = 0; k < vectors; k++) {
        _mm512_storeu_ps(y + 16 * k, l.x[k]);
        _mm512_storeu_si512(at + 16 * k, l.place[k]);
    }
}

/* Takes n f32 of a strip by insertion into sorted vectors.  False if that cannot be done: the first
 * few so far are not in order, have no bound yet, or are more than 32.  `descending` and the
 * vectors (1 or 2) become constants. */
static bool insert_f32(kept *f, int64_t n, const float *x, int64_t place)
{
    const bool descending = f->s->facts->descending;

    if (f->comes != BEFORE_COMES || !f->ordered || f->most > KEPT_IN_VECTORS)
        return false;
    if (f->most <= 16 && descending)
        take_into_lanes(f, /*vectors=*/1, n, x, place, /*descending=*/true);
    else if (f->most <= 16)
        take_into_lanes(f, /*vectors=*/1, n, x, place, /*descending=*/false);
    else if (descending)
        take_into_lanes(f, /*vectors=*/2, n, x, place, /*descending=*/true);
    else
        take_into_lanes(f, /*vectors=*/2, n, x, place, /*descending=*/false);
    return true;
}
