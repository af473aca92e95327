/* device.c - runs a plan on a device.  Copies inputs from host memory, runs the stages in order
 * in the context's queue, and copies results back.  A run with all results on the device
 * need not be waited for.
 *
 * If the device has too little memory, large leaves and results stay on the host.  Stages then
 * copy a part of them at a time (zero-copy windows).
 *
 * A slot is a piece of memory that programs address: a leaf, an input, a result, or an array
 * between stages.  An extent here is the range of its bytes that is read or written.  Memory is
 * tight if the device cannot hold all data of the run.
 *
 * Words. The frame is the memory of one run. */
#include "eval/run/device.h"
#include "core/bytes.h"
#include "eval/run/recorded.h"
#include "eval/run/room.h"
#include "eval/tuning.h"
#include <stdio.h>
#include <string.h>

/* ---- Memory ---------------------------------------------------------------------------------- */
/* Gets memory on the device for slot s until the run ends, unless a recording (CUDA graph) holds
 * some for it. False after recording the failure. *full of the backend's borrow(): the device
 * has no more memory. `asked` is the run's submission. */
static bool borrow_slot(rd_device_run *r, int s, int64_t bytes)
{
    bool full;

    if (r->got[s]) /* memory that a recording holds */
        return true;
    r->got[s] = r->device->borrow(r->asked, bytes > 0 ? bytes : 1, &full, r->of.why);
    if (!r->got[s])
        rd_device_fail(&r->of, full ? RD_ERR_MEMORY : RD_ERR_DEVICE);
    return r->got[s];
}

/* True if two ranges of bytes overlap: `mine` relative to address a, and `its` relative to b. */
static bool overlaps(const char *a, const rd_extent *mine, const char *b, const rd_extent *its)
{
    return mine->lo < mine->hi && its->lo < its->hi && a + mine->lo < b + its->hi &&
           b + its->lo < a + mine->hi;
}

/* True if the leaf of slot s overlaps a result on the device, which might overwrite it while it
 * is still read. */
static bool overlaps_result(const rd_device_run *r, int s)
{
    for (int k = 0; k < r->plan->n_out; k++)
        if (r->plan->out[k].slot >= 0 && r->plan->out[k].device &&
            overlaps(r->frame->slot[s], &r->plan->slot_extent[s], r->frame->target[k],
                     &r->plan->out_extent[k]))
            return true;
    return false;
}

/* Makes the leaf of slot s available on the device. Data that lie there are used in place, unless
 * a result overlaps them: then they are copied, like data in host memory (`here`). up() copies
 * from host memory to the device, across() within it. An empty range (lo >= hi) needs no copy.
 * got + (-lo) is the address of element 0, as memory begins at lo. */
static void upload_slot(rd_device_run *r, int s)
{
    const rd_extent *e    = &r->plan->slot_extent[s];
    const bool       here = r->plan->slot[s].device == 0;
    const char      *from = (const char *)r->frame->slot[s] + e->lo;
    bool             done;

    if (!here)
        r->slot[s] = r->frame->slot[s];
    if (e->lo >= e->hi || (!here && !overlaps_result(r, s)))
        return;
    if (!borrow_slot(r, s, e->hi - e->lo))
        return;
    done = here ? r->device->up(r->queue, r->got[s], from, e->hi - e->lo, r->of.why)
                : r->device->across(r->queue, r->got[s], from, e->hi - e->lo, r->of.why);
    if (!done)
        rd_device_fail(&r->of, RD_ERR_DEVICE);
    r->slot[s] = (char *)r->got[s] - e->lo;
}

/* True if result k overlaps another result on the device.  Such results are written to temporary
 * memory and copied out in order. */
static bool overlaps_other_result(const rd_device_run *r, int k)
{
    const rd_plan *plan = r->plan;

    for (int i = 0; i < plan->n_out; i++)
        if (i != k && plan->out[i].slot >= 0 && plan->out[i].device &&
            overlaps(r->frame->target[k], &plan->out_extent[k], r->frame->target[i],
                     &plan->out_extent[i]))
            return true;
    return false;
}

/* Gives the result in slot s an address on the device: the caller's, or temporary memory if the
 * caller's is in host memory or overlaps another result. borrow_slot() gets temporary memory
 * r->got[s] for it; e->lo is where the first element lies from the base. */
static void place_result(rd_device_run *r, int s)
{
    const int        k = r->plan->slot[s].result;
    const rd_extent *e = &r->plan->out_extent[k];

    if (r->plan->out[k].device && !overlaps_other_result(r, k))
        r->slot[s] = r->frame->target[k];
    else if (borrow_slot(r, s, e->hi - e->lo))
        r->slot[s] = (char *)r->got[s] - e->lo;
}

/* True if a result has no gaps between its elements: its range of memory holds as many elements as
 * it has. */
static bool is_dense(const rd_output *o)
{
    return rd_points(o->rank, o->extent) == o->hi - o->lo;
}

/* ---- Data that stay in host memory ----------------------------------------------------------- */
/* True if data of these bytes should stay in host memory when device memory is tight. */
static bool is_large(const rd_device_run *r, const rd_extent *e)
{
    return rd_room_is_large(e->hi - e->lo, r->room);
}

/* Sums up the bytes of all data that must get memory on the device; not those that lie there
 * already (device > 0). Results that lie on a device are the caller's memory there. */
static int64_t bytes_of_all(const rd_plan *plan)
{
    int64_t bytes = plan->arrays_bytes;

    for (int s = 0; s < plan->n_slot; s++)
        if (plan->slot[s].kind == RD_SLOT_LEAF || plan->slot[s].kind == RD_SLOT_INPUT)
            bytes +=
                plan->slot[s].device == 0 ? plan->slot_extent[s].hi - plan->slot_extent[s].lo : 0;
    for (int k = 0; k < plan->n_out; k++)
        bytes += plan->out[k].device == 0 ? plan->out_extent[k].hi - plan->out_extent[k].lo : 0;
    return bytes;
}

/* Leaves a large leaf in host memory, from which stages copy a part at a time; true if so. */
static bool keep_leaf(rd_device_run *r, int s)
{
    if (r->plan->slot[s].device == 0 && is_large(r, &r->plan->slot_extent[s]))
        r->host[s] = r->frame->slot[s];
    return r->host[s];
}

/* True if result k overlaps a leaf or another result.  Writing it in parts could then overwrite
 * a leaf too early, or change the order of results. */
static bool overlaps_any(const rd_device_run *r, int k)
{
    const rd_plan *plan = r->plan;
    bool           any  = false;

    for (int s = 0; s < plan->n_slot; s++)
        if (plan->slot[s].kind == RD_SLOT_LEAF || plan->slot[s].kind == RD_SLOT_INPUT)
            any |= overlaps(r->frame->slot[s], &plan->slot_extent[s], r->frame->target[k],
                            &plan->out_extent[k]);
    for (int i = 0; i < plan->n_out; i++)
        any |= i != k && overlaps(r->frame->target[k], &plan->out_extent[k], r->frame->target[i],
                                  &plan->out_extent[i]);
    return any;
}

/* Leaves a large result in host memory, if it may be written in parts: it is dense and overlaps
 * nothing. True if so. is_large(): large beside the device's memory; overlaps_any() is that last
 * test. */
static bool keep_result(rd_device_run *r, int s)
{
    const int        k = r->plan->slot[s].result;
    const rd_output *o = &r->plan->out[k];

    if (o->device == 0 && is_large(r, &r->plan->out_extent[k]) && is_dense(o) &&
        !overlaps_any(r, k))
        r->host[s] = r->frame->target[k];
    return r->host[s];
}

/* Gives every slot an address on the device: leaves are copied, results and arrays get memory.
 * Large data may stay on the host if memory is tight. A result that no stage stores (another
 * slot is the result's) gets none. Failures are in the run's status. */
void rd_device_place(rd_device_run *r)
{
    for (int s = 0; s < r->plan->n_slot && r->of.status == RD_OK; s++)
        switch (r->plan->slot[s].kind) {
        case RD_SLOT_LEAF:
        case RD_SLOT_INPUT:
            if (!r->tight || !keep_leaf(r, s))
                upload_slot(r, s);
            break;
        case RD_SLOT_OUTPUT:
            if (r->plan->out[r->plan->slot[s].result].slot == s &&
                (!r->tight || !keep_result(r, s)))
                place_result(r, s);
            break;
        case RD_SLOT_ARRAY:
            if (borrow_slot(r, s, r->plan->slot[s].bytes))
                r->slot[s] = r->got[s];
            break;
        }
}

/* ---- Results --------------------------------------------------------------------------------- */
/* Copies a result that has gaps by way of host memory, because the bytes between its elements
 * are the caller's. down() copies from the device; its copy is complete after synchronise(). */
static void download_with_gaps(rd_device_run *r, int k)
{
    const rd_extent *e     = &r->plan->out_extent[k];
    char            *aside = rd_alloc_work(r->plan->ctx, e->hi - e->lo);

    if (!aside) {
        r->of.status = rd_no_memory(r->plan);
        return;
    }
    if (!r->device->down(r->queue, aside, r->got[r->plan->out[k].slot], e->hi - e->lo, r->of.why) ||
        !r->device->synchronise(r->queue, r->of.why))
        rd_device_fail(&r->of, RD_ERR_DEVICE);
    else
        rd_copy_out(&r->plan->out[k], r->frame->target[k], aside - e->lo);
    rd_free(r->plan->ctx, aside);
}

/* Copies a dense result to where the caller wants it. across() copies on the device, down() to
 * the host. */
static void download_dense(rd_device_run *r, int k)
{
    const rd_extent *e    = &r->plan->out_extent[k];
    void *const      from = r->got[r->plan->out[k].slot];
    char *const      to   = (char *)r->frame->target[k] + e->lo;
    const bool       done = r->plan->out[k].device
                                ? r->device->across(r->queue, to, from, e->hi - e->lo, r->of.why)
                                : r->device->down(r->queue, to, from, e->hi - e->lo, r->of.why);

    if (!done)
        rd_device_fail(&r->of, RD_ERR_DEVICE);
}

/* Copies results that were computed in temporary memory (got) to where the caller wants them.
 * Overlapping results with gaps on a device are an error. From here on a failure may leave a
 * part of the results (of.stores). got is NULL for a result that was written in place. */
void rd_device_results(rd_device_run *r)
{
    r->of.stores = true;
    for (int k = 0; k < r->plan->n_out && r->of.status == RD_OK; k++) {
        const rd_output *o = &r->plan->out[k];

        if (o->slot < 0 || !r->got[o->slot])
            continue;
        if (is_dense(o))
            download_dense(r, k);
        else if (o->device) {
            snprintf(r->of.why, sizeof r->of.why,
                     "results %d and another overlap on a GPU, and have gaps between elements", k);
            rd_device_fail(&r->of, RD_ERR_DEVICE);
        } else
            download_with_gaps(r, k);
    }
}

/* ---- Stages ---------------------------------------------------------------------------------- */
/* True if the program loads from the slot or stores to it. */
static bool uses_slot(const rd_program *p, int slot)
{
    return rd_program_accesses(p, RD_I_LOAD, slot) || rd_program_accesses(p, RD_I_STORE, slot);
}

/* Copies to the device all that stayed on the host and that the stage uses, because the stage
 * cannot process it in parts. */
static void upload_host_slots(rd_device_run *r, const rd_program *p)
{
    for (int s = 0; s < r->plan->n_slot && r->of.status == RD_OK; s++) {
        if (!r->host[s] || !uses_slot(p, s))
            continue;
        r->host[s] = NULL;
        (r->plan->slot[s].kind == RD_SLOT_OUTPUT ? place_result : upload_slot)(r, s);
    }
}

/* Decides whether the stage processes data in host memory in parts (windows); parts[s]: slot s has
 * such data. If the backend cannot do that, they are copied to the device. Waits for earlier
 * stages, because their results must be in host memory first. r->host[s] is the host memory of
 * slot s, NULL: it is on the device. */
static bool uses_windows(rd_device_run *r, const rd_program *p, bool *parts)
{
    bool any = false;

    for (int s = 0; s < r->plan->n_slot; s++)
        any |= parts[s] = r->host[s] && uses_slot(p, s);
    if (!any)
        return false;
    if (!r->device->windows || !r->device->windows(p, r->queue, parts)) {
        upload_host_slots(r, p);
        return false;
    }
    if (!r->device->synchronise(r->queue, r->of.why))
        rd_device_fail(&r->of, RD_ERR_DEVICE);
    return true;
}

/* ---- Measuring ------------------------------------------------------------------------------- */
/* Memory of a pool, in the form that the backend's functions ask for. */
static void *piece(void *pool, size_t bytes)
{
    return rd_pool_get(pool, bytes);
}

/* True if the program loads from a slot that it stores to.  Running it twice would then give
 * other results, so it cannot be measured. */
static bool reads_what_it_stores(const rd_program *p)
{
    for (int32_t i = 0; i < p->n_inst; i++)
        for (int32_t k = 0; k < p->n_inst; k++)
            if (p->inst[i].kind == RD_I_STORE && p->inst[k].kind == RD_I_LOAD &&
                p->address[p->inst[i].arg].slot < p->first_scratch &&
                p->address[p->inst[i].arg].slot == p->address[p->inst[k].arg].slot)
                return true;
    return false;
}

/* Times the stage's kernels with several tuning numbers and records the fastest; 0 seconds: it
 * cannot be measured. This comes before the stage itself, which reports any errors. `whole`: all
 * data are on the device. `piece` gives memory from the pool. Stages that read what they store
 * (reads_what_it_stores()) are not repeated. */
static void measure_stage(rd_device_run *r, const rd_program *p, bool whole)
{
    rd_measured found = { .seconds = 0 };
    rd_pool    *pool  = rd_pool_new(r->plan->ctx);
    char        why[RD_DEVICE_TEXT];

    if (!pool || (whole && !reads_what_it_stores(p) &&
                  !r->device->measure(p, r->queue, r->slot, piece, pool, &found, why)))
        found = (rd_measured){ .seconds = 0 };
    rd_tuning_found(r->plan->ctx, p, &found);
    rd_pool_free(pool);
    r->of.status = rd_error(r->plan->ctx);
}

/* Runs one stage on the device, in parts if some of its data stayed in host memory. Measures it
 * first if the plan asks for that and there is no measurement. `parts`: work space, a flag per
 * slot. `stores`: results may be stored in part from here on, as windows write to host memory at
 * once. */
static void run_stage(rd_device_run *r, const rd_program *p, bool *parts)
{
    const rd_device_host host     = { .at = r->host, .tell = rd_device_tell, .user = &r->of };
    const bool           in_parts = uses_windows(r, p, parts);
    rd_device_end        end;

    r->of.stores |= in_parts;
    if (r->of.status == RD_OK && r->plan->measures && r->device->measure &&
        !rd_tuned(r->plan->ctx, p))
        measure_stage(r, p, !in_parts);
    if (r->of.status != RD_OK ||
        r->device->run(p, r->asked, r->slot, in_parts ? &host : NULL, &end, r->of.why))
        return;
    if (end == RD_DEVICE_CANCELLED)
        rd_device_cancelled(&r->of);
    else
        rd_device_fail(&r->of, end == RD_DEVICE_FULL ? RD_ERR_MEMORY : RD_ERR_DEVICE);
}

/* Runs the stages in order, until one fails; between two stages the evaluation may be cancelled.
 * `parts` is room for a flag by slot. */
void rd_device_stages(rd_device_run *r)
{
    bool *parts = rd_alloc_work(r->plan->ctx, r->plan->n_slot + 1);

    if (!parts) {
        r->of.status = rd_no_memory(r->plan);
        return;
    }
    for (r->of.stage = 0; r->of.stage < r->plan->n_stage && r->of.status == RD_OK; r->of.stage++) {
        run_stage(r, &r->plan->program[r->of.stage], parts);
        if (r->of.status == RD_OK && rd_cancel_taken(r->plan->ctx))
            rd_device_cancelled(&r->of);
    }
    rd_free(r->plan->ctx, parts);
}

/* True if no result must be copied to the host. */
static bool are_results_on_device(const rd_plan *plan)
{
    bool all = true;

    for (int k = 0; k < plan->n_out; k++)
        all &= plan->out[k].slot < 0 || plan->out[k].device;
    return all;
}

/* Ends the run's submission: waits for it, or leaves it running if the plan is asynchronous and no
 * result must be copied to the host. Then passes on its warnings and errors, unless the run has
 * failed already. end() waits and reports; detach() returns at once. `done` is false if the
 * device failed, with its sentence in `why`. */
static void end_submission(rd_device_run *r)
{
    const bool waits  = !r->plan->async || r->of.status != RD_OK || !are_results_on_device(r->plan);
    rd_task    report = { 0 };
    char       why[RD_DEVICE_TEXT];
    const bool done = (waits ? r->device->end : r->device->detach)(r->asked, &report, why);

    rd_warn(r->plan->ctx, report.warnings);
    if (r->of.status != RD_OK)
        return;
    if (report.status != RD_OK)
        r->of.status = rd_fail_run(r->plan->ctx, report.status, report.sentence);
    else if (!done) {
        memcpy(r->of.why, why, sizeof why);
        rd_device_fail(&r->of, RD_ERR_DEVICE);
    }
}

/* Clears the tables slot, got and host, which are one block of memory: no slot has an address on
 * the device, and nothing stays in host memory. */
void rd_device_clear(rd_device_run *r)
{
    memset(r->slot, 0, 3 * ((size_t)r->plan->n_slot + 1) * sizeof *r->slot);
}

/* Runs a plan without a recording (CUDA graph): begins a submission, places data, runs stages,
 * copies results, ends the submission. r->asked is the submission; r->of has the status and the
 * reason (why). */
static void run_asked(rd_device_run *r)
{
    bool full;

    r->asked = r->device->begin(r->queue, &full, r->of.why);
    if (!r->asked) {
        rd_device_fail(&r->of, full ? RD_ERR_MEMORY : RD_ERR_DEVICE);
        return;
    }
    rd_device_place(r);
    if (r->of.status == RD_OK)
        rd_device_stages(r);
    if (r->of.status == RD_OK)
        rd_device_results(r);
    end_submission(r);
}

/* Allocates the slot tables of the run, decides whether device memory is tight, and runs the plan,
 * by a recording (CUDA graph) if there is one. `lists` are three tables by slot: addresses on
 * the device, memory that was got there, host memory. r->room is what the device has;
 * rd_run_recorded() is false if there is no recording. */
static void run_bound(rd_device_run *r)
{
    const size_t n     = (size_t)r->plan->n_slot + 1;
    void       **lists = rd_alloc_work(r->plan->ctx, (int64_t)(3 * n * sizeof *lists));

    if (!lists) {
        r->of.status = rd_no_memory(r->plan);
        return;
    }
    r->slot = lists;
    r->got  = lists + n;
    r->host = (char **)(lists + 2 * n);
    rd_device_clear(r);
    r->room  = r->device->room(r->queue, bytes_of_all(r->plan));
    r->tight = rd_room_is_tight(bytes_of_all(r->plan), r->room);
    if (!rd_run_recorded(r))
        run_asked(r);
    rd_device_tell_end(&r->of);
    rd_free(r->plan->ctx, lists);
}

/* Runs a plan on a device: gets the context's queue, takes a frame (memory of one run), binds the
 * caller's addresses, runs. *elsewhere: it failed before it stored anything, and another plan can
 * compute the results. `here` is memory on the stack for a small frame. */
rd_status rd_run_on_device(const rd_plan *plan, const void *const *in, void *const *out,
                           const rd_progress *progress, bool *elsewhere)
{
    rd_device_run r = { .of     = rd_device_begin(plan, progress),
                        .plan   = plan,
                        .device = plan->backend->device };
    rd_frame_here here;
    bool          full;

    *elsewhere = false;
    r.queue    = rd_queue_of(plan->ctx, plan->backend, plan->device, &full, r.of.why);
    if (!r.queue) {
        rd_device_fail(&r.of, full ? RD_ERR_MEMORY : RD_ERR_DEVICE);
        *elsewhere = r.of.elsewhere;
        return r.of.status;
    }
    r.frame = rd_frame_take(plan, &here);
    if (!r.frame)
        return rd_no_memory(plan);
    r.of.status = rd_frame_bind_given(plan, r.frame, in, out);
    if (r.of.status == RD_OK)
        run_bound(&r);
    rd_frame_give(plan, r.frame, &here);
    *elsewhere = r.of.elsewhere;
    return r.of.status;
}
