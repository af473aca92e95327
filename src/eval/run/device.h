/* device.h - the queues of a context. */
#ifndef RD_EVAL_RUN_DEVICE_H
#define RD_EVAL_RUN_DEVICE_H
#include "expr/expr.h"
#include "kernels/program.h"

/* Where evaluations of the context on a device go, one after the other; from any thread.  NULL, with
 * a sentence. */
rd_queue *rd_queue_of(rd_ctx *ctx, const rd_backend_table *backend, int32_t device, bool *full,
                      char why[RD_DEVICE_TEXT]);
/* Fresh memory of out->device into out; false after recording the failure, and out stays as it is. */
bool rd_device_memory(rd_ctx *ctx, int64_t bytes, rd_array *out);
#endif
