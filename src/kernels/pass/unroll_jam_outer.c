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
 * Fields. A loop's `program_loop` is the number of the program's loop that it comes from, -1: none.
 * A bound has n parts, of which the greatest or the least counts; one with by > 1 is rounded to a
 * multiple. A loop is `by_call` if the text runs it by one call of a function.
 *
 * Words. A mark is an axis that is bound to where a loop's round begins or ends. A fold is a
 * reduction or a scan. */
#include "kernels/loop/facts.h"
#include "kernels/pass/pass.h"
#include "kernels/pass/state_copies.h"
#include "kernels/pass/strip_arrays.h"

/* Limits: states (accumulators) of all jammed rows together in one array; arrays of a row. */
enum { MOST_STATES = 1024, MOST_ARRAYS = 8 };

/* The loop whose rows are jammed, and the arrays of their states. */
typedef struct jammed_rows {
    rd_schedule *t;
    int32_t      loop; /* the loop over rows         */
    int32_t      rows; /* rows that are jammed       */
    int32_t      mark; /* the first row of a round   */
    int32_t      n_array;
    int32_t array[MOST_ARRAYS], many[MOST_ARRAYS]; /* numbers of stores: of one row; of all rows */
    int32_t part[MOST_ARRAYS]; /* of elements: the last statement of the part that makes them;
                                     * of states: -1 */
} jammed_rows;

/* ---- Which loops ----------------------------------------------------------------------------- */
/* Returns the loop record of the statement if it is a serial loop over single indices, else NULL.
 * A loop over ranges has a mark (start_mark >= 0: an axis bound to the range's first index). */
static const rd_for *serial_at(const rd_schedule *t, int32_t stmt)
{
    const rd_for *loop = t->stmt[stmt].kind == RD_S_LOOP ? rd_loop_of(t, stmt) : NULL;

    return loop && loop->kind == RD_FOR_SERIAL && loop->start_mark < 0 ? loop : NULL;
}

/* Returns the vector loop that is the whole body of the loop, except for values (LETs) before it;
 * -1: there is none. A loop that the generated C runs by one call does not count, as rows cannot
 * be put into it. */
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

/* Returns how many serial loops each row (round of the outer loop) has into which all rows can be
 * jammed (unroll-and-jam). Each must hold a vector loop, and have the same bounds in all rows. 0:
 * there is none, or some serial loop does not allow it. */
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

/* True if a statement reads or writes the array, of elements or of states (accumulators). A LET
 * uses one if it loads (slot < 0: not from the program's memory); an ARRAY only declares it. */
static bool uses_array(const rd_schedule *t, int32_t stmt, int32_t array)
{
    const rd_stmt       *s   = &t->stmt[stmt];
    const rd_tree_value *let = s->kind == RD_S_LET ? &t->let[s->value] : NULL;

    return let ? let->kind == RD_I_LOAD && let->slot < 0 && let->store == array
               : s->store == array && s->kind != RD_S_ARRAY;
}

/* Returns the statement directly in the body of `loop` that is, or at some depth holds, the
 * statement. */
static int32_t top_of(const rd_schedule *t, int32_t loop, int32_t stmt)
{
    while (t->stmt[stmt].parent != loop)
        stmt = t->stmt[stmt].parent;
    return stmt;
}

/* Returns the last statement of the part of a row that holds the statement. Each serial loop is a
 * part, and so are the statements between two of them. The last statement stands for the part. */
static int32_t end_of_part(const rd_schedule *t, int32_t stmt)
{
    while (!serial_at(t, stmt) && t->stmt[stmt].next >= 0 && !serial_at(t, t->stmt[stmt].next))
        stmt = t->stmt[stmt].next;
    return stmt;
}

/* True if an array that the statement of a row declares is used in another part than its own. A
 * row's parts are its serial loops, and what stands between them. */
static bool is_used_elsewhere(const rd_schedule *t, int32_t loop, int32_t stmt)
{
    for (int32_t s = t->stmt[stmt].next; s >= 0; s = rd_next_stmt(t, s, loop))
        if (uses_array(t, s, t->stmt[stmt].store) &&
            end_of_part(t, top_of(t, loop, s)) != end_of_part(t, stmt))
            return true;
    return false;
}

/* True if the statement declares an array of a fold's states (accumulators), not of elements. */
static bool is_of_states(const rd_schedule *t, int32_t stmt)
{
    return t->stmt[stmt].kind == RD_S_ARRAY && t->store[t->stmt[stmt].store].fold >= 0;
}

/* True if the statement of a row declares an array of which each row needs a copy: of a fold's
 * states (accumulators), or of elements that one part hands to another. */
static bool is_of_each_row(const rd_schedule *t, int32_t loop, int32_t stmt)
{
    return is_of_states(t, stmt) ||
           (t->stmt[stmt].kind == RD_S_ARRAY && is_used_elsewhere(t, loop, stmt));
}

/* True if other parts than the one that declares the array only load from it, in vector loops that
 * are written out. A loop by call takes a whole array, and could not read one row of a larger one.
 */
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

/* True if the arrays can be made as large as all jammed rows (unroll-and-jam) need: a row has 1 to
 * 8 of its own, each local, with at most 1024 elements or states for all rows together. States that
 * a BEGIN resets must be local, too, as each row has its own. Arrays of elements must be readable
 * by other parts of the row (can_hand_on). */
static bool can_multiply_arrays(const rd_schedule *t, int32_t loop, int32_t rows)
{
    int32_t n = 0;

    for (int32_t s = t->stmt[loop].first; s >= 0; s = t->stmt[s].next) {
        const bool           each_row = is_of_each_row(t, loop, s);
        const rd_tree_array *store =
            t->stmt[s].kind == RD_S_BEGIN || each_row ? &t->store[t->stmt[s].store] : NULL;

        if (each_row && store->fold < 0 && !can_hand_on(t, loop, s))
            return false;
        if (store && (store->storage != RD_IN_LOCAL || store->extent * rows > MOST_STATES))
            return false;
        n += each_row;
    }
    return n > 0 && n <= MOST_ARRAYS;
}

/* Moves a value (LET) of the row directly before the statement that reads it, if `moves`. Jammed
 * rows go part by part, each part in a loop of its own, which sees no values of another part. So
 * false is returned if several parts read the value, or a serial loop does. */
static bool move_to_reader(rd_schedule *t, int32_t loop, int32_t stmt, bool moves)
{
    int32_t reader = -1;

    for (int32_t s = t->stmt[stmt].next; s >= 0; s = rd_next_stmt(t, s, loop)) {
        if (!rd_reads_value(t, s, t->stmt[stmt].value))
            continue;
        if (reader >= 0 && end_of_part(t, top_of(t, loop, s)) != end_of_part(t, reader))
            return false;
        reader = reader >= 0 ? reader : top_of(t, loop, s);
    }
    if (reader >= 0 && serial_at(t, reader))
        return false;
    if (moves && reader >= 0 && reader != t->stmt[stmt].next) {
        rd_take_out(t, stmt);
        rd_put_before(t, stmt, reader);
    }
    return true;
}

/* Moves the values that stand in the row itself to the parts that read them, if `moves`; false:
 * that cannot be. It goes from the last value to the first, as a value may be read by a later one.
 */
static bool move_values(rd_schedule *t, int32_t loop, bool moves)
{
    for (int32_t s = t->stmt[loop].last, prev; s >= 0; s = prev) {
        prev = t->stmt[s].prev;
        if (t->stmt[s].kind == RD_S_LET && !move_to_reader(t, loop, s, moves))
            return false;
    }
    return true;
}

/* Returns the number of rows to jam, as choose_strips.c chose it for this loop of the program (of
 * >= 0). 0: the statement is no serial loop that goes upwards between two unrounded bounds (by <=
 * 1), or its rows have no inner loop or no states that allow it. */
static int32_t rows_to_jam(rd_schedule *t, const rd_target *target, int32_t stmt)
{
    const rd_for *loop = serial_at(t, stmt);
    int32_t       rows;

    if (!loop || loop->program_loop < 0 || loop->step != 1 || !rd_goes_up(loop))
        return 0;
    rows = target->strips->unroll_jam_outer[loop->program_loop];
    return rows > 1 && inner_loops(t, stmt) && can_multiply_arrays(t, stmt, rows) &&
                   move_values(t, stmt, /*moves=*/false)
               ? rows
               : 0;
}

/* ---- Arrays of rows -------------------------------------------------------------------------- */
/* Declares arrays with room for all rows, one row behind the other, in the body of the loop
 * `made`. They replace the arrays of one row. *j gets both numbers, and for elements the part that
 * makes them. */
static void declare_arrays(jammed_rows *j, int32_t made)
{
    rd_schedule *t = j->t;

    for (int32_t s = t->stmt[j->loop].first; s >= 0 && !t->failed; s = t->stmt[s].next) {
        /* store 0 if the statement has none: unused */
        rd_tree_array store = t->store[t->stmt[s].store >= 0 ? t->stmt[s].store : 0];
        rd_stmt       array = t->stmt[s];

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

/* If the statement uses array n, makes it use the array of all rows instead, at row k. Row k
 * begins k * (elements or states of a row) behind row 0. */
static void use_row_of_array(const jammed_rows *j, int32_t stmt, int32_t k, int32_t n)
{
    rd_schedule  *t          = j->t;
    rd_stmt      *s          = &t->stmt[stmt];
    const int64_t before_row = k * t->store[j->array[n]].extent;

    if (!uses_array(t, stmt, j->array[n]))
        return;
    if (s->kind == RD_S_LET) {
        t->let[s->value].store = j->many[n];
        t->let[s->value].at.offset += before_row;
        return;
    }
    s->store = j->many[n];
    if (s->kind == RD_S_STORE)
        s->at.offset += before_row;
    else
        s->fold_at.state_offset.offset +=
            before_row; /* `state_offset` is added to the subscript of a state */
}

/* Makes all statements in the body use the arrays of row k. The body is a copy of the part of a
 * row that ends with `part`, -1: of no part. The elements that this very part makes stay in the
 * array of one row, and hand_on() copies them. */
static void use_arrays_of_row(const jammed_rows *j, int32_t body, int32_t k, int32_t part)
{
    for (int32_t s = body; s >= 0; s = rd_next_stmt(j->t, s, body))
        for (int32_t n = 0; n < j->n_array; n++)
            if (part < 0 || j->part[n] != part)
                use_row_of_array(j, s, k, n);
}

/* Returns the vector loop around the last STORE to the array in the body; -1: there is none. */
static int32_t loop_that_stores(const rd_schedule *t, int32_t body, int32_t array)
{
    int32_t found = -1;

    for (int32_t s = rd_next_stmt(t, body, body); s >= 0; s = rd_next_stmt(t, s, body))
        if (t->stmt[s].kind == RD_S_STORE && t->stmt[s].store == array)
            found = rd_vector_around(t, s);
    return found;
}

/* Appends a vector loop to the body that copies the elements of array n, which has room for one
 * row, to row k of the array of all rows. It has the range of the loop that stored the elements. */
static void hand_on(const jammed_rows *j, int32_t body, int32_t k, int32_t n)
{
    rd_schedule  *t       = j->t;
    const int32_t storing = loop_that_stores(t, body, j->array[n]);
    int32_t       copy;

    if (storing < 0)
        return;
    copy = rd_add_loop_behind(t, storing, /*by_call=*/false);
    if (t->failed)
        return;
    rd_take_out(t, copy);
    rd_append(t, body, copy);
    rd_store_at_end(t, copy, rd_load_at_end(t, copy, j->array[n]), j->many[n]);
    if (!t->failed)
        t->stmt[t->stmt[copy].last].at.offset += k * t->store[j->array[n]].extent;
}

/* ---- Rows ------------------------------------------------------------------------------------ */
/* Turns a copied loop into one round: `for (row = mark + k; row < mark + k + 1; row++)`, where the
 * mark is the first row of the round of the loop over jammed rows. `part` is the part of a row
 * that it copies, -1: none; see use_arrays_of_row(). */
static void make_row(const jammed_rows *j, int32_t stmt, int32_t k, int32_t part)
{
    const int32_t   axis = rd_loop_of(j->t, j->loop)->axis;
    const rd_linear from = rd_linear_plus_axis(j->t, rd_linear_of(k), /*coef=*/1, j->mark);

    j->t->loop[j->t->stmt[stmt].arg] = rd_rounds_from(RD_FOR_UNROLL, axis, from, /*rounds=*/1);
    use_arrays_of_row(j, stmt, k, part);
}

/* Removes all statements from the body except `but`; but = -1: removes all. */
static void clear_body(rd_schedule *t, int32_t body, int32_t but)
{
    for (int32_t s = t->stmt[body].first, next; s >= 0; s = next) {
        next = t->stmt[s].next;
        if (s != but)
            rd_take_out(t, s);
    }
}

/* Returns a one-round loop with what the inner loop's vector loop does for row k. Values that
 * stand before the vector loop move into it, at its start. */
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
    make_row(j, vector, k, /*part=*/-1); /* the loop becomes the row */
    return vector;
}

/* Returns a copy of an inner loop, with all rows jammed into its vector loop: the vector loop's
 * body is one round for each row. States that two steps or more of the vector loop use become
 * variables, as a register saves a load and a store. */
static int32_t make_jammed_loop(const jammed_rows *j, int32_t inner)
{
    rd_schedule  *t      = j->t;
    const int32_t made   = rd_stmt_copy(t, inner);
    const int32_t vector = t->failed ? -1 : vector_in(t, made);

    if (vector < 0)
        return made;
    clear_body(t, made, /*but=*/vector);
    clear_body(t, vector, /*but=*/-1);
    for (int32_t k = 0; k < j->rows && !t->failed; k++)
        rd_append(t, vector, jammed_round(j, inner, k));
    if (!t->failed)
        rd_promote_states(t, vector, /*fewest=*/2);
    return made;
}

/* True if the statement belongs to the part of the row that ends with `last`, and is copied for
 * each row. Declarations and BEGINs of states (accumulators) are made once for all rows, and
 * serial loops are jammed. */
static bool is_in_part(const jammed_rows *j, int32_t stmt, int32_t last)
{
    const rd_schedule *t = j->t;

    return !is_of_states(t, stmt) && t->stmt[stmt].kind != RD_S_BEGIN && !serial_at(t, stmt) &&
           end_of_part(t, stmt) == last;
}

/* Returns a one-round loop with the statements of row k that belong to the part that ends with
 * `last`. The copy `made` is walked beside the original row, as parts are known of the original
 * only (`from`). Elements that later parts read are copied to row k of the large arrays. */
static int32_t part_of_row(const jammed_rows *j, int32_t last, int32_t k)
{
    rd_schedule  *t    = j->t;
    const int32_t made = rd_stmt_copy(t, j->loop);

    for (int32_t s        = t->failed ? -1 : t->stmt[made].first, next,
                 original = t->failed ? -1 : t->stmt[j->loop].first;
         s >= 0; s = next, original = t->stmt[original].next) {
        next = t->stmt[s].next;
        if (!is_in_part(j, original, last))
            rd_take_out(t, s);
    }
    if (!t->failed)
        make_row(j, made, k, last);
    for (int32_t n = 0; n < j->n_array && !t->failed; n++)
        if (j->part[n] == last)
            hand_on(j, made, k, n);
    return made;
}

/* True if the part that ends with `last` has a statement that is copied for each row. */
static bool has_statements(const jammed_rows *j, int32_t last)
{
    for (int32_t s = last; s >= 0; s = j->t->stmt[s].prev)
        if (is_in_part(j, s, last))
            return true;
    return false;
}

/* Begins the states (accumulators) of all rows, by a copy of each BEGIN of a row; its array is
 * then that of all rows. */
static void begin_states(const jammed_rows *j, int32_t made)
{
    for (int32_t s = j->t->stmt[j->loop].first; s >= 0 && !j->t->failed; s = j->t->stmt[s].next)
        if (j->t->stmt[s].kind == RD_S_BEGIN) {
            rd_append(j->t, made, rd_stmt_copy(j->t, s));
            use_arrays_of_row(j, j->t->stmt[made].last, /*k=*/0, /*part=*/-1);
        }
}

/* ---- All together ---------------------------------------------------------------------------- */
/* Makes the loop over j->rows rows at a time: `for (j->mark = from; j->mark < border; j->mark +=
 * rows)`, where `border` is the end of the last whole round. Its body has the jammed serial loops
 * in order, and between them each part once for each row. */
static int32_t make_loop_of_rows(jammed_rows *j, const rd_edge_part *border)
{
    rd_schedule  *t    = j->t;
    const int32_t made = rd_stmt_copy(t, j->loop);
    rd_for       *l;

    if (t->failed)
        return made;
    clear_body(t, made, /*but=*/-1);
    l             = &t->loop[t->stmt[made].arg];
    l->start_mark = j->mark;
    l->step       = j->rows;
    l->to.part[0] = *border;
    l->extent     = l->extent >= 0 ? l->extent / j->rows : -1; /* -1: known at run time only */
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

/* Puts the loop over jammed rows (unroll-and-jam) before the original loop, which keeps the rows
 * that are left (the tail). `border`, the end rounded down to whole rounds of `rows`, is where the
 * first ends and the second begins. The tail has of = -1, so that it is not jammed again. */
static void jam_rows(rd_schedule *t, int32_t loop, int32_t rows)
{
    const rd_for       l      = *rd_loop_of(t, loop);
    const rd_edge_part border = rd_whole_rounds(&l, rows);
    jammed_rows        j      = { .t = t, .loop = loop, .rows = rows, .mark = rd_add_mark(t) };
    int32_t            made;

    (void)move_values(t, loop, /*moves=*/true);
    made = make_loop_of_rows(&j, &border);
    if (t->failed)
        return;
    rd_put_before(t, made, loop);
    rd_keep_rest(t, loop, &border, rows);
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
