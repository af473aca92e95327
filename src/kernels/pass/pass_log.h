/* pass_log.h - what follows each pass of both pipelines. */
#ifndef RD_KERNELS_PASS_PASS_LOG_H
#define RD_KERNELS_PASS_PASS_LOG_H
#include "kernels/loop/loop.h"

/* Where trees are printed, and the last one that was: most passes change nothing in most trees. */
typedef struct rd_pass_log {
    rd_text *to; /* NULL: nowhere */
    rd_text  last;
    uint64_t checked; /* a hash of the tree that was checked last */
} rd_pass_log;

/* Prints the tree, or "after jam: as before".  Debug builds also check it if it has changed, and abort with a
 * sentence if it is wrong; not an `open` one, whose loops read values that others make until `scalar_expand` has come.  A
 * tree that has failed is left alone.  Who is done with all passes frees log->last. */
void rd_pass_finished(const char *name, bool open, const rd_schedule *t, rd_pass_log *log);
#endif
