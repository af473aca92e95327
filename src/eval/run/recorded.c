/* recorded.c - recordings of runs on a device (CUDA graphs), which a later run at the same device
 * addresses launches by one call.  See recorded.h.
 *
 * Words. A slot is a buffer that a program reads or writes. */
#include "eval/run/recorded.h"
#include <string.h>

/* Two recordings a plan, so that runs which alternate between two buffers (ping-pong) hit both. */
enum { RECORDINGS = 2 };

/* One set of device addresses, the recording made for it, and the recording's memory. */
typedef struct recorded {
    void        **given;     /* addresses by slot, then by result; NULL: not on the device */
    bool          used;      /* a run had these addresses */
    rd_recording *recording; /* NULL: only one run had them so far */
    void        **got;       /* by slot: memory that the recording holds */
} recorded;

/* All recordings of a plan. */
typedef struct rd_recordings {
    bool     refused;        /* no recording can be made */
    bool     again;          /* this run's addresses, those of of[0], occurred before */
    recorded of[RECORDINGS]; /* the latest run's first */
} rd_recordings;

/* ---- Addresses ------------------------------------------------------------------------------- */
/* True if slot s is a leaf or input in the device's own memory. */
static bool is_there(const rd_plan *plan, int s)
{
    const rd_slot *slot = &plan->slot[s];

    return (slot->kind == RD_SLOT_LEAF || slot->kind == RD_SLOT_INPUT) && slot->device > 0;
}

/* The address in device memory of slot k or, from n_slot on, of result k - n_slot; NULL: it is not
 * on the device. Arrays between stages and scratch are not compared, as the run chooses their
 * memory. */
static void *address(const rd_plan *plan, const rd_frame *frame, int k)
{
    const int result = k - plan->n_slot;

    if (result < 0)
        return is_there(plan, k) ? frame->slot[k] : NULL;
    return plan->out[result].slot >= 0 && plan->out[result].device > 0 ? frame->target[result]
                                                                       : NULL;
}

/* The number of addresses by which runs are compared: of slots, then of results. */
static int n_address(const rd_plan *plan)
{
    return plan->n_slot + plan->n_out;
}

/* True if an earlier run had the addresses r->given, and this run has the same ones. */
static bool has_addresses_of(const rd_plan *plan, const rd_frame *frame, const recorded *r)
{
    bool same = r->used;

    for (int k = 0; k < n_address(plan); k++)
        same &= r->given[k] == address(plan, frame, k);
    return same;
}

/* ---- The plan's recordings ------------------------------------------------------------------- */
/* Makes the empty entries of a plan, with their tables in the same block of memory; NULL: no
 * memory. The caller frees it by drop(). */
static rd_recordings *new_recordings(const rd_plan *plan)
{
    const size_t   each = (size_t)n_address(plan) + (size_t)plan->n_slot;
    rd_recordings *all =
        rd_alloc_quiet(plan->ctx, (int64_t)(sizeof *all + RECORDINGS * each * sizeof(void *)));
    void **at = (void **)(void *)(all + 1);

    if (!all)
        return NULL;
    *all = (rd_recordings){ .again = false };
    for (size_t k = 0; k < RECORDINGS * each; k++)
        at[k] = NULL;
    for (int i = 0; i < RECORDINGS; i++, at += each)
        all->of[i] = (recorded){ .given = at, .got = at + n_address(plan) };
    return all;
}

/* Moves entry i to the front; those before it move back by one. */
static void to_front(rd_recordings *all, int i)
{
    const recorded r = all->of[i];

    for (; i > 0; i--)
        all->of[i] = all->of[i - 1];
    all->of[0] = r;
}

/* Moves the entry with this run's device addresses to the front. New addresses replace the least
 * recently used entry, whose recording is freed. `again`: a run had these addresses before.
 * forget() frees a recording; NULL is allowed. */
static void find(const rd_plan *plan, const rd_frame *frame, rd_recordings *all)
{
    int i = 0;

    while (i < RECORDINGS && !has_addresses_of(plan, frame, &all->of[i]))
        i++;
    all->again = i < RECORDINGS;
    to_front(all, all->again ? i : RECORDINGS - 1);
    if (all->again)
        return;
    plan->backend->device->forget(all->of[0].recording);
    all->of[0].recording = NULL;
    all->of[0].used      = true;
    for (int k = 0; k < n_address(plan); k++)
        all->of[0].given[k] = address(plan, frame, k);
}

/* Frees all recordings and their memory; NULL is allowed. */
static void drop(const rd_plan *plan, rd_recordings *all)
{
    if (!all)
        return;
    for (int i = 0; i < RECORDINGS; i++)
        plan->backend->device->forget(all->of[i].recording);
    rd_free(plan->ctx, all);
}

/* Puts recordings (NULL: none) into the plan and returns those that were there. Atomic, because
 * runs may happen at the same time. */
static rd_recordings *exchange(const rd_plan *plan, rd_recordings *all)
{
    return atomic_exchange(&((rd_plan *)plan)->recordings, all);
}

/* Takes the plan's recordings out for one run, with the entry of this run's addresses in front;
 * NULL: the run goes without, as the plan is not recorded, is asynchronous, or measures. */
static rd_recordings *take(const rd_plan *plan, const rd_frame *frame)
{
    rd_recordings *all;

    if (!plan->records || plan->async || plan->measures)
        return NULL;
    all = exchange(plan, /*all=*/NULL);
    all = all ? all : new_recordings(plan);
    if (all)
        find(plan, frame, all);
    return all;
}

/* Gives the recordings back to the plan. If two runs gave theirs at the same time, the later ones
 * stay. */
static void give(const rd_plan *plan, rd_recordings *all)
{
    drop(plan, exchange(plan, all));
}

/* Frees all recordings of the plan. */
void rd_recordings_drop(rd_plan *plan)
{
    drop(plan, exchange(plan, /*all=*/NULL));
}

/* ---- Runs ------------------------------------------------------------------------------------ */
/* True if all stages can be recorded and there is more than one launch.  A single launch gains
 * nothing. */
static bool may_be_recorded(const rd_plan *plan)
{
    const rd_device_table *const device   = plan->backend->device;
    int                          launches = 0;

    for (int k = 0; k < plan->n_stage; k++) {
        const int here = device->records ? device->records(&plan->program[k]) : 0;

        if (here == 0)
            return false;
        launches += here;
    }
    return launches > 1;
}

/* Records the stages in place of running them (as a CUDA graph), with device memory that the
 * recording holds from then on. Leaves are copied to the device at once. Failures are in the run's
 * state. From record() on, what the submission is asked is recorded and not run; recorded() ends
 * that. */
static void record(rd_device_run *r, recorded *into)
{
    if (may_be_recorded(r->plan))
        into->recording = r->device->record(r->queue, &r->asked, r->of.why);
    if (into->recording)
        rd_device_place(r);
    if (into->recording && r->of.status == RD_OK)
        rd_device_stages(r);
    if (r->of.status == RD_OK &&
        !(into->recording && r->device->recorded(into->recording, r->of.why)))
        rd_device_fail(&r->of, RD_ERR_DEVICE);
    memcpy(into->got, r->got, sizeof *r->got * (size_t)r->plan->n_slot);
}

/* Copies leaves in host memory into the device memory that the recording holds. */
static void place_again(rd_device_run *r, const recorded *last)
{
    memcpy(r->got, last->got, sizeof *r->got * (size_t)r->plan->n_slot);
    rd_device_place(r);
}

/* Launches all stages of a recording by one call, and copies results. False: nothing was
 * launched. The queue is waited for, as results must be complete before the caller reads them. */
static bool replay(rd_device_run *r, rd_recording *recording)
{
    if (!r->device->replay(recording, r->queue, r->of.why))
        return false;
    rd_device_results(r);
    if (!r->device->synchronise(r->queue, r->of.why) && r->of.status == RD_OK)
        rd_device_fail(&r->of, RD_ERR_DEVICE);
    return true;
}

/* Frees the failed recording; the plan makes no more, unless the run was only cancelled. Waits
 * first, because copies into its memory may still be under way. The run may then go on without
 * a recording. of[0] is the entry of this run; `elsewhere`: the results can still be computed
 * otherwise. */
static void give_up(rd_device_run *r, rd_recordings *all)
{
    (void)r->device->synchronise(r->queue, r->of.why);
    r->device->forget(all->of[0].recording);
    all->of[0].recording = NULL;
    all->refused         = r->of.status != RD_ERR_CANCELLED;
    if (r->of.elsewhere)
        r->of.status = RD_OK;
    r->of.elsewhere = false;
    rd_device_clear(r);
}

/* Runs by a recording (CUDA graph) if these device addresses occurred before (again); the second
 * run with them makes it. False: nothing was done, as there is none or only the recording failed.
 * refused: one failed before. While r->of.tries is set, a failure is the recording's, not the
 * run's. If only the recording failed, the status is RD_OK again and the run goes on without it. */
static bool run_recorded(rd_device_run *r, rd_recordings *all)
{
    recorded *const last = &all->of[0];

    if (!all->again || all->refused)
        return false;
    r->of.tries = true;
    if (last->recording)
        place_again(r, last);
    else
        record(r, last);
    r->of.tries = false;
    if (r->of.status == RD_OK && replay(r, last->recording))
        return true;
    give_up(r, all);
    return r->of.status != RD_OK;
}

/* Runs by a recording (CUDA graph), if device memory is not tight and this run's device addresses
 * occurred before. False: there is none, and nothing was done. take() and give() take the plan's
 * recordings for the run, and give them back. */
bool rd_run_recorded(rd_device_run *r)
{
    rd_recordings *const all  = r->tight ? NULL : take(r->plan, r->frame);
    bool                 done = false;

    if (all) {
        done = run_recorded(r, all);
        give(r->plan, all);
    }
    return done;
}
