/* stop.c - the cancel flags of the run that this thread works for. */
#include "core/stop.h"
#include <stddef.h>

static _Thread_local const atomic_bool *flag[2];
static void (*on_look)(void); /* what a test asked for; NULL: nothing */

/* Sets the flags of the run that this thread works for, so that loops in kernels can test
 * whether the run was cancelled; each may be NULL. */
void rd_stop_begin(const atomic_bool *cancelled, const atomic_bool *stopped)
{
    flag[0] = cancelled;
    flag[1] = stopped;
}

/* Forgets the flags. */
void rd_stop_end(void)
{
    flag[0] = flag[1] = NULL;
}

/* True if one of the flags is set, so that the run is to end. */
bool rd_stop_asked(void)
{
    if (on_look)
        on_look();
    for (int k = 0; k < 2; k++)
        if (flag[k] && atomic_load_explicit(flag[k], memory_order_relaxed))
            return true;
    return false;
}

/* Lets a test see each look at the flags, so that it can cancel at a certain one. */
void rd_stop_on_look(void (*look)(void))
{
    on_look = look;
}
