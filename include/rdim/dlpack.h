/* rdim/dlpack.h - arrays of other libraries, by DLPack.
 *
 * A tensor of DLPack (dlpack/dlpack.h, which rdim does not need) is memory with a layout and a
 * deleter.  NumPy, PyTorch, JAX and CuPy give and take them.  No element is copied.
 *     rd_array a;
 *     rd_from_dlpack(ctx, tensor, &a);
 *     rd_expr *mean = rd_mean(rd_adopt(ctx, &a), RD_DIMS(0));
 *
 * Each deleter is called once, by the thread that ends the array, and must not use the context.
 * rdim calls rd_wait() before it gives a tensor away or back.
 *
 * Python has tensors in capsules, versioned ones on request: take the pointer, rename the capsule
 * to "used_dltensor" or "used_dltensor_versioned", then call.  tests/python/dlpack.py does so. */
#ifndef RDIM_DLPACK_H
#define RDIM_DLPACK_H
#include "arrays.h"

#ifdef __cplusplus
extern "C" {
#endif

struct DLManagedTensor;
struct DLManagedTensorVersioned;

/** A tensor as an array: use it for rd_adopt() or rd_leaf(), or as an output.  numpy.from_dlpack.
 *
 *  kDLCPU, kDLCUDAHost and kDLCUDAManaged are this process's memory; set .device to have a GPU read
 *  the latter two in place.  kDLCUDA k is RD_CUDA(k), whose data must be ready for the default
 *  stream.  Bools are bytes of 0 or 1.  A read-only tensor gives RD_READ_ONLY.
 *  @param tensor  rdim's from now on.  Its deleter is called by rd_array_free(), with the leaf of
 *                 rd_adopt(), or at once on failure
 *  @param out     zeroed on failure
 *  @return RD_OK, or the recorded error: RD_ERR_TYPE (lanes, a type that rdim lacks),
 *          RD_ERR_DEVICE, RD_ERR_SHAPE, RD_ERR_ARGUMENT (no data, or not aligned to the type). */
RD_API rd_status rd_from_dlpack(rd_ctx *ctx, struct DLManagedTensor *tensor, rd_array *out);
/** A versioned tensor as an array.  See rd_from_dlpack().
 *  @return also RD_ERR_LIMIT: a major version other than 1. */
RD_API rd_status rd_from_dlpack_versioned(rd_ctx *ctx, struct DLManagedTensorVersioned *tensor,
                                          rd_array *out);
/** An array as a tensor, on kDLCPU or kDLCUDA.  For an expression, rd_eval() it into a zeroed array
 *  first.  ndarray.__dlpack__.
 *
 *  Ownership: what the array owns becomes the tensor's until its consumer calls the deleter, also
 *  after rd_ctx_free().  It no longer counts against memory_limit.  `release` of the context must
 *  work until then.  Caller memory must outlive the tensor; or rd_array_own() says whom to tell.
 *  @param array  still describes the memory, but no longer owns it
 *  @return NULL on failure, and the array is unchanged: RD_ERR_ARGUMENT (the array is read-only,
 *          which only versioned tensors can say, or is another context's), RD_ERR_MEMORY, or an
 *          earlier error. */
RD_API struct DLManagedTensor *rd_to_dlpack(rd_ctx *ctx, rd_array *array);
/** An array as a versioned tensor, which may be read-only.  See rd_to_dlpack(). */
RD_API struct DLManagedTensorVersioned *rd_to_dlpack_versioned(rd_ctx *ctx, rd_array *array);

#ifdef __cplusplus
}
#endif
#endif
