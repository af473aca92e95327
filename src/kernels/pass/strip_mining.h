/* strip_mining.h - the body of a loop over strips, while it is built: see strip_mine.c. */
#ifndef RD_KERNELS_PASS_STRIP_MINING_H
#define RD_KERNELS_PASS_STRIP_MINING_H
#include "kernels/loop/loop.h"
#include "kernels/pass/chosen_strips.h"

/* The strip at hand. strip_mine.c fills all but `open`, `ordered` and `inside`, which change as
 * statements are put. */
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

/* strip_mining.c: the axis's index plus an offset; i0 - m0, the element's number in the strip. */
rd_linear rd_axis_plus(rd_schedule *t, int32_t axis, int64_t offset);
rd_linear rd_element_of_strip(rd_strip_mining *c);
/* Puts a statement: into the open vector loop at the end of the body, or a new one; before that
 * loop, if it does not depend on the axis; behind it; into a vector loop of its own that is one
 * call. */
void rd_to_vector(rd_strip_mining *c, int32_t body, int32_t stmt);
void rd_to_strip(rd_strip_mining *c, int32_t body, int32_t stmt);
void rd_put_alone(rd_strip_mining *c, int32_t body, int32_t stmt);
void rd_to_call(rd_strip_mining *c, int32_t body, int32_t stmt);
/* Puts a step into the loop of serial steps, behind all statements so far. */
void rd_to_in_order_loop(rd_strip_mining *c, int32_t body, int32_t stmt);

/* strip_folds.c: puts a statement of a fold; sets the subscript of its state by the strip's
 * element. */
void rd_take_of_fold(rd_strip_mining *c, int32_t body, int32_t stmt);
void rd_set_state(rd_strip_mining *c, int32_t body, rd_stmt *s);

/* distribute.c: puts each statement of one body into another one, or into vector loops there. */
void rd_distribute(rd_strip_mining *c, int32_t from, int32_t body);
#endif
