/* narrow_fixed.c - finds values that keep their types, however small their ints are.
 *
 * Fields. A READ is of a leaf's `slot`, or of another value, its `target`, -1: it is not. An
 * operand in[k] of -1 is not there. A term of a subscript with `axis` -1 is a gathered index, the
 * value of an array. */
#include "eval/collect/narrow.h"

/* True for floats of any size. */
static bool is_float(rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_FLOAT;
}

/* Marks stored float arrays that are factors of v, a reduction or product, as fixed: a library
 * multiplies matrices in the types that they have. `depth`: how many levels of multiplications
 * below v are looked through. */
static void fix_factors(const rd_graph *g, const rd_value *v, int depth, bool *fixed)
{
    for (int k = 0; k < v->n_in && k < 2; k++) {
        const rd_value *x = v->in[k] >= 0 ? &g->value[v->in[k]] : NULL;

        if (x && x->kind == RD_VALUE_READ && x->target >= 0)
            fixed[x->target] |= is_float(x->type);
        else if (x && depth && x->kind == RD_VALUE_MAP && x->op == RD_OP_mul)
            fix_factors(g, x, depth - 1, fixed);
    }
}

/* Returns by value: true if it keeps its type. These are results (out >= 0), parts of
 * concatenations (into >= 0), rows to sort, indices of gathers (terms with axis -1), and factors
 * of sums of products. NULL: no memory. fix_factors() marks these factors. A sort keeps the type
 * of the array that it reads, its target. */
bool *rd_fixed_types(const rd_graph *g)
{
    bool *fixed = rd_pool_get(g->pool, (size_t)g->n_value * sizeof *fixed);

    for (int i = 0; fixed && i < g->n_value; i++) {
        const rd_value *v = &g->value[i];

        if (v->kind == RD_VALUE_REDUCE)
            fix_factors(g, v, /*depth=*/1, fixed);
        fixed[i] |= v->out >= 0 || v->into >= 0 || v->row;
        if (v->kind == RD_VALUE_SORT && v->target >= 0)
            fixed[v->target] = true;
        for (int d = 0; d < v->n_at; d++)
            for (int t = 0; t < v->at[d].n_term; t++)
                if (v->at[d].term[t].axis < 0)
                    fixed[v->at[d].term[t].value] = true;
    }
    return fixed;
}
