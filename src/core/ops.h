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
    RD_RULE_SPECIAL
} rd_rule;

typedef struct rd_op_info {
    const char *name;
    int         arity;
    rd_rule     rule;
    float       cost;
} rd_op_info;

extern const rd_op_info rd_op_table[RD_N_OPS];
/* The operator of that name, or -1. */
int rd_op_find(const char *name, size_t length);
#endif
