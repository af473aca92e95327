/* backend.c - which backend an evaluation uses. */
#include "eval/backend.h"
#include "expr/expr.h"

/* Where the data of an evaluation lie, as of rd_array; false: on several GPUs. */
static bool find_device(rd_ctx *ctx, rd_results results, int32_t *device)
{
    *device = 0;
    for (int k = 0; k < results.n; k++) {
        const rd_result *r = &results.at[k];

        if (r->expr)
            *device = rd_same_device(*device, r->expr->device);
        if (r->out)
            *device = rd_same_device(*device, r->out->device);
    }
    if (*device == RD_SEVERAL)
        rd_fail(ctx, RD_ERR_DEVICE, "%s: leaves or results lie on several GPUs", rd_call_name(ctx));
    return *device != RD_SEVERAL;
}

static bool use_cpu(rd_ctx *ctx, rd_backend_use *use, int32_t device)
{
    if (device)
        rd_fail(ctx, RD_ERR_DEVICE, "%s: backend CPU cannot read what lies on GPU %d",
                rd_call_name(ctx), (int)device - 1);
    use->must = true;
    return !device;
}

/* Of those that are like the first, as many as the context is to have. */
static int32_t devices_of(const rd_ctx *ctx)
{
    const int32_t most  = rd_ctx_devices(ctx);
    const int32_t alike = most > 1 ? rd_backend_cuda.device->alike(rd_ctx_device(ctx) - 1) : 1;

    return alike > most ? most : alike > 1 ? alike : 1;
}

bool rd_backend_for(rd_ctx *ctx, rd_results results, const rd_eval_opts *opts, rd_backend_use *use)
{
    int32_t device;

    *use = (rd_backend_use){ .backend = &rd_backend_cpu, .devices = 1 };
    if (!find_device(ctx, results, &device))
        return false;
    if (opts->backend == RD_BACKEND_CPU)
        return use_cpu(ctx, use, device);
    use->must = device || opts->backend == RD_BACKEND_CUDA;
    if (!use->must && !rd_ctx_prefers_cuda(ctx)) {
        use->why = "nothing lies on a GPU";
        return true;
    }
    if (rd_backend_cuda.device->count(&use->why) == 0) {
        if (use->must)
            rd_fail(ctx, RD_ERR_DEVICE, "%s: no CUDA: %s", rd_call_name(ctx), use->why);
        return !use->must;
    }
    use->backend = &rd_backend_cuda;
    use->device  = (device ? device : rd_ctx_device(ctx)) - 1;
    use->devices = device ? 1 : devices_of(ctx);
    return true;
}

bool rd_backend_forgive(rd_ctx *ctx)
{
    if (rd_error(ctx) == RD_ERR_DEVICE || rd_error(ctx) == RD_ERR_MEMORY)
        rd_error_forgive(ctx);
    return rd_error(ctx) == RD_OK;
}

/* A GPU has threads where the CPU has panels and rows side by side.  What several share is not taken
 * by patches, which would need both axes' nodes joined. */
void rd_backend_adapt(const rd_backend_use *use, rd_choice *choice)
{
    if (!use->backend->device)
        return;
    choice->traversal = RD_TRAVERSE_LAZY;
    choice->device    = true;
    choice->cross     = use->devices == 1;
}
