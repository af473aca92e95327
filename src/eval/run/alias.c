/* alias.c - outputs that overlap inputs: when is it safe to write in place?
 *
 * Only if, from the first store on, the shared memory is read by one access that names the same
 * element as the store, in the same loop body, before it.  Everything else gets scratch memory and
 * is copied at the end.
 *
 * Words. A slot is a buffer that a program reads or writes. */
#include "eval/plan.h"
#include <string.h>

/* True if both addresses name the same element at every point of a loop: equal offsets, element
 * sizes and strides, in any order of terms. n_add counts the terms (add). A term by a register
 * (axis below 0), as of a gather, is never taken as equal. */
static bool same_address(const rd_address *a, const rd_address *b)
{
    if (a->offset != b->offset || a->n_add != b->n_add ||
        rd_dtype_size(a->type) != rd_dtype_size(b->type))
        return false;
    for (int i = 0; i < a->n_add; i++) {
        bool found = false;

        for (int k = 0; k < b->n_add; k++)
            found |= a->add[i].axis == b->add[k].axis && a->add[i].axis >= 0 &&
                     a->add[i].coef == b->add[k].coef;
        if (!found)
            return false;
    }
    return true;
}

/* True if instruction i is a load or store (`kind`) of that slot. */
static bool accesses_slot(const rd_program *p, int i, rd_inst_kind kind, int slot)
{
    return p->inst[i].kind == kind && p->address[p->inst[i].arg].slot == slot;
}

/* True if a program may write result slot `out` in place over leaf slot `leaf`, as in x[i] = 2 *
 * x[i]. Every load of the leaf must come before each store, in the same loop body and of the same
 * element. `loop` is the loop that holds an instruction. */
static bool is_program_safe(const rd_program *p, int out, int leaf)
{
    for (int load = 0; load < p->n_inst; load++)
        for (int store = 0; accesses_slot(p, load, RD_I_LOAD, leaf) && store < p->n_inst; store++)
            if (accesses_slot(p, store, RD_I_STORE, out) &&
                (store < load || p->inst[load].loop != p->inst[store].loop ||
                 !same_address(&p->address[p->inst[load].arg], &p->address[p->inst[store].arg])))
                return false;
    return true;
}

/* True if a sort reads the leaf or writes the result.  A sort copies rows from one memory to
 * another, so it never runs in place. */
static bool has_sort_of(const rd_program *p, int out, int leaf)
{
    bool found = false;

    for (int32_t k = 0; k < p->n_sorting; k++)
        found |=
            p->address[p->sorting[k].from].slot == leaf || p->address[p->sorting[k].to].slot == out;
    return found;
}

/* Decides whether a result may be written in place over a leaf that begins at the same address.
 * Not if a stage reads the leaf after an earlier stage stored, or if one stage may store an
 * element before it loads it. Results at another address than the leaf (out != leaf) are not
 * safe, nor are those of sorts. */
bool rd_alias_safe(const rd_plan *plan, int out_slot, const void *out, int leaf_slot,
                   const void *leaf)
{
    bool stored = false;

    if (out != leaf)
        return false;
    for (int s = 0; s < plan->n_stage; s++) {
        const rd_program *p     = &plan->program[s];
        bool              loads = false, stores = false;

        if (has_sort_of(p, out_slot, leaf_slot))
            return false;
        for (int i = 0; i < p->n_inst; i++) {
            loads |= accesses_slot(p, i, RD_I_LOAD, leaf_slot);
            stores |= accesses_slot(p, i, RD_I_STORE, out_slot);
        }
        if ((loads && stored) || (loads && stores && !is_program_safe(p, out_slot, leaf_slot)))
            return false;
        stored |= stores;
    }
    return true;
}
