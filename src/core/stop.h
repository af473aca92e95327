/* stop.h - how a long loop of a kernel hears that the run it works for has been cancelled.
 *
 * A stage is looked after between its steps, but one long row that is put in order is a single step of seconds.
 * So whoever runs a task says on its thread where the flags are, and loops over the elements of such a row look
 * at them. */
#ifndef RD_CORE_STOP_H
#define RD_CORE_STOP_H
#include <stdatomic.h>
#include <stdbool.h>

/* This thread works for a run that ends where one of the two flags is set; each may be NULL. */
void rd_stop_begin(const atomic_bool *cancelled, const atomic_bool *stopped);
void rd_stop_end(void);
/* Is the run to end?  False outside of the two calls above. */
bool rd_stop_asked(void);
#endif
