/* unswitch.c - The pass unswitch moves a mask that is the same for all rounds of a loop before
 * the loop (loop unswitching).
 *
 *     serial i1 from r2 to r3 {              if r1 {
 *       r4 = load s0[i1]                       serial i1 from r2 to r3 { as before } }
 *       r5 = choice r1, r4, 0                unless r1 {
 *       step f0: r5                            serial i1 from r2 to r3 {
 *       step f1: .. }                            .. step f1: .. } }
 *
 * Steps that the mask excludes are left out, so compilers remove their operands. By themselves
 * compilers do not see that a sum of ints stays as it is.
 *
 * A step is one element taken into a fold; its mask says whether the element takes part.
 *
 * Fields. A loop's `program_loop` is the number of the program's loop that it comes from, -1: none.
 * A loop's `strips_number` is the number of the strips that it runs over, -1: none. A step has
 * values `weight`, `mask` and `label`, -1 where the fold has no weights, mask or groups. */
#include "kernels/loop/facts.h"
#include "kernels/pass/pass.h"

/* ---- Masks ----------------------------------------------------------------------------------- */
/* True if the value is the constant 0 of an int type. */
static bool is_int_0(const rd_schedule *t, int32_t value)
{
    const rd_tree_value *let = &t->let[value];

    return let->kind == RD_I_CONST && rd_dtype_kind(let->type) != RD_KIND_FLOAT &&
           let->word.u64 == 0;
}

/* Returns the mask of a step; -1: there is none. In a sum of ints "step r1 ? r4 : 0" has the mask
 * r1, too, as adding 0 changes nothing. Operands of a SELECT: condition, value if true, value if
 * false. */
static int32_t effective_mask(const rd_schedule *t, const rd_stmt *step)
{
    const rd_tree_value *x = &t->let[step->x];

    if (step->mask >= 0 || !rd_reducer_adds_elements(t->p->fold[step->fold].reducer))
        return step->mask;
    return x->kind == RD_I_SELECT && is_int_0(t, t->operand[x->first + 2]) ? t->operand[x->first]
                                                                           : -1;
}

/* ---- Which ----------------------------------------------------------------------------------- */
/* True if the loop goes element by element, so that a branch pays. It is a serial loop of the
 * program (of >= 0) without strips, over a row of a sparse pattern, or with states (accumulators)
 * that are switched by runs of labels. Others become vector loops. */
static bool is_element_loop(const rd_schedule *t, int32_t loop)
{
    const rd_for *l = rd_loop_of(t, loop);

    if (l->kind != RD_FOR_SERIAL || l->program_loop < 0 || l->strips_number >= 0)
        return false;
    return rd_is_sparse_row(&t->p->loop[l->program_loop]) ||
           rd_count_kinds(t, loop, RD_KIND_BIT(RD_S_SWITCH_STATE)) > 0;
}

/* True if an early exit leaves the loop: a copy of the loop could then not be left, as an exit
 * names one loop only. */
static bool is_exit_target(const rd_schedule *t, int32_t loop)
{
    for (int32_t s = 0; s < t->n_stmt; s++)
        if (t->stmt[s].kind == RD_S_EXIT && t->stmt[s].arg == loop)
            return true;
    return false;
}

/* True if the statement is a step directly in the loop, or in vector loops and unrolled loops of
 * it only. */
static bool is_step_of(const rd_schedule *t, int32_t stmt, int32_t loop)
{
    int32_t body = t->stmt[stmt].parent;

    if (t->stmt[stmt].kind != RD_S_STEP)
        return false;
    while (body != loop && t->stmt[body].kind == RD_S_LOOP &&
           (rd_is_vector(t, body) || rd_loop_of(t, body)->kind == RD_FOR_UNROLL))
        body = t->stmt[body].parent;
    return body == loop;
}

/* Returns the mask of some step of the loop that is made outside of the loop, and so is the same
 * in all rounds; -1: there is none. */
static int32_t mask_outside(const rd_schedule *t, int32_t loop)
{
    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop)) {
        const int32_t mask = is_step_of(t, s, loop) ? effective_mask(t, &t->stmt[s]) : -1;

        if (mask >= 0 && !rd_stands_in(t, t->let[mask].made_by, loop))
            return mask;
    }
    return -1;
}

/* ---- Changes --------------------------------------------------------------------------------- */
/* Puts the loop into an IF of the mask; `unless`: of its negation. */
static void wrap_in_if(rd_schedule *t, int32_t loop, int32_t mask, bool unless)
{
    rd_stmt condition = rd_stmt_of(RD_S_IF);
    int32_t made;

    condition.x      = mask;
    condition.unless = unless;
    made             = rd_add_stmt(t, &condition);
    rd_put_before(t, made, loop);
    rd_take_out(t, loop);
    rd_append(t, made, loop);
}

/* Adds a copy of the loop without the steps that the mask excludes. The loop itself then stands
 * under "if mask", and the copy under "if not mask". */
static void unswitch(rd_schedule *t, int32_t loop, int32_t mask)
{
    const int32_t without = rd_stmt_copy(t, loop);

    if (t->failed)
        return;
    rd_put_behind(t, without, loop);
    for (int32_t s = rd_next_stmt(t, without, without), next; s >= 0; s = next) {
        next = rd_next_stmt(t, s, without);
        if (is_step_of(t, s, without) && effective_mask(t, &t->stmt[s]) == mask)
            rd_take_out(t, s);
    }
    wrap_in_if(t, loop, mask, /*unless=*/false);
    wrap_in_if(t, without, mask, /*unless=*/true);
}

/* The pass: where all rounds of an element loop have the same mask, tests the mask once before the
 * loop, which is copied without the masked steps.  A loop under a mask (IF) already, or one that an
 * early exit leaves, stays as it is.  mask < 0: there is no such mask. */
void rd_pass_unswitch(rd_schedule *t, const rd_target *target)
{
    (void)target;
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0 && !t->failed; s = rd_next_stmt(t, s, t->part[k]))
            if (t->stmt[s].kind == RD_S_LOOP && is_element_loop(t, s) &&
                t->stmt[t->stmt[s].parent].kind != RD_S_IF && !is_exit_target(t, s)) {
                const int32_t mask = mask_outside(t, s);

                if (mask >= 0)
                    unswitch(t, s, mask);
            }
}
