/* loop_chunks.c - Strip-mines a loop into chunks, and passes values between loops of a chunk by
 * arrays.
 *
 * A chunk is a range of the loop's rounds, between two marks: axes that are bound to the first
 * index of the range and to the index behind its last. */
#include "kernels/pass/loop_chunks.h"
#include "kernels/loop/facts.h"
#include "kernels/pass/strip_arrays.h"

/* Returns the position that is just a mark: an axis bound to the first index of a chunk, or to the
 * one behind its last. */
static rd_linear mark_position(rd_schedule *t, int32_t axis)
{
    return rd_linear_plus_axis(t, rd_linear_of(0), /*coef=*/1, axis);
}

/* Strip-mines the loop of a statement: puts a loop over chunks of so many rounds around it, and
 * the loop itself visits one chunk, from mark `start` to mark `stop`. A mark is an axis bound to
 * an end of the chunk. The new loop comes from no loop of the program (program_loop -1); extent <
 * 0: rounds are known at run time only. */
void rd_put_chunks_around(rd_schedule *t, int32_t stmt, int64_t chunk)
{
    const int32_t start = rd_add_mark(t), stop = rd_add_mark(t);
    const rd_for  loop  = *rd_loop_of(t, stmt);
    const rd_for  outer = { .kind       = RD_FOR_SERIAL,
                            .axis       = loop.axis,
                            .start_mark = start,
                            .stop_mark  = stop,
                            .from       = loop.from,
                            .to         = loop.to,
                            .step       = chunk,
                            .extent     = loop.extent < 0 ? -1 : (loop.extent + chunk - 1) / chunk,
                            .program_loop  = -1,
                            .strips_number = -1 };
    const rd_edge from  = rd_edge_of(mark_position(t, start)),
                  to    = rd_edge_of(mark_position(t, stop));

    rd_put_loop_around(t, stmt, stmt, &outer);
    if (t->failed)
        return;
    t->loop[t->stmt[stmt].arg].from   = from;
    t->loop[t->stmt[stmt].arg].to     = to;
    t->loop[t->stmt[stmt].arg].extent = chunk;
}

/* A substitution in operands: value `by` replaces `value`. */
typedef struct expanded_value {
    int32_t value, by;
} expanded_value;

/* For rd_substitute_values(): returns `by` for the expanded value, and all others unchanged. */
static int32_t replacement_of(void *of, int32_t value)
{
    const expanded_value *expanded = of;

    return value == expanded->value ? expanded->by : value;
}

/* Returns the value in the loop `to` that stands for a value of the loop `from`: constants and
 * coordinates are computed again, others are loaded from a new array that `from` fills. made_by:
 * the statement that makes a value. rd_add_array_before() declares an array with an element for
 * each round of a chunk; the others add a store to the end of `from`, and a load to the start of
 * `to`. */
static int32_t expand_value(rd_schedule *t, int32_t value, int32_t from, int32_t to)
{
    const rd_tree_value let = t->let[value];
    const int32_t       copy =
        let.kind == RD_I_CONST || let.kind == RD_I_COORD ? rd_stmt_copy(t, let.made_by) : -1;
    int32_t store;

    if (copy >= 0 && !t->failed) {
        rd_put_before(t, copy, t->stmt[to].first);
        return t->stmt[copy].value;
    }
    store = rd_add_array_before(t, from, let.type);
    rd_store_at_end(t, from, value, store);
    return rd_load_at_start(t, to, store, to);
}

/* For each value that stands directly in the loop `from` and is read in the loop `to`: makes all
 * statements of `to` read an array, or a value computed again (scalar expansion). n: values that
 * were there before. */
void rd_expand_values(rd_schedule *t, int32_t from, int32_t to)
{
    for (int32_t value = 0, n = t->n_let; value < n && !t->failed; value++) {
        const int32_t  maker = t->let[value].made_by;
        expanded_value expanded;

        if (maker < 0 || t->stmt[maker].parent != from || !rd_is_read_in(t, value, to))
            continue;
        expanded = (expanded_value){ value, expand_value(t, value, from, to) };
        for (int32_t s = rd_next_stmt(t, to, to); s >= 0 && !t->failed; s = rd_next_stmt(t, s, to))
            rd_substitute_values(t, s, replacement_of, &expanded);
    }
}
