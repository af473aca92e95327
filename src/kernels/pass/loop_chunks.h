/* loop_chunks.h - chunks of a loop's rounds, so that parts of the loop's body can become loops
 * of their own. */
#ifndef RD_KERNELS_PASS_LOOP_CHUNKS_H
#define RD_KERNELS_PASS_LOOP_CHUNKS_H
#include "kernels/loop/loop.h"

/* Strip-mines a serial loop: puts a loop over chunks of so many rounds around it. */
void rd_put_chunks_around(rd_schedule *t, int32_t stmt, int64_t chunk);
/* Passes all values that the loop `from` makes and the loop `to` reads through arrays (scalar
 * expansion). Constants and coordinates are computed again instead. */
void rd_expand_values(rd_schedule *t, int32_t from, int32_t to);
#endif
