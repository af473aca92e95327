/* interchange.h - the draft of a program with points outermost, between interchange.c and
 * interchange_write.c. */
#ifndef RD_KERNELS_CPU_NEST_INTERCHANGE_H
#define RD_KERNELS_CPU_NEST_INTERCHANGE_H
#include "kernels/cpu/nest/draft.h"

typedef struct rd_interchange {
    const rd_program *p;      /* by panels                                         */
    rd_program       *to;     /* with points outermost                             */
    int32_t           panels; /* the loop over panels                              */
    int32_t           axis;   /* its axis, that of points                          */
    int64_t           width;  /* points of a panel                                 */
    bool              rows;   /* memory says where a point has rows of other axes  */
} rd_interchange;

/* Returns the coefficient of the point axis, counted from where its panel begins. */
int64_t rd_interchange_panel_coef(const rd_interchange *t, const rd_address *at);
/* interchange_write.c: makes t->to, the program with points outermost. False: no memory. */
bool rd_interchange_write(rd_interchange *t, rd_get_fn *get, void *pool);
#endif
