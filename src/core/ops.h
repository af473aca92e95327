/* ops.h - the operators of ops.def as an enum and a table of facts. */
#ifndef RD_CORE_OPS_H
#define RD_CORE_OPS_H
#include "core/dtype.h"

typedef enum rd_op {
#define RD_OP(name, ...)   RD_OP_##name,
#define RD_TEST(name, ...) RD_OP_##name,
#include "core/ops.def"
    RD_OP_where, /* where(bool, yes, no): no row, as its operands have two types */
    RD_OP_cast,  /* from the operand's type to the result's */
    /* made by the evaluator: an i64 index checked against an extent; negative ones count from
     * the end */
    RD_OP_index,
    RD_N_OPS,
    RD_OP_none = RD_N_OPS
} rd_op;

typedef enum rd_rule {
    RD_RULE_ARITH,
    RD_RULE_SAME,
    RD_RULE_FLOAT,
    RD_RULE_ROUND,
    RD_RULE_COMPARE,
    RD_RULE_TEST,
    RD_RULE_LOGIC,
    RD_RULE_BITS,
    RD_RULE_INTS,
    RD_RULE_COUNT,
    RD_RULE_SPECIAL
} rd_rule;

/* The way in which an operator of floats is computed: see ops.def. */
typedef enum rd_by {
    RD_BY_NONE,
    RD_BY_UNIT,
    RD_BY_LIBM,
    RD_BY_OURS,
    RD_BY_OWN,
    RD_BY_HARD,
    RD_BY_ROWS
} rd_by;

/* Facts of an operator, from its row in ops.def. */
typedef struct rd_op_info {
    const char *name;  /* in function text */
    int         arity; /* number of operands */
    rd_rule     rule;  /* rule of the result's type */
    float       cost;  /* in additions */
    rd_by       by;    /* what computes it */
    const char *of_c;  /* the C function that computes the same; NULL */
} rd_op_info;

extern const rd_op_info rd_op_table[RD_N_OPS];
/* The operator with that name, or -1. */
int rd_op_find(const char *name, size_t length);
/* The operator with that C name, without the suffix of a type, or -1. */
int rd_op_of_c(const char *name, size_t length);

/* True if operators of that rule take ints only: operations on bits, gcd, counts. */
static inline bool rd_op_of_ints(rd_rule rule)
{
    return rule == RD_RULE_BITS || rule == RD_RULE_INTS || rule == RD_RULE_COUNT;
}

/* True if the operator may report an int error: a division by zero. */
static inline bool rd_op_reports(rd_op op, rd_dtype type)
{
    return rd_dtype_kind(type) != RD_KIND_FLOAT &&
           (op == RD_OP_floordiv || op == RD_OP_remainder || op == RD_OP_pow);
}

/* True if the operator divides floats and needs the remainder, which vectors compute except for
 * huge quotients (kernels/math/math_remainder.h). */
static inline bool rd_op_leaves_rest(rd_op op, rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_FLOAT &&
           (op == RD_OP_floordiv || op == RD_OP_remainder || op == RD_OP_fmod);
}

/* True if a loop over the operator calls a function for each element, at least for hard
 * arguments (those that the vector code cannot do). Such a loop is not vectorised as a whole. */
static inline bool rd_op_calls(rd_op op, rd_dtype type)
{
    const rd_by by = rd_op_table[op].by;

    return by == RD_BY_LIBM || by == RD_BY_HARD || by == RD_BY_ROWS || rd_op_reports(op, type);
}
#endif
