/* packs.c - accesses of several elements side by side: "p5[u] = rd_take<float, 4>(..)" in front of what is
 * done with them, "rd_put(.., o7)" behind it. */
#include "kernels/loop/facts.h"
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>

static bool is_load(const rd_schedule *t, int32_t stmt)
{
    return t->stmt[stmt].kind == RD_S_LET;
}

bool rd_is_packed(const rd_printing *n, int32_t stmt)
{
    return n->kernel->form == RD_ROUND_TOGETHER && n->t->stmt[stmt].pack &&
           n->kernel->rounds >= 0 && rd_stands_in(n->t, stmt, n->kernel->rounds);
}

bool rd_has_takes(const rd_printing *n, int32_t rounds)
{
    for (int32_t s = rounds; s >= 0; s = rd_next_stmt(n->t, s, rounds))
        if (n->t->stmt[s].pack)
            return true;
    return false;
}

void rd_print_packed(rd_printing *n, rd_text *to, int32_t stmt)
{
    if (!is_load(n->t, stmt))
        rd_text_add(to, "o%" PRId32 ".e[%s]", stmt, rd_vector_index_name(n));
    else
        rd_text_add(to, "p%" PRId32 "[%s].e[%s]",
                    n->t->stmt[stmt].kept < 0 ? stmt : n->t->stmt[stmt].kept,
                    n->kernel->apart ? "2 * u + i" : "u",
                    n->t->stmt[stmt].pack == 1 ? "0" : rd_vector_index_name(n));
}

void rd_note_packed(const rd_printing *n, int32_t slot, int32_t pack)
{
    if (pack > 1)
        n->kernel->packed |= UINT64_C(1) << (slot & 63);
}

/* ---- Loads ------------------------------------------------------------------------------------ */
/* The next load that goes ahead; -1. */
static int32_t next_take(const rd_printing *n, int32_t rounds, int32_t last)
{
    int32_t s = rd_next_stmt(n->t, last, rounds);

    while (s >= 0 && !(n->t->stmt[s].pack && is_load(n->t, s) && n->t->stmt[s].kept < 0))
        s = rd_next_stmt(n->t, s, rounds);
    return s;
}

/* "const int64_t m1 = m0 + 4 * t;" of the loops between the rounds and a statement, of their first
 * elements; the vector loop whose neighbours are taken at once is the one at hand. */
static bool declare_loops(rd_printing *n, int32_t rounds, int32_t stmt)
{
    int32_t loop[RD_MAX_RANK], count = 0;
    bool    across = false;

    for (int32_t s = rd_loop_around(n->t, stmt); s != rounds && count < RD_MAX_RANK;
         s         = rd_loop_around(n->t, s))
        loop[count++] = s;
    while (count-- > 0) {
        const rd_for *l = rd_loop_of(n->t, loop[count]);

        if (l->kind == RD_FOR_VECTOR && l->step == 1) {
            n->thread_loop = loop[count];
            n->first       = true;
        } else
            rd_print_start_of_round(n, l, l->kind == RD_FOR_THREAD ? "t" : "i");
        if (rd_is_across(n, l)) {
            rd_print_if_there(n, l);
            across = true;
        }
    }
    return across;
}

static void print_take(rd_printing *n, int32_t stmt)
{
    const rd_let *let   = &n->t->let[n->t->stmt[stmt].value];
    const int32_t pack  = n->t->stmt[stmt].pack;
    const char   *type  = rd_memory_type(let->type);
    rd_text       place = { 0 };

    rd_print_linear(n, &place, &let->at);
    rd_print_line(
        n, "p%" PRId32 "[%s] = rd_take<%s, %" PRId32 ">(&((const %s *)x%" PRId32 ")[%s]);", stmt,
        n->kernel->apart ? "2 * u + i" : "u", type, pack, type, let->slot, place.at);
    rd_text_end(&place, n->to);
    rd_note_packed(n, let->slot, pack);
}

void rd_print_declare_takes(rd_printing *n, int32_t rounds, int32_t ahead)
{
    for (int32_t s = next_take(n, rounds, rounds); s >= 0; s = next_take(n, rounds, s))
        rd_print_line(n, "rd_pack<%s, %" PRId32 "> p%" PRId32 "[%" PRId32 "];",
                      rd_memory_type(n->t->let[n->t->stmt[s].value].type), n->t->stmt[s].pack, s,
                      ahead * (n->kernel->apart ? 2 : 1));
}

/* Loads of all rounds, before anything is done with them. */
void rd_print_takes(rd_printing *n, int32_t rounds, int32_t ahead)
{
    const int32_t first = next_take(n, rounds, rounds), lane = n->thread_loop;
    bool          across;

    if (first < 0)
        return;
    rd_print_line(n, "RD_UNROLL for (int u = 0; u < %" PRId32 "; u++)%s {", ahead,
                  n->kernel->apart ? " RD_UNROLL for (int i = 0; i < 2; i++)" : "");
    n->indent++;
    rd_print_round(n, rounds, "u");
    across = declare_loops(n, rounds, first);
    for (int32_t s = first; s >= 0; s = next_take(n, rounds, s))
        print_take(n, s);
    if (across)
        rd_print_line(n, "}");
    n->first       = false;
    n->thread_loop = lane;
    n->indent--;
    rd_print_line(n, "}");
}

/* ---- Stores ----------------------------------------------------------------------------------- */
static int32_t next_put(const rd_printing *n, int32_t loop, int32_t last)
{
    int32_t s = rd_next_stmt(n->t, last, loop);

    while (s >= 0 && (is_load(n->t, s) || !rd_is_packed(n, s)))
        s = rd_next_stmt(n->t, s, loop);
    return s;
}

void rd_print_declare_puts(rd_printing *n, int32_t loop)
{
    for (int32_t s = next_put(n, loop, loop); s >= 0; s = next_put(n, loop, s))
        rd_print_line(n, "rd_pack<%s, %" PRId32 "> o%" PRId32 ";",
                      rd_memory_type(n->t->stmt[s].type), n->t->stmt[s].pack, s);
}

/* What all threads of a team have, one stores. */
void rd_print_puts(rd_printing *n, int32_t loop)
{
    const bool one = n->kernel->team > 1 && !n->kernel->threads;

    n->first = true;
    for (int32_t s = next_put(n, loop, loop); s >= 0; s = next_put(n, loop, s)) {
        const rd_stmt *put   = &n->t->stmt[s];
        rd_text        place = { 0 };

        rd_print_linear(n, &place, &put->at);
        rd_print_line(n, "%srd_put(&((%s *)x%" PRId32 ")[%s], o%" PRId32 ");%s",
                      one ? "RD_MEET if (t == 0) " : "", rd_memory_type(put->type), put->slot,
                      place.at, s, one ? " RD_MEET" : "");
        rd_text_end(&place, n->to);
        rd_note_packed(n, put->slot, put->pack);
    }
    n->first = false;
}
