/* device_memory.c - OpenCL's buffers by address, see device.h. */
#include "kernels/opencl/device.h"
#include <pthread.h>
#include <stdlib.h>

/* A buffer, and its range of addresses. */
typedef struct buffer {
    struct buffer *next;
    uintptr_t      at; /* the first address of its range */
    size_t         bytes;
    cl_mem         memory; /* OpenCL's object */
} buffer;

/* No process has memory from 2^60 on.  Ranges are at least a page apart. */
enum { PAGE = 4096 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static buffer         *buffers;
static uintptr_t       next_at = (uintptr_t)1 << 60;

/* Creates a buffer of the device and gives it a range of addresses that nothing else in the
 * process has.  NULL: `why` has the reason; *full: for lack of memory.  At least a page between
 * ranges belongs to none. */
void *rd_cl_get(const rd_cl_device *device, int64_t bytes, bool *full, char why[RD_OPENCL_TEXT])
{
    buffer *b     = calloc(1, sizeof *b);
    cl_int  error = CL_OUT_OF_HOST_MEMORY;

    *full = true;
    if (!b) {
        (void)rd_opencl_ok("clCreateBuffer", error, why);
        return NULL;
    }
    b->memory =
        rd_opencl_api(/*why=*/NULL)
            ->clCreateBuffer(device->context, CL_MEM_READ_WRITE, (size_t)bytes, NULL, &error);
    *full = rd_opencl_is_full(error);
    if (!rd_opencl_ok("clCreateBuffer", error, why)) {
        free(b);
        return NULL;
    }
    b->bytes = (size_t)bytes;
    pthread_mutex_lock(&lock);
    b->at = next_at;
    next_at += ((size_t)bytes + 2 * PAGE) / PAGE * PAGE;
    b->next = buffers;
    buffers = b;
    pthread_mutex_unlock(&lock);
    return (void *)b->at;
}

/* Releases the buffer that begins at the address; an address of no buffer is ignored. */
void rd_cl_put(void *at)
{
    buffer *found = NULL;

    pthread_mutex_lock(&lock);
    for (buffer **b = &buffers; *b; b = &(*b)->next)
        if ((*b)->at == (uintptr_t)at) {
            found = *b;
            *b    = found->next;
            break;
        }
    pthread_mutex_unlock(&lock);
    if (found)
        (void)rd_opencl_api(/*why=*/NULL)->clReleaseMemObject(found->memory);
    free(found);
}

/* Returns the buffer with an address in its range, and the byte in it; NULL: there is none.  The
 * difference is unsigned, so an address before the range gives a large number. */
cl_mem rd_cl_find(const void *at, size_t *place)
{
    cl_mem memory = NULL;

    pthread_mutex_lock(&lock);
    for (const buffer *b = buffers; b && !memory; b = b->next)
        if ((uintptr_t)at - b->at < b->bytes) {
            memory = b->memory;
            *place = (uintptr_t)at - b->at;
        }
    pthread_mutex_unlock(&lock);
    return memory;
}
