/* queues.c - the queues of a context, one for each device that it uses, and the public calls
 * that ask about devices. */
#include "eval/run/device.h"
#include "expr/array.h"
#include "expr/expr.h"
#include <stdio.h>

/* A queue that the context keeps. */
typedef struct kept_queue {
    rd_kept_last            kept; /* first: the context knows only this */
    const rd_backend_table *backend;
    int32_t                 device;
    rd_queue               *queue;
} kept_queue;

/* Closes a queue when its context ends. */
static void drop(rd_kept_last *self)
{
    kept_queue *kept = (kept_queue *)self;

    kept->backend->device->close(kept->queue);
}

/* The queue of a device in a linked list of queues that a context keeps; NULL: there is none. */
static rd_queue *find(const rd_kept_last *first, const rd_backend_table *backend, int32_t device)
{
    for (const rd_kept_last *at = first; at; at = at->older) {
        const kept_queue *kept = (const kept_queue *)at;

        if (kept->backend == backend && kept->device == device)
            return kept->queue;
    }
    return NULL;
}

/* Finds the context's queue on a device, or opens one; only the context's own device uses the
 * stream that the caller gave it. If two threads open one at a time, both stay and the newer is
 * used. NULL on failure; *full: for lack of memory. The context closes it at its end. Devices
 * count from 0 here, and from 1 in a context. Without memory for the record, the new queue is
 * closed again. */
rd_queue *rd_queue_of(rd_ctx *ctx, const rd_backend_table *backend, int32_t device, bool *full,
                      char why[RD_DEVICE_TEXT])
{
    rd_queue   *queue = find(rd_ctx_kept_last(ctx), backend, device);
    kept_queue *kept;

    *full = false;
    if (queue)
        return queue;
    queue = backend->device->open(
        device, device == rd_ctx_device(ctx) - 1 ? rd_ctx_stream(ctx) : NULL, full, why);
    if (!queue)
        return NULL;
    kept = rd_alloc_quiet(ctx, sizeof *kept);
    if (!kept) {
        *full = true;
        snprintf(why, RD_DEVICE_TEXT, "out of memory");
        backend->device->close(queue);
        return NULL;
    }
    *kept = (kept_queue){ .kept.drop = drop, .backend = backend, .device = device, .queue = queue };
    rd_ctx_keep_last(ctx, &kept->kept);
    return queue;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* A block of device memory that an array owns. */
typedef struct device_block {
    rd_array_block block; /* first: the array knows only this */
    rd_queue      *queue;
    int32_t        device;
    void          *at; /* address on the device */
} device_block;

/* Frees a block of device memory when its array is freed: through the queue that made it or, if the
 * context is gone, without one. */
static void give_back(rd_array_block *block)
{
    const device_block *mine = (const device_block *)block;

    if (block->ctx)
        rd_backend_cuda.device->put(mine->queue, mine->at);
    else
        rd_backend_cuda.device->put_late(mine->device, mine->at);
}

/* Allocates memory on the device of *out and puts its address and owner into *out.  On failure
 * records an error, returns false and leaves *out alone.  out->owner frees the memory by
 * give_back() when the array is freed. */
bool rd_device_memory(rd_ctx *ctx, int64_t bytes, rd_array *out)
{
    const rd_device_table *device = rd_backend_cuda.device;
    char                   why[RD_DEVICE_TEXT];
    bool                   full  = false;
    device_block          *block = rd_alloc(ctx, sizeof *block);

    if (!block)
        return false;
    block->block  = (rd_array_block){ .ctx = ctx, .drop = give_back };
    block->device = out->device - 1;
    block->queue  = rd_queue_of(ctx, &rd_backend_cuda, block->device, &full, why);
    block->at = block->queue ? device->get(block->queue, bytes > 0 ? bytes : 1, &full, why) : NULL;
    if (!block->at) {
        rd_fail(ctx, full ? RD_ERR_MEMORY : RD_ERR_DEVICE, "%s: %s", rd_call_name(ctx), why);
        rd_free(ctx, block);
        return false;
    }
    out->data  = block->at;
    out->owner = block;
    return true;
}

/* ---- Asking ---------------------------------------------------------------------------------- */
/* The public call: the number of GPUs; 0 if there are none or no driver. */
int32_t rd_device_count(void)
{
    return rd_backend_cuda.device->count(NULL);
}

/* The public call: describes a device in words, 0 as "this process's memory".  The text is the
 * calling thread's until its next call. */
const char *rd_device_text(int32_t device)
{
    static _Thread_local char shown[RD_DEVICE_TEXT];
    rd_text                   text = { 0 };

    if (device > 0)
        rd_backend_cuda.device->describe(&text, device - 1);
    snprintf(shown, sizeof shown, "%s", device > 0 && text.at ? text.at : "this process's memory");
    rd_text_free(&text);
    return shown;
}

/* The public call: waits for all queues of the context, and reports the errors that asynchronous
 * runs met after their evaluation returned. `report` gets what runs in that queue met. */
rd_status rd_wait(rd_ctx *ctx)
{
    if (!ctx)
        return rd_error(NULL);
    for (const rd_kept_last *at = rd_ctx_kept_last(ctx); at; at = at->older) {
        const kept_queue *kept   = (const kept_queue *)at;
        rd_task           report = { 0 };
        char              why[RD_DEVICE_TEXT];

        if (!kept->backend->device->wait(kept->queue, &report, why))
            rd_fail(ctx, RD_ERR_DEVICE, "rd_wait: %s", why);
        if (report.status != RD_OK)
            rd_fail_run(ctx, report.status, report.sentence);
        rd_warn(ctx, report.warnings);
    }
    return rd_error(ctx);
}
