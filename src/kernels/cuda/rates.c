/* rates.c - measures the throughput of a GPU and its bus, by events around copies as runs make
 * them, and around a kernel of arithmetic only. */
#include "kernels/cuda/rates.h"
#include "kernels/cuda/watch.h"
#include "kernels/store/hash.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Timed runs of each kind; threads of a block; steps of each chain in the kernel; its chains. */
enum { TIMES = 3, THREADS = 256, STEPS = 256, ABREAST = 8 };
/* Bytes that are copied: PIECE at most, and 1 / PART of the memory. */
enum { PIECE = 64 << 20, PART = 32 };

/* Independent chains of operations, so that none waits for the one before it. */
static const char kernel_text[] =
    "extern \"C\" __global__ void __launch_bounds__(256, 1) operate(%s *to, %s by)\n"
    "{\n"
    "    %s x[8], s = 0;\n"
    "    for (int k = 0; k < 8; k++) x[k] = threadIdx.x + k;\n"
    "    for (int i = 0; i < 256; i++)\n"
    "        for (int k = 0; k < 8; k++) x[k] = x[k] * by + by;\n"
    "    for (int k = 0; k < 8; k++) s += x[k];\n"
    "    if (s == -1) *to = s;\n" /* nobody knows that it is not */
    "}\n";

/* A measurement. */
typedef struct meter {
    rd_queue    *queue;
    rd_gpu      *gpu;
    rd_gpu_watch watch;
    CUdeviceptr  a, b;          /* memory on the GPU */
    char        *host;          /* memory on the host */
    int64_t      bytes, blocks; /* bytes of each; blocks of threads that fill the GPU */
    char        *why;           /* the reason of a failure */
} meter;

/* Copies the test's bytes from the host to the GPU. */
static bool go_up(meter *m)
{
    return rd_queue_up(m->queue, m->a, m->host, m->bytes, m->why);
}

/* Copies the test's bytes from the GPU to the host. */
static bool go_down(meter *m)
{
    return rd_queue_down(m->queue, m->host, m->a, m->bytes, m->why);
}

/* Copies the test's bytes within the GPU's memory, from a to b. */
static bool go_across(meter *m)
{
    return rd_queue_across(m->queue, m->b, m->a, m->bytes, m->why);
}

/* Compiles the arithmetic kernel for a type, "float" or "double".  NULL: m->why has the reason. */
static const rd_module *module_of(meter *m, const char *type)
{
    const rd_module *module = NULL;
    rd_text          text   = { 0 };

    rd_text_add(&text, kernel_text, type, type, type);
    if (text.failed)
        snprintf(m->why, RD_CUDA_TEXT, "out of memory");
    else
        module = rd_module_of(text.at, rd_gpu_facts_of(m->gpu)->architecture, m->why);
    rd_text_free(&text);
    return module;
}

/* Launches the arithmetic kernel for a type, on as many blocks of threads as the GPU runs at
 * once; by: the address of the kernel's factor, of that type. */
static bool launch_operations(meter *m, const char *type, void *by)
{
    const rd_module *module      = module_of(m, type);
    void            *arguments[] = { &m->a, by };
    CUfunction       kernel;
    bool             done;

    if (!module || !rd_module_kernel(module, m->gpu, "operate", &kernel, m->why) ||
        !rd_gpu_enter(m->gpu, m->why))
        return false;
    done = RD_GPU_CALL(m->gpu, m->why, cuLaunchKernel, kernel, (unsigned)m->blocks, 1, 1, THREADS,
                       1, 1, 0, rd_queue_stream(m->queue), arguments, NULL);
    rd_gpu_leave(m->gpu);
    return done;
}

/* Times f32: launches the kernel of products and sums. */
static bool operate_floats(meter *m)
{
    float by = 0.5F;

    return launch_operations(m, "float", &by);
}

/* Times f64: launches the kernel of products and sums. */
static bool operate_doubles(meter *m)
{
    double by = 0.5;

    return launch_operations(m, "double", &by);
}

/* Returns the least time of TIMES runs of some work, after one that does not count, as it loads
 * or touches things first; 0: a run failed. */
static double seconds_of(meter *m, bool (*does)(meter *))
{
    double least = INFINITY, seconds = 0;

    for (int k = 0; k <= TIMES; k++) {
        if (!rd_gpu_watch_start(&m->watch, m->why) || !does(m) ||
            !rd_gpu_watch_stop(&m->watch, m->why) || !rd_queue_wait(m->queue, m->why) ||
            !rd_gpu_watch_read(&m->watch, &seconds, m->why))
            return 0;
        least = k > 0 && seconds < least ? seconds : least;
    }
    return least;
}

/* ---- All of them ----------------------------------------------------------------------------- */
/* Measures copies and arithmetic, and converts their times to rates in bytes and operations for
 * each second. A copy within memory reads and writes each byte. As soon as one measurement
 * fails, its time is 0, and all later ones are skipped. */
static bool find_rates(meter *m, rd_device_rates *rates)
{
    const double up = seconds_of(m, go_up), down = up > 0 ? seconds_of(m, go_down) : 0,
                 across  = down > 0 ? seconds_of(m, go_across) : 0,
                 floats  = across > 0 ? seconds_of(m, operate_floats) : 0,
                 doubles = floats > 0 ? seconds_of(m, operate_doubles) : 0;
    const double bytes   = (double)m->bytes;
    const double steps   = (double)STEPS * ABREAST * THREADS * (double)m->blocks;

    if (doubles <= 0)
        return false;
    /* A step is a product and a sum: without contraction two operations. */
    *rates = (rd_device_rates){ .up      = bytes / up,
                                .down    = bytes / down,
                                .memory  = 2 * bytes / across,
                                .floats  = 2 * steps / floats,
                                .doubles = 2 * steps / doubles,
                                .room    = (double)rd_gpu_facts_of(m->gpu)->memory };
    return true;
}

/* Takes two buffers on the GPU and one on the host, of 64 MiB or 1/32 of the GPU's memory.  The
 * host's pages are written to, so that they exist before the first copy. */
static bool get_memory(meter *m)
{
    const int64_t most = rd_gpu_facts_of(m->gpu)->memory / PART;
    bool          full;

    m->bytes = most < PIECE ? most : PIECE;
    m->host  = malloc((size_t)m->bytes);
    if (!m->host) {
        snprintf(m->why, RD_CUDA_TEXT, "out of memory");
        return false;
    }
    memset(m->host, 1, (size_t)m->bytes); /* pages that are there */
    m->a = rd_gpu_get(m->gpu, m->bytes, &full, m->why);
    m->b = m->a ? rd_gpu_get(m->gpu, m->bytes, &full, m->why) : 0;
    return m->b;
}

/* Measures the GPU's and the bus's rates, and returns all memory.  False: a measurement failed;
 * `why` has the reason. */
bool rd_gpu_rates(rd_queue *queue, rd_device_rates *rates, char *why)
{
    meter m    = { .queue = queue, .gpu = rd_queue_gpu(queue), .why = why };
    bool  done = false;

    m.blocks = rd_gpu_facts_of(m.gpu)->most_threads / THREADS;
    if (rd_gpu_watch_make(&m.watch, queue, why)) {
        done = get_memory(&m) && find_rates(&m, rates);
        (void)rd_queue_wait(queue, (char[RD_CUDA_TEXT]){ "" }); /* nothing uses its memory */
        rd_gpu_watch_drop(&m.watch);
    }
    if (m.a)
        rd_gpu_put(m.gpu, m.a);
    if (m.b)
        rd_gpu_put(m.gpu, m.b);
    free(m.host);
    return done;
}

/* Returns a hash of the GPU's name, under which measured rates are kept; 0: there is no GPU.
 * The lowest bit is set, so that no hash is 0. */
uint64_t rd_gpu_name_key(int32_t device)
{
    char                ignored[RD_CUDA_TEXT];
    const rd_gpu *const gpu = rd_gpu_of(device, ignored);

    if (!gpu)
        return 0;
    const char *const name = rd_gpu_facts_of(gpu)->name;

    return rd_hash_add(rd_hash_begin(), name, strlen(name)).a | 1;
}
