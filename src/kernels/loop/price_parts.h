/* price_parts.h - shared by the files of the price model: price_*.c, region*.c,
 * memory_traffic.c.
 *
 * Work is a count of operations or bytes (kernels/work.c).  A price is a predicted time.  All
 * numbers here are nanoseconds. */
#ifndef RD_KERNELS_LOOP_PRICE_PARTS_H
#define RD_KERNELS_LOOP_PRICE_PARTS_H
#include "kernels/loop/loop.h"
#include "kernels/loop/price.h"

/* The time that one round of a body keeps each unit of the processor busy.  Operations of one
 * unit follow each other; different units work at the same time. */
typedef struct rd_unit_ns {
    double arithmetic, loads, stores, chain;
    double entries; /* nothing goes on beside them */
} rd_unit_ns;

/* Elements of a strip: what does not vary with them is done once for so many. */
enum { RD_PRICED_STRIP = 64 };

/* The place of a statement, as its price depends on it. */
typedef struct rd_price_site {
    const rd_schedule *t;
    const rd_speeds   *s;
    int32_t            vector;    /* the loop around it whose rounds go together, -1      */
    int32_t            top;       /* the region that holds it, -1: none                  */
    int32_t            loop;      /* the innermost loop around it, -1                     */
    const bool        *varies;    /* with `vector`: per value                             */
    const bool        *in_region; /* by fold: does it begin in the strip's region?        */
} rd_price_site;

/* price_statement.c: adds the time of one element of a statement. */
void rd_price_statement(const rd_price_site *at, int32_t stmt, rd_unit_ns *effort);
/* price_steps.c: true if rounds of a loop around the vectors, within the region, reuse the same
 * states of the STEP.  A few of these rounds are then jammed. */
bool rd_reuses_states(const rd_price_site *at, int32_t stmt);
/* memory_traffic.c: the time of all bytes that cross levels of the memory hierarchy. */
typedef struct rd_loop_rounds {
    const double *trips;  /* by statement: rounds of a loop, in the mean     */
    const bool   *vector; /* by statement: does a loop go by vectors?        */
} rd_loop_rounds;
typedef struct rd_traffic_ns {
    double streams;   /* nanoseconds, while something else is computed       */
    double looked_up; /* of places that nothing fetches before               */
} rd_traffic_ns;
rd_traffic_ns rd_memory_traffic(const rd_schedule *t, const rd_speeds *s, const rd_loop_rounds *r,
                                int threads);
#endif
