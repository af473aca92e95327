/* best.h - argmin and argmax of floats by searching whole rows: no states per lane are needed, as
 * any order gives the same best element.  instances/folds_*.c include it once per float type, after
 * vector_folds.h, with ELEM, T, I set.
 *
 * A lane is an element of a vector (VEC), and MASK a vector of ints that are -1 where true.
 * JOIN(name, ELEM) is a name for one type: name_f32. */
#define PART       1024 /* elements that are looked through again for the place of their best */
/* Prefetches 8 KiB ahead, if this processor gains by that: memory would idle between parts and
 * rows. */
#define BEST_AHEAD (8192 / (int64_t)sizeof(T))

/* True if any lane of a mask (ints that are 0 or -1) is set. */
static inline int JOIN(any, ELEM)(MASK m)
{
#if defined(__AVX512F__)
    return _mm512_test_epi32_mask((__m512i)m, (__m512i)m) != 0;
#elif defined(__AVX2__)
    return !_mm256_testz_si256((__m256i)m, (__m256i)m);
#elif defined(__SSE2__)
    return _mm_movemask_epi8((__m128i)m) != 0;
#else
    uint64_t words[RD_VECTOR_BYTES / 8], all = 0;

    memcpy(words, &m, sizeof words);
    for (int k = 0; k < RD_VECTOR_BYTES / 8; k++)
        all |= words[k];
    return all != 0;
#endif
}

/* True if x is better than s: NaN beats all but an earlier NaN; of equals the earlier one stays. */
#define BETTER(op, x, s) (((x)op(s)) | (((x) != (x)) & ((s) == (s))))

/* True if x is the element that is looked for; any NaN equals any other. */
#define EQUAL(x, s) (((x) == (s)) | (((x) != (x)) & ((s) != (s))))

/* argmin_row(), argmax_row(): return the position of the first best element of x[0 .. n), if it is
 * better than *best, which is set to it; else -1.  Parts of 1024 elements are reduced by vectors,
 * and only the part with the best is searched for its position. */
#define BEST_OF_ROW(name, op, reducer)                                                            \
    static int64_t JOIN(name##_row, ELEM)(int64_t n, const void *px, void *best)                  \
    {                                                                                             \
        const T *const x       = px;                                                              \
        T              found   = *(const T *)best;                                                \
        int64_t        place   = -1;                                                              \
        const bool     fetches = rd_prefetches_rows;                                              \
        for (int64_t from = 0; from < n; from += PART) {                                          \
            const int64_t to  = from + PART < n ? from + PART : n;                                \
            T             top = found;                                                            \
            int64_t       k   = from;                                                             \
            if (to - from >= 4 * LANES) {                                                         \
                VEC v[4];                                                                         \
                for (int u = 0; u < 4; u++)                                                       \
                    v[u] = JOIN(load, ELEM)(x + k + u * LANES);                                   \
                for (k += 4 * LANES; k + 4 * LANES <= to; k += 4 * LANES) {                       \
                    UNROLL(4)                                                                     \
                    for (int u = 0; u < 4; u++) {                                                 \
                        if (fetches && u * RD_VECTOR_BYTES % 64 == 0)                             \
                            __builtin_prefetch(x + k + u * LANES + BEST_AHEAD);                   \
                        const VEC e = JOIN(load, ELEM)(x + k + u * LANES);                        \
                        v[u]        = TAKES_##reducer(v[u], e);                                   \
                    }                                                                             \
                }                                                                                 \
                v[0] = TAKES_##reducer(v[0], v[1]);                                               \
                v[2] = TAKES_##reducer(v[2], v[3]);                                               \
                v[0] = TAKES_##reducer(v[0], v[2]);                                               \
                if (JOIN(any, ELEM)(BETTER(op, v[0], (VEC){ 0 } + found)))                        \
                    for (int l = 0; l < LANES; l++)                                               \
                        top = BETTER(op, v[0][l], top) ? v[0][l] : top;                           \
            }                                                                                     \
            for (; k < to; k++)                                                                   \
                top = BETTER(op, x[k], top) ? x[k] : top;                                         \
            if (BETTER(op, top, found)) {                                                         \
                found = top;                                                                      \
                place = from;                                                                     \
            }                                                                                     \
        }                                                                                         \
        if (place < 0)                                                                            \
            return -1;                                                                            \
        while (place + LANES <= n &&                                                              \
               !JOIN(any, ELEM)(EQUAL(JOIN(load, ELEM)(x + place), (VEC){ 0 } + found)))          \
            place += LANES;                                                                       \
        while (!EQUAL(x[place], found))                                                           \
            place++;                                                                              \
        *(T *)best = x[place];                                                                    \
        return place;                                                                             \
    }                                                                                             \
    /* Many states side by side, rows of rising index: an index is looked up where it changes. */ \
    static void JOIN(name##_rows, ELEM)(const rd_fold_rows *q)                                    \
    {                                                                                             \
        T *const       s     = q->s[0];                                                           \
        int64_t *const index = q->s[1];                                                           \
        for (int64_t r = 0; r < q->rows; r += 4) {                                                \
            const int64_t rows = q->rows - r < 4 ? q->rows - r : 4;                               \
            const T      *x    = (const T *)q->x + r * q->ldx;                                    \
            int64_t       l    = 0;                                                               \
            for (; l + LANES <= q->n; l += LANES) {                                               \
                VEC  v = JOIN(load, ELEM)(s + l), top = JOIN(load, ELEM)(x + l);                  \
                MASK row, better                      = { 0 };                                    \
                for (int64_t k = 1; k < rows; k++) {                                              \
                    const VEC e = JOIN(load, ELEM)(x + k * q->ldx + l);                           \
                    top         = TAKES_##reducer(top, e);                                        \
                }                                                                                 \
                if (!JOIN(any, ELEM)(BETTER(op, top, v)))                                         \
                    continue;                                                                     \
                row = (MASK){ 0 } - 1;                                                            \
                for (int64_t k = 0; k < rows; k++) {                                              \
                    const VEC  e = JOIN(load, ELEM)(x + k * q->ldx + l);                          \
                    const MASK m = BETTER(op, e, v);                                              \
                    v            = PICKED(m, e, v);                                               \
                    row          = (row & ~m) | (((MASK){ 0 } + (I)k) & m);                       \
                    better |= m;                                                                  \
                }                                                                                 \
                if (JOIN(any, ELEM)(better)) {                                                    \
                    *(VEC *)(s + l) = v;                                                          \
                    for (int k = 0; k < LANES; k++)                                               \
                        if (row[k] >= 0)                                                          \
                            index[l + k] =                                                        \
                                q->index + (r + row[k]) * q->index_row + (l + k) * q->index_col;  \
                }                                                                                 \
            }                                                                                     \
            for (; l < q->n; l++)                                                                 \
                for (int64_t k = 0; k < rows; k++)                                                \
                    if (BETTER(op, x[k * q->ldx + l], s[l])) {                                    \
                        s[l]     = x[k * q->ldx + l];                                             \
                        index[l] = q->index + (r + k) * q->index_row + l * q->index_col;          \
                    }                                                                             \
        }                                                                                         \
    }
BEST_OF_ROW(argmin, <, min)
BEST_OF_ROW(argmax, >, max)

rd_simd_best *const OF_ISA(JOIN(best, ELEM))[RD_N_REDUCERS] = {
    [RD_RED_argmin] = JOIN(argmin_row, ELEM), [RD_RED_argmax] = JOIN(argmax_row, ELEM)
};
rd_simd_rows *const OF_ISA(JOIN(best_rows, ELEM))[RD_N_REDUCERS] = {
    [RD_RED_argmin] = JOIN(argmin_rows, ELEM), [RD_RED_argmax] = JOIN(argmax_rows, ELEM)
};
#undef PART
#undef BEST_AHEAD
#undef BETTER
#undef EQUAL
#undef BEST_OF_ROW
