/* overlap.c - see overlap.h. */
#include "kernels/cuda/overlap.h"
#include <stdlib.h>

static bool make_events(rd_flow *flow, rd_gpu *gpu, bool *full, char why[RD_CUDA_TEXT])
{
    bool made = true;

    if (!rd_gpu_enter(gpu, why))
        return false;
    for (int k = 0; made && k < RD_SETS; k++)
        made =
            RD_GPU_TAKE(gpu, full, why, cuEventCreate, &flow->filled[k], CU_EVENT_DISABLE_TIMING) &&
            RD_GPU_TAKE(gpu, full, why, cuEventCreate, &flow->worked[k], CU_EVENT_DISABLE_TIMING);
    rd_gpu_leave(gpu);
    return made;
}

rd_flow *rd_flow_new(rd_gpu *gpu, bool *full, char why[RD_CUDA_TEXT])
{
    rd_flow *flow = calloc(1, sizeof *flow);

    *full = !flow;
    if (!flow) {
        rd_cuda_error("cuStreamCreate", CUDA_ERROR_OUT_OF_MEMORY, why);
        return NULL;
    }
    flow->up   = rd_lane_new(gpu, NULL, full, why);
    flow->down = flow->up ? rd_lane_new(gpu, NULL, full, why) : NULL;
    if (flow->down && make_events(flow, gpu, full, why))
        return flow;
    rd_flow_free(flow);
    return NULL;
}

static void free_events(const rd_flow *flow)
{
    rd_gpu *const gpu = rd_lane_gpu(flow->up);
    char          ignored[RD_CUDA_TEXT];

    if (!rd_gpu_enter(gpu, ignored))
        return;
    for (int k = 0; k < RD_SETS; k++) {
        if (flow->filled[k])
            (void)RD_GPU_CALL(gpu, ignored, cuEventDestroy_v2, flow->filled[k]);
        if (flow->worked[k])
            (void)RD_GPU_CALL(gpu, ignored, cuEventDestroy_v2, flow->worked[k]);
    }
    rd_gpu_leave(gpu);
}

void rd_flow_free(rd_flow *flow)
{
    if (!flow)
        return;
    if (flow->up)
        free_events(flow);
    rd_lane_free(flow->up);
    rd_lane_free(flow->down);
    free(flow);
}
