/* fission_points.c - Decides which statements end a vector loop, as they process a whole strip
 * between arrays. */
#include "kernels/pass/fission_points.h"
#include "kernels/loop/intervals.h"

/* Returns the LET that makes operand k of a value. */
static const rd_tree_value *operand_of(const rd_schedule *t, const rd_tree_value *let, int32_t k)
{
    return &t->let[t->operand[let->first + k]];
}

/* True if the value is a floored quotient or remainder of ints by a constant above 0.  Operand 1
 * is the divisor; compilers turn the division into a product. */
bool rd_divides_by_known(const rd_schedule *t, const rd_tree_value *let)
{
    const rd_tree_value *by =
        let->kind == RD_I_MAP && let->n > 1 ? operand_of(t, let, /*k=*/1) : NULL;

    return by && by->kind == RD_I_CONST &&
           (let->op == RD_OP_floordiv || let->op == RD_OP_remainder) &&
           rd_dtype_kind(let->type) != RD_KIND_FLOAT && let->type != RD_BOOL && by->word.i64 > 0;
}

/* True if the value is random 64-bit words (the generator Philox) with a constant key, operand 1.
 * Then one function draws all words of a strip from their counters, operand 0. */
bool rd_draws_words_of_strip(const rd_schedule *t, const rd_tree_value *let)
{
    return let->kind == RD_I_MAP && let->op == RD_OP_philox && let->type == RD_U64 &&
           operand_of(t, let, /*k=*/1)->kind == RD_I_CONST;
}

/* True if no vector instruction computes the value, so that it needs a loop by call (one call in
 * the generated C). Such are a user's function, a cast from float that may exceed 32 bits, and an
 * operator that calls a function for some elements. exp counts always, as this library's code
 * computes it for a whole strip (a range that vector loops visit). */
bool rd_let_needs_fission(const rd_schedule *t, const rd_tree_value *let)
{
    if (let->kind == RD_I_CALL)
        return true;
    if (let->kind == RD_I_CAST) /* vectors do it if the values are bounded */
        return rd_narrows_float(let) && !rd_narrows_bounded(t, let);
    return let->kind == RD_I_MAP && !rd_divides_by_known(t, let) &&
           (let->op == RD_OP_exp || rd_draws_words_of_strip(t, let) ||
            rd_op_calls(let->op, let->type));
}

/* True if the statement makes a value that no vector instruction computes, or is a step that takes
 * an exponential, such as of log-sum-exp. */
bool rd_stmt_needs_fission(const rd_schedule *t, int32_t stmt)
{
    const rd_stmt *s = &t->stmt[stmt];

    if (s->kind == RD_S_LET)
        return rd_let_needs_fission(t, &t->let[s->value]);
    return s->kind == RD_S_STEP && rd_has_exponential(&t->fold[s->fold].emit);
}
