/* flatten_maps.h - loops over rows and a few interleaved columns: see flatten_maps.c. */
#ifndef RD_KERNELS_PASS_FLATTEN_MAPS_H
#define RD_KERNELS_PASS_FLATTEN_MAPS_H
#include "kernels/loop/loop.h"
#include "kernels/pass/chosen_strips.h"

/* Statements: the loop over strips of rows, that over columns, and that over rows of a strip. */
typedef struct rd_flattening {
    rd_schedule    *t;
    const rd_strip *r;
    int32_t         strips, across, vector;
    int32_t         row, column; /* axes */
    int64_t         n;           /* columns */
    bool            inside;      /* the loop over columns stands in that over rows */
    bool            around;      /* or around the one over strips                   */
    bool           *varies;      /* per value: along the rows; room for all of the tree */
} rd_flattening;

/* flatten_maps_find.c: is it the outer one of the loops over columns and over rows of a strip, with
 * nothing but maps, whose elements lie one behind the other? */
bool rd_find_flat_maps(rd_flattening *c, const rd_strips *strips, int32_t stmt);
/* Do the rows of a load lie apart in memory, each in one piece? */
bool rd_has_grouped_rows(const rd_flattening *c, const rd_let *let);
/* Is the value one of a column alone, made in these loops? */
bool rd_is_of_column(const rd_flattening *c, int32_t value);
/* The outermost loop before which all such values can be made; -1: not even before the strips. */
int32_t rd_hoist_point_of_columns(const rd_flattening *c);
#endif
