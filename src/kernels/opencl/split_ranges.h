/* split_ranges.h - the split reduction of a program that is one item.  Each range of its loop
 * is an item, which leaves partials.  One more kernel combines the partials and runs what is
 * behind the loop. */
#ifndef RD_KERNELS_OPENCL_SPLIT_RANGES_H
#define RD_KERNELS_OPENCL_SPLIT_RANGES_H
#include "kernels/opencl/opencl_plan.h"
#include "kernels/print/gpu/kernel.h"

/* The loop of a program's only item that is split, by rule; -1: none.  *range: its indices in a
 * range. */
int32_t rd_cl_split_of(const rd_schedule *t, int64_t *range);

/* Where partials lie: for each fold, an array for each number of a state. */
typedef struct rd_cl_ranges {
    int64_t n;     /* ranges                              */
    int64_t bytes; /* of all their nodes                  */
} rd_cl_ranges;

/* Adds "#define edge0(q, range) ..", for each fold that has partials. */
void rd_cl_print_edges(rd_text *to, const rd_schedule *t);
/* The callbacks by which the printer leaves and combines partials. */
rd_kernel_combine rd_cl_range_callbacks(rd_cl_ranges *ranges);
#endif
