/* exp_rows.c - The pass exp_rows takes 16 rows, or 8, of a loop over pairs through each phase of an
 * exponential together (loop distribution inside a strip of rows).
 *
 *     serial i2, 4 at a time {             serial i2 by 16, starts m5 {
 *       array a1                             array a6, of 16 rows
 *       vector i0 { a1 = .. }                serial i2 from m5 to m5 + 16 { vector i0 { a6 = .. } }
 *       vector i0 by call { exp a1 }         serial i2 .. { vector i0 by call { exp a6 } }
 *       vector i0 { step f0 .. a1 }          serial i2 by 16, starts m7, hidden {
 *     }                                        serial i2 from m7 to m7 + 16 {
 *                                                vector i0 { step f0 .. a6 } } }
 *                                          }
 *                                          serial i2 { .. the rows that are left }
 *
 * A row is one chain of some fifteen operations that wait for each other.  Processors overlap five
 * such rows, as each operation waits in a queue of theirs; side by side the rows' operations hardly
 * wait.  Compilers write the loops out, and then arrays are registers, or stay in a first-level
 * cache.  What two phases compute of the same loads, such as differences of coordinates, is
 * computed twice: kept, it would leave the registers.  So compilers do not see that a later phase
 * begins at the same index (`hidden`).
 *
 * Times as parts of those before, f32, 10,000 x 10,000 points in three dimensions (gcc 12, Zen 5):
 * a Gaussian sum 0.81, its gradient by x 0.77, by y and the weights 0.82.
 *
 * A phase is an exponential, or what stands before the first one, between two, or behind the last.
 *
 * Fields. A loop's `program_loop` is the number of the program's loop that it comes from, -1: none.
 * A bound has n parts, of which the greatest or the least counts; one with by > 1 is rounded to a
 * multiple. A loop is `by_call` if the text runs it by one call of a function. */
#include "kernels/loop/facts.h"
#include "kernels/pass/pass.h"

/* Rows that go together; fewer of them, if phases hand more arrays to each other than registers
 * hold; the most arrays; and the most statements of a row, as compilers write all rows out. */
enum { ROWS = 16, ROWS_OF_MANY = 8, MANY_ARRAYS = 3, MOST_ARRAYS = 8, MOST_STATEMENTS = 128 };

/* The loop whose rows go together, and the arrays of one row and of all. */
typedef struct exp_rows {
    rd_schedule *t;
    int32_t      loop;
    int32_t      rows; /* rows that go together    */
    int32_t      mark; /* the first row of a round */
    int32_t      n_array, array[MOST_ARRAYS], many[MOST_ARRAYS];
} exp_rows;

/* ---- Which loops ----------------------------------------------------------------------------- */
/* True if the statement is a vector loop that runs by one call and takes exponentials of f32: its
 * first operation is exp. */
static bool is_exp_call(const rd_schedule *t, int32_t stmt)
{
    if (!rd_is_vector(t, stmt) || !rd_loop_of(t, stmt)->by_call)
        return false;
    for (int32_t s = t->stmt[stmt].first; s >= 0; s = t->stmt[s].next) {
        const rd_tree_value *let = rd_let_of(t, s);

        if (let && let->kind == RD_I_MAP)
            return let->op == RD_OP_exp && let->type == RD_F32;
    }
    return false;
}

/* True if a statement in a vector loop may be done for all rows before the next phase. It must
 * touch no memory of the program but by loads, and call no function of the caller: so no order of
 * rows can be noticed. A store with slot < 0 goes to a local array. BEGIN to FINISH change
 * accumulators of a fold. */
static bool can_stage(const rd_schedule *t, int32_t stmt)
{
    const rd_tree_value *let = rd_let_of(t, stmt);

    switch (t->stmt[stmt].kind) {
    case RD_S_LET: return let->kind != RD_I_CALL;
    case RD_S_STORE: return t->stmt[stmt].slot < 0;
    case RD_S_LOOP: return rd_loop_of(t, stmt)->kind == RD_FOR_UNROLL;
    case RD_S_ARRAY:
    case RD_S_BEGIN:
    case RD_S_STEP:
    case RD_S_MERGE_BLOCKS:
    case RD_S_MERGE_LANES:
    case RD_S_FINISH: return true;
    default: return false;
    }
}

/* True if the vector loop, directly in the loop over rows, visits strips of constant length, and
 * all of its statements may be staged (can_stage()). A strip is a range of elements that is done at
 * a time; `strip` is the serial loop over strips that binds where the vector loop begins. */
static bool can_stage_vector(const rd_schedule *t, int32_t vector)
{
    const rd_for *l     = rd_loop_of(t, vector);
    const int32_t strip = l->from.n == 1 && l->from.part[0].at.n == 1
                              ? rd_binder_of(t, vector, t->term[l->from.part[0].at.first].axis)
                              : -1;

    if (strip < 0 || rd_loop_of(t, strip)->kind != RD_FOR_SERIAL ||
        rd_loop_of(t, strip)->width != l->extent || l->nontemporal || l->in_order || l->flattened)
        return false;
    for (int32_t s = rd_next_stmt(t, vector, vector); s >= 0; s = rd_next_stmt(t, s, vector))
        if (!can_stage(t, s))
            return false;
    return true;
}

/* The number of a loop's phase in the row: twice the number of exponentials before it, and one more
 * if it is an exponential itself. So even numbers are what stands between exponentials. */
static int phase_of_loop(const rd_schedule *t, int32_t row, int32_t stmt)
{
    int phase = is_exp_call(t, stmt);

    for (int32_t s = t->stmt[row].first; s != stmt; s = t->stmt[s].next)
        phase += 2 * is_exp_call(t, s);
    return phase;
}

/* The phase of a statement of the row. For a loop: phase_of_loop(). For a value: that of its
 * readers; -1: readers are of several phases, so that rows cannot be staged. 0 for an array, and
 * for what nobody reads. In here -2 means that no reader is known yet. */
static int phase_of(const rd_schedule *t, int32_t row, int32_t stmt)
{
    int phase = -2;

    if (t->stmt[stmt].kind == RD_S_LOOP)
        return phase_of_loop(t, row, stmt);
    for (int32_t s = t->stmt[stmt].next; s >= 0 && t->stmt[stmt].kind == RD_S_LET;
         s         = t->stmt[s].next) {
        const int own =
            rd_reads_value(t, s, t->stmt[stmt].value) || rd_is_read_in(t, t->stmt[stmt].value, s)
                ? phase_of(t, row, s)
                : -2;

        if (own != -2 && phase != -2 && own != phase)
            return -1;
        phase = own != -2 ? own : phase;
    }
    return phase == -2 ? 0 : phase;
}

/* True if all steps of the step's fold (reduction) in the row stand in the given phase, so that
 * each accumulator takes its elements in the same order as before. */
static bool keeps_order(const rd_schedule *t, int32_t row, int32_t phase, int32_t step)
{
    for (int32_t s = t->stmt[row].first; s >= 0; s = t->stmt[s].next)
        for (int32_t k = s; k >= 0 && t->stmt[s].kind == RD_S_LOOP; k = rd_next_stmt(t, k, s))
            if (t->stmt[k].kind == RD_S_STEP && t->stmt[k].fold == t->stmt[step].fold &&
                phase_of_loop(t, row, s) != phase)
                return false;
    return true;
}

/* True if the loop at `stmt` of the row may be done for all rows before the next phase: a vector
 * loop, no call but of exponentials, whose statements may all be staged and whose reductions keep
 * their order. */
static bool can_stage_loop(const rd_schedule *t, int32_t row, int32_t stmt)
{
    if (!rd_is_vector(t, stmt) || (rd_loop_of(t, stmt)->by_call && !is_exp_call(t, stmt)) ||
        !can_stage_vector(t, stmt))
        return false;
    for (int32_t s = stmt; s >= 0; s = rd_next_stmt(t, s, stmt))
        if (t->stmt[s].kind == RD_S_STEP && !keeps_order(t, row, phase_of_loop(t, row, stmt), s))
            return false;
    return true;
}

/* True if the statement declares a local array of elements. */
static bool is_array(const rd_schedule *t, int32_t stmt)
{
    const rd_tree_array *store =
        t->stmt[stmt].kind == RD_S_ARRAY ? &t->store[t->stmt[stmt].store] : NULL;

    return store && store->fold < 0 && store->storage == RD_IN_LOCAL;
}

/* The number of statements in a row, at any depth. */
static int statements_of(const rd_schedule *t, int32_t row)
{
    int n = 0;

    for (int32_t s = rd_next_stmt(t, row, row); s >= 0; s = rd_next_stmt(t, s, row))
        n++;
    return n;
}

/* How many rows go together; 0: the row at hand cannot be staged. All of its statements must be
 * values, local arrays or vector loops that may be staged, each of one phase. Its last phase must
 * be a later one than 0 and no exponential (even), so that something follows one. */
static int32_t rows_of(const rd_schedule *t, int32_t row)
{
    int arrays = 0, phases = 0;

    for (int32_t s = t->stmt[row].first; s >= 0; s = t->stmt[s].next) {
        const bool loop = t->stmt[s].kind == RD_S_LOOP;

        arrays += is_array(t, s);
        if (loop ? !can_stage_loop(t, row, s) : t->stmt[s].kind != RD_S_LET && !is_array(t, s))
            return 0;
        if (phase_of(t, row, s) < 0)
            return 0;
        phases = loop ? phase_of_loop(t, row, s) : phases;
    }
    if (arrays > MOST_ARRAYS || phases == 0 || phases % 2 ||
        statements_of(t, row) > MOST_STATEMENTS)
        return 0;
    return arrays >= MANY_ARRAYS ? ROWS_OF_MANY : ROWS;
}

/* True if the statement is a serial loop of 16 rounds or more that compilers shall write out,
 * upwards between two unrounded bounds. */
static bool is_written_out(const rd_schedule *t, int32_t stmt)
{
    const rd_for *l = t->stmt[stmt].kind == RD_S_LOOP ? rd_loop_of(t, stmt) : NULL;

    return l && l->kind == RD_FOR_SERIAL && l->unroll > 0 && l->program_loop >= 0 &&
           l->start_mark < 0 && l->stop_mark < 0 && l->step == 1 &&
           (l->extent < 0 || l->extent >= ROWS) && rd_goes_up(l);
}

/* ---- Arrays ---------------------------------------------------------------------------------- */
/* Declares, in the body of the loop `made`, an array with room for all rows, one behind the other,
 * for each array of a row. e->array[k] is the store (number of the array) of a row, e->many[k] that
 * of all rows. */
static void declare_arrays(exp_rows *e, int32_t made)
{
    rd_schedule *t = e->t;

    for (int32_t s = t->stmt[e->loop].first; s >= 0 && !t->failed; s = t->stmt[s].next) {
        rd_stmt       array = t->stmt[s];
        rd_tree_array store;

        if (array.kind != RD_S_ARRAY)
            continue;
        store = t->store[array.store];
        store.extent *= e->rows;
        e->array[e->n_array] = array.store;
        e->many[e->n_array]  = rd_add_store(t, &store);
        array.store          = e->many[e->n_array++];
        rd_append(t, made, rd_add_stmt(t, &array));
    }
}

/* The position of an element in the array of all rows: its position in the row's array, plus
 * `extent` elements for each row behind the first one of the round, to which the axis `mark` is
 * bound. */
static rd_linear in_row(const exp_rows *e, rd_linear at, int32_t array, int32_t mark)
{
    const int64_t extent = e->t->store[e->array[array]].extent;
    const int32_t axis   = rd_loop_of(e->t, e->loop)->axis;

    return rd_linear_plus_axis(e->t, rd_linear_plus_axis(e->t, at, extent, axis), -extent, mark);
}

/* If the statement loads from or stores to array k of a row, makes it use the array of all rows
 * (e->many[k]) instead. `mark`: the axis bound to the first row of the round. */
static void use_array(const exp_rows *e, int32_t stmt, int32_t k, int32_t mark)
{
    rd_schedule *t = e->t;

    if (t->stmt[stmt].kind == RD_S_LET) {
        const int32_t value = t->stmt[stmt].value;

        if (t->let[value].kind != RD_I_LOAD || t->let[value].slot >= 0 ||
            t->let[value].store != e->array[k])
            return;
        const rd_linear at  = in_row(e, t->let[value].at, k, mark);
        t->let[value].at    = at;
        t->let[value].store = e->many[k];
    } else if (t->stmt[stmt].kind == RD_S_STORE && t->stmt[stmt].store == e->array[k]) {
        const rd_linear at  = in_row(e, t->stmt[stmt].at, k, mark);
        t->stmt[stmt].at    = at;
        t->stmt[stmt].store = e->many[k];
    }
}

/* ---- Phases ---------------------------------------------------------------------------------- */
/* Takes the statements of other phases, and all arrays, out of a copy of the row; phase -1: takes
 * all out.  `from` is the original of each statement, in whose row phases are counted. */
static void keep_phase(const exp_rows *e, int32_t copy, int phase)
{
    rd_schedule *t = e->t;

    for (int32_t s = t->stmt[copy].first, from = t->stmt[e->loop].first, next; s >= 0;
         s = next, from = t->stmt[from].next) {
        next = t->stmt[s].next;
        if (phase < 0 || t->stmt[s].kind == RD_S_ARRAY || phase_of(t, e->loop, from) != phase)
            rd_take_out(t, s);
    }
}

/* A copy of the loop over rows that goes from the mark (the first row of a round) over e->rows
 * rows, by `step`, and keeps the statements of one phase; -1: none.  Compilers shall write out its
 * rounds (unroll). */
static int32_t loop_from(const exp_rows *e, int32_t mark, int64_t step, int phase)
{
    rd_schedule    *t    = e->t;
    const int32_t   made = rd_stmt_copy(t, e->loop);
    const rd_linear from = rd_linear_plus_axis(t, rd_linear_of(0), 1, mark);
    rd_for         *l;

    if (t->failed)
        return made;
    keep_phase(e, made, phase);
    l               = &t->loop[t->stmt[made].arg];
    l->from         = rd_edge_of(from);
    l->to           = rd_edge_of(from);
    l->step         = step;
    l->extent       = e->rows / step;
    l->unroll       = e->rows / (int32_t)step;
    l->program_loop = -1;
    l->to.part[0].at.offset += e->rows;
    return made;
}

/* A loop over the rows of a round with the statements of one phase, which use the arrays of all
 * rows. */
static int32_t phase_loop(const exp_rows *e, int phase, int32_t mark)
{
    const int32_t made = loop_from(e, mark, 1, phase);

    for (int32_t s = made; s >= 0 && !e->t->failed; s = rd_next_stmt(e->t, s, made))
        for (int k = 0; k < e->n_array; k++)
            use_array(e, s, k, mark);
    return made;
}

/* The same inside a loop that runs once (step: all rows), and whose first index is hidden from
 * compilers: they load and compute again what earlier phases have, rather than keep it. */
static int32_t hidden_loop(const exp_rows *e, int phase)
{
    rd_schedule  *t    = e->t;
    const int32_t mark = rd_add_mark(t), made = loop_from(e, e->mark, e->rows, -1);

    if (t->failed)
        return made;
    t->loop[t->stmt[made].arg].start_mark = mark;
    t->loop[t->stmt[made].arg].unroll     = 0;
    t->loop[t->stmt[made].arg].hidden     = true;
    rd_append(t, made, phase_loop(e, phase, mark));
    return made;
}

/* The number of the row's last phase: that of its last loop. */
static int last_phase(const rd_schedule *t, int32_t row)
{
    int last = 0;

    for (int32_t s = t->stmt[row].first; s >= 0; s = t->stmt[s].next)
        last = t->stmt[s].kind == RD_S_LOOP ? phase_of_loop(t, row, s) : last;
    return last;
}

/* Makes the loop over so many rows at a time, from its first index on. It ends at `border`, the
 * last whole round; e->mark is bound to the first row of a round. */
static int32_t make_rounds(exp_rows *e, const rd_edge_part *border)
{
    rd_schedule  *t    = e->t;
    const int32_t made = rd_stmt_copy(t, e->loop);
    rd_for       *l;

    if (t->failed)
        return made;
    keep_phase(e, made, -1);
    l             = &t->loop[t->stmt[made].arg];
    l->start_mark = e->mark;
    l->step       = e->rows;
    l->to.part[0] = *border;
    l->extent     = l->extent >= 0 ? l->extent / e->rows : -1;
    l->unroll     = 0;
    declare_arrays(e, made);
    for (int phase = 0; phase <= last_phase(t, e->loop) && !t->failed; phase++)
        rd_append(t, made,
                  phase == 0 || phase % 2 ? phase_loop(e, phase, e->mark) : hidden_loop(e, phase));
    return made;
}

/* Puts the loop over rounds of rows before the loop, which keeps the rows that are left. `border`
 * is the end, rounded down to whole rounds. */
static void stage_rows(rd_schedule *t, int32_t loop, int32_t rows)
{
    const rd_for       l      = *rd_loop_of(t, loop);
    const rd_edge_part border = rd_whole_rounds(&l, rows);
    exp_rows           e      = { .t = t, .loop = loop, .rows = rows, .mark = rd_add_mark(t) };
    int32_t            made;

    if (t->failed)
        return;
    made = make_rounds(&e, &border);
    if (t->failed)
        return;
    rd_put_before(t, made, loop);
    rd_keep_rest(t, loop, &border, rows);
    t->loop[t->stmt[loop].arg].unroll = 0;
}

/* The pass: lets 16 or 8 rows of pairs go together through each phase of their exponentials, in all
 * parts of the tree. Rows of other loops stay as they are. */
void rd_pass_exp_rows(rd_schedule *t, const rd_target *target)
{
    (void)target;
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0 && !t->failed; s = rd_next_stmt(t, s, t->part[k])) {
            const int32_t rows = is_written_out(t, s) ? rows_of(t, s) : 0;

            if (rows > 0)
                stage_rows(t, s, rows);
        }
}
