/* rdim/devices.h - GPUs: data that lie there, streams, several GPUs.
 *
 * Data on a GPU are a leaf whose rd_array has .device = RD_CUDA(k) and an address of that GPU, from
 * whatever library.  All that an expression and its outputs name lies on one GPU, or in this
 * process's memory.
 *
 * Evaluation copies.  rd_eval(ctx, leaf, &out) with rd_array out = { .device = RD_CUDA(0) } uploads
 * a leaf into fresh memory of the GPU.  A leaf there, evaluated into host memory, is downloaded.
 * Both take views and conversions on the way.
 *
 * Several GPUs share the work of a context whose device is RD_CUDA_ALL, or whose device is 0 while
 * the environment variable RDIM_CUDA_DEVICES names several.  They are the first one and those
 * after it that are like it.  This is for data in this process's memory: a GPU that holds some of
 * the data does all the work.  Results have the bits of one GPU.  One GPU does what cannot be
 * divided, and rd_explain() says why.
 *
 * A context with a stream of its own waits for the work of CUDA's default stream, in which PyTorch
 * and CuPy work by default.  A context that was given a stream waits for what that stream waits
 * for.  Data that another stream still writes must be finished first, or the context must work in
 * that stream. */
#ifndef RDIM_DEVICES_H
#define RDIM_DEVICES_H
#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The number of GPUs that evaluations can run on.  If it is 0, rd_device_text(RD_CUDA(0)) says
 *  why. */
RD_API int32_t rd_device_count(void);
/** The name and the memory of a device, RD_CUDA(k), or why it cannot be used.  The text is valid
 *  until this thread calls the function again. */
RD_API const char *rd_device_text(int32_t device);
/** Waits until all GPU work of this context is done.
 *  @return the context's first error.  An error that evaluations with `async` met on the GPU is
 *          recorded now. */
RD_API rd_status rd_wait(rd_ctx *ctx);

#ifdef __cplusplus
}
#endif
#endif
