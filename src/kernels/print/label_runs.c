/* label_runs.c - states of a run of elements with one label, held in variables, as text:
 *
 *     double s5_0[1] = { 0 }; int64_t run5 = -1;
 *     for (..) {
 *         if ((int64_t)r2 != run5) {
 *             if ((uint64_t)run5 < N0) { s0_0[0 + run5 * 1] = s5_0[0]; }
 *             run5 = (int64_t)r2;
 *             if ((uint64_t)run5 < N0) { s5_0[0] = s0_0[0 + run5 * 1]; }
 *         }
 *         step0(&s5_0[0], r1, 1, i1, 1);
 *     }
 *     if ((uint64_t)run5 < N0) { s0_0[0 + run5 * 1] = s5_0[0]; }
 *     run5 = -1;
 *
 * A run is a series of elements with one label; run5 is the label that the variables of array 5 are
 * of, -1: of none. The cell of a label is an accumulator in array 0. */
#include "kernels/print/print.h"
#include <inttypes.h>

/* Adds the subscript of the run's cell, which is the accumulator of one label, in the array of
 * all cells: "0 + run5 * 1". The run is the elements with equal labels that follow each other;
 * label -1 leaves out the label that the statement's own element has. */
static void add_cell_of_run(rd_printing *n, rd_text *to, const rd_stmt *s)
{
    const rd_tree_array *store = &n->t->store[s->store];
    rd_stmt              cell  = *s;

    cell.label = -1;
    rd_print_cell_subscript(n, to, &cell);
    rd_text_add(to, " + run%" PRId32 " * ", s->arg);
    rd_print_number(n, to, n->t->p->fold[s->fold].group_stride * store->cell_stride);
}

/* Adds "if ((uint64_t)run5 < N0) {": the label of the run (elements with equal labels that
 * follow each other) is that of one of the N0 groups. As unsigned, -1 for "no run" fails, too. */
static void add_is_group(rd_printing *n, rd_text *to, const rd_stmt *s)
{
    rd_text_add(to, "if ((uint64_t)run%" PRId32 " < ", s->arg);
    rd_print_number(n, to, n->t->p->fold[s->fold].n_group);
    rd_text_add(to, ") {");
}

/* Adds the copies of the states of a run (elements with equal labels that follow each other).
 * With `load` they go from the label's accumulator in array s->store to the variables, which are
 * array s->arg: " s5_0[0] = s0_0[0 + run5 * 1];". Else they go back. */
static void add_copies(rd_printing *n, rd_text *to, const rd_stmt *s, bool load)
{
    rd_text at = { 0 }; /* the accumulator's subscript */

    add_cell_of_run(n, &at, s);
    for (int k = 0; k < n->fold[s->fold].emit.n_state; k++)
        if (load)
            rd_text_add(to, " s%" PRId32 "_%d[0] = s%" PRId32 "_%d[%s];", s->arg, k, s->store, k,
                        at.at);
        else
            rd_text_add(to, " s%" PRId32 "_%d[%s] = s%" PRId32 "_%d[0];", s->store, k, at.at,
                        s->arg, k);
    rd_text_end(&at, n->to);
}

/* Prints what follows the loop over elements: the states of the last run (elements with equal
 * labels) are written back from variables to their accumulator, and run5 = -1 says that the
 * variables hold no run. */
void rd_print_run_write_back(rd_printing *n, const rd_stmt *s)
{
    rd_text line = { 0 };

    add_is_group(n, &line, s);
    add_copies(n, &line, s, /*load=*/false);
    rd_print_line(n, "%s }", line.at);
    rd_print_line(n, "run%" PRId32 " = -1;", s->arg);
    rd_text_end(&line, n->to);
}

/* True if both statements change to another run (elements with equal labels) under one
 * condition. They are of two folds with the same label and as many groups, so one "if" in the
 * text serves both. stmt, before: numbers of statements, -1 for none. */
static bool is_same_change(const rd_schedule *t, int32_t stmt, int32_t before)
{
    return stmt >= 0 && before >= 0 && t->stmt[stmt].kind == RD_S_SWITCH_STATE &&
           t->stmt[before].kind == RD_S_SWITCH_STATE &&
           t->stmt[stmt].label == t->stmt[before].label &&
           t->p->fold[t->stmt[stmt].fold].n_group == t->p->fold[t->stmt[before].fold].n_group;
}

/* Prints the copies of states for statement `first` and those behind it that change their runs
 * under the same condition: to the variables (load), or back to the accumulators. */
static void add_all_copies(rd_printing *n, int32_t first, bool load)
{
    rd_text line = { 0 };

    add_is_group(n, &line, &n->t->stmt[first]);
    for (int32_t s = first, next; s >= 0; s = is_same_change(n->t, next, s) ? next : -1) {
        next = n->t->stmt[s].next;
        add_copies(n, &line, &n->t->stmt[s], load);
    }
    rd_print_line(n, "%s }", line.at);
    rd_text_end(&line, n->to);
}

/* Prints the change to another run (elements with equal labels that follow each other): "if
 * ((int64_t)r3 != run2) { s0_0[..] = s2_0[0]; run2 = (int64_t)r3; s2_0[0] = s0_0[..]; }". The
 * states of the old run are written back, and those of the new label loaded. Statements of other
 * folds that change under the same condition are printed with the first of them. */
void rd_print_label_change(rd_printing *n, int32_t stmt)
{
    const rd_stmt *s = &n->t->stmt[stmt];

    if (is_same_change(n->t, stmt, s->prev))
        return;
    rd_print_line(n, "if ((int64_t)r%" PRId32 " != run%" PRId32 ") {", s->label, s->arg);
    n->indent++;
    add_all_copies(n, stmt, /*load=*/false);
    for (int32_t k = stmt, next; k >= 0; k = is_same_change(n->t, next, k) ? next : -1) {
        next = n->t->stmt[k].next;
        rd_print_line(n, "run%" PRId32 " = (int64_t)r%" PRId32 ";", n->t->stmt[k].arg, s->label);
    }
    add_all_copies(n, stmt, /*load=*/true);
    n->indent--;
    rd_print_line(n, "}");
}

/* ---- Where a run ends ------------------------------------------------------------------------ */
/* Prints how a range ends where memory has another label, so that all elements of the range have
 * one. m0 and m1 are the variables with the first index of the range and the one behind its last:
 *
 *     { const int32_t *const at = ..; int64_t k = 1;
 *       while (m0 + k < m1 && at[k] == *at) k++; m1 = m0 + k; } */
void rd_print_run_end(rd_printing *n, const rd_stmt *s)
{
    const rd_for *loop  = rd_loop_of(n->t, s->parent);
    const char   *type  = rd_memory_type(s->type);
    rd_text       start = { 0 }, stop = { 0 }, place = { 0 };

    rd_print_axis(n, &start, loop->start_mark);
    rd_print_axis(n, &stop, loop->stop_mark);
    rd_print_linear(n, &place, &s->at);
    rd_print_line(n, "{");
    rd_print_line(n, "    const %s *const at = (const %s *)x%" PRId32 " + %s;", type, type, s->slot,
                  place.at);
    rd_print_line(n, "    int64_t k = 1;");
    rd_print_line(n, "    while (%s + k < %s && at[k] == *at)", start.at, stop.at);
    rd_print_line(n, "        k++;");
    rd_print_line(n, "    %s = %s + k;", stop.at, start.at);
    rd_print_line(n, "}");
    rd_text_end(&start, n->to);
    rd_text_end(&stop, n->to);
    rd_text_end(&place, n->to);
}
