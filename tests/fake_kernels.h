/* fake_kernels.h - kernels written by hand, for suites on the fake driver and for NVRTC itself. */
#ifndef RD_TESTS_FAKE_KERNELS_H
#define RD_TESTS_FAKE_KERNELS_H

enum { THREADS = 128 }; /* of a block, by all of them */

/* On a GPU; the fake has its own. */
#define PRELUDE                                                               \
    "#ifndef RD_SHARED\n"                                                     \
    "#define RD_SHARED(type, name, n) __shared__ type name[n]\n"              \
    "#define RD_SHARED_DYNAMIC(type, name) extern __shared__ type name[]\n"   \
    "#define RD_WAIT_FOR(at) while (!*(volatile unsigned long long *)(at))\n" \
    "#endif\n"

/* add(x, y, z, n): z = x + y */
extern const char add_text[];
/* sum(x, z, n): adds to the unsigned z the sum of x */
extern const char sum_text[];
/* pass(z): what each way of passing values in a warp gives thread 40: passed[] */
extern const char pass_text[];
enum { N_PASSED = 6 };
extern const int passed[N_PASSED];
/* fill(z): 19999 by way of 20000 floats of shared memory, as much as the launch asks for */
extern const char dynamic_text[];
/* turn(x, z): as TURN, by a warp's own barriers */
extern const char warps_text[];
/* leave(z): thread 5 does not come to the barrier */
extern const char wait_text[];
/* relay(z): each block waits for the word of the next one, adds its number, and leaves the sum */
extern const char relay_text[];
/* ever(z): a word that nobody leaves */
extern const char ever_text[];

/* turn(x, z): turns each block's part around; a barrier is, or is not, between what is written and
 * read. */
#define TURN(barrier)                                                              \
    PRELUDE "extern \"C\" __global__ void turn(const float *x, float *z)\n"        \
            "{\n"                                                                  \
            "    RD_SHARED(float, part, 128);\n"                                   \
            "    part[threadIdx.x] = x[blockIdx.x * 128 + threadIdx.x];\n" barrier \
            "    z[blockIdx.x * 128 + threadIdx.x] = part[127 - threadIdx.x];\n"   \
            "}\n"
/* store(z, n): one element, somewhere */
#define STORE(place)                                                \
    PRELUDE "extern \"C\" __global__ void store(float *z, int n)\n" \
            "{\n"                                                   \
            "    if (threadIdx.x == 5)\n"                           \
            "        z[" place "] = 1;\n"                           \
            "}\n"
#endif
