/* ops.c - the rows of ops.def as a table. */
#include "core/ops.h"
#include <string.h>

/* C_NAME(of_c) is the C function that computes the same as an operator of that way (by): its name,
 * or NULL if there is none with the same bits. */
#define C_NONE(of_c) NULL
#define C_ROWS(of_c) NULL
#define C_UNIT(of_c) #of_c
#define C_LIBM(of_c) #of_c
#define C_OURS(of_c) #of_c
#define C_OWN(of_c)  NULL
#define C_HARD(of_c) #of_c
#define ROW(name, arity, rule, cost, by, of_c, ...) \
    { #name, arity, RD_RULE_##rule, cost, RD_BY_##by, C_##by(of_c) },

const rd_op_info rd_op_table[RD_N_OPS] = {
#define RD_OP   ROW
#define RD_TEST ROW
#include "core/ops.def"
    { "where", 3, RD_RULE_SPECIAL, 1, RD_BY_NONE, NULL },
    { "cast", 1, RD_RULE_SPECIAL, 1, RD_BY_NONE, NULL },
    { "index", 1, RD_RULE_SPECIAL, 2, RD_BY_NONE, NULL },
};

/* True if the text is the name, which has `length` bytes without a NUL. */
static bool is_named(const char *text, const char *name, size_t length)
{
    return text && strlen(text) == length && memcmp(text, name, length) == 0;
}

/* The operator with that name in function text; -1: there is none. */
int rd_op_find(const char *name, size_t length)
{
    for (int op = 0; op < RD_N_OPS; op++)
        if (is_named(rd_op_table[op].name, name, length))
            return op;
    return -1;
}

/* The operator that computes the same as the C function of that name; -1: there is none. of_c is
 * NULL for operators without such a function. */
int rd_op_of_c(const char *name, size_t length)
{
    for (int op = 0; op < RD_N_OPS; op++)
        if (is_named(rd_op_table[op].of_c, name, length))
            return op;
    return -1;
}
