/* ops.h - the operators of ops.def as an enum and a table of facts. */
#ifndef RD_CORE_OPS_H
#define RD_CORE_OPS_H
#include "core/dtype.h"

typedef enum rd_op {
#define RD_OP(name, ...)   RD_OP_##name,
#define RD_TEST(name, ...) RD_OP_##name,
#include "core/ops.def"
    RD_OP_where, /* where(bool, yes, no): its operands have two types, so it has no row      */
    RD_OP_cast,  /* from the operand's type to the node's                                    */
    RD_OP_index, /* made by the evaluator: i64 index checked against param, negatives count from the
                  * end */
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

/* What computes it: ops.def. */
typedef enum rd_by {
    RD_BY_NONE,
    RD_BY_UNIT,
    RD_BY_LIBM,
    RD_BY_OURS,
    RD_BY_OWN,
    RD_BY_HARD,
    RD_BY_ROWS
} rd_by;

typedef struct rd_op_info {
    const char *name;
    int         arity;
    rd_rule     rule;
    float       cost;
    rd_by       by;
    const char *of_c; /* C's function that means the same; NULL */
} rd_op_info;

extern const rd_op_info rd_op_table[RD_N_OPS];
/* The operator of that name, or -1. */
int rd_op_find(const char *name, size_t length);
/* The same for C's name, without the suffix of its type. */
int rd_op_of_c(const char *name, size_t length);

/* Does it take ints alone? */
static inline bool rd_op_of_ints(rd_rule rule)
{
    return rule == RD_RULE_BITS || rule == RD_RULE_INTS || rule == RD_RULE_COUNT;
}

/* May it report what it met of ints: a division by zero? */
static inline bool rd_op_reports(rd_op op, rd_dtype type)
{
    return rd_dtype_kind(type) != RD_KIND_FLOAT &&
           (op == RD_OP_floordiv || op == RD_OP_remainder || op == RD_OP_pow);
}

/* Does it divide floats with a remainder?  Vectors do, but for huge quotients (math_remainder.h). */
static inline bool rd_op_leaves_rest(rd_op op, rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_FLOAT &&
           (op == RD_OP_floordiv || op == RD_OP_remainder || op == RD_OP_fmod);
}

/* Does a loop over it call a function for each element, at least for hard arguments? */
static inline bool rd_op_calls(rd_op op, rd_dtype type)
{
    const rd_by by = rd_op_table[op].by;

    return by == RD_BY_LIBM || by == RD_BY_HARD || by == RD_BY_ROWS || rd_op_reports(op, type);
}
#endif
