/* fronts_f32.h - takes strips of f32 by the fronts of their blocks (kernels/first_few.h), while up
 * to 32 are kept, by AVX-512; take_strip.h includes it.
 *
 * A bit tells which blocks have a front before the bound, and only these are read.  So the one
 * branch that is hard to guess is how many there are.  The fronts of the first strip give the first
 * bound: the last of the first few of 16 or 64 groups, which some more elements than these few come
 * before. */
enum { FRONT_LANES = RD_FRONT_WORDS * 2, FEW_OF_LANES = 8 };

/* Returns a mask of the lanes (elements of a vector) of x that come before the bound in the order
 * that is asked for, or equal it if `with`.  NaN does neither. */
static ALWAYS unsigned within(__m512 x, __m512 bound, bool with, bool descending)
{
    return with ? (descending ? _mm512_cmp_ps_mask(x, bound, _CMP_GE_OQ)
                              : _mm512_cmp_ps_mask(x, bound, _CMP_LE_OQ))
                : comes_before(x, bound, descending);
}

/* True if an element of a block may come before the bound, or equal it if `with`, as its front
 * tells: 16 elements that no others of the block come before (first_few.h).  A lane of NaN tells
 * nothing, so the comparisons are negated ones, which are true for NaN. */
static ALWAYS bool front_is_within(__m512 front, __m512 bound, bool with, bool descending)
{
    return (with ? (descending ? _mm512_cmp_ps_mask(front, bound, _CMP_NLT_UQ)
                               : _mm512_cmp_ps_mask(front, bound, _CMP_NGT_UQ))
                 : (descending ? _mm512_cmp_ps_mask(front, bound, _CMP_NLE_UQ)
                               : _mm512_cmp_ps_mask(front, bound, _CMP_NGE_UQ))) != 0;
}

/* Returns a set of blocks, bit k for block k of n <= 64, that may have elements before the bound,
 * or equal to it if `with`.  `front`: the fronts of all, one behind the other.  Where n is the
 * constant 16 the loop is unrolled. */
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

/* True if some of 16 blocks may have elements before the bound.  Four masks collect the lanes that
 * are not before it in all fronts, so that comparisons need not wait for each other.  NaN clears
 * its lane, as it tells nothing. */
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

/* Returns the set of blocks that may have elements before the bound, or equal to it if `with`: bit
 * k for block k.  `rare`: mostly there are none, so one test of all 16 comes first. */
static ALWAYS uint64_t blocks_within(int64_t n, const float *front, __m512 bound, bool with,
                                     bool rare, bool descending)
{
    if (n != 16)
        return bits_within(n, front, bound, with, descending);
    if (rare && !any_of_16(front, bound, descending))
        return 0;
    return bits_within(16, front, bound, with, descending);
}

/* Returns a set of elements, bit i for x[i], that come before the bound, or equal it if `with`: of
 * n, 64 at most.  Memory behind n elements is not read. */
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

/* Inserts those of n elements that come before the bound, or equal it if `with`, into the sorted
 * lanes, the first few so far; x[0] has position `place` in the row.  *bound becomes the last of
 * the first few if that comes before it: lanes that are not filled yet hold an infinity, which does
 * not. */
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
/* Returns the `most`-th least (descending: greatest) of 16 or 64 elements in `vectors` vectors,
 * none of which is NaN: the last of those that fewer than `most` elements come before.  before[k]
 * counts these for each lane of group[k]. */
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

/* Returns a bound that at least `most` elements of n blocks come before, or equal.  Blocks are
 * dealt into 4 groups of 16 lanes, and each lane has the first element of its part: the bound is
 * the `most`-th of these 64, or of 16 if `most` is 8 or less.  It is an infinity if fewer lanes
 * have numbers.  min() and max() return their second operand if the first is NaN, so NaN are
 * skipped. */
static ALWAYS float first_bound(int64_t n, const float *front, int64_t most, bool descending)
{
    const __m512 end      = _mm512_set1_ps(descending ? -INFINITY : INFINITY);
    __m512       group[4] = { end, end, end, end };

    for (int64_t i = 0; i + 4 <= n; i += 4)
        UNROLL(4)
    for (int k = 0; k < 4; k++) {
        const __m512 x = _mm512_loadu_ps(front + FRONT_LANES * (i + k));

        group[k] = descending ? _mm512_max_ps(x, group[k]) : _mm512_min_ps(x, group[k]);
    }
    if (most > FEW_OF_LANES)
        return last_of_groups(group, 4, most, descending);
    for (int k = 1; k < 4; k++)
        group[0] =
            descending ? _mm512_max_ps(group[k], group[0]) : _mm512_min_ps(group[k], group[0]);
    return last_of_groups(group, 1, most, descending);
}

/* ---- Strips ---------------------------------------------------------------------------------- */
/* Takes a strip (a range of the row): the blocks whose fronts may come before the bound, and the
 * elements behind all whole blocks.  In random order, strip number k has 1/k of the first few so
 * far.  So behind 2 * most strips less than one element in two strips is taken (`rare`). */
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

/* Where the state of a row has what is kept. */
typedef struct front_state {
    uint64_t    *header;
    const float *front;
    float       *x;
    uint32_t    *place;
} front_state;

static ALWAYS front_state state_of(const rd_sorting *s, const rd_row_strip *strip)
{
    uint64_t *const header = strip->state, *const x = header + RD_FIRST_FEW_HEADER;

    return (front_state){ .header = header,
                          .front =
                              (const float *)(const void *)(header + rd_first_few_fronts(s->kept)),
                          .x     = (float *)(void *)x,
                          .place = (uint32_t *)(void *)(x + rd_first_few_room(s->kept)) };
}

/* Takes a row's first strip.  False: there are few numbers. */
static ALWAYS bool begin_row(const rd_sorting *s, const rd_row_strip *strip, const front_state *f,
                             kept_lanes *l, int vectors, bool descending)
{
    const float end   = descending ? -INFINITY : INFINITY;
    const float bound = first_bound(strip->fronts, f->front, s->kept, descending);

    if (bound == end)
        return false;
    for (int k = 0; k < vectors; k++) {
        l->x[k]     = _mm512_set1_ps(end);
        l->place[k] = _mm512_setzero_si512();
    }
    take_blocks(l, vectors, s->kept, strip, f->front, _mm512_set1_ps(bound), true, descending);
    memset(f->header, 0, RD_FIRST_FEW_HEADER * sizeof *f->header);
    f->header[0] = (uint64_t)s->kept;
    f->header[2] = BEFORE_COMES;
    f->header[4] = true;
    return true;
}

/* Takes a strip by fronts: the first one begins the row's state, later ones go on with it if the
 * first few are in order and have a bound.  False, with nothing done: the first strip has few
 * numbers, so there is no bound, or the state was begun in another way.  The state has a header
 * (kept.h: [0] elements kept, [2] what comes in, [4] whether they are in order), then elements (x),
 * then positions (at). Lanes behind the kept ones hold infinities, or what was moved out of the
 * first few; results never have them. */
static ALWAYS bool take_fronts(const rd_sorting *s, const rd_row_strip *strip, int vectors,
                               bool descending)
{
    const front_state f = state_of(s, strip);
    kept_lanes        l;

    if (strip->begin == 0) {
        if (!begin_row(s, strip, &f, &l, vectors, descending))
            return false;
    } else {
        if (f.header[2] != BEFORE_COMES || !f.header[4])
            return false;
        for (int k = 0; k < vectors; k++) {
            l.x[k]     = _mm512_loadu_ps(f.x + FRONT_LANES * k);
            l.place[k] = _mm512_loadu_si512(f.place + FRONT_LANES * k);
        }
        take_blocks(&l, vectors, s->kept, strip, f.front, bound_of_lanes(&l, vectors, s->kept),
                    false, descending);
    }
    for (int k = 0; k < vectors; k++) {
        _mm512_storeu_ps(f.x + FRONT_LANES * k, l.x[k]);
        _mm512_storeu_si512(f.place + FRONT_LANES * k, l.place[k]);
    }
    return true;
}

/* Takes a strip of f32 by the fronts of its blocks.  False: it has none, has more blocks than a set
 * has bits (64), or more than 32 elements are kept; it must then be taken in another way.  One
 * vector keeps up to 16, two up to 32. */
static bool take_fronts_f32(const rd_sorting *s, const rd_row_strip *strip)
{
    if (s->type != RD_F32 || !strip->fronts || strip->fronts > 64 || s->kept > KEPT_IN_VECTORS)
        return false;
    if (s->facts->descending)
        return s->kept <= 16 ? take_fronts(s, strip, 1, true) : take_fronts(s, strip, 2, true);
    return s->kept <= 16 ? take_fronts(s, strip, 1, false) : take_fronts(s, strip, 2, false);
}
