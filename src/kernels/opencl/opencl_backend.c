/* opencl_backend.c - the tables of functions that the OpenCL backend offers. */
#include "kernels/opencl/opencl_plan.h"
#include "kernels/opencl/kernel_run.h"
#include <inttypes.h>
#include <stdio.h>

_Static_assert((int)RD_DEVICE_TEXT >= (int)RD_OPENCL_TEXT, "sentences fit");

/* True if this process can use a device of OpenCL; the evaluator asks once whether the backend
 * works here. */
static bool has_devices(void)
{
    return rd_cl_count(/*why=*/NULL) > 0;
}

/* ---- A program's kernels --------------------------------------------------------------------- */
/* Returns what a program does that kernels of OpenCL cannot, as a part of a sentence; NULL:
 * nothing. */
static const char *refusal_of(const rd_program *p)
{
    if (p->n_call)
        return "it calls a user's function";
    if (p->n_sorting)
        return "it sorts rows";
    for (int32_t k = 0; k < p->n_fold; k++)
        if (p->fold[k].user && !rd_cl_may_run(p->fold[k].user))
            return "it has a user's reducer without a text, or one that calls functions";
    return NULL;
}

/* Builds the loop tree of a program and runs the passes for GPUs on it; `log` gets the trees
 * between, or is NULL. A program with group-bys only gets loops over work items, as its
 * functions are those of C. NULL: *why has the reason, or is NULL if memory was short. */
static rd_schedule *tree_of(const rd_program *p, const char **why, rd_text *log, rd_get_fn *get,
                            void *pool)
{
    const bool          kernels = rd_cl_has_no_labels(p);
    const rd_loop_fold *fold    = kernels ? rd_gpu_folds_of(p, get, pool, why)
                                          : rd_loop_folds_of(p, /*whole=*/true, get, pool, why);
    rd_schedule        *t       = fold && !*why ? rd_schedule_build(p, fold, /*whole=*/true) : NULL;
    rd_gpu_plan         plan;

    if (t && !rd_cl_plan_of(t, &plan, get, pool))
        t->failed = true;
    else if (t && kernels)
        rd_schedule_for_gpu(t, &plan, log);
    else if (t)
        rd_pass_gpu_work_items(t, &plan);
    if (t && t->failed) {
        rd_schedule_free(t);
        return NULL;
    }
    return t;
}

/* Writes the text of a program's kernels.  `why` gets the reason if it can have none.  False: no
 * memory. */
static bool make_text(rd_cl_text *text, const rd_program *p, rd_get_fn *get, void *pool, char *why)
{
    const char  *refused = NULL;
    rd_schedule *tree    = tree_of(p, &refused, /*log=*/NULL, get, pool);
    bool         done    = tree || refused;

    if (tree)
        done = rd_cl_print(text, tree, get, pool);
    rd_schedule_free(tree);
    text->print.t = NULL;
    snprintf(why, RD_OPENCL_TEXT, "%s", refused ? refused : text->why);
    return done;
}

/* Compiles a program once, before its runs.  If the device cannot run it, p->code keeps the
 * reason.  Transcendental functions have the CPU's results, even if faster ones are allowed.
 * False: no memory. */
static bool prepare(rd_program *p, rd_get_fn *get, void *pool)
{
    rd_cl_code *made    = get(pool, sizeof *made);
    rd_cl_text *text    = get(pool, sizeof *text);
    const char *refused = refusal_of(p);
    bool        done    = made && text;

    p->code        = made;
    p->state_bytes = 0;
    p->fast        = false;
    if (!done)
        return false;
    made->text   = text;
    made->device = rd_cl_device_of(p->device, made->why);
    if (!made->device)
        return true;
    if (refused)
        snprintf(made->why, sizeof made->why, "%s", refused);
    else
        done = make_text(text, p, get, pool, made->why);
    if (done && !made->why[0])
        made->program = rd_cl_build(made->device, text->text, made->why);
    return done;
}

/* Returns the reason why the device cannot run a prepared program; NULL: it can. */
static const char *refuses(const rd_program *p)
{
    const rd_cl_code *made = p->code;

    return made->program ? NULL : made->why;
}

/* ---- For people ------------------------------------------------------------------------------ */
/* Adds a device's name, memory and OpenCL version, or the error. */
static void describe_device(rd_text *text, int32_t device)
{
    char                      why[RD_OPENCL_TEXT];
    const rd_cl_device *const d = rd_cl_device_of(device, why);

    if (d)
        rd_text_add(text, "%s, %.1f GiB, %s", d->name, (double)d->memory / 0x1p30, d->version);
    else
        rd_text_add(text, "%s", why);
}

/* Adds the kernels of a prepared program and how many work items each has, or the reason why
 * there are none. */
static void form_text(rd_text *text, const rd_cl_code *made)
{
    if (!made->program)
        rd_text_add(text, "refused: %s", made->why);
    for (int32_t k = 0; made->program && k < made->text->n_kernel; k++)
        rd_text_add(text, "%skernel of %" PRId64 " items", k ? ", " : "", made->text->items[k]);
    rd_text_add(text, "\n");
}

/* Adds the lines of rd_explain() for each of n programs: its device and its kernels. */
static void tiers(rd_text *text, const rd_program *p, int32_t n)
{
    for (int32_t s = 0; s < n; s++) {
        rd_text_add(text, "stage %" PRId32 " on opencl:%" PRId32 " (", s, p[s].device);
        describe_device(text, p[s].device);
        rd_text_add(text, "): ");
        form_text(text, p[s].code);
    }
}

/* Adds a text of a prepared program, as `what` asks: the text of its kernels, their loop tree,
 * or the line about them. */
static void describe(rd_text *text, const rd_program *p, rd_description what, rd_get_fn *get,
                     void *pool)
{
    const rd_cl_code *made = p->code;
    const char       *why  = NULL;
    rd_schedule      *tree =
        what == RD_DESCRIBE_LOOPS ? tree_of(p, &why, /*log=*/NULL, get, pool) : NULL;

    if (what == RD_DESCRIBE_CODE && made->text->text)
        rd_text_add(text, "%s", made->text->text);
    else if (tree)
        rd_schedule_text(text, tree);
    else
        form_text(text, made);
    rd_schedule_free(tree);
}

/* ---- The tables ------------------------------------------------------------------------------ */
/* Data of a caller are never on a device, and every run waits.  Reductions that cross share no
 * loops, as that would leave fewer items. */
static const rd_device_table device = {
    .count       = rd_cl_count,
    .describe    = describe_device,
    .refuses     = refuses,
    .open        = rd_cl_open,
    .close       = rd_cl_close,
    .wait        = rd_cl_wait,
    .up          = rd_cl_up,
    .down        = rd_cl_down,
    .synchronise = rd_cl_settle,
    .room        = rd_cl_room,
    .begin       = rd_cl_begin,
    .borrow      = rd_cl_borrow,
    .run         = rd_cl_run,
    .end         = rd_cl_end,
    .detach      = rd_cl_end,
};

const rd_backend_table rd_backend_opencl = {
    .name     = "opencl",
    .probe    = has_devices,
    .prepare  = prepare,
    .tiers    = tiers,
    .describe = describe,
    .device   = &device,
};
