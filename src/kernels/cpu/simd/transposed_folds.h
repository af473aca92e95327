/* transposed_folds.h - the folds of fused_folds.def with a second operand that may lie in columns:
 * element (r, l) of y is at r + l coly.  Squares of y are transposed in registers and folded from
 * there, with the steps and the order of vector_folds.h.
 *
 * instances/folds_*.c include it once per float type, with ELEM, T, and WORD (an unsigned int as
 * wide) set. */
#define BYTES   RD_VECTOR_BYTES
#define INDICES JOIN(JOIN(INDICES, ELEM), RD_VECTOR_BYTES)
#include "kernels/cpu/simd/square.h"
#define ABS(x) JOIN(abs_vec, ELEM)(x)
#define WORDS  JOIN(turn_row, WORD)

/* Loads a square of LANES x LANES elements at y, whose columns are `coly` elements apart, and
 * transposes it in registers.  Prefetches the square `below` elements on (0: none). */
static ALWAYS void JOIN(load_transposed, ELEM)(WORDS *v, const T *y, int64_t coly, int64_t below)
{
    UNROLL(16)
    for (int k = 0; k < LANES; k++) {
        v[k] = *(const WORDS *)(y + k * coly);
        if (below)
            __builtin_prefetch(y + k * coly + below, 0, 2);
    }
    JOIN(turn_rows, WORD)(v);
}

/* Transposes part of a square of y (element (k, l) is at l coly + k) to memory at v: `rows` rows of
 * a vector each.  Lanes without a column are 0. */
static inline void JOIN(transpose_part, ELEM)(T *v, const T *y, int64_t coly, int64_t rows,
                                              int64_t cols)
{
    for (int64_t k = 0; k < rows; k++)
        for (int64_t l = 0; l < LANES; l++)
            v[k * LANES + l] = l < cols ? y[l * coly + k] : 0;
}

/* Prefetches as many vectors of the next rows of x as a square has, in the order of memory, and
 * moves *row and *col on.  In the order of squares they took 1.3 times as long (8192 x 8192, Zen
 * 4). */
static ALWAYS void JOIN(prefetch_vectors, ELEM)(const T **row, int64_t *col, int64_t n, int64_t ldx)
{
    UNROLL(16)
    for (int k = 0; k < LANES; k++) {
        __builtin_prefetch(*row + *col, 0, 2); /* to read; into the second-level cache */
        *col += LANES;
        if (*col >= n) {
            *col = 0;
            *row += ldx;
        }
    }
}

/* transposed_NAME(): updates n states with rows of x and y, where y lies in columns: squares of it
 * are transposed in registers and folded from there, with the map that the code has. */
#define TRANSPOSED_KERNEL(name, reducer, ...)                                                    \
    static void JOIN(transposed_##name, ELEM)(const rd_fold_rows *q)                             \
    {                                                                                            \
        const int64_t n = q->n, rows = q->rows, ldx = q->ldx, coly = q->coly, below = q->below;  \
        int64_t       col = 0;                                                                   \
        const T      *row = (const T *)q->x + below * ldx;                                       \
        for (int64_t l = 0; l < n; l += LANES) {                                                 \
            T *const      s    = (T *)q->s[0] + l;                                               \
            const int64_t cols = n - l < LANES ? n - l : LANES;                                  \
            VEC           v    = JOIN(load_part, ELEM)(s, cols);                                 \
            for (int64_t r = 0; r < rows; r += LANES) {                                          \
                const T *const px = (const T *)q->x + r * ldx + l, *const py = (const T *)q->y + \
                                                                               l * coly + r;     \
                if (rows - r >= LANES && cols == LANES) {                                        \
                    WORDS t[LANES];                                                              \
                    JOIN(load_transposed, ELEM)(t, py, coly, below);                             \
                    if (below)                                                                   \
                        JOIN(prefetch_vectors, ELEM)(&row, &col, n, ldx);                        \
                    UNROLL(16)                                                                   \
                    for (int k = 0; k < LANES; k++) {                                            \
                        const VEC x = JOIN(load, ELEM)(px + k * ldx), y = (VEC)t[k];             \
                        v = TAKES_##reducer(v, __VA_ARGS__);                                     \
                    }                                                                            \
                } else {                                                                         \
                    T             t[LANES * LANES];                                              \
                    const int64_t left = rows - r < LANES ? rows - r : LANES;                    \
                    JOIN(transpose_part, ELEM)(t, py, coly, left, cols);                         \
                    for (int64_t k = 0; k < left; k++) {                                         \
                        const VEC x = JOIN(load_part, ELEM)(px + k * ldx, cols),                 \
                                  y = JOIN(load, ELEM)(t + k * LANES);                           \
                        v           = TAKES_##reducer(v, __VA_ARGS__);                           \
                    }                                                                            \
                }                                                                                \
            }                                                                                    \
            JOIN(store_part, ELEM)(s, v, cols);                                                  \
        }                                                                                        \
    }

#define MAKE_FLAT(...)
#define MAKE_TRANSPOSED(reducer, map, ...) TRANSPOSED_KERNEL(reducer##_##map, reducer, __VA_ARGS__)
#define RD_FOLD(reducer, map, operands, floats, halves, transposed, ...) \
    MAKE_##transposed(reducer, map, __VA_ARGS__)
#include "kernels/cpu/simd/fused_folds.def"

#define ENTRY_FLAT(...)
#define ENTRY_TRANSPOSED(reducer, map) \
    [RD_RED_##reducer][RD_FUSED_##map] = JOIN(transposed_##reducer##_##map, ELEM),
rd_simd_rows *const OF_ISA(JOIN(transposed, ELEM))[RD_N_REDUCERS][RD_N_FUSED] = {
#define RD_FOLD(reducer, map, operands, floats, halves, transposed, ...) \
    ENTRY_##transposed(reducer, map)
#include "kernels/cpu/simd/fused_folds.def"
};
#undef MAKE_FLAT
#undef MAKE_TRANSPOSED
#undef ENTRY_FLAT
#undef ENTRY_TRANSPOSED
#undef ABS
#undef WORDS
#undef BYTES
#undef INDICES
#undef TRANSPOSED_KERNEL
