/* loop_text.c - loops as text, and bodies, statement after statement.
 *
 * A mark (m0, m1) is a variable with the first index of a round, or with the one behind its last.
 * A strip is a round of a loop over strips, with n0 indices.
 *
 * Fields. A loop's `start_mark` and `stop_mark` are its marks, axes bound to where its round begins
 * and ends, -1: none. A loop's `strips_number` is the number of the strips that it runs over, -1:
 * none. */
#include "kernels/print/gpu/kernel.h" /* rd_print_in_kernel() */
#include <inttypes.h>

/* Prints the number of indices in a strip, a round of a loop over strips (`strips_number` >= 0):
 * "enum { n0 = 64 };" if each has so many (width), else "const int64_t n0 = m1 - m0;", where m0 and
 * m1 are the strip's bounds. */
static void declare_count(rd_printing *n, const rd_for *loop)
{
    const int32_t start = loop->start_mark - n->t->p->n_axis - RD_MARKS; /* the 0 of m0 */

    if (loop->strips_number < 0)
        return;
    if (loop->width)
        rd_print_line(n, "enum { n%" PRId32 " = %" PRId32 " };", start, loop->width);
    else
        rd_print_line(n, "const int64_t n%" PRId32 " = m%" PRId32 " - m%" PRId32 ";", start,
                      loop->stop_mark - n->t->p->n_axis - RD_MARKS, start);
}

/* ---- Loops ----------------------------------------------------------------------------------- */
/* Adds the condition of a loop, "i0 < hi"; or, if only rounds with all of their `step` indices
 * shall run, "i0 + 64 <= hi". */
static void add_condition(rd_printing *n, rd_text *to, const rd_for *loop, bool whole_steps)
{
    rd_print_axis(n, to, loop->axis);
    rd_text_add(to, whole_steps ? " + %" PRId64 " <= " : " < ", loop->step);
    if (whole_steps)
        rd_print_linear(n, to, &loop->to.part[0].at);
    else
        rd_print_to(n, to, &loop->to);
}

/* Prints the head of a serial loop, "for (int64_t i0 = lo; i0 < hi; i0 += 64) {", and the marks
 * of its round, variables with the first index and the one behind the last. A pragma "GCC unroll
 * 4" comes before it if the schedule wants unrolled rounds. A loop of whole steps and the tail
 * loop behind it share an index that is declared before them, in braces. A backward loop begins
 * with the last index. A round that is hidden from compilers begins with "const int64_t m3 =
 * HIDDEN(i0);". */
static void begin_loop(rd_printing *n, int32_t stmt)
{
    const rd_for *loop     = rd_loop_of(n->t, stmt);
    const bool    has_rest = rd_has_tail_loop(n, stmt), is_rest = rd_is_tail_loop(n, stmt);
    rd_text from = { 0 }, to = { 0 }, step = { 0 }, axis = { 0 }, first = { 0 }, holds = { 0 };

    rd_print_axis(n, &axis, loop->axis);
    rd_print_from(n, &from, &loop->from);
    rd_print_to(n, &to, &loop->to);
    if (loop->strips_number >= 0) /* the greatest length of a strip is known to compilers */
        rd_text_add(&step, "%" PRId64, loop->step);
    else
        rd_print_number(n, &step, loop->step);
    if (loop->unroll)
        rd_print_line(n, "_Pragma(\"GCC unroll %" PRId32 "\")", loop->unroll);
    add_condition(n, &holds, loop, has_rest);
    rd_text_add(&first, "int64_t %s = %s", axis.at, from.at);
    if (has_rest) {
        rd_print_line(n, "{");
        n->indent++;
        rd_print_line(n, "%s;", first.at);
    }
    const char *begin = has_rest || is_rest ? "" : first.at; /* else declared before */

    if (loop->backwards)
        rd_print_line(n, "for (int64_t %s = %s - 1; %s >= %s; %s--) {", axis.at, to.at, axis.at,
                      from.at, axis.at);
    else if (loop->step == 1)
        rd_print_line(n, "for (%s; %s; %s++) {", begin, holds.at, axis.at);
    else
        rd_print_line(n, "for (%s; %s; %s += %s) {", begin, holds.at, axis.at, step.at);
    n->indent++;
    if (loop->start_mark >= 0) {
        rd_text start = { 0 };

        rd_print_axis(n, &start, loop->start_mark);
        rd_print_line(n, loop->hidden ? "const int64_t %s = HIDDEN(%s);" : "const int64_t %s = %s;",
                      start.at, axis.at);
        rd_text_end(&start, n->to);
    }
    if (loop->stop_mark >= 0) {
        rd_text stop = { 0 };

        rd_print_axis(n, &stop, loop->stop_mark);
        if (loop->width)
            rd_print_line(n, "const int64_t %s = %s + %" PRId32 ";", stop.at, axis.at, loop->width);
        else
            rd_print_line(n, "const int64_t %s = LESS(%s + %s, %s);", stop.at, axis.at, step.at,
                          to.at);
        rd_text_end(&stop, n->to);
    }
    declare_count(n, loop);
    rd_text_end(&from, n->to);
    rd_text_end(&to, n->to);
    rd_text_end(&step, n->to);
    rd_text_end(&axis, n->to);
    rd_text_end(&first, n->to);
    rd_text_end(&holds, n->to);
}

/* Prints the head of a loop over ranges, "for (int64_t m0 = lo, m1; m0 < hi; m0 = m1) {", and
 * "m1 = hi;". Statements of its body then lower m1 to where a block of a fold ends, and the next
 * range begins there. Backwards, the last range comes first, and m0 is raised. */
static void begin_block_loop(rd_printing *n, const rd_for *loop)
{
    rd_text from = { 0 }, to = { 0 }, start = { 0 }, stop = { 0 };

    rd_print_from(n, &from, &loop->from);
    rd_print_to(n, &to, &loop->to);
    rd_print_axis(n, &start, loop->start_mark);
    rd_print_axis(n, &stop, loop->stop_mark);
    if (loop->backwards) {
        rd_print_line(n, "for (int64_t %s = %s, %s; %s > %s; %s = %s) {", stop.at, to.at, start.at,
                      stop.at, from.at, stop.at, start.at);
        rd_print_line(n, "    %s = %s;", start.at, from.at);
    } else {
        rd_print_line(n, "for (int64_t %s = %s, %s; %s < %s; %s = %s) {", start.at, from.at,
                      stop.at, start.at, to.at, start.at, stop.at);
        rd_print_line(n, "    %s = %s;", stop.at, to.at);
    }
    n->indent++;
    rd_text_end(&from, n->to);
    rd_text_end(&to, n->to);
    rd_text_end(&start, n->to);
    rd_text_end(&stop, n->to);
}

/* Prints the head of a loop over strips (the ranges that its vector loops take at once) which
 * begin at cache lines: "for (int64_t m0 = lo, m1; m0 < hi; m0 = m1) { m1 = LESS(m0 + 128 -
 * LINE_OFFSET(..), hi);". Only the first strip is shorter, by its offset in a line. */
static void begin_line_loop(rd_printing *n, const rd_for *loop)
{
    rd_text from = { 0 }, to = { 0 }, start = { 0 }, stop = { 0 }, over = { 0 };

    rd_print_from(n, &from, &loop->from);
    rd_print_to(n, &to, &loop->to);
    rd_print_axis(n, &start, loop->start_mark);
    rd_print_axis(n, &stop, loop->stop_mark);
    rd_print_line_offset(n, &over, loop->align_to);
    rd_print_line(n, "for (int64_t %s = %s, %s; %s < %s; %s = %s) {", start.at, from.at, stop.at,
                  start.at, to.at, start.at, stop.at);
    n->indent++;
    rd_print_line(n, "%s = LESS(%s + %" PRId64 "%s, %s);", stop.at, start.at, loop->step, over.at,
                  to.at);
    declare_count(n, loop);
    rd_text_end(&from, n->to);
    rd_text_end(&to, n->to);
    rd_text_end(&start, n->to);
    rd_text_end(&stop, n->to);
    rd_text_end(&over, n->to);
}

/* Prints the head of a loop of at most one round, which takes the whole range: "{ const int64_t
 * m0 = lo, m1 = hi; if (m0 < m1) {". print_loop() ends both braces. */
static void begin_single_round(rd_printing *n, const rd_for *loop)
{
    rd_text from = { 0 }, to = { 0 }, start = { 0 }, stop = { 0 };

    rd_print_from(n, &from, &loop->from);
    rd_print_to(n, &to, &loop->to);
    rd_print_axis(n, &start, loop->start_mark);
    rd_print_axis(n, &stop, loop->stop_mark);
    rd_print_line(n, "{");
    n->indent++;
    rd_print_line(n, "const int64_t %s = %s, %s = %s;", start.at, from.at, stop.at, to.at);
    rd_print_line(n, "if (%s < %s) {", start.at, stop.at);
    n->indent++;
    declare_count(n, loop);
    rd_text_end(&from, n->to);
    rd_text_end(&to, n->to);
    rd_text_end(&start, n->to);
    rd_text_end(&stop, n->to);
}

/* Binds the axis of an unrolled loop to the index of one round. If the loop begins at a
 * constant, the index is known, and positions have it as a number; else "const int64_t i1 = m5 +
 * 2;" declares it. */
static void bind_round(rd_printing *n, const rd_for *loop, int64_t round)
{
    rd_linear at    = loop->from.part[0].at;
    rd_text   index = { 0 };

    at.offset += round;
    n->axis_is_known[loop->axis] = at.n == 0;
    n->axis_value[loop->axis]    = at.offset;
    if (at.n == 0)
        return;
    rd_print_linear(n, &index, &at);
    rd_print_line(n, "const int64_t i%" PRId32 " = %s;", loop->axis, index.at);
    rd_text_end(&index, n->to);
}

/* Prints a copy of the body for each round of an unrolled loop: "{ .. } { .. }". A backward loop
 * begins with the last round. Inside, the index of the axis is a known number or declared. */
static void print_unrolled(rd_printing *n, int32_t stmt)
{
    const rd_for *loop = rd_loop_of(n->t, stmt);

    for (int64_t k = 0; k < loop->extent; k++) {
        rd_print_line(n, "{");
        n->indent++;
        bind_round(n, loop, loop->backwards ? loop->extent - 1 - k : k);
        rd_print_body(n, stmt);
        n->indent--;
        rd_print_line(n, "}");
    }
    n->axis_is_known[loop->axis] = false;
}

/* Prints the loop by its kind, and behind it the label "left7:;" if an early exit jumps there
 * (n->is_exited). A loop of one round, and a tail loop, which stands in the braces of the loop
 * before it, end one brace more. If the bounds are constants, all their numbers are spelled out
 * (n->spelled), so that compilers know them. */
static void print_loop(rd_printing *n, int32_t stmt)
{
    const rd_for *loop = rd_loop_of(n->t, stmt);

    n->spelled = loop->constant_ends;
    switch (loop->kind) {
    case RD_FOR_VECTOR: rd_print_vector(n, stmt); return;
    case RD_FOR_UNROLL: print_unrolled(n, stmt); return;
    case RD_FOR_BLOCK: begin_block_loop(n, loop); break;
    case RD_FOR_ONCE: begin_single_round(n, loop); break;
    default:
        if (loop->align_to)
            begin_line_loop(n, loop);
        else
            begin_loop(n, stmt);
    }
    n->spelled = false;
    rd_print_body(n, stmt);
    n->indent--;
    rd_print_line(n, "}");
    if (loop->kind == RD_FOR_ONCE || rd_is_tail_loop(n, stmt)) {
        n->indent--;
        rd_print_line(n, "}");
    }
    if (n->is_exited[stmt])
        rd_print_line(n, "left%" PRId32 ":;", stmt);
}

/* Prints a binary search of memory in which numbers ascend, `arg` elements apart. r7 becomes the
 * first index, from r5 on, with a number that is not below `count`; r6 - 1 if no earlier one has.
 *
 *     int64_t r7 = r5; for (int64_t to = r6 - 1; r7 < to;) { .. } */
static void print_find(rd_printing *n, const rd_stmt *s)
{
    const char *type = rd_memory_type(s->type);
    rd_text     at = { 0 }, least = { 0 };

    rd_print_linear(n, &at, &s->at);
    rd_print_linear(n, &least, &s->count);
    rd_print_line(n, "int64_t r%" PRId32 " = r%" PRId32 ";", s->value, s->x);
    rd_print_line(n, "for (int64_t to = r%" PRId32 " - 1; r%" PRId32 " < to;) {", s->weight,
                  s->value);
    rd_print_line(n, "    const int64_t half = r%" PRId32 " + (to - r%" PRId32 ") / 2;", s->value,
                  s->value);
    rd_print_line(n, "    if (((const %s *)x%" PRId32 ")[%s + %" PRId32 " * half] < %s)", type,
                  s->slot, at.at, s->arg, least.at);
    rd_print_line(n, "        r%" PRId32 " = half + 1;", s->value);
    rd_print_line(n, "    else");
    rd_print_line(n, "        to = half;");
    rd_print_line(n, "}");
    rd_text_end(&at, n->to);
    rd_text_end(&least, n->to);
}

/* Prints the body of an IF under its condition, the value r3: "if (r3) { .. }"; with `unless`,
 * "if (!r3) { .. }". */
static void print_if(rd_printing *n, int32_t stmt)
{
    rd_print_line(n, "if (%sr%" PRId32 ") {", n->t->stmt[stmt].unless ? "!" : "",
                  n->t->stmt[stmt].x);
    n->indent++;
    rd_print_body(n, stmt);
    n->indent--;
    rd_print_line(n, "}");
}

/* ---- Bodies ---------------------------------------------------------------------------------- */
/* True if a statement only changes states of a min or max that an argmin or argmax beside it has as
 * well (its twin): it has no text. */
static bool is_of_twin(const rd_printing *n, const rd_stmt *s)
{
    return (s->kind == RD_S_BEGIN || s->kind == RD_S_STEP || s->kind == RD_S_LOAD_STATES ||
            s->kind == RD_S_STORE_STATES) &&
           n->fold[s->fold].twin;
}

/* Prints a statement by its kind. Some have another text in a GPU kernel; all others are the
 * same in each language. A kind that has no text sets n->why. */
static void print_stmt(rd_printing *n, int32_t stmt)
{
    const rd_stmt *s = &n->t->stmt[stmt];

    if ((n->kernel && rd_print_in_kernel(n, stmt)) || is_of_twin(n, s))
        return;
    switch (s->kind) {
    case RD_S_LOOP: print_loop(n, stmt); break;
    case RD_S_IF: print_if(n, stmt); break;
    case RD_S_LET: rd_print_let(n, s); break;
    case RD_S_STORE: rd_print_store(n, stmt); break;
    case RD_S_ARRAY: rd_print_declare_array(n, s); break;
    case RD_S_BEGIN: rd_print_begin(n, s); break;
    case RD_S_STEP: rd_print_step(n, s); break;
    case RD_S_LOAD_STATES:
    case RD_S_STORE_STATES: rd_print_state_copy(n, s); break;
    case RD_S_SWITCH_STATE: rd_print_label_change(n, stmt); break;
    case RD_S_CUT_AT_BLOCK: rd_print_block_limit(n, s); break;
    case RD_S_CUT_AT_RUN: rd_print_run_end(n, s); break;
    case RD_S_PUSH_IF_LAST: rd_print_block_end(n, s); break;
    case RD_S_MERGE_BLOCKS: rd_print_lane_nodes(n, stmt); break;
    case RD_S_MERGE_LANES: rd_print_merge_lanes(n, stmt); break;
    case RD_S_FINISH: rd_print_finish(n, stmt); break;
    case RD_S_PREFIX: rd_print_prefix(n, s); break;
    case RD_S_LOWER_BOUND: print_find(n, s); break;
    case RD_S_PREFETCH: rd_print_prefetch(n, s); break;
    case RD_S_EXIT: rd_print_exit(n, s); break;
    case RD_S_SORT: rd_print_sort(n, s); break;
    case RD_S_FRONT: rd_print_front(n, s); break;
    default: n->why = "a statement that has no text";
    }
}

/* Prints the statements of a body in order. It stops if one of them can have no text; n->why is
 * the reason. */
void rd_print_body(rd_printing *n, int32_t stmt)
{
    for (int32_t s = n->t->stmt[stmt].first; s >= 0 && !n->why; s = n->t->stmt[s].next)
        print_stmt(n, s);
}
