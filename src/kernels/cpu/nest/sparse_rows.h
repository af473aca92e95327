/* sparse_rows.h - the draft of a loop over rows, between sparse_rows.c and sparse_rows_write.c. */
#ifndef RD_KERNELS_CPU_NEST_SPARSE_ROWS_H
#define RD_KERNELS_CPU_NEST_SPARSE_ROWS_H
#include "kernels/cpu/nest/draft.h"

typedef struct rd_sparse_rows_draft {
    const rd_program *p;            /* a group-by program                           */
    rd_program       *to;           /* the same as a loop over rows                 */
    int32_t           element_loop; /* the loop over all stored elements            */
    int32_t           group;        /* the axis of rows, which are the groups       */
    rd_address        begin;        /* where memory says that a row's elements begin */
} rd_sparse_rows_draft;

/* sparse_rows_write.c: makes r->to, the program as a loop over rows. False: no memory. */
bool rd_sparse_rows_write(rd_sparse_rows_draft *r, rd_get_fn *get, void *pool);
#endif
