/* scans.h - scans at the speed of memory: running sums, products, minima and maxima of neighbouring columns, a row at a
 * time, and along a row (RD_PREFIX_TREE of kernels/program.h).
 *
 * Along a row the elements of a block are vectors that do not wait for each other.  In pass d = 1, 2, 4 .. 32 elements
 * whose number has bit d merge the last of the d elements before their half: that is the aligned tree, with all of its
 * prefixes.  A lane that takes nothing in a pass merges an identity, which leaves it as it is.  What comes before the
 * block is merged last, so only a few operations a block wait for the block before.
 *
 * table.h includes it once per element, with ELEM, T and MAKE_SCANS(make) set, and for floats SCAN_VECTORS. */
#define SCAN(name, part) JOIN(JOIN(scan_##name, part), ELEM)

/* What finish makes of a state: the one quiet NaN of minima and maxima. */
#define DONE_sum(s)  ((T)(s))
#define DONE_prod(s) ((T)(s))
#define DONE_min(s)  ((s) != (s) ? (T)RD_NAN : (T)(s))
#define DONE_max(s)  DONE_min(s)
#define DONE_any(s)  ((T)(s))
#define DONE_all(s)  ((T)(s))

/* ---- Neighbouring columns ---------------------------------------------------------------------------------- */
#define COLUMNS(name, W, identity)                             \
    static void SCAN(name, columns)(const rd_scan_columns *q)  \
    {                                                          \
        const T *restrict const x     = q->x;                  \
        T *restrict const part        = q->part;               \
        const W *restrict const carry = q->carry;              \
        T *restrict const y           = q->y;                  \
        if (q->fresh && !carry)                                \
            for (int64_t l = 0; l < q->n; l++) {               \
                part[l] = x[l];                                \
                y[l]    = DONE_##name(x[l]);                   \
            }                                                  \
        else if (!carry)                                       \
            for (int64_t l = 0; l < q->n; l++) {               \
                part[l] = ONE_##name(part[l], x[l]);           \
                y[l]    = DONE_##name(part[l]);                \
            }                                                  \
        else if (q->fresh)                                     \
            for (int64_t l = 0; l < q->n; l++) {               \
                const W whole = ONE_##name(carry[l], (W)x[l]); \
                part[l]       = x[l];                          \
                y[l]          = DONE_##name(whole);            \
            }                                                  \
        else                                                   \
            for (int64_t l = 0; l < q->n; l++) {               \
                const T p     = ONE_##name(part[l], x[l]);     \
                const W whole = ONE_##name(carry[l], (W)p);    \
                part[l]       = p;                             \
                y[l]          = DONE_##name(whole);            \
            }                                                  \
    }

/* ---- Along a row ------------------------------------------------------------------------------------------- */
#ifdef SCAN_VECTORS
#define BLOCK (RD_SCAN_BLOCK / LANES)

/* Lane l of (a, b) in pass d; the last one of a. */
#define FROM(l, d)           ((l) & (d) ? ((l) & ~(2 * (d)-1)) + (d)-1 : LANES + (l))
#define LAST(l, d)           (LANES - 1)
#define SHUFFLED(a, b, f, d) __builtin_shufflevector(a, b, JOIN(JOIN(INDICES, ELEM), RD_VECTOR_BYTES)(f, d))

/* Pass d, inside vectors or between them. */
#define PASS(name, d)                                                                           \
    UNROLL(32)                                                                                  \
    for (int k = 0; k < BLOCK; k++) {                                                           \
        const VEC a = d < LANES ? v[k] : v[(k * LANES & ~(2 * d - 1)) / LANES + d / LANES - 1]; \
        if (d < LANES)                                                                          \
            v[k] = TAKES_##name(SHUFFLED(a, nothing, FROM, d), v[k]);                           \
        else if (k * LANES & d)                                                                 \
            v[k] = TAKES_##name(SHUFFLED(a, a, LAST, d), v[k]);                                 \
    }

/* The blocks before and a prefix t. */
#define WIDE           (sizeof carry > sizeof(T)) /* sums of f32 */
#define AFTER(name, t) DONE_##name((WIDE ? hi + (lo + (t)) : ONE_##name(hi, t)))

#define ALONG(name, W, identity)                                                                                  \
    /* t = all prefixes of the block at x. */                                                                     \
    static inline void SCAN(name, prefixes)(T * t, const T *x)                                                    \
    {                                                                                                             \
        const VEC nothing = (T)(identity) - (VEC){ 0 };                                                           \
        VEC       v[BLOCK];                                                                                       \
        UNROLL(32)                                                                                                \
        for (int k = 0; k < BLOCK; k++)                                                                           \
            v[k] = *(const VEC *)(x + k * LANES);                                                                 \
        PASS(name, 1)                                                                                             \
        PASS(name, 2)                                                                                             \
        PASS(name, 4)                                                                                             \
        PASS(name, 8)                                                                                             \
        PASS(name, 16)                                                                                            \
        PASS(name, 32)                                                                                            \
        UNROLL(32)                                                                                                \
        for (int k = 0; k < BLOCK; k++)                                                                           \
            *(VEC *)(t + k * LANES) = v[k];                                                                       \
    }                                                                                                             \
    static inline W SCAN(name, before)(const rd_scan_state *s)                                                    \
    {                                                                                                             \
        const W *const node  = (const W *)s->node;                                                                \
        W              carry = (W)(identity);                                                                     \
        for (uint64_t k = (uint64_t)s->n / RD_SCAN_BLOCK; k; k &= k - 1)                                          \
            carry = ONE_##name(node[__builtin_ctzll(k)], carry);                                                  \
        return carry;                                                                                             \
    }                                                                                                             \
    static inline void SCAN(name, push)(rd_scan_state * s, W whole)                                               \
    {                                                                                                             \
        W *const node  = (W *)s->node;                                                                            \
        int      level = 0;                                                                                       \
        for (; s->n / RD_SCAN_BLOCK >> level & 1; level++)                                                        \
            whole = ONE_##name(node[level], whole);                                                               \
        node[level] = whole;                                                                                      \
    }                                                                                                             \
    /* n elements that are less than a block, or are shifted on: result l has prefix e + l, or that before it. */ \
    static void SCAN(name, piece)(rd_scan_state * s, int64_t n, T * y, const T *x, bool exclusive)                \
    {                                                                                                             \
        const int64_t e     = s->n % RD_SCAN_BLOCK;                                                               \
        const W       carry = SCAN(name, before)(s);                                                              \
        const T       hi = (T)carry, lo = WIDE ? (T)rd_low_part((double)carry, (float)hi) : 0;                    \
        T *const      part = (T *)s->part;                                                                        \
        T             t[RD_SCAN_BLOCK + 1];                                                                       \
        memcpy(part + e, x, (size_t)n * sizeof(T));                                                               \
        memset(part + e + n, 0, (size_t)(RD_SCAN_BLOCK - e - n) * sizeof(T));                                     \
        SCAN(name, prefixes)(t + 1, part);                                                                        \
        t[0] = (T)(identity);                                                                                     \
        for (int64_t l = 0; l < n; l++) {                                                                         \
            y[l] = AFTER(name, t[l + e + !exclusive]);                                                            \
        }                                                                                                         \
        if (e + n == RD_SCAN_BLOCK)                                                                               \
            SCAN(name, push)(s, (W)t[RD_SCAN_BLOCK]);                                                             \
        s->n += n;                                                                                                \
    }                                                                                                             \
    static void SCAN(name, along)(rd_scan_state * s, int64_t n, void *to, const void *from, bool exclusive)       \
    {                                                                                                             \
        const T *x = from;                                                                                        \
        T       *y = to;                                                                                          \
        for (int64_t now; n > 0; n -= now, x += now, y += now) {                                                  \
            const int64_t left = RD_SCAN_BLOCK - s->n % RD_SCAN_BLOCK;                                            \
            now                = n < left ? n : left;                                                             \
            if (exclusive || now < RD_SCAN_BLOCK) {                                                               \
                SCAN(name, piece)(s, now, y, x, exclusive);                                                       \
                continue;                                                                                         \
            }                                                                                                     \
            const W        carry = SCAN(name, before)(s);                                                         \
            const T        hi = (T)carry, lo = WIDE ? (T)rd_low_part((double)carry, (float)hi) : 0;               \
            _Alignas(64) T t[RD_SCAN_BLOCK];                                                                      \
            SCAN(name, prefixes)(t, x);                                                                           \
            for (int l = 0; l < RD_SCAN_BLOCK; l++) {                                                             \
                y[l] = AFTER(name, t[l]);                                                                         \
            }                                                                                                     \
            SCAN(name, push)(s, (W)t[RD_SCAN_BLOCK - 1]);                                                         \
            s->n += now;                                                                                          \
        }                                                                                                         \
    }
#else
/* Of whole numbers and bool any order gives the same bits. */
#define ALONG(name, W, identity)                                                                            \
    static void SCAN(name, along)(rd_scan_state * s, int64_t n, void *to, const void *from, bool exclusive) \
    {                                                                                                       \
        const T *x     = from;                                                                              \
        T       *y     = to;                                                                                \
        T        whole = s->n ? *(const T *)s->node : (T)(identity);                                        \
        for (int64_t l = 0; l < n; l++) {                                                                   \
            const T before = whole;                                                                         \
            whole          = ONE_##name(whole, x[l]);                                                       \
            y[l]           = exclusive ? before : whole;                                                    \
        }                                                                                                   \
        *(T *)s->node = whole;                                                                              \
        s->n += n;                                                                                          \
    }
#endif

#define BOTH(name, W, identity) COLUMNS(name, W, identity) ALONG(name, W, identity)
MAKE_SCANS(BOTH)
#define SCAN_ENTRY(name, W, identity) [RD_RED_##name] = { SCAN(name, along), SCAN(name, columns) },
static const rd_scan_code JOIN(scans, ELEM)[RD_N_REDUCERS] = { MAKE_SCANS(SCAN_ENTRY) };

#undef SCAN
#undef DONE_sum
#undef DONE_prod
#undef DONE_min
#undef DONE_max
#undef DONE_any
#undef DONE_all
#undef COLUMNS
#undef BLOCK
#undef FROM
#undef LAST
#undef SHUFFLED
#undef PASS
#undef ALONG
#undef WIDE
#undef AFTER
#undef BOTH
#undef SCAN_ENTRY
