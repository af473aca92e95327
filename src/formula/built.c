/* built.c - arrays whose shapes the text asks for, built before what asks: what has a size, as in
 * size(x), which may be said wherever a whole number is; and what indices are read at. */
#include "formula/formula.h"

static bool build_sized(rd_formula_reader *r, rd_phrase *p)
{
    for (rd_phrase *q = p->first; q; q = q->next)
        if (!build_sized(r, q))
            return false;
    if (p->body && !build_sized(r, p->body))
        return false;
    if (!rd_formula_is_size(r, p) || !p->first || p->first->labelled)
        return true;
    return rd_formula_value(r, p->first).x != NULL;
}

bool rd_formula_build_sized(rd_formula_reader *r, rd_statement *s)
{
    return (!s->index || build_sized(r, s->index)) && build_sized(r, s->tree);
}

bool rd_formula_build_read(rd_formula_reader *r)
{
    for (rd_phrase *use = r->uses; use; use = use->use)
        if (!rd_formula_value(r, use->first).x)
            return false;
    return true;
}
