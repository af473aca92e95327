/* wholes.c - rows of small ints, each a strip that one state takes.
 *
 * What comes in any order to one result needs no lanes: compilers keep vectors of sums of their
 * own, and join them in registers, where those of lanes go through memory (a count in a row of 64
 * bytes: 16 ns, so 2.5). */
#include "kernels/cpu/codegen/parts.h"

static bool steps_in(const rd_codegen_fold *f, const rd_region *r)
{
    return f->step >= r->from && f->step < r->to;
}

/* Are its cells of one block each, along the strip? */
static bool may_be_whole(const rd_codegen_fold *f)
{
    const rd_fold *const fold = f->of.fold;

    return f->mode == RD_FOLD_LANES && f->of.n_state == 1 && !f->of.user && !f->room &&
           (f->of.in_32_bits || (rd_small_type(fold->type) && rd_fold_any_grouping(fold)));
}

/* Of elements of 4 bytes, and of halves, which become such, lanes are as fast.  Long loops may end
 * early, and what is stored would want another loop. */
static bool goes_well(const rd_codegen *n, const rd_region *r, const rd_inst *inst)
{
    enum { LONG = 256 };

    switch (inst->kind) {
    case RD_I_LOAD: return rd_small_type(n->p->address[inst->arg].type);
    case RD_I_EXIT: return rd_reach(n->p, r->axis) < LONG;
    case RD_I_STORE: return false;
    default: return true;
    }
}

/* Is a strip of it the axis? */
static bool is_short_row(const rd_codegen *n, const rd_region *r)
{
    if (r->around || n->root == r->axis || rd_reach(n->p, r->axis) != n->p->axis_extent[r->axis])
        return false;
    for (int32_t i = r->from; i < r->to; i++)
        if (!goes_well(n, r, &n->p->inst[i]))
            return false;
    return true;
}

static void take_wholes(rd_codegen *n, const rd_region *r)
{
    for (int32_t k = 0; k < n->p->n_fold; k++)
        if (steps_in(&n->fold[k], r) && !may_be_whole(&n->fold[k]))
            return;
    for (int32_t k = 0; k < n->p->n_fold; k++)
        if (steps_in(&n->fold[k], r)) {
            n->fold[k].mode  = RD_FOLD_WHOLE;
            n->fold[k].lanes = 1;
        }
}

void rd_find_wholes(rd_codegen *n)
{
    for (int32_t k = 0; k < n->n_region; k++)
        if (is_short_row(n, &n->region[k]))
            take_wholes(n, &n->region[k]);
}

bool rd_has_wholes(const rd_codegen *n, const rd_region *r)
{
    for (int32_t k = 0; k < n->p->n_fold; k++)
        if (n->fold[k].mode == RD_FOLD_WHOLE && steps_in(&n->fold[k], r))
            return true;
    return false;
}
