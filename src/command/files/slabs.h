/* slabs.h - an array read from a file in slabs of whole trailing axes, so that Ctrl-C is heard.
 * They hold whole chunks, each of which is unpacked once. */
#ifndef CMD_SLABS_H
#define CMD_SLABS_H
#include "files/file.h"

typedef struct cmd_slabs {
    rd_shape shape;
    int64_t  start[RD_MAX_RANK], count[RD_MAX_RANK];
    int      cut;         /* axes before it: one index at a time; behind it: all of them */
    int64_t  rows, below; /* of the cut axis at a time; bytes of each */
} cmd_slabs;

/* The first one; no extent is 0.  chunk: extents of chunks, NULL: there are none. */
void    cmd_slabs_begin(cmd_slabs *s, const rd_shape *shape, int64_t size, const int64_t *chunk);
int64_t cmd_slab_bytes(const cmd_slabs *s);
/* The next one; false behind the last. */
bool cmd_slabs_next(cmd_slabs *s);
#endif
