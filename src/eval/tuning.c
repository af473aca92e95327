/* tuning.c - finds the tuning numbers of a device's kernels: from the environment, else measured
 * ones, else the device's rule. */
#include "eval/tuning.h"
#include "core/environment.h"
#include "expr/expr.h"
#include <stdlib.h>

/* The measurement of a program's key; NULL: there is none. */
const rd_found *rd_tuned(rd_ctx *ctx, const rd_program *p)
{
    const rd_findings *all   = rd_findings_of(ctx);
    const rd_found    *found = all ? rd_findings_get(all, p->key) : NULL;

    return found && found->stage ? found : NULL;
}

/* Sets tuning numbers that the environment left at 0 to the measured ones of the program's key, if
 * it was measured. */
static void take_measured(rd_ctx *ctx, rd_program *p)
{
    const rd_found *found = rd_tuned(ctx, p);

    for (int k = 0; found && k < RD_MOST_TUNING; k++)
        if (!p->tuning.at[k])
            p->tuning.at[k] = found->of.tuning.at[k];
}

/* Sets the tuning numbers of a program's kernels before it is prepared: those of RDIM_CUDA_TUNING,
 * then measured ones; 0 means the device's rule. False after recording an error in the variable.
 * Programs with equal keys share measurements. */
bool rd_tune(rd_ctx *ctx, const rd_backend_table *backend, rd_program *p)
{
    const char *asked = rd_environment(RD_ENV_RDIM_CUDA_TUNING);
    char        why[RD_DEVICE_TEXT];

    if (!backend->device->tuning_read) /* the backend has no such numbers */
        return true;
    if (!backend->device->tuning_read(asked ? asked : "", &p->tuning, why)) {
        rd_fail(ctx, RD_ERR_ARGUMENT, "RDIM_CUDA_TUNING: %s", why);
        return false;
    }
    p->key = backend->device->key(p);
    take_measured(ctx, p);
    return true;
}

/* ---- Measuring ------------------------------------------------------------------------------- */
/* True if the plan, or a plan in it, runs on a device. */
bool rd_plan_uses_device(const rd_plan *plan)
{
    bool any = plan->backend->device;

    for (int32_t k = 0; plan->parts && k < plan->parts->n; k++)
        any |= rd_plan_uses_device(plan->parts->part[k].plan);
    return any;
}

/* Makes runs of a plan, or of its parts, measure stages on a device that have no measurement yet.
 * False: there are none. rd_tuned() is what was found for a stage, NULL: nothing. */
bool rd_plan_start_measuring(rd_plan *plan)
{
    bool any = false;

    for (int32_t k = 0; plan->parts && k < plan->parts->n; k++)
        any |= rd_plan_start_measuring(plan->parts->part[k].plan);
    for (int k = 0; plan->backend->device && plan->backend->device->measure && k < plan->n_stage;
         k++)
        plan->measures |= !rd_tuned(plan->ctx, &plan->program[k]);
    return any || plan->measures;
}

/* Keeps the measurement of a stage in the context; 0 seconds: the stage could not be measured. */
void rd_tuning_found(rd_ctx *ctx, const rd_program *p, const rd_measured *of)
{
    rd_findings   *all   = rd_findings_of(ctx);
    const rd_found found = { .key = p->key, .stage = true, .of = *of };

    if (all)
        (void)rd_findings_put(ctx, all, &found);
}
