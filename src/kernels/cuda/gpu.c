/* gpu.c - the GPUs of this process, found once. */
#define _POSIX_C_SOURCE 200809L
#include "kernels/cuda/gpu.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_GPUS = 64 };

/* A GPU, with the error that ended its use. */
struct rd_gpu {
    rd_gpu_facts    facts;
    CUdevice        device;
    CUcontext       context;            /* NULL until its first use */
    pthread_mutex_t lock;               /* guards `context` and `died` */
    atomic_bool     dead;               /* no more call is of use */
    char            died[RD_CUDA_TEXT]; /* the final error; set before `dead` */
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static rd_gpu         gpus[MOST_GPUS];
static int32_t        n_gpu;
static char           missing[RD_CUDA_TEXT]; /* the reason why there is no GPU */
static pid_t          process; /* it has looked for GPUs; its children must not use them */

/* ---- Looking --------------------------------------------------------------------------------- */
/* Checks a driver call of the search for GPUs: true for success (0); else `missing` gets the
 * error. */
static bool is_ok(const char *function, CUresult result)
{
    if (result != 0)
        rd_cuda_error(function, result, missing);
    return result == 0;
}

/* Reads one attribute of a GPU, CU_DEVICE_ATTRIBUTE_..., into *value. */
static bool read_attribute(const rd_cuda *cuda, CUdevice device, int which, int *value)
{
    return is_ok("cuDeviceGetAttribute", cuda->cuDeviceGetAttribute(value, which, device));
}

/* Reads the facts of GPU number k from the driver, and makes its lock.  False: a call failed. */
static bool describe(const rd_cuda *cuda, rd_gpu *gpu, int32_t k)
{
    int    major, minor, multiprocessors, threads, shared;
    size_t bytes;

    gpu->facts.number = k;
    if (!is_ok("cuDeviceGet", cuda->cuDeviceGet(&gpu->device, k)) ||
        !is_ok("cuDeviceGetName",
               cuda->cuDeviceGetName(gpu->facts.name, sizeof gpu->facts.name, gpu->device)) ||
        !is_ok("cuDeviceTotalMem_v2", cuda->cuDeviceTotalMem_v2(&bytes, gpu->device)) ||
        !read_attribute(cuda, gpu->device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major) ||
        !read_attribute(cuda, gpu->device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor) ||
        !read_attribute(cuda, gpu->device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                        &multiprocessors) ||
        !read_attribute(cuda, gpu->device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
                        &threads) ||
        !read_attribute(cuda, gpu->device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                        &shared))
        return false;
    gpu->facts.architecture    = 10 * major + minor;
    gpu->facts.multiprocessors = multiprocessors;
    gpu->facts.memory          = (int64_t)bytes;
    gpu->facts.most_threads    = (int64_t)multiprocessors * threads;
    gpu->facts.shared          = shared;
    return pthread_mutex_init(&gpu->lock, NULL) == 0;
}

/* Initialises CUDA and describes all GPUs: once in a process.  If there is none, `missing` has
 * the reason. */
static void find_gpus(void)
{
    const char    *why   = NULL;
    const rd_cuda *cuda  = rd_cuda_api(&why);
    int            count = 0;

    process = getpid();
    if (!cuda) {
        snprintf(missing, sizeof missing, "%s", why ? why : "no CUDA");
        return;
    }
    if (!is_ok("cuInit", cuda->cuInit(0)) ||
        !is_ok("cuDeviceGetCount", cuda->cuDeviceGetCount(&count)))
        return;
    if (count <= 0)
        snprintf(missing, sizeof missing, "the CUDA driver knows no GPU");
    for (int32_t k = 0; k < count && k < MOST_GPUS; k++) {
        if (!describe(cuda, &gpus[k], k))
            return;
        n_gpu = k + 1;
    }
}

/* True if this process is a forked child of the one that used CUDA: the driver's state does not
 * survive a fork.  Then `why` gets that reason. */
static bool is_child(char why[RD_CUDA_TEXT])
{
    if (getpid() == process)
        return false;
    snprintf(why, RD_CUDA_TEXT, "this process was forked from one that had used CUDA");
    return true;
}

/* Returns the number of GPUs; 0: none can be used, and *why has a sentence.  The first call
 * looks for them.  The sentence for a forked child is kept for each thread. */
int32_t rd_gpu_count(const char **why)
{
    static _Thread_local char child[RD_CUDA_TEXT];

    pthread_once(&once, find_gpus);
    if (n_gpu && is_child(child)) {
        if (why)
            *why = child;
        return 0;
    }
    if (why)
        *why = n_gpu ? NULL : missing;
    return n_gpu;
}

/* Returns GPU number k; NULL: there is no such GPU, and `why` has the reason. */
rd_gpu *rd_gpu_of(int32_t k, char why[RD_CUDA_TEXT])
{
    const char *none;

    if (rd_gpu_count(&none) == 0) {
        snprintf(why, RD_CUDA_TEXT, "%s", none);
        return NULL;
    }
    if (k >= 0 && k < n_gpu)
        return &gpus[k];
    snprintf(why, RD_CUDA_TEXT, "there is no GPU %d: there are %d", (int)k, (int)n_gpu);
    return NULL;
}

/* Returns what the driver told about a GPU: name, memory, threads and so on. */
const rd_gpu_facts *rd_gpu_facts_of(const rd_gpu *gpu)
{
    return &gpu->facts;
}

/* ---- Calls ----------------------------------------------------------------------------------- */
/* True for an error after which no more work of this process can run on the GPU.  The numbers
 * are values of CUresult: 214 and 220 are faults of memory and links, 700 and above faults of a
 * kernel. */
static bool is_final(CUresult result)
{
    static const CUresult finals[] = { 214, 220, 700, 702, 709, 710, 714,
                                       715, 716, 717, 718, 719, 721 };

    for (size_t k = 0; k < sizeof finals / sizeof *finals; k++)
        if (result == finals[k])
            return true;
    return false;
}

/* Checks the result of a driver call: true for success (0); else `why` gets the error.  An error
 * that ends the use of the GPU is kept, as all later calls then fail with that reason. */
bool rd_gpu_ok(rd_gpu *gpu, const char *function, CUresult result, char why[RD_CUDA_TEXT])
{
    if (result == 0)
        return true;
    rd_cuda_error(function, result, why);
    if (!is_final(result))
        return false;
    pthread_mutex_lock(&gpu->lock);
    if (!atomic_load(&gpu->dead)) {
        snprintf(gpu->died, sizeof gpu->died, "%s", why);
        atomic_store(&gpu->dead, true);
    }
    pthread_mutex_unlock(&gpu->lock);
    return false;
}

/* Checks the result of a driver call that takes memory, as rd_gpu_ok() does: true for success,
 * else `why` gets the error. *full: memory was short. */
bool rd_gpu_took(rd_gpu *gpu, bool *full, const char *function, CUresult result,
                 char why[RD_CUDA_TEXT])
{
    *full = result == CUDA_ERROR_OUT_OF_MEMORY;
    return rd_gpu_ok(gpu, function, result, why);
}

/* Retains the GPU's primary context (the one that CUDA's runtime shares) at the first call.
 * False: the driver refused, with a reason in `why`. */
static bool retain(rd_gpu *gpu, char why[RD_CUDA_TEXT])
{
    bool has_context;

    pthread_mutex_lock(&gpu->lock);
    if (!gpu->context) {
        const CUresult result =
            rd_cuda_api(/*why=*/NULL)->cuDevicePrimaryCtxRetain(&gpu->context, gpu->device);

        if (result != 0) {
            gpu->context = NULL;
            rd_cuda_error("cuDevicePrimaryCtxRetain", result, why);
        }
    }
    has_context = gpu->context;
    pthread_mutex_unlock(&gpu->lock);
    return has_context;
}

/* Makes the GPU's context current in this thread, for calls of the driver; rd_gpu_leave() ends
 * that. False: a final error has ended the use of the GPU (dead), this is a forked child, or the
 * driver refused. */
bool rd_gpu_enter(rd_gpu *gpu, char why[RD_CUDA_TEXT])
{
    if (is_child(why))
        return false;
    if (atomic_load(&gpu->dead)) {
        snprintf(why, RD_CUDA_TEXT, "%s", gpu->died);
        return false;
    }
    return retain(gpu, why) && RD_GPU_CALL(gpu, why, cuCtxPushCurrent_v2, gpu->context);
}

/* Makes the context current again that was so before rd_gpu_enter(). */
void rd_gpu_leave(rd_gpu *gpu)
{
    CUcontext mine;
    char      ignored[RD_CUDA_TEXT];

    (void)RD_GPU_CALL(gpu, ignored, cuCtxPopCurrent_v2, &mine);
}

/* Unloads all modules, frees all cached memory and releases all contexts.  Tests that look for
 * leaks call it, when no work is left. */
void rd_gpu_close_all(void)
{
    for (int32_t k = 0; k < n_gpu; k++) {
        rd_modules_unload(&gpus[k]);
        rd_gpu_trim(&gpus[k]);
        if (gpus[k].context)
            (void)rd_cuda_api(/*why=*/NULL)->cuDevicePrimaryCtxRelease_v2(gpus[k].device);
        gpus[k].context = NULL;
    }
}
