/* slots.c - the plan's slots: copies of the graph's, relative to a run's addresses, with ranges
 * as narrow as what is read. */
#include "eval/plan.h"

/* True if the slot is memory of the caller that programs read. */
static bool is_leaf(const rd_slot *slot)
{
    return slot->kind == RD_SLOT_LEAF || slot->kind == RD_SLOT_INPUT;
}

/* The elements that programs read of a slot. */
typedef struct extent {
    int64_t lo, hi; /* hi < lo: none */
    bool    whole;  /* unknown before a run: all of it */
} extent;

/* The least and greatest element offset of an address, over all indices of its axes. False if it
 * gathers (axis -1), or no iteration reaches it (an extent is 0). */
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

/* Extends what is read by the elements of an address; if these are unknown, everything is read. */
static void add_reach(extent *e, const rd_program *p, const rd_address *a)
{
    int64_t lo, hi;

    if (!reach_of(p, a, &lo, &hi)) {
        e->whole = true;
        return;
    }
    e->lo = lo < e->lo ? lo : e->lo;
    e->hi = hi > e->hi ? hi : e->hi;
}

/* Adds the rows that sorts read from this slot to what is read of it: n - 1 elements follow the
 * address of each row's first. */
static void add_rows(extent *e, const rd_program *p, int slot)
{
    for (int k = 0; k < p->n_sorting; k++) {
        rd_address a = p->address[p->sorting[k].from];

        a.offset += p->sorting[k].n - 1;
        if (a.slot == slot && p->sorting[k].n > 0)
            add_reach(e, p, &a);
    }
}

/* Bytes from the first to the last element of a slot that n programs touch; all of its bytes if
 * one gathers from it. e.whole: all of it may be read. */
int64_t rd_slot_span(int n, const rd_program *p, int slot, const rd_slot *of)
{
    extent e = { .lo = INT64_MAX, .hi = INT64_MIN };

    for (int k = 0; k < n; k++)
        for (int i = 0; i < p[k].n_address; i++)
            if (p[k].address[i].slot == slot)
                add_reach(&e, &p[k], &p[k].address[i]);
    for (int k = 0; k < n; k++)
        add_rows(&e, &p[k], slot);
    if (e.whole && of->kind != RD_SLOT_ARRAY)
        return (of->hi - of->lo) * rd_dtype_size(of->type);
    return e.whole ? of->bytes : e.lo > e.hi ? 0 : (e.hi - e.lo + 1) * rd_dtype_size(of->type);
}

/* Narrows the range [lo, hi) of each leaf's slot from the whole leaf to what programs read,
 * because a result may overlap the rest. False: no memory. read[s] is the range so far, and
 * `whole` says that all of slot s may be read. add_reach() adds what an address reads,
 * add_rows() the rows of sorts. */
static bool narrow_slots(rd_plan *plan, rd_pool *work)
{
    extent *read = rd_pool_get(work, (size_t)(plan->n_slot + 1) * sizeof *read);

    if (!read)
        return false;
    for (int s = 0; s < plan->n_slot; s++)
        read[s] = (extent){ .lo = INT64_MAX, .hi = INT64_MIN };
    for (int k = 0; k < plan->n_stage; k++) {
        const rd_program *p = &plan->program[k];

        for (int i = 0; i < p->n_address; i++)
            if (p->address[i].slot >= 0 && p->address[i].slot < plan->n_slot)
                add_reach(&read[p->address[i].slot], p, &p->address[i]);
        for (int s = 0; s < plan->n_slot && p->n_sorting; s++)
            add_rows(&read[s], p, s);
    }
    for (int s = 0; s < plan->n_slot; s++)
        if (is_leaf(&plan->slot[s]) && !read[s].whole) {
            plan->slot[s].lo = read[s].lo <= read[s].hi ? read[s].lo : 0;
            plan->slot[s].hi = read[s].lo <= read[s].hi ? read[s].hi + 1 : 0;
        }
    return true;
}

/* Moves the base of each slot by shift[slot] elements, and changes all addresses so that they mean
 * the same elements. Slots from n_slot on are scratch memory, which stays. */
static void move_slots(rd_plan *plan, const int64_t *shift)
{
    for (int s = 0; s < plan->n_slot; s++) {
        plan->slot[s].lo -= shift[s];
        plan->slot[s].hi -= shift[s];
    }
    for (int k = 0; k < plan->n_stage; k++)
        for (int i = 0; i < plan->program[k].n_address; i++) {
            rd_address *a = &plan->program[k].address[i];

            if (a->slot >= 0 && a->slot < plan->n_slot)
                a->offset -= shift[a->slot];
        }
}

/* Moves the base of input k by shift[k] elements, because a run gets the address of that element
 * in place of the leaf's base. False: no memory. */
bool rd_plan_move(rd_plan *plan, rd_pool *work, int n, const int64_t *shift)
{
    int64_t *by_slot = rd_pool_get(work, (size_t)(plan->n_slot + 1) * sizeof *by_slot);

    if (!by_slot)
        return false;
    for (int k = 0; k < n; k++)
        if (plan->in_slot[k] >= 0)
            by_slot[plan->in_slot[k]] = shift[k];
    move_slots(plan, by_slot);
    return true;
}

/* Copies the graph's slots into the plan, notes which slot each result has, and narrows leaves to
 * what is read. Names and expressions are dropped, as the graph ends before the plan. False: no
 * memory. A result without elements gets no slot. */
bool rd_plan_slots(rd_plan *plan, rd_pool *work, const rd_graph *g)
{
    plan->n_slot = g->n_slot;
    plan->slot   = rd_pool_grow(plan->pool, g->slot, (size_t)g->n_slot, (size_t)g->n_slot + 1,
                                sizeof *plan->slot);
    if (!plan->slot)
        return false;
    for (int s = 0; s < g->n_slot; s++) {
        rd_slot *slot = &plan->slot[s];

        slot->device = slot->expr && slot->expr->kind == RD_EXPR_LEAF ? slot->expr->device : 0;
        slot->expr   = NULL;
        slot->name   = NULL;
        if (slot->kind == RD_SLOT_OUTPUT &&
            rd_points(plan->out[slot->result].rank, plan->out[slot->result].extent))
            plan->out[slot->result].slot = s;
    }
    return narrow_slots(plan, work);
}
