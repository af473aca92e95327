/* by_hand.h - hand-written steps of float reducers, which replace those of state_kernels.h in their
 * tables; and what the RD_ names mean for floats.  instances/folds_f32.c and instances/folds_f64.c
 * include it. */
#include "kernels/cpu/simd/isa.h"
#include "kernels/math/math_exp_strip.h"

#define BY_HAND(name, counter_elem, merge_code, ...)                     \
    [RD_RED_##name] = { .counter = JOIN(RD_ELEM, counter_elem),          \
                        .first   = JOIN(JOIN(fold_##name, first), ELEM), \
                        .step    = JOIN(strip_##name##_none, ELEM),      \
                        .along   = JOIN(JOIN(fold_##name, along), ELEM), \
                        __VA_ARGS__,                                     \
                        .merge = merge_code },
#define MERGE_OF(name) JOIN(JOIN(fold_##name, merge), ELEM)
#define STEP_BY_HAND(name, by_hand, block_code, merge_code, lanes_code, leaves_count) \
    [RD_RED_##name] = { .counter = JOIN(RD_ELEM, ELEM),                               \
                        .first   = JOIN(JOIN(fold_##name, first), ELEM),              \
                        .step    = JOIN(by_hand, ELEM),                               \
                        .masked  = JOIN(fold_##name##_masked, ELEM),                  \
                        .along   = JOIN(JOIN(fold_##name, along), ELEM),              \
                        .block   = block_code,                                        \
                        AS_EVER(name),                                                \
                        .merge     = JOIN(merge_code, ELEM),                          \
                        .lanes     = lanes_code,                                      \
                        .uncounted = leaves_count },
#define STEPS_BY_HAND                                                                             \
    STEP_BY_HAND(moments, moments_rows, JOIN(fold_moments_block, ELEM), fold_moments_merge, NULL, \
                 true)                                                                            \
    STEP_BY_HAND(logsumexp, lse_rows, NULL, lse_merge, JOIN(lse_lanes, ELEM), false)              \
    STEP_BY_HAND(maxsumexp, max_lse_rows, NULL, lse_merge, JOIN(lse_lanes, ELEM), false)
#define AS_EVER(name)                                                                             \
    .group = JOIN(JOIN(fold_##name, group), ELEM), .widen = JOIN(JOIN(fold_##name, widen), ELEM), \
    .finish = JOIN(JOIN(fold_##name, finish), ELEM)

#define FLOATS
#define PICK(kinds, make, row) FLOAT_##kinds(make, row)
#define RD_ADD(a, b)           ((a) + (b))
#define RD_MUL(a, b)           ((a) * (b))
