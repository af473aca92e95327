/* plan.c - the pipeline from requested results to a plan.
 *
 * A nest is a tree of loops with its stages; a program is a stage as a backend sees it.  A slot
 * is a piece of memory that programs address.  `given` expressions are in memory already.
 *
 * Words. A brief plan is one for first runs, without compiled loops. */
#include "eval/debug.h"
#include "core/float_env.h"
#include "core/environment.h"
#include "eval/forms.h"
#include "eval/cache/plan_blocks.h"
#include "eval/complex_pairs.h"
#include "eval/request.h"
#include "eval/run/recorded.h"
#include "eval/run/frame.h"
#include "eval/run/trace.h"
#include "eval/run/watch.h"
#include "eval/auto.h"
#include "eval/backend_choice.h"
#include "core/backends.h"
#include "eval/tuning.h"
#include "expr/complex.h"
#include "expr/lists.h"
#include <stdlib.h>
#include <string.h>

/* Fills in missing evaluation options with 0 and the context's settings, and checks values. opts:
 * NULL, or of an older release with a smaller structure, as its `size` says. False after recording
 * what is out of range. Bytes beyond the caller's size stay 0. */
bool rd_eval_options(rd_ctx *ctx, const rd_eval_opts *opts, rd_eval_opts *full)
{
    size_t size = !opts                                          ? 0
                  : opts->size == 0 || opts->size > sizeof *full ? sizeof *full
                                                                 : opts->size;

    *full = (rd_eval_opts){ 0 };
    if (opts)
        memcpy(full, opts, size);
    full->measure |= rd_ctx_measures(ctx);
    full->deterministic |= rd_ctx_deterministic(ctx);
    if ((unsigned)full->traversal > RD_TRAVERSE_LAZY || (unsigned)full->backend >= RD_N_BACKENDS ||
        full->threads < 0 || (unsigned)full->accuracy > RD_ACCURACY_FAST) {
        rd_fail(ctx, RD_ERR_ARGUMENT,
                "%s: rd_eval_opts has traversal %d, backend %d, threads %d, accuracy %d: one is "
                "out of range",
                rd_call_name(ctx), (int)full->traversal, (int)full->backend, (int)full->threads,
                (int)full->accuracy);
        return false;
    }
    return true;
}

/* Runs the stages of planning in order, from the expressions to the nest (loops of all stages);
 * NULL once one has failed. Passes that fix bits (combine trees, types, rewrites) come before the
 * device is set, so that bits do not depend on it. exact: no library may compute
 * (deterministic). device: NULL: this processor. apart: reductions that want different loops
 * share none. */
rd_nest *rd_pipeline(rd_ctx *ctx, rd_pool *pool, int n, const rd_request *request,
                     const rd_given *given, const rd_eval_opts *opts, const rd_choice *choice)
{
    rd_graph *graph;
    rd_tree  *tree;
    rd_nest  *nest;

    if (!rd_debug_is_known(ctx))
        return NULL;
    graph = rd_collect(ctx, pool, n, request, given); /* values over shared loop axes */
    if (graph)
        graph->exact = opts->deterministic;
    if (!graph || !rd_combine_trees(graph) || !rd_narrow_arrays(graph) || !rd_rewrite(graph))
        return NULL;
    rd_merge_axes(graph);
    graph->device          = choice->device;
    graph->shares_crossing = choice->shares_crossing;
    graph->fast            = choice->device && opts->accuracy == RD_ACCURACY_FAST;
    if (!rd_read_rows_in_memory(graph) || !rd_take_rows_in_strips(graph) ||
        (!graph->exact && !rd_separate_products(graph)))
        return NULL;
    if (choice->separate_loops && !rd_assign_sides(graph))
        return NULL;
    if (!graph->device && !rd_pack_operands(graph)) /* GPU threads are no vectors */
        return NULL;
    rd_debug_graph(graph);
    tree = rd_place(graph); /* which values share which loops */
    if (!tree)
        return NULL;
    rd_debug_tree(tree);
    nest = rd_order(tree, choice); /* panels and tasks */
    if (nest)
        rd_debug_nest(nest);
    return nest;
}

/* Zeroed memory of a pool, in the form that the backend asks for. */
static void *plan_memory(void *pool, size_t bytes)
{
    return rd_pool_get(pool, bytes);
}

/* ---- Inputs ---------------------------------------------------------------------------------- */
/* True if all inputs are named leaves of this context; else records the error. */
static bool check_inputs(rd_ctx *ctx, rd_exprs in)
{
    if (!rd_list_ok(ctx, "rd_plan_new", "inputs", in.at, in.n, 0))
        return false;
    for (int k = 0; k < in.n; k++)
        if (!in.at[k] || in.at[k]->kind != RD_EXPR_LEAF || !in.at[k]->as.leaf->name ||
            in.at[k]->ctx != ctx) {
            rd_fail(ctx, RD_ERR_ARGUMENT,
                    "rd_plan_new: input %d is not an rd_input() of this context", k);
            return false;
        }
    return true;
}

/* Finds the slot that each input of the plan fills; -1: no program reads it. False: no memory. */
static bool bind_inputs(rd_plan *plan, const rd_graph *g, rd_exprs in)
{
    plan->n_in    = in.n;
    plan->in_slot = rd_pool_get(plan->pool, (size_t)(in.n + 1) * sizeof *plan->in_slot);
    if (!plan->in_slot)
        return false;
    for (int k = 0; k < in.n; k++) {
        plan->in_slot[k] = -1;
        for (int s = 0; s < g->n_slot; s++)
            if (g->slot[s].expr == in.at[k] &&
                (g->slot[s].kind == RD_SLOT_INPUT || g->slot[s].kind == RD_SLOT_LEAF))
                plan->in_slot[k] = s;
    }
    return true;
}

/* True if every input (a leaf without memory) that is read is among the plan's inputs; else
 * records the error. in_slot[k] is the slot of input k. */
static bool check_bound(const rd_plan *plan, const rd_graph *g)
{
    for (int s = 0; s < g->n_slot; s++) {
        bool bound = g->slot[s].kind != RD_SLOT_INPUT;

        for (int k = 0; k < plan->n_in; k++)
            bound |= plan->in_slot[k] == s;
        if (!bound) {
            rd_fail(plan->ctx, RD_ERR_ARGUMENT,
                    "%s: input \"%s\" has no memory; name it among the inputs of rd_plan_new()",
                    rd_call_name(plan->ctx), g->slot[s].name);
            return false;
        }
    }
    return true;
}

/* Replaces a text by a copy in the plan's memory; NULL stays.  False: no memory. */
static bool copy_text(rd_plan *plan, const char **text)
{
    const size_t n = *text ? strlen(*text) : 0;

    return !*text || (*text = rd_pool_grow(plan->pool, *text, n, n + 1, 1));
}

/* Copies the texts of users' functions into the plan's memory: they live in the context's, which
 * the plan may outlive. False: no memory. */
static bool copy_texts(rd_plan *plan)
{
    for (int s = 0; s < plan->n_stage; s++)
        for (int k = 0; k < plan->program[s].n_call; k++) {
            rd_call *call = &plan->program[s].call[k];

            if (!copy_text(plan, &call->name) || !copy_text(plan, &call->names) ||
                !copy_text(plan, &call->body))
                return false;
        }
    return true;
}

/* True in the strict mode (RDIM_STRICT), which fails rather than run slowly. */
static bool is_strict(void)
{
    const char *asked = rd_environment(RD_ENV_RDIM_STRICT);

    return asked && *asked && strcmp(asked, "0") != 0;
}

/* Prepares all programs with the backend, and computes steps (parts of long runs) and sizes of run
 * memory. False if that fails, or the backend refuses one (plan->refused says why). `brief`
 * programs have no compiled loops for their first runs. A step of 0 means that a stage runs
 * without steps. The pool of the plan owns what is prepared. */
static bool prepare_programs(rd_plan *plan, const rd_choice *choice)
{
    const bool brief = choice->brief && !plan->backend->device && !rd_debug_wants_prepared() &&
                       !is_strict(); /* strict mode must know the final form */

    for (int s = 0; s < plan->n_stage; s++) {
        rd_program *p = &plan->program[s];

        p->tile    = choice->tile;
        p->device  = plan->device;
        p->devices = plan->devices;
        p->brief   = brief;
        p->step = rd_watch_every(p, RD_STEP_WORK); /* backends may ask whether it runs in steps */
        if (plan->backend->device && !rd_tune(plan->ctx, plan->backend, p))
            return false;
        if (!plan->backend->prepare(p, plan_memory, plan->pool))
            return false;
        if (plan->backend->device && (plan->refused = plan->backend->device->refuses(p)))
            return false;
        p->step   = rd_watch_every(p, RD_STEP_WORK); /* the backend may have changed the root */
        p->uneven = rd_program_is_uneven(p);
        plan->steps |= p->step > 0;
        plan->brief |= p->brief;
    }
    return rd_frame_measure(plan);
}

/* Fills in a plan by running all stages of planning. shift: by input, how many elements it is
 * moved from its leaf; NULL: none is. *too_much: a limit was exceeded, so that the expressions
 * need several plans. False on failure. The plan's pool owns programs, slots and outputs; `work`
 * holds what only planning needs. In the strict mode a stage that runs element by element is a
 * failure. */
static bool fill_plan(rd_plan *plan, rd_pool *work, rd_exprs in, const int64_t *shift,
                      rd_results results, const rd_eval_opts *opts, const rd_choice *choice,
                      const rd_given *given, const rd_backend_use *use, bool *too_much)
{
    rd_request *request = rd_pool_get(work, (size_t)results.n * sizeof *request);
    rd_nest    *nest;

    plan->n_out = results.n;
    plan->out   = rd_pool_get(plan->pool, (size_t)results.n * sizeof *plan->out);
    if (!request || !plan->out ||
        !rd_check_results(plan->ctx, rd_call_name(plan->ctx), results, request, plan->out))
        return false;
    nest = rd_nest_on(use, plan->ctx, work, results.n, request, given, opts, choice);
    if (!nest || !(plan->program = rd_lower(nest, plan->pool))) {
        *too_much = rd_error(plan->ctx) == RD_ERR_LIMIT;
        return false;
    }
    plan->n_stage = nest->n_stage;
    rd_debug_programs(plan->n_stage, plan->program);
    if (!bind_inputs(plan, nest->tree->graph, in) || !check_bound(plan, nest->tree->graph) ||
        !rd_plan_slots(plan, work, nest->tree->graph) ||
        (shift && !rd_plan_move(plan, work, in.n, shift)))
        return false;
    if (!copy_texts(plan) || !prepare_programs(plan, choice))
        return false;
    if (is_strict() && !plan->backend->device &&
        !rd_check_fast(plan->ctx, plan->backend, plan->n_stage, plan->program, work))
        return false;
    rd_debug_prepared(plan->backend, plan->n_stage, plan->program, plan_memory, work);
    return true;
}

/* Frees a plan and all that it owns: the plan for runs in which a device fails (instead), the one
 * with compiled loops that replaces a brief one (grown), and the plans of its parts. */
void rd_plan_drop(rd_plan *plan)
{
    rd_ctx *ctx = plan->ctx;

    rd_plan *grown = atomic_load_explicit(&plan->grown, memory_order_relaxed);

    if (plan->instead)
        rd_plan_drop(plan->instead);
    rd_plan_blocks_end(plan);
    if (grown)
        rd_plan_drop(grown);
    rd_parts_drop(plan);
    rd_recordings_drop(plan);
    rd_frame_drop(plan);
    rd_pool_free(plan->pool);
    rd_free(ctx, plan);
}

/* Frees a plan when its context ends. */
static void drop(rd_owned *self)
{
    rd_plan_drop((rd_plan *)self);
}

/* Bytes that a plan holds, with its parts and the plan for runs in which a device fails. */
int64_t rd_plan_bytes(const rd_plan *plan)
{
    return (int64_t)sizeof *plan + rd_pool_bytes(plan->pool) + rd_parts_bytes(plan->parts) +
           (plan->instead ? rd_plan_bytes(plan->instead) : 0);
}

/* True if RDIM_CUDA_GRAPHS asks for recordings of runs on a device. */
static bool records_by_default(void)
{
    const char *text = rd_environment(RD_ENV_RDIM_CUDA_GRAPHS);

    return text && strcmp(text, "1") == 0;
}

/* Makes a plan without programs, with the options of an evaluation. owned.drop is how the
 * context frees it; rd_plan_drop() frees it earlier. NULL: no memory. */
rd_plan *rd_plan_empty(rd_ctx *ctx, const rd_eval_opts *opts, const rd_choice *choice)
{
    rd_plan *plan = rd_alloc(ctx, sizeof *plan);

    if (!plan)
        return NULL;
    plan->ctx        = ctx;
    plan->pool       = rd_pool_new(ctx);
    plan->backend    = &rd_backend_cpu;
    plan->devices    = 1;
    plan->traced     = rd_debug_wants_trace();
    plan->records    = records_by_default();
    plan->threads    = choice->one_thread ? 1 : opts->threads;
    plan->async      = opts->async;
    plan->progress   = (rd_progress){ .tell = opts->progress, .user = opts->user };
    plan->owned.drop = drop;
    plan->frames     = &plan->frame;
    if (plan->pool)
        return plan;
    rd_plan_drop(plan);
    return NULL;
}

/* Makes a plan for the backend that options and data call for; NULL on failure. *refused: the
 * backend cannot run it, which is an error only if no other may. *too_much: the expressions need
 * several plans. `use` says which backend and devices, and whether no other will do (must). A
 * refused plan is freed. */
static rd_plan *plan_on(rd_ctx *ctx, rd_pool *work, rd_exprs in, const int64_t *shift,
                        rd_results results, const rd_eval_opts *opts, const rd_choice *choice,
                        const rd_given *given, bool *too_much, bool *refused)
{
    rd_plan       *plan  = rd_plan_empty(ctx, opts, choice);
    rd_choice      order = *choice;
    rd_backend_use use   = { 0 };

    *too_much = *refused = false;
    if (plan && rd_backend_for(ctx, results, opts, &use)) {
        plan->backend = use.backend;
        plan->device  = use.device;
        plan->devices = use.devices;
        rd_backend_adapt(&use, &order);
        if (fill_plan(plan, work, in, shift, results, opts, &order, given, &use, too_much))
            return plan;
    }
    *refused = plan && plan->refused && rd_error(ctx) == RD_OK;
    if (*refused && use.must)
        rd_fail(ctx, RD_ERR_DEVICE, "%s: %s", rd_call_name(ctx), plan->refused);
    if (plan)
        rd_plan_drop(plan);
    return NULL;
}

/* True if by measured rates a GPU would be faster than the plan, which is for this processor. */
static bool is_faster_on_gpu(const rd_plan *plan)
{
    const rd_rates *rates = plan->backend->device ? NULL : rd_rates_of(plan->ctx);

    return rates &&
           rd_auto_verdict(rates, plan->n_stage, plan->program, plan->n_slot, plan->slot).takes &&
           rd_rates_are_of(plan->ctx, rates);
}

/* Makes the plan on a GPU in place of `plan`, with equal bits, as it uses no library. The old plan
 * stays for runs in which the GPU fails, or is returned if the GPU cannot run it. NULL on another
 * failure. other->instead owns the old plan from then on. After another failure the old plan is
 * freed. Errors of a GPU or its memory are forgiven. */
static rd_plan *plan_on_gpu(rd_plan *plan, rd_pool *work, rd_exprs in, const int64_t *shift,
                            rd_results results, const rd_eval_opts *opts, const rd_choice *choice,
                            const rd_given *given)
{
    rd_ctx *const ctx   = plan->ctx;
    rd_eval_opts  there = *opts;
    bool          too_much, refused;
    rd_plan      *other;

    there.backend       = RD_BACKEND_CUDA;
    there.deterministic = true;
    other = plan_on(ctx, work, in, shift, results, &there, choice, given, &too_much, &refused);
    if (other) {
        other->instead = plan;
        return other;
    }
    if (rd_backend_forgive(ctx))
        return plan;
    rd_plan_drop(plan);
    return NULL;
}

/* Makes a single plan on the best backend: the chosen one; a GPU, if AUTO finds it faster; this
 * processor, if a device that need not be used refuses the plan (refused, without an error).
 * plan_on() has then freed the refused plan.
 * shift: by input, how many elements its address in a run is moved from its leaf, or NULL.
 * given: what other plans have computed into memory.  choice: traversal and sizes to plan by.
 * `work` is the pool of planning, NULL if there was no memory for it.
 * The caller owns the plan.  NULL on failure; *too_much: it needs several plans. */
rd_plan *rd_plan_whole(rd_ctx *ctx, rd_pool *work, rd_exprs in, const int64_t *shift,
                       rd_results results, const rd_eval_opts *opts, const rd_choice *choice,
                       const rd_given *given, bool *too_much)
{
    rd_eval_opts on_cpu = *opts;
    bool         refused;
    rd_plan     *plan;

    *too_much = false;
    if (!work)
        return NULL;
    plan = plan_on(ctx, work, in, shift, results, opts, choice, given, too_much, &refused);
    if (plan && opts->backend == RD_BACKEND_AUTO && is_faster_on_gpu(plan))
        return plan_on_gpu(plan, work, in, shift, results, opts, choice, given);
    if (plan || !refused || rd_error(ctx) != RD_OK)
        return plan;
    on_cpu.backend = RD_BACKEND_CPU;
    return plan_on(ctx, work, in, shift, results, &on_cpu, choice, given, too_much, &refused);
}

/* Makes a plan, in parts (several plans) if it is too large for one, and writes a trace event.
 * Plans of parts are never brief: they have compiled loops at once. NULL after recording the
 * failure. numbers: inputs that are constants, whose values are in memory. The caller frees the
 * plan by rd_plan_drop(). Without the trace file that was asked for, there is no plan. */
static rd_plan *plan_movable(rd_ctx *ctx, rd_pool *work, rd_exprs in, rd_exprs numbers,
                             const int64_t *shift, rd_results results, const rd_eval_opts *opts,
                             const rd_choice *choice)
{
    const rd_given     given = { .exprs = numbers, .limited = true };
    const bool         trace = rd_debug_wants_trace();
    const double       begun = trace ? rd_seconds() : 0;
    const rd_float_env env   = rd_float_env_begin();
    bool               too_much;
    rd_plan           *plan;

    if (trace && !rd_trace_open(ctx)) {
        rd_float_env_end(env);
        return NULL;
    }
    plan = rd_plan_whole(ctx, work, in, shift, results, opts, choice, &given, &too_much);
    if (too_much) {
        rd_choice lasting = *choice;

        lasting.brief = false;
        plan          = rd_plan_in_parts(ctx, in, shift, results, opts, &lasting);
    }
    /* An evaluation without a plan must not look like success. */
    if (!plan && rd_error(ctx) == RD_OK)
        rd_fail_memory(ctx, 0, "%s: no memory for a plan", rd_call_name(ctx));
    rd_float_env_end(env);
    if (trace)
        rd_trace_event("plan", "plan", begun, "\"made\":%s", plan ? "true" : "false");
    return plan;
}

/* Makes a plan that the context does not own, while the environment variables are held constant.
 * numbers: inputs that are constants; shift: by input, how many elements it is moved from its
 * leaf, or NULL. */
rd_plan *rd_plan_movable(rd_ctx *ctx, rd_pool *work, rd_exprs in, rd_exprs numbers,
                         const int64_t *shift, rd_results results, const rd_eval_opts *opts,
                         const rd_choice *choice)
{
    rd_plan *plan;

    rd_environment_hold();
    plan = plan_movable(ctx, work, in, numbers, shift, results, opts, choice);
    rd_environment_release();
    return plan;
}

/* Checks the arguments, makes a plan, and gives it to the context, which frees it at its end.
 * brief: for first runs, without compiled loops. NULL after recording the failure. `work` may be
 * NULL, which planning reports. */
static rd_plan *make(rd_ctx *ctx, rd_exprs in, rd_results results, const rd_eval_opts *opts,
                     bool brief)
{
    rd_eval_opts full;
    rd_plan     *plan;
    rd_pool     *work;

    if (!rd_list_ok(ctx, rd_call_name(ctx), "results", results.at, results.n, 1))
        return NULL;
    if (!rd_eval_options(ctx, opts, &full) || !check_inputs(ctx, in))
        return NULL;
    work                   = rd_pool_planning(ctx);
    const rd_choice choice = { .traversal = full.traversal, .brief = brief };
    plan = rd_plan_movable(ctx, work, in, (rd_exprs){ 0 }, /*shift=*/NULL, results, &full, &choice);
    rd_pool_free(work);
    if (plan)
        rd_own(ctx, &plan->owned);
    return plan;
}

/* Makes a plan that the context owns, with compiled loops from the start (not brief). */
rd_plan *rd_plan_make(rd_ctx *ctx, rd_exprs in, rd_results results, const rd_eval_opts *opts)
{
    return make(ctx, in, results, opts, /*brief=*/false);
}

/* The public call: frees a plan; NULL is allowed. */
void rd_plan_free(rd_plan *plan)
{
    if (!plan)
        return;
    rd_disown(plan->ctx, &plan->owned);
    rd_plan_drop(plan);
}

/* Makes error sentences of a plan, and of all plans in it, begin with rd_plan_run. */
static void name_runs(rd_plan *plan)
{
    plan->call = "rd_plan_run";
    if (plan->instead)
        name_runs(plan->instead);
    for (int32_t k = 0; plan->parts && k < plan->parts->n; k++)
        name_runs(plan->parts->part[k].plan);
}

/* Makes a plan for real inputs and results in place of complex ones, which are pairs of reals
 * along one more axis. A complex input is the leaf of pairs below it. NULL on failure. The list
 * `leaf` is freed here; without memory for it an error is recorded, and no plan is made. */
static rd_plan *plan_real(rd_ctx *ctx, rd_exprs in, rd_results results, const rd_eval_opts *opts)
{
    rd_plan     *plan = NULL;
    rd_eval_opts full;
    rd_pairs     pairs;
    rd_expr    **leaf = NULL;

    if (in.n > 0 && in.at && (leaf = rd_alloc(ctx, in.n * (int64_t)sizeof *leaf))) {
        for (int k = 0; k < in.n; k++)
            leaf[k] = rd_leaf_below(in.at[k]);
        in.at = leaf;
    }
    if (rd_error(ctx) == RD_OK && rd_pairs_begin(ctx, results, &pairs)) {
        plan = make(ctx, in, pairs.results, opts, /*brief=*/true);
        if (plan && rd_eval_options(ctx, opts, &full))
            rd_plan_blocks_begin(plan, in, pairs.results, &full);
        rd_pairs_end(ctx, results, &pairs);
    }
    rd_free(ctx, leaf);
    return plan;
}

/* The public call: makes a plan for runs with other inputs and results; `in` are the inputs that a
 * run gets.  NULL after recording the failure. */
rd_plan *rd_plan_new(rd_ctx *ctx, rd_exprs in, rd_results results, const rd_eval_opts *opts)
{
    rd_plan    *plan;
    const char *before;

    if (!ctx || rd_error(ctx) != RD_OK)
        return NULL;
    before = rd_begin_call(ctx, "rd_plan_new");
    plan   = plan_real(ctx, in, results, opts);
    rd_begin_call(ctx, before);
    if (plan)
        name_runs(plan);
    return plan;
}

/* The public call: runs a plan, in blocks if its results come so.  A brief one is replaced by a
 * plan with compiled loops after some runs. */
rd_status rd_plan_run(const rd_plan *plan, const void *const *in, void *const *out)
{
    rd_status status;

    if (!plan)
        return RD_ERR_ARGUMENT;
    if (rd_plan_blocks_run(plan, in, out, &status))
        return status;
    if (plan->brief)
        plan = rd_plan_grown(plan);
    return rd_plan_execute(plan, in, out, &plan->progress, /*stats=*/NULL);
}
