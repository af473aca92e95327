/* price_values.c - the time of an element of a computed value: a map, a cast, a call.
 *
 * Times are for one element: an operation on a vector takes row * size of the element / bytes of
 * the vector. */
#include "kernels/loop/price_statement.h"
#include "kernels/loop/facts.h"
#include <math.h>

/* ---- Maps ------------------------------------------------------------------------------------ */
/* Returns the time of a vector of elements of an operator that processors have instructions for,
 * from measured rows; others count as ops.def's cost in additions. Extremes of floats and signs are
 * two selections, comparisons one. */
static double instruction_ns(const rd_speeds *s, rd_op op, rd_dtype type)
{
    const bool   floats = rd_dtype_kind(type) == RD_KIND_FLOAT;
    const double cost   = (double)rd_op_table[op].cost;

    switch (op) {
    case RD_OP_mul:
    case RD_OP_square: return rd_mul_ns(s, type);
    case RD_OP_fma: return rd_of_floats(type, s->fma_f32, s->fma_f64);
    case RD_OP_div:
    case RD_OP_reciprocal: return rd_of_floats(type, s->div_f32, s->div_f64);
    case RD_OP_sqrt: return rd_of_floats(type, s->sqrt_f32, s->sqrt_f64);
    case RD_OP_hypot: return rd_of_floats(type, s->sqrt_f32 + s->div_f32, s->sqrt_f64 + s->div_f64);
    case RD_OP_minimum:
    case RD_OP_maximum:
    case RD_OP_fmin:
    case RD_OP_fmax: return floats ? 2 * rd_select_ns(s, type) : rd_add_ns(s, type);
    /* f32 in double: the cost of a root by products, and of the products. */
    case RD_OP_pow_half: return cost * rd_of_floats(type, 2 * s->fma_f64, 3 * s->fma_f64);
    case RD_OP_sign:
    case RD_OP_heaviside: return 2 * rd_select_ns(s, type);
    case RD_OP_eq:
    case RD_OP_ne:
    case RD_OP_lt:
    case RD_OP_le:
    case RD_OP_gt:
    case RD_OP_ge:
    case RD_OP_isnan:
    case RD_OP_isinf:
    case RD_OP_isfinite:
    case RD_OP_signbit: return rd_select_ns(s, type);
    default: return cost * rd_add_ns(s, type);
    }
}

/* True if vectors compute the operator: it calls no function, or only for hard arguments
 * (RD_BY_HARD); or it is a remainder (rd_op_leaves_rest), which vectors do except for huge
 * quotients. */
static bool has_vector_code(const rd_tree_value *let)
{
    return !rd_op_calls(let->op, let->type) || rd_op_table[let->op].by == RD_BY_HARD ||
           rd_op_leaves_rest(let->op, let->type);
}

/* True if the map is a mathematical function with a kernel for vectors, such as exp. */
static bool is_function(const rd_tree_value *let)
{
    const rd_by by = rd_op_table[let->op].by;

    return rd_dtype_kind(let->type) == RD_KIND_FLOAT && let->op != RD_OP_hypot &&
           (by == RD_BY_OURS || by == RD_BY_OWN || by == RD_BY_HARD);
}

/* Returns the type that a map computes with: the operands' type if it is a test. */
static rd_dtype type_of(const rd_tree_value *let)
{
    return rd_op_table[let->op].rule == RD_RULE_COMPARE || rd_op_table[let->op].rule == RD_RULE_TEST
               ? let->from
               : let->type;
}

/* Returns the time of `cost` scalar operations, in units of an addition. */
static double scalar_ns(const rd_speeds *s, double cost)
{
    return s->one_add * cost;
}

/* Returns the time of an element of a remainder of floats: a division in double, one in their own
 * type, and a dozen operations that select the case. */
static double remainder_ns(const rd_speeds *s)
{
    enum { OPERATIONS = 12 };

    return (2 * s->div_f64 + OPERATIONS * rd_add_ns(s, RD_F64)) * rd_size_in_vector(RD_F64) /
           s->vector;
}

/* Returns the time of an element of a remainder of floats by a constant: a product in double takes
 * the place of the divisions, and 8 operations select the case. */
static double constant_remainder_ns(const rd_speeds *s)
{
    enum { OPERATIONS = 8 };

    return (rd_mul_ns(s, RD_F64) + OPERATIONS * rd_add_ns(s, RD_F64)) * rd_size_in_vector(RD_F64) /
           s->vector;
}

/* True if ints are divided by a constant, which compilers do by a multiplication. */
static bool divides_by_constant(const rd_schedule *t, const rd_tree_value *let)
{
    return (let->op == RD_OP_floordiv || let->op == RD_OP_remainder) &&
           rd_dtype_kind(let->type) != RD_KIND_FLOAT &&
           t->let[t->operand[let->first + 1]].kind == RD_I_CONST;
}

/* Returns the time to round a result to a half-precision float; 0: the type is none. A bf16, which
 * has the exponent of an f32, is cut off an f32 by vectors; other kinds are rounded one by one. */
static double half_rounding_ns(const rd_price_site *at, rd_dtype type)
{
    enum { OPERATIONS = 3 };

    if (rd_dtype_is_narrow_float(type) &&
        rd_dtype_exponent_bits(type) == rd_dtype_exponent_bits(RD_F32))
        return 2 * at->s->add_i32 * 4 / at->s->vector;
    return rd_dtype_is_narrow_float(type) ? OPERATIONS * at->s->one_add : 0;
}

/* Returns the time of an element of a map. Divisions by constants are products; remainders have
 * formulas; functions such as exp have measured rows; other operators without vectors are calls of
 * C's library, whose cost is scaled by ops.def; all others are instructions. `vector`: by vectors.
 * 8, 10 and 0.5 are estimates. */
static double map_ns(const rd_price_site *at, const rd_tree_value *let, bool vector)
{
    const rd_speeds *s    = at->s;
    const rd_dtype   type = type_of(let);
    const double     cost = (double)rd_op_table[let->op].cost;

    if (divides_by_constant(at->t, let))
        return vector ? (2 * rd_mul_ns(s, type) + 4 * rd_add_ns(s, type)) *
                            rd_size_in_vector(type) / s->vector
                      : scalar_ns(s, cost);
    if (vector && rd_is_constant_remainder(at->t, let))
        return constant_remainder_ns(s);
    if (rd_op_leaves_rest(let->op, let->type))
        return vector ? remainder_ns(s) : s->one_div + scalar_ns(s, cost);
    if (is_function(let))
        return vector ? rd_function_ns(s, let->op, let->type) : s->one_exp * cost / 10;
    if (!has_vector_code(let))
        return s->call * fmax(cost / 8, 0.5);
    if (vector)
        return instruction_ns(s, let->op, type) * rd_size_in_vector(type) / s->vector;
    switch (let->op) {
    case RD_OP_div:
    case RD_OP_reciprocal:
    case RD_OP_sqrt: return s->one_div;
    case RD_OP_hypot: return 2 * s->one_div + s->one_select;
    default: return scalar_ns(s, cost);
    }
}

/* ---- Casts and calls ------------------------------------------------------------------------- */
/* Returns the time of a cast.  Casts between floats change the width, those between floats and ints
 * convert; ints of one width stay. `half`: the time to round to half precision. Without vectors it
 * is 2 instructions, to an int 3; to a bool it is a selection, in vectors. */
static double cast_ns(const rd_price_site *at, const rd_tree_value *let, bool vector)
{
    const double     half     = half_rounding_ns(at, let->type);
    const rd_speeds *s        = at->s;
    const bool       to_float = rd_dtype_kind(let->type) == RD_KIND_FLOAT,
               from_float     = rd_dtype_kind(let->from) == RD_KIND_FLOAT;
    const int size = rd_size_in_vector(let->type), from_size = rd_size_in_vector(let->from);
    const int wider = size > from_size ? size : from_size;

    if (!vector)
        return half + (from_float && !to_float ? 3 : 2) * s->one_add;
    if (let->type == RD_BOOL)
        return rd_select_ns(s, let->from) * from_size / s->vector;
    if (from_float && !to_float && rd_small_type(let->type))
        return 3 * s->one_add; /* compilers make no vectors of it */
    if (from_float == to_float && size == from_size)
        return half + s->add_i32 * size / s->vector;
    return half + (from_float && to_float ? s->resize : s->convert) * wider / s->vector;
}

/* Returns the time of an element of a user's function; one with a text (body) is compiled in, and
 * counts as a few operations. A call without vectors counts half as much again, an estimate. */
static double call_ns(const rd_price_site *at, const rd_tree_value *let, bool vector)
{
    enum { OPERATIONS = 6 };
    const rd_call *call = &at->t->p->call[let->arg];

    if (!call->body)
        return (vector ? 1 : 1.5) * rd_call_ns(at->s, call);
    return vector ? OPERATIONS * rd_add_ns(at->s, let->type) * rd_size_in_vector(let->type) /
                        at->s->vector
                  : OPERATIONS * at->s->one_add;
}

/* Returns the time of one element of a value that is computed, by its kind; constants take none. An
 * INDEX is two selections of 8 bytes each, a coordinate an addition. */
double rd_value_ns(const rd_price_site *at, const rd_tree_value *let, bool vector)
{
    const rd_speeds *s = at->s;

    switch (let->kind) {
    case RD_I_MAP: return map_ns(at, let, vector) + half_rounding_ns(at, let->type);
    case RD_I_CAST: return cast_ns(at, let, vector);
    case RD_I_SELECT:
        return vector ? rd_select_ns(s, let->type) / 2 * rd_size_in_vector(let->type) / s->vector
                      : s->one_select;
    case RD_I_INDEX: return vector ? 2 * s->select_i64 * 8 / s->vector : s->one_select;
    case RD_I_COORD: return vector ? s->add_i64 * 8 / s->vector : s->one_add;
    case RD_I_CALL: return call_ns(at, let, vector);
    default: return 0;
    }
}
