/* rdim.hpp - C++17 for the macros of <rdim.h>: keywords are options with setters in a chain.
 *
 *     std::vector<float> out(lat * lon);
 *     rd_expr *x = rd::wrap(ctx, sst.data(), RD_SHAPE(time, lat, lon));
 *     rd_expr *y = rd::mean(rd::map(x, sqrtf), RD_DIMS(0), rd::opts().skip_nan());
 *     rd_eval(ctx, y, rd::into(out.data(), RD_SHAPE(lat, lon)));
 *
 * The functions have the names, arguments, results, errors and ownership of the macros: rd::sum is
 * rd_sum.  All else is called as in C.  RD_FN and RD_REDUCER have no counterpart: use the text of a
 * function ("x / (1 + abs(x))"), a function, or fill in an rd_fn or rd_reducer (its no_identity is
 * what RD_REDUCER_FIRST sets). */
#ifndef RDIM_HPP
#define RDIM_HPP
#include <rdim.h>

#include <complex>
#include <initializer_list>
#include <type_traits>

namespace rd {

/* ---- Memory ---------------------------------------------------------------------------------- */
/** The type of elements of T, through any dimensions of an array: dtype<float[3][4]>() is RD_F32.
 *  What has none does not compile, nor does char, whose sign is the machine's. */
template <class T> constexpr rd_dtype dtype()
{
    using E = std::remove_cv_t<std::remove_all_extents_t<T>>;
    constexpr bool number = std::is_integral_v<E> && !std::is_same_v<E, char>
                            && !std::is_same_v<E, wchar_t> && !std::is_same_v<E, char16_t>
                            && !std::is_same_v<E, char32_t>;

    if constexpr (std::is_same_v<E, bool>)
        return RD_BOOL;
    else if constexpr (std::is_same_v<E, float>)
        return RD_F32;
    else if constexpr (std::is_same_v<E, double>)
        return RD_F64;
    else if constexpr (std::is_same_v<E, std::complex<float>>)
        return RD_C64;
    else if constexpr (std::is_same_v<E, std::complex<double>>)
        return RD_C128;
    else if constexpr (std::is_same_v<E, rd_f16>)
        return RD_F16;
    else if constexpr (std::is_same_v<E, rd_bf16>)
        return RD_BF16;
    else {
        static_assert(number, "say a pointer to elements of a type that rdim has, such as float");
        constexpr int log2 = sizeof(E) == 1 ? 0 : sizeof(E) == 2 ? 1 : sizeof(E) == 4 ? 2 : 3;
        return static_cast<rd_dtype>((std::is_signed_v<E> ? RD_I8 : RD_U8) + log2);
    }
}

/** Keywords of wrap() and into(): layout().strides(RD_STRIDES(1, n)), layout().order(1),
 *  layout().device(RD_CUDA(0)). */
class layout {
public:
    layout &strides(const rd_strides &s) { array_.strides = s; return *this; }
    layout &order(int32_t o) { array_.order = o; return *this; }
    layout &device(int32_t k) { array_.device = k; return *this; }
    rd_array of(rd_dtype type, const rd_shape &shape) const
    {
        rd_array a = array_;
        a.type  = type;
        a.shape = shape;
        return a;
    }
private:
    rd_array array_ = rd_array();
};

/** Caller memory as a leaf: p a pointer to elements, or an array of any dimensions. */
template <class T>
rd_expr *wrap(rd_ctx *ctx, const T *p, const rd_shape &shape, const layout &how = layout())
{
    rd_array a = how.of(dtype<T>(), shape);
    a.in = p;
    return rd_leaf(ctx, &a);
}

/** An output; what is made by into(), which lives until the end of the call it is written in. */
class output {
public:
    explicit output(const rd_array &a) : array_(a) {}
    operator rd_array *() { return &array_; }
private:
    rd_array array_;
};

/** Where a result goes, written in the call: rd_eval(ctx, y, rd::into(p, RD_SHAPE(2, 3))). */
template <class T> output into(T *p, const rd_shape &shape, const layout &how = layout())
{
    rd_array a = how.of(dtype<T>(), shape);
    a.data = p;
    return output(a);
}

/* ---- Lists, written in place: concat(0, { a, b }), eval_many(ctx, { { y, &out }, ... }) ------ */
using expr_list   = std::initializer_list<rd_expr *>;
using result_list = std::initializer_list<rd_result>;

inline rd_exprs exprs(const expr_list &list)
{
    return { list.begin(), static_cast<int32_t>(list.size()) };
}
inline rd_results results(const result_list &list)
{
    return { list.begin(), static_cast<int32_t>(list.size()) };
}
inline rd_expr *concat(int axis, expr_list parts)
{
    return rd_concat(axis, exprs(parts));
}
inline rd_expr *stack(int axis, expr_list parts)
{
    return rd_stack(axis, exprs(parts));
}
/** Grids go to `grids`, as many as there are rows. */
inline bool meshgrid(expr_list in, rd_expr **grids)
{
    return rd_meshgrid(exprs(in), grids);
}
inline rd_status eval_many(rd_ctx *ctx, result_list list, const rd_eval_opts *how = nullptr)
{
    return rd_eval_many(ctx, results(list), how);
}
inline const char *explain(rd_ctx *ctx, result_list list, const rd_eval_opts *how = nullptr)
{
    return rd_explain(ctx, results(list), how);
}
inline const char *graphviz(rd_ctx *ctx, result_list list)
{
    return rd_graphviz(ctx, results(list));
}
inline rd_plan *plan_new(rd_ctx *ctx, expr_list in, result_list list,
                         const rd_eval_opts *how = nullptr)
{
    return rd_plan_new(ctx, exprs(in), results(list), how);
}

/* ---- Maps: f a function, the text of one, or an rd_fn ----------------------------------------- *
 * Of functions that C++ overloads say which: sqrtf, not std::sqrt.  A lambda without captures is a
 * function. */
inline rd_expr *map(rd_expr *x, float (*f)(float)) { return rd_map_f32(x, f); }
inline rd_expr *map(rd_expr *x, double (*f)(double)) { return rd_map_f64(x, f); }
inline rd_expr *map(rd_expr *x, const char *f) { return rd_map_text(x, f); }
inline rd_expr *map(rd_expr *x, const rd_fn *f) { return rd_map_fn(x, f); }
inline rd_expr *map2(rd_expr *x, rd_expr *y, float (*f)(float, float))
{
    return rd_map2_f32(x, y, f);
}
inline rd_expr *map2(rd_expr *x, rd_expr *y, double (*f)(double, double))
{
    return rd_map2_f64(x, y, f);
}
inline rd_expr *map2(rd_expr *x, rd_expr *y, const char *f) { return rd_map2_text(x, y, f); }
inline rd_expr *map2(rd_expr *x, rd_expr *y, const rd_fn *f) { return rd_map2_fn(x, y, f); }
inline rd_expr *mapn(const char *f, expr_list operands) { return rd_mapn_text(f, exprs(operands)); }
inline rd_expr *mapn(const rd_fn *f, expr_list operands) { return rd_mapn_fn(f, exprs(operands)); }
inline rd_expr *einsum(const char *text, expr_list operands)
{
    return rd_einsum_text(text, exprs(operands));
}

/** rd::formula(ctx, "a + 2 * b", { { "a", a }, { "b", b } }) */
inline rd_expr *formula(rd_ctx *ctx, const char *text, std::initializer_list<rd_name> in)
{
    return rd_formula(ctx, text, rd_names{ in.begin(), static_cast<int32_t>(in.size()) });
}

/* ---- Reductions and scans -------------------------------------------------------------------- */
/** Keywords of reductions and scans: rd::sum(x, RD_DIMS(0), rd::opts().skip_nan().where(mask)).
 *  A setter has the name and the meaning of the field of rd_reduce_opts. */
class opts {
public:
    opts &accuracy(rd_accuracy a) { fields_.accuracy = a; return *this; }
    opts &where(rd_expr *mask) { fields_.where = mask; return *this; }
    opts &initial(rd_expr *value) { fields_.initial = value; return *this; }
    opts &weights(rd_expr *w) { fields_.weights = w; return *this; }
    opts &skip_nan(bool yes = true) { fields_.skip_nan = yes; return *this; }
    opts &exclusive(bool yes = true) { fields_.exclusive = yes; return *this; }
    opts &reverse(bool yes = true) { fields_.reverse = yes; return *this; }
    opts &restart(rd_expr *where) { fields_.restart = where; return *this; }
    opts &type(rd_dtype t) { fields_.type = t; return *this; }
    opts &ddof(double d) { fields_.ddof = d; return *this; }
    opts &p(double power) { fields_.p = power; return *this; }
    /** by({ label }, RD_SHAPE(n)): .by and .groups; as many labels as results have axes at most */
    opts &by(expr_list labels, const rd_shape &groups)
    {
        fields_.by.n = 0;
        for (rd_expr *label : labels)
            if (fields_.by.n++ < RD_MAX_RANK)
                label_[fields_.by.n - 1] = label;
        fields_.groups = groups;
        return *this;
    }
    rd_reduce_opts along(const rd_dims &d) const
    {
        rd_reduce_opts o = fields_;
        o.size  = sizeof o;
        o.dims  = d;
        o.by.at = label_;
        return o;
    }
private:
    rd_reduce_opts fields_ = rd_reduce_opts();
    rd_expr       *label_[RD_MAX_RANK] = {};
};

inline rd_expr *reduce(rd_expr *x, const char *r, const rd_dims &d, const opts &how = opts())
{
    const rd_reduce_opts o = how.along(d);
    return rd_reduce_name(x, r, &o);
}
inline rd_expr *reduce(rd_expr *x, const rd_reducer *r, const rd_dims &d, const opts &how = opts())
{
    const rd_reduce_opts o = how.along(d);
    return rd_reduce_user(x, r, &o);
}
/* By a reducer of two operands, which broadcast. */
inline rd_expr *reduce2(rd_expr *x, rd_expr *w, const rd_reducer *r, const rd_dims &d,
                        const opts &how = opts())
{
    const rd_reduce_opts o = how.along(d);
    return rd_reduce2_user(x, w, r, &o);
}
inline rd_expr *scan(rd_expr *x, const char *r, const rd_dims &d, const opts &how = opts())
{
    const rd_reduce_opts o = how.along(d);
    return rd_scan_name(x, r, &o);
}
inline rd_expr *scan(rd_expr *x, const rd_reducer *r, const rd_dims &d, const opts &how = opts())
{
    const rd_reduce_opts o = how.along(d);
    return rd_scan_user(x, r, &o);
}

#define RD_REDUCTION_(name) \
    inline rd_expr *name(rd_expr *x, const rd_dims &d, const opts &how = opts()) \
    { return reduce(x, #name, d, how); }
RD_REDUCTION_(sum) RD_REDUCTION_(prod) RD_REDUCTION_(min) RD_REDUCTION_(max)
RD_REDUCTION_(argmin) RD_REDUCTION_(argmax) RD_REDUCTION_(any) RD_REDUCTION_(all)
RD_REDUCTION_(bits_and) RD_REDUCTION_(bits_or) RD_REDUCTION_(bits_xor)
RD_REDUCTION_(count) RD_REDUCTION_(mean) RD_REDUCTION_(var) RD_REDUCTION_(std)
RD_REDUCTION_(skewness) RD_REDUCTION_(kurtosis) RD_REDUCTION_(norm) RD_REDUCTION_(logsumexp)
#undef RD_REDUCTION_

inline rd_expr *cov(rd_expr *x, rd_expr *y, const rd_dims &d, const opts &how = opts())
{
    const rd_reduce_opts o = how.along(d);
    return rd_cov_of(x, y, &o);
}
inline rd_expr *corr(rd_expr *x, rd_expr *y, const rd_dims &d, const opts &how = opts())
{
    const rd_reduce_opts o = how.along(d);
    return rd_corr_of(x, y, &o);
}
inline rd_expr *first(rd_expr *x, const rd_dims &d, const opts &how = opts())
{
    const rd_reduce_opts o = how.along(d);
    return rd_first_of(x, &o);
}
inline rd_expr *last(rd_expr *x, const rd_dims &d, const opts &how = opts())
{
    const rd_reduce_opts o = how.along(d);
    return rd_last_of(x, &o);
}
/** Both extremes, along a new first axis. */
inline rd_expr *minmax(rd_expr *x, const rd_dims &d, const opts &how = opts())
{
    const rd_reduce_opts o = how.along(d);
    return rd_minmax_of(x, &o);
}
inline rd_expr *mode(rd_expr *x, const rd_dims &d, const opts &how = opts())
{
    const rd_reduce_opts o = how.along(d);
    return rd_mode_of(x, &o);
}
inline rd_expr *mode_count(rd_expr *x, const rd_dims &d, const opts &how = opts())
{
    const rd_reduce_opts o = how.along(d);
    return rd_mode_count_of(x, &o);
}

/** Keywords of rolling reductions: rd::rolling_sum(x, 0, 3, rd::rolling_opts().type(RD_F64)). */
class rolling_opts {
public:
    rolling_opts &ddof(double d) { fields_.ddof = d; return *this; }
    rolling_opts &type(rd_dtype t) { fields_.type = t; return *this; }
    rd_rolling_opts of(int32_t axis, int64_t n) const
    {
        rd_rolling_opts o = fields_;
        o.size = sizeof o;
        o.axis = axis;
        o.n    = n;
        return o;
    }
private:
    rd_rolling_opts fields_ = rd_rolling_opts();
};
#define RD_ROLLING_(name) \
    inline rd_expr *rolling_##name(rd_expr *x, int axis, int64_t n, \
                                   const rolling_opts &how = rolling_opts()) \
    { \
        const rd_rolling_opts o = how.of(axis, n); \
        return rd_rolling_name(x, #name, &o); \
    }
RD_ROLLING_(sum) RD_ROLLING_(mean) RD_ROLLING_(min) RD_ROLLING_(max) RD_ROLLING_(var) RD_ROLLING_(std)
#undef RD_ROLLING_
/** How often each label occurs, or what the weights of its elements come to. */
inline rd_expr *bincount(expr_list labels, const rd_shape &groups, rd_expr *weights = nullptr)
{
    return rd_bincount(exprs(labels), groups, weights);
}

/* ---- Order ----------------------------------------------------------------------------------- */
/** Keywords of sort() and argsort(), descending, and of top_k() and arg_top_k(), smallest:
 *  rd::sort(x, 0, rd::sort_opts().descending()). */
class sort_opts {
public:
    sort_opts &descending(bool yes = true) { fields_.descending = yes; return *this; }
    sort_opts &smallest(bool yes = true) { fields_.smallest = yes; return *this; }
    rd_sort_opts along(int32_t axis) const
    {
        rd_sort_opts o = fields_;
        o.size = sizeof o;
        o.axis = axis;
        return o;
    }
private:
    rd_sort_opts fields_ = rd_sort_opts();
};
inline rd_expr *sort(rd_expr *x, int axis, const sort_opts &how = sort_opts())
{
    const rd_sort_opts o = how.along(axis);
    return rd_sort_by(x, &o);
}
inline rd_expr *argsort(rd_expr *x, int axis, const sort_opts &how = sort_opts())
{
    const rd_sort_opts o = how.along(axis);
    return rd_argsort_by(x, &o);
}
inline rd_expr *top_k(rd_expr *x, int64_t k, int axis, const sort_opts &how = sort_opts())
{
    const rd_sort_opts o = how.along(axis);
    return rd_top_k_by(x, k, &o);
}
inline rd_expr *arg_top_k(rd_expr *x, int64_t k, int axis, const sort_opts &how = sort_opts())
{
    const rd_sort_opts o = how.along(axis);
    return rd_arg_top_k_by(x, k, &o);
}

/** Keywords of medians and quantiles: rd::median(x, RD_ALL, rd::quantile_opts().skip_nan()). */
class quantile_opts {
public:
    quantile_opts &method(rd_quantile_method m) { fields_.method = m; return *this; }
    quantile_opts &where(rd_expr *mask) { fields_.where = mask; return *this; }
    quantile_opts &skip_nan(bool yes = true) { fields_.skip_nan = yes; return *this; }
    quantile_opts &weights(rd_expr *w) { fields_.weights = w; return *this; }
    /** as opts::by() */
    quantile_opts &by(expr_list labels, const rd_shape &groups)
    {
        fields_.by.n = 0;
        for (rd_expr *label : labels)
            if (fields_.by.n++ < RD_MAX_RANK)
                label_[fields_.by.n - 1] = label;
        fields_.groups = groups;
        return *this;
    }
    rd_quantile_opts along(const rd_dims &d) const
    {
        rd_quantile_opts o = fields_;
        o.size  = sizeof o;
        o.dims  = d;
        o.by.at = label_;
        return o;
    }
private:
    rd_quantile_opts fields_ = rd_quantile_opts();
    rd_expr         *label_[RD_MAX_RANK] = {};
};
inline rd_expr *median(rd_expr *x, const rd_dims &d, const quantile_opts &how = quantile_opts())
{
    const rd_quantile_opts o = how.along(d);
    return rd_median_by(x, &o);
}
inline rd_expr *quantile(rd_expr *x, double q, const rd_dims &d,
                         const quantile_opts &how = quantile_opts())
{
    const rd_quantile_opts o = how.along(d);
    return rd_quantile_by(x, q, &o);
}
inline rd_expr *percentile(rd_expr *x, double p, const rd_dims &d,
                           const quantile_opts &how = quantile_opts())
{
    return quantile(x, p / 100, d, how);
}
/** Several, along a new first axis: rd::quantiles(x, { 0.1, 0.9 }, RD_ALL). */
inline rd_expr *quantiles(rd_expr *x, std::initializer_list<double> q, const rd_dims &d,
                          const quantile_opts &how = quantile_opts())
{
    const rd_quantile_opts o = how.along(d);
    return rd_quantiles_by(x, rd_qs{ q.begin(), static_cast<int32_t>(q.size()) }, &o);
}

/* ---- Files ----------------------------------------------------------------------------------- */
/** Keywords of load(): read, not mapped. */
class load_opts {
public:
    load_opts &read(bool yes = true) { fields_.read = yes; return *this; }
    rd_load_opts of(const char *path) const
    {
        rd_load_opts o = fields_;
        o.size = sizeof o;
        o.path = path;
        return o;
    }
private:
    rd_load_opts fields_ = rd_load_opts();
};
inline rd_expr *load(rd_ctx *ctx, const char *path, const load_opts &how = load_opts())
{
    const rd_load_opts o = how.of(path);
    return rd_load_npy(ctx, &o);
}

/** Keywords of save(): Fortran order and bytes of the other end. */
class save_opts {
public:
    save_opts &order(int32_t o) { fields_.order = o; return *this; }
    save_opts &big_endian(bool yes = true) { fields_.big_endian = yes; return *this; }
    rd_save_opts to(const char *path) const
    {
        rd_save_opts o = fields_;
        o.size = sizeof o;
        o.path = path;
        return o;
    }
private:
    rd_save_opts fields_ = rd_save_opts();
};
inline rd_status save(rd_ctx *ctx, rd_expr *y, const char *path,
                      const save_opts &how = save_opts())
{
    const rd_save_opts o = how.to(path);
    return rd_save_npy(ctx, y, &o);
}

} // namespace rd
#endif
