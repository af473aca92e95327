/* cases_masked.c - W12, what users write first: reductions of what a mask leaves, and by weights,
 * of months, latitudes, longitudes; each beside the same of all elements. */
#include "bench.h"

static rd_dims axis_of(unsigned dims)
{
    return dims == 1 ? RD_DIMS(0) : dims == 4 ? RD_DIMS(2) : RD_ALL;
}

/* Of months along axis 0, of longitudes along axis 2, of latitudes over all. */
static rd_expr *weights_of(rd_expr *w, unsigned dims)
{
    return dims == 4 ? w : dims == 1 ? rd_expand(rd_expand(w, 1), 2) : rd_expand(w, 1);
}

/* clang-format off */
#define BUILD(name, reduce, ...)                                               \
    static void name(rd_expr *const *x, unsigned dims, rd_expr **y)            \
    {                                                                          \
        y[0] = reduce(__VA_ARGS__);                                            \
    }
#define BUILD_FORMS(name, reduce)                                              \
    BUILD(name##_plain,    reduce, x[0], axis_of(dims))                        \
    BUILD(name##_skip_nan, reduce, x[0], axis_of(dims), .skip_nan = true)      \
    BUILD(name##_where,    reduce, x[0], axis_of(dims), .where = x[1])         \
    BUILD(name##_where_gt, reduce, x[0], axis_of(dims), .where = rd_map(x[0], "x > 0.4"))
#define BUILD_WEIGHTS(name, reduce)                                            \
    BUILD(name##_weights,  reduce, x[0], axis_of(dims), .weights = weights_of(x[1], dims))
#define running_sum(x, ...) rd_scan(x, "sum", __VA_ARGS__)

BUILD_FORMS(sum, rd_sum)
BUILD_FORMS(mean, rd_mean)
BUILD_FORMS(var, rd_var)
BUILD_FORMS(max, rd_max)
BUILD_FORMS(argmax, rd_argmax)
BUILD_FORMS(cumsum, running_sum)
BUILD_FORMS(lse, rd_logsumexp)
BUILD_WEIGHTS(mean, rd_mean)
BUILD_WEIGHTS(var, rd_var)
BUILD_WEIGHTS(lse, rd_logsumexp)

#define MONTHS { 3, 1, 1, 8, { 480, 90, 180 } }

#define CASES(name, axis, dims, ...)                                                            \
    { "W12", #name axis, name##_plain, HAND_##name##_plain, dims, { MONTHS }, __VA_ARGS__ },    \
    { "W12", #name axis ".skip_nan", name##_skip_nan, HAND_##name##_skip_nan, dims,             \
      { MONTHS }, .fill = { FILL_CLIMATE }, __VA_ARGS__ },                                      \
    { "W12", #name axis ".where", name##_where, HAND_##name##_where, dims,                      \
      { MONTHS, MONTHS }, .fill = { 0, FILL_SEA }, __VA_ARGS__ },                               \
    { "W12", #name axis ".where_gt", name##_where_gt, HAND_##name##_where_gt, dims,             \
      { MONTHS }, __VA_ARGS__ }
#define WEIGHTED(name, axis, dims, scaled, unit, n, ...)                                        \
    { "W12", #name axis ".weights", name##_weights, HAND_##name##_weights, dims,                \
      { MONTHS, { 1, scaled, 1, unit, { n } } }, __VA_ARGS__ }
#define ALL_AXES(name, ...)                                                                     \
    CASES(name, "(0)", 1, __VA_ARGS__), CASES(name, "(2)", 4, __VA_ARGS__),                     \
    CASES(name, "(all)", 7, __VA_ARGS__)
#define ALL_WEIGHTED(name, ...)                                                                 \
    WEIGHTED(name, "(0)", 1, 1, 8, 480, __VA_ARGS__),                                           \
    WEIGHTED(name, "(2)", 4, 0, 1, 180, __VA_ARGS__),                                           \
    WEIGHTED(name, "(all)", 7, 0, 1, 90, __VA_ARGS__)

const bench_case bench_masked[] = {
    ALL_AXES(sum, .flops = 1),
    ALL_AXES(mean, .flops = 1),
    ALL_WEIGHTED(mean, .flops = 2),
    ALL_AXES(var, .flops = 4),
    ALL_WEIGHTED(var, .flops = 5),
    ALL_AXES(max, .flops = 1),
    ALL_AXES(argmax, .flops = 1),
    ALL_AXES(lse, .flops = 3, .exps = 1),
    ALL_WEIGHTED(lse, .flops = 4, .exps = 1),
    CASES(cumsum, "(0)", 1, .flops = 1),
    CASES(cumsum, "(2)", 4, .flops = 1),
    { 0 },
};
