/* fake_kernels.c - see fake_kernels.h. */
#include "fake_kernels.h"

const char add_text[] = PRELUDE "extern \"C\" __global__ void __launch_bounds__(128)\n"
                                "add(const float *x, const float *y, float *z, int n)\n"
                                "{\n"
                                "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                "    if (i < n)\n"
                                "        z[i] = x[i] + y[i];\n"
                                "}\n";
/* Each block's sum: lanes by shuffles, warps by shared memory; blocks by an atomic. */
const char sum_text[] =
    PRELUDE "extern \"C\" __global__ void sum(const float *x, unsigned *z, int n)\n"
            "{\n"
            "    RD_SHARED(unsigned, warps, 4);\n"
            "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
            "    unsigned  a = i < n ? (unsigned)x[i] : 0u;\n"
            "    for (int k = 16; k > 0; k /= 2)\n"
            "        a += __shfl_xor_sync(0xffffffffu, a, k);\n"
            "    if (threadIdx.x % 32 == 0)\n"
            "        warps[threadIdx.x / 32] = a;\n"
            "    __syncthreads();\n"
            "    if (threadIdx.x == 0)\n"
            "        atomicAdd(z, warps[0] + warps[1] + warps[2] + warps[3]);\n"
            "}\n";
/* What each way of passing values in a warp gives thread 40. */
const char pass_text[] =
    PRELUDE "extern \"C\" __global__ void pass(int *z)\n"
            "{\n"
            "    const int t = threadIdx.x;\n"
            "    const int got[] = { __shfl_sync(~0u, t, 3), __shfl_xor_sync(~0u, t, 5),\n"
            "                        __shfl_down_sync(~0u, t, 2), __shfl_up_sync(~0u, t, 9),\n"
            "                        (int)__ballot_sync(~0u, t % 2 == 0),\n"
            "                        __shfl_sync(~0u, t, 3, 8) };\n"
            "    if (t == 40)\n"
            "        for (int i = 0; i < 6; i++)\n"
            "            z[i] = got[i];\n"
            "}\n";
/* As much shared memory as the launch asks for. */
const char dynamic_text[] = PRELUDE "extern \"C\" __global__ void fill(float *z)\n"
                                    "{\n"
                                    "    RD_SHARED_DYNAMIC(float, part);\n"
                                    "    for (int i = threadIdx.x; i < 20000; i += 128)\n"
                                    "        part[i] = i;\n"
                                    "    __syncthreads();\n"
                                    "    if (threadIdx.x == 7)\n"
                                    "        *z = part[19999];\n"
                                    "}\n";
/* A warp's own part of an array, and its own barrier. */
const char warps_text[] = PRELUDE "extern \"C\" __global__ void turn(const float *x, float *z)\n"
                                  "{\n"
                                  "    RD_SHARED(float, part, 128);\n"
                                  "    const int t = threadIdx.x;\n"
                                  "    part[t] = x[blockIdx.x * 128 + t];\n"
                                  "    __syncwarp();\n"
                                  "    const float a = part[t ^ 31];\n"
                                  "    __syncwarp();\n"
                                  "    part[t] = a;\n"
                                  "    __syncthreads();\n"
                                  "    z[blockIdx.x * 128 + t] = part[(t & 31) + 96 - (t & 96)];\n"
                                  "}\n";
const char wait_text[]  = PRELUDE "extern \"C\" __global__ void leave(float *z)\n"
                                  "{\n"
                                  "    if (threadIdx.x == 5)\n"
                                  "        return;\n"
                                  "    __syncthreads();\n"
                                  "    z[threadIdx.x] = 1;\n"
                                  "}\n";

const char relay_text[] = PRELUDE "extern \"C\" __global__ void relay(unsigned long long *z)\n"
                                  "{\n"
                                  "    RD_SHARED(unsigned long long, next, 1);\n"
                                  "    const unsigned b = blockIdx.x;\n"
                                  "    if (threadIdx.x == 77) {\n"
                                  "        next[0] = 0;\n"
                                  "        if (b + 1 < gridDim.x) {\n"
                                  "            RD_WAIT_FOR(&z[b + 1]);\n"
                                  "            next[0] = z[b + 1];\n"
                                  "        }\n"
                                  "    }\n"
                                  "    __syncthreads();\n"
                                  "    if (threadIdx.x == 5)\n"
                                  "        z[b] = next[0] + b + 1;\n"
                                  "}\n";
const char ever_text[]  = PRELUDE "extern \"C\" __global__ void ever(unsigned long long *z)\n"
                                  "{\n"
                                  "    if (threadIdx.x == 5) {\n"
                                  "        z[1] = 0;\n"
                                  "        RD_WAIT_FOR(&z[1]);\n"
                                  "    }\n"
                                  "}\n";

const int passed[N_PASSED] = { 35, 45, 42, 40, 0x55555555, 43 };
