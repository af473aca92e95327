/* slots.c - the plan's slots: copies of the graph's, counted from where a run's addresses are, as narrow as what is read. */
#include "eval/plan.h"

static bool is_leaf(const rd_slot *slot)
{
    return slot->kind == RD_SLOT_LEAF || slot->kind == RD_SLOT_INPUT;
}

/* Least and greatest element of an address; false if it gathers, or no loop ever comes to it. */
static bool reach_of(const rd_program *p, const rd_address *a, int64_t *lo, int64_t *hi)
{
    *lo = *hi = a->offset;
    for (int t = 0; t < a->n_add; t++) {
        int64_t far;

        if (a->add[t].axis < 0)
            return false;
        far = a->add[t].coef * (p->axis_extent[a->add[t].axis] - 1);
        *(far < 0 ? lo : hi) += far;
    }
    return *lo <= *hi;
}

/* A slot reaches over its whole leaf; all that can meet a result is what programs read of it.  Where an index is only known
 * at run, the whole leaf stays. */
static void narrow(rd_plan *plan, int s)
{
    rd_slot *slot = &plan->slot[s];
    int64_t  lo = INT64_MAX, hi = INT64_MIN, from, to;

    for (int k = 0; k < plan->n_stage; k++) {
        const rd_program *p = &plan->program[k];

        for (int i = 0; i < p->n_address; i++) {
            if (p->address[i].slot != s)
                continue;
            if (!reach_of(p, &p->address[i], &from, &to))
                return;
            lo = from < lo ? from : lo;
            hi = to > hi ? to : hi;
        }
    }
    slot->lo = lo <= hi ? lo : 0;
    slot->hi = lo <= hi ? hi + 1 : 0;
}

/* From now on the slot's address is `shift` elements further on. */
static void move(rd_plan *plan, int s, int64_t shift)
{
    plan->slot[s].lo -= shift;
    plan->slot[s].hi -= shift;
    for (int k = 0; k < plan->n_stage; k++)
        for (int i = 0; i < plan->program[k].n_address; i++)
            if (plan->program[k].address[i].slot == s)
                plan->program[k].address[i].offset -= shift;
}

void rd_plan_move(rd_plan *plan, int n, const int64_t *shift)
{
    for (int k = 0; k < n; k++)
        if (plan->in_slot[k] >= 0 && shift[k])
            move(plan, plan->in_slot[k], shift[k]);
}

bool rd_plan_slots(rd_plan *plan, const rd_graph *g)
{
    plan->n_slot = g->n_slot;
    plan->slot   = rd_pool_grow(plan->pool, g->slot, (size_t)g->n_slot, (size_t)g->n_slot + 1, sizeof *plan->slot);
    if (!plan->slot)
        return false;
    for (int s = 0; s < g->n_slot; s++) {
        rd_slot *slot = &plan->slot[s];

        slot->expr = NULL;
        slot->name = NULL;
        if (slot->kind == RD_SLOT_OUTPUT && rd_points(plan->out[slot->result].rank, plan->out[slot->result].extent))
            plan->out[slot->result].slot = s;
        if (is_leaf(slot))
            narrow(plan, s);
    }
    return true;
}
