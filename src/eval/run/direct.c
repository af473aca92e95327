/* direct.c - fast path for small plans whose stages are one compiled function each.  The fixed
 * cost of a run would dominate here, so there is no frame and no watch, and all memory is on the
 * stack.
 *
 * A slot is a piece of memory that programs address; an extent is the range of its bytes that is
 * read or written.  Once computation has begun wrongly, the usual way runs the plan again. */
#include "eval/run/frame.h"
#include "eval/run/team.h"
#include <string.h>

#ifndef RD_CHECK
#define RD_CHECK 0
#endif

/* True if the range `mine` from address `base` on overlaps the range `its` from `other` on. */
static bool bytes_overlap(const char *base, const rd_extent *mine, const char *other,
                          const rd_extent *its)
{
    return base + mine->lo < other + its->hi && other + its->lo < base + mine->hi;
}

/* True if result k overlaps no input and no earlier result. Then a failed run may be repeated the
 * usual way; overlaps need the temporary memory of rd_frame_bind(). slot: addresses by slot. lo
 * and hi are the bytes that are used around an address; an empty range overlaps nothing. */
static bool overlaps_nothing(const rd_plan *plan, void *const *slot, int k)
{
    const rd_extent *mine = &plan->out_extent[k];
    const char      *base = slot[mine->slot];

    for (int s = 0; s < plan->n_slot; s++)
        if (plan->slot_extent[s].lo < plan->slot_extent[s].hi &&
            bytes_overlap(base, mine, slot[s], &plan->slot_extent[s]))
            return false;
    for (int i = 0; i < k; i++)
        if (bytes_overlap(base, mine, slot[plan->out_extent[i].slot], &plan->out_extent[i]))
            return false;
    return true;
}

/* Fills in the addresses of all slots. False: an address is missing, misaligned, or overlaps
 * another one; the usual way then reports or handles that. All tests are collected in `wrong`, for
 * fewer branches. in_slot is -1 for an input that no program reads. */
static bool bind(const rd_plan *plan, const void *const *in, void *const *out, void **slot)
{
    uintptr_t wrong = 0;

    for (int s = 0; s < plan->n_slot; s++)
        slot[s] = (void *)plan->slot_extent[s].data;
    for (int k = 0; k < plan->n_in; k++) {
        const int32_t s = plan->in_slot[k];

        if (s < 0)
            continue;
        slot[s] = in ? (void *)in[k] : NULL;
        wrong |= ((uintptr_t)slot[s] & plan->slot_extent[s].unaligned) | !slot[s];
    }
    for (int k = 0; k < plan->n_out; k++) {
        const rd_extent *e = &plan->out_extent[k];

        slot[e->slot] = out ? out[k] : (void *)e->data;
        wrong |= ((uintptr_t)slot[e->slot] & e->unaligned) | !slot[e->slot];
    }
    for (int k = 0; k < plan->n_out && !wrong; k++)
        wrong |= !overlaps_nothing(plan, slot, k);
    return !wrong;
}

/* True once all stages have compiled code. Compiled functions are never dropped, so the answer is
 * kept in the plan. */
static bool is_ready(const rd_plan *plan)
{
    _Atomic(bool) *ready =
        &((rd_plan *)plan)->ready; /* atomic, so that runs at the same time may set it */

    if (atomic_load_explicit(ready, memory_order_acquire))
        return true;
    for (int s = 0; s < plan->n_stage; s++)
        if (!plan->backend->is_here(&plan->program[s]))
            return false;
    atomic_store_explicit(ready, true, memory_order_release);
    return true;
}

/* Gives arrays between stages their addresses, in the memory from `at` on; returns the end of that
 * memory. */
static char *place_arrays(const rd_plan *plan, void **slot, char *at)
{
    for (int s = 0; s < plan->n_slot; s++)
        if (plan->slot[s].kind == RD_SLOT_ARRAY)
            slot[s] = at + plan->slot[s].at;
    return at + plan->arrays_bytes;
}

/* Runs one stage as a single task by its compiled function; false: the function found an error.
 * work: memory for its state and scratch. The task takes the whole root axis, or one index if
 * there is none (root -1). whole() is the compiled function of a stage. */
static bool run_stage(const rd_plan *plan, const rd_program *p, void **slot, char *work,
                      rd_run_stats *stats)
{
    rd_task task;

    if (p->n_scratch)
        rd_task_places(p, p->whole_bytes, work, slot);
    task.slot     = slot;
    task.state    = work;
    task.lo       = 0;
    task.hi       = p->root >= 0 ? p->axis_extent[p->root] : 1;
    task.strategy = NULL; /* the compiled function needs none */
    task.warnings = 0;
    task.status   = RD_OK;
    task.loads    = 0;
    if (!plan->backend->whole(p, &task))
        return false;
    if (task.warnings)
        rd_warn(plan->ctx, task.warnings);
    stats->loads += task.loads;
    stats->tasks = 1;
    return true;
}

/* Runs a small plan with all memory on the stack. False: it could not be run, or a stage found
 * an error; inputs are intact, and the caller runs the plan the usual way. `slot` has the
 * addresses by slot, in the first plan->pointer_bytes; `work` is the memory behind, of arrays
 * between stages first. is_ready(): all stages have compiled code; bind() fills in addresses,
 * and is false if one is not valid. */
bool rd_run_direct(const rd_plan *plan, const void *const *in, void *const *out,
                   rd_run_stats *stats)
{
    _Alignas(64) char memory[RD_DIRECT_BYTES];
    void            **slot = (void **)(void *)memory;
    char             *work = memory + plan->pointer_bytes;

    if (!is_ready(plan) || !bind(plan, in, out, slot))
        return false;
    if (RD_CHECK) /* fill with garbage, so that code which relies on zeros fails */
        memset(work, 0xA5, (size_t)(RD_DIRECT_BYTES - plan->pointer_bytes));
    if (plan->has_arrays)
        work = place_arrays(plan, slot, work);
    for (int s = 0; s < plan->n_stage; s++)
        if (!run_stage(plan, &plan->program[s], slot, work, stats))
            return false;
    return true;
}

/* ---- Choice of plans ------------------------------------------------------------------------- */
/* The most bytes that one task of any stage needs. */
static int64_t work_bytes(const rd_plan *plan)
{
    int64_t most = 0;

    for (int s = 0; s < plan->n_stage; s++) {
        const int64_t bytes = rd_task_bytes(&plan->program[s], plan->program[s].whole_bytes);

        most = bytes > most ? bytes : most;
    }
    return most;
}

/* True if the plan may run by rd_run_direct(): little work in each stage, memory of at most
 * RD_DIRECT_BYTES, one thread, no steps (runs that may be cancelled), and all results stored by
 * programs. Tests that make teams share small work (rd_team_shares_all()) exclude it, as it has
 * one thread. */
bool rd_is_direct(const rd_plan *plan)
{
    if (!plan->backend->whole || plan->steps || (plan->threads && rd_team_shares_all()) ||
        plan->arrays_apart ||
        rd_bytes_add(plan->pointer_bytes + plan->arrays_bytes, work_bytes(plan)) > RD_DIRECT_BYTES)
        return false;
    for (int s = 0; s < plan->n_stage; s++)
        if (plan->program[s].work >= RD_SMALL_WORK)
            return false;
    for (int k = 0; k < plan->n_out; k++)
        if (plan->out[k].slot < 0)
            return false;
    return true;
}
