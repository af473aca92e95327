/* device.c - a run on a device: what lies in this process's memory is copied there, stages run one
 * after the other in the context's queue, and results are copied back.  A run all of whose results
 * are there may be left to go on by itself. */
#include "eval/run/device.h"
#include "core/bytes.h"
#include "eval/run/frame.h"
#include <stdio.h>
#include <string.h>

typedef struct device_run {
    const rd_plan         *plan;
    const rd_device_table *device;
    rd_queue              *queue;
    rd_submission         *asked;
    rd_frame              *frame; /* addresses as they were given */
    void                 **slot;  /* addresses there: what programs get */
    void                 **got;   /* memory of the run, by slot; NULL: none */
    rd_status              status;
    char                   why[RD_DEVICE_TEXT];
} device_run;

static rd_status fail(device_run *r, rd_status status)
{
    char sentence[RD_DEVICE_TEXT + 64];

    snprintf(sentence, sizeof sentence, "%s: %s",
             r->plan->call ? r->plan->call : rd_call_name(r->plan->ctx), r->why);
    r->status = rd_fail_run(r->plan->ctx, status, sentence);
    return r->status;
}

/* ---- Memory ---------------------------------------------------------------------------------- */
static bool get(device_run *r, int s, int64_t bytes)
{
    bool full;

    r->got[s] = r->device->borrow(r->asked, bytes > 0 ? bytes : 1, &full, r->why);
    if (!r->got[s])
        fail(r, full ? RD_ERR_MEMORY : RD_ERR_DEVICE);
    return r->got[s];
}

static bool overlaps(const char *a, const rd_extent *mine, const char *b, const rd_extent *its)
{
    return mine->lo < mine->hi && its->lo < its->hi && a + mine->lo < b + its->hi &&
           b + its->lo < a + mine->hi;
}

/* Is it written while it may still be read? */
static bool meets_result(const device_run *r, int s)
{
    for (int k = 0; k < r->plan->n_out; k++)
        if (r->plan->out[k].slot >= 0 && r->plan->out[k].device &&
            overlaps(r->frame->slot[s], &r->plan->slot_extent[s], r->frame->target[k],
                     &r->plan->out_extent[k]))
            return true;
    return false;
}

/* What is there already stays where it is, but what a result overlaps is copied, too. */
static void bring(device_run *r, int s)
{
    const rd_extent *e    = &r->plan->slot_extent[s];
    const bool       here = r->plan->slot[s].device == 0;
    const char      *from = (const char *)r->frame->slot[s] + e->lo;
    bool             done;

    if (!here)
        r->slot[s] = r->frame->slot[s];
    if (e->lo >= e->hi || (!here && !meets_result(r, s)))
        return;
    if (!get(r, s, e->hi - e->lo))
        return;
    done = here ? r->device->up(r->queue, r->got[s], from, e->hi - e->lo, r->why)
                : r->device->across(r->queue, r->got[s], from, e->hi - e->lo, r->why);
    if (!done)
        fail(r, RD_ERR_DEVICE);
    r->slot[s] = (char *)r->got[s] - e->lo;
}

/* Results there that overlap are written aside, and then in their order. */
static bool meets_other(const device_run *r, int k)
{
    const rd_plan *plan = r->plan;

    for (int i = 0; i < plan->n_out; i++)
        if (i != k && plan->out[i].slot >= 0 && plan->out[i].device &&
            overlaps(r->frame->target[k], &plan->out_extent[k], r->frame->target[i],
                     &plan->out_extent[i]))
            return true;
    return false;
}

static void place_result(device_run *r, int s)
{
    const int        k = r->plan->slot[s].result;
    const rd_extent *e = &r->plan->out_extent[k];

    if (r->plan->out[k].device && !meets_other(r, k))
        r->slot[s] = r->frame->target[k];
    else if (get(r, s, e->hi - e->lo))
        r->slot[s] = (char *)r->got[s] - e->lo;
}

static void place_all(device_run *r)
{
    for (int s = 0; s < r->plan->n_slot && r->status == RD_OK; s++)
        switch (r->plan->slot[s].kind) {
        case RD_SLOT_LEAF:
        case RD_SLOT_INPUT: bring(r, s); break;
        case RD_SLOT_OUTPUT:
            if (r->plan->out[r->plan->slot[s].result].slot == s)
                place_result(r, s);
            break;
        case RD_SLOT_ARRAY:
            if (get(r, s, r->plan->slot[s].bytes))
                r->slot[s] = r->got[s];
            break;
        }
}

/* ---- Results --------------------------------------------------------------------------------- */
static bool is_dense(const rd_output *o)
{
    return rd_points(o->rank, o->extent) == o->hi - o->lo;
}

/* What lies between the elements of a result is the caller's: they come by way of memory aside. */
static void take_apart(device_run *r, int k)
{
    const rd_extent *e     = &r->plan->out_extent[k];
    char            *aside = rd_alloc_work(r->plan->ctx, e->hi - e->lo);

    if (!aside) {
        r->status = rd_no_memory(r->plan);
        return;
    }
    if (!r->device->down(r->queue, aside, r->got[r->plan->out[k].slot], e->hi - e->lo, r->why) ||
        !r->device->settle(r->queue, r->why))
        fail(r, RD_ERR_DEVICE);
    else
        rd_copy_out(&r->plan->out[k], r->frame->target[k], aside - e->lo);
    rd_free(r->plan->ctx, aside);
}

static void take_dense(device_run *r, int k)
{
    const rd_extent *e    = &r->plan->out_extent[k];
    void *const      from = r->got[r->plan->out[k].slot];
    char *const      to   = (char *)r->frame->target[k] + e->lo;
    const bool       done = r->plan->out[k].device
                                ? r->device->across(r->queue, to, from, e->hi - e->lo, r->why)
                                : r->device->down(r->queue, to, from, e->hi - e->lo, r->why);

    if (!done)
        fail(r, RD_ERR_DEVICE);
}

static void take_results(device_run *r)
{
    for (int k = 0; k < r->plan->n_out && r->status == RD_OK; k++) {
        const rd_output *o = &r->plan->out[k];

        if (o->slot < 0 || !r->got[o->slot])
            continue;
        if (is_dense(o))
            take_dense(r, k);
        else if (o->device) {
            snprintf(r->why, sizeof r->why,
                     "results %d and another overlap on a GPU, and have gaps between elements", k);
            fail(r, RD_ERR_DEVICE);
        } else
            take_apart(r, k);
    }
}

/* ---- Stages ---------------------------------------------------------------------------------- */
/* Between stages an evaluation may be cancelled. */
static void run_stages(device_run *r)
{
    for (int s = 0; s < r->plan->n_stage && r->status == RD_OK; s++) {
        bool full = false;

        if (!r->device->run(&r->plan->program[s], r->asked, r->slot, &full, r->why))
            fail(r, full ? RD_ERR_MEMORY : RD_ERR_DEVICE);
        if (r->status == RD_OK && rd_cancel_taken(r->plan->ctx))
            r->status = rd_fail_run(r->plan->ctx, RD_ERR_CANCELLED, "the evaluation was cancelled");
    }
}

static bool are_results_there(const rd_plan *plan)
{
    bool all = true;

    for (int k = 0; k < plan->n_out; k++)
        all &= plan->out[k].slot < 0 || plan->out[k].device;
    return all;
}

/* Of a run that has failed what it reports is not asked. */
static void finish(device_run *r)
{
    const bool waits  = !r->plan->async || r->status != RD_OK || !are_results_there(r->plan);
    rd_task    report = { 0 };
    char       why[RD_DEVICE_TEXT];
    const bool done = (waits ? r->device->end : r->device->leave)(r->asked, &report, why);

    rd_warn(r->plan->ctx, report.warnings);
    if (r->status != RD_OK)
        return;
    if (report.status != RD_OK)
        r->status = rd_fail_run(r->plan->ctx, report.status, report.sentence);
    else if (!done) {
        memcpy(r->why, why, sizeof why);
        fail(r, RD_ERR_DEVICE);
    }
}

static void run_bound(device_run *r)
{
    const size_t bytes = (size_t)(r->plan->n_slot + 1) * sizeof(void *);
    void       **both  = rd_alloc_work(r->plan->ctx, (int64_t)(2 * bytes));
    bool         full;

    if (!both) {
        r->status = rd_no_memory(r->plan);
        return;
    }
    memset(both, 0, 2 * bytes);
    r->slot  = both;
    r->got   = both + r->plan->n_slot + 1;
    r->asked = r->device->begin(r->queue, &full, r->why);
    if (r->asked) {
        place_all(r);
        if (r->status == RD_OK)
            run_stages(r);
        if (r->status == RD_OK)
            take_results(r);
        finish(r);
    } else
        fail(r, full ? RD_ERR_MEMORY : RD_ERR_DEVICE);
    rd_free(r->plan->ctx, both);
}

rd_status rd_run_on_device(const rd_plan *plan, const void *const *in, void *const *out)
{
    device_run    r = { .plan = plan, .device = plan->backend->device };
    rd_frame_here here;
    bool          full;

    r.queue = rd_queue_of(plan->ctx, plan->backend, plan->device, &full, r.why);
    if (!r.queue)
        return fail(&r, full ? RD_ERR_MEMORY : RD_ERR_DEVICE);
    r.frame = rd_frame_take(plan, &here);
    if (!r.frame)
        return rd_no_memory(plan);
    r.status = rd_bind_given(plan, r.frame, in, out);
    if (r.status == RD_OK)
        run_bound(&r);
    rd_frame_give(plan, r.frame, &here);
    return r.status;
}
