/* work_items_text.c - the number of an item becomes indices, and the item's body is printed:
 *
 *     uint64_t left = (uint64_t)item;
 *     const int64_t i1 = (int64_t)RD_REST(left, q.N[0]);
 *     left = RD_QUOTIENT(left, q.N[0]);
 *     const int64_t i0 = (int64_t)RD_REST(left, q.N[1]);
 *
 * A work item is the unit of work of a team of threads.  m0 and m1 are marks: the first index of an
 * item of several indices, and the one behind its last.  A range is a part of a long loop that is
 * an item of its own (split).
 *
 * Fields. A loop's `start_mark` and `stop_mark` are its marks, axes bound to where its round begins
 * and ends, -1: none.
 *
 * Words. A partial is a node that one range of a split loop leaves for the combine. */
#include "kernels/loop/facts.h"
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>

/* True if the statement is a loop over work items: each round is done by one team of threads. */
static bool is_item_loop(const rd_schedule *t, int32_t stmt)
{
    return t->stmt[stmt].kind == RD_S_LOOP && rd_loop_of(t, stmt)->kind == RD_FOR_ITEM;
}

/* Lists the nested loops over items of a kernel, the outermost first; returns how many there
 * are. */
static int32_t loops_of(const rd_schedule *t, int32_t kernel, int32_t loop[RD_MAX_RANK])
{
    int32_t count = 0;

    for (int32_t s = kernel; s >= 0 && count < RD_MAX_RANK;) {
        int32_t inside = t->stmt[s].first;

        loop[count++] = s;
        while (inside >= 0 && !is_item_loop(t, inside))
            inside = t->stmt[inside].next;
        s = inside;
    }
    return count;
}

/* Prints the first index of an item of `step` indices, and the one behind its last. A constant
 * width is printed as one, so that compilers know it. `count`: items along the axis.
 *
 *     const int64_t m0 = 512 * (int64_t)RD_REST(left, n);
 *     const int64_t m1 = RD_LESS(m0 + 512, N); */
static void print_chunk(rd_printing *n, const rd_for *loop, const char *count)
{
    rd_text start = { 0 }, stop = { 0 }, to = { 0 };

    rd_print_axis(n, &start, loop->start_mark);
    rd_print_axis(n, &stop, loop->stop_mark);
    rd_print_linear(n, &to, &loop->to.part[0].at);
    rd_print_line(n, "const int64_t %s = %" PRId64 " * (int64_t)RD_REST(left, %s);", start.at,
                  loop->step, count);
    if (loop->width)
        rd_print_line(n, "const int64_t %s = %s + %" PRId32 ";", stop.at, start.at, loop->width);
    else
        rd_print_line(n, "const int64_t %s = RD_LESS(%s + %" PRId64 ", %s);", stop.at, start.at,
                      loop->step, to.at);
    rd_text_end(&start, n->to);
    rd_text_end(&stop, n->to);
    rd_text_end(&to, n->to);
}

/* Prints the first index of the range (part of a split loop) and the one behind its last: "const
 * int64_t m1 = range * q.N[1], m2 = RD_LESS(m1 + q.N[1], n);". The backend declares the number
 * of the range. */
static void print_range_of_item(rd_printing *n, const rd_for *loop)
{
    rd_text start = { 0 }, stop = { 0 }, to = { 0 }, step = { 0 };

    rd_print_axis(n, &start, loop->start_mark);
    rd_print_axis(n, &stop, loop->stop_mark);
    rd_print_linear(n, &to, &loop->to.part[0].at);
    rd_print_number(n, &step, loop->step);
    rd_print_line(n, "const int64_t %s = range * %s, %s = RD_LESS(%s + %s, %s);", start.at, step.at,
                  stop.at, start.at, step.at, to.at);
    rd_text_end(&start, n->to);
    rd_text_end(&stop, n->to);
    rd_text_end(&to, n->to);
    rd_text_end(&step, n->to);
}

/* Prints the index (or the range) of one loop over items, the digit of the item's number in the
 * mixed radix of the loops' extents: "const int64_t i0 = (int64_t)RD_REST(left, q.N[1]);". If
 * `more` loops follow, "left = RD_QUOTIENT(left, q.N[1]);" is printed, too. `split_reduction`: the
 * loop goes over ranges or block tiles, which have numbers of their own. padded_rounds: items along
 * the axis, with those that fill blocks of threads. */
static void print_index(rd_printing *n, const rd_for *loop, bool more)
{
    rd_text count = { 0 }, name = { 0 };

    if (loop->split_reduction && n->kernel && n->kernel->block_tiles) {
        rd_print_range_of_block_tile(n, loop);
        return;
    }
    if (loop->split_reduction) {
        print_range_of_item(n, loop);
        return;
    }

    rd_print_number(n, &count, loop->padded_rounds ? loop->padded_rounds : loop->extent);
    rd_print_axis(n, &name, loop->axis);
    if (loop->start_mark >= 0)
        print_chunk(n, loop, count.at);
    else
        rd_print_line(n, "const int64_t %s = (int64_t)RD_REST(left, %s);", name.at, count.at);
    if (more)
        rd_print_line(n, "left = RD_QUOTIENT(left, %s);", count.at);
    rd_text_end(&count, n->to);
    rd_text_end(&name, n->to);
}

/* Prints the values (LET) of a body that stand before the statement `end`. kernel NULL: all of
 * them have print/'s text. */
static void print_values(rd_printing *n, int32_t body, int32_t end)
{
    for (int32_t s = n->t->stmt[body].first; s >= 0 && s != end; s = n->t->stmt[s].next)
        if (n->t->stmt[s].kind == RD_S_LET && !(n->kernel && rd_print_in_kernel(n, s)))
            rd_print_let(n, &n->t->stmt[s]);
}

/* Prints the indices of the work item `item`, and the values that stand between its loops. The
 * innermost loop is the last digit of the number. Loops over ranges are left out unless `ranges`
 * is set. Returns the innermost loop over items. */
static int32_t open_item(rd_printing *n, int32_t kernel, bool ranges)
{
    int32_t       loop[RD_MAX_RANK] = { 0 };
    const int32_t count             = loops_of(n->t, kernel, loop);

    rd_print_line(n, "uint64_t left = (uint64_t)item;");
    for (int32_t k = count; k-- > 0;)
        if (ranges || !rd_loop_of(n->t, loop[k])->split_reduction)
            print_index(n, rd_loop_of(n->t, loop[k]), k > 0);
    for (int32_t k = 0; k < count; k++)
        print_values(n, n->t->stmt[loop[k]].parent, loop[k]);
    return loop[count > 0 ? count - 1 : 0];
}

/* Prints all that a team (the threads of an item) does for a work item: its indices, and the
 * body of the innermost loop over items. rd_find_partials() notes which folds leave partials of
 * ranges in this kernel. */
void rd_print_item(rd_printing *n, int32_t kernel)
{
    if (n->kernel)
        rd_find_partials(n, kernel);
    rd_print_body(n, open_item(n, kernel, /*ranges=*/true));
}

/* Prints what stands behind a split loop, as a kernel of its own that runs when the ranges'
 * partials are combined. It is the last statement of the item's body; the values that it may
 * read are printed before. There is no range here, and no fold stores partials (nodes that
 * ranges leave). */
void rd_print_last_range(rd_printing *n, int32_t kernel)
{
    const int32_t body = open_item(n, kernel, /*ranges=*/false), last = n->t->stmt[body].last;

    print_values(n, body, last);
    n->kernel->partials = 0;
    rd_print_body(n, last);
}
