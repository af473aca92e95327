/* queue.h - OpenCL's queues, and the runs that use them; queue.c and kernel_run.c share this. */
#ifndef RD_KERNELS_OPENCL_QUEUE_H
#define RD_KERNELS_OPENCL_QUEUE_H
#include "kernels/opencl/kernel_run.h"

/* A queue of work for a device. */
struct rd_queue {
    const rd_cl_device *device;
    cl_command_queue    queue;
};

/* A run: what the host asks of a device. */
struct rd_submission {
    rd_queue *queue;
    void    **memory;  /* memory that the run has borrowed */
    int32_t   n, room; /* pieces of memory; how many the list can have */
    rd_task   report;  /* errors and warnings so far */
};

/* The buffer that contains an address, and the bytes before the address in it.  False: there is
 * none. */
bool rd_cl_find_buffer(const void *at, cl_mem *memory, size_t *place, char *why);
#endif
