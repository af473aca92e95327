/* price_parts.h - what price.c, regions.c, price_statement.c and memory_traffic.c hand to each other. */
#ifndef RD_KERNELS_LOOP_PRICE_PARTS_H
#define RD_KERNELS_LOOP_PRICE_PARTS_H
#include "kernels/loop/loop.h"
#include "kernels/loop/price.h"

/* Nanoseconds of one round of a body.  Those of one kind follow each other, and different kinds go on
 * at the same time. */
typedef struct rd_unit_ns {
    double arithmetic, loads, stores, chain;
    double entries; /* nothing goes on beside them */
} rd_unit_ns;

/* Elements that share what does not change with them. */
enum { RD_PRICED_STRIP = 64 };

/* Where a statement stands, for its price. */
typedef struct rd_price_site {
    const rd_schedule *t;
    const rd_speeds   *s;
    int32_t            vector;    /* the loop around it whose rounds go together, -1      */
    int32_t            top;       /* the region that holds it, -1: none                  */
    int32_t            loop;      /* the innermost loop around it, -1                     */
    const bool        *varies;    /* with `vector`: per value                             */
    const bool        *in_region; /* by fold: does it begin in the strip's region?        */
} rd_price_site;

/* price_statement.c: adds what one element of a statement takes. */
void rd_price_statement(const rd_price_site *at, int32_t stmt, rd_unit_ns *effort);
/* price_steps.c: do rounds of a loop around the vectors, within the region, meet the same states of the STEP?  A few of
 * them go together then. */
bool rd_reuses_states(const rd_price_site *at, int32_t stmt);
/* memory_traffic.c: bytes that cross levels of memory, of all accesses of a tree. */
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
