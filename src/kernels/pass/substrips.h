/* substrips.h - substrips: strips of strips. */
#ifndef RD_KERNELS_PASS_SUBSTRIPS_H
#define RD_KERNELS_PASS_SUBSTRIPS_H
#include "kernels/loop/facts.h"
#include "kernels/pass/chosen_strips.h"

/* Elements that go from loop to loop in arrays, at most: more would not stay in the cache. */
enum { RD_SUBSTRIP = 512 };

/* The innermost loop over strips around a statement, -1. */
int32_t rd_strips_around(const rd_schedule *t, int32_t stmt);
/* Puts a loop over substrips of so many elements around the statements from `first` to `last` of
 * a body. Their vector loops visit one substrip then. Returns its statement. */
int32_t rd_put_substrips_around(rd_schedule *t, int32_t first, int32_t last, int32_t width);
/* Prefetches `count` elements of what the load reads before a vector loop, from `at` on. */
void rd_add_prefetch_before(rd_schedule *t, int32_t vector, const rd_tree_value *load, rd_linear at,
                            rd_linear count);
#endif
