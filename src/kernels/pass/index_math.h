/* index_math.h - ints that a pass computes before a statement, as values of the tree. */
#ifndef RD_KERNELS_PASS_INDEX_MATH_H
#define RD_KERNELS_PASS_INDEX_MATH_H
#include "kernels/loop/loop.h"

/* Values are made before the statement `next`. */
typedef struct rd_index_math {
    rd_schedule *t;
    int32_t      next;
} rd_index_math;

rd_linear rd_index_min(rd_index_math *n, rd_linear a, rd_linear b);
rd_linear rd_index_max(rd_index_math *n, rd_linear a, rd_linear b);
/* a >= b ? x : y */
rd_linear rd_index_select(rd_index_math *n, rd_linear a, rd_linear b, rd_linear x, rd_linear y);
/* a / by, rounded down. */
rd_linear rd_index_divide(rd_index_math *n, rd_linear a, int64_t by);
/* An int of the program's memory, which counts as no element read. */
rd_linear rd_index_load(rd_index_math *n, int32_t slot, rd_dtype type, rd_linear at);
/* The first number from one up to another, of which memory at `at` + apart * it has `least` or more; the
 * last one, if none has.  What memory has there ascends. */
rd_linear rd_index_search(rd_index_math *n, int32_t slot, rd_linear from, rd_linear to,
                          rd_linear at, int32_t apart, rd_linear least);
#endif
