/* rdim/windows.hpp - rolling reductions in C++. */
#ifndef RDIM_WINDOWS_HPP
#define RDIM_WINDOWS_HPP
#include "windows.h"

namespace rd {

/** Keywords of rolling reductions: rd::rolling_sum(x, 0, 3, rd::rolling_opts().type(RD_F64)).  A
 *  setter has the name and the meaning of the field of rd_rolling_opts. */
class rolling_opts {
public:
    rolling_opts &ddof(double d) { fields_.ddof = d; return *this; }
    rolling_opts &type(rd_dtype t) { fields_.type = t; return *this; }
    /** The struct that C functions take. */
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
/** The sum of each n neighbours along an axis: rd_rolling_sum. */
inline rd_expr *rolling_sum(rd_expr *x, int axis, int64_t n,
                            const rolling_opts &how = rolling_opts())
{
    const rd_rolling_opts o = how.of(axis, n);
    return rd_rolling_name(x, "sum", &o);
}
/** The mean of each n neighbours along an axis: rd_rolling_mean. */
inline rd_expr *rolling_mean(rd_expr *x, int axis, int64_t n,
                             const rolling_opts &how = rolling_opts())
{
    const rd_rolling_opts o = how.of(axis, n);
    return rd_rolling_name(x, "mean", &o);
}
/** The smallest of each n neighbours along an axis: rd_rolling_min. */
inline rd_expr *rolling_min(rd_expr *x, int axis, int64_t n,
                            const rolling_opts &how = rolling_opts())
{
    const rd_rolling_opts o = how.of(axis, n);
    return rd_rolling_name(x, "min", &o);
}
/** The greatest of each n neighbours along an axis: rd_rolling_max. */
inline rd_expr *rolling_max(rd_expr *x, int axis, int64_t n,
                            const rolling_opts &how = rolling_opts())
{
    const rd_rolling_opts o = how.of(axis, n);
    return rd_rolling_name(x, "max", &o);
}
/** The variance of each n neighbours along an axis: rd_rolling_var. */
inline rd_expr *rolling_var(rd_expr *x, int axis, int64_t n,
                            const rolling_opts &how = rolling_opts())
{
    const rd_rolling_opts o = how.of(axis, n);
    return rd_rolling_name(x, "var", &o);
}
/** The standard deviation of each n neighbours along an axis: rd_rolling_std. */
inline rd_expr *rolling_std(rd_expr *x, int axis, int64_t n,
                            const rolling_opts &how = rolling_opts())
{
    const rd_rolling_opts o = how.of(axis, n);
    return rd_rolling_name(x, "std", &o);
}

} // namespace rd
#endif
