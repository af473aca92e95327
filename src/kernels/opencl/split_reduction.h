/* split_reduction.h - ranges of a sum over everything: each is an item, which leaves the nodes of its folds; one
 * more kernel joins them and goes on behind. */
#ifndef RD_KERNELS_OPENCL_SPLIT_REDUCTION_H
#define RD_KERNELS_OPENCL_SPLIT_REDUCTION_H
#include "kernels/opencl/opencl_plan.h"
#include "kernels/print/gpu/kernel.h"

/* The loop of a program's only item that is cut, by rule; -1: none is.  Its indices in a range. */
int32_t rd_cl_split_of(const rd_schedule *t, int64_t *range);

/* Where nodes lie: of each fold an array for each number of a state. */
typedef struct rd_cl_ranges {
    int64_t n;     /* ranges                              */
    int64_t bytes; /* of all their nodes                  */
} rd_cl_ranges;

/* "#define edge0(q, range) ..", of each fold that ranges leave nodes of. */
void rd_cl_print_edges(rd_text *to, const rd_schedule *t);
/* How they meet, for the printer. */
rd_kernel_ranges rd_cl_range_callbacks(rd_cl_ranges *ranges);
#endif
