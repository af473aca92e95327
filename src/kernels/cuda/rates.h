/* rates.h - what a GPU and its bus do in a second. */
#ifndef RD_KERNELS_CUDA_RATES_H
#define RD_KERNELS_CUDA_RATES_H
#include "kernels/cuda/gpu.h"

/* See rd_device_table. */
bool     rd_gpu_rates(rd_queue *queue, rd_device_rates *rates, char *why);
uint64_t rd_gpu_name_key(int32_t device);
#endif
