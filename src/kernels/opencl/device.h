/* device.h - what OpenCL has that computes as the CPU does, and memory of it. */
#ifndef RD_KERNELS_OPENCL_DEVICE_H
#define RD_KERNELS_OPENCL_DEVICE_H
#include "kernels/opencl/api.h"

typedef struct rd_cl_device {
    cl_device_id id;
    cl_context   context;
    char         name[128], version[256];
    int64_t      memory;
} rd_cl_device;

/* How many, of all platforms; 0: none, and why.  Number k of them; NULL: there is none, and why.
 * They are looked for once, and stay for the life of the process. */
int32_t             rd_cl_count(const char **why);
const rd_cl_device *rd_cl_device_of(int32_t k, char why[RD_OPENCL_TEXT]);

/* ---- device_memory.c --------------------------------------------------------------------------------- */
/* Buffers of OpenCL have no addresses.  Each is given a range of addresses that nothing else has, so
 * that those who plan runs may add to them and subtract.  NULL: none, *full: for want of memory. */
void *rd_cl_get(const rd_cl_device *device, int64_t bytes, bool *full, char why[RD_OPENCL_TEXT]);
void  rd_cl_put(void *at);
/* The buffer that an address lies in, and where in it; NULL: in none. */
cl_mem rd_cl_find(const void *at, size_t *place);
#endif
