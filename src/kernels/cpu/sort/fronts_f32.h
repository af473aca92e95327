/* fronts_f32.h - takes strips of f32 by the fronts of their blocks (kernels/first_few.h), while up to
 * 32 are kept, by AVX-512; take_strip.h includes it.
 *
 * A bit tells which blocks have a front before the bound, and only these are read.  So the one branch
 * that is hard to guess is how many there are.  The fronts of the first strip give the first bound:
 * the last of the first few of 16 or 64 groups, which some more elements than these few come before. */
enum { FRONT_LANES = RD_FRONT_WORDS * 2, FEW_OF_LANES = 8 };

/* The lanes of x that come before the bound, or with it if `with`.  One of NaN does not. */
static ALWAYS unsigned within(__m512 x, __m512 bound, bool with, bool descending)
{
    return with ? (descending ? _mm512_cmp_ps_mask(x, bound, _CMP_GE_OQ)
                              : _mm512_cmp_ps_mask(x, bound, _CMP_LE_OQ))
                : comes_before(x, bound, descending);
}

/* True if an element of a block may come before the bound, or with it.  A front of NaN tells
 * nothing. */
static ALWAYS bool front_is_within(__m512 front, __m512 bound, bool with, bool descending)
{
    return (with ? (descending ? _mm512_cmp_ps_mask(front, bound, _CMP_NLT_UQ)
                               : _mm512_cmp_ps_mask(front, bound, _CMP_NGT_UQ))
                 : (descending ? _mm512_cmp_ps_mask(front, bound, _CMP_NLE_UQ)
                               : _mm512_cmp_ps_mask(front, bound, _CMP_NGE_UQ))) != 0;
}

/* The bits of n blocks that may have such elements; `n` is a constant if there are 16. */
static ALWAYS uint64_t bits_within(int64_t n, const float *front, __m512 bound, bool with,
                                   bool descending)
{
    uint64_t bits = 0;

    UNROLL(16)
    for (int64_t k = 0; k < n; k++)
        bits |= (uint64_t)front_is_within(_mm512_loadu_ps(front + FRONT_LANES * k), bound, with,
                                          descending)
                << k;
    return bits;
}

/* True if some of 16 blocks may have elements before the bound.  No lane of a front of NaN is behind
 * it. */
static ALWAYS bool any_of_16(const float *front, __m512 bound, bool descending)
{
    __mmask16 behind[4] = { 0xffff, 0xffff, 0xffff, 0xffff };

    UNROLL(16)
    for (int k = 0; k < 16; k++) {
        const __m512 x = _mm512_loadu_ps(front + FRONT_LANES * k);

        behind[k % 4] = descending ? _mm512_mask_cmp_ps_mask(behind[k % 4], x, bound, _CMP_LE_OQ)
                                   : _mm512_mask_cmp_ps_mask(behind[k % 4], x, bound, _CMP_GE_OQ);
    }
    return (behind[0] & behind[1] & behind[2] & behind[3]) != 0xffff;
}

/* The bits of blocks that may have elements before the bound, or with it.  `rare`: mostly there are
 * none. */
static ALWAYS uint64_t blocks_within(int64_t n, const float *front, __m512 bound, bool with,
                                     bool rare, bool descending)
{
    if (n != 16)
        return bits_within(n, front, bound, with, descending);
    if (rare && !any_of_16(front, bound, descending))
        return 0;
    return bits_within(16, front, bound, with, descending);
}

/* The lanes of n elements, 64 at most, that come before the bound, or with it. */
static ALWAYS uint64_t elements_within(int64_t n, const float *x, __m512 bound, bool with,
                                       bool descending)
{
    const uint64_t all = n < 64 ? ((uint64_t)1 << n) - 1 : UINT64_MAX;
    uint64_t       in  = 0;

    UNROLL(4)
    for (int k = 0; k < 4; k++)
        in |= (uint64_t)within(_mm512_maskz_loadu_ps((__mmask16)(all >> 16 * k), x + 16 * k), bound,
                               with, descending)
              << 16 * k;
    return in & all;
}

/* Puts those of n elements into lanes that come before the bound, or with it; the bound follows. */
static ALWAYS void take_block(kept_lanes *l, int vectors, int64_t most, int64_t n, const float *x,
                              int64_t place, __m512 *bound, bool with, bool descending)
{
    __m512 last;

    for (uint64_t in = elements_within(n, x, *bound, with, descending); in; in &= in - 1) {
        const int64_t k = __builtin_ctzll(in);

        insert_lane(l, vectors, x[k], place + k, descending);
    }
    last   = bound_of_lanes(l, vectors, most);
    *bound = descending ? _mm512_max_ps(last, *bound) : _mm512_min_ps(last, *bound);
}

/* ---- The first bound ------------------------------------------------------------------------- */
/* Element number `most` of 16 or 64 elements in order, none of which is NaN: the last of those that
 * fewer than `most` come before. */
static ALWAYS float last_of_groups(const __m512 *group, int vectors, int64_t most, bool descending)
{
    float   one[4 * FRONT_LANES], last = descending ? INFINITY : -INFINITY;
    __m512i before[4];

    for (int k = 0; k < vectors; k++) {
        before[k] = _mm512_setzero_si512();
        _mm512_storeu_ps(one + FRONT_LANES * k, group[k]);
    }
    for (int i = 0; i < vectors * FRONT_LANES; i++)
        for (int k = 0; k < vectors; k++)
            before[k] = _mm512_mask_add_epi32(
                before[k], (__mmask16)comes_before(_mm512_set1_ps(one[i]), group[k], descending),
                before[k], _mm512_set1_epi32(1));
    for (int k = 0; k < vectors; k++) {
        const __mmask16 in = _mm512_cmplt_epi32_mask(before[k], _mm512_set1_epi32((int)most));
        const float     x  = descending ? _mm512_mask_reduce_min_ps(in, group[k])
                                        : _mm512_mask_reduce_max_ps(in, group[k]);

        last = descending ? (x < last ? x : last) : (x > last ? x : last);
    }
    return last;
}

/* A bound that at least `most` elements of blocks come before, or with.  Few numbers: it is the last
 * of all numbers.  min() and max() are their second operand if the first is NaN. */
static ALWAYS float first_bound(int64_t n, const float *front, int64_t most, bool descending)
{
    const __m512 end      = _mm512_set1_ps(descending ? -INFINITY : INFINITY);
    __m512       group[4] = { end, end, end, end };

    for (int64_t k = 0; k < n; k++) {
        const __m512 x = _mm512_loadu_ps(front + FRONT_LANES * k);

        group[k % 4] = descending ? _mm512_max_ps(x, group[k % 4]) : _mm512_min_ps(x, group[k % 4]);
    }
    if (most > FEW_OF_LANES)
        return last_of_groups(group, 4, most, descending);
    for (int k = 1; k < 4; k++)
        group[0] =
            descending ? _mm512_max_ps(group[k], group[0]) : _mm512_min_ps(group[k], group[0]);
    return last_of_groups(group, 1, most, descending);
}

/* ---- Strips ---------------------------------------------------------------------------------- */
/* Takes the blocks of a strip, and what is behind them.  Of elements in any order, strip number k has
 * 1/k of the first few so far. */
static ALWAYS void take_blocks(kept_lanes *l, int vectors, int64_t most, const rd_row_strip *strip,
                               const float *front, __m512 bound, bool with, bool descending)
{
    const int64_t      whole = strip->fronts * RD_FRONT_BLOCK;
    const float *const x     = strip->from;
    const bool         rare  = strip->begin > 2 * most * strip->n;

    for (uint64_t bits = blocks_within(strip->fronts, front, bound, with, rare, descending); bits;
         bits &= bits - 1) {
        const int64_t at = RD_FRONT_BLOCK * __builtin_ctzll(bits);

        take_block(l, vectors, most, RD_FRONT_BLOCK, x + at, strip->begin + at, &bound, with,
                   descending);
    }
    if (whole < strip->n)
        take_block(l, vectors, most, strip->n - whole, x + whole, strip->begin + whole, &bound,
                   with, descending);
}

/* Begins a row, or goes on with what is in order.  False: there are few numbers, or its state is
 * another one. */
static ALWAYS bool take_fronts(const rd_sorting *s, const rd_row_strip *strip, int vectors,
                               bool descending)
{
    uint64_t *const    header = strip->state;
    const float *const front = (const float *)(const void *)(header + rd_first_few_fronts(s->kept));
    float *const       x     = (float *)(void *)(header + RD_FIRST_FEW_HEADER);
    uint32_t *const    at =
        (uint32_t *)(void *)(header + RD_FIRST_FEW_HEADER + rd_first_few_room(s->kept));
    const float end = descending ? -INFINITY : INFINITY;
    kept_lanes  l;

    if (strip->begin == 0) {
        const float bound = first_bound(strip->fronts, front, s->kept, descending);

        if (bound == end)
            return false;
        for (int k = 0; k < vectors; k++) {
            l.x[k]     = _mm512_set1_ps(end);
            l.place[k] = _mm512_setzero_si512();
        }
        take_blocks(&l, vectors, s->kept, strip, front, _mm512_set1_ps(bound), true, descending);
        memset(header, 0, RD_FIRST_FEW_HEADER * sizeof *header);
        header[0] = (uint64_t)s->kept;
        header[2] = BEFORE_COMES;
        header[4] = true;
    } else {
        if (header[2] != BEFORE_COMES || !header[4])
            return false;
        for (int k = 0; k < vectors; k++) {
            l.x[k]     = _mm512_loadu_ps(x + FRONT_LANES * k);
            l.place[k] = _mm512_loadu_si512(at + FRONT_LANES * k);
        }
        take_blocks(&l, vectors, s->kept, strip, front, bound_of_lanes(&l, vectors, s->kept), false,
                    descending);
    }
    for (int k = 0; k < vectors; k++) {
        _mm512_storeu_ps(x + FRONT_LANES * k, l.x[k]);
        _mm512_storeu_si512(at + FRONT_LANES * k, l.place[k]);
    }
    return true;
}

/* Takes a strip of f32 by fronts; false: it must be taken in another way. */
static bool take_fronts_f32(const rd_sorting *s, const rd_row_strip *strip)
{
    if (s->type != RD_F32 || !strip->fronts || strip->fronts > 64 || s->kept > KEPT_IN_VECTORS)
        return false;
    if (s->facts->descending)
        return s->kept <= 16 ? take_fronts(s, strip, 1, true) : take_fronts(s, strip, 2, true);
    return s->kept <= 16 ? take_fronts(s, strip, 1, false) : take_fronts(s, strip, 2, false);
}
