/* clock.h - a monotonic clock. */
#ifndef RD_CORE_CLOCK_H
#define RD_CORE_CLOCK_H

/* Seconds since an arbitrary moment; the clock is never set. */
double rd_seconds(void);
#endif
