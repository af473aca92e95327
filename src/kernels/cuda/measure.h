/* measure.h - the fastest numbers for a stage's kernels; which programs share them. */
#ifndef RD_KERNELS_CUDA_MEASURE_H
#define RD_KERNELS_CUDA_MEASURE_H
#include "kernels/cuda/gpu.h"

/* See rd_device_table. */
bool     rd_gpu_measure(const rd_program *p, rd_queue *queue, void *const *slot, rd_get_fn *get,
                        void *pool, rd_measured *found, char *why);
uint64_t rd_gpu_program_key(const rd_program *p);
#endif
