/* aliasing.c - which memory the statements of a loop tree read and write.
 *
 * Memory is a slot of the program (a leaf, a result, an array between stages, scratch) or a store,
 * which is an array that the tree itself has. */
#include "kernels/loop/facts.h"

/* ---- Accesses -------------------------------------------------------------------------------- */
/* Lists the two accesses of a SORT: it reads n elements of a row at `at`, and writes n_out results
 * at fold_at.index. Both are slots of the program (store -1: no array of the tree). */
static int32_t sort_accesses(const rd_schedule *t, int32_t stmt, rd_access access[2])
{
    const rd_stmt    *s    = &t->stmt[stmt];
    const rd_sorting *sort = &t->p->sorting[s->arg];

    access[0] = (rd_access){ .stmt  = stmt,
                             .slot  = t->p->address[sort->from].slot,
                             .store = -1,
                             .type  = sort->type,
                             .at    = s->at,
                             .n     = rd_sorting_length(sort) };
    access[1] = (rd_access){ .stmt   = stmt,
                             .slot   = t->p->address[sort->to].slot,
                             .store  = -1,
                             .type   = sort->out,
                             .at     = s->fold_at.index,
                             .n      = sort->n_out,
                             .writes = true };
    return 2;
}

/* Lists what a statement reads and writes in memory: one access of a LOAD or STORE, two of a SORT,
 * none of others. Returns how many. */
int32_t rd_accesses_of(const rd_schedule *t, int32_t stmt, rd_access access[2])
{
    const rd_stmt       *s   = &t->stmt[stmt];
    const rd_tree_value *let = s->kind == RD_S_LET ? &t->let[s->value] : NULL;

    if (s->kind == RD_S_SORT)
        return sort_accesses(t, stmt, access);
    if (let && let->kind == RD_I_LOAD) {
        access[0] = (rd_access){ stmt,    let->slot, let->store,      let->type,
                                 let->at, /*n=*/1,   /*writes=*/false };
        return 1;
    }
    if (s->kind != RD_S_STORE)
        return 0;
    access[0] =
        (rd_access){ stmt, s->slot, s->store, t->let[s->x].type, s->at, /*n=*/1, /*writes=*/true };
    return 1;
}

/* ---- Whether memory is shared ---------------------------------------------------------------- */
/* True if the slot is scratch: memory of one task, for values that live within the stage. */
static bool is_scratch(const rd_program *p, int32_t slot)
{
    return slot >= p->first_scratch && slot < p->first_scratch + p->n_scratch;
}

/* True if instruction i is of that kind and accesses the slot (array of the program's memory). */
static bool has_access(const rd_program *p, int32_t i, rd_inst_kind kind, int32_t slot)
{
    return p->inst[i].kind == kind && p->address[p->inst[i].arg].slot == slot;
}

/* True if two addresses of the program name the same element in each round: equal offsets, and the
 * same terms in any order. Terms of registers (axis < 0) count as different. The elements must have
 * the same size. */
static bool is_same_element(const rd_address *a, const rd_address *b)
{
    if (a->offset != b->offset || a->n_add != b->n_add ||
        rd_dtype_size(a->type) != rd_dtype_size(b->type))
        return false;
    for (int32_t k = 0; k < a->n_add; k++) {
        bool found = false;

        for (int32_t j = 0; j < b->n_add; j++)
            found |= a->add[k].axis == b->add[j].axis && a->add[k].axis >= 0 &&
                     a->add[k].coef == b->add[j].coef;
        if (!found)
            return false;
    }
    return true;
}

/* True if a run may give both slots the same memory, so that the result `out` is written over the
 * operand `leaf`. Each load of the leaf must stand before each store to the result, in the same
 * loop, and read the very element that is stored. eval/run/alias.c decides by the same rule. */
static bool may_overwrite(const rd_program *p, int32_t out, int32_t leaf)
{
    bool found = false;

    for (int32_t load = 0; load < p->n_inst; load++)
        for (int32_t store = 0; has_access(p, load, RD_I_LOAD, leaf) && store < p->n_inst;
             store++) {
            if (!has_access(p, store, RD_I_STORE, out))
                continue;
            found = true;
            if (store < load || p->inst[load].loop != p->inst[store].loop ||
                !is_same_element(&p->address[p->inst[load].arg], &p->address[p->inst[store].arg]))
                return false;
        }
    return found;
}

/* True if two accesses may touch the same memory.  An array of the tree (store >= 0) is shared with
 * nothing else.  Two slots are different memory, unless a result is written over an operand.
 * Scratch is never written over. Two reads, or two writes, of different slots are never the case of
 * a result over an operand. */
bool rd_may_alias(const rd_schedule *t, const rd_access *a, const rd_access *b)
{
    const rd_program *p = t->p;

    if (a->store >= 0 || b->store >= 0)
        return a->store == b->store;
    if (a->slot == b->slot)
        return true;
    if (a->writes == b->writes || is_scratch(p, a->slot) || is_scratch(p, b->slot))
        return false;
    return a->writes ? may_overwrite(p, a->slot, b->slot) : may_overwrite(p, b->slot, a->slot);
}
