/* rules.c - which rule a kind of node has. */
#include "grad/derivative.h"

/* Kinds without a row do not change (numbers, coordinates), or have no derivative yet. */
static const rd_grad_rule *const rules[] = {
    [RD_EXPR_VIEW] = &rd_view_grad,     [RD_EXPR_RESHAPE] = &rd_reshape_grad,
    [RD_EXPR_TAKE] = &rd_take_grad,     [RD_EXPR_CONCAT] = &rd_concat_grad,
    [RD_EXPR_MAP] = &rd_map_rule_grad,  [RD_EXPR_SORT] = &rd_sort_grad,
    [RD_EXPR_REDUCE] = &rd_reduce_grad, [RD_EXPR_SCAN] = &rd_scan_grad,
    [RD_EXPR_CALL] = &rd_call_grad,
};

/* The rule of the node's kind; NULL after recording that it has no derivative. */
const rd_grad_rule *rd_grad_rule_of(const rd_grad_step *s)
{
    const rd_expr_kind kind = s->y->kind;

    if (kind < sizeof rules / sizeof *rules && rules[kind])
        return rules[kind];
    return rd_fail(s->ctx, RD_ERR_ARGUMENT, "%s: %s has no derivative yet", s->call,
                   rd_expr_kind_name(kind));
}
