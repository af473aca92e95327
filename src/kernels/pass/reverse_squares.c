/* reverse_squares.c - The pass reverse_squares lets differences that are only squared subtract what
 * is the same for all neighbours from what is not.
 *
 *     r1 = load s2[i1 + 50*i0]
 *     vector i2
 *       r2 = load s6[16*i1 + i2 - m4]
 *       r3 = sub r1, r2                    text: f32_sub(r2, r1)
 *       step f2 .. r3, by r3
 *
 * Instructions of AVX-512 take a number of memory as the second operand of a difference, for all
 * elements of a vector.  As the first one it goes to a register first: on a Zen 4 a step then takes
 * 1.5 times as long.  The square has the same bits. */
#include "kernels/loop/facts.h"
#include "kernels/pass/pass.h"
#include <stdlib.h>

/* True if the value is read, and only by steps that square it: steps of a reducer that multiplies
 * two operands, x and w, which both are the value. */
static bool is_only_squared(const rd_schedule *t, int32_t value)
{
    int32_t s = rd_next_use(t, value, /*last=*/-1);

    for (int32_t next = s; next >= 0; next = rd_next_use(t, value, next)) {
        const rd_stmt *step = &t->stmt[next];

        if (step->kind != RD_S_STEP || step->x != value || step->weight != value ||
            step->mask == value || step->label == value ||
            !rd_reducer_multiplies((rd_reducer_id)t->p->fold[step->fold].reducer))
            return false;
    }
    return s >= 0;
}

/* True if the value is a difference of floats whose first operand is the same in all rounds of the
 * vector loop, and whose second one is not. `varies`: per value, whether it changes with the
 * rounds. */
static bool begins_with_same(const rd_schedule *t, const rd_tree_value *let, const bool *varies)
{
    return let->kind == RD_I_MAP && let->op == RD_OP_sub &&
           rd_dtype_kind(let->type) == RD_KIND_FLOAT && !varies[t->operand[let->first]] &&
           varies[t->operand[let->first + 1]];
}

/* Marks differences of floats whose first operand is the same in all rounds of a vector loop, and
 * which are only squared, as reversed: the generated C then has the operands the other way round,
 * and the negative number has the same square. */
static void reverse_in(rd_schedule *t, int32_t loop)
{
    bool *const varies = malloc((size_t)t->n_let + 1);

    if (!varies) {
        t->failed = true;
        return;
    }
    rd_find_varying(t, loop, varies);
    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop)) {
        const rd_tree_value *let = rd_let_of(t, s);

        if (let && begins_with_same(t, let, varies) && is_only_squared(t, t->stmt[s].value))
            t->let[t->stmt[s].value].reversed = true;
    }
    free(varies);
}

/* The pass: in all vector loops, marks differences that are only squared as reversed, if their
 * first operand is the same in all rounds of the loop. */
void rd_pass_reverse_squares(rd_schedule *t, const rd_target *target)
{
    (void)target;
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0 && !t->failed; s = rd_next_stmt(t, s, t->part[k]))
            if (t->stmt[s].kind == RD_S_LOOP && rd_loop_of(t, s)->kind == RD_FOR_VECTOR)
                reverse_in(t, s);
}
