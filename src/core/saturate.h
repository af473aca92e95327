/* saturate.h - converts floats to ints where C leaves the result undefined: saturates outside
 * the range; NaN gives 0. */
#ifndef RD_CORE_SATURATE_H
#define RD_CORE_SATURATE_H
#include <math.h>
#include <stdint.h>

/* Converts to a signed 64-bit int, towards 0; the nearest end outside of the range, 0 for NaN. */
static inline int64_t rd_saturate_i64(double x)
{
    if (isnan(x))
        return 0;
    return x >= 0x1p63 ? INT64_MAX : x < -0x1p63 ? INT64_MIN : (int64_t)x;
}

/* Converts to an unsigned 64-bit int, towards 0; the nearest end outside of the range, 0 for
 * NaN. */
static inline uint64_t rd_saturate_u64(double x)
{
    if (isnan(x) || x <= 0)
        return 0;
    return x >= 0x1p64 ? UINT64_MAX : (uint64_t)x;
}

#endif
