/* rdim/user_reducer_macros.h - how RD_REDUCER and the like make an rd_reducer from C text.
 *
 * Nothing here is for users: include rdim/user_reducers.h instead.  RD_REDUCER(f, X, Y, n,
 * (members), (init), (step), (merge), (finish)) becomes
 *     typedef struct f_state { members } f_state;
 *     static void f_init(void *)   and f_step, f_merge, f_finish, f_done, each with its statements
 *     static const rd_reducer f[1] = { { .name = "f", .init = f_init, .step = f_step, ... } }; */
#ifndef RDIM_USER_REDUCER_MACROS_H
#define RDIM_USER_REDUCER_MACROS_H
#include "arrays.h"
#include "user_function_macros.h"

#ifndef __cplusplus
/* RD_REDUCER_FIRST: a state with a flag that says whether it has seen an element. */
#define RD_FIRST_OF_(kind_, name_, X, Y, n_, state_, first_, step_, merge_, finish_)               \
    RD_REDUCER_OF_(name_, kind_, X, Y, n_, RD_FIRST_STATE_(state_), (s->rd_seen = 0;),             \
                   RD_FIRST_STEP_(first_, step_), RD_FIRST_MERGE_(merge_),                         \
                   RD_FIRST_FINISH_(n_, finish_), (0), )
#define RD_FIRST2_OF_(kind_, name_, X, W, Y, n_, state_, first_, step_, merge_, finish_)           \
    RD_REDUCER2_OF_(name_, kind_, X, W, Y, n_, RD_FIRST_STATE_(state_), (s->rd_seen = 0;),         \
                    RD_FIRST_STEP_(first_, step_), RD_FIRST_MERGE_(merge_),                        \
                    RD_FIRST_FINISH_(n_, finish_), (0), )
#define RD_FIRST_STATE_(state_)          (RD_BARE_ state_ int32_t rd_seen;)
#define RD_FIRST_STEP_(first_, step_) \
    (if (!s->rd_seen) { s->rd_seen = 1; RD_BARE_ first_ } else { RD_BARE_ step_ })
#define RD_FIRST_MERGE_(merge_) \
    (if (!a->rd_seen) { *a = *b; } else if (b->rd_seen) { RD_BARE_ merge_ })
#define RD_FIRST_FINISH_(n_, finish_) \
    (for (int rd_k_ = 0; rd_k_ < (n_); rd_k_++) y[rd_k_] = 0; if (s->rd_seen) { RD_BARE_ finish_ })

/* A reducer of one operand: its functions, then the rd_reducer.  Bit 0 of commutes_ is `commutes`,
 * and bit 1 is `no_identity`. */
#define RD_REDUCER_OF_(name_, commutes_, X, Y, n_, state_, init_, step_, merge_, finish_,          \
                       done_, ...)                                                                 \
    RD_REDUCER_PARTS_(name_, Y, state_, init_, merge_, finish_, done_)                             \
    RD_EXACT_ static void name_##_step(void *rd_s_, int64_t rd_n_, const void *rd_x_,              \
                                       int64_t rd_stride_, int64_t i)                              \
    RD_BODY_(                                                                                      \
        name_##_state rd_t_ = *(name_##_state *)rd_s_, *const s = &rd_t_;                          \
        const X *rd_p_ = rd_x_;                                                                    \
        for (const int64_t rd_end_ = i + rd_n_; i < rd_end_; i++, rd_p_ += rd_stride_) {           \
            RD_UNUSED_ const X x = *rd_p_;                                                         \
            RD_BARE_ step_                                                                         \
        }                                                                                          \
        *(name_##_state *)rd_s_ = rd_t_;)                                                          \
    RD_UNUSED_ static const rd_reducer name_[1] = { { .step = name_##_step,                        \
        RD_REDUCER_FIELDS_(name_, commutes_, X, Y, n_, state_, init_, step_, merge_, finish_,      \
                           done_) } };

/* A reducer of two operands. */
#define RD_REDUCER2_OF_(name_, commutes_, X, W, Y, n_, state_, init_, step_, merge_, finish_,      \
                        done_, ...)                                                                \
    RD_REDUCER_PARTS_(name_, Y, state_, init_, merge_, finish_, done_)                             \
    RD_EXACT_ static void name_##_step(void *rd_s_, int64_t rd_n_, const void *rd_x_,              \
                                       int64_t rd_stride_, const void *rd_w_, int64_t rd_along_,   \
                                       int64_t i)                                                  \
    RD_BODY_(                                                                                      \
        name_##_state rd_t_ = *(name_##_state *)rd_s_, *const s = &rd_t_;                          \
        const X *rd_p_ = rd_x_; const W *rd_q_ = rd_w_;                                            \
        for (const int64_t rd_end_ = i + rd_n_; i < rd_end_;                                       \
             i++, rd_p_ += rd_stride_, rd_q_ += rd_along_) {                                       \
            RD_UNUSED_ const X x = *rd_p_; RD_UNUSED_ const W w = *rd_q_;                          \
            RD_BARE_ step_                                                                         \
        }                                                                                          \
        *(name_##_state *)rd_s_ = rd_t_;)                                                          \
    RD_UNUSED_ static const rd_reducer name_[1] = { { .step2 = name_##_step,                       \
        .in2 = RD_TYPE((W *)0),                                                                    \
        RD_REDUCER_FIELDS_(name_, commutes_, X, Y, n_, state_, init_, step_, merge_, finish_,      \
                           done_) } };

/* The type of the state, and the functions that both kinds have. */
#define RD_REDUCER_PARTS_(name_, Y, state_, init_, merge_, finish_, done_)                         \
    typedef struct name_##_state { RD_BARE_ state_ } name_##_state;                                \
    RD_EXACT_ static void name_##_init(void *rd_s_)                                                \
    RD_BODY_(name_##_state *const s = rd_s_; RD_BARE_ init_)                                       \
    RD_EXACT_ static void name_##_merge(void *rd_a_, const void *rd_b_)                            \
    RD_BODY_(name_##_state *const a = rd_a_; const name_##_state *const b = rd_b_; RD_BARE_ merge_)\
    RD_EXACT_ static void name_##_finish(const void *rd_s_, void *rd_y_)                           \
    RD_BODY_(const name_##_state *const s = rd_s_; Y *const y = rd_y_; RD_BARE_ finish_)           \
    RD_EXACT_ static int32_t name_##_done(const void *rd_s_)                                       \
    RD_BODY_(RD_UNUSED_ const name_##_state *const s = rd_s_; return done_;)

/* The fields that both kinds have. */
#define RD_REDUCER_FIELDS_(name_, commutes_, X, Y, n_, state_, init_, step_, merge_, finish_,      \
                           done_)                                                                  \
    .size = sizeof(rd_reducer), .n_out = (n_), .commutes = (commutes_) & 1,                        \
    .no_identity = (commutes_) >> 1,                                                               \
    .in = RD_TYPE((X *)0), .out = RD_TYPE((Y *)0),                                                 \
    .state_size = sizeof(name_##_state), .name = #name_,                                           \
    .code = { RD_STR_ state_, RD_STR_ init_, RD_STR_ step_, RD_STR_ merge_, RD_STR_ finish_ },     \
    .init = name_##_init, .merge = name_##_merge, .finish = name_##_finish,                        \
    .done = sizeof(RD_STR_ done_) > sizeof "0" ? name_##_done : 0
#endif
#endif
