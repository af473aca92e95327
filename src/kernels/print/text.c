/* text.c - lines, numbers and positions of a text. */
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>
#include <stdarg.h>

void rd_print_begin_line(rd_printing *n)
{
    rd_text_add(n->to, "%*s", 4 * n->indent, "");
}

void rd_print_line(rd_printing *n, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    rd_print_begin_line(n);
    rd_text_add_list(n->to, format, list);
    rd_text_add(n->to, "\n");
    va_end(list);
}

/* Small numbers are spelled out, so that compilers know them.  Others come with the call, so that
 * one text serves many shapes. */
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

void rd_print_axis(const rd_printing *n, rd_text *to, int32_t axis)
{
    const int32_t mark = axis - n->t->p->n_axis;

    if (mark < 0)
        rd_text_add(to, "i%" PRId32, axis);
    else if (mark < RD_MARKS)
        rd_text_add(to, mark == RD_MARK_LO ? "lo" : "hi");
    else
        rd_text_add(to, "m%" PRId32, mark - RD_MARKS);
}

/* " + ": between addends. */
static void add_plus(rd_text *to, bool *any)
{
    rd_text_add(to, *any ? " + " : "");
    *any = true;
}

static void add_times(rd_printing *n, rd_text *to, int64_t coef)
{
    if (coef == 1)
        return;
    rd_text_add(to, " * ");
    rd_print_number(n, to, coef);
}

/* A loop whose rounds are written out, or are vectors: an index is that of its mark and so many more, or, if
 * the text has declared it, itself. */
typedef struct hand {
    int32_t     axis, mark; /* mark -1: it begins elsewhere                        */
    bool        declared;
    const char *name;           /* of the round                                        */
    int64_t     moves, of_mark; /* what the position has of its index, and of its mark */
} hand;

static hand hand_of(const rd_printing *n, const rd_linear *at, int32_t stmt, const char *name)
{
    const rd_for         *loop = rd_loop_of(n->t, stmt);
    const rd_linear      *from = &loop->from.part[0].at;
    const rd_linear_term *term = from->n == 1 ? &n->t->term[from->first] : NULL;
    hand                  h    = { .axis = loop->axis, .mark = -1, .name = name };

    if (term && from->offset == 0 && term->coef == 1 && term->axis >= 0)
        h.mark = term->axis;
    h.moves   = rd_linear_coef(n->t, at, h.axis);
    h.of_mark = h.mark >= 0 ? h.moves + rd_linear_coef(n->t, at, h.mark) : 0;
    return h;
}

const char *rd_lane_name(const rd_printing *n)
{
    return n->vector < 0 && n->lane >= 0 && rd_loop_of(n->t, n->lane)->in_order ? "e" : "i";
}

/* "(lo + i)": the index along the axis of a vector loop that begins at no mark. */
static void add_index_of_vector(rd_printing *n, rd_text *to)
{
    const int32_t kept = n->vector;

    n->vector = -1;
    rd_text_add(to, "(");
    rd_print_linear(n, to, &rd_loop_of(n->t, kept)->from.part[0].at);
    rd_text_add(to, n->first ? ")" : " + i)");
    n->vector = kept;
}

/* The vector loop at hand, and the jam around it; how many. */
static int hands_at(const rd_printing *n, const rd_linear *at, hand h[2])
{
    const int32_t loop  = n->vector >= 0 ? n->vector : n->lane;
    int           count = 0;

    if (loop >= 0)
        h[count++] = hand_of(n, at, loop, rd_lane_name(n));
    if (count && n->vector < 0)
        h[0].declared = n->jam || (n->kernel && rd_is_clamped(n, loop));
    if (n->jam) {
        h[count]            = hand_of(n, at, n->jam, "e");
        h[count++].declared = true;
    }
    return count;
}

/* "m0 * 4 + i * 4", or "i0 * 4 + i * -4" of an index that is declared. */
static void add_hand(rd_printing *n, rd_text *to, const hand *h, bool *any)
{
    const int64_t round = h->declared ? h->moves - h->of_mark : h->moves;

    if (h->mark >= 0 && h->of_mark) {
        add_plus(to, any);
        rd_print_axis(n, to, h->declared && !n->first ? h->axis : h->mark);
        add_times(n, to, h->of_mark);
    }
    if (h->mark >= 0 && round && !n->first) {
        add_plus(to, any);
        rd_text_add(to, "%s", h->name);
        add_times(n, to, round);
    }
}

static bool is_at_hand(const hand *h, int count, int32_t axis)
{
    for (int k = 0; k < count; k++)
        if (h[k].mark >= 0 && (axis == h[k].axis || axis == h[k].mark))
            return true;
    return false;
}

void rd_print_linear(rd_printing *n, rd_text *to, const rd_linear *at)
{
    hand      h[2];
    const int count = hands_at(n, at, h);
    int64_t   known = at->offset;
    bool      any   = false;

    for (int32_t k = 0; k < at->n; k++) {
        const rd_linear_term *term = &n->t->term[at->first + k];

        if (term->axis >= 0 && n->known[term->axis]) {
            known += term->coef * n->index[term->axis];
            continue;
        }
        if (term->axis >= 0 && is_at_hand(h, count, term->axis))
            continue;
        add_plus(to, &any);
        if (term->axis < 0)
            rd_text_add(to, "r%" PRId32, term->value);
        else if (count && term->axis == h[0].axis && !h[0].declared)
            add_index_of_vector(n, to);
        else
            rd_print_axis(n, to, term->axis);
        add_times(n, to, term->coef);
    }
    for (int k = 0; k < count; k++)
        add_hand(n, to, &h[k], &any);
    if (known || !any) {
        add_plus(to, &any);
        rd_print_number(n, to, known);
    }
}

/* A part, rounded to first + k * by: "DOWN_TO(at, first, by)". */
static void add_part(rd_printing *n, rd_text *to, const rd_edge_part *part)
{
    if (part->by <= 1) {
        rd_print_linear(n, to, &part->at);
        return;
    }
    rd_text_add(to, part->up ? "UP_TO(" : "DOWN_TO(");
    rd_print_linear(n, to, &part->at);
    rd_text_add(to, ", ");
    rd_print_linear(n, to, &part->first);
    rd_text_add(to, ", %" PRId64 ")", part->by);
}

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

void rd_print_from(rd_printing *n, rd_text *to, const rd_edge *edge)
{
    add_edge(n, to, edge, "MORE");
}

void rd_print_to(rd_printing *n, rd_text *to, const rd_edge *edge)
{
    add_edge(n, to, edge, "LESS");
}
