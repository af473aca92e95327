/* ops.c - the rows of ops.def as a table. */
#include "core/ops.h"
#include <string.h>

const rd_op_info rd_op_table[RD_N_OPS] = {
#define RD_OP(name, arity, rule, cost, ...)   { #name, arity, RD_RULE_##rule, cost },
#define RD_TEST(name, arity, rule, cost, ...) { #name, arity, RD_RULE_##rule, cost },
#include "core/ops.def"
    { "where", 3, RD_RULE_SPECIAL, 1 },
    { "cast", 1, RD_RULE_SPECIAL, 1 },
    { "index", 1, RD_RULE_SPECIAL, 2 },
};

int rd_op_find(const char *name, size_t length)
{
    for (int op = 0; op < RD_N_OPS; op++)
        if (strlen(rd_op_table[op].name) == length &&
            memcmp(rd_op_table[op].name, name, length) == 0)
            return op;
    return -1;
}
