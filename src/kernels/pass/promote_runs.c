/* promote_runs.c - The pass promote_runs keeps the states of a run of equal labels in variables
 * (segmented reduction).
 *
 * Labels often come in runs, as in sorted data and in sparse patterns. During a run the states
 * of its cell are variables, so that a step waits for the step before, and not for memory:
 *
 *     serial i0 {                          array a1
 *       r0 = load s0[i0]                   serial i0 {
 *       r1 = load s1[i0]                     r0 = load s0[i0]
 *       step f0: r0, label r1 }              r1 = load s1[i0]
 *                                            switch state f0 label r1, a1 at 0
 *                                            step f0 a1: r0, label r1 }
 *                                          store states f0, a1 at 0
 *
 * Fields. A step has values `weight`, `mask` and `label`, -1 where the fold has no weights, mask or
 * groups. A fold has `user` if its reducer is the caller's own. */
#include "kernels/loop/facts.h"
#include "kernels/pass/pass.h"
#include "kernels/pass/state_copies.h"

/* ---- Which ----------------------------------------------------------------------------------- */
/* True if the fold has small states of one lane (partial accumulator), and runs that are long
 * enough.  Its groups are no more than an eighth of the elements, or it is known (of_pattern) that
 * neighbours have equal or close labels. The fold has a loop along its steps (along >= 0), and a
 * user's state is small.
 *
 * Where labels differ each time (differ), memory is faster (columns of an R-MAT graph, f32: 1.70 of
 * the time of a loop by hand with variables, 1.45 without; sums of a cube over its second axis 1.37
 * and 1.04). So it is where groups are small: each run ends with a branch that is mispredicted
 * (sums of 10^6 f64 by runs of 3: 1.1 ms, with variables 3.2). */
static bool is_profitable(const rd_schedule *t, int32_t fold)
{
    enum { FEW_STATES = 4, SMALL = 32, FEW_ELEMENTS = 8 }; /* numbers; bytes; elements a group */
    const rd_loop_fold *f = &t->fold[fold];
    const rd_fold      *p = &t->p->fold[fold];

    return p->n_group > 0 && !p->no_equal_neighbours && f->lanes == 1 && f->step_loop >= 0 &&
           f->emit.n_state <= FEW_STATES && (!f->emit.user || rd_user_bytes(&f->emit) <= SMALL) &&
           (p->of_pattern || rd_trips(t->p, f->step_loop) / p->n_group >= FEW_ELEMENTS);
}

/* ---- Changes --------------------------------------------------------------------------------- */
/* Returns the statement before which the states (accumulators) are switched: the first switch of
 * the same label in the same body and loop, or the step. Steps of several folds by one label then
 * share one test. */
static int32_t first_stmt_of_label(const rd_schedule *t, int32_t step)
{
    for (int32_t s = t->stmt[t->stmt[step].parent].first; s != step; s = t->stmt[s].next)
        if (t->stmt[s].kind == RD_S_SWITCH_STATE && t->stmt[s].label == t->stmt[step].label &&
            rd_loop_around(t, s) == rd_loop_around(t, step))
            return s;
    return step;
}

/* Declares a variable for one state before the loop. Puts a SWITCH_STATE before the first step of
 * the label: it loads the state of the label's cell (accumulator) where the label has changed, and
 * stores the old one. Behind the loop the last state is stored. */
static void promote_state(rd_schedule *t, int32_t step, int32_t loop)
{
    const rd_stmt       s     = t->stmt[step];
    const rd_tree_array store = {
        .storage = RD_IN_REGISTERS, .fold = s.fold, .extent = 1, .one_label = true
    };
    const int32_t array = rd_add_store(t, &store), first = first_stmt_of_label(t, step);
    const rd_stmt change     = rd_copy_of_states(&s, RD_S_SWITCH_STATE, array);
    rd_stmt       store_back = rd_copy_of_states(&s, RD_S_STORE_STATES, array);

    store_back.label = -1;
    rd_put_before(t, rd_add_declaration(t, array), loop);
    rd_put_before(t, rd_add_stmt(t, &change), first);
    rd_put_behind(t, rd_add_stmt(t, &store_back), loop);
    if (!t->failed)
        t->stmt[step].store = array;
}

/* The pass: promotes each step by labels (label >= 0) that profits, if its states (accumulators)
 * are not promoted already (one_label). */
void rd_pass_promote_runs(rd_schedule *t, const rd_target *target)
{
    (void)target;
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0 && !t->failed; s = rd_next_stmt(t, s, t->part[k])) {
            const rd_stmt *step     = &t->stmt[s];
            const bool     promoted = step->kind == RD_S_STEP && step->label >= 0 &&
                                  is_profitable(t, step->fold) && !t->store[step->store].one_label;
            const int32_t loop = promoted ? rd_loop_of_steps(t, s) : -1;

            if (loop >= 0)
                promote_state(t, s, loop);
        }
}
