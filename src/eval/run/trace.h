/* trace.h - RDIM_DEBUG=trace: writes what runs when, and on which thread, to a file for
 * chrome://tracing and ui.perfetto.dev (Google's "Trace Event Format", complete events). */
#ifndef RD_EVAL_RUN_TRACE_H
#define RD_EVAL_RUN_TRACE_H
#include "core/clock.h"
#include "expr/expr.h"

/* Opens the trace file, RDIM_TRACE or rdim-trace.json; false after recording RD_ERR_FILE. A
 * process has one file, which its first plan starts from empty. */
bool rd_trace_open(rd_ctx *ctx);
/* Writes an event that this thread began at `begun` (rd_seconds()) and that ends now.  `format`
 * makes further arguments as JSON, such as "\"tasks\":%d". Any thread may call this. */
__attribute__((format(printf, 4, 5))) void rd_trace_event(const char *kind, const char *name,
                                                          double begun, const char *format, ...);
#endif
