/* intervals.h - interval arithmetic of floats in a loop tree: the least and the greatest number
 * that a value can be (Moore, 1966, "Interval Analysis"). */
#ifndef RD_KERNELS_LOOP_INTERVALS_H
#define RD_KERNELS_LOOP_INTERVALS_H
#include "kernels/loop/loop.h"

/* The value lies in [low, high], or is NaN unless it is a constant.  Unknown ends are infinite.
 * Ends are rounded as values are; functions may exceed theirs by one unit in the last place. */
typedef struct rd_interval {
    double low, high;
} rd_interval;

rd_interval rd_interval_of(const rd_schedule *t, int32_t value);
/* True if the value is a CAST of a float to an int of 32 bits or less, but not to RD_U32; and if
 * every such float fits an int32_t, or is NaN. */
bool rd_narrows_float(const rd_tree_value *let);
bool rd_narrows_bounded(const rd_schedule *t, const rd_tree_value *let);
#endif
