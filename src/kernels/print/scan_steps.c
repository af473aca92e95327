/* scan_steps.c - statements of scans as text: an element is taken, and the prefix up to it
 * becomes the result. scan_functions.c explains the names.
 *
 *     float r5; step0(&s0_0[0], r3, 1, i1); prefix0(&s0_0[0], &p0_0[0], &r5);
 *
 * A prefix is the fold of the elements up to one; an exclusive one leaves that element out.  The
 * tree of a block merges its elements as nodes of 1, 2, 4 .. elements (levels > 0); other scans
 * step from left to right.
 *
 * Fields. n->vector is the vector loop whose body is printed, -1: none.
 *
 * Words. A strip is a range of neighbouring indices of one axis, which vector loops visit. */
#include "core/combine_tree.h"
#include "kernels/print/print.h"
#include <inttypes.h>

/* Prints the result of a scan at one element, "prefix0(states, before, &r5);": the open block's
 * state, merged with the fold of all blocks before it. */
static void add_result(rd_printing *n, const rd_stmt *s, const char *at)
{
    const rd_print_fold *f    = &n->fold[s->fold];
    rd_text              line = { 0 };

    rd_text_add(&line, "prefix%" PRId32 "(", s->fold);
    rd_print_state_addresses(&line, f, 's', s->store, at);
    rd_print_carry_in(&line, f, s->store, at);
    for (int32_t k = 0; k < f->emit.fold->n_out; k++)
        rd_text_add(&line, ", &r%" PRId32, s->value + k);
    rd_print_line(n, "%s);", line.at);
    rd_text_end(&line, n->to);
}

/* ---- Elements that go through the tree of their block ---------------------------------------- */
/* Prints an array in which each element is a state of its own, a leaf of the tree of its block:
 * "float u0_0[64] LINES;". LINES: it begins with a cache line. */
static void declare_elements(rd_printing *n, const rd_stmt *s, int64_t elements)
{
    const rd_print_fold *f = &n->fold[s->fold];

    for (int k = 0; k < f->emit.n_state; k++)
        rd_print_line(n, "%s u%" PRId32 "_%d[%" PRId64 "]%s;", rd_state_type(&f->emit, k), s->fold,
                      k, elements, elements > 1 ? " LINES" : "");
}

/* Prints how an element becomes a state of its own, a leaf of the tree of its block:
 * "begin0(&u0_0[at]); step0(&u0_0[at], ...);". */
static void set_element(rd_printing *n, const rd_stmt *s, const char *at)
{
    const rd_print_fold *f    = &n->fold[s->fold];
    rd_text              line = { 0 }, element = { 0 };

    rd_print_state_addresses(&element, f, 'u', s->fold, at);
    rd_add_user_begin(&line, &f->emit, s->fold, "u", at);
    rd_text_add(&line, "begin%" PRId32 "(%s); ", s->fold, element.at);
    rd_print_add_step(n, &line, s, element.at);
    rd_print_line(n, "%s", line.at);
    rd_text_end(&line, n->to);
    rd_text_end(&element, n->to);
}

/* Prints "prefix_tree0(nodes, elements, states, place, pitch, count);", which puts elements into
 * the tree of their block and makes their prefixes. The place is the number of the element in
 * its block of 64. Nodes of one level lie `pitch` from those of the next, and `count`
 * accumulators do so at once. */
static void call_tree(rd_printing *n, const rd_stmt *s, const char *at, const char *count)
{
    const rd_print_fold *f    = &n->fold[s->fold];
    rd_text              line = { 0 };

    rd_text_add(&line, "prefix_tree%" PRId32 "(", s->fold);
    rd_print_state_addresses(&line, f, 'e', s->store, at);
    rd_text_add(&line, ", ");
    rd_print_state_addresses(&line, f, 'u', s->fold, "0");
    rd_text_add(&line, ", ");
    rd_print_state_addresses(&line, f, 's', s->store, at);
    rd_text_add(&line, ", (");
    rd_print_linear(n, &line, &s->fold_at.lane_line);
    rd_text_add(&line, ") %% %d, ", RD_TREE_STEPS);
    rd_print_number(n, &line, n->t->store[s->store].extent);
    rd_print_line(n, "%s, %s);", line.at, count);
    rd_text_end(&line, n->to);
}

/* Prints, in braces, how one element goes through the binary tree of its block: it becomes a
 * state of its own, and prefix_tree0() merges it. */
static void add_by_tree(rd_printing *n, const rd_stmt *s, const char *at)
{
    rd_print_line(n, "{");
    n->indent++;
    declare_elements(n, s, /*elements=*/1);
    set_element(n, s, /*at=*/"0");
    call_tree(n, s, at, /*count=*/"1");
    n->indent--;
    rd_print_line(n, "}");
}

/* True if each index of the position is a known number, as in unrolled loops; then *place is the
 * position. A term with axis < 0 is a value that is only known at run time. */
static bool is_known_position(const rd_printing *n, const rd_linear *at, int64_t *place)
{
    *place = at->offset;
    for (int32_t k = 0; k < at->n; k++) {
        const rd_linear_term *term = &n->t->term[at->first + k];

        if (term->axis < 0 || !n->axis_is_known[term->axis])
            return false;
        *place += term->coef * n->axis_value[term->axis];
    }
    return true;
}

/* Prints how a state takes the node of a level that covers the elements before it: "{ float
 * a0_0[1] = { e0_0[1 + at] }; merge0(&a0_0[0], &u0_0[0]); u0_0[0] = a0_0[0]; }". The state is
 * number `name_at` in the arrays `name` `of`, here u0; nodes of one level lie `extent` from
 * those of the next. */
static void print_merge_before(rd_printing *n, const rd_stmt *s, const char *at, int level,
                               char name, int32_t of, const char *name_at)
{
    const rd_print_fold *f    = &n->fold[s->fold];
    rd_text              line = { 0 };

    for (int k = 0; k < f->emit.n_state; k++)
        rd_text_add(&line, "%s a%" PRId32 "_%d[1] = { e%" PRId32 "_%d[%" PRId64 " + %s] }; ",
                    rd_state_type(&f->emit, k), s->fold, k, s->store, k,
                    level * n->t->store[s->store].extent, at);
    rd_text_add(&line, "merge%" PRId32 "(", s->fold);
    rd_print_state_addresses(&line, f, 'a', s->fold, "0");
    rd_text_add(&line, ", ");
    rd_print_state_addresses(&line, f, name, of, name_at);
    rd_text_add(&line, ");");
    for (int k = 0; k < f->emit.n_state; k++)
        rd_text_add(&line, " %c%" PRId32 "_%d[%s] = a%" PRId32 "_%d[0];", name, of, k, name_at,
                    s->fold, k);
    rd_print_line(n, "{ %s }", line.at);
    rd_text_end(&line, n->to);
}

/* Prints the statements of prefix_tree0() for one element whose number in its block, `place`, is
 * known when the text is made. Then the text knows which nodes merge, and has no loops or tests.
 * For place 5: u merges with node 4, and the prefix is node 0..3 merged with u. */
static void add_by_known_tree(rd_printing *n, const rd_stmt *s, const char *at, int64_t place)
{
    const rd_print_fold *f     = &n->fold[s->fold];
    const int64_t        pitch = n->t->store[s->store].extent;
    int                  level = 0;

    rd_print_line(n, "{");
    n->indent++;
    declare_elements(n, s, /*elements=*/1);
    set_element(n, s, /*at=*/"0");
    for (; place >> level & 1; level++)
        print_merge_before(n, s, at, level, 'u', s->fold, "0");
    for (int k = 0; k < f->emit.n_state; k++)
        rd_print_line(
            n, "e%" PRId32 "_%d[%" PRId64 " + %s] = s%" PRId32 "_%d[%s] = u%" PRId32 "_%d[0];",
            s->store, k, level * pitch, at, s->store, k, at, s->fold, k);
    for (level++; (place + 1) >> level; level++)
        if ((place + 1) >> level & 1)
            print_merge_before(n, s, at, level, 's', s->store, at);
    n->indent--;
    rd_print_line(n, "}");
}

/* ---- Elements of a vector loop --------------------------------------------------------------- */
/* True if one call of prefix_tree0() takes all elements of a vector loop through the trees of
 * their blocks. The PREFIX statement stands directly in the loop: then neighbouring elements
 * belong to accumulators of their own, at the same place of their blocks. */
static bool is_strip_tree_scan(const rd_printing *n, const rd_stmt *s)
{
    return s->kind == RD_S_PREFIX && n->fold[s->fold].levels && n->vector >= 0 &&
           s->parent == n->vector;
}

/* True if statement `user` reads the value: a LET as an operand or in its address (a term with
 * axis < 0), a step as its element, weight or mask. */
static bool is_read_by(const rd_printing *n, int32_t user, int32_t value)
{
    const rd_schedule *t = n->t;
    const rd_stmt     *s = &t->stmt[user];
    bool               found;

    if (s->kind != RD_S_LET)
        return s->x == value || s->weight == value || s->mask == value;
    found = false;
    for (int32_t k = 0; k < t->let[s->value].n; k++)
        found |= t->operand[t->let[s->value].first + k] == value;
    for (int32_t k = 0; k < t->let[s->value].at.n; k++) {
        const rd_linear_term *term = &t->term[t->let[s->value].at.first + k];

        found |= term->axis < 0 && term->value == value;
    }
    return found;
}

/* True if the statement `user`, further down in the same body, needs the value of this LET,
 * directly or through other LETs. */
static bool is_needed_by(const rd_printing *n, int32_t let, int32_t user)
{
    for (int32_t s = n->t->stmt[let].next; s >= 0; s = n->t->stmt[s].next) {
        if (is_read_by(n, s, n->t->stmt[let].value) &&
            (s == user || (n->t->stmt[s].kind == RD_S_LET && is_needed_by(n, s, user))))
            return true;
        if (s == user)
            return false;
    }
    return false;
}

/* Prints the loop that makes each element of a strip a state of its own, before the scan's loop.
 * Those LETs of the loop that the elements need are printed there, too. */
static void set_elements(rd_printing *n, int32_t stmt, const char *count)
{
    rd_print_line(n, "INDEPENDENT for (int64_t i = 0; i < %s; i++) {", count);
    n->indent++;
    for (int32_t s = n->t->stmt[n->vector].first; s != stmt; s = n->t->stmt[s].next)
        if (n->t->stmt[s].kind == RD_S_LET && is_needed_by(n, s, stmt))
            rd_print_let(n, &n->t->stmt[s]);
    set_element(n, &n->t->stmt[stmt], "i");
    n->indent--;
    rd_print_line(n, "}");
}

/* Prints the call of prefix_tree0() that makes the prefixes of all elements of a vector loop,
 * each in an accumulator of its own. Subscripts are those of the loop's first element
 * (n->at_first_element). */
static void call_strip_tree(rd_printing *n, const rd_stmt *s, const char *count)
{
    rd_text at = { 0 };

    n->at_first_element = true;
    rd_print_cell_subscript(n, &at, s);
    call_tree(n, s, at.at, count);
    n->at_first_element = false;
    rd_text_end(&at, n->to);
}

/* Prints what comes before a vector loop with scans by the tree of a block: arrays of elements,
 * and the call that makes all prefixes. An exclusive scan only declares the array: its prefixes
 * leave the elements out, so the call comes behind the loop. */
void rd_print_tree_scan_before(rd_printing *n, int32_t stmt, const char *count)
{
    for (int32_t k = n->t->stmt[stmt].first; k >= 0; k = n->t->stmt[k].next) {
        const rd_stmt *s = &n->t->stmt[k];

        if (!is_strip_tree_scan(n, s))
            continue;
        declare_elements(n, s, rd_loop_of(n->t, stmt)->extent);
        if (n->fold[s->fold].emit.fold->exclusive)
            continue;
        set_elements(n, k, count);
        call_strip_tree(n, s, count);
    }
}

/* Prints the calls of exclusive scans by the tree of a block, behind their vector loop, because
 * their results leave the elements out. */
void rd_print_tree_scan_after(rd_printing *n, int32_t stmt, const char *count)
{
    for (int32_t k = n->t->stmt[stmt].first; k >= 0; k = n->t->stmt[k].next)
        if (is_strip_tree_scan(n, &n->t->stmt[k]) &&
            n->fold[n->t->stmt[k].fold].emit.fold->exclusive)
            call_strip_tree(n, &n->t->stmt[k], count);
}

/* ---- All together ---------------------------------------------------------------------------- */
/* Prints how the scan takes an element: by one call for the whole vector loop, which has been
 * printed already; by the tree of its block (levels > 0); or by a step from the left. In an
 * unrolled loop the number of the element in its block is known, and no function is called. */
static void take_element(rd_printing *n, const rd_stmt *s, const char *at)
{
    int64_t place;

    if (is_strip_tree_scan(n, s)) {
        if (n->fold[s->fold].emit.fold->exclusive)
            set_element(n, s, "i");
    } else if (n->fold[s->fold].levels && is_known_position(n, &s->fold_at.lane_line, &place))
        add_by_known_tree(n, s, at, place);
    else if (n->fold[s->fold].levels)
        add_by_tree(n, s, at);
    else
        rd_print_step(n, s);
}

/* Prints an element of a scan and its result: "float r5; step0(..); prefix0(.., &r5);". An
 * exclusive scan has the result first, because it is of the elements before this one. */
void rd_print_prefix(rd_printing *n, const rd_stmt *s)
{
    const rd_print_fold *f         = &n->fold[s->fold];
    const bool           exclusive = f->emit.fold->exclusive;
    rd_text              at = { 0 }, results = { 0 };

    rd_print_cell_subscript(n, &at, s);
    rd_print_results(&results, s, f->emit.fold);
    rd_print_line(n, "%s", results.at + 1);
    if (exclusive)
        add_result(n, s, at.at);
    take_element(n, s, at.at);
    if (!exclusive)
        add_result(n, s, at.at);
    rd_text_end(&at, n->to);
    rd_text_end(&results, n->to);
}
