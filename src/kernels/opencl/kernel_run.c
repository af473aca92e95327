/* kernel_run.c - runs a stage on a queue of OpenCL: launches its kernels, and reads what they
 * report.
 *
 * A slot is a buffer of the program.  An item is one unit of work, done by one thread. */
#include "kernels/opencl/queue.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- One stage ------------------------------------------------------------------------------- */
/* The arguments of the kernels of a run. */
typedef struct run_call {
    const rd_cl_code *code;
    rd_submission    *s;
    void             *record, *nodes; /* memory for errors, and for partial results or NULL */
    const cl_mem     *buffer;         /* by slot; NULL: no kernel touches the slot */
    int64_t          *number;         /* the argument's numbers, see RD_CL_SLOTS */
    rd_device_end    *end;            /* how a run fails */
    char             *why;
} run_call;

/* Returns the numbers of a kernel's first argument. They are the first item and the end of the
 * items (RD_CL_SLOTS is 2), a place for each slot (buffer), and the n_number numbers that the
 * text reads as N[k]. */
static int32_t count_of(const rd_printing *n)
{
    return RD_CL_SLOTS + n->n_slot + n->n_number;
}

/* True if an OpenCL call failed: then c->why gets the error, and *c->end tells if memory was
 * short. */
static bool has_failed(const run_call *c, const char *function, cl_int error)
{
    if (rd_opencl_is_full(error))
        *c->end = RD_DEVICE_FULL;
    return !rd_opencl_ok(function, error, c->why);
}

/* Sets a kernel's arguments in the order of its parameters: the array of numbers, the error
 * record, the buffers of the slots that the program accesses, and the partials of ranges, if
 * there are any. */
static bool set_arguments(const run_call *c, cl_kernel kernel)
{
    const rd_opencl *const api = rd_opencl_api(/*why=*/NULL);
    const rd_printing     *n   = &c->code->text->print;
    cl_uint                k   = 2;
    size_t                 place;
    cl_mem                 record = rd_cl_find(c->record, &place);
    cl_int                 error =
        api->clSetKernelArg(kernel, 0, (size_t)count_of(n) * sizeof *c->number, c->number);

    if (error == CL_SUCCESS)
        error = api->clSetKernelArg(kernel, 1, sizeof record, &record);
    for (int32_t s = 0; s < n->n_slot && error == CL_SUCCESS; s++)
        if (c->buffer[s])
            error = api->clSetKernelArg(kernel, k++, sizeof c->buffer[s], &c->buffer[s]);
    if (c->nodes && error == CL_SUCCESS) {
        cl_mem nodes = rd_cl_find(c->nodes, &place);

        error = api->clSetKernelArg(kernel, k++, sizeof nodes, &nodes);
    }
    return !has_failed(c, "clSetKernelArg", error);
}

/* Enqueues a kernel for work items [first, end), in whole groups of RD_CL_GROUP; items behind
 * the end return at once. */
static bool launch(const run_call *c, cl_kernel kernel, int64_t first, int64_t end)
{
    const size_t items = (size_t)((end - first + RD_CL_GROUP - 1) / RD_CL_GROUP * RD_CL_GROUP),
                 group = RD_CL_GROUP;

    c->number[RD_CL_FIRST] = first;
    c->number[RD_CL_END]   = end;
    return set_arguments(c, kernel) &&
           !has_failed(c, "clEnqueueNDRangeKernel",
                       rd_opencl_api(/*why=*/NULL)
                           ->clEnqueueNDRangeKernel(c->s->queue->queue, kernel, 1, NULL, &items,
                                                    &group, 0, NULL, NULL));
}

static const rd_cl_record nothing = { .least = UINT32_MAX }; /* a record without any failure */

/* Writes the error of an invalid index to the report. */
static void report_index(const rd_cl_record *found, rd_task *report)
{
    report->status = RD_ERR_AXIS;
    if (found->is_unsigned)
        snprintf(report->sentence, sizeof report->sentence,
                 "rd_take: index %" PRIu64 " is outside an axis of extent %" PRId64,
                 (uint64_t)found->index, found->extent);
    else
        snprintf(report->sentence, sizeof report->sentence,
                 "rd_take: index %" PRId64 " is outside an axis of extent %" PRId64, found->index,
                 found->extent);
}

/* Reads what items from `first` on have reported: warnings, and which item was the first to meet
 * an invalid index (least). The index itself is not there unless an item ran alone; so that item
 * runs again, alone, to say which index it was. */
static bool read_record(const run_call *c, cl_kernel kernel, int64_t first)
{
    rd_task *const report = &c->s->report;
    rd_cl_record   found;

    if (!rd_cl_down(c->s->queue, &found, c->record, sizeof found, c->why))
        return false;
    report->warnings |= found.warnings;
    if (found.least == nothing.least || report->status != RD_OK)
        return true;
    first += found.least;
    if (!found.found && (!launch(c, kernel, first, first + 1) ||
                         !rd_cl_down(c->s->queue, &found, c->record, sizeof found, c->why)))
        return false;
    report_index(&found, report);
    return true;
}

/* Runs all items of a kernel, in launches of at most 2^30, since the error record numbers items
 * by 32 bits. If the text reports anything, the record is cleared before each launch and read
 * behind it. It ends at the first error that a record reports. */
static bool run_kernel(const run_call *c, cl_kernel kernel, int64_t items)
{
    static const int64_t MOST = INT64_C(1) << 30;

    for (int64_t at = 0; at < items && c->s->report.status == RD_OK; at += MOST) {
        const int64_t end = items - at < MOST ? items : at + MOST;

        if (!c->code->text->reports) {
            if (!launch(c, kernel, at, end))
                return false;
        } else if (!rd_cl_up(c->s->queue, c->record, &nothing, sizeof nothing, c->why) ||
                   !launch(c, kernel, at, end) || !read_record(c, kernel, at))
            return false;
    }
    return true;
}

/* Runs a program's kernels "rdim0", "rdim1", .. one after the other. */
static bool run_kernels(const run_call *c)
{
    const rd_opencl *const api  = rd_opencl_api(/*why=*/NULL);
    const rd_cl_text      *t    = c->code->text;
    bool                   done = true;

    for (int32_t k = 0; k < t->n_kernel && done; k++) {
        char      name[16];
        cl_int    error;
        cl_kernel kernel;

        snprintf(name, sizeof name, "rdim%d", (int)k);
        kernel = api->clCreateKernel(c->code->program, name, &error);
        if (has_failed(c, "clCreateKernel", error))
            return false;
        done = run_kernel(c, kernel, t->items[k]);
        (void)api->clReleaseKernel(kernel);
    }
    return done;
}

/* ---- Buffers of slots ------------------------------------------------------------------------ */
/* Returns the address of one element of the slot (buffer of the program) that is accessed; NULL:
 * there is no access. The slot's base itself may lie outside of its OpenCL buffer, as views have
 * offsets. */
static const char *element_of(const rd_program *p, int32_t slot, const void *base)
{
    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == RD_I_LOAD || p->inst[i].kind == RD_I_STORE) {
            const rd_address *at = &p->address[p->inst[i].arg];

            if (at->slot == slot)
                return (const char *)base + at->offset * rd_dtype_size(at->type);
        }
    return NULL;
}

/* Finds, for each slot (buffer of the program) that it accesses, the OpenCL buffer, and the byte
 * in it where the slot's base would be. That byte may be negative, as views have offsets; so an
 * element that is accessed is looked up. */
static bool find_slots(const rd_program *p, const run_call *c, void *const *slot, cl_mem *buffer)
{
    for (int32_t s = 0; s < p->first_scratch && s < c->code->text->print.n_slot; s++) {
        const char *const element = element_of(p, s, slot[s]);
        size_t            place;

        if (!element)
            continue;
        if (!rd_cl_find_buffer(element, &buffer[s], &place, c->why))
            return false;
        c->number[RD_CL_SLOTS + s] = (int64_t)place - (element - (const char *)slot[s]);
    }
    return true;
}

/* Runs a program's kernels: takes memory for the error record and the partials of ranges, finds
 * the buffers of all slots, and enqueues the kernels. No data can stay on the host, so `host` is
 * unused. False: *end and `why` say how it failed. */
bool rd_cl_run(const rd_program *p, rd_submission *s, void *const *slot, const rd_device_host *host,
               rd_device_end *end, char *why)
{
    const rd_cl_code  *code   = p->code;
    const rd_printing *n      = &code->text->print;
    int64_t           *number = calloc((size_t)count_of(n), sizeof *number);
    cl_mem            *buffer = calloc((size_t)n->n_slot + 1, sizeof(cl_mem));
    bool               full = !number || !buffer, done = false;
    run_call           c = {
                  .code = code, .s = s, .buffer = buffer, .number = number, .end = end, .why = why
    };

    (void)host;
    *end = RD_DEVICE_FAILED;
    if (full)
        snprintf(why, RD_OPENCL_TEXT, "out of memory");
    else
        c.record = rd_cl_borrow(s, sizeof(rd_cl_record), &full, why);
    if (c.record && code->text->ranges.bytes)
        c.nodes = rd_cl_borrow(s, code->text->ranges.bytes, &full, why);
    if (full)
        *end = RD_DEVICE_FULL;
    if (c.record && !full) {
        for (int32_t k = 0; k < n->n_number; k++)
            number[RD_CL_SLOTS + n->n_slot + k] = n->number[k];
        done = find_slots(p, &c, slot, buffer) && run_kernels(&c);
    }
    free(number);
    free(buffer);
    return done;
}
