/* dead_values.c - values that nothing in a body reads any more are not made there. */
#include "kernels/loop/facts.h"
#include "kernels/pass/gpu/gpu.h"

/* Is what the LOAD takes ahead of use behind? */
static bool is_loaded_ahead_of(const rd_schedule *t, int32_t load)
{
    const int32_t body = t->part[RD_PART_BODY];

    for (int32_t s = body; s >= 0; s = rd_next_stmt(t, s, body))
        if (t->stmt[s].kept == load)
            return true;
    return false;
}

static bool is_needed(const rd_schedule *t, int32_t stmt, int32_t body)
{
    const rd_stmt *s = &t->stmt[stmt];

    if (s->kind == RD_S_LOOP)
        return s->first >= 0;
    return s->kind != RD_S_LET || rd_is_read_in(t, s->value, body) || is_loaded_ahead_of(t, stmt);
}

/* The last ones first, as they read those before. */
static bool remove_some(rd_schedule *t, int32_t stmt, int32_t body)
{
    bool some = false;

    for (int32_t s = t->stmt[stmt].last, previous; s >= 0 && !t->failed; s = previous) {
        previous = t->stmt[s].prev;
        some |= remove_some(t, s, body);
        if (is_needed(t, s, body))
            continue;
        rd_take_out(t, s);
        some = true;
    }
    return some;
}

void rd_gpu_remove_dead_values(rd_schedule *t, int32_t body)
{
    while (!t->failed && remove_some(t, body, body))
        ;
}
