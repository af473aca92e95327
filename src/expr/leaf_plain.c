/* leaf_plain.c - leaves of real elements in memory, with axes that begin at 0. */
#include "expr/plain.h"
#include <string.h>

/* Checks an array's descriptor and fills in the facts of its leaf (strides in elements, device),
 * except the address of the data.  False after recording for `call` what is wrong. */
bool rd_leaf_facts_of(rd_ctx *ctx, const rd_array *array, const char *call, rd_leaf_facts *facts)
{
    memset(facts, 0, sizeof *facts);
    if (!array) {
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: the array is NULL", call);
        return false;
    }
    facts->device = array->device;
    return rd_array_layout(ctx, array, call, facts->stride);
}

/* Makes the LEAF node of an array in memory, or of a named input, with these facts; type and shape
 * are the array's. */
rd_expr *rd_leaf_node(rd_ctx *ctx, const rd_array *array, const rd_leaf_facts *facts)
{
    return rd_node(&(rd_expr){ .ctx    = ctx,
                               .kind   = RD_EXPR_LEAF,
                               .type   = array->type,
                               .rank   = array->shape.n,
                               .device = array->device,
                               .extent = array->shape.at },
                   facts, sizeof *facts);
}

/* Makes the leaf of an array of real elements, with axes that begin at 0, after checking layout and
 * address. */
rd_expr *rd_plain_leaf(rd_ctx *ctx, const rd_array *array, const char *call)
{
    /* an address for empty arrays; not NULL, which means an input */
    static const max_align_t nowhere;
    rd_leaf_facts            facts;

    if (!rd_leaf_facts_of(ctx, array, call, &facts) || !rd_array_readable(ctx, array, call))
        return NULL;
    facts.data = rd_points(array->shape.n, array->shape.at) == 0 ? &nowhere : array->in;
    return rd_leaf_node(ctx, array, &facts);
}

/* Makes the leaf again with one more fact: all its elements are known to be indices below `below`,
 * so that gathers by it need no checks.  A leaf that has such a bound stays as it is. */
rd_expr *rd_indices_below(rd_expr *leaf, int64_t below)
{
    rd_leaf_facts facts = *leaf->as.leaf;

    if (facts.below)
        return leaf;
    facts.below         = below;
    rd_expr *const made = rd_node(&(rd_expr){ .ctx    = leaf->ctx,
                                              .kind   = RD_EXPR_LEAF,
                                              .type   = leaf->type,
                                              .rank   = leaf->rank,
                                              .device = leaf->device,
                                              .extent = leaf->extent },
                                  &facts, sizeof facts);
    if (made) {
        made->ascends = leaf->ascends; /* begins of rows lie behind the same memory */
        made->pieces  = leaf->pieces;
    }
    return made;
}
