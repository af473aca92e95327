/* limits.c - see limits.h. */
#include "limits.h"
#include "core/clock.h"
#include "kernels/cuda/gpu.h"
#include <stdio.h>
#include <string.h>

/* Four loads of 16 bytes a thread are in flight, of neighbours side by side. */
static const char text[] =
    "extern \"C\" __global__ void __launch_bounds__(256) copy(uint4 *to, const uint4 *from, long long n)\n"
    "{\n"
    "    const long long step = (long long)gridDim.x * 256;\n"
    "    long long i = (long long)blockIdx.x * 256 + threadIdx.x;\n"
    "    for (; i + 3 * step < n; i += 4 * step) {\n"
    "        const uint4 a = from[i], b = from[i + step], c = from[i + 2 * step], d = from[i + 3 * step];\n"
    "        to[i] = a; to[i + step] = b; to[i + 2 * step] = c; to[i + 3 * step] = d;\n"
    "    }\n"
    "    for (; i < n; i += step) to[i] = from[i];\n"
    "}\n"
    "extern \"C\" __global__ void __launch_bounds__(256) take(uint4 *to, const uint4 *from, long long n)\n"
    "{\n"
    "    const long long step = (long long)gridDim.x * 256;\n"
    "    long long i = (long long)blockIdx.x * 256 + threadIdx.x;\n"
    "    unsigned s = 0;\n"
    "    for (; i + 3 * step < n; i += 4 * step) {\n"
    "        const uint4 a = from[i], b = from[i + step], c = from[i + 2 * step], d = from[i + 3 * step];\n"
    "        s += (a.x ^ a.y ^ a.z ^ a.w) + (b.x ^ b.y ^ b.z ^ b.w);\n"
    "        s += (c.x ^ c.y ^ c.z ^ c.w) + (d.x ^ d.y ^ d.z ^ d.w);\n"
    "    }\n"
    "    if (s == 0x9E3779B9u) to[0].x = s;\n" /* nobody knows that it is not */
    "}\n"
    "extern \"C\" __global__ void __launch_bounds__(256) multiply(uint4 *to, const uint4 *from, long long n)\n"
    "{\n"
    "    float x[8], y = (float)n;\n"
    "    for (int k = 0; k < 8; k++) x[k] = (float)(threadIdx.x + k);\n"
    "    for (int i = 0; i < 1024; i++)\n"
    "        _Pragma(\"unroll\") for (int k = 0; k < 8; k++) x[k] = __fmaf_rn(x[k], 0.999f, y);\n"
    "    float s = 0;\n"
    "    for (int k = 0; k < 8; k++) s += x[k];\n"
    "    if (s == 1.0f) to[0].x = 1;\n"
    "}\n"
    "extern \"C\" __global__ void __launch_bounds__(256) none(uint4 *to, const uint4 *from, long long n)\n"
    "{\n"
    "}\n";

typedef struct limit_run {
    rd_gpu          *gpu;
    rd_queue        *queue;
    const rd_module *module;
    CUdeviceptr      to, from;
    int64_t          bytes, blocks;
    char            *why;
} limit_run;

static bool launch(const limit_run *r, CUfunction kernel)
{
    CUdeviceptr to = r->to, from = r->from;
    long long   n           = r->bytes / 16;
    void       *arguments[] = { &to, &from, &n };
    CUresult    result;

    if (!rd_gpu_enter(r->gpu, r->why))
        return false;
    result = rd_cuda_api(NULL)->cuLaunchKernel(kernel, (unsigned)r->blocks, 1, 1, 256, 1, 1, 0,
                                               rd_queue_stream(r->queue), arguments, NULL);
    rd_gpu_leave(r->gpu);
    return rd_gpu_ok(r->gpu, "cuLaunchKernel", result, r->why);
}

/* The least of several times of a few launches; 0: it failed. */
static double seconds_of(const limit_run *r, const char *name)
{
    enum { TIMES = 7, EACH = 4 };
    CUfunction kernel;
    double     least = 0;

    if (!rd_module_kernel(r->module, r->gpu, name, &kernel, r->why))
        return 0;
    for (int k = 0; k < TIMES; k++) {
        const double begin = rd_seconds();

        for (int i = 0; i < EACH; i++)
            if (!launch(r, kernel))
                return 0;
        if (!rd_queue_wait(r->queue, r->why))
            return 0;
        const double now = (rd_seconds() - begin) / EACH;

        least = k > 0 && (least == 0 || now < least) ? now : least; /* the first one warms up */
    }
    return least;
}

static bool measure(limit_run *r, gpu_limits *limits)
{
    static const double FMAS  = 1024.0 * 8 * 256;
    const double        bytes = (double)r->bytes;
    const double        copy = seconds_of(r, "copy"), take = seconds_of(r, "take"),
                 fma = seconds_of(r, "multiply");

    *limits = (gpu_limits){ .launch = seconds_of(r, "none") };
    if (copy <= 0 || take <= 0 || fma <= 0 || limits->launch <= 0)
        return false;
    limits->copy = 2 * bytes / copy;
    limits->read = bytes / take;
    limits->fma  = FMAS * (double)r->blocks / fma;
    return true;
}

bool gpu_limits_measure(int64_t bytes, gpu_limits *limits, char *why)
{
    limit_run r    = { .bytes = bytes, .why = why };
    bool      full = false, done;

    r.gpu = rd_gpu_of(0, why);
    if (!r.gpu)
        return false;
    r.blocks = rd_gpu_facts_of(r.gpu)->most_threads / 256;
    r.queue  = rd_queue_new(r.gpu, NULL, &full, why);
    r.module = rd_module_of(text, rd_gpu_facts_of(r.gpu)->architecture, why);
    if (r.queue && r.module) {
        r.to   = rd_gpu_get(r.gpu, bytes, &full, why);
        r.from = r.to ? rd_gpu_get(r.gpu, bytes, &full, why) : 0;
    }
    done = r.from && measure(&r, limits);
    if (r.to)
        rd_gpu_put(r.gpu, r.to);
    if (r.from)
        rd_gpu_put(r.gpu, r.from);
    rd_gpu_trim(r.gpu);
    if (r.queue)
        rd_queue_free(r.queue);
    return done;
}
