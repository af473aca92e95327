/* call_rules.c - derivatives of C functions of the caller: functions that come beside them
 * (rd_fn.derivative). */
#include "expr/maps.h"
#include "expr/origin.h"
#include "grad/derivative.h"
#include <string.h>

/* Returns the change of the result if operand k changes by g: g times the caller's derivative by
 * that operand (rd_fn.derivative), which is called with all operands. NULL after recording that
 * there is none. `derivative` has a function by operand, NULL: none; rd_from_0() takes the
 * operands' origins away, and `slope` is the derivative's value. */
static rd_expr *change_by(rd_grad_step *s, int k, rd_expr *g)
{
    const rd_call_facts *f = s->y->as.call;
    rd_expr             *operand[RD_MOST_IN], *slope;

    if (!f->derivative || !f->derivative[k])
        return rd_fail(s->ctx, RD_ERR_ARGUMENT,
                       "%s: %s is C code, of which no derivative by operand %d is known; write it "
                       "as text or with RD_FN, or give rd_fn.derivative",
                       s->call, f->name, k);
    memcpy(operand, s->y->in, (size_t)s->y->n_in * sizeof *operand);
    if (!rd_from_0(s->y->n_in, operand))
        return NULL;
    slope = rd_mapn_fn(f->derivative[k], (rd_exprs){ operand, s->y->n_in });
    return map_2(RD_OP_mul, s->call, g, rd_cast_to(slope, s->y->type));
}

/* Reverse mode: sets s->change[k] to what the node adds to the cotangent of operand k, the gradient
 * of the scalar result with respect to it. s->g is the node's own cotangent. Only operands of
 * which a change matters (depends) get one. False after a failure. */
static bool pull(rd_grad_step *s)
{
    for (int k = 0; k < s->y->n_in; k++)
        if (s->depends[k] && !(s->change[k] = change_by(s, k, s->g)))
            return false;
    return true;
}

/* Forward mode: returns the tangent of the node, how it changes along the direction: the sum of
 * its changes by the operands' tangents, s->change (NULL: 0). NULL after a failure. */
static rd_expr *push(rd_grad_step *s)
{
    rd_expr *sum = NULL;

    for (int k = 0; k < s->y->n_in; k++) {
        rd_expr *const part =
            s->change[k] ? change_by(s, k, rd_cast_to(s->change[k], s->y->type)) : NULL;

        if (s->change[k] && !part)
            return NULL;
        if (part)
            sum = sum ? map_2(RD_OP_add, s->call, sum, part) : part;
    }
    return sum;
}

const rd_grad_rule rd_call_grad = { pull, push };
