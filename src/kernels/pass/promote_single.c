/* promote_single.c - The pass promote_single keeps the one state of a user's reducer in a
 * variable around its loop (scalar promotion). Then a step waits for the step before, and not
 * for memory.
 *
 *     serial i0 { step f0 a0 .. }        array a1; load states f0, a1 at 0
 *                                        serial i0 { step f0 a1 .. }
 *                                        store states f0, a1 at 0
 *
 * Fields. A step has values `weight`, `mask` and `label`, -1 where the fold has no weights, mask or
 * groups. */
#include "kernels/pass/pass.h"
#include "kernels/pass/state_copies.h"

/* True if the statement is a step into the only state of a user's reducer.  The fold has one lane
 * (partial accumulator) and no labels, and goes along a loop; its states are in the fold's first
 * array (number below n_fold). Nothing but the cell counts in its subscript (more). */
static bool is_single_state(const rd_schedule *t, const rd_stmt *s)
{
    const rd_loop_fold *f = s->fold >= 0 ? &t->fold[s->fold] : NULL;

    return f && s->kind == RD_S_STEP && f->emit.user && s->label < 0 && f->lanes == 1 &&
           f->step_loop >= 0 && s->store < t->p->n_fold && s->fold_at.state_offset.n == 0;
}

/* Declares the variable before the loop, copies the state (accumulator) into it, and back behind
 * the loop. The step then uses the variable. */
static void promote_state(rd_schedule *t, int32_t step, int32_t loop)
{
    const rd_tree_array store = { .storage = RD_IN_REGISTERS,
                                  .fold    = t->stmt[step].fold,
                                  .extent  = 1 };
    const int32_t       array = rd_add_store(t, &store);
    const rd_stmt       load  = rd_copy_of_states(&t->stmt[step], RD_S_LOAD_STATES, array),
                  store_back  = rd_copy_of_states(&t->stmt[step], RD_S_STORE_STATES, array);

    rd_put_before(t, rd_add_declaration(t, array), loop);
    rd_put_before(t, rd_add_stmt(t, &load), loop);
    rd_put_behind(t, rd_add_stmt(t, &store_back), loop);
    if (!t->failed)
        t->stmt[step].store = array;
}

/* The pass: keeps the one state (accumulator) of a user's reducer in a variable around the loop
 * along the fold's steps, if no other statement of the fold is in that loop (scalar promotion).
 * Then a step does not wait for memory. */
void rd_pass_promote_single(rd_schedule *t, const rd_target *target)
{
    (void)target;
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0 && !t->failed; s = rd_next_stmt(t, s, t->part[k])) {
            const int32_t loop = is_single_state(t, &t->stmt[s]) ? rd_loop_of_steps(t, s) : -1;

            if (loop >= 0 && !rd_has_other_fold_stmt(t, loop, s))
                promote_state(t, s, loop);
        }
}
