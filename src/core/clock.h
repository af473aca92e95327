/* clock.h - the time that has passed. */
#ifndef RD_CORE_CLOCK_H
#define RD_CORE_CLOCK_H

/* Seconds since some moment: a clock that nobody sets. */
double rd_seconds(void);
#endif
