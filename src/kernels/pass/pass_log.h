/* pass_log.h - what follows each pass of both pipelines: the dump, and the check in debug
 * builds. */
#ifndef RD_KERNELS_PASS_PASS_LOG_H
#define RD_KERNELS_PASS_PASS_LOG_H
#include "kernels/loop/loop.h"

/* The text to which trees are printed, and the last tree that was printed, as most passes change
 * nothing. */
typedef struct rd_pass_log {
    rd_text *to; /* NULL: nowhere */
    rd_text  last;
    uint64_t checked; /* a hash of the tree that was checked last */
} rd_pass_log;

/* Prints the tree, or "after hoist: as before". Debug builds also check a changed tree, and
 * abort with a sentence if it is wrong. An `open` tree is not checked: its loops read values
 * that others make, until pass `scalar_expand` has run. A failed tree is left alone. The caller
 * frees log->last after all passes. */
void rd_pass_finished(const char *name, bool open, const rd_schedule *t, rd_pass_log *log);
#endif
