/* loop_chunks.h - a loop goes by chunks of its rounds, so that parts of its body become loops of their own. */
#ifndef RD_KERNELS_PASS_LOOP_CHUNKS_H
#define RD_KERNELS_PASS_LOOP_CHUNKS_H
#include "kernels/loop/loop.h"

/* Around a serial loop a loop over chunks of so many rounds, each of which it visits then. */
void rd_put_chunks_around(rd_schedule *t, int32_t stmt, int64_t chunk);
/* All values that the body of one loop makes and another one reads go through arrays.  Numbers and
 * coordinates are made again. */
void rd_expand_values(rd_schedule *t, int32_t from, int32_t to);
#endif
