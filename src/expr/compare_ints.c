/* compare_ints.c - comparisons of u64 with signed ints.  No int type holds both, and f64 cannot
 * tell 2^53 from 2^53 + 1.  So they are compared as u64, and negative values are handled apart.
 *
 *     i < u  ->  (i < 0) or (u64(i) < u)          i > u  ->  (i >= 0) and (u64(i) > u)
 *
 * Words. A weak number takes the type of the operands beside it; a strong one keeps its own. */
#include "expr/plain.h"

/* True if x is a signed int with a type of its own; a weak number would take the other's type. */
static bool is_signed(const rd_expr *x)
{
    return rd_dtype_kind(x->type) == RD_KIND_INT && !x->weak;
}

/* True if one of two operands is u64 and the other a signed int that is not weak (a plain number,
 * which would become u64). */
bool rd_is_beside_u64(rd_expr *const *x)
{
    return (is_signed(x[0]) && x[1]->type == RD_U64) || (x[0]->type == RD_U64 && is_signed(x[1]));
}

/* True if the comparison holds for a negative number beside any u64; `first`: the signed operand is
 * the first. -1 < u, -1 <= u, -1 != u. */
static bool is_true_of_negative(rd_op op, bool first)
{
    return op == RD_OP_ne || op == (first ? RD_OP_lt : RD_OP_gt) ||
           op == (first ? RD_OP_le : RD_OP_ge);
}

/* Compares u64 with signed ints exactly: both as u64, corrected where the signed operand i is
 * negative. */
rd_expr *rd_compare_ints(rd_op op, const char *call, rd_expr *const *x)
{
    const bool     first = is_signed(x[0]);
    rd_expr *const i     = x[first ? 0 : 1];
    rd_expr       *in[2] = { rd_plain_cast(x[0], RD_U64), rd_plain_cast(x[1], RD_U64) };
    rd_expr *const zero  = rd_int(i->ctx, 0);

    if (!in[0] || !in[1] || !zero)
        return NULL;
    if (is_true_of_negative(op, first))
        return plain_2(RD_OP_or, call, plain_2(RD_OP_lt, call, i, zero),
                       plain_2(op, call, in[0], in[1]));
    return plain_2(RD_OP_and, call, plain_2(RD_OP_ge, call, i, zero),
                   plain_2(op, call, in[0], in[1]));
}
