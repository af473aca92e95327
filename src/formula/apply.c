/* apply.c - evaluates calls and reductions: finds the function, reads its arguments, builds the
 * value. A *whole array* is a value without indices. The *caller* is the program that gave the
 * text; it may know more functions. */
#include "formula/formula.h"

/* Evaluates the operands of a function that only the caller (the program that gave the text) may
 * know: arrays without indices, no keywords. Returns their number; -1: an operand is of another
 * kind, or has failed. p->first is the first argument and q->next the one behind it. `labelled`:
 * it contains an index; v.n counts the value's indices. */
static int read_whole_operands(rd_formula_reader *r, const rd_phrase *p, rd_expr *x[RD_ARGUMENTS])
{
    int n = 0;

    for (rd_phrase *q = p->first; q; q = q->next) {
        const rd_labelled v = q->kind == RD_PHRASE_KEYWORD || q->labelled || n == RD_ARGUMENTS
                                  ? (rd_labelled){ 0 }
                                  : rd_formula_value(r, q);

        if (!v.x || v.n)
            return -1;
        x[n++] = v.x;
    }
    return n;
}

/* Lets the caller (the program that gave the text) evaluate a function that the library does not
 * know, such as month(time). Records that there is no such function if the caller has none
 * either. `made` is its value. NULL without a failure, or arguments that it does not take (n is
 * -1): it has no such function. */
static rd_labelled ask_caller(rd_formula_reader *r, const rd_phrase *p)
{
    rd_expr  *x[RD_ARGUMENTS], *made = NULL;
    const int n = rd_formula_may_ask(r, p) ? read_whole_operands(r, p, x) : -1;

    if (n >= 0)
        made = rd_formula_ask(r, p, n, x);
    return made || r->failed ? (rd_labelled){ .x = made } : rd_formula_no_function(r, p);
}

/* Reads the arguments of a call, and makes the call. It is not inlined: rd_arguments takes some
 * KiB of stack, and operators, which do not need it, may be nested far deeper than calls.
 * callee->list is the list of parameters; NULL: there is none, as of size(x), and a stays unset. */
__attribute__((noinline)) static rd_labelled call(rd_formula_reader *r, const rd_phrase *p,
                                                  const rd_callee *callee)
{
    rd_arguments a;

    if (callee->list && !rd_formula_arguments(r, p, callee->list, &a))
        return (rd_labelled){ 0 };
    return rd_formula_call(r, p, callee, &a);
}

/* Builds name[indices, keywords] body as a call with copies of its pieces. It is not inlined, as
 * rd_arguments takes some KiB of stack. x is NULL after an error. b is the call, and
 * rd_formula_bracket_list() the list of its parameters. */
__attribute__((noinline)) static rd_labelled reduce_indices(rd_formula_reader *r,
                                                            const rd_phrase   *p)
{
    rd_arguments a;
    rd_bracket   b;

    if (!rd_formula_bracket(r, p, &b) ||
        !rd_formula_arguments(r, &b.call, rd_formula_bracket_list(r, p), &a))
        return (rd_labelled){ 0 };
    return rd_formula_reduce_indices(p, &a);
}

/* Builds sum[indices] of a product of sparse arrays as one contraction (as einsum), which stays
 * sparse. x NULL: it is no such sum, or an error is recorded. n is the number of factors, 0: p
 * is no sum of a product; v[k] is the value of factor k. */
static rd_labelled sparse_sum(rd_formula_reader *r, rd_phrase *p)
{
    rd_phrase  *factor[RD_MOST_FACTORS];
    rd_labelled v[RD_MOST_FACTORS];
    const int   n = rd_formula_factors(r, p, factor);

    for (int k = 0; k < n; k++)
        if (!(v[k] = rd_formula_value(r, factor[k])).x)
            return (rd_labelled){ 0 };
    return n ? rd_formula_sparse_sum(r, p, n, v) : (rd_labelled){ 0 };
}

/* Evaluates a call or a reduction: a contraction of sparse arrays first, then functions of the
 * library, then those of the caller. `plain` is the call without the "nan" of nanmean(x). x is
 * NULL after an error. */
rd_labelled rd_formula_apply(rd_formula_reader *r, rd_phrase *p)
{
    rd_phrase plain;

    if (p->kind == RD_PHRASE_REDUCE) {
        const rd_labelled sum = sparse_sum(r, p);

        return sum.x || r->failed ? sum : reduce_indices(r, p);
    }
    if (rd_formula_without_nan(r, p, &plain))
        p = &plain;
    const rd_callee callee = rd_formula_callee(r, p);
    if (r->failed)
        return (rd_labelled){ 0 };
    return callee.kind == RD_CALLEE_UNKNOWN ? ask_caller(r, p) : call(r, p, &callee);
}
