/* test_cuda_fake.c - kernels on the fake driver (tests/cuda): they do what they do on a GPU, and their
 * mistakes are found.  Each test is a process of its own. */
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

START_TEST(adds)
{
    float       host[GPU_N];
    int         n = GPU_N;
    gpu         g;
    CUmodule    module;
    CUdeviceptr x, z;

    fake_use_order(_i);
    g      = gpu_begin();
    module = gpu_load(&g, add_text);
    x      = gpu_get(&g, sizeof host);
    z      = gpu_get(&g, sizeof host);
    for (int i = 0; i < GPU_N; i++)
        host[i] = (float)i;
    (void)GPU_CALL(&g, cuMemcpyHtoDAsync_v2, x, host, sizeof host, g.stream);
    memset(host, 0, sizeof host);
    gpu_launch(&g, module, "add", GPU_BLOCKS, THREADS, (void *[]){ &x, &x, &z, &n });
    (void)GPU_CALL(&g, cuMemcpyDtoHAsync_v2, host, z, sizeof host, g.stream);
    (void)GPU_CALL(&g, cuStreamSynchronize, g.stream);
    ck_assert_str_eq(g.why, "");
    for (int i = 0; i < GPU_N; i++)
        ck_assert_float_eq(host[i], (float)(2 * i));
    ck_assert_int_eq(fake_bytes_now(), 2 * (long)sizeof host);
    GPU_RELEASE(&g, cuMemFree_v2, x);
    GPU_RELEASE(&g, cuMemFree_v2, z);
    GPU_RELEASE(&g, cuModuleUnload, module);
    gpu_end(&g);
    ck_assert_str_eq(g.why, "");
    ck_assert_int_eq(fake_bytes_now(), 0);
}
END_TEST

START_TEST(sums)
{
    unsigned    result = 0, want = 0;
    int         n = GPU_N;
    gpu         g;
    CUmodule    module;
    CUdeviceptr x, z;

    fake_use_order(_i);
    g      = gpu_begin();
    module = gpu_load(&g, sum_text);
    x      = gpu_get_sevens(&g);
    z      = gpu_get(&g, sizeof result);
    (void)GPU_CALL(&g, cuMemsetD8Async, z, 0, sizeof result, g.stream);
    gpu_launch(&g, module, "sum", GPU_BLOCKS, THREADS, (void *[]){ &x, &z, &n });
    (void)GPU_CALL(&g, cuMemcpyDtoHAsync_v2, &result, z, sizeof result, g.stream);
    for (unsigned i = 0; i < GPU_N; i++)
        want += i % 7;
    ck_assert_str_eq(g.why, "");
    ck_assert_uint_eq(result, want);
    GPU_RELEASE(&g, cuMemFree_v2, x);
    GPU_RELEASE(&g, cuMemFree_v2, z);
    GPU_RELEASE(&g, cuModuleUnload, module);
    gpu_end(&g);
}
END_TEST

/* A result in pinned memory is there when somebody has waited. */
START_TEST(lazy)
{
    gpu         g;
    CUdeviceptr x;
    CUevent     event  = NULL;
    void       *result = NULL;
    int         asked  = 0;

    fake_use();
    setenv("RDIM_FAKE_LAZY", "1", 1);
    g = gpu_begin();
    x = gpu_get(&g, 4);
    (void)GPU_CALL(&g, cuMemAllocHost_v2, &result, 4);
    (void)GPU_CALL(&g, cuEventCreate, &event, CU_EVENT_DISABLE_TIMING);
    (void)GPU_CALL(&g, cuMemsetD8Async, x, 7, 4, g.stream);
    (void)GPU_CALL(&g, cuMemcpyDtoHAsync_v2, result, x, 4, g.stream);
    (void)GPU_CALL(&g, cuEventRecord, event, g.stream);
    ck_assert_str_eq(g.why, "");
    ck_assert_ptr_nonnull(result);
    ck_assert_int_ne(*(int *)result, 0x07070707);
    while (g.cuda->cuEventQuery(event) == CUDA_ERROR_NOT_READY)
        asked++;
    ck_assert_int_eq(asked, 3);
    ck_assert_int_eq(*(int *)result, 0x07070707);
    GPU_RELEASE(&g, cuEventDestroy_v2, event);
    GPU_RELEASE(&g, cuMemFreeHost, result);
    GPU_RELEASE(&g, cuMemFree_v2, x);
    gpu_end(&g);
    ck_assert_str_eq(g.why, "");
}
END_TEST

START_TEST(correct_with_barrier)
{
    float       host[2 * THREADS];
    gpu         g;
    CUmodule    module;
    CUdeviceptr x, z;

    fake_use_order(_i);
    g      = gpu_begin();
    module = gpu_load(&g, _i % 2 == 0 ? TURN("__syncthreads();\n") : warps_text);
    x      = gpu_get_sevens(&g);
    z      = gpu_get(&g, sizeof host);
    gpu_launch(&g, module, "turn", 2, THREADS, (void *[]){ &x, &z });
    (void)GPU_CALL(&g, cuMemcpyDtoHAsync_v2, host, z, sizeof host, g.stream);
    ck_assert_str_eq(g.why, "");
    ck_assert_str_eq(fake_report_text(), "");
    for (int i = 0; i < 2 * THREADS; i++)
        ck_assert_float_eq(host[i], (float)((i / THREADS * THREADS + 127 - i % THREADS) % 7));
    GPU_RELEASE(&g, cuMemFree_v2, x);
    GPU_RELEASE(&g, cuMemFree_v2, z);
    GPU_RELEASE(&g, cuModuleUnload, module);
    gpu_end(&g);
}
END_TEST

START_TEST(passes)
{
    int         host[N_PASSED];
    gpu         g;
    CUmodule    module;
    CUdeviceptr z;

    fake_use_order(_i);
    g      = gpu_begin();
    module = gpu_load(&g, pass_text);
    z      = gpu_get(&g, sizeof host);
    gpu_launch(&g, module, "pass", 1, THREADS, (void *[]){ &z });
    (void)GPU_CALL(&g, cuMemcpyDtoHAsync_v2, host, z, sizeof host, g.stream);
    ck_assert_str_eq(g.why, "");
    for (int i = 0; i < N_PASSED; i++)
        ck_assert_msg(host[i] == passed[i], "%d: %d, not %d", i, host[i], passed[i]);
    GPU_RELEASE(&g, cuMemFree_v2, z);
    GPU_RELEASE(&g, cuModuleUnload, module);
    gpu_end(&g);
}
END_TEST

/* As many blocks as are at work at the same time, in any order. */
START_TEST(waits_for_blocks)
{
    enum { BLOCKS = 4 };
    unsigned long long host[BLOCKS];
    gpu                g;
    CUmodule           module;
    CUdeviceptr        z;

    fake_use_order(_i);
    g      = gpu_begin();
    module = gpu_load(&g, relay_text);
    z      = gpu_get(&g, sizeof host);
    (void)GPU_CALL(&g, cuMemsetD8Async, z, 0, sizeof host, g.stream);
    gpu_launch(&g, module, "relay", BLOCKS, THREADS, (void *[]){ &z });
    (void)GPU_CALL(&g, cuMemcpyDtoHAsync_v2, host, z, sizeof host, g.stream);
    ck_assert_str_eq(g.why, "");
    for (unsigned long long i = BLOCKS, sum = 0; i-- > 0;)
        ck_assert_uint_eq(host[i], sum += i + 1);
    GPU_RELEASE(&g, cuMemFree_v2, z);
    GPU_RELEASE(&g, cuModuleUnload, module);
    gpu_end(&g);
}
END_TEST

START_TEST(much_shared_memory)
{
    float        host = 0;
    gpu          g;
    CUmodule     module;
    CUfunction   fill;
    CUdeviceptr  z;
    const size_t bytes       = 20000 * sizeof(float);
    void        *arguments[] = { &z };

    fake_use_order(_i);
    setenv("RDIM_FAKE_STRICT", "0", 1);
    g      = gpu_begin();
    module = gpu_load(&g, dynamic_text);
    z      = gpu_get(&g, sizeof host);
    (void)GPU_CALL(&g, cuModuleGetFunction, &fill, module, "fill");
    ck_assert_str_eq(g.why, "");
    ck_assert_int_eq(g.cuda->cuLaunchKernel(fill, 1, 1, 1, THREADS, 1, 1, (unsigned)bytes, g.stream,
                                            arguments, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    (void)GPU_CALL(&g, cuFuncSetAttribute, fill, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                   (int)bytes);
    (void)GPU_CALL(&g, cuLaunchKernel, fill, 1, 1, 1, THREADS, 1, 1, (unsigned)bytes, g.stream,
                   arguments, NULL);
    (void)GPU_CALL(&g, cuMemcpyDtoHAsync_v2, &host, z, sizeof host, g.stream);
    ck_assert_str_eq(g.why, "");
    ck_assert_float_eq(host, 19999);
    /* one element less than is used */
    (void)GPU_CALL(&g, cuLaunchKernel, fill, 1, 1, 1, THREADS, 1, 1, (unsigned)bytes - 4, g.stream,
                   arguments, NULL);
    ck_assert_int_eq(g.cuda->cuStreamSynchronize(g.stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    ck_assert_msg(strstr(fake_report_text(), "index 19999 of part[19999]") != NULL, "%s",
                  fake_report_text());
    GPU_RELEASE(&g, cuMemFree_v2, z);
    GPU_RELEASE(&g, cuModuleUnload, module);
    gpu_end(&g);
}
END_TEST

/* ---- What kernels do wrong --------------------------------------------------------------------- */
static const struct {
    const char *what, *text, *name;
    int         error;
    const char *report; /* a part of it */
    bool        seen;   /* by the address sanitizer, which ends the program */
} wrong[] = {
    { "no barrier", TURN(""), "turn", CUDA_ERROR_LAUNCH_FAILED, "part[", false },
    { "a warp's barrier is none for the block", TURN("__syncwarp();\n"), "turn",
      CUDA_ERROR_LAUNCH_FAILED, "no barrier in between", false },
    { "one element beyond the end", STORE("n"), "store", CUDA_ERROR_ILLEGAL_ADDRESS,
      "store wrote 0 bytes after the end of an allocation of 4000 bytes", true },
    { "one element before", STORE("-1"), "store", CUDA_ERROR_ILLEGAL_ADDRESS,
      "store wrote 4 bytes before an allocation of 4000 bytes", true },
    { "far beyond", STORE("n + 100000000"), "store", CUDA_ERROR_ILLEGAL_ADDRESS,
      "store, block (0, 0, 0), thread (5, 0, 0): access to address", false },
    { "nobody leaves the word", ever_text, "ever", CUDA_ERROR_ILLEGAL_ADDRESS,
      "ever, block (0, 0, 0): it waits for a word that no block leaves", false },
    { "a thread has left", wait_text, "leave", CUDA_ERROR_ILLEGAL_ADDRESS, "thread 5 has ended",
      false },
};

/* In all orders. */
START_TEST(reports)
{
    const int   k = _i / FAKE_ORDERS;
    int         n = GPU_N;
    gpu         g;
    CUmodule    module;
    CUdeviceptr x, z;

    fake_use();
    setenv("RDIM_FAKE_STRICT", "0", 1);
    setenv("RDIM_FAKE_ORDER", fake_orders[_i % FAKE_ORDERS], 1);
    g      = gpu_begin();
    module = gpu_load(&g, wrong[k].text);
    x      = gpu_get_sevens(&g);
    z      = gpu_get(&g, GPU_N * sizeof(float));
    if (strcmp(wrong[k].name, "turn") == 0)
        gpu_launch(&g, module, "turn", 2, THREADS, (void *[]){ &x, &z });
    else
        gpu_launch(&g, module, wrong[k].name, 1, THREADS, (void *[]){ &z, &n });
    ck_assert_str_eq(g.why, "");
    ck_assert_msg(g.cuda->cuStreamSynchronize(g.stream) == wrong[k].error, "%s", wrong[k].what);
    ck_assert_msg(strstr(fake_report_text(), wrong[k].report) != NULL, "%s:\n%s", wrong[k].what,
                  fake_report_text());
    /* all later calls fail likewise, and memory is freed */
    ck_assert_int_eq(g.cuda->cuStreamSynchronize(g.stream), wrong[k].error);
    ck_assert_int_eq(g.cuda->cuMemFree_v2(x), wrong[k].error);
    ck_assert_int_eq(g.cuda->cuMemFree_v2(z), wrong[k].error);
    ck_assert_int_eq(fake_bytes_now(), 0);
    GPU_RELEASE(&g, cuModuleUnload, module);
    gpu_end(&g);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_loop_test(tc, adds, 0, 2 * FAKE_ORDERS);
    tcase_add_loop_test(tc, sums, 0, 2 * FAKE_ORDERS);
    tcase_add_loop_test(tc, correct_with_barrier, 0, 2 * FAKE_ORDERS);
    tcase_add_test(tc, lazy);
    for (int i = 0; i < COUNT(wrong) && !THREAD_SANITIZED; i++)
        tcase_add_loop_exit_test(tc, reports, SANITIZED && wrong[i].seen, i * FAKE_ORDERS,
                                 (i + 1) * FAKE_ORDERS);
    tcase_add_loop_test(tc, waits_for_blocks, 0, 2 * FAKE_ORDERS);
    tcase_add_loop_test(tc, passes, 0, 2 * FAKE_ORDERS);
    if (!THREAD_SANITIZED)
        tcase_add_loop_test(tc, much_shared_memory, 0, 2 * FAKE_ORDERS);
}

int main(void)
{
    return fake_run("cuda_fake", add);
}
