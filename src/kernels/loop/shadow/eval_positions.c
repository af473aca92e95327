/* eval_positions.c - evaluates positions and edges of a tree in its shadow run.
 *
 * A copy is one instance of the code, with its own indices and values.  An edge is a bound of a
 * loop.
 *
 * Fields. A term of a position with `axis` -1 is a value, an index that is read at run time.
 *
 * Words. A fold is a reduction or a scan. */
#include "kernels/loop/shadow/run_tree.h"

/* Makes the task fail if the condition does not hold; returns the condition. */
bool rd_shadow_require(rd_shadow_task *r, bool holds)
{
    r->failed |= !holds;
    return holds;
}

/* Returns the value of a position, offset + sum of coef * (index of an axis, or a value), at the
 * indices and values of a copy (one instance of the code). A value of which only the hash is known
 * counts as 0 or 1, by the hash. */
int64_t rd_shadow_position(const rd_shadow_task *r, const rd_shadow_copy *c, const rd_linear *at)
{
    int64_t sum = at->offset;

    for (int32_t k = 0; k < at->n; k++) {
        const rd_linear_term *term = &r->t->term[at->first + k];

        sum += term->coef *
               (term->axis < 0 ? rd_shadow_int(c->value[term->value]) : c->axis[term->axis]);
    }
    return sum;
}

/* Returns `at` rounded down, or up, to first + a multiple of `by`. `past`: its distance from the
 * one below. */
static int64_t rounded(int64_t at, int64_t first, int64_t by, bool up)
{
    const int64_t past = ((at - first) % by + by) % by;

    return past == 0 ? at : up ? at - past + by : at - past;
}

/* Returns the value of a loop bound in a copy (instance of the code): the greatest or the least of
 * its parts, each rounded if by > 1. */
int64_t rd_shadow_edge(const rd_shadow_task *r, const rd_shadow_copy *c, const rd_edge *edge,
                       bool greatest)
{
    int64_t found = 0;

    for (int32_t k = 0; k < edge->n; k++) {
        const rd_edge_part *part = &edge->part[k];
        int64_t             at   = rd_shadow_position(r, c, &part->at);

        if (part->multiple > 1)
            at = rounded(at, rd_shadow_position(r, c, &part->base), part->multiple, part->round_up);
        if (k == 0 || (greatest ? at > found : at < found))
            found = at;
    }
    return found;
}

/* Returns the values of the positions of a fold's element, or of its cell, in a copy (instance of
 * the code). */
rd_shadow_coords rd_shadow_coords_of(const rd_shadow_task *r, const rd_shadow_copy *c,
                                     const rd_fold_at *of)
{
    return (rd_shadow_coords){ rd_shadow_position(r, c, &of->cell),
                               rd_shadow_position(r, c, &of->lane),
                               rd_shadow_position(r, c, &of->lane_line),
                               rd_shadow_position(r, c, &of->index) };
}
