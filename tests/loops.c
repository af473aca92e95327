/* loops.c - plans whose programs have loop trees. */
#include "loops.h"
#include "eval/plan.h"
#include "kernels/cpu/jit/tier.h"

rd_plan *loop_plan(rd_ctx *ctx, rd_exprs in, rd_results results)
{
    const rd_eval_opts opts = { .threads = 1, .deterministic = true };
    rd_plan           *plan;

    rd_tier_force("off");
    plan = rd_plan_make(ctx, in, results, &opts);
    rd_tier_force(NULL);
    return plan;
}

const rd_program *loop_program(const rd_plan *plan, int32_t k)
{
    return k < plan->n_stage ? &plan->program[k] : NULL;
}

bool loop_plan_holds(rd_ctx *ctx, const rd_plan *plan, loop_counts *counts, rd_text *report)
{
    bool holds = true;

    for (int32_t k = 0; k < plan->n_stage && holds; k++)
        holds = loop_program_holds(ctx, &plan->program[k], false, counts, report) &&
                loop_program_holds(ctx, &plan->program[k], true, counts, report);
    for (int32_t k = 0; plan->parts && k < plan->parts->n && holds; k++)
        if (plan->parts->part[k].plan)
            holds = loop_plan_holds(ctx, plan->parts->part[k].plan, counts, report);
    return holds;
}
