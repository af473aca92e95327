/* backend_choice.c - chooses the backend of an evaluation. */
#include "eval/backend_choice.h"
#include "core/backends.h"
#include "expr/expr.h"

/* Finds the one device where all leaves and results lie (0: host memory, else 1 + its number);
 * false after recording that they lie on several GPUs. rd_same_device() gives the device of
 * both, RD_SEVERAL for two GPUs. */
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

/* Takes a backend that was asked for and reads host memory only. False after recording an error if
 * data lie on a device. */
static bool use_here(rd_ctx *ctx, rd_backend_use *use, int32_t device, rd_backend backend)
{
    if (device)
        rd_fail(ctx, RD_ERR_DEVICE, "%s: backend %s cannot read what lies on GPU %d",
                rd_call_name(ctx), rd_backend_title(backend), (int)device - 1);
    use->must = true;
    return !device;
}

/* The number of devices that share the work: those equal to the context's device, at most as many
 * as it allows. */
static int32_t devices_of(const rd_ctx *ctx, const rd_device_table *device)
{
    const int32_t most = rd_ctx_devices(ctx);
    const int32_t alike =
        most > 1 && device->count_equal ? device->count_equal(rd_ctx_device(ctx) - 1) : 1;

    return alike > most ? most : alike > 1 ? alike : 1;
}

/* The backends by number. */
static const rd_backend_table *const tables[RD_N_BACKENDS] = {
#define RD_BACKEND(NAME, name, title) [RD_BACKEND_##NAME] = &rd_backend_##name,
#include "core/backends.def"
};

/* Chooses the backend: a GPU if data lie there, else the one asked for, or what the context
 * prefers. If it has no device (count 0), that is an error where it must be used; else the CPU is
 * used. Clauses, in order:
 * - AUTO without a device that the context prefers takes the CPU
 * - a backend without devices, or one that cannot read CUDA's memory where data lie, reads host
 *   memory only (use_here())
 * - `must`: data lie on a device, or the backend was asked for, so that no other will do
 * - of data on a device, that device alone does the work
 * False: an error is recorded. */
bool rd_backend_for(rd_ctx *ctx, rd_results results, const rd_eval_opts *opts, rd_backend_use *use)
{
    const rd_device_table *table;
    int32_t                device;
    rd_backend             named;

    *use = (rd_backend_use){ .backend = &rd_backend_cpu, .devices = 1, .named = RD_BACKEND_CUDA };
    if (!find_device(ctx, results, &device))
        return false;
    named = opts->backend ? opts->backend : device ? RD_BACKEND_CUDA : rd_ctx_prefers(ctx);
    table = tables[named] ? tables[named]->device : NULL;
    if (!table && opts->backend == RD_BACKEND_AUTO) {
        use->why = "nothing lies on a GPU";
        return true;
    }
    if (!table || (device && named != RD_BACKEND_CUDA))
        return use_here(ctx, use, device, named);
    use->named = named;
    use->must  = device || opts->backend;
    if (table->count(&use->why) == 0) {
        if (use->must)
            rd_fail(ctx, RD_ERR_DEVICE, "%s: no %s: %s", rd_call_name(ctx), rd_backend_title(named),
                    use->why);
        return !use->must;
    }
    use->backend = tables[named];
    use->device  = (device ? device : rd_ctx_device(ctx)) - 1;
    use->devices = device ? 1 : devices_of(ctx, table);
    return true;
}

/* Forgets errors of a GPU or its memory, because AUTO then uses this processor.  False: another
 * error stands. */
bool rd_backend_forgive(rd_ctx *ctx)
{
    if (rd_error(ctx) == RD_ERR_DEVICE || rd_error(ctx) == RD_ERR_MEMORY)
        rd_error_forgive(ctx);
    return rd_error(ctx) == RD_OK;
}

/* Adapts the options of planning to a device: no panels, as GPU threads replace loops over them.
 * cross: reductions along both axes of an array may share loops, in one read by block tiles. Not
 * on several devices, where partial results of both axes would have to be combined. */
void rd_backend_adapt(const rd_backend_use *use, rd_choice *choice)
{
    if (!use->backend->device)
        return;
    choice->traversal       = RD_TRAVERSE_LAZY;
    choice->device          = use->backend;
    choice->shares_crossing = use->devices == 1 && use->backend->device->keeps_folds_together;
}
