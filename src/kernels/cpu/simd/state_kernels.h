/* state_kernels.h - the reducers of reducers.def on contiguous states, for one element.
 *
 * instances/folds_*.c include it once per element, with ELEM, T, PICK and the RD_ names of
 * kernels/cpu/reference/reducers_class.h set.  The code of a reducer loads a state into variables,
 * changes them, and stores them, so that compilers keep lanes in vectors. */
#define CODE(name, part) JOIN(JOIN(fold_##name, part), ELEM)

/* Register k of a state of n_state registers: of type T; VI: a value and an index. */
#define STATES_1(A)  A(0, T)
#define STATES_2(A)  A(0, T) A(1, T)
#define STATES_3(A)  STATES_2(A) A(2, T)
#define STATES_4(A)  STATES_3(A) A(3, T)
#define STATES_5(A)  STATES_4(A) A(4, T)
#define STATES_6(A)  STATES_5(A) A(5, T)
#define STATES_VI(A) A(0, T) A(1, int64_t)

#define ARRAY_S(k, type) type *const s_##k = q->s[k];
#define ARRAY_A(k, type) type *const s_##k = sa[k];
#define ARRAY_B(k, type) const type *const b_##k = sb[k];
#define NEW(k, type) \
    type s##k = 0;   \
    (void)s##k;
#define TAKE(k, type)     \
    type s##k = s_##k[l]; \
    (void)s##k;
#define TAKE_B(k, type)         \
    const type b##k = b_##k[l]; \
    (void)b##k;
#define PUT(k, type) s_##k[l] = s##k;

#define S(k)  s##k
#define SI(k) s##k
#define B(k)  b##k
#define BI(k) b##k
#define Y(k)  ((T *)y[k])[l]
#define YI(k) ((int64_t *)y[k])[l]
#define P     ddof
#define WHOLE 1

/* Updates n states with rows: state l takes element l of each.  `begin` loads the state (TAKE), or
 * makes a new one that begins with this row (NEW); with and without weights, with and without a
 * mask. */
#define ROWS(name, part, states, begin, weight, mask_of, code)                        \
    static void CODE(name, part)(const rd_fold_rows *q)                               \
    {                                                                                 \
        STATES_##states(ARRAY_S) for (int64_t r = 0; r < q->rows; r++)                \
        {                                                                             \
            const T *const x_ = (const T *)q->x + r * q->ldx, *const w_ = weight;     \
            const uint8_t *const m_ = mask_of;                                        \
            const int64_t        i0 = q->index + r * q->index_row, di = q->index_col; \
            const int64_t        n_ = q->n; /* states may be of its type */           \
            (void)w_, (void)m_, (void)i0, (void)di;                                   \
            INDEPENDENT                                                               \
            for (int64_t l = 0; l < n_; l++) {                                        \
                const T       x = x_[l], w = w_ ? w_[l] : 1;                          \
                const int64_t i      = i0 + l * di;                                   \
                const uint8_t counts = m_ ? m_[l] : 1;                                \
                (void)x, (void)w, (void)i, (void)counts;                              \
                STATES_##states(begin) code STATES_##states(PUT)                      \
            }                                                                         \
        }                                                                             \
    }

/* Keeps the states of masked elements: vectors can only choose between two states. */
#define TAKE_AND_KEEP(k, type) TAKE(k, type) const type o##k = s##k;
#define CHOOSE(k, type)        s##k = counts ? s##k : o##k;
#define MASKED(name, states, code)                                                               \
    ROWS(name, masked_plain, states, TAKE_AND_KEEP, NULL, (const uint8_t *)q->mask + r * q->ldm, \
         code STATES_##states(CHOOSE))                                                           \
    ROWS(name, masked_weighted, states, TAKE_AND_KEEP, (const T *)q->y + r * q->ldy,             \
         (const uint8_t *)q->mask + r * q->ldm, code STATES_##states(CHOOSE))                    \
    PLAIN_OR_WEIGHTED(name, masked)
/* Reducers that are one operator need no masked step: masks make the identity of masked
 * elements. */
#define MASKED_none MASKED
#define MASKED_add(...)
#define MASKED_mul(...)
#define MASKED_minimum(...)
#define MASKED_maximum(...)
#define MASKED_or(...)
#define MASKED_and(...)
#define MASKED_bit_and(...)
#define MASKED_bit_or(...)
#define MASKED_bit_xor(...)
#define MASKED_STEP_none(name)    CODE(name, masked)
#define MASKED_STEP_add(name)     NULL
#define MASKED_STEP_mul(name)     NULL
#define MASKED_STEP_minimum(name) NULL
#define MASKED_STEP_maximum(name) NULL
#define MASKED_STEP_or(name)      NULL
#define MASKED_STEP_and(name)     NULL
#define MASKED_STEP_bit_and(name) NULL
#define MASKED_STEP_bit_or(name)  NULL
#define MASKED_STEP_bit_xor(name) NULL

/* State l begins with the first element of row l, then takes the row's others: for rows too short
 * for lanes. */
#define ALONG(name, part, states, weight, first_code, step_code)                  \
    static void CODE(name, part)(const rd_fold_rows *q)                           \
    {                                                                             \
        STATES_##states(ARRAY_S) for (int64_t l = 0; l < q->rows; l++)            \
        {                                                                         \
            const T *const x_ = (const T *)q->x + l * q->ldx, *const w_ = weight; \
            int64_t i = q->index + l * q->index_row;                              \
            T       x = x_[0], w = w_ ? w_[0] : 1;                                \
            (void)w, (void)i, (void)x;                                            \
            STATES_##states(NEW) first_code for (int64_t c = 1; c < q->n; c++)    \
            {                                                                     \
                x = x_[c];                                                        \
                w = w_ ? w_[c] : 1;                                               \
                i += q->index_col;                                                \
                step_code                                                         \
            }                                                                     \
            STATES_##states(PUT)                                                  \
        }                                                                         \
    }

/* Updates the cells of labels with neighbouring elements (group-by). */
#define GROUP(name, states, code)                                            \
    static void CODE(name, group)(const rd_group_row *q)                     \
    {                                                                        \
        const T *const x_ = q->x, *const w_ = q->y;                          \
        const int64_t *const label = q->label;                               \
        STATES_##states(ARRAY_S) for (int64_t c = 0; c < q->n; c++)          \
        {                                                                    \
            const int64_t l = rd_group_state(q, c, label[c * q->col_label]); \
            const int64_t i = q->index + c * q->index_col;                   \
            const T       x = x_[c * q->colx], w = w_ ? w_[c * q->coly] : 1; \
            (void)i, (void)w;                                                \
            STATES_##states(TAKE) code STATES_##states(PUT)                  \
        }                                                                    \
    }

/* Tests for weights once, outside the loop. */
#define PLAIN_OR_WEIGHTED(name, part)                   \
    static void CODE(name, part)(const rd_fold_rows *q) \
    {                                                   \
        if (q->y)                                       \
            CODE(name, JOIN(part, weighted))(q);        \
        else                                            \
            CODE(name, JOIN(part, plain))(q);           \
    }
#define BOTH(name, part, states, begin, code)                                                 \
    ROWS(name, JOIN(part, plain), states, begin, NULL, NULL, code)                            \
    ROWS(name, JOIN(part, weighted), states, begin, (const T *)q->y + r * q->ldy, NULL, code) \
    PLAIN_OR_WEIGHTED(name, part)
#define BOTH_ALONG(name, states, first_code, step_code)                                      \
    ALONG(name, along_plain, states, NULL, first_code, step_code)                            \
    ALONG(name, along_weighted, states, (const T *)q->y + l * q->ldy, first_code, step_code) \
    PLAIN_OR_WEIGHTED(name, along)

/* All kernels of a reducer: first and step (rows), group (labels), masked, along (short rows),
 * block (end of a block), widen (copies to nodes), merge (of nodes), finish (results). */
#define DEFINE(name, states, op, identity_code, first_code, step_code, block_code, merge_code, \
               finish_code, empty_code)                                                        \
    BOTH(name, first, states, NEW, first_code)                                                 \
    BOTH(name, step, states, TAKE, step_code)                                                  \
    GROUP(name, states, step_code)                                                             \
    MASKED_##op(name, states, step_code)                                                       \
        BOTH_ALONG(name, states, first_code, step_code) static void                            \
        CODE(name, block)(int64_t n, void *const *sa)                                          \
    {                                                                                          \
        STATES_##states(ARRAY_A) for (int64_t l = 0; l < n; l++)                               \
        {                                                                                      \
            STATES_##states(TAKE) block_code STATES_##states(PUT)                              \
        }                                                                                      \
    }                                                                                          \
    static void CODE(name, widen)(int64_t n, void *const *to, void *const *s)                  \
    {                                                                                          \
        STATES_##states(COPY)                                                                  \
    }                                                                                          \
    static void CODE(name, merge)(int64_t n, void *const *sa, void *const *sb)                 \
    {                                                                                          \
        STATES_##states(ARRAY_A) STATES_##states(ARRAY_B) INDEPENDENT                          \
        for (int64_t l = 0; l < n; l++) {                                                      \
            STATES_##states(TAKE) STATES_##states(TAKE_B) merge_code STATES_##states(PUT)      \
        }                                                                                      \
    }                                                                                          \
    static void CODE(name, finish)(int64_t n, void *const *sa, double ddof, void *const *y)    \
    {                                                                                          \
        STATES_##states(ARRAY_A)(void) ddof;                                                   \
        for (int64_t l = 0; l < n; l++) {                                                      \
            STATES_##states(TAKE) finish_code                                                  \
        }                                                                                      \
    }
#define COPY(k, type) memcpy(to[k], s[k], (size_t)n * sizeof(type));

#define RD_REDUCE_ROW(name, states, n_out, law, kinds, cost, op, terminal, facts, neutral, anew, \
                      shown, ...)                                                                \
    PICK(kinds, DEFINE, (name, states, op, __VA_ARGS__))
#include "core/reducers.def"

#ifdef FLOATS
#include "kernels/cpu/simd/lse.h"
#include "kernels/cpu/simd/moments.h"
#endif

#define ENTRY(name, op, identity_code, first_code, step_code, block_code, ...)         \
    [RD_RED_##name] = { .counter = JOIN(RD_ELEM, ELEM),                                \
                        .first   = CODE(name, first),                                  \
                        .step    = CODE(name, step),                                   \
                        .masked  = MASKED_STEP_##op(name),                             \
                        .along   = CODE(name, along),                                  \
                        .group   = CODE(name, group),                                  \
                        .block   = sizeof(#block_code) > 1 ? CODE(name, block) : NULL, \
                        .widen   = CODE(name, widen),                                  \
                        .merge   = CODE(name, merge),                                  \
                        .finish  = CODE(name, finish) },
#define RD_REDUCE_ROW(name, states, n_out, law, kinds, cost, op, terminal, facts, neutral, anew, \
                      shown, ...)                                                                \
    PICK(kinds, ENTRY, (name, op, __VA_ARGS__))
const rd_fold_code OF_ISA(JOIN(folds, ELEM))[RD_N_REDUCERS] = {
#include "core/reducers.def"
    OWN_ENTRIES
};

#include "kernels/cpu/simd/state_scans.h"

#undef CODE
#undef STATES_1
#undef STATES_2
#undef STATES_3
#undef STATES_4
#undef STATES_5
#undef STATES_6
#undef STATES_VI
#undef ARRAY_S
#undef ARRAY_A
#undef ARRAY_B
#undef NEW
#undef TAKE
#undef TAKE_B
#undef PUT
#undef S
#undef SI
#undef B
#undef BI
#undef Y
#undef YI
#undef P
#undef WHOLE
#undef ROWS
#undef TAKE_AND_KEEP
#undef CHOOSE
#undef MASKED
#undef MASKED_none
#undef MASKED_add
#undef MASKED_mul
#undef MASKED_minimum
#undef MASKED_maximum
#undef MASKED_or
#undef MASKED_and
#undef MASKED_bit_and
#undef MASKED_bit_or
#undef MASKED_bit_xor
#undef MASKED_STEP_none
#undef MASKED_STEP_add
#undef MASKED_STEP_mul
#undef MASKED_STEP_minimum
#undef MASKED_STEP_maximum
#undef MASKED_STEP_or
#undef MASKED_STEP_and
#undef MASKED_STEP_bit_and
#undef MASKED_STEP_bit_or
#undef MASKED_STEP_bit_xor
#undef ALONG
#undef GROUP
#undef PLAIN_OR_WEIGHTED
#undef BOTH
#undef BOTH_ALONG
#undef DEFINE
#undef COPY
#undef ENTRY
