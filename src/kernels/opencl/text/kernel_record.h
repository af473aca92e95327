/* kernel_record.h - what kernels report.  The library and its kernels both read this header. */
#ifndef RD_KERNELS_OPENCL_KERNEL_RECORD_H
#define RD_KERNELS_OPENCL_KERNEL_RECORD_H
#include <stdint.h>

enum { RD_CL_GROUP = 64, RD_CL_SENTENCE = 256 };

/* `least` is the first item with an invalid index.  An item that runs alone says which index was
 * its first invalid one. */
typedef struct rd_cl_record {
    uint32_t least, warnings;
    int32_t  found, is_unsigned;
    int64_t  index, extent;
} rd_cl_record;
#endif
