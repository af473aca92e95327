/* overlap.c - see overlap.h. */
#include "kernels/cuda/overlap.h"
#include <stdlib.h>

/* Creates the events of both sets of windows (GPU memory for the data of one block of work):
 * `filled` is behind the copies to a set, `worked` behind the kernel that works on it. *full:
 * memory was short. */
static bool make_events(rd_overlap *overlap, rd_gpu *gpu, bool *full, char why[RD_CUDA_TEXT])
{
    bool made = true;

    if (!rd_gpu_enter(gpu, why))
        return false;
    for (int k = 0; made && k < RD_WINDOW_SETS; k++)
        made = RD_GPU_TAKE(gpu, full, why, cuEventCreate, &overlap->filled[k],
                           CU_EVENT_DISABLE_TIMING) &&
               RD_GPU_TAKE(gpu, full, why, cuEventCreate, &overlap->worked[k],
                           CU_EVENT_DISABLE_TIMING);
    rd_gpu_leave(gpu);
    return made;
}

/* Makes a stream for copies to the GPU, one for copies from it, and the events between these and
 * kernels.  NULL on failure; *full: for lack of memory. */
rd_overlap *rd_overlap_new(rd_gpu *gpu, bool *full, char why[RD_CUDA_TEXT])
{
    rd_overlap *overlap = calloc(1, sizeof *overlap);

    *full = !overlap;
    if (!overlap) {
        rd_cuda_error("cuStreamCreate", CUDA_ERROR_OUT_OF_MEMORY, why);
        return NULL;
    }
    overlap->up   = rd_stream_new(gpu, /*handle=*/NULL, full, why);
    overlap->down = overlap->up ? rd_stream_new(gpu, /*handle=*/NULL, full, why) : NULL;
    if (overlap->down && make_events(overlap, gpu, full, why))
        return overlap;
    rd_overlap_free(overlap);
    return NULL;
}

/* Destroys the events that exist: making them may have failed half-way. */
static void free_events(const rd_overlap *overlap)
{
    rd_gpu *const gpu = rd_stream_gpu(overlap->up);
    char          ignored[RD_CUDA_TEXT];

    if (!rd_gpu_enter(gpu, ignored))
        return;
    for (int k = 0; k < RD_WINDOW_SETS; k++) {
        if (overlap->filled[k])
            (void)RD_GPU_CALL(gpu, ignored, cuEventDestroy_v2, overlap->filled[k]);
        if (overlap->worked[k])
            (void)RD_GPU_CALL(gpu, ignored, cuEventDestroy_v2, overlap->worked[k]);
    }
    rd_gpu_leave(gpu);
}

/* Frees the streams and events.  No work may be left in them.  NULL is allowed. */
void rd_overlap_free(rd_overlap *overlap)
{
    if (!overlap)
        return;
    if (overlap->up)
        free_events(overlap);
    rd_stream_free(overlap->up);
    rd_stream_free(overlap->down);
    free(overlap);
}
