/* api.h - CUDA's driver and its compiler NVRTC, found when they are first wanted.
 *
 * Both are declared here, by api.def, so that no toolkit is needed to build the library, and a
 * machine without a GPU runs it.  Environment: RDIM_LIBCUDA and RDIM_LIBNVRTC name other files. */
#ifndef RD_KERNELS_CUDA_API_H
#define RD_KERNELS_CUDA_API_H
#include <stdbool.h>
#include <stddef.h>

/* A test includes the toolkit's own headers before this one. */
#ifndef CUDA_VERSION
/* What are enums there are int, as in the files' interface. */
typedef int CUresult, CUdevice, CUdevice_attribute, CUfunction_attribute, nvrtcResult;
typedef unsigned long long    CUdeviceptr;
typedef struct CUctx_st      *CUcontext;
typedef struct CUmod_st      *CUmodule;
typedef struct CUfunc_st     *CUfunction;
typedef struct CUstream_st   *CUstream;
typedef struct CUevent_st    *CUevent;
typedef struct _nvrtcProgram *nvrtcProgram;

enum {
#define RD_NUMBER(name, number) name = number,
#include "kernels/cuda/api.def"
};
#endif

typedef struct rd_cuda {
#define RD_DRIVER(name, parameters) CUresult(*name) parameters;
#include "kernels/cuda/api.def"
} rd_cuda;

typedef struct rd_nvrtc {
#define RD_NVRTC(returns, name, parameters) returns(*name) parameters;
#include "kernels/cuda/api.def"
} rd_nvrtc;

/* The driver's functions, or NULL and in `why` a sentence: "libcuda.so.1 not found", "libcuda.so.1
 * lacks cuLaunchKernel".  Looked for once in a process; from any thread.  Nothing is called of it,
 * not even cuInit. */
const rd_cuda *rd_cuda_api(const char **why);
/* The same of NVRTC. */
const rd_nvrtc *rd_nvrtc_api(const char **why);

enum { RD_CUDA_TEXT = 256 };
/* "cuLaunchKernel: 700, an illegal memory access was encountered", of a function's name as in
 * api.def; what is too long is cut. */
void rd_cuda_error(const char *function, CUresult error, char text[RD_CUDA_TEXT]);
/* "nvrtcCompileProgram: 6, NVRTC_ERROR_COMPILATION" */
void rd_nvrtc_error(const char *function, nvrtcResult error, char text[RD_CUDA_TEXT]);
#endif
