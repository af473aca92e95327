/* rdim/lists.hpp - lists written in the call, and the functions that take them, in C++. */
#ifndef RDIM_LISTS_HPP
#define RDIM_LISTS_HPP
#include "explain.h"
#include "formulas.h"
#include "groups.h"
#include "joins.h"
#include "plans.h"
#include "products.h"

#include <initializer_list>

namespace rd {

/** Lists are written in the call: concat(0, { a, b }). */
using expr_list = std::initializer_list<rd_expr *>;
/** Several results, written in the call: eval_many(ctx, { { y, &out }, { z, &other } }). */
using result_list = std::initializer_list<rd_result>;

/** The macro RD_EXPRS: a list as C functions take it, until the end of the call. */
inline rd_exprs exprs(const expr_list &list)
{
    return { list.begin(), static_cast<int32_t>(list.size()) };
}
/** The macro RD_RESULTS: a list as C functions take it, until the end of the call. */
inline rd_results results(const result_list &list)
{
    return { list.begin(), static_cast<int32_t>(list.size()) };
}
/** Parts joined along an axis that they have: rd_concat(). */
inline rd_expr *concat(int axis, expr_list parts)
{
    return rd_concat(axis, exprs(parts));
}
/** Parts joined along a new axis: rd_stack(). */
inline rd_expr *stack(int axis, expr_list parts)
{
    return rd_stack(axis, exprs(parts));
}
/** Rows as the coordinates of a grid: rd_meshgrid().  `grids` has room for one grid for each
 *  row. */
inline bool meshgrid(expr_list in, rd_expr **grids)
{
    return rd_meshgrid(exprs(in), grids);
}
/** Several results that share passes: rd_eval_many(). */
inline rd_status eval_many(rd_ctx *ctx, result_list list, const rd_eval_opts *how = nullptr)
{
    return rd_eval_many(ctx, results(list), how);
}
/** What an evaluation would do, as text: rd_explain(). */
inline const char *explain(rd_ctx *ctx, result_list list, const rd_eval_opts *how = nullptr)
{
    return rd_explain(ctx, results(list), how);
}
/** The expressions as a graph in the language of Graphviz: rd_graphviz(). */
inline const char *graphviz(rd_ctx *ctx, result_list list)
{
    return rd_graphviz(ctx, results(list));
}
/** A plan that can run many times: rd_plan_new(). */
inline rd_plan *plan_new(rd_ctx *ctx, expr_list in, result_list list,
                         const rd_eval_opts *how = nullptr)
{
    return rd_plan_new(ctx, exprs(in), results(list), how);
}
/** A sum of products by Einstein's notation: rd_einsum_text(). */
inline rd_expr *einsum(const char *text, expr_list operands)
{
    return rd_einsum_text(text, exprs(operands));
}
/** How often each label occurs, or the sum of the weights of its elements: rd_bincount(). */
inline rd_expr *bincount(expr_list labels, const rd_shape &groups, rd_expr *weights = nullptr)
{
    return rd_bincount(exprs(labels), groups, weights);
}
/** The value of a formula: rd::formula(ctx, "a + 2 * b", { { "a", a }, { "b", b } }).  See
 *  rd_formula(). */
inline rd_expr *formula(rd_ctx *ctx, const char *text, std::initializer_list<rd_name> in)
{
    return rd_formula(ctx, text, rd_names{ in.begin(), static_cast<int32_t>(in.size()) });
}

} // namespace rd
#endif
