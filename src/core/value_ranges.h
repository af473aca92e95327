/* value_ranges.h - interval arithmetic of whole numbers (Moore, 1966, "Interval Analysis"):
 * bounds of a value from its type and the operations that make it.
 *
 * A range covers what is possible, not what happens: a sum of n values in [0, 1] lies in [0, n],
 * whatever memory holds.  Ints wrap, so where that may happen all values of the type are
 * possible. */
#ifndef RD_CORE_VALUE_RANGES_H
#define RD_CORE_VALUE_RANGES_H
#include "core/dtype.h"
#include "core/ops.h"

/* If not known, nothing is said: the value may be no int, or exceed int64_t. */
typedef struct rd_range {
    int64_t low, high;
    bool    known;
} rd_range;

/* The known range [low, high], both ends included. */
static inline rd_range rd_range_from(int64_t low, int64_t high)
{
    return (rd_range){ low, high, true };
}

/* All values of an int type of up to 32 bits; unknown for other types. */
rd_range rd_range_of_type(rd_dtype type);
/* The range after a cast to an int type, or to a float type that holds each value exactly. */
rd_range rd_range_cast(rd_range x, rd_dtype type);
/* The range of an operator's results in an int type, for operands in ranges x. */
rd_range rd_range_of_op(rd_op op, rd_dtype type, const rd_range *x);
/* The range of either value; and of the sum of 0 to n values. */
rd_range rd_range_either(rd_range x, rd_range y);
rd_range rd_range_times(rd_range x, int64_t n);
/* True if an int type holds all values of a known range. */
bool rd_range_fits(rd_range x, rd_dtype type);
#endif
