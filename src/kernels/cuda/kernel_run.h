/* kernel_run.h - a run of a program's kernels. */
#ifndef RD_KERNELS_CUDA_KERNEL_RUN_H
#define RD_KERNELS_CUDA_KERNEL_RUN_H
#include "kernels/cuda/work_blocks.h"
#include "kernels/cuda/kernel_call.h"
#include "kernels/cuda/gpu.h"

typedef struct rd_gpu_run_state {
    const rd_cuda_strategy *strategy;
    const rd_device_host   *host; /* slots that come and go by windows; NULL: all are on the GPU */
    const rd_module        *module;
    rd_submission          *submission;
    rd_queue               *queue;
    rd_gpu                 *gpu;
    int64_t                 most_teams; /* at the same time                                     */
    char                   *call;       /* rd_call_head, slots, numbers                         */
    CUdeviceptr            *slot;       /* these slots                                          */
    CUdeviceptr             work, nodes, counters, items, record;
    bool                    full, cancelled;
    char                   *why;
} rd_gpu_run_state;

enum { RD_MOST_SHARES = 64 }; /* GPUs of one run */

/* ---- launch.c -------------------------------------------------------------------------------- */
/* All that kernels are called with, and its end; a run that has not begun may be ended. */
bool rd_gpu_run_begin(rd_gpu_run_state *r, const rd_gpu_code *code, rd_submission *submission,
                      void *const *slot, const rd_device_host *host, char why[RD_CUDA_TEXT]);
void rd_gpu_run_end(rd_gpu_run_state *r, rd_device_end *end);
/* Work [first, end) of a kernel by its teams. */
bool rd_gpu_run_work(rd_gpu_run_state *r, const char *name, int64_t first, int64_t end);
/* Counters of those who come are 0. */
bool                    rd_gpu_run_clear(rd_gpu_run_state *r);
int64_t                 rd_gpu_node_bytes(const rd_cuda_strategy *s);
int64_t                 rd_gpu_counter_bytes(const rd_cuda_strategy *s);
const rd_cuda_strategy *rd_gpu_code_strategy(const rd_gpu_code *code);
/* Of a program, but for scratch. */
int32_t rd_gpu_slots(const rd_cuda_strategy *s);

/* ---- windows.c ------------------------------------------------------------------------------- */
/* Bytes of the windows of a block. */
int64_t rd_windows_budget(const rd_gpu_facts *gpu);
/* Work of a kernel, block after block. */
bool rd_gpu_run_windows(rd_gpu_run_state *r, const char *name, const rd_cuda_blocks *blocks);

/* ---- combine_devices.c --------------------------------------------------------------------------------- */
/* Ranges [first, end) of split loops that a GPU has done.  gather(): what all of n have left of them
 * is on the first one; spread(): what that has is on all.  The run that fails, which says why, or
 * NULL. */
typedef struct rd_device_ranges {
    rd_gpu_run_state *run;
    int64_t           first, end;
} rd_device_ranges;
rd_gpu_run_state *rd_partials_gather(const rd_device_ranges *by, int32_t n);
rd_gpu_run_state *rd_partials_broadcast(const rd_device_ranges *by, int32_t n);
#endif
