/* thread_loops.c - loops over the threads of a team, and unrolled loops over the elements of each
 * thread:
 *
 *     const int64_t m1 = m0 + 4 * t;
 *     RD_UNROLL for (int i = 0; i < 4; i++) {
 *         if (m1 + i >= n) continue;
 *         the body of element m1 + i
 *     }
 *
 * A team is the threads that do an item of work, and t is a thread's number in it.  m0 and m1 are
 * marks: where a round of the team, and a thread's part of it, begins.  A batch is whole rounds;
 * other rounds may lack elements. */
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>

/* True if the statement is a vector loop: here over the elements of one thread. */
static bool is_vector(const rd_printing *n, int32_t stmt)
{
    return n->t->stmt[stmt].kind == RD_S_LOOP && rd_loop_of(n->t, stmt)->kind == RD_FOR_VECTOR;
}

/* ---- Threads and their neighbours ------------------------------------------------------------ */
/* Prints a test that skips elements outside of the loop: "if (m1 + i < lo || m1 + i >= hi)
 * continue;". The first part of a bound belongs to the thread's own range; a second part, if
 * there is one, is the limit. In a batch all elements exist, so it needs no test. */
static void print_clip(rd_printing *n, const rd_for *loop, const char *index)
{
    rd_text from = { 0 }, to = { 0 };

    if (n->kernel->strategy == RD_ROUND_BATCHED)
        return;
    if (loop->to.n > 1)
        rd_print_linear(n, &to, &loop->to.part[1].at);
    if (loop->from.n > 1)
        rd_print_linear(n, &from, &loop->from.part[1].at);
    if (to.at && from.at)
        rd_print_line(n, "if (%s < %s || %s >= %s) continue;", index, from.at, index, to.at);
    else if (to.at)
        rd_print_line(n, "if (%s >= %s) continue;", index, to.at);
    else if (from.at)
        rd_print_line(n, "if (%s < %s) continue;", index, from.at);
    rd_text_end(&from, n->to);
    rd_text_end(&to, n->to);
}

/* Prints the body of a loop over threads, for thread t: "{ const int64_t m1 = m0 + 4 * t; .. }". A
 * thread with one element (step 1) tests whether that exists. If the threads' axis is not that of
 * the rounds around, the test is an "if" that does not skip the round. per_thread: threads run
 * different elements here. With one element for each, positions name no element i (thread_loop -1).
 */
void rd_print_thread_loop(rd_printing *n, int32_t stmt)
{
    const rd_for *loop             = rd_loop_of(n->t, stmt);
    const bool    saved_per_thread = n->kernel->per_thread, other_axis = rd_has_other_axis(n, loop);
    const int32_t saved = n->thread_loop;
    rd_text       name  = { 0 };

    rd_print_line(n, "{");
    n->indent++;
    n->thread_loop        = loop->step == 1 ? -1 : saved;
    n->kernel->per_thread = true;
    rd_print_start_of_round(n, loop, "t");
    rd_print_round_name(n, &name, loop);
    if (other_axis)
        rd_print_if_there(n, loop);
    else if (loop->step == 1)
        print_clip(n, loop, name.at);
    rd_print_body(n, stmt);
    if (other_axis)
        rd_print_line(n, "}");
    n->kernel->per_thread = saved_per_thread;
    n->thread_loop        = saved;
    n->indent--;
    rd_print_line(n, "}");
    rd_text_end(&name, n->to);
}

/* Prints a loop over a thread's elements that lie a team apart. In a batch all of them exist, so
 * steps of a log-sum-exp are deferred: they come behind the loop.
 *
 *     RD_UNROLL for (int i = 0; i < 2; i++) { .. } */
static void print_strided(rd_printing *n, int32_t stmt)
{
    const rd_for *loop   = rd_loop_of(n->t, stmt);
    const bool    defers = n->kernel->strategy == RD_ROUND_BATCHED;

    if (defers)
        rd_print_declare_deferred(n, stmt);
    rd_print_line(n, "RD_UNROLL for (int i = 0; i < %" PRId64 "; i++) {", loop->extent);
    n->indent++;
    rd_print_start_of_round(n, loop, "i");
    rd_print_body(n, stmt);
    n->indent--;
    rd_print_line(n, "}");
    if (defers)
        rd_print_deferred_steps(n, stmt);
}

/* Prints the test that skips element "m1 + i" if it is outside of the loop; m1 is the thread's
 * first element. */
static void print_clip_of(rd_printing *n, const rd_for *loop)
{
    rd_text index = { 0 };

    rd_print_linear(n, &index, &loop->from.part[0].at);
    rd_text_add(&index, " + i");
    print_clip(n, loop, index.at);
    rd_text_end(&index, n->to);
}

/* Prints "const int64_t i1 = m3 + i;" if the body has a vector loop of its own, whose variable i
 * would hide this one. Else positions name m3 + i. */
static void declare_index(rd_printing *n, int32_t stmt)
{
    const rd_for *loop   = rd_loop_of(n->t, stmt);
    bool          nested = false;
    rd_text       from   = { 0 };

    for (int32_t s = n->t->stmt[stmt].first; s >= 0; s = rd_next_stmt(n->t, s, stmt))
        nested |= is_vector(n, s);
    if (!nested)
        return;
    rd_print_linear(n, &from, &loop->from.part[0].at);
    rd_print_line(n, "const int64_t i%" PRId32 " = %s + i;", loop->axis, from.at);
    rd_text_end(&from, n->to);
}

/* Prints the unrolled loop over a thread's adjacent elements, with the vector stores behind it.
 * `unbatched`: the round is not part of a batch; a loop that keeps its order goes by one element
 * then (`single`). Steps of a log-sum-exp are deferred behind the loop if all elements exist: in a
 * batch, or without a limit (a second part of the bound). A loop that keeps its order counts by e.
 * Elements of a padded pair loop are clamped. */
static void print_adjacent(rd_printing *n, int32_t stmt)
{
    const rd_for *loop      = rd_loop_of(n->t, stmt);
    const bool    unbatched = n->kernel->strategy == RD_ROUND_SINGLE,
               single       = loop->in_order && unbatched,
               defers       = !single && (!unbatched || loop->to.n < 2);
    const int32_t saved     = n->thread_loop;

    rd_print_declare_vector_stores(n, stmt);
    if (defers)
        rd_print_declare_deferred(n, stmt);
    const char *name = loop->in_order ? "e" : "i";

    rd_print_line(n, "RD_UNROLL for (int %s = 0; %s < %" PRId64 "; %s++) {", name, name,
                  single ? 1 : loop->extent, name);
    n->indent++;
    if (!single)
        print_clip_of(n, loop);
    if (n->kernel->pairs && rd_is_clamped(n, stmt))
        rd_print_clamped_index(n, stmt);
    else if (!loop->in_order)
        declare_index(n, stmt);
    n->thread_loop = stmt;
    rd_print_body(n, stmt);
    n->indent--;
    rd_print_line(n, "}");
    rd_print_vector_stores(n, stmt);
    n->thread_loop = saved;
    if (defers)
        rd_print_deferred_steps(n, stmt);
}

/* Prints a vector loop of a thread: its elements lie a team apart (step > 1), or are adjacent. */
void rd_print_thread_vector(rd_printing *n, int32_t stmt)
{
    (rd_loop_of(n->t, stmt)->step > 1 ? print_strided : print_adjacent)(n, stmt);
}
