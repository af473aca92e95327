/* strip_body.h - the body of a loop over strips, while it is built: see strip_mine.c. */
#ifndef RD_KERNELS_PASS_STRIP_BODY_H
#define RD_KERNELS_PASS_STRIP_BODY_H
#include "kernels/loop/loop.h"
#include "kernels/pass/chosen_strips.h"

/* The strip at hand. strip_mine.c fills all but `open`, `ordered` and `inside`, which change as
 * statements are put. */
typedef struct rd_strip_mining {
    rd_schedule     *t;
    const rd_strips *strips;
    const rd_strip  *r;
    int32_t          number;      /* of the strips in target->strips */
    int32_t          start, stop; /* marks: first index of the strip, and that behind its last */
    bool            *varies;      /* per value: it changes along the axis                  */
    int32_t          n_let;
    int32_t          open;    /* the vector loop that statements are put into, -1      */
    int32_t          ordered; /* the loop of serial steps, -1: none yet                */
    int              inside;  /* depth of loops over the axis around the statement at hand */
} rd_strip_mining;

/* strip_body.c: the axis's index plus an offset. */
rd_linear rd_axis_plus(rd_schedule *t, int32_t axis, int64_t offset);
/* i0 - m0: the element's number in the strip. */
rd_linear rd_element_of_strip(rd_strip_mining *c);
/* Puts a statement into the open vector loop at the end of the body, or into a new one. */
void rd_to_vector(rd_strip_mining *c, int32_t body, int32_t stmt);
/* Puts a statement that does not depend on the axis before the open vector loop. */
void rd_to_strip(rd_strip_mining *c, int32_t body, int32_t stmt);
/* Closes the open vector loop, and puts a statement behind it. */
void rd_put_alone(rd_strip_mining *c, int32_t body, int32_t stmt);
/* Puts a statement into a vector loop of its own, which the text does by one call. */
void rd_to_call(rd_strip_mining *c, int32_t body, int32_t stmt);
/* Puts a step into the loop of serial steps, behind all statements so far. */
void rd_to_in_order_loop(rd_strip_mining *c, int32_t body, int32_t stmt);

/* strip_folds.c: puts a statement of a fold. */
void rd_put_fold_stmt(rd_strip_mining *c, int32_t body, int32_t stmt);
/* Sets the subscript of a statement's state, by the element of the strip. */
void rd_set_state(rd_strip_mining *c, int32_t body, rd_stmt *s);

/* distribute.c: puts each statement of one body into another one, or into vector loops there. */
void rd_distribute(rd_strip_mining *c, int32_t from, int32_t body);
#endif
