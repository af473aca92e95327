/* rdim/statistics.hpp - covariances, both extremes, first and last, modes, in C++. */
#ifndef RDIM_STATISTICS_HPP
#define RDIM_STATISTICS_HPP
#include "reductions.hpp"
#include "statistics.h"

namespace rd {

/** The covariance of two operands: rd_cov_of(). */
inline rd_expr *cov(rd_expr *x, rd_expr *y, const rd_dims &d, const opts &how = opts())
{
    const rd_reduce_opts o = how.along(d);
    return rd_cov_of(x, y, &o);
}
/** The correlation of two operands: rd_corr_of(). */
inline rd_expr *corr(rd_expr *x, rd_expr *y, const rd_dims &d, const opts &how = opts())
{
    const rd_reduce_opts o = how.along(d);
    return rd_corr_of(x, y, &o);
}
/** The smallest and the greatest element, along a new first axis: rd_minmax_of(). */
inline rd_expr *minmax(rd_expr *x, const rd_dims &d, const opts &how = opts())
{
    const rd_reduce_opts o = how.along(d);
    return rd_minmax_of(x, &o);
}
/** The first element: rd_first_of(). */
inline rd_expr *first(rd_expr *x, const rd_dims &d, const opts &how = opts())
{
    const rd_reduce_opts o = how.along(d);
    return rd_first_of(x, &o);
}
/** The last element: rd_last_of(). */
inline rd_expr *last(rd_expr *x, const rd_dims &d, const opts &how = opts())
{
    const rd_reduce_opts o = how.along(d);
    return rd_last_of(x, &o);
}
/** The most frequent element: rd_mode_of(). */
inline rd_expr *mode(rd_expr *x, const rd_dims &d, const opts &how = opts())
{
    const rd_reduce_opts o = how.along(d);
    return rd_mode_of(x, &o);
}
/** How often the most frequent element occurs: rd_mode_count_of(). */
inline rd_expr *mode_count(rd_expr *x, const rd_dims &d, const opts &how = opts())
{
    const rd_reduce_opts o = how.along(d);
    return rd_mode_count_of(x, &o);
}

} // namespace rd
#endif
