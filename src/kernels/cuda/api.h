/* api.h - CUDA's driver, its compiler NVRTC and cuBLAS, found when they are first wanted.
 *
 * They are declared here, by api.def, so that no toolkit is needed to build the library, and a
 * machine without a GPU runs it.  Environment: RDIM_LIBCUDA, RDIM_LIBNVRTC and RDIM_LIBCUBLAS name
 * other files. */
#ifndef RD_KERNELS_CUDA_API_H
#define RD_KERNELS_CUDA_API_H
#include <stdbool.h>
#include <stddef.h>

/* A test includes the toolkit's own headers before this one.  What are enums there are int here, as
 * in the files' interface. */
#ifndef CUDA_VERSION
typedef int CUresult, CUdevice, CUdevice_attribute, CUfunction_attribute, nvrtcResult;
typedef int CUstreamCaptureMode;
typedef unsigned long long     CUdeviceptr;
typedef struct CUctx_st       *CUcontext;
typedef struct CUmod_st       *CUmodule;
typedef struct CUfunc_st      *CUfunction;
typedef struct CUstream_st    *CUstream;
typedef struct CUevent_st     *CUevent;
typedef struct CUgraph_st     *CUgraph;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct _nvrtcProgram  *nvrtcProgram;

enum {
#define RD_NUMBER(name, number) name = number,
#include "kernels/cuda/api.def"
};
#endif
#ifndef CUBLAS_VERSION
typedef int cublasStatus_t, cublasOperation_t, cublasComputeType_t, cublasGemmAlgo_t;
typedef int cudaDataType, libraryPropertyType;
typedef struct cublasContext *cublasHandle_t;

enum {
#define RD_CUBLAS_NUMBER(name, number) name = number,
#include "kernels/cuda/api.def"
};
#endif

/* Pointers to the functions of the driver, by name. */
typedef struct rd_cuda {
#define RD_DRIVER(name, parameters)   CUresult(*name) parameters;
#define RD_OPTIONAL(name, parameters) CUresult(*name) parameters; /* NULL: it has none */
#include "kernels/cuda/api.def"
} rd_cuda;

/* Pointers to the functions of NVRTC, by name. */
typedef struct rd_nvrtc {
#define RD_NVRTC(returns, name, parameters) returns(*name) parameters;
#include "kernels/cuda/api.def"
} rd_nvrtc;

/* Pointers to the functions of cuBLAS, by name. */
typedef struct rd_cublas {
#define RD_CUBLAS(returns, name, parameters) returns(*name) parameters;
#include "kernels/cuda/api.def"
} rd_cublas;

/* The driver's functions; or NULL, and `why` has a sentence: "libcuda.so.1 not found",
 * "libcuda.so.1 lacks cuLaunchKernel".  The first call of the process looks for them, from any
 * thread.  It calls none of them, not even cuInit. */
const rd_cuda *rd_cuda_api(const char **why);
/* NVRTC's functions, and cuBLAS's, which take long to load. */
const rd_nvrtc  *rd_nvrtc_api(const char **why);
const rd_cublas *rd_cublas_api(const char **why);

enum { RD_CUDA_TEXT = 256 };
/* Writes "cuLaunchKernel: 700, an illegal memory access was encountered", with a function's name
 * as in api.def.  It cuts what is too long. */
void rd_cuda_error(const char *function, CUresult error, char text[RD_CUDA_TEXT]);
/* "nvrtcCompileProgram: 6, NVRTC_ERROR_COMPILATION" */
void rd_nvrtc_error(const char *function, nvrtcResult error, char text[RD_CUDA_TEXT]);
/* "cublasGemmEx: 13, CUBLAS_STATUS_EXECUTION_FAILED" */
void rd_cublas_error(const char *function, cublasStatus_t status, char text[RD_CUDA_TEXT]);
#endif
