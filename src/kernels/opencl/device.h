/* device.h - OpenCL's devices that compute as the CPU does, and their memory. */
#ifndef RD_KERNELS_OPENCL_DEVICE_H
#define RD_KERNELS_OPENCL_DEVICE_H
#include "kernels/opencl/api.h"

/* A device, and its context. */
typedef struct rd_cl_device {
    cl_device_id id;
    cl_context   context;
    char         name[128], version[256];
    int64_t      memory; /* bytes */
} rd_cl_device;

/* count(): the devices of all platforms; 0: none, and why.  device_of(): device k; NULL: there is
 * none, and why.  The first call finds them, and they stay for the life of the process. */
int32_t             rd_cl_count(const char **why);
const rd_cl_device *rd_cl_device_of(int32_t k, char why[RD_OPENCL_TEXT]);

/* ---- device_memory.c ------------------------------------------------------------------------- */
/* OpenCL's buffers have no addresses.  Each buffer gets a range of addresses that nothing else
 * has, so that callers may do arithmetic with them.  NULL: none, *full: for lack of memory. */
void *rd_cl_get(const rd_cl_device *device, int64_t bytes, bool *full, char why[RD_OPENCL_TEXT]);
void  rd_cl_put(void *at);
/* The buffer that contains an address, and the place in it; NULL: no buffer does. */
cl_mem rd_cl_find(const void *at, size_t *place);
#endif
