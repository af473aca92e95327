/* choose_strips.h - which loops go by strips. */
#ifndef RD_KERNELS_PASS_CHOOSE_STRIPS_H
#define RD_KERNELS_PASS_CHOOSE_STRIPS_H
#include "kernels/pass/pass.h"

/* Of a tree as it was built.  False: no memory. */
bool rd_choose_strips(const rd_schedule *t, const rd_target *target, rd_get_fn *get, void *pool,
                      rd_strips *strips);
#endif
