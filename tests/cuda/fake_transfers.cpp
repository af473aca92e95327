/* fake_transfers.cpp - memory of devices and of the host, and copies between them. */
#include "fake_driver.h"
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace fake
{
std::map<const void *, size_t> pinned;
}
using namespace fake;

CUresult cuMemAlloc_v2(CUdeviceptr *at, size_t bytes)
{
    const call c(__func__, CONTEXT);

    return c.no ? c.no : memory_get(device(), bytes, at);
}

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *all_bytes)
{
    const call c(__func__, CONTEXT);

    *all_bytes  = (size_t)memory_limit();
    *free_bytes = (size_t)(memory_limit() - memory_bytes(device()));
    return c.no;
}

/* As the driver's: it waits for all that runs. */
CUresult cuMemFree_v2(CUdeviceptr at)
{
    const call c(__func__, CONTEXT);

    if (!c.may_release)
        return c.no;
    for (int i = 0; i < MAX_DEVICES; i++)
        finish_all(i);
    const CUresult done = at ? memory_put(at) : 0;
    return c.no ? c.no : done ? done : current.back()->dead;
}

CUresult cuMemAllocHost_v2(void **at, size_t bytes)
{
    const call c(__func__, CONTEXT);

    if (c.no)
        return c.no;
    *at = malloc(bytes ? bytes : 1);
    if (!*at)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memset(*at, 0xFF, bytes);
    pinned[*at] = bytes;
    return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void *at)
{
    const call c(__func__, CONTEXT);

    if (!c.may_release)
        return c.no;
    if (!pinned.count(at))
        return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; i < MAX_DEVICES; i++)
        finish_all(i);
    pinned.erase(at);
    free(at);
    return c.no;
}

/* ---- Copies ------------------------------------------------------------------------------------ */
static bool is_pinned(const void *at, size_t bytes)
{
    auto next = pinned.upper_bound(at);

    if (next == pinned.begin())
        return false;
    --next;
    return (const char *)at + bytes <= (const char *)next->first + next->second;
}

static CUresult refuse(const char *function, CUdeviceptr at, size_t bytes)
{
    report(std::string(function) + " of " + std::to_string(bytes) + " bytes, " + memory_near(at));
    return CUDA_ERROR_INVALID_VALUE;
}

/* In a stream of device `at`. */
static void move(int at, void *to, const void *from, size_t bytes, bool by_bus)
{
    memory_open_at(to);
    memory_open_at(from);
    memmove(to, from, bytes);
    memory_close_at(to);
    memory_close_at(from);
    clock_copy(at, bytes, by_bus);
}

static void *pointer(CUdeviceptr at)
{
    return (void *)(uintptr_t)at;
}

/* As the manual has it: from memory that is not pinned, bytes are taken before the call returns. */
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    const call c(__func__, CONTEXT);

    if (c.no)
        return c.no;
    if (!memory_has(device(), to, bytes))
        return refuse(__func__, to, bytes);
    if (is_pinned(from, bytes))
        return enqueue(stream, UP, (long)bytes,
                       [=, at = device()] { move(at, pointer(to), from, bytes, true); });
    const auto taken = std::make_shared<std::string>((const char *)from, bytes);
    return enqueue(stream, UP, (long)bytes,
                   [=, at = device()] { move(at, pointer(to), taken->data(), bytes, true); });
}

/* To memory that is not pinned, the call returns when all has arrived. */
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    const call c(__func__, CONTEXT);

    if (c.no)
        return c.no;
    if (!memory_has(device(), from, bytes))
        return refuse(__func__, from, bytes);
    if (stream && stream->capture && !is_pinned(to, bytes))
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    const CUresult done = enqueue(stream, DOWN, (long)bytes,
                                  [=, at = device()] { move(at, to, pointer(from), bytes, true); });
    if (done == CUDA_SUCCESS && stream && !is_pinned(to, bytes)) {
        finish(stream);
        overlap_wait(stream->due);
    }
    return done ? done : current.back()->dead;
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    const call c(__func__, CONTEXT);

    if (c.no)
        return c.no;
    if (!memory_has(device(), to, bytes) || !memory_has(device(), from, bytes))
        return refuse(__func__, memory_has(device(), to, bytes) ? from : to, bytes);
    return enqueue(stream, KERNELS, 0,
                   [=, at = device()] { move(at, pointer(to), pointer(from), bytes, false); });
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, size_t bytes, CUstream stream)
{
    const call c(__func__, CONTEXT);

    if (c.no)
        return c.no;
    if (!to_context || !from_context)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!memory_has(to_context->device, to, bytes) ||
        !memory_has(from_context->device, from, bytes))
        return refuse(__func__, memory_has(to_context->device, to, bytes) ? from : to, bytes);
    return enqueue(stream, KERNELS, 0,
                   [=, at = device()] { move(at, pointer(to), pointer(from), bytes, true); });
}

CUresult cuMemsetD8Async(CUdeviceptr at, unsigned char byte, size_t bytes, CUstream stream)
{
    const call c(__func__, CONTEXT);

    if (c.no)
        return c.no;
    if (!memory_has(device(), at, bytes))
        return refuse(__func__, at, bytes);
    return enqueue(stream, KERNELS, 0, [=] {
        memory_open_at(pointer(at));
        memset(pointer(at), byte, bytes);
        memory_close_at(pointer(at));
    });
}
