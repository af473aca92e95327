/* ranges.h - between which whole numbers a value lies, as its type and the operations that make it
 * say (interval arithmetic; Moore, 1966, "Interval Analysis").
 *
 * A range counts what is possible and not what happens, so a sum of n values of [0, 1] lies in [0,
 * n] whatever memory holds.  Operations of ints wrap: where one might, all values of its type are
 * possible. */
#ifndef RD_CORE_RANGES_H
#define RD_CORE_RANGES_H
#include "core/dtype.h"
#include "core/ops.h"

/* Unless it is known, nothing is said: the value may be no int, or one that an int64_t does not
 * hold. */
typedef struct rd_range {
    int64_t low, high;
    bool    known;
} rd_range;

static inline rd_range rd_range_from(int64_t low, int64_t high)
{
    return (rd_range){ low, high, true };
}

/* All values of an int type of up to 32 bits; of others nothing is known. */
rd_range rd_range_of_type(rd_dtype type);
/* The range of such values after a cast to an int type, or to a float type that has each of them
 * exactly. */
rd_range rd_range_cast(rd_range x, rd_dtype type);
/* The range of an operator's results in an int type, if its operands lie in these ranges. */
rd_range rd_range_of_op(rd_op op, rd_dtype type, const rd_range *x);
/* Values of either; n times a value, each of them any, or none. */
rd_range rd_range_either(rd_range x, rd_range y);
rd_range rd_range_times(rd_range x, int64_t n);
/* Has an int type all values of a known range? */
bool rd_range_fits(rd_range x, rd_dtype type);
#endif
