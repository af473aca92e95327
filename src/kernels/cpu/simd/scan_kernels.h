/* scan_kernels.h - prefix scans at the speed of memory: running sums, products, minima and maxima.
 * Scans are of neighbouring columns, some rows at a time, or along a row (RD_PREFIX_TREE of
 * kernels/program.h).
 *
 * Along a row the elements of a block are independent vectors.  There is a pass for d = 1, 2, 4 ..
 * 32.  In it each element with bit d in its number merges the last of the d elements before its
 * half.  This is the aligned tree, with all of its prefixes.  A lane that takes nothing in a pass
 * merges an identity.  The blocks before are merged last, so only a few operations of a block wait
 * for the block before it.
 *
 *   d = 1: lane 1 += lane 0, 3 += 2;   d = 2: lanes 2, 3 += lane 1;   d = 4: lanes 4 .. 7 += lane 3
 *
 * instances/scan_table.c includes it once per element, with ELEM, T and MAKE_SCANS(make) set, and
 * for floats SCAN_VECTORS.  In make(name, words, identity), `words` is `pair` where the sum of the
 * blocks before is two numbers (kernels/math/prefix_sums.h), else `one`. */
#include "kernels/math/shuffle.h"
#define SCAN(name, part) JOIN(JOIN(scan_##name, part), ELEM)

/* The result of a state; minima and maxima make NaN the one quiet NaN.  Likewise for a vector. */
#define DONE_sum(s)      ((T)(s))
#define DONE_prod(s)     ((T)(s))
#define DONE_min(s)      ((s) != (s) ? (T)RD_NAN : (T)(s))
#define DONE_max(s)      DONE_min(s)
#define DONE_any(s)      ((T)(s))
#define DONE_all(s)      ((T)(s))
#define DONE_bits_and(s) ((T)(s))
#define DONE_bits_or(s)  ((T)(s))
#define DONE_bits_xor(s) ((T)(s))
#define ALL_DONE_sum(s)  (s)
#define ALL_DONE_prod(s) (s)
#define ALL_DONE_min(s)  PICKED((s) != (s), (T)RD_NAN - (VEC){ 0 }, s)
#define ALL_DONE_max(s)  ALL_DONE_min(s)

/* Merges the blocks before with a prefix t.  lo of f64 is always -0. */
#define AFTER_one(name, hi, lo, t)               ONE_##name(hi, t)
#define AFTER_pair(name, hi, lo, t)              (sizeof(T) == sizeof(float) ? (hi) + ((lo) + (t)) : (hi) + (t))
#define ALL_AFTER_one(name, hi, lo, t)           TAKES_##name(hi, t)
#define ALL_AFTER_pair(name, hi, lo, t)          AFTER_pair(name, hi, lo, t)
/* Adds block number b to the blocks before it, of one scan. */
#define TAKE_BLOCK_one(name, b, sums, x, hi, lo) ((void)(b), *(hi) = ONE_##name(*(hi), x))
#define TAKE_BLOCK_pair(name, b, sums, x, hi, lo) \
    JOIN(rd_prefix_sum, ELEM)(rd_take_block(b, sums, (double)(x)), hi, lo)
/* Adds block number b to the blocks before it, of n scans. */
#define TAKE_one(name, n, b, sums, pitch, x, hi, lo) \
    do {                                             \
        (void)(b);                                   \
        (void)(sums);                                \
        for (int64_t l = 0; l < (n); l++)            \
            (hi)[l] = ONE_##name((hi)[l], (x)[l]);   \
    } while (0)
#define TAKE_pair(name, n, b, sums, pitch, x, hi, lo) \
    JOIN(rd_take_blocks, ELEM)(n, b, sums, pitch, x, hi, lo)

/* ---- Neighbouring columns -------------------------------------------------------------------- */
#define COLUMNS(name, words, identity)                                                          \
    static void SCAN(name, start)(int64_t n, const rd_scan_columns *s)                          \
    {                                                                                           \
        T *hi = s->hi, *lo = s->lo, *part = s->part;                                            \
        for (int64_t l = 0; l < n; l++)                                                         \
            hi[l] = lo[l] = part[l] = (T)(identity);                                            \
    }                                                                                           \
    static void SCAN(name, block)(int64_t n, const rd_scan_columns *s, int64_t block)           \
    {                                                                                           \
        T *hi = s->hi, *lo = s->lo, *part = s->part;                                            \
        TAKE_##words(name, n, block, s->sums, s->pitch, part, hi, lo);                          \
        (void)lo;                                                                               \
        for (int64_t l = 0; l < n; l++)                                                         \
            part[l] = (T)(identity);                                                            \
    }                                                                                           \
    static void SCAN(name, prefix)(int64_t n, const rd_scan_columns *s, void *to)               \
    {                                                                                           \
        const T *hi = s->hi, *lo = s->lo, *part = s->part;                                      \
        T       *y = to;                                                                        \
        for (int64_t l = 0; l < n; l++)                                                         \
            y[l] = DONE_##name((AFTER_##words(name, hi[l], lo[l], part[l])));                   \
    }                                                                                           \
    /* Columns from `first` on, a row at a time. */                                             \
    static void SCAN(name, few)(const rd_scan_columns *s, const rd_scan_rows *q, int64_t first) \
    {                                                                                           \
        const T *restrict hi = s->hi, *restrict lo = s->lo;                                     \
        T *restrict part = s->part;                                                             \
        const int64_t n  = q->n; /* what is stored may be of its type */                        \
        for (int64_t r = 0; r < q->rows; r++) {                                                 \
            const T *x = (const T *)q->x + r * q->ldx;                                          \
            T       *y = (T *)q->y + r * q->ldy;                                                \
            INDEPENDENT                                                                         \
            for (int64_t l = first; l < n; l++) {                                               \
                part[l] = ONE_##name(part[l], x[l]);                                            \
                y[l]    = DONE_##name((AFTER_##words(name, hi[l], lo[l], part[l])));            \
            }                                                                                   \
        }                                                                                       \
    }

/* ---- Along a row ----------------------------------------------------------------------------- */
#ifdef SCAN_VECTORS
#define ROWS(name, words, identity)                                                        \
    static ALWAYS void SCAN(name, strip)(const rd_scan_columns *s, const rd_scan_rows *q,  \
                                         int64_t first, int64_t rows, int64_t l, int n,    \
                                         bool nontemporal)                                 \
    {                                                                                      \
        const T *x = (const T *)q->x + first * q->ldx + l;                                 \
        T       *y = (T *)q->y + first * q->ldy + l;                                       \
        VEC      hi[SCAN_STRIP], lo[SCAN_STRIP], part[SCAN_STRIP];                         \
        UNROLL(4)                                                                          \
        for (int k = 0; k < n; k++) {                                                      \
            hi[k]   = *((const VEC *)((const T *)s->hi + l) + k);                          \
            lo[k]   = *((const VEC *)((const T *)s->lo + l) + k);                          \
            part[k] = *((const VEC *)((const T *)s->part + l) + k);                        \
        }                                                                                  \
        for (int64_t r = 0; r < rows; r++, x += q->ldx, y += q->ldy) {                     \
            UNROLL(4)                                                                      \
            for (int k = 0; k < n; k++) {                                                  \
                const VEC e = *((const VEC *)x + k);                                       \
                part[k]     = TAKES_##name(part[k], e);                                    \
                const VEC w = ALL_AFTER_##words(name, hi[k], lo[k], part[k]),              \
                          v = ALL_DONE_##name(w);                                          \
                STORE_VECTOR((VEC *)y + k, v, nontemporal);                                \
            }                                                                              \
        }                                                                                  \
        UNROLL(4)                                                                          \
        for (int k = 0; k < n; k++)                                                        \
            *((VEC *)((T *)s->part + l) + k) = part[k];                                    \
    }                                                                                      \
    static ALWAYS void SCAN(name, strips)(const rd_scan_columns *s, const rd_scan_rows *q, \
                                          bool nontemporal)                                \
    {                                                                                      \
        enum { WIDE = SCAN_STRIP * LANES };                                                \
        for (int64_t r = 0; r < q->rows; r += SCAN_ROWS) {                                 \
            const int64_t rows = q->rows - r < SCAN_ROWS ? q->rows - r : SCAN_ROWS;        \
            int64_t       l    = 0;                                                        \
            for (; l + WIDE <= q->n; l += WIDE)                                            \
                SCAN(name, strip)(s, q, r, rows, l, SCAN_STRIP, nontemporal);              \
            for (; l + LANES <= q->n; l += LANES)                                          \
                SCAN(name, strip)(s, q, r, rows, l, 1, nontemporal);                       \
        }                                                                                  \
        SCAN(name, few)(s, q, q->n / LANES * LANES);                                       \
    }                                                                                      \
    static void SCAN(name, rows)(const rd_scan_columns *s, const rd_scan_rows *q)          \
    {                                                                                      \
        if (q->nontemporal)                                                                \
            SCAN(name, strips)(s, q, true);                                                \
        else                                                                               \
            SCAN(name, strips)(s, q, false);                                               \
    }

#define BLOCK         (RD_SCAN_BLOCK / LANES)
/* The number of the first n elements that are in vector k. */
#define PART_OF(n, k) ((n) <= (k)*LANES ? 0 : (n) - (k)*LANES < LANES ? (n) - (k)*LANES : LANES)

/* The lane of (a, b) that lane l takes in pass d: the last one of a, or none. */
#define FROM(l, d) ((l) & (d) ? ((l) & ~(2 * (d)-1)) + (d)-1 : LANES + (l))
#define LAST(l, d) (LANES - 1)
#define SHUFFLED(a, b, f, d) \
    RD_SHUFFLE(MASK, a, b, JOIN(JOIN(INDICES, ELEM), RD_VECTOR_BYTES)(f, d))

/* Runs pass d, inside vectors or between them. */
#define PASS(name, d)                                                                           \
    UNROLL(32)                                                                                  \
    for (int k = 0; k < BLOCK; k++) {                                                           \
        const VEC a = d < LANES ? v[k] : v[(k * LANES & ~(2 * d - 1)) / LANES + d / LANES - 1]; \
        if (d < LANES)                                                                          \
            v[k] = TAKES_##name(SHUFFLED(a, nothing, FROM, d), v[k]);                           \
        else if (k * LANES & d)                                                                 \
            v[k] = TAKES_##name(SHUFFLED(a, a, LAST, d), v[k]);                                 \
    }

#define ALONG(name, words, identity)                                                               \
    /* v = all prefixes of the block; of that at x. */                                             \
    static ALWAYS void SCAN(name, passes)(VEC * v)                                                 \
    {                                                                                              \
        const VEC nothing = (T)(identity) - (VEC){ 0 };                                            \
        PASS(name, 1)                                                                              \
        PASS(name, 2)                                                                              \
        PASS(name, 4)                                                                              \
        PASS(name, 8)                                                                              \
        PASS(name, 16)                                                                             \
        PASS(name, 32)                                                                             \
    }                                                                                              \
    static ALWAYS void SCAN(name, prefixes)(VEC * v, const T *x)                                   \
    {                                                                                              \
        UNROLL(32)                                                                                 \
        for (int k = 0; k < BLOCK; k++)                                                            \
            v[k] = *((const VEC *)x + k);                                                          \
        SCAN(name, passes)(v);                                                                     \
    }                                                                                              \
    /* n elements, less than a block or shifted on: result l has prefix e + l, or that before. */  \
    static void SCAN(name, piece)(rd_scan_state * s, T * hi, T * lo, int64_t n, T * y, const T *x, \
                                  bool exclusive)                                                  \
    {                                                                                              \
        const int64_t e    = s->n % RD_SCAN_BLOCK;                                                 \
        T *const      part = (T *)s->part;                                                         \
        VEC           v[BLOCK];                                                                    \
        T             t[RD_SCAN_BLOCK + 1];                                                        \
        memcpy(part + e, x, (size_t)n * sizeof(T));                                                \
        memset(part + e + n, 0, (size_t)(RD_SCAN_BLOCK - e - n) * sizeof(T));                      \
        SCAN(name, prefixes)(v, part);                                                             \
        t[0] = (T)(identity);                                                                      \
        memcpy(t + 1, v, sizeof v);                                                                \
        for (int64_t l = 0; l < n; l++)                                                            \
            y[l] = DONE_##name((AFTER_##words(name, *hi, *lo, t[l + e + !exclusive])));            \
        if (e + n == RD_SCAN_BLOCK)                                                                \
            TAKE_BLOCK_##words(name, s->n / RD_SCAN_BLOCK, s->sums, t[RD_SCAN_BLOCK], hi, lo);     \
    }                                                                                              \
    static ALWAYS void SCAN(name, whole)(rd_scan_state * s, T * hi, T * lo, T * y, const T *x,     \
                                         bool nontemporal)                                         \
    {                                                                                              \
        VEC v[BLOCK];                                                                              \
        SCAN(name, prefixes)(v, x);                                                                \
        UNROLL(32)                                                                                 \
        for (int k = 0; k < BLOCK; k++) {                                                          \
            const VEC w = ALL_AFTER_##words(name, *hi - (VEC){ 0 }, *lo - (VEC){ 0 }, v[k]);       \
            const VEC z = ALL_DONE_##name(w);                                                      \
            STORE_VECTOR((VEC *)y + k, z, nontemporal);                                            \
        }                                                                                          \
        TAKE_BLOCK_##words(name, s->n / RD_SCAN_BLOCK, s->sums, v[BLOCK - 1][LANES - 1], hi, lo);  \
    }                                                                                              \
    /* The first n elements of a block, less than all. */                                          \
    static ALWAYS void SCAN(name, head)(T hi, T lo, T * part, int64_t n, T * y, const T *x)        \
    {                                                                                              \
        VEC v[BLOCK];                                                                              \
        UNROLL(32)                                                                                 \
        for (int k = 0; k < BLOCK; k++)                                                            \
            v[k] = JOIN(load_part, ELEM)(x + k * LANES, PART_OF(n, k));                            \
        memcpy(part, x, (size_t)n * sizeof(T));                                                    \
        SCAN(name, passes)(v);                                                                     \
        UNROLL(32)                                                                                 \
        for (int k = 0; k < BLOCK; k++) {                                                          \
            const VEC w = ALL_AFTER_##words(name, hi - (VEC){ 0 }, lo - (VEC){ 0 }, v[k]);         \
            const VEC z = ALL_DONE_##name(w);                                                      \
            JOIN(store_part, ELEM)(y + k * LANES, z, PART_OF(n, k));                               \
        }                                                                                          \
    }                                                                                              \
    static void SCAN(name, along)(rd_scan_state * s, int64_t n, void *to, const void *from,        \
                                  bool exclusive, bool nontemporal)                                \
    {                                                                                              \
        const T *x = from;                                                                         \
        T *y = to, *const part = (T *)s->part, hi = (T)(identity), lo = hi;                        \
        if (s->n) {                                                                                \
            memcpy(&hi, &s->hi, sizeof hi);                                                        \
            memcpy(&lo, &s->lo, sizeof lo);                                                        \
        }                                                                                          \
        for (int64_t now; n > 0; n -= now, x += now, y += now, s->n += now) {                      \
            const int64_t e = s->n % RD_SCAN_BLOCK, left = RD_SCAN_BLOCK - e;                      \
            now = n < left ? n : left;                                                             \
            if (!exclusive && e == 0 && now < RD_SCAN_BLOCK)                                       \
                SCAN(name, head)(hi, lo, part, now, y, x);                                         \
            else if (exclusive || now < RD_SCAN_BLOCK)                                             \
                SCAN(name, piece)(s, &hi, &lo, now, y, x, exclusive);                              \
            else if (nontemporal)                                                                  \
                SCAN(name, whole)(s, &hi, &lo, y, x, true);                                        \
            else                                                                                   \
                SCAN(name, whole)(s, &hi, &lo, y, x, false);                                       \
        }                                                                                          \
        memcpy(&s->hi, &hi, sizeof hi);                                                            \
        memcpy(&s->lo, &lo, sizeof lo);                                                            \
    }
#define SCANS_NONTEMPORAL true
#else
#define ROWS(name, words, identity)                                               \
    static void SCAN(name, rows)(const rd_scan_columns *s, const rd_scan_rows *q) \
    {                                                                             \
        SCAN(name, few)(s, q, 0);                                                 \
    }
/* Scans of ints and bool: any order gives the same bits. */
#define ALONG(name, words, identity)                                                        \
    static void SCAN(name, along)(rd_scan_state * s, int64_t n, void *to, const void *from, \
                                  bool exclusive, bool nontemporal)                         \
    {                                                                                       \
        const T *x     = from;                                                              \
        T       *y     = to;                                                                \
        T        whole = s->n ? *(const T *)&s->hi : (T)(identity);                         \
        for (int64_t l = 0; l < n; l++) {                                                   \
            const T before = whole;                                                         \
            whole          = ONE_##name(whole, x[l]);                                       \
            y[l]           = exclusive ? before : whole;                                    \
        }                                                                                   \
        *(T *)&s->hi = whole;                                                               \
        s->n += n;                                                                          \
    }
#define SCANS_NONTEMPORAL false
#endif

#define ALL_OF(name, words, identity) \
    COLUMNS(name, words, identity) ROWS(name, words, identity) ALONG(name, words, identity)
MAKE_SCANS(ALL_OF)
#define SCAN_ENTRY(name, words, identity)                  \
    [RD_RED_##name] = { .along       = SCAN(name, along),  \
                        .start       = SCAN(name, start),  \
                        .rows        = SCAN(name, rows),   \
                        .block       = SCAN(name, block),  \
                        .prefix      = SCAN(name, prefix), \
                        .nontemporal = SCANS_NONTEMPORAL },
const rd_scan_code OF_ISA(JOIN(scans, ELEM))[RD_N_REDUCERS] = { MAKE_SCANS(SCAN_ENTRY) };

#undef SCAN
#undef DONE_sum
#undef DONE_prod
#undef DONE_min
#undef DONE_max
#undef DONE_any
#undef DONE_all
#undef DONE_bits_and
#undef DONE_bits_or
#undef DONE_bits_xor
#undef ALL_DONE_sum
#undef ALL_DONE_prod
#undef ALL_DONE_min
#undef ALL_DONE_max
#undef AFTER_one
#undef AFTER_pair
#undef ALL_AFTER_one
#undef ALL_AFTER_pair
#undef TAKE_one
#undef TAKE_pair
#undef TAKE_BLOCK_one
#undef TAKE_BLOCK_pair
#undef COLUMNS
#undef ROWS
#undef BLOCK
#undef PART_OF
#undef FROM
#undef LAST
#undef SHUFFLED
#undef PASS
#undef ALONG
#undef SCANS_NONTEMPORAL
#undef ALL_OF
#undef SCAN_ENTRY
