/* state_scans.h - the reducers of reducers.def as scans: states take elements, and write a result
 * after each.
 *
 * Reducers that an operator merges have kernels of their own (scan_kernels.h); those with
 * exponentials go by the kernels of their folds.  state_kernels.h includes this file once per
 * element, and its macros are used here.  A result is that of the current block's state; if there
 * are blocks before, it is merged with theirs first. */
#define INTERLEAVED         8
#define MAYBE_UNUSED        __attribute__((unused))
#define RUNNING(name, part) JOIN(JOIN(running_##name, part), ELEM)

#define ARRAY_BEFORE(k, type)  const type *const f_##k = q->before[k];
#define UNUSED_BEFORE(k, type) (void)f_##k;
#define BLOCK_FOLLOWS(k, type) \
    const type b##k = s##k;    \
    (void)b##k;                \
    s##k = f_##k[l];
#define ALONE(states, merge_code) STATES_##states(UNUSED_BEFORE)
#define MERGED(states, merge_code)     \
    {                                  \
        STATES_##states(BLOCK_FOLLOWS) \
        {                              \
            merge_code                 \
        }                              \
    }

/* ---- Neighbouring states, one row of elements after the other -------------------------------- */
#define RUNNING_ROWS(name, part, states, weight, before, step_code, block_code, merge_code,   \
                     finish_code)                                                             \
    static MAYBE_UNUSED void RUNNING(name, part)(const rd_running *q)                         \
    {                                                                                         \
        const double ddof = q->ddof;                                                          \
        (void)ddof;                                                                           \
        STATES_##states(ARRAY_S)                                                              \
            STATES_##states(ARRAY_BEFORE) for (int64_t r = 0; r < q->rows; r++)               \
        {                                                                                     \
            const T *const x_ = (const T *)q->x + r * q->ldx, *const w_ = weight;             \
            void *const   y[2] = { (char *)q->y + r * q->ldy };                               \
            const int64_t i0 = q->index + r * q->index_row, di = q->index_col, n_ = q->n;     \
            (void)w_, (void)i0, (void)di;                                                     \
            INDEPENDENT                                                                       \
            for (int64_t l = 0; l < n_; l++) {                                                \
                const T       x = x_[l], w = w_ ? w_[l] : 1;                                  \
                const int64_t i = i0 + l * di;                                                \
                (void)x, (void)w, (void)i;                                                    \
                STATES_##states(TAKE){ step_code } STATES_##states(PUT){ block_code } before( \
                    states, merge_code)                                                       \
                {                                                                             \
                    finish_code                                                               \
                }                                                                             \
            }                                                                                 \
        }                                                                                     \
    }

/* ---- Rows that are scans, some side by side: each element waits for the one before -------- */
#define HOLD(k, type) type held##k[INTERLEAVED] = { 0 }, early##k[INTERLEAVED] = { 0 };
#define FETCH(k, type)                           \
    held##k[j]  = s_##k[(first + j) * q->s_row]; \
    early##k[j] = f_##k ? f_##k[(first + j) * q->s_row] : 0;
#define TAKE_HELD(k, type)  \
    type s##k = held##k[j]; \
    (void)s##k;
#define PUT_HELD(k, type) held##k[j] = s##k;
#define EARLY_FIRST(k, type) \
    const type b##k = s##k;  \
    (void)b##k;              \
    s##k = early##k[j];
#define GIVE_BACK(k, type) s_##k[(first + j) * q->s_row] = held##k[j];

#define RUNNING_ALONG(name, part, states, count, step_code, block_code, merge_code, finish_code) \
    static MAYBE_UNUSED void RUNNING(name, part)(const rd_running *q, int64_t first)             \
    {                                                                                            \
        const T one = 1, *const x_ = (const T *)q->x + first * q->ldx;                           \
        const int64_t  ldw = q->w ? q->ldw : 0, dw = q->w != NULL;                               \
        const T *const w_    = q->w ? (const T *)q->w + first * ldw : &one;                      \
        const double   ddof  = q->ddof;                                                          \
        const bool     after = q->before[0] != NULL;                                             \
        (void)ddof;                                                                              \
        STATES_##states(ARRAY_S) STATES_##states(ARRAY_BEFORE)                                   \
            STATES_##states(HOLD) for (int j = 0; j < (count); j++)                              \
        {                                                                                        \
            STATES_##states(FETCH)                                                               \
        }                                                                                        \
        for (int64_t l = 0; l < q->n; l++) {                                                     \
            UNROLL(8)                                                                            \
            for (int j = 0; j < (count); j++) {                                                  \
                const T       x = x_[j * q->ldx + l], w = w_[j * ldw + l * dw];                  \
                const int64_t i    = q->index + (first + j) * q->index_row + l * q->index_col;   \
                void *const   y[2] = { (char *)q->y + (first + j) * q->ldy };                    \
                (void)x, (void)w, (void)i;                                                       \
                STATES_##states(TAKE_HELD){ step_code } STATES_##states(PUT_HELD)                \
                {                                                                                \
                    block_code                                                                   \
                }                                                                                \
                if (after) {                                                                     \
                    STATES_##states(EARLY_FIRST)                                                 \
                    {                                                                            \
                        merge_code                                                               \
                    }                                                                            \
                }                                                                                \
                {                                                                                \
                    finish_code                                                                  \
                }                                                                                \
            }                                                                                    \
        }                                                                                        \
        for (int j = 0; j < (count); j++) {                                                      \
            STATES_##states(GIVE_BACK)                                                           \
        }                                                                                        \
    }

/* ---- By reducer ------------------------------------------------------------------------------ */
#define WEIGHTS_OF_ROW ((const T *)q->w + r * q->ldw)
#define RUNS(name, states, ...)                                                      \
    RUNNING_ROWS(name, plain_alone, states, NULL, ALONE, __VA_ARGS__)                \
    RUNNING_ROWS(name, plain_merged, states, NULL, MERGED, __VA_ARGS__)              \
    RUNNING_ROWS(name, weighted_alone, states, WEIGHTS_OF_ROW, ALONE, __VA_ARGS__)   \
    RUNNING_ROWS(name, weighted_merged, states, WEIGHTS_OF_ROW, MERGED, __VA_ARGS__) \
    RUNNING_ALONG(name, along_one, states, 1, __VA_ARGS__)                           \
    RUNNING_ALONG(name, along_some, states, INTERLEAVED, __VA_ARGS__)                \
    static MAYBE_UNUSED void RUNNING(name, rows)(const rd_running *q)                \
    {                                                                                \
        if (q->w && q->before[0])                                                    \
            RUNNING(name, weighted_merged)(q);                                       \
        else if (q->w)                                                               \
            RUNNING(name, weighted_alone)(q);                                        \
        else if (q->before[0])                                                       \
            RUNNING(name, plain_merged)(q);                                          \
        else                                                                         \
            RUNNING(name, plain_alone)(q);                                           \
    }                                                                                \
    static MAYBE_UNUSED void RUNNING(name, along)(const rd_running *q)               \
    {                                                                                \
        int64_t r = 0;                                                               \
        for (; r + INTERLEAVED <= q->rows; r += INTERLEAVED)                         \
            RUNNING(name, along_some)(q, r);                                         \
        for (; r < q->rows; r++)                                                     \
            RUNNING(name, along_one)(q, r);                                          \
    }

#define RUNS_none RUNS
#define RUNS_add(...)
#define RUNS_mul(...)
#define RUNS_minimum(...)
#define RUNS_maximum(...)
#define RUNS_or(...)
#define RUNS_and(...)
#define RUNS_bit_and(...)
#define RUNS_bit_or(...)
#define RUNS_bit_xor(...)
#define RUNS_ROW(name, states, op, identity, first, step, block, merge, finish, empty) \
    RUNS_##op(name, states, step, block, merge, finish)
#define RD_REDUCE_ROW(name, states, n_out, law, kinds, cost, op, terminal, facts, neutral, anew, \
                      shown, ...)                                                                \
    PICK(kinds, RUNS_ROW, (name, states, op, __VA_ARGS__))
#include "core/reducers.def"

#define RUNNING_ENTRY(name)                       \
    {                                             \
        RUNNING(name, rows), RUNNING(name, along) \
    }
#define RUNNING_none(name) [RD_RED_##name] = RUNNING_ENTRY(name),
#define RUNNING_add(name)
#define RUNNING_mul(name)
#define RUNNING_minimum(name)
#define RUNNING_maximum(name)
#define RUNNING_or(name)
#define RUNNING_and(name)
#define RUNNING_bit_and(name)
#define RUNNING_bit_or(name)
#define RUNNING_bit_xor(name)
#define RUNNING_OF(name, op) RUNNING_##op(name)
#define RD_REDUCE_ROW(name, states, n_out, law, kinds, cost, op, ...) \
    PICK(kinds, RUNNING_OF, (name, op))
const rd_running_code OF_ISA(JOIN(running, ELEM))[RD_N_REDUCERS] = {
#include "core/reducers.def"
#define RD_LANES_ROW(name, ...) [RD_RED_##name] = { NULL, NULL },
#include "core/reducers.def"
};

#undef INTERLEAVED
#undef MAYBE_UNUSED
#undef RUNNING
#undef ARRAY_BEFORE
#undef UNUSED_BEFORE
#undef BLOCK_FOLLOWS
#undef ALONE
#undef MERGED
#undef RUNNING_ROWS
#undef HOLD
#undef FETCH
#undef TAKE_HELD
#undef PUT_HELD
#undef EARLY_FIRST
#undef GIVE_BACK
#undef RUNNING_ALONG
#undef WEIGHTS_OF_ROW
#undef RUNS
#undef RUNS_none
#undef RUNS_add
#undef RUNS_mul
#undef RUNS_minimum
#undef RUNS_maximum
#undef RUNS_or
#undef RUNS_and
#undef RUNS_bit_and
#undef RUNS_bit_or
#undef RUNS_bit_xor
#undef RUNS_ROW
#undef RUNNING_ENTRY
#undef RUNNING_none
#undef RUNNING_add
#undef RUNNING_mul
#undef RUNNING_minimum
#undef RUNNING_maximum
#undef RUNNING_or
#undef RUNNING_and
#undef RUNNING_bit_and
#undef RUNNING_bit_or
#undef RUNNING_bit_xor
#undef RUNNING_OF
