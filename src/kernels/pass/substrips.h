/* substrips.h - strips of strips. */
#ifndef RD_KERNELS_PASS_SUBSTRIPS_H
#define RD_KERNELS_PASS_SUBSTRIPS_H
#include "kernels/loop/facts.h"
#include "kernels/pass/chosen_strips.h"

/* Elements that go from loop to loop in arrays: more would not stay near. */
enum { RD_SUBSTRIP = 512 };

/* The innermost loop over strips around a statement, -1. */
int32_t rd_strips_around(const rd_schedule *t, int32_t stmt);
/* A loop over parts of so many elements around the statements from `first` to `last` of a body, of which
 * vector loops go over all of the strip: its statement. */
int32_t rd_put_substrips_around(rd_schedule *t, int32_t first, int32_t last, int32_t width);
/* Before a vector loop elements of what the load reads come near, from `at` on. */
void rd_add_prefetch_before(rd_schedule *t, int32_t vector, const rd_let *load, rd_linear at,
                            rd_linear count);
#endif
