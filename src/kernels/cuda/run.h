/* run.h - a run of a program's kernels. */
#ifndef RD_KERNELS_CUDA_RUN_H
#define RD_KERNELS_CUDA_RUN_H
#include "kernels/cuda/call.h"
#include "kernels/cuda/gpu.h"
#include "kernels/cuda/shape.h"

typedef struct rd_gpu_run_state {
    const rd_cuda_shape  *shape;
    const rd_device_host *host; /* slots that come and go by windows; NULL: all are on the GPU */
    const rd_module      *module;
    rd_submission        *submission;
    rd_queue             *queue;
    rd_gpu               *gpu;
    int64_t               most_teams; /* at the same time                                     */
    char                 *call;       /* rd_call_head, slots, numbers                         */
    CUdeviceptr          *slot;       /* these slots                                          */
    CUdeviceptr           work, nodes, counters, items, record;
    bool                  full, cancelled;
    char                 *why;
} rd_gpu_run_state;

/* launch.c: work [first, end) of a kernel by its teams. */
bool rd_gpu_run_work(rd_gpu_run_state *r, const char *name, int64_t first, int64_t end);

/* windows.c: bytes of the windows of a block; all of a kernel's work, `run` (-1) or that of a cut
 * loop, block after block. */
int64_t rd_windows_budget(const rd_gpu_facts *gpu);
bool    rd_gpu_run_windows(rd_gpu_run_state *r, const char *name, int32_t cut);
#endif
