/* trace.c - writes the file of trace events.  The file is complete JSON after each event. */
#define _POSIX_C_SOURCE 200809L /* getpid() */
#include "eval/run/trace.h"
#include "core/environment.h"
#include "core/text_buffer.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The end of the file, which each event overwrites and writes again. */
static const char end[] = "\n]\n";

/* The trace file of the process; `any`: it has an event. */
static struct {
    pthread_mutex_t lock;
    FILE           *file; /* open as long as the process lives */
    bool            any;
} trace = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Opens the file.  A FIFO without a reader is refused, where fopen() would wait for one. */
static FILE *open_file(const char *path)
{
    const int   to   = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC, 0666);
    FILE *const file = to >= 0 ? fdopen(to, "w") : NULL;

    if (to >= 0 && !file)
        close(to);
    return file;
}

/* Opens the process's trace file at the first call and writes an empty list of events.  False after
 * recording that it cannot be written.  `end` is the end of an empty list in the file. The lock
 * is for threads that open it at a time. */
bool rd_trace_open(rd_ctx *ctx)
{
    const char *asked = rd_environment(RD_ENV_RDIM_TRACE),
               *path  = asked && *asked ? asked : "rdim-trace.json";
    bool there;

    pthread_mutex_lock(&trace.lock);
    if (!trace.file && (trace.file = open_file(path)))
        fprintf(trace.file, "[%s", end);
    there = trace.file;
    pthread_mutex_unlock(&trace.lock);
    if (!there)
        rd_fail(ctx, RD_ERR_FILE, "RDIM_DEBUG=trace: %.200s cannot be written: %s", path,
                strerror(errno));
    return there;
}

/* The number of this thread, in the order in which threads appear. */
static int thread(void)
{
    static _Thread_local int own;
    static _Atomic(int)      last;

    if (!own)
        own = atomic_fetch_add(&last, 1) + 1;
    return own;
}

/* Appends one complete event, from `begun` until now, in microseconds, and the end of the file
 * behind it:
 *
 *     ,{"name":"stage 0: tiles","cat":"stage","ph":"X","ts":12.345,
 *      "dur":6.789,"pid":1,"tid":1,"args":{}}
 * `format` makes the text of args; `end` is what the file ends with, which is written over;
 * trace.any: an event stands before. Without an open file nothing is written. */
void rd_trace_event(const char *kind, const char *name, double begun, const char *format, ...)
{
    const int64_t from = (int64_t)(1e9 * begun), took = (int64_t)(1e9 * (rd_seconds() - begun));
    const int     own  = thread();
    rd_text       args = { 0 };
    va_list       list;

    va_start(list, format);
    rd_text_add_list(&args, format, list);
    va_end(list);
    pthread_mutex_lock(&trace.lock);
    if (trace.file && fseek(trace.file, -(long)strlen(end), SEEK_END) == 0) {
        fprintf(trace.file,
                "%s\n{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":\"X\",\"ts\":%" PRId64 ".%03d,"
                "\"dur\":%" PRId64 ".%03d,\"pid\":%ld,\"tid\":%d,\"args\":{%s}}%s",
                trace.any ? "," : "", name, kind, from / 1000, (int)(from % 1000), took / 1000,
                (int)(took % 1000), (long)getpid(), own, args.at ? args.at : "", end);
        trace.any = true;
        fflush(trace.file);
    }
    pthread_mutex_unlock(&trace.lock);
    rd_text_free(&args);
}
