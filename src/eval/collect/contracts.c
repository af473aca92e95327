/* contracts.c - decides which products are added with one rounding (fma contraction).  Such
 * products are never materialised for the sum. */
#include "eval/collect/collect.h"

const rd_expr *rd_product_of(const rd_expr *e)
{
    if (e->kind == RD_EXPR_VIEW)
        e = e->in[0];
    return e->kind == RD_EXPR_MAP && (e->op == RD_OP_mul || e->op == RD_OP_square) ? e : NULL;
}

bool rd_contracts(const rd_expr *e)
{
    return e->kind == RD_EXPR_MAP && e->op == RD_OP_add &&
           rd_dtype_kind(e->type) == RD_KIND_FLOAT &&
           !rd_product_of(e->in[0]) != !rd_product_of(e->in[1]);
}

bool rd_sums_products(const rd_expr *e)
{
    return e->kind == RD_EXPR_REDUCE &&
           rd_reducer_adds_elements((rd_reducer_id)e->as.fold->reducer) &&
           e->as.fold->law != RD_LAW_serial && !e->in[2] &&
           rd_dtype_kind(e->in[0]->type) == RD_KIND_FLOAT && rd_product_of(e->in[0]);
}

const rd_expr *rd_contracted(const rd_expr *e, int operand)
{
    const bool whole = rd_sums_products(e) ? operand == 0 : rd_contracts(e);

    return whole ? rd_product_of(e->in[operand]) : NULL;
}
