/* numbers.h - ints that a pass computes before a statement, as values of the tree. */
#ifndef RD_KERNELS_PASS_NUMBERS_H
#define RD_KERNELS_PASS_NUMBERS_H
#include "kernels/loop/loop.h"

/* Values are made before the statement `next`. */
typedef struct rd_numbers {
    rd_schedule *t;
    int32_t      next;
} rd_numbers;

rd_linear rd_number_least(rd_numbers *n, rd_linear a, rd_linear b);
rd_linear rd_number_most(rd_numbers *n, rd_linear a, rd_linear b);
/* a >= b ? x : y */
rd_linear rd_number_choose(rd_numbers *n, rd_linear a, rd_linear b, rd_linear x, rd_linear y);
/* a / by, rounded down. */
rd_linear rd_number_divide(rd_numbers *n, rd_linear a, int64_t by);
/* An int of the program's memory, which counts as no element read. */
rd_linear rd_number_load(rd_numbers *n, int32_t slot, rd_dtype type, rd_linear at);
/* The first number from one up to another, of which memory at `at` + apart * it has `least` or more; the
 * last one, if none has.  What memory has there ascends. */
rd_linear rd_number_find(rd_numbers *n, int32_t slot, rd_linear from, rd_linear to, rd_linear at,
                         int32_t apart, rd_linear least);
#endif
