/* index_math.h - integer arithmetic on indices, which a pass inserts before a statement. */
#ifndef RD_KERNELS_PASS_INDEX_MATH_H
#define RD_KERNELS_PASS_INDEX_MATH_H
#include "kernels/loop/loop.h"

/* The insertion point: values are made before the statement `next`. */
typedef struct rd_index_math {
    rd_schedule *t;
    int32_t      next; /* values are made before it */
} rd_index_math;

/* The smaller of two positions. */
rd_linear rd_index_min(rd_index_math *n, rd_linear a, rd_linear b);
/* The larger of two positions. */
rd_linear rd_index_max(rd_index_math *n, rd_linear a, rd_linear b);
/* a >= b ? x : y */
rd_linear rd_index_select(rd_index_math *n, rd_linear a, rd_linear b, rd_linear x, rd_linear y);
/* a / by, rounded down. */
rd_linear rd_index_divide(rd_index_math *n, rd_linear a, int64_t by);
/* An int of the program's memory; the count of loaded elements leaves it out. */
rd_linear rd_index_load(rd_index_math *n, int32_t slot, rd_dtype type, rd_linear at);
/* Lower bound: the first index k of [from, to) whose entry, at position at + stride * k of the
 * slot, is `least` or more; to - 1 if there is none. Entries ascend. */
rd_linear rd_index_search(rd_index_math *n, int32_t slot, rd_linear from, rd_linear to,
                          rd_linear at, int32_t stride, rd_linear least);
#endif
