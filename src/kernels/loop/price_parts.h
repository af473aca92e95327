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
    /* chain: the dependency chain, which is how long the next round waits */
    double arithmetic, loads, stores, chain;
    double entries; /* begins and ends of loops and folds: nothing overlaps them */
} rd_unit_ns;

/* Elements of a strip: what does not vary with them is done once for so many. */
enum { RD_PRICED_STRIP = 64 };

/* The place of a statement, as its price depends on it. */
typedef struct rd_price_site {
    const rd_schedule *t;
    const rd_speeds   *s;
    int32_t            vector;    /* the vector loop around it, -1                        */
    int32_t            top;       /* the body that its region stands in, or is, -1: none  */
    int32_t            loop;      /* the innermost loop around it, -1                     */
    const bool        *varies;    /* per value: does it vary with the loop `vector`       */
    const bool        *in_region; /* per fold: does it begin in the region                */
} rd_price_site;

/* price_statement.c: adds the time of one element of a statement. */
void rd_price_statement(const rd_price_site *at, int32_t stmt, rd_unit_ns *effort);
/* price_steps.c: true if rounds of a loop around the vectors, within the region, reuse the same
 * states of the STEP.  A few of these rounds are then jammed. */
bool rd_reuses_states(const rd_price_site *at, int32_t stmt);
/* memory_traffic.c: the time of all bytes that cross levels of the memory hierarchy. */
typedef struct rd_loop_rounds {
    const double *trips;  /* per statement: the mean trip count of a loop    */
    const bool   *vector; /* per statement: is it a loop that is vectorised  */
} rd_loop_rounds;
typedef struct rd_traffic_ns {
    double streams;   /* nanoseconds of sequential lines: they overlap with computation */
    double looked_up; /* of scattered lines, which no prefetcher loads before           */
} rd_traffic_ns;
rd_traffic_ns rd_memory_traffic(const rd_schedule *t, const rd_speeds *s, const rd_loop_rounds *r,
                                int threads);
#endif
