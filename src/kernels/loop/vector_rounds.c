/* vector_rounds.c - how many rounds of a vector loop full vectors take, and how many the tail. */
#include "kernels/loop/vector_rounds.h"
#include "kernels/loop/facts.h"
#include <math.h>

/* Returns the type of the elements that a statement makes, stores or takes; RD_F32 if it has none.
 */
static rd_dtype type_in(const rd_schedule *t, const rd_stmt *stmt)
{
    switch (stmt->kind) {
    case RD_S_LET: return t->let[stmt->value].type;
    case RD_S_STORE: return t->let[stmt->x].type;
    case RD_S_STEP: return t->p->fold[stmt->fold].type;
    default: return RD_F32;
    }
}

/* True if the statement loads or stores an element. */
static bool is_access(const rd_schedule *t, const rd_stmt *stmt)
{
    return stmt->kind == RD_S_STORE ||
           (stmt->kind == RD_S_LET && t->let[stmt->value].kind == RD_I_LOAD);
}

/* Finds the bytes of the narrowest element that a loop reads or writes, and of the widest that it
 * computes with.  Compilers take as many rounds at a time as a vector holds of the narrowest. */
static void find_widths(const rd_schedule *t, int32_t loop, int *narrow, int *wide)
{
    *narrow = 8;
    *wide   = 1;
    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop)) {
        const int size = rd_dtype_size(type_in(t, &t->stmt[s]));

        if (is_access(t, &t->stmt[s]) && size < *narrow)
            *narrow = size;
        if (size > *wide)
            *wide = size;
    }
}

/* Returns how many rounds compilers take at once: as many as a vector holds of the narrowest
 * elements. For a loop of fewer rounds it is halved until it fits, down to one vector of the
 * widest elements, of 4 bytes or more. */
static double rounds_at_once(const rd_schedule *t, int32_t loop, double rounds, int32_t vector)
{
    int narrow, wide;

    find_widths(t, loop, &narrow, &wide);
    double       at_once = (double)vector / narrow;
    const double least   = (double)vector / (wide > 4 ? wide : 4);

    while (rounds < at_once && at_once > least)
        at_once /= 2;
    return at_once;
}

/* Splits the rounds of a loop into those that cost as much as by full vectors, and single ones.
 * Short loops of known length have a tail of smaller vectors; others have one half vector, which
 * takes as long as a whole one, and single rounds. */
rd_vector_rounds rd_vector_rounds_of(const rd_schedule *t, int32_t loop, double rounds,
                                     int32_t vector)
{
    enum { SHORT = 128 };
    const double n = ceil(rounds), at_once = rounds_at_once(t, loop, n, vector),
                 tail = fmod(n, at_once);

    if (rd_most_trips(t, loop) >= 0 && n <= SHORT)
        return (rd_vector_rounds){ fmax(n, at_once), 0 };
    if (tail < at_once / 2)
        return (rd_vector_rounds){ n - tail, tail };
    return (rd_vector_rounds){ n - tail + at_once, tail - at_once / 2 };
}
