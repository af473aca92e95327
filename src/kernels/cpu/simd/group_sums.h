/* group_sums.h - group-by sums: elements are added to the cells of their labels.
 *
 * The cost is a load and a store for each element, so elements and labels are read as they lie in
 * memory, and converted on the way.  Other reducers have a kernel of state_kernels.h. */

/* Distance of prefetched cells, if they do not fit the second-level cache: processors do not look
 * so far ahead. */
enum { GROUP_AHEAD = 64 };
/* Neighbours with one label that add to a register; in sorted data most neighbours share one. */
enum { GROUP_RUN = 16 };

/* Adds element c + k, in a lane of its own, so that neighbours with one label need not wait for
 * each other. */
#define GROUP_TAKE(k)                                                                        \
    {                                                                                        \
        const int64_t g = (int64_t)label[c + k];                                             \
        lane[k][(uint64_t)g < n_group ? cell + g * apart : nowhere] += (T)x[(c + k) * each]; \
    }
#define GROUP_FACTS                                \
    const uint64_t n_group = (uint64_t)q->n_group; \
    const int64_t  apart = q->apart, nowhere = q->nowhere, cell = q->cell, n = q->n;

/* group_along(): adds each element to the cell (sum) of its label, in the lanes in turn; `each` is
 * 1, or 0 if one element holds for all.  16 neighbours with one label add up in a register.
 * group_sum(): chooses by the strides of cells, labels and elements. */
#define GROUP_SUM(ELEM_, T_, FROM, X, TYPE, L)                                                    \
    static inline __attribute__((always_inline)) void GROUP_NAME(along, ELEM_, FROM, TYPE)(       \
        const rd_group_row *q, const X *x, const int64_t each)                                    \
    {                                                                                             \
        typedef T_     T;                                                                         \
        T *const       s     = q->s[0];                                                           \
        const L *const label = q->label;                                                          \
        GROUP_FACTS                                                                               \
        T *const lane[4] = { s + (q->lane & (q->lanes - 1)) * q->stride,                          \
                             s + ((q->lane + 1) & (q->lanes - 1)) * q->stride,                    \
                             s + ((q->lane + 2) & (q->lanes - 1)) * q->stride,                    \
                             s + ((q->lane + 3) & (q->lanes - 1)) * q->stride };                  \
        int64_t  c       = 0;                                                                     \
                                                                                                  \
        for (; q->far && c + GROUP_AHEAD + 4 <= n; c += 4) {                                      \
            for (int k = 0; k < 4; k++)                                                           \
                __builtin_prefetch(s + rd_group_state(q, 0, (int64_t)label[c + GROUP_AHEAD + k]), \
                                   0, 2);                                                         \
            GROUP_TAKE(0) GROUP_TAKE(1) GROUP_TAKE(2) GROUP_TAKE(3)                               \
        }                                                                                         \
        for (; q->lanes == 1 && c + GROUP_RUN <= n; c += GROUP_RUN) {                             \
            L other = 0;                                                                          \
                                                                                                  \
            for (int k = 1; k < GROUP_RUN; k++)                                                   \
                other |= (L)(label[c + k] ^ label[c]);                                            \
            if (other) {                                                                          \
                for (int k = 0; k < GROUP_RUN; k++)                                               \
                    s[rd_group_state(q, 0, (int64_t)label[c + k])] += (T)x[(c + k) * each];       \
                continue;                                                                         \
            }                                                                                     \
            T *const to  = s + rd_group_state(q, 0, (int64_t)label[c]);                           \
            T        sum = *to;                                                                   \
                                                                                                  \
            for (int k = 0; k < GROUP_RUN; k++)                                                   \
                sum += (T)x[(c + k) * each];                                                      \
            *to = sum;                                                                            \
        }                                                                                         \
        for (; c + 4 <= n; c += 4) {                                                              \
            GROUP_TAKE(0) GROUP_TAKE(1) GROUP_TAKE(2) GROUP_TAKE(3)                               \
        }                                                                                         \
        for (; c < n; c++)                                                                        \
            s[rd_group_state(q, c, (int64_t)label[c])] += (T)x[c * each];                         \
    }                                                                                             \
    /* Sums rows of adjacent cells, with one label for each row. */                               \
    static void GROUP_NAME(adjacent, ELEM_, FROM, TYPE)(const rd_group_row *q)                    \
    {                                                                                             \
        const L *const label = q->label;                                                          \
                                                                                                  \
        for (int64_t r = 0; r < q->rows; r++) {                                                   \
            const int64_t  g = (int64_t)label[r * q->row_label];                                  \
            T_ *const      y = (T_ *)q->s[0] + rd_group_state(q, 0, g);                           \
            const int64_t  n = (uint64_t)g < (uint64_t)q->n_group ? q->n : 0;                     \
            const X *const x = (const X *)q->x + r * q->ldx;                                      \
                                                                                                  \
            INDEPENDENT                                                                           \
            for (int64_t c = 0; c < n; c++)                                                       \
                y[c] += (T_)x[c];                                                                 \
        }                                                                                         \
    }                                                                                             \
    static void GROUP_NAME(sum, ELEM_, FROM, TYPE)(const rd_group_row *q)                         \
    {                                                                                             \
        const X *const x = q->x;                                                                  \
        T_ *const      s = q->s[0];                                                               \
                                                                                                  \
        if (!q->cell_col && q->col_label && q->colx)                                              \
            GROUP_NAME(along, ELEM_, FROM, TYPE)(q, x, 1);                                        \
        else if (!q->cell_col && q->col_label)                                                    \
            GROUP_NAME(along, ELEM_, FROM, TYPE)(q, x, 0);                                        \
        else if (q->cell_col == 1 && q->colx == 1 && !q->col_label)                               \
            GROUP_NAME(adjacent, ELEM_, FROM, TYPE)(q);                                           \
        else                                                                                      \
            for (int64_t c = 0; c < q->n; c++)                                                    \
                s[rd_group_state(q, c, (int64_t)((const L *)q->label)[c * q->col_label])] +=      \
                    (T_)x[c * q->colx];                                                           \
    }
#define GROUP_NAME(what, elem, from, type) group_##what##_##elem##_##from##_##type
_Static_assert(RD_GROUP_LANES == 4, "four lanes are written out");

#define GROUP_SUMS(TYPE, L)                      \
    GROUP_SUM(f64, double, f32, float, TYPE, L)  \
    GROUP_SUM(f64, double, f64, double, TYPE, L) \
    GROUP_SUM(i64, uint64_t, i64, uint64_t, TYPE, L)
#define GROUP_ENTRY(ELEM_, FROM, TYPE) [RD_##TYPE] = GROUP_NAME(sum, ELEM_, FROM, TYPE)
#define GROUP_TABLE(ELEM_, FROM)                                                    \
    static rd_simd_group *const group_sums_##ELEM_##_##FROM[RD_N_DTYPES] = {        \
        GROUP_ENTRY(ELEM_, FROM, I8),  GROUP_ENTRY(ELEM_, FROM, I16),               \
        GROUP_ENTRY(ELEM_, FROM, I32), GROUP_ENTRY(ELEM_, FROM, I64),               \
        GROUP_ENTRY(ELEM_, FROM, U8),  GROUP_ENTRY(ELEM_, FROM, U16),               \
        GROUP_ENTRY(ELEM_, FROM, U32), [RD_U64] = GROUP_NAME(sum, ELEM_, FROM, I64) \
    };

GROUP_SUMS(I8, int8_t)
GROUP_SUMS(I16, int16_t)
GROUP_SUMS(I32, int32_t)
GROUP_SUMS(I64, int64_t)
GROUP_SUMS(U8, uint8_t)
GROUP_SUMS(U16, uint16_t)
GROUP_SUMS(U32, uint32_t)
GROUP_TABLE(f64, f32)
GROUP_TABLE(f64, f64)
GROUP_TABLE(i64, i64)

/* The kernel for each element of the accumulator and of the operand; NULL where there is none. */
static rd_simd_group *const *const group_sums[RD_N_ELEMS][RD_N_ELEMS] = {
    [RD_ELEM_f64] = { [RD_ELEM_f32] = group_sums_f64_f32, [RD_ELEM_f64] = group_sums_f64_f64 },
    [RD_ELEM_i64] = { [RD_ELEM_i64] = group_sums_i64_i64 },
    [RD_ELEM_u64] = { [RD_ELEM_u64] = group_sums_i64_i64 },
};
#undef GROUP_TAKE
#undef GROUP_FACTS
#undef GROUP_NAME
#undef GROUP_SUM
#undef GROUP_SUMS
#undef GROUP_ENTRY
#undef GROUP_TABLE
