/* map_types.c - type rules: in which type an operator works.  The *joint type* is that to which all
 * operands promote; a rule makes of it the *working type*, to which operands are cast.  *Weak*
 * numbers, such as a plain 2, take the type of the strong operands.
 *
 *     i32 + f32 -> f64     f32 + 2 (weak) -> f32     floor(i32) -> i32 */
#include "expr/plain.h"
#include <inttypes.h>
#include <math.h>

/* True for a real float type. */
static bool is_float(rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_FLOAT;
}

/* True if x is a weak number, such as a plain 2, which takes the type of the operands beside it. */
bool rd_is_weak(const rd_expr *x)
{
    return (x->kind == RD_EXPR_NUMBER || x->kind == RD_EXPR_COMPLEX) && x->weak;
}

/* The type to which operands promote together.  Strong operands decide it.  Weak numbers (plain
 * constants) only decide between kinds: an int beside a weak float is f64, a bool beside a weak int
 * i64.  *weak: all operands are weak. */
rd_dtype rd_joint_type(int n, rd_expr *const *x, bool *weak)
{
    rd_dtype strong = RD_AUTO, number = RD_AUTO;

    for (int i = 0; i < n; i++) {
        rd_dtype *type = rd_is_weak(x[i]) ? &number : &strong;
        *type          = *type ? rd_dtype_promote(*type, x[i]->type) : x[i]->type;
    }
    *weak = !strong;
    if (!strong || !number || rd_dtype_is_complex(strong))
        return strong ? strong : number;
    if (rd_dtype_is_complex(number))
        return rd_dtype_of_parts(is_float(strong) ? strong : RD_F64);
    if (is_float(strong))
        return strong;
    if (is_float(number))
        return RD_F64;
    return strong == RD_BOOL ? RD_I64 : strong;
}

/* The unsigned type of the same width: counting bits must not count sign extension. */
static rd_dtype unsigned_of(rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_INT ? (rd_dtype)(type - RD_I8 + RD_U8) : type;
}

/* The type in which an operator of this rule works, for operands that promote to `type`: bools for
 * logic, i64 for arithmetic of bools, f64 for functions of ints. */
rd_dtype rd_working_type(rd_rule rule, rd_dtype type)
{
    if (rule == RD_RULE_LOGIC)
        return RD_BOOL;
    if (rule == RD_RULE_ARITH && type == RD_BOOL)
        return RD_I64;
    if (rule == RD_RULE_INTS && type == RD_BOOL)
        return RD_I64;
    if (rule == RD_RULE_COUNT)
        return unsigned_of(type);
    return rule == RD_RULE_FLOAT && !is_float(type) ? RD_F64 : type;
}

/* The type to which an operator of this rule casts its operands. */
rd_dtype rd_rule_type(rd_rule rule, int n, rd_expr *const *x)
{
    bool weak;

    return rd_working_type(rule, rd_joint_type(n, x, &weak));
}

/* True if operators of this rule take operands that promote to `joint`.  False, after recording for
 * `call`, if they take ints only and it is a float. */
bool rd_rule_takes(rd_rule rule, rd_dtype joint, rd_ctx *ctx, const char *call)
{
    const bool takes = !rd_op_of_ints(rule) || !is_float(joint);

    if (!takes)
        rd_fail(ctx, RD_ERR_TYPE, "%s: operands come to %s, and it takes ints alone", call,
                rd_dtype_name(joint));
    return takes;
}

/* False, after recording for `call`, if x is a weak number (a plain constant) that a float type
 * without infinities cannot hold: it would silently become NaN. */
static bool fits_float(const rd_expr *x, rd_dtype type, const char *call)
{
    const rd_word given = x->as.number->value;
    const double  value = rd_word_to_double(given, x->type);

    if (isnan(value) || !isnan(rd_word_to_double(rd_word_convert(given, x->type, type), type)))
        return true;
    rd_fail(x->ctx, RD_ERR_TYPE,
            "%s: the number %g does not fit the type %s it meets; say rd_cast to f32", call, value,
            rd_dtype_name(type));
    return false;
}

/* True if the type can hold x.  False, after recording for `call`, for a weak int (a plain
 * constant) outside the range of an int type, or beyond a float type without infinities.  Strong
 * operands, and other weak ones, always fit. */
bool rd_fits(const rd_expr *x, rd_dtype type, const char *call)
{
    if (rd_dtype_lacks_infinity(type) && rd_is_weak(x) && x->kind == RD_EXPR_NUMBER)
        return fits_float(x, type, call);
    if (!rd_is_weak(x) || x->type != RD_I64 || type == RD_BOOL ||
        rd_dtype_kind(type) >= RD_KIND_FLOAT)
        return true;
    const int64_t value = x->as.number->value.i64;
    const rd_word there = rd_word_convert(x->as.number->value, RD_I64, type);
    const bool    lost  = rd_word_convert(there, type, RD_I64).i64 != value;

    if (!lost && (value >= 0 || rd_dtype_kind(type) != RD_KIND_UINT))
        return true;
    rd_fail(x->ctx, RD_ERR_TYPE, "%s: the number %" PRId64 " does not fit the type %s it meets",
            call, value, rd_dtype_name(type));
    return false;
}
