/* intervals.h - between which numbers a float of a loop tree lies, as its operations say (Moore,
 * 1966, "Interval Analysis"). */
#ifndef RD_KERNELS_LOOP_INTERVALS_H
#define RD_KERNELS_LOOP_INTERVALS_H
#include "kernels/loop/loop.h"

/* Or NaN, if `low` and `high` are no constants; of what is not known they are infinite.  Ends
 * are rounded as values are; functions may go beyond theirs by a unit in the last place. */
typedef struct rd_interval {
    double low, high;
} rd_interval;

rd_interval rd_interval_of(const rd_schedule *t, int32_t value);
/* Is it a CAST of a float to an int of 32 bits or less, but RD_U32?  And has an int32_t each such
 * float, but NaN? */
bool rd_narrows_float(const rd_let *let);
bool rd_narrows_bounded(const rd_schedule *t, const rd_let *let);
#endif
