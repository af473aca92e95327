/* pack_columns.c - The pass pack_columns packs columns of short rows. A strip of rows reads them
 * one column after the other; the packed columns are contiguous.
 *
 *     serial i0 by 64, starts m0 {         serial i0 by 64, starts m0 {
 *       serial i1 to 10 {                    vector i0 from m0, by call {
 *         vector i0 from m0 {                  serial i1 to 10 {
 *           r0 = load s0[10*i0 + i1]             r9 = load s0[10*i0 + i1]
 *           .. } } }                             a5[64*i1 + i0 - m0] = r9 } }
 *                                            serial i1 to 10 {
 *                                              vector i0 from m0 {
 *                                                r0 = load a5[64*i1 + i0 - m0]
 *                                                .. } } }
 *
 * The text of the packing loop transposes tiles in registers (print/transpose_calls.c), where
 * compilers load one element after the other.
 *
 * A strip is a range of rows, here m0 and the 63 behind it.  A mark (m0) is an axis that is bound
 * to the first index of a range, or to the index behind its last.
 *
 * Fields. A bound has n parts, of which the greatest or the least counts; one with by > 1 is
 * rounded to a multiple. A loop's `strips_number` is the number of the strips that it runs over,
 * -1: none. A load or store with `slot` >= 0 is of the program's memory, others are of arrays of
 * the tree. */
#include "kernels/loop/facts.h"
#include "kernels/pass/pass.h"
#include "kernels/pass/strip_arrays.h"

/* Rows of fewer than 5 elements are interleaved planes, which compilers separate by vectors; of
 * elements of 8 bytes, rows of fewer than 8.  Rows have at most 64 elements, and the columns of a
 * strip 128 KB, to stay in a second-level cache. */
enum { FEWEST = 5, FEWEST_WIDE = 8, MOST = 64, MOST_BYTES = 128 << 10 };

/* Statements: the load; the loop over strips (ranges) of rows; in it the loop over columns, named
 * `across`; and in that the vector loop over the rows of a strip. */
typedef struct column_loops {
    int32_t load, strips, across, vector;
} column_loops;

/* Returns the loop over strips around the vector loop, if the vector loop visits exactly one
 * strip: from its start mark to its stop mark (axes bound to the strip's ends). -1: the next loop
 * around over the axis is no such loop. */
static int32_t strips_around(const rd_schedule *t, int32_t vector)
{
    const rd_for *v = rd_loop_of(t, vector);

    for (int32_t s = t->stmt[vector].parent; s >= 0; s = t->stmt[s].parent) {
        const rd_for *loop = t->stmt[s].kind == RD_S_LOOP ? rd_loop_of(t, s) : NULL;

        if (loop && loop->axis == v->axis)
            return loop->strips_number >= 0 && loop->kind == RD_FOR_SERIAL &&
                           rd_is_mark(t, &v->from, loop->start_mark) &&
                           rd_is_mark(t, &v->to, loop->stop_mark)
                       ? s
                       : -1;
    }
    return -1;
}

/* True if the statement is a serial loop over all indices of a short row, 5 to 64, upwards from 0
 * to the extent. Both bounds must be constants: one part (n), not rounded (by <= 1), no terms
 * (at.n). */
static bool is_over_columns(const rd_schedule *t, int32_t stmt)
{
    const rd_for *l = t->stmt[stmt].kind == RD_S_LOOP ? rd_loop_of(t, stmt) : NULL;

    return l && l->kind == RD_FOR_SERIAL && l->step == 1 && l->extent >= FEWEST &&
           l->extent <= MOST && !l->backwards && rd_is_number(&l->from, 0) &&
           rd_is_number(&l->to, l->extent);
}

/* True if the element is as wide in memory as in registers, so that its vectors can be transposed:
 * no small int, f16, bf16 or bool. */
static bool can_transpose(rd_dtype type)
{
    return !rd_small_type(type) && !rd_dtype_is_narrow_float(type) && type != RD_BOOL &&
           rd_dtype_size(type) == rd_register_size(type);
}

/* True if within a strip (a range that vector loops visit) the address moves with the row and the
 * column alone, so that the packed elements are a matrix. No value is in it (axis < 0), and its
 * other axes are bound outside of the strip. rd_binder_of() is the loop that binds the axis; -1:
 * none does. */
static bool has_fixed_base(const rd_schedule *t, const column_loops *c, const rd_linear *at)
{
    for (int32_t k = 0; k < at->n; k++) {
        const rd_linear_term *term   = &t->term[at->first + k];
        const int32_t         binder = term->axis < 0 ? -1 : rd_binder_of(t, c->load, term->axis);

        if (term->axis < 0 || (binder >= 0 && binder != c->vector && binder != c->across &&
                               rd_stands_in(t, binder, c->strips)))
            return false;
    }
    return true;
}

/* Fills *c for a load.  True if the load reads columns of short rows that follow each other without
 * gaps: the row's stride is the number of columns.  The program does not write that memory (slot,
 * not a local array), and a strip's packed columns fit the cache.  The vector loop has a body of
 * its own (no call), and goes upwards in any order. Compilers separate rows of fewer than 8
 * elements of 8 bytes by themselves. */
static bool find_column_loops(const rd_schedule *t, int32_t load, column_loops *c)
{
    const rd_tree_value *let = rd_let_of(t, load);
    int64_t              row;

    *c = (column_loops){ .load = load, .vector = t->stmt[load].parent };
    if (!let || let->kind != RD_I_LOAD || let->slot < 0 || !can_transpose(let->type) ||
        !rd_is_vector(t, c->vector) || rd_is_by_call(t, c->vector) ||
        rd_loop_of(t, c->vector)->in_order || rd_loop_of(t, c->vector)->backwards ||
        rd_program_accesses(t->p, RD_I_STORE, let->slot))
        return false;
    c->across = t->stmt[c->vector].parent;
    c->strips = strips_around(t, c->vector);
    if (c->strips < 0 || !is_over_columns(t, c->across) || !rd_stands_in(t, c->across, c->strips))
        return false;
    row = rd_loop_of(t, c->across)->extent;
    if (rd_register_size(let->type) == 8 && row < FEWEST_WIDE)
        return false;
    return rd_linear_coef(t, &let->at, rd_loop_of(t, c->vector)->axis) == row &&
           rd_linear_coef(t, &let->at, rd_loop_of(t, c->across)->axis) == 1 &&
           row * rd_loop_of(t, c->strips)->step * rd_register_size(let->type) <= MOST_BYTES &&
           has_fixed_base(t, c, &let->at);
}

/* Declares the array of packed columns at the start of the strip (a range that vector loops
 * visit), and returns its number. It has room for a whole strip in each column. */
static int32_t add_array(rd_schedule *t, const column_loops *c, rd_dtype type)
{
    const rd_tree_array store = { .storage = RD_IN_LOCAL,
                                  .type    = type,
                                  .fold    = -1,
                                  .extent  = rd_loop_of(t, c->strips)->step *
                                            rd_loop_of(t, c->across)->extent };
    rd_stmt             array = rd_stmt_of(RD_S_ARRAY);

    array.store = rd_add_store(t, &store);
    rd_put_before(t, rd_add_stmt(t, &array), t->stmt[c->strips].first);
    return array.store;
}

/* Returns the position of an element in the array: its number in the strip (a range that vector
 * loops visit), plus column * length of a strip. */
static rd_linear packed_position(rd_schedule *t, const column_loops *c)
{
    return rd_linear_plus_axis(t, rd_strip_element(t, c->vector), rd_loop_of(t, c->strips)->step,
                               rd_loop_of(t, c->across)->axis);
}

/* Adds the loops that fill the array, behind its declaration: over the rows of the strip (a range
 * that vector loops visit), in it over the columns. The outer loop is by call, as the generated C
 * has one function for both; `program_loop` is -1, so that no later pass takes the inner one for a
 * loop of the program. */
static void add_packing_loops(rd_schedule *t, const column_loops *c, int32_t array,
                              const rd_tree_value *let)
{
    rd_for  rows = *rd_loop_of(t, c->vector), across = *rd_loop_of(t, c->across);
    rd_stmt store = rd_stmt_of(RD_S_STORE);
    int32_t outer, inner;

    rows.by_call        = true;
    across.program_loop = -1;
    outer               = rd_add_loop(t, &rows);
    inner               = rd_add_loop(t, &across);
    if (t->failed)
        return;
    rd_put_behind(t, outer, t->stmt[c->strips].first);
    rd_append(t, outer, inner);
    store.store = array;
    store.type  = let->type;
    store.at    = packed_position(t, c);
    store.x     = rd_add_value(t, inner, let);
    rd_append(t, inner, rd_add_stmt(t, &store));
}

/* Makes all loads of the same columns in the strip (same memory, type and position) read the array
 * instead. `found` is looked up again, as packed_position() may move the tree's arrays. */
static void redirect_loads(rd_schedule *t, const column_loops *c, int32_t array,
                           const rd_tree_value *let)
{
    for (int32_t s = rd_next_stmt(t, c->strips, c->strips); s >= 0 && !t->failed;
         s         = rd_next_stmt(t, s, c->strips)) {
        column_loops   candidate;
        rd_tree_value *found;

        if (!find_column_loops(t, s, &candidate) || candidate.strips != c->strips)
            continue;
        found = &t->let[t->stmt[s].value];
        if (found->slot != let->slot || found->type != let->type ||
            !rd_linear_same(t, &found->at, &let->at))
            continue;
        const rd_linear at = packed_position(t, &candidate);

        found        = &t->let[t->stmt[s].value];
        found->slot  = -1;
        found->store = array;
        found->at    = at;
    }
}

/* The pass: for each load of columns of short rows that qualifies, adds an array of packed columns
 * and the loops that fill it, and lets all loads of the same columns read the array. */
void rd_pass_pack_columns(rd_schedule *t, const rd_target *target)
{
    (void)target;
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0 && !t->failed; s = rd_next_stmt(t, s, t->part[k])) {
            column_loops c;

            if (!find_column_loops(t, s, &c))
                continue;
            const rd_tree_value let   = t->let[t->stmt[s].value];
            const int32_t       array = add_array(t, &c, let.type);

            if (!t->failed)
                add_packing_loops(t, &c, array, &let);
            if (!t->failed)
                redirect_loads(t, &c, array, &let);
        }
}
