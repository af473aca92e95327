/* flatten_maps.c - The pass flatten_maps flattens maps of a few interleaved columns, such as the
 * colours of an image, so that the loop reads and writes memory contiguously.
 *
 *     serial i0 by 64, starts m2, stops m3 {       array a5
 *       serial i1 to 3 {                           serial i1 to 3 {
 *         r1 = load s1[i1]                           r1 = load s1[i1]
 *         vector i0 from m2 to m3 {                  vector m4 to 64 { a5[3*m4 + i1] = r1 } }
 *           r0 = load s0[3*i0 + i1]                serial i0 by 64, starts m2, stops m3 {
 *           r2 = mul r0, r1                          vector m5 from 3*m2 to 3*m3 {
 *           s2[3*i0 + i1] = r2 } } }                   r0 = load s0[m5]
 *                                                      r3 = load a5[m5 - 3*m2]
 *                                                      r2 = mul r0, r3
 *                                                      s2[m5] = r2 } }
 *
 * Values of a column are repeated for the rows of a strip, once before all strips. So the vector
 * loop has no strided loads and stores (loop collapsing).
 *
 * A strip is a range of rows of a known length, c->r->width.  A mark (m2) is an axis that is bound
 * to the first row of a strip, or to the row behind its last.
 *
 * Words. A loop by call is one call of a function in the text. */
#include "kernels/pass/flatten_maps.h"
#include "kernels/loop/facts.h"
#include "kernels/pass/pass.h"
#include "kernels/pass/state_copies.h"
#include "kernels/pass/strip_arrays.h"
#include <stdlib.h>

/* ---- The loops ------------------------------------------------------------------------------- */
/* Interchanges two loops: the loop over columns, which stands in the vector loop over rows, moves
 * around it. Values that depend on the column alone stay in the loop over columns, before the
 * vector loop; all other statements move into the vector loop. */
static void move_columns_outside(const rd_flattening *c)
{
    rd_schedule *t = c->t;

    rd_take_out(t, c->across);
    rd_put_before(t, c->across, c->vector);
    rd_take_out(t, c->vector);
    for (int32_t s = t->stmt[c->across].first, next; s >= 0; s = next) {
        next = t->stmt[s].next;
        if (t->stmt[s].kind == RD_S_LET && rd_is_of_column(c, t->stmt[s].value))
            continue;
        rd_take_out(t, s);
        rd_append(t, c->vector, s);
    }
    rd_append(t, c->across, c->vector);
    t->loop[t->stmt[c->across].arg].kind = RD_FOR_SERIAL;
}

/* Brings the loops into the order strips, columns, vector loop, from the order columns, strips,
 * vector loop. */
static void move_strips_outside(const rd_flattening *c)
{
    rd_schedule *t = c->t;

    rd_take_out(t, c->strips);
    rd_put_before(t, c->strips, c->across);
    rd_take_out(t, c->across);
    rd_take_out(t, c->vector);
    rd_append(t, c->across, c->vector);
    rd_append(t, c->strips, c->across);
}

/* Adds "vector m4 to 64 { a5[3*m4 + i1] = r1 }" at the end of the loop over columns: the value of
 * column i1 is written for each row of a strip (a range that vector loops visit), between the
 * other columns. The loop has no marks (start_mark, stop_mark -1), and comes from no loop of the
 * program (program_loop -1). */
static void add_repeating_loop(const rd_flattening *c, int32_t value, int32_t store)
{
    rd_schedule *t    = c->t;
    rd_for       loop = rd_rounds_from(RD_FOR_VECTOR, rd_add_mark(t), rd_linear_of(0), c->r->width);
    rd_stmt      store_stmt = rd_stmt_of(RD_S_STORE);
    const int32_t made      = rd_add_loop(t, &loop);

    store_stmt.x     = value;
    store_stmt.store = store;
    store_stmt.type  = t->let[value].type;
    store_stmt.at    = rd_linear_plus_axis(t, rd_linear_of(0), c->n, loop.axis);
    store_stmt.at    = rd_linear_plus_axis(t, store_stmt.at, /*coef=*/1, c->column);
    rd_append(t, made, rd_add_stmt(t, &store_stmt));
    rd_append(t, c->across, made);
}

/* A substitution in operands: value `by` replaces `value`. */
typedef struct repeated_value {
    int32_t value, by;
} repeated_value;

/* For rd_substitute_values(): returns `by` for the repeated value, and all others unchanged. */
static int32_t replacement_of(void *of, int32_t value)
{
    const repeated_value *repeated = of;

    return value == repeated->value ? repeated->by : value;
}

/* Writes a value of a column for each element of a strip to a new array, which is declared before
 * statement `before`, and makes the vector loop read it there. The array has a multiple of 16
 * elements, as vectors may access whole vectors. rd_load_at_start() adds the load at the start of
 * the vector loop; replacement_of() puts it in the place of the value. */
static void repeat_value(const rd_flattening *c, int32_t value, int32_t before)
{
    rd_schedule        *t     = c->t;
    const rd_tree_array store = { .storage = RD_IN_LOCAL,
                                  .type    = t->let[value].type,
                                  .fold    = -1,
                                  .extent  = (c->n * c->r->width + 15) / 16 * 16 /* rounded up */ };
    const int32_t       array = rd_add_store(t, &store);
    repeated_value      one   = { value, -1 };

    rd_put_before(t, rd_add_declaration(t, array), before);
    add_repeating_loop(c, value, array);
    one.by = rd_load_at_start(t, c->vector, array, c->vector);
    for (int32_t s = t->stmt[c->vector].first; s >= 0 && !t->failed; s = t->stmt[s].next)
        rd_substitute_values(t, s, replacement_of, &one);
}

/* Replaces n * row + column in a position by the flat loop's axis, which counts elements. The
 * offset and other axes stay. */
static void flatten_position(const rd_flattening *c, rd_linear *position, int32_t axis)
{
    rd_linear at = *position;

    at        = rd_linear_with(c->t, at, c->row, rd_linear_of(0));
    at        = rd_linear_with(c->t, at, c->column, rd_linear_of(0));
    *position = rd_linear_plus_axis(c->t, at, /*coef=*/1, axis);
}

/* Packs rows that are apart in memory: "vector i0 from m2 to m3, by call { unroll i1 to 3 { r9 =
 * load s0[6*i0 + i1]; a6[3*i0 + i1 - 3*m2] = r9 } }". Returns the array. `of` is the vector loop
 * over rows as it was; its lower bound is the strip's first row, which comes first in the array.
 * The inner loop has no marks (start_mark, stop_mark -1), and comes from no loop of the program
 * (program_loop -1). */
static int32_t pack_rows(const rd_flattening *c, rd_for of, int32_t value)
{
    enum { BEHIND = 64 }; /* elements of room: vectors write past the last element */
    rd_schedule        *t      = c->t;
    const rd_tree_value let    = t->let[value];
    const rd_for        across = rd_rounds_from(RD_FOR_UNROLL, c->column, rd_linear_of(0), c->n);
    const rd_tree_array store  = { .storage = RD_IN_LOCAL,
                                   .type    = let.type,
                                   .memory  = true,
                                   .fold    = -1,
                                   .extent  = c->n * c->r->width + BEHIND };
    const int32_t       array = rd_add_store(t, &store), inner = rd_add_loop(t, &across);
    rd_stmt             store_stmt = rd_stmt_of(RD_S_STORE);

    of.by_call           = true;
    const int32_t groups = rd_add_loop(t, &of);

    store_stmt.store = array;
    store_stmt.type  = let.type;
    store_stmt.at    = rd_linear_plus_axis(t, rd_linear_of(0), c->n, c->row);
    store_stmt.at    = rd_linear_plus(t, store_stmt.at, -c->n, of.from.part[0].at);
    store_stmt.at    = rd_linear_plus_axis(t, store_stmt.at, /*coef=*/1, c->column);
    store_stmt.x     = rd_add_value(t, inner, &let);
    rd_append(t, inner, rd_add_stmt(t, &store_stmt));
    rd_append(t, groups, inner);
    rd_put_before(t, rd_add_declaration(t, array), c->vector);
    rd_put_before(t, groups, c->vector);
    return array;
}

/* Makes the vector loop visit the elements of all columns, n times as many, by a new axis that
 * counts elements (n * row + column), and rewrites its positions so. Loads with gaps between their
 * rows read a packed array. */
static void flatten_vector_loop(const rd_flattening *c)
{
    rd_schedule  *t    = c->t;
    const int32_t axis = rd_add_mark(t);
    const rd_for  rows = *rd_loop_of(t, c->vector);
    rd_for        loop = rows; /* will count elements: n a row */

    loop.axis = axis;
    loop.extent *= c->n;
    loop.from = rd_edge_of(rd_linear_plus(t, rd_linear_of(0), c->n, loop.from.part[0].at));
    loop.to   = rd_edge_of(rd_linear_plus(t, rd_linear_of(0), c->n, loop.to.part[0].at));
    t->loop[t->stmt[c->vector].arg] = loop;
    for (int32_t s = t->stmt[c->vector].first; s >= 0 && !t->failed; s = t->stmt[s].next) {
        const rd_tree_value *let = rd_let_of(t, s);

        if (let && let->kind == RD_I_LOAD && rd_has_grouped_rows(c, let))
            rd_replace_by_load(t, t->stmt[s].value, pack_rows(c, rows, t->stmt[s].value),
                               c->vector);
        else if (let && let->kind == RD_I_LOAD)
            flatten_position(c, &t->let[t->stmt[s].value].at, axis);
        else if (!let)
            flatten_position(c, &t->stmt[s].at, axis);
    }
}

/* Brings the loops into the order of the sample, moves the loop over columns before the strips,
 * flattens the vector loop, and repeats each value of a column that it reads. The loop over columns
 * is removed if nothing is left in it. `around`: the loop over columns stands around the strips;
 * `inside`: it stands in the loop over rows. hoist_point is the statement before which values of
 * columns can be made; -1: nothing is flattened, and the new order of the loops is as good as the
 * old one. */
static void flatten(rd_flattening *c)
{
    rd_schedule  *t = c->t;
    const int32_t n = t->n_let; /* values before this pass adds some */
    int32_t       hoist_point;

    if (c->around)
        move_strips_outside(c);
    hoist_point = rd_hoist_point_of_columns(c);
    if (hoist_point < 0)
        return;
    if (c->inside)
        move_columns_outside(c);
    rd_take_out(t, c->vector);
    rd_put_before(t, c->vector, c->across);
    rd_take_out(t, c->across);
    rd_put_before(t, c->across, hoist_point);
    flatten_vector_loop(c);
    for (int32_t value = 0; value < n && !t->failed; value++)
        if (t->let[value].made_by >= 0 && t->stmt[t->let[value].made_by].parent == c->across &&
            rd_is_read_in(t, value, c->vector))
            repeat_value(c, value, c->across);
    if (!t->failed && t->stmt[c->across].first < 0)
        rd_take_out(t, c->across);
}

/* The pass: maps of a few interleaved columns (colours of an image) become loops over contiguous
 * memory.  Statements from n on are those that the pass has added.  c.varies marks the values that
 * change along the rows of the loop at hand. The traversal goes on at the vector loop, as the
 * other loops may be gone. */
void rd_pass_flatten_maps(rd_schedule *t, const rd_target *target)
{
    rd_flattening c = { .t = t };

    for (int k = 0; target->strips && k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k], n = t->n_stmt; s >= 0 && !t->failed;
             s = rd_next_stmt(t, s, t->part[k])) {
            if (s >= n || t->stmt[s].kind != RD_S_LOOP)
                continue;
            free(c.varies);
            c.varies  = calloc((size_t)t->n_let + 1, sizeof *c.varies);
            t->failed = !c.varies;
            if (!c.varies || !rd_find_flat_maps(&c, target->strips, s))
                continue;
            flatten(&c);
            s = c.vector; /* the other loop may be gone */
        }
    free(c.varies);
}
