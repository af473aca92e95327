/* strips.h - the reductions that must run at the speed of memory, by hand: sum, prod, min, max of elements or of a map
 * of them, in vectors of the instruction set.
 *
 * Two walks with one result.  Few states (the lanes of a row's combine tree): they stay in registers, down all rows.
 * Many (columns): along the row, and four rows at a time if rows are wide, so that a state is loaded once per four
 * elements; narrow rows that adjoin one at a time, as one stream of memory is twice as fast as four (Zen 4: 32
 * against 17 GB/s for rows of 2 KiB).
 *
 * table.h includes it once per float type, with ELEM, T, I (an int as wide) set. */
#define STRIP (256 / RD_VECTOR_BYTES < 8 ? 256 / RD_VECTOR_BYTES : 8) /* vectors of states kept in registers */
#define WIDE  (16384 / (int64_t)sizeof(T))

typedef T VEC __attribute__((vector_size(RD_VECTOR_BYTES), aligned(sizeof(T)), may_alias));
typedef I MASK __attribute__((vector_size(RD_VECTOR_BYTES)));

static inline VEC JOIN(abs_vec, ELEM)(VEC x)
{
    return (VEC)((MASK)x & (MASK)(~((MASK){ 0 } + (I)((uint64_t)1 << (8 * sizeof(T) - 1)))));
}
static inline VEC JOIN(load, ELEM)(const T *p)
{
    return *(const VEC *)p;
}

/* The first n <= LANES elements; the others are of no interest. */
static inline VEC JOIN(load_part, ELEM)(const T *p, int64_t n)
{
    VEC v = { 0 };

    if (n == LANES)
        return JOIN(load, ELEM)(p);
    memcpy(&v, p, (size_t)n * sizeof(T));
    return v;
}

static inline void JOIN(store_part, ELEM)(T *p, VEC v, int64_t n)
{
    if (n == LANES)
        *(VEC *)p = v;
    else
        memcpy(p, &v, (size_t)n * sizeof(T));
}

/* Elements (row r, states l ...) of the operands. */
#define AT_1(r, l)      const VEC x = JOIN(load, ELEM)(px + (r)*q->ldx + (l));
#define AT_2(r, l)      AT_1(r, l) const VEC y = JOIN(load, ELEM)(py + (r)*q->ldy + (l));
#define PART_1(r, l, n) const VEC x = JOIN(load_part, ELEM)(px + (r)*q->ldx + (l), n);
#define PART_2(r, l, n) PART_1(r, l, n) const VEC y = JOIN(load_part, ELEM)(py + (r)*q->ldy + (l), n);

#define STRIP_KERNEL(name, reducer, operands, ...)                                                                  \
    static void JOIN(name, ELEM)(const rd_fold_rows *q)                                                             \
    {                                                                                                               \
        T *const       s  = q->s[0];                                                                                \
        const T *const px = q->x, *const py = q->y;                                                                 \
        int64_t l = 0;                                                                                              \
        (void)py;                                                                                                   \
        if (q->n <= 2 * STRIP * LANES)                                                                              \
            for (; l + STRIP * LANES <= q->n; l += STRIP * LANES) {                                                 \
                VEC v[STRIP];                                                                                       \
                for (int k = 0; k < STRIP; k++)                                                                     \
                    v[k] = JOIN(load, ELEM)(s + l + k * LANES);                                                     \
                for (int64_t r = 0; r < q->rows; r++) {                                                             \
                    UNROLL(8)                                                                                       \
                    for (int k = 0; k < STRIP; k++) {                                                               \
                        AT_##operands(r, l + k * LANES) v[k] = TAKES_##reducer(v[k], (__VA_ARGS__));                \
                    }                                                                                               \
                }                                                                                                   \
                for (int k = 0; k < STRIP; k++)                                                                     \
                    *(VEC *)(s + l + k * LANES) = v[k];                                                             \
            }                                                                                                       \
        else {                                                                                                      \
            int64_t       r     = 0;                                                                                \
            const int64_t whole = q->n / LANES * LANES;                                                             \
            for (; (q->n >= WIDE || q->ldx != q->n) && r + 4 <= q->rows; r += 4)                                    \
                for (l = 0; l < whole; l += LANES) {                                                                \
                    VEC v = JOIN(load, ELEM)(s + l);                                                                \
                    UNROLL(4)                                                                                       \
                    for (int k = 0; k < 4; k++) {                                                                   \
                        AT_##operands(r + k, l) v = TAKES_##reducer(v, (__VA_ARGS__));                              \
                    }                                                                                               \
                    *(VEC *)(s + l) = v;                                                                            \
                }                                                                                                   \
            for (; r < q->rows; r++)                                                                                \
                _Pragma("GCC unroll 4") for (l = 0; l < whole; l += LANES)                                          \
                {                                                                                                   \
                    AT_##operands(r, l) * (VEC *)(s + l) = TAKES_##reducer(JOIN(load, ELEM)(s + l), (__VA_ARGS__)); \
                }                                                                                                   \
            l = whole;                                                                                              \
        }                                                                                                           \
        for (; l < q->n; l += LANES) {                                                                              \
            const int64_t left = q->n - l < LANES ? q->n - l : LANES;                                               \
            VEC           v    = JOIN(load_part, ELEM)(s + l, left);                                                \
            for (int64_t r = 0; r < q->rows; r++) {                                                                 \
                PART_##operands(r, l, left) v = TAKES_##reducer(v, (__VA_ARGS__));                                  \
            }                                                                                                       \
            JOIN(store_part, ELEM)(s + l, v, left);                                                                 \
        }                                                                                                           \
    }

/* Totals of rows that are one block of the combine tree: lanes in registers, closed by halving.  y is of the counter's
 * type W.  What a row costs beyond its elements counts for rows of a few hundred: no states in memory, no calls. */
#define ROW_LANES (256 / (int)sizeof(T))

/* A whole block of the tree, lanes in registers: finished states, without the states of a block in memory. */
#define BLOCK_KERNEL(name, reducer, W, operands, ...)                                            \
    static void JOIN(name, ELEM)(const rd_fold_rows *q, void *to)                                \
    {                                                                                            \
        const T *const px = q->x, *const py = q->y ? q->y : q->x;                                \
        W *c = to;                                                                               \
        (void)py;                                                                                \
        for (int64_t l = 0; l < ROW_LANES; l += STRIP * LANES) {                                 \
            VEC v[STRIP];                                                                        \
            UNROLL(8)                                                                            \
            for (int k = 0; k < STRIP; k++) {                                                    \
                AT_##operands(0, l + k * LANES) v[k] = (__VA_ARGS__);                            \
            }                                                                                    \
            for (int64_t r = 1; r < q->rows; r++) {                                              \
                UNROLL(8)                                                                        \
                for (int k = 0; k < STRIP; k++) {                                                \
                    AT_##operands(r, l + k * LANES) v[k] = TAKES_##reducer(v[k], (__VA_ARGS__)); \
                }                                                                                \
            }                                                                                    \
            UNROLL(8)                                                                            \
            for (int k = 0; k < STRIP; k++)                                                      \
                for (int i = 0; i < LANES; i++)                                                  \
                    c[l + k * LANES + i] = v[k][i];                                              \
        }                                                                                        \
    }

#define TOTAL_KERNEL(name, reducer, W, operands, ...)                                                                  \
    static void JOIN(name, ELEM)(const rd_fold_rows *q, void *to)                                                      \
    {                                                                                                                  \
        const int64_t whole = q->n / ROW_LANES, rest = q->n % ROW_LANES;                                               \
        for (int64_t r = 0; r < q->rows; r++) {                                                                        \
            const T *const px = (const T *)q->x + r * q->ldx, *const py = q->y ? (const T *)q->y + r * q->ldy : px;    \
            T       s[ROW_LANES] __attribute__((aligned(64)));                                                         \
            W       c[ROW_LANES] __attribute__((aligned(64)));                                                         \
            int64_t width = whole ? ROW_LANES : rest;                                                                  \
            (void)py;                                                                                                  \
            for (int64_t l = 0; whole && l < ROW_LANES; l += STRIP * LANES) {                                          \
                VEC v[STRIP];                                                                                          \
                UNROLL(8)                                                                                              \
                for (int k = 0; k < STRIP; k++) {                                                                      \
                    AT_##operands(0, l + k * LANES) v[k] = (__VA_ARGS__);                                              \
                }                                                                                                      \
                for (int64_t step = 1; step < whole; step++) {                                                         \
                    UNROLL(8)                                                                                          \
                    for (int k = 0; k < STRIP; k++) {                                                                  \
                        AT_##operands(0, step *ROW_LANES + l + k * LANES) v[k] = TAKES_##reducer(v[k], (__VA_ARGS__)); \
                    }                                                                                                  \
                }                                                                                                      \
                UNROLL(8)                                                                                              \
                for (int k = 0; k < STRIP; k++)                                                                        \
                    *(VEC *)(s + l + k * LANES) = v[k];                                                                \
            }                                                                                                          \
            for (int64_t l = 0; l < rest; l += LANES) {                                                                \
                const int64_t                                      left = rest - l < LANES ? rest - l : LANES;         \
                PART_##operands(0, whole *ROW_LANES + l, left) VEC e    = (__VA_ARGS__);                               \
                if (whole)                                                                                             \
                    e = TAKES_##reducer(JOIN(load, ELEM)(s + l), e);                                                   \
                JOIN(store_part, ELEM)(s + l, e, left);                                                                \
            }                                                                                                          \
            if (width == ROW_LANES) {                                                                                  \
                for (int l = 0; l < ROW_LANES / 2; l++)                                                                \
                    c[l] = ONE_##reducer((W)s[l], (W)s[l + ROW_LANES / 2]);                                            \
                UNROLL(6)                                                                                              \
                for (int half = ROW_LANES / 4; half > 0; half /= 2)                                                    \
                    for (int l = 0; l < half; l++)                                                                     \
                        c[l] = ONE_##reducer(c[l], c[l + half]);                                                       \
            } else {                                                                                                   \
                for (int64_t l = 0; l < width; l++)                                                                    \
                    c[l] = s[l];                                                                                       \
                for (int64_t half = ROW_LANES / 2; half > 0; half /= 2) {                                              \
                    for (int64_t l = 0; l + half < width; l++)                                                         \
                        c[l] = ONE_##reducer(c[l], c[l + half]);                                                       \
                    width = width < half ? width : half;                                                               \
                }                                                                                                      \
            }                                                                                                          \
            ((W *)to)[r] = c[0];                                                                                       \
        }                                                                                                              \
    }

/* Every reducer made here, with every map of fused.def. */
#define ABS(x) JOIN(abs_vec, ELEM)(x)
#define BOTH_KERNELS(name, reducer, W, operands, ...)             \
    STRIP_KERNEL(strip_##name, reducer, operands, __VA_ARGS__)    \
    TOTAL_KERNEL(total_##name, reducer, W, operands, __VA_ARGS__) \
    BLOCK_KERNEL(block_##name, reducer, W, operands, __VA_ARGS__)

BOTH_KERNELS(sum_none, sum, double, 1, x)
BOTH_KERNELS(prod_none, prod, T, 1, x)
BOTH_KERNELS(min_none, min, T, 1, x)
BOTH_KERNELS(max_none, max, T, 1, x)
#define RD_FUSE(name, operands, ...) BOTH_KERNELS(sum_##name, sum, double, operands, __VA_ARGS__)
#include "kernels/cpu/simd/fused.def"
#define RD_FUSE(name, operands, ...) BOTH_KERNELS(min_##name, min, T, operands, __VA_ARGS__)
#include "kernels/cpu/simd/fused.def"
#define RD_FUSE(name, operands, ...) BOTH_KERNELS(max_##name, max, T, operands, __VA_ARGS__)
#include "kernels/cpu/simd/fused.def"

#define PLAIN_ENTRY(reducer, kind)       [RD_RED_##reducer][RD_FUSED_none] = JOIN(kind##_##reducer##_none, ELEM),
#define FUSED_ENTRY(reducer, kind, name) [RD_RED_##reducer][RD_FUSED_##name] = JOIN(kind##_##reducer##_##name, ELEM),
#define ENTRIES(kind)                    PLAIN_ENTRY(sum, kind) PLAIN_ENTRY(prod, kind) PLAIN_ENTRY(min, kind) PLAIN_ENTRY(max, kind)

static rd_simd_rows *const JOIN(fused, ELEM)[RD_N_REDUCERS][RD_N_FUSED] = { ENTRIES(strip)
#define RD_FUSE(name, ...) FUSED_ENTRY(sum, strip, name) FUSED_ENTRY(min, strip, name) FUSED_ENTRY(max, strip, name)
#include "kernels/cpu/simd/fused.def"
};
static rd_simd_totals *const JOIN(totals, ELEM)[RD_N_REDUCERS][RD_N_FUSED] = { ENTRIES(total)
#define RD_FUSE(name, ...) FUSED_ENTRY(sum, total, name) FUSED_ENTRY(min, total, name) FUSED_ENTRY(max, total, name)
#include "kernels/cpu/simd/fused.def"
};
static rd_simd_block *const JOIN(blocks, ELEM)[RD_N_REDUCERS][RD_N_FUSED] = { ENTRIES(block)
#define RD_FUSE(name, ...) FUSED_ENTRY(sum, block, name) FUSED_ENTRY(min, block, name) FUSED_ENTRY(max, block, name)
#include "kernels/cpu/simd/fused.def"
};
#undef ROW_LANES
#undef BLOCK_KERNEL
#undef TOTAL_KERNEL
#undef BOTH_KERNELS
#undef PLAIN_ENTRY
#undef FUSED_ENTRY
#undef ENTRIES
#undef ABS
#undef STRIP
#undef WIDE
#undef AT_1
#undef AT_2
#undef PART_1
#undef PART_2
#undef STRIP_KERNEL
