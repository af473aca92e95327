/* api.h - OpenCL 1.2, found when it is first wanted.
 *
 * It is declared here, by api.def, so that no header of it is needed to build the library, and a
 * machine without it runs it. */
#ifndef RD_KERNELS_OPENCL_API_H
#define RD_KERNELS_OPENCL_API_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int32_t                   cl_int;
typedef uint32_t                  cl_uint;
typedef uint64_t                  cl_ulong;
typedef struct _cl_platform_id   *cl_platform_id;
typedef struct _cl_device_id     *cl_device_id;
typedef struct _cl_context       *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem           *cl_mem;
typedef struct _cl_program       *cl_program;
typedef struct _cl_kernel        *cl_kernel;
typedef struct _cl_event         *cl_event;

enum {
#define RD_OPENCL_NUMBER(name, number) name = number,
#define RD_OPENCL_ERROR(name, number)  name = number,
#include "kernels/opencl/api.def"
};
static const cl_ulong CL_DEVICE_TYPE_ALL = 0xffffffff;

/* Pointers to the functions of OpenCL, by name. */
typedef struct rd_opencl {
#define RD_OPENCL(returns, name, parameters) returns(*name) parameters;
#include "kernels/opencl/api.def"
} rd_opencl;

enum { RD_OPENCL_TEXT = 256 };

/* OpenCL's functions; or NULL, and `why` has a sentence: "libOpenCL.so.1 not found".  The first
 * call of the process looks for them, from any thread, and calls none of them. */
const rd_opencl *rd_opencl_api(const char **why);
/* ok(): true for success, else `why` has "clFinish: -5, CL_OUT_OF_RESOURCES".  is_full(): true if
 * memory is short. */
bool rd_opencl_ok(const char *function, cl_int error, char why[RD_OPENCL_TEXT]);
bool rd_opencl_is_full(cl_int error);
#endif
