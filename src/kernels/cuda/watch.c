/* watch.c - see watch.h. */
#include "kernels/cuda/watch.h"

/* Creates the two events of a timer.  False: `why` has the reason, and none is left. */
bool rd_gpu_watch_make(rd_gpu_watch *watch, rd_queue *queue, char why[RD_CUDA_TEXT])
{
    rd_gpu *const gpu = rd_queue_gpu(queue);
    bool          full, made = false;

    *watch = (rd_gpu_watch){ .queue = queue };
    if (!rd_gpu_enter(gpu, why))
        return false;
    if (RD_GPU_TAKE(gpu, &full, why, cuEventCreate, &watch->begun, CU_EVENT_DEFAULT)) {
        made = RD_GPU_TAKE(gpu, &full, why, cuEventCreate, &watch->ended, CU_EVENT_DEFAULT);
        if (!made)
            (void)rd_cuda_api(/*why=*/NULL)->cuEventDestroy_v2(watch->begun);
    }
    rd_gpu_leave(gpu);
    return made;
}

/* Destroys the events of a timer. */
void rd_gpu_watch_drop(rd_gpu_watch *watch)
{
    rd_gpu *const gpu = rd_queue_gpu(watch->queue);
    char          ignored[RD_CUDA_TEXT];

    if (!rd_gpu_enter(gpu, ignored))
        return;
    (void)RD_GPU_CALL(gpu, ignored, cuEventDestroy_v2, watch->begun);
    (void)RD_GPU_CALL(gpu, ignored, cuEventDestroy_v2, watch->ended);
    rd_gpu_leave(gpu);
}

/* Records an event in the queue's stream. */
static bool record(rd_gpu_watch *watch, CUevent event, char why[RD_CUDA_TEXT])
{
    rd_gpu *const gpu = rd_queue_gpu(watch->queue);
    bool          done;

    if (!rd_gpu_enter(gpu, why))
        return false;
    done = RD_GPU_CALL(gpu, why, cuEventRecord, event, rd_queue_stream(watch->queue));
    rd_gpu_leave(gpu);
    return done;
}

/* Begins the timed work in the queue. */
bool rd_gpu_watch_start(rd_gpu_watch *watch, char why[RD_CUDA_TEXT])
{
    return record(watch, watch->begun, why);
}

/* Ends the timed work in the queue. */
bool rd_gpu_watch_stop(rd_gpu_watch *watch, char why[RD_CUDA_TEXT])
{
    return record(watch, watch->ended, why);
}

/* Returns in *seconds the time between both events, which must have been reached.  False: `why`
 * has the reason. */
bool rd_gpu_watch_read(rd_gpu_watch *watch, double *seconds, char why[RD_CUDA_TEXT])
{
    rd_gpu *const gpu          = rd_queue_gpu(watch->queue);
    float         milliseconds = 0;
    bool          done;

    if (!rd_gpu_enter(gpu, why))
        return false;
    done = RD_GPU_CALL(gpu, why, cuEventElapsedTime, &milliseconds, watch->begun, watch->ended);
    rd_gpu_leave(gpu);
    *seconds = (double)milliseconds * 1e-3;
    return done;
}
