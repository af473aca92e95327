/* eval_positions.c - positions and edges of a tree in its shadow run, and whether the run goes
 * on. */
#include "kernels/loop/shadow/run_tree.h"

bool rd_shadow_require(rd_shadow_task *r, bool holds)
{
    r->failed |= !holds;
    return holds;
}

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

static int64_t rounded(int64_t at, int64_t first, int64_t by, bool up)
{
    const int64_t past = ((at - first) % by + by) % by;

    return past == 0 ? at : up ? at - past + by : at - past;
}

int64_t rd_shadow_edge(const rd_shadow_task *r, const rd_shadow_copy *c, const rd_edge *edge,
                       bool greatest)
{
    int64_t found = 0;

    for (int32_t k = 0; k < edge->n; k++) {
        const rd_edge_part *part = &edge->part[k];
        int64_t             at   = rd_shadow_position(r, c, &part->at);

        if (part->by > 1)
            at = rounded(at, rd_shadow_position(r, c, &part->first), part->by, part->up);
        if (k == 0 || (greatest ? at > found : at < found))
            found = at;
    }
    return found;
}

rd_shadow_coords rd_shadow_coords_of(const rd_shadow_task *r, const rd_shadow_copy *c,
                                     const rd_fold_at *of)
{
    return (rd_shadow_coords){ rd_shadow_position(r, c, &of->cell),
                               rd_shadow_position(r, c, &of->lane),
                               rd_shadow_position(r, c, &of->outer),
                               rd_shadow_position(r, c, &of->index) };
}
