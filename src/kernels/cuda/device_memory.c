/* device_memory.c - a caching allocator for a GPU's memory.  An allocation by the driver waits
 * for all running work, and costs as much as a small kernel. */
#include "kernels/cuda/gpu.h"
#include <pthread.h>
#include <stdlib.h>

enum { LEAST = 512 }; /* bytes of the smallest allocation */

/* A block of memory, used or cached. */
typedef struct memory_block {
    struct memory_block *next; /* in the list of all blocks */
    const rd_gpu        *gpu;
    CUdeviceptr          at; /* address on the GPU */
    int64_t              bytes;
    bool                 used; /* false: cached */
} memory_block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static memory_block   *blocks; /* all blocks of all GPUs, used and cached; guarded by `lock` */

/* Rounds up to a power of two, or to 5, 6 or 7 eighths of it, so that a cached block serves
 * later requests of about the same size. `eighths` counts these. */
static int64_t rounded(int64_t bytes)
{
    int64_t power = LEAST;

    while (power < bytes && power < INT64_MAX / 2)
        power *= 2;
    if (power == LEAST)
        return power;
    for (int64_t eighths = 5; eighths < 8; eighths++)
        if (power / 8 * eighths >= bytes)
            return power / 8 * eighths;
    return power;
}

/* Returns a cached block of the GPU's memory that has at least `wanted` and at most `room`
 * bytes; NULL: none. The upper limit keeps small requests from taking large blocks. */
static memory_block *find(const rd_gpu *gpu, int64_t wanted, int64_t room)
{
    for (memory_block *b = blocks; b; b = b->next)
        if (b->gpu == gpu && !b->used && b->bytes >= wanted && b->bytes <= room)
            return b;
    return NULL;
}

/* Frees all cached blocks of a GPU's memory. The caller holds the lock and has made the GPU's
 * context current. */
static void trim(rd_gpu *gpu)
{
    char ignored[RD_CUDA_TEXT];

    for (memory_block **at = &blocks; *at;) {
        memory_block *const b = *at;

        if (b->gpu != gpu || b->used) {
            at = &b->next;
            continue;
        }
        *at = b->next;
        (void)RD_GPU_CALL(gpu, ignored, cuMemFree_v2, b->at);
        free(b);
    }
}

/* True if the driver says that the GPU's memory is full. */
static bool is_full(CUresult result)
{
    return result == CUDA_ERROR_OUT_OF_MEMORY;
}

/* Allocates `bytes` by the driver, and adds the block to the list.  If memory is full, it frees
 * all cached blocks and tries again; then it tries `wanted`, the size without rounding.  The
 * caller holds the lock.  Returns 0 on failure. */
static CUdeviceptr allocate(rd_gpu *gpu, int64_t bytes, int64_t wanted, bool *full,
                            char why[RD_CUDA_TEXT])
{
    const rd_cuda *cuda = rd_cuda_api(/*why=*/NULL);
    memory_block  *b    = calloc(1, sizeof *b);
    CUresult       result;

    if (!b) {
        *full = true;
        rd_cuda_error("cuMemAlloc_v2", CUDA_ERROR_OUT_OF_MEMORY, why);
        return 0;
    }
    result = cuda->cuMemAlloc_v2(&b->at, (size_t)bytes);
    if (is_full(result)) {
        trim(gpu);
        result = cuda->cuMemAlloc_v2(&b->at, (size_t)bytes);
    }
    if (is_full(result)) {
        bytes  = wanted;
        result = cuda->cuMemAlloc_v2(&b->at, (size_t)bytes);
    }
    if (!rd_gpu_ok(gpu, "cuMemAlloc_v2", result, why)) {
        *full = is_full(result);
        free(b);
        return 0;
    }
    b->gpu   = gpu;
    b->bytes = bytes;
    b->used  = true;
    b->next  = blocks;
    blocks   = b;
    return b->at;
}

/* Takes at least `bytes` of the GPU's memory: a cached block of that size or up to the next
 * rounded size (`room`), or a new allocation. Returns 0 on failure, with a reason in `why`;
 * *full: memory is full. */
CUdeviceptr rd_gpu_get(rd_gpu *gpu, int64_t bytes, bool *full, char why[RD_CUDA_TEXT])
{
    const int64_t room = rounded(bytes), wanted = bytes > LEAST ? bytes : LEAST;
    CUdeviceptr   at = 0;
    memory_block *kept;

    *full = false;
    pthread_mutex_lock(&lock);
    kept = find(gpu, wanted, room);
    if (kept) {
        kept->used = true;
        at         = kept->at;
    } else if (rd_gpu_enter(gpu, why)) {
        at = allocate(gpu, room, wanted, full, why);
        rd_gpu_leave(gpu);
    }
    pthread_mutex_unlock(&lock);
    return at;
}

/* Marks the block at an address as unused: it stays in the cache for later requests.  No work
 * may still use it. */
void rd_gpu_put(rd_gpu *gpu, CUdeviceptr at)
{
    pthread_mutex_lock(&lock);
    for (memory_block *b = blocks; b; b = b->next)
        if (b->gpu == gpu && b->at == at)
            b->used = false;
    pthread_mutex_unlock(&lock);
}

/* Returns the bytes that this process holds on a GPU, in use or cached. */
int64_t rd_gpu_held(rd_gpu *gpu)
{
    int64_t bytes = 0;

    pthread_mutex_lock(&lock);
    for (const memory_block *b = blocks; b; b = b->next)
        bytes += b->gpu == gpu ? b->bytes : 0;
    pthread_mutex_unlock(&lock);
    return bytes;
}

/* Returns the bytes that may be had on the GPU: what the driver calls free, and cached blocks.
 * It asks the driver only if `wanted` is at least 1/8 of the memory, as the question costs as
 * much as a kernel. */
int64_t rd_gpu_room(rd_gpu *gpu, int64_t wanted)
{
    enum { LITTLE = 8 };
    const int64_t memory     = rd_gpu_facts_of(gpu)->memory;
    size_t        free_bytes = 0, all;
    int64_t       kept       = 0;
    char          ignored[RD_CUDA_TEXT];

    if (wanted < memory / LITTLE || !rd_gpu_enter(gpu, ignored))
        return memory;
    if (!RD_GPU_CALL(gpu, ignored, cuMemGetInfo_v2, &free_bytes, &all))
        free_bytes = (size_t)memory;
    rd_gpu_leave(gpu);
    pthread_mutex_lock(&lock);
    for (const memory_block *b = blocks; b; b = b->next)
        kept += b->gpu == gpu && !b->used ? b->bytes : 0;
    pthread_mutex_unlock(&lock);
    return (int64_t)free_bytes + kept;
}

/* Frees all cached blocks of a GPU's memory: those that this process holds and does not use. */
void rd_gpu_trim(rd_gpu *gpu)
{
    char ignored[RD_CUDA_TEXT];

    pthread_mutex_lock(&lock);
    if (rd_gpu_enter(gpu, ignored)) {
        trim(gpu);
        rd_gpu_leave(gpu);
    }
    pthread_mutex_unlock(&lock);
}
