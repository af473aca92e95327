/* test_cuda_api.c - what api.def declares is what the toolkit's headers declare.
 *
 * Nothing runs: what is wrong does not compile.  Skipped where there is no toolkit. */
#if __has_include(<cuda.h>) && __has_include(<nvrtc.h>) && __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
#include <cuda.h>
#include <nvrtc.h>
#include "kernels/cuda/api.h"

/* Types are the headers' here, so that pointers to functions must be the same. */
#define RD_DRIVER(name, parameters)                                                           \
    _Static_assert(__builtin_types_compatible_p(__typeof__(&(name)), CUresult(*) parameters), \
                   #name);
#define RD_OPTIONAL(name, parameters) RD_DRIVER(name, parameters)
#define RD_NVRTC(returns, name, parameters) \
    _Static_assert(__builtin_types_compatible_p(__typeof__(&(name)), returns(*) parameters), #name);
#define RD_CUBLAS(returns, name, parameters) \
    _Static_assert(__builtin_types_compatible_p(__typeof__(&(name)), returns(*) parameters), #name);
#define RD_CUBLAS_NUMBER(name, number) RD_NUMBER(name, number)
#define RD_NUMBER(name, number)        _Static_assert((name) == (number), #name);
#include "kernels/cuda/api.def"

/* What api.h says the types are where there are no headers. */
#define SAME_SIZE(type, ours) _Static_assert(sizeof(type) == sizeof(ours), #type)
SAME_SIZE(CUresult, int);
SAME_SIZE(CUstreamCaptureMode, int);
SAME_SIZE(CUdevice_attribute, int);
SAME_SIZE(CUfunction_attribute, int);
SAME_SIZE(nvrtcResult, int);
SAME_SIZE(cublasStatus_t, int);
SAME_SIZE(cublasOperation_t, int);
SAME_SIZE(cublasComputeType_t, int);
SAME_SIZE(cublasGemmAlgo_t, int);
SAME_SIZE(cudaDataType, int);
SAME_SIZE(libraryPropertyType, int);
_Static_assert(__builtin_types_compatible_p(CUdevice, int), "CUdevice");
_Static_assert(__builtin_types_compatible_p(CUdeviceptr, unsigned long long), "CUdeviceptr");
_Static_assert(__builtin_types_compatible_p(CUcontext, struct CUctx_st *), "CUcontext");
_Static_assert(__builtin_types_compatible_p(cublasHandle_t, struct cublasContext *), "handle");
_Static_assert(__builtin_types_compatible_p(nvrtcProgram, struct _nvrtcProgram *), "nvrtcProgram");

int main(void)
{
    return 0;
}
#else
#include <stdio.h>

int main(void)
{
    puts("skipped: no <cuda.h>, <nvrtc.h> and <cublas_v2.h> here");
    return 77;
}
#endif
