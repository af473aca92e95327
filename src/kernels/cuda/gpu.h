/* gpu.h - a GPU of this process: its context, memory, queues, modules, and errors.
 *
 * All functions work from any thread.  A call that fails gives a sentence.  After an error that
 * the driver reports for good (an illegal address, a failed launch) the GPU is dead for the
 * process, and all further calls give that sentence. */
#ifndef RD_KERNELS_CUDA_GPU_H
#define RD_KERNELS_CUDA_GPU_H
#include "kernels/cuda/api.h"
#include "kernels/cuda/kernel_choice.h"
#include "kernels/program.h"
#include <stdint.h>

typedef struct rd_gpu rd_gpu;

/* The facts of a GPU, as its driver gives them. */
typedef struct rd_gpu_facts {
    char    name[128];
    int32_t number, architecture, multiprocessors; /* architecture 90: compute capability 9.0 */
    int64_t memory, most_threads;                  /* bytes; threads that run at the same time */
    int64_t shared; /* bytes of shared memory that a block of threads can have */
} rd_gpu_facts;

/* ---- gpu.c ----------------------------------------------------------------------------------- */
/* The number of GPUs; 0: none, and `why` has a sentence. */
int32_t rd_gpu_count(const char **why);
/* GPU k, with its primary context retained; NULL, with a sentence. */
rd_gpu             *rd_gpu_of(int32_t k, char why[RD_CUDA_TEXT]);
const rd_gpu_facts *rd_gpu_facts_of(const rd_gpu *gpu);
/* enter() makes the context current in this thread, for calls of the driver; leave() restores the
 * context before.  False: the GPU is dead, or the process has forked. */
bool rd_gpu_enter(rd_gpu *gpu, char why[RD_CUDA_TEXT]);
void rd_gpu_leave(rd_gpu *gpu);
/* True for success; else `why` has a sentence. */
bool rd_gpu_ok(rd_gpu *gpu, const char *function, CUresult result, char why[RD_CUDA_TEXT]);
#define RD_GPU_CALL(gpu, why, function, ...) \
    rd_gpu_ok(gpu, #function, rd_cuda_api(NULL)->function(__VA_ARGS__), why)
/* The same for a call that takes memory.  If memory is full, cached blocks are freed, and the
 * call is repeated.  *full: that did not help. */
#define RD_GPU_TAKE(gpu, full, why, function, ...)                                       \
    (rd_gpu_took(gpu, full, #function, rd_cuda_api(NULL)->function(__VA_ARGS__), why) || \
     (*(full) && (rd_gpu_trim(gpu), rd_gpu_took(gpu, full, #function,                    \
                                                rd_cuda_api(NULL)->function(__VA_ARGS__), why))))
bool rd_gpu_took(rd_gpu *gpu, bool *full, const char *function, CUresult result,
                 char why[RD_CUDA_TEXT]);

/* Frees all that the process holds of CUDA, for tests that look for leaks.  No work may be left. */
void rd_gpu_close_all(void);

/* ---- device_memory.c ------------------------------------------------------------------------- */
/* Takes memory of the GPU, at a multiple of 256.  put() returns memory to a cache; no work may
 * still use it.  get() returns 0 on failure, with a sentence; *full: memory is full. */
CUdeviceptr rd_gpu_get(rd_gpu *gpu, int64_t bytes, bool *full, char why[RD_CUDA_TEXT]);
void        rd_gpu_put(rd_gpu *gpu, CUdeviceptr at);
/* Bytes that may be had, if so many are wanted. */
int64_t rd_gpu_room(rd_gpu *gpu, int64_t wanted);
/* held(): bytes in use or cached.  trim(): frees all cached blocks. */
int64_t rd_gpu_held(rd_gpu *gpu);
void    rd_gpu_trim(rd_gpu *gpu);

/* ---- queue.c: work for a GPU, in order ------------------------------------------------------- */
/* Makes a queue in the caller's CUstream; NULL: in a new one.  Returns NULL on failure; *full:
 * for lack of memory. */
rd_queue *rd_queue_new(rd_gpu *gpu, void *stream, bool *full, char why[RD_CUDA_TEXT]);
void      rd_queue_free(rd_queue *queue);
rd_gpu   *rd_queue_gpu(const rd_queue *queue);
CUstream  rd_queue_stream(const rd_queue *queue);
/* The stream of the queue, see stream.h. */
struct rd_stream             *rd_queue_stream_object(const rd_queue *queue);
typedef struct rd_submissions rd_submissions;
rd_submissions               *rd_queue_submissions(rd_queue *queue);
typedef struct rd_blas_handle rd_blas_handle;
rd_blas_handle               *rd_queue_blas(rd_queue *queue); /* cublas.h */
/* Waits until all work of the queue is done. */
bool rd_queue_wait(rd_queue *queue, char why[RD_CUDA_TEXT]);
/* Copies bytes, large blocks by way of pinned memory.  Bytes that come down are there after the
 * next wait. */
bool rd_queue_up(rd_queue *queue, CUdeviceptr to, const void *from, int64_t bytes,
                 char why[RD_CUDA_TEXT]);
bool rd_queue_down(rd_queue *queue, void *to, CUdeviceptr from, int64_t bytes,
                   char why[RD_CUDA_TEXT]);
/* Sets bytes to 0. */
bool rd_queue_clear(rd_queue *queue, CUdeviceptr at, int64_t bytes, char why[RD_CUDA_TEXT]);
bool rd_queue_across(rd_queue *queue, CUdeviceptr to, CUdeviceptr from, int64_t bytes,
                     char why[RD_CUDA_TEXT]);

/* ---- submission.c: a run's use of a GPU ------------------------------------------------------ */
/* NULL: there is none; *full: for lack of memory. */
rd_submission *rd_submission_new(rd_queue *queue, bool *full, char why[RD_CUDA_TEXT]);
rd_queue      *rd_submission_queue(const rd_submission *s);
/* get(): memory of the GPU until the run has ended.  record(): such memory for the reports of
 * kernels. */
CUdeviceptr rd_submission_get(rd_submission *s, int64_t bytes, bool *full, char why[RD_CUDA_TEXT]);
/* Returns memory before the run ends; no work may still use it. */
void        rd_submission_put(rd_submission *s, CUdeviceptr at);
int64_t     rd_submission_bytes(const rd_submission *s); /* all that it was given */
CUdeviceptr rd_submission_record(rd_submission *s, bool *full, char why[RD_CUDA_TEXT]);
/* end() waits, and reports; leave() lets the run continue by itself.  Either frees the
 * submission. */
bool rd_submission_end(rd_submission *s, rd_task *report, char why[RD_CUDA_TEXT]);
bool rd_submission_leave(rd_submission *s, rd_task *report, char why[RD_CUDA_TEXT]);

/* The runs of a queue that were left.  end() waits for them, and reports (NULL: the next end()
 * does). put() returns memory that they may still use. */
rd_submissions *rd_submissions_new(void);
void            rd_submissions_free(rd_submissions *all);
bool            rd_submissions_end(rd_queue *queue, rd_task *report, char why[RD_CUDA_TEXT]);
void            rd_submissions_put(rd_queue *queue, CUdeviceptr at);

/* ---- modules.c: compiled texts --------------------------------------------------------------- */
typedef struct rd_module rd_module;

/* Counts of this process since its start. */
typedef struct rd_module_stats {
    int64_t compiled, stored,
        failed;     /* by NVRTC; found in the user's cache; texts that do not compile */
    double seconds; /* spent in NVRTC */
} rd_module_stats;

/* The module of a text for an architecture: of this process, from the store, or compiled.  NULL,
 * with a sentence. */
const rd_module *rd_module_of(const char *text, int32_t architecture, char why[RD_CUDA_TEXT]);
/* Finds the kernel of a name on a GPU; the first call loads the module there. */
bool rd_module_kernel(const rd_module *module, rd_gpu *gpu, const char *name, CUfunction *kernel,
                      char why[RD_CUDA_TEXT]);
rd_module_stats rd_module_stats_now(void);
/* Unloads all modules of a GPU; a part of rd_gpu_close_all(). */
void rd_modules_unload(rd_gpu *gpu);

/* ---- launch.c -------------------------------------------------------------------------------- */
/* The kernels of a program. */
typedef struct rd_gpu_code rd_gpu_code;

/* False: no memory.  NULL in *code: the GPU cannot run the program, and `why` has a sentence. */
bool rd_gpu_prepare(const rd_program *p, int32_t device, rd_get_fn *get, void *pool,
                    const rd_gpu_code **code, char why[RD_CUDA_TEXT]);
/* True if, in one stage, all folds of the program have threads.  The program need not be
 * prepared. */
bool rd_gpu_keeps_folds_together(const rd_program *p, rd_get_fn *get, void *pool);
/* Adds the line about the strategy: "strips: ..." */
void                  rd_gpu_code_text(rd_text *to, const rd_gpu_code *code);
const rd_cuda_choice *rd_gpu_code_choice(const rd_gpu_code *code);
/* True if both would run the same kernels in the same way. */
bool rd_gpu_code_same(const rd_gpu_code *a, const rd_gpu_code *b);
/* Adds the text of the kernels, without the prelude. */
void rd_gpu_code_kernels(rd_text *to, const rd_gpu_code *code);
/* run() enqueues a run, on memory of the GPU and, by windows, on this process's memory.
 * windows(): true if these slots can come by windows. */
bool rd_gpu_run(const rd_gpu_code *code, rd_submission *submission, void *const *slot,
                const rd_device_host *host, rd_device_end *end, char why[RD_CUDA_TEXT]);
bool rd_gpu_windows(const rd_gpu_code *code, rd_queue *queue, const bool *windowed);

/* ---- partition.c: a stage's work on several equal GPUs --------------------------------------- */
/* The number of equal GPUs, from this one on. */
int32_t rd_gpu_count_equal(int32_t first);
/* The number of a program's `devices` that share its work, if all data are in this process's
 * memory.  If it is 1, *why has the reason, a part of a sentence. */
int32_t rd_gpu_share_count(const rd_gpu_code *code, const char **why);
/* Runs all of it, by that many queues. */
bool rd_gpu_run_partitioned(const rd_gpu_code *code, rd_queue *const *queue, int32_t n,
                            const rd_device_host *host, rd_task *report, rd_device_end *end,
                            char why[RD_CUDA_TEXT]);
#endif
