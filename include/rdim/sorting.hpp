/* rdim/sorting.hpp - sorting and quantiles in C++. */
#ifndef RDIM_SORTING_HPP
#define RDIM_SORTING_HPP
#include "sorting.h"

#include <initializer_list>

namespace rd {

/** Keywords of sort(), argsort(), top_k() and arg_top_k(): rd::sort(x, 0,
 *  rd::sort_opts().descending()).  A setter has the name and the meaning of the field of
 *  rd_sort_opts. */
class sort_opts {
public:
    sort_opts &descending(bool yes = true) { fields_.descending = yes; return *this; }
    sort_opts &smallest(bool yes = true) { fields_.smallest = yes; return *this; }
    /** The struct that C functions take. */
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
/** x with the elements along an axis in order: rd_sort_by(). */
inline rd_expr *sort(rd_expr *x, int axis, const sort_opts &how = sort_opts())
{
    const rd_sort_opts o = how.along(axis);
    return rd_sort_by(x, &o);
}
/** The places of the sorted elements: rd_argsort_by(). */
inline rd_expr *argsort(rd_expr *x, int axis, const sort_opts &how = sort_opts())
{
    const rd_sort_opts o = how.along(axis);
    return rd_argsort_by(x, &o);
}
/** The k greatest elements along an axis: rd_top_k_by(). */
inline rd_expr *top_k(rd_expr *x, int64_t k, int axis, const sort_opts &how = sort_opts())
{
    const rd_sort_opts o = how.along(axis);
    return rd_top_k_by(x, k, &o);
}
/** The places of the k greatest elements: rd_arg_top_k_by(). */
inline rd_expr *arg_top_k(rd_expr *x, int64_t k, int axis, const sort_opts &how = sort_opts())
{
    const rd_sort_opts o = how.along(axis);
    return rd_arg_top_k_by(x, k, &o);
}

/** Keywords of medians and quantiles: rd::median(x, RD_ALL, rd::quantile_opts().skip_nan()).  A
 *  setter has the name and the meaning of the field of rd_quantile_opts. */
class quantile_opts {
public:
    quantile_opts &method(rd_quantile_method m) { fields_.method = m; return *this; }
    quantile_opts &where(rd_expr *mask) { fields_.where = mask; return *this; }
    quantile_opts &skip_nan(bool yes = true) { fields_.skip_nan = yes; return *this; }
    quantile_opts &weights(rd_expr *w) { fields_.weights = w; return *this; }
    /** The fields .by and .groups, as opts::by(). */
    quantile_opts &by(std::initializer_list<rd_expr *> labels, const rd_shape &groups)
    {
        fields_.by.n = 0;
        for (rd_expr *label : labels)
            if (fields_.by.n++ < RD_MAX_RANK)
                label_[fields_.by.n - 1] = label;
        fields_.groups = groups;
        return *this;
    }
    /** The struct that C functions take.  It lives as long as this object. */
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
/** The median: rd_median_by(). */
inline rd_expr *median(rd_expr *x, const rd_dims &d, const quantile_opts &how = quantile_opts())
{
    const rd_quantile_opts o = how.along(d);
    return rd_median_by(x, &o);
}
/** The quantile q: rd_quantile_by(). */
inline rd_expr *quantile(rd_expr *x, double q, const rd_dims &d,
                         const quantile_opts &how = quantile_opts())
{
    const rd_quantile_opts o = how.along(d);
    return rd_quantile_by(x, q, &o);
}
/** The quantile p / 100: rd_percentile. */
inline rd_expr *percentile(rd_expr *x, double p, const rd_dims &d,
                           const quantile_opts &how = quantile_opts())
{
    return quantile(x, p / 100, d, how);
}
/** Several quantiles, along a new first axis: rd::quantiles(x, { 0.1, 0.9 }, RD_ALL).  See
 *  rd_quantiles_by(). */
inline rd_expr *quantiles(rd_expr *x, std::initializer_list<double> q, const rd_dims &d,
                          const quantile_opts &how = quantile_opts())
{
    const rd_quantile_opts o = how.along(d);
    return rd_quantiles_by(x, rd_qs{ q.begin(), static_cast<int32_t>(q.size()) }, &o);
}

} // namespace rd
#endif
