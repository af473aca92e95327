/* dlpack.h - DLPack's structures, as the ABI of major version 1 and the unversioned one fix
 * them.  So rdim needs no header of DLPack; tests/test_dlpack_header.c compares both. */
#ifndef RD_IO_DLPACK_H
#define RD_IO_DLPACK_H
#include "rdim.h"

/* Device types. */
enum { RD_DL_CPU = 1, RD_DL_CUDA = 2, RD_DL_CUDA_HOST = 3, RD_DL_CUDA_MANAGED = 13 };
/* Type codes of elements. */
enum {
    RD_DL_INT,
    RD_DL_UINT,
    RD_DL_FLOAT,
    RD_DL_BFLOAT = 4,
    RD_DL_COMPLEX,
    RD_DL_BOOL,
    RD_DL_FLOAT8_E4M3FN = 10 /* since DLPack 1.1 */
};
/* Flags of versioned tensors. */
enum { RD_DL_READ_ONLY = 1 };

/* A tensor: DLTensor of DLPack. */
typedef struct rd_dl_tensor {
    void    *data;
    int32_t  device, device_number; /* type, and which one of that type */
    int32_t  rank;
    uint8_t  code, bits;  /* kind and size of an element */
    uint16_t lanes;       /* of a vector type; 1 */
    int64_t *shape;       /* `rank` extents */
    int64_t *strides;     /* in elements; NULL: dense, last axis contiguous */
    uint64_t byte_offset; /* from `data` to element [0, ..., 0] */
} rd_dl_tensor;

/* A tensor with its owner (manager), as before version 1.0; deleter() frees both. */
struct DLManagedTensor {
    rd_dl_tensor tensor;
    void        *manager;
    void (*deleter)(struct DLManagedTensor *self); /* NULL: no action is needed */
};

/* All versions have the same fields up to the deleter. */
struct DLManagedTensorVersioned {
    uint32_t major, minor;
    void    *manager;
    void (*deleter)(struct DLManagedTensorVersioned *self); /* NULL: no action is needed */
    uint64_t     flags;
    rd_dl_tensor tensor;
};
#endif
