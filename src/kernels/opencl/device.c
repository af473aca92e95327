/* device.c - finds OpenCL's devices that have doubles and round as the CPU does. */
#include "kernels/opencl/device.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_PLATFORMS = 8, MOST_DEVICES = 16 };

static struct {
    rd_cl_device at[MOST_DEVICES];
    int32_t      n;
    pid_t        process;
    char         why[RD_OPENCL_TEXT];
} devices;

/* Returns a number that OpenCL says about a device, of 4 or 8 bytes; 0: it says nothing. */
static cl_ulong number_of(cl_device_id id, cl_uint what, size_t bytes)
{
    cl_ulong value = 0;

    if (rd_opencl_api(/*why=*/NULL)->clGetDeviceInfo(id, what, bytes, &value, NULL) != CL_SUCCESS)
        value = 0;
    return value;
}

/* Returns what a device lacks, as a part of a sentence; NULL: nothing. It must be available,
 * compile, have 64-bit addresses and little-endian numbers, and round as the CPU does:
 * denormals, infinities, NaNs and FMA, and for floats correctly rounded divisions and square
 * roots, which doubles always have. */
static const char *lack_of(cl_device_id id)
{
    const cl_ulong both = CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_FMA,
                   one  = both | CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;

    if (!number_of(id, CL_DEVICE_AVAILABLE, 4) || !number_of(id, CL_DEVICE_COMPILER_AVAILABLE, 4))
        return "has no compiler, or is not available";
    if (!number_of(id, CL_DEVICE_ENDIAN_LITTLE, 4) ||
        number_of(id, CL_DEVICE_ADDRESS_BITS, 4) != 64)
        return "has other addresses than 64 bits, or another order of bytes";
    if ((number_of(id, CL_DEVICE_DOUBLE_FP_CONFIG, 8) & both) != both)
        return "has no doubles that are rounded as the CPU's";
    if ((number_of(id, CL_DEVICE_SINGLE_FP_CONFIG, 8) & one) != one)
        return "does not round floats as the CPU does";
    return NULL;
}

/* Adds a device, with a context of its own, to the list of devices, unless it lacks something
 * that kernels need.  The last reason for leaving a device out stays in devices.why. */
static void add_device(cl_device_id id)
{
    const rd_opencl *const api    = rd_opencl_api(/*why=*/NULL);
    rd_cl_device          *device = &devices.at[devices.n];
    const char            *lack   = lack_of(id);
    cl_int                 error;

    (void)api->clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof device->name - 1, device->name, NULL);
    (void)api->clGetDeviceInfo(id, CL_DEVICE_VERSION, sizeof device->version - 1, device->version,
                               NULL);
    if (lack) {
        snprintf(devices.why, sizeof devices.why, "%s %s", device->name, lack);
        return;
    }
    device->id      = id;
    device->memory  = (int64_t)number_of(id, CL_DEVICE_GLOBAL_MEM_SIZE, 8);
    device->context = api->clCreateContext(NULL, 1, &id, NULL, NULL, &error);
    devices.n += rd_opencl_ok("clCreateContext", error, devices.why);
}

/* Finds the devices of all of OpenCL's platforms, once in a process.  If there are none,
 * devices.why has the reason. */
static void find(void)
{
    const char            *why = NULL;
    const rd_opencl *const api = rd_opencl_api(&why);
    cl_platform_id         platform[MOST_PLATFORMS];
    cl_device_id           id[MOST_DEVICES];
    cl_uint                n = 0, n_id;
    cl_int                 error;

    devices.process = getpid();
    snprintf(devices.why, sizeof devices.why, "%s", why ? why : "");
    if (!api)
        return;
    error = api->clGetPlatformIDs(MOST_PLATFORMS, platform, &n);
    if (error == CL_PLATFORM_NOT_FOUND_KHR) {
        snprintf(devices.why, sizeof devices.why, "no driver of OpenCL is installed");
        return;
    }
    if (!rd_opencl_ok("clGetPlatformIDs", error, devices.why))
        return;
    snprintf(devices.why, sizeof devices.why, "OpenCL has no device");
    for (cl_uint p = 0; p < n && p < MOST_PLATFORMS; p++) {
        if (api->clGetDeviceIDs(platform[p], CL_DEVICE_TYPE_ALL, MOST_DEVICES, id, &n_id) !=
            CL_SUCCESS)
            continue;
        for (cl_uint k = 0; k < n_id && k < MOST_DEVICES && devices.n < MOST_DEVICES; k++)
            add_device(id[k]);
    }
}

/* Returns how many devices can be used; 0: none, and *why has the reason.  A forked child has
 * none, as OpenCL's threads exist in its parent only. */
int32_t rd_cl_count(const char **why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    bool                  forked;

    pthread_once(&once, find);
    forked = devices.n && devices.process != getpid();
    if (why)
        *why = forked ? "OpenCL was in use before fork()" : devices.n ? NULL : devices.why;
    return forked ? 0 : devices.n;
}

/* Returns device number k; NULL: there is no such device, and `why` has the reason. */
const rd_cl_device *rd_cl_device_of(int32_t k, char why[RD_OPENCL_TEXT])
{
    const char   *none = NULL;
    const int32_t n    = rd_cl_count(&none);

    if (k >= 0 && k < n)
        return &devices.at[k];
    if (n)
        snprintf(why, RD_OPENCL_TEXT, "there is no device %d, there are %d", (int)k, (int)n);
    else
        snprintf(why, RD_OPENCL_TEXT, "%s", none);
    return NULL;
}
