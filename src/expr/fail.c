/* fail.c - a context records its first failure, and its warnings. */
#include "expr/ctx.h"
#include "expr/lists.h"
#include <stdio.h>
#include <string.h>

static const char *const status_names[] = {
    [RD_OK]              = "RD_OK",
    [RD_ERR_ARGUMENT]    = "RD_ERR_ARGUMENT",
    [RD_ERR_SHAPE]       = "RD_ERR_SHAPE",
    [RD_ERR_AXIS]        = "RD_ERR_AXIS",
    [RD_ERR_TYPE]        = "RD_ERR_TYPE",
    [RD_ERR_TEXT]        = "RD_ERR_TEXT",
    [RD_ERR_EMPTY]       = "RD_ERR_EMPTY",
    [RD_ERR_MEMORY]      = "RD_ERR_MEMORY",
    [RD_ERR_CALLBACK]    = "RD_ERR_CALLBACK",
    [RD_ERR_CANCELLED]   = "RD_ERR_CANCELLED",
    [RD_ERR_FILE]        = "RD_ERR_FILE",
    [RD_ERR_DEVICE]      = "RD_ERR_DEVICE",
    [RD_ERR_LIMIT]       = "RD_ERR_LIMIT",
    [RD_ERR_CONVERGENCE] = "RD_ERR_CONVERGENCE",
};

/* Ends a sentence that was cut off with "...", but not in the middle of a UTF-8 character, whose
 * further bytes are 10xxxxxx. */
static void end_in_dots(char sentence[RD_SENTENCE])
{
    size_t end = RD_SENTENCE - sizeof "...";

    while (end > 0 && ((unsigned char)sentence[end] & 0xc0) == 0x80)
        end--;
    memcpy(sentence + end, "...", sizeof "...");
}

/* Records the failure unless the context has one already.  A sentence that is too long ends in
 * dots. */
__attribute__((format(printf, 3, 0))) static void record(rd_ctx *ctx, rd_status status,
                                                         const char *format, va_list list)
{
    /* Threads of a plan may fail together: only the first writes, and readers wait until the
     * status is set. */
    if (!ctx || status == RD_OK || atomic_exchange(&ctx->failing, true))
        return;
    if (vsnprintf(ctx->sentence, RD_SENTENCE, format, list) >= RD_SENTENCE)
        end_in_dots(ctx->sentence);
    atomic_store(&ctx->status, (int)status);
}

/* Records the first failure of a context; returns NULL, so that constructors can return it. */
void *rd_fail(rd_ctx *ctx, rd_status status, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    record(ctx, status, format, list);
    va_end(list);
    return NULL;
}

/* Sets the public call that failures of planning and evaluating name; returns the previous one,
 * which the caller restores. */
const char *rd_begin_call(rd_ctx *ctx, const char *call)
{
    const char *before = ctx->call;

    ctx->call = call;
    return before;
}

/* The public call that evaluates or plans now, for messages. */
const char *rd_call_name(const rd_ctx *ctx)
{
    return ctx->call ? ctx->call : "rd_eval";
}

/* Records a failure from a thread that runs a plan, if it is the context's first; returns its
 * status. */
rd_status rd_fail_run(rd_ctx *ctx, rd_status status, const char *sentence)
{
    rd_fail(ctx, status, "%s", sentence ? sentence : "");
    return status;
}

/* Records a failure with the text and a caret under the byte `at`:
 *
 *     rd_map: function text: no operand is called 'z'
 *         x + z * y
 *             ^ */
void *rd_fail_at(rd_ctx *ctx, rd_status status, const char *call, const char *what,
                 const char *text, size_t at)
{
    enum { BEFORE = 60, WIDTH = 100 };
    const size_t from = at > BEFORE ? at - BEFORE : 0;
    char         line[WIDTH + 1];
    size_t       n = 0;

    /* Only the surroundings of a long text are shown.  Each byte takes one column, so that the
     * caret fits. */
    for (; n < WIDTH && text[from + n]; n++)
        line[n] = text[from + n] >= ' ' && text[from + n] <= '~' ? text[from + n] : '?';
    line[n] = '\0';
    /* the width of the %*s puts the caret under `at`, behind "..." if that is printed */
    return rd_fail(ctx, status, "%s: %s\n    %s%s%s\n    %*s^", call, what, from ? "..." : "", line,
                   text[from + n] ? "..." : "", (int)(at - from) + (from ? 3 : 0), "");
}

/* Records RD_ERR_TEXT with the text and a caret under the byte `at`; returns NULL. */
void *rd_fail_text(rd_ctx *ctx, const char *call, const char *what, const char *text, size_t at)
{
    return rd_fail_at(ctx, RD_ERR_TEXT, call, what, text, at);
}

/* Records that operand k (`what`: operand, result or leaf) was released; returns false. */
bool rd_fail_gone(rd_ctx *ctx, const char *call, const char *what, int k)
{
    rd_fail(ctx, RD_ERR_ARGUMENT, "%s: %s %d is gone: rd_ctx_release() has released it", call, what,
            k);
    return false;
}

/* Adds bits to the context's warnings; any thread may call it. */
void rd_warn(rd_ctx *ctx, uint32_t warnings)
{
    atomic_fetch_or(&ctx->warnings, warnings);
}

/* The warnings since the last clear, as bits. */
uint32_t rd_warnings(const rd_ctx *ctx)
{
    return ctx ? atomic_load(&ctx->warnings) : 0;
}

/* The status of the context's first failure; RD_OK: none.  NULL counts as a context that could not
 * be made for lack of memory.  A list that was refused before a context was known (lists.h) is
 * recorded first. */
rd_status rd_error(const rd_ctx *ctx)
{
    if (!ctx)
        return RD_ERR_MEMORY;
    /* contexts are never const objects; const only allows callers to ask */
    rd_take_failure((rd_ctx *)ctx);
    return (rd_status)atomic_load(&ctx->status);
}

/* The sentence of the context's first failure, "" without one. */
const char *rd_error_text(const rd_ctx *ctx)
{
    if (!ctx)
        return "no context: rd_ctx_new failed";
    return rd_error(ctx) == RD_OK ? "" : ctx->sentence;
}

/* Forgets the failure, but not the warnings. */
void rd_error_forgive(rd_ctx *ctx)
{
    atomic_store(&ctx->status, RD_OK);
    atomic_store(&ctx->failing, false);
}

/* Forgets the context's failure and warnings, and a failure that waits in this thread for a context
 * (lists.h). */
void rd_error_clear(rd_ctx *ctx)
{
    if (!ctx)
        return;
    atomic_store(&ctx->warnings, 0);
    rd_drop_failure();
    rd_error_forgive(ctx);
}

/* The name of a status, such as "RD_ERR_SHAPE". */
const char *rd_status_name(rd_status status)
{
    const size_t n = sizeof status_names / sizeof status_names[0];

    return (size_t)status < n ? status_names[status] : "RD_ERR_?";
}
