/* index_text.c - lines, numbers and index expressions of a text.
 *
 * A mark (m2) is a variable with the index where the current round of a loop begins or ends; the
 * tree numbers marks behind the program's axes.  A jam is a loop that several points of a GPU
 * thread share.
 *
 * Fields. n->vector is the vector loop whose body is printed, -1: none. A term of a position with
 * `axis` -1 is a value, an index that is read at run time. */
#include "kernels/print/gpu/kernel.h" /* rd_is_clamped() */
#include <inttypes.h>
#include <stdarg.h>

/* Begins a line with its indentation. */
void rd_print_begin_line(rd_printing *n)
{
    rd_text_add(n->to, "%*s", 4 * n->indent, "");
}

/* Prints a whole line, with its indentation. */
void rd_print_line(rd_printing *n, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    rd_print_begin_line(n);
    rd_text_add_list(n->to, format, list);
    rd_text_add(n->to, "\n");
    va_end(list);
}

/* Prints a line that opens a block, and indents. */
void rd_print_open(rd_printing *n, const char *line)
{
    rd_print_line(n, "%s", line);
    n->indent++;
}

/* Prints the end of the block. */
void rd_print_close(rd_printing *n)
{
    n->indent--;
    rd_print_line(n, "}");
}

/* Prints the ends of so many blocks, the innermost first. */
void rd_print_close_blocks(rd_printing *n, int blocks)
{
    while (blocks-- > 0)
        rd_print_close(n);
}

/* Adds a number. Small ones are spelled out, so that compilers know them; others come with the
 * call, as N3, so that one text serves many shapes. Equal numbers share an N. If more than 256
 * are different, there is no text: `why` says so. */
void rd_print_number(rd_printing *n, rd_text *to, int64_t value)
{
    int32_t k = 0;

    if (n->spelled || (value >= -n->dialect->spelled && value <= n->dialect->spelled)) {
        rd_text_add(to, "%" PRId64, value);
        return;
    }
    while (k < n->n_number && n->number[k] != value)
        k++;
    if (k == RD_PRINT_NUMBERS) {
        n->why = "it has too many different extents and strides";
        return;
    }
    if (k == n->n_number)
        n->number[n->n_number++] = value;
    rd_text_add(to, n->dialect->number, k);
}

/* Adds the variable of an axis: "i0", the index along axis 0. Numbers behind the program's axes
 * are marks, variables with an index at which something begins or ends: first "lo" and "hi", the
 * ends of the task's share, then "m2" of loops. */
void rd_print_axis(const rd_printing *n, rd_text *to, int32_t axis)
{
    rd_axis_text(to, n->t, axis);
}

/* Adds " + " before each addend but the first. *any: there has been an addend. */
static void add_plus(rd_text *to, bool *any)
{
    rd_text_add(to, *any ? " + " : "");
    *any = true;
}

/* Adds the factor of an addend in a position: " * 4", or nothing if it is 1. */
static void add_times(rd_printing *n, rd_text *to, int64_t coef)
{
    if (coef == 1)
        return;
    rd_text_add(to, " * ");
    rd_print_number(n, to, coef);
}

/* A vector loop or a jam, whose rounds i counts, and what a position has of it. The rule is
 * index = mark + i, where the mark is where the loop begins. So the coefficients of the axis and
 * of its mark are added for the mark, and that of the axis alone is for i. In a loop that begins
 * at m2, `i1 - m2` prints as `i`, and `3*i1` as `m2 * 3 + i * 3`. Where the text has declared
 * the index, the index takes the mark's place, by mark = index - i. */
typedef struct bound_loop {
    int32_t     axis, mark; /* of the loop; mark -1: it begins at no mark          */
    bool        declared;
    const char *name;           /* of the round                                        */
    int64_t     moves, of_mark; /* coefficients: of i; of the mark, both added         */
} bound_loop;

/* Finds what a position has of a vector loop or jam `stmt`: the coefficients of its round i, and
 * of the mark (the variable with the index at which it begins). There is a mark if the lower
 * bound is one axis alone, with coefficient 1. */
static bound_loop bound_loop_of(const rd_printing *n, const rd_linear *at, int32_t stmt,
                                const char *name)
{
    const rd_for         *loop = rd_loop_of(n->t, stmt);
    const rd_linear      *from = &loop->from.part[0].at;
    const rd_linear_term *term = from->n == 1 ? &n->t->term[from->first] : NULL;
    bound_loop            b    = { .axis = loop->axis, .mark = -1, .name = name };

    if (term && from->offset == 0 && term->coef == 1 && term->axis >= 0)
        b.mark = term->axis;
    b.moves   = rd_linear_coef(n->t, at, b.axis);
    b.of_mark = b.mark >= 0 ? b.moves + rd_linear_coef(n->t, at, b.mark) : 0;
    if (loop->flattened) /* i counts elements of all rows, not rows of `extent` elements */
        b.moves /= rd_loop_of(n->t, n->t->stmt[stmt].first)->extent;
    return b;
}

/* Returns the variable that counts the rounds of the vector loop: "i"; or "e" of a loop that one
 * GPU thread runs in order. */
const char *rd_vector_index_name(const rd_printing *n)
{
    return n->vector < 0 && n->thread_loop >= 0 && rd_loop_of(n->t, n->thread_loop)->in_order ? "e"
                                                                                              : "i";
}

/* Adds the index along the axis of a vector loop that begins at no mark (variable with a first
 * index): its lower bound plus the round, "(lo + i)". Without i it is the first element's, as
 * n->at_first_element asks. n->vector is -1 meanwhile, so that the bound itself is printed as
 * outside of the loop. */
static void add_index_of_vector(rd_printing *n, rd_text *to)
{
    const int32_t loop = n->vector;

    n->vector = -1;
    rd_text_add(to, "(");
    rd_print_linear(n, to, &rd_loop_of(n->t, loop)->from.part[0].at);
    rd_text_add(to, n->at_first_element ? ")" : " + i)");
    n->vector = loop;
}

/* Describes the loops whose rounds the text counts by i or e, and returns how many of the two
 * there are, in b. One is the vector loop that is being printed, or a loop that a GPU thread has
 * unrolled. The other is the jam, a loop whose rounds stand beside each other inside another
 * loop. `declared`: the text has declared a variable of the index, as in a jam, or because it is
 * clamped to the last index. */
static int bound_loops_at(const rd_printing *n, const rd_linear *at, bound_loop b[2])
{
    const int32_t loop  = n->vector >= 0 ? n->vector : n->thread_loop;
    int           count = 0;

    if (loop >= 0)
        b[count++] = bound_loop_of(n, at, loop, rd_vector_index_name(n));
    if (count && n->vector < 0)
        b[0].declared = n->jam || (n->kernel && rd_is_clamped(n, loop));
    if (n->jam) {
        b[count]            = bound_loop_of(n, at, n->jam, "e");
        b[count++].declared = true;
    }
    return count;
}

/* Adds the terms of a position that a loop counts: "m0 * 4 + i * 4", where m0 is the index at
 * which the loop begins. If the text has declared the index i0 = m0 + i, the mark is replaced by
 * i0 - i. For the first element of a loop (n->at_first_element) i is 0, and is left out. */
static void add_bound_loop(rd_printing *n, rd_text *to, const bound_loop *b, bool *any)
{
    const int64_t round = b->declared ? b->moves - b->of_mark : b->moves;

    if (b->mark >= 0 && b->of_mark) {
        add_plus(to, any);
        rd_print_axis(n, to, b->declared && !n->at_first_element ? b->axis : b->mark);
        add_times(n, to, b->of_mark);
    }
    if (b->mark >= 0 && round && !n->at_first_element) {
        add_plus(to, any);
        rd_text_add(to, "%s", b->name);
        add_times(n, to, round);
    }
}

/* True if the axis is the index of one of these loops, or its mark, the variable with its first
 * index: add_bound_loop() adds those terms. Loops without a mark (-1) are left to the caller. */
static bool is_bound(const bound_loop *b, int count, int32_t axis)
{
    for (int k = 0; k < count; k++)
        if (b[k].mark >= 0 && (axis == b[k].axis || axis == b[k].mark))
            return true;
    return false;
}

/* Adds a position as a sum: "i0 * 64 + m2 + i + 3". Indices that are known, as in unrolled
 * rounds, become part of the constant. A term with axis < 0 is a value, r7, that is read at run
 * time. Terms of loops that i or e counts come last, those of one loop together. */
void rd_print_linear(rd_printing *n, rd_text *to, const rd_linear *at)
{
    bound_loop b[2];
    const int  count = bound_loops_at(n, at, b);
    int64_t    known = at->offset;
    bool       any   = false;

    for (int32_t k = 0; k < at->n; k++) {
        const rd_linear_term *term = &n->t->term[at->first + k];

        if (term->axis >= 0 && n->axis_is_known[term->axis]) {
            known += term->coef * n->axis_value[term->axis];
            continue;
        }
        if (term->axis >= 0 && is_bound(b, count, term->axis))
            continue;
        add_plus(to, &any);
        if (term->axis < 0)
            rd_text_add(to, "r%" PRId32, term->value);
        else if (count && term->axis == b[0].axis && !b[0].declared)
            add_index_of_vector(n, to);
        else
            rd_print_axis(n, to, term->axis);
        add_times(n, to, term->coef);
    }
    for (int k = 0; k < count; k++)
        add_bound_loop(n, to, &b[k], &any);
    if (known || !any) {
        add_plus(to, &any);
        rd_print_number(n, to, known);
    }
}

/* Adds one part of a bound of a loop. A part with by > 1 is rounded down (or up) to first + k *
 * by: "DOWN_TO(at, first, by)". */
static void add_part(rd_printing *n, rd_text *to, const rd_edge_part *part)
{
    if (part->multiple <= 1) {
        rd_print_linear(n, to, &part->at);
        return;
    }
    rd_text_add(to, part->round_up ? "UP_TO(" : "DOWN_TO(");
    rd_print_linear(n, to, &part->at);
    rd_text_add(to, ", ");
    rd_print_linear(n, to, &part->base);
    rd_text_add(to, ", %" PRId64 ")", part->multiple);
}

/* Adds a bound of a loop, which is the minimum or maximum of its parts: "LESS(LESS(a, b), c)".
 * function: "LESS" or "MORE". */
static void add_edge(rd_printing *n, rd_text *to, const rd_edge *edge, const char *function)
{
    for (int32_t k = 1; k < edge->n; k++)
        rd_text_add(to, "%s(", function);
    for (int32_t k = 0; k < edge->n; k++) {
        rd_text_add(to, k ? ", " : "");
        add_part(n, to, &edge->part[k]);
        rd_text_add(to, k ? ")" : "");
    }
}

/* Adds the lower bound of a loop: "MORE(a, b)" is the larger of two. */
void rd_print_from(rd_printing *n, rd_text *to, const rd_edge *edge)
{
    add_edge(n, to, edge, "MORE");
}

/* Adds the upper bound of a loop: "LESS(a, b)" is the smaller of two. */
void rd_print_to(rd_printing *n, rd_text *to, const rd_edge *edge)
{
    add_edge(n, to, edge, "LESS");
}
