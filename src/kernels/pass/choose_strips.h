/* choose_strips.h - which loops are strip-mined. */
#ifndef RD_KERNELS_PASS_CHOOSE_STRIPS_H
#define RD_KERNELS_PASS_CHOOSE_STRIPS_H
#include "kernels/pass/pass.h"

/* Fills *strips for a tree as it was built, with memory from get(). False: no memory. */
bool rd_choose_strips(const rd_schedule *t, const rd_target *target, rd_get_fn *get, void *pool,
                      rd_strips *strips);
#endif
