/* item_scratch.c - gives each item its own part of scratch that its next kernel reads: the parts
 * of all items lie one behind the other, so a[i1] becomes a[i1 + 4096*i0].
 *
 * An item is a unit of work; scratch is memory for values that live within an item, or until its
 * next kernel.
 *
 * Fields. A loop's `start_mark` and `stop_mark` are its marks, axes bound to where its round begins
 * and ends, -1: none.
 *
 * Words. A slot is a buffer that a program reads or writes. */
#include "kernels/loop/facts.h"
#include "kernels/pass/gpu/gpu.h"

/* Returns the position at + elements * (number of the item). The loops over items around the
 * statement number the items, the innermost one fastest. Ranges of a split loop (`split_reduction`)
 * do not count, as they share their item's scratch (temporary memory). */
static rd_linear plus_item(rd_schedule *t, int32_t stmt, rd_linear at, int64_t elements)
{
    for (int32_t s = rd_loop_around(t, stmt); s >= 0; s = rd_loop_around(t, s)) {
        const rd_for l = *rd_loop_of(t, s);

        if (l.kind != RD_FOR_ITEM || l.split_reduction)
            continue;
        /* an item of `step` indices: its first index is a multiple of the step */
        t->failed |= elements % l.step != 0;
        at = rd_linear_plus_axis(t, at, elements / l.step,
                                 l.start_mark >= 0 ? l.start_mark : l.axis);
        elements *= l.extent;
    }
    return at;
}

/* Returns how many elements of a slot (buffer) one item keeps for its next kernel; 0: the slot
 * is no scratch (temporary memory), or keeps nothing. item_scratch[] is in bytes. */
static int64_t elements_of(const rd_schedule *t, const rd_gpu_plan *plan, int32_t slot,
                           rd_dtype type)
{
    const int32_t k = slot - t->p->first_scratch;

    return k >= 0 && k < t->p->n_scratch ? plan->item_scratch[k] / rd_dtype_size(type) : 0;
}

/* The pass: gives each item its own part of the scratch (temporary memory) that its next kernel
 * reads, by adding to each address the parts of the items before. Of other memory such a part
 * has 0 elements, so its addresses stay. */
void rd_pass_gpu_item_scratch(rd_schedule *t, const rd_gpu_plan *plan)
{
    const int32_t body = t->part[RD_PART_BODY];

    for (int32_t s = body; s >= 0 && !t->failed; s = rd_next_stmt(t, s, body)) {
        const rd_stmt *stmt = &t->stmt[s];

        if (stmt->kind == RD_S_STORE) {
            const rd_linear at =
                plus_item(t, s, stmt->at, elements_of(t, plan, stmt->slot, stmt->type));

            t->stmt[s].at = at;
        } else if (stmt->kind == RD_S_LET && t->let[stmt->value].kind == RD_I_LOAD) {
            const int32_t       value = stmt->value;
            const rd_tree_value let   = t->let[value];
            const rd_linear at = plus_item(t, s, let.at, elements_of(t, plan, let.slot, let.type));

            t->let[value].at = at;
        }
    }
}
