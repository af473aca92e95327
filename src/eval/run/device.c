/* device.c - a run on a device: what lies in this process's memory is copied there, stages run one
 * after the other in the context's queue, and results are copied back.  A run all of whose results
 * are there may be left to go on by itself.
 *
 * Where a device has not enough memory, large leaves and results stay in this process's, and stages
 * take and give a part of them at a time. */
#include "eval/run/device.h"
#include "core/bytes.h"
#include "eval/run/recorded.h"
#include "eval/run/room.h"
#include "eval/tuning.h"
#include <stdio.h>
#include <string.h>

/* ---- Memory ---------------------------------------------------------------------------------- */
static bool get(rd_device_run *r, int s, int64_t bytes)
{
    bool full;

    if (r->got[s]) /* a recording's */
        return true;
    r->got[s] = r->device->borrow(r->asked, bytes > 0 ? bytes : 1, &full, r->of.why);
    if (!r->got[s])
        rd_device_fail(&r->of, full ? RD_ERR_MEMORY : RD_ERR_DEVICE);
    return r->got[s];
}

static bool overlaps(const char *a, const rd_extent *mine, const char *b, const rd_extent *its)
{
    return mine->lo < mine->hi && its->lo < its->hi && a + mine->lo < b + its->hi &&
           b + its->lo < a + mine->hi;
}

/* Is it written while it may still be read? */
static bool meets_result(const rd_device_run *r, int s)
{
    for (int k = 0; k < r->plan->n_out; k++)
        if (r->plan->out[k].slot >= 0 && r->plan->out[k].device &&
            overlaps(r->frame->slot[s], &r->plan->slot_extent[s], r->frame->target[k],
                     &r->plan->out_extent[k]))
            return true;
    return false;
}

/* What is there already stays where it is, but what a result overlaps is copied, too. */
static void bring(rd_device_run *r, int s)
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
    done = here ? r->device->up(r->queue, r->got[s], from, e->hi - e->lo, r->of.why)
                : r->device->across(r->queue, r->got[s], from, e->hi - e->lo, r->of.why);
    if (!done)
        rd_device_fail(&r->of, RD_ERR_DEVICE);
    r->slot[s] = (char *)r->got[s] - e->lo;
}

/* Results there that overlap are written aside, and then in their order. */
static bool meets_other(const rd_device_run *r, int k)
{
    const rd_plan *plan = r->plan;

    for (int i = 0; i < plan->n_out; i++)
        if (i != k && plan->out[i].slot >= 0 && plan->out[i].device &&
            overlaps(r->frame->target[k], &plan->out_extent[k], r->frame->target[i],
                     &plan->out_extent[i]))
            return true;
    return false;
}

static void place_result(rd_device_run *r, int s)
{
    const int        k = r->plan->slot[s].result;
    const rd_extent *e = &r->plan->out_extent[k];

    if (r->plan->out[k].device && !meets_other(r, k))
        r->slot[s] = r->frame->target[k];
    else if (get(r, s, e->hi - e->lo))
        r->slot[s] = (char *)r->got[s] - e->lo;
}

static bool is_dense(const rd_output *o)
{
    return rd_points(o->rank, o->extent) == o->hi - o->lo;
}

/* ---- Data that stay here --------------------------------------------------------------------- */
static bool is_large(const rd_device_run *r, const rd_extent *e)
{
    return rd_room_is_large(e->hi - e->lo, r->room);
}

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

static bool keep_leaf(rd_device_run *r, int s)
{
    if (r->plan->slot[s].device == 0 && is_large(r, &r->plan->slot_extent[s]))
        r->host[s] = r->frame->slot[s];
    return r->host[s];
}

/* Parts of it would be written before a leaf there has been read, or out of the order of results. */
static bool meets_any(const rd_device_run *r, int k)
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

static bool keep_result(rd_device_run *r, int s)
{
    const int        k = r->plan->slot[s].result;
    const rd_output *o = &r->plan->out[k];

    if (o->device == 0 && is_large(r, &r->plan->out_extent[k]) && is_dense(o) && !meets_any(r, k))
        r->host[s] = r->frame->target[k];
    return r->host[s];
}

void rd_device_place(rd_device_run *r)
{
    for (int s = 0; s < r->plan->n_slot && r->of.status == RD_OK; s++)
        switch (r->plan->slot[s].kind) {
        case RD_SLOT_LEAF:
        case RD_SLOT_INPUT:
            if (!r->tight || !keep_leaf(r, s))
                bring(r, s);
            break;
        case RD_SLOT_OUTPUT:
            if (r->plan->out[r->plan->slot[s].result].slot == s &&
                (!r->tight || !keep_result(r, s)))
                place_result(r, s);
            break;
        case RD_SLOT_ARRAY:
            if (get(r, s, r->plan->slot[s].bytes))
                r->slot[s] = r->got[s];
            break;
        }
}

/* ---- Results --------------------------------------------------------------------------------- */
/* What lies between the elements of a result is the caller's: they come by way of memory aside. */
static void take_apart(rd_device_run *r, int k)
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

static void take_dense(rd_device_run *r, int k)
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

void rd_device_results(rd_device_run *r)
{
    r->of.stores = true;
    for (int k = 0; k < r->plan->n_out && r->of.status == RD_OK; k++) {
        const rd_output *o = &r->plan->out[k];

        if (o->slot < 0 || !r->got[o->slot])
            continue;
        if (is_dense(o))
            take_dense(r, k);
        else if (o->device) {
            snprintf(r->of.why, sizeof r->of.why,
                     "results %d and another overlap on a GPU, and have gaps between elements", k);
            rd_device_fail(&r->of, RD_ERR_DEVICE);
        } else
            take_apart(r, k);
    }
}

/* ---- Stages ---------------------------------------------------------------------------------- */
static bool touches(const rd_program *p, int slot)
{
    return rd_program_accesses(p, RD_I_LOAD, slot) || rd_program_accesses(p, RD_I_STORE, slot);
}

/* A stage that cannot take parts of what stayed here needs all of it. */
static void bring_what_stayed(rd_device_run *r, const rd_program *p)
{
    for (int s = 0; s < r->plan->n_slot && r->of.status == RD_OK; s++) {
        if (!r->host[s] || !touches(p, s))
            continue;
        r->host[s] = NULL;
        (r->plan->slot[s].kind == RD_SLOT_OUTPUT ? place_result : bring)(r, s);
    }
}

/* Does the stage take parts of something?  What an earlier one has left of results must be here. */
static bool takes_parts(rd_device_run *r, const rd_program *p, bool *parts)
{
    bool some = false;

    for (int s = 0; s < r->plan->n_slot; s++)
        some |= parts[s] = r->host[s] && touches(p, s);
    if (!some)
        return false;
    if (!r->device->windows || !r->device->windows(p, r->queue, parts)) {
        bring_what_stayed(r, p);
        return false;
    }
    if (!r->device->synchronise(r->queue, r->of.why))
        rd_device_fail(&r->of, RD_ERR_DEVICE);
    return true;
}

/* ---- Measuring ------------------------------------------------------------------------------- */
static void *piece(void *pool, size_t bytes)
{
    return rd_pool_get(pool, bytes);
}

/* A stage that reads what it stores would not store the same again. */
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

/* Before its run, which tells of what is wrong. */
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

static void run_stage(rd_device_run *r, const rd_program *p, bool *parts)
{
    const rd_device_host host = { .at = r->host, .tell = rd_device_tell, .user = &r->of };
    const bool           some = takes_parts(r, p, parts);
    rd_device_end        end;

    r->of.stores |= some;
    if (r->of.status == RD_OK && r->plan->measures && r->device->measure &&
        !rd_tuned(r->plan->ctx, p))
        measure_stage(r, p, !some);
    if (r->of.status != RD_OK ||
        r->device->run(p, r->asked, r->slot, some ? &host : NULL, &end, r->of.why))
        return;
    if (end == RD_DEVICE_CANCELLED)
        rd_device_cancelled(&r->of);
    else
        rd_device_fail(&r->of, end == RD_DEVICE_FULL ? RD_ERR_MEMORY : RD_ERR_DEVICE);
}

/* Between stages an evaluation may be cancelled. */
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

static bool are_results_there(const rd_plan *plan)
{
    bool all = true;

    for (int k = 0; k < plan->n_out; k++)
        all &= plan->out[k].slot < 0 || plan->out[k].device;
    return all;
}

/* Of a run that has failed what it reports is not asked. */
static void finish(rd_device_run *r)
{
    const bool waits  = !r->plan->async || r->of.status != RD_OK || !are_results_there(r->plan);
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

void rd_device_clear(rd_device_run *r)
{
    memset(r->slot, 0, 3 * ((size_t)r->plan->n_slot + 1) * sizeof *r->slot);
}

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
    finish(r);
}

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
    rd_device_told(&r->of);
    rd_free(r->plan->ctx, lists);
}

rd_status rd_run_on_device(const rd_plan *plan, const void *const *in, void *const *out,
                           const rd_progress *progress, bool *elsewhere)
{
    rd_device_run r = { .of     = rd_device_begins(plan, progress),
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
    r.of.status = rd_bind_given(plan, r.frame, in, out);
    if (r.of.status == RD_OK)
        run_bound(&r);
    rd_frame_give(plan, r.frame, &here);
    *elsewhere = r.of.elsewhere;
    return r.of.status;
}
