/* fold_definition.h - reductions and scans of a shadow run as kernels/program.h defines them. */
#ifndef RD_KERNELS_LOOP_SHADOW_FOLD_DEFINITION_H
#define RD_KERNELS_LOOP_SHADOW_FOLD_DEFINITION_H
#include "kernels/loop/shadow/shadow.h"

/* The elements that have come to a fold. */
typedef struct rd_shadow_list rd_shadow_list;

rd_shadow_list *rd_shadow_list_new(const rd_fold *f);   /* NULL: no memory */
void            rd_shadow_list_free(rd_shadow_list *l); /* NULL is allowed */
/* All cells begin. */
void rd_shadow_list_begin(rd_shadow_list *l);
/* False: no memory. */
bool rd_shadow_list_take(rd_shadow_list *l, const rd_shadow_element *e);
bool rd_shadow_list_finish(rd_shadow_list *l, int64_t cell, rd_shadow *y);
/* Elements of a scan come in the order of their places; y is what is up to this one. */
bool rd_shadow_list_scan(rd_shadow_list *l, const rd_shadow_element *e, rd_shadow *y);
#endif
