/* narrow_fixed.c - finds values that keep their types, however small their ints are. */
#include "eval/collect/narrow.h"

static bool is_float(rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_FLOAT;
}

/* Fixes the factors of a product: a library multiplies matrices in the type that they had. */
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

/* Fixes results, parts of concatenations, rows to sort, and indices of gathers. */
bool *rd_fixed_types(const rd_graph *g)
{
    bool *fixed = rd_pool_get(g->pool, (size_t)g->n_value * sizeof *fixed);

    for (int i = 0; fixed && i < g->n_value; i++) {
        const rd_value *v = &g->value[i];

        if (v->kind == RD_VALUE_REDUCE)
            fix_factors(g, v, 1, fixed);
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
