/* price_statement.c - the time of one element of a statement: by vectors if it varies with a
 * vector loop around, else by itself.
 *
 * Words. A strip is a range of neighbouring indices of one axis, which vector loops visit. */
#include "kernels/loop/price_statement.h"

/* Adds the time of a value: a LOAD counts as a load, any other value as arithmetic. */
static void add_let(const rd_price_site *at, int32_t stmt, bool vector, rd_unit_ns *e)
{
    const rd_tree_value *let = &at->t->let[at->t->stmt[stmt].value];

    if (let->kind == RD_I_LOAD)
        rd_price_access(at, stmt, let->type, vector, &e->loads, e);
    else
        e->arithmetic += rd_value_ns(at, let, vector);
}

/* Adds the time of one element of a statement to the units that it keeps busy. A value that does
 * not vary with the vector loop around is made once for a strip of 64 elements (RD_PRICED_STRIP),
 * so a 64th counts. */
void rd_price_statement(const rd_price_site *at, int32_t stmt, rd_unit_ns *effort)
{
    const rd_stmt *s         = &at->t->stmt[stmt];
    const bool     in_vector = at->vector >= 0;
    rd_unit_ns     alone     = { 0 };
    bool           vector    = in_vector;

    switch (s->kind) {
    case RD_S_LET:
        vector = in_vector && at->varies[s->value];
        add_let(at, stmt, vector, &alone);
        break;
    case RD_S_STORE:
        rd_price_access(at, stmt, at->t->let[s->x].type, vector, &alone.stores, &alone);
        break;
    case RD_S_STEP:
    case RD_S_PREFIX: rd_price_step(at, stmt, vector, &alone); break;
    case RD_S_PUSH_IF_LAST:
    case RD_S_PUSH: rd_price_block_end(at, s, &alone); break;
    case RD_S_SORT:
        alone.arithmetic += rd_sorting_ops(&at->t->p->sorting[s->arg]) * at->s->one_add;
        break;
    default:
        if (s->fold >= 0)
            rd_price_fold_end(at, s, vector, &alone);
    }
    const double share = in_vector && !vector ? 1.0 / RD_PRICED_STRIP : 1;

    effort->arithmetic += share * alone.arithmetic;
    effort->loads += share * alone.loads;
    effort->stores += share * alone.stores;
    effort->chain += share * alone.chain;
    effort->entries += share * alone.entries;
}
