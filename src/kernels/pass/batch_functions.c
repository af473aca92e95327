/* batch_functions.c - The pass batch_functions applies functions of row results to many rows at
 * once (loop fission and vectorisation).
 *
 *     serial i1 {                        serial i1 by 64, starts m0, stops m1 {
 *       serial i0 ..                       serial i1 from m0 to m1 { serial i0 ..; r2 = finish ..
 *       r2 = finish f1 ..                    a5[i1 - m0] = r2 }
 *       r3 = sigmoid f32 r2                vector i1 from m0 to m1 {
 *       serial i0 .. r3 .. }                 a6[i1 - m0] = sigmoid f32 a5[i1 - m0] }
 *                                          serial i1 from m0 to m1 {
 *                                            r7 = a6[i1 - m0]; serial i0 .. r7 .. } }
 *
 * A single exponential or logarithm takes 10 to 25 ns, as long as some hundred elements of the
 * row; in vectors it takes one or two. A chunk of rows stays in a cache until the second loop
 * has read it.
 *
 * A row is one round of the loop; a part is the head, the body or the tail of the program.  A
 * value is made by one LET statement, and its `kind` is that of an instruction.
 *
 * Fields. A loop's `strips_number` is the number of the strips that it runs over, -1: none. */
#include "kernels/loop/facts.h"
#include "kernels/pass/fission_points.h"
#include "kernels/pass/loop_chunks.h"
#include "kernels/pass/pass.h"
#include "kernels/pass/strip_arrays.h"

/* The loop to be split.  Statements [from, to) of its body become a vector loop; to = -1: up to the
 * body's end.  `chunk`: so many rounds go through all three new loops before the next ones do. */
typedef struct batching {
    rd_schedule *t;
    int32_t      loop, from, to;
    int64_t      chunk;
} batching;

/* ---- Which loops ----------------------------------------------------------------------------- */
/* True if the statement makes a value that vectors can make.  A user's function (CALL) has no
 * vectors, and a checked index (INDEX) may end a run. */
static bool can_vectorise(const rd_schedule *t, int32_t stmt)
{
    const rd_tree_value *let = rd_let_of(t, stmt);

    return let && (let->kind == RD_I_CONST || let->kind == RD_I_COORD || let->kind == RD_I_LOAD ||
                   let->kind == RD_I_MAP || let->kind == RD_I_CAST || let->kind == RD_I_SELECT);
}

/* True if the statement makes a float by a function that takes long for a single element, such as
 * exp: one of this library (from RD_BY_OURS on in ops.def), or one that vectors cannot hold. */
static bool is_function(const rd_schedule *t, int32_t stmt)
{
    const rd_tree_value *let = rd_let_of(t, stmt);

    return let && let->kind == RD_I_MAP && rd_dtype_kind(let->type) == RD_KIND_FLOAT &&
           (rd_op_table[let->op].by >= RD_BY_OURS || rd_let_needs_fission(t, let));
}

/* True if a round has a checked index or a call, which may fail. */
static bool can_fail(const rd_schedule *t, int32_t loop)
{
    bool fails = false;

    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop)) {
        const rd_tree_value *let = rd_let_of(t, s);

        fails |= let && (let->kind == RD_I_INDEX || let->kind == RD_I_CALL);
    }
    return fails;
}

/* Returns the approximate number of elements that a round (row) reads: the product of the extents
 * of all axes that loops in its body visit. batch_size() keeps a chunk of rows so small that these
 * elements are still in a cache when the last of the three loops reads them again. */
static double elements_of_round(const rd_schedule *t, int32_t loop)
{
    double n    = 1;
    bool   seen = false;

    for (int32_t a = 0; a < t->p->n_axis; a++, seen = false) {
        for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop))
            seen |= t->stmt[s].kind == RD_S_LOOP && rd_loop_of(t, s)->axis == a;
        n *= seen ? (double)t->p->axis_extent[a] : 1;
    }
    return n;
}

/* Returns the number of rounds of a chunk, by the elements of a round: 64, 32 or 16, so that a
 * chunk has at most 32768 elements or so. 0: there is no loop inside (n <= 1), or a round is so
 * long that the one function takes no time beside it. */
static int64_t batch_size(const rd_schedule *t, int32_t loop)
{
    enum { SHORT = 256, MIDDLE = 1024, LONG = 2048 };
    const double elements = elements_of_round(t, loop);

    return elements <= 1        ? 0
           : elements <= SHORT  ? 64
           : elements <= MIDDLE ? 32
           : elements <= LONG   ? 16
                                : 0;
}

/* True if the statement is a serial loop upwards, outside of vector loops, over single indices
 * (start_mark < 0: no marks; strips_number < 0: no strips) of an axis of the program. It has 16
 * rounds or more, so that vectors get filled, or a number known at run time only (extent < 0). */
static bool is_plain(const rd_schedule *t, int32_t stmt)
{
    enum { LEAST = 16 };
    const rd_for *loop = t->stmt[stmt].kind == RD_S_LOOP ? rd_loop_of(t, stmt) : NULL;

    return loop && loop->kind == RD_FOR_SERIAL && !loop->backwards && loop->step == 1 &&
           loop->start_mark < 0 && loop->strips_number < 0 && loop->axis < t->p->n_axis &&
           (loop->extent < 0 || loop->extent >= LEAST) && rd_vector_around(t, stmt) < 0;
}

/* Sets r->from to the first costly function (exp, log ..) in the loop's body, and r->to to the
 * first statement behind it that vectors cannot do, -1: none. A STORE that ends the body goes with
 * the functions. False if there is no function, or nothing before it, as then nothing is to be
 * split. */
static bool find_functions(batching *r)
{
    const rd_schedule *t = r->t;

    r->from = t->stmt[r->loop].first;
    while (r->from >= 0 && !is_function(t, r->from))
        r->from = t->stmt[r->from].next;
    if (r->from < 0 || t->stmt[r->loop].first == r->from)
        return false;
    r->to = r->from;
    while (r->to >= 0 && can_vectorise(t, r->to))
        r->to = t->stmt[r->to].next;
    if (r->to >= 0 && t->stmt[r->to].kind == RD_S_STORE && t->stmt[r->to].next < 0)
        r->to = -1;
    return true;
}

/* True if the loop has costly functions, no round can fail, and the loop may be split before the
 * functions and behind them. */
static bool can_batch(batching *r)
{
    const rd_schedule *t = r->t;

    return is_plain(t, r->loop) && find_functions(r) && (r->chunk = batch_size(t, r->loop)) &&
           !can_fail(t, r->loop) && rd_may_fission(t, r->loop, r->from, /*why=*/NULL) &&
           (r->to < 0 || rd_may_fission(t, r->loop, r->to, /*why=*/NULL));
}

/* ---- Three loops of one ---------------------------------------------------------------------- */
/* Moves the statement `at`, and all behind it in the loop, into a new loop behind this one.
 * Returns the new loop; -1: no memory. */
static int32_t split_loop(rd_schedule *t, int32_t loop, int32_t at)
{
    const int32_t made = rd_split_vector(t, at, loop);

    return t->failed ? -1 : made;
}

/* Puts a loop over chunks of rounds around the loop, and splits the loop in it in three (fission):
 * before the functions, the vector loop of functions, and behind. Values go from loop to loop
 * through arrays with an element for each round of a chunk (scalar expansion). Each
 * rd_expand_values() passes the values of the one loop to the other. The middle loop stays serial
 * where vectors are not legal. */
static void split_into_batches(batching *r)
{
    rd_schedule *t = r->t;
    int32_t      middle, last = -1;

    rd_put_chunks_around(t, r->loop, r->chunk);
    middle = t->failed ? -1 : split_loop(t, r->loop, r->from);
    if (middle >= 0 && r->to >= 0)
        last = split_loop(t, middle, r->to);
    if (t->failed)
        return;
    rd_expand_values(t, r->loop, middle);
    if (last >= 0) {
        rd_expand_values(t, r->loop, last);
        rd_expand_values(t, middle, last);
    }
    if (!t->failed && rd_may_be_vector(t, middle, /*why=*/NULL))
        t->loop[t->stmt[middle].arg].kind = RD_FOR_VECTOR;
}

/* The pass: functions of row results, such as exp of a sum, are applied to a chunk (some rows) at
 * once, in a vector loop. can_batch() says where. Statements from n on are those that the pass
 * itself has added, and need no visit. */
void rd_pass_batch_functions(rd_schedule *t, const rd_target *target)
{
    (void)target;
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k], n = t->n_stmt; s >= 0 && !t->failed;
             s = rd_next_stmt(t, s, t->part[k])) {
            batching r = { .t = t, .loop = s };

            if (s < n && can_batch(&r))
                split_into_batches(&r);
        }
}
