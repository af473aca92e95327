/* cuda_backend.c - the tables of functions that the CUDA backend offers.
 *
 * A program is one pass over memory, to be run as one stage.  A slot is a buffer that it reads
 * or writes.  A submission is all that one run asks of the GPU. */
#include "kernels/cuda/cublas.h"
#include "kernels/cuda/graph.h"
#include "kernels/cuda/measure.h"
#include "kernels/cuda/rates.h"
#include "kernels/cuda/kernel_run.h"
#include "kernels/cuda/strategy.h"
#include "kernels/cuda/loop_tree.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A program as this backend prepares it: a product, or kernels, or the reason why it has neither.
 */
typedef struct prepared {
    const rd_gpu_product *product;           /* NULL: it is no product for cuBLAS */
    const rd_gpu_code    *code;              /* its kernels; NULL: it has none */
    int32_t               shares;            /* GPUs that do it together */
    const char           *alone;             /* the reason if one GPU does it alone */
    char                  why[RD_CUDA_TEXT]; /* the reason if it has neither */
} prepared;

_Static_assert((int)RD_DEVICE_TEXT >= (int)RD_CUDA_TEXT, "sentences fit");

/* True if this process can use a GPU; the evaluator asks once whether the backend works here. */
static bool has_gpus(void)
{
    return rd_gpu_count(/*why=*/NULL) > 0;
}

/* Compiles a program once, before its runs: as a matrix product for cuBLAS if it is one, else as
 * kernels.  It also finds how many GPUs may share the kernels' work. p->code gets the result,
 * with a reason if the GPU cannot run the program.  False: no memory. */
static bool prepare(rd_program *p, rd_get_fn *get, void *pool)
{
    prepared *made = get(pool, sizeof *made);

    if (!made || !rd_gpu_product_prepare(p, get, pool, &made->product) ||
        (!made->product && !rd_gpu_prepare(p, p->device, get, pool, &made->code, made->why)))
        return false;
    made->shares = 1;
    made->alone  = "a library multiplies, on one GPU";
    if (made->code && p->devices > 1)
        made->shares = rd_gpu_share_count(made->code, &made->alone);
    p->code        = made;
    p->state_bytes = 0;
    return true;
}

/* Returns the reason why the GPU cannot run a prepared program, a part of a sentence; NULL: it
 * can. */
static const char *refuses(const rd_program *p)
{
    const prepared *made = p->code;

    return made->code || made->product ? NULL : made->why;
}

/* Adds a GPU's name, memory and compute capability, "NVIDIA H200, 139.8 GiB, compute capability
 * 9.0", or the error. */
static void describe_device(rd_text *text, int32_t device)
{
    char                why[RD_CUDA_TEXT];
    const rd_gpu *const gpu = rd_gpu_of(device, why);

    if (!gpu) {
        rd_text_add(text, "%s", why);
        return;
    }
    const rd_gpu_facts *facts = rd_gpu_facts_of(gpu);

    rd_text_add(text, "%s, %.1f GiB, compute capability %d.%d", facts->name,
                (double)facts->memory / 0x1p30, facts->architecture / 10, facts->architecture % 10);
}

/* Makes a queue of work on a GPU, in the caller's CUstream or, if that is NULL, in a new stream.
 * NULL: there is none; `why` has the reason; *full: for lack of memory. */
static rd_queue *open_queue(int32_t device, void *stream, bool *full, char *why)
{
    rd_gpu *gpu = rd_gpu_of(device, why);

    *full = false;
    return gpu ? rd_queue_new(gpu, stream, full, why) : NULL;
}

/* Takes memory of the queue's GPU; NULL: none, with the reason in `why`; *full: the GPU's memory
 * is full. */
static void *get_memory(rd_queue *queue, int64_t bytes, bool *full, char *why)
{
    return (void *)(uintptr_t)rd_gpu_get(rd_queue_gpu(queue), bytes, full, why);
}

/* Returns memory of the queue's GPU.  If runs that the host did not wait for may still use the
 * memory, it is freed when they have ended. */
static void put_memory(rd_queue *queue, void *at)
{
    rd_submissions_put(queue, (CUdeviceptr)(uintptr_t)at);
}

/* Returns memory that was taken by a queue which is closed by now, so that no work uses the
 * memory. */
static void put_late(int32_t device, void *at)
{
    char          ignored[RD_CUDA_TEXT];
    rd_gpu *const gpu = rd_gpu_of(device, ignored);

    if (gpu)
        rd_gpu_put(gpu, (CUdeviceptr)(uintptr_t)at);
}

/* Copies from the host to the GPU, in the order of the queue. */
static bool up(rd_queue *queue, void *to, const void *from, int64_t bytes, char *why)
{
    return rd_queue_up(queue, (CUdeviceptr)(uintptr_t)to, from, bytes, why);
}

/* Copies from the GPU to the host.  The bytes are there after the next wait for the queue. */
static bool down(rd_queue *queue, void *to, const void *from, int64_t bytes, char *why)
{
    return rd_queue_down(queue, to, (CUdeviceptr)(uintptr_t)from, bytes, why);
}

/* Copies within the GPU's memory, in the order of the queue. */
static bool across(rd_queue *queue, void *to, const void *from, int64_t bytes, char *why)
{
    return rd_queue_across(queue, (CUdeviceptr)(uintptr_t)to, (CUdeviceptr)(uintptr_t)from, bytes,
                           why);
}

/* Takes memory of the GPU that belongs to a run until the run has ended. */
static void *borrow(rd_submission *s, int64_t bytes, bool *full, char *why)
{
    return (void *)(uintptr_t)rd_submission_get(s, bytes, full, why);
}

/* Returns the bytes that may be had of the GPU's memory. The driver is asked only if `wanted` is
 * much; else it is all of the memory. */
static int64_t room(rd_queue *queue, int64_t wanted)
{
    return rd_gpu_room(rd_queue_gpu(queue), wanted);
}

/* True if the program can leave these slots (buffers) in the host's memory: blocks of them are
 * copied to windows on the GPU, and back. cuBLAS's products cannot. */
static bool may_be_windows(const rd_program *p, rd_queue *queue, const bool *slots)
{
    const prepared *made = p->code;

    return !made->product && rd_gpu_windows(made->code, queue, slots);
}

/* Enqueues one run of a prepared program, as a matrix product or by kernels. slot[]: addresses
 * of its buffers; host: the buffers that stay in the host's memory, or NULL. */
static bool run_program(const rd_program *p, rd_submission *s, void *const *slot,
                        const rd_device_host *host, rd_device_end *end, char *why)
{
    const prepared *made = p->code;

    return made->product ? rd_gpu_product_run(made->product, s, slot, end, why)
                         : rd_gpu_run(made->code, s, slot, host, end, why);
}

/* Returns how many launches of the program a CUDA graph (recording) would replace: 1, or 2 for
 * two or more. 0: it cannot be recorded, since cuBLAS launches, or since kernels report after
 * each run. Split loops (n_split) and block tiles (tile_loop; reductions along both axes) also
 * clear counters. */
static int32_t records(const rd_program *p)
{
    const prepared *const         made = p->code;
    const rd_cuda_strategy *const s    = made->code ? rd_gpu_code_strategy(made->code) : NULL;

    if (!s || s->reports)
        return 0;
    return s->n_split > 0 || s->tile_loop[0] >= 0 ? 2 : 1;
}

/* Begins to record a run's launches in a CUDA graph. */
static rd_recording *record(rd_queue *queue, rd_submission **s, char *why)
{
    return rd_recording_begin(rd_queue_gpu(queue), s, why);
}

/* Returns how many GPUs share a prepared program's work; *why: the reason if it is only one. */
static int32_t shares(const rd_program *p, const char **why)
{
    const prepared *made = p->code;

    *why = made->alone;
    return made->shares;
}

/* Runs a program's kernels on n GPUs, each with a queue, and waits for all. */
static bool run_partitioned(const rd_program *p, rd_queue *const *queue, int32_t n,
                            const rd_device_host *host, rd_task *report, rd_device_end *end,
                            char *why)
{
    return rd_gpu_run_partitioned(((const prepared *)p->code)->code, queue, n, host, report, end,
                                  why);
}

/* Adds how a prepared program runs, in words: as a product, by which execution strategy, or why
 * not at all. */
static void form_text(rd_text *text, const prepared *made)
{
    if (made->product)
        rd_gpu_product_text(text, made->product);
    else if (made->code)
        rd_gpu_code_text(text, made->code);
    else
        rd_text_add(text, "refused: %s", made->why);
}

/* Adds the lines that rd_explain() shows for each of n programs: its GPU, how it runs, its
 * tuning parameters; then how many kernel texts were compiled or found in the cache. */
static void tiers(rd_text *text, const rd_program *p, int32_t n)
{
    const rd_module_stats all = rd_module_stats_now();

    for (int32_t s = 0; s < n; s++) {
        const prepared *made = p[s].code;

        rd_text_add(text, "stage %" PRId32 " on cuda:%" PRId32 " (", s, p[s].device);
        describe_device(text, p[s].device);
        rd_text_add(text, "): ");
        form_text(text, made);
        rd_text_add(text, "\n");
        if (made->code) {
            rd_text_add(text, "choices of stage %" PRId32 ": ", s);
            rd_cuda_choice_text(text, rd_gpu_code_choice(made->code));
            rd_text_add(text, "\n");
        }
    }
    rd_text_add(text,
                "kernels: this process has compiled %" PRId64 " texts in %.0f ms, found %" PRId64
                " in the store, and failed at %" PRId64 "\n",
                all.compiled, all.seconds * 1e3, all.stored, all.failed);
}

/* Adds the loop tree (the loops and statements) from which the kernels were printed; code NULL:
 * the program has no kernels. */
static void loops_text(rd_text *text, const rd_gpu_code *code)
{
    if (code)
        rd_cuda_tree_text(text, rd_gpu_code_strategy(code));
    else
        rd_text_add(text, "no tree: it has no kernels\n");
}

/* Adds a text of a prepared program, as `what` asks: the text of its kernels, their loop tree,
 * or the line about its execution strategy. */
static void describe(rd_text *text, const rd_program *p, rd_description what, rd_get_fn *get,
                     void *pool)
{
    const prepared *made = p->code;

    (void)get;
    (void)pool;
    if (what == RD_DESCRIBE_CODE && made->code)
        rd_gpu_code_kernels(text, made->code);
    else if (what == RD_DESCRIBE_LOOPS)
        loops_text(text, made->code);
    else {
        form_text(text, made);
        rd_text_add(text, "\n");
    }
}

/* Measures which tuning parameters make a program's kernels fastest, by runs on its data.  A
 * product by cuBLAS has no parameters. */
static bool measure(const rd_program *p, rd_queue *queue, void *const *slot, rd_get_fn *get,
                    void *pool, rd_measured *found, char *why)
{
    if (!((const prepared *)p->code)->product)
        return rd_gpu_measure(p, queue, slot, get, pool, found, why);
    snprintf(why, RD_CUDA_TEXT, "a library computes it");
    return false;
}

/* True if matrix products have a library: cuBLAS could be loaded.  False: *why has the reason. */
static bool multiplies(const char **why)
{
    return rd_cublas_api(why);
}

static const rd_device_table device = {
    .count                = rd_gpu_count,
    .describe             = describe_device,
    .refuses              = refuses,
    .keeps_folds_together = rd_gpu_keeps_folds_together,
    .open                 = open_queue,
    .close                = rd_queue_free,
    .wait                 = rd_submissions_end,
    .get                  = get_memory,
    .put                  = put_memory,
    .put_late             = put_late,
    .up                   = up,
    .down                 = down,
    .across               = across,
    .synchronise          = rd_queue_wait,
    .room                 = room,
    .windows              = may_be_windows,
    .begin                = rd_submission_new,
    .borrow               = borrow,
    .run                  = run_program,
    .end                  = rd_submission_end,
    .detach               = rd_submission_leave,
    .records              = records,
    .record               = record,
    .recorded             = rd_recording_end,
    .replay               = rd_recording_replay,
    .forget               = rd_recording_drop,
    .count_equal          = rd_gpu_count_equal,
    .shares               = shares,
    .partition            = run_partitioned,

    .measure     = measure,
    .key         = rd_gpu_program_key,
    .rates       = rd_gpu_rates,
    .name_key    = rd_gpu_name_key,
    .tuning_text = rd_cuda_tuning_text,
    .tuning_read = rd_cuda_tuning_read,
};

const rd_backend_table rd_backend_cuda = {
    .name       = "cuda",
    .probe      = has_gpus,
    .prepare    = prepare,
    .tiers      = tiers,
    .describe   = describe,
    .multiplies = multiplies,
    .device     = &device,
};
