/* trace.h - RDIM_DEBUG=trace: what runs when, and on which thread, as a file that chrome://tracing and
 * ui.perfetto.dev show: Google's "Trace Event Format", complete events. */
#ifndef RD_EVAL_RUN_TRACE_H
#define RD_EVAL_RUN_TRACE_H
#include "core/clock.h"
#include "expr/expr.h"

/* The file is there, RDIM_TRACE or rdim-trace.json; false after recording RD_ERR_FILE.  One for the
 * process, begun anew by its first plan. */
bool rd_trace_opens(rd_ctx *ctx);
/* Something that this thread began at `begun` (rd_seconds()) and has ended now.  `format` is of what else
 * there is to say, "\"tasks\":%d", as JSON.  Any thread. */
__attribute__((format(printf, 4, 5))) void rd_trace_event(const char *kind, const char *name,
                                                          double begun, const char *format, ...);
#endif
