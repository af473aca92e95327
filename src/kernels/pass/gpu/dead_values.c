/* dead_values.c - dead code elimination in one body: removes values that no statement reads, and
 * loops that have become empty. */
#include "kernels/loop/facts.h"
#include "kernels/pass/gpu/gpu.h"

/* True if a later LOAD uses the vector that this LOAD has loaded, and so needs it. */
static bool is_loaded_ahead_of(const rd_schedule *t, int32_t load)
{
    const int32_t body = t->part[RD_PART_BODY];

    for (int32_t s = body; s >= 0; s = rd_next_stmt(t, s, body))
        if (t->stmt[s].loaded_by == load)
            return true;
    return false;
}

/* True if the statement must stay: it makes no value, its value is read, or it is a loop with a
 * body. */
static bool is_needed(const rd_schedule *t, int32_t stmt, int32_t body)
{
    const rd_stmt *s = &t->stmt[stmt];

    if (s->kind == RD_S_LOOP)
        return s->first >= 0;
    return s->kind != RD_S_LET || rd_is_read_in(t, s->value, body) || is_loaded_ahead_of(t, stmt);
}

/* Removes dead values of a body at all depths. It goes backwards, as later values read earlier
 * ones. Returns true if it removed any. */
static bool remove_some(rd_schedule *t, int32_t stmt, int32_t body)
{
    bool removed = false;

    for (int32_t s = t->stmt[stmt].last, previous; s >= 0 && !t->failed; s = previous) {
        previous = t->stmt[s].prev;
        removed |= remove_some(t, s, body);
        if (is_needed(t, s, body))
            continue;
        rd_take_out(t, s);
        removed = true;
    }
    return removed;
}

/* Dead code elimination: repeats until no value of the body is dead and no loop in it is empty. */
void rd_gpu_remove_dead_values(rd_schedule *t, int32_t body)
{
    while (!t->failed && remove_some(t, body, body))
        ;
}
