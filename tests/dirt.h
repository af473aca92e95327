/* dirt.h - memory that holds something from the start: what is read before it is written shows, as
 * it would not where the system's fresh memory is zero. */
#ifndef RD_TESTS_DIRT_H
#define RD_TESTS_DIRT_H
#include <rdim.h>

/* For free().  Its floats and ints are large, its halves NaN, its bools neither 0 nor 1. */
void *dirty_memory(int64_t bytes);
/* All memory of the context is such. */
rd_ctx *dirty_context(bool deterministic);
#endif
