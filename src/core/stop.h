/* stop.h - how a long loop in a kernel learns that its run was cancelled.
 *
 * A stage is checked between steps, but sorting one long row is a single step of seconds.  So
 * the code that runs a task stores its flags by thread, and loops over the elements of such a
 * row test them. */
#ifndef RD_CORE_STOP_H
#define RD_CORE_STOP_H
#include <stdatomic.h>
#include <stdbool.h>

/* Sets the flags of this thread's run, which ends if either is set; each may be NULL. */
void rd_stop_begin(const atomic_bool *cancelled, const atomic_bool *stopped);
void rd_stop_end(void);
/* True if the run is to end.  False outside of the two calls above. */
bool rd_stop_asked(void);
/* For tests: every later call of rd_stop_asked(), on any thread, first calls `look`; NULL: none.
 * Must not change while a run is going on. */
void rd_stop_on_look(void (*look)(void));
#endif
