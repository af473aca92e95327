/* map_plain.c - elementwise operators on plain operands (real and dense): casts, broadcasting,
 * nodes.
 *
 * Words. A weak number takes the type of the operands beside it; a strong one keeps its own. */
#include "core/float_env.h"
#include "expr/plain.h"
#include <assert.h>

/* ---- Conversions ----------------------------------------------------------------------------- */
/* Casts a constant at once, in rdim's rounding mode (the program may have set another one). */
static rd_expr *cast_number(rd_expr *x, rd_dtype type)
{
    const rd_float_env env   = rd_float_env_begin();
    const rd_word      value = rd_word_convert(x->as.number->value, x->type, type);

    rd_float_env_end(env);
    return rd_number(x->ctx, type, value);
}

/* Casts the number below a broadcast view, so that it stays a number with a shape. */
static rd_expr *cast_broadcast_number(rd_expr *x, rd_dtype type)
{
    rd_expr *number = cast_number(x->in[0], type);

    number = number ? rd_plain_broadcast(number, x->rank, x->extent, "rd_cast") : NULL;
    return rd_plain_from(number, x->origin);
}

/* Casts a plain (real, dense) x to a type: numbers at once, anything else by a MAP node.  A cast to
 * the own type makes a weak number strong. */
rd_expr *rd_plain_cast(rd_expr *x, rd_dtype type)
{
    if (!x || (x->type == type && !rd_is_weak(x)))
        return x;
    if (x->kind == RD_EXPR_NUMBER)
        return cast_number(x, type);
    if (x->kind == RD_EXPR_VIEW && x->in[0]->kind == RD_EXPR_NUMBER)
        return cast_broadcast_number(x, type);
    return rd_node(&(rd_expr){ .ctx    = x->ctx,
                               .kind   = RD_EXPR_MAP,
                               .type   = type,
                               .op     = RD_OP_cast,
                               .rank   = x->rank,
                               .n_in   = 1,
                               .extent = x->extent,
                               .in     = &x },
                   /*facts=*/NULL, 0);
}

/* Casts x.  NULL after recording that a weak number (which takes the type of operands beside it)
 * does not fit the type. */
static rd_expr *cast_fitting(rd_expr *x, rd_dtype type, const char *call)
{
    return x && rd_fits(x, type, call) ? rd_plain_cast(x, type) : NULL;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */
/* Makes the MAP node of an operator: broadcasts the operands, which have the type in which it works
 * already.  `type` is the result's. */
static rd_expr *map_node(rd_op op, rd_dtype type, const char *call, int n, rd_expr *const *x)
{
    rd_expr *in[RD_MOST_ARITY];
    int      rank;
    int64_t  extent[RD_MAX_RANK];

    if (!rd_common_shape(call, n, x, &rank, extent))
        return NULL;
    for (int i = 0; i < n; i++)
        if (!(in[i] = rd_plain_broadcast(x[i], rank, extent, call)))
            return NULL;
    return rd_node(&(rd_expr){ .ctx    = x[0]->ctx,
                               .kind   = RD_EXPR_MAP,
                               .type   = type,
                               .op     = op,
                               .rank   = rank,
                               .n_in   = n,
                               .extent = extent,
                               .in     = in },
                   /*facts=*/NULL, 0);
}

/* Makes the node of `where`, cond ? yes : no: casts the condition x[0] to bool, and both branches
 * to their common type. */
static rd_expr *map_choice(const char *call, rd_expr *const *x)
{
    bool           weak;
    const rd_dtype type  = rd_joint_type(/*n=*/2, x + 1, &weak);
    rd_expr       *in[3] = { rd_plain_cast(x[0], RD_BOOL), cast_fitting(x[1], type, call),
                             cast_fitting(x[2], type, call) };

    return in[0] && in[1] && in[2] ? map_node(RD_OP_where, type, call, 3, in) : NULL;
}

/* Applies an operator to plain (real, dense) operands under a type rule: finds the type in which it
 * works, casts the operands, and makes the node.  Special cases come first: rounding of ints
 * (nothing to do), comparisons of u64 with signed ints, constants, powers by products. */
rd_expr *rd_plain_rule(rd_op op, rd_rule rule, const char *call, int n, rd_expr *const *x)
{
    rd_expr *in[RD_MOST_ARITY], *folded;
    bool     weak;

    assert(n >= 1 && n <= RD_MOST_ARITY);
    if (!rd_operands(call, n, x))
        return NULL;
    rd_dtype type = rd_joint_type(n, x, &weak);
    if (rule == RD_RULE_ROUND && rd_dtype_kind(type) != RD_KIND_FLOAT)
        return x[0];
    if (!rd_rule_takes(rule, type, x[0]->ctx, call))
        return NULL;
    if (rule == RD_RULE_COMPARE && rd_is_beside_u64(x))
        return rd_compare_ints(op, call, x);
    if (op == RD_OP_bit_not && type == RD_BOOL) /* a bool has one bit */
        return map_node(RD_OP_not, type, call, 1, x);
    type = rd_working_type(rule, type);
    if (op == RD_OP_nextafter && rd_dtype_is_narrow_float(type))
        return rd_fail(x[0]->ctx, RD_ERR_TYPE,
                       "%s: neighbours of %s, which is done in f32, are not known", call,
                       rd_dtype_name(type));
    if (weak && (folded = rd_map_of_numbers(op, type, n, x)))
        return folded;
    for (int i = 0; i < n; i++)
        if (!(in[i] = cast_fitting(x[i], type, call)))
            return NULL;
    if (op == RD_OP_pow && n == 2 && rd_is_product(in[1]))
        return rd_plain_power(call, in[0], in[1]);
    return map_node(op, rd_gives_bool(rule) ? RD_BOOL : type, call, n, in);
}

/* Applies an operator of the table (ops.def) to plain (real, dense) operands. */
rd_expr *rd_plain_map(rd_op op, const char *call, int n, rd_expr *const *x)
{
    if (op == RD_OP_where)
        return rd_operands(call, n, x) ? map_choice(call, x) : NULL;
    assert(rd_op_table[op].rule != RD_RULE_SPECIAL && rd_op_table[op].arity == n);
    return rd_plain_rule(op, rd_op_table[op].rule, call, n, x);
}
