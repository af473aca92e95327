/* rdim.hpp - C++17 for the keyword macros of <rdim.h>: options with setters in a chain.
 *
 *     std::vector<float> out(lat * lon);
 *     rd_expr *x = rd::wrap(ctx, sst.data(), RD_SHAPE(time, lat, lon));
 *     rd_expr *y = rd::mean(rd::map(x, sqrtf), RD_DIMS(0), rd::opts().skip_nan());
 *     rd_eval(ctx, y, rd::into(out.data(), RD_SHAPE(lat, lon)));
 *
 * The functions have the names, arguments, results, errors and ownership of the macros: rd::sum is
 * rd_sum.  All else is called as in C.
 *
 * RD_FN and RD_REDUCER have no counterpart.  Use the text of a function ("x / (1 + abs(x))") or a
 * function, or fill in an rd_fn or an rd_reducer; its no_identity is what RD_REDUCER_FIRST sets. */
#ifndef RDIM_HPP
#define RDIM_HPP
#include <rdim.h>

#include "rdim/arrays.hpp"         /* element types, memory as leaves and outputs */
#include "rdim/lists.hpp"          /* lists, and functions that take them         */
#include "rdim/user_functions.hpp" /* maps of your own                            */
#include "rdim/reductions.hpp"     /* sums, extremes, means, scans                */
#include "rdim/statistics.hpp"     /* covariance, mode, first, last               */
#include "rdim/windows.hpp"        /* rolling reductions                          */
#include "rdim/sorting.hpp"        /* sorting, quantiles                          */
#include "rdim/files.hpp"          /* .npy files                                  */
#endif
