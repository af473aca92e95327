/* fake_gpu.c - see fake_gpu.h. */
#define _XOPEN_SOURCE 700 /* setenv, mkdtemp */
#include "fake_gpu.h"
#include "suite.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
/* gcc 12's search for leaks guesses where thread-local memory of loaded objects lies, may guess
 * addresses next to 0, and ends the process there.  So it leaves that memory out, and what a thread
 * keeps for dlerror(), by pthread_setspecific() and for its OpenMP teams is in no other. */
const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
    return "use_tls=0";
}

const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:_dlerror_run\nleak:pthread_setspecific\nleak:libgomp.so\n";
}
#endif

/* ---- The fakes -------------------------------------------------------------------------------- */
const char fake_cuda[] = FAKE_CUDA, fake_nvrtc[] = FAKE_NVRTC, fake_cublas[] = FAKE_CUBLAS;
const char fake_old_cuda[] = FAKE_OLD_CUDA;

void fake_use(void)
{
    setenv("RDIM_LIBCUDA", fake_cuda, 1);
    setenv("RDIM_LIBNVRTC", fake_nvrtc, 1);
    setenv("RDIM_LIBCUBLAS", fake_cublas, 1);
    setenv("RDIM_FAKE_STRICT", "1", 1);
    setenv("XDG_CACHE_HOME", "/dev/null",
           1); /* what is for this processor is not stored as a GPU's */
}

const char *const fake_orders[FAKE_ORDERS] = { "forward", "backward", "random:1", "random:2" };

void fake_use_order(int i)
{
    char lazy[16];

    snprintf(lazy, sizeof lazy, "%d", i / FAKE_ORDERS);
    fake_use();
    setenv("RDIM_FAKE_ORDER", fake_orders[i % FAKE_ORDERS], 1);
    setenv("RDIM_FAKE_LAZY", lazy, 1);
}

bool fake_is_here(void)
{
    return access(fake_cuda, R_OK) == 0 && access(fake_nvrtc, R_OK) == 0 &&
           access(fake_cublas, R_OK) == 0;
}

static bool make_directory(char path[FAKE_PATH])
{
    const char *const place = getenv("TMPDIR");

    snprintf(path, FAKE_PATH, "%s/rdim-test-XXXXXX", place ? place : P_tmpdir);
    return mkdtemp(path) != NULL;
}

/* A directory for the kernels that a suite's tests compile, each a process: many have the same. */
static void keep_kernels(char path[FAKE_PATH])
{
    if (make_directory(path))
        setenv("RDIM_FAKE_DIR", path, 0);
    else
        path[0] = '\0';
}

static void remove_directory(const char *path)
{
    char command[FAKE_PATH + 16];

    snprintf(command, sizeof command, "rm -r '%s'", path);
    if (path[0] && system(command) != 0)
        printf("%s is left\n", path);
}

int fake_run(const char *name, void (*add)(TCase *tests))
{
    enum { HANGS = 600, SKIPPED = 77 };
    Suite   *suite  = suite_create(name);
    TCase   *tests  = tcase_create(name);
    SRunner *runner = srunner_create(suite);
    char     kernels[FAKE_PATH];
    int      failed;

    if (!fake_is_here()) {
        puts("skipped: no C++ compiler for the fake driver");
        return SKIPPED;
    }
    tcase_set_timeout(tests, HANGS);
    add(tests);
    suite_add_tcase(suite, tests);
    keep_kernels(kernels);
    srunner_run_all(runner, CK_NORMAL);
    remove_directory(kernels);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}

void fake_directory(char path[FAKE_PATH])
{
    ck_assert(make_directory(path));
}

void fake_remove(const char *path)
{
    remove_directory(path);
    ck_assert_int_ne(access(path, F_OK), 0);
}

void *fake_find(const char *file, const char *name)
{
    void *const handle = dlopen(file, RTLD_NOW | RTLD_LOCAL), *const at = dlsym(handle, name);

    ck_assert_msg(at != NULL, "%s in %s", name, file);
    return at;
}

int fake_break(const char *file, const char *function, int call, int error)
{
    int (*order)(const char *, int, int);

    *(void **)&order = fake_find(file, "fake_fail");
    return order(function, call, error);
}

int fake_calls_of(const char *file, const char *function)
{
    int (*calls)(const char *);

    *(void **)&calls = fake_find(file, "fake_calls");
    return calls(function);
}

const char *fake_report_text(void)
{
    const char *(*text)(void);

    *(void **)&text = fake_find(fake_cuda, "fake_report");
    return text();
}

long fake_bytes_now(void)
{
    long (*bytes)(void);

    *(void **)&bytes = fake_find(fake_cuda, "fake_bytes");
    return bytes();
}

void fake_time(double (*kernel)(const char *, unsigned, unsigned), double bus, double memory)
{
    void (*clock)(double (*)(const char *, unsigned, unsigned), double, double);

    *(void **)&clock = fake_find(fake_cuda, "fake_clock");
    clock(kernel, bus, memory);
}

fake_times fake_times_now(void)
{
    fake_times (*times)(void);

    *(void **)&times = fake_find(fake_cuda, "fake_overlap");
    return times();
}

/* ---- A device --------------------------------------------------------------------------------- */
bool gpu_ok(gpu *g, const char *function, CUresult result)
{
    if (result != CUDA_SUCCESS && !g->why[0])
        rd_cuda_error(function, result, g->why);
    return result == CUDA_SUCCESS;
}

gpu gpu_begin(void)
{
    gpu g = { .cuda = rd_cuda_api(NULL) };

    ck_assert_ptr_nonnull(g.cuda);
    if (GPU_CALL(&g, cuInit, 0) && GPU_CALL(&g, cuDeviceGet, &g.device, 0) &&
        GPU_CALL(&g, cuDevicePrimaryCtxRetain, &g.context, g.device) &&
        GPU_CALL(&g, cuCtxPushCurrent_v2, g.context))
        (void)GPU_CALL(&g, cuStreamCreate, &g.stream, CU_STREAM_NON_BLOCKING);
    return g;
}

void gpu_end(gpu *g)
{
    CUcontext context;

    if (g->stream)
        GPU_RELEASE(g, cuStreamDestroy_v2, g->stream);
    if (g->context) {
        GPU_RELEASE(g, cuCtxPopCurrent_v2, &context);
        GPU_RELEASE(g, cuDevicePrimaryCtxRelease_v2, g->device);
    }
}

CUdeviceptr gpu_get(gpu *g, size_t bytes)
{
    CUdeviceptr at = 0;

    (void)GPU_CALL(g, cuMemAlloc_v2, &at, bytes);
    return at;
}

CUmodule gpu_load(gpu *g, const char *text)
{
    const rd_nvrtc_text source = { .text = text, .name = "kernel.cu", .architecture = 90 };
    rd_nvrtc_image      image;
    CUmodule            module = NULL;
    char                why[RD_CUDA_TEXT];

    ck_assert_msg(rd_nvrtc_compile(&source, &image, why), "%s\n%s", why,
                  image.log ? image.log : "");
    (void)GPU_CALL(g, cuModuleLoadData, &module, image.bytes);
    rd_nvrtc_free(&image);
    return module;
}

void gpu_launch(gpu *g, CUmodule module, const char *name, unsigned blocks, unsigned threads,
                void **arguments)
{
    CUfunction function;

    if (GPU_CALL(g, cuModuleGetFunction, &function, module, name))
        (void)GPU_CALL(g, cuLaunchKernel, function, blocks, 1, 1, threads, 1, 1, 0, g->stream,
                       arguments, NULL);
}

CUdeviceptr gpu_get_sevens(gpu *g)
{
    float       host[GPU_N];
    CUdeviceptr x = gpu_get(g, sizeof host);

    for (int i = 0; i < GPU_N; i++)
        host[i] = (float)(i % 7);
    (void)GPU_CALL(g, cuMemcpyHtoDAsync_v2, x, host, sizeof host, g->stream);
    return x;
}

void *gpu_work(void *unused)
{
    float       host[GPU_N];
    int         n      = GPU_N;
    gpu         g      = gpu_begin();
    CUmodule    module = gpu_load(&g, add_text);
    CUdeviceptr x      = gpu_get_sevens(&g);

    (void)unused;
    for (int i = 0; i < 10; i++)
        gpu_launch(&g, module, "add", GPU_BLOCKS, THREADS, (void *[]){ &x, &x, &x, &n });
    (void)GPU_CALL(&g, cuMemcpyDtoHAsync_v2, host, x, sizeof host, g.stream);
    for (int i = 0; i < GPU_N; i++)
        ck_assert_float_eq(host[i], (float)(i % 7 * 1024));
    GPU_RELEASE(&g, cuMemFree_v2, x);
    GPU_RELEASE(&g, cuModuleUnload, module);
    gpu_end(&g);
    ck_assert_str_eq(g.why, "");
    return NULL;
}
