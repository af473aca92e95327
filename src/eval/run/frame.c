/* frame.c - frames: their sizes, and the one that a plan keeps. */
#include "eval/run/frame.h"
#include <string.h>

#ifndef RD_CHECK
#define RD_CHECK 0
#endif

/* Frames have room for so much, once for the arrays between stages and once for what each task
 * works in.  What is larger is taken when it is needed: next to the work on it an allocation is
 * nothing, and a plan should hold little when it does not run. */
enum { KEEP = 256 << 10 };

/* ---- Tasks ----------------------------------------------------------------------------------- */
int64_t rd_task_bytes(const rd_program *p)
{
    int64_t bytes = rd_lines(p->state_bytes);

    for (int k = 0; k < p->n_scratch; k++)
        bytes = rd_bytes_add(bytes, rd_lines(p->scratch_bytes[k]));
    return bytes;
}

void rd_task_places(const rd_program *p, char *work, void **slot)
{
    char *at = work + rd_lines(p->state_bytes);

    for (int k = 0; k < p->n_scratch; k++) {
        slot[p->first_scratch + k] = at;
        at += rd_lines(p->scratch_bytes[k]);
    }
}

/* ---- Frames ---------------------------------------------------------------------------------- */
static int64_t pointer_bytes(const rd_plan *plan)
{
    int64_t most = 0;

    for (int s = 0; s < plan->n_stage; s++)
        if (plan->program[s].n_scratch > most)
            most = plan->program[s].n_scratch;
    return rd_lines((int64_t)sizeof(void *) * (plan->n_slot + most + 2 * (int64_t)plan->n_out));
}

/* The most of what stages need as one task, of those that fit. */
static int64_t work_bytes(const rd_plan *plan)
{
    int64_t most = 0;

    for (int s = 0; s < plan->n_stage; s++) {
        int64_t bytes = rd_task_bytes(&plan->program[s]);

        most = bytes > most && bytes <= KEEP ? bytes : most;
    }
    return most;
}

/* Places for the arrays between stages, if they are small together. */
static int64_t place_arrays(rd_plan *plan)
{
    int64_t bytes = 0;

    for (int s = 0; s < plan->n_slot; s++)
        if (plan->slot[s].kind == RD_SLOT_ARRAY) {
            plan->slot[s].at = bytes;
            bytes            = rd_bytes_add(bytes, rd_lines(plan->slot[s].bytes));
        }
    plan->arrays_apart = bytes > KEEP;
    return plan->arrays_apart ? 0 : bytes;
}

void rd_frame_measure(rd_plan *plan)
{
    plan->pointer_bytes = pointer_bytes(plan);
    plan->arrays_bytes  = place_arrays(plan);
    plan->work_bytes    = work_bytes(plan);
    plan->frame_bytes = rd_lines(sizeof(rd_frame)) + 64 + plan->pointer_bytes + plan->arrays_bytes +
                        plan->work_bytes;
}

/* A frame of several plans may have been another's, or a plan's that was here before. */
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

void rd_frame_free(rd_ctx *ctx, rd_frame *frame)
{
    if (frame)
        rd_free(ctx, frame->team);
    rd_free(ctx, frame);
}

rd_frame *rd_frame_take(const rd_plan *plan)
{
    rd_frame *frame = atomic_exchange_explicit(plan->frames, NULL, memory_order_acquire);

    if (frame && frame->room < plan->frame_bytes) {
        rd_frame_free(plan->ctx, frame);
        frame = NULL;
    }
    if (!frame && !(frame = new_frame(plan)))
        return NULL;
    lay_out(plan, frame);
    if (RD_CHECK) /* nobody may count on what an earlier run left, or on zeros */
        memset(frame->arrays, 0xA5, (size_t)(plan->arrays_bytes + plan->work_bytes));
    return frame;
}

void rd_frame_give(const rd_plan *plan, rd_frame *frame)
{
    rd_frame_free(plan->ctx, atomic_exchange_explicit(plan->frames, frame, memory_order_acq_rel));
}

void rd_frame_drop(rd_plan *plan)
{
    rd_frame_free(plan->ctx, plan->frame);
    plan->frame = NULL;
}

/* ---- Several tasks --------------------------------------------------------------------------- */
char *rd_frame_team(const rd_plan *plan, rd_frame *frame, int64_t bytes)
{
    if (frame->team_room < bytes) {
        rd_free(plan->ctx, frame->team);
        frame->team      = rd_alloc_work(plan->ctx, rd_bytes_add(bytes, 64));
        frame->team_room = frame->team ? bytes : 0;
    }
    if (!frame->team)
        return NULL;
    if (RD_CHECK)
        memset(frame->team, 0xA5, (size_t)frame->team_room);
    return rd_next_line(frame->team);
}

void rd_frame_end_team(const rd_plan *plan, rd_frame *frame, int n)
{
    if (frame->team_room <= n * (int64_t)KEEP)
        return;
    rd_free(plan->ctx, frame->team);
    frame->team      = NULL;
    frame->team_room = 0;
}
