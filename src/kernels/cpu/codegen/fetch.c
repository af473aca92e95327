/* fetch.c - rows that are gone over more than once, or in parts, of which several loops compute: while
 * they do, memory would have nothing to do, so the next row is fetched. */
#include "kernels/cpu/codegen/parts.h"
#include "core/caches.h"
#include <inttypes.h>

/* Loads of the same elements in loops of the same row before the region. */
static int32_t loads_before(const rd_codegen *n, int32_t load, int32_t row)
{
    const rd_address *at    = &n->p->address[n->p->inst[load].arg];
    int32_t           count = 0;

    for (int32_t i = n->p->loop[row].begin; i < n->here->from; i++)
        count += n->p->inst[i].kind == RD_I_LOAD &&
                 n->p->address[n->p->inst[i].arg].slot == at->slot &&
                 rd_same_address(&n->p->address[n->p->inst[i].arg], at);
    return count;
}

void rd_add_fetch(rd_codegen *n, int32_t load)
{
    const rd_address *at    = &n->p->address[n->p->inst[load].arg];
    const bool        parts = n->part >= 0;
    const int32_t     row   = parts                ? n->part
                              : n->here->loop >= 0 ? n->p->loop[n->here->loop].parent
                                                   : -1;
    const int64_t     coef  = row >= 0 ? rd_coef(at, n->p->loop[row].axis) : 0;
    const double      bytes = (double)rd_reach(n->p, n->here->axis) * rd_dtype_size(at->type);

    if (coef == 0 || n->unrolled || rd_coef(at, n->here->axis) != 1 || n->stored[at->slot] ||
        bytes * 4 > RD_L2_BYTES || bytes * (double)rd_trips(n->p, row) < RD_CACHED_BYTES ||
        loads_before(n, load, row) != (parts ? 0 : 1))
        return;
    for (int32_t k = 0; k < at->n_add; k++)
        if (at->add[k].axis < 0)
            return;
    rd_text_add(&n->before, "%*sFETCH((const %s *)m%" PRId32 " + ", 4 * n->indent, "",
                rd_memory_type(at->type), at->slot);
    rd_position_of_strip(n, &n->before, at);
    rd_text_add(&n->before, " + ");
    rd_number_text(n, &n->before, coef);
    rd_text_add(&n->before, ", n)\n");
}
