/* device.h - the queues of a context. */
#ifndef RD_EVAL_RUN_DEVICE_H
#define RD_EVAL_RUN_DEVICE_H
#include "expr/expr.h"
#include "kernels/program.h"

/* The context's queue on a device, opened at the first call.  All evaluations on that device go
 * through it in order.  Any thread may call this.  NULL on failure, with a sentence in `why`. */
rd_queue *rd_queue_of(rd_ctx *ctx, const rd_backend_table *backend, int32_t device, bool *full,
                      char why[RD_DEVICE_TEXT]);
/* Allocates memory on out->device and puts its address and owner into *out.  On failure records
 * an error, returns false and leaves *out alone. */
bool rd_device_memory(rd_ctx *ctx, int64_t bytes, rd_array *out);
#endif
