/* strip_mining.h - the body of a loop over strips while it is made: see strip_mine.c. */
#ifndef RD_KERNELS_PASS_STRIP_MINING_H
#define RD_KERNELS_PASS_STRIP_MINING_H
#include "kernels/loop/loop.h"
#include "kernels/pass/chosen_strips.h"

typedef struct rd_strip_mining {
    rd_schedule     *t;
    const rd_strips *strips;
    const rd_strip  *r;
    int32_t          number;      /* of the strips */
    int32_t          start, stop; /* marks of the strip                                     */
    bool            *varies;      /* per value: along the axis                              */
    int32_t          n_let;
    int32_t          open;    /* the vector loop that statements go to, -1                     */
    int32_t          ordered; /* the loop of steps that go in turn, -1: none yet               */
    int              inside;  /* loops over the axis that hold what is at hand               */
} rd_strip_mining;

/* strip_mining.c: the axis's index and an offset; i0 - m0, which element of the strip it is. */
rd_linear rd_axis_plus(rd_schedule *t, int32_t axis, int64_t offset);
rd_linear rd_element_of_strip(rd_strip_mining *c);
/* Where a statement goes: to the vector loop that is open at the end of the body, or a new one; before
 * that loop, as it does not depend on the axis; behind it; to a vector loop that is one call. */
void rd_to_vector(rd_strip_mining *c, int32_t body, int32_t stmt);
void rd_to_strip(rd_strip_mining *c, int32_t body, int32_t stmt);
void rd_put_alone(rd_strip_mining *c, int32_t body, int32_t stmt);
void rd_to_call(rd_strip_mining *c, int32_t body, int32_t stmt);
/* To the loop of steps that go in turn, behind all that has been put so far. */
void rd_to_in_order_loop(rd_strip_mining *c, int32_t body, int32_t stmt);

/* strip_folds.c: a statement of a fold; the subscript of its state, by the element of the strip. */
void rd_take_of_fold(rd_strip_mining *c, int32_t body, int32_t stmt);
void rd_set_state(rd_strip_mining *c, int32_t body, rd_stmt *s);

/* distribute.c: each statement of one body goes to another one, or to vector loops there. */
void rd_distribute(rd_strip_mining *c, int32_t from, int32_t body);
#endif
