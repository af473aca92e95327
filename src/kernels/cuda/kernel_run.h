/* kernel_run.h - a run of a program's kernels: its state, and its steps. */
#ifndef RD_KERNELS_CUDA_KERNEL_RUN_H
#define RD_KERNELS_CUDA_KERNEL_RUN_H
#include "kernels/cuda/work_blocks.h"
#include "kernels/cuda/kernel_call.h"
#include "kernels/cuda/gpu.h"

/* The state of one run. */
typedef struct rd_gpu_run_state {
    const rd_cuda_strategy *strategy;
    const rd_device_host   *host; /* its slots come by windows; NULL: all slots are on the GPU */
    const rd_module        *module;
    rd_submission          *submission;
    rd_queue               *queue;
    rd_gpu                 *gpu;
    int64_t                 most_teams; /* teams at the same time              */
    char                   *call;       /* the kernels' argument: rd_call_head, slots, numbers */
    CUdeviceptr            *slot;       /* the slots in `call`                 */
    CUdeviceptr             work, nodes, counters, items, record; /* as in rd_call_head */
    bool                    full, cancelled; /* memory was short; the host cancelled the run */
    char                   *why;             /* the reason of a failure */
} rd_gpu_run_state;

enum { RD_MOST_SHARES = 64 }; /* GPUs of one run */

/* ---- launch.c -------------------------------------------------------------------------------- */
/* Takes memory and fills the call of the kernels.  rd_gpu_run_end() may also end a run whose
 * begin failed. */
bool rd_gpu_run_begin(rd_gpu_run_state *r, const rd_gpu_code *code, rd_submission *submission,
                      void *const *slot, const rd_device_host *host, char why[RD_CUDA_TEXT]);
void rd_gpu_run_end(rd_gpu_run_state *r, rd_device_end *end);
/* Launches a kernel for work [first, end). */
bool rd_gpu_run_work(rd_gpu_run_state *r, const char *name, int64_t first, int64_t end);
/* Sets the counters of arrived teams and blocks to 0. */
bool                    rd_gpu_run_clear(rd_gpu_run_state *r);
int64_t                 rd_gpu_node_bytes(const rd_cuda_strategy *s);
int64_t                 rd_gpu_counter_bytes(const rd_cuda_strategy *s);
const rd_cuda_strategy *rd_gpu_code_strategy(const rd_gpu_code *code);
/* Slots of a program, without scratch. */
int32_t rd_gpu_slots(const rd_cuda_strategy *s);

/* ---- windows.c ------------------------------------------------------------------------------- */
/* Bytes that the windows of a block may take together. */
int64_t rd_windows_budget(const rd_gpu_facts *gpu);
/* Runs the work of a kernel block by block, through windows. */
bool rd_gpu_run_windows(rd_gpu_run_state *r, const char *name, const rd_cuda_blocks *blocks);

/* ---- combine_devices.c ----------------------------------------------------------------------- */
/* The ranges [first, end) of split loops that one GPU has done.  rd_partials_gather() brings the
 * partials of all n GPUs to the first one; rd_partials_broadcast() copies the first one's to all.
 * Both return the run that failed, which has the reason, or NULL. */
typedef struct rd_device_ranges {
    rd_gpu_run_state *run;
    int64_t           first, end;
} rd_device_ranges;
rd_gpu_run_state *rd_partials_gather(const rd_device_ranges *by, int32_t n);
rd_gpu_run_state *rd_partials_broadcast(const rd_device_ranges *by, int32_t n);
#endif
