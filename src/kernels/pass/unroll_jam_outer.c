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

/* Jammed rows have at most 1024 states in an array, and 8 arrays. */
enum { MOST_STATES = 1024, MOST_ARRAYS = 8 };

/* The loop whose rows are jammed, and the arrays of their states. */
typedef struct jammed_rows {
    rd_schedule *t;
    int32_t      loop, inner; /* the loop over rows; the loop in each row */
    int32_t      rows;        /* rows that are jammed       */
    int32_t      mark;        /* the first row of a round   */
    int32_t      n_array;
    int32_t      array[MOST_ARRAYS], many[MOST_ARRAYS]; /* states of one row; of all rows */
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

/* The one serial loop in each row into which all rows are jammed (unroll-and-jam).  It has a vector
 * loop, and the same range in each row; -1 if there is none. */
static int32_t inner_of(const rd_schedule *t, int32_t loop)
{
    int32_t found = -1;

    for (int32_t s = t->stmt[loop].first; s >= 0; s = t->stmt[s].next) {
        if (!serial_at(t, s))
            continue;
        if (found >= 0 || vector_in(t, s) < 0 || rd_edges_vary(t, loop, s))
            return -1;
        found = s;
    }
    return found;
}

/* True if the statement declares an array of a fold's states (fold >= 0), not of elements. */
static bool has_states(const rd_schedule *t, int32_t stmt)
{
    return t->stmt[stmt].kind == RD_S_ARRAY && t->store[t->stmt[stmt].store].fold >= 0;
}

/* True if states of a row are 1 to 8 local arrays, and all jammed (unroll-and-jam) rows have 1024
 * states or fewer in each. */
static bool can_multiply_states(const rd_schedule *t, int32_t loop, int32_t rows)
{
    int32_t n = 0;

    for (int32_t s = t->stmt[loop].first; s >= 0; s = t->stmt[s].next) {
        const rd_store *store =
            t->stmt[s].kind == RD_S_BEGIN || has_states(t, s) ? &t->store[t->stmt[s].store] : NULL;

        if (store && (store->storage != RD_IN_LOCAL || store->extent * rows > MOST_STATES))
            return false;
        n += has_states(t, s);
    }
    return n > 0 && n <= MOST_ARRAYS;
}

/* The number of rows to jam, as it was chosen for the loop of the program.  0: the statement is no
 * serial loop, upwards between two unrounded bounds, or its rows have no loop and states that allow
 * it. */
static int32_t rows_to_jam(const rd_schedule *t, const rd_target *target, int32_t stmt)
{
    const rd_for *loop = serial_at(t, stmt);
    int32_t       rows;

    if (!loop || loop->of < 0 || loop->backwards || loop->step != 1 || loop->from.n != 1 ||
        loop->to.n != 1 || loop->from.part[0].by > 1 || loop->to.part[0].by > 1)
        return 0;
    rows = target->strips->unroll_jam_outer[loop->of];
    return rows > 1 && inner_of(t, stmt) >= 0 && can_multiply_states(t, stmt, rows) ? rows : 0;
}

/* ---- States of rows -------------------------------------------------------------------------- */
/* Declares arrays with room for the states of all rows, one row behind the other, in the body of
 * the loop `made`.  They replace the arrays of one row; *j gets the numbers of both. */
static void declare_states(jammed_rows *j, int32_t made)
{
    rd_schedule *t = j->t;

    for (int32_t s = t->stmt[j->loop].first; s >= 0 && !t->failed; s = t->stmt[s].next) {
        rd_store store = t->store[t->stmt[s].store >= 0 ? t->stmt[s].store : 0];
        rd_stmt  array = t->stmt[s];

        if (!has_states(t, s))
            continue;
        store.extent *= j->rows;
        j->array[j->n_array] = array.store;
        j->many[j->n_array]  = rd_add_store(t, &store);
        array.store          = j->many[j->n_array++];
        rd_append(t, made, rd_add_stmt(t, &array));
    }
}

/* Makes statements in the body use the states of row k: they lie k rows behind those of row 0. */
static void use_states_of_row(const jammed_rows *j, int32_t body, int32_t k)
{
    rd_schedule *t = j->t;

    for (int32_t s = body; s >= 0; s = rd_next_stmt(t, s, body))
        for (int32_t n = 0; t->stmt[s].fold >= 0 && n < j->n_array; n++)
            if (t->stmt[s].store == j->array[n]) {
                t->stmt[s].store = j->many[n];
                t->stmt[s].of.more.offset += k * t->store[j->array[n]].extent;
            }
}

/* ---- Rows ------------------------------------------------------------------------------------ */
/* Reduces a loop to one round: row k of those that begin at the mark. The round has no marks, and
 * comes from no loop of the program (of -1). */
static void make_row(const jammed_rows *j, int32_t stmt, int32_t k)
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
    use_states_of_row(j, stmt, k);
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

/* Copies the vector loop of the inner loop for row k, with the values before it. */
static int32_t jammed_round(const jammed_rows *j, int32_t k)
{
    rd_schedule  *t      = j->t;
    const int32_t copy   = rd_stmt_copy(t, j->inner);
    const int32_t vector = t->failed ? -1 : vector_in(t, copy);

    if (vector < 0)
        return copy;
    for (int32_t s = t->stmt[vector].prev, prev; s >= 0 && !t->failed; s = prev) {
        prev = t->stmt[s].prev;
        rd_take_out(t, s);
        rd_put_before(t, s, t->stmt[vector].first);
    }
    rd_take_out(t, vector);
    make_row(j, vector, k);
    return vector;
}

/* Returns a copy of the inner loop in which each round of the vector loop serves all rows: its body
 * has a jammed round for each row. Of the copy's body only the vector loop is kept, and of that
 * loop's body nothing (-1). */
static int32_t make_jammed_loop(const jammed_rows *j)
{
    rd_schedule  *t      = j->t;
    const int32_t made   = rd_stmt_copy(t, j->inner);
    const int32_t vector = t->failed ? -1 : vector_in(t, made);

    if (vector < 0)
        return made;
    clear_body(t, made, vector);
    clear_body(t, vector, -1);
    for (int32_t k = 0; k < j->rows && !t->failed; k++)
        rd_append(t, vector, jammed_round(j, k));
    return made;
}

/* A round with the other statements of row k: all but declarations, begins and serial loops. */
static int32_t remaining_stmts_of_row(const jammed_rows *j, int32_t k)
{
    rd_schedule  *t    = j->t;
    const int32_t made = rd_stmt_copy(t, j->loop);

    for (int32_t s = t->failed ? -1 : t->stmt[made].first, next; s >= 0; s = next) {
        next = t->stmt[s].next;
        if (has_states(t, s) || t->stmt[s].kind == RD_S_BEGIN || serial_at(t, s))
            rd_take_out(t, s);
    }
    if (!t->failed)
        make_row(j, made, k);
    return made;
}

/* Begins the states of all rows, by a copy of each BEGIN of a row. */
static void begin_states(const jammed_rows *j, int32_t made)
{
    for (int32_t s = j->t->stmt[j->loop].first; s >= 0 && !j->t->failed; s = j->t->stmt[s].next)
        if (j->t->stmt[s].kind == RD_S_BEGIN) {
            rd_append(j->t, made, rd_stmt_copy(j->t, s));
            use_states_of_row(j, j->t->stmt[made].last, 0);
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
    declare_states(j, made);
    begin_states(j, made);
    if (!t->failed)
        rd_append(t, made, make_jammed_loop(j));
    for (int32_t k = 0; k < j->rows && !t->failed; k++)
        rd_append(t, made, remaining_stmts_of_row(j, k));
    return made;
}

/* Puts the loop over jammed (unroll-and-jam) rows before the loop, which keeps the tail. `border`
 * is the end, rounded down to whole rounds: there the tail begins.  The tail is no loop of the
 * program any more (of -1), so it is not jammed again. */
static void jam_rows(rd_schedule *t, int32_t loop, int32_t rows)
{
    const rd_for       l      = *rd_loop_of(t, loop);
    const rd_edge_part border = { .at = l.to.part[0].at, .first = l.from.part[0].at, .by = rows };
    jammed_rows        j      = {
                    .t = t, .loop = loop, .inner = inner_of(t, loop), .rows = rows, .mark = rd_add_mark(t)
    };
    const int32_t made = make_loop_of_rows(&j, &border);

    if (t->failed)
        return;
    rd_put_before(t, made, loop);
    t->loop[t->stmt[loop].arg].from.part[0] = border;
    t->loop[t->stmt[loop].arg].extent       = rows - 1;
    t->loop[t->stmt[loop].arg].of           = -1;
}

/* The pass: for each outer loop for which several rounds (rows) were chosen, jams these into the
 * serial loop inside it (unroll-and-jam), so that elements that all rows share are loaded once. */
void rd_pass_unroll_jam_outer(rd_schedule *t, const rd_target *target)
{
    for (int k = 0; target->strips && k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0 && !t->failed; s = rd_next_stmt(t, s, t->part[k])) {
            const int32_t rows = rows_to_jam(t, target, s);

            if (rows > 1)
                jam_rows(t, s, rows);
        }
}
