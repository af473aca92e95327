/* cublas.c - calls of cuBLAS.
 *
 * A queue has a handle, in its stream, with a workspace of ours.  With cuBLAS's own workspace,
 * bits may differ from run to run if several streams work (cuBLAS's manual, "Results
 * reproducibility").  All calls of a queue share the workspace, as they follow each other. */
#include "kernels/cuda/cublas.h"
#include <pthread.h>
#include <stdlib.h>

/* The handle of cuBLAS that a queue has. */
struct rd_blas_handle {
    pthread_mutex_t lock;   /* held by the thread that calls cuBLAS */
    cublasHandle_t  handle; /* NULL until the first product */
    CUdeviceptr     workspace;
};

/* Allocates a queue's cuBLAS handle with its lock, without a call of cuBLAS, which the first
 * product opens.  Returns NULL without memory. */
rd_blas_handle *rd_blas_handle_new(void)
{
    rd_blas_handle *h = calloc(1, sizeof *h);

    if (h && pthread_mutex_init(&h->lock, NULL) != 0) {
        free(h);
        h = NULL;
    }
    return h;
}

/* ---- Errors ---------------------------------------------------------------------------------- */
/* Checks the status of a cuBLAS call: true for success; else `why` gets the error, and *full
 * says whether memory was short. */
static bool is_ok(const char *function, cublasStatus_t status, bool *full, char why[RD_CUDA_TEXT])
{
    *full = status == CUBLAS_STATUS_ALLOC_FAILED;
    if (status != CUBLAS_STATUS_SUCCESS)
        rd_cublas_error(function, status, why);
    return status == CUBLAS_STATUS_SUCCESS;
}

#define CALL(full, why, function, ...) \
    is_ok(#function, rd_cublas_api(NULL)->function(__VA_ARGS__), full, why)
/* A call that takes memory: if memory is full, cached blocks are freed, and the call is repeated.
 */
#define TAKE(gpu, full, why, function, ...)    \
    (CALL(full, why, function, __VA_ARGS__) || \
     (*(full) && (rd_gpu_trim(gpu), CALL(full, why, function, __VA_ARGS__))))

/* ---- The handle ------------------------------------------------------------------------------ */
/* Destroys the cuBLAS handle and returns its workspace to the GPU's allocator. gpu NULL: the GPU
 * cannot be used any more, so nothing is called. */
static void close_handle(rd_blas_handle *h, rd_gpu *gpu)
{
    if (!gpu)
        return;
    if (h->handle)
        (void)rd_cublas_api(/*why=*/NULL)->cublasDestroy_v2(h->handle);
    if (h->workspace)
        rd_gpu_put(gpu, h->workspace);
    h->handle    = NULL;
    h->workspace = 0;
}

/* Destroys a queue's cuBLAS handle, its lock and its memory. gpu NULL: only the host's memory is
 * freed. */
void rd_blas_handle_free(rd_blas_handle *h, rd_gpu *gpu)
{
    if (!h)
        return;
    close_handle(h, gpu);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

/* Returns the bytes of the workspace: what cuBLAS's manual recommends for the architecture
 * ("cublasSetWorkspace"), 32 MiB from Hopper on, else 4 MiB; but at most 1/64 of the GPU's
 * memory. */
static int64_t workspace_bytes(const rd_gpu_facts *gpu)
{
    enum { HOPPER = 90, LARGE = 32 << 20, USUAL = 4 << 20, PART = 64 };
    const int64_t most = gpu->architecture >= HOPPER ? LARGE : USUAL;

    return gpu->memory / PART < most ? gpu->memory / PART : most;
}

/* Takes the workspace and creates the cuBLAS handle.  The stream is set before the workspace, as
 * setting it resets the workspace. */
static bool open_handle(rd_queue *queue, rd_blas_handle *h, bool *full, char why[RD_CUDA_TEXT])
{
    rd_gpu *const gpu   = rd_queue_gpu(queue);
    const int64_t bytes = workspace_bytes(rd_gpu_facts_of(gpu));

    h->workspace = rd_gpu_get(gpu, bytes, full, why);
    return h->workspace && TAKE(gpu, full, why, cublasCreate_v2, &h->handle) &&
           CALL(full, why, cublasSetStream_v2, h->handle, rd_queue_stream(queue)) &&
           CALL(full, why, cublasSetWorkspace_v2, h->handle, (void *)(uintptr_t)h->workspace,
                (size_t)bytes);
}

/* Opens the cuBLAS handle unless it is open: the queue's first product does that.  False: `why`
 * has the reason, and all is closed again. */
static bool ensure_handle(rd_queue *queue, rd_blas_handle *h, bool *full, char why[RD_CUDA_TEXT])
{
    if (h->handle)
        return true;
    if (open_handle(queue, h, full, why))
        return true;
    close_handle(h, rd_queue_gpu(queue));
    return false;
}

/* ---- Calls ----------------------------------------------------------------------------------- */
static const float  one32 = 1, zero32 = 0;
static const double one64 = 1, zero64 = 0;

/* How elements of a type are multiplied and added: never less exactly than in the type, so f32
 * not by TF32. */
typedef struct arithmetic {
    cudaDataType        type;       /* of the elements */
    cublasComputeType_t compute;    /* of products and sums */
    const void         *one, *zero; /* the factors alpha and beta of a GEMM, in that type */
} arithmetic;

/* Returns the types of elements and of arithmetic for cuBLAS, and the addresses of 1 and 0 in
 * that type: f32 or f64. */
static arithmetic arithmetic_of(rd_dtype type)
{
    return type == RD_F32 ? (arithmetic){ CUDA_R_32F, CUBLAS_COMPUTE_32F, &one32, &zero32 }
                          : (arithmetic){ CUDA_R_64F, CUBLAS_COMPUTE_64F, &one64, &zero64 };
}

/* Calls cuBLAS for one product or a batch of equal ones. cuBLAS has column-major matrices.  To
 * it, rows of c are columns of c^T = b^T a^T, so a and b change places.  `to` is the factor
 * beta: 1 adds to c, 0 overwrites it. */
static bool multiply(rd_gpu *gpu, cublasHandle_t handle, const rd_gemms *s, bool *full,
                     char why[RD_CUDA_TEXT])
{
    const rd_gemm          *g = &s->first;
    const arithmetic        t = arithmetic_of(g->type);
    const cublasOperation_t a = g->a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                            b = g->b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    const void *const to      = g->add ? t.one : t.zero;

    if (s->count == 1)
        return TAKE(gpu, full, why, cublasGemmEx, handle, b, a, g->n, g->m, g->k, t.one, g->b,
                    t.type, g->lead_b, g->a, t.type, g->lead_a, to, g->c, t.type, g->lead_c,
                    t.compute, CUBLAS_GEMM_DEFAULT);
    return TAKE(gpu, full, why, cublasGemmStridedBatchedEx, handle, b, a, g->n, g->m, g->k, t.one,
                g->b, t.type, g->lead_b, s->step[RD_B], g->a, t.type, g->lead_a, s->step[RD_A], to,
                g->c, t.type, g->lead_c, s->step[RD_C], s->count, t.compute, CUBLAS_GEMM_DEFAULT);
}

/* Enqueues a batch of matrix products in the queue's stream.  A lock lets one thread at a time
 * use the queue's cuBLAS handle.  False: `why` has the reason; *full: memory was short. */
bool rd_cublas_run(rd_queue *queue, const rd_gemms *g, bool *full, char why[RD_CUDA_TEXT])
{
    rd_gpu *const         gpu  = rd_queue_gpu(queue);
    rd_blas_handle *const h    = rd_queue_blas(queue);
    bool                  done = false;

    *full = false;
    if (!rd_gpu_enter(gpu, why))
        return false;
    pthread_mutex_lock(&h->lock);
    done = ensure_handle(queue, h, full, why) && multiply(gpu, h->handle, g, full, why);
    pthread_mutex_unlock(&h->lock);
    rd_gpu_leave(gpu);
    return done;
}
