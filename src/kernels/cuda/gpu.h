/* gpu.h - a GPU of this process: its context, memory, streams, modules, and errors.
 *
 * All of it works from any thread.  A call that fails gives a sentence; after an error that the
 * driver reports for good (an illegal address, a failed launch) the GPU is dead for the process,
 * and all further calls give that sentence. */
#ifndef RD_KERNELS_CUDA_GPU_H
#define RD_KERNELS_CUDA_GPU_H
#include "kernels/cuda/api.h"
#include "kernels/cuda/kernel_choice.h"
#include "kernels/program.h"
#include <stdint.h>

typedef struct rd_gpu rd_gpu;

typedef struct rd_gpu_facts {
    char    name[128];
    int32_t number, architecture, multiprocessors; /* architecture 90: compute capability 9.0 */
    int64_t memory, most_threads;                  /* bytes; threads that run at the same time */
    int64_t shared;                                /* bytes that a block of threads can have */
} rd_gpu_facts;

/* ---- gpu.c ----------------------------------------------------------------------------------- */
/* How many there are; 0, and in `why` a sentence. */
int32_t rd_gpu_count(const char **why);
/* The k-th, its primary context retained; NULL, with a sentence. */
rd_gpu             *rd_gpu_of(int32_t k, char why[RD_CUDA_TEXT]);
const rd_gpu_facts *rd_gpu_facts_of(const rd_gpu *gpu);
/* Calls of the driver stand between these: the context is the thread's, and what was so before is
 * again.  False: it is dead, or the process has forked. */
bool rd_gpu_enter(rd_gpu *gpu, char why[RD_CUDA_TEXT]);
void rd_gpu_leave(rd_gpu *gpu);
/* True for success; else a sentence in `why`. */
bool rd_gpu_ok(rd_gpu *gpu, const char *function, CUresult result, char why[RD_CUDA_TEXT]);
#define RD_GPU_CALL(gpu, why, function, ...) \
    rd_gpu_ok(gpu, #function, rd_cuda_api(NULL)->function(__VA_ARGS__), why)
/* The same of what takes memory: where that is full, memory that is kept makes way, and it is
 * called once more.  *full: even so. */
#define RD_GPU_TAKE(gpu, full, why, function, ...)                                       \
    (rd_gpu_took(gpu, full, #function, rd_cuda_api(NULL)->function(__VA_ARGS__), why) || \
     (*(full) && (rd_gpu_trim(gpu), rd_gpu_took(gpu, full, #function,                    \
                                                rd_cuda_api(NULL)->function(__VA_ARGS__), why))))
bool rd_gpu_took(rd_gpu *gpu, bool *full, const char *function, CUresult result,
                 char why[RD_CUDA_TEXT]);

/* For tests that look for leaks: what the process holds of CUDA goes, once nobody uses it. */
void rd_gpu_close_all(void);

/* ---- device_memory.c -------------------------------------------------------------------------------- */
/* Memory of the GPU, at a multiple of 256; what is given back is kept for the next.  0: none, with
 * a sentence; *full: because it is full.  Nothing that was asked of the GPU may still use what is
 * given back. */
CUdeviceptr rd_gpu_get(rd_gpu *gpu, int64_t bytes, bool *full, char why[RD_CUDA_TEXT]);
void        rd_gpu_put(rd_gpu *gpu, CUdeviceptr at);
/* Bytes that may be had, where so many are wanted. */
int64_t rd_gpu_room(rd_gpu *gpu, int64_t wanted);
/* Bytes that are held, in use or kept; and all that is kept goes. */
int64_t rd_gpu_held(rd_gpu *gpu);
void    rd_gpu_trim(rd_gpu *gpu);

/* ---- queue.c: what is asked of a GPU, in order ----------------------------------------------- */
/* `stream`: the caller's CUstream; NULL: one of its own.  NULL: none, *full: for want of memory. */
rd_queue *rd_queue_new(rd_gpu *gpu, void *stream, bool *full, char why[RD_CUDA_TEXT]);
void      rd_queue_free(rd_queue *queue);
rd_gpu   *rd_queue_gpu(const rd_queue *queue);
CUstream  rd_queue_stream(const rd_queue *queue);
/* Where that is asked: see stream.h. */
struct rd_stream             *rd_queue_stream_object(const rd_queue *queue);
typedef struct rd_submissions rd_submissions;
rd_submissions               *rd_queue_submissions(rd_queue *queue);
typedef struct rd_blas_handle rd_blas_handle;
rd_blas_handle               *rd_queue_blas(rd_queue *queue); /* cublas.h */
/* Until all is done. */
bool rd_queue_wait(rd_queue *queue, char why[RD_CUDA_TEXT]);
/* Bytes, by way of pinned memory if they are many and there is some.  What comes down is there
 * after the next wait. */
bool rd_queue_up(rd_queue *queue, CUdeviceptr to, const void *from, int64_t bytes,
                 char why[RD_CUDA_TEXT]);
bool rd_queue_down(rd_queue *queue, void *to, CUdeviceptr from, int64_t bytes,
                   char why[RD_CUDA_TEXT]);
/* All bytes become 0. */
bool rd_queue_clear(rd_queue *queue, CUdeviceptr at, int64_t bytes, char why[RD_CUDA_TEXT]);
bool rd_queue_across(rd_queue *queue, CUdeviceptr to, CUdeviceptr from, int64_t bytes,
                     char why[RD_CUDA_TEXT]);

/* ---- submission.c: what a run asks of a GPU -------------------------------------------------- */
/* NULL: there is none, *full: for want of memory. */
rd_submission *rd_submission_new(rd_queue *queue, bool *full, char why[RD_CUDA_TEXT]);
rd_queue      *rd_submission_queue(const rd_submission *s);
/* Memory of the GPU until the run has ended; a record of what kernels report. */
CUdeviceptr rd_submission_get(rd_submission *s, int64_t bytes, bool *full, char why[RD_CUDA_TEXT]);
/* It is given back before that: nothing that was asked of the GPU may still use it. */
void        rd_submission_put(rd_submission *s, CUdeviceptr at);
int64_t     rd_submission_bytes(const rd_submission *s); /* all that it was given */
CUdeviceptr rd_submission_record(rd_submission *s, bool *full, char why[RD_CUDA_TEXT]);
/* Waits, and reports; or goes on by itself.  The submission is gone after either. */
bool rd_submission_end(rd_submission *s, rd_task *report, char why[RD_CUDA_TEXT]);
bool rd_submission_leave(rd_submission *s, rd_task *report, char why[RD_CUDA_TEXT]);

/* All that a queue has of them.  end(): those that are left are waited for, and report (NULL: at
 * the next time).  put(): memory that they may still use is given back. */
rd_submissions *rd_submissions_new(void);
void            rd_submissions_free(rd_submissions *all);
bool            rd_submissions_end(rd_queue *queue, rd_task *report, char why[RD_CUDA_TEXT]);
void            rd_submissions_put(rd_queue *queue, CUdeviceptr at);

/* ---- modules.c: texts made code -------------------------------------------------------------- */
typedef struct rd_module rd_module;

typedef struct rd_module_stats {
    int64_t compiled, stored,
        failed;     /* by NVRTC; found in the user's cache; texts that do not compile */
    double seconds; /* of NVRTC */
} rd_module_stats;

/* The module of a text for an architecture: kept by the process, found in the store, or compiled.
 * NULL, with a sentence. */
const rd_module *rd_module_of(const char *text, int32_t architecture, char why[RD_CUDA_TEXT]);
/* Its kernel of a name on a GPU, where it is loaded at the first call. */
bool rd_module_kernel(const rd_module *module, rd_gpu *gpu, const char *name, CUfunction *kernel,
                      char why[RD_CUDA_TEXT]);
rd_module_stats rd_module_stats_now(void);
/* All modules of a GPU go; part of rd_gpu_close_all(). */
void rd_modules_unload(rd_gpu *gpu);

/* ---- launch.c -------------------------------------------------------------------------------- */
/* What a program is on a GPU. */
typedef struct rd_gpu_code rd_gpu_code;

/* False: no memory; NULL in *code: it cannot run there, with a sentence. */
bool rd_gpu_prepare(const rd_program *p, int32_t device, rd_get_fn *get, void *pool,
                    const rd_gpu_code **code, char why[RD_CUDA_TEXT]);
/* A program that is not prepared: have its folds threads, in one stage? */
bool rd_gpu_suits(const rd_program *p, rd_get_fn *get, void *pool);
/* "strips: ..." */
void                  rd_gpu_code_text(rd_text *to, const rd_gpu_code *code);
const rd_cuda_choice *rd_gpu_code_choice(const rd_gpu_code *code);
/* Would they run the same kernels in the same way? */
bool rd_gpu_code_same(const rd_gpu_code *a, const rd_gpu_code *b);
/* The text of its kernels, without the prelude. */
void rd_gpu_code_kernels(rd_text *to, const rd_gpu_code *code);
/* Asks for a run on memory of the GPU, and by windows on this process's; can these slots be
 * there? */
bool rd_gpu_run(const rd_gpu_code *code, rd_submission *submission, void *const *slot,
                const rd_device_host *host, rd_device_end *end, char why[RD_CUDA_TEXT]);
bool rd_gpu_windows(const rd_gpu_code *code, rd_queue *queue, const bool *windowed);

/* ---- partition.c: a stage's work, dealt out to several GPUs that are alike ------------------------ */
/* So many of them, from this one on. */
int32_t rd_gpu_alike(int32_t first);
/* How many of a program's `devices` share its work, all its data being in this process's memory; where
 * it is one, *why has the reason, a part of a sentence. */
int32_t rd_gpu_share_count(const rd_gpu_code *code, const char **why);
/* All of it, by that many queues. */
bool rd_gpu_run_partitioned(const rd_gpu_code *code, rd_queue *const *queue, int32_t n,
                            const rd_device_host *host, rd_task *report, rd_device_end *end,
                            char why[RD_CUDA_TEXT]);
#endif
