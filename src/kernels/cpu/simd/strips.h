/* strips.h - the reductions that must run at the speed of memory, by hand: sum, prod, min, max of elements or of a map
 * of them, in vectors of the instruction set.
 *
 * Two walks with one result.  Few states (the lanes of a row's combine tree): they stay in registers, down all rows.
 * Many (columns): along the row, and four rows at a time if rows are wide, so that a state is loaded once per four
 * elements; narrow rows from DRAM one at a time, as one stream of memory is twice as fast as four (Zen 4: 32 against
 * 17 GB/s for rows of 2 KiB).
 *
 * table.h includes it once per float type, with ELEM, T, I (an int as wide) set. */
#define VEC   JOIN(vec, ELEM)
#define MASK  JOIN(mask, ELEM)
#define LANES (RD_VECTOR_BYTES / (int)sizeof(T))
#define STRIP (256 / RD_VECTOR_BYTES < 8 ? 256 / RD_VECTOR_BYTES : 8) /* vectors of states kept in registers */
#define WIDE  (16384 / (int64_t)sizeof(T))

typedef T VEC __attribute__((vector_size(RD_VECTOR_BYTES), aligned(sizeof(T)), may_alias));
typedef I MASK __attribute__((vector_size(RD_VECTOR_BYTES)));

#define PICKED(m, a, b)  ((VEC)(((MASK)(a) & (m)) | ((MASK)(b) & ~(m))))
#define TAKES_sum(s, x)  ((s) + (x))
#define TAKES_prod(s, x) ((s) * (x))
#define TAKES_min(s, x)  PICKED(((x) < (s)) | ((x) != (x)), x, s)
#define TAKES_max(s, x)  PICKED(((x) > (s)) | ((x) != (x)), x, s)

static inline VEC JOIN(abs_vec, ELEM)(VEC x)
{
    return (VEC)((MASK)x & (MASK)(~((MASK){ 0 } + (I)((uint64_t)1 << (8 * sizeof(T) - 1)))));
}
static inline VEC JOIN(load, ELEM)(const T *p)
{
    return *(const VEC *)p;
}

/* The first n < LANES elements; the others are of no interest. */
static inline VEC JOIN(load_part, ELEM)(const T *p, int64_t n)
{
    VEC v = { 0 };

    memcpy(&v, p, (size_t)n * sizeof(T));
    return v;
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
                for (int64_t r = 0; r < q->rows; r++)                                                               \
                    _Pragma("GCC unroll 8") for (int k = 0; k < STRIP; k++)                                         \
                    {                                                                                               \
                        AT_##operands(r, l + k * LANES) v[k] = TAKES_##reducer(v[k], (__VA_ARGS__));                \
                    }                                                                                               \
                for (int k = 0; k < STRIP; k++)                                                                     \
                    *(VEC *)(s + l + k * LANES) = v[k];                                                             \
            }                                                                                                       \
        else {                                                                                                      \
            int64_t       r     = 0;                                                                                \
            const int64_t whole = q->n / LANES * LANES;                                                             \
            for (; q->n >= WIDE && r + 4 <= q->rows; r += 4)                                                        \
                for (l = 0; l < whole; l += LANES) {                                                                \
                    VEC v = JOIN(load, ELEM)(s + l);                                                                \
                    _Pragma("GCC unroll 4") for (int k = 0; k < 4; k++)                                             \
                    {                                                                                               \
                        AT_##operands(r + k, l) v = TAKES_##reducer(v, (__VA_ARGS__));                              \
                    }                                                                                               \
                    *(VEC *)(s + l) = v;                                                                            \
                }                                                                                                   \
            for (; r < q->rows; r++)                                                                                \
                for (l = 0; l < whole; l += LANES) {                                                                \
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
            memcpy(s + l, &v, (size_t)left * sizeof(T));                                                            \
        }                                                                                                           \
    }

/* name(reducer, operands, code) of every reducer made here. */
#define ABS(x)               JOIN(abs_vec, ELEM)(x)
#define FUSED_REDUCERS(make) make(sum) make(prod) make(min) make(max)

#define PLAIN(reducer) STRIP_KERNEL(strip_##reducer, reducer, 1, x)
FUSED_REDUCERS(PLAIN)
#define RD_FUSE(name, operands, ...) STRIP_KERNEL(strip_sum_##name, sum, operands, __VA_ARGS__)
#include "kernels/cpu/simd/fused.def"
#define RD_FUSE(name, operands, ...) STRIP_KERNEL(strip_min_##name, min, operands, __VA_ARGS__)
#include "kernels/cpu/simd/fused.def"
#define RD_FUSE(name, operands, ...) STRIP_KERNEL(strip_max_##name, max, operands, __VA_ARGS__)
#include "kernels/cpu/simd/fused.def"

static rd_simd_rows *const JOIN(fused, ELEM)[RD_N_REDUCERS][RD_N_FUSED] = {
#define RD_FUSE(name, ...) [RD_RED_sum][RD_FUSED_##name] = JOIN(strip_sum_##name, ELEM),
#include "kernels/cpu/simd/fused.def"
#define RD_FUSE(name, ...) [RD_RED_min][RD_FUSED_##name] = JOIN(strip_min_##name, ELEM),
#include "kernels/cpu/simd/fused.def"
#define RD_FUSE(name, ...) [RD_RED_max][RD_FUSED_##name] = JOIN(strip_max_##name, ELEM),
#include "kernels/cpu/simd/fused.def"
};
#undef FUSED_REDUCERS
#undef PLAIN
#undef ABS
#undef VEC
#undef MASK
#undef LANES
#undef STRIP
#undef WIDE
#undef PICKED
#undef TAKES_sum
#undef TAKES_prod
#undef TAKES_min
#undef TAKES_max
#undef AT_1
#undef AT_2
#undef PART_1
#undef PART_2
#undef STRIP_KERNEL
