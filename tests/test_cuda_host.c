/* test_cuda_host.c - what a program asks of the fake driver (tests/cuda), wrongly, and by several
 * threads; and each function that fails.  Each test is a process of its own. */
#define _XOPEN_SOURCE 700 /* setenv */
#include "fake_gpu.h"
#include "fake_kernels.h"
#include "suite.h"
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

START_TEST(too_many_threads)
{
    gpu         g;
    CUmodule    module;
    CUdeviceptr x;
    int         n = 0;

    fake_use();
    g      = gpu_begin();
    module = gpu_load(&g, add_text);
    x      = gpu_get(&g, 4);
    gpu_launch(&g, module, "add", 1, THREADS + 1, (void *[]){ &x, &x, &x, &n });
    ck_assert_str_eq(g.why, "cuLaunchKernel: 701, too many resources requested for launch");
    g.why[0] = '\0';
    gpu_launch(&g, module, "add", 1, 2048, (void *[]){ &x, &x, &x, &n });
    ck_assert_str_eq(g.why, "cuLaunchKernel: 1, invalid argument");
    g.why[0] = '\0';
    gpu_launch(&g, module, "sub", 1, 1, (void *[]){ &x, &x, &x, &n });
    ck_assert_str_eq(g.why, "cuModuleGetFunction: 500, named symbol not found");
    GPU_RELEASE(&g, cuMemFree_v2, x);
    GPU_RELEASE(&g, cuModuleUnload, module);
    gpu_end(&g);
}
END_TEST

/* Memory of one device is none of the other's. */
START_TEST(two_devices)
{
    char        host[4] = { 1, 2, 3, 4 }, back[4] = { 0 };
    gpu         g;
    CUcontext   other, popped;
    CUdeviceptr x, y = 0;

    fake_use();
    setenv("RDIM_FAKE_DEVICES", "2", 1);
    g = gpu_begin();
    x = gpu_get(&g, 4);
    (void)GPU_CALL(&g, cuMemcpyHtoDAsync_v2, x, host, 4, g.stream);
    (void)GPU_CALL(&g, cuDevicePrimaryCtxRetain, &other, 1);
    (void)GPU_CALL(&g, cuCtxPushCurrent_v2, other);
    y = gpu_get(&g, 4);
    (void)GPU_CALL(&g, cuMemcpyPeerAsync, y, other, x, g.context, 4, NULL);
    (void)GPU_CALL(&g, cuMemcpyDtoHAsync_v2, back, y, 4, NULL);
    ck_assert_str_eq(g.why, "");
    ck_assert_mem_eq(host, back, 4);
    ck_assert_int_eq(g.cuda->cuStreamSynchronize(g.stream), CUDA_ERROR_INVALID_HANDLE);
    ck_assert_int_eq(g.cuda->cuDevicePrimaryCtxRetain(&other, 2), CUDA_ERROR_INVALID_DEVICE);
    GPU_RELEASE(&g, cuMemFree_v2, y);
    GPU_RELEASE(&g, cuCtxPopCurrent_v2, &popped);
    ck_assert_ptr_eq(popped, other);
    GPU_RELEASE(&g, cuDevicePrimaryCtxRelease_v2, 1);
    GPU_RELEASE(&g, cuMemFree_v2, x);
    gpu_end(&g);
    ck_assert_str_eq(g.why, "");
}
END_TEST

/* The default stream waits for streams that are not apart, and for no others. */
START_TEST(default_stream_waits)
{
    gpu         g;
    CUstream    streams[2]; /* by flags */
    CUdeviceptr x;

    fake_use();
    setenv("RDIM_FAKE_LAZY", "1", 1);
    g = gpu_begin();
    x = gpu_get(&g, 2);
    for (int k = 0; k < 2; k++) {
        unsigned char got = 0;

        (void)GPU_CALL(&g, cuStreamCreate, &streams[k],
                       k ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT);
        (void)GPU_CALL(&g, cuMemsetD8Async, x + k, 7, 1, streams[k]);
        (void)GPU_CALL(&g, cuMemcpyDtoHAsync_v2, &got, x + k, 1, NULL);
        ck_assert((got == 7) == (k == 0));
    }
    for (int k = 0; k < 2; k++)
        GPU_RELEASE(&g, cuStreamDestroy_v2, streams[k]);
    GPU_RELEASE(&g, cuMemFree_v2, x);
    gpu_end(&g);
    ck_assert_str_eq(g.why, "");
}
END_TEST

/* What one stream has from another is there if it follows an event behind it, and only then. */
START_TEST(streams_follow)
{
    char       *got = NULL;
    gpu         g;
    CUdeviceptr x;
    CUstream    other  = NULL;
    CUevent     event  = NULL;
    void       *pinned = NULL;

    fake_use();
    setenv("RDIM_FAKE_LAZY", "1", 1);
    g = gpu_begin();
    x = gpu_get(&g, 1);
    (void)GPU_CALL(&g, cuMemAllocHost_v2, &pinned, 1);
    (void)GPU_CALL(&g, cuStreamCreate, &other, CU_STREAM_DEFAULT);
    (void)GPU_CALL(&g, cuEventCreate, &event, CU_EVENT_DISABLE_TIMING);
    got = pinned;
    for (int follows = 0; follows < 2; follows++) {
        const int byte = 7 + follows;

        (void)GPU_CALL(&g, cuMemsetD8Async, x, (unsigned char)byte, 1, g.stream);
        (void)GPU_CALL(&g, cuEventRecord, event, g.stream);
        if (follows)
            (void)GPU_CALL(&g, cuStreamWaitEvent, other, event, 0);
        (void)GPU_CALL(&g, cuMemsetD8Async, x, 3, 1, g.stream); /* behind the event */
        (void)GPU_CALL(&g, cuMemcpyDtoHAsync_v2, got, x, 1, other);
        (void)GPU_CALL(&g, cuStreamSynchronize, other);
        ck_assert((*got == byte) == (follows == 1));
        (void)GPU_CALL(&g, cuStreamSynchronize, g.stream);
    }
    GPU_RELEASE(&g, cuEventDestroy_v2, event);
    GPU_RELEASE(&g, cuStreamDestroy_v2, other);
    GPU_RELEASE(&g, cuMemFreeHost, pinned);
    GPU_RELEASE(&g, cuMemFree_v2, x);
    gpu_end(&g);
    ck_assert_str_eq(g.why, "");
}
END_TEST

START_TEST(threads)
{
    pthread_t all[4];

    fake_use();
    for (int i = 0; i < COUNT(all); i++)
        ck_assert_int_eq(pthread_create(&all[i], NULL, gpu_work, NULL), 0);
    for (int i = 0; i < COUNT(all); i++)
        pthread_join(all[i], NULL);
    ck_assert_int_eq(fake_bytes_now(), 0);
}
END_TEST

/* ---- What hosts do wrong --------------------------------------------------------------------- */
/* In a child, as it ends there. */
START_TEST(host_reads_device)
{
    gpu         g;
    CUdeviceptr x;

    fake_use();
    setenv("RDIM_FAKE_STRICT", "0", 1);
    g = gpu_begin();
    x = gpu_get(&g, 4);
    (void)GPU_CALL(&g, cuMemsetD8Async, x, 7, 4, g.stream);
    _exit(*(volatile unsigned char *)(uintptr_t)x);
}
END_TEST

START_TEST(copies_beyond)
{
    char        host[8] = { 0 };
    gpu         g;
    CUdeviceptr x;

    fake_use();
    setenv("RDIM_FAKE_STRICT", "0", 1);
    g = gpu_begin();
    x = gpu_get(&g, 4);
    ck_assert_int_eq(g.cuda->cuMemcpyHtoDAsync_v2(x, host, 8, g.stream), CUDA_ERROR_INVALID_VALUE);
    ck_assert_int_eq(g.cuda->cuMemFree_v2(x + 1), CUDA_ERROR_INVALID_VALUE);
    GPU_RELEASE(&g, cuMemFree_v2, x);
    ck_assert_int_eq(g.cuda->cuMemFree_v2(x), CUDA_ERROR_INVALID_VALUE);
    gpu_end(&g);
    ck_assert_int_eq(g.cuda->cuMemAlloc_v2(&x, 4), CUDA_ERROR_INVALID_CONTEXT);
}
END_TEST

START_TEST(host_pointer_in_kernel)
{
    float    host[GPU_N];
    float   *x = host;
    int      n = GPU_N;
    gpu      g;
    CUmodule module;

    fake_use();
    setenv("RDIM_FAKE_STRICT", "0", 1);
    g      = gpu_begin();
    module = gpu_load(&g, STORE("0"));
    gpu_launch(&g, module, "store", 1, THREADS, (void *[]){ &x, &n });
    ck_assert_int_eq(g.cuda->cuStreamSynchronize(g.stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    ck_assert_msg(strstr(fake_report_text(), "address of the host") != NULL, "%s",
                  fake_report_text());
    GPU_RELEASE(&g, cuModuleUnload, module);
    gpu_end(&g);
}
END_TEST

START_TEST(memory_limit)
{
    gpu         g;
    CUdeviceptr x;

    fake_use();
    setenv("RDIM_FAKE_MEMORY", "1000", 1);
    g = gpu_begin();
    x = gpu_get(&g, 1000);
    ck_assert_str_eq(g.why, "");
    (void)gpu_get(&g, 1);
    ck_assert_str_eq(g.why, "cuMemAlloc: 2, out of memory");
    GPU_RELEASE(&g, cuMemFree_v2, x);
    gpu_end(&g);
}
END_TEST

START_TEST(leaks)
{
    gpu g;

    fake_use();
    g = gpu_begin();
    (void)gpu_get(&g, 4);
    ck_assert_str_eq(g.why, "");
    exit(0); /* the fake makes 1 of it */
}
END_TEST

START_TEST(after_fork)
{
    gpu   g;
    int   status;
    pid_t child;

    fake_use();
    g     = gpu_begin();
    child = fork();
    if (child == 0)
        _exit(g.cuda->cuStreamSynchronize(g.stream) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    gpu_end(&g);
}
END_TEST

/* ---- Each function fails --------------------------------------------------------------------- */
static const char *const functions[] = {
#define RD_DRIVER(name, parameters) #name,
#include "kernels/cuda/api.def"
};

/* Everything once: each function of api.def but those that tell of errors. */
static void everything(gpu *g)
{
    char        name[64];
    const int   n = GPU_N;
    int         number;
    size_t      size;
    float       milliseconds;
    CUmodule    module = NULL;
    CUfunction  function;
    CUdeviceptr x = 0, z = 0;
    CUevent     event  = NULL;
    void       *pinned = NULL;

    (void)GPU_CALL(g, cuDriverGetVersion, &number);
    *g = *g->why ? *g : gpu_begin();
    (void)GPU_CALL(g, cuDeviceGetCount, &number);
    (void)GPU_CALL(g, cuDeviceGetName, name, sizeof name, g->device);
    (void)GPU_CALL(g, cuDeviceGetAttribute, &number, CU_DEVICE_ATTRIBUTE_WARP_SIZE, g->device);
    (void)GPU_CALL(g, cuDeviceTotalMem_v2, &size, g->device);
    if (!g->why[0])
        module = gpu_load(g, add_text);
    if (GPU_CALL(g, cuModuleGetFunction, &function, module, "add")) {
        (void)GPU_CALL(g, cuFuncGetAttribute, &number, CU_FUNC_ATTRIBUTE_NUM_REGS, function);
        (void)GPU_CALL(g, cuFuncSetAttribute, function,
                       CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024);
        (void)GPU_CALL(g, cuOccupancyMaxActiveBlocksPerMultiprocessor, &number, function, THREADS,
                       0);
    }
    x = gpu_get(g, GPU_N * sizeof(float));
    z = gpu_get(g, GPU_N * sizeof(float));
    (void)GPU_CALL(g, cuMemGetInfo_v2, &size, &size);
    (void)GPU_CALL(g, cuMemAllocHost_v2, &pinned, GPU_N * sizeof(float));
    (void)GPU_CALL(g, cuEventCreate, &event, 0);
    (void)GPU_CALL(g, cuMemsetD8Async, x, 0, GPU_N * sizeof(float), g->stream);
    (void)GPU_CALL(g, cuMemcpyDtoDAsync_v2, z, x, GPU_N * sizeof(float), g->stream);
    (void)GPU_CALL(g, cuMemcpyPeerAsync, z, g->context, x, g->context, GPU_N * sizeof(float),
                   g->stream);
    gpu_launch(g, module, "add", GPU_BLOCKS, THREADS, (void *[]){ &x, &x, &z, (void *)&n });
    (void)GPU_CALL(g, cuMemcpyDtoHAsync_v2, pinned, z, GPU_N * sizeof(float), g->stream);
    (void)GPU_CALL(g, cuMemcpyHtoDAsync_v2, x, pinned, GPU_N * sizeof(float), g->stream);
    (void)GPU_CALL(g, cuEventRecord, event, g->stream);
    (void)GPU_CALL(g, cuStreamWaitEvent, g->stream, event, 0);
    (void)GPU_CALL(g, cuEventSynchronize, event);
    (void)GPU_CALL(g, cuEventQuery, event);
    (void)GPU_CALL(g, cuEventElapsedTime, &milliseconds, event, event);
    (void)GPU_CALL(g, cuStreamSynchronize, g->stream);
    if (event)
        GPU_RELEASE(g, cuEventDestroy_v2, event);
    if (pinned)
        GPU_RELEASE(g, cuMemFreeHost, pinned);
    if (x)
        GPU_RELEASE(g, cuMemFree_v2, x);
    if (z)
        GPU_RELEASE(g, cuMemFree_v2, z);
    if (module)
        GPU_RELEASE(g, cuModuleUnload, module);
    gpu_end(g);
}

static bool tells_of_errors(const char *function)
{
    return strncmp(function, "cuGetError", strlen("cuGetError")) == 0;
}

START_TEST(each_fails)
{
    const char *const function = functions[_i];
    const char       *text;
    char              want[RD_CUDA_TEXT];
    gpu               g = { 0 };

    fake_use();
    g.cuda = rd_cuda_api(NULL);
    ck_assert_int_eq(fake_break(fake_cuda, function, 1, CUDA_ERROR_INVALID_VALUE), 0);
    if (tells_of_errors(function)) {
        ck_assert_int_eq(strcmp(function, "cuGetErrorName")
                             ? g.cuda->cuGetErrorString(CUDA_ERROR_UNKNOWN, &text)
                             : g.cuda->cuGetErrorName(CUDA_ERROR_UNKNOWN, &text),
                         CUDA_ERROR_INVALID_VALUE);
        rd_cuda_error("cuInit", CUDA_ERROR_NO_DEVICE, want);
        ck_assert_str_eq(want, "cuInit: 100, no CUDA-capable device is detected");
        return;
    }
    everything(&g);
    rd_cuda_error(function, CUDA_ERROR_INVALID_VALUE, want);
    ck_assert_str_eq(g.why, want);
    ck_assert_int_ge(fake_calls_of(fake_cuda, function), 1);
    ck_assert_int_eq(fake_bytes_now(), 0);
}
END_TEST

START_TEST(nothing_fails)
{
    gpu g = { 0 };

    fake_use_order(_i);
    g.cuda = rd_cuda_api(NULL);
    everything(&g);
    ck_assert_str_eq(g.why, "");
    ck_assert_str_eq(fake_report_text(), "");
    for (int i = 0; i < COUNT(functions); i++)
        ck_assert_msg(fake_calls_of(fake_cuda, functions[i]) > 0 || tells_of_errors(functions[i]),
                      "%s", functions[i]);
}
END_TEST

START_TEST(by_environment)
{
    gpu         g;
    CUdeviceptr x;

    fake_use();
    setenv("RDIM_FAKE_FAIL", "cuMemAlloc_v2:2=2,nvrtcCompileProgram:1=6,cuMemAlloc_v2:4=700", 1);
    g = gpu_begin();
    x = gpu_get(&g, 4);
    ck_assert_str_eq(g.why, "");
    (void)gpu_get(&g, 4);
    ck_assert_str_eq(g.why, "cuMemAlloc: 2, out of memory");
    ck_assert_int_eq(g.cuda->cuMemFree_v2(x), CUDA_SUCCESS);
    ck_assert_int_eq(g.cuda->cuMemAlloc_v2(&x, 4), CUDA_SUCCESS);
    ck_assert_int_eq(g.cuda->cuMemFree_v2(x), CUDA_SUCCESS);
    ck_assert_int_eq(g.cuda->cuMemAlloc_v2(&x, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
    ck_assert_int_eq(g.cuda->cuStreamSynchronize(g.stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    ck_assert_int_eq(fake_break(fake_cuda, "cuMemAlloc", 1, 1), -1);
    gpu_end(&g);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, too_many_threads);
    tcase_add_test(tc, two_devices);
    tcase_add_test(tc, default_stream_waits);
    tcase_add_test(tc, streams_follow);
    tcase_add_test(tc, threads);
    if (SANITIZED && !THREAD_SANITIZED)
        tcase_add_exit_test(tc, host_reads_device, 1);
    if (!SANITIZED)
        tcase_add_test_raise_signal(tc, host_reads_device, SIGSEGV);
    tcase_add_test(tc, copies_beyond);
    tcase_add_test(tc, host_pointer_in_kernel);
    tcase_add_test(tc, memory_limit);
    tcase_add_exit_test(tc, leaks, 1);
    tcase_add_test(tc, after_fork);
    tcase_add_loop_test(tc, nothing_fails, 0, 2 * FAKE_ORDERS);
    tcase_add_loop_test(tc, each_fails, 0, COUNT(functions));
    tcase_add_test(tc, by_environment);
}

int main(void)
{
    return fake_run("cuda_host", add);
}
