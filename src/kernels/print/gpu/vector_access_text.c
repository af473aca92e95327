/* vector_access_text.c - vector accesses: "p5[u] = rd_take<float, 4>(..);" in front of a batch of
 * rounds, and "rd_put(.., o7);" behind the elements.
 *
 * A round is the elements that a team, or one thread, takes at a time, and a batch is several whole
 * rounds.  vector_width is the number of adjacent elements that an access takes at once; 0: it is
 * no vector access.
 *
 * Words. A slot is a buffer that a program reads or writes. */
#include "kernels/loop/facts.h"
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>

/* True if the access is a LOAD (it makes a value, in a LET), not a STORE. */
static bool is_load(const rd_schedule *t, int32_t stmt)
{
    return t->stmt[stmt].kind == RD_S_LET;
}

/* True if the access is printed as a vector access: it is marked as one, and stands in the loop
 * whose rounds are printed as a batch. Other rounds go element by element. */
bool rd_is_vector_access(const rd_printing *n, int32_t stmt)
{
    return n->kernel->strategy == RD_ROUND_BATCHED && n->t->stmt[stmt].vector_width &&
           n->kernel->rounds >= 0 && rd_stands_in(n->t, stmt, n->kernel->rounds);
}

/* True if the loop contains a vector access: a load or store with vector_width > 0, the adjacent
 * elements that it moves at once. */
bool rd_has_vector_access(const rd_printing *n, int32_t rounds)
{
    for (int32_t s = rounds; s >= 0; s = rd_next_stmt(n->t, s, rounds))
        if (n->t->stmt[s].vector_width)
            return true;
    return false;
}

/* Adds an element of a vector: "p7[u].e[i]" of the one that statement 7 loaded for round u,
 * "o9.e[i]" of the one that statement 9 will store. loaded_by: an earlier LOAD has the vector
 * already; -1: none. If a thread's elements lie a team apart, a round has two vectors of one
 * element. */
void rd_print_vector_element(rd_printing *n, rd_text *to, int32_t stmt)
{
    if (!is_load(n->t, stmt))
        rd_text_add(to, "o%" PRId32 ".e[%s]", stmt, rd_vector_index_name(n));
    else
        rd_text_add(to, "p%" PRId32 "[%s].e[%s]",
                    n->t->stmt[stmt].loaded_by < 0 ? stmt : n->t->stmt[stmt].loaded_by,
                    n->kernel->apart ? "2 * u + i" : "u",
                    n->t->stmt[stmt].vector_width == 1 ? "0" : rd_vector_index_name(n));
}

/* Notes that vectors of `pack` elements of the slot (buffer) are accessed, as its memory must be
 * aligned then. vector_slots has 64 bits; slots 64 apart share one. */
void rd_note_vector_access(const rd_printing *n, int32_t slot, int32_t pack)
{
    if (pack > 1)
        n->kernel->vector_slots |= UINT64_C(1) << (slot & 63);
}

/* ---- Loads ----------------------------------------------------------------------------------- */
/* Returns the next vector load of the rounds behind `last`; -1: there is none. Loads whose
 * vector an earlier LOAD has (loaded_by) do not count. */
static int32_t next_load(const rd_printing *n, int32_t rounds, int32_t last)
{
    int32_t s = rd_next_stmt(n->t, last, rounds);

    while (s >= 0 &&
           !(n->t->stmt[s].vector_width && is_load(n->t, s) && n->t->stmt[s].loaded_by < 0))
        s = rd_next_stmt(n->t, s, rounds);
    return s;
}

/* Prints where the loops between the rounds and a statement begin, for this thread: "const
 * int64_t m1 = m0 + 4 * t;". Vectors begin at the first element of a thread, so an innermost
 * vector loop only sets n->at_first_element, by which positions are those of its first element.
 * Returns true if a brace "if (..) {" is open then. */
static bool declare_loops(rd_printing *n, int32_t rounds, int32_t stmt)
{
    int32_t loop[RD_MAX_RANK], count = 0;
    bool    is_open = false;

    for (int32_t s = rd_loop_around(n->t, stmt); s != rounds && count < RD_MAX_RANK;
         s         = rd_loop_around(n->t, s))
        loop[count++] = s;
    while (count-- > 0) {
        const rd_for *l = rd_loop_of(n->t, loop[count]);

        if (l->kind == RD_FOR_VECTOR && l->step == 1) {
            n->thread_loop      = loop[count];
            n->at_first_element = true;
        } else
            rd_print_start_of_round(n, l, l->kind == RD_FOR_THREAD ? "t" : "i");
        if (rd_has_other_axis(n, l)) {
            rd_print_if_there(n, l);
            is_open = true;
        }
    }
    return is_open;
}

/* Prints the vector that round u loads: "p5[u] = rd_take<float, 4>(&((const float *)x0)[..]);".
 * If a thread's elements lie a team apart, a round has two vectors, i = 0 and 1. */
static void print_load(rd_printing *n, int32_t stmt)
{
    const rd_tree_value *let   = &n->t->let[n->t->stmt[stmt].value];
    const int32_t        pack  = n->t->stmt[stmt].vector_width;
    const char          *type  = rd_memory_type(let->type);
    rd_text              place = { 0 };

    rd_print_linear(n, &place, &let->at);
    rd_print_line(
        n, "p%" PRId32 "[%s] = rd_take<%s, %" PRId32 ">(&((const %s *)x%" PRId32 ")[%s]);", stmt,
        n->kernel->apart ? "2 * u + i" : "u", type, pack, type, let->slot, place.at);
    rd_text_end(&place, n->to);
    rd_note_vector_access(n, let->slot, pack);
}

/* Prints "rd_pack<float, 4> p5[8];" for each vector load of the rounds: a vector for each of the
 * `ahead` rounds of a batch, or two if a thread's elements lie a team apart. */
void rd_print_declare_vector_loads(rd_printing *n, int32_t rounds, int32_t ahead)
{
    for (int32_t s = next_load(n, rounds, rounds); s >= 0; s = next_load(n, rounds, s))
        rd_print_line(n, "rd_pack<%s, %" PRId32 "> p%" PRId32 "[%" PRId32 "];",
                      rd_memory_type(n->t->let[n->t->stmt[s].value].type),
                      n->t->stmt[s].vector_width, s, ahead * (n->kernel->apart ? 2 : 1));
}

/* Prints the vector loads of all rounds of a batch, before anything is done with them, so that
 * memory latencies overlap. n->at_first_element: addresses are those of a thread's first
 * element. */
void rd_print_vector_loads(rd_printing *n, int32_t rounds, int32_t ahead)
{
    const int32_t first = next_load(n, rounds, rounds), saved = n->thread_loop;
    bool          is_open;

    if (first < 0)
        return;
    rd_print_line(n, "RD_UNROLL for (int u = 0; u < %" PRId32 "; u++)%s {", ahead,
                  n->kernel->apart ? " RD_UNROLL for (int i = 0; i < 2; i++)" : "");
    n->indent++;
    rd_print_round(n, rounds, "u");
    is_open = declare_loops(n, rounds, first);
    for (int32_t s = first; s >= 0; s = next_load(n, rounds, s))
        print_load(n, s);
    if (is_open)
        rd_print_line(n, "}");
    n->at_first_element = false;
    n->thread_loop      = saved;
    n->indent--;
    rd_print_line(n, "}");
}

/* ---- Stores ---------------------------------------------------------------------------------- */
/* Returns the next vector store of the loop behind `last`; -1: there is none. */
static int32_t next_store(const rd_printing *n, int32_t loop, int32_t last)
{
    int32_t s = rd_next_stmt(n->t, last, loop);

    while (s >= 0 && (is_load(n->t, s) || !rd_is_vector_access(n, s)))
        s = rd_next_stmt(n->t, s, loop);
    return s;
}

/* Prints "rd_pack<float, 4> o9;" for each vector store of the loop: the vector in which its
 * elements are collected. */
void rd_print_declare_vector_stores(rd_printing *n, int32_t loop)
{
    for (int32_t s = next_store(n, loop, loop); s >= 0; s = next_store(n, loop, s))
        rd_print_line(n, "rd_pack<%s, %" PRId32 "> o%" PRId32 ";",
                      rd_memory_type(n->t->stmt[s].type), n->t->stmt[s].vector_width, s);
}

/* Prints "rd_put(&((float *)x1)[..], o9);" for each vector store, behind the loop that sets its
 * elements. If all threads of a team have the same vector, one of them stores it, between
 * barriers. n->at_first_element: addresses are those of the thread's first element. */
void rd_print_vector_stores(rd_printing *n, int32_t loop)
{
    const bool by_one_thread = n->kernel->team > 1 && !n->kernel->per_thread;

    n->at_first_element = true;
    for (int32_t s = next_store(n, loop, loop); s >= 0; s = next_store(n, loop, s)) {
        const rd_stmt *put   = &n->t->stmt[s];
        rd_text        place = { 0 };

        rd_print_linear(n, &place, &put->at);
        rd_print_line(n, "%srd_put(&((%s *)x%" PRId32 ")[%s], o%" PRId32 ");%s",
                      by_one_thread ? "RD_SYNC_TEAM if (t == 0) " : "", rd_memory_type(put->type),
                      put->slot, place.at, s, by_one_thread ? " RD_SYNC_TEAM" : "");
        rd_text_end(&place, n->to);
        rd_note_vector_access(n, put->slot, put->vector_width);
    }
    n->at_first_element = false;
}
