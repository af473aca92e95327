/* price_statement.c - the time of one element of a statement: by vectors if it varies with a
 * vector loop around, else by itself.
 *
 * Words. A strip is a range of neighbouring indices of one axis, which vector loops visit. */
#include "kernels/loop/price_statement.h"

/* Adds the time of a value: a LOAD counts as a load, any other value as arithmetic. */
static void add_let(const rd_price_site *at, int32_t stmt, bool vector, rd_unit_ns *e)
{
    const rd_let *let = &at->t->let[at->t->stmt[stmt].value];

    if (let->kind == RD_I_LOAD)
        rd_price_access(at, stmt, let->type, vector, &e->loads, e);
    else
        e->arithmetic += rd_value_ns(at, let, vector);
}

/* Adds the time of one element of a statement to the units that it keeps busy.  In a vector loop, a
 * value that does not vary with the loop is made once for a strip. */
void rd_price_statement(const rd_price_site *at, int32_t stmt, rd_unit_ns *effort)
{
    const rd_stmt *s      = &at->t->stmt[stmt];
    const bool     in     = at->vector >= 0;
    rd_unit_ns     own    = { 0 };
    bool           vector = in;

    switch (s->kind) {
    case RD_S_LET:
        vector = in && at->varies[s->value];
        add_let(at, stmt, vector, &own);
        break;
    case RD_S_STORE:
        rd_price_access(at, stmt, at->t->let[s->x].type, vector, &own.stores, &own);
        break;
    case RD_S_STEP:
    case RD_S_PREFIX: rd_price_step(at, stmt, vector, &own); break;
    case RD_S_PUSH_IF_LAST:
    case RD_S_PUSH: rd_price_block_end(at, s, &own); break;
    case RD_S_SORT:
        own.arithmetic += rd_sorting_ops(&at->t->p->sorting[s->arg]) * at->s->one_add;
        break;
    default:
        if (s->fold >= 0)
            rd_price_fold_end(at, s, vector, &own);
    }
    const double part = in && !vector ? 1.0 / RD_PRICED_STRIP : 1;

    effort->arithmetic += part * own.arithmetic;
    effort->loads += part * own.loads;
    effort->stores += part * own.stores;
    effort->chain += part * own.chain;
    effort->entries += part * own.entries;
}
