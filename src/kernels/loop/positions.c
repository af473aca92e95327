/* positions.c - positions of loop trees: sums of axes and values.
 *
 * A position is an offset plus a sum of terms.  A term is a coefficient times the index of an axis,
 * or times a value that is read at run time. */
#include "kernels/loop/loop.h"

/* Returns a position that is a constant. */
rd_linear rd_linear_of(int64_t offset)
{
    return (rd_linear){ .offset = offset };
}

/* Returns a position with one more term, coef * (index of an axis, or a value). A term of the same
 * axis or value is added up, and dropped if it becomes 0. All terms are written to a new list
 * behind the tree's last one, as other positions may share the old list. */
static rd_linear with_term(rd_schedule *t, rd_linear at, rd_linear_term more)
{
    const int32_t first = t->n_term;

    if (more.coef == 0 || !rd_room_for_terms(t, at.n + 1))
        return at;
    for (int32_t k = 0; k < at.n; k++) {
        rd_linear_term term = t->term[at.first + k];

        if (term.axis == more.axis && (term.axis >= 0 || term.value == more.value)) {
            term.coef += more.coef;
            more.coef = 0;
        }
        if (term.coef)
            t->term[t->n_term++] = term;
    }
    if (more.coef)
        t->term[t->n_term++] = more;
    return (rd_linear){ .offset = at.offset, .first = first, .n = t->n_term - first };
}

/* Returns position + coef * (index that the axis is bound to), as a new position. */
rd_linear rd_linear_plus_axis(rd_schedule *t, rd_linear at, int64_t coef, int32_t axis)
{
    return with_term(t, at, (rd_linear_term){ .axis = axis, .value = -1, .coef = coef });
}

/* Returns position + coef * value, as a new position; the value is an index that is made at run
 * time. */
rd_linear rd_linear_plus_value(rd_schedule *t, rd_linear at, int64_t coef, int32_t value)
{
    return with_term(t, at, (rd_linear_term){ .axis = -1, .value = value, .coef = coef });
}

/* Returns position + coef * other position, term by term, as a new one. */
rd_linear rd_linear_plus(rd_schedule *t, rd_linear at, int64_t coef, rd_linear other)
{
    at.offset += coef * other.offset;
    for (int32_t k = 0; k < other.n && !t->failed; k++) {
        rd_linear_term term = t->term[other.first + k];

        term.coef *= coef;
        at = with_term(t, at, term);
    }
    return at;
}

/* Returns the coefficient of an axis in a position; 0: the position does not have the axis. */
int64_t rd_linear_coef(const rd_schedule *t, const rd_linear *at, int32_t axis)
{
    for (int32_t k = 0; k < at->n; k++)
        if (t->term[at->first + k].axis == axis && axis >= 0)
            return t->term[at->first + k].coef;
    return 0;
}

/* Returns the position with another position `by` put in for the index of the axis. */
rd_linear rd_linear_with(rd_schedule *t, rd_linear at, int32_t axis, rd_linear by)
{
    const int64_t coef = rd_linear_coef(t, &at, axis);

    return coef ? rd_linear_plus(t, rd_linear_plus_axis(t, at, -coef, axis), coef, by) : at;
}

/* True if both have the same offset and the same terms, in any order. */
bool rd_linear_same(const rd_schedule *t, const rd_linear *a, const rd_linear *b)
{
    if (a->offset != b->offset || a->n != b->n)
        return false;
    for (int32_t k = 0; k < a->n; k++) {
        const rd_linear_term *x     = &t->term[a->first + k];
        bool                  found = false;

        for (int32_t j = 0; j < b->n; j++) {
            const rd_linear_term *y = &t->term[b->first + j];

            found |= x->axis == y->axis && x->value == y->value && x->coef == y->coef;
        }
        if (!found)
            return false;
    }
    return true;
}

/* Returns a loop bound that is one position, not rounded. */
rd_edge rd_edge_of(rd_linear at)
{
    return (rd_edge){ .n = 1, .part[0].at = at };
}

/* Adds a part to a loop bound, which is then the greatest (`from`) or the least (`to`) of its
 * parts. A full bound stays as it is. */
void rd_edge_add(rd_edge *edge, rd_linear at)
{
    if (edge->n < RD_MOST_PARTS)
        edge->part[edge->n++] = (rd_edge_part){ .at = at };
}
