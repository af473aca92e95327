/* frame.c - frames: sizes, allocation, and the frame that a plan keeps between runs.
 *
 * A frame is the memory of one run.  The working memory of a task is its state (registers and
 * cells of folds) and then its scratch.  All pieces begin at cache lines.
 *
 * Words. A slot is a buffer that a program reads or writes. */
#include "eval/run/frame.h"
#include <string.h>

#ifndef RD_CHECK
#define RD_CHECK 0
#endif

/* Largest size that a frame reserves, once for the arrays between stages and once for a task's
 * working memory.  Anything larger is allocated when needed: the allocation costs little beside
 * the work, and an idle plan should hold little memory. */
enum { KEEP = 256 << 10 };

/* ---- Tasks ----------------------------------------------------------------------------------- */
/* Bytes of one task's memory: `state` bytes of state (registers, accumulators), then its scratch
 * slots, each piece in whole cache lines. */
int64_t rd_task_bytes(const rd_program *p, int64_t state)
{
    int64_t bytes = rd_lines(state);

    for (int k = 0; k < p->n_scratch; k++)
        bytes = rd_bytes_add(bytes, rd_lines(p->scratch_bytes[k]));
    return bytes;
}

/* Assigns addresses to a task's scratch slots: in the memory `work`, behind `state` bytes of
 * state. */
void rd_task_places(const rd_program *p, int64_t state, char *work, void **slot)
{
    char *at = work + rd_lines(state);

    for (int k = 0; k < p->n_scratch; k++) {
        slot[p->first_scratch + k] = at;
        at += rd_lines(p->scratch_bytes[k]);
    }
}

/* ---- Frames ---------------------------------------------------------------------------------- */
/* Bytes of the address tables in a frame (memory of one run): one for each slot, for the scratch
 * slots (a task's temporary memory) of any stage, and two for each result. */
static int64_t pointer_bytes(const rd_plan *plan)
{
    int64_t most = 0;

    for (int s = 0; s < plan->n_stage; s++)
        if (plan->program[s].n_scratch > most)
            most = plan->program[s].n_scratch;
    return rd_lines((int64_t)sizeof(void *) * (plan->n_slot + most + 2 * (int64_t)plan->n_out));
}

/* The bytes that a frame (memory of one run) reserves for one task: the most that any of n stages
 * needs, of those that need at most KEEP. *fits: that are all stages. */
int64_t rd_frame_work(int n, const rd_program *p, bool *fits)
{
    int64_t most = 0;

    *fits = true;
    for (int s = 0; s < n; s++) {
        int64_t bytes = rd_task_bytes(&p[s], p[s].state_bytes);

        most = bytes > most && bytes <= KEEP ? bytes : most;
        *fits &= bytes <= KEEP;
    }
    return most;
}

/* Assigns offsets in the frame to the arrays between stages if all together take at most KEEP;
 * else marks them for allocations of their own. Returns the bytes reserved. A single device has
 * them in its own memory. rd_lines() rounds up to whole cache lines. */
static int64_t place_arrays(rd_plan *plan)
{
    int64_t bytes = 0;

    for (int s = 0; s < plan->n_slot && (!plan->backend->device || plan->devices > 1); s++)
        if (plan->slot[s].kind == RD_SLOT_ARRAY) {
            plan->has_arrays = true;
            plan->slot[s].at = bytes;
            bytes            = rd_bytes_add(bytes, rd_lines(plan->slot[s].bytes));
        }
    plan->arrays_apart = bytes > KEEP;
    return plan->arrays_apart ? 0 : bytes;
}

/* The byte range and alignment mask of memory that holds elements [lo, hi) around the address
 * `data`. */
static rd_extent extent_of(rd_dtype type, int64_t lo, int64_t hi, const void *data, int32_t slot)
{
    const int64_t size = rd_dtype_size(type);

    return (rd_extent){ .unaligned = (uintptr_t)size - 1,
                        .lo        = lo * size,
                        .hi        = hi * size,
                        .data      = data,
                        .slot      = slot };
}

/* Computes the byte range of each input and result, for tests of overlap. Slots that are not read,
 * or are empty, keep an empty range, which overlaps nothing. False: no memory. lo and hi bound
 * the elements that are read or written around the address; extent_of() makes bytes of them. */
static bool measure_memory(rd_plan *plan)
{
    plan->slot_extent = rd_pool_get(plan->pool, (size_t)(plan->n_slot + 1) * sizeof(rd_extent));
    plan->out_extent  = rd_pool_get(plan->pool, (size_t)(plan->n_out + 1) * sizeof(rd_extent));
    if (!plan->slot_extent || !plan->out_extent)
        return false;
    for (int s = 0; s < plan->n_slot; s++) {
        const rd_slot *slot = &plan->slot[s];

        plan->slot_extent[s].data = slot->data;
        if (slot->kind == RD_SLOT_LEAF || slot->kind == RD_SLOT_INPUT)
            plan->slot_extent[s] = extent_of(slot->type, slot->lo, slot->hi, slot->data, s);
    }
    for (int k = 0; k < plan->n_out; k++) {
        const rd_output *o = &plan->out[k];

        if (o->slot >= 0)
            plan->out_extent[k] = extent_of(o->type, o->lo, o->hi, o->data, o->slot);
    }
    return true;
}

/* Computes the sizes of the plan's frames (memory of one run), and whether its small runs need
 * none (direct). False: no memory. frame_bytes: the frame's record, address tables, arrays and
 * one task's memory, with 64 bytes more to align them. */
bool rd_frame_measure(rd_plan *plan)
{
    if (!measure_memory(plan))
        return false;
    plan->pointer_bytes = pointer_bytes(plan);
    plan->arrays_bytes  = place_arrays(plan);
    plan->work_bytes    = rd_frame_work(plan->n_stage, plan->program, &plan->fits);
    plan->frame_bytes   = rd_lines(sizeof(rd_frame)) + /*alignment=*/64 + plan->pointer_bytes +
                        plan->arrays_bytes + plan->work_bytes;
    plan->direct = !plan->backend->device && rd_is_direct(plan);
    return true;
}

/* Sets the frame's pointers for this plan: address tables, arrays, a task's memory, one behind the
 * other. A kept frame may have been laid out for another plan. target and aside have an address
 * for each result, slot one for each slot; work is a task's memory. */
static void lay_out(const rd_plan *plan, rd_frame *frame)
{
    char *at = rd_next_line((char *)frame + sizeof *frame);

    frame->target = (void **)(void *)at;
    frame->aside  = frame->target + plan->n_out;
    frame->slot   = frame->aside + plan->n_out;
    frame->arrays = at + plan->pointer_bytes;
    frame->work   = frame->arrays + plan->arrays_bytes;
    for (int k = 0; k < plan->n_out; k++)
        frame->aside[k] = NULL;
}

/* Allocates a frame for a plan; NULL: no memory. */
static rd_frame *new_frame(const rd_plan *plan)
{
    rd_frame *frame = rd_alloc_work(plan->ctx, plan->frame_bytes);

    if (frame) {
        frame->room      = plan->frame_bytes;
        frame->team      = NULL;
        frame->team_room = 0;
    }
    return frame;
}

/* Frees a frame (memory of one run) and its memory for several tasks; NULL is allowed. */
void rd_frame_free(rd_ctx *ctx, rd_frame *frame)
{
    if (frame)
        rd_free(ctx, frame->team);
    rd_free(ctx, frame);
}

/* Takes the kept frame if it is large enough, else makes one. The exchange is atomic, because
 * another run may want it, too. NULL: no memory. */
static rd_frame *take_kept(const rd_plan *plan)
{
    rd_frame *frame = atomic_exchange_explicit(plan->frames, NULL, memory_order_acquire);

    if (frame && frame->room < plan->frame_bytes) {
        rd_frame_free(plan->ctx, frame);
        frame = NULL;
    }
    return frame ? frame : new_frame(plan);
}

/* Takes a frame (memory of one run): on the caller's stack if it is small, else the kept one, else
 * newly allocated. Small plans use the stack because two atomic exchanges cost as much as their
 * work. NULL: no memory. RD_CHECK is set in builds that check. */
rd_frame *rd_frame_take(const rd_plan *plan, rd_frame_here *here)
{
    rd_frame *frame;

    if (plan->frame_bytes <= RD_FRAME_HERE) {
        frame            = (rd_frame *)(void *)here->at;
        frame->team      = NULL;
        frame->team_room = 0;
    } else if (!(frame = take_kept(plan)))
        return NULL;
    lay_out(plan, frame);
    /* fill with garbage, so that code which relies on zeros or on an earlier run fails */
    if (RD_CHECK)
        memset(frame->arrays, 0xA5, (size_t)(plan->arrays_bytes + plan->work_bytes));
    return frame;
}

/* Gives a frame (memory of one run) back: it is kept for the next run, and the one kept before is
 * freed. Of a frame on the stack, only what it has allocated is freed. */
void rd_frame_give(const rd_plan *plan, rd_frame *frame, const rd_frame_here *here)
{
    if (here->at == (char *)frame) {
        if (frame->team)
            rd_free(plan->ctx, frame->team);
        return;
    }
    rd_frame_free(plan->ctx, atomic_exchange_explicit(plan->frames, frame, memory_order_acq_rel));
}

/* Frees the frame (memory of one run) that the plan itself keeps between runs. */
void rd_frame_drop(rd_plan *plan)
{
    rd_frame_free(plan->ctx, plan->frame);
    plan->frame = NULL;
}

/* ---- Several tasks --------------------------------------------------------------------------- */
/* Memory of the frame for several tasks of a stage, aligned to a cache line and not zeroed. It is
 * the kept one if that is large enough. NULL: no memory. RD_CHECK: it is filled with garbage, so
 * that code which relies on zeros fails. */
char *rd_frame_team(const rd_plan *plan, rd_frame *frame, int64_t bytes)
{
    if (frame->team_room < bytes) {
        rd_free_work(plan->ctx, frame->team);
        frame->team      = rd_alloc_work(plan->ctx, rd_bytes_add(bytes, 64));
        frame->team_room = frame->team ? bytes : 0;
    }
    if (!frame->team)
        return NULL;
    if (RD_CHECK)
        memset(frame->team, 0xA5, (size_t)frame->team_room);
    return rd_next_line(frame->team);
}

/* Frees the memory for several tasks if it is larger than KEEP for each of n threads; else it stays
 * for the next stage. */
void rd_frame_end_team(const rd_plan *plan, rd_frame *frame, int n)
{
    if (frame->team_room <= n * (int64_t)KEEP)
        return;
    rd_free_work(plan->ctx, frame->team);
    frame->team      = NULL;
    frame->team_room = 0;
}
