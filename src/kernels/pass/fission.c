/* fission.c - The pass fission gives operations without vectors a vector loop of their own,
 * between local arrays (loop fission).
 *
 *     vector i0 { r3 = ..; a5[i0 - m0] = r3 }
 *     vector i0, by call { r9 = load a5[i0 - m0]; r10 = exp(r9); a5[i0 - m0] = r10 }
 *     vector i0 { r4 = load a5[i0 - m0]; .. }
 *
 * The text has one call or macro for the loop in the middle. The pass runs before
 * `scalar_expand`, which makes arrays for other values that the parts of a loop pass to each
 * other.
 *
 * A strip is a range of indices that a vector loop takes; a loop "by call" is one call of a
 * function in the text, for all elements of the strip. */
#include "kernels/loop/facts.h"
#include "kernels/loop/intervals.h"
#include "kernels/pass/fission_points.h"
#include "kernels/pass/pass.h"
#include "kernels/pass/strip_arrays.h"

/* ---- Functions ------------------------------------------------------------------------------- */
/* Returns how many operands of a function go through arrays: all, or only the first. Random words
 * with a constant key need only the counter, and a constant divisor is written into the call. */
static int32_t operands_in_arrays(const rd_schedule *t, const rd_tree_value *let)
{
    return rd_draws_words_of_strip(t, let) || rd_is_constant_remainder(t, let) ? 1 : let->n;
}

/* Returns the user's function that the value calls, if it takes whole blocks of elements, with the
 * layout of memory; else NULL. */
static const rd_call *block_call(const rd_schedule *t, const rd_tree_value *let)
{
    const rd_call *call = let->kind == RD_I_CALL ? &t->p->call[let->arg] : NULL;

    return call && call->block ? call : NULL;
}

/* Declares an array for an operand before the loop, and returns its number. Elements for a user's
 * function lie as in memory; a cast reads elements of its source type; all others have the type of
 * registers, which may be wider than in memory. */
static int32_t operand_array(rd_schedule *t, int32_t loop, const rd_tree_value *let)
{
    const rd_call *users = block_call(t, let);

    return users                    ? rd_add_memory_before(t, loop, users->in_type)
           : let->kind == RD_I_CAST ? rd_add_array_before(t, loop, let->from)
                                    : rd_add_array_before(t, loop, let->type);
}

/* Returns the array of the function's result. A MAP overwrites its first operand, as the types are
 * equal; a cast or a user's function gets a new array. */
static int32_t result_array(rd_schedule *t, int32_t loop, const rd_tree_value *let, int32_t operand)
{
    return block_call(t, let)      ? rd_add_memory_before(t, loop, let->type)
           : let->kind == RD_I_MAP ? operand
                                   : rd_add_array_before(t, loop, let->type);
}

/* Stores the operands at the end of the loop, and adds a vector loop by call behind it, which
 * computes the function into the array *result. Returns that loop. Operands that need no array
 * (see operands_in_arrays) are read directly. */
static int32_t add_call_loop(rd_schedule *t, int32_t loop, int32_t value, int32_t *result)
{
    rd_tree_value let  = t->let[value];
    const int32_t call = rd_add_loop_behind(t, loop, /*by_call=*/true);
    int32_t       operand[RD_MAX_CALL], store = -1, first = -1;

    for (int32_t k = 0; k < let.n && !t->failed; k++) {
        operand[k] = t->operand[let.first + k];
        if (k >= operands_in_arrays(t, &let))
            continue;
        store = operand_array(t, loop, &let);
        first = k == 0 ? store : first;
        rd_store_at_end(t, loop, operand[k], store);
        operand[k] = rd_load_at_end(t, call, store);
    }
    *result   = result_array(t, loop, &let, first);
    let.first = rd_add_operands(t, operand, let.n);
    rd_store_at_end(t, call, rd_add_value(t, call, &let), *result);
    return call;
}

/* Splits the loop at a function into three: the statements before it, a loop by call for the
 * function, and the statements behind it, where the value becomes a load of the result. Returns
 * the last loop. */
static int32_t split_function(rd_schedule *t, int32_t loop, int32_t stmt)
{
    const int32_t value  = t->stmt[stmt].value;
    const int32_t behind = rd_split_vector(t, stmt, loop);
    int32_t       result = -1;

    add_call_loop(t, loop, value, &result);
    rd_replace_by_load(t, value, result, behind);
    return behind;
}

/* ---- Steps that take exponentials ------------------------------------------------------------ */
/* True if the statement is the step of a reducer that computes an exponential, such as
 * log-sum-exp. */
static bool takes_exponentials(const rd_schedule *t, int32_t stmt)
{
    return t->stmt[stmt].kind == RD_S_STEP && rd_has_exponential(&t->fold[t->stmt[stmt].fold].emit);
}

/* Puts the step alone into a loop by call (one call in the generated C), and the statements behind
 * it into a loop of their own. If the step is the first of its loop, so that nothing stands before
 * it, that loop itself becomes the one by call. Returns the loop of the statements behind; the one
 * by call if there are none. */
static int32_t split_step(rd_schedule *t, int32_t loop, int32_t stmt)
{
    const int32_t next     = t->stmt[stmt].next;
    const bool    is_first = t->stmt[stmt].prev < 0;
    const int32_t call     = is_first ? loop : rd_add_loop_behind(t, loop, /*by_call=*/true);
    const int32_t behind   = next >= 0 ? rd_split_vector(t, next, call) : call;

    if (!is_first) {
        rd_take_out(t, stmt);
        rd_append(t, call, stmt);
    } else if (!t->failed)
        t->loop[t->stmt[call].arg].by_call = true;
    return behind;
}

/* ---- All together ---------------------------------------------------------------------------- */
/* True if the statement makes a value that only a call or a function of a whole strip (a range
 * that vector loops visit) computes. */
static bool is_function(const rd_schedule *t, int32_t stmt)
{
    const rd_tree_value *let = rd_let_of(t, stmt);

    return let && rd_let_needs_fission(t, let);
}

/* Splits a vector loop at all its functions and at all steps that take exponentials. `loop` is the
 * last loop so far, which holds the statements that are still to be looked at. */
static void split_loop(rd_schedule *t, int32_t loop)
{
    for (int32_t s = t->stmt[loop].first, next; s >= 0 && !t->failed; s = next) {
        next = t->stmt[s].next;
        if (takes_exponentials(t, s))
            loop = split_step(t, loop, s);
        else if (is_function(t, s)) {
            loop = split_function(t, loop, s);
            next = t->stmt[s].next;
        }
    }
}

/* Marks casts of floats to ints whose values all fit into 32 bits (interval analysis), which
 * vectors can do. This comes before loops are split, while the producers of elements are known:
 * afterwards elements come from arrays, of which nothing is known. */
static void mark_bounded(rd_schedule *t)
{
    for (int32_t value = 0; value < t->n_let; value++)
        t->let[value].fits_int32 = rd_narrows_bounded(t, &t->let[value]);
}

/* The pass: splits all vector loops of the program's parts (head, body, tail), so that operations
 * without vectors get loops of their own.  A loop by call is one call in the generated C and
 * stays. */
void rd_pass_fission(rd_schedule *t, const rd_target *target)
{
    (void)target;
    mark_bounded(t);
    for (int k = 0; k < RD_N_PARTS; k++)
        /* statements from n on are those that the pass has added */
        for (int32_t s = t->part[k], n = t->n_stmt; s >= 0 && !t->failed;
             s = rd_next_stmt(t, s, t->part[k]))
            if (s < n && rd_is_vector(t, s) && !rd_loop_of(t, s)->by_call)
                split_loop(t, s);
}
