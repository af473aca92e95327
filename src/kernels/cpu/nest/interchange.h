/* interchange.h - a program by panels on its way to one by items, between items.c and items_write.c. */
#ifndef RD_KERNELS_CPU_NEST_INTERCHANGE_H
#define RD_KERNELS_CPU_NEST_INTERCHANGE_H
#include "kernels/cpu/nest/draft.h"

typedef struct rd_interchange {
    const rd_program *p;
    rd_program       *to;
    int32_t           panels, axis; /* the loop over panels, and its axis */
    int64_t           width;        /* of a panel                         */
    bool              rows;         /* memory says where an index has rows */
} rd_interchange;

/* The coefficient of the axis, counted from where its panel begins. */
int64_t rd_interchange_panel_coef(const rd_interchange *t, const rd_address *at);
/* items_write.c: makes t->to, the program by items.  False: no memory. */
bool rd_interchange_write(rd_interchange *t, rd_get_fn *get, void *pool);
#endif
