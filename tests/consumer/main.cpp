// The same program in C++, with what takes the place of C's keywords; every result has its number.
#include <rdim.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

static int bad = 0;

static void check(const char *what, rd_ctx *ctx, double got, double want)
{
    if (got != want || rd_error(ctx) != RD_OK) {
        std::printf("%s: %g, not %g: %s\n", what, got, want, rd_error_text(ctx));
        rd_error_clear(ctx);
        bad = 1;
    }
}

static double first(rd_ctx *ctx, rd_expr *y)
{
    return rd_at(ctx, y, rd_shape_of(y).n == 1 ? RD_INDEX(0) : rd_index());
}

static void reductions(rd_ctx *ctx, rd_expr *x)
{
    rd_expr *no_nan = rd_not(rd_isnan(x));
    rd_dims  rows   = RD_DIMS(0);

    check("sum", ctx, first(ctx, rd::sum(x, RD_DIMS(0))), 5);
    check("sum, skip_nan", ctx, first(ctx, rd::sum(x, RD_ALL, rd::opts().skip_nan())), 16);
    check("sum, where", ctx, first(ctx, rd::sum(x, RD_ALL, rd::opts().where(no_nan))), 16);
    check("prod", ctx, first(ctx, rd::prod(x, rows, rd::opts().initial(rd_int(ctx, 2)))), 8);
    check("min", ctx, first(ctx, rd::min(x, RD_ALL, rd::opts().skip_nan())), 1);
    check("max", ctx, first(ctx, rd::max(x, RD_ALL, rd::opts().skip_nan(true))), 6);
    check("argmin", ctx, first(ctx, rd::argmin(x, rows)), 0);
    check("argmax", ctx, first(ctx, rd::argmax(x, rows)), 1);
    check("any", ctx, first(ctx, rd::any(rd_isnan(x), RD_ALL)), 1);
    check("all", ctx, first(ctx, rd::all(no_nan, RD_ALL)), 0);
    check("sum by label", ctx, first(ctx, rd::sum(x, RD_ALL, rd::opts().skip_nan().by(
                                                      { rd_int(ctx, 0) }, RD_SHAPE(1)))), 16);
    check("count", ctx, first(ctx, rd::count(x, RD_ALL, rd::opts().skip_nan())), 5);
    check("mean", ctx, first(ctx, rd::mean(x, rows, rd::opts().type(RD_F64))), 2.5);
    check("weights", ctx, first(ctx, rd::mean(x, rows, rd::opts().weights(rd_num(ctx, 3)))), 2.5);
    check("var", ctx, first(ctx, rd::var(x, rows, rd::opts().ddof(1))), 4.5);
    check("std", ctx, first(ctx, rd::std(x, rows)), 1.5);
    check("skewness", ctx, first(ctx, rd::skewness(x, rows)), 0);
    check("norm", ctx, first(ctx, rd::norm(x, rows, rd::opts().p(1))), 5);
    check("logsumexp", ctx, first(ctx, rd::logsumexp(rd_num(ctx, 3), RD_NONE)), 3);
    check("accuracy", ctx, first(ctx, rd::sum(x, rows, rd::opts().accuracy(RD_WIDE))), 5);
    check("reduce", ctx, first(ctx, rd::reduce(x, "sum", rows)), 5);
    check("keep", ctx, rd_at(ctx, rd::sum(x, RD_KEEP(0)), RD_INDEX(0, 0)), 5);
    check("scan", ctx,
          rd_at(ctx, rd::scan(x, "sum", rows, rd::opts().exclusive().reverse()), RD_INDEX(0, 0)),
          4);
}

static void order(rd_ctx *ctx, rd_expr *x)
{
    rd_expr *row   = rd_select(x, 0, 0); // 1, 2, 3
    rd_expr *other = rd_select(x, 0, 1); // 4, NaN, 6
    rd_expr *label = rd_remainder(rd_coord(row, 0), rd_int(ctx, 2));
    rd_dims  all   = RD_ALL;

    check("sort", ctx, first(ctx, rd::sort(row, 0, rd::sort_opts().descending())), 3);
    check("argsort", ctx, first(ctx, rd::argsort(row, 0)), 0);
    check("top_k", ctx, first(ctx, rd::top_k(row, 2, 0)), 3);
    check("arg_top_k", ctx, first(ctx, rd::arg_top_k(row, 1, 0, rd::sort_opts().smallest())), 0);
    check("median", ctx, first(ctx, rd::median(other, all, rd::quantile_opts().skip_nan())), 5);
    check("quantile", ctx, first(ctx, rd::quantile(row, 0.6, all, rd::quantile_opts().method(
                                                                      RD_LOWER))), 2);
    check("percentile", ctx, first(ctx, rd::percentile(row, 100, all)), 3);
    check("quantiles", ctx, rd_at(ctx, rd::quantiles(row, { 0, 0.5, 1 }, all), RD_INDEX(1)), 2);
    check("where", ctx, first(ctx, rd::median(row, all, rd::quantile_opts().where(label))), 2);
    check("weights of a quantile", ctx,
          first(ctx, rd::quantile(row, 1, all, rd::quantile_opts().method(RD_INVERTED_CDF).weights(
                                                   label))), 2);
    check("cov", ctx, first(ctx, rd::cov(row, other, all, rd::opts().skip_nan())), 1);
    check("corr", ctx, first(ctx, rd::corr(row, row, all)) > 0.99, 1);
    check("first", ctx, first(ctx, rd::first(x, all)), 1);
    check("last", ctx, first(ctx, rd::last(x, RD_DIMS(1), rd::opts().skip_nan())), 3);
    check("bincount", ctx, first(ctx, rd::bincount({ label }, RD_SHAPE(2))), 2);
    check("weights", ctx, first(ctx, rd::bincount({ label }, RD_SHAPE(2), row)), 4);
}

static void made(rd_ctx *ctx, rd_expr *x)
{
    rd_expr *row = rd_select(x, 0, 0), *grid[2]; // 1, 2, 3

    check("stack", ctx, rd_at(ctx, rd::stack(1, { row, row }), RD_INDEX(2, 1)), 3);
    check("meshgrid", ctx, rd::meshgrid({ row, row }, grid) ? rd_at(ctx, grid[1], RD_INDEX(0, 1))
                                                            : 0, 2);
    check("einsum", ctx, first(ctx, rd::einsum("i,i->", { row, row })), 14);
    check("formula", ctx, first(ctx, rd::formula(ctx, "sum(r * r)", { { "r", row } })), 14);
    check("rolling", ctx, first(ctx, rd_rolling_sum(row, 0, 2)), 3);
    check("bins", ctx, first(ctx, rd_bins(row, 3, 0, 3)), 1);
    check("random", ctx, first(ctx, rd_random_integers(ctx, 1, RD_SHAPE(2), 5, 6)), 5);
    check("complex", ctx, first(ctx, rd_abs(rd_complex(row, rd_num(ctx, 0)))), 1);
}

static void maps(rd_ctx *ctx, rd_expr *x)
{
    rd_expr *one = rd_select(x, 1, 0); // 1, 4

    check("map f32", ctx, rd_at(ctx, rd::map(one, sqrtf), RD_INDEX(1)), 2);
    check("map f64", ctx, rd_at(ctx, rd::map(one, [](double v) { return v + 1; }), RD_INDEX(1)), 5);
    check("map text", ctx, rd_at(ctx, rd::map(one, "x * x"), RD_INDEX(1)), 16);
    check("map2", ctx, rd_at(ctx, rd::map2(one, one, hypotf), RD_INDEX(0)), std::sqrt(2.f));
    check("map2 text", ctx, rd_at(ctx, rd::map2(one, one, "x + y"), RD_INDEX(1)), 8);
    check("mapn", ctx, rd_at(ctx, rd::mapn("a, b, c: a + b * c", { one, one, one }), RD_INDEX(1)),
          20);
    check("concat", ctx, rd_at(ctx, rd::concat(0, { one, one }), RD_INDEX(3)), 4);
}

static void memory(rd_ctx *ctx)
{
    const std::vector<float> v = { 1, 2, 3, 4, 5, 6 };
    std::vector<float>       y(2), z(v.size());
    const double             t[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
    rd_expr                 *x       = rd::wrap(ctx, v.data(), RD_SHAPE(v.size() / 3, 3u)),
            *d                       = rd::wrap(ctx, t, RD_SHAPE(2, 3));
    rd_expr *f = rd::wrap(ctx, v.data(), RD_SHAPE(2, 3), rd::layout().order(1));
    rd_expr *far = rd::wrap(ctx, v.data(), RD_SHAPE(6), rd::layout().device(RD_CUDA(1000)));
    if (far || rd_error(ctx) != RD_ERR_ARGUMENT) {
        std::printf("a device that cannot be: %s\n", rd_error_text(ctx));
        bad = 1;
    }
    rd_error_clear(ctx);
    rd_expr *s = rd::wrap(ctx, v.data(), RD_SHAPE(3, 2), rd::layout().strides(RD_STRIDES(1, 3)));

    check("order", ctx, rd_at(ctx, f, RD_INDEX(1, 0)), 2);
    check("strides", ctx, rd_at(ctx, s, RD_INDEX(0, 1)), 4);
    check("type", ctx, rd_type_of(d), RD_F64);
    rd_eval(ctx, rd::sum(x, RD_DIMS(1)), rd::into(y.data(), RD_SHAPE(y.size())));
    check("into", ctx, y[0] + 100 * y[1], 1506);
    rd::eval_many(ctx, { { rd::mean(x, RD_DIMS(1)), rd::into(y.data(), RD_SHAPE(2)) },
                         { x, rd::into(z.data(), RD_SHAPE(2, 3), rd::layout().order(1)) } });
    check("eval_many", ctx, y[1] + 10 * z[1], 45);
    check("explain", ctx, std::strstr(rd::explain(ctx, { { x, nullptr } }), "leaf") != nullptr, 1);
    check("graphviz", ctx, std::strstr(rd::graphviz(ctx, { { x, nullptr } }), "digraph") != nullptr,
          1);
}

static void plans_and_files(rd_ctx *ctx)
{
    float    in[3] = { 1, 2, 3 }, out = 0;
    rd_expr *x    = rd_input(ctx, "x", rd::into(in, RD_SHAPE(3)));
    rd_plan *plan = rd::plan_new(ctx, { x }, { { rd::sum(x, RD_ALL), rd::into(&out, RD_SCALAR) } });
    const void *from[1] = { in };

    check("plan", ctx, rd_plan_run(plan, from, nullptr) == RD_OK ? out : -1, 6);
    check("save", ctx, rd::save(ctx, rd_num(ctx, 7), "seven.npy", rd::save_opts().big_endian()), 0);
    check("load", ctx, first(ctx, rd_load(ctx, "seven.npy")), 7);
    check("load, read", ctx, first(ctx, rd::load(ctx, "seven.npy", rd::load_opts().read())), 7);
    std::remove("seven.npy");
}

int main()
{
    static const float x[2][3] = { { 1, 2, 3 }, { 4, NAN, 6 } };
    rd_ctx            *ctx     = rd_ctx_new(nullptr);
    rd_expr           *leaf    = rd::wrap(ctx, x, RD_SHAPE(2, 3));

    reductions(ctx, leaf);
    order(ctx, leaf);
    made(ctx, leaf);
    maps(ctx, leaf);
    memory(ctx);
    plans_and_files(ctx);
    rd_ctx_free(ctx);
    return bad;
}
