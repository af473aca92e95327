/* built.c - builds arrays before the statement that needs their shapes.
 *
 * size(x) is a whole number that may set a range or a shape, so x is built first. Arrays that
 * are read at indices are built before the extents of the indices are found. */
#include "formula/formula.h"

/* Builds the operand x of every size(x) and len(x) in the tree p, unless it has indices, because
 * its extents may set a range or a shape. False after an error. p->first is the first operand,
 * and q->next the one behind it; `body` is that of a reduction. `labelled`: the operand contains
 * an index. rd_formula_value() keeps the value in the piece. */
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

/* Builds the operand of every size(x) and len(x) in a statement and in its ranges of indices. False
 * after an error. s->index is the list of the left side's indices, NULL without any; s->tree is
 * the right side. */
bool rd_formula_build_sized(rd_formula_reader *r, rd_statement *s)
{
    return (!s->index || build_sized(r, s->index)) && build_sized(r, s->tree);
}

/* Builds every array that is read at indices, x[i, j], because the indices get their extents
 * from it. False after an error. r->indexed_arrays is the list of these pieces, linked by `use`;
 * the array is `first`. */
bool rd_formula_build_read(rd_formula_reader *r)
{
    for (rd_phrase *use = r->indexed_arrays; use; use = use->next_indexed)
        if (!rd_formula_value(r, use->first).x)
            return false;
    return true;
}
