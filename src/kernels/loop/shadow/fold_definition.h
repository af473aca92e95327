/* fold_definition.h - reductions and scans in a shadow run, as kernels/program.h defines them. */
#ifndef RD_KERNELS_LOOP_SHADOW_FOLD_DEFINITION_H
#define RD_KERNELS_LOOP_SHADOW_FOLD_DEFINITION_H
#include "kernels/loop/shadow/shadow.h"

/* The elements that a fold has taken. */
typedef struct rd_shadow_list rd_shadow_list;

rd_shadow_list *rd_shadow_list_new(const rd_fold *f);   /* NULL: no memory */
void            rd_shadow_list_free(rd_shadow_list *l); /* NULL is allowed */
/* Begins the fold: all cells are empty. */
void rd_shadow_list_begin(rd_shadow_list *l);
/* Takes an element; computes the results of a cell.  False: no memory. */
bool rd_shadow_list_take(rd_shadow_list *l, const rd_shadow_element *e);
bool rd_shadow_list_finish(rd_shadow_list *l, int64_t cell, rd_shadow *y);
/* Takes an element of a scan, in the order of places, and computes the results at it. */
bool rd_shadow_list_scan(rd_shadow_list *l, const rd_shadow_element *e, rd_shadow *y);
#endif
