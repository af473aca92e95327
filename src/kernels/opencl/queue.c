/* queue.c - OpenCL's queues: copies up and down, and the memory of runs. */
#include "kernels/opencl/queue.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- Queues ---------------------------------------------------------------------------------- */
/* Makes a queue of work for a device.  `stream` is ignored, as it could only be a CUDA stream.
 * NULL: `why` has the reason; *full: for lack of memory. */
rd_queue *rd_cl_open(int32_t device, void *stream, bool *full, char *why)
{
    rd_queue *queue = calloc(1, sizeof *queue);
    cl_int    error = CL_OUT_OF_HOST_MEMORY;

    (void)stream;
    *full = !queue;
    if (queue && (queue->device = rd_cl_device_of(device, why))) {
        queue->queue =
            rd_opencl_api(/*why=*/NULL)
                ->clCreateCommandQueue(queue->device->context, queue->device->id, 0, &error);
        *full = rd_opencl_is_full(error);
        if (rd_opencl_ok("clCreateCommandQueue", error, why))
            return queue;
    }
    free(queue);
    return NULL;
}

/* Frees a queue.  NULL is allowed. */
void rd_cl_close(rd_queue *queue)
{
    if (queue)
        (void)rd_opencl_api(/*why=*/NULL)->clReleaseCommandQueue(queue->queue);
    free(queue);
}

/* Waits until all work of the queue is done. */
bool rd_cl_settle(rd_queue *queue, char *why)
{
    return rd_opencl_ok("clFinish", rd_opencl_api(/*why=*/NULL)->clFinish(queue->queue), why);
}

/* Waits until all work of the queue is done.  The report is empty, as no run continues without
 * being waited for. */
bool rd_cl_wait(rd_queue *queue, rd_task *report, char *why)
{
    *report = (rd_task){ 0 };
    return rd_cl_settle(queue, why);
}

/* Returns the bytes of the device's memory; OpenCL does not tell how many are free. */
int64_t rd_cl_room(rd_queue *queue, int64_t wanted)
{
    (void)wanted;
    return queue->device->memory;
}

/* Finds the buffer with an address in its range, and the byte in it.  False: there is none, and
 * `why` says so. */
bool rd_cl_find_buffer(const void *at, cl_mem *memory, size_t *place, char *why)
{
    *memory = rd_cl_find(at, place);
    if (!*memory)
        snprintf(why, RD_OPENCL_TEXT, "no buffer of OpenCL is at this address");
    return *memory;
}

/* Copies from the host to the device, and waits for the copy. */
bool rd_cl_up(rd_queue *queue, void *to, const void *from, int64_t bytes, char *why)
{
    cl_mem memory;
    size_t place;

    return rd_cl_find_buffer(to, &memory, &place, why) &&
           rd_opencl_ok("clEnqueueWriteBuffer",
                        rd_opencl_api(/*why=*/NULL)
                            ->clEnqueueWriteBuffer(queue->queue, memory, true, place, (size_t)bytes,
                                                   from, 0, NULL, NULL),
                        why);
}

/* Copies from the device to the host, and waits for the copy. */
bool rd_cl_down(rd_queue *queue, void *to, const void *from, int64_t bytes, char *why)
{
    cl_mem memory;
    size_t place;

    return rd_cl_find_buffer(from, &memory, &place, why) &&
           rd_opencl_ok("clEnqueueReadBuffer",
                        rd_opencl_api(/*why=*/NULL)
                            ->clEnqueueReadBuffer(queue->queue, memory, true, place, (size_t)bytes,
                                                  to, 0, NULL, NULL),
                        why);
}

/* Begins a run: what the host asks of the device.  NULL: no memory. */
rd_submission *rd_cl_begin(rd_queue *queue, bool *full, char *why)
{
    rd_submission *s = calloc(1, sizeof *s);

    *full = !s;
    if (s)
        s->queue = queue;
    else
        snprintf(why, RD_OPENCL_TEXT, "out of memory");
    return s;
}

/* Takes memory of the device that is returned when the run ends.  NULL: `why` has the reason;
 * *full: for lack of memory. */
void *rd_cl_borrow(rd_submission *s, int64_t bytes, bool *full, char *why)
{
    if (s->n == s->room) {
        const int32_t room = s->room ? 2 * s->room : 16;
        void        **more = realloc(s->memory, (size_t)room * sizeof *more);

        *full = !more;
        if (!more) {
            snprintf(why, RD_OPENCL_TEXT, "out of memory");
            return NULL;
        }
        s->memory = more;
        s->room   = room;
    }
    s->memory[s->n] = rd_cl_get(s->queue->device, bytes, full, why);
    return s->memory[s->n] ? s->memory[s->n++] : NULL;
}

/* Waits until the run is over, returns its memory, and passes on its report. */
bool rd_cl_end(rd_submission *s, rd_task *report, char *why)
{
    const bool done = rd_cl_settle(s->queue, why);

    for (int32_t k = 0; k < s->n; k++)
        rd_cl_put(s->memory[k]);
    *report = s->report;
    free(s->memory);
    free(s);
    return done;
}
