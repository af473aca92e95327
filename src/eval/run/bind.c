/* bind.c - binds the slots of a run to addresses: inputs and results as given, and temporary
 * memory for a result that must not be written in place yet.
 *
 * A slot is a piece of memory that programs address: a leaf, an input, a result, or an array
 * between stages.  A target is where the caller wants a result.
 *
 * Words. The frame is the memory of one run. */
#include "eval/run/frame.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Records that there is no memory for arrays of a run; returns the status. */
rd_status rd_no_memory(const rd_plan *plan)
{
    rd_fail_memory(plan->ctx, 0, "%s: no memory for what is kept between loops",
                   plan->call ? plan->call : rd_call_name(plan->ctx));
    return RD_ERR_MEMORY;
}

/* ---- Overlaps -------------------------------------------------------------------------------- */

/* A range of addresses: [lo, hi). */
typedef struct span {
    const char *lo, *hi;
} span;

/* The range of bytes that a slot covers from this base address. */
static span span_of(const void *base, const rd_extent *e)
{
    return (span){ (const char *)base + e->lo, (const char *)base + e->hi };
}

/* True if two ranges of addresses have a common byte; an empty range has none. */
static bool spans_overlap(span a, span b)
{
    return a.lo < a.hi && b.lo < b.hi && a.lo < b.hi && b.lo < a.hi;
}

/* True if result k, which covers the bytes `mine`, overlaps an input that it must not overwrite in
 * place. Several devices read inputs at different times, so there no overlap is safe. A slot
 * without address or of an empty range (lo >= hi), such as an array between stages, is no input. */
static bool overlaps_input(const rd_plan *plan, const rd_frame *f, int k, span mine)
{
    for (int s = 0; s < plan->n_slot; s++) {
        const rd_extent *e = &plan->slot_extent[s];

        if (e->lo < e->hi && f->slot[s] && spans_overlap(mine, span_of(f->slot[s], e)) &&
            (plan->devices > 1 ||
             !rd_alias_safe(plan, plan->out[k].slot, f->target[k], s, f->slot[s])))
            return true;
    }
    return false;
}

/* True if result k must be computed in temporary memory and copied at the end: its bytes overlap
 * another result's, or an input that is still read. */
static bool needs_scratch(const rd_plan *plan, const rd_frame *f, int k)
{
    const span mine = span_of(f->target[k], &plan->out_extent[k]);

    if (overlaps_input(plan, f, k, mine))
        return true;
    for (int i = 0; i < plan->n_out; i++)
        if (i != k && plan->out[i].slot >= 0 &&
            spans_overlap(mine, span_of(f->target[i], &plan->out_extent[i])))
            return true;
    return false;
}

/* ---- Addresses ------------------------------------------------------------------------------- */
/* True if the address is not NULL and is aligned: its lowest bits (unaligned) are 0. */
static bool is_valid_address(const void *address, const rd_extent *e)
{
    return address && ((uintptr_t)address & e->unaligned) == 0;
}

/* Records the error of an address that is NULL or misaligned, and returns its status.  `what` is
 * "input" or "result". */
static rd_status refuse(const rd_plan *plan, const char *what, int k, const void *address,
                        rd_dtype type)
{
    char sentence[128];

    if (address)
        snprintf(sentence, sizeof sentence,
                 "rd_plan_run: the address %p of %s %d is not aligned for %s", address, what, k,
                 rd_dtype_name(type));
    else
        snprintf(sentence, sizeof sentence, "rd_plan_run: the address of %s %d is NULL", what, k);
    return rd_fail_run(plan->ctx, RD_ERR_ARGUMENT, sentence);
}

/* Checks the address of input or result k for NULL and alignment to its type; records the
 * failure. */
rd_status rd_check_address(const rd_plan *plan, const char *what, int k, const void *address,
                           rd_dtype type)
{
    const rd_extent e = { .unaligned = (uintptr_t)rd_dtype_size(type) - 1 };

    return is_valid_address(address, &e) ? RD_OK : refuse(plan, what, k, address, type);
}

/* Fills in the addresses of leaves (the plan's own) and of inputs (the caller's, which are
 * checked). An input with slot -1 is read by no program. f->slot has the addresses by slot;
 * is_valid_address(): not NULL, and aligned; refuse() records that it is not. */
static rd_status bind_inputs(const rd_plan *plan, rd_frame *f, const void *const *in)
{
    for (int s = 0; s < plan->n_slot; s++)
        f->slot[s] = (void *)plan->slot[s].data;
    for (int k = 0; k < plan->n_in; k++) {
        const void   *given = in ? in[k] : NULL;
        const int32_t s     = plan->in_slot[k];

        if (s < 0)
            continue;
        if (!is_valid_address(given, &plan->slot_extent[s]))
            return refuse(plan, "input", k, given, plan->slot[s].type);
        f->slot[s] = (void *)given;
    }
    return RD_OK;
}

/* Binds the slot of result k to the caller's memory; if writing in place is not safe, to temporary
 * memory with room for elements [lo, hi) around the base address. The base address then lies lo
 * elements before the temporary memory's begin; lo is negative if strides are. */
static rd_status bind_result(const rd_plan *plan, rd_frame *f, int k)
{
    const rd_output *o = &plan->out[k];
    int              size;

    f->slot[o->slot] = f->target[k];
    if (!needs_scratch(plan, f, k))
        return RD_OK;
    size        = rd_dtype_size(o->type);
    f->aside[k] = rd_alloc_quiet(plan->ctx, rd_bytes_times(o->hi - o->lo, size));
    if (!f->aside[k])
        return rd_no_memory(plan);
    f->slot[o->slot] = (char *)f->aside[k] - o->lo * size;
    return RD_OK;
}

/* Fills in where the caller wants each result, and checks these addresses. A result with slot -1
 * has no elements, and needs no address. */
static rd_status bind_targets(const rd_plan *plan, rd_frame *f, void *const *out)
{
    for (int k = 0; k < plan->n_out; k++) {
        f->target[k] = out ? out[k] : plan->out[k].data;
        if (plan->out[k].slot >= 0 && !is_valid_address(f->target[k], &plan->out_extent[k]))
            return refuse(plan, "result", k, f->target[k], plan->out[k].type);
    }
    return RD_OK;
}

/* Binds inputs and results to the caller's addresses, checked, without temporary memory for
 * overlaps. */
rd_status rd_frame_bind_given(const rd_plan *plan, rd_frame *frame, const void *const *in,
                              void *const *out)
{
    const rd_status status = bind_inputs(plan, frame, in);

    return status == RD_OK ? bind_targets(plan, frame, out) : status;
}

/* Binds the slots of all results. */
static rd_status bind_results(const rd_plan *plan, rd_frame *f)
{
    rd_status status = RD_OK;

    for (int k = 0; k < plan->n_out && status == RD_OK; k++)
        if (plan->out[k].slot >= 0)
            status = bind_result(plan, f, k);
    return status;
}

/* Binds the arrays between stages: to memory in the frame (the memory of one run), or each to an
 * allocation of its own if they are large together. arrays_apart: they are large; slot->at: the
 * offset of an array in the frame. */
static rd_status bind_arrays(const rd_plan *plan, rd_frame *f)
{
    for (int s = 0; s < plan->n_slot; s++) {
        const rd_slot *slot = &plan->slot[s];

        if (slot->kind != RD_SLOT_ARRAY)
            continue;
        f->slot[s] =
            plan->arrays_apart ? rd_alloc_work(plan->ctx, slot->bytes) : f->arrays + slot->at;
        if (!f->slot[s])
            return rd_no_memory(plan);
    }
    return RD_OK;
}

/* Gives all slots of a run addresses: inputs, results, and arrays between stages.  Returns the
 * status of the first failure, which is recorded.  What was taken until then is freed by
 * rd_frame_unbind(), also after a failure. */
rd_status rd_frame_bind(const rd_plan *plan, rd_frame *frame, const void *const *in,
                        void *const *out)
{
    rd_status status = rd_frame_bind_given(plan, frame, in, out);

    if (status == RD_OK)
        status = bind_results(plan, frame);
    return status == RD_OK && plan->has_arrays ? bind_arrays(plan, frame) : status;
}

/* ---- After the run --------------------------------------------------------------------------- */
/* The axis with the smallest stride among those of more than one index; -1: there is none. */
static int row_axis(const rd_output *o)
{
    int row = -1;

    for (int a = 0; a < o->rank; a++)
        if (o->extent[a] > 1 && (row < 0 || llabs(o->stride[a]) < llabs(o->stride[row])))
            row = a;
    return row;
}

/* Copies n elements of `size` bytes each that lie `pitch` bytes apart in both memories; nothing
 * between them. */
static void copy_row(char *to, const char *from, int64_t n, int64_t pitch, int size)
{
    if (pitch == size)
        memcpy(to, from, (size_t)(n * size));
    else
        for (int64_t i = 0; i < n; i++)
            memcpy(to + i * pitch, from + i * pitch, (size_t)size);
}

/* Moves the index to the next row in C order, where `row` is the axis along rows (-1: none); false
 * after the last row. */
static bool next_row(const rd_output *o, int row, int64_t *index)
{
    for (int a = o->rank; a-- > 0; index[a] = 0)
        if (a != row && ++index[a] < o->extent[a])
            return true;
    return false;
}

/* Copies the elements of a result, row by row along its axis of least stride. The caller's bytes
 * between elements are left alone. `row` is that axis; -1: there is one element. A row is copied
 * at once if its elements adjoin. */
void rd_copy_out(const rd_output *o, char *to, const char *from)
{
    const int size = rd_dtype_size(o->type), row = row_axis(o);
    int64_t   index[RD_MAX_RANK] = { 0 };

    do {
        int64_t at = 0;

        for (int a = 0; a < o->rank; a++)
            at += index[a] * o->stride[a] * size;
        copy_row(to + at, from + at, row < 0 ? 1 : o->extent[row],
                 row < 0 ? size : o->stride[row] * size, size);
    } while (next_row(o, row, index));
}

/* Copies results out of temporary memory, if the run went well, and frees all memory that
 * rd_frame_bind() took. arrays_apart: arrays between stages have memory of their own.
 * frame->aside[k] is the temporary memory of result k, NULL: none, and frame->target[k] the
 * caller's. */
void rd_frame_unbind(const rd_plan *plan, rd_frame *frame, rd_status status)
{
    for (int s = 0; s < plan->n_slot && plan->arrays_apart; s++)
        if (plan->slot[s].kind == RD_SLOT_ARRAY)
            rd_free_work(plan->ctx, frame->slot[s]);
    for (int k = 0; k < plan->n_out; k++) {
        if (!frame->aside[k])
            continue;
        if (status == RD_OK)
            rd_copy_out(&plan->out[k], frame->target[k], frame->slot[plan->out[k].slot]);
        rd_free_work(plan->ctx, frame->aside[k]);
        frame->aside[k] = NULL;
    }
}
