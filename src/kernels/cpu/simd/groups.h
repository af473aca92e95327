/* groups.h - sums by label: elements go to the cells of their labels.
 *
 * A store for each element is what this costs, so elements and labels are read as they lie in memory,
 * and converted on the way.  Lanes take turns: neighbours of one label add to different cells, and
 * need not wait for each other.  Other reducers have a kernel of states.h. */

/* Cells of more than a second-level cache are fetched: the processor looks ahead less far. */
enum { GROUP_AHEAD = 64 };

#define GROUP_CELL(c) rd_group_state(q, c, (int64_t)label[(c)*q->col_label])
#define GROUP_AT(k)                                                                    \
    const int64_t g##k  = (int64_t)label[c + k];                                       \
    const int64_t at##k = (uint64_t)g##k < n_group ? q->cell + g##k * apart : nowhere; \
    lane##k[at##k] += (T)x[(c + k) * q->colx];

#define GROUP_SUM(ELEM_, T_, FROM, X, TYPE, L)                                 \
    static void group_sum_##ELEM_##_##FROM##_##TYPE(const rd_group_row *q)     \
    {                                                                          \
        typedef T_     T;                                                      \
        T *const       s       = q->s[0];                                      \
        const X *const x       = q->x;                                         \
        const L *const label   = q->label;                                     \
        const uint64_t n_group = (uint64_t)q->n_group;                         \
        const int64_t  apart = q->apart, nowhere = q->nowhere;                 \
        int64_t        c = 0;                                                  \
                                                                               \
        if (q->lanes == RD_GROUP_LANES && q->col_label == 1 && !q->cell_col) { \
            T *const lane0 = s + (q->lane & 3) * q->stride;                    \
            T *const lane1 = s + ((q->lane + 1) & 3) * q->stride;              \
            T *const lane2 = s + ((q->lane + 2) & 3) * q->stride;              \
            T *const lane3 = s + ((q->lane + 3) & 3) * q->stride;              \
                                                                               \
            for (; c + 4 <= q->n; c += 4) {                                    \
                GROUP_AT(0) GROUP_AT(1) GROUP_AT(2) GROUP_AT(3)                \
            }                                                                  \
        }                                                                      \
        for (; q->far && c + GROUP_AHEAD < q->n; c++) {                        \
            __builtin_prefetch(s + GROUP_CELL(c + GROUP_AHEAD), 0, 2);         \
            s[GROUP_CELL(c)] += (T)x[c * q->colx];                             \
        }                                                                      \
        for (; c < q->n; c++)                                                  \
            s[GROUP_CELL(c)] += (T)x[c * q->colx];                             \
    }
_Static_assert(RD_GROUP_LANES == 4, "four lanes are written out");

#define GROUP_SUMS(TYPE, L)                      \
    GROUP_SUM(f64, double, f32, float, TYPE, L)  \
    GROUP_SUM(f64, double, f64, double, TYPE, L) \
    GROUP_SUM(i64, uint64_t, i64, uint64_t, TYPE, L)
#define GROUP_ENTRY(ELEM_, FROM, TYPE) [RD_##TYPE] = group_sum_##ELEM_##_##FROM##_##TYPE
#define GROUP_TABLE(ELEM_, FROM)                                                   \
    static rd_simd_group *const group_sums_##ELEM_##_##FROM[RD_N_DTYPES] = {       \
        GROUP_ENTRY(ELEM_, FROM, I8),  GROUP_ENTRY(ELEM_, FROM, I16),              \
        GROUP_ENTRY(ELEM_, FROM, I32), GROUP_ENTRY(ELEM_, FROM, I64),              \
        GROUP_ENTRY(ELEM_, FROM, U8),  GROUP_ENTRY(ELEM_, FROM, U16),              \
        GROUP_ENTRY(ELEM_, FROM, U32), [RD_U64] = group_sum_##ELEM_##_##FROM##_I64 \
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

/* Of an accumulator's element and that of what it takes; NULL: there is none. */
static rd_simd_group *const *const group_sums[RD_N_ELEMS][RD_N_ELEMS] = {
    [RD_ELEM_f64] = { [RD_ELEM_f32] = group_sums_f64_f32, [RD_ELEM_f64] = group_sums_f64_f64 },
    [RD_ELEM_i64] = { [RD_ELEM_i64] = group_sums_i64_i64 },
    [RD_ELEM_u64] = { [RD_ELEM_u64] = group_sums_i64_i64 },
};
#undef GROUP_CELL
#undef GROUP_AT
#undef GROUP_SUM
#undef GROUP_SUMS
#undef GROUP_ENTRY
#undef GROUP_TABLE
