/* unroll_jam_outer.c - The pass unroll_jam_outer jams a few rounds of an outer loop into the
 * serial loop between it and a vector loop (unroll-and-jam). Each round has states of its own,
 * so an element that is the same for all rounds is loaded once.
 *
 *     serial i2 {                         serial i2 by 4, starts m5 {
 *       array a1; begin f1                  array a6, of four rows; begin f1
 *       serial i1 {                         serial i1 {
 *         r0 = load s0[i1 + 50*i2]            vector i0 {
 *         vector i0 {                           unroll i2 from m5 to m5 + 1 {
 *           step f1 a1 .. } }                     r0 = load ..; step f1 a6 .. }
 *       vector i0 { finish f1 a1 .. } }         .. } }
 *                                           unroll i2 from m5 to m5 + 1 {
 *                                             vector i0 { finish f1 .. } }
 *                                           .. }
 *                                         serial i2 { .. the rows that are left }
 *
 * A row may have several serial loops, such as the distance of a pair of points and its gradient.
 * Each becomes a jammed loop, and what stands between them is done row by row between the jammed
 * loops.  An array of elements that one of these parts hands to another is copied to one with room
 * for all rows, as calls of functions take whole arrays.
 *
 * To jam rounds is to put their copies side by side into an inner loop.  A row is one round of the
 * outer loop.
 *
 * Fields. A loop's `of` is the number of the program's loop that it comes from, -1: none. A bound
 * has n parts, of which the greatest or the least counts; one with by > 1 is rounded to a multiple.
 * A loop is `by_call` if the text runs it by one call of a function.
 *
 * Words. A mark is an axis that is bound to where a loop's round begins or ends. A fold is a
 * reduction or a scan. */
#include "kernels/loop/facts.h"
#include "kernels/pass/pass.h"
#include "kernels/pass/state_copies.h"
#include "kernels/pass/strip_arrays.h"

/* Jammed rows have at most 1024 states in an array, and 8 arrays. */
enum { MOST_STATES = 1024, MOST_ARRAYS = 8 };

/* The loop whose rows are jammed, and the arrays of their states. */
typedef struct jammed_rows {
    rd_schedule *t;
    int32_t      loop; /* the loop over rows         */
    int32_t      rows; /* rows that are jammed       */
    int32_t      mark; /* the first row of a round   */
    int32_t      n_array;
    int32_t      array[MOST_ARRAYS], many[MOST_ARRAYS]; /* of one row; of all rows */
    int32_t      part[MOST_ARRAYS]; /* of elements: the last statement of the part that makes them;
                                     * of states: -1 */
} jammed_rows;

/* ---- Which loops ----------------------------------------------------------------------------- */
/* The serial loop of a statement, if it goes over single indices (no mark); else NULL. */
static const rd_for *serial_at(const rd_schedule *t, int32_t stmt)
{
    const rd_for *loop = t->stmt[stmt].kind == RD_S_LOOP ? rd_loop_of(t, stmt) : NULL;

    return loop && loop->kind == RD_FOR_SERIAL && loop->start < 0 ? loop : NULL;
}

/* The vector loop that is the whole body, but for values before it; -1 if there is none.  It is no
 * call. */
static int32_t vector_in(const rd_schedule *t, int32_t loop)
{
    int32_t s = t->stmt[loop].first;

    while (s >= 0 && t->stmt[s].kind == RD_S_LET)
        s = t->stmt[s].next;
    return s >= 0 && t->stmt[s].next < 0 && t->stmt[s].kind == RD_S_LOOP &&
                   rd_loop_of(t, s)->kind == RD_FOR_VECTOR && !rd_loop_of(t, s)->by_call
               ? s
               : -1;
}

/* How many serial loops each row has into which all rows can be jammed (unroll-and-jam): each has
 * a vector loop, and the same range in each row.  0: some serial loop has not. */
static int inner_loops(const rd_schedule *t, int32_t loop)
{
    int found = 0;

    for (int32_t s = t->stmt[loop].first; s >= 0; s = t->stmt[s].next) {
        if (!serial_at(t, s))
            continue;
        if (vector_in(t, s) < 0 || rd_edges_vary(t, loop, s))
            return 0;
        found++;
    }
    return found;
}

/* True if a statement reads or writes the array, of elements or of states. */
static bool uses_array(const rd_schedule *t, int32_t stmt, int32_t array)
{
    const rd_stmt *s   = &t->stmt[stmt];
    const rd_let  *let = s->kind == RD_S_LET ? &t->let[s->value] : NULL;

    return let ? let->kind == RD_I_LOAD && let->slot < 0 && let->store == array
               : s->store == array && s->kind != RD_S_ARRAY;
}

/* The statement of the row in whose body the statement stands, or which it is. */
static int32_t top_of(const rd_schedule *t, int32_t loop, int32_t stmt)
{
    while (t->stmt[stmt].parent != loop)
        stmt = t->stmt[stmt].parent;
    return stmt;
}

/* The last statement of the part of a row that holds the statement: parts end before and behind
 * serial loops. */
static int32_t end_of_part(const rd_schedule *t, int32_t stmt)
{
    while (!serial_at(t, stmt) && t->stmt[stmt].next >= 0 && !serial_at(t, t->stmt[stmt].next))
        stmt = t->stmt[stmt].next;
    return stmt;
}

/* True if an array that the statement of a row declares is used in another part than its own. */
static bool is_used_elsewhere(const rd_schedule *t, int32_t loop, int32_t stmt)
{
    for (int32_t s = t->stmt[stmt].next; s >= 0; s = rd_next_stmt(t, s, loop))
        if (uses_array(t, s, t->stmt[stmt].store) &&
            end_of_part(t, top_of(t, loop, s)) != end_of_part(t, stmt))
            return true;
    return false;
}

/* True if the statement declares an array of a fold's states, not of elements. */
static bool is_of_states(const rd_schedule *t, int32_t stmt)
{
    return t->stmt[stmt].kind == RD_S_ARRAY && t->store[t->stmt[stmt].store].fold >= 0;
}

/* True if the statement of a row declares an array that each row needs for itself: of a fold's
 * states, or of elements that one part hands to another. */
static bool is_of_each_row(const rd_schedule *t, int32_t loop, int32_t stmt)
{
    return is_of_states(t, stmt) ||
           (t->stmt[stmt].kind == RD_S_ARRAY && is_used_elsewhere(t, loop, stmt));
}

/* True if other parts than the one that declares the array only load from it, in loops of their
 * own text. */
static bool can_hand_on(const rd_schedule *t, int32_t loop, int32_t stmt)
{
    for (int32_t s = t->stmt[stmt].next; s >= 0; s = rd_next_stmt(t, s, loop)) {
        const int32_t vector = rd_vector_around(t, s);

        if (uses_array(t, s, t->stmt[stmt].store) &&
            end_of_part(t, top_of(t, loop, s)) != end_of_part(t, stmt) &&
            (t->stmt[s].kind != RD_S_LET || vector < 0 || rd_loop_of(t, vector)->by_call))
            return false;
    }
    return true;
}

/* True if states of a row are 1 to 8 local arrays, and all jammed (unroll-and-jam) rows have 1024
 * states or fewer in each. */
static bool can_multiply_arrays(const rd_schedule *t, int32_t loop, int32_t rows)
{
    int32_t n = 0;

    for (int32_t s = t->stmt[loop].first; s >= 0; s = t->stmt[s].next) {
        const bool      own = is_of_each_row(t, loop, s);
        const rd_store *store =
            t->stmt[s].kind == RD_S_BEGIN || own ? &t->store[t->stmt[s].store] : NULL;

        if (own && store->fold < 0 && !can_hand_on(t, loop, s))
            return false;
        if (store && (store->storage != RD_IN_LOCAL || store->extent * rows > MOST_STATES))
            return false;
        n += own;
    }
    return n > 0 && n <= MOST_ARRAYS;
}

/* Moves a value of the row to the part that reads it, if `moves`; false: several parts do. */
static bool move_to_reader(rd_schedule *t, int32_t loop, int32_t stmt, bool moves)
{
    int32_t first = -1;

    for (int32_t s = t->stmt[stmt].next; s >= 0; s = rd_next_stmt(t, s, loop)) {
        if (!rd_reads_value(t, s, t->stmt[stmt].value))
            continue;
        if (first >= 0 && end_of_part(t, top_of(t, loop, s)) != end_of_part(t, first))
            return false;
        first = first >= 0 ? first : top_of(t, loop, s);
    }
    if (first >= 0 && serial_at(t, first))
        return false;
    if (moves && first >= 0 && first != t->stmt[stmt].next) {
        rd_take_out(t, stmt);
        rd_put_before(t, stmt, first);
    }
    return true;
}

/* Moves the values that stand in the row itself to the parts that read them, the last one first, if
 * `moves`; false: that cannot be. */
static bool move_values(rd_schedule *t, int32_t loop, bool moves)
{
    for (int32_t s = t->stmt[loop].last, prev; s >= 0; s = prev) {
        prev = t->stmt[s].prev;
        if (t->stmt[s].kind == RD_S_LET && !move_to_reader(t, loop, s, moves))
            return false;
    }
    return true;
}

/* The number of rows to jam, as it was chosen for the loop of the program.  0: the statement is no
 * serial loop, upwards between two unrounded bounds, or its rows have no loop and states that allow
 * it. */
static int32_t rows_to_jam(rd_schedule *t, const rd_target *target, int32_t stmt)
{
    const rd_for *loop = serial_at(t, stmt);
    int32_t       rows;

    if (!loop || loop->of < 0 || loop->backwards || loop->step != 1 || loop->from.n != 1 ||
        loop->to.n != 1 || loop->from.part[0].by > 1 || loop->to.part[0].by > 1)
        return 0;
    rows = target->strips->unroll_jam_outer[loop->of];
    return rows > 1 && inner_loops(t, stmt) && can_multiply_arrays(t, stmt, rows) &&
                   move_values(t, stmt, /*moves=*/false)
               ? rows
               : 0;
}

/* ---- Arrays of rows -------------------------------------------------------------------------- */
/* Declares arrays with room for all rows, one row behind the other, in the body of the loop `made`.
 * They replace the arrays of one row; *j gets the numbers of both. */
static void declare_arrays(jammed_rows *j, int32_t made)
{
    rd_schedule *t = j->t;

    for (int32_t s = t->stmt[j->loop].first; s >= 0 && !t->failed; s = t->stmt[s].next) {
        rd_store store = t->store[t->stmt[s].store >= 0 ? t->stmt[s].store : 0];
        rd_stmt  array = t->stmt[s];

        if (!is_of_each_row(t, j->loop, s))
            continue;
        store.extent *= j->rows;
        j->part[j->n_array]  = store.fold < 0 ? end_of_part(t, s) : -1;
        j->array[j->n_array] = array.store;
        j->many[j->n_array]  = rd_add_store(t, &store);
        array.store          = j->many[j->n_array++];
        rd_append(t, made, rd_add_stmt(t, &array));
    }
}

/* Makes a statement use row k of array n, if it uses the array: k rows behind row 0. */
static void use_row_of_array(const jammed_rows *j, int32_t stmt, int32_t k, int32_t n)
{
    rd_schedule  *t    = j->t;
    rd_stmt      *s    = &t->stmt[stmt];
    const int64_t more = k * t->store[j->array[n]].extent;

    if (!uses_array(t, stmt, j->array[n]))
        return;
    if (s->kind == RD_S_LET) {
        t->let[s->value].store = j->many[n];
        t->let[s->value].at.offset += more;
        return;
    }
    s->store = j->many[n];
    if (s->kind == RD_S_STORE)
        s->at.offset += more;
    else
        s->of.more.offset += more;
}

/* Makes statements in the body use the arrays of row k.  It is a copy of the part of a row that
 * ends with `part`, -1: of none.  The elements that this part makes stay where it makes them. */
static void use_arrays_of_row(const jammed_rows *j, int32_t body, int32_t k, int32_t part)
{
    for (int32_t s = body; s >= 0; s = rd_next_stmt(j->t, s, body))
        for (int32_t n = 0; n < j->n_array; n++)
            if (part < 0 || j->part[n] != part)
                use_row_of_array(j, s, k, n);
}

/* The last vector loop of the body that stores to the array; -1 if there is none. */
static int32_t loop_that_stores(const rd_schedule *t, int32_t body, int32_t array)
{
    int32_t found = -1;

    for (int32_t s = rd_next_stmt(t, body, body); s >= 0; s = rd_next_stmt(t, s, body))
        if (t->stmt[s].kind == RD_S_STORE && t->stmt[s].store == array)
            found = rd_vector_around(t, s);
    return found;
}

/* Appends a loop to the body that copies the elements of array n to those of row k. */
static void hand_on(const jammed_rows *j, int32_t body, int32_t k, int32_t n)
{
    rd_schedule  *t    = j->t;
    const int32_t like = loop_that_stores(t, body, j->array[n]);
    int32_t       copy;

    if (like < 0)
        return;
    copy = rd_add_loop_behind(t, like, /*by_call=*/false);
    if (t->failed)
        return;
    rd_take_out(t, copy);
    rd_append(t, body, copy);
    rd_store_at_end(t, copy, rd_load_at_end(t, copy, j->array[n]), j->many[n]);
    if (!t->failed)
        t->stmt[t->stmt[copy].last].at.offset += k * t->store[j->array[n]].extent;
}

/* ---- Rows ------------------------------------------------------------------------------------ */
/* Reduces a loop to one round: row k of those that begin at the mark. The round has no marks, and
 * comes from no loop of the program (of -1).  `part`: as above. */
static void make_row(const jammed_rows *j, int32_t stmt, int32_t k, int32_t part)
{
    const int32_t   axis = rd_loop_of(j->t, j->loop)->axis;
    const rd_linear from = rd_linear_plus_axis(j->t, rd_linear_of(k), 1, j->mark);
    rd_for         *l    = &j->t->loop[j->t->stmt[stmt].arg];

    *l = (rd_for){ .kind   = RD_FOR_UNROLL,
                   .axis   = axis,
                   .start  = -1,
                   .stop   = -1,
                   .from   = rd_edge_of(from),
                   .to     = rd_edge_of(from),
                   .step   = 1,
                   .extent = 1,
                   .of     = -1,
                   .strip  = -1 };
    l->to.part[0].at.offset++;
    use_arrays_of_row(j, stmt, k, part);
}

/* Removes all statements from the body, but the one named `but`; -1: all. */
static void clear_body(rd_schedule *t, int32_t body, int32_t but)
{
    for (int32_t s = t->stmt[body].first, next; s >= 0; s = next) {
        next = t->stmt[s].next;
        if (s != but)
            rd_take_out(t, s);
    }
}

/* Copies the vector loop of an inner loop for row k, with the values before it. */
static int32_t jammed_round(const jammed_rows *j, int32_t inner, int32_t k)
{
    rd_schedule  *t      = j->t;
    const int32_t copy   = rd_stmt_copy(t, inner);
    const int32_t vector = t->failed ? -1 : vector_in(t, copy);

    if (vector < 0)
        return copy;
    for (int32_t s = t->stmt[vector].prev, prev; s >= 0 && !t->failed; s = prev) {
        prev = t->stmt[s].prev;
        rd_take_out(t, s);
        rd_put_before(t, s, t->stmt[vector].first);
    }
    rd_take_out(t, vector);
    make_row(j, vector, k, -1);
    return vector;
}

/* Returns a copy of an inner loop in which each round of the vector loop serves all rows: its body
 * has a jammed round for each row. Of the copy's body only the vector loop is kept, and of that
 * loop's body nothing (-1).  States that go on behind the row are variables meanwhile. */
static int32_t make_jammed_loop(const jammed_rows *j, int32_t inner)
{
    rd_schedule  *t      = j->t;
    const int32_t made   = rd_stmt_copy(t, inner);
    const int32_t vector = t->failed ? -1 : vector_in(t, made);

    if (vector < 0)
        return made;
    clear_body(t, made, vector);
    clear_body(t, vector, -1);
    for (int32_t k = 0; k < j->rows && !t->failed; k++)
        rd_append(t, vector, jammed_round(j, inner, k));
    if (!t->failed)
        rd_promote_states(t, vector, /*fewest=*/2);
    return made;
}

/* True if the statement stands in the part of the row that ends with `last`, and is done for each
 * row: no declaration, begin or serial loop. */
static bool is_in_part(const jammed_rows *j, int32_t stmt, int32_t last)
{
    const rd_schedule *t = j->t;

    return !is_of_states(t, stmt) && t->stmt[stmt].kind != RD_S_BEGIN && !serial_at(t, stmt) &&
           end_of_part(t, stmt) == last;
}

/* A round with the statements of row k that stand in the part. */
static int32_t part_of_row(const jammed_rows *j, int32_t last, int32_t k)
{
    rd_schedule  *t    = j->t;
    const int32_t made = rd_stmt_copy(t, j->loop);

    for (int32_t s    = t->failed ? -1 : t->stmt[made].first, next,
                 from = t->failed ? -1 : t->stmt[j->loop].first;
         s >= 0; s = next, from = t->stmt[from].next) {
        next = t->stmt[s].next;
        if (!is_in_part(j, from, last))
            rd_take_out(t, s);
    }
    if (!t->failed)
        make_row(j, made, k, last);
    for (int32_t n = 0; n < j->n_array && !t->failed; n++)
        if (j->part[n] == last)
            hand_on(j, made, k, n);
    return made;
}

/* True if the part of the row has a statement that is done for each row. */
static bool has_statements(const jammed_rows *j, int32_t last)
{
    for (int32_t s = last; s >= 0; s = j->t->stmt[s].prev)
        if (is_in_part(j, s, last))
            return true;
    return false;
}

/* Begins the states of all rows, by a copy of each BEGIN of a row. */
static void begin_states(const jammed_rows *j, int32_t made)
{
    for (int32_t s = j->t->stmt[j->loop].first; s >= 0 && !j->t->failed; s = j->t->stmt[s].next)
        if (j->t->stmt[s].kind == RD_S_BEGIN) {
            rd_append(j->t, made, rd_stmt_copy(j->t, s));
            use_arrays_of_row(j, j->t->stmt[made].last, 0, -1);
        }
}

/* ---- All together ---------------------------------------------------------------------------- */
/* Makes the loop over so many rows at a time, from its first index on. It ends at `border`, the
 * last whole round; j->mark is bound to the first row of a round. */
static int32_t make_loop_of_rows(jammed_rows *j, const rd_edge_part *border)
{
    rd_schedule  *t    = j->t;
    const int32_t made = rd_stmt_copy(t, j->loop);
    rd_for       *l;

    if (t->failed)
        return made;
    clear_body(t, made, -1);
    l             = &t->loop[t->stmt[made].arg];
    l->start      = j->mark;
    l->step       = j->rows;
    l->to.part[0] = *border;
    l->extent     = l->extent >= 0 ? l->extent / j->rows : -1;
    declare_arrays(j, made);
    begin_states(j, made);
    for (int32_t s = t->stmt[j->loop].first; s >= 0 && !t->failed; s = t->stmt[s].next)
        if (serial_at(t, s))
            rd_append(t, made, make_jammed_loop(j, s));
        else if (end_of_part(t, s) == s && has_statements(j, s))
            for (int32_t k = 0; k < j->rows && !t->failed; k++)
                rd_append(t, made, part_of_row(j, s, k));
    return made;
}

/* Puts the loop over jammed (unroll-and-jam) rows before the loop, which keeps the tail. `border`
 * is the end, rounded down to whole rounds: there the tail begins.  The tail is no loop of the
 * program any more (of -1), so it is not jammed again. */
static void jam_rows(rd_schedule *t, int32_t loop, int32_t rows)
{
    const rd_for       l      = *rd_loop_of(t, loop);
    const rd_edge_part border = { .at = l.to.part[0].at, .first = l.from.part[0].at, .by = rows };
    jammed_rows        j      = { .t = t, .loop = loop, .rows = rows, .mark = rd_add_mark(t) };
    int32_t            made;

    (void)move_values(t, loop, /*moves=*/true);
    made = make_loop_of_rows(&j, &border);
    if (t->failed)
        return;
    rd_put_before(t, made, loop);
    t->loop[t->stmt[loop].arg].from.part[0] = border;
    t->loop[t->stmt[loop].arg].extent       = rows - 1;
    t->loop[t->stmt[loop].arg].of           = -1;
}

/* The pass: for each outer loop for which several rounds (rows) were chosen, jams these into the
 * serial loops inside it (unroll-and-jam), so that elements that all rows share are loaded once. */
void rd_pass_unroll_jam_outer(rd_schedule *t, const rd_target *target)
{
    for (int k = 0; target->strips && k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0 && !t->failed; s = rd_next_stmt(t, s, t->part[k])) {
            const int32_t rows = rows_to_jam(t, target, s);

            if (rows > 1)
                jam_rows(t, s, rows);
        }
}
