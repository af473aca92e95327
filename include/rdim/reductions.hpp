/* rdim/reductions.hpp - reductions and scans in C++.
 *
 * rd::sum(x, RD_DIMS(0), rd::opts().skip_nan()) is rd_sum(x, RD_DIMS(0), .skip_nan = true).  Types,
 * errors and ownership are those of the macro or function that a comment names. */
#ifndef RDIM_REDUCTIONS_HPP
#define RDIM_REDUCTIONS_HPP
#include "reductions.h"

#include <initializer_list>

namespace rd {

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
    /** The fields .by and .groups: by({ label }, RD_SHAPE(n)).  Up to 32 labels are taken. */
    opts &by(std::initializer_list<rd_expr *> labels, const rd_shape &groups)
    {
        fields_.by.n = 0;
        for (rd_expr *label : labels)
            if (fields_.by.n++ < RD_MAX_RANK)
                label_[fields_.by.n - 1] = label;
        fields_.groups = groups;
        return *this;
    }
    /** The struct that C functions take.  It lives as long as this object. */
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

/** A reduction by name: rd_reduce_name(). */
inline rd_expr *reduce(rd_expr *x, const char *r, const rd_dims &d, const opts &how = opts())
{
    const rd_reduce_opts o = how.along(d);
    return rd_reduce_name(x, r, &o);
}
/** A reduction by a user's reducer: rd_reduce_user(). */
inline rd_expr *reduce(rd_expr *x, const rd_reducer *r, const rd_dims &d, const opts &how = opts())
{
    const rd_reduce_opts o = how.along(d);
    return rd_reduce_user(x, r, &o);
}
/** A reduction of two operands, which broadcast, by a user's reducer: rd_reduce2_user(). */
inline rd_expr *reduce2(rd_expr *x, rd_expr *w, const rd_reducer *r, const rd_dims &d,
                        const opts &how = opts())
{
    const rd_reduce_opts o = how.along(d);
    return rd_reduce2_user(x, w, r, &o);
}
/** A scan by name along one axis: rd_scan_name(). */
inline rd_expr *scan(rd_expr *x, const char *r, const rd_dims &d, const opts &how = opts())
{
    const rd_reduce_opts o = how.along(d);
    return rd_scan_name(x, r, &o);
}
/** A scan by a user's reducer along one axis: rd_scan_user(). */
inline rd_expr *scan(rd_expr *x, const rd_reducer *r, const rd_dims &d, const opts &how = opts())
{
    const rd_reduce_opts o = how.along(d);
    return rd_scan_user(x, r, &o);
}

/** The sum: rd_sum. */
inline rd_expr *sum(rd_expr *x, const rd_dims &d, const opts &how = opts())
{
    return reduce(x, "sum", d, how);
}
/** The product: rd_prod. */
inline rd_expr *prod(rd_expr *x, const rd_dims &d, const opts &how = opts())
{
    return reduce(x, "prod", d, how);
}
/** The smallest element: rd_min. */
inline rd_expr *min(rd_expr *x, const rd_dims &d, const opts &how = opts())
{
    return reduce(x, "min", d, how);
}
/** The greatest element: rd_max. */
inline rd_expr *max(rd_expr *x, const rd_dims &d, const opts &how = opts())
{
    return reduce(x, "max", d, how);
}
/** The place of the smallest element: rd_argmin. */
inline rd_expr *argmin(rd_expr *x, const rd_dims &d, const opts &how = opts())
{
    return reduce(x, "argmin", d, how);
}
/** The place of the greatest element: rd_argmax. */
inline rd_expr *argmax(rd_expr *x, const rd_dims &d, const opts &how = opts())
{
    return reduce(x, "argmax", d, how);
}
/** Whether any element is true: rd_any. */
inline rd_expr *any(rd_expr *x, const rd_dims &d, const opts &how = opts())
{
    return reduce(x, "any", d, how);
}
/** Whether all elements are true: rd_all. */
inline rd_expr *all(rd_expr *x, const rd_dims &d, const opts &how = opts())
{
    return reduce(x, "all", d, how);
}
/** The bitwise and of integers: rd_bits_and. */
inline rd_expr *bits_and(rd_expr *x, const rd_dims &d, const opts &how = opts())
{
    return reduce(x, "bits_and", d, how);
}
/** The bitwise or of integers: rd_bits_or. */
inline rd_expr *bits_or(rd_expr *x, const rd_dims &d, const opts &how = opts())
{
    return reduce(x, "bits_or", d, how);
}
/** The bitwise exclusive or of integers: rd_bits_xor. */
inline rd_expr *bits_xor(rd_expr *x, const rd_dims &d, const opts &how = opts())
{
    return reduce(x, "bits_xor", d, how);
}
/** The number of elements that are not 0: rd_count. */
inline rd_expr *count(rd_expr *x, const rd_dims &d, const opts &how = opts())
{
    return reduce(x, "count", d, how);
}
/** The mean: rd_mean. */
inline rd_expr *mean(rd_expr *x, const rd_dims &d, const opts &how = opts())
{
    return reduce(x, "mean", d, how);
}
/** The variance: rd_var. */
inline rd_expr *var(rd_expr *x, const rd_dims &d, const opts &how = opts())
{
    return reduce(x, "var", d, how);
}
/** The standard deviation: rd_std. */
inline rd_expr *std(rd_expr *x, const rd_dims &d, const opts &how = opts())
{
    return reduce(x, "std", d, how);
}
/** The skewness: rd_skewness. */
inline rd_expr *skewness(rd_expr *x, const rd_dims &d, const opts &how = opts())
{
    return reduce(x, "skewness", d, how);
}
/** The excess kurtosis: rd_kurtosis. */
inline rd_expr *kurtosis(rd_expr *x, const rd_dims &d, const opts &how = opts())
{
    return reduce(x, "kurtosis", d, how);
}
/** The norm: rd_norm. */
inline rd_expr *norm(rd_expr *x, const rd_dims &d, const opts &how = opts())
{
    return reduce(x, "norm", d, how);
}
/** log(sum(exp(x))), without overflow on the way: rd_logsumexp. */
inline rd_expr *logsumexp(rd_expr *x, const rd_dims &d, const opts &how = opts())
{
    return reduce(x, "logsumexp", d, how);
}

} // namespace rd
#endif
