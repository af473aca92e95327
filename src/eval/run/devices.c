/* devices.c - runs a plan on several equal devices.  All data, arrays between stages included,
 * lie in host memory: each stage loads from there and stores to there.
 *
 * The backend partitions a stage's work across all devices.  A stage that it cannot partition
 * runs on the first device alone: its inputs are copied there and its results back.
 *
 * A slot is a piece of memory that programs address: a leaf, an input, a result, or an array
 * between stages. */
#include "eval/run/device.h"
#include "eval/run/device_state.h"
#include "eval/run/frame.h"
#include <stdio.h>
#include <string.h>

/* One run on several devices. */
typedef struct devices_run {
    rd_device_state        of;
    const rd_plan         *plan;
    const rd_device_table *device;
    rd_frame              *frame;
    rd_queue              *queue[RD_MOST_DEVICES]; /* one for each device */
    rd_submission         *asked;                  /* the submission of a stage on one device */
    void                 **slot;                   /* addresses on that device, by slot */
} devices_run;

/* Records the run's failure by what the backend's `end` says. */
static void fail(devices_run *r, rd_device_end end)
{
    if (end == RD_DEVICE_CANCELLED)
        rd_device_cancelled(&r->of);
    else
        rd_device_fail(&r->of, end == RD_DEVICE_FULL ? RD_ERR_MEMORY : RD_ERR_DEVICE);
}

/* Passes on the warnings and the error that kernels found. The error is dropped if the run has
 * failed already. */
static void take_report(devices_run *r, const rd_task *report)
{
    rd_warn(r->plan->ctx, report->warnings);
    if (r->of.status == RD_OK && report->status != RD_OK)
        r->of.status = rd_fail_run(r->plan->ctx, report->status, report->sentence);
}

/* ---- A stage on the first device alone ------------------------------------------------------- */
/* The range of bytes of a slot around its base address that programs read or write. */
static rd_extent bytes_of(const rd_plan *plan, int s)
{
    const rd_slot *slot = &plan->slot[s];

    switch (slot->kind) {
    case RD_SLOT_OUTPUT: return plan->out_extent[slot->result];
    case RD_SLOT_ARRAY: return (rd_extent){ .hi = slot->bytes };
    default: return plan->slot_extent[s];
    }
}

/* True if an earlier stage stores to slot s. */
static bool is_stored_before(const devices_run *r, int s)
{
    bool found = false;

    for (int k = 0; k < r->of.stage; k++)
        found |= rd_program_accesses(&r->plan->program[k], RD_I_STORE, s);
    return found;
}

/* True if the device must have the bytes of slot s before the stage: data to read, or the caller's
 * bytes between a result's elements, which are copied back with it. An array between stages has
 * some only once a stage has stored to it. */
static bool has_bytes(const devices_run *r, int s)
{
    return r->plan->slot[s].kind != RD_SLOT_ARRAY || is_stored_before(r, s);
}

/* Borrows memory on the first device for slot s, and copies the slot's bytes there if the stage
 * needs them. Failures are in the run's state. borrow() gives memory until the submission ends;
 * up() copies from host memory. */
static void upload_slot(devices_run *r, int s)
{
    const rd_extent e = bytes_of(r->plan, s);
    bool            full;
    char *const at = r->device->borrow(r->asked, e.hi > e.lo ? e.hi - e.lo : 1, &full, r->of.why);

    if (!at)
        fail(r, full ? RD_DEVICE_FULL : RD_DEVICE_FAILED);
    else if (e.lo < e.hi && has_bytes(r, s) &&
             !r->device->up(r->queue[0], at, (char *)r->frame->slot[s] + e.lo, e.hi - e.lo,
                            r->of.why))
        fail(r, RD_DEVICE_FAILED);
    r->slot[s] = at - e.lo;
}

/* Copies the bytes of slot s from the first device to host memory. */
static void download_slot(devices_run *r, int s)
{
    const rd_extent e = bytes_of(r->plan, s);

    if (e.lo < e.hi && !r->device->down(r->queue[0], (char *)r->frame->slot[s] + e.lo,
                                        (char *)r->slot[s] + e.lo, e.hi - e.lo, r->of.why))
        fail(r, RD_DEVICE_FAILED);
}

/* Runs a stage on the first device: copies all slots there that it uses, runs it, and copies those
 * back that it stores to. `end` is how the device ended if it failed. */
static void run_submitted(devices_run *r, const rd_program *p)
{
    rd_device_end end;

    for (int s = 0; s < r->plan->n_slot && r->of.status == RD_OK; s++)
        if (rd_program_accesses(p, RD_I_LOAD, s) || rd_program_accesses(p, RD_I_STORE, s))
            upload_slot(r, s);
    if (r->of.status != RD_OK)
        return;
    if (!r->device->run(p, r->asked, r->slot, /*host=*/NULL, &end, r->of.why)) {
        fail(r, end);
        return;
    }
    for (int s = 0; s < r->plan->n_slot && r->of.status == RD_OK; s++)
        if (rd_program_accesses(p, RD_I_STORE, s))
            download_slot(r, s);
}

/* Runs a stage that cannot be partitioned on the first device, within a submission of its own.
 * The report has warnings and the error that kernels found; `why` has the sentence of a device
 * that failed. */
static void run_on_first(devices_run *r, const rd_program *p)
{
    rd_task report = { 0 };
    bool    full;
    char    why[RD_DEVICE_TEXT];

    r->asked = r->device->begin(r->queue[0], &full, r->of.why);
    if (!r->asked) {
        fail(r, full ? RD_DEVICE_FULL : RD_DEVICE_FAILED);
        return;
    }
    run_submitted(r, p);
    if (!r->device->end(r->asked, &report, why) && r->of.status == RD_OK) {
        memcpy(r->of.why, why, sizeof why);
        fail(r, RD_DEVICE_FAILED);
    }
    take_report(r, &report);
}

/* ---- Stages ---------------------------------------------------------------------------------- */
/* Runs a stage on n devices, each of which does a part of its work and has a part of the data.
 * host.at: by slot its address in host memory, where all data lie; the backend copies parts. */
static void run_partitioned(devices_run *r, const rd_program *p, int32_t n)
{
    const rd_device_host host   = { .at   = (char *const *)(void *)r->frame->slot,
                                    .tell = rd_device_tell,
                                    .user = &r->of };
    rd_task              report = { 0 };
    rd_device_end        end;

    if (!r->device->partition(p, r->queue, n, &host, &report, &end, r->of.why))
        fail(r, end);
    take_report(r, &report);
}

/* True if the program stores to a result, so that a failure after it may leave a part of it. */
static bool stores_results(const devices_run *r, const rd_program *p)
{
    bool found = false;

    for (int s = 0; s < r->plan->n_slot; s++)
        found |= r->plan->slot[s].kind == RD_SLOT_OUTPUT && rd_program_accesses(p, RD_I_STORE, s);
    return found;
}

/* Runs the stages in order, each on all devices if the backend can partition it, else on the
 * first one. shares() says on how many devices the backend partitions a stage. After a stage
 * that stores results, another plan can no longer compute them (stores). */
static void run_stages(devices_run *r)
{
    for (r->of.stage = 0; r->of.stage < r->plan->n_stage && r->of.status == RD_OK; r->of.stage++) {
        const rd_program *const p = &r->plan->program[r->of.stage];
        const char             *why;
        const int32_t           n = r->device->shares(p, &why);

        r->of.stores |= stores_results(r, p);
        if (n > 1)
            run_partitioned(r, p, n);
        else
            run_on_first(r, p);
        if (r->of.status == RD_OK && rd_cancel_taken(r->plan->ctx))
            rd_device_cancelled(&r->of);
    }
}

/* Opens a queue on each of the plan's devices; false after recording why one failed. `full`: the
 * device has no memory left. */
static bool open_queues(devices_run *r)
{
    bool full = false;

    for (int32_t k = 0; k < r->plan->devices; k++) {
        r->queue[k] =
            rd_queue_of(r->plan->ctx, r->plan->backend, r->plan->device + k, &full, r->of.why);
        if (!r->queue[k]) {
            fail(r, full ? RD_DEVICE_FULL : RD_DEVICE_FAILED);
            return false;
        }
    }
    return true;
}

/* Binds the addresses of inputs, results and arrays in the run's frame (its memory), runs the
 * stages, and releases what was bound. Failures are in r->of.status. r->slot has the addresses
 * on the device, NULL: not there; run_stages() fills it. */
static void run_framed(devices_run *r, const void *const *in, void *const *out)
{
    const rd_plan *plan = r->plan;

    r->of.status = rd_frame_bind(plan, r->frame, in, out);
    r->slot      = rd_alloc_work(plan->ctx, (int64_t)sizeof(void *) * (plan->n_slot + 1));
    if (!r->slot && r->of.status == RD_OK)
        r->of.status = rd_no_memory(plan);
    if (r->slot && r->of.status == RD_OK) {
        memset(r->slot, 0, sizeof(void *) * ((size_t)plan->n_slot + 1));
        run_stages(r);
    }
    rd_free(plan->ctx, r->slot);
    rd_frame_unbind(plan, r->frame, r->of.status);
    rd_device_tell_end(&r->of);
}

/* Runs a plan on several devices. *elsewhere: it failed before it stored anything, and another plan
 * can compute the results. open_queues() is false after a failure, which r.of has. The frame is
 * taken and given back; `here` is memory for a small one. */
rd_status rd_run_on_devices(const rd_plan *plan, const void *const *in, void *const *out,
                            const rd_progress *progress, bool *elsewhere)
{
    devices_run   r = { .of     = rd_device_begin(plan, progress),
                        .plan   = plan,
                        .device = plan->backend->device };
    rd_frame_here here;

    if (open_queues(&r)) {
        r.frame = rd_frame_take(plan, &here);
        if (!r.frame)
            return rd_no_memory(plan);
        run_framed(&r, in, out);
        rd_frame_give(plan, r.frame, &here);
    }
    *elsewhere = r.of.elsewhere;
    return r.of.status;
}
