/* table_lookups.h - table lookup in registers: LOADs from a small table at an index, which
 * vectors do by permutes. */
#ifndef RD_KERNELS_LOOP_TABLE_LOOKUPS_H
#define RD_KERNELS_LOOP_TABLE_LOOKUPS_H
#include "kernels/loop/loop.h"
#include "kernels/loop/speeds.h"

/* A LOAD from a small table that is the same in all rounds of a loop over an axis. */
typedef struct rd_lookup {
    int32_t index;  /* the value of the INDEX that chooses           */
    int64_t extent; /* elements of the table                         */
    int64_t apart;  /* distance of neighbours in memory, in elements */
} rd_lookup;

/* True if a LOAD is such a lookup; if vectors do it in less time than a gather takes. */
bool rd_is_lookup(const rd_schedule *t, int32_t stmt, int32_t axis, rd_lookup *found);
bool rd_lookup_pays(const rd_speeds *s, const rd_lookup *l, rd_dtype type);
/* Nanoseconds of an element: by a lookup; by a gather. */
double rd_lookup_ns(const rd_speeds *s, const rd_lookup *l, rd_dtype type);
double rd_gather_ns(const rd_speeds *s);

/* The LOAD of an index that lies densely in the program's memory, in the same loop; -1: the
 * index is made in another way. */
int32_t rd_load_of_index(const rd_schedule *t, int32_t index, int32_t axis);
#endif
