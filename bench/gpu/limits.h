/* limits.h - what a GPU can do at best, measured by kernels of our own in the same process. */
#ifndef RD_BENCH_GPU_LIMITS_H
#define RD_BENCH_GPU_LIMITS_H
#include <stdbool.h>
#include <stdint.h>

typedef struct gpu_limits {
    double copy, read; /* bytes a second; of a copy both what is read and what is written */
    double fma;        /* of f32, a second */
    double launch;     /* seconds of an empty kernel and the wait for it */
} gpu_limits;

/* By so many bytes.  False, with a sentence in `why`, of 256 bytes. */
bool gpu_limits_measure(int64_t bytes, gpu_limits *limits, char *why);
#endif
