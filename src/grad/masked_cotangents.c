/* masked_cotangents.c - cotangents that are 0 where a choice takes its other branch:
 *
 *     where(c, g, 0)
 *
 * Rules of maps are linear in the cotangent, so they run on g, and the choice stays outermost.  So
 * a branch that is not taken adds 0 and not NaN, as 0 * inf would, and a sum of such cotangents
 * over pairs sees the mask: its loops skip pairs that are masked, as those of the value do.  A
 * factor that is the same for all terms multiplies the sum, unless that is 0 (factors.c). */
#include "expr/maps.h"
#include "grad/derivative.h"

/* True for the number 0, alone or repeated. */
static bool is_zero(const rd_expr *x)
{
    while (x->kind == RD_EXPR_VIEW)
        x = x->in[0];
    return x->kind == RD_EXPR_NUMBER && rd_word_to_double(x->as.number->value, x->type) == 0;
}

/* Splits a cotangent where(c, x, 0) or where(c, 0, x) into the choice and x; the choice is NULL if
 * g is neither. `branch` is the operand number of x in the choice, 1 or 2; 0: none. */
rd_masked rd_grad_unmasked(rd_expr *g)
{
    const bool choice = g->kind == RD_EXPR_MAP && g->op == RD_OP_where;

    if (choice && is_zero(g->in[2]))
        return (rd_masked){ g, g->in[1], 1 };
    if (choice && is_zero(g->in[1]))
        return (rd_masked){ g, g->in[2], 2 };
    return (rd_masked){ NULL, g, 0 };
}

/* True if two cotangents are masked by one condition, and on the same side. */
bool rd_grad_same_mask(const rd_masked *a, const rd_masked *b)
{
    return a->choice && b->choice && a->choice->in[0] == b->choice->in[0] && a->branch == b->branch;
}

/* Returns x masked as m is: where(c, x, 0), or where(c, 0, x) if m->branch is 2. An x that is
 * masked so already stays, and so does x if m has no choice (NULL). NULL after a failure. */
rd_expr *rd_grad_masked(const char *call, const rd_masked *m, rd_expr *x)
{
    rd_expr *zero;

    if (!x || !m->choice)
        return x;
    const rd_masked own = rd_grad_unmasked(x);
    if (rd_grad_same_mask(m, &own))
        return x;
    zero = rd_grad_zeros(x);
    return zero ? map_where(call, m->choice->in[0], m->branch == 1 ? x : zero,
                            m->branch == 1 ? zero : x)
                : NULL;
}
