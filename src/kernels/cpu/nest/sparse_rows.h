/* sparse_rows.h - a program by labels on its way to one by rows, between rows.c and rows_write.c. */
#ifndef RD_KERNELS_CPU_NEST_SPARSE_ROWS_H
#define RD_KERNELS_CPU_NEST_SPARSE_ROWS_H
#include "kernels/cpu/nest/draft.h"

typedef struct rd_sparse_rows_draft {
    const rd_program *p;
    rd_program       *to;
    int32_t           places; /* the loop over all of them   */
    int32_t           group;  /* the axis of rows            */
    rd_address        begin;  /* where the row's places begin */
} rd_sparse_rows_draft;

/* rows_write.c: makes r->to, the program by rows.  False: no memory. */
bool rd_sparse_rows_write(rd_sparse_rows_draft *r, rd_get_fn *get, void *pool);
#endif
