/* narrow_ranges.c - range analysis: bounds of the whole numbers that each value of a graph may
 * be, from types and operations.
 *
 * Fields. A READ is of a leaf's `slot`, or of another value, its `target`, -1: it is not. `group`
 * is the axis of a group-by's groups, `inner` that of a reducer's outputs or of a sorted row, -1:
 * none. */
#include "eval/collect/narrow.h"
#include <math.h>

static const rd_range unknown;

/* True for floats of any size. */
static bool is_float(rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_FLOAT;
}

/* The range of a constant: itself. Unknown for 16-bit floats, fractions, -0.0 (which no int
 * represents) and floats above 1e6. */
static rd_range range_of_number(const rd_value *v)
{
    double x;

    if (!is_float(v->type))
        return rd_range_cast(rd_range_from(v->value.i64, v->value.i64), v->type);
    if (rd_dtype_is_narrow_float(v->type))
        return unknown;
    x = v->type == RD_F32 ? (double)v->value.f32 : v->value.f64;
    /* NaN fails the first test */
    if (!(fabs(x) <= 1e6) || x != floor(x) || (x == 0 && signbit(x)))
        return unknown;
    return rd_range_from((int64_t)x, (int64_t)x);
}

/* The range of an elementwise float operation whose operands are whole numbers, x[k] their ranges.
 * 0 times a negative number is -0.0, which no int represents, so products are known only for
 * operands of at least 0. The other operators make no -0.0 of numbers that are not -0.0. */
static rd_range range_of_floats(const rd_value *v, const rd_range *x)
{
    const bool not_negative = x[0].known && x[1].known && x[0].low >= 0 && x[1].low >= 0;

    switch (v->op) {
    case RD_OP_add:
    case RD_OP_sub:
    case RD_OP_abs:
    case RD_OP_minimum:
    case RD_OP_maximum: return rd_range_cast(rd_range_of_op(v->op, RD_I64, x), v->type);
    case RD_OP_mul:
        return not_negative ? rd_range_cast(rd_range_of_op(v->op, RD_I64, x), v->type) : unknown;
    default: return unknown;
    }
}

/* The range of an elementwise operation, from those of its operands. range[] are those of all
 * values. A float's range comes from range_of_floats(), an int's from rd_range_of_op(). */
static rd_range range_of_map(const rd_range *range, const rd_value *v)
{
    rd_range x[3] = { unknown, unknown, unknown };

    for (int k = 0; k < v->n_in && k < 3; k++)
        x[k] = range[v->in[k]];
    switch (v->op) {
    case RD_OP_cast: return rd_range_cast(x[0], v->type);
    case RD_OP_where: return rd_range_cast(rd_range_either(x[1], x[2]), v->type);
    case RD_OP_index: return unknown; /* a checked index of a gather */
    default: break;
    }
    if (v->type == RD_BOOL)
        return rd_range_of_type(RD_BOOL);
    return is_float(v->type) ? range_of_floats(v, x) : rd_range_of_op(v->op, v->type, x);
}

/* True for a reduction of at least one element to one result, without weights (in[1]), mask
 * (in[2]), groups, several outputs, first value (.initial) or strict order. */
bool rd_is_plain_fold(const rd_graph *g, const rd_value *v)
{
    return v->kind == RD_VALUE_REDUCE && v->in[1] < 0 && v->in[2] < 0 && v->group < 0 &&
           v->inner < 0 && !v->expr->as.fold->identity && v->expr->as.fold->law != RD_LAW_serial &&
           rd_points_of(g, v->reduced) > 0;
}

/* The range of a sum of n elements, which is n times that of one, or of a minimum or maximum,
 * which is that of one. Other reductions may give any value of their type. rd_is_plain_fold():
 * without weights, mask, groups or strict order. */
static rd_range range_of_fold(const rd_graph *g, const rd_range *range, const rd_value *v)
{
    const rd_range      x       = range[v->in[0]];
    const rd_reducer_id reducer = (rd_reducer_id)v->reducer;

    if (rd_is_plain_fold(g, v) && rd_reducer_is_extreme(reducer))
        return rd_range_cast(x, v->type);
    if (rd_is_plain_fold(g, v) && rd_reducer_adds_elements(reducer))
        return rd_range_cast(rd_range_times(x, rd_points_of(g, v->reduced)), v->type);
    return rd_range_of_type(v->type);
}

/* The range of value v's whole numbers, from those of the values before it; `range`: by value.
 * Kinds that are not analysed have the range of their type. */
static rd_range range_of(const rd_graph *g, const rd_range *range, const rd_value *v)
{
    switch (v->kind) {
    case RD_VALUE_CONST: return range_of_number(v);
    case RD_VALUE_READ: return v->target >= 0 ? range[v->target] : rd_range_of_type(v->type);
    case RD_VALUE_MAP: return range_of_map(range, v);
    case RD_VALUE_REDUCE: return range_of_fold(g, range, v);
    default: return rd_range_of_type(v->type);
    }
}

/* The range of each value of a graph, operands first; NULL: no memory. */
rd_range *rd_value_ranges(const rd_graph *g)
{
    rd_range *range = rd_pool_get(g->pool, (size_t)g->n_value * sizeof *range);

    for (int i = 0; range && i < g->n_value; i++)
        range[i] = range_of(g, range, &g->value[i]);
    return range;
}
