/* guard.h - memory between pages that may not be touched, for leaves and results of random graphs. */
#ifndef RD_TESTS_GRAPHS_GUARD_H
#define RD_TESTS_GRAPHS_GUARD_H
#include <stdbool.h>
#include <stdint.h>

/* A piece of a slot's size at most, full of dirt, which ends with the page before one that may not be
 * touched, or begins with the page after one.  NULL: too large, or no slot is left.  Pieces live until
 * the next reset. */
void *guard_memory(int64_t bytes, bool at_end);
/* All pieces are free again from piece `kept` on; guard_used() of them are in use. */
void guard_reset(int kept);
int  guard_used(void);
#endif
