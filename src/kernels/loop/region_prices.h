/* region_prices.h - the state of the search for regions, shared by regions.c and
 * region_prices.c. */
#ifndef RD_KERNELS_LOOP_REGION_PRICES_H
#define RD_KERNELS_LOOP_REGION_PRICES_H
#include "kernels/loop/regions.h"

/* The search for regions: the tree, the machine's speeds, what is found, and the region at hand. */
typedef struct rd_pricing {
    const rd_schedule *t;
    const rd_speeds   *s;
    rd_regions        *r;
    bool              *varies;    /* per value: does it vary with the current vector loop       */
    bool              *in_region; /* per fold: does it begin in the current region              */
    int32_t            top;       /* the body that the current region stands in, or is, -1      */
    double             strips;    /* strips of the current region                               */
    bool               tells;     /* prices all regions that are legal, for explain             */
    bool               failed;    /* no memory                                                  */
} rd_pricing;

/* True if the statement is a loop. */
static inline bool rd_is_loop(const rd_pricing *q, int32_t stmt)
{
    return q->t->stmt[stmt].kind == RD_S_LOOP;
}

/* True if the statement is a loop over the axis that comes from the program (of >= 0), by single
 * indices. */
static inline bool rd_is_over(const rd_pricing *q, int32_t stmt, int32_t axis)
{
    return rd_is_loop(q, stmt) && rd_loop_of(q->t, stmt)->axis == axis &&
           rd_loop_of(q->t, stmt)->step == 1 && rd_loop_of(q->t, stmt)->program_loop >= 0;
}

/* True if the statement is a loop or an IF, the two kinds that hold statements. */
static inline bool rd_has_body(const rd_pricing *q, int32_t stmt)
{
    return rd_is_loop(q, stmt) || q->t->stmt[stmt].kind == RD_S_IF;
}

/* The price of n rounds, with `entry` nanoseconds for the loop itself, which count as entries,
 * too. */
static inline rd_nanoseconds rd_times(rd_nanoseconds one, double n, double entry)
{
    return (rd_nanoseconds){ n * one.ns + entry, n * one.entries + entry };
}

/* region_prices.c: the price of a body, its loops one by one; `vector`: the vector loop around,
 * -1. */
rd_nanoseconds rd_price_of_body(rd_pricing *q, int32_t body, int32_t vector);
/* The price of a region of strips of an axis: of the loop `top`, or (`around`) of its whole
 * body. */
rd_nanoseconds rd_price_of_region(rd_pricing *q, int32_t top, bool around, int32_t axis);
/* regions.c: the price of a statement with a body, by the cheapest regions in it. */
rd_nanoseconds rd_price_of_stmt(rd_pricing *q, int32_t stmt, int32_t vector);
#endif
