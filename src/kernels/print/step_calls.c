/* step_calls.c - calls of the functions of folds as text: a step, and the carry of a scan's
 * block.
 *
 *     step0(&s0_0[m2 + i], r3, 1, i1);
 *     carry0(&s0_0[0], &p0_0[0], 1);
 *
 * A state is an accumulator of a fold; a block is 64 steps or so, and a scan carries its result to
 * the next block.
 *
 * Fields. n->vector is the vector loop whose body is printed, -1: none. A step has values `weight`,
 * `mask` and `label`, -1 where the fold has no weights, mask or groups.
 *
 * Words. A strip is a range of neighbouring indices of one axis, which vector loops visit. A loop
 * by call is one call of a function in the text. */
#include "kernels/print/print.h"
#include <inttypes.h>

/* True if the element is a double that was made of a small int, and the fold adds such elements
 * up as ints (is_short). Compilers see that a double was an int of 32 bits, and not that it was
 * a byte, so the text casts it to int32_t. */
static bool is_double_of_short_sum(const rd_emit_fold *f)
{
    return f->is_short && f->fold->type == RD_F64;
}

/* Adds the arguments of a step: the element and its weight, "r3, 1". Without weights the weight is
 * 1. A double that was made of a small int is cast to int32_t if the fold adds ints. */
void rd_print_element(const rd_printing *n, rd_text *to, const rd_stmt *s)
{
    rd_text_add(to, "%sr%" PRId32 ", ",
                is_double_of_short_sum(&n->fold[s->fold].emit) ? "(int32_t)" : "", s->x);
    if (n->fold[s->fold].emit.weighted)
        rd_text_add(to, "r%" PRId32, s->weight);
    else
        rd_text_add(to, "1");
}

/* Returns the name of the step's function: "some" in loops padded to whole vectors, where a flag
 * says whether the element exists; "one" in serial loops, if the fold has such a function; else
 * "step". */
static const char *name_of_step(const rd_printing *n, const rd_emit_fold *f, bool padded)
{
    return padded ? "some" : n->vector < 0 && rd_has_scalar_step(f) ? "one" : "step";
}

/* Adds the step's exponential as an argument: ", e0[i]", which a vector loop by call has
 * computed before for all elements, or ", rd_math_exp_f32(exponent0(..))". */
static void add_power(rd_printing *n, rd_text *to, const rd_stmt *s, const char *states)
{
    if (n->vector >= 0 && rd_loop_of(n->t, n->vector)->by_call) {
        rd_text_add(to, ", e%" PRId32 "[i]", s->fold);
        return;
    }
    rd_text_add(to, ", rd_math_exp_%s(exponent%" PRId32 "(%s, ",
                rd_state_elem(&n->fold[s->fold].emit), s->fold, states);
    rd_print_element(n, to, s);
    rd_text_add(to, "))");
}

/* Adds the call of a step, "step0(states, r3, 1, i1, r5);", with the element, its weight, its
 * index, its mask (1: it takes part), and its exponential. In a padded loop, "i < n0" says
 * whether the element exists. */
void rd_print_add_step(rd_printing *n, rd_text *to, const rd_stmt *s, const char *states)
{
    const rd_emit_fold *f      = &n->fold[s->fold].emit;
    const bool          padded = n->vector >= 0 && rd_padded_around(n->t, n->vector);

    rd_text_add(to, "%s%" PRId32 "(%s, ", name_of_step(n, f, padded), s->fold, states);
    rd_print_element(n, to, s);
    rd_text_add(to, ", ");
    rd_print_linear(n, to, &s->fold_at.index);
    if (f->masked && s->mask >= 0)
        rd_text_add(to, ", r%" PRId32, s->mask);
    else if (f->masked)
        rd_text_add(to, ", 1");
    if (padded) {
        rd_text_add(to, ", i < ");
        rd_print_count(n, to, n->vector);
    }
    if (rd_has_exponential(f))
        add_power(n, to, s, states);
    rd_text_add(to, ");");
}

/* Adds the number of the step that takes the element, "(i1) * 47 + (i0) / 64". A step takes one
 * element in each of 64 lanes (partial accumulators), and a row of i0 has 47 steps. Factors that
 * are 1, and a term that is 0, are left out. */
void rd_print_step_number(rd_printing *n, rd_text *to, const rd_stmt *s)
{
    const rd_fold *f    = &n->t->p->fold[s->fold];
    const int64_t  rows = rd_rows_of_lanes(f);

    rd_text_add(to, "(");
    rd_print_linear(n, to, &s->fold_at.lane_line);
    rd_text_add(to, ")");
    if (rows != 1) {
        rd_text_add(to, " * ");
        rd_print_number(n, to, rows);
    }
    if (f->lane_extent <= f->lanes)
        return;
    rd_text_add(to, " + (");
    rd_print_linear(n, to, &s->fold_at.lane);
    rd_text_add(to, ") / %" PRId32, f->lanes);
}

/* Adds declarations of the values that a fold's results become: " float r5; float r6;". */
void rd_print_results(rd_text *to, const rd_stmt *s, const rd_fold *f)
{
    for (int32_t k = 0; k < f->n_out; k++)
        rd_text_add(to, " %s r%" PRId32 ";", rd_result_type(f), s->value + k);
}

/* ---- Scans ----------------------------------------------------------------------------------- */
/* Adds arguments for the fold of all blocks before the open one, in a scan: ", &p0_0[at],
 * &q0_0[at]"; nothing if the scan has one block. A running sum of floats (pair) is p + q, two
 * words. */
void rd_print_carry_in(rd_text *to, const rd_print_fold *f, int32_t store, const char *at)
{
    if (!f->blocks)
        return;
    rd_text_add(to, ", ");
    rd_print_state_addresses(to, f, 'p', store, at);
    if (f->hi_lo_sums)
        rd_text_add(to, ", &q%" PRId32 "_0[%s]", store, at);
}

/* Adds the end of a scan's block, "carry0(&s0_0[0], &p0_0[0], &q0_0[0], &w0_0[0], N0, t0 >> 6,
 * 1);": the block's state s is added to p, the fold of all blocks before the next one. A running
 * sum of floats (pair) also has the second word q, doubles w that lie N0 apart, and the number
 * of the block. The last argument is how many neighbouring accumulators take part. */
void rd_print_carry(rd_printing *n, rd_text *to, const rd_stmt *s, const char *step)
{
    const rd_print_fold *f  = &n->fold[s->fold];
    rd_text              at = { 0 };

    rd_print_cell_subscript(n, &at, s);
    rd_text_add(to, "carry%" PRId32 "(", s->fold);
    rd_print_state_addresses(to, f, 's', s->store, at.at);
    rd_print_carry_in(to, f, s->store, at.at);
    if (f->hi_lo_sums) {
        rd_text_add(to, ", &w%" PRId32 "_0[%s], ", s->store, at.at);
        rd_print_number(n, to, n->t->store[s->store].extent);
        rd_text_add(to, ", %s >> 6", step);
    }
    rd_text_add(to, ", ");
    if (n->vector >= 0)
        rd_print_count(n, to, n->vector);
    else
        rd_text_add(to, "1");
    rd_text_add(to, ");");
    rd_text_end(&at, n->to);
}

/* Adds the first arguments of push0() and merge_tree0(): "&s0_0[0], tree0, 64, 0, 64". They are
 * the states from `at` on; the tree, and how many states a row of it has; and the first column
 * `at` with the number of columns. These are the elements of a vector loop, all states
 * (s->all_cells), or the lanes of one accumulator. */
void rd_print_block_arguments(rd_printing *n, rd_text *to, const rd_stmt *s, const char *at)
{
    const rd_print_fold *f = &n->fold[s->fold];

    rd_print_state_addresses(to, f, 's', s->store, at);
    rd_text_add(to, ", tree%" PRId32 ", ", s->fold);
    rd_print_number(n, to, f->states);
    rd_text_add(to, ", %s, ", at);
    if (n->vector >= 0)
        rd_print_count(n, to, n->vector);
    else
        rd_print_number(n, to, s->all_cells ? f->states : f->lanes);
}
