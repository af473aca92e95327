/* contracts.c - decides which products are added with one rounding (fma contraction).  Such
 * products are never materialised for the sum.
 *
 * An fma computes a * b + c with one rounding, so contraction changes bits.  The rules here
 * depend on the expressions alone. */
#include "eval/collect/collect.h"

/* The product (or square) that e is, or that e is a view of; NULL: e is neither. */
const rd_expr *rd_product_of(const rd_expr *e)
{
    if (e->kind == RD_EXPR_VIEW)
        e = e->in[0];
    return e->kind == RD_EXPR_MAP && (e->op == RD_OP_mul || e->op == RD_OP_square) ? e : NULL;
}

/* True if e adds floats, and exactly one of its operands is a product: it is computed as one
 * fma. */
bool rd_contracts(const rd_expr *e)
{
    return e->kind == RD_EXPR_MAP && e->op == RD_OP_add &&
           rd_dtype_kind(e->type) == RD_KIND_FLOAT &&
           !rd_product_of(e->in[0]) != !rd_product_of(e->in[1]);
}

/* True if e is a sum of float products, in free order and without a mask (in[2]): each product is
 * added by an fma. */
bool rd_sums_products(const rd_expr *e)
{
    return e->kind == RD_EXPR_REDUCE &&
           rd_reducer_adds_elements((rd_reducer_id)e->as.fold->reducer) &&
           e->as.fold->law != RD_LAW_serial && !e->in[2] &&
           rd_dtype_kind(e->in[0]->type) == RD_KIND_FLOAT && rd_product_of(e->in[0]);
}

/* The product that e reads by its two factors in place of that operand, since e adds it by an fma;
 * NULL: e reads the operand itself. */
const rd_expr *rd_contracted(const rd_expr *e, int operand)
{
    const bool whole = rd_sums_products(e) ? operand == 0 : rd_contracts(e);

    return whole ? rd_product_of(e->in[operand]) : NULL;
}
