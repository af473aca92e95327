/* group_subscripts.c - subscripts of the states of a group-by fold, computed before the steps by
 * vectors, as text.
 *
 * Steps by computed labels go one after the other. The subscript of an element's state is its
 * group, which may be none, times lanes, and its lane. None of it waits for another step. So a
 * loop before the steps computes all subscripts of a strip, and a step is a load, and an
 * addition in memory:
 *
 *     int32_t t7[64] LINES;
 *     INDEPENDENT for (..) {
 *         const int32_t r2 = a3[i];
 *         t7[i] = rd_group_by_vectors(r2, 100) * 4 + ((m2 + i) & 3);
 *     }
 *     for (..) { const int64_t at = t7[i]; step0(&s0_0[at], ..); }
 *
 * Fields. n->vector is the vector loop whose body is printed, -1: none.
 *
 * Words. A slot is a buffer that a program reads or writes. */
#include "kernels/loop/facts.h"
#include "kernels/print/print.h"
#include <inttypes.h>
#include <string.h>

/* ---- Which ----------------------------------------------------------------------------------- */
/* True if another loop before this one can load the label. It is made outside of the loop, so
 * the same for all rounds, or it is an element of a local array that holds the labels of the
 * strip (slot < 0). */
static bool has_label_in_strip(const rd_schedule *t, const rd_stmt *s)
{
    const rd_tree_value *label = &t->let[s->label];

    return label->made_by < 0 || t->stmt[label->made_by].parent != s->parent ||
           (label->kind == RD_I_LOAD && label->slot < 0);
}

/* True if the subscripts of a step's states are computed before its loop, by a loop with
 * vectors. The loop has a known extent, for the array of subscripts; elements of no group go to
 * a discard state, so that the step needs no test; and subscripts fit an int32_t. */
static bool has_subscripts(const rd_printing *n, const rd_stmt *s)
{
    return n->vector >= 0 && s->parent == n->vector && rd_loop_of(n->t, n->vector)->extent > 0 &&
           rd_has_discard_state(n->t, s) && has_label_in_strip(n->t, s) &&
           n->t->store[s->store].extent < INT32_MAX / 2;
}

/* ---- Text ------------------------------------------------------------------------------------ */
/* Returns the first step of the loop with the same subscripts of states as this one: both share an
 * array. The texts of the subscripts are compared. It is the step itself if no earlier one has
 * them. */
static int32_t first_with_same_subscripts(rd_printing *n, const rd_stmt *s)
{
    rd_text wanted = { 0 };
    int32_t found  = n->t->stmt[s->parent].first;

    rd_print_state_subscript(n, &wanted, s);
    for (; &n->t->stmt[found] != s; found = n->t->stmt[found].next) {
        const rd_stmt *earlier = &n->t->stmt[found];
        rd_text        at      = { 0 };
        bool           same;

        if (earlier->kind != RD_S_STEP || !has_subscripts(n, earlier))
            continue;
        rd_print_state_subscript(n, &at, earlier);
        same = wanted.at && at.at && strcmp(wanted.at, at.at) == 0;
        rd_text_end(&at, n->to);
        if (same)
            break;
    }
    rd_text_end(&wanted, n->to);
    return found;
}

/* Adds "t7[i]", the subscript of the state that an element goes to, where t7 was filled before
 * the loop. False: there is no such array, and the caller adds the computation. */
bool rd_print_group_subscript(rd_printing *n, rd_text *to, const rd_stmt *s)
{
    if (!has_subscripts(n, s))
        return false;
    rd_text_add(to, "t%" PRId32 "[i]", first_with_same_subscripts(n, s));
    return true;
}

/* Prints the loop that computes the subscripts of one step for all elements of its strip: "int32_t
 * t7[64] LINES; INDEPENDENT for (..) { .. t7[i] = ..; }". If the label is loaded in the step's own
 * loop (made_by), that statement is printed in the new loop, too. n->vectors asks for the form of
 * the group's offset that vectors can compute. */
static void print_subscripts(rd_printing *n, int32_t step, const char *count)
{
    const rd_stmt       *s     = &n->t->stmt[step];
    const rd_tree_value *label = &n->t->let[s->label];
    rd_text              at    = { 0 };

    n->vectors = true;
    rd_print_state_subscript(n, &at, s);
    n->vectors = false;
    rd_print_line(n, "int32_t t%" PRId32 "[%" PRId64 "] LINES;", step,
                  rd_loop_of(n->t, s->parent)->extent);
    rd_print_line(n, "INDEPENDENT for (int64_t i = 0; i < %s; i++) {", count);
    n->indent++;
    if (label->made_by >= 0 && n->t->stmt[label->made_by].parent == s->parent)
        rd_print_let(n, &n->t->stmt[label->made_by]);
    rd_print_line(n, "t%" PRId32 "[i] = (int32_t)(%s);", step, at.at ? at.at : "0");
    n->indent--;
    rd_print_line(n, "}");
    rd_text_end(&at, n->to);
}

/* Prints, before a vector loop, loops that compute the subscripts of its steps' states; steps
 * with the same subscripts share an array. count: elements of the loop, as text. */
void rd_print_group_subscripts(rd_printing *n, int32_t loop, const char *count)
{
    for (int32_t s = n->t->stmt[loop].first; s >= 0; s = n->t->stmt[s].next)
        if (n->t->stmt[s].kind == RD_S_STEP && has_subscripts(n, &n->t->stmt[s]) &&
            first_with_same_subscripts(n, &n->t->stmt[s]) == s)
            print_subscripts(n, s, count);
}
