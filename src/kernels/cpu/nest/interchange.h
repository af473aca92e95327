/* interchange.h - a program by panels on its way to one by items, between items.c and items_write.c. */
#ifndef RD_KERNELS_CPU_NEST_INTERCHANGE_H
#define RD_KERNELS_CPU_NEST_INTERCHANGE_H
#include "kernels/cpu/nest/draft.h"

typedef struct rd_items_draft {
    const rd_program *p;
    rd_program       *to;
    int32_t           panels, axis; /* the loop over panels, and its axis */
    int64_t           width;        /* of a panel                         */
    bool              rows;         /* memory says where an index has rows */
} rd_items_draft;

/* The coefficient of the axis, counted from where its panel begins. */
int64_t rd_items_local(const rd_items_draft *t, const rd_address *at);
/* items_write.c: makes t->to, the program by items.  False: no memory. */
bool rd_items_write(rd_items_draft *t, rd_get_fn *get, void *pool);
#endif
