/* compare_ints.c - u64 beside signed ints.  No int type holds both, and in f64, where their sums are
 * made, 2^53 and 2^53 + 1 are one number.  So they are compared as u64, and what is below 0 on its
 * own. */
#include "expr/plain.h"

static bool is_signed(const rd_expr *x)
{
    return rd_dtype_kind(x->type) == RD_KIND_INT && !x->weak;
}

bool rd_is_beside_u64(rd_expr *const *x)
{
    return (is_signed(x[0]) && x[1]->type == RD_U64) || (x[0]->type == RD_U64 && is_signed(x[1]));
}

/* Is the comparison true of what is below 0 and any u64? */
static bool of_negative(rd_op op, bool first)
{
    return op == RD_OP_ne || op == (first ? RD_OP_lt : RD_OP_gt) ||
           op == (first ? RD_OP_le : RD_OP_ge);
}

rd_expr *rd_compare_ints(rd_op op, const char *call, rd_expr *const *x)
{
    const bool     first = is_signed(x[0]);
    rd_expr *const i     = x[first ? 0 : 1];
    rd_expr       *in[2] = { rd_plain_cast(x[0], RD_U64), rd_plain_cast(x[1], RD_U64) };
    rd_expr *const zero  = rd_int(i->ctx, 0);

    if (!in[0] || !in[1] || !zero)
        return NULL;
    if (of_negative(op, first))
        return plain_2(RD_OP_or, call, plain_2(RD_OP_lt, call, i, zero),
                       plain_2(op, call, in[0], in[1]));
    return plain_2(RD_OP_and, call, plain_2(RD_OP_ge, call, i, zero),
                   plain_2(op, call, in[0], in[1]));
}
