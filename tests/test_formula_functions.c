/* Every row of formula/functions.def beside the call of C that it stands for.  Equal expressions are one
 * node, so text and call are compared as pointers.  A row without a case here fails. */
#include "values.h"

#include <math.h>
#include <string.h>

static rd_expr *x, *y, *v, *w, *i, *m, *s, *z;

/* x, y: (4, 4); v, w: (4), v ascends; i: ints (4); m: bools (4, 4); s: ints (4, 4); z: complex (4). */
static void make_operands(void)
{
    static double  numbers[2][16], row[2][4] = { { 0.5, 1, 2.5, 4 }, { 3, -1, 0.25, 2 } };
    static int32_t index[4] = { 2, 0, 3, 1 }, square[16];
    static bool    mask[16];

    for (int k = 0; k < 16; k++) {
        numbers[0][k] = (k * 7 % 16) / 4.0 - 1;
        numbers[1][k] = (k * 5 % 16) / 3.0;
        square[k]     = k * 3 % 4;
        mask[k]       = k % 3 != 1;
    }
    x = rd_wrap(ctx, (const double *)numbers[0], RD_SHAPE(4, 4));
    y = rd_wrap(ctx, (const double *)numbers[1], RD_SHAPE(4, 4));
    v = rd_wrap(ctx, (const double *)row[0], RD_SHAPE(4));
    w = rd_wrap(ctx, (const double *)row[1], RD_SHAPE(4));
    i = rd_wrap(ctx, (const int32_t *)index, RD_SHAPE(4));
    s = rd_wrap(ctx, (const int32_t *)square, RD_SHAPE(4, 4));
    m = rd_wrap(ctx, (const bool *)mask, RD_SHAPE(4, 4));
    z = rd_complex(v, w);
}

#define BY .by = RD_EXPRS(i), .groups = RD_SHAPE(4)

static rd_expr *square(int64_t n, int64_t k)
{
    return rd_broadcast(rd_int(ctx, 0), RD_SHAPE(n, k));
}

static rd_expr *entr(rd_expr *p)
{
    rd_expr *const zero = rd_int(ctx, 0);
    rd_expr *const part =
        rd_where(rd_lt(p, zero), rd_num(ctx, -HUGE_VAL), rd_neg(rd_mul(p, rd_log(p))));

    return rd_where(rd_eq(p, zero), zero, part);
}

static rd_expr *entropy(rd_expr *of)
{
    return rd_sum(entr(rd_div(of, rd_sum(of, RD_KEEP(1)))), RD_DIMS(1));
}

static rd_expr *of_nothing(rd_expr *product)
{
    rd_expr *const none = rd_and(rd_eq(x, rd_int(ctx, 0)), rd_not(rd_isnan(y)));

    return rd_where(none, rd_int(ctx, 0), product);
}

static rd_expr *logit(void)
{
    rd_expr *const one = rd_int(ctx, 1), *const turn = rd_sub(rd_add(x, x), one);
    rd_expr *const near = rd_atanh(turn), *const far = rd_log(rd_div(x, rd_sub(one, x)));

    return rd_where(rd_le(rd_abs(turn), rd_num(ctx, 0.5)), rd_add(near, near), far);
}

static rd_expr *jaccard(void)
{
    rd_expr *const zero = rd_int(ctx, 0), *const some = rd_or(rd_ne(s, zero), rd_ne(i, zero));
    rd_expr *const all = rd_count(some, RD_DIMS(1));

    return rd_where(rd_eq(all, zero), rd_num(ctx, 0),
                    rd_div(rd_count(rd_and(some, rd_ne(s, i)), RD_DIMS(1)), all));
}

static rd_expr *both_rows(void)
{
    return rd_concat(0, RD_EXPRS(rd_expand(v, 0), rd_expand(w, 0)));
}

/* CASE(text, call): the function is what the text begins with. */
#define CASES                                                                                      \
    CASE("round(x)", rd_round(x))                                                                  \
    CASE("round(x, 2)", rd_round_to(x, 2))                                                         \
    CASE("round(x, decimals=-1)", rd_round_to(x, -1))                                              \
    CASE("clip(x, v, w)", rd_clip(x, v, w))                                                        \
    CASE("relu(x)", rd_relu(x))                                                                    \
    CASE("sinc(x)", rd_sinc(x))                                                                    \
    CASE("xlogy(x, y)", of_nothing(rd_mul(x, rd_log(y))))                                          \
    CASE("xlog1py(x, y)", of_nothing(rd_mul(x, rd_log1p(y))))                                      \
    CASE("entr(x)", entr(x))                                                                       \
    CASE("logit(x)", logit())                                                                      \
    CASE("log_expit(x)", rd_neg(rd_softplus(rd_neg(x))))                                           \
    CASE("nan_to_num(x)", rd_nan_to_num(x))                                                        \
    CASE("isclose(x, y, 0.125, 0.5)", rd_isclose(x, y, 0.125, 0.5))                                \
    CASE("isclose(x, y, atol=0.5, rtol=0.125)", rd_isclose(x, y, 0.125, 0.5))                      \
    CASE("isclose(x, y, 0.25 - 0.125, 0.25 + 0.25)", rd_isclose(x, y, 0.125, 0.5))                 \
    CASE("isclose(x, y, 0.25 * 0.5, -(-0.5))", rd_isclose(x, y, 0.125, 0.5))                       \
    CASE("isclose(x, y)", rd_isclose(x, y, 1e-5, 1e-8))                                            \
    CASE("allclose(x, y, atol=1)", rd_all(rd_isclose(x, y, 1e-5, 1), RD_ALL))                      \
    CASE("array_equal(x, y)", rd_all(rd_eq(x, y), RD_ALL))                                         \
    CASE("zeros_like(s)", rd_broadcast(rd_cast(rd_int(ctx, 0), RD_I32), RD_SHAPE(4, 4)))           \
    CASE("ones_like(v)", rd_broadcast(rd_cast(rd_int(ctx, 1), RD_F64), RD_SHAPE(4)))               \
    CASE("notnull(x)", rd_not(rd_isnan(x)))                                                        \
    CASE("inner(x, y)", rd_tensordot(x, y, RD_INDEX(-1), RD_INDEX(-1)))                            \
    CASE("mod(x, y)", rd_remainder(x, y))                                                          \
    CASE("real(z)", rd_real(z))                                                                    \
    CASE("imag(z)", rd_imag(z))                                                                    \
    CASE("conj(z)", rd_conj(z))                                                                    \
    CASE("arg(z)", rd_arg(z))                                                                      \
    CASE("complex(x, y)", rd_complex(x, y))                                                        \
    CASE("polar(x, y)", rd_polar(x, y))                                                            \
    CASE("bins(x, 8, -1, 3)", rd_bins(x, 8, -1, 3))                                                \
    CASE("transpose(x)", rd_transpose(x))                                                          \
    CASE("permute(x, [1, 0])", rd_permute(x, RD_INDEX(1, 0)))                                      \
    CASE("reshape(x, [2, -1])", rd_reshape(x, RD_SHAPE(2, -1)))                                    \
    CASE("broadcast(v, [3, 4])", rd_broadcast(v, RD_SHAPE(3, 4)))                                  \
    CASE("expand(v)", rd_expand(v, 0))                                                             \
    CASE("expand(v, axis=1)", rd_expand(v, 1))                                                     \
    CASE("squeeze(expand(x, 1), 1)", rd_squeeze(rd_expand(x, 1), RD_DIMS(1)))                      \
    CASE("flip(x)", rd_flip(x, RD_ALL))                                                            \
    CASE("flip(x, axis=1)", rd_flip(x, RD_DIMS(1)))                                                \
    CASE("diagonal(x)", rd_diagonal(x, 0, 1, 0))                                                   \
    CASE("diagonal(x, 1, 0, offset=2)", rd_diagonal(x, 1, 0, 2))                                   \
    CASE("window(x, 3)", rd_window(x, 0, 3, 1))                                                    \
    CASE("window(x, 2, step=2, axis=1)", rd_window(x, 1, 2, 2))                                    \
    CASE("take(x, i, 1)", rd_take(x, 1, i))                                                        \
    CASE("take_along(x, s, axis=1)", rd_take_along(x, 1, s))                                       \
    CASE("concat([x, y])", rd_concat(0, RD_EXPRS(x, y)))                                           \
    CASE("concat([x, y, x], axis=1)", rd_concat(1, RD_EXPRS(x, y, x)))                             \
    CASE("stack([v, w])", rd_stack(0, RD_EXPRS(v, w)))                                             \
    CASE("stack([v, w], axis=1)", rd_stack(1, RD_EXPRS(v, w)))                                     \
    CASE("pad(x, 1, 2, 0)", rd_pad(x, 0, 1, 2, RD_PAD_CONSTANT, NULL))                             \
    CASE("pad(x, 1, 2, 1, mode=reflect)", rd_pad(x, 1, 1, 2, RD_PAD_REFLECT, NULL))                \
    CASE("pad(x, 2, 0, 1, mode=edge)", rd_pad(x, 1, 2, 0, RD_PAD_EDGE, NULL))                      \
    CASE("pad(x, 2, 1, 1, mode=symmetric)", rd_pad(x, 1, 2, 1, RD_PAD_SYMMETRIC, NULL))            \
    CASE("pad(x, 2, 1, 0, mode=wrap)", rd_pad(x, 0, 2, 1, RD_PAD_WRAP, NULL))                      \
    CASE("roll(x, 3)", rd_roll(x, 0, 3))                                                           \
    CASE("roll(x, -1, axis=1)", rd_roll(x, 1, -1))                                                 \
    CASE("repeat(x, 3, 1)", rd_repeat(x, 1, 3))                                                    \
    CASE("tile(x, [2, 3])", rd_tile(x, RD_SHAPE(2, 3)))                                            \
    CASE("tril(x)", rd_tril(x, 0))                                                                 \
    CASE("tril(x, -1)", rd_tril(x, -1))                                                            \
    CASE("triu(x)", rd_triu(x, 0))                                                                 \
    CASE("triu(x, k=1)", rd_triu(x, 1))                                                            \
    CASE("kron(x, y)", rd_kron(x, y))                                                              \
    CASE("diff(x)", rd_diff(x, -1, 1))                                                             \
    CASE("diff(x, 2, axis=0)", rd_diff(x, 0, 2))                                                   \
    CASE("coord(x)", rd_coord(x, 0))                                                               \
    CASE("coord(x, axis=1)", rd_coord(x, 1))                                                       \
    CASE("arange(5)", rd_coord(rd_broadcast(rd_int(ctx, 0), RD_SHAPE(5)), 0))                      \
    CASE("full([2, 4], v)", rd_broadcast(v, RD_SHAPE(2, 4)))                                       \
    CASE("dense(x)", rd_dense(x))                                                                  \
    CASE("matmul(x, y)", rd_matmul(x, y))                                                          \
    CASE("dot(v, w)", rd_dot(v, w))                                                                \
    CASE("vecdot(x, y)", rd_vecdot(x, y, -1))                                                      \
    CASE("vecdot(x, y, axis=0)", rd_vecdot(x, y, 0))                                               \
    CASE("outer(v, w)", rd_outer(v, w))                                                            \
    CASE("trace(x)", rd_trace(x, 0, 1, 0))                                                         \
    CASE("trace(x, 1, 0, offset=1)", rd_trace(x, 1, 0, 1))                                         \
    CASE("einsum(\"ij,jk->ki\", x, y)", rd_einsum("ij,jk->ki", x, y))                              \
    CASE("median(x)", rd_median(x, RD_ALL))                                                        \
    CASE("median(x, 1, keepdims=true, where=m, skip_nan=true)",                                    \
         rd_median(x, RD_KEEP(1), .where = m, .skip_nan = true))                                   \
    CASE("median(x, 1, by=[i], groups=[4])", rd_median(x, RD_DIMS(1), BY))                         \
    CASE("quantile(x, 0.25)", rd_quantile(x, 0.25, RD_ALL))                                        \
    CASE("quantile(x, 0.25, 0, method=nearest)",                                                   \
         rd_quantile(x, 0.25, RD_DIMS(0), .method = RD_NEAREST))                                   \
    CASE("quantile(x, 0.75, 1, keepdims=true, where=m, skip_nan=true, method=lower)",              \
         rd_quantile(x, 0.75, RD_KEEP(1), .where = m, .skip_nan = true, .method = RD_LOWER))       \
    CASE("quantile(v, 0.3, method=linear)", rd_quantile(v, 0.3, RD_ALL, .method = RD_LINEAR))      \
    CASE("quantile(v, 0.3, method=midpoint)", rd_quantile(v, 0.3, RD_ALL, .method = RD_MIDPOINT))  \
    CASE("quantile(v, 0.3, method=inverted_cdf)",                                                  \
         rd_quantile(v, 0.3, RD_ALL, .method = RD_INVERTED_CDF))                                   \
    CASE("quantile(v, 0.3, method=averaged_inverted_cdf)",                                         \
         rd_quantile(v, 0.3, RD_ALL, .method = RD_AVERAGED_CDF))                                   \
    CASE("quantile(v, 0.3, method=closest_observation)",                                           \
         rd_quantile(v, 0.3, RD_ALL, .method = RD_CLOSEST))                                        \
    CASE("quantile(v, 0.3, method=interpolated_inverted_cdf)",                                     \
         rd_quantile(v, 0.3, RD_ALL, .method = RD_INTERPOLATED_CDF))                               \
    CASE("quantile(v, 0.3, method=hazen)", rd_quantile(v, 0.3, RD_ALL, .method = RD_HAZEN))        \
    CASE("quantile(v, 0.3, method=weibull)", rd_quantile(v, 0.3, RD_ALL, .method = RD_WEIBULL))    \
    CASE("quantile(v, 0.3, method=median_unbiased)",                                               \
         rd_quantile(v, 0.3, RD_ALL, .method = RD_MEDIAN_UNBIASED))                                \
    CASE("quantile(v, 0.3, method=normal_unbiased)",                                               \
         rd_quantile(v, 0.3, RD_ALL, .method = RD_NORMAL_UNBIASED))                                \
    CASE("percentile(x, 30, 1, keepdims=true, where=m)",                                           \
         rd_percentile(x, 30., RD_KEEP(1), .where = m))                                            \
    CASE("percentile(x, 75, 0, method=higher)",                                                    \
         rd_percentile(x, 75., RD_DIMS(0), .method = RD_HIGHER))                                   \
    CASE("mode(s, 1)", rd_mode_of(s, OPTS(.dims = RD_DIMS(1))))                                    \
    CASE("mode(x, 0, keepdims=true, where=m, skip_nan=true)",                                      \
         rd_mode_of(x, OPTS(.dims = RD_KEEP(0), .where = m, .skip_nan = true)))                    \
    CASE("mode_count(s, 1)", rd_mode_count_of(s, OPTS(.dims = RD_DIMS(1))))                        \
    CASE("mode_count(x, 0, keepdims=true, where=m)",                                               \
         rd_mode_count_of(x, OPTS(.dims = RD_KEEP(0), .where = m)))                                \
    CASE("first(x, 1, where=m, skip_nan=true)",                                                    \
         rd_first_of(x, OPTS(.dims = RD_DIMS(1), .where = m, .skip_nan = true)))                   \
    CASE("first(x, 1, by=[i], groups=[4])", rd_first_of(x, OPTS(.dims = RD_DIMS(1), BY)))          \
    CASE("last(x, 0, keepdims=true)", rd_last_of(x, OPTS(.dims = RD_KEEP(0))))                     \
    CASE("last(x)", rd_last_of(x, OPTS(.dims = RD_ALL)))                                           \
    CASE("minmax(x, 1)", rd_minmax_of(x, OPTS(.dims = RD_DIMS(1))))                                \
    CASE("minmax(x, 0, where=m)", rd_minmax_of(x, OPTS(.dims = RD_DIMS(0), .where = m)))           \
    CASE("cov(x, y, 1, ddof=1)", rd_cov(x, y, RD_DIMS(1), .ddof = 1))                              \
    CASE("cov(x, y, 0, keepdims=true, where=m, skip_nan=true, weights=y)",                         \
         rd_cov(x, y, RD_KEEP(0), .where = m, .skip_nan = true, .weights = y))                     \
    CASE("corr(x, y, 1)", rd_corr(x, y, RD_DIMS(1)))                                               \
    CASE("corr(x, y, 0, where=m, weights=y)", rd_corr(x, y, RD_DIMS(0), .where = m, .weights = y)) \
    CASE("zeros([2, 3])", rd_broadcast(rd_cast(rd_int(ctx, 0), RD_F64), RD_SHAPE(2, 3)))           \
    CASE("ones(3, dtype=int32)", rd_broadcast(rd_cast(rd_int(ctx, 1), RD_I32), RD_SHAPE(3)))       \
    CASE("eye(3)", rd_cast(rd_eq(rd_coord(square(3, 3), 1),                                        \
                                 rd_add(rd_coord(square(3, 3), 0), rd_int(ctx, 0))),               \
                           RD_F64))                                                                \
    CASE("eye(2, 3, k=1, dtype=bool)",                                                             \
         rd_eq(rd_coord(square(2, 3), 1), rd_add(rd_coord(square(2, 3), 0), rd_int(ctx, 1))))      \
    CASE("linspace(0, 1, 4, endpoint=false)",                                                      \
         rd_add(rd_mul(rd_cast(rd_coord(rd_broadcast(rd_int(ctx, 0), RD_SHAPE(4)), 0), RD_F64),    \
                       rd_num(ctx, 0.25)),                                                         \
                rd_num(ctx, 0)))                                                                   \
    CASE("astype(x, float32)", rd_cast(x, RD_F32))                                                 \
    CASE("ravel(x)", rd_reshape(x, RD_SHAPE(16)))                                                  \
    CASE("fillna(x, v)", rd_where(rd_isnan(x), v, x))                                              \
    CASE("ffill(v)", rd_ffill(v, 0, 0))                                                            \
    CASE("ffill(x, axis=1, limit=2)", rd_ffill(x, 1, 2))                                           \
    CASE("bfill(x, 0)", rd_bfill(x, 0, 0))                                                         \
    CASE("gradient(v)", rd_gradient(v, rd_int(ctx, 1), 0, 1))                                      \
    CASE("gradient(x, v, axis=1, edge_order=2)", rd_gradient(x, v, 1, 2))                          \
    CASE("gradient(x, axis=0, dx=0.5)", rd_gradient(x, rd_num(ctx, 0.5), 0, 1))                    \
    CASE("convolve(v, w)", rd_convolve(v, w, 0, RD_CONVOLVE_FULL))                                 \
    CASE("convolve(x, w, mode=same, axis=1)", rd_convolve(x, w, 1, RD_CONVOLVE_SAME))              \
    CASE("correlate(v, w)", rd_correlate(v, w, 0, RD_CONVOLVE_VALID))                              \
    CASE("correlate(v, w, 'full')", rd_correlate(v, w, 0, RD_CONVOLVE_FULL))                       \
    CASE("interp(x, v, w)", rd_interp(x, v, w, 0, NULL, NULL))                                     \
    CASE("interp(w, v, x, left=-1, right=nan, axis=1)",                                            \
         rd_interp(w, v, x, 1, rd_int(ctx, -1), rd_num(ctx, NAN)))                                 \
    CASE("scatter_add(v, i, w)", rd_scatter_add(v, 0, i, w))                                       \
    CASE("scatter_add(x, i, y, axis=1)", rd_scatter_add(x, 1, i, y))                               \
    CASE("gather(x, i)", rd_take(x, 0, i))                                                         \
    CASE("segment_sum(v, i, 4)", rd_sum(v, RD_DIMS(0), BY))                                        \
    CASE("digitize(x, v)", rd_searchsorted(v, x, RD_RIGHT))                                        \
    CASE("digitize(x, v, right=true)", rd_searchsorted(v, x, RD_LEFT))                             \
    CASE("cross(x[:, :3], y[:, :3])", rd_sub(rd_mul(rd_roll(rd_slice(x, ":, :3"), -1, -1),         \
                                                    rd_roll(rd_slice(y, ":, :3"), -1, -2)),        \
                                             rd_mul(rd_roll(rd_slice(x, ":, :3"), -1, -2),         \
                                                    rd_roll(rd_slice(y, ":, :3"), -1, -1))))       \
    CASE("tensordot(x, y, axes=1)", rd_tensordot(x, y, RD_INDEX(1), RD_INDEX(0)))                  \
    CASE("tensordot(x, y)", rd_tensordot(x, y, RD_INDEX(0, 1), RD_INDEX(0, 1)))                    \
    CASE("tensordot(x, y, axes=([0], [1]))", rd_tensordot(x, y, RD_INDEX(0), RD_INDEX(1)))         \
    CASE("average(x, 1, weights=y)", rd_mean(x, RD_DIMS(1), .weights = y))                         \
    CASE("count_nonzero(s, axis=0)", rd_count(s, RD_DIMS(0)))                                      \
    CASE("amax(x, 0, keepdims=true, initial=2, where=m)",                                          \
         rd_max(x, RD_KEEP(0), .initial = rd_int(ctx, 2), .where = m))                             \
    CASE("amin(x)", rd_min(x, RD_ALL))                                                             \
    CASE("ptp(x, axis=1)", rd_sub(rd_max(x, RD_DIMS(1)), rd_min(x, RD_DIMS(1))))                   \
    CASE("mad(x, axis=1)", rd_median(rd_abs(rd_sub(x, rd_median(x, RD_KEEP(1)))), RD_DIMS(1)))     \
    CASE("cumulative_sum(x, axis=1)", rd_scan(x, "sum", RD_DIMS(1)))                               \
    CASE("cumulative_prod(v)", rd_scan(v, "prod", RD_DIMS(0)))                                     \
    CASE("entropy(y, axis=1)", entropy(y))                                                         \
    CASE("hamming(s, i, axis=1)", rd_mean(rd_ne(s, i), RD_DIMS(1)))                                \
    CASE("jaccard(s, i, axis=1)", jaccard())                                                       \
    CASE("corrcoef(x)", rd_corr(rd_expand(x, 1), rd_expand(x, 0), RD_DIMS(-1)))                    \
    CASE("corrcoef(v, w)",                                                                         \
         rd_corr(rd_expand(both_rows(), 1), rd_expand(both_rows(), 0), RD_DIMS(-1)))               \
    CASE("rank(v)", rd_ranks(v, 0, RD_RANK_AVERAGE))                                               \
    CASE("rank(x, axis=1, method=dense)", rd_ranks(x, 1, RD_RANK_DENSE))                           \
    CASE("rolling_median(x, 3, axis=1)", rd_rolling_median(x, 1, 3))                               \
    CASE("rolling_quantile(x, 2, 0.25)", rd_rolling_quantile(x, 0.25, 0, 2))                       \
    CASE("ewm(v, 0.25)", rd_ewm_mean(v, 0, 0.25, true))                                            \
    CASE("ewm(x, alpha=0.5, axis=1, adjust=false)", rd_ewm_mean(x, 1, 0.5, false))                 \
    CASE("median(x, 1, weights=y)",                                                                \
         rd_median(x, RD_DIMS(1), .weights = y, .method = RD_INVERTED_CDF))                        \
    CASE("quantile(x, [0.25, 0.5], 1, weights=y)",                                                 \
         rd_quantiles(x, RD_QS(0.25, 0.5), RD_DIMS(1), .weights = y, .method = RD_INVERTED_CDF))   \
    CASE("percentile(x, [25, 50], axis=0)", rd_quantiles(x, RD_QS(0.25, 0.5), RD_DIMS(0)))         \
    CASE("trapezoid(x, dx=2)", rd_trapezoid(x, rd_int(ctx, 2), -1))                                \
    CASE("take(v, i)", rd_take(v, 0, i))                                                           \
    CASE("trapezoid(x)", rd_trapezoid(x, rd_int(ctx, 1), -1))                                      \
    CASE("trapezoid(x, v, axis=1)", rd_trapezoid(x, v, 1))                                         \
    CASE("bincount([i], [4])", rd_bincount(RD_EXPRS(i), RD_SHAPE(4), NULL))                        \
    CASE("bincount([i], [4], v)", rd_bincount(RD_EXPRS(i), RD_SHAPE(4), v))                        \
    CASE("histogram(x, 8, -1, 3)", rd_histogram(x, 8, -1, 3, NULL))                                \
    CASE("histogram(x, 8, -1, 3, weights=y)", rd_histogram(x, 8, -1, 3, y))                        \
    CASE("sort(x)", rd_sort(x, -1))                                                                \
    CASE("sort(x, 0, descending=true)", rd_sort(x, 0, .descending = true))                         \
    CASE("argsort(x)", rd_argsort(x, -1))                                                          \
    CASE("argsort(x, 0, descending=true)", rd_argsort(x, 0, .descending = true))                   \
    CASE("top_k(x, 2)", rd_top_k(x, 2, -1))                                                        \
    CASE("top_k(x, 2, 0, smallest=true)", rd_top_k(x, 2, 0, .smallest = true))                     \
    CASE("arg_top_k(x, 2)", rd_arg_top_k(x, 2, -1))                                                \
    CASE("arg_top_k(x, 2, 0, smallest=true)", rd_arg_top_k(x, 2, 0, .smallest = true))             \
    CASE("searchsorted(v, x)", rd_searchsorted(v, x, RD_LEFT))                                     \
    CASE("searchsorted(v, x, side=right)", rd_searchsorted(v, x, RD_RIGHT))                        \
    CASE("bins_between(x, v)", rd_bins_between(x, v))                                              \
    CASE("rolling_sum(x, 3)", rd_rolling_sum(x, 0, 3))                                             \
    CASE("rolling_sum(s, 3, axis=1, dtype=f64)", rd_rolling_sum(s, 1, 3, .type = RD_F64))          \
    CASE("rolling_mean(x, 3, axis=1)", rd_rolling_mean(x, 1, 3))                                   \
    CASE("rolling_min(x, 3, axis=1)", rd_rolling_min(x, 1, 3))                                     \
    CASE("rolling_max(x, 3)", rd_rolling_max(x, 0, 3))                                             \
    CASE("rolling_var(x, 3, ddof=1)", rd_rolling_var(x, 0, 3, 1))                                  \
    CASE("rolling_std(x, 3, axis=1)", rd_rolling_std(x, 1, 3, 0))                                  \
    CASE("softmax(x)", rd_softmax(x, RD_DIMS(-1)))                                                 \
    CASE("softmax(x, axis=0)", rd_softmax(x, RD_DIMS(0)))                                          \
    CASE("log_softmax(x, axis=0)", rd_log_softmax(x, RD_DIMS(0)))                                  \
    CASE("softmax_sum(x, y)", rd_softmax_sum(x, y, RD_DIMS(-1)))                                   \
    CASE("softmax_sum(x, y, 0, keepdims=true)", rd_softmax_sum(x, y, RD_KEEP(0)))                  \
    CASE("standardise(x, 1, ddof=1)", rd_standardise(x, RD_DIMS(1), 1))                            \
    CASE("layer_norm(x, -1, v, w, eps=0.5)", rd_layer_norm(x, RD_DIMS(-1), v, w, 0.5))             \
    CASE("layer_norm(x, gamma=v, eps=0.5)", rd_layer_norm(x, RD_DIMS(-1), v, NULL, 0.5))           \
    CASE("rms_norm(x, gamma=v, eps=0.5)", rd_rms_norm(x, RD_DIMS(-1), v, 0.5))                     \
    CASE("normalise(x)", rd_normalise(x, RD_DIMS(-1), 2))                                          \
    CASE("normalise(x, 0, p=1)", rd_normalise(x, RD_DIMS(0), 1))                                   \
    CASE("cdist(x, y)", rd_cdist(x, y, 2))                                                         \
    CASE("cdist(x, y, p=1)", rd_cdist(x, y, 1))                                                    \
    CASE("cosine_distance(x, y)", rd_cosine_distance(x, y))                                        \
    CASE("random_uniform(7, [3, 2], dtype=f32)",                                                   \
         rd_random_uniform(ctx, 7, RD_SHAPE(3, 2), RD_F32))                                        \
    CASE("random_normal(7, [3, 2], dtype=f64)", rd_random_normal(ctx, 7, RD_SHAPE(3, 2), RD_F64))  \
    CASE("random_exponential(7, [3], dtype=f64)",                                                  \
         rd_random_exponential(ctx, 7, RD_SHAPE(3), RD_F64))                                       \
    CASE("random_integers(7, [3], -2, 9)", rd_random_integers(ctx, 7, RD_SHAPE(3), -2, 9))         \
    CASE("permutation(7, 9)", rd_permutation(ctx, 7, 9))                                           \
    CASE("shuffle(x, 7)", rd_shuffle(x, 0, 7))                                                     \
    CASE("shuffle(x, 7, axis=1)", rd_shuffle(x, 1, 7))

#define OPTS(...) (&(const rd_reduce_opts){ .size = sizeof(rd_reduce_opts), __VA_ARGS__ })

static const char *const texts[] = {
#define CASE(text, call) text,
    CASES
#undef CASE
};

static rd_expr *called(int which)
{
    int k = 0;

#define CASE(text, call) \
    if (which == k++)    \
        return call;
    CASES
#undef CASE
    return NULL;
}

static rd_expr *by_text(const char *text)
{
    return rd_formula(ctx, text,
                      RD_NAMES({ "x", x }, { "y", y }, { "v", v }, { "w", w }, { "i", i },
                               { "m", m }, { "s", s }, { "z", z }));
}

static void begin(void)
{
    ctx = rd_ctx_new(NULL);
    ck_assert(ctx != NULL);
    make_operands();
}

static void end(void)
{
    rd_ctx_free(ctx);
}

START_TEST(texts_are_calls)
{
    rd_expr *const is = by_text(texts[_i]);

    ck_assert_msg(is != NULL, "%s: %s", texts[_i], rd_error_text(ctx));
    rd_expr *const want = called(_i);

    ck_assert_msg(want != NULL, "%s as a call: %s", texts[_i], rd_error_text(ctx));
    ck_assert_msg(is == want, "%s is another expression than its call", texts[_i]);
}
END_TEST

START_TEST(rows_have_cases)
{
    static const char *const rows[] = {
#define RD_FUNCTION(name, arguments, sort, call) #name,
#include "formula/functions.def"
    };

    for (size_t k = 0; k < COUNT(rows); k++) {
        const size_t length = strlen(rows[k]);
        bool         found  = false;

        for (size_t c = 0; c < COUNT(texts) && !found; c++)
            found = !strncmp(texts[c], rows[k], length) && texts[c][length] == '(';
        ck_assert_msg(found, "formula/functions.def has '%s', for which this test has no case",
                      rows[k]);
    }
}
END_TEST

/* What is no argument of its kind is said so. */
START_TEST(arguments_are_refused)
{
    static const struct {
        const char *text, *sentence;
        rd_status   status;
    } rows[] = {
        { "einsum(3, x, y)", "expected a name or a text in quotes", RD_ERR_TEXT },
        { "isclose(x, y, x, 1)", "expected a number that the text says", RD_ERR_TEXT },
        { "pad(x, 1, 2, 0, mode=odd)", "'odd' is none of constant, edge", RD_ERR_TEXT },
        { "searchsorted(v, x, side=middle)", "'middle' is none of left, right", RD_ERR_TEXT },
        { "quantile(x, 0.5, method=best)", "'best' is none of linear, lower", RD_ERR_TEXT },
        { "diff(x, 1001)", "1001 times, more than 1000", RD_ERR_LIMIT },
        { "nobody + x", "the array 'nobody' is NULL", RD_ERR_ARGUMENT },
        { "other + x", "the array 'other' is of another context", RD_ERR_ARGUMENT },
    };
    rd_ctx *const  elsewhere = rd_ctx_new(NULL);
    rd_expr *const other     = rd_num(elsewhere, 1);

    for (size_t k = 0; k < COUNT(rows); k++) {
        const rd_expr *const is = rd_formula(
            ctx, rows[k].text,
            RD_NAMES({ "x", x }, { "y", y }, { "v", v }, { "nobody", NULL }, { "other", other }));

        ck_assert_msg(!is && rd_error(ctx) == rows[k].status &&
                          strstr(rd_error_text(ctx), rows[k].sentence),
                      "%s: status %d: %s", rows[k].text, (int)rd_error(ctx), rd_error_text(ctx));
        rd_error_clear(ctx);
    }
    rd_ctx_free(elsewhere);
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("formula_functions");
    TCase   *cases  = tcase_create("functions");
    SRunner *runner = srunner_create(suite);

    tcase_add_checked_fixture(cases, begin, end);
    tcase_add_test(cases, rows_have_cases);
    tcase_add_test(cases, arguments_are_refused);
    tcase_add_loop_test(cases, texts_are_calls, 0, COUNT(texts));
    suite_add_tcase(suite, cases);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
