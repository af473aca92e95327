/* fake_devices.cpp - devices and contexts. */
#include "fake_driver.h"
#include <cstdio>
using namespace fake;

CUresult cuDriverGetVersion(int *version)
{
    const call c(__func__, NOTHING);

    *version = number("RDIM_FAKE_VERSION", 13000);
    return c.no;
}

CUresult cuDeviceGetCount(int *count)
{
    const call c(__func__, INITIALISED);

    *count = n_devices();
    return c.no;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    const call c(__func__, INITIALISED);

    *device = ordinal;
    return c.no                                    ? c.no
           : ordinal >= 0 && ordinal < n_devices() ? CUDA_SUCCESS
                                                   : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetName(char *name, int room, CUdevice device)
{
    const call c(__func__, INITIALISED);

    snprintf(name, (size_t)room, "fake GPU %d", device);
    return c.no;
}

/* An sm_90 of few multiprocessors, so that small tests fill it; RDIM_FAKE_ARCH=75: another. */
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice device)
{
    const int multiprocessors =
        device == number("RDIM_FAKE_OTHER", -1) ? MULTIPROCESSORS / 2 : MULTIPROCESSORS;
    const std::map<int, int> values = {
        { CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, EMU_MAX_THREADS },
        { CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, SHARED },
        { CU_DEVICE_ATTRIBUTE_WARP_SIZE, EMU_WARP },
        { CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1000000 },
        { CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, multiprocessors },
        { CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 1000000 },
        { CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 1024 },
        { CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 1 << 20 },
        { CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048 },
        { CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1 },
        { CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, number("RDIM_FAKE_ARCH", 90) / 10 },
        { CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, number("RDIM_FAKE_ARCH", 90) % 10 },
        { CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 228 << 10 },
        { CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536 },
        { CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, SHARED_OPTIN },
        { CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32 },
    };
    const call c(__func__, INITIALISED);
    const auto found = values.find(which);

    if (c.no)
        return c.no;
    if (found == values.end())
        return CUDA_ERROR_INVALID_VALUE;
    *value = found->second;
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice)
{
    const call c(__func__, INITIALISED);

    *bytes = (size_t)fake::memory_limit();
    return c.no;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    const call c(__func__, INITIALISED);

    if (c.no)
        return c.no;
    if (device < 0 || device >= n_devices())
        return CUDA_ERROR_INVALID_DEVICE;
    contexts[device].retained++;
    *context = &contexts[device];
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    const call c(__func__, INITIALISED);

    if (!c.may_release)
        return c.no;
    if (contexts[device].retained == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    contexts[device].retained--;
    return c.no;
}

CUresult cuCtxPushCurrent_v2(CUcontext context)
{
    const call c(__func__, INITIALISED);

    if (c.no)
        return c.no;
    if (!context || !context->retained)
        return CUDA_ERROR_INVALID_CONTEXT;
    current.push_back(context);
    return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
    const call c(__func__, INITIALISED);

    if (!c.may_release)
        return c.no;
    if (current.empty())
        return CUDA_ERROR_INVALID_CONTEXT;
    if (context)
        *context = current.back();
    current.pop_back();
    return c.no;
}
